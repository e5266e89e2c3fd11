# SPDX-License-Identifier: Apache-2.0
"""Blocks from programs written op by op, as lists of programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tb.isa.block import OpBlock, from_descriptors
from tb.isa.ctrl import CtrlOp, SetCtrl, write_ctrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacySet,
    SetMovPadVal,
    lower_copy,
    lower_ubuf_copy,
    write_registers,
)
from tb.isa.lower import lower
from tb.isa.op import Op
from tb.isa.program import Entry, moving, moving_at
from tb.isa.rules import lowering_violation
from tb.isa.text import AnyOp

Program = Entry
"""One v0.6 op; or ``set_*`` ops and copies that are not issued, and the legacy copy issued; or ops
that write CTRL, a v0.6 op, and ``set_ctrl`` 0."""

_LegacyCopy = CopyGmToUbuf | CopyUbufToGm | CopyUbufToUbuf


@dataclass(frozen=True)
class Lowered:
    """A program and the descriptor of the op that it issues."""

    program: Program
    descriptor: Op
    rule: int = 0

    @property
    def legacy(self) -> Program:
        """The program if it is not one v0.6 op alone, else empty."""
        alone = len(self.program) == 1 and not isinstance(self.program[0], _LegacyCopy)
        return () if alone else self.program


def lower_program(
    program: Program, registers: DmaRegisters, rule: int = 0
) -> tuple[Lowered, DmaRegisters]:
    """Lowers ``program`` issued with ``registers``; also returns the registers after it.

    Raises:
        ValueError: the program does not end in its only copy that is issued, but for ops that
            write CTRL, or leaves CTRL other than 0.
    """
    at = moving_at(program)
    before, copy, after = program[:at], program[at], program[at + 1 :]
    if isinstance(copy, LegacySet | CtrlOp):
        raise ValueError(f"a program ends in a copy, found {type(copy).__name__}")
    if not isinstance(copy, _LegacyCopy):
        return Lowered(program, lower(copy, _ctrl(before, after)), rule), registers
    ctrl = _ctrl(tuple(op for op in before if isinstance(op, CtrlOp)), after)
    for op in before:
        if isinstance(op, CtrlOp) or (isinstance(op, CopyUbufToUbuf) and lowering_violation(op)):
            continue
        if not isinstance(op, LegacySet):
            raise ValueError(f"only set_* ops may precede a copy, found {type(op).__name__}")
        registers = write_registers(op, registers)
    if isinstance(copy, CopyUbufToUbuf):
        return Lowered(program, lower_ubuf_copy(copy), rule), registers
    return Lowered(program, lower_copy(copy, registers, ctrl), rule), registers


def _ctrl(before: Program, after: Program) -> int:
    """Returns CTRL of a v0.6 op between ops that write it, and nothing but these."""
    ctrl = 0
    for op in before:
        if not isinstance(op, CtrlOp):
            raise ValueError(f"a v0.6 op stands alone or with ops that write CTRL, found {op}")
        ctrl = write_ctrl(op, ctrl)
    left = ctrl
    for op in after:
        left = write_ctrl(op, left)  # type: ignore[arg-type]
    if left:
        raise ValueError(f"CTRL is {left:#x} after a program: it ends with set_ctrl 0")
    return ctrl


def split_program(ops: Iterable[AnyOp]) -> list[Program]:
    """Returns the programs of a list of ops: each copy with the ``set_*`` ops before it.

    A ``copy_ubuf_to_ubuf`` that breaks a rule at lowering goes with the next copy; a ``set_ctrl``
    0 ends the program of a v0.6 op for which CTRL was written.
    """
    programs: list[Program] = []
    pending: list[AnyOp] = []
    for op in ops:
        if isinstance(op, CtrlOp):
            written = bool(programs) and isinstance(programs[-1][0], CtrlOp)
            if op == SetCtrl(0) and not pending and written:
                programs[-1] = (*programs[-1], op)
            else:
                pending.append(op)
            continue
        pending.append(op)
        refused = isinstance(op, CopyUbufToUbuf) and lowering_violation(op) is not None
        if not isinstance(op, LegacySet) and not refused:
            programs.append(tuple(pending))
            pending = []
    return programs


def block_of(items: Sequence[Lowered]) -> OpBlock:
    """Returns a block of lowered programs: no gaps, no waits, ``expected_rule`` filled."""
    copies = [moving(item.program) for item in items]
    dtypes = [copy.src_type.dtype for copy in copies]
    pads = []
    for item in items:
        written = [op.dtype for op in item.program if isinstance(op, SetMovPadVal)]
        pads.append(written[-1] if written else item.descriptor.second_type)
    return from_descriptors(
        [item.descriptor for item in items],
        legacy={number: item.legacy for number, item in enumerate(items) if item.legacy},
        dtypes=dtypes,
        pad_dtypes=pads,
        expected_rule=[item.rule for item in items],
    )


__all__ = [
    "Lowered",
    "Op",
    "Program",
    "block_of",
    "lower_program",
    "split_program",
]
