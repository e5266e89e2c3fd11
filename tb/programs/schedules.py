# SPDX-License-Identifier: Apache-2.0
"""Schedules: drawn latencies, stalls and issue orders under which a program is replayed.

A program that orders its ops leaves the same bytes under every schedule. A schedule depends on the
seed and its number alone, so that one can be repeated without the others.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise

import numpy as np

from tb.harness.knobs import PROFILES, RANGES, KnobProfile, draw_profile, paced
from tb.isa.block import OpBlock
from tb.isa.op import replace
from tb.isa.pipes import Pipe
from tb.language.order.order import Order
from tb.language.order.verdict import order_free
from tb.language.trace import CORES, Compute, Lane, Move, Step, Trace, lane_of
from tb.record.record import ScheduleReport

_STREAM = 0x5C4ED
"""Separates the random numbers of schedules from others of a seed."""

_PIPES = tuple(pipe for pipe in Pipe if pipe is not Pipe.S)

LEAD = (0.3, 64, 2000)
"""Share of the schedules with overlap whose pipes start at once; the clocks by which a pipe starts
after the one before it: up to the first number or, as often, up to the second."""


@dataclass(frozen=True)
class Schedule:
    """How a program is replayed.

    Attributes:
        number: Its number; 0 is a replay without drawn values.
        knobs: Knobs of the memories.
        pace: Knobs of the descriptors, as of :func:`tb.harness.knobs.paced`.
        stall_seed: Seed of stalls and jitters.
        pipes: Pipes in the order in which they issue ops that nothing orders; empty for the order
            of the program.
        cores: Cores in the order in which they do so, of one pipe.
        serial: Each op waits until the one before it has retired.
        lead: Clocks after which each pipe begins later than the one before it in ``pipes``.
    """

    number: int
    knobs: Mapping[str, int]
    pace: Mapping[str, int]
    stall_seed: int
    pipes: tuple[Pipe, ...] = ()
    serial: bool = False
    lead: int = 0
    cores: tuple[int, ...] = ()

    @property
    def host_late(self) -> bool:
        """Whether of the host and an engine that race the host is late; else the engine is."""
        return self.number % 2 == 0

    @property
    def profile(self) -> KnobProfile:
        """Its knobs."""
        return KnobProfile(f"schedule {self.number}", self.knobs, self.pace)

    def spaced(self, block: OpBlock, steps: Sequence[Step]) -> OpBlock:
        """Returns a block with the gaps of this schedule; ``steps`` has the step of each op."""
        block = paced(block, self.pace)
        if not self.lead:
            return block
        gaps, begun = block.gap.copy(), set()
        for at, step in enumerate(steps):
            assert isinstance(step, Move)
            if step.pipe not in begun:
                begun.add(step.pipe)
                gaps[at] += self.lead * self.pipes.index(step.pipe)
        return replace(block, gap=gaps)

    def report(self, program: str) -> ScheduleReport:
        """Returns its values for the record."""
        return ScheduleReport(
            program=program,
            number=self.number,
            knobs={**self.knobs, **self.pace},
            stall_seed=self.stall_seed,
            pipes=[pipe.value for pipe in self.pipes],
            serial=self.serial,
            lead=self.lead,
        )


@dataclass(frozen=True)
class Basis:
    """The values of a program from which its schedules are drawn.

    Attributes:
        seed: Seed of the schedules.
        stall_seed: Seed of the stalls of schedule 0.
        knobs: Knobs that the user has set: no schedule changes them.
    """

    seed: int
    stall_seed: int
    knobs: Mapping[str, int] = field(default_factory=dict)

    def schedule(self, number: int) -> Schedule:
        """Returns a schedule.

        Schedules 1 and 2 issue one op at a time, with the pipes, and the cores of a pipe, in
        opposite orders; 3 and 4 let ops overlap, with opposite orders; and so on.
        """
        rest = {name: RANGES[name].rest for name in PROFILES[0].pace}
        if not number:
            knobs = {**PROFILES[0].knobs, **self.knobs}
            return Schedule(0, knobs, rest, self.stall_seed)
        pair = np.random.default_rng((self.seed, _STREAM, (number - 1) // 2))
        pipes = tuple(_PIPES[at] for at in pair.permutation(len(_PIPES)).tolist())
        cores = tuple(pair.permutation(len(CORES)).tolist())
        rng = np.random.default_rng((self.seed, _STREAM, (number - 1) // 2, number))
        profile = draw_profile(rng)
        knobs = {**profile.knobs, **self.knobs}
        stall_seed = int(rng.integers(1, 1 << 32))
        if not number % 2:
            pipes, cores = pipes[::-1], cores[::-1]
        if (number - 1) // 2 % 2 == 0:
            return Schedule(number, knobs, rest, stall_seed, pipes, serial=True, cores=cores)
        at_once, short, long = LEAD
        most = int(rng.choice((short, long)))
        lead = 0 if rng.random() < at_once else int(rng.integers(1, most + 1))
        return Schedule(number, knobs, profile.pace, stall_seed, pipes, lead=lead, cores=cores)


def scheduled(trace: Trace, order: Order, schedule: Schedule) -> Order:
    """Returns an order of the same steps, with the pipes of a schedule in turn.

    The steps of a pipe of a core stay in order, and every dependency is kept. If the schedule is
    serial, each step depends on the one before it. Else a product of the host, which no clock
    delays, and an op of an engine that races with it depend on each other as in the sequence.
    """
    pairs = _races_of_host(trace, order) if schedule.pipes else []
    late = {
        index
        for index in chain.from_iterable(pairs)
        if isinstance(trace.steps[index], Compute) == schedule.host_late
    }
    sequence = _sequence(trace, order, schedule, late) if schedule.pipes else order.sequence
    if schedule.serial:
        one_by_one = {later: (earlier,) for earlier, later in pairwise(sequence)}
        return replace(order, sequence=sequence, after=one_by_one, held={})
    held = {
        index: tuple(one for one in before if _kept(trace.steps[one], trace.steps[index]))
        for index, before in order.held.items()
    }
    position = {index: at for at, index in enumerate(sequence)}
    for pair in pairs:
        first, second = sorted(pair, key=position.__getitem__)
        held[second] = (*held.get(second, ()), first)
    return replace(order, sequence=sequence, held=held)


def _kept(one: Step, other: Step) -> bool:
    """Returns whether a schedule keeps the order of two steps that no flag orders.

    A pipe executes in program order (OR-01), and atomic adds whose sum has no order are ordered
    by the run (AT-05); what pipes and cores do to each other otherwise is to be seen.
    """
    assert isinstance(one, Move | Compute)
    assert isinstance(other, Move | Compute)
    return lane_of(one) == lane_of(other) or order_free(one, other)


def _races_of_host(trace: Trace, order: Order) -> list[tuple[int, int]]:
    """Returns the pairs of steps that nothing orders, one of the host and one of an engine."""
    return [
        (one, index)
        for index, before in order.held.items()
        for one in before
        if isinstance(trace.steps[one], Compute) != isinstance(trace.steps[index], Compute)
    ]


def _sequence(
    trace: Trace, order: Order, schedule: Schedule, late: Container[int]
) -> tuple[int, ...]:
    """Returns the steps: of those that can start, one of the first pipe is next.

    Those of ``late`` are next where no other can start. Ops on pipe S start no movement: each is
    taken as early as it can be.
    """
    rank = {Pipe.S: -1, **{pipe: number for number, pipe in enumerate(schedule.pipes)}}
    turn = {core: number for number, core in enumerate(schedule.cores)}
    steps = trace.steps
    missing = dict.fromkeys(order.sequence, 0)
    followers: dict[int, list[int]] = {}
    last: dict[Lane, int] = {}

    def key(index: int) -> tuple[bool, int, int, int]:
        core, pipe = lane_of(steps[index])
        return index in late, rank[pipe], turn.get(core, 0), position[index]

    position = {index: at for at, index in enumerate(order.sequence)}
    for index in order.sequence:
        lane = lane_of(steps[index])
        before = {*order.after.get(index, ()), *([last[lane]] if lane in last else [])}
        before.update(one for one in order.held.get(index, ()) if _kept(steps[one], steps[index]))
        missing[index] = len(before)
        for one in before:
            followers.setdefault(one, []).append(index)
        last[lane] = index
    ready = [key(index) for index, count in missing.items() if not count]
    heapify(ready)
    found = []
    while ready:
        index = order.sequence[heappop(ready)[-1]]
        found.append(index)
        for one in followers.get(index, ()):
            missing[one] -= 1
            if not missing[one]:
                heappush(ready, key(one))
    return tuple(found)
