# SPDX-License-Identifier: Apache-2.0
"""Coverage hits in the database: rows of runs, sums by regression run, total."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select
from sqlalchemy.exc import IntegrityError

from tb.coverage.model import Coverage
from tb.regress.results.database import (
    GroupTable,
    HitsTable,
    RegressionHitsTable,
    RegressionRunTable,
    RunTable,
)
from tb.regress.results.hits import Definition, GroupHits, Sums, coverage_of, names

_STREAM = {"yield_per": 500}
"""Rows are read so many at a time, for all of them together may not fit in memory."""


@dataclass(frozen=True)
class PackedHits:
    """Hits of one group as they are stored; ``hits`` and ``scope`` as in ``coverage_hits``."""

    part: GroupHits
    hits: bytes
    scope: bytes


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
    run: Row[Any],
    items: Sequence[PackedHits],
    groups: Mapping[str, int],
) -> None:
    """Adds the hits of a run."""
    if not items:
        return
    # Waits for a regression run that is being summed; its sum is outdated then.
    connection.execute(
        select(RegressionRunTable.id)
        .where(RegressionRunTable.id == run.regression_id)
        .with_for_update(read=True)
    )
    forget(connection, run.regression_id)
    connection.execute(
        insert(HitsTable),
        [
            {
                "run_id": run.id,
                "group_id": groups[item.part.digest],
                "hits": item.hits,
                "scope": item.scope,
            }
            for item in items
        ],
    )


def forget(connection: Connection, regression_id: int) -> None:
    """Removes the sums of a regression run; its runs keep their hits."""
    connection.execute(
        delete(RegressionHitsTable).where(RegressionHitsTable.regression_id == regression_id)
    )


def sum_up(connection: Connection, regression_id: int) -> None:
    """Stores the sums of a regression run, so that merging many of them reads few rows."""
    forget(connection, regression_id)
    sums = Sums()
    _add_runs(connection, sums, [regression_id])
    rows = [
        {
            "regression_id": regression_id,
            "group_id": group,
            "runs": runs,
            "hits": hits,
            "scope": scope,
        }
        for group, runs, hits, scope in sums.packed()
    ]
    if rows:
        connection.execute(insert(RegressionHitsTable), rows)


def coverage(
    connection: Connection, regression_ids: Sequence[int] | None, like: int | None
) -> Coverage:
    """Returns the merged coverage of some regression runs, see :meth:`.store.Store.merged`."""
    sums = _sums(connection, regression_ids)
    leading = sums if like is None else _sums(connection, [like])
    sums.keep(leading.hits)
    found = {
        row.id: Definition(row.name, row.digest, row.gm_width, row.definition)
        for row in connection.execute(
            select(
                GroupTable.id,
                GroupTable.name,
                GroupTable.digest,
                GroupTable.gm_width,
                GroupTable.definition,
            )
        )
        if row.id in leading.hits
    }
    return coverage_of(found, names(found, leading.rows), sums)


def _sums(connection: Connection, regression_ids: Sequence[int] | None) -> Sums:
    """Adds up the sums of regression runs, and the hits of runs where there are no sums."""
    sums = Sums()
    query = select(
        RegressionHitsTable.group_id,
        RegressionHitsTable.hits,
        RegressionHitsTable.scope,
        RegressionHitsTable.runs,
    )
    if regression_ids is not None:
        query = query.where(RegressionHitsTable.regression_id.in_(regression_ids))
    for row in connection.execute(query, execution_options=_STREAM):
        sums.add(row.group_id, row.hits, row.scope, row.runs)
    _add_runs(connection, sums, regression_ids)
    return sums


def _add_runs(connection: Connection, sums: Sums, regression_ids: Sequence[int] | None) -> None:
    query = (
        select(HitsTable.group_id, HitsTable.hits, HitsTable.scope)
        .join(RunTable, RunTable.id == HitsTable.run_id)
        .where(RunTable.regression_id.not_in(select(RegressionHitsTable.regression_id)))
    )
    if regression_ids is not None:
        query = query.where(RunTable.regression_id.in_(regression_ids))
    for row in connection.execute(query, execution_options=_STREAM):
        sums.add(row.group_id, row.hits, row.scope)
