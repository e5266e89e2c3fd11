# SPDX-License-Identifier: Apache-2.0
"""The results database as the coordinator writes it, and merged coverage.

Every method is one short transaction, so that a process that is killed leaves whole runs or
nothing of them, and several coordinators can write to one database at once. A run's result is
stored once: a second one is refused. Queries of pages and commands are in
:mod:`tb.regress.queries.history`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import Connection, Row, func, insert, select, update

from tb.coverage.model import Coverage
from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.regress.queries.views import RunState
from tb.regress.results import finish, merge
from tb.regress.results.connect import StoreError
from tb.regress.results.database import BuildTable, LostTable, RegressionRunTable, RunTable
from tb.regress.results.finish import BucketKey, clean
from tb.regress.results.regressions import RegressionRuns, now_utc
from tb.regress.workers.job import Job, Lost, Outcome

__all__ = ["BucketKey", "Store", "StoreError"]

_RECENT_RUNS = 5000
"""How many runs back times are averaged over."""


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
                finish.planned(number, position, job, manifest_hash)
                for position, job in enumerate(jobs)
            ]
            if rows:
                connection.execute(insert(RunTable), rows)

        self._write(body)

    def jobs_left(self, regression_run: str) -> list[Job]:
        """Returns the runs of a regression run that are not done, in the order of the plan."""

        def body(connection: Connection) -> list[Job]:
            rows = connection.execute(
                select(RunTable.job, RunTable.attempts)
                .where(
                    RunTable.regression_id == self._regression_id(connection, regression_run),
                    RunTable.state == "planned",
                )
                .order_by(RunTable.position)
            )
            return [
                Job.model_validate(row.job).model_copy(update={"attempt": row.attempts + 1})
                for row in rows
            ]

        return self._read(body)

    def finish_run(
        self,
        regression_run: str,
        outcome: Outcome,
        *,
        state: RunState,
        bucket: BucketKey | None = None,
        failures: Sequence[tuple[Failure, BucketKey]] = (),
        identity: str = "",
        folder: str = "",
    ) -> int | None:
        """Writes the outcome of a run, with its failures and coverage hits.

        A run that ended differently from an equal one, of this regression run or an earlier one, is
        ``flaky`` whatever ``state`` is. Coverage that cannot be read makes a run that passed an
        ``error``, for its hits are lost.

        Args:
            regression_run: Its name.
            outcome: Outcome from the worker.
            state: How the run ended.
            bucket: Of its first failure, or of its outcome without one.
            failures: The failures with the bucket of each.
            identity: Digest of what decides the outcome; runs with equal ones must end equally.
                Empty compares with nothing.
            folder: Where the run's files are.

        Returns:
            The run's number, or None when it was done already or was stopped: nothing is written.
        """
        if outcome.stopped:
            return None
        packed, unread = finish.packed(outcome.coverage)
        if unread and state == "pass":
            state = "error"
        width = outcome.record.settings.gm_width if outcome.record else 0
        missing = [item for item in packed if item.part.digest not in self._groups]
        if missing:
            # In a transaction before: definitions belong to no run, and two regression runs may
            # add the same ones.
            self._groups |= self._write(lambda found: merge.definitions(found, missing, width))

        def body(connection: Connection) -> int | None:
            row = self._open_run(connection, regression_run, outcome.key)
            if row is None:
                return None
            values = finish.values(outcome, unread)
            values |= {"state": state, "identity": identity, "folder": folder}
            values["bucket"] = bucket.id if bucket else ""
            if identity and finish.contradicted(connection, row, identity, state):
                values["state"] = "flaky"
            if not values["inputs"]:
                values["inputs"] = finish.build_inputs(connection, row)
            connection.execute(update(RunTable).where(RunTable.id == row.id).values(**values))
            finish.add_failures(connection, row, bucket, failures)
            merge.add_hits(connection, row, packed, self._groups)
            return int(row.id)

        return self._write(body)

    def lose(self, regression_run: str, lost: Lost) -> int:
        """Records that a run lost its worker; the run is still to be done.

        Returns:
            How many attempts were lost so far; of a job that is no run of the plan, such as a
            build, the number of this one.
        """

        def body(connection: Connection) -> int:
            row = self._run(connection, regression_run, lost.key)
            if row is None:
                return lost.attempt
            known = select(LostTable.attempt).where(LostTable.run_id == row.id)
            attempts = set(connection.execute(known).scalars())
            if lost.attempt not in attempts:
                attempts.add(lost.attempt)
                why, worker = clean(lost.why), clean(lost.worker)
                connection.execute(
                    insert(LostTable).values(
                        run_id=row.id, attempt=lost.attempt, worker=worker, why=why
                    )
                )
                if row.state == "planned":
                    connection.execute(
                        update(RunTable).where(RunTable.id == row.id).values(attempts=max(attempts))
                    )
            return len(attempts)

        return self._write(body)

    def finish_lost(
        self, regression_run: str, key: str, why: str, *, bucket: BucketKey | None = None
    ) -> int | None:
        """Gives up a run that lost its workers; returns as :meth:`finish_run` does."""

        def body(connection: Connection) -> int | None:
            row = self._open_run(connection, regression_run, key)
            if row is None:
                return None
            connection.execute(
                update(RunTable)
                .where(RunTable.id == row.id)
                .values(
                    state="lost",
                    message=clean(why),
                    ended=now_utc(),
                    bucket=bucket.id if bucket else "",
                )
            )
            finish.add_failures(connection, row, bucket, ())
            return int(row.id)

        return self._write(body)

    def note_build(
        self, regression_run: str, config: str, *, inputs: str, seconds: float, error: str = ""
    ) -> None:
        """Writes the outcome of a build; a resumed regression run keeps the last one."""

        def body(connection: Connection) -> None:
            number = self._regression_id(connection, regression_run)
            values = {"inputs": inputs, "seconds": seconds, "error": clean(error)}
            mine = (BuildTable.regression_id == number, BuildTable.config == config)
            if not connection.execute(update(BuildTable).where(*mine).values(**values)).rowcount:
                connection.execute(
                    insert(BuildTable).values(regression_id=number, config=config, **values)
                )

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
        return self._write(
            lambda connection: finish.add_rerun(connection, run_id, outcome, state, identity)
        )

    def record(self, run_id: int) -> RunRecord | None:
        """Returns the record of a run with its failures' details, None if it has none."""
        return self._read(lambda connection: finish.record(connection, run_id))

    def job(self, run_id: int) -> tuple[str, Job]:
        """Returns the regression run of a run and the job it was planned as."""

        def body(connection: Connection) -> tuple[str, Job]:
            row = connection.execute(
                select(RegressionRunTable.name, RunTable.job)
                .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
                .where(RunTable.id == run_id)
            ).one_or_none()
            if row is None:
                raise StoreError(
                    f"there is no run {run_id}", where=self.where,
                    remedy="take a number from the report's table of runs",
                )  # fmt: skip
            return str(row.name), Job.model_validate(row.job)

        return self._read(body)

    def state(self, run_id: int) -> RunState:
        """Returns the state of a run."""

        def body(connection: Connection) -> RunState:
            query = select(RunTable.state).where(RunTable.id == run_id)
            return cast(RunState, connection.execute(query).scalar_one())

        return self._read(body)

    def expected_seconds(self, manifest_hash: str = "") -> dict[tuple[str, str, int], float]:
        """Returns mean seconds of passes by test, configuration and transactions asked for.

        Args:
            manifest_hash: Digest of the engines under test; others may be faster or slower.
        """
        asked = RunTable.job["settings"]["transactions"].as_integer().label("asked")

        def body(connection: Connection) -> dict[tuple[str, str, int], float]:
            last = connection.execute(select(func.max(RunTable.id))).scalar() or 0
            runs = (
                select(RunTable.test, RunTable.config, asked, RunTable.seconds)
                .where(
                    RunTable.state == "pass",
                    RunTable.manifest_hash == manifest_hash,
                    RunTable.id > last - _RECENT_RUNS,
                )
                .subquery()
            )
            keys = (runs.c.test, runs.c.config, runs.c.asked)
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
        say their bus width, such as ``mte_gm_ub (gm 128)``.

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
        found: list[Row[Any]] = [
            *connection.execute(
                select(RunTable.id, RunTable.regression_id, RunTable.state, RunTable.config)
                .where(
                    RunTable.regression_id == self._regression_id(connection, regression_run),
                    RunTable.key == key,
                )
                .with_for_update()
            )
        ]
        return found[0] if found else None

    def _open_run(self, connection: Connection, regression_run: str, key: str) -> Row[Any] | None:
        row = self._run(connection, regression_run, key)
        if row is None:
            raise StoreError(f"regression run {regression_run} has no run {key}", where=self.where)
        return row if row.state == "planned" else None
