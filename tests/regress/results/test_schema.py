# SPDX-License-Identifier: Apache-2.0
"""Tables are made whole or not at all, and those of another version are refused."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, String, create_engine, event, inspect, text
from sqlalchemy.engine import make_url

from tb.regress.results import connect
from tb.regress.results.connect import parse, write_ahead
from tb.regress.results.database import SCHEMA, Base
from tb.regress.results.store import Store, StoreError
from tests.regress.samples import at_once, begin, jobs

DIGEST = {1: "d50b5d4447d57e7c", 2: "53733d14905a8483", 3: "6d9ea6bb7fc249e3"}
"""Version -> digest of its tables. Once databases of a version exist, a change needs the next."""


def digest(metadata: MetaData) -> str:
    """Returns a digest of tables, columns, types, keys and indices."""
    facts = [
        (
            table.name,
            sorted((c.name, str(c.type), c.nullable, c.primary_key) for c in table.columns),
            sorted(key.target_fullname for key in table.foreign_keys),
            sorted(str(index.name) for index in table.indexes),
        )
        for table in metadata.sorted_tables
    ]
    return hashlib.sha256(repr(sorted(facts)).encode()).hexdigest()[:16]


def tables(url: str) -> list[str]:
    raw = create_engine(parse(url))
    found = inspect(raw).get_table_names()
    raw.dispose()
    return sorted(found)


def run(url: str, *statements: str) -> None:
    raw = create_engine(parse(url))
    with raw.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    raw.dispose()


def refused(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store.open(url)
    assert str(make_url(url).database) in caught.value.where
    assert str(SCHEMA) in caught.value.legal
    assert "another URL" in caught.value.remedy
    return caught.value


def test_changed_tables_have_a_new_version() -> None:
    assert DIGEST[SCHEMA] == digest(Base.metadata)
    changed = MetaData(naming_convention=Base.metadata.naming_convention)
    for table in Base.metadata.sorted_tables:
        table.to_metadata(changed)
    assert digest(changed) == digest(Base.metadata)
    changed.tables["run"].append_column(Column("colour", String(10)))
    assert digest(changed) != digest(Base.metadata)


def test_a_new_database_has_the_tables_and_their_version(url: str) -> None:
    with Store.open(url) as store, store.reading() as session:
        assert session.scalars(text("SELECT version FROM schema_version")).all() == [SCHEMA]
    assert tables(url) == sorted(Base.metadata.tables)


@pytest.mark.parametrize("version", [0, SCHEMA - 1, SCHEMA + 1])
def test_another_version_is_refused_and_not_touched(url: str, version: int) -> None:
    Store.open(url).close()
    run(url, f"UPDATE schema_version SET version = {version}", "DROP TABLE coverage_hits")
    error = refused(url)
    assert f"version {version}" in error.what
    assert f"needs version {SCHEMA}" in error.what
    with pytest.raises(StoreError, match=f"version {version}"):
        Store.open(url, create=False)
    assert "coverage_hits" not in tables(url)


def test_a_database_with_the_tables_of_version_1_is_refused_and_not_touched(url: str) -> None:
    run(
        url,
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY)",
        "INSERT INTO schema_version VALUES (1)",
        "CREATE TABLE night (id INTEGER PRIMARY KEY)",
    )
    error = refused(url)
    assert f"has version 1, this PTO-DV needs version {SCHEMA}" in error.what
    assert "use the PTO-DV that made it" in error.remedy
    assert tables(url) == ["night", "schema_version"]


@pytest.mark.parametrize("loss", ["DELETE FROM schema_version", "DROP TABLE schema_version"])
def test_tables_without_a_version_are_refused(url: str, loss: str) -> None:
    Store.open(url).close()
    run(url, loss)
    assert "no version" in refused(url).what


def test_no_tables_are_left_of_a_failed_beginning(url: str) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("interrupted")

    last = Base.metadata.sorted_tables[-1]
    event.listen(last, "after_create", fail)
    try:
        with pytest.raises(StoreError, match="interrupted"):
            Store.open(url)
    finally:
        event.remove(last, "after_create", fail)
    assert tables(url) == []
    Store.open(url).close()


def open_at_once(url: str, go: Any) -> None:
    go.wait()
    Store.open(url).close()


class Locked:
    """A cursor that fails so many times before it does what it is asked."""

    def __init__(self, times: int, message: str = "database is locked") -> None:
        self.times, self.message = times, message

    def execute(self, _: str) -> None:
        self.times -= 1
        if self.times >= 0:
            raise sqlite3.OperationalError(self.message)


def test_a_journal_that_another_process_changes_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other errors are not tried again."""
    cursor = Locked(2)
    write_ahead(cursor)
    assert cursor.times == -1
    full = Locked(2, "database or disk is full")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        write_ahead(full)
    assert full.times == 1
    monkeypatch.setattr(connect, "_BUSY_SECONDS", -1.0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(Locked(2))


@pytest.mark.long
def test_several_that_open_a_new_database_at_once(url: str) -> None:
    at_once(open_at_once, *[(url,)] * 4)
    with Store.open(url) as store:
        regression_run = begin(store, jobs(1))
        assert len(store.jobs_left(regression_run)) == 1
