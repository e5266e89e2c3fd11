# SPDX-License-Identifier: Apache-2.0
"""Queues of the pipes: matching of sets and waits, order of entries, deadlocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.lower import reads_ctrl
from tb.isa.op import replace
from tb.isa.pipes import Pipe
from tb.language.order.buffers import Buffers, read_buffers
from tb.language.order.flags import read_unit_flags
from tb.language.place import Finding, Place
from tb.language.trace import (
    CORES,
    TWICE,
    Barrier,
    Doubt,
    GetBuf,
    Lane,
    Move,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    WaitFlag,
    WaitSignal,
    lane_of,
    lane_text,
)

Event = tuple[int, Pipe, Pipe, int] | tuple[str, int, int, int]
"""Core, pipe that sets, pipe that waits, number; of a signal its kind, both cores, number."""

INTRA_BLOCK = "intra_block"
"""Kind of the signals that ``set_intra_block`` raises."""

COUNTERS = "IB-07"
"""Rule of their counters."""

MOST_SIGNALS = 15
"""Largest value of a counter of signals (IB-07)."""

NO_DOUBTS: Mapping[int, Doubt] = MappingProxyType({})
"""Every step happens."""


Raising = SetFlag | SetSignal
Waiting = WaitFlag | WaitSignal


def event_of(step: Raising | Waiting) -> Event:
    """Returns the event of a flag op, or of a signal."""
    if isinstance(step, SetSignal | WaitSignal):
        return step.kind, step.source, step.target, step.number
    if isinstance(step, SetFlag):
        return step.core, step.pipe, step.other, step.event
    return step.core, step.other, step.pipe, step.event


def event_text(event: Event, cores: bool = False) -> str:
    """Returns an event in words."""
    first, source, target, number = event
    if isinstance(source, Pipe) and isinstance(target, Pipe):
        text = f"event {number} of {source.value} -> {target.value}"
        return f"{text} of the {CORES[int(first)]}" if cores else text
    assert isinstance(source, int)
    assert isinstance(target, int)
    return f"{first} signal {number} of the {CORES[source]} to the {CORES[target]}"


@dataclass(frozen=True)
class Queues:
    """Result of the queues of a program.

    Attributes:
        sequence: Indices of all steps that start, in an order that may be: that of the program
            unless something prevents it.
        met: Index of a ``wait_flag`` to the ``set_flag`` that it meets.
        sets: Event to its ``set_flag`` steps in order.
        registers: Index of an op that reads registers to the last op before it that writes them.
        buffers: What each bracket of a buffer waits for.
        flagged: Step to those that it waits for by unit flags.
        stuck: Steps that wait for ever for a unit flag.
        findings: Waits that no set meets, wrong brackets, and waits that wait for one another.
        between: Those of them in which several cores take part.
        notes: Events that are set at the end, and buffers that are held.
    """

    sequence: tuple[int, ...]
    met: dict[int, int]
    sets: dict[Event, list[int]]
    registers: dict[int, int]
    buffers: Buffers
    flagged: dict[int, list[int]]
    stuck: frozenset[int]
    findings: tuple[Finding, ...]
    between: tuple[Finding, ...]
    notes: tuple[str, ...]


@dataclass
class _Edges:
    """Steps that start before others: ``own`` in the same queue, ``cross`` for another reason."""

    own: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    cross: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def _flags(
    steps: tuple[Step, ...],
) -> tuple[dict[Event, list[int]], dict[Event, list[int]], dict[int, int]]:
    """Returns sets and waits by event, and what each wait meets."""
    sets: dict[Event, list[int]] = defaultdict(list)
    waits: dict[Event, list[int]] = defaultdict(list)
    for index, step in enumerate(steps):
        if isinstance(step, Raising):
            sets[event_of(step)].append(index)
        elif isinstance(step, Waiting):
            waits[event_of(step)].append(index)
    met: dict[int, int] = {}
    for event, indices in waits.items():
        met.update(zip(indices, sets[event], strict=False))
    return sets, waits, met


def stops_stream(step: Step) -> bool:
    """Returns whether a step stops the scalar stream: whatever comes later starts after it."""
    return isinstance(step, WaitFlag | GetBuf | WaitSignal) and step.pipe is Pipe.S


def _edges(
    steps: tuple[Step, ...], met: dict[int, int], buffers: Buffers, flagged: dict[int, list[int]]
) -> tuple[_Edges, dict[int, int]]:
    edges = _Edges()
    last: dict[Lane, int] = {}
    registers: dict[int, int] = {}
    stop, written, ctrl = ([-1] * len(CORES) for _ in range(3))
    for index, step in enumerate(steps):
        core = step.core
        if step.pipe is None:
            assert isinstance(step, Barrier)
            edges.own[index] = sorted({at for lane, at in last.items() if lane[0] == core})
            last.update({(core, pipe): index for pipe in Pipe})
            continue
        lane = lane_of(step)
        if lane in last:
            edges.own[index].append(last[lane])
        if stop[core] > last.get(lane, -1):
            edges.cross[index].append(stop[core])
        last[lane] = index
        if stops_stream(step):
            stop[core] = index
        edges.cross[index] += flagged.get(index, ())
        if index in buffers.waits:
            edges.cross[index] += buffers.waits[index]
        elif index in met:
            edges.cross[index].append(met[index])
        elif isinstance(step, Move) and isinstance(step.op, LegacySet):
            written[core] = index
        elif isinstance(step, Move) and isinstance(step.op, CtrlOp):
            ctrl[core] = index
        elif isinstance(step, Move):
            last_write = written[core] if step.registers is not None else ctrl[core]
            if last_write >= 0 and (step.registers is not None or reads_ctrl(step.op)):
                registers[index] = last_write
                edges.cross[index].append(last_write)
    return edges, registers


def _sort(count: int, edges: _Edges) -> list[int]:
    """Returns the steps that can start, the earliest of the program first."""
    missing = [0] * count
    followers: dict[int, list[int]] = defaultdict(list)
    for kind in (edges.own, edges.cross):
        for index, before in kind.items():
            missing[index] += len(before)
            for one in before:
                followers[one].append(index)
    ready = [index for index in range(count) if not missing[index]]
    heapify(ready)
    sequence = []
    while ready:
        index = heappop(ready)
        sequence.append(index)
        for other in followers[index]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, other)
    return sequence


def condition_of(doubts: Mapping[int, Doubt], later: int, earlier: int = -1) -> str:
    """Returns the condition on which a step, or one before it, happens; or nothing."""
    if later in doubts:
        return doubts[later].condition
    # Steps after a loop come after its last iteration, even if that is the first.
    return doubts[earlier].condition.removesuffix(TWICE) if earlier in doubts else ""


def read_queues(
    steps: tuple[Step, ...],
    doubts: Mapping[int, Doubt] = NO_DOUBTS,
    unit_flags: Collection[int] = (),
) -> Queues:
    """Returns the findings about the queues of a program.

    Args:
        steps: The program.
        doubts: Steps that are not known to happen.
        unit_flags: Blocks of L0C whose flags are set when it begins.
    """
    sets, waits, met = _flags(steps)
    buffers = read_buffers(steps)
    flags = read_unit_flags(steps, unit_flags)
    cores = any(step.core for step in steps)
    edges, registers = _edges(steps, met, buffers, flags.waits)
    sequence = _sort(len(steps), edges)
    signals: Mapping[Event, Sequence[int]] = {
        event: some for event, some in waits.items() if isinstance(event[0], str)
    }
    rest = {event: some for event, some in waits.items() if event not in signals}
    between = _never_met(steps, sets, signals, doubts, cores)
    between += _of_two_pipes(steps, sets, waits)
    findings = _never_met(steps, sets, rest, doubts, cores)
    for fault in (*buffers.faults, *flags.faults):
        step, condition = steps[fault.index], condition_of(doubts, fault.index, fault.earlier)
        name, message = step_name(step), fault.message
        findings.append(Finding(step.place, name, fault.rule, message, fault.legal, condition))
    if len(sequence) < len(steps):
        stuck = set(range(len(steps))).difference(sequence)
        for circle, crosses in _circles(steps, edges, stuck, doubts, cores):
            (between if crosses else findings).append(circle)
    notes = []
    for event, indices in sets.items():
        if len(indices) > len(waits[event]):
            place = steps[indices[-1]].place
            notes.append(f"{place}: note: {event_text(event, cores)} is still set at the end")
    for index in buffers.held:
        step = steps[index]
        assert isinstance(step, GetBuf), "it is what holds a buffer"
        text = f"buffer {step.buffer} is still held by {step.pipe.value} at the end"
        notes.append(f"{step.place}: note: {text}")
    stuck_flags = frozenset(fault.index for fault in flags.faults)
    return Queues(
        tuple(sequence), met, sets, registers, buffers, flags.waits, stuck_flags,
        (*findings, *between), tuple(between), tuple(notes),
    )  # fmt: skip


def _of_two_pipes(steps: tuple[Step, ...], *uses: Mapping[Event, Sequence[int]]) -> list[Finding]:
    """Returns the ops by which a second pipe sets a signal, or waits for it (IB-07)."""
    findings: dict[Place, Finding] = {}
    for side in uses:
        for event, indices in side.items():
            if event[0] != INTRA_BLOCK or not indices:
                continue
            first = steps[indices[0]]
            for index in indices:
                step = steps[index]
                if step.pipe is first.pipe:
                    continue
                does = "sets" if isinstance(step, SetSignal) else "waits for"
                message = (
                    f"signal: {lane_text(step, True)} {does} {event_text(event)}, and so does "
                    f"{lane_text(first, True)} at {first.place}"
                )
                legal = "one pipe for an id"
                found = Finding(step.place, step_name(step), COUNTERS, message, legal)
                findings.setdefault(step.place, found)
    return list(findings.values())


def _never_met(
    steps: tuple[Step, ...],
    sets: dict[Event, list[int]],
    waits: Mapping[Event, Sequence[int]],
    doubts: Mapping[int, Doubt],
    cores: bool,
) -> list[Finding]:
    findings = []
    for event, indices in waits.items():
        seen: set[Place] = set()
        for number, index in enumerate(indices[len(sets[event]) :], len(sets[event]) + 1):
            place = steps[index].place
            if place in seen:
                continue
            seen.add(place)
            step, text = steps[index], event_text(event, cores)
            who = "no set_flag sets" if isinstance(step, WaitFlag) else "nothing sets"
            message = f"deadlock: {who} {text}"
            if isinstance(step, WaitSignal):
                message = f"deadlock: {lane_text(step, True)} waits for ever: {who} {text}"
            if sets[event]:
                message = (
                    f"deadlock: this is wait {number} for {text}, which is set "
                    f"{len(sets[event])} times"
                )
            condition = condition_of(doubts, index)
            findings.append(Finding(place, step_name(step), "", message, "", condition))
    return findings


def _circles(
    steps: tuple[Step, ...], edges: _Edges, stuck: set[int], doubts: Mapping[int, Doubt],
    cores: bool,
) -> list[tuple[Finding, bool]]:  # fmt: skip
    """Returns the circles among steps that cannot start, and whether they cross cores."""
    heads: dict[Lane, int] = {}
    for index in sorted(stuck):
        step = steps[index]
        for pipe in Pipe if step.pipe is None else (step.pipe,):
            heads.setdefault((step.core, pipe), index)
    findings = []
    done: set[int] = set()
    for head in sorted(set(heads.values())):
        path: list[tuple[int, int]] = []
        while head not in done:
            done.add(head)
            before = next(one for one in (*edges.cross[head], *edges.own[head]) if one in stuck)
            path.append((head, before))
            stands = steps[before]
            head = before if stands.pipe is None else heads[lane_of(stands)]
        ring = [number for number, (index, _) in enumerate(path) if index == head]
        if ring:
            circle = path[ring[0] :]
            last = max(index for index, _ in circle)
            condition = condition_of(doubts, last, min(index for index, _ in circle))
            crosses = len({steps[index].core for index, _ in circle}) > 1
            found = replace(_circle(steps, circle, cores), condition=condition)
            findings.append((found, crosses))
    return findings


def _circle(steps: tuple[Step, ...], ring: list[tuple[int, int]], cores: bool) -> Finding:
    first = min(range(len(ring)), key=lambda number: ring[number][0])
    ring = ring[first:] + ring[:first]
    words = []
    for number, (_, before) in enumerate(ring):
        last = number + 1 == len(ring)
        head = ring[0 if last else number + 1][0]
        after = "this one" if last else _what(steps[head], cores)
        waits = f"{_what(steps[before], cores)}, which comes after {after}"
        words.append(f"waits for {after if before == head else waits}")
    step = steps[ring[0][0]]
    return Finding(step.place, step_name(step), "", "deadlock: " + ", which ".join(words))


def _what(step: Step, cores: bool) -> str:
    name = f"{step_name(step).removeprefix('pto.')} at {step.place}"
    return f"{name} on {lane_text(step, True)}" if cores else name


def step_name(step: Step) -> str:
    """Returns the name of the op of a step."""
    if isinstance(step, SetFlag):
        return "pto.set_flag"
    if isinstance(step, WaitFlag):
        return "pto.wait_flag"
    if isinstance(step, Barrier):
        return "pto.barrier"
    if isinstance(step, GetBuf):
        return "pto.get_buf"
    if isinstance(step, RlsBuf):
        return "pto.rls_buf"
    return f"pto.{step.name}"
