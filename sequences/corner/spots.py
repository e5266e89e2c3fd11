# SPDX-License-Identifier: Apache-2.0
"""Corners with a place in memory: side by side in a block, or at the ends of the memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sequences.blocks import block_of, lower_program
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.fill.op import FillOp
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import lower
from tb.isa.op import Op, replace
from tb.isa.spaces import SEGMENTS, SIZES, UB_BLOCK, Space
from tb.isa.text import AnyOp

GM_ORIGIN = 1 << 20
"""Start of packed corners in GM."""

BLOCK_OPS = 64
PARAM_UNIT = 64
"""Alignment of addresses in bt and fb."""


@dataclass(frozen=True)
class Spot:
    """An op at address 0 of both memories, and the alignment of its addresses.

    Attributes:
        op: The op.
        source, destination: (modulus, residue) of the addresses in bytes.
    """

    op: Op
    source: tuple[int, int] = (1, 0)
    destination: tuple[int, int] = (1, 0)


def of_row(make: type[Op], op: Op) -> Op:
    """Returns an op of another row of the same family, with the values and types of ``op``."""
    return make.of(dict(op.values), op.src_type, op.dst_type)


def at(op: Op, src: int, dst: int) -> Op:
    """Returns ``op`` at other addresses: the first two operands of every op but a fill.

    That keeps its offset, as far as the address is not below it.
    """
    if isinstance(op, FillOp):
        offset = min(op.byte_offset, dst)
        return replace(op, dst=dst - offset, byte_offset=offset)
    names = [operand.name for operand in op.spec.operands[:2]]
    return replace(op, **{names[0]: src, names[1]: dst})


def block(ops: Iterable[AnyOp]) -> OpBlock:
    """Returns a block of ops without waits."""
    return block_of([lower_program((op,), DmaRegisters())[0] for op in ops])


def up(value: int, unit: int = UB_BLOCK) -> int:
    """Returns the next multiple of ``unit`` bytes that is not below ``value``."""
    return -(-value // unit) * unit


class _Room:
    """The free ends of all memories while a block is packed."""

    def __init__(self) -> None:
        self.next = dict.fromkeys(SIZES, 0) | {Space.GM: GM_ORIGIN}

    def take(self, side: Footprint, wish: tuple[int, int]) -> int | None:
        """Returns the address of a region as long as ``side``, or None when there is no room."""
        modulus, residue = wish
        if side.space is not Space.GM:
            unit = PARAM_UNIT if side.space in (Space.BT, Space.FB) else UB_BLOCK
            modulus = max(modulus, unit)
        for segment in SEGMENTS[side.space]:
            base = max(self.next[side.space], segment.start)
            base += (residue - base) % modulus
            end = base + side.end - side.base
            if end <= segment.stop:
                self.next[side.space] = end
                return base
        return None


def packed(spots: Iterable[Spot]) -> Iterator[OpBlock]:
    """Places ops side by side in every memory, up to ``BLOCK_OPS`` in a block."""
    ops: list[Op] = []
    room = _Room()
    for spot in spots:
        desc = lower(spot.op)
        while True:
            src = room.take(source(desc), spot.source)
            dst = room.take(destination(desc), spot.destination)
            if src is not None and dst is not None:
                break
            assert ops, f"{spot.op} has no room in empty memories"
            yield block(ops)
            ops, room = [], _Room()
        ops.append(at(spot.op, src, dst))
        if len(ops) == BLOCK_OPS:
            yield block(ops)
            ops, room = [], _Room()
    if ops:
        yield block(ops)


def across(op: Op, address: int) -> Op:
    """Returns ``op`` with an address of GM in its middle, the other side where it is."""
    desc = lower(op)
    src, dst = (
        address - (side.end - side.base) // 2 if side.space is Space.GM else side.base
        for side in (source(desc), destination(desc))
    )
    return at(op, src, dst)
