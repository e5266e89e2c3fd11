# SPDX-License-Identifier: Apache-2.0
"""Remarks on the legal ops of a program."""

from __future__ import annotations

from collections.abc import Iterable

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.remarks import overlapping_rows, remarks
from tb.language.lowered import Lowering, descriptor
from tb.language.place import Finding
from tb.language.rules.assume import assume
from tb.language.trace import Move, Trace


def program_remarks(trace: Trace, found: Iterable[Finding] = ()) -> tuple[str, ...]:
    """Returns a line for each remark on an op of a program, but for ops with findings."""
    wrong = {one.place for one in found}
    lines: dict[str, None] = {}
    for step in trace.steps:
        if isinstance(step, Move) and step.place not in wrong:
            for text in _remarks(step.lowering):
                lines.setdefault(f"{step.place}: note: pto.{step.name}: {text}")
    return tuple(lines)


def _remarks(lowering: Lowering) -> tuple[str, ...]:
    """Returns the remarks on an op; those that hold for any value of its unknown operands.

    An unknown operand is 0: with a count or length of 0 the op moves nothing, and a stride of 0
    never has a remark.
    """
    if isinstance(lowering.op, LegacySet | CtrlOp):
        return ()
    if not lowering.unknown:
        desc = lowering.descriptor
        return () if desc is None or lowering.broken else remarks(desc)
    parts = assume((lowering.op, lowering.registers, lowering.ctrl), lambda _: 0)
    desc = descriptor(*parts)
    return () if desc is None else overlapping_rows(desc)
