# SPDX-License-Identifier: Apache-2.0
"""Properties of a database server that a file lacks; test_store.py runs on both."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tb.regress.results.store import Store, StoreError
from tests.regress import conftest
from tests.regress.conftest import Server, server_programs, server_user
from tests.regress.samples import jobs, outcome


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
        assert store.begin_regression(regression="nightly", signature="plan")


@pytest.mark.long
def test_a_server_that_goes_away_and_comes_back(new_server: Callable[[], Server]) -> None:
    """Written data is there again, and the same store continues with it."""
    own = new_server()
    with Store.open(own.make()) as store:
        planned = jobs(2)
        regression_run = store.begin_regression(regression="nightly", signature="plan")
        store.plan_runs(regression_run, planned)
        store.finish_run(regression_run, outcome(planned[0]), state="pass")
        own.stop()
        with pytest.raises(StoreError) as caught:
            store.finish_run(regression_run, outcome(planned[1]), state="pass")
        assert "see that the server runs" in caught.value.remedy
        own.start()
        assert store.jobs_left(regression_run) == planned[1:]
        assert store.finish_run(regression_run, outcome(planned[1]), state="pass")
    own.stop()
