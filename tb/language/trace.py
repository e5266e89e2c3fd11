# SPDX-License-Identifier: Apache-2.0
"""What a program does once its loops are run: a list of steps, each of one pipe.

Made by :mod:`tb.language.run.walk`, put in order by :mod:`tb.language.order.order`, checked by
:mod:`tb.language.rules.check`, and sent by :mod:`sequences.replay`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.isa.cube import CubeOp
from tb.isa.dtypes import Ptr
from tb.isa.pipes import Pipe
from tb.isa.text import AnyOp
from tb.language.place import Finding, Place


@dataclass(frozen=True, slots=True)
class Move:
    """A data movement, or a ``set_*`` op, which is of pipe S.

    Attributes:
        place: Where it stands.
        name: Name as written, without ``pto.``.
        pipe: Its pipe.
        op: The op; a value that is not known is a :class:`tb.isa.unknown.Unknown`.
        gap: Clocks of idle before its descriptor is offered, from attribute ``pto_dv.gap``.
        flag_delay: Clocks until the flags are set that it waits for, from attribute
            ``pto_dv.flag_delay``; -1 for flags that are set when it is issued.
    """

    place: Place
    name: str
    pipe: Pipe
    op: AnyOp
    gap: int = 0
    flag_delay: int = -1


@dataclass(frozen=True, slots=True)
class Compute:
    """An op that the host computes."""

    place: Place
    name: str
    pipe: Pipe
    op: CubeOp


@dataclass(frozen=True, slots=True)
class SetFlag:
    """``set_flag``, queued on ``pipe``; ``other`` waits for it."""

    place: Place
    pipe: Pipe
    other: Pipe
    event: int


@dataclass(frozen=True, slots=True)
class WaitFlag:
    """``wait_flag``, queued on ``pipe``; ``other`` sets it."""

    place: Place
    pipe: Pipe
    other: Pipe
    event: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """``pipe_barrier`` or ``barrier``; ``pipe`` is None for every pipe."""

    place: Place
    pipe: Pipe | None


Step = Move | Compute | SetFlag | WaitFlag | Barrier


@dataclass(frozen=True, slots=True)
class Skipped:
    """An op of the pto dialect that moves no data and that nobody here executes."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the kernel.

    Attributes:
        number: Position, from 0.
        name: SSA name without ``%``.
        pointer: Its pointer type, or None for a scalar.
        kind: Its type as text.
        reach: Of a pointer, bytes of its buffer that the program touches, as far as is known; 0
            when none.
    """

    number: int
    name: str
    pointer: Ptr | None
    kind: str
    reach: int = 0


@dataclass(frozen=True)
class Trace:
    """A program as executed.

    Attributes:
        file, function: Where it stands.
        steps: In program order, loops unrolled.
        arguments: Those of the function.
        skipped: Foreign ops, each place once, in order of the text.
        unknown: Places of ops with an operand whose value is not known, each once.
        undecided: Places of loops and conditions that depend on such a value: a loop was walked
            once, a condition both ways, so that flags and the order of steps say little.
        findings: Operands that are wrong, with what stands for them unknown; of a static trace,
            any other one is refused with them.
    """

    file: str
    function: str
    steps: tuple[Step, ...]
    arguments: tuple[Argument, ...]
    skipped: tuple[Skipped, ...] = ()
    unknown: tuple[Place, ...] = field(default=())
    undecided: tuple[Place, ...] = field(default=())
    findings: tuple[Finding, ...] = field(default=())
