# SPDX-License-Identifier: Apache-2.0
"""Access to the results database: read and write transactions."""

from __future__ import annotations

import random
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from tb.regress.results.connect import StoreError, connect, damages, explained, parse, shown
from tb.regress.results.database import RegressionRunTable

_TRIES = 10
_AGAIN = {"40001", "40P01"}
"""PostgreSQL's states of a transaction that got in another's way: do it again."""

DAMAGE = (
    *(SQLAlchemyError, sqlite3.Error, zlib.error),
    *(ValueError, TypeError, KeyError, AttributeError, IndexError),
)
"""What reading raises where a table, a column or a value is not what PTO-DV has written."""

T = TypeVar("T")


class Access:
    """A results database that is open; use it in a ``with`` statement, or close it.

    Every method raises :class:`StoreError` when the database cannot be used any more, or when it
    has no regression run or run of the given name.

    Attributes:
        where: The database's URL without its password, for messages.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        """Opens as :meth:`open` does."""
        place = parse(url)
        self.where = shown(place)
        self._database = connect(place, create=create)
        self._writer = self._database.execution_options(writes=True)
        self._regression_ids: dict[str, int] = {}
        self._groups: dict[str, int] = {}

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Self:
        """Opens a database.

        Args:
            url: Such as ``sqlite:///sim_build/nightly/results.db``.
            create: Make the database where there is none, and see that it can be written. False is
                for who reads alone, then one that is missing is an error.

        Raises:
            StoreError: the URL is wrong, the driver is missing, the server cannot be reached, the
                file cannot be written, or its tables are of another version.
        """
        return cls(url, create=create)

    def close(self) -> None:
        """Closes the database."""
        self._database.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reading: everything read in it is of one moment.

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            with self._database.connect() as connection:
                self._one_moment(connection)
                with Session(connection) as session:
                    yield session
        except DAMAGE as error:
            raise explained(error, self.where, damage=self._damage()) from error

    def _one_moment(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ")

    def _read(self, body: Callable[[Connection], T]) -> T:
        try:
            with self._database.connect() as connection:
                self._one_moment(connection)
                return body(connection)
        except DAMAGE as error:
            raise explained(error, self.where, damage=self._damage()) from error

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Names a damaged table or column where one makes the body fail.

        Raises:
            StoreError: one is damaged.
        """
        try:
            yield
        except DAMAGE as error:
            if damage := self._damage():
                raise explained(error, self.where, damage=damage) from error
            raise

    def _damage(self) -> str:
        """Returns the table and column that are damaged; empty where none is found."""
        try:
            with self._database.connect() as connection:
                return next(damages(connection), "")
        except (SQLAlchemyError, sqlite3.Error):
            return ""

    def _write(self, body: Callable[[Connection], T]) -> T:
        """Runs ``body`` in a transaction, again if another's got in its way."""
        for left in reversed(range(_TRIES)):
            try:
                with self._writer.begin() as connection:
                    return body(connection)
            except (SQLAlchemyError, sqlite3.Error) as error:
                state = getattr(getattr(error, "orig", None), "sqlstate", None)
                again = isinstance(error, IntegrityError) or (
                    isinstance(error, DBAPIError) and state in _AGAIN
                )
                if not again or not left:
                    raise explained(error, self.where, damage=self._damage()) from error
                # Those that met would meet again if they waited for the same time.
                time.sleep(random.uniform(0.0, 0.02 * (_TRIES - left)))
        raise AssertionError("unreachable")

    def _regression_id(self, connection: Connection, name: str) -> int:
        if name not in self._regression_ids:
            found = connection.execute(
                select(RegressionRunTable.id).where(RegressionRunTable.name == name)
            ).scalar_one_or_none()
            if found is None:
                raise StoreError(
                    f"there is no regression run {name}", where=self.where,
                    remedy="pto-dv history lists the regression runs",
                )  # fmt: skip
            self._regression_ids[name] = found
        return self._regression_ids[name]
