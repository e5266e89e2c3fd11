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
from tb.isa.fix.op import FixDescriptor
from tb.isa.footprint import flag_blocks
from tb.isa.lower import reads_ctrl
from tb.isa.mad import flag_blocks as mad_flags
from tb.isa.pipes import Pipe
from tb.language.order.buffers import Buffers, read_buffers
from tb.language.place import Finding, Place
from tb.language.trace import (
    CORES,
    TWICE,
    Barrier,
    Compute,
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
from tb.language.unknown import UndecidedError

Event = tuple[int, Pipe, Pipe, int] | tuple[str, int, int, int]
"""Core, pipe that sets, pipe that waits, number; of a signal its kind, both cores, number."""

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
        findings: Waits that no set meets, wrong brackets, and waits that wait for one another.
        notes: Events that are set at the end, and buffers that are held.
    """

    sequence: tuple[int, ...]
    met: dict[int, int]
    sets: dict[Event, list[int]]
    registers: dict[int, int]
    buffers: Buffers
    flagged: dict[int, list[int]]
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
    return isinstance(step, WaitFlag | GetBuf) and step.pipe is Pipe.S


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


def unit_flags(steps: tuple[Step, ...]) -> dict[int, list[int]]:
    """Returns what unit flags make a step wait for (spec/fixpipe.md, section 8).

    A write-back that checks flags waits for the products that set those of its blocks, a product
    that checks them for the write-backs that cleared them. Without a product that sets flags they
    are not those of the program.
    """
    uses = [
        index
        for index, step in enumerate(steps)
        if (isinstance(step, Compute) and step.op.unit_flag)
        or (isinstance(step, Move) and getattr(step.op, "unit_flag", 0) in (2, 3))
    ]
    if not any(isinstance(steps[index], Compute) for index in uses):
        return {}
    found: dict[int, list[int]] = {}
    product: dict[int, int] = {}
    cleared: dict[int, int] = {}
    for index in uses:
        step = steps[index]
        try:
            if isinstance(step, Compute):
                blocks, before, here = mad_flags(step.op), cleared, product
            else:
                assert isinstance(step, Move)
                desc = step.lowering.descriptor
                if not isinstance(desc, FixDescriptor) or step.lowering.refused:
                    continue
                blocks, before, here = flag_blocks(desc).tolist(), product, cleared
        except (UndecidedError, ValueError):
            continue
        waits = sorted({before[block] for block in blocks if block in before})
        if waits:
            found[index] = waits
        here.update(dict.fromkeys(blocks, index))
    return found


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
    flagged = unit_flags(steps)
    cores = any(step.core for step in steps)
    edges, registers = _edges(steps, met, buffers, flagged)
    sequence = _sort(len(steps), edges)
    findings = _never_met(steps, sets, waits, doubts, cores)
    for fault in buffers.faults:
        step, condition = steps[fault.index], condition_of(doubts, fault.index, fault.earlier)
        name, message = step_name(step), fault.message
        findings.append(Finding(step.place, name, fault.rule, message, fault.legal, condition))
    if len(sequence) < len(steps):
        stuck = set(range(len(steps))).difference(sequence)
        findings += _circles(steps, edges, stuck, doubts, cores)
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
    return Queues(
        tuple(sequence), met, sets, registers, buffers, flagged, tuple(findings), tuple(notes)
    )


def _never_met(
    steps: tuple[Step, ...],
    sets: dict[Event, list[int]],
    waits: dict[Event, list[int]],
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
) -> list[Finding]:  # fmt: skip
    """Returns the circles among steps that cannot start, each with all its places."""
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
            findings.append(replace(_circle(steps, circle, cores), condition=condition))
    return findings


def _circle(steps: tuple[Step, ...], ring: list[tuple[int, int]], cores: bool) -> Finding:
    first = min(range(len(ring)), key=lambda number: ring[number][0])
    ring = ring[first:] + ring[:first]
    words = []
    for number, (_, before) in enumerate(ring):
        last = number + 1 == len(ring)
        after = "this one" if last else _what(steps[ring[number + 1][0]], cores)
        words.append(f"waits for {_what(steps[before], cores)}, which comes after {after}")
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
