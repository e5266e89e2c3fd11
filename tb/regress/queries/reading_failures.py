# SPDX-License-Identifier: Apache-2.0
"""Reads failures from the results database, grouped by bucket."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from tb.record.failure import Failure
from tb.regress.queries.views import Bucket, RegressionRun, Rerun, RunRow
from tb.regress.results.database import (
    BucketTable,
    FailureTable,
    RegressionRunTable,
    RerunTable,
    RunTable,
)

MOST_OUTCOMES = 3
"""Most other outcomes of a flaky run that are named."""


def first_lines(session: Session, regression: str) -> dict[int, str]:
    """Returns for each run with failures the first line of the first report."""
    rows = session.execute(
        select(FailureTable.run_id, FailureTable.detail["text"].as_string())
        .join(RunTable, RunTable.id == FailureTable.run_id)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression, FailureTable.position == 0)
    )
    return {run: str(text or "").strip().partition("\n")[0] for run, text in rows}


def outcomes(session: Session, regression: str) -> dict[int, str]:
    """Returns for each flaky run its own outcome and the different ones of equal runs.

    Equal runs are its reruns, and runs of any regression run with the same settings and builds.
    """
    mine = (
        select(RunTable)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression, RunTable.state == "flaky")
        .subquery()
    )
    own = mine.c.record["status"].as_string()
    found: dict[int, list[str]] = {}
    for run, state in session.execute(select(mine.c.id, own)):
        found[run] = [f"flaky: {state or 'no record'} here"]
    reruns = select(RerunTable.run_id, RerunTable.state).join(mine, mine.c.id == RerunTable.run_id)
    for run, state in session.execute(reruns.order_by(RerunTable.id)):
        found[run].append(f"{state} when run again")
    twins = (
        select(
            mine.c.id, RunTable.id, RegressionRunTable.name, RunTable.record["status"].as_string()
        )
        .join(mine, mine.c.identity == RunTable.identity)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RunTable.id != mine.c.id, RunTable.identity != "", RunTable.record.is_not(None))
        .order_by(mine.c.id, RunTable.id)
    )
    for run, other, name, state in session.execute(twins):
        if len(found[run]) <= MOST_OUTCOMES:
            found[run].append(f"{state} in run {other} of {name}")
    return {run: ", ".join(parts) for run, parts in found.items()}


def titles(session: Session, regression: str) -> dict[str, str]:
    """Returns the buckets of a regression run with their titles, ordered by their first runs."""
    wanted = (
        select(RunTable.bucket, BucketTable.title)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .join(BucketTable, BucketTable.id == RunTable.bucket)
        .where(RegressionRunTable.name == regression)
        .order_by(RunTable.position)
    )
    return {bucket: title for bucket, title in session.execute(wanted)}  # noqa: C416 - rows


def buckets(session: Session, regression: RegressionRun, rows: Sequence[RunRow]) -> list[Bucket]:
    """Returns the failures of a regression run in groups, the largest first.

    Args:
        session: The database.
        regression: The regression run.
        rows: Its runs.
    """
    members: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        if row.bucket:
            members[row.bucket].append(row)
    known = {
        row.id: row
        for row in session.scalars(select(BucketTable).where(BucketTable.id.in_(members)))
    }
    seen = _seen_in(session, regression, list(members))
    examples = _first_failures(session, [mine[0].id for mine in members.values()])
    reruns = _reruns(session, regression.name)
    found = [
        _bucket(known[name], mine, seen[name], examples.get(mine[0].id), reruns)
        for name, mine in members.items()
        if name in known
    ]
    return sorted(found, key=lambda bucket: (-len(bucket.runs), bucket.example_run.id))


def _bucket(
    row: BucketTable,
    mine: Sequence[RunRow],
    seen: Sequence[str],
    example: tuple[str, Failure] | None,
    reruns: Mapping[int, Sequence[Rerun]],
) -> Bucket:
    first = mine[0]
    fields = {name: str(row.signature.get(name, "")) for name in _SIGNATURE}
    # If the bench failed after it, the first failure of the run did not decide its bucket.
    if example is None or example[0] != row.id:
        failure = Failure(**fields, text=first.message)
    else:
        failure = example[1]
    return Bucket(
        id=row.id,
        title=row.title,
        **fields,
        runs=tuple(run.id for run in mine),
        first_regression=seen[0],
        regression_runs=len(seen),
        example=failure,
        example_run=first,
        reruns=tuple(rerun for run in mine for rerun in reruns.get(run.id, ())),
    )


_SIGNATURE = ("kind", "slot", "op", "field", "rule", "space", "address_class")


def _seen_in(
    session: Session, regression: RegressionRun, names: Sequence[str]
) -> dict[str, list[str]]:
    """Returns for each bucket the regression runs that saw it, up to this one, the oldest first."""
    rows = session.execute(
        select(
            RunTable.bucket,
            RegressionRunTable.name,
            RegressionRunTable.started,
            RegressionRunTable.id,
        )
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RunTable.bucket.in_(names), RegressionRunTable.started <= regression.started)
        .distinct()
        .order_by(RegressionRunTable.started, RegressionRunTable.id)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for bucket, name, _, _ in rows:
        found[bucket].append(name)
    return found


def _first_failures(session: Session, wanted: Sequence[int]) -> dict[int, tuple[str, Failure]]:
    rows = session.execute(
        select(FailureTable.run_id, FailureTable.bucket, FailureTable.detail).where(
            FailureTable.run_id.in_(wanted), FailureTable.position == 0
        )
    )
    return {run: (bucket, Failure.model_validate(detail)) for run, bucket, detail in rows}


def _reruns(session: Session, regression: str) -> dict[int, list[Rerun]]:
    found: dict[int, list[Rerun]] = defaultdict(list)
    rows = session.scalars(
        select(RerunTable)
        .join(RunTable, RunTable.id == RerunTable.run_id)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression)
        .order_by(RerunTable.id)
    )
    for row in rows:
        found[row.run_id].append(
            Rerun(row.run_id, row.state, row.ended, row.waves, row.timeline, row.message)  # type: ignore[arg-type]
        )
    return found
