# SPDX-License-Identifier: Apache-2.0
"""The coordinator of a regression run: submits jobs, writes results, keeps the budget.

It alone writes to the database. A run counts when its outcome is written; whatever ends the
coordinator before that leaves the run planned, for the next call to do.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tb.record.record import RunRecord
from tb.regress.plan.rerun import PATIENCE, rerun_settings
from tb.regress.plan.schedule import BUILD_TIMEOUT, Schedule
from tb.regress.queries import history
from tb.regress.queries.views import Figures, RegressionStatus, RunState
from tb.regress.results.store import Store
from tb.regress.workers.job import Job, Lost, Outcome, blank
from tb.regress.workers.pool import Workers

MOST_ATTEMPTS = 3
"""Attempts at a run that loses its workers."""

MOST_RERUNS = 8
"""Most buckets of a regression run that are run again with waves."""

RERUN_SECONDS = 90.0
"""Time for a rerun with a build for waves; it does not begin with less left."""

HEARTBEAT_SECONDS = 5.0
WAIT_SECONDS = 0.5


def identity(job: Job, inputs: str, sources: str) -> str:
    """Returns a hash of what decides how a run ends.

    Args:
        job: Its settings count.
        inputs: Digest of what its build was made from.
        sources: Digest of the bench and of manifests.
    """
    settings = job.settings.model_dump(
        mode="json", exclude={"waves", "waves_from", "waves_to", "timeline", "time_limit"}
    )
    text = json.dumps([settings, inputs, sources], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Tally:
    """Work done in this call, for progress and figures."""

    planned: int = 0
    done: int = 0
    failed: int = 0
    transactions: int = 0
    busy_seconds: float = 0.0
    build_seconds: float = 0.0
    builds: int = 0
    lost: int = 0
    running: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Limits:
    """How long a regression run may take.

    Attributes:
        seconds: From the start, 0 for no limit.
        start: When that was, by the monotonic clock.
        reserve, each_run, each_count: Seconds that are kept for merging and pages: in any case, for
            each run done, and for each of them that counted code coverage.
    """

    seconds: float = 0.0
    start: float = 0.0
    reserve: float = 15.0
    each_run: float = 0.01
    each_count: float = 0.8


class Coordinator:
    """Executes the remaining planned runs of a regression run.

    Args:
        store: The database.
        regression: Name of the regression run, begun or adopted.
        folder: Where its files go.
        jobs: The runs that are left, in order.
        workers: The workers that execute them.
        limits: How long it may take.
        progress: Called twice a second with the tally.
        sources: Returns a digest of the bench and of manifests as they are now.
        manifest_hash: Digest of the engines under test, empty for the reference engines.
        keep: Keep the folders of passing runs.
        reruns: Most failing runs that are run again with waves.
        most_failed: Failing runs after which no other one begins, 0 for any number.
    """

    def __init__(
        self,
        store: Store,
        regression: str,
        folder: Path,
        jobs: Sequence[Job],
        workers: Workers,
        limits: Limits,
        *,
        progress: Callable[[Tally], None] = lambda _: None,
        sources: Callable[[], str] = str,
        manifest_hash: str = "",
        keep: bool = False,
        reruns: int = MOST_RERUNS,
        most_failed: int = 0,
    ) -> None:
        self.store = store
        self.regression = regression
        self.folder = folder
        self.workers = workers
        self.schedule = Schedule(
            jobs, store.expected_seconds(manifest_hash), cheap_first=limits.seconds > 0
        )
        self.tally = Tally(planned=len(jobs))
        self._limits = limits
        self._progress = progress
        self._keep = keep
        self._reruns_left = reruns
        self._most_failed = most_failed
        self._sources = sources
        self._digest = sources()
        self._counted = 0
        self._not_again = 0
        self._beat = 0.0
        self._flying: dict[str, Job] = {}
        self._seen: set[str] = set()
        self._run_of: dict[str, tuple[int, str]] = {}

    @property
    def seconds_left(self) -> float:
        """Seconds until the last job must have ended."""
        if not self._limits.seconds:
            return float("inf")
        limits = self._limits
        kept = limits.reserve + limits.each_run * self.tally.done
        kept += limits.each_count * self._counted
        return limits.seconds - kept - (time.monotonic() - limits.start)

    def run(self) -> RegressionStatus:
        """Works until nothing is left or the time is up.

        Returns:
            ``complete``, or ``budget`` or ``failures`` when planned runs are left.

        Raises:
            PtoError: the database cannot be written.
        """
        self._take_up_reruns()
        while True:
            self._fill()
            if not self._flying:
                break
            for item in self.workers.wait(WAIT_SECONDS):
                self._take(item)
            if self.seconds_left <= 0 and self._flying:
                self.workers.stop(list(self._flying))
            self._pulse()
        left = self._not_again + len(self.schedule) - self.schedule.runs_left
        if left:
            self.tally.notes.append(
                f"first failures of buckets not run again with waves: {left}; "
                "pto-dv rerun RUN_ID --waves does it"
            )
        if not self.schedule.runs_left:
            return "complete"
        return "failures" if self._enough_failed else "budget"

    @property
    def _enough_failed(self) -> bool:
        return 0 < self._most_failed <= self.tally.failed

    def figures(self) -> Figures:
        """Returns what the coordinator knows; the rest is in the rows of the runs."""
        tally = self.tally
        return Figures(
            wall_seconds=self.store.heartbeat(self.regression),
            busy_seconds=tally.busy_seconds,
            workers=self.workers.size,
            builds=tally.builds,
            build_seconds=tally.build_seconds,
            lost=tally.lost,
        )

    # --- handing out -------------------------------------------------------------------------

    def _fill(self) -> None:
        """Gives every free worker a job."""
        while len(self._flying) < self.workers.size and not self._enough_failed:
            job = self.schedule.next(self.seconds_left)
            if job is None:
                return
            place = self.folder / "runs" / job.key / str(job.attempt)
            job = job.model_copy(update={"folder": str(place)})
            self._flying[job.key] = job
            self.workers.submit(job)
        self.tally.running = len(self._flying)

    def _pulse(self) -> None:
        now = time.monotonic()
        if now - self._beat > HEARTBEAT_SECONDS:
            self._beat = now
            self.store.heartbeat(self.regression)
        self.tally.running = len(self._flying)
        self._progress(self.tally)

    # --- taking back -------------------------------------------------------------------------

    def _take(self, item: Outcome | Lost) -> None:
        job = self._flying.pop(item.key)
        if isinstance(item, Lost):
            self._lost(job, item)
            return
        self.tally.busy_seconds += item.seconds
        if item.stopped:
            if job.kind == "run":
                self.schedule.again(job)  # stays planned: something is left
            shutil.rmtree(job.folder, ignore_errors=True)
        elif job.kind == "build":
            self._built(job, item)
        elif job.kind == "rerun":
            self._rerun(job, item)
        else:
            self._done(job, item)

    def _lost(self, job: Job, lost: Lost) -> None:
        self.tally.lost += 1
        again = job.model_copy(update={"attempt": job.attempt + 1})
        if job.kind == "run":
            attempts = self.store.lose(self.regression, lost)
            if attempts >= MOST_ATTEMPTS:
                why = lost.why or "unknown"
                self.store.finish_run(
                    self.regression, blank(job, datetime.now(UTC), error=why), state="lost"
                )
                self._count(failed=True)
                times = f"workers were lost with it {attempts} times"
                self.tally.notes.append(f"{job.key}: {times}, last: {why}")
                return
        elif again.attempt > MOST_ATTEMPTS:
            if job.kind == "build":
                self._build_failed(job, f"workers were lost with it: {lost.why}")
            return
        self.tally.notes.append(
            f"{job.key}: worker {lost.worker or 'unknown'} was lost ({lost.why or 'no reason'}), "
            "begun again"
        )
        self.schedule.again(again)

    def _built(self, job: Job, outcome: Outcome) -> None:
        self.tally.builds += 1
        shutil.rmtree(Path(job.folder).parent, ignore_errors=True)
        self.tally.build_seconds += outcome.seconds
        if outcome.error:
            self._build_failed(job, outcome.error)
            return
        self.store.note_build(
            self.regression, job.config, inputs=outcome.inputs, seconds=outcome.seconds
        )
        self.schedule.built(job.config, outcome.inputs)

    def _build_failed(self, job: Job, error: str) -> None:
        self.store.note_build(self.regression, job.config, inputs="", seconds=0.0, error=error)
        why = f"the build {job.config} failed: {error}"
        self.tally.notes.append(why.splitlines()[0])
        for run in self.schedule.give_up(job.config):
            self._write(run, blank(run, datetime.now(UTC), error=why), rerun=False)

    def _done(self, job: Job, outcome: Outcome) -> None:
        self.schedule.learn(job, outcome.seconds)
        self._write(job, outcome)

    def _write(self, job: Job, outcome: Outcome, *, rerun: bool = True) -> None:
        """Writes the outcome of a run, and requests a rerun of the first of a bucket."""
        record = outcome.record
        if record is None:
            message = outcome.error or "the worker handed back no record"
            record = RunRecord(
                settings=job.settings,
                status="error",
                message=message,
                command=job.settings.command(),
            )
        state: RunState = record.status
        if record.passed and record.coverage.bins and not outcome.coverage:
            state, outcome.error = "error", "the coverage of the run is missing"
        self._save_code_coverage(outcome, job)
        run = self.store.finish_run(
            self.regression,
            outcome.model_copy(update={"record": record}),
            state=state,
            identity=identity(job, job.inputs, self._digest) if job.inputs else "",
            folder=job.folder if state != "pass" or self._keep else "",
        )
        if run is None:
            return
        if run.state == "pass" and not self._keep:
            shutil.rmtree(Path(job.folder).parent, ignore_errors=True)
        self._count(failed=run.state != "pass", transactions=record.transactions)
        if run.bucket and rerun and run.bucket not in self._seen:
            self._seen.add(run.bucket)
            self._ask_rerun(job, record, run.id, job.folder)

    def _count(self, *, failed: bool, transactions: int = 0) -> None:
        self.tally.done += 1
        self.tally.failed += failed
        self.tally.transactions += transactions

    def _save_code_coverage(self, outcome: Outcome, job: Job) -> None:
        """Keeps the counts of a run under its name, so that the regression run can be resumed."""
        if not outcome.code_coverage:
            if job.settings.code_coverage and outcome.record is not None:
                self.tally.notes.append(f"{job.key}: it left no counts of code coverage")
            return
        self._counted += 1
        target = self.folder / "code" / f"{job.key}.dat.gz"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(outcome.code_coverage, target)
        except OSError as error:
            self.tally.notes.append(
                f"{job.key}: its code coverage is not in the totals: {error.strerror}"
            )

    # --- reruns ------------------------------------------------------------------------------

    def _take_up_reruns(self) -> None:
        """Requests the reruns that an earlier call did not reach."""
        for bucket in history.buckets(self.store, self.regression):
            self._seen.add(bucket.id)
            run_id = bucket.example_run.id
            _, job, record = self.store.planned(run_id)
            if not bucket.reruns and record is not None:
                self._ask_rerun(job, record, run_id, bucket.example_run.folder)

    def _ask_rerun(self, job: Job, record: RunRecord, run_id: int, folder: str) -> None:
        if record.status == "error":
            return
        if self._reruns_left <= 0:
            self._not_again += 1
            return
        self._reruns_left -= 1
        again = job.model_copy(
            update={
                "key": f"rerun-{job.key}",
                "kind": "rerun",
                "settings": rerun_settings(record),
                "inputs": "",
                "attempt": 1,
                "failed": folder,
                "expected_seconds": RERUN_SECONDS,
                "timeout": BUILD_TIMEOUT + PATIENCE * job.timeout,
            }
        )
        same = identity(job, job.inputs, self._digest) if job.inputs else ""
        self._run_of[again.key] = run_id, same
        self.schedule.again(again)

    def _rerun(self, job: Job, outcome: Outcome) -> None:
        run_id, same = self._run_of[job.key]
        if outcome.record is None:
            why = outcome.error.partition("\n")[0] or "no record"
            self.tally.notes.append(f"{job.key}: {why}")
            return
        if self._sources() != self._digest:
            same = ""
        if self.store.note_rerun(run_id, outcome, state=outcome.record.status, identity=same):
            self.tally.notes.append(
                f"{job.key.removeprefix('rerun-')} is flaky: it failed, and passed when run again"
            )
