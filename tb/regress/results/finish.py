# SPDX-License-Identifier: Apache-2.0
"""Rows of one run: planned, done, done again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tb.coverage.model import CoverageError
from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.regress.queries.views import RunState
from tb.regress.results.connect import StoreError
from tb.regress.results.database import BucketTable, BuildTable, FailureTable, RerunTable, RunTable
from tb.regress.results.hits import pack_hits, pack_scope, split
from tb.regress.results.merge import PackedHits
from tb.regress.workers.job import Job, Outcome

VERDICTS = ("pass", "fail", "hang", "crash")
"""States that say something about the engines. A run that was lost, interrupted or left no record
says nothing, and so contradicts nothing."""


@dataclass(frozen=True)
class BucketKey:
    """A signature of failures with its names in the database.

    Attributes:
        id: Short name made from the signature, at most 16 characters.
        title: The signature as a phrase.
        signature: Its fields, as JSON.
    """

    id: str
    title: str = ""
    signature: Mapping[str, Any] = field(default_factory=dict)


def clean(text: str) -> str:
    """Returns text that every database takes: no NUL, no half characters."""
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def packed(coverage: str) -> tuple[list[PackedHits], str]:
    """Packs the coverage of a run; the second is why it cannot be read, or empty."""
    if not coverage:
        return [], ""
    try:
        parts = split(coverage)
    except CoverageError as error:
        return [], str(error)
    return [PackedHits(part, pack_hits(part.hits), pack_scope(part.scope)) for part in parts], ""


def planned(regression_id: int, position: int, job: Job, manifest_hash: str) -> dict[str, Any]:
    """Returns the row of a run that is not done."""
    settings = job.settings
    return {
        "regression_id": regression_id,
        "key": job.key,
        "config": job.config,
        "position": position,
        "job": job.model_dump(mode="json"),
        "identity": "",
        "state": "planned",
        "test": settings.test,
        "sim": settings.sim,
        "seed": settings.seed,
        "manifest_hash": manifest_hash,
        "command": settings.command(),
        **dict.fromkeys(("worker", "simulator_version", "inputs", "message", "folder"), ""),
        **dict.fromkeys(("attempts", "transactions", "bytes_checked", "clocks"), 0),
        **dict.fromkeys(("mismatches", "protocol_errors"), 0),
        **dict.fromkeys(("seconds", "simulator_seconds", "python_seconds", "build_seconds"), 0.0),
        "coverage": 0.0,
        "bucket": "",
    }


def values(outcome: Outcome, unread: str) -> dict[str, Any]:
    """Returns the columns that an outcome fills; ``unread`` says what of its coverage is wrong."""
    record = outcome.record
    found: dict[str, Any] = {
        "attempts": outcome.attempt,
        "worker": clean(outcome.worker),
        "started": outcome.started,
        "ended": outcome.ended,
        "seconds": outcome.seconds,
        "inputs": outcome.inputs,
        "message": _joined(outcome.error, unread),
        "record": None,
    }
    if record is None:
        return found
    return found | {
        "message": _joined(record.message, outcome.error, unread),
        "command": clean(record.command or record.settings.command()),
        "simulator_version": record.simulator_version,
        "transactions": record.transactions,
        "bytes_checked": record.bytes_checked,
        "clocks": record.clocks,
        "mismatches": record.mismatches,
        "protocol_errors": record.protocol_errors,
        "simulator_seconds": record.times.simulator,
        "python_seconds": record.times.python,
        "build_seconds": record.times.build,
        "coverage": record.coverage.percent,
        "record": record.model_dump(mode="json", exclude={"details"}),
    }


def _joined(*messages: str) -> str:
    """Puts messages into one; of equal ones the first."""
    return clean("; ".join(dict.fromkeys(filter(None, messages))))


def build_inputs(connection: Connection, run: Row[Any]) -> str:
    """Returns the digest of the inputs of the run's build, empty if it is not known."""
    query = select(BuildTable.inputs).where(
        BuildTable.regression_id == run.regression_id, BuildTable.config == run.config
    )
    return connection.execute(query).scalar() or ""


def contradicted(connection: Connection, run: Row[Any], identity: str, state: RunState) -> bool:
    """Returns whether an equal run ended differently; those of this regression run become flaky."""
    if state not in VERDICTS:
        return False
    if connection.dialect.name == "postgresql":
        # Of two transactions that end at once, one must see the other.
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(identity))))
    rows = connection.execute(
        select(RunTable.id, RunTable.regression_id, RunTable.state).where(
            RunTable.identity == identity,
            RunTable.state.in_([*VERDICTS, "flaky"]),
            RunTable.id != run.id,
        )
    ).all()
    passed = state == "pass"
    if not any(row.state == "flaky" or (row.state == "pass") != passed for row in rows):
        return False
    others = [row.id for row in rows if row.regression_id == run.regression_id]
    if others:
        connection.execute(update(RunTable).where(RunTable.id.in_(others)).values(state="flaky"))
    return True


def add_failures(
    connection: Connection,
    run: Row[Any],
    bucket: BucketKey | None,
    failures: Sequence[tuple[Failure, BucketKey]],
) -> None:
    """Adds the failures of a run, and buckets that are new."""
    keys = {key.id: key for _, key in failures}
    if bucket:
        keys[bucket.id] = bucket
    known = select(BucketTable.id).where(BucketTable.id.in_(list(keys)))
    new = set(keys) - set(connection.execute(known).scalars()) if keys else set()
    # In order, or two regression runs that add the same ones deadlock.
    for name in sorted(new):
        key = keys[name]
        row = {"id": name, "title": clean(key.title), "signature": dict(key.signature)}
        try:
            with connection.begin_nested():
                connection.execute(insert(BucketTable).values(**row))
        except IntegrityError:
            pass  # another process was faster
    rows = [
        {
            "run_id": run.id,
            "position": position,
            "bucket": key.id,
            "detail": failure.model_dump(mode="json"),
        }
        for position, (failure, key) in enumerate(failures)
    ]
    if rows:
        connection.execute(insert(FailureTable), rows)


def add_rerun(
    connection: Connection, run_id: int, outcome: Outcome, state: RunState, identity: str
) -> bool:
    """Adds a rerun; see :meth:`tb.regress.results.store.Store.note_rerun`."""
    run = connection.execute(
        select(RunTable.state, RunTable.identity).where(RunTable.id == run_id).with_for_update()
    ).one_or_none()
    if run is None:
        raise StoreError(f"there is no run {run_id}")
    if outcome.stopped:
        return bool(run.state == "flaky")
    message = outcome.record.message if outcome.record else ""
    connection.execute(
        insert(RerunTable).values(
            run_id=run_id,
            state=state,
            ended=outcome.ended,
            inputs=outcome.inputs,
            waves=outcome.waves,
            timeline=outcome.timeline,
            message=clean(message or outcome.error),
        )
    )
    both = state in VERDICTS and run.state in VERDICTS
    if (
        both
        and identity
        and identity == run.identity
        and (state == "pass") != (run.state == "pass")
    ):
        connection.execute(update(RunTable).where(RunTable.id == run_id).values(state="flaky"))
        return True
    return bool(run.state == "flaky")


def record(connection: Connection, run_id: int) -> RunRecord | None:
    """Returns the record of a run with the details of its failures.

    Fields that only earlier versions had are left out.
    """
    data = connection.execute(select(RunTable.record).where(RunTable.id == run_id)).scalar()
    if data is None:
        return None
    details = connection.execute(
        select(FailureTable.detail)
        .where(FailureTable.run_id == run_id)
        .order_by(FailureTable.position)
    ).scalars()
    known = {name: value for name, value in data.items() if name in RunRecord.model_fields}
    return RunRecord.model_validate({**known, "details": list(details)})
