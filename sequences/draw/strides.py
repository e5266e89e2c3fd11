# SPDX-License-Identifier: Apache-2.0
"""Strides that keep rows apart: each level steps over the extent of inner levels.

Each side has its own nesting order of levels. In the usual order rows lie inside
loop 0 and so on; any other order puts iterations between rows, also without overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import GM_SIZE
from sequences.draw.shapes import LEVELS, Bools, Ints, align, log_uniform, pick
from tb.isa.dma.table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK

FAR_STRIDE = 1 << 32
"""Strides from here on reach beyond 32 bits."""

PAGE = 4096

ROOMY = 160 * 1024
"""Most bytes of an on-chip memory that the margins between rows may spread an op over."""

FAR_SPAN = GM_SIZE - (1 << 30)
"""Most bytes between the ends of a far op: one over all of GM could only be at address 0, where
other ops have rows. Strides up to the last byte are among the corners."""


def orders(rng: np.random.Generator, count: int, interleave: float, rows_first: Bools) -> Ints:
    """Returns ``int64[count, 4]``: the level at each nesting position, innermost first.

    Args:
        rng: Source of randomness.
        count: Number of ops.
        interleave: Fraction with another than the usual order.
        rows_first: ``bool[count]``, ops with rows that leave no room between them (padding).
    """
    order = np.tile(np.arange(LEVELS), (count, 1))
    mixed = np.flatnonzero(rng.random(count) < interleave)
    padded = rows_first[mixed]
    order[mixed[~padded]] = rng.permuted(order[mixed[~padded]], axis=1)
    order[mixed[padded], 1:] = rng.permuted(order[mixed[padded], 1:], axis=1)
    return order


def nest(counts: Ints, foot: Ints, order: Ints, margin: Ints, unit: int) -> tuple[Ints, Ints]:
    """Returns strides ``int64[N, 4]`` (0 where the count is 1) and hulls ``int64[N]``.

    Args:
        counts: ``int64[N, 4]``, each at least 1.
        foot: ``int64[N]``, bytes of a row.
        order: ``int64[N, 4]`` of :func:`orders`.
        margin: ``int64[N, 4]``, bytes to leave free at each position, multiples of ``unit``.
        unit: Alignment of the strides.
    """
    strides = np.zeros_like(counts)
    row = np.arange(len(counts))
    hull = foot.copy()
    for position in range(LEVELS):
        level = order[:, position]
        times = counts[row, level]
        many = times > 1
        step = np.where(many, align(hull, unit) + margin[:, position], 0)
        strides[row, level] = step
        hull += step * (times - 1)
    return strides, hull


def fit(
    counts: Ints, foot: Ints, order: Ints, margin: Ints, unit: int, most: Ints | int
) -> tuple[Ints, Ints]:
    """Returns strides and hulls as :func:`nest`; tight where the margins need above ``most``."""
    strides, hull = nest(counts, foot, order, margin, unit)
    big = hull > most
    if big.any():
        none = np.zeros((int(big.sum()), LEVELS), dtype=np.int64)
        strides[big], hull[big] = nest(counts[big], foot[big], order[big], none, unit)
    return strides, hull


def _stretch(
    rng: np.random.Generator, counts: Ints, strides: Ints, order: Ints, slack: Ints
) -> None:
    """Moves the outermost steps of ops apart by up to ``slack`` bytes in all, in place."""
    row = np.arange(len(counts))
    outer = np.zeros(len(counts), dtype=np.int64)
    for position in range(LEVELS):
        level = order[:, position]
        outer = np.where(counts[row, level] > 1, level, outer)
    more = slack // np.maximum(counts[row, outer] - 1, 1)
    share = np.where(rng.random(len(counts)) < 0.5, 1.0, rng.random(len(counts)))
    step = (more * share).astype(np.int64) // UB_BLOCK * UB_BLOCK
    strides[row, outer] += np.where(counts[row, outer] > 1, step, 0)


def _reread(rng: np.random.Generator, strides: Ints, wanted: Bools, unit: int) -> None:
    index = np.flatnonzero(wanted)
    loops = strides[index, 1:]
    shrink = rng.random(loops.shape) < 0.7
    factor = np.where(rng.random(loops.shape) < 0.5, 0.0, rng.random(loops.shape))
    strides[index, 1:] = np.where(shrink, (loops * factor).astype(np.int64) // unit * unit, loops)


def local_strides(
    rng: np.random.Generator,
    counts: Ints,
    need: Ints,
    pad: Bools,
    *,
    interleave: float,
    reread: Bools,
    most: Ints,
    compact: Bools,
    stretch: NDArray[np.float64],
) -> Ints:
    """Returns local strides ``int64[N, 4]`` within ``most`` bytes per op.

    Args:
        rng: Source of randomness.
        counts: ``int64[N, 4]``, each at least 1.
        need: ``int64[N]``, bytes of a row with its pads.
        pad: ``bool[N]``, rows have pads: to their stride, or to the end of a block (knob
            ``pad_end``).
        interleave: Fraction with iterations between rows.
        reread: ``bool[N]``, ops that only read and may step less than their extent.
        most: ``int64[N]``, bytes between the first and last byte of an op.
        compact: ``bool[N]``, ops with rows that follow each other without a gap, of any length.
        stretch: ``float64[N]``, fraction of ops without rows filled to their stride that spread
            over all of ``most``.
    """
    count = len(need)
    margin = _local_margins(rng, (count, LEVELS))
    # A row that is filled to its stride owns the free bytes.
    to_stride = current().pad_end == "stride"
    filled = pad & ~compact & to_stride
    row_margin = np.where(pad, margin[:, 0], 0)
    margin[filled, 0] = 0
    # A compact group is one row of all its bytes.
    row, grouped = need, counts
    if compact.any():
        need = np.where(compact, counts[:, 0] * row, need)
        grouped = np.where(compact[:, None] & (np.arange(LEVELS) == 0), 1, counts)
    tight = align(need)
    foot = np.where(filled, tight + row_margin, need)
    order = orders(rng, count, interleave, filled)
    strides, hull = nest(grouped, foot, order, margin, UB_BLOCK)
    big = hull > np.minimum(most, ROOMY)
    foot = np.where(big & filled, tight, foot)
    if big.any():
        strides[big], hull[big] = nest(
            grouped[big], foot[big], order[big], np.zeros_like(margin[big]), UB_BLOCK
        )
    wide = np.flatnonzero(~filled & (rng.random(count) < stretch))
    spare = np.maximum(most[wide] - hull[wide], 0)
    apart = strides[wide]
    _stretch(rng, grouped[wide], apart, order[wide], spare)
    strides[wide] = apart
    _reread(rng, strides, reread, UB_BLOCK)
    strides = np.where(grouped > 1, strides, unused_strides(rng, grouped, LOCAL_STRIDE_BITS))
    lone = np.where(filled, foot, tight + row_margin)
    _single_rows(rng, strides, grouped[:, 0] == 1, pad, filled, lone, need)
    strides[:, 0] = np.where(compact, row, strides[:, 0])
    return strides


def _local_margins(rng: np.random.Generator, shape: tuple[int, int]) -> Ints:
    """Draws the free bytes at each nesting position, whole blocks: mostly none."""
    kind = pick(rng, shape[0] * shape[1], np.array([0.5, 0.2, 0.2, 0.1])).reshape(shape)
    blocks = (np.zeros(shape, np.int64), np.ones(shape, np.int64),
              rng.integers(1, 9, shape), rng.integers(9, 257, shape))  # fmt: skip
    margin: Ints = UB_BLOCK * np.choose(kind, blocks)
    return margin


def _single_rows(
    rng: np.random.Generator, strides: Ints, single: Bools, pad: Bools, filled: Bools, lone: Ints,
    need: Ints,
) -> None:  # fmt: skip
    """Sets the row strides of rows that own one, and of rows that are alone, in place.

    Args:
        rng: Source of randomness.
        strides: ``int64[N, 4]``; that of a single row is drawn.
        single: ``bool[N]``, ops of one row or compact group.
        pad: ``bool[N]``, padded rows.
        filled: ``bool[N]``, rows that are filled to their stride.
        lone: ``int64[N]``, strides of the last two.
        need: ``int64[N]``, bytes of a row with its pads, of a compact group all.
    """
    # A single padded row may have any stride where it ends with its block.
    held = pad & single
    if current().pad_end != "stride":
        held &= rng.random(len(need)) < 0.5
    strides[:, 0] = np.where(filled | held, lone, strides[:, 0])
    plain = single & ~pad
    as_long = plain & (rng.random(len(need)) < 0.4)
    strides[:, 0] = np.where(as_long, align(need), strides[:, 0])
    _short(rng, strides, plain, need)


def gm_strides(
    rng: np.random.Generator,
    counts: Ints,
    length: Ints,
    *,
    interleave: float,
    reread: Bools,
    far: Bools,
    most: Ints | int,
) -> Ints:
    """Returns GM strides ``int64[N, 4]``, within ``most`` bytes for all but far ops.

    Args:
        rng: Source of randomness.
        counts: ``int64[N, 4]``, each at least 1.
        length: ``int64[N]``, bytes of a row.
        interleave: Fraction with iterations between rows.
        reread: ``bool[N]``, ops that only read GM and may step less than their extent.
        far: ``bool[N]``, ops that may have rows anywhere.
        most: Bytes between the first and last byte of an op that is not far.
    """
    count = len(length)
    shape = (count, LEVELS)
    kind = pick(rng, count * LEVELS, np.array([0.35, 0.25, 0.28, 0.12])).reshape(shape)
    margin = np.choose(
        kind,
        (
            np.zeros(shape, np.int64),
            rng.integers(1, 32, shape),
            rng.integers(32, _fair_share(counts, most, 33, 4096)[:, None], shape),
            _wide_margins(rng, counts, most),
        ),
    )
    order = orders(rng, count, interleave, np.zeros(count, bool))
    _rows_outside(rng, counts, order, margin, most)
    strides, _ = fit(counts, length, order, margin, 1, most)
    _reread(rng, strides, reread & ~far, 1)
    index = np.flatnonzero(far)
    if len(index):
        strides[index] = far_strides(rng, counts[index], length[index], order[index])
    unused = unused_strides(rng, counts, GM_STRIDE_BITS)
    strides = np.where(counts > 1, strides, unused)
    single = (counts[:, 0] == 1) & (rng.random(count) < 0.4)
    strides[:, 0] = np.where(single, length, strides[:, 0])
    _short(rng, strides, counts[:, 0] == 1, length)
    return strides


REPEAT = 0.12
"""Fraction of loads of several rows that read bytes of a row again in the next one."""


def repeat_rows(rng: np.random.Generator, strides: Ints, length: Ints, several: Bools) -> None:
    """Gives some of the loads ``several`` a GM row stride below their length, in place.

    Only knob ``row_repeat`` legal allows it.
    """
    index = np.flatnonzero(several & (rng.random(len(several)) < REPEAT))
    part = (rng.random(len(index)) * length[index]).astype(np.int64)
    strides[index, 0] = np.where(rng.random(len(index)) < 0.4, 0, part)


def _fair_share(counts: Ints, most: Ints | int, low: int, high: int) -> Ints:
    """Returns half of each row's share of ``most`` bytes, within ``low..high``."""
    share: Ints = np.clip(most // (2 * counts.prod(axis=1)), low, high)
    return share


def _wide_margins(rng: np.random.Generator, counts: Ints, most: Ints | int) -> Ints:
    """Margins of a page or more that still leave the op within ``most`` bytes, if any do.

    Half of them are whole pages: the next row begins where this one ends, in another page.
    """
    high = _fair_share(counts, most, PAGE, 65535)
    drawn = log_uniform(rng, PAGE, np.repeat(high, LEVELS)).reshape(counts.shape)
    return np.where(rng.random(counts.shape) < 0.5, drawn // PAGE * PAGE, drawn)


def _rows_outside(
    rng: np.random.Generator, counts: Ints, order: Ints, margin: Ints, most: Ints | int
) -> None:
    """Spaces the rows of a few ops pages apart with all iterations between them, in place."""
    several = (counts[:, 0] > 1) & (counts[:, 1:] > 1).any(axis=1)
    index = np.flatnonzero(several & (rng.random(len(counts)) < 0.1))
    order[index] = np.roll(np.arange(LEVELS), -1)
    high = np.broadcast_to(most, len(counts))[index] // (2 * counts[index, 0])
    margin[index] = 0
    margin[index, -1] = log_uniform(rng, PAGE, np.clip(high, PAGE, 65535))


def _short(rng: np.random.Generator, strides: Ints, single: Bools, length: Ints) -> None:
    """Gives some single rows a stride of whole blocks below their length, in place."""
    index = np.flatnonzero(single & (length > UB_BLOCK) & (rng.random(len(length)) < 0.06))
    blocks = (length[index] - 1) // UB_BLOCK
    strides[index, 0] = UB_BLOCK * log_uniform(rng, 1, blocks)


def far_strides(rng: np.random.Generator, counts: Ints, length: Ints, order: Ints) -> Ints:
    """Returns GM strides ``int64[N, 4]`` up to the whole of GM, 0 where the count is 1."""
    strides = np.zeros_like(counts)
    row = np.arange(len(counts))
    hull = length.copy()
    outer = counts.prod(axis=1)
    for position in range(LEVELS):
        level = order[:, position]
        times = counts[row, level]
        outer //= times
        # Outer levels repeat this one `outer` times, so its share of GM is bounded.
        room = (FAR_SPAN // outer - hull) // np.maximum(times - 1, 1)
        room = np.maximum(np.minimum(room, (1 << GM_STRIDE_BITS) - 1), 1)
        kind = pick(rng, len(counts), np.array([0.3, 0.35, 0.25, 0.1]))
        step = np.choose(
            kind,
            (
                hull,
                log_uniform(rng, np.minimum(FAR_STRIDE, room), room),
                log_uniform(rng, np.minimum(hull, room), room),
                room,
            ),
        )
        step = np.maximum(np.minimum(step, room), hull)
        step = np.where(times > 1, step, 0)
        strides[row, level] = step
        hull += step * (times - 1)
    return strides


def unused_strides(rng: np.random.Generator, counts: Ints, bits: int) -> Ints:
    """Strides of levels that take no step may hold anything."""
    any_value = rng.integers(0, 1 << bits, counts.shape)
    small = rng.integers(0, 256, counts.shape)
    kind = pick(rng, counts.size, np.array([0.5, 0.25, 0.25])).reshape(counts.shape)
    drawn: Ints = np.choose(kind, (np.zeros_like(counts), small, any_value))
    return drawn


def hulls(counts: Ints, strides: Ints, foot: Ints) -> Ints:
    """Returns the bytes from the first to the last one touched, ``int64[N]``."""
    reach: Ints = ((counts - 1) * strides).sum(axis=1) + foot
    return reach


def nop_strides(rng: np.random.Generator, need: Ints, pad: Bools) -> tuple[Ints, Ints]:
    """Returns UB and GM strides ``int64[N, 4]`` of NOPs: they access nothing, but obey L07, L08."""
    shape = (len(need), LEVELS)
    most = np.full(shape, (1 << LOCAL_STRIDE_BITS) // UB_BLOCK - 1)
    local = log_uniform(rng, 1, most.ravel()).reshape(shape) * UB_BLOCK
    local[:, 1:] *= rng.integers(0, 2, (len(need), LEVELS - 1))
    local[:, 0] = np.maximum(local[:, 0], align(need))
    exact = rng.random(len(need)) < 0.3
    local[:, 0] = np.where(exact, np.maximum(align(need), np.where(pad, UB_BLOCK, 0)), local[:, 0])
    gm = log_uniform(rng, 1, np.full(len(need) * LEVELS, (1 << GM_STRIDE_BITS) - 1)).reshape(shape)
    gm[:, 0] = np.where(exact, need, np.maximum(gm[:, 0], need))
    return local, gm
