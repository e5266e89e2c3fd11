# SPDX-License-Identifier: Apache-2.0
"""Shapes of NZ repacks: matrices around multiples of 16 and C0, and their strides on both sides.

All L1 sizes here are in 32-byte blocks (docs/spec/nd2nz.md, sections 1 to 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sequences.constraints import MAX_FAR_ROWS, OpConstraints
from sequences.draw.moves import Moves
from sequences.draw.shapes import (
    LEVELS,
    Bools,
    Ints,
    align,
    any_number,
    log_uniform,
    make_nops,
    pick,
    steps,
    total_bytes,
)
from sequences.draw.strides import far_strides, nest
from tb.isa.dtypes import DTYPES, ELEMENT_BYTES
from tb.isa.nz.table import (
    C0_BYTES,
    DN2NZ,
    GM_STRIDE_BITS,
    L2_BITS,
    MAX_D,
    MAX_GROUPS,
    MAX_N,
    ND2NZ,
    SMALL_C0,
)

FRACTAL_ROWS = 16
MAX_STEP = (1 << 16) - 1

_SIZES = np.array([ELEMENT_BYTES[name] for name in DTYPES])
_TYPES = [np.flatnonzero(np.equal(_SIZES, 1 << log2)) for log2 in range(3)]

_ANY = -1

BIG_SHAPES = np.array(
    [
        (1, 64, 512, 2, 0, _ANY), (1, 512, 64, 2, 0, _ANY), (1, 16, 1024, 4, 0, _ANY),
        (1, 1024, 16, 1, 0, _ANY), (1, 1, MAX_D, 1, 0, ND2NZ), (1, 1, 4001, 4, 0, _ANY),
        (1, 3000, 3, 2, 0, _ANY), (300, 1, 1, 1, 0, _ANY), (600, 1, 20, 1, 0, _ANY),
        (120, 2, 9, 4, 0, _ANY), (255, 3, 5, 2, 0, _ANY), (1000, 1, 2, 2, 0, _ANY),
        (MAX_GROUPS, 1, 1, 1, 0, _ANY), (1, MAX_N, 3, 1, 1, DN2NZ), (1, MAX_N, 2, 2, 1, DN2NZ),
        (300, 1, 4, 4, 1, _ANY),
    ]
)  # fmt: skip
"""(groups, N, D, E, small-C0, mode) that random sizes reach too rarely: long rows, hundreds of
matrices, the operands' maxima (ND-L03)."""

_BIG_WEIGHTS = np.array([1.0] * 12 + [0.4, 0.4, 0.15, 0.6])

MANY_GROUPS = 16


_INNER = {"adjoin": 0.43, "near": 0.25, "wide": 0.17, "inside": 0.15}
_OUTER = {"near": 0.3, "wide": 0.4, "inside": 0.3}
"""Weights of the distances of rows and of matrices at the source, but for special ones."""

_MOST_GAP = 4096
"""Most bytes between rows, and between matrices, of ops that are not far."""


@dataclass
class Matrices:
    """Shapes of M ops, ``int64[M]`` each: element size, layout, packing, N, D and groups."""

    elem: Ints
    mode: Ints
    small: Bools
    n: Ints
    d: Ints
    groups: Ints

    @property
    def c0(self) -> Ints:
        """Elements of a C0 block."""
        return C0_BYTES // self.elem

    @property
    def columns(self) -> Ints:
        """C0 columns, ceil(D / C0); in small-C0 mode 1."""
        return np.where(self.small, 1, -(-self.d // self.c0))

    @property
    def small_blocks(self) -> Ints:
        """Blocks of a group in small-C0 mode."""
        return -(-self.n * SMALL_C0 * self.elem // C0_BYTES)

    @property
    def blocks(self) -> Ints:
        """Blocks written."""
        group: Ints = np.where(self.small, self.small_blocks, self.n * self.columns)
        return group * self.groups

    @property
    def rows(self) -> Ints:
        """Rows of a source matrix."""
        return np.where(self.mode == DN2NZ, self.d, self.n)

    @property
    def row_bytes(self) -> Ints:
        """Bytes of a source row."""
        return np.where(self.mode == DN2NZ, self.n, self.d) * self.elem


def _near_sixteen(rng: np.random.Generator, n: Ints) -> Ints:
    """Moves half of the row counts to a multiple of 16 or one next to it."""
    whole = np.maximum((n + 8) // FRACTAL_ROWS, 1) * FRACTAL_ROWS
    near = whole + np.array([-1, 0, 0, 1])[rng.integers(0, 4, len(n))]
    moves = (n >= FRACTAL_ROWS // 2 + 3) & (rng.random(len(n)) < 0.55)
    return np.where(moves, near, n)


def _tails(rng: np.random.Generator, columns: Ints, c0: Ints) -> Ints:
    """Returns D for numbers of C0 columns: full ones, or any tail."""
    tail = (rng.random(len(c0)) * (c0 - 1)).astype(np.int64)
    whole = rng.random(len(c0)) < 0.3
    last = np.where(whole, c0, 1 + tail)
    return (columns - 1) * c0 + last


def _matrices(
    rng: np.random.Generator, far: Bools, write: Ints, read: Ints, limits: OpConstraints
) -> Matrices:
    count = len(far)
    log2 = pick(rng, count, np.array([0.3, 0.42, 0.28]))
    log2 = np.where(np.left_shift(1, log2) > read, 0, log2)
    elem = np.left_shift(1, log2)
    small = rng.random(count) < limits.small_c0
    most = np.maximum(np.minimum(write, limits.max_bytes) // C0_BYTES, 1)
    total = np.clip(total_bytes(rng, count, limits) // C0_BYTES, 1, most)
    kind = pick(rng, count, np.array([0.6, 0.4]))
    # Matrices are as often far from each other as rows.
    several = (kind == 1) | (far & (rng.random(count) < 0.5))
    groups = np.where(several, rng.integers(2, 9, count), 1)
    groups = np.minimum(groups, total)
    rest = total // groups
    columns = np.where(rng.random(count) < 0.08, rest, log_uniform(rng, 1, rest))
    columns = np.where(rng.random(count) < 0.2, 1, columns)
    c0 = C0_BYTES // elem
    columns = np.minimum(columns, MAX_D // c0)
    n = np.clip(_near_sixteen(rng, rest // columns), 1, MAX_N)
    n = np.minimum(n, np.maximum(most // (columns * groups), 1))
    d = _tails(rng, columns, c0)
    d = np.where(rng.random(count) < 0.04, 1, d)
    pack = np.maximum(rest * C0_BYTES // (SMALL_C0 * elem), 1)
    packed = np.maximum(pack - (rng.random(count) * np.minimum(9, pack)).astype(np.int64), 1)
    n = np.where(small, np.minimum(packed, MAX_N), n)
    d = np.where(small, rng.integers(1, SMALL_C0 + 1, count), d)
    mode = rng.integers(0, 2, count)
    found = Matrices(elem, mode, small, n, d, groups)
    _gather(rng, found, far, most, limits)
    _grow(rng, found, most, read, limits)
    _shrink(found, read)
    # Tens of thousands of rows of a byte or two would take as long as all other ops.
    many = found.rows * found.groups > limits.max_rows
    found.mode = np.where(many, np.where(found.n > found.d, DN2NZ, ND2NZ), found.mode)
    return found


def _gather(
    rng: np.random.Generator, shape: Matrices, far: Bools, most: Ints, limits: OpConstraints
) -> None:
    """Gives some ops dozens of small matrices, in place; far ops stay below the limit of rows."""
    chance = rng.random(len(far))
    index = np.flatnonzero(chance < np.where(far, 0.3, 0.02) * (limits.max_rows >= MAX_FAR_ROWS))
    groups = MANY_GROUPS + rng.integers(0, 17, len(index))
    n = 1 + rng.integers(0, MAX_FAR_ROWS // groups)
    c0 = C0_BYTES // shape.elem[index]
    d = 1 + (rng.random(len(index)) * 2 * c0).astype(np.int64)
    small = shape.small[index]
    d = np.where(small, rng.integers(1, SMALL_C0 + 1, len(index)), d)
    # Of a source by columns the rows are the D.
    d = np.where(far[index] & (shape.mode[index] == DN2NZ), np.minimum(d, n), d)
    fits = groups * n * 2 <= most[index]
    index = index[fits]
    shape.groups[index], shape.n[index], shape.d[index] = groups[fits], n[fits], d[fits]


def _grow(
    rng: np.random.Generator, shape: Matrices, most: Ints, read: Ints, limits: OpConstraints
) -> None:
    """Gives a few ops one of the big shapes, where it fits."""
    index = np.flatnonzero(rng.random(len(shape.n)) < limits.big_nz)
    if not len(index):
        return
    big = BIG_SHAPES[pick(rng, len(index), _BIG_WEIGHTS)]
    groups, n, d, elem, small, _ = big.T
    row = np.where(small > 0, SMALL_C0, d) * elem
    blocks = np.where(small > 0, -(-n * row // C0_BYTES), n * (-(-row // C0_BYTES)))
    fits = (groups * blocks <= most[index]) & (groups * n * d * elem <= read[index])
    fits &= np.where(small > 0, limits.small_c0 > 0, limits.small_c0 < 1)
    index, big = index[fits], big[fits]
    shape.groups[index], shape.n[index], shape.d[index], shape.elem[index] = big.T[:4]
    shape.small[index] = big[:, 4] > 0
    shape.mode[index] = np.where(big[:, 5] == _ANY, shape.mode[index], big[:, 5])


def _shrink(shape: Matrices, read: Ints) -> None:
    """Shrinks matrices where the source has no room for all of them side by side."""
    size = shape.n * shape.d * shape.elem
    # Matrices may be read again, so the groups need no separate room.
    big = size > read
    d = np.clip(read // (shape.n * shape.elem), 1, shape.d)
    shape.d = np.where(big, d, shape.d)
    n = np.clip(read // (shape.d * shape.elem), 1, shape.n)
    shape.n = np.where(big, n, shape.n)


def _source(rng: np.random.Generator, shape: Matrices, far: Bools, read: Ints) -> tuple[Ints, Ints]:
    """Returns inner and outer strides, ``int64[M]`` each."""
    count = len(read)
    rows, row, groups = shape.rows, shape.row_bytes, shape.groups
    fit = np.maximum(read - row, 0) // np.maximum(rows - 1, 1)
    inner = steps(rng, row, np.minimum(fit, row + _MOST_GAP), _INNER)
    special = rng.random((2, count))
    aligned = align(row, np.array([2, 32, 64, 512])[rng.integers(0, 4, count)])
    inner = np.where((special[0] < 0.16) & (aligned <= fit), aligned, inner)
    inner = np.where(special[0] > 0.96, 0, inner)
    matrix = (rows - 1) * inner + row
    fit = np.maximum(read - matrix, 0) // np.maximum(groups - 1, 1)
    outer = steps(rng, matrix, np.minimum(fit, matrix + _MOST_GAP), _OUTER)
    outer = np.where((special[1] < 0.3) & (rows * inner <= fit), rows * inner, outer)
    outer = np.where(special[1] > 0.8, 0, outer)
    _far_source(rng, shape, np.flatnonzero(far), inner, outer)
    anything = rng.integers(0, 1 << GM_STRIDE_BITS, (2, count))
    chance = rng.random((2, count)) < 0.4
    inner = np.where((rows == 1) & chance[0], anything[0], inner)
    outer = np.where(groups == 1, np.where(chance[1], anything[1], 0), outer)
    return inner, outer


def _far_source(
    rng: np.random.Generator, shape: Matrices, index: Ints, inner: Ints, outer: Ints
) -> None:
    """Spreads the rows of the ops ``index`` over all of GM, in place."""
    if not len(index):
        return
    counts = np.ones((len(index), LEVELS), dtype=np.int64)
    counts[:, 0], counts[:, 1] = shape.rows[index], shape.groups[index]
    order = np.tile(np.arange(LEVELS), (len(index), 1))
    swap = rng.random(len(index)) < 0.3
    order[swap, 0], order[swap, 1] = 1, 0
    far = far_strides(rng, counts, shape.row_bytes[index], order)
    inner[index], outer[index] = far[:, 0], far[:, 1]


def _destination(
    rng: np.random.Generator, shape: Matrices, write: Ints, interleave: float
) -> tuple[Ints, Ints]:
    """Returns the strides of loops 2, 3 and 4 (``int64[M, 3]``) and hulls, in blocks."""
    count = len(write)
    counts = np.ones((count, LEVELS), dtype=np.int64)
    counts[:, 0] = np.where(shape.small, 1, shape.n)
    counts[:, 1] = shape.columns
    counts[:, 2] = shape.groups
    foot = np.where(shape.small, shape.small_blocks, 1)
    order = np.tile(np.arange(LEVELS), (count, 1))
    mixed = np.flatnonzero(rng.random(count) < interleave)
    order[mixed, :3] = rng.permuted(order[mixed, :3], axis=1)
    margin = np.zeros((count, LEVELS), dtype=np.int64)
    kind = pick(rng, count * 3, np.array([0.55, 0.2, 0.2, 0.05])).reshape(count, 3)
    zero = np.zeros((count, 3), dtype=np.int64)
    drawn = (zero, zero + 1, rng.integers(1, 5, (count, 3)), rng.integers(5, 70, (count, 3)))
    margin[:, :3] = np.choose(kind, drawn)
    # Rows apart (loop2 > 1) need most room, so they are tight more often.
    margin[rng.random(count) < 0.5, 0] = 0
    fractal = np.flatnonzero((order[:, 0] == 0) & (rng.random(count) < 0.55))
    height = shape.n[fractal] * (1 + np.where(shape.n[fractal] > 1, margin[fractal, 0], 0))
    margin[fractal, 1] = np.where(order[fractal, 1] == 1, -height % FRACTAL_ROWS, 0)
    margin[fractal, 0] *= rng.integers(0, 2, len(fractal))
    _special(rng, shape, counts, order, margin)
    strides, hull = nest(counts, foot, order, margin, 1)
    big = hull * C0_BYTES > write
    none = np.zeros((int(big.sum()), LEVELS), dtype=np.int64)
    strides[big], hull[big] = nest(counts[big], foot[big], order[big], none, 1)
    anything = rng.integers(0, MAX_STEP + 1, (count, 3))
    odd = np.array([0, 1, 1, FRACTAL_ROWS])[rng.integers(0, 4, (count, 3))]
    unused = np.where(rng.random((count, 3)) < 0.4, anything, odd)
    used = counts[:, :3] > 1
    used[:, :2] &= ~shape.small[:, None]
    found: Ints = np.where(used, strides[:, :3], unused)
    return found, hull


def _special(
    rng: np.random.Generator, shape: Matrices, counts: Ints, order: Ints, margin: Ints
) -> None:
    """Draws two kinds of layouts that independently drawn margins rarely give, in place."""
    count = len(counts)
    # Rows a fractal apart.
    at = np.flatnonzero((counts[:, 0] > 1) & (rng.random(count) < 0.03))
    place = np.argmax(order[at] == 0, axis=1)
    margin[at, :3] = rng.integers(0, 3, (len(at), 3))
    margin[at, place] = rng.integers(FRACTAL_ROWS - 1, 2 * FRACTAL_ROWS, len(at))
    # Groups in the unused rows of whole fractals.
    rest = ~shape.small & (counts[:, 0] * counts[:, 2] <= FRACTAL_ROWS)
    rest &= (counts[:, 1:3] > 1).all(axis=1)
    at = np.flatnonzero(rest & (rng.random(count) < 0.15))
    order[at, :3] = 0, 2, 1
    margin[at] = 0
    margin[at, 2] = -(counts[at, 0] * counts[at, 2]) % FRACTAL_ROWS


def shape_nz(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    read: Ints,
    write: Ints,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` matrices that need at most ``read`` bytes of GM, ``write`` of L1.

    Args:
        rng: Source of randomness.
        moves: The draw; parents have their shape.
        index: ``int64[M]``, NZ repacks.
        read: ``int64[M]``, bytes from the first to the last one at the source.
        write: The same at the destination.
        limits: Constraints.
    """
    count = len(index)
    shape = _matrices(rng, moves.far[index], write, read, limits)
    far = moves.far[index] & (shape.rows * shape.groups <= MAX_FAR_ROWS)
    inner, outer = _source(rng, shape, far, read)
    strides, _ = _destination(rng, shape, write, limits.interleave)
    moves.far[index] = far
    _make_nops(rng, shape, strides, np.flatnonzero(moves.nop[index]))
    dtype = np.zeros(count, dtype=np.int64)
    for log2, types in enumerate(_TYPES):
        mine = shape.elem == 1 << log2
        dtype[mine] = rng.choice(types, int(mine.sum()))
    moves.dtype[index] = dtype
    for name, values in (
        ("elem_log2", np.log2(shape.elem).astype(np.int64)),
        ("mode", shape.mode),
        ("small_c0", shape.small.astype(np.int64)),
        ("l2", rng.integers(0, 1 << L2_BITS, count)),
        ("n_value", shape.n),
        ("d_value", shape.d),
        ("group_count", shape.groups),
        ("inner_stride", inner),
        ("outer_stride", outer),
        ("dst_loop2", strides[:, 0]),
        ("dst_loop3", strides[:, 1]),
        ("dst_loop4", strides[:, 2]),
    ):
        moves.columns[name][index] = values
    moves.settle(index, (shape.n > 0) & (shape.d > 0))


def _make_nops(rng: np.random.Generator, shape: Matrices, strides: Ints, at: Ints) -> None:
    """Gives the ops ``at`` no rows or no elements, and other counts up to their maxima."""
    top = np.where(shape.small[at], SMALL_C0, MAX_D)
    make_nops(rng, at, ((shape.n, MAX_N, 1), (shape.d, top, 1)))
    shape.groups[at] = 1 + any_number(rng, len(at), MAX_GROUPS - 1)
    strides[at] = np.maximum(strides[at], 1)
