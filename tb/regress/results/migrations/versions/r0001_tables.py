# SPDX-License-Identifier: Apache-2.0
"""Schema 0001: the first tables. A revision stands by itself and is never changed afterwards."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _number() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _id() -> sa.Column[int]:
    return sa.Column("id", _number(), primary_key=True)


def _of(table: str, column: str = "", *, index: bool = True) -> sa.Column[int]:
    """A row of ``table`` that this one goes with."""
    key = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(column or f"{table}_id", _number(), key, nullable=False, index=index)


def _group() -> sa.Column[int]:
    key = sa.ForeignKey("coverage_group.id")
    return sa.Column("group_id", _number(), key, nullable=False, index=True)


def _name(column: str, length: int, *, index: bool = False) -> sa.Column[str]:
    return sa.Column(column, sa.String(length), nullable=False, index=index)


def _all(kind: Any, *columns: str) -> list[sa.Column[Any]]:
    return [sa.Column(column, kind, nullable=False) for column in columns]


def upgrade() -> None:
    """Makes the tables."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "night",
        _id(),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        _name("regression", 64, index=True),
        _name("signature", 64, index=True),
        _name("status", 16, index=True),
        *_all(time, "started", "heartbeat"),
        sa.Column("ended", time),
        *_all(sa.Text(), "host", "commit", "command", "folder"),
        *_all(sa.BigInteger(), "pid", "base_seed"),
        *_all(sa.Float(), "budget_seconds"),
        *_all(sa.JSON(), "duts", "options", "figures", "coverage", "code", "notes"),
    )
    op.create_table(
        "run",
        _id(),
        _of("night"),
        _name("key", 200),
        _name("config", 200, index=True),
        _name("identity", 64, index=True),
        _name("state", 16, index=True),
        _name("test", 200),
        _name("sim", 32),
        _name("manifest_hash", 64),
        _name("inputs", 64),
        _name("bucket", 16, index=True),
        *_all(sa.BigInteger(), "position", "seed", "attempts", "transactions", "bytes_checked"),
        *_all(sa.BigInteger(), "clocks", "mismatches", "protocol_errors"),
        *_all(sa.Float(), "seconds", "simulator_seconds", "python_seconds", "build_seconds"),
        *_all(sa.Float(), "coverage"),
        *_all(sa.Text(), "worker", "simulator_version", "message", "command", "folder"),
        *_all(sa.JSON(), "job"),
        sa.Column("started", time),
        sa.Column("ended", time),
        sa.Column("record", sa.JSON()),
        sa.UniqueConstraint("night_id", "key"),
    )
    op.create_table(
        "lost",
        _id(),
        _of("run"),
        *_all(sa.BigInteger(), "attempt"),
        *_all(sa.Text(), "worker", "why"),
        sa.UniqueConstraint("run_id", "attempt"),
    )
    op.create_table(
        "build",
        _id(),
        _of("night"),
        _name("config", 200),
        _name("inputs", 64),
        *_all(sa.Float(), "seconds"),
        *_all(sa.Text(), "error"),
        sa.UniqueConstraint("night_id", "config"),
    )
    op.create_table(
        "bucket",
        sa.Column("id", sa.String(16), primary_key=True),
        *_all(sa.Text(), "title"),
        *_all(sa.JSON(), "signature"),
    )
    op.create_table(
        "failure",
        _id(),
        _of("run"),
        *_all(sa.BigInteger(), "position"),
        _name("bucket", 16, index=True),
        *_all(sa.JSON(), "detail"),
        sa.UniqueConstraint("run_id", "position"),
    )
    op.create_table(
        "rerun",
        _id(),
        _of("run"),
        _name("state", 16),
        *_all(time, "ended"),
        _name("inputs", 64),
        *_all(sa.Text(), "waves", "timeline", "message"),
    )
    op.create_table(
        "coverage_group",
        _id(),
        _name("name", 64, index=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        *_all(sa.BigInteger(), "gm_width"),
        *_all(sa.JSON(), "definition"),
    )
    op.create_table(
        "coverage_hits",
        _id(),
        _of("run"),
        _group(),
        *_all(sa.LargeBinary(), "hits", "scope"),
        sa.UniqueConstraint("run_id", "group_id"),
    )
    op.create_table(
        "night_hits",
        _id(),
        _of("night"),
        _group(),
        *_all(sa.BigInteger(), "runs"),
        *_all(sa.LargeBinary(), "hits", "scope"),
        sa.UniqueConstraint("night_id", "group_id"),
    )
