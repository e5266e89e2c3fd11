# SPDX-License-Identifier: Apache-2.0
"""Programs for tests, built step by step; line n of the file is step n."""

from __future__ import annotations

from collections.abc import Sequence

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, LegacySet
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.lower import reads_ctrl
from tb.isa.mad import Mad
from tb.isa.op import replace
from tb.isa.pipes import PIPES, Pipe
from tb.isa.text import AnyOp, op_name
from tb.language.order.order import Order
from tb.language.place import Place
from tb.language.run.registers import RegisterState
from tb.language.trace import Barrier, Compute, GetBuf, Move, RlsBuf, SetFlag, Step, Trace, WaitFlag

FILE = "x.pto"
_NOWHERE = Place(FILE, 0, 0)


def move(op: AnyOp) -> Move:
    """Returns the step of an op of an engine, or of a ``set_*`` op."""
    name = op_name(op)
    return Move(_NOWHERE, name, PIPES[name], op)


def load(ub: int = 0, gm: int = 0, size: int = 256) -> Move:
    """Returns a load of one row."""
    return move(MteGmUb(gm, ub, size, 1, 0, 0))


def store(ub: int = 0, gm: int = 0x10000, size: int = 256) -> Move:
    """Returns a store of one row."""
    return move(MteUbGm(ub, gm, size, 1, 0, 0))


def lines(found: Order) -> list[str]:
    """Returns line and rule of each error and warning; the first word where it has no rule."""
    both = sorted((*found.findings, *found.warnings), key=lambda x: x.place.line)
    return [f"{f.place.line} {f.rule or f.message.partition(':')[0]}" for f in both]


def compute(op: Mad) -> Compute:
    """Returns the step of a product."""
    return Compute(_NOWHERE, op.name, PIPES["mad"], op)


def set_flag(source: Pipe, target: Pipe, event: int = 0) -> SetFlag:
    return SetFlag(_NOWHERE, source, target, event)


def wait_flag(source: Pipe, target: Pipe, event: int = 0) -> WaitFlag:
    return WaitFlag(_NOWHERE, target, source, event)


def sync(source: Pipe, target: Pipe, event: int = 0) -> list[Step]:
    """Returns a flag from one pipe to another."""
    return [set_flag(source, target, event), wait_flag(source, target, event)]


def barrier(pipe: Pipe | None = None) -> Barrier:
    return Barrier(_NOWHERE, pipe)


def get_buf(pipe: Pipe, buffer: int = 0, mode: int = 0) -> GetBuf:
    return GetBuf(_NOWHERE, pipe, buffer, mode)


def rls_buf(pipe: Pipe, buffer: int = 0, mode: int = 0) -> RlsBuf:
    return RlsBuf(_NOWHERE, pipe, buffer, mode)


def bracket(pipe: Pipe, *steps: Step, buffer: int = 0, mode: int = 0) -> list[Step]:
    """Returns steps between ``get_buf`` and ``rls_buf``."""
    return [get_buf(pipe, buffer, mode), *steps, rls_buf(pipe, buffer, mode)]


def program(steps: Sequence[Step], lines: Sequence[int] | None = None) -> Trace:
    """Returns the steps as a program; ``lines`` are their lines, else step n is on line n."""
    numbers = lines or range(len(steps))
    placed = [
        replace(step, place=Place(FILE, line, 3)) for step, line in zip(steps, numbers, strict=True)
    ]
    return Trace(FILE, "kernel", sampled(placed), ())


def sampled(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Returns the steps with the registers that they read, as a walk gives them."""
    state, found = RegisterState(), []
    for step in steps:
        if isinstance(step, Move) and isinstance(step.op, LegacySet):
            state.write(step.op)
        elif isinstance(step, Move) and isinstance(step.op, CopyGmToUbuf | CopyUbufToGm):
            step = replace(step, registers=state.now)
            if reads_ctrl(step.op):
                step = replace(step, ctrl=state.ctrl)
        elif isinstance(step, Move) and isinstance(step.op, CtrlOp):
            state.write_ctrl(step.op)
        elif isinstance(step, Move) and reads_ctrl(step.op):
            step = replace(step, ctrl=state.ctrl)
        found.append(step)
    return tuple(found)
