# SPDX-License-Identifier: Apache-2.0
"""Execution of flags and buffers whose number may be computed: it is read when the op is issued."""

from __future__ import annotations

from collections.abc import Callable

from tb.language.dialect.sync import BufferOp, DynamicFlagOp, GetBufOp, OrderOp, SetFlagDynOp
from tb.language.place import Finding, Place, refuse
from tb.language.run.arith import Code, Frame
from tb.language.run.execution import Execution, constant_step
from tb.language.run.values import Missing, plain
from tb.language.trace import GetBuf, RlsBuf, SetFlag, Step, WaitFlag


def _maker(op: OrderOp, place: Place) -> tuple[Callable[[int], Step], str, str, int]:
    """Returns how to make the step of a number, what numbers are, their rule and their count."""
    if isinstance(op, DynamicFlagOp):
        src, dst = op.src, op.dst
        if isinstance(op, SetFlagDynOp):
            return lambda x: SetFlag(place, src, dst, x), "event", op.rule, op.legal
        return lambda x: WaitFlag(place, dst, src, x), "event", op.rule, op.legal
    assert isinstance(op, BufferOp), "there are flags and buffers"
    kind = GetBuf if isinstance(op, GetBufOp) else RlsBuf
    pipe, mode = op.pipe, op.mode
    return lambda x: kind(place, pipe, x, mode), "buffer", op.rule, op.legal


def order_code(run: Execution, op: OrderOp, place: Place, slot: int | None) -> Code:
    """Returns the code of an op; ``slot`` holds its number, None for one that is written."""
    make, what, rule, count = _maker(op, place)
    if slot is None:
        assert isinstance(op, BufferOp), "the number of a dynamic flag is an operand"
        return constant_step(run, make(op.buffer))
    made: dict[int, Step] = {}
    steps, number, name = run.steps, slot, op.name

    def code(frame: Frame) -> None:
        value = plain(frame[number])
        if isinstance(value, Missing):
            if not run.static:
                raise refuse(place, f"the {what} is not known: {value.why}", op=name)
            run.unnumbered.setdefault(place)
            return
        if not 0 <= value < count:
            run.report(Finding(place, name, rule, f"{what} is {value}", f"0..{count - 1}"))
            run.unnumbered.setdefault(place)
            return
        step = made.get(value)
        if step is None:
            step = made[value] = make(value)
        steps.append(step)

    return code
