# SPDX-License-Identifier: Apache-2.0
"""A database that cannot be used: the message says what is wrong and what to do."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tb.coverage.export.exchange import to_json
from tb.regress.queries import history
from tb.regress.results.connect import parse, shown
from tb.regress.results.store import Store, StoreError
from tests.regress import conftest, made
from tests.regress.conftest import Server, server_programs, server_user
from tests.regress.samples import begin, coverage, job, jobs, outcome, text


def refused(url: str, *, create: bool = True) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store.open(url, create=create)
    assert caught.value.remedy
    return caught.value


URL_FORMS = "sqlite:///path postgresql+psycopg://"


@pytest.mark.parametrize(
    ("url", "what", "legal"),
    [(url, f"'{url}'", URL_FORMS) for url in ("results.db", "", "sqlite://", "sqlite:///:memory:")]
    + [("orable://user@host/name", "no database is called 'orable'", "")],
)
def test_a_url_of_no_database(url: str, what: str, legal: str) -> None:
    error = refused(url)
    assert what in error.what
    assert all(form in error.legal for form in legal.split())


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused("postgresql://user@host/name")
    assert "driver" in error.what
    assert "tb.setup.install farm" in error.remedy


def test_a_medium_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a file beside it: SQLite would fail to make one; while one writes, as usual."""
    url = f"sqlite:///{tmp_path}/results.db"
    with Store.open(url) as store:
        name = made.add_regression(store, made.START, runs=2)
        monkeypatch.setattr(os, "access", lambda *_: False)
        with Store.open(url, create=False) as reader:
            assert history.regression_run(reader).name == name
    with Store.open(url, create=False) as reader:
        assert history.regression_run(reader).name == name
        assert [file.name for file in tmp_path.iterdir()] == ["results.db"]
        with pytest.raises(StoreError, match="cannot be written"):
            made.add_regression(reader, made.START, runs=2)


def test_a_server_that_does_not_answer() -> None:
    """No process listens on port 1."""
    pytest.importorskip("psycopg")
    error = refused("postgresql://user:secret@127.0.0.1:1/name")
    assert "cannot be opened" in error.what
    assert "127.0.0.1:1" in error.where
    assert "secret" not in str(error) + shown(parse("postgresql://user:secret@host/name"))


def test_results_that_are_not_there(tmp_path: Path) -> None:
    error = refused(f"sqlite:///{tmp_path}/none.db", create=False)
    assert error.what == "there are no results yet"
    assert "make nightly" in error.remedy
    assert not list(tmp_path.iterdir())
    (tmp_path / "none.db").touch()
    assert refused(f"sqlite:///{tmp_path}/none.db", create=False).what == error.what


def test_places_of_other_files_and_databases(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a report, " * 1000)
    error = refused(f"sqlite:///{tmp_path}/file/results.db")
    assert "folder" in error.what
    assert error.where == str(tmp_path / "file")
    assert "not a results database" in refused(f"sqlite:///{tmp_path}/file").what
    assert (tmp_path / "file").read_text() == "a report, " * 1000
    assert "cannot be opened" in refused(f"sqlite:///{tmp_path}").what
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE run (name TEXT)")
    assert "table run" in refused(f"sqlite:///{tmp_path}/other.db").what


def test_reading_changes_no_byte_of_a_foreign_file(tmp_path: Path) -> None:
    """A write-ahead log would be part of its header; an early table of ours is refused as well."""
    for name, table in (("notes.db", "notes"), ("early.db", "run")):
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE {table} (name TEXT)")
        connection.close()
        before = path.read_bytes()
        refused(f"sqlite:///{path}", create=False)
        assert path.read_bytes() == before
        assert not list(tmp_path.glob(f"{name}-*"))
    assert "nothing was changed" in refused(f"sqlite:///{path}").remedy
    assert path.read_bytes() == before
    (tmp_path / "empty.db").touch()
    refused(f"sqlite:///{tmp_path}/empty.db", create=False)
    assert (tmp_path / "empty.db").read_bytes() == b""


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE regression",
        "ALTER TABLE regression RENAME COLUMN host TO place",
        "UPDATE regression SET figures = '{'",
    ],
)
def test_a_damaged_database_is_called_so(tmp_path: Path, damage: str) -> None:
    url = f"sqlite:///{tmp_path}/results.db"
    with Store.open(url) as store:
        made.add_regression(store, made.START, runs=2)
    with sqlite3.connect(tmp_path / "results.db") as connection:
        connection.execute(damage)
    connection.close()
    with Store.open(url, create=False) as reader, pytest.raises(StoreError, match="damaged") as got:
        history.regression_runs(reader, 5)
    assert "server" not in got.value.remedy
    assert got.value.legal


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store.open(f"sqlite:///{path}") as store:
        begin(store)
    # Root may write any file, so that SQLite is asked not to.
    error = refused(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert "cannot be written" in error.what
    if os.geteuid():
        path.chmod(0o444)
        assert "cannot be written" in refused(f"sqlite:///{path}").what
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true", create=False) as store:
        assert store.unfinished("nightly", "plan") is None  # reading it is all right
        with pytest.raises(StoreError, match="cannot be written"):
            begin(store)


@pytest.mark.long
def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    """The run that found no room is left to do, and is done when there is room."""
    planned = [job(f"r{seed}", seed=seed) for seed in range(200)]
    with Store.open(f"sqlite:///{tmp_path}/results.db") as store:
        regression_run = begin(store, planned)
        limit_pages(store, extra=20)
        done = 0

        def run_all() -> None:
            nonlocal done
            for item in planned:
                given = outcome(item, coverage=text(coverage(done)))
                store.finish_run(regression_run, given, state="pass")
                done += 1

        with pytest.raises(StoreError, match="disk is full") as caught:
            run_all()
        assert "free room" in caught.value.remedy
        assert 0 < done < 200
        assert [item.key for item in store.jobs_left(regression_run)] == [
            f"r{seed}" for seed in range(done, 200)
        ]
        total = coverage(0)
        for seed in range(1, done):
            total.merge(coverage(seed))
        assert to_json(store.merged()) == to_json(total)
        limit_pages(store, extra=2000)
        assert store.finish_run(regression_run, outcome(planned[done]), state="pass")


def limit_pages(store: Store, *, extra: int) -> None:
    with store.reading() as session:
        connection = session.connection()
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + extra}")


def test_a_database_that_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tb.regress.results.connect._BUSY_SECONDS", 0.2)
    with Store.open(f"sqlite:///{tmp_path}/results.db") as store:
        regression_run = begin(store, [])
        other = sqlite3.connect(tmp_path / "results.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="busy"):
            store.plan_runs(regression_run, jobs(1))
        assert store.jobs_left(regression_run) == []  # reading goes on
        other.execute("ROLLBACK")
        store.plan_runs(regression_run, jobs(1))
        other.close()


def test_a_percent_in_the_path_is_no_pattern(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a%25b.db") as store:
        assert begin(store)


# --- Properties of a database server that a file lacks; test_store.py runs on both


def test_programs_are_found_where_packages_put_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version in ("9.6", "15", "17"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "initdb").touch(mode=0o755)
    monkeypatch.setattr(conftest, "PLACES", (f"{tmp_path}/*/bin",))
    assert server_programs() == tmp_path / "17" / "bin"
    monkeypatch.setattr(conftest, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path / "15" / "bin"))
    assert server_programs() == tmp_path / "15" / "bin"
    monkeypatch.setenv("PATH", "/nowhere")
    assert server_programs() is None


def test_root_runs_the_server_as_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert server_user() in ("postgres", "nobody")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert server_user() is None


def test_an_unknown_database_of_a_server(server: Server) -> None:
    with pytest.raises(StoreError, match='database "nobodys" does not exist'):
        Store.open(server.url("x").replace("/postgres?", "/nobodys?"))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_way_to_name_postgresql(server: Server, scheme: str) -> None:
    with Store.open(server.make().replace("postgresql", scheme, 1)) as store:
        assert begin(store)


@pytest.mark.long
def test_a_server_that_goes_away_and_comes_back(new_server: Callable[[], Server]) -> None:
    """Written data is there again, and the same store continues with it."""
    own = new_server()
    with Store.open(own.make()) as store:
        planned = jobs(2)
        regression_run = begin(store, planned)
        store.finish_run(regression_run, outcome(planned[0]), state="pass")
        own.stop()
        with pytest.raises(StoreError) as caught:
            store.finish_run(regression_run, outcome(planned[1]), state="pass")
        assert "see that the server runs" in caught.value.remedy
        own.start()
        assert store.jobs_left(regression_run) == planned[1:]
        assert store.finish_run(regression_run, outcome(planned[1]), state="pass")
    own.stop()
