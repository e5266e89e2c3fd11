# SPDX-License-Identifier: Apache-2.0
"""Selects the next job: builds before the runs that need them, cheap ones first in a budget."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tb.regress.workers.job import Job

BUILD_SECONDS = 20.0
"""A build is not begun with less time left: one that is there already takes a second, no other one
could end."""

_BUILD_COST, _COSTS = 60.0, {"icarus": 2.0}
"""Guesses of what a build takes, by simulator, to compare runs that need one."""

BUILD_TIMEOUT = 3600.0
"""What it may take: large engines on a busy machine."""

CAUTION = 1.15
"""A job is begun when so many times its expected duration is left."""

Kind = tuple[str, str, int]
"""Test, build and number of transactions: runs of one kind take about as long."""


def kind_of(job: Job) -> Kind:
    """Returns what a run has in common with others of its length."""
    return job.settings.test, job.config, job.settings.transactions


@dataclass
class _Build:
    job: Job
    begun: bool = False
    inputs: str = ""


class Schedule:
    """Jobs that are still to be begun.

    Args:
        runs: Planned runs in the order in which they are wanted.
        seconds: Mean duration of earlier runs by kind; a job's own guess where there is none.
        cheap_first: Begin with the runs that take least among those of one seed number, with
            their share of a build, and no build before its runs are due: for a budget.
    """

    def __init__(
        self, runs: Sequence[Job], seconds: Mapping[Kind, float], *, cheap_first: bool = False
    ) -> None:
        self._first: deque[Job] = deque()
        self._builds: dict[str, _Build] = {}
        self._known = dict(seconds)
        self._seen: dict[Kind, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
        self._cheap_first = cheap_first
        self._waiting: deque[Job] = deque(self._by_cost(runs) if cheap_first else runs)
        for job in runs:
            if job.config not in self._builds:
                self._builds[job.config] = _Build(
                    job.model_copy(
                        update={
                            "key": f"build-{job.config}",
                            "kind": "build",
                            "expected_seconds": BUILD_SECONDS,
                            "timeout": BUILD_TIMEOUT,
                        }
                    )
                )

    def _by_cost(self, runs: Sequence[Job]) -> list[Job]:
        """Returns runs by seed number, and those of one number by cost."""
        rounds = [job.key.rpartition("-s")[2] for job in runs]
        shares = Counter(zip(rounds, (job.config for job in runs), strict=True))

        def order(item: tuple[str, Job]) -> tuple[str, float]:
            number, job = item
            build = _COSTS.get(job.settings.sim, _BUILD_COST)
            return number, self.expected(job) + build / shares[number, job.config]

        return [job for _, job in sorted(zip(rounds, runs, strict=True), key=order)]

    def __len__(self) -> int:
        return len(self._waiting) + len(self._first)

    @property
    def runs_left(self) -> int:
        """Planned runs that have not begun."""
        return len(self._waiting) + sum(job.kind == "run" for job in self._first)

    def expected(self, job: Job) -> float:
        """Returns how many seconds a job will probably take."""
        if job.kind != "run":
            return job.expected_seconds
        kind = kind_of(job)
        total, count = self._seen[kind]
        if count:
            return total / count
        return self._known.get(kind, job.expected_seconds)

    def learn(self, job: Job, seconds: float) -> None:
        """Notes how long a run took."""
        total, count = self._seen[kind_of(job)]
        self._seen[kind_of(job)] = total + seconds, count + 1

    def built(self, config: str, inputs: str) -> None:
        """Notes that a build is ready."""
        self._builds[config].inputs = inputs

    def give_up(self, config: str) -> list[Job]:
        """Removes the runs of a build that failed, and returns them."""
        self._builds.pop(config)
        lost = [job for job in self._waiting if job.config == config]
        self._waiting = deque(job for job in self._waiting if job.config != config)
        return lost

    def again(self, job: Job) -> None:
        """Puts a job in front of all others: one whose worker was lost, or a rerun."""
        self._first.append(job)

    def next(self, seconds_left: float) -> Job | None:
        """Returns the next job that can begin and that fits into the time left, or None.

        Reruns and lost jobs go first, then builds, then runs in the order of the plan; with
        ``cheap_first`` a build when its first run is due. A run that takes too long makes room for
        shorter ones after it.
        """
        for _ in range(len(self._first)):
            job = self._first.popleft()
            if self.expected(job) * CAUTION <= seconds_left:
                return job
            self._first.append(job)
        for item in () if self._cheap_first else self._builds.values():
            if self._begins(item, seconds_left):
                return item.job
        tried: set[Kind] = set()
        for job in self._waiting:
            kind = kind_of(job)
            if kind in tried:
                continue
            tried.add(kind)
            item = self._builds[job.config]
            if self._begins(item, seconds_left):
                return item.job
            if item.inputs and self.expected(job) * CAUTION <= seconds_left:
                self._waiting.remove(job)
                return self._ready(job)
        return None

    @staticmethod
    def _begins(item: _Build, seconds_left: float) -> bool:
        """Returns whether a build begins now, and notes that it has begun."""
        begins = not item.begun and item.job.expected_seconds <= seconds_left
        item.begun |= begins
        return begins

    def _ready(self, job: Job) -> Job:
        return job.model_copy(update={"inputs": self._builds[job.config].inputs})
