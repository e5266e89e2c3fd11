# SPDX-License-Identifier: Apache-2.0
"""Shapes of the fill of L1: runs of blocks, the pattern, and the parts of the address."""

from __future__ import annotations

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.bursts import draw_counts, draw_gaps
from sequences.draw.moves import Moves, marked
from sequences.draw.shapes import Bools, Ints, any_number, make_nops, pick, total_bytes
from tb.isa.dtypes import DTYPES
from tb.isa.fill.op import COUNT_BITS, RAW_BITS
from tb.isa.spaces import UB_BLOCK

MOST = (1 << COUNT_BITS) - 1
WHOLE = 0.005
"""Fraction of fills of as many bytes as an op may write."""

_IS_FILL = marked(lambda row: row.family == "fill")


def fills(opcode: Ints) -> Bools:
    """Returns a mask of the fills, ``bool[N]``."""
    found: Bools = _IS_FILL[opcode]
    return found


def shape_fills(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    _read: Ints,
    write: Ints,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` runs of at most ``write`` bytes from end to end, and a pattern.

    Arguments as of :func:`sequences.draw.bursts.shape_bursts`.
    """
    size = len(index)
    units = np.minimum(write // UB_BLOCK, MOST)
    total = np.clip(total_bytes(rng, size, limits) // UB_BLOCK, 1, units)
    most = np.minimum(units, max(limits.max_bytes // UB_BLOCK, 1))
    total = np.where(rng.random(size) < WHOLE, most, total)
    count = draw_counts(rng, total, np.full(size, min(MOST, limits.max_rows)))
    length = np.clip(total // count, 1, MOST)
    gap = draw_gaps(rng, count, length, units, wide=0.06, top=MOST)
    idle = np.flatnonzero(moves.nop[index])
    make_nops(rng, idle, ((count, MOST, 1), (length, MOST, 1)))
    gap[idle] = any_number(rng, len(idle), MOST)
    any_bits = rng.integers(0, 1 << RAW_BITS, size)
    kind = pick(rng, size, np.array([0.7, 0.1, 0.1, 0.1]))
    low = any_bits & 0xFFFF
    raw = np.choose(kind, (any_bits, np.zeros_like(low), np.full(size, (1 << RAW_BITS) - 1), low))
    moves.dtype[index] = rng.integers(0, len(DTYPES), size)
    for name, found in (
        ("len", length), ("n_burst", count), ("dst_gap", gap), ("raw", raw),
        ("word32", rng.integers(0, 2, size)),
    ):  # fmt: skip
        moves.columns[name][index] = found
    moves.settle(index)


def place_fills(rng: np.random.Generator, moves: Moves, index: Ints, write: Ints) -> None:
    """Divides the addresses of the first blocks, ``int64[M]``, between base and offset."""
    kind = pick(rng, len(index), np.array([0.3, 0.15, 0.35, 0.2]))
    part = (rng.random(len(index)) * (write + 1)).astype(np.int64)
    blocks = part // UB_BLOCK * UB_BLOCK
    offset = np.choose(kind, (np.zeros_like(write), write, blocks, part))
    moves.columns["offset"][index] = offset
    moves.columns["dst_addr"][index] = write - offset
