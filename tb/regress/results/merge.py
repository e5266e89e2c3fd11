# SPDX-License-Identifier: Apache-2.0
"""Coverage hits in the database: a row for each run and group, and one for all at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from tb.coverage.model import Coverage, CoverageError
from tb.regress.results.database import GroupTable, HitsTable, RegressionRunTable
from tb.regress.results.hits import (
    Definition,
    GroupHits,
    Sums,
    coverage_of,
    names,
    pack_hits,
    pack_scope,
    split,
)

_STREAM = {"yield_per": 500}
"""Rows are read so many at a time, for all of them together may not fit in memory."""


@dataclass(frozen=True)
class PackedHits:
    """Hits of one group as they are stored; ``hits`` and ``scope`` as in ``coverage_hits``."""

    part: GroupHits
    hits: bytes
    scope: bytes


def packed(coverage: str) -> tuple[list[PackedHits], str]:
    """Packs the coverage of a run; the second is why it cannot be read, or empty."""
    try:
        parts = split(coverage) if coverage else []
    except CoverageError as error:
        return [], str(error)
    return [PackedHits(part, pack_hits(part.hits), pack_scope(part.scope)) for part in parts], ""


def definitions(
    connection: Connection, items: Sequence[PackedHits], gm_width: int
) -> dict[str, int]:
    """Adds definitions that are not there yet; returns digest to number of all of ``items``."""
    digests = [item.part.digest for item in items]
    found = _numbers(connection, digests)
    for item in items:
        if item.part.digest in found:
            continue
        row = {
            "name": item.part.name,
            "digest": item.part.digest,
            "gm_width": gm_width,
            "definition": json.loads(item.part.definition),
        }
        try:
            with connection.begin_nested():
                connection.execute(insert(GroupTable).values(**row))
        except IntegrityError:
            pass  # another process was faster
    return _numbers(connection, digests)


def _numbers(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(
        select(GroupTable.digest, GroupTable.id).where(GroupTable.digest.in_(digests))
    )
    return {row.digest: row.id for row in rows}


def add_hits(
    connection: Connection,
    regression_id: int,
    items: Sequence[PackedHits],
    groups: Mapping[str, int],
) -> None:
    """Adds the hits of a run."""
    if items:
        # Waits for a regression run that is being summed.
        connection.execute(
            select(RegressionRunTable.id)
            .where(RegressionRunTable.id == regression_id)
            .with_for_update(read=True)
        )
    rows = ((groups[item.part.digest], 1, item.hits, item.scope) for item in items)
    _insert(connection, regression_id, rows)


def sum_up(connection: Connection, regression_id: int) -> None:
    """Puts the sums of a regression run in place of its rows, so that merging many reads few."""
    sums = _sums(connection, [regression_id])
    connection.execute(delete(HitsTable).where(HitsTable.regression_id == regression_id))
    _insert(connection, regression_id, sums.packed())


def _insert(
    connection: Connection, regression_id: int, parts: Iterable[tuple[int, int, bytes, bytes]]
) -> None:
    """Adds rows of definition, number of runs, hits and scope."""
    rows = [
        {"regression_id": regression_id, "group_id": group, "runs": runs, "hits": hits,
         "scope": scope}
        for group, runs, hits, scope in parts
    ]  # fmt: skip
    if rows:
        connection.execute(insert(HitsTable), rows)


def coverage(
    connection: Connection, regression_ids: Sequence[int] | None, like: int | None
) -> Coverage:
    """Returns the merged coverage of some regression runs, see :meth:`.store.Store.merged`."""
    sums = _sums(connection, regression_ids)
    leading = sums if like is None else _sums(connection, [like])
    sums.keep(leading.hits)
    rows = connection.execute(select(GroupTable.__table__).where(GroupTable.id.in_(leading.hits)))
    found = {row.id: Definition(row.name, row.digest, row.gm_width, row.definition) for row in rows}
    return coverage_of(found, names(found, leading.rows), sums)


def _sums(connection: Connection, regression_ids: Sequence[int] | None) -> Sums:
    sums = Sums()
    query = select(HitsTable.group_id, HitsTable.hits, HitsTable.scope, HitsTable.runs)
    if regression_ids is not None:
        query = query.where(HitsTable.regression_id.in_(regression_ids))
    for row in connection.execute(query, execution_options=_STREAM):
        sums.add(row.group_id, row.hits, row.scope, row.runs)
    return sums
