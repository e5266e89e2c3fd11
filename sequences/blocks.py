# SPDX-License-Identifier: Apache-2.0
"""Blocks from programs written op by op, as lists of programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tb.isa.block import OpBlock, from_descriptors
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacyOp,
    LegacySet,
    SetMovPadVal,
    lower_copy,
    lower_ubuf_copy,
    write_registers,
)
from tb.isa.dma.op import MteGmUb
from tb.isa.fix.op import FixOp
from tb.isa.lower import Descriptor, V06Op, lower
from tb.isa.rules import lowering_violation

Op = V06Op | LegacyOp
Program = tuple[Op, ...]
"""One v0.6 op, or ``set_*`` ops and copies that are not issued, and the legacy copy issued."""

_LegacyCopy = CopyGmToUbuf | CopyUbufToGm | CopyUbufToUbuf


@dataclass(frozen=True)
class Lowered:
    """A program and the descriptor of its last op."""

    program: Program
    descriptor: Descriptor
    rule: int = 0

    @property
    def legacy(self) -> tuple[LegacyOp, ...]:
        """The program if it is a legacy one, else empty."""
        return tuple(op for op in self.program if isinstance(op, LegacySet | _LegacyCopy))


def lower_program(
    program: Program, registers: DmaRegisters, rule: int = 0
) -> tuple[Lowered, DmaRegisters]:
    """Lowers ``program`` issued with ``registers``; also returns the registers after it.

    Raises:
        ValueError: the program does not end in its only copy that is issued.
    """
    *before, copy = program
    if isinstance(copy, LegacySet):
        raise ValueError(f"a program ends in a copy, found {type(copy).__name__}")
    if not isinstance(copy, _LegacyCopy):
        if before:
            raise ValueError(f"a v0.6 op stands alone, found {len(before)} ops before it")
        return Lowered(program, lower(copy), rule), registers
    for op in before:
        if isinstance(op, CopyUbufToUbuf) and lowering_violation(op):
            continue
        if not isinstance(op, LegacySet):
            raise ValueError(f"only set_* ops may precede a copy, found {type(op).__name__}")
        registers = write_registers(op, registers)
    if isinstance(copy, CopyUbufToUbuf):
        return Lowered(program, lower_ubuf_copy(copy), rule), registers
    return Lowered(program, lower_copy(copy, registers), rule), registers


def split_program(ops: Iterable[Op]) -> list[Program]:
    """Returns the programs of a list of ops: each copy with the ``set_*`` ops before it.

    A ``copy_ubuf_to_ubuf`` that breaks a rule at lowering goes with the next copy.
    """
    programs: list[Program] = []
    pending: list[Op] = []
    for op in ops:
        pending.append(op)
        refused = isinstance(op, CopyUbufToUbuf) and lowering_violation(op) is not None
        if not isinstance(op, LegacySet) and not refused:
            programs.append(tuple(pending))
            pending = []
    return programs


def block_of(items: Sequence[Lowered]) -> OpBlock:
    """Returns a block of lowered programs: no gaps, no waits, ``expected_rule`` filled."""
    copies = [item.program[-1] for item in items]
    dtypes = [getattr(copy, "src_type").dtype for copy in copies]  # noqa: B009  (set ops have none)
    pads = []
    for item, dtype in zip(items, dtypes, strict=True):
        copy = item.program[-1]
        if isinstance(copy, MteGmUb) and copy.pad:
            pads.append(copy.pad.dtype)
        elif isinstance(copy, FixOp):
            pads.append(copy.dst_type.dtype)
        else:
            written = [op.dtype for op in item.program if isinstance(op, SetMovPadVal)]
            pads.append(written[-1] if written else dtype)
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
