# SPDX-License-Identifier: Apache-2.0
"""Connection to the results database: URL, driver, schema; errors in the user's terms."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    Engine,
    Text,
    cast,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from tb.common.errors import PtoError
from tb.regress.results.database import SCHEMA, Base, VersionTable
from tb.regress.results.missing import PLACE, StoreError, no_results

PLACES = "RESULTS=, --db or the farm file"
LEGAL_URL = "sqlite:///path/results.db or postgresql+psycopg://user@host/name"
_CONNECT_SECONDS = 10
_BUSY_SECONDS = 60.0
_AGAIN_SECONDS = 0.05
_TABLES_LOCK = 7_368_616
"""Key of PostgreSQL's advisory lock under which tables are made; any number of our own."""

_POSTGRES_FULL = "53100"


def parse(url: str) -> URL:
    """Returns a URL with the driver that we use.

    Raises:
        StoreError: it is not a URL of a database, or of SQLite without a file.
    """
    try:
        found = make_url(url)
    except ArgumentError:
        raise StoreError(
            f"'{url}' is not a URL of a database",
            where=PLACES,
            legal=LEGAL_URL,
            remedy="write it as one of these",
        ) from None
    if found.drivername in ("postgresql", "postgres"):
        found = found.set(drivername="postgresql+psycopg")
    if found.get_backend_name() == "sqlite" and found.database in (None, "", ":memory:"):
        raise StoreError(
            f"'{url}' names no file, and a database in memory is gone with its process",
            where=PLACES,
            legal=LEGAL_URL,
            remedy="name a file",
        )
    return found


def shown(url: URL) -> str:
    """Returns the URL for people, without its password."""
    return url.render_as_string(hide_password=True)


def connect(url: URL, *, create: bool) -> Engine:
    """Opens a database with the tables of this version.

    Args:
        url: From :func:`parse`.
        create: Make tables, and a file with its folder, where there are none, and see that the
            database can be written; for reading alone neither is wanted.

    Raises:
        StoreError: the driver is missing, the server cannot be reached, the file cannot be
            written or is something else, or its tables are of another version.
    """
    sqlite = url.get_backend_name() == "sqlite"
    fixed = sqlite and not create and _is_read_only(Path(str(url.database)))
    if sqlite:
        _folder(url, create=create)
    database = _opened(_immutable(url) if fixed else url)
    try:
        if sqlite and not fixed:
            _begin_explicitly(database)
        with database.connect() as connection:
            ours = _has_tables(connection, shown(url))
        if not ours and not create:
            raise no_results(shown(url))
        # The journal is part of the file: it is set in one that is to be written and is ours.
        if sqlite and create:
            # Not in a transaction, so past SQLAlchemy, which begins one.
            with closing(database.raw_connection()) as raw:
                write_ahead(raw.cursor())
        if create:
            _make_tables(database, shown(url))
    except (SQLAlchemyError, sqlite3.Error) as error:
        database.dispose()
        raise explained(error, shown(url), opening=True) from error
    except PtoError:
        database.dispose()
        raise
    return database


def write_ahead(cursor: Any) -> None:
    """Sets the journal of SQLite, which does not wait for others that do so at the same time."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _folder(url: URL, *, create: bool) -> None:
    if url.query.get("uri") or Path(str(url.database)).exists():
        return
    path = Path(str(url.database))
    if not create:
        raise no_results(str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder of the results database cannot be made: {error.strerror}",
            where=str(path.parent),
            remedy=PLACE,
        ) from None


def _is_read_only(file: Path) -> bool:
    """Returns whether a database can be read alone and no process has changes beside it."""
    places = (file, file.parent)
    writable = all(os.access(place, os.W_OK) for place in places)
    return file.exists() and not writable and not file.with_name(f"{file.name}-wal").exists()


def _immutable(url: URL) -> URL:
    """Returns the URL that opens a file of SQLite without a lock or a file beside it."""
    query = {"mode": "ro", "immutable": "1", "uri": "true"}
    return url.set(database=Path(str(url.database)).absolute().as_uri(), query=query)


def _opened(url: URL) -> Engine:
    arguments: dict[str, Any] = {}
    if url.get_backend_name() == "sqlite":
        arguments["timeout"] = _BUSY_SECONDS
    elif url.get_backend_name() == "postgresql" and "connect_timeout" not in url.query:
        arguments["connect_timeout"] = _CONNECT_SECONDS
    try:
        return create_engine(url, connect_args=arguments, pool_pre_ping=True)
    except NoSuchModuleError:
        raise StoreError(
            f"no database is called '{url.drivername}'", where=shown(url), legal=LEGAL_URL,
            remedy="correct the beginning of the URL",
        ) from None  # fmt: skip
    except ImportError as error:
        raise StoreError(
            f"the driver of this database is not installed: {error}",
            where=shown(url),
            remedy="install the one for PostgreSQL: .venv/bin/python -m tb.setup.install farm",
        ) from None


def _begin_explicitly(database: Engine) -> None:
    """Begins SQLite's transactions where SQLAlchemy begins them; writers wait for each other.

    Python's module begins one only before the first change. A transaction that read first would
    then fail at once if another process has written.
    """

    @event.listens_for(database, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys=ON")
        # With a write-ahead log a killed process loses nothing; only a power cut may cost the
        # last runs, whole transactions, and they are then done again.
        connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(database, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _make_tables(database: Engine, where: str) -> None:
    """Makes the tables where there are none, and sees that the database can be written."""
    with database.connect() as connection:
        if _has_tables(connection, where):
            _writable(database)
            return
    with database.execution_options(writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_TABLES_LOCK})"))
        # Another process may have made them before the lock was ours.
        if not _has_tables(connection, where):
            Base.metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(VersionTable).values(version=SCHEMA))


def _has_tables(connection: Connection, where: str) -> bool:
    """Returns whether there are tables of ours; others than those of this version are refused."""
    tables = set(inspect(connection).get_table_names())
    ours = tables & set(Base.metadata.tables)
    version = None
    if VersionTable.__tablename__ in tables:
        version = connection.execute(select(VersionTable.version)).scalar()
    if version is None and ours:
        raise StoreError(
            f"this database has a table {min(ours)} and no version: an early PTO-DV made it, or "
            "another program",
            where=where,
            legal=f"version {SCHEMA}",
            remedy=f"{PLACE}; nothing was changed",
        )
    if version not in (None, SCHEMA):
        raise StoreError(
            f"the results database has version {version}, this PTO-DV needs version {SCHEMA}",
            where=where,
            legal=f"version {SCHEMA}",
            remedy=f"use the PTO-DV that made it, or {PLACE} (RESULTS= or --db); "
            "nothing was changed",
        )
    return version is not None


def _writable(database: Engine) -> None:
    """Changes nothing, and fails where nothing can be changed."""
    with database.execution_options(writes=True).connect() as connection:
        connection.execute(update(VersionTable).values(version=VersionTable.version))
        connection.rollback()


def damages(connection: Connection) -> Iterator[str]:
    """Yields missing tables and columns, and values that are not JSON of their type."""
    found = inspect(connection)
    tables = set(found.get_table_names())
    for mapper in Base.registry.mappers:
        table = Base.metadata.tables[mapper.class_.__tablename__]
        if table.name not in tables:
            yield f"table {table.name} is missing"
            continue
        missing = set(table.columns.keys()) - {one["name"] for one in found.get_columns(table.name)}
        for name in sorted(missing):
            yield f"column {name} of table {table.name} is missing"
        for column in table.columns:
            if missing or not isinstance(column.type, JSON):
                continue
            kind = list if "list" in str(mapper.class_.__annotations__[column.name]) else dict
            name = f"column {column.name} of table {table.name}"
            query = select(table.c.id, cast(column, Text))
            for row, value in connection.execute(query):
                if value is None and column.nullable:
                    continue
                try:
                    data = json.loads(value)
                except (ValueError, TypeError):
                    data = None
                if not isinstance(data, kind):
                    yield f"{name}, id {row}, is not JSON {'list' if kind is list else 'object'}"


def explained(
    error: Exception, where: str, *, opening: bool = False, damage: str = ""
) -> StoreError:
    """Returns an error of the database as one with a remedy.

    Args:
        error: What was raised.
        where: The database.
        opening: Whether it was being opened.
        damage: The table or column that is damaged, where that is known.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    reason = (str(cause).strip() or type(cause).__name__).splitlines()[0]
    state = getattr(cause, "sqlstate", None)
    if state == _POSTGRES_FULL or "disk is full" in reason:
        return StoreError(
            f"the results database could not be written, its disk is full: {reason}",
            where=where,
            remedy="free room and start again: finished runs are kept, missing ones are done then",
        )
    if "readonly" in reason or "read-only" in reason:
        return StoreError(
            f"the results database cannot be written: {reason}",
            where=where,
            remedy=f"make the file and its folder writable, or {PLACE}",
        )
    lost = "no such table" in reason or "no such column" in reason
    if damage or lost or not isinstance(error, SQLAlchemyError | sqlite3.Error):
        return StoreError(
            f"the results database is damaged: {damage or f'{type(cause).__name__}: {reason}'}",
            where=where,
            legal=f"the tables and columns of version {SCHEMA}, with JSON where they hold it",
            remedy=f"restore a copy of it, or {PLACE}",
        )
    if "not a database" in reason or "malformed" in reason:
        return StoreError(
            f"this is not a results database, or a damaged one: {reason}", where=where,
            remedy=f"{PLACE}, or move the file away",
        )  # fmt: skip
    if "unable to open" in reason:
        return StoreError(
            f"the results database cannot be opened: {reason}",
            where=where,
            remedy=f"make the folder writable, or {PLACE}",
        )
    if "locked" in reason:
        return StoreError(
            f"the results database was busy for more than {_BUSY_SECONDS:.0f} s: {reason}",
            where=where,
            remedy="end the process that holds it, and start again",
        )
    what = "cannot be opened" if opening else "did not take or give what it should"
    remedy = "see that the server runs and lets you in, then start again"
    return StoreError(f"the results database {what}: {reason}", where=where, remedy=remedy)
