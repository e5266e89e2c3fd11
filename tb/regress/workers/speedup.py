# SPDX-License-Identifier: Apache-2.0
"""Speed-up by several workers, measured during the regression run.

Before the workers start, two runs of the most frequent kind run alone, one after the other. The
speed-up is ``workers * occupancy * alone / beside``: occupancy is the fraction of time in which
workers were busy while runs were waiting; alone and beside are the seconds of a run of that kind
alone and in parallel with other runs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from tb.regress.plan.schedule import Kind, Schedule, kind_of
from tb.regress.workers.job import Job, Outcome

ALONE_RUNS = 2
LEAST_RUNS = 8
"""Regression runs with fewer runs of the most frequent kind are not measured."""

LEAST_SECONDS = 180.0
"""Nor are those with a shorter budget: a worker would be idle for too much of it."""


class Speedup:
    """Computes the speed-up from times of runs, as the module describes.

    Args:
        jobs: Runs of the regression run.
        budget: Seconds that it may take, 0 for no limit.
    """

    def __init__(self, jobs: Sequence[Job], budget: float) -> None:
        kinds = Counter(
            kind_of(job)
            for job in jobs
            if job.settings.sim == "verilator" and not job.settings.code_coverage
        )
        commonest = kinds.most_common(1)
        self._kind: Kind | None = None
        if commonest and commonest[0][1] >= LEAST_RUNS and (not budget or budget >= LEAST_SECONDS):
            self._kind = commonest[0][0]
        self._alone: list[float] = []
        self._beside: list[float] = []
        self._busy = 0.0
        self._since: float | None = None
        self._until: float | None = None
        self._size = 1
        self._lonely: set[str] = set()
        self._began: dict[str, float] = {}

    @property
    def measuring(self) -> bool:
        """True as long as runs are done one after the other."""
        return self._kind is not None and len(self._lonely) < ALONE_RUNS

    def alone(self, schedule: Schedule, seconds_left: float) -> Job | None:
        """Returns a run to be executed alone, or None when none is needed."""
        if not self.measuring or self._kind is None:
            return None
        ready = schedule.only(self._kind)
        if len(ready) < LEAST_RUNS // 2 or schedule.expected(ready[0]) * 4 > seconds_left:
            self._kind = None
            return None
        return ready[0]

    def begun(self, job: Job, flying: int) -> None:
        """Notes that a job was handed over; ``flying`` are with workers now, it included."""
        if job.kind != "run" or self._kind is None:
            return
        now = time.monotonic()
        self._began[job.key] = now
        if self.measuring and kind_of(job) == self._kind and flying == 1:
            self._lonely.add(job.key)
            return
        if self._since is None and len(self._alone) >= ALONE_RUNS:
            self._since = now
        self._size = max(self._size, flying)

    def ended(self, job: Job, outcome: Outcome, *, waiting: bool) -> None:
        """Notes that a job came back; ``waiting`` says that more are to be done."""
        if self._kind is None or outcome.stopped:
            return
        if job.key in self._lonely:
            if outcome.passed:
                self._alone.append(outcome.seconds)
            else:
                self._kind = None  # a failing run is shorter: nothing to compare with
            return
        if self._since is None or not waiting:
            return
        now = time.monotonic()
        self._until = now
        # The part of the job in the window.
        self._busy += min(outcome.seconds, now - self._since)
        if kind_of(job) == self._kind and outcome.passed and self._began[job.key] > self._since:
            self._beside.append(outcome.seconds)

    def result(self) -> float | None:
        """Returns the speed-up, or None when it could not be measured."""
        if len(self._alone) < ALONE_RUNS or len(self._beside) < ALONE_RUNS:
            return None
        if self._since is None or self._until is None or self._until <= self._since:
            return None
        occupancy = self._busy / (self._size * (self._until - self._since))
        alone = sum(self._alone) / len(self._alone)
        beside = sum(self._beside) / len(self._beside)
        if alone <= 0 or beside <= 0:  # the clock that workers read was put back
            return None
        return self._size * min(occupancy, 1.0) * alone / beside
