# SPDX-License-Identifier: Apache-2.0
"""The results database as the coordinator writes it, and merged coverage.

Every method is one short transaction, so that a process that is killed leaves whole runs or
nothing of them, and several coordinators can write to one database at once. A run's result is
stored once: a second one is refused. Queries of pages and commands are in
:mod:`tb.regress.queries.history`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.engine import Row

from tb.coverage.model import Coverage
from tb.record.record import RunRecord
from tb.record.signature import bucket_id
from tb.regress.queries.plan import Suites
from tb.regress.queries.views import RunState
from tb.regress.results import merge
from tb.regress.results.connect import StoreError
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.outcomes import (
    VERDICTS,
    bucket_of,
    clean,
    cleaned,
    done,
    joined,
    planned,
    record_of,
)
from tb.regress.results.regressions import RegressionRuns
from tb.regress.workers.job import Job, Lost, Outcome

__all__ = ["Finished", "Store", "StoreError"]

_RECENT_RUNS = 5000
"""How many runs back times are averaged over."""


class Finished(NamedTuple):
    """A run that was written: its number, how it counts, and its bucket, empty if it passed."""

    id: int
    state: RunState
    bucket: str


class Store(RegressionRuns):
    """The database as coordinators use it: regression runs, runs, builds, coverage."""

    def plan_runs(self, regression_run: str, jobs: Sequence[Job], manifest_hash: str = "") -> None:
        """Adds the runs of a regression run in the order of the plan; keys are unique in it.

        Args:
            regression_run: Its name.
            jobs: The runs.
            manifest_hash: Digest of the manifests under test.
        """

        def body(connection: Connection) -> None:
            number = self._regression_id(connection, regression_run)
            rows = [
                planned(number, position, job, manifest_hash) for position, job in enumerate(jobs)
            ]
            if rows:
                connection.execute(insert(RunTable), rows)

        self._write(body)

    def jobs_left(self, regression_run: str) -> list[Job]:
        """Returns the runs of a regression run that are not done, in the order of the plan."""

        def body(connection: Connection) -> list[Job]:
            rows = connection.execute(
                select(RunTable.job, RunTable.lost)
                .where(
                    RunTable.regression_id == self._regression_id(connection, regression_run),
                    RunTable.state == "planned",
                )
                .order_by(RunTable.position)
            )
            return [
                Job.model_validate(row.job).model_copy(update={"attempt": _attempts(row) + 1})
                for row in rows
            ]

        return self._read(body)

    def finish_run(
        self,
        regression_run: str,
        outcome: Outcome,
        *,
        state: RunState,
        identity: str = "",
        folder: str = "",
    ) -> Finished | None:
        """Writes the outcome of a run, with its record and coverage hits.

        A run that ended differently from an equal one, of this regression run or an earlier one, is
        ``flaky`` whatever ``state`` is. Coverage that cannot be read makes a run that passed an
        ``error``, for its hits are lost.

        Args:
            regression_run: Its name.
            outcome: Outcome from the worker; of a run that is ``lost``, ``error`` has the reason.
            state: How the run ended.
            identity: Digest of what decides the outcome; runs with equal ones must end equally.
                Empty compares with nothing.
            folder: Where the run's files are.

        Returns:
            What was written, or None when the run was done already or was stopped.
        """
        if outcome.stopped:
            return None
        packed, unread = merge.packed(outcome.coverage)
        if unread:
            state = "error" if state == "pass" else state
            outcome = outcome.model_copy(update={"error": joined(outcome.error, unread)})
        width = outcome.record.settings.gm_width if outcome.record else 0
        missing = [item for item in packed if item.part.digest not in self._groups]
        if missing:
            # In a transaction before: definitions belong to no run, and two regression runs may
            # add the same ones.
            self._groups |= self._write(lambda found: merge.definitions(found, missing, width))
        values: dict[str, Any] = {**done(outcome), "identity": identity, "folder": folder}
        found = bucket_of(state, values["outcome"]) if state != "pass" else None
        values["bucket"] = bucket_id(found) if found else ""

        def body(connection: Connection) -> Finished | None:
            row = self._run(connection, regression_run, outcome.key)
            if row is None:
                raise StoreError(
                    f"regression run {regression_run} has no run {outcome.key}", where=self.where
                )
            if row.state != "planned":
                return None
            flaky = bool(identity) and _contradicted(connection, row, identity, state)
            last: RunState = "flaky" if flaky else state
            change = update(RunTable).where(RunTable.id == row.id)
            connection.execute(change.values(**values, state=last))
            merge.add_hits(connection, row.regression_id, packed, self._groups)
            return Finished(row.id, last, values["bucket"])

        return self._write(body)

    def lose(self, regression_run: str, lost: Lost) -> int:
        """Records that a run lost its worker; the run is still to be done.

        Returns:
            How many attempts were lost so far; of a job that is not a run of the plan, such as a
            build, the number of this one.
        """

        def body(connection: Connection) -> int:
            row = self._run(connection, regression_run, lost.key)
            if row is None:
                return lost.attempt
            known = {one["attempt"]: one for one in row.lost}
            if lost.attempt not in known:
                known[lost.attempt] = cleaned(lost.model_dump())
                change = update(RunTable).where(RunTable.id == row.id)
                connection.execute(change.values(lost=list(known.values())))
            return len(known)

        return self._write(body)

    def note_build(
        self, regression_run: str, config: str, *, inputs: str, seconds: float, error: str = ""
    ) -> None:
        """Writes the outcome of a build; a resumed regression run keeps the last one."""
        found = {"inputs": inputs, "seconds": seconds, "error": clean(error)}

        def body(connection: Connection) -> None:
            mine = RegressionRunTable.id == self._regression_id(connection, regression_run)
            builds = connection.execute(
                select(RegressionRunTable.builds).where(mine).with_for_update()
            ).scalar_one()
            change = update(RegressionRunTable).where(mine)
            connection.execute(change.values(builds={**builds, config: found}))

        self._write(body)

    def note_suites(self, regression_run: str, suites: Suites) -> None:
        """Writes results of pytest, in place of earlier ones."""

        def body(connection: Connection) -> None:
            mine = RegressionRunTable.id == self._regression_id(connection, regression_run)
            change = update(RegressionRunTable).where(mine)
            connection.execute(change.values(suites=cleaned(suites)))

        self._write(body)

    def note_faults(self, regression_run: str, killed: int, planted: int) -> None:
        """Writes how many planted faults were found, in place of earlier counts."""

        def body(connection: Connection) -> None:
            mine = RegressionRunTable.id == self._regression_id(connection, regression_run)
            figures = connection.execute(
                select(RegressionRunTable.figures).where(mine).with_for_update()
            ).scalar_one()
            found = {**figures, "killed": killed, "planted": planted}
            connection.execute(update(RegressionRunTable).where(mine).values(figures=found))

        self._write(body)

    def note_rerun(
        self, run_id: int, outcome: Outcome, *, state: RunState, identity: str = ""
    ) -> bool:
        """Writes that a run was done again.

        Args:
            run_id: The run's number.
            outcome: Outcome from the worker.
            state: How it ended this time.
            identity: As of :meth:`finish_run`, without waves and timeline, which decide nothing;
                when it is the run's own and one passed and the other not, the run is flaky.
                Empty when sources may have changed since.

        Returns:
            Whether the run is flaky.
        """
        message = outcome.record.message if outcome.record else ""
        again = {
            "state": state, "when": outcome.ended.isoformat(), "waves": outcome.waves,
            "timeline": outcome.timeline, "message": message or outcome.error,
            "shrunk": outcome.shrunk and asdict(outcome.shrunk),
        }  # fmt: skip

        def body(connection: Connection) -> bool:
            run = connection.execute(
                select(RunTable).where(RunTable.id == run_id).with_for_update()
            ).one_or_none()
            if run is None:
                raise StoreError(f"there is no run {run_id}")
            if outcome.stopped:
                return bool(run.state == "flaky")
            same = bool(identity) and identity == run.identity
            verdicts = state in VERDICTS and run.state in VERDICTS
            differs = same and verdicts and (state == "pass") != (run.state == "pass")
            last = "flaky" if differs else run.state
            change = update(RunTable).where(RunTable.id == run_id)
            connection.execute(change.values(state=last, reruns=[*run.reruns, cleaned(again)]))
            return bool(last == "flaky")

        return self._write(body)

    def planned(self, run_id: int) -> tuple[str, Job, RunRecord | None]:
        """Returns the regression run of a run, the job it was planned as, and its record if any."""

        def body(connection: Connection) -> tuple[str, Job, RunRecord | None]:
            row = connection.execute(
                select(RegressionRunTable.name, RunTable.job, RunTable.outcome)
                .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
                .where(RunTable.id == run_id)
            ).one_or_none()
            if row is None:
                raise StoreError(
                    f"there is no run {run_id}", where=self.where,
                    remedy="take a number from the report's table of runs",
                )  # fmt: skip
            return str(row.name), Job.model_validate(row.job), record_of(row.outcome)

        return self._read(body)

    def expected_seconds(self, manifest_hash: str = "") -> dict[tuple[str, str, int], float]:
        """Returns mean seconds of passes by test, configuration and requested transactions.

        Args:
            manifest_hash: Digest of the engines under test; others may be faster or slower.
        """
        wanted = RunTable.job["settings"]["transactions"].as_integer().label("wanted")

        def body(connection: Connection) -> dict[tuple[str, str, int], float]:
            last = connection.execute(select(func.max(RunTable.id))).scalar() or 0
            runs = (
                select(RunTable.test, RunTable.config, wanted, RunTable.seconds)
                .where(
                    RunTable.state == "pass",
                    RunTable.manifest_hash == manifest_hash,
                    RunTable.id > last - _RECENT_RUNS,
                )
                .subquery()
            )
            keys = (runs.c.test, runs.c.config, runs.c.wanted)
            rows = connection.execute(select(*keys, func.avg(runs.c.seconds)).group_by(*keys))
            return {(row[0], row[1], row[2]): float(row[3]) for row in rows}

        return self._read(body)

    # --- coverage ----------------------------------------------------------------------------

    def merged(
        self, regression_runs: Sequence[str] | None = None, *, definitions_of: str = ""
    ) -> Coverage:
        """Returns functional coverage added up over all runs of some regression runs.

        Counts are exact sums; equal definitions are added up whatever run they come from. Groups
        of one name that are defined differently stay apart: the commonest keeps the name, others
        have their bus width, such as ``mte_gm_ub (gm 128)``.

        Args:
            regression_runs: Their names; None for all.
            definitions_of: Name of a regression run: definitions that it lacks are left out, and
                groups are named as in its coverage.
        """

        def body(connection: Connection) -> Coverage:
            chosen = (
                None
                if regression_runs is None
                else [self._regression_id(connection, one) for one in regression_runs]
            )
            like = self._regression_id(connection, definitions_of) if definitions_of else None
            return merge.coverage(connection, chosen, like)

        return self._read(body)

    def _run(self, connection: Connection, regression_run: str, key: str) -> Row[Any] | None:
        number = self._regression_id(connection, regression_run)
        mine = (RunTable.regression_id == number, RunTable.key == key)
        return connection.execute(select(RunTable).where(*mine).with_for_update()).one_or_none()


def _attempts(run: Row[Any]) -> int:
    """Returns the number of the last attempt that lost its worker."""
    return max((one["attempt"] for one in run.lost), default=0)


def _contradicted(connection: Connection, run: Row[Any], identity: str, state: RunState) -> bool:
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
