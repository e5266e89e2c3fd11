# SPDX-License-Identifier: Apache-2.0
"""Atomic stores of UB: stores that CTRL makes updates of GM (docs/spec/order_and_atomics.md, 6).

CTRL is written before such a store and is 0 again after it, so that an engine or a front end that
reads it later takes another value. Some plain stores have CTRL written, too, without a type.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import OpConstraints
from sequences.draw.moves import UPDATES, Moves
from sequences.draw.shapes import Bools, Ints, pick
from sequences.fixpipe.ctrl import ctrl_of, writes_of
from sequences.fixpipe.data import POOL, spread
from tb.isa.block import Fill
from tb.isa.ctrl import NOSAT_BIT, OP_LSB, TYPE_LSB, SetCtrl
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.dtypes import DTYPE_INDEX
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_OPS
from tb.isa.program import Entry
from tb.isa.spaces import Space

_TYPES = np.array([0, *ATOMIC_BYTES])
"""CTRL[8:6] by what is drawn; the first is a plain store under CTRL."""

_WEIGHTS = np.array([0.1, 0.22, 0.2, 0.12, 0.12, 0.12, 0.12])
_SIZES = np.array([1, *[ATOMIC_BYTES[code] for code in _TYPES[1:]]])
_DTYPES = np.array([DTYPE_INDEX[name] for name in ("i8", "f32", "f16", "i16", "i32", "i8", "bf16")])
_OTHER_BITS = ~(1 << NOSAT_BIT | 0x1F << TYPE_LSB)


def shape_atomics(
    rng: np.random.Generator, moves: Moves, index: Ints, limits: OpConstraints
) -> None:
    """Makes some of the stores ``index`` (``int64[M]``), which have their shape, atomic.

    Lengths and GM strides are cut to whole elements, which keeps rows apart; rows in GM get room
    for the alignment of their first element.
    """
    chosen = UPDATES[moves.opcode[index]] & (rng.random(len(index)) < limits.update)
    drawn = pick(rng, len(index), _WEIGHTS)
    x = moves.columns
    size = _SIZES[drawn]
    # Rows far apart have a place of their own; an element must fit a row.
    alone = size == 1
    chosen &= alone | (~moves.far[index] & (moves.nop[index] | (x["len"][index] >= size)))
    at, drawn = index[chosen], drawn[chosen]
    size = _SIZES[drawn]
    x["atomic_type"][at] = _TYPES[drawn]
    what = rng.integers(0, len(ATOMIC_OPS), len(at))
    # Without a type the op has no meaning, and 3 is not an error.
    x["atomic_op"][at] = np.where(drawn == 0, rng.integers(0, 4, len(at)), what)
    x["nosat"][at] = rng.integers(0, 2, len(at))
    typed = at[drawn > 0]
    moves.dtype[typed] = _DTYPES[drawn[drawn > 0]]
    x["elem_log2"][typed] = np.log2(size[drawn > 0]).astype(np.int64)
    packed = (x["loc_stride"][at] == x["len"][at]) & (x["n_burst"][at] > 1)
    x["len"][at] -= x["len"][at] % size
    x["loc_stride"][at] = np.where(packed, x["len"][at], x["loc_stride"][at])
    moves.read.strides[at, 0] = np.where(packed, x["len"][at], moves.read.strides[at, 0])
    counts = ("n_burst", *[f"loop{k}_count" for k in range(MAX_LOOPS)])
    strides = ("ext_stride", *[f"loop{k}_ext_stride" for k in range(MAX_LOOPS)])
    for level, (count, stride) in enumerate(zip(counts, strides, strict=True)):
        # A stride that is not used may be any number; loops that are not written have none.
        used = (x[count][at] > 1) | (rng.random(len(at)) < 0.3) | (x["n_loops"][at] < level)
        odd = x[stride][at] ^ rng.integers(0, 4, len(at))
        x[stride][at] = np.where(used, x[stride][at] - x[stride][at] % size, odd)
    for side in (moves.read, moves.write):
        side.foot[at] -= side.foot[at] % size
    moves.write.strides[at] -= moves.write.strides[at] % size[:, None]
    for side in (moves.read, moves.write):
        live = side.hull[at] > 0
        reach = ((side.counts[at] - 1) * side.strides[at]).sum(axis=1) + side.foot[at]
        side.hull[at] = np.where(live, reach, 0)
    moves.write.hull[at] += np.where(moves.write.hull[at] > 0, size - 1, 0)


def room(moves: Moves, index: Ints) -> Ints:
    """Returns the bytes of the hulls of the ops ``index`` for alignment, ``int64[M]``."""
    kinds = moves.columns.get("atomic_type")
    if kinds is None:
        return np.zeros(len(index), dtype=np.int64)
    mine = UPDATES[moves.opcode[index]] & (moves.write.hull[index] > 0)
    return np.where(mine, _size_of(kinds[index]) - 1, 0)


def _size_of(kinds: Ints) -> Ints:
    """Returns the bytes of an element by CTRL[8:6], 1 without a type."""
    size = np.ones(int(_TYPES.max()) + 1, dtype=np.int64)
    size[_TYPES] = _SIZES
    return size[kinds]


def aligned(moves: Moves, write: Ints) -> Ints:
    """Returns destinations (``int64[N]``) with those of atomic stores at whole elements."""
    kinds = moves.columns["atomic_type"]
    if not kinds.any():
        return write
    unit = np.where(UPDATES[moves.opcode], _size_of(kinds), 1)
    # A NOP may be near the end of the largest address.
    return np.where(moves.nop, write // unit, -(-write // unit)) * unit


def ctrl_programs(
    rng: np.random.Generator, moves: Moves, programs: dict[int, Entry], ops: dict[int, Entry]
) -> dict[int, Entry]:
    """Returns the entries of stores under CTRL.

    Args:
        rng: Source of randomness.
        moves: The draw.
        programs: Legacy programs by the number of their op.
        ops: v0.6 ops of the others.
    """
    draw = Random(int(rng.integers(1 << 62)))
    x = moves.columns
    found: dict[int, Entry] = {}
    for number in under_ctrl(moves).tolist():
        sat = "nosat" if x["nosat"][number] else "sat"
        ctrl = (
            ctrl_of(sat, int(x["atomic_type"][number]), 0) | int(x["atomic_op"][number]) << OP_LSB
        )
        if draw.random() < 0.6:
            ctrl |= draw.getrandbits(63) & _OTHER_BITS
        entry = programs.get(number) or ops[number]
        found[number] = (*writes_of(draw, ctrl), *entry, SetCtrl(0))
    return found


def data_of(
    rng: np.random.Generator,
    moves: Moves,
    read: Ints,
    write: Ints,
    ub_sub: Ints,
    live: Bools,
    pools: Mapping[int, NDArray[np.generic]],
    share: float,
) -> list[tuple[int, Fill]]:
    """Returns the corner values of a ``share`` of the updates, each with the number of its op.

    Old and new elements are of the same values, so that zeros, infinities, NaN and the largest
    numbers of both signs meet. An op that reads what another one wrote keeps that.

    Args:
        rng: Source of randomness.
        moves: The draw.
        read: ``int64[N]``, addresses in UB.
        write: ``int64[N]``, addresses in GM.
        ub_sub: ``int64[N]``, sub-blocks of UB.
        live: ``bool[N]``, ops that have a place.
        pools: Atomic type code to elements, the second half like the first.
        share: Fraction of updates.
    """
    found: list[tuple[int, Fill]] = []
    kinds = moves.columns["atomic_type"]
    mine = live & UPDATES[moves.opcode] & (kinds > 0) & ~moves.nop & ~moves.far
    mine &= (moves.write.hull > 0) & (rng.random(len(moves)) < share)
    for number in np.flatnonzero(mine).tolist():
        pool = pools[int(kinds[number])]
        sides = [(Space.GM, write, moves.write.hull[number] - pool.itemsize + 1)]
        if moves.parent[number] < 0:
            space = Space.UB1 if ub_sub[number] else Space.UB0
            sides.append((space, read, moves.read.hull[number]))
        for space, start, length in sides:
            at = int(rng.integers(POOL))
            data = spread(pool, at, -(-int(length) // pool.itemsize)).view(np.uint8)
            found.append((number, Fill(space, int(start[number]), data[: int(length)])))
    return found


def under_ctrl(moves: Moves) -> Ints:
    """Returns the numbers of stores with CTRL written before them."""
    x = moves.columns
    if "atomic_type" not in x:
        return np.zeros(0, dtype=np.int64)
    mine: Bools = UPDATES[moves.opcode] & ((x["atomic_type"] | x["atomic_op"] | x["nosat"]) > 0)
    return np.flatnonzero(mine)
