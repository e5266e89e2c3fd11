# SPDX-License-Identifier: Apache-2.0
"""Python time of a run by phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PHASES: tuple[str, ...] = ("generate", "drive", "model", "compare", "cover")
"""Phases of a transaction with separate Python times."""


class Stopwatch:
    """Adds up seconds per phase, and those spent waiting for the simulator.

    Args:
        clock: Returns seconds; wall time, or ``time.process_time`` where a busy machine must not
            count (simulator and Python share one process and one thread).
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
        self.simulator = 0.0
        self._start = self.clock()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time of the ``with`` body to ``name``."""
        start = self.clock()
        try:
            yield
        finally:
            self.seconds[name] += self.clock() - start

    def book_simulator(self, seconds: float) -> None:
        """Adds ``seconds`` of simulator time during which Python waited."""
        self.simulator += seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the stopwatch was made."""
        return self.clock() - self._start

    def summary(self) -> dict[str, float]:
        """Returns seconds per phase, and ``other``: the rest of the Python time."""
        known = sum(self.seconds.values()) + self.simulator
        return {**self.seconds, "other": max(0.0, self.elapsed - known)}
