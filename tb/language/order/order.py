# SPDX-License-Identifier: Apache-2.0
"""Order of the steps of a program (docs/spec/README.md, "Ordering").

Every pipe is a queue whose entries start in order. ``set_flag`` is in the queue of the pipe
that sets, ``wait_flag`` in that of the pipe that waits; the k-th wait for an event meets the k-th
set of it. A barrier over every pipe is in all queues. Registers are read in program order: a
legacy copy comes after the ``set_*`` ops before it. A flag that pipe S waits for stops the scalar
stream: every later op starts after it (FL-03). ``get_buf`` waits for every ``rls_buf`` of its
buffer before it in the program, and a ``rls_buf`` for the earlier ops of its pipe (BF-01, BF-02).

Each step has a vector clock with an entry per pipe: the entries of its queue that have completed
when the step starts. Two steps that neither vector clock orders, and that touch a byte which one of
them writes, are a hazard, unless they are of a pipe that orders them itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tb.isa.pipes import Pipe
from tb.language.collector import collector_off
from tb.language.order.hazards import Describe, Hazards, described
from tb.language.order.queues import (
    COUNTERS,
    INTRA_BLOCK,
    MOST_SIGNALS,
    Event,
    Queues,
    condition_of,
    event_of,
    event_text,
    read_queues,
    step_name,
    stops_stream,
)
from tb.language.order.verdict import Hazard
from tb.language.place import Finding, Place
from tb.language.trace import (
    CORES,
    Barrier,
    Compute,
    Doubt,
    GetBuf,
    Move,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    Trace,
    WaitFlag,
    WaitSignal,
)

TWICE_RULE = "FL-02"
"""Rule that an event which is set twice without a wait between breaks."""

_PIPES: tuple[Pipe, ...] = tuple(Pipe)
_NUMBER = {pipe: number for number, pipe in enumerate(_PIPES)}
_S = _NUMBER[Pipe.S]
_COUNT = len(_PIPES)
_LANES = len(CORES) * _COUNT
"""Queues: the pipes of every core."""


def _lane(core: int, pipe: Pipe) -> int:
    return core * _COUNT + _NUMBER[pipe]


@dataclass(frozen=True)
class Order:
    """In what order a program may run.

    Attributes:
        sequence: Indices of the steps that are a :class:`Move` or a :class:`Compute`, in an order
            that keeps every dependency; program order wherever that does.
        after: Index of such a step to those that must have completed before it starts: the last
            of each pipe, none of pipe S. What an earlier step of its pipe waits for already, and
            what another one of these has waited for, is left out.
        findings: Waits that are never met, circular waits, counters of signals that may overflow,
            hazards.
        held: Index of such a step to earlier ones that touch a byte of it and that nothing orders
            it after: hazards of any verdict, and dependent steps of a pipe whose hardware orders
            them. An execution keeps these, too: it is in program order.
        warnings: Hazards that are allowed, events set twice.
        notes: Sentences about what is odd but does no harm, events that are set at the end, and
            about what was not looked at.
    """

    sequence: tuple[int, ...]
    after: Mapping[int, tuple[int, ...]]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[Finding, ...] = ()
    held: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def waits(self, index: int) -> tuple[int, ...]:
        """Returns the steps that must have completed before a step starts: all of its links."""
        after, held = self.after.get(index, ()), self.held.get(index)
        return after if held is None else tuple(dict.fromkeys((*after, *held)))


@collector_off()
def order(
    trace: Trace,
    describe: Describe = described,
    hazard: Hazard = "",
    unit_flags: Collection[int] = (),
) -> Order:
    """Returns how a program may run, and what is wrong with how it orders its steps.

    Args:
        trace: The program.
        describe: Gives messages their words for bytes.
        hazard: Verdict on hazards, see :func:`tb.language.order.verdict.verdict`.
        unit_flags: Blocks of L0C whose unit flags are set when the program begins.
    """
    steps = trace.steps
    doubts = trace.doubtful()
    queues = read_queues(steps, doubts, unit_flags)
    sequence = tuple(i for i in queues.sequence if isinstance(steps[i], Move | Compute))
    hazards = Hazards(steps, sequence, describe, doubts, trace.called, hazard)
    clocks = _Clocks(steps, queues, doubts)
    setters = {one for waits in queues.flagged.values() for one in waits}
    for index in queues.sequence:
        step = steps[index]
        if isinstance(step, Move | Compute):
            queue, known = clocks.start(index, step)
            if index not in queues.stuck:
                hazards.take(index, queue, clocks.begun[queue], known)
        elif isinstance(step, Barrier):
            clocks.join(step)
        elif isinstance(step, SetFlag | SetSignal):
            clocks.set_flag(index, step)
        elif isinstance(step, WaitFlag | WaitSignal):
            clocks.wait_flag(index, step)
        else:
            clocks.bracket(index, step)
        awaited = index in queues.buffers.awaited or index in setters
        if awaited and not isinstance(step, RlsBuf):
            clocks.mark(index, step)
    found = (*queues.findings, *clocks.findings, *hazards.findings)
    return Order(
        sequence,
        clocks.after,
        tuple(one for one in found if one.severity == "error"),
        (*queues.notes, *hazards.notes),
        tuple(one for one in found if one.severity == "warning"),
        hazards.held,
    )


class _Clocks:
    """Completed entries that each pipe may rely on, while steps are taken in a possible order.

    Attributes:
        begun: Entries that each queue has begun.
        after: As of :class:`Order`.
        findings: Events set twice, counters of signals that may overflow.
    """

    def __init__(
        self, steps: tuple[Step, ...], queues: Queues, doubts: Mapping[int, Doubt]
    ) -> None:
        """Begins with empty queues."""
        self.begun = [0] * _LANES
        self.after: dict[int, tuple[int, ...]] = {}
        self._steps = steps
        self._queues = queues
        self._doubts = doubts
        # Per pipe, entries of each queue that have completed for what the pipe starts next, and
        # those that had for the step it started last.
        self._known = [[0] * _LANES for _ in range(_LANES)]
        self._linked = [[0] * _LANES for _ in range(_LANES)]
        # Positions and indices of the steps of each pipe, and what they could rely on.
        self._places: list[list[int]] = [[] for _ in range(_LANES)]
        self._indices: list[list[int]] = [[] for _ in range(_LANES)]
        self._relied: dict[int, list[int]] = {}
        # Entries that have completed at a set_flag, or at a set_* op.
        self._clocks: dict[int, list[int]] = {}
        # Entries that have completed at the end of a step that a buffer waits for.
        self._ended: dict[int, list[int]] = {}
        # Position of each wait_flag, by the set_flag it meets.
        self._waits: dict[int, int] = {}
        self._sets: dict[Event, int] = {}
        self._twice: dict[Place, Finding] = {}
        # Sets of each counter of signals, and the positions of its waits by queue.
        self._raised: dict[Event, int] = defaultdict(int)
        self._overflow: dict[Event, Finding] = {}
        self._waited: dict[Event, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._needed = set(queues.registers.values())

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self._twice.values(), *self._overflow.values())

    def _learn(self, pipe: int, clock: list[int]) -> None:
        self._known[pipe] = list(map(max, self._known[pipe], clock))

    def start(self, index: int, step: Move | Compute) -> tuple[int, list[int]]:
        """Starts a step; returns its queue and what has completed before it, by queue."""
        pipe = _lane(step.core, step.pipe)
        written = self._queues.registers.get(index)
        if written is not None:
            self._learn(pipe, self._clocks[written])
        for other in self._queues.flagged.get(index, ()):
            self._learn(pipe, self._ended[other])
        known = self._known[pipe]
        self.begun[pipe] += 1
        if pipe % _COUNT == _S:
            if index in self._needed:
                self._clocks[index] = [*known]
                self._clocks[index][pipe] = self.begun[pipe]
            return pipe, known
        self._relied[index] = known
        links = self._links(pipe, known)
        if links:
            self.after[index] = links
        self._places[pipe].append(self.begun[pipe])
        self._indices[pipe].append(index)
        self._linked[pipe] = known
        return pipe, known

    def _links(self, pipe: int, known: list[int]) -> tuple[int, ...]:
        """Returns the steps that have completed since the last one of this pipe started."""
        if known is self._linked[pipe]:
            return ()
        found = []
        for other, (now, before) in enumerate(zip(known, self._linked[pipe], strict=True)):
            if now > before:
                number = bisect_right(self._places[other], now)
                if number and self._places[other][number - 1] > before:
                    found.append((other, self._places[other][number - 1], number - 1))
        links = [(other, at, self._indices[other][number]) for other, at, number in found]
        return tuple(
            index
            for other, at, index in links
            if not any(self._relied[one][other] >= at for _, _, one in links if one != index)
        )

    def join(self, barrier: Barrier) -> None:
        """Passes a barrier."""
        first = barrier.core * _COUNT
        own = slice(first, first + _COUNT)
        if barrier.pipe is not None:
            pipe = _lane(barrier.core, barrier.pipe)
            clock = [0] * _LANES
            clock[pipe] = self.begun[pipe]
            self._learn(pipe, clock)
            return
        # Lists are never changed, so the pipes may share one.
        known = [max(column) for column in zip(*self._known[own], strict=True)]
        known[own] = self.begun[own]
        self._known[own] = [known] * _COUNT

    def set_flag(self, index: int, step: SetFlag | SetSignal) -> None:
        """Sets an event, which must not be set, or raises a counter of another core."""
        pipe, event = _lane(step.core, step.pipe), event_of(step)
        self.begun[pipe] += 1
        before = self._sets.get(event) if isinstance(step, SetFlag) else None
        if isinstance(step, SetFlag) and before is not None:
            target = _lane(step.core, step.other)
            waited = self._waits.get(before)
            # On one pipe a wait that has been seen is before this set.
            late = pipe != target and waited is not None and waited > self._known[pipe][target]
            if waited is None or late:
                self._set_twice(before, index, event)
        if isinstance(step, SetSignal) and step.kind == INTRA_BLOCK:
            self._count(index, step, event)
        self._sets[event] = index
        self._clocks[index] = [*self._known[pipe]]
        self._clocks[index][pipe] = self.begun[pipe]

    def _count(self, index: int, step: SetSignal, event: Event) -> None:
        """Raises a counter of signals, which holds at most ``MOST_SIGNALS`` (IB-07)."""
        self._raised[event] += 1
        known = self._known[_lane(step.core, step.pipe)]
        waits = self._waited[event].items()
        passed = sum(bisect_right(places, known[pipe]) for pipe, places in waits)
        if self._raised[event] - passed <= MOST_SIGNALS:
            return
        message = (
            f"signal: set {self._raised[event]} of {event_text(event)}, and the "
            f"{CORES[step.target]} is not known to have waited for more than {passed} of them"
        )
        legal = f"at most {MOST_SIGNALS} sets that are not waited for"
        condition = condition_of(self._doubts, index)
        finding = Finding(step.place, step_name(step), COUNTERS, message, legal, condition)
        self._overflow.setdefault(event, finding)

    def wait_flag(self, index: int, step: WaitFlag | WaitSignal) -> None:
        """Waits for an event; one that no set_flag meets is passed."""
        pipe = _lane(step.core, step.pipe)
        self.begun[pipe] += 1
        met = self._queues.met.get(index)
        if met is not None:
            self._waits[met] = self.begun[pipe]
            if isinstance(step, WaitSignal):
                self._waited[event_of(step)][pipe].append(self.begun[pipe])
            self._learn_of(step, self._clocks.pop(met))

    def _learn_of(self, step: WaitFlag | WaitSignal | GetBuf | RlsBuf, clock: list[int]) -> None:
        """Passes what has completed to the pipe of a step; pipe S passes it to all of its core."""
        for pipe in _PIPES if stops_stream(step) else (step.pipe,):
            self._learn(_lane(step.core, pipe), clock)

    def mark(self, index: int, step: Step) -> None:
        """Notes what has completed when a step has, with all of its pipe before it."""
        pipe = _lane(step.core, step.pipe or Pipe.S)
        clock = [*self._known[pipe]]
        if step.pipe is not None:
            clock[pipe] = self.begun[pipe]
        self._ended[index] = clock

    def bracket(self, index: int, step: GetBuf | RlsBuf) -> None:
        """Gets a buffer, or releases it."""
        pipe = _lane(step.core, step.pipe)
        self.begun[pipe] += 1
        ended = [self._ended[one] for one in self._queues.buffers.waits.get(index, ())]
        if isinstance(step, GetBuf):
            for clock in ended:
                self._learn_of(step, clock)
        elif index in self._queues.buffers.awaited:
            self.mark(index, step)
            # In mode 1 the signal waits for other pipes; its own goes on.
            for clock in ended:
                self._ended[index] = list(map(max, self._ended[index], clock))

    def _set_twice(self, before: int, index: int, event: Event) -> None:
        place = self._steps[index].place
        step = self._steps[index]
        assert isinstance(step, SetFlag), "signals are counted"
        source, target = step.pipe, step.other
        message = (
            f"flag: sets {event_text(event)} again, and {target.value} is not known to "
            f"have waited for the set_flag at {self._steps[before].place}"
        )
        legal = f"one set at a time: another event, or a flag from {target.value} to {source.value}"
        if source is target:
            legal = "one set at a time: another event, or the wait_flag before this set_flag"
        condition = condition_of(self._doubts, index, before)
        finding = Finding(
            place, "pto.set_flag", TWICE_RULE, message, legal, condition, severity="warning",
            undefined=True,
        )  # fmt: skip
        self._twice.setdefault(place, finding)
