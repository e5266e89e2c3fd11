# SPDX-License-Identifier: Apache-2.0
"""Blocks from programs written op by op, and blocks mixed from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sequences._plan import Ints
from tb.isa.block import OpBlock, from_descriptors
from tb.isa.dma import DmaDescriptor, MteGmUb, MteUbGm, lower
from tb.isa.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacyOp,
    LegacySet,
    SetMovPadVal,
    lower_copy,
    write_registers,
)

Op = MteGmUb | MteUbGm | LegacyOp
Program = tuple[Op, ...]
"""One v0.6 op, or ``set_*`` ops and the legacy copy that uses them."""


@dataclass(frozen=True)
class Lowered:
    """A program and the descriptor its last op becomes."""

    program: Program
    descriptor: DmaDescriptor
    rule: int = 0

    @property
    def legacy(self) -> tuple[LegacyOp, ...]:
        """The program when it is a legacy one, else nothing."""
        return tuple(op for op in self.program if not isinstance(op, MteGmUb | MteUbGm))


def lower_program(
    program: Program, registers: DmaRegisters, rule: int = 0
) -> tuple[Lowered, DmaRegisters]:
    """Lowers ``program`` issued with ``registers``; returns also the registers behind it.

    Raises:
        ValueError: the program does not end in its only copy.
    """
    *sets, copy = program
    if isinstance(copy, MteGmUb | MteUbGm):
        if sets:
            raise ValueError(f"a v0.6 op stands alone, found {len(sets)} ops before it")
        return Lowered(program, lower(copy), rule), registers
    if not isinstance(copy, CopyGmToUbuf | CopyUbufToGm):
        raise ValueError(f"a program ends in a copy, found {type(copy).__name__}")
    for op in sets:
        if not isinstance(op, LegacySet):
            raise ValueError(f"only set_* ops stand before a copy, found {type(op).__name__}")
        registers = write_registers(op, registers)
    return Lowered(program, lower_copy(copy, registers), rule), registers


def split_program(ops: Iterable[Op]) -> list[Program]:
    """Returns the programs of a list of ops: each copy with the ``set_*`` ops before it."""
    programs: list[Program] = []
    pending: list[Op] = []
    for op in ops:
        pending.append(op)
        if not isinstance(op, LegacySet):
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


def interleave(rng: np.random.Generator, one: OpBlock, other: OpBlock) -> OpBlock:
    """Returns the ops of both blocks in one, shuffled together; each keeps its own order."""
    total = len(one) + len(other)
    second = np.zeros(total, dtype=bool)
    second[rng.choice(total, len(other), replace=False)] = True
    to_one, to_other = np.flatnonzero(~second), np.flatnonzero(second)
    source = np.empty(total, dtype=np.int64)
    source[to_one], source[to_other] = np.arange(len(one)), len(one) + np.arange(len(other))

    def mix(first: Ints, then: Ints) -> Ints:
        return np.concatenate((first, then))[source]

    def moved(after: Ints, places: Ints) -> Ints:
        return np.where(after >= 0, places[np.maximum(after, 0)], -1) if len(after) else after

    rules = [
        np.zeros(len(block), np.int64) if block.expected_rule is None else block.expected_rule
        for block in (one, other)
    ]
    return OpBlock(
        mix(one.opcode, other.opcode),
        {name: mix(one.columns[name], other.columns[name]) for name in one.columns},
        mix(one.dtype, other.dtype),
        mix(one.pad_dtype, other.pad_dtype),
        mix(one.gap, other.gap),
        mix(moved(one.after, to_one), moved(other.after, to_other)),
        {int(to_one[k]): ops for k, ops in one.legacy.items()}
        | {int(to_other[k]): ops for k, ops in other.legacy.items()},
        {int(to_one[k]): desc for k, desc in one.descriptors.items()}
        | {int(to_other[k]): desc for k, desc in other.descriptors.items()},
        mix(rules[0], rules[1]),
    )


__all__ = [
    "Lowered",
    "Op",
    "Program",
    "block_of",
    "interleave",
    "lower_program",
    "split_program",
]
