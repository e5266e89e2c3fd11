# SPDX-License-Identifier: Apache-2.0
"""Slow, plain checks of blocks, written from the spec and the block's contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tb.isa.block import OpBlock
from tb.isa.ctrl import SetAtomic, SetCtrl, write_ctrl
from tb.isa.descriptor import field_values, unpack
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacyOp,
    lower_copy,
    lower_ubuf_copy,
    write_registers,
)
from tb.isa.dma.op import DmaOp, MteGmUb
from tb.isa.fix.op import FixOp
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op
from tb.isa.program import moving, moving_at
from tb.isa.rules import first_d_violation, lowering_violation, s_violations, t_violations
from tb.isa.spaces import SIZES, Space

LEGACY = (CopyGmToUbuf, CopyUbufToGm, CopyUbufToUbuf)


class BlockError(AssertionError):
    """A block breaks its contract."""


def descriptors(block: OpBlock) -> list[Op]:
    """Returns the ops of the packed descriptors."""
    return [unpack(words) for words in block.pack()]


def source_rows(desc: MteGmL1Frac) -> tuple[int, int]:
    """Returns the rows of one source matrix of a repack and the bytes of a row."""
    rows, elements = desc.n_value, desc.d_value
    if desc.mode_name == "dn2nz":
        rows, elements = elements, rows
    return rows, elements * desc.elem_bytes


def dma_descriptors(block: OpBlock) -> list[DmaOp]:
    """Returns the strided descriptors of ``block``, without those of other families."""
    return [desc for desc in descriptors(block) if isinstance(desc, DmaOp)]


def rule_of(desc: Op) -> int:
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
        op = moving(programs[number])
        if isinstance(op, CopyUbufToUbuf):
            if lowering_violation(op):
                raise BlockError(f"op {number}: {lowering_violation(op)}")
        elif not isinstance(op, LEGACY) and s_violations(op):
            raise BlockError(f"op {number}: {s_violations(op)[0]}")


def check_programs(block: OpBlock, registers: DmaRegisters) -> DmaRegisters:
    """Raises BlockError unless each program lowers to its columns; returns the registers after.

    A ``copy_ubuf_to_ubuf`` that is not the last of its program must be one that is not issued.
    """
    for number, (program, desc) in enumerate(zip(block.program(), descriptors(block), strict=True)):
        at = moving_at(program)
        sets, copy = program[:at], program[at]
        ctrl = 0
        for op in sets:
            if isinstance(op, SetCtrl | SetAtomic):
                ctrl = write_ctrl(op, ctrl)
            elif isinstance(op, CopyUbufToUbuf):
                if not lowering_violation(op):
                    raise BlockError(f"op {number}: {op} would be issued")
            else:
                registers = write_registers(op, registers)  # type: ignore[arg-type]
        if isinstance(copy, CopyUbufToUbuf):
            made: Op = lower_ubuf_copy(copy)
        elif isinstance(copy, CopyGmToUbuf | CopyUbufToGm):
            made = lower_copy(copy, registers, ctrl)
        else:
            made = lower(copy, ctrl)  # type: ignore[assignment, type-var]
        if (len(program) > at + 1) != (ctrl > 0) and program[at + 1 :] != (SetCtrl(0),):
            raise BlockError(f"op {number}: CTRL {ctrl:#x}, and after the op {program[at + 1 :]}")
        if field_values(made) != field_values(desc):
            raise BlockError(f"op {number}: program gives {made}, columns hold {desc}")
    return registers


class Bytes:
    """The writer and the readers of each byte of a block so far: a dict of bytes."""

    def __init__(self) -> None:
        self.writer: dict[tuple[Space, int], int] = {}
        self.read: set[tuple[Space, int]] = set()


def _bytes(footprint: Footprint) -> Iterable[tuple[Space, int]]:
    for start in footprint.row_starts().tolist():
        for address in range(start, start + footprint.length):
            yield footprint.space, address


def reads_of(desc: Op) -> tuple[Footprint, ...]:
    """Returns the footprints that a legal op reads, of a write-back also its parameters."""
    if isinstance(desc, FixOp):
        return (source(desc), *parameters(desc))
    return (source(desc),)


def check_waits(block: OpBlock) -> None:
    """Raises BlockError unless every op waits for an earlier one.

    The earlier op is on another slot; for write-backs also on their own slot, for parameters
    that are loaded and elements that are updated twice.
    """
    slots = block.slot
    if not (block.after >= 0).any():
        return
    for number, desc in enumerate(descriptors(block)):
        after = int(block.after[number])
        same = after >= 0 and slots[after] == slots[number]
        if after >= number or (same and not isinstance(desc, FixOp)):
            raise BlockError(f"op {number} waits for {after}")


def _ancestors(block: OpBlock) -> list[set[int]]:
    """Returns for each op the ops that have retired when it is offered, along ``after``."""
    found: list[set[int]] = []
    for after in block.after.tolist():
        found.append({after} | found[after] if after >= 0 else set())
    return found


def check_disjoint(block: OpBlock) -> None:
    """Raises BlockError unless ops share written bytes only along their ``after``.

    Byte by byte: none is written after a read, and one that is read or written after it was
    written was written by ops that ``after`` names, or theirs.
    """
    seen = Bytes()
    check_waits(block)
    waited = _ancestors(block)
    for number, desc in enumerate(descriptors(block)):
        if desc.is_nop or rule_of(desc):
            continue
        for side in reads_of(desc):
            for place in _bytes(side):
                writer = seen.writer.get(place)
                if writer is not None and writer not in waited[number]:
                    raise BlockError(f"op {number} reads {place}, written by {writer}")
                seen.read.add(place)
        for side in destinations(desc):
            for place in _bytes(side):
                writer = seen.writer.get(place)
                late = writer is not None and writer not in waited[number]
                if late or place in seen.read:
                    raise BlockError(f"op {number} writes {place}, which another op touches")
                seen.writer[place] = number


Rows = list[tuple[NDArray[np.int64], NDArray[np.int64]]]


def _rows(sides: Mapping[int, Iterable[Footprint]], space: Space) -> Rows:
    """Returns (start, owner) of every row in ``space``, and (end, owner), owners ascending."""
    starts = [np.zeros(0, np.int64)]
    ends, owners = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, footprints in sides.items():
        for side in footprints:
            if side.space is space:
                rows = side.row_starts()
                starts.append(rows)
                ends.append(rows + side.length)
                owners.append(np.full(len(rows), number))
    start, end, owner = (np.concatenate(x) for x in (starts, ends, owners))
    order = np.argsort(start, kind="stable")
    return [(start[order], owner[order]), (end[order], owner[order])]


def check_rows_disjoint(block: OpBlock) -> None:
    """Checks as :func:`check_disjoint`, by rows instead of bytes, for blocks of any size.

    Also, no op reads bytes that it writes (DMA-L14).
    """
    check_waits(block)
    waited = _ancestors(block)
    live = {
        number: desc
        for number, desc in enumerate(descriptors(block))
        if not desc.is_nop and not rule_of(desc)
    }
    reads = {number: reads_of(desc) for number, desc in live.items()}
    writes = {number: destinations(desc) for number, desc in live.items()}
    for space in SIZES:
        (low, writer), (high, _) = _rows(writes, space)
        for at in np.flatnonzero(high[:-1] > low[1:]).tolist():
            pair = sorted((int(writer[at]), int(writer[at + 1])))
            if pair[0] not in waited[pair[1]]:
                raise BlockError(f"ops {pair[0]} and {pair[1]} write {space.name} {low[at]:#x}")
        high = np.maximum.accumulate(high)
        (start, reader), (end, _) = _rows(reads, space)
        first = np.searchsorted(high, start, side="right")
        last = np.searchsorted(low, end, side="left")
        for at in np.flatnonzero(first < last).tolist():
            number = int(reader[at])
            wrong = set(writer[first[at] : last[at]].tolist()) - waited[number]
            if wrong:
                raise BlockError(f"op {number} reads {space.name} {start[at]:#x} of {wrong}")


def plain_op(**changes: object) -> MteGmUb:
    """Returns a small legal load, for tests that make their own blocks."""
    values: dict[str, object] = {
        "gm_src": 0, "ub_dst": 0, "len_burst": 40, "n_burst": 2, "src_stride": 64,
        "dst_stride": 64,
    }  # fmt: skip
    return MteGmUb(**(values | changes))


def legacy_ops(block: OpBlock) -> list[LegacyOp]:
    """Returns every op of the legacy programs of ``block`` in order."""
    return [
        op
        for number in sorted(block.legacy_forms)
        for op in block.legacy[number]
        if isinstance(op, LegacyOp)
    ]
