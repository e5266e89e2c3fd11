# SPDX-License-Identifier: Apache-2.0
"""Sizes of ops: row length, rows, loop counts, element type and padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import MAX_FAR_ROWS, OpConstraints
from tb.isa.dma.table import BLOCK_COUNT_BITS, LOOP_COUNT_BITS, MAX_LOOPS, PAD_LIMIT
from tb.isa.dtypes import DTYPE_INDEX, DTYPES, ELEMENT_BYTES, PAD_DTYPES
from tb.isa.profile import SEED, current
from tb.isa.spaces import UB_BLOCK

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_BLOCKS = (1 << BLOCK_COUNT_BITS) - 1
"""Most bursts of ``mte_l1_ub``."""

LEVELS = 1 + MAX_LOOPS
"""Rows and loops: column 0 of a count or stride table is the rows, column 1 + k is loop k."""

_ELEM_LOG2 = np.array([ELEMENT_BYTES[name].bit_length() - 1 for name in DTYPES])
_TYPES_OF_SIZE = [np.flatnonzero(np.equal(_ELEM_LOG2, log2)) for log2 in range(4)]
_PADS_OF_SIZE = [
    np.array([DTYPE_INDEX[name] for name in PAD_DTYPES if ELEMENT_BYTES[name] == 1 << log2] or [0])
    for log2 in range(4)
]


@dataclass(frozen=True)
class Forms:
    """Forms of N strided ops, ``bool[N]`` each.

    Attributes:
        far: May have GM rows anywhere.
        legacy: Written in the register form.
        nop: Has a zero count or length.
        pad: Rows are padded, where they have room.
    """

    far: Bools
    legacy: Bools
    nop: Bools
    pad: Bools


@dataclass
class Shapes:
    """Shapes of N ops; arrays are edited in place while ops copy each other's shape.

    Attributes:
        counts: ``int64[N, 4]``, rows then loops 0..2; absent loops count 1.
        n_loops: ``int64[N]``.
        length: ``int64[N]``, bytes in a row.
        dtype: ``int64[N]``, index into ``DTYPES``.
        elem: ``int64[N]``, element size in bytes.
        pad: ``bool[N]``.
        left, right: ``int64[N]``, pad bytes.
    """

    counts: Ints
    n_loops: Ints
    length: Ints
    dtype: Ints
    elem: Ints
    pad: Bools
    left: Ints
    right: Ints

    @property
    def rows(self) -> Ints:
        """Rows over all iterations, ``int64[N]``."""
        total: Ints = self.counts.prod(axis=1)
        return total

    @property
    def need(self) -> Ints:
        """UB bytes a row must have: data, and with padding both pads; ``int64[N]``."""
        return self.length + np.where(self.pad, self.left + self.right, 0)


def align(values: Ints, unit: Ints | int = UB_BLOCK) -> Ints:
    """Returns ``values`` rounded up to a multiple of ``unit``."""
    return -(-values // unit) * unit


def log_uniform(rng: np.random.Generator, low: Ints | int, high: Ints) -> Ints:
    """Returns integers in ``low..high``, each power of two as likely; high >= low >= 1."""
    floor = np.log2(low)
    spread = np.log2(high + 1.0) - floor
    drawn = np.exp2(floor + rng.random(len(high)) * spread).astype(np.int64)
    clipped: Ints = np.clip(drawn, low, high)
    return clipped


def any_number(rng: np.random.Generator, count: int, most: int) -> Ints:
    """Returns ``int64[count]`` of ``0..most``, both ends often: operands that are not used."""
    kind = rng.random(count)
    drawn = rng.integers(0, most + 1, count)
    return np.where(kind < 0.3, 0, np.where(kind > 0.85, most, drawn))


def pick(rng: np.random.Generator, count: int, weights: NDArray[np.float64]) -> Ints:
    """Returns ``int64[count]`` indices drawn with ``weights``."""
    edges = np.cumsum(weights)
    return np.searchsorted(edges[:-1] / edges[-1], rng.random(count), side="right")


STEP_KINDS = ("adjoin", "next", "near", "wide", "farthest", "inside")
"""Pieces that adjoin, are a unit apart, up to 16, any number, as far as may be, that overlap."""


def steps(
    rng: np.random.Generator,
    tight: Ints,
    most: Ints,
    weights: Mapping[str, float],
    unit: Ints | int = 1,
) -> Ints:
    """Draws the distances between the pieces of an axis, ``int64[N]``.

    Args:
        rng: Source of randomness.
        tight: ``int64[N]``, distances at which pieces adjoin.
        most: ``int64[N]``, largest distances; one below ``tight`` is the only one.
        weights: Weight of each of ``STEP_KINDS``, 0 for those left out.
        unit: What a distance is a multiple of, counted from ``tight``.
    """
    size = len(tight)
    slack = np.maximum(most - tight, 0) // unit
    kind = pick(rng, size, np.array([weights.get(name, 0.0) for name in STEP_KINDS]))
    share = rng.random(size)
    more = np.choose(
        kind,
        (
            0 * slack,
            1 + 0 * slack,
            1 + (share * 16).astype(np.int64),
            log_uniform(rng, 1, np.maximum(slack, 1)),
            slack,
            -1 - (share * (tight // unit)).astype(np.int64),
        ),
    )
    found: Ints = np.minimum(tight + np.minimum(more, slack) * unit, most)
    return found


def _split_rows(rng: np.random.Generator, rows: Ints, active: Bools) -> Ints:
    weights = rng.exponential(size=active.shape) * active
    total = weights.sum(axis=1, keepdims=True)
    share = weights / np.where(total > 0, total, 1)
    return np.maximum(np.exp2(np.log2(rows)[:, None] * share).astype(np.int64), 1)


def limit_counts(counts: Ints, room: Ints) -> None:
    """Lowers ``counts`` (``int64[N, 4]``) in place until their product is at most ``room``."""
    room = room.copy()
    for level in range(LEVELS):
        counts[:, level] = np.minimum(counts[:, level], np.maximum(room, 1))
        room //= np.maximum(counts[:, level], 1)


TALL_ROWS = 96
"""Most rows of a tall op."""


def _tall(
    rng: np.random.Generator,
    forms: Forms,
    counts: Ints,
    active: Bools,
    limits: OpConstraints,
) -> None:
    """Gives a few ops many rows below loops that iterate, in place; far ops get fewer rows."""
    chance = rng.random(len(counts))
    share = np.where(forms.legacy, 0.07, 0.04) * (limits.max_rows >= TALL_ROWS)
    tall = ~forms.far & (chance < share)
    index = np.flatnonzero(tall | (forms.far & (chance < 0.5)))
    rows = rng.integers(16, TALL_ROWS + 1, len(index))
    spread = log_uniform(rng, 2, np.full(len(index), MAX_FAR_ROWS))
    counts[index, 0] = np.minimum(np.where(tall[index], rows, spread), limits.max_rows)
    twice = active[index, 1:] & (rng.random((len(index), MAX_LOOPS)) < 0.6)
    counts[index, 1:] = np.where(twice, 2, 1)


def draw_counts(
    rng: np.random.Generator, forms: Forms, total: Ints, n_loops: Ints, limits: OpConstraints
) -> Ints:
    """Returns rows and iterations, ``int64[N, 4]``, of ops that move ``total`` bytes at least."""
    count = len(total)
    most = np.minimum(total, limits.max_rows)
    rows = np.where(rng.random(count) < 0.2, 1, log_uniform(rng, 1, np.minimum(most, 512)))
    deep = rng.random(count) < 0.015
    rows = np.where(deep, log_uniform(rng, np.minimum(256, most), most), rows)
    spread = 1 + (rng.random(count) * np.minimum(most, MAX_FAR_ROWS)).astype(np.int64)
    rows = np.where(forms.far, spread, rows)
    active = np.arange(LEVELS) <= n_loops[:, None]
    if limits.max_loops < 2:
        active[forms.legacy, 1 + limits.max_loops :] = False
    # A legacy copy has two loops in any case; half of the time neither iterates.
    active[:, 1:] &= ~(forms.legacy & (rng.random(count) < 0.35))[:, None]
    # Many rows below loops are rare where all levels share the budget.
    only_rows = rng.random((count, 1)) < 0.4
    counts = _split_rows(rng, rows, active & ~(only_rows & (np.arange(LEVELS) > 0)))
    # Counts of 1, 2 and 3 find most errors of loop logic: they must not depend on the row budget.
    forced = active & (rng.random(counts.shape) < 0.3)
    small = np.minimum(rng.integers(1, 4, counts.shape), limits.max_rows)
    counts = np.where(forced, small, counts)
    _tall(rng, forms, counts, active, limits)
    loops = counts[:, 1:].prod(axis=1)
    counts[forms.far & (loops > MAX_FAR_ROWS), 1:] = 1
    loops = counts[:, 1:].prod(axis=1)
    few = np.minimum(counts[:, 0], MAX_FAR_ROWS // loops)
    counts[:, 0] = np.where(forms.far, few, counts[:, 0])
    return counts


EDGE_LENGTHS = np.array(
    [1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 512, 1024, 2048]
)
"""Lengths around words and bursts."""

MANY_BYTES = 48 * 1024
"""Most bytes of an op with a length drawn independently of its rows."""

LONG_LENGTHS = np.array([4095, 4096, 4097, 8192, 16384, 32768])
"""Lengths around pages, for ops of very few rows; those around the operand's maximum follow."""


def long_lengths() -> Ints:
    """Returns lengths around pages and around the maximum of 16 and of more bits."""
    most = current().longest
    top = [most - 31, most - 1, most]
    if most > SEED.longest:
        top = [SEED.longest, SEED.longest + 2, most]
    return np.concatenate((LONG_LENGTHS, top))


def edge_lengths(
    rng: np.random.Generator,
    far: Bools,
    counts: Ints,
    length: Ints,
    residue: Ints,
    top: int,
    edge: float,
) -> Ints:
    """Returns lengths around words, bursts and pages for a fraction ``edge`` of the ops.

    Ops with long rows get few rows: ``counts`` changes in place. An op with a ``residue`` that is
    not negative keeps its length.
    """
    count = len(length)
    chance = rng.random(count)
    free = residue < 0
    short = free & (chance < edge * 8 / 9)
    long = free & (chance > 1 - edge / 9) & ~far
    near = rng.choice(EDGE_LENGTHS, count)
    short &= near * counts.prod(axis=1) <= MANY_BYTES
    length = np.where(short, near, length)
    # The longest ones take as long as fifty ops: most of the long ones are a page.
    weights = np.array([4, 10, 4, 1, 1, 1, 1, 1, 3.0])
    length = np.where(long, long_lengths()[pick(rng, count, weights)], length)
    few = np.flatnonzero(long)
    counts[few, 0] = np.minimum(counts[few, 0], 2)
    counts[few, 1:] = 1
    return np.minimum(length, top)


def draw_elements(rng: np.random.Generator, pad: Bools) -> tuple[Ints, Ints]:
    """Returns element types and their sizes, ``int64[N]`` each; 8 bytes cannot be padded."""
    log2 = pick(rng, len(pad), np.array([0.3, 0.3, 0.3, 0.1]))
    log2 = np.where(pad & (log2 == 3), 0, log2)
    dtype = np.zeros(len(pad), dtype=np.int64)
    for size, types in enumerate(_TYPES_OF_SIZE):
        mine = log2 == size
        dtype[mine] = rng.choice(types, int(mine.sum()))
    return dtype, np.left_shift(1, log2)


def short_elements(rng: np.random.Generator, shapes: Shapes, wanted: Bools) -> None:
    """Gives the ops ``wanted`` elements that their rows hold, in place (DMA-L19)."""
    index = np.flatnonzero(wanted & (shapes.length < shapes.elem))
    if len(index):
        shapes.elem[index] = 1
        shapes.dtype[index] = rng.choice(_TYPES_OF_SIZE[0], len(index))


def pad_types(rng: np.random.Generator, elem: Ints) -> Ints:
    """Returns ``int64[N]`` pad types as wide as the elements; 0 where none exists."""
    drawn = np.zeros(len(elem), dtype=np.int64)
    for log2, types in enumerate(_PADS_OF_SIZE):
        mine = elem == 1 << log2
        drawn[mine] = rng.choice(types, int(mine.sum()))
    return drawn


def pad_bytes(rng: np.random.Generator, elem: Ints) -> Ints:
    """Returns bytes of a pad, ``int64[N]``: whole elements, none and the most of them often."""
    most = PAD_LIMIT // elem
    kind = pick(rng, len(elem), np.array([0.3, 0.2, 0.2, 0.3]))
    drawn = (rng.random(len(elem)) * (most + 1)).astype(np.int64)
    return np.choose(kind, (np.zeros_like(elem), np.ones_like(elem), most, drawn)) * elem


def total_bytes(rng: np.random.Generator, count: int, limits: OpConstraints) -> Ints:
    """Returns data bytes per op, ``int64[count]``, in the size profile of ``limits``."""
    sizes = limits.sizes
    chosen = pick(
        rng, count, np.array([size.weight * (size.low <= limits.max_bytes) for size in sizes])
    )
    low = np.array([size.low for size in sizes])[chosen]
    high = np.minimum(np.array([size.high for size in sizes]), limits.max_bytes)[chosen]
    return log_uniform(rng, low, high)


def with_residue(length: Ints, residue: Ints, bus: int, top: Ints) -> Ints:
    """Returns lengths near ``length`` with the wanted residues modulo ``bus``, up to ``top``.

    Those with a negative ``residue``, or without room, are unchanged.
    """
    fixed = np.where(length < bus, residue, length // bus * bus + residue)
    fixed = np.where(fixed > top, fixed - bus, np.where(fixed > 0, fixed, bus))
    fits = (residue >= 0) & (fixed <= top)
    return np.where(fits, np.maximum(fixed, 1), length)


def make_nops(
    rng: np.random.Generator, index: Ints, counts: Sequence[tuple[Ints, Ints | int, Ints | int]]
) -> None:
    """Gives ops one of two counts 0, or both, and the other any value, in place.

    Args:
        rng: Source of randomness.
        index: ``int64[K]``, the ops.
        counts: Of each count the column ``int64[M]``, its limit, and what it is a multiple of, one
            or ``int64[K]``.
    """
    zero = pick(rng, len(index), np.array([0.45, 0.45, 0.1]))
    for number, (column, most, multiple) in enumerate(counts):
        top = np.broadcast_to(most, len(index))
        drawn = np.where(rng.random(len(index)) < 0.3, top, rng.integers(1, top + 1))
        column[index] = np.where(zero == 1 - number, drawn // multiple * multiple, 0)


def strided_nops(rng: np.random.Generator, shapes: Shapes, nop: Bools, blocks: Bools) -> None:
    """Gives the ops of ``nop`` a zero length or count, and other counts up to their maxima.

    The ops of ``blocks``, ``bool[N]``, count fewer rows: those of ``mte_l1_ub``.
    """
    index = np.flatnonzero(nop)
    count = len(index)
    limit = np.full((count, LEVELS), (1 << LOOP_COUNT_BITS) - 1)
    limit[:, 0] = np.where(blocks[index], MOST_BLOCKS, current().longest)
    kind = pick(rng, count, np.array([0.35, 0.25, 0.25, 0.15]))
    size = (count, LEVELS)
    drawn = np.choose(
        pick(rng, count * LEVELS, np.array([0.3, 0.3, 0.2, 0.2])).reshape(size),
        (
            np.ones(size, dtype=np.int64),
            rng.integers(2, 9, size),
            limit,
            rng.integers(1, limit + 1),
        ),
    )
    n_loops = shapes.n_loops[index]
    drawn[np.arange(LEVELS) > n_loops[:, None]] = 1
    row = np.arange(count)
    drawn[kind == 1, 0] = 0
    loop = np.where(n_loops > 0, 1 + row % np.maximum(n_loops, 1), 0)
    zero_loop = (kind >= 2) & (n_loops > 0)
    drawn[row[zero_loop], loop[zero_loop]] = 0
    shapes.counts[index] = drawn
    # Without a loop count to be zero the length is zero, and sometimes both are.
    no_length = (kind == 0) | ((kind >= 2) & (n_loops == 0)) | (rng.random(count) < 0.1)
    shapes.length[index[no_length]] = 0
