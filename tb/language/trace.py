# SPDX-License-Identifier: Apache-2.0
"""Trace of a program after execution: a list of steps, each of one pipe.

Made by :mod:`tb.language.run.walk`, put in order by :mod:`tb.language.order.order`, checked by
:mod:`tb.language.rules.check`, and sent by :mod:`sequences.replay`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dtypes import Ptr
from tb.isa.mad import Mad
from tb.isa.op import replace
from tb.isa.pipes import Pipe
from tb.isa.text import AnyOp
from tb.language.lowered import Lowering
from tb.language.place import Finding, Place

_RESET = DmaRegisters()


@dataclass(frozen=True, slots=True)
class Move:
    """A data movement, or an op that writes registers, which is of pipe S.

    Attributes:
        place: Its place.
        name: Name as written, without ``pto.``.
        pipe: Its pipe.
        op: The op; a value that is not known is a :class:`tb.language.unknown.Unknown`.
        gap: Clocks of idle before its descriptor is offered, from attribute ``pto_dv.gap``.
        flag_delay: Clocks until the flags are set that it waits for, from attribute
            ``pto_dv.flag_delay``; -1 for flags that are set when it is issued.
        registers: Of a legacy copy, the registers it reads: those of program order.
        argument: Number of the argument with the buffer that its address in GM is in; -1 for none.
        ctrl: CTRL at the issue of an op that it decides about, or 0.
        core: Index into ``CORES``.
        lowering: The op, lowered with these registers.
    """

    place: Place
    name: str
    pipe: Pipe
    op: AnyOp
    gap: int = 0
    flag_delay: int = -1
    registers: DmaRegisters | None = None
    argument: int = -1
    ctrl: int = 0
    core: int = 0
    lowering: Lowering = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepares the lowering; nothing is computed yet."""
        object.__setattr__(self, "lowering", Lowering(self.op, self.registers or _RESET, self.ctrl))


@dataclass(frozen=True, slots=True)
class Compute:
    """An op that the host computes."""

    place: Place
    name: str
    pipe: Pipe
    op: Mad
    core: int = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """An op of the compiler's register forms that is known and not executed: no step.

    Attributes:
        place: Its place.
        name: Without ``pto.``.
        operands: Names and values, that of an address included; one that is not known is a
            :class:`tb.language.unknown.Unknown`.
        pointers: Types of its pointers.
        ctrl: CTRL at its place.
        core: Index into ``CORES``.
    """

    place: Place
    name: str
    operands: dict[str, int]
    pointers: tuple[Ptr, ...]
    ctrl: int
    core: int = 0


@dataclass(frozen=True, slots=True)
class SetFlag:
    """``set_flag``, queued on ``pipe``; ``other`` waits for it."""

    place: Place
    pipe: Pipe
    other: Pipe
    event: int
    core: int = 0


@dataclass(frozen=True, slots=True)
class WaitFlag:
    """``wait_flag``, queued on ``pipe``; ``other`` sets it."""

    place: Place
    pipe: Pipe
    other: Pipe
    event: int
    core: int = 0


@dataclass(frozen=True, slots=True)
class Barrier:
    """``pipe_barrier`` or ``barrier``; ``pipe`` is None for every pipe."""

    place: Place
    pipe: Pipe | None
    core: int = 0


@dataclass(frozen=True, slots=True)
class GetBuf:
    """``get_buf``, queued on ``pipe``: in mode 0 it waits for the releases of its buffer."""

    place: Place
    pipe: Pipe
    buffer: int
    mode: int = 0
    core: int = 0


@dataclass(frozen=True, slots=True)
class RlsBuf:
    """``rls_buf``, queued on ``pipe``; in mode 1 for every pipe that has used the buffer."""

    place: Place
    pipe: Pipe
    buffer: int
    mode: int = 0
    core: int = 0


@dataclass(frozen=True, slots=True)
class SetSignal:
    """A signal to another core, queued on ``pipe``: a counter there rises (IB-03).

    Attributes:
        name: Op, such as ``set_intra_block``.
        target: Core with the counter.
        kind: ``intra_block``, or what other ops count apart from those.
        source: Core that sets it.
        number: Number of the counter.
    """

    place: Place
    pipe: Pipe
    name: str
    target: int
    kind: str
    source: int
    number: int
    core: int = 0


@dataclass(frozen=True, slots=True)
class WaitSignal:
    """A wait for such a counter to be above 0, queued on ``pipe``; it is decremented (IB-04)."""

    place: Place
    pipe: Pipe
    name: str
    target: int
    kind: str
    source: int
    number: int
    core: int = 0


Step = Move | Compute | SetFlag | WaitFlag | Barrier | GetBuf | RlsBuf | SetSignal | WaitSignal

CORES: tuple[str, ...] = ("cube core", "vector core 0", "vector core 1")
"""Cores of a block (docs/spec/order_and_atomics.md, section 4)."""

Lane = tuple[int, Pipe]
"""A pipe of a core."""


def lane_of(step: Step) -> Lane:
    """Returns the queue of a step; a barrier over every pipe is in all of its core."""
    assert step.pipe is not None, "a barrier over every pipe has no queue of its own"
    return step.core, step.pipe


def lane_text(step: Step, cores: bool) -> str:
    """Returns the queue of a step in words, with its core where a program has ``cores``."""
    pipe = step.pipe.value if step.pipe else "every pipe"
    return f"{pipe} of the {CORES[step.core]}" if cores else pipe


@dataclass(frozen=True, slots=True)
class Skipped:
    """An op of the pto dialect that is not executed here.

    Attributes:
        place, name: The op.
        known: It was read and checked: it is none with an unknown grammar.
        moves: It moves data: the results do not show what it does.
    """

    place: Place
    name: str
    known: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the kernel.

    Attributes:
        number: Position, from 0.
        name: SSA name without ``%``.
        pointer: Its pointer type, or None for a scalar.
        kind: Its type as text.
        reach: Of a pointer, bytes of its buffer that the program touches, as far as known; 0
            when none.
    """

    number: int
    name: str
    pointer: Ptr | None
    kind: str
    reach: int = 0

    @property
    def in_gm(self) -> bool:
        """Whether it is a pointer to GM."""
        return self.pointer is not None and self.pointer.space == "gm"


TWICE = " twice"
"""Ends the condition on which a loop has a second iteration."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Steps of which it is not known whether they happen.

    Attributes:
        begin, end: Their indices, the last one left out.
        condition: The condition, such as ``if the loop at x.pto:9:5, ..., runs``.
        again: Whether they are the second iteration, which represents all further ones; then the
            condition ends with ``TWICE``.
    """

    begin: int
    end: int
    condition: str
    again: bool = False


@dataclass(frozen=True)
class Trace:
    """A program as executed.

    Attributes:
        file, function: Its place.
        steps: In program order, loops unrolled.
        arguments: Those of the function.
        skipped: Foreign ops, each place once, in order of the text.
        unknown: Places of ops with an operand whose value is not known, each once.
        undecided: Places of loops and conditions that depend on such a value: a loop was walked
            twice, which shows what an iteration does to the next one; a condition both ways, so
            that flags and the order of steps mean little.
        once: Places of such loops that were walked once, because twice would have been too long.
        doubts: Steps in such loops and conditions, inner ones first.
        unnumbered: Places of flags and buffers whose number is not known, or out of range: they
            are not among the steps, whose order means little then.
        findings: Operands that are wrong, with unknown values in their place; of a static trace,
            any other one is refused with them.
        dead: Ops in the text that are never executed: in a branch that is not taken, in a loop
            without iterations. Only their constants are known.
        calls: First step of each call of a function, the step after its last one, and the
            place of the call; inner calls before outer ones.
        not_executed: What is left out and the results may depend on, as phrases.
        cores: Whether its steps are those of several cores.
        raw: Ops of the compiler's register forms, in program order.
    """

    file: str
    function: str
    steps: tuple[Step, ...]
    arguments: tuple[Argument, ...]
    skipped: tuple[Skipped, ...] = ()
    unknown: tuple[Place, ...] = field(default=())
    undecided: tuple[Place, ...] = field(default=())
    unnumbered: tuple[Place, ...] = field(default=(), kw_only=True)
    findings: tuple[Finding, ...] = field(default=())
    once: tuple[Place, ...] = field(default=())
    doubts: tuple[Doubt, ...] = field(default=())
    dead: tuple[Move | Compute, ...] = field(default=())
    calls: tuple[tuple[int, int, Place], ...] = field(default=(), repr=False)
    not_executed: tuple[str, ...] = field(default=())
    cores: bool = False
    raw: tuple[Raw, ...] = field(default=(), repr=False, compare=False)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is not executed and the results may depend on; ops of one name are one phrase."""
        places: dict[str, list[Place]] = {}
        for one in self.skipped:
            if one.moves:
                places.setdefault(one.name, []).append(one.place)
        phrases = (
            f"{name} at {first}" + (f" and {len(more)} more" if more else "")
            for name, (first, *more) in places.items()
        )
        return *self.not_executed, *phrases

    def doubtful(self) -> dict[int, Doubt]:
        """Returns the innermost doubt of each step in one, ``again`` if that of any is."""
        found: dict[int, Doubt] = {}
        for doubt in self.doubts:
            for index in range(doubt.begin, doubt.end):
                inner = found.setdefault(index, doubt)
                if doubt.again and not inner.again:
                    found[index] = replace(inner, again=True)
        return found

    def called(self, index: int) -> str:
        """Returns through which calls a step is reached, as the end of a sentence."""
        places = [place for first, end, place in self.calls if first <= index < end]
        return "".join(f", called at {place}" for place in places)
