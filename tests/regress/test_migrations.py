# SPDX-License-Identifier: Apache-2.0
"""The schema that revisions lead to is that of the tables, and another one is refused."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, MetaData, String, Table, create_engine, inspect, text

from tb.common.paths import ROOT
from tb.regress.results import engine
from tb.regress.results.database import SCHEMA, Base
from tb.regress.results.engine import connect, parse
from tb.regress.results.store import Store, StoreError

FORK = multiprocessing.get_context("fork")


def differences(url: str, metadata: MetaData) -> list[Any]:
    opened = connect(parse(url), create=True)
    with opened.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found: list[Any] = compare_metadata(context, metadata)
    opened.dispose()
    return found


def test_revisions_lead_to_the_tables(url: str) -> None:
    assert differences(url, Base.metadata) == []


def test_a_forgotten_revision_is_seen(tmp_path: Path) -> None:
    changed = MetaData(naming_convention=Base.metadata.naming_convention)
    for table in Base.metadata.sorted_tables:
        table.to_metadata(changed)
    changed.tables["run"].append_column(Column("colour", String(10)))
    Table("forgotten", changed, Column("id", String(10), primary_key=True))
    found = differences(f"sqlite:///{tmp_path}/results.db", changed)
    assert [item[0] for item in found] == ["add_table", "add_column"]


def test_the_newest_revision_is_the_schema() -> None:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "tb/regress/results/migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA]


def test_a_new_database_has_its_version(url: str) -> None:
    with Store.open(url) as store, store.reading() as session:
        assert session.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA


def test_a_newer_schema_is_refused_and_not_touched(url: str) -> None:
    Store.open(url).close()
    raw = create_engine(parse(url))
    with raw.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0042'"))
        connection.execute(text("ALTER TABLE night ADD COLUMN phase_of_moon TEXT"))
    with pytest.raises(StoreError) as caught:
        Store.open(url)
    assert "schema 0042, newer than 0001" in caught.value.what
    assert "update PTO-DV" in caught.value.remedy
    with raw.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == (
            "0042"
        )
        columns = {column["name"] for column in inspect(connection).get_columns("night")}
        assert "phase_of_moon" in columns
    raw.dispose()


def test_a_database_that_was_only_begun_is_finished(url: str) -> None:
    """Somebody was killed after Alembic's own table was there."""
    raw = create_engine(parse(url))
    with raw.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    raw.dispose()
    with Store.open(url) as store:
        assert store.begin_night(regression="nightly", signature="plan")


def test_no_tables_are_left_of_a_failed_upgrade(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = (ROOT / "tb/regress/results/migrations/versions/r0001_tables.py").read_text()
    place = tmp_path / "migrations"
    (place / "versions").mkdir(parents=True)
    (place / "env.py").write_text((ROOT / "tb/regress/results/migrations/env.py").read_text())
    broken = source.rstrip() + "\n    op.execute('NONSENSE')\n"
    (place / "versions" / "r0001_tables.py").write_text(broken)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_MIGRATIONS", place)
        with pytest.raises(StoreError):
            Store.open(url)
    raw = create_engine(parse(url))
    with raw.begin() as connection:
        assert inspect(connection).get_table_names() == []
    raw.dispose()
    Store.open(url).close()


def open_at_once(url: str, go: Any) -> None:
    go.wait()
    Store.open(url).close()


def test_several_that_open_a_new_database_at_once(url: str) -> None:
    go = FORK.Barrier(4)
    processes = [FORK.Process(target=open_at_once, args=(url, go)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(180)
    assert [process.exitcode for process in processes] == [0] * 4
    assert differences(url, Base.metadata) == []
