# SPDX-License-Identifier: Apache-2.0
"""Reads failures from the results database, grouped by bucket."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from tb.record.failure import Failure
from tb.record.shrunk import Shrunk
from tb.record.signature import bucket_id, signature_of, title
from tb.regress.queries import reading
from tb.regress.queries.views import Bucket, RegressionRun, Rerun, RunRow
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.outcomes import bucket_of, record_of

MOST_OUTCOMES = 3
"""Most other outcomes of a flaky run that are named."""


def runs(session: Session, found: Sequence[RunTable]) -> list[RunRow]:
    """Returns planned runs and their outcomes, of flaky ones also how equal runs ended."""
    both = _outcomes(session, [row for row in found if row.state == "flaky"])
    return [reading.run(row, both.get(row.id, "")) for row in found]


def _outcomes(session: Session, flaky: Sequence[RunTable]) -> dict[int, str]:
    """Returns for each flaky run its own outcome and the different ones of equal runs.

    Equal runs are its reruns, and runs of any regression run with the same settings and builds.
    """
    twins: dict[str, list[tuple[int, str]]] = defaultdict(list)
    names = {row.identity for row in flaky if row.identity}
    for other, regression in session.execute(
        select(RunTable, RegressionRunTable.name)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RunTable.identity.in_(names))
        .order_by(RunTable.id)
    ):
        if found := reading.record(other):
            line = f"{found['status']} in run {other.id} of {regression}"
            twins[other.identity].append((other.id, line))
    told = {}
    for row in flaky:
        parts = [f"flaky: {reading.record(row).get('status', 'no record')} here"]
        parts += [f"{again['state']} when run again" for again in row.reruns]
        others = [line for number, line in twins[row.identity] if number != row.id]
        told[row.id] = ", ".join(parts + others[: max(0, MOST_OUTCOMES + 1 - len(parts))])
    return told


def titles(found: Iterable[RunTable]) -> dict[str, str]:
    """Returns the buckets of a regression run with their titles, ordered by their first runs."""
    first: dict[str, RunTable] = {}
    for row in found:
        if row.bucket:
            first.setdefault(row.bucket, row)
    return {name: title(bucket_of(row.state, row.outcome)) for name, row in first.items()}


def buckets(
    session: Session, regression: RegressionRun, found: Sequence[RunTable], shown: Sequence[RunRow]
) -> list[Bucket]:
    """Returns the failures of a regression run in groups, the largest first.

    Args:
        session: The database.
        regression: The regression run.
        found: The rows of its runs.
        shown: The same runs.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(found):
        if row.bucket:
            members[row.bucket].append(place)
    seen = _seen_in(session, regression, list(members))
    made = [
        _bucket([found[place] for place in places], shown[places[0]], seen[name])
        for name, places in members.items()
    ]
    return sorted(made, key=lambda bucket: (-len(bucket.runs), bucket.example_run.id))


def _bucket(mine: Sequence[RunTable], example_run: RunRow, seen: Sequence[str]) -> Bucket:
    first = mine[0]
    signature = bucket_of(first.state, first.outcome)
    record = record_of(first.outcome)
    example = Failure(**signature.to_json(), text=example_run.message)
    # If the bench failed after it, the first failure of the run did not decide its bucket.
    if record and record.details and bucket_id(signature_of(record.details[0])) == first.bucket:
        example = record.details[0]
    return Bucket(
        id=first.bucket,
        title=title(signature),
        **asdict(signature),
        runs=tuple(row.id for row in mine),
        first_regression=seen[0],
        regression_runs=len(seen),
        example=example,
        example_run=example_run,
        reruns=tuple(_rerun(row.id, again) for row in mine for again in row.reruns),
        later=_later(mine),
    )


def _rerun(run: int, again: Mapping[str, Any]) -> Rerun:
    shrunk = Shrunk(**again["shrunk"]) if again.get("shrunk") else None
    return Rerun(run, **{**again, "when": datetime.fromisoformat(again["when"]), "shrunk": shrunk})


def _later(mine: Iterable[RunTable]) -> tuple[tuple[str, str, int], ...]:
    """Returns the buckets of failures that followed in runs of one bucket."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for row in mine:
        details = reading.record(row).get("details", [])
        # Not validated again: pictures of bytes are large, and a signature has none.
        found = {signature_of(Failure.model_construct(**detail)) for detail in details}
        named = {bucket_id(one): title(one) for one in found}
        names |= named
        counts.update(named.keys() - {row.bucket})
    ordered = sorted(counts.items(), key=lambda item: (-item[1], names[item[0]]))
    return tuple((name, names[name], count) for name, count in ordered)


def _seen_in(
    session: Session, regression: RegressionRun, names: Sequence[str]
) -> dict[str, list[str]]:
    """Returns for each bucket the regression runs that saw it, up to this one, the oldest first."""
    found = session.execute(
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
    seen: dict[str, list[str]] = defaultdict(list)
    for bucket, name, _, _ in found:
        seen[bucket].append(name)
    return seen
