# SPDX-License-Identifier: Apache-2.0
"""Queues of the pipes: matching of sets and waits, order of entries, deadlocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.lower import reads_ctrl
from tb.isa.pipes import Pipe
from tb.language.order.buffers import Buffers, read_buffers
from tb.language.place import Finding, Place
from tb.language.trace import (
    TWICE,
    Barrier,
    Doubt,
    GetBuf,
    Move,
    RlsBuf,
    SetFlag,
    Step,
    WaitFlag,
)

Event = tuple[Pipe, Pipe, int]
"""Pipe that sets, pipe that waits, number."""

NO_DOUBTS: Mapping[int, Doubt] = MappingProxyType({})
"""Every step happens."""


def event_of(step: SetFlag | WaitFlag) -> Event:
    """Returns the event of a flag op."""
    if isinstance(step, SetFlag):
        return step.pipe, step.other, step.event
    return step.other, step.pipe, step.event


def event_text(event: Event) -> str:
    """Returns an event in words."""
    source, target, number = event
    return f"event {number} of {source.value} -> {target.value}"


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
        findings: Waits that no set meets, wrong brackets, and waits that wait for one another.
        notes: Events that are set at the end, and buffers that are held.
    """

    sequence: tuple[int, ...]
    met: dict[int, int]
    sets: dict[Event, list[int]]
    registers: dict[int, int]
    buffers: Buffers
    findings: tuple[Finding, ...]
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
        if isinstance(step, SetFlag):
            sets[event_of(step)].append(index)
        elif isinstance(step, WaitFlag):
            waits[event_of(step)].append(index)
    met: dict[int, int] = {}
    for event, indices in waits.items():
        met.update(zip(indices, sets[event], strict=False))
    return sets, waits, met


def stops_stream(step: Step) -> bool:
    """Returns whether a step stops the scalar stream: whatever comes later starts after it."""
    return isinstance(step, WaitFlag | GetBuf) and step.pipe is Pipe.S


def _edges(
    steps: tuple[Step, ...], met: dict[int, int], buffers: Buffers
) -> tuple[_Edges, dict[int, int]]:
    edges = _Edges()
    stop = -1
    last: dict[Pipe, int] = {}
    registers: dict[int, int] = {}
    written, ctrl = -1, -1
    for index, step in enumerate(steps):
        if isinstance(step, Barrier) and step.pipe is None:
            edges.own[index] = sorted(set(last.values()))
            last = dict.fromkeys(Pipe, index)
            continue
        assert step.pipe is not None
        if step.pipe in last:
            edges.own[index].append(last[step.pipe])
        if stop > last.get(step.pipe, -1):
            edges.cross[index].append(stop)
        last[step.pipe] = index
        if stops_stream(step):
            stop = index
        if index in buffers.waits:
            edges.cross[index] += buffers.waits[index]
        elif index in met:
            edges.cross[index].append(met[index])
        elif isinstance(step, Move) and isinstance(step.op, LegacySet):
            written = index
        elif isinstance(step, Move) and isinstance(step.op, CtrlOp):
            ctrl = index
        elif isinstance(step, Move):
            last_write = written if step.registers is not None else ctrl
            if last_write >= 0 and (step.registers is not None or reads_ctrl(step.op)):
                registers[index] = last_write
                edges.cross[index].append(last_write)
    return edges, registers


def _sort(count: int, edges: _Edges) -> list[int]:
    """Returns the steps that can start, the earliest of the program first."""
    missing = [0] * count
    behind: dict[int, list[int]] = defaultdict(list)
    for kind in (edges.own, edges.cross):
        for index, before in kind.items():
            missing[index] += len(before)
            for one in before:
                behind[one].append(index)
    ready = [index for index in range(count) if not missing[index]]
    heapify(ready)
    sequence = []
    while ready:
        index = heappop(ready)
        sequence.append(index)
        for other in behind[index]:
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


def read_queues(steps: tuple[Step, ...], doubts: Mapping[int, Doubt] = NO_DOUBTS) -> Queues:
    """Returns what the queues of a program tell.

    Args:
        steps: The program.
        doubts: Steps that are not known to happen.
    """
    sets, waits, met = _flags(steps)
    buffers = read_buffers(steps)
    edges, registers = _edges(steps, met, buffers)
    sequence = _sort(len(steps), edges)
    findings = _never_met(steps, sets, waits, doubts)
    for fault in buffers.faults:
        step, condition = steps[fault.index], condition_of(doubts, fault.index, fault.earlier)
        name, message = step_name(step), fault.message
        findings.append(Finding(step.place, name, fault.rule, message, fault.legal, condition))
    if len(sequence) < len(steps):
        findings += _circles(steps, edges, set(range(len(steps))).difference(sequence), doubts)
    notes = []
    for event, indices in sets.items():
        if len(indices) > len(waits[event]):
            place = steps[indices[-1]].place
            notes.append(f"{place}: note: {event_text(event)} is still set at the end")
    for index in buffers.held:
        step = steps[index]
        assert isinstance(step, GetBuf), "it is what holds a buffer"
        text = f"buffer {step.buffer} is still held by {step.pipe.value} at the end"
        notes.append(f"{step.place}: note: {text}")
    return Queues(tuple(sequence), met, sets, registers, buffers, tuple(findings), tuple(notes))


def _never_met(
    steps: tuple[Step, ...],
    sets: dict[Event, list[int]],
    waits: dict[Event, list[int]],
    doubts: Mapping[int, Doubt],
) -> list[Finding]:
    findings = []
    for event, indices in waits.items():
        seen: set[Place] = set()
        for number, index in enumerate(indices[len(sets[event]) :], len(sets[event]) + 1):
            place = steps[index].place
            if place in seen:
                continue
            seen.add(place)
            message = f"deadlock: no set_flag sets {event_text(event)}"
            if sets[event]:
                message = (
                    f"deadlock: this is wait {number} for {event_text(event)}, which is set "
                    f"{len(sets[event])} times"
                )
            condition = condition_of(doubts, index)
            findings.append(Finding(place, "pto.wait_flag", "", message, "", condition))
    return findings


def _circles(
    steps: tuple[Step, ...], edges: _Edges, stuck: set[int], doubts: Mapping[int, Doubt]
) -> list[Finding]:
    """Returns the circles among steps that cannot start, each with all its places."""
    heads: dict[Pipe, int] = {}
    for index in sorted(stuck):
        step = steps[index]
        for pipe in Pipe if step.pipe is None else (step.pipe,):
            heads.setdefault(pipe, index)
    findings = []
    done: set[int] = set()
    for head in sorted(set(heads.values())):
        path: list[tuple[int, int]] = []
        while head not in done:
            done.add(head)
            before = next(one for one in (*edges.cross[head], *edges.own[head]) if one in stuck)
            path.append((head, before))
            stands = steps[before].pipe
            head = before if stands is None else heads[stands]
        ring = [number for number, (index, _) in enumerate(path) if index == head]
        if ring:
            circle = path[ring[0] :]
            last = max(index for index, _ in circle)
            condition = condition_of(doubts, last, min(index for index, _ in circle))
            findings.append(replace(_circle(steps, circle), condition=condition))
    return findings


def _circle(steps: tuple[Step, ...], ring: list[tuple[int, int]]) -> Finding:
    first = min(range(len(ring)), key=lambda number: ring[number][0])
    ring = ring[first:] + ring[:first]
    words = []
    for number, (_, before) in enumerate(ring):
        after = "this one" if number + 1 == len(ring) else _what(steps[ring[number + 1][0]])
        words.append(f"waits for {_what(steps[before])}, which comes after {after}")
    step = steps[ring[0][0]]
    return Finding(step.place, step_name(step), "", "deadlock: " + ", which ".join(words))


def _what(step: Step) -> str:
    return f"{step_name(step).removeprefix('pto.')} at {step.place}"


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
