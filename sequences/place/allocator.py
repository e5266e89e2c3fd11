# SPDX-License-Identifier: Apache-2.0
"""Allocator of copies: cuts a draw into blocks and lays out every memory of each block.

A memory is one *cell*; GM has a cell per window. Every destination gets a separate piece of its
cell. A source is in the piece that the parent wrote, or in the part of the cell that no op of the
block writes, which is kept large enough for every reader. An op that reads more than that part gets
a separate piece to read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.moves import (
    BT,
    DESTINATION,
    FB,
    GM,
    KEYWORDS,
    L0A,
    L0A_MX,
    L0B,
    L0B_MX,
    L1,
    MAX_DEPTH,
    SOURCE,
    UB,
    Moves,
)
from sequences.draw.shapes import Bools, Ints, align, pick
from sequences.place.far_rows import far_bases
from tb.isa.l0.table import FRACTAL_BYTES, SCALE_BYTES
from tb.isa.spaces import FB_SEGMENT_SHIFT, L0_SEGMENTS, SEGMENTS, UB_BLOCK, Space

PAGE = 4096
"""AXI bursts and pages of the simulated GM end here."""

FIRST_WINDOW = 9
"""Cells 0..8 are UB 0, UB 1, L1, BT, segment 0 of FB, L0A, L0B and their scales; then come the GM
windows, and segment 1 of FB where ops write it."""

PARAM_UNIT = 64
"""Alignment of destinations in BT and FB (BT-L03, FB-L03)."""

_CELL = np.zeros(len(KEYWORDS), dtype=np.int64)
_CELL[[UB, L1, BT, FB, L0A, L0B, L0A_MX, L0B_MX, GM]] = 0, 2, 3, 4, 5, 6, 7, 8, FIRST_WINDOW

_L0 = tuple(
    (len(SEGMENTS[Space.L0][number]), unit)
    for number, unit in zip(
        L0_SEGMENTS.values(), (FRACTAL_BYTES, FRACTAL_BYTES, SCALE_BYTES, SCALE_BYTES), strict=True
    )
)
"""Bytes of the memories of L0, and the alignment of what ops write there."""


@dataclass(frozen=True)
class Cells:
    """The memories of a block.

    Attributes:
        origin, size: ``int64[C]``, bytes.
        reserve: ``int64[C]``, bytes that stay unwritten for readers.
        unit: ``int64[C]``, alignment of what ops write.
    """

    origin: Ints
    size: Ints
    reserve: Ints
    unit: Ints

    @classmethod
    def of(cls, limits: OpConstraints, *, segments: bool = False) -> Cells:
        """Returns the cells that ``limits`` leave; with ``segments`` the last is that of FB."""
        local = [limits.ub_range, limits.ub_range, limits.l1_range]
        small = [limits.bt_range, limits.fb_range]
        sizes, units = zip(*_L0, strict=True)
        origin = [*[item.start for item in (*local, *small)], *[0] * len(_L0)]
        size = [*[item.size for item in (*local, *small)], *sizes]
        reserve = [item.size * 3 // 8 // UB_BLOCK * UB_BLOCK for item in local] + [0] * 6
        unit = [UB_BLOCK] * 3 + [PARAM_UNIT] * 2 + [*units]
        for window in limits.windows:
            origin.append(window.start)
            size.append(window.size)
            reserve.append(limits.max_gm_bytes)
            unit.append(1)
        if segments:
            origin.append((1 << FB_SEGMENT_SHIFT) + limits.fb_range.start)
            size.append(limits.fb_range.size)
            reserve.append(0)
            unit.append(PARAM_UNIT)
        columns = [np.array(x, dtype=np.int64) for x in (origin, size, reserve, unit)]
        return cls(*columns)

    def budgets(self, limits: OpConstraints) -> tuple[Ints, Ints, Ints]:
        """Returns bytes by memory, ``int64[M]`` each, of what one op may read and write.

        The last array is the limit of an op that reads one memory, writes another, and leaves no
        room for other ops of the block.
        """
        cell = _CELL
        caps = self.size[cell]
        caps[[UB, L1, GM]] = limits.max_ub_bytes, limits.max_l1_bytes, limits.max_gm_bytes
        write = np.minimum(self.size[cell] - self.reserve[cell], caps)
        return np.minimum(self.reserve[cell], caps), write, np.minimum(self.size[cell], caps)


@dataclass(frozen=True)
class Places:
    """Result of :func:`arrange`.

    Attributes:
        starts: Index of the first op of each block, and the op count at the end.
        parent: ``int64[N]``, parent in the same block or -1.
        ub_sub: ``int64[N]``.
        read, write: ``int64[N]``, bases of both sides.
        lost: ``bool[N]``, far ops without a place.
    """

    starts: list[int]
    parent: Ints
    ub_sub: Ints
    read: Ints
    write: Ints
    lost: Bools


@dataclass(frozen=True)
class Targets:
    """Wanted alignment of GM bases: first address at ``residue`` modulo ``modulus``."""

    modulus: Ints
    residue: Ints


def cut(
    rng: np.random.Generator, demand: list[tuple[Ints, int]], count: int, most: int
) -> list[int]:
    """Returns block starts so that each demand (``int64[N]``, capacity) fits in every block."""
    stop = np.full(count, count, dtype=np.int64)
    for amount, capacity in demand:
        total = np.cumsum(amount)
        before = total - amount
        np.minimum(stop, np.searchsorted(total, before + capacity, side="right"), out=stop)
    # Blocks of every size occur; most are full.
    sizes = np.where(rng.random(count) < 0.15, rng.integers(1, most + 1, count), most)
    stops = np.minimum(stop, np.arange(count) + sizes).tolist()
    starts = [0]
    while starts[-1] < count:
        starts.append(max(stops[starts[-1]], starts[-1] + 1))
    return starts


def lay_out(
    rng: np.random.Generator, group: Ints, groups: int, size: Ints, capacity: Ints
) -> tuple[Ints, Ints, Ints]:
    """Lays items side by side in random order, with all free room of a group in one piece.

    Args:
        rng: Source of randomness.
        group: ``int64[M]``, group of each item, ``0..groups - 1``.
        groups: Number of groups.
        size: ``int64[M]``, bytes of each item.
        capacity: ``int64[groups]``, bytes of each group.

    Returns:
        Start of each item (``int64[M]``), start and size of each free piece (``int64[groups]``),
        all relative to the group.
    """
    free = capacity - np.bincount(group, size, groups).astype(np.int64)
    owner = np.concatenate((group, np.arange(groups)))
    sizes = np.concatenate((size, free))
    order = np.argsort(owner + rng.random(len(owner)), kind="stable")
    ends = np.cumsum(sizes[order])
    starts = np.empty_like(ends)
    starts[order] = ends - sizes[order]
    starts -= (np.cumsum(capacity) - capacity)[owner]
    return starts[: len(size)], starts[len(size) :], free


def first_at(low: Ints, modulus: Ints, residue: Ints) -> Ints:
    """Returns the first addresses from ``low`` on with a residue."""
    return low + (residue - low) % modulus


def last_at(high: Ints, modulus: Ints, residue: Ints) -> Ints:
    """Returns the last addresses up to ``high`` with a residue."""
    return high - (high - residue) % modulus


def draw_targets(
    rng: np.random.Generator, row: Ints, residue: Ints, limits: OpConstraints
) -> Targets:
    """Draws GM alignments: a residue modulo the bus width, a 4 KiB edge, or none.

    Args:
        rng: Source of randomness.
        row: ``int64[N]``, bytes of a row.
        residue: ``int64[N]``, wanted residue modulo the bus width, -1 for any.
        limits: Constraints.
    """
    count = len(row)
    free = residue < 0
    cross = rng.random(count) < np.where(free, 1.0, 0.5) * limits.cross_4k
    edge = free & ~cross & (rng.random(count) < 0.5)
    inside = 1 + (rng.random(count) * (np.minimum(row, PAGE) - 1)).astype(np.int64)
    kind = pick(rng, count, np.array([0.7, 0.18, 0.12]))
    before: Ints = np.choose(kind, (inside, np.minimum(row, PAGE), np.zeros_like(row)))
    bus = limits.bus_bytes
    word = np.array([0, 1, bus - 1])[rng.integers(0, 3, count)]
    modulus = np.where(cross, PAGE, np.where(edge | ~free, bus, 1))
    wanted = np.where(edge, word, np.maximum(residue, 0))
    near = -before % PAGE
    near = np.where(free, near, near // bus * bus + wanted)
    return Targets(modulus, np.where(cross, near, wanted))


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
    params = np.flatnonzero(DESTINATION[moves.opcode] == FB)
    cells = Cells.of(limits, segments=len(params) > 0)
    sub = _sub_blocks(rng, moves)
    window = FIRST_WINDOW + rng.integers(0, len(limits.windows), count)
    dst_space, src_space = DESTINATION[moves.opcode], SOURCE[moves.opcode]
    dst = _CELL[dst_space] + np.where(dst_space == UB, sub, 0)
    dst = np.where(dst_space == GM, window, dst)
    if len(params):
        dst[params] = np.where(rng.random(len(params)) < 0.5, len(cells.size) - 1, dst[params])
    src = _CELL[src_space] + np.where(src_space == UB, sub, 0)
    src = np.where(src_space == GM, window, src)
    live = moves.write.hull > 0
    unit = cells.unit[dst]
    to_gm, from_gm = dst_space == GM, src_space == GM
    row = np.where(to_gm, moves.write.foot, moves.read.foot)
    targets = draw_targets(rng, np.maximum(row, 1), residue, limits)
    need = align(moves.write.hull + np.abs(moves.skew), unit)
    size = need + _margins(rng, unit) + np.where(to_gm, targets.modulus - 1, 0)
    room = cells.size - cells.reserve
    size = np.where(live, np.maximum(np.minimum(size, room[dst]), need), 0)
    far = moves.far & live
    size[far & to_gm] = 0
    large = ~from_gm & (moves.read.hull > cells.reserve[src])
    own = np.flatnonzero(live & large & (moves.parent < 0) & (moves.skew == 0))
    own_size = align(moves.read.hull[own])

    demand = []
    for cell in range(len(room)):
        amount = np.where(dst == cell, size, 0)
        amount[own] += np.where(src[own] == cell, own_size, 0)
        demand.append((amount, int(room[cell])))
    starts = cut(rng, demand, count, limits.block_ops)
    blocks, groups = len(starts) - 1, (len(starts) - 1) * len(room)
    block = np.repeat(np.arange(blocks), np.diff(starts))
    parent = np.where(moves.parent >= np.array(starts)[block], moves.parent, -1)

    group = block * len(room)
    base, free, free_size = lay_out(
        rng, np.concatenate((group + dst, (group + src)[own])), groups,
        np.concatenate((size, own_size)), np.tile(cells.size, blocks),
    )  # fmt: skip
    own_base = base[count:] + cells.origin[src[own]]
    base = base[:count] + cells.origin[dst]
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
    read[own] = own_base
    lost = _place_far(rng, moves, np.flatnonzero(far), read, write, block, limits, (
        np.flatnonzero(to_gm & live & ~far), free.reshape(blocks, -1) + cells.origin,
        free_size.reshape(blocks, -1),
    ))  # fmt: skip
    offset = _offsets(rng, moves, step)
    read = np.where(parent >= 0, write[np.maximum(parent, 0)] + offset, read)
    read = np.where(moves.skew != 0, write + moves.skew, read)
    return Places(starts, parent, sub, read, write, lost)


def _place_far(
    rng: np.random.Generator, moves: Moves, index: Ints, read: Ints, write: Ints, block: Ints,
    limits: OpConstraints, dense: tuple[Ints, Ints, Ints],
) -> Bools:  # fmt: skip
    """Gives the ops ``index`` far bases in ``read`` or ``write``; returns those without one.

    Args:
        rng: Source of randomness.
        moves: The draw.
        index: ``int64[M]``, far ops.
        read: ``int64[N]``, bases of the sources; changed in place.
        write: The same of the destinations.
        block: ``int64[N]``, block of each op.
        limits: Constraints.
        dense: Stores that are not far, and starts and sizes of the pieces that others may read,
            ``int64[blocks, cells]``.
    """
    lost = np.zeros(len(moves), dtype=bool)
    if not len(index):
        return lost
    stores, free, size = dense
    in_gm = slice(FIRST_WINDOW, FIRST_WINDOW + len(limits.windows))
    windows = free[:, in_gm]
    taken = (
        np.concatenate((write[stores], windows.ravel())),
        np.concatenate((
            write[stores] + moves.write.hull[stores], (windows + size[:, in_gm]).ravel()
        )),
        np.concatenate((block[stores], np.repeat(np.arange(len(free)), windows.shape[1]))),
        np.arange(len(stores) + windows.size) < len(stores),
    )  # fmt: skip
    store = DESTINATION[moves.opcode[index]] == GM
    counts, strides = (
        np.where(store[:, None], to[index], of[index])
        for to, of in (
            (moves.write.counts, moves.read.counts), (moves.write.strides, moves.read.strides),
        )
    )  # fmt: skip
    foot, hull = (
        np.where(store, to[index], of[index])
        for to, of in ((moves.write.foot, moves.read.foot), (moves.write.hull, moves.read.hull))
    )
    base, lost[index] = far_bases(
        rng, counts, strides, foot, hull, store, block[index], taken, limits
    )
    write[index[store]], read[index[~store]] = base[store], base[~store]
    return lost


def _offsets(rng: np.random.Generator, moves: Moves, step: Ints) -> Ints:
    """Draws the offset of an op's source from its parent's base."""
    count = len(moves)
    slack = moves.extent[np.maximum(moves.parent, 0)] - moves.read.hull
    kind = pick(rng, count, np.array([0.7, 0.2, 0.1]))
    drawn = np.choose(kind, (np.zeros(count), rng.random(count), np.ones(count)))
    offset: Ints = (drawn * np.maximum(slack, 0)).astype(np.int64) // step * step
    return offset
