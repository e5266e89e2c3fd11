# SPDX-License-Identifier: Apache-2.0
"""Where ops of any family go: cuts a draw into blocks and lays out every memory of each block.

A memory is one *cell*; GM has a cell per window. What an op writes gets a piece of its own in
its cell. What it reads lies in the piece that its parent wrote, or in the part of the cell that
nobody of the block writes, which is kept large enough for every reader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.moves import BT, DESTINATION, FB, GM, L1, MAX_DEPTH, SOURCE, UB, Moves
from sequences.draw.plan import Ints
from sequences.draw.shapes import align, pick
from sequences.place.allocator import cut, draw_targets, first_at, last_at, lay_out
from sequences.place.far_rows import far_bases
from tb.isa.spaces import UB_BLOCK

FIRST_WINDOW = 5
"""Cells 0..4 are UB 0, UB 1, L1, BT and FB; then come the GM windows."""

PARAM_UNIT = 64
"""Alignment of destinations in BT and FB (BT-L03, FB-L03)."""

_CELL = np.zeros(5, dtype=np.int64)
_CELL[[UB, L1, BT, FB, GM]] = 0, 2, 3, 4, FIRST_WINDOW


@dataclass(frozen=True)
class Cells:
    """The memories of a block.

    Attributes:
        origin, size: ``int64[C]``, bytes.
        reserve: ``int64[C]``, bytes that stay unwritten for readers; each op reads less.
        unit: ``int64[C]``, alignment of what ops write.
    """

    origin: Ints
    size: Ints
    reserve: Ints
    unit: Ints

    @classmethod
    def of(cls, limits: OpConstraints) -> Cells:
        """Returns the cells that ``limits`` leave."""
        local = [limits.ub_range, limits.ub_range, limits.l1_range]
        small = [limits.bt_range, limits.fb_range]
        origin = [item.start for item in (*local, *small)]
        size = [item.size for item in (*local, *small)]
        reserve = [item.size * 3 // 8 // UB_BLOCK * UB_BLOCK for item in local] + [0, 0]
        unit = [UB_BLOCK] * 3 + [PARAM_UNIT] * 2
        for window in limits.windows:
            origin.append(window.start)
            size.append(window.size)
            reserve.append(limits.max_gm_bytes)
            unit.append(1)
        columns = [np.array(x, dtype=np.int64) for x in (origin, size, reserve, unit)]
        return cls(*columns)

    def budgets(self, limits: OpConstraints) -> tuple[Ints, Ints]:
        """Returns what one op may read and write, bytes by memory, ``int64[5]`` each."""
        cell = _CELL
        caps = np.zeros(5, dtype=np.int64)
        caps[[UB, L1, BT, FB, GM]] = (
            limits.max_ub_bytes, limits.max_l1_bytes, self.size[3], self.size[4],
            limits.max_gm_bytes,
        )  # fmt: skip
        write = np.minimum(self.size[cell] - self.reserve[cell], caps)
        return np.minimum(self.reserve[cell], caps), write


@dataclass(frozen=True)
class Places:
    """Result of :func:`arrange`.

    Attributes:
        starts: Index of the first op of each block, and the op count at the end.
        parent: ``int64[N]``, parent in the same block or -1.
        ub_sub: ``int64[N]``.
        read, write: ``int64[N]``, bases of both sides.
        lost: ``bool[N]``, far ops that found no place.
    """

    starts: list[int]
    parent: Ints
    ub_sub: Ints
    read: Ints
    write: Ints
    lost: np.ndarray


def _sub_blocks(rng: np.random.Generator, moves: Moves) -> Ints:
    count = len(moves)
    sub = rng.integers(0, 2, count)
    reads_ub = SOURCE[moves.opcode] == UB
    for depth in range(1, MAX_DEPTH + 1):
        index = np.flatnonzero((moves.depth == depth) & (moves.parent >= 0) & reads_ub)
        sub[index] = sub[moves.parent[index]]
    uses = reads_ub | (DESTINATION[moves.opcode] == UB)
    return np.where(uses, sub, 0)


def _margins(rng: np.random.Generator, unit: Ints) -> Ints:
    count = len(unit)
    kind = pick(rng, count, np.array([0.5, 0.3, 0.2]))
    steps = np.choose(kind, (np.zeros_like(unit), np.ones_like(unit), rng.integers(2, 17, count)))
    gm = rng.integers(0, 2048, count)
    return np.where(unit == 1, np.where(kind == 0, 0, gm), np.where(unit == 64, 0, steps * unit))


def arrange(rng: np.random.Generator, moves: Moves, limits: OpConstraints, residue: Ints) -> Places:
    """Cuts the ops into blocks and gives both sides of each their bases.

    Args:
        rng: Source of randomness.
        moves: The draw, with all shapes.
        limits: Constraints.
        residue: ``int64[N]``, wanted GM address modulo the bus width, -1 for any.
    """
    count = len(moves)
    cells = Cells.of(limits)
    sub = _sub_blocks(rng, moves)
    window = FIRST_WINDOW + rng.integers(0, len(limits.windows), count)
    dst_space, src_space = DESTINATION[moves.opcode], SOURCE[moves.opcode]
    dst = _CELL[dst_space] + np.where(dst_space == UB, sub, 0)
    dst = np.where(dst_space == GM, window, dst)
    src = _CELL[src_space] + np.where(src_space == UB, sub, 0)
    src = np.where(src_space == GM, window, src)
    live = moves.write.hull > 0
    unit = cells.unit[dst]
    to_gm, from_gm = dst_space == GM, src_space == GM
    row = np.where(to_gm, moves.write.foot, moves.read.foot)
    targets = draw_targets(rng, np.maximum(row, 1), residue, limits)
    need = align(moves.write.hull + np.abs(moves.skew), unit)
    size = need + _margins(rng, unit) + np.where(to_gm, targets.modulus - 1, 0)
    size = np.where(live, np.minimum(size, (cells.size - cells.reserve)[dst]), 0)

    room = cells.size - cells.reserve
    demand = [(np.where(dst == cell, size, 0), int(room[cell])) for cell in range(len(room))]
    starts = cut(rng, demand, count, limits.block_ops)
    blocks, groups = len(starts) - 1, (len(starts) - 1) * len(room)
    block = np.repeat(np.arange(blocks), np.diff(starts))
    parent = np.where(moves.parent >= np.array(starts)[block], moves.parent, -1)

    base, free, free_size = lay_out(
        rng, block * len(room) + dst, groups, size, np.tile(cells.size, blocks)
    )
    base += cells.origin[dst]
    slack = size - need
    low, high = base, base + slack
    upward = rng.random(count) < 0.5
    near = np.where(
        upward,
        first_at(low, targets.modulus, targets.residue),
        last_at(high, targets.modulus, targets.residue),
    )
    inside = (near >= low) & (near <= high)
    write = np.where(to_gm & inside, near, np.where(upward, low, low + slack // unit * unit))
    write += np.where(moves.skew < 0, -moves.skew, 0)

    group = block * len(room) + src
    low = free[group] + cells.origin[src]
    high = low + free_size[group] - moves.read.hull
    where = np.clip(rng.random(count) * 1.06 - 0.03, 0.0, 1.0)
    step = np.where(from_gm, 1, UB_BLOCK)
    read = low + (where * (high - low)).astype(np.int64) // step * step
    near = last_at(read, targets.modulus, targets.residue)
    read = np.where(from_gm & (near >= low) & (where > 0) & (where < 1), near, read)
    lost = np.zeros(count, dtype=bool)
    index = np.flatnonzero(moves.far & live)
    stores = np.flatnonzero(to_gm & live)
    taken = (
        write[stores], write[stores] + moves.write.hull[stores], block[stores],
        np.ones(len(stores), dtype=bool),
    )  # fmt: skip
    read[index], lost[index] = far_bases(
        rng, moves.read.counts[index], moves.read.strides[index], moves.read.foot[index],
        moves.read.hull[index], np.zeros(len(index), dtype=bool), block[index], taken, limits,
    )  # fmt: skip
    offset = _offsets(rng, moves, step)
    read = np.where(parent >= 0, write[np.maximum(parent, 0)] + offset, read)
    read = np.where(moves.skew != 0, write + moves.skew, read)
    return Places(starts, parent, sub, read, write, lost)


def _offsets(rng: np.random.Generator, moves: Moves, step: Ints) -> Ints:
    """Draws how far behind its parent's base an op reads."""
    count = len(moves)
    slack = moves.extent[np.maximum(moves.parent, 0)] - moves.read.hull
    kind = pick(rng, count, np.array([0.7, 0.2, 0.1]))
    drawn = np.choose(kind, (np.zeros(count), rng.random(count), np.ones(count)))
    offset: Ints = (drawn * np.maximum(slack, 0)).astype(np.int64) // step * step
    return offset
