# SPDX-License-Identifier: Apache-2.0
"""Bases of ops with rows anywhere in GM, drawn again until they overlap nothing."""

from __future__ import annotations

import numpy as np

from sequences.constraints import GM_SIZE, MAX_FAR_ROWS, OpConstraints
from sequences.draw.shapes import LEVELS, Bools, Ints, pick

_BLOCK_SPAN = GM_SIZE * 2
_TRIES = 8


def _row_starts(counts: Ints, strides: Ints) -> tuple[Ints, Ints]:
    """Returns (offset, op) of every row: ``int64[R]`` each, op by op."""
    rows = counts.prod(axis=1)
    op = np.repeat(np.arange(len(counts)), rows)
    number = np.arange(len(op)) - np.repeat(np.cumsum(rows) - rows, rows)
    offset = np.zeros(len(op), dtype=np.int64)
    for level in range(LEVELS):
        offset += number % counts[op, level] * strides[op, level]
        number //= counts[op, level]
    return offset, op


def _meets_dense(
    start: Ints, end: Ints, write: Bools, taken: tuple[Ints, Ints, Ints, Bools]
) -> Bools:
    low, high, owner, is_write = taken
    low, high = low + owner * _BLOCK_SPAN, high + owner * _BLOCK_SPAN
    order = np.argsort(low, kind="stable")
    first = np.searchsorted(high[order], start, side="right")
    last = np.searchsorted(low[order], end, side="left")
    writes = np.concatenate(([0], np.cumsum(is_write[order])))
    met = np.maximum(last, first)
    hit: Bools = np.where(write, met > first, writes[met] > writes[first])
    return hit


def _meets_far(start: Ints, end: Ints, write: Bools) -> Bools:
    # Rows of one far op are disjoint, so a row that reaches past a start is another op's.
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    write_reach = np.maximum.accumulate(np.where(write[order], end[order], 0))
    mine, begin = write[order][1:], start[order][1:]
    hit = np.where(mine, reach[:-1], write_reach[:-1]) > begin
    met = np.zeros(len(start), dtype=bool)
    met[order[1:][hit]] = True
    return met


def _draw(rng: np.random.Generator, hull: Ints, length: Ints, limits: OpConstraints) -> Ints:
    room = GM_SIZE - hull
    window = rng.integers(0, len(limits.windows), len(hull))
    low = np.array([item.start for item in limits.windows])[window]
    size = np.array([item.size for item in limits.windows])[window]
    near = low + (rng.random(len(hull)) * size).astype(np.int64)
    anywhere = (rng.random(len(hull)) * (room + 1)).astype(np.int64)
    # Across 2^32 and higher powers with the first row, where carries may be lost.
    power = np.left_shift(1, np.where(rng.random(len(hull)) < 0.6, 32, rng.integers(33, 40)))
    across = power - 1 - (rng.random(len(hull)) * (length - 1)).astype(np.int64)
    kind = pick(rng, len(hull), np.array([0.5, 0.13, 0.25, 0.12]))
    base: Ints = np.minimum(np.choose(kind, (anywhere, room, near, across)), room)
    return base


def far_bases(
    rng: np.random.Generator,
    counts: Ints,
    strides: Ints,
    length: Ints,
    hull: Ints,
    write: Bools,
    block: Ints,
    taken: tuple[Ints, Ints, Ints, Bools],
    limits: OpConstraints,
) -> tuple[Ints, Bools]:
    """Draws GM bases so that no row overlaps another region of its block if either is written.

    Args:
        rng: Source of randomness.
        counts: ``int64[M, 4]`` of the far ops, at most ``MAX_FAR_ROWS`` rows each.
        strides: ``int64[M, 4]``, on GM.
        length: ``int64[M]``, bytes of a row.
        hull: ``int64[M]``, bytes from the first to the last.
        write: ``bool[M]``, the op is a store.
        block: ``int64[M]``, its block.
        taken: Dense GM ranges, see :class:`sequences.place.allocator.arrange`.
        limits: Constraints.

    Returns:
        Bases ``int64[M]``, and ``bool[M]`` true without a place after a few draws.
    """
    if not len(counts):
        return np.zeros(0, np.int64), np.zeros(0, bool)
    assert int(counts.prod(axis=1).max()) <= MAX_FAR_ROWS
    offset, op = _row_starts(counts, strides)
    base = _draw(rng, hull, length, limits)
    bad = np.zeros(len(base), dtype=bool)
    for _ in range(_TRIES):
        start = base[op] + offset + block[op] * _BLOCK_SPAN
        end = start + length[op]
        met = _meets_dense(start, end, write[op], taken) | _meets_far(start, end, write[op])
        bad = np.bincount(op, met, len(base)) > 0
        if not bad.any():
            break
        base[bad] = _draw(rng, hull, length, limits)[bad]
    return base, bad
