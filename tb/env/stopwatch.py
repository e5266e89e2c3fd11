# SPDX-License-Identifier: Apache-2.0
"""Python time of a run by phase, and its course: transactions and memory over time."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tb.record.record import Mark

PHASES: tuple[str, ...] = ("generate", "drive", "model", "compare", "cover")
"""Phases of a transaction with separate Python times."""

MOST_MARKS = 1024
"""Marks of a run; where there are more, every second one is dropped."""

_STATM = Path("/proc/self/statm")


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
        self.marks: list[Mark] = []
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

    def mark(self, transactions: int) -> None:
        """Notes how far the run is, and the memory of the process."""
        if len(self.marks) >= MOST_MARKS:
            del self.marks[1::2]
        pages = int(_STATM.read_text().split()[1])
        self.marks.append(
            Mark(
                transactions=transactions,
                seconds=self.elapsed,
                megabytes=pages * resource.getpagesize() / 1e6,
            )
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the stopwatch was made."""
        return self.clock() - self._start

    def summary(self) -> dict[str, float]:
        """Returns seconds per phase, and ``other``: the rest of the Python time."""
        known = sum(self.seconds.values()) + self.simulator
        return {**self.seconds, "other": max(0.0, self.elapsed - known)}
