# SPDX-License-Identifier: Apache-2.0
"""Tables of the results database.

One row of ``run`` for each planned run of a regression run; it is updated when the run is done, and
only if that has not happened before: nothing is lost and nothing counts twice. The record of a run
is stored whole; beside it are the columns that queries need. A change of the tables needs a new
:data:`SCHEMA`: a database of another version is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA = 3
"""Version of the tables below, kept in the database."""

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

_Id = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts up rows of INTEGER alone."""


class UtcTime(TypeDecorator[datetime]):
    """A time with its zone, kept in UTC: SQLite has no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Returns ``value`` in UTC."""
        return value if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Returns ``value`` with its zone."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Base of all tables."""

    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it off the class
        datetime: UtcTime,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        bytes: LargeBinary,
        str: Text,
        int: BigInteger,
        float: Float,
    }


class VersionTable(Base):
    """One row: the :data:`SCHEMA` that the database was made with."""

    __tablename__ = "schema_version"

    version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)


class RegressionRunTable(Base):
    """A regression run; ``regression`` names its list, ``signature`` identifies its plan."""

    __tablename__ = "regression"

    id: Mapped[int] = mapped_column(_Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    regression: Mapped[str] = mapped_column(String(64), index=True)
    signature: Mapped[str] = mapped_column(String(64), index=True)
    status: Mapped[str] = mapped_column(String(16), index=True)
    started: Mapped[datetime]
    ended: Mapped[datetime | None]
    heartbeat: Mapped[datetime]
    host: Mapped[str]
    space: Mapped[str]
    """Of the number of the process: see :func:`tb.regress.results.regressions.process_space`."""
    pid: Mapped[int]
    about: Mapped[dict[str, Any]]
    """The other arguments of :meth:`.regressions.RegressionRuns.begin_regression`."""
    builds: Mapped[dict[str, Any]]
    """Configuration to ``inputs``, ``seconds`` and ``error`` of its build."""
    figures: Mapped[dict[str, Any]]
    """A :class:`tb.regress.queries.views.Figures`; during the run only ``wall_seconds``."""
    coverage: Mapped[dict[str, Any]]
    """``percent`` and ``groups``, written at the end for trends."""
    code: Mapped[dict[str, Any]]
    """Engine to kind to [covered, all]."""
    notes: Mapped[list[Any]]
    suites: Mapped[dict[str, Any]]
    """Results of pytest: :data:`tb.regress.queries.plan.Suites`."""


class RunTable(Base):
    """A planned run; ``state`` is ``planned`` until it is done."""

    __tablename__ = "run"
    __table_args__ = (UniqueConstraint("regression_id", "key"),)

    id: Mapped[int] = mapped_column(_Id, primary_key=True)
    regression_id: Mapped[int] = mapped_column(
        ForeignKey("regression.id", ondelete="CASCADE"), index=True
    )
    key: Mapped[str] = mapped_column(String(200))
    config: Mapped[str] = mapped_column(String(200))
    position: Mapped[int]
    """Place in the order of the plan."""
    test: Mapped[str] = mapped_column(String(200))
    manifest_hash: Mapped[str] = mapped_column(String(64))
    job: Mapped[dict[str, Any]]
    """The :class:`tb.regress.workers.job.Job` as JSON."""
    state: Mapped[str] = mapped_column(String(16), index=True)
    identity: Mapped[str] = mapped_column(String(64), index=True)
    """Hash of what decides the outcome: settings, build inputs; equal ones must end equally."""
    bucket: Mapped[str] = mapped_column(String(16), index=True)
    seconds: Mapped[float]
    build_seconds: Mapped[float]
    transactions: Mapped[int]
    bytes_checked: Mapped[int]
    clocks: Mapped[int]
    folder: Mapped[str]
    outcome: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """The :class:`tb.regress.workers.job.Outcome` with its record as JSON, without coverage."""
    lost: Mapped[list[Any]]
    """A :class:`tb.regress.workers.job.Lost` for each attempt that lost its worker."""
    reruns: Mapped[list[Any]]
    """A :class:`tb.regress.queries.views.Rerun` without its number for each time it was done again.
    """


class GroupTable(Base):
    """A coverage group's definition; groups of one name may be defined differently by bus width."""

    __tablename__ = "coverage_group"

    id: Mapped[int] = mapped_column(_Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    gm_width: Mapped[int]
    """GM bus width of the first run that had it; groups of one name differ by it."""
    definition: Mapped[dict[str, Any]]
    """The group in the schema of :mod:`tb.coverage.export.exchange`, without hits and totals."""


class HitsTable(Base):
    """Hits of one group in one run of a regression run, at its end in all of them.

    ``hits`` is zlib-compressed ``int64`` little-endian, all points and then all crosses in the
    order of the definition; ``scope`` is the same of one bit per bin (numpy ``packbits``), empty
    where all bins are in scope; ``runs`` is the number of runs that are summed.
    """

    __tablename__ = "coverage_hits"

    id: Mapped[int] = mapped_column(_Id, primary_key=True)
    regression_id: Mapped[int] = mapped_column(
        ForeignKey("regression.id", ondelete="CASCADE"), index=True
    )
    group_id: Mapped[int] = mapped_column(ForeignKey("coverage_group.id"), index=True)
    runs: Mapped[int]
    hits: Mapped[bytes]
    scope: Mapped[bytes]
