# SPDX-License-Identifier: Apache-2.0
"""Slow, plain checks of blocks, written from the spec and the block's contract."""

from __future__ import annotations

from collections.abc import Iterable

from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma import DmaDescriptor, MteGmUb, MteUbGm, lower
from tb.isa.footprint import Footprint, destination, source
from tb.isa.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacyOp,
    lower_copy,
    write_registers,
)
from tb.isa.rules import first_d_violation, s_violations, t_violations
from tb.isa.spaces import Space


class BlockError(AssertionError):
    """A block breaks its contract."""


def descriptors(block: OpBlock) -> list[DmaDescriptor]:
    """Returns what the packed descriptors hold."""
    return [unpack(words) for words in block.pack()]


def rule_of(desc: DmaDescriptor) -> int:
    """Returns the lowest D rule broken, 0 when none is."""
    found = first_d_violation(desc)
    return found.rule.number if found else 0


def check_legal(block: OpBlock) -> None:
    """Raises BlockError unless every op keeps every S, D and T rule."""
    programs = block.program()
    for number, desc in enumerate(descriptors(block)):
        if rule_of(desc):
            raise BlockError(f"op {number}: {first_d_violation(desc)}")
        if t_violations(desc):
            raise BlockError(f"op {number}: {t_violations(desc)[0]}")
        op = programs[number][-1]
        if isinstance(op, MteGmUb | MteUbGm) and s_violations(op):
            raise BlockError(f"op {number}: {s_violations(op)[0]}")


def check_programs(block: OpBlock, registers: DmaRegisters) -> DmaRegisters:
    """Raises BlockError unless each program lowers to its columns; returns the registers after."""
    for number, (program, desc) in enumerate(zip(block.program(), descriptors(block), strict=True)):
        *sets, copy = program
        if isinstance(copy, MteGmUb | MteUbGm):
            made = lower(copy)
        else:
            for op in sets:
                assert not isinstance(op, MteGmUb | MteUbGm | CopyGmToUbuf | CopyUbufToGm)
                registers = write_registers(op, registers)
            assert isinstance(copy, CopyGmToUbuf | CopyUbufToGm)
            made = lower_copy(copy, registers)
        if made != desc:
            raise BlockError(f"op {number}: program gives {made}, columns hold {desc}")
    return registers


class Bytes:
    """Which op wrote and which ops read each byte of a block so far: a dict of bytes."""

    def __init__(self) -> None:
        self.writer: dict[tuple[Space, int], int] = {}
        self.read: set[tuple[Space, int]] = set()


def _bytes(footprint: Footprint) -> Iterable[tuple[Space, int]]:
    for start in footprint.row_starts().tolist():
        for address in range(start, start + footprint.length):
            yield footprint.space, address


def check_disjoint(block: OpBlock) -> None:
    """Raises BlockError unless ops share written bytes only along their ``after``.

    Byte by byte: no byte is written twice, none is written after it was read, and one that is
    read after it was written was written by the op that ``after`` names.
    """
    seen = Bytes()
    slots = block.slot
    for number, desc in enumerate(descriptors(block)):
        after = int(block.after[number])
        if after >= 0 and (after >= number or slots[after] == slots[number]):
            raise BlockError(f"op {number} waits for {after}")
        if desc.is_nop or rule_of(desc):
            continue
        for place in _bytes(source(desc)):
            writer = seen.writer.get(place)
            if writer is not None and writer != after:
                raise BlockError(f"op {number} reads {place}, written by {writer}, not {after}")
            seen.read.add(place)
        for place in _bytes(destination(desc)):
            if place in seen.writer or place in seen.read:
                raise BlockError(f"op {number} writes {place}, which another op touches")
            seen.writer[place] = number


def plain_op(**changes: object) -> MteGmUb:
    """Returns a small legal load, for tests that make their own blocks."""
    values: dict[str, object] = {
        "gm_src": 0, "ub_dst": 0, "len_burst": 40, "n_burst": 2, "src_stride": 64,
        "dst_stride": 64,
    }  # fmt: skip
    return MteGmUb(**(values | changes))  # type: ignore[arg-type]


def legacy_ops(block: OpBlock) -> list[LegacyOp]:
    """Returns every op of the legacy programs of ``block`` in order."""
    return [op for number in sorted(block.legacy) for op in block.legacy[number]]
