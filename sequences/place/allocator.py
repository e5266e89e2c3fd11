# SPDX-License-Identifier: Apache-2.0
"""Where ops go: cuts a draw into blocks and lays their regions side by side in both memories.

What an op writes gets a region of its own. Stores also get one for what they read from UB;
loads read anywhere in the part of a GM window that the block's stores leave free. An op with a
parent in its block reads the parent's region instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import OpConstraints
from sequences.draw.plan import Bools, Ints, Plan
from sequences.draw.shapes import align, pick
from tb.isa.spaces import UB_BLOCK

PAGE = 4096
"""AXI bursts and pages of the simulated GM end here."""


@dataclass(frozen=True)
class Extents:
    """Sizes the placement needs, ``int64[N]`` each unless noted.

    Attributes:
        local: UB bytes from first to last.
        gm: GM bytes from first to last.
        row: Bytes of a GM row.
        nop: ``bool[N]``, takes no room at all.
        far: ``bool[N]``, placed by :mod:`sequences.place.far_rows` instead.
    """

    local: Ints
    gm: Ints
    row: Ints
    nop: Bools
    far: Bools


@dataclass(frozen=True)
class Targets:
    """Where a GM base should fall: the first address at ``residue`` modulo ``modulus``."""

    modulus: Ints
    residue: Ints


@dataclass(frozen=True)
class Placement:
    """Result of :func:`place`.

    Attributes:
        starts: Index of the first op of each block, and the op count at the end.
        block: ``int64[N]``, block of each op.
        parent: ``int64[N]``, parent in the same block or -1.
        ub_sub: ``int64[N]``.
        local: ``int64[N]``, UB base.
        gm: ``int64[N]``, GM base; meaningless for far ops.
        taken: ``(start, end, block, is_write)`` arrays of the GM ranges in use, mutually
            disjoint within a block.
    """

    starts: list[int]
    block: Ints
    parent: Ints
    ub_sub: Ints
    local: Ints
    gm: Ints
    taken: tuple[Ints, Ints, Ints, Bools]


def cut(
    rng: np.random.Generator, demand: list[tuple[Ints, int]], count: int, most: int
) -> list[int]:
    """Returns block starts so that each demand (``int64[N]``, capacity) fits in every block."""
    stop = np.full(count, count, dtype=np.int64)
    for amount, capacity in demand:
        total = np.cumsum(amount)
        before = total - amount
        np.minimum(stop, np.searchsorted(total, before + capacity, side="right"), out=stop)
    # Blocks of every size occur, most of them full.
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


def place(
    rng: np.random.Generator,
    plan: Plan,
    extents: Extents,
    targets: Targets,
    limits: OpConstraints,
) -> Placement:
    """Cuts the ops into blocks and gives each its bases."""
    count = len(plan.store)
    live = ~extents.nop
    store = plan.store
    sub = rng.integers(0, 2, count)
    for depth in (1, 2):
        # A store reads the sub-block its parent filled; a load from GM is free to choose.
        index = np.flatnonzero((plan.depth == depth) & store)
        sub[index] = sub[plan.parent[index]]
    kind = pick(rng, count, np.array([0.45, 0.3, 0.25]))
    none = np.zeros(count, dtype=np.int64)
    blocks_free = (none, none + 1, rng.integers(2, 17, count))
    margin = UB_BLOCK * np.choose(kind, blocks_free)
    room = limits.ub_range.size
    local_size = np.where(live, np.minimum(align(extents.local) + margin, room), 0)
    window = rng.integers(0, len(limits.windows), count)
    dense = live & ~extents.far
    gm_margin = np.choose(kind, (none, rng.integers(1, 65, count), rng.integers(65, 4096, count)))
    gm_size = np.where(dense & store, extents.gm + targets.modulus - 1 + gm_margin, 0)

    demand = [(np.where(sub == side, local_size, 0), room) for side in (0, 1)]
    for number, item in enumerate(limits.windows):
        most = item.size - limits.max_gm_bytes
        demand.append((np.where(window == number, gm_size, 0), most))
    starts = cut(rng, demand, count, limits.block_ops)
    blocks = len(starts) - 1
    block = np.repeat(np.arange(blocks), np.diff(starts))
    parent = np.where(plan.parent >= np.array(starts)[block], plan.parent, -1)

    shares_local = store & (parent >= 0)
    local_size[shares_local] = 0
    capacity = np.full(2 * blocks, room, dtype=np.int64)
    local, _, _ = lay_out(rng, 2 * block + sub, 2 * blocks, local_size, capacity)
    slack = local_size - align(extents.local)
    local += limits.ub_range.start
    local += np.where((rng.random(count) < 0.5) & (slack > 0), slack, 0)

    gm, taken = _place_gm(
        rng, block, blocks, window, dense & store, dense & ~store, gm_size, extents, targets, limits
    )
    return Placement(starts, block, parent, sub, local, gm, taken)


def _place_gm(
    rng: np.random.Generator,
    block: Ints,
    blocks: int,
    window: Ints,
    writes: Bools,
    reads: Bools,
    size: Ints,
    extents: Extents,
    targets: Targets,
    limits: OpConstraints,
) -> tuple[Ints, tuple[Ints, Ints, Ints, Bools]]:
    windows = len(limits.windows)
    origin = np.array([item.start for item in limits.windows])
    capacity = np.tile([item.size for item in limits.windows], blocks)
    group = block * windows + window
    start, free_start, free_size = lay_out(
        rng, group[writes], blocks * windows, size[writes], capacity
    )
    gm = np.zeros(len(block), dtype=np.int64)
    low = start + origin[window[writes]]
    high = low + size[writes] - extents.gm[writes]
    modulus, residue = targets.modulus[writes], targets.residue[writes]
    upward = rng.random(len(low)) < 0.5
    gm[writes] = np.where(upward, first_at(low, modulus, residue), last_at(high, modulus, residue))
    _read_bases(
        rng, gm, reads, group, free_start + np.tile(origin, blocks), free_size, extents, targets
    )
    free_low = free_start + np.tile(origin, blocks)
    taken_start = np.concatenate((gm[writes], free_low))
    taken_end = np.concatenate((gm[writes] + extents.gm[writes], free_low + free_size))
    owner = np.concatenate((block[writes], np.repeat(np.arange(blocks), windows)))
    is_write = np.concatenate((np.ones(len(low), bool), np.zeros(len(free_low), bool)))
    return gm, (taken_start, taken_end, owner, is_write)


def _read_bases(
    rng: np.random.Generator,
    gm: Ints,
    reads: Bools,
    group: Ints,
    free_low: Ints,
    free_size: Ints,
    extents: Extents,
    targets: Targets,
) -> None:
    low = free_low[group[reads]]
    high = low + free_size[group[reads]] - extents.gm[reads]
    where: NDArray[np.float64] = rng.random(len(low))
    # Now and then exactly at either end: window ends are where addresses wrap.
    where = np.clip(where * 1.06 - 0.03, 0.0, 1.0)
    drawn = low + (where * (high - low)).astype(np.int64)
    modulus, residue = targets.modulus[reads], targets.residue[reads]
    inner = (drawn > low) & (drawn < high)
    base = np.where(inner, last_at(drawn, modulus, residue), drawn)
    base = np.where(base < low, first_at(low, modulus, residue), base)
    gm[reads] = np.where(base > high, drawn, base)
