# SPDX-License-Identifier: Apache-2.0
"""Processor time of tests: measured for each, limited for short ones, summed up by folder."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

SHORT_SECONDS = 0.1
"""Processor time of a test that needs no mark ``long``, on a quick machine."""

LIMIT_SECONDS = 2.5
"""Processor time beyond which a test without the mark fails.

Far from :data:`SHORT_SECONDS`: the same test takes several times as long beside other work, and the
first one of a file fills tables that the others share.
"""

QUICK_SECONDS = 0.010
"""Processor time of :func:`_work` on that machine."""

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Processor seconds, and wall seconds.

    Attributes:
        own: Of this process.
        children: Of the processes that it started.
        wall: Wall seconds.
        ended: The part of ``children`` whose processes have ended.
    """

    own: float = 0.0
    children: float = 0.0
    wall: float = 0.0
    ended: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Returns the sum."""
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Cost) -> Cost:
        """Returns the difference."""
        return Cost(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def processor(self) -> float:
        """Processor seconds."""
        return self.own + self.children


def spent() -> Cost:
    """Returns what this process has spent so far, with processes that it started and that run."""
    times = os.times()
    ended = times.children_user + times.children_system
    return Cost(times.user + times.system, ended + _running("self"), time.monotonic(), ended)


def _running(pid: str) -> float:
    """Returns the processor seconds of the running processes that a process started."""
    seconds = 0.0
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in file.read_text().split():
                with suppress(OSError):
                    status = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                    seconds += sum(map(int, status[11:15])) / _TICKS + _running(child)
    return seconds


def _work() -> None:
    """Spends a known amount of work."""
    sum(number * number % 7 for number in range(200_000))


def limit() -> float:
    """Returns the processor seconds that a short test may take on this machine, as it is now."""
    begin = time.process_time()
    _work()
    return LIMIT_SECONDS * max(1.0, (time.process_time() - begin) / QUICK_SECONDS)


def table(costs: Iterable[tuple[str, Cost]], wall: float, sessions: Iterable[Cost]) -> list[str]:
    """Returns lines about processor time.

    Args:
        costs: Node of a test and the cost of one of its phases.
        wall: Seconds of the whole run.
        sessions: Cost of each process that ran tests, from its start to its end.
    """
    sums: defaultdict[str, Cost] = defaultdict(Cost)
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    for node, cost in costs:
        folder = "/".join(node.partition("::")[0].split("/")[:2])
        sums[folder] += cost
        nodes[folder].add(node)
    lines = [f"{'folder':<20} {'tests':>6} {'Python':>9} {'simulators':>11} {'wall':>9}"]
    for name, cost in sorted(sums.items(), key=lambda item: -item[1].processor):
        count = len(nodes[name])
        lines.append(
            f"{name:<20} {count:>6} {cost.own:>7.1f} s {cost.children:>9.1f} s {cost.wall:>7.1f} s"
        )
    every, tests = sum(sessions, Cost()), sum(sums.values(), Cost())
    rest = every.processor - tests.processor
    lines.append(
        f"processor time {every.processor:.0f} s: Python {tests.own:.0f}, simulators, builds and "
        f"other processes {tests.children:.0f}, start and collection {rest:.0f}; wall time "
        f"{wall:.0f} s"
    )
    return lines
