# SPDX-License-Identifier: Apache-2.0
"""Races: all pairs of steps without an order that share a byte which one of them writes.

:mod:`tb.language.order.hazards` reports the latest such pair of two places. Here are all pairs of
a program whose steps are known, and what depends on them: a replay under several schedules needs
both to name the ops that left the bytes that differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tb.isa.pipes import Pipe
from tb.language.lowered import Region, Touches
from tb.language.order.accesses import Shared
from tb.language.order.hazards import between_cores
from tb.language.order.order import Order
from tb.language.order.touched import touches
from tb.language.order.verdict import order_free
from tb.language.place import Place
from tb.language.trace import Compute, Lane, Move, Trace, lane_of

_Intervals = NDArray[np.int64]
"""Ranges ``first, end`` in ascending order, of which no two meet: ``int64[n, 2]``."""

MOST_RACES = 10_000
"""Races after which no more are searched for."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two steps without an order.

    Attributes:
        earlier, later: Their indices in the trace, in the order of the program.
        space: Memory in small letters.
        shared: Bytes that they share.
        wrote, writes: Whether the earlier one and the later one write these bytes.
    """

    earlier: int
    later: int
    space: str
    shared: Shared
    wrote: bool
    writes: bool

    def pipes_differ(self, trace: Trace) -> bool:
        """Returns whether they are on two pipes: those of one pipe start in program order."""
        return lane_of(trace.steps[self.earlier]) != lane_of(trace.steps[self.later])


@lru_cache(maxsize=4096)
def intervals(region: Region) -> _Intervals:
    """Returns the bytes of a region as ranges, which are not to be changed."""
    starts = np.array([region.base], dtype=np.int64)
    for count, stride in zip(region.counts, region.strides, strict=True):
        steps = np.arange(count, dtype=np.int64) * stride
        starts = (steps[:, None] + starts[None, :]).ravel()
    starts.sort()
    ends = np.maximum.accumulate(starts + region.length)
    first = np.concatenate(([True], starts[1:] > ends[:-1]))
    last = np.concatenate((first[1:], [True]))
    return np.stack((starts[first], ends[last]), axis=1)


def common(one: _Intervals, other: _Intervals) -> _Intervals:
    """Returns the ranges that two lists of ranges have in common."""
    low = np.searchsorted(other[:, 1], one[:, 0], side="right")
    high = np.searchsorted(other[:, 0], one[:, 1], side="left")
    counts = np.maximum(high - low, 0)
    mine = np.repeat(np.arange(len(one)), counts)
    theirs = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs += np.repeat(low, counts)
    return np.stack(
        (np.maximum(one[mine, 0], other[theirs, 0]), np.minimum(one[mine, 1], other[theirs, 1])),
        axis=1,
    )


def _shared(one: Region, other: Region) -> Shared | None:
    if one.space != other.space or one.base >= other.end or other.base >= one.end:
        return None
    both = common(intervals(one), intervals(other))
    if not len(both):
        return None
    return Shared(int(both[0, 0]), int(both[-1, 1]), int((both[:, 1] - both[:, 0]).sum()))


class _Completed:
    """Per step, the steps that have completed when it starts: a number for each pipe."""

    def __init__(self, trace: Trace, order: Order) -> None:
        self.steps: list[int] = []
        self.position: dict[int, int] = {}
        self.pipe: dict[int, Lane] = {}
        self.before: dict[int, Mapping[Lane, int]] = {}
        queues: dict[Lane, list[int]] = {}
        for index in order.sequence:
            step = trace.steps[index]
            assert isinstance(step, Move | Compute)
            if step.pipe is Pipe.S:
                continue
            queue = queues.setdefault(lane_of(step), [])
            known = dict(self.before[queue[-1]]) if queue else {}
            for one in order.after.get(index, ()):
                for pipe, count in self.before[one].items():
                    known[pipe] = max(known.get(pipe, 0), count)
                pipe = self.pipe[one]
                known[pipe] = max(known.get(pipe, 0), self.position[one])
            queue.append(index)
            self.steps.append(index)
            self.position[index] = len(queue)
            self.pipe[index] = lane_of(step)
            self.before[index] = known
        self.queues = queues

    def unordered(self, index: int, started: Collection[int]) -> Iterable[int]:
        """Yields the steps of ``started`` that may still run when a step starts."""
        known = self.before[index]
        for pipe, queue in self.queues.items():
            # The hardware orders the ops of pipe V (order_and_atomics.md section 1).
            if pipe == self.pipe[index] and pipe[1] is Pipe.V:
                continue
            for other in queue[known.get(pipe, 0) :]:
                if other not in started:
                    break
                yield other


def races(trace: Trace, order: Order) -> tuple[Race, ...]:
    """Returns the races of a program with known operands, in the order of their later steps.

    At most ``MOST_RACES``.
    """
    completed = _Completed(trace, order)
    taken: set[int] = set()
    touched: dict[int, Touches] = {}
    found: list[Race] = []
    for index in completed.steps:
        touched[index] = _touches(trace, index)
        for other in completed.unordered(index, taken):
            if _order_free(trace, other, index):
                continue
            found += _races(other, index, touched[other], touched[index])
            if len(found) >= MOST_RACES:
                return tuple(found)
        taken.add(index)
    return tuple(found)


def _order_free(trace: Trace, one: int, other: int) -> bool:
    first, second = trace.steps[one], trace.steps[other]
    assert isinstance(first, Move | Compute)
    assert isinstance(second, Move | Compute)
    return order_free(first, second)


def _touches(trace: Trace, index: int) -> Touches:
    step = trace.steps[index]
    assert isinstance(step, Move | Compute)
    return touches(step)


def _races(one: int, other: int, first: Touches, second: Touches) -> Iterable[Race]:
    earlier, later = min(one, other), max(one, other)
    if one != earlier:
        first, second = second, first
    for region, wrote in first:
        for mine, writes in second:
            shared = _shared(region, mine) if wrote or writes else None
            if shared is not None:
                yield Race(earlier, later, region.space, shared, wrote, writes)


def affected(trace: Trace, order: Order, some: Sequence[Race]) -> frozenset[int]:
    """Returns the steps whose results depend on races: those of ``some``, and what reads them.

    A step that only overwrites bytes which a racing step reads is none of them.
    """
    found: set[int] = set()
    for race in some:
        if race.wrote:
            found.add(race.later)
        if race.writes:
            found.add(race.earlier)
    written: list[Region] = [r for one in found for r, write in _touches(trace, one) if write]
    for index in order.sequence:
        step = trace.steps[index]
        if index in found or not isinstance(step, Move | Compute) or step.pipe is Pipe.S:
            continue
        mine = touches(step)
        if any(not write and _shared(r, one) for r, write in mine for one in written):
            found.add(index)
            written += [r for r, write in mine if write]
    return frozenset(found)


def written_by(trace: Trace, steps: Iterable[int]) -> Mapping[str, _Intervals]:
    """Returns the bytes that steps write, by memory."""
    parts: dict[str, list[_Intervals]] = {}
    for index in sorted(steps):
        for region, write in _touches(trace, index):
            if write:
                parts.setdefault(region.space, []).append(intervals(region))
    return {space: np.concatenate(some) for space, some in parts.items()}


def remedy(trace: Trace, race: Race) -> str:
    """Returns what would order the two steps of a race."""
    one, other = (trace.steps[index] for index in (race.earlier, race.later))
    if one.core != other.core:
        return between_cores(one, other)
    (_, first), (_, second) = lane_of(one), lane_of(other)
    if first is second:
        return f"pto.barrier of {first.value} between them"
    return (
        f'pto.set_flag["{first.value}", "{second.value}", ...] after the first and '
        f'pto.wait_flag["{first.value}", "{second.value}", ...] before the second'
    )


def place_of(trace: Trace, index: int) -> Place:
    """Returns the place of a step."""
    return trace.steps[index].place
