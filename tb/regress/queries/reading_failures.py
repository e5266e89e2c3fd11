# SPDX-License-Identifier: Apache-2.0
"""Reads failures from the results database, grouped by bucket."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from tb.record.failure import Failure
from tb.record.shrunk import Shrunk
from tb.record.signature import bucket_id, signature_of, title
from tb.record.summary import causes_first
from tb.regress.queries import reading
from tb.regress.queries.views import FAILED, Bucket, Culprit, RegressionRun, Rerun, RunRow
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.outcomes import VERDICTS, bucket_of, record_of

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
    texts = {}
    for row in flaky:
        parts = [f"flaky: {reading.record(row).get('status', 'no record')} here"]
        parts += [f"{again['state']} when run again" for again in row.reruns]
        others = [line for number, line in twins[row.identity] if number != row.id]
        texts[row.id] = ", ".join(parts + others[: max(0, MOST_OUTCOMES + 1 - len(parts))])
    return texts


def titles(found: Iterable[RunTable]) -> dict[str, str]:
    """Returns the buckets of a regression run with their titles, ordered by their first runs."""
    first: dict[str, RunTable] = {}
    for row in found:
        if row.bucket:
            first.setdefault(row.bucket, row)
    return {name: title(bucket_of(row.state, row.outcome)) for name, row in first.items()}


_KINDS_WITHOUT_OP = ("crash",)
"""Kinds whose op was in flight by chance."""


def culprits(found: Iterable[RunTable]) -> dict[int, set[Culprit]]:
    """Returns what failed in each failed run; nothing for a run of which that is not known.

    Ops are left out that read bytes which another failed op should have written.
    """
    return {row.id: _culprits(_details(row)) for row in found if row.state in FAILED}


def _details(row: RunTable) -> list[Failure]:
    """Returns the failures of a run whose engines failed; not validated again.

    Pictures of bytes are large, and not used.
    """
    found = reading.record(row)
    details = found.get("details", []) if found.get("status") in VERDICTS else []
    return [Failure.model_construct(**detail) for detail in details]


def _culprits(details: Sequence[Failure]) -> set[Culprit]:
    failed = {one.transaction for one in details} - {None}
    return {
        Culprit()
        if one.kind in _KINDS_WITHOUT_OP
        else Culprit(one.slot, one.op, one.rule if one.op else "")
        for one in details
        if one.cause not in failed
    }


def buckets(
    session: Session, regression: RegressionRun, found: Sequence[RunTable], shown: Sequence[RunRow]
) -> list[Bucket]:
    """Returns the failures of a regression run in groups, the largest first.

    A group that follows from another one stands after it.

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
    made.sort(key=lambda bucket: (-len(bucket.runs), bucket.example_run.id))
    before = {
        name: set.intersection(*(_before(found[place]) for place in places))
        for name, places in members.items()
    }
    # The first one in the order that does not itself follow from this one: there is no circle.
    follows: dict[str, str] = {}
    for bucket in made:
        causes = (one.id for one in made if one.id in before[bucket.id])
        free = (cause for cause in causes if bucket.id not in _chain(cause, follows))
        follows[bucket.id] = next(free, "")
    ordered = sorted(made, key=lambda one: _path(one.id, follows, [each.id for each in made]))
    return [replace(one, follows=follows[one.id]) for one in ordered]


def _chain(name: str, follows: Mapping[str, str]) -> list[str]:
    """Returns a bucket, what it follows from, and so on."""
    found = [name]
    while follows.get(found[-1]):
        found.append(follows[found[-1]])
    return found


def _path(name: str, follows: Mapping[str, str], order: Sequence[str]) -> list[int]:
    """Returns the places of a bucket and of those that it follows from, the first cause first."""
    return [order.index(one) for one in reversed(_chain(name, follows))]


def _before(row: RunTable) -> set[str]:
    """Returns the other buckets whose failures stand before that of a run's bucket, in this run.

    None where the bucket is not that of a failure.
    """
    details = causes_first(_details(row))
    names = [bucket_id(signature_of(one)) for one in details]
    return set(names[: names.index(row.bucket)]) if row.bucket in names else set()


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
