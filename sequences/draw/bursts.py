# SPDX-License-Identifier: Apache-2.0
"""Shapes of the burst copies: bursts of units with gaps, within the limits of each side."""

from __future__ import annotations

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.moves import Moves, by_name
from sequences.draw.shapes import (
    Bools,
    Ints,
    any_number,
    draw_elements,
    log_uniform,
    make_nops,
    pick,
    steps,
    total_bytes,
)
from tb.isa.burst.table import BIAS_TYPES, BURSTS, GAP_BITS, LEN_BITS
from tb.isa.dtypes import DTYPE_INDEX, ELEMENT_BYTES

MAX_LEN = (1 << LEN_BITS) - 1
MAX_GAP = (1 << GAP_BITS) - 1

_IS_BURST = by_name(dict.fromkeys(BURSTS, 1))
_MAX_COUNT = by_name({name: row.operand("n_burst").maximum or 0 for name, row in BURSTS.items()})
_UNIT = by_name({name: row.unit for name, row in BURSTS.items()})
_WIDENS = by_name({name: int(row.widens) for name, row in BURSTS.items()})
_WITHIN = by_name({name: int(row.within) for name, row in BURSTS.items()})
_TO_FB = by_name({name: int(row.destination == "fb") for name, row in BURSTS.items()})
_BIAS = tuple(BIAS_TYPES)
_BIAS_DTYPE = np.array([DTYPE_INDEX[name] for name in _BIAS])
_BIAS_WIDEN = np.array([BIAS_TYPES[name][1] for name in _BIAS])
_BIAS_SIZE = np.array([ELEMENT_BYTES[name] for name in _BIAS])
_BIAS_WEIGHTS = np.array([0.2, 0.14, 0.3, 0.36])

INTERLEAVED = 0.3
"""Fraction of the ops inside one memory with source bursts between the destination ones."""


def bursts(opcode: Ints) -> Bools:
    """Returns a mask of the burst copies, ``bool[N]``."""
    found: Bools = _IS_BURST[opcode] == 1
    return found


def _units(rng: np.random.Generator, moves: Moves, index: Ints) -> tuple[Ints, Ints]:
    """Draws element types; returns the bytes of a unit on each side, ``int64[M]``."""
    opcode = moves.opcode[index]
    count = len(index)
    bias = pick(rng, count, _BIAS_WEIGHTS)
    is_bt, unit = _WIDENS[opcode] > 0, _UNIT[opcode]
    dtype, _ = draw_elements(rng, np.zeros(count, dtype=bool))
    moves.dtype[index] = np.where(is_bt, _BIAS_DTYPE[bias], dtype)
    moves.columns["widen"][index] = np.where(is_bt, _BIAS_WIDEN[bias], 0)
    return np.where(is_bt, _BIAS_SIZE[bias], unit), unit


def draw_counts(rng: np.random.Generator, total: Ints, most: Ints) -> Ints:
    """Draws counts of bursts of ``total`` units, each at most ``most``; ``int64[M]``."""
    kind = pick(rng, len(total), np.array([0.24, 0.24, 0.4, 0.12]))
    small = rng.integers(2, 5, len(total))
    drawn = np.choose(kind, (np.ones_like(total), small, log_uniform(rng, 1, total), total))
    counts: Ints = np.minimum(np.minimum(drawn, total), most)
    return counts


def _fb_shapes(rng: np.random.Generator, most: Ints) -> tuple[Ints, Ints]:
    """Draws counts and lengths that fit ``most`` units: FB has so few that bytes mean little."""
    short = np.minimum(rng.integers(1, 5, len(most)), most)
    length = np.where(rng.random(len(most)) < 0.6, short, log_uniform(rng, 1, most))
    return log_uniform(rng, 1, most // length), length


def draw_gaps(
    rng: np.random.Generator,
    count: Ints,
    length: Ints,
    units: Ints,
    *,
    wide: float,
    top: int = MAX_GAP,
) -> Ints:
    """Draws gaps up to ``top``, ``int64[M]``, so that all bursts fit ``units``.

    After a single burst any gap will do.
    """
    slack = np.minimum((units - count * length) // np.maximum(count - 1, 1), top)
    most = np.where(count <= 1, top, slack)
    kinds = {
        "adjoin": 0.4, "next": 0.18, "near": 0.42 - wide, "wide": 0.7 * wide,
        "farthest": 0.3 * wide,
    }  # fmt: skip
    return steps(rng, np.zeros_like(count), most, kinds)


def _interleave(
    rng: np.random.Generator, moves: Moves, index: Ints, count: Ints, length: Ints, units: Ints
) -> tuple[Ints, Ints]:
    """Puts the source bursts of some ops inside one memory between their destination bursts.

    Returns:
        Positions in ``index`` and the gap of both sides there.
    """
    fits = (_WITHIN[moves.opcode[index]] > 0) & (moves.parent[index] < 0)
    fits &= (count > 1) & (2 * count * length <= units)
    at = np.flatnonzero(fits & (rng.random(len(index)) < INTERLEAVED))
    burst = length[at]
    slack = units[at] // count[at] - 2 * burst
    room = np.minimum(slack, np.where(rng.random(len(at)) < 0.5, 0, 8))
    step = 2 * burst + (rng.random(len(at)) * (room + 1)).astype(np.int64)
    step = np.minimum(step, MAX_GAP)
    shift = burst + (rng.random(len(at)) * (step - 2 * burst + 1)).astype(np.int64)
    sign = np.where(rng.random(len(at)) < 0.5, 1, -1)
    ok = step >= 2 * burst
    at, shift, sign, step = at[ok], shift[ok], sign[ok], step[ok]
    moves.skew[index[at]] = sign * shift * _UNIT[moves.opcode[index[at]]]
    return at, step - length[at]


def _follow(
    moves: Moves, index: Ints, wanted: Bools, unit: Ints, most: Ints, limit: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Finds ops that can read the very rows their parents wrote.

    Returns:
        Positions in ``index``, and their counts, lengths and source gaps in units.
    """
    parent = np.maximum(moves.parent[index], 0)
    counts, stride = moves.write.counts[parent], moves.write.strides[parent, 0]
    rows = counts[:, 0]
    length = np.maximum(moves.write.foot[parent] // unit, 1)
    gap = stride // unit - length
    ok = wanted & (rows > 1) & (rows <= limit)
    ok &= (stride % unit == 0) & (gap >= 0) & (gap <= MAX_GAP) & (length <= MAX_LEN)
    ok &= (rows * length <= most) & (((rows - 1) * stride + length * unit) <= moves.extent[parent])
    at = np.flatnonzero(ok)
    return at, rows[at], length[at], gap[at]


def shape_bursts(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    read: Ints,
    write: Ints,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` bursts of at most ``read`` and ``write`` bytes from end to end.

    Args:
        rng: Source of randomness.
        moves: The draw; parents have their shape.
        index: ``int64[M]``, burst copies.
        read: ``int64[M]``, bytes from the first to the last one at the source.
        write: The same at the destination.
        limits: Constraints.
    """
    size = len(index)
    src_unit, dst_unit = _units(rng, moves, index)
    src_units, dst_units = read // src_unit, write // dst_unit
    most = np.minimum(np.minimum(src_units, dst_units), np.maximum(limits.max_bytes // src_unit, 1))
    total = np.clip(total_bytes(rng, size, limits) // src_unit, 1, most)
    limit = np.minimum(_MAX_COUNT[moves.opcode[index]], limits.max_rows)
    count = draw_counts(rng, total, limit)
    length = np.clip(total // count, 1, MAX_LEN)
    fb = np.flatnonzero(_TO_FB[moves.opcode[index]])
    count[fb], length[fb] = _fb_shapes(rng, np.minimum(most, limits.max_rows)[fb])
    child = moves.parent[index] >= 0
    chance = rng.random(size)
    flat = child & (chance < 0.2)
    count = np.where(flat, 1, count)
    length = np.where(flat, np.minimum(most, MAX_LEN), length)
    at, rows, row, gap = _follow(moves, index, child & (chance > 0.35), src_unit, most, limit)
    count[at], length[at] = rows, row
    src_gap = draw_gaps(rng, count, length, src_units, wide=0.1)
    src_gap[fb] = draw_gaps(rng, count[fb], length[fb], src_units[fb], wide=0.25)
    src_gap[at] = gap
    dst_gap = draw_gaps(rng, count, length, dst_units, wide=0.03)
    dst_gap[fb] = draw_gaps(rng, count[fb], length[fb], dst_units[fb], wide=0.25)
    at, gap = _interleave(rng, moves, index, count, length, dst_units)
    src_gap[at] = dst_gap[at] = gap
    idle = np.flatnonzero(moves.nop[index])
    make_nops(rng, idle, ((count, _MAX_COUNT[moves.opcode[index[idle]]], 1), (length, MAX_LEN, 1)))
    for gap in (src_gap, dst_gap):
        gap[idle] = any_number(rng, len(idle), MAX_GAP)
    moves.skew[index[idle]] = 0
    for name, values in (
        ("len", length), ("n_burst", count), ("src_gap", src_gap), ("dst_gap", dst_gap),
    ):  # fmt: skip
        moves.columns[name][index] = values
    moves.settle(index)
