# SPDX-License-Identifier: Apache-2.0
"""Remarks on the legal ops of a program."""

from __future__ import annotations

from tb.isa.fix.op import FixOp
from tb.isa.fix.remarks import remarks
from tb.language.trace import Move, Trace


def program_remarks(trace: Trace) -> tuple[str, ...]:
    """Returns a line for each remark on an op of a program whose operands are known."""
    found: dict[str, None] = {}
    for step in trace.steps:
        if not isinstance(step, Move) or not isinstance(step.op, FixOp):
            continue
        desc = step.lowering.descriptor
        if isinstance(desc, FixOp) and not step.lowering.broken:
            for text in remarks(desc):
                found.setdefault(f"{step.place}: note: pto.{step.name}: {text}")
    return tuple(found)
