# SPDX-License-Identifier: Apache-2.0
"""Shapes of the strided copies: rows and loops on both sides, within the limits of each side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import MAX_FAR_ROWS, OpConstraints
from sequences.draw.moves import DESTINATION, GM, SOURCE, Moves, marked
from sequences.draw.shapes import (
    LEVELS,
    MOST_BLOCKS,
    Bools,
    Forms,
    Ints,
    Shapes,
    align,
    draw_counts,
    draw_elements,
    edge_lengths,
    limit_counts,
    log_uniform,
    pad_bytes,
    pick,
    short_elements,
    strided_nops,
    total_bytes,
    with_residue,
)
from sequences.draw.strides import gm_strides, local_strides, nop_strides, repeat_rows
from tb.isa.dma.table import (
    BLOCK_GAP_BITS,
    MAX_LOOPS,
    PAD_LIMIT,
)
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK

_IS_STRIDED = marked(lambda row: row.family == "dma")
_FROM_GM = marked(lambda row: row.family == "dma" and row.source == "gm")
_PADS = marked(lambda row: row.has("pad_value"))
_GAPS = marked(lambda row: row.family == "dma" and row.gaps)

COMPACT = 0.16
"""Fraction of copies with rows that follow each other without a gap on the chip, where they may."""

WHOLE = 0.3
"""Fraction of groups of very short rows without a gap that end with a block, where they may."""

BY_COUNTS = 0.4
"""Fraction of padded legacy copies that select padding by its counts alone, where they may."""

SPREAD = 5
"""Factor by which sources are spread over their whole limit more often: they may overlap."""


def strided(opcode: Ints) -> Bools:
    """Returns a mask of the strided copies, ``bool[N]``."""
    found: Bools = _IS_STRIDED[opcode]
    return found


def _fresh(
    rng: np.random.Generator, forms: Forms, whole: Bools, read: Ints, write: Ints, residue: Ints,
    limits: OpConstraints,
) -> Shapes:  # fmt: skip
    """Draws rows of any shape that fit ``read`` and ``write`` bytes, each ``int64[M]``."""
    count = len(read)
    pads = np.where(forms.pad, 2 * PAD_LIMIT, 0)
    most = np.maximum(np.minimum(read, write - pads), 1)
    total = np.minimum(total_bytes(rng, count, limits), most)
    n_loops = pick(rng, count, np.array(limits.loops[: limits.max_loops + 1]))
    n_loops = np.where(forms.legacy, 2, n_loops)
    counts = draw_counts(rng, forms, total, n_loops, limits)
    longest = current().longest
    counts[:, 0] = np.minimum(counts[:, 0], np.where(whole, MOST_BLOCKS, longest))
    length = np.clip(total // counts.prod(axis=1), 1, longest)
    top = min(longest, limits.max_bytes)
    length = with_residue(length, residue, limits.bus_bytes, np.minimum(most, top))
    length = edge_lengths(rng, forms.far, counts, length, residue, top, limits.edge)
    length = np.minimum(length, most)
    length = np.where(whole, np.minimum(align(length), most // UB_BLOCK * UB_BLOCK), length)
    dtype, elem = draw_elements(rng, forms.pad)
    pad = forms.pad & (length >= elem)
    length = np.where(pad, length // elem * elem, length)
    room = np.minimum(read // align(length), write // (align(length) + pads))
    room = np.minimum(room, limits.max_bytes // np.maximum(length, 1))
    limit_counts(counts, np.minimum(room, limits.max_rows))
    left, right = pad_bytes(rng, elem), pad_bytes(rng, elem)
    return Shapes(counts, n_loops, length, dtype, elem, pad, left, right)


def _flat(rng: np.random.Generator, shapes: Shapes, index: Ints, most: Ints, whole: Bools) -> None:
    """Makes the ops ``index`` one row over all the ``most`` bytes they may read, or a part."""
    part = log_uniform(rng, 1, most[index])
    length = np.where(rng.random(len(index)) < 0.6, most[index], part)
    length = np.minimum(length, current().longest)
    blocks = np.maximum(length // UB_BLOCK * UB_BLOCK, UB_BLOCK)
    shapes.length[index] = np.where(whole[index], blocks, length)
    shapes.counts[index] = 1


def _compact(rng: np.random.Generator, shapes: Shapes, free: Bools, any_length: Bools) -> Bools:
    """Returns a mask of the copies ``free`` that have rows without gaps.

    Half of those of ``any_length`` are very short, and some of these groups of an even number of
    rows are whole blocks. Their lengths and pads change in place. Only knob ``compact`` legal
    allows lengths that are not whole blocks.
    """
    compact = free & (shapes.counts[:, 0] > 1) & (rng.random(len(free)) < COMPACT)
    tiny = compact & any_length & (rng.random(len(free)) < 0.5)
    short = np.minimum(shapes.length, rng.integers(1, 2 * UB_BLOCK, len(free)))
    step = UB_BLOCK // np.gcd(shapes.counts[:, 0], UB_BLOCK)
    short = np.where(rng.random(len(free)) < WHOLE, -(-short // step) * step, short)
    short = np.where(shapes.pad, np.maximum(short // shapes.elem, 1) * shapes.elem, short)
    shapes.length = np.where(tiny, short, shapes.length)
    # A padded group has no left pad, and ends with its block (DMA-L10).
    shapes.left, shapes.right = np.where(compact, 0, (shapes.left, shapes.right))
    return compact


def _strides(
    rng: np.random.Generator, shapes: Shapes, far: Bools, on_gm: Bools, most: Ints,
    stretch: NDArray[np.float64], *, source: bool, limits: OpConstraints, compact: Bools,
) -> Ints:  # fmt: skip
    strides = np.zeros_like(shapes.counts)
    for gm in (False, True):
        index = np.flatnonzero(on_gm == gm)
        if not len(index):
            continue
        reread = (rng.random(len(index)) < limits.reread) & source
        counts = shapes.counts[index]
        if gm:
            found = gm_strides(
                rng, counts, shapes.length[index], interleave=limits.interleave, reread=reread,
                far=far[index], most=most[index],
            )  # fmt: skip
            if source and current().row_repeat == "legal":
                several = (counts[:, 0] > 1) & ~far[index]
                repeat_rows(rng, found, shapes.length[index], several)
            strides[index] = found
        else:
            strides[index] = local_strides(
                rng, counts, shapes.need[index], shapes.pad[index], interleave=limits.interleave,
                reread=reread, most=most[index], stretch=stretch[index],
                compact=compact[index],
            )  # fmt: skip
    return strides


def _clones(rng: np.random.Generator, opcode: Ints, candidates: Bools, fraction: float) -> Ints:
    """Returns the op with the shape that each repeats, the last candidate of its opcode, or -1."""
    clone = np.full(len(opcode), -1, dtype=np.int64)
    for code in np.unique(opcode[candidates]).tolist():
        index = np.flatnonzero(candidates & (opcode == code))
        wants = rng.random(len(index)) < fraction
        latest = np.maximum.accumulate(np.where(wants, -1, np.arange(len(index))))
        wants &= latest >= 0
        clone[index[wants]] = index[latest[wants]]
    return clone


def shape_strided(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    read: Ints,
    write: Ints,
    wide: Bools,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` of ``moves`` rows of at most ``read`` and ``write`` bytes.

    Args:
        rng: Source of randomness.
        moves: The draw; parents have their shape.
        index: ``int64[M]``, strided ops in program order.
        read: ``int64[M]``, bytes from the first to the last one at the source.
        write: The same at the destination.
        wide: ``bool[M]``, ops that spread over all of them.
        limits: Constraints.
    """
    opcode, parent = moves.opcode[index], moves.parent[index]
    load = _PADS[opcode]
    forms = Forms(
        moves.far[index], moves.legacy[index], moves.nop[index],
        load & (rng.random(len(index)) < limits.pad),
    )  # fmt: skip
    whole = _GAPS[opcode]
    loads = _FROM_GM[opcode]
    knobs = current()
    if knobs.tail == "fill":
        write = np.where(loads, write // UB_BLOCK * UB_BLOCK, write)
    shapes = _fresh(rng, forms, whole, read, write, moves.residue[index], limits)
    child = parent >= 0
    chance = rng.random(len(index))
    flat = np.flatnonzero(child & (chance < 0.12))
    _flat(rng, shapes, flat, np.minimum(np.minimum(read, write), limits.max_bytes), whole)
    wanted = child & (chance > 0.2)
    same = _same_rows(moves, shapes, index, wanted, whole, write, forms.legacy, limits)
    far = forms.far & (shapes.rows <= MAX_FAR_ROWS)
    shapes.pad &= (shapes.length >= shapes.elem) & (shapes.length % shapes.elem == 0)
    shapes.pad &= shapes.rows * (align(shapes.length) + 2 * PAD_LIMIT) <= write
    from_gm, to_gm = SOURCE[opcode] == GM, DESTINATION[opcode] == GM
    stretch = np.where(wide, 1.0, limits.stretch)
    spread = np.where(wide, 1.0, min(limits.stretch * SPREAD, 1.0))
    compact = np.zeros(len(index), dtype=bool)
    if knobs.compact == "legal":
        free = ~whole & ~_marked(len(index), same)
        compact = _compact(rng, shapes, free, moves.residue[index] < 0)
    if knobs.tail == "fill":
        short_elements(rng, shapes, load & ~shapes.pad)
    src = _strides(
        rng, shapes, far, from_gm, read, spread, source=True, limits=limits, compact=compact
    )
    dst = _strides(
        rng, shapes, far, to_gm, write, stretch, source=False, limits=limits, compact=compact
    )
    # Of the levels that take no step the parent's stride may be anything.
    src[same] = np.where(shapes.counts[same] > 1, moves.write.strides[parent[same]], src[same])
    clone = _clones(rng, opcode, forms.legacy & ~child & ~forms.nop, limits.clone)
    at = np.flatnonzero(clone >= 0)
    for column in (
        shapes.counts, shapes.length, shapes.dtype, shapes.elem, shapes.pad, shapes.left,
        shapes.right, src, dst, far, compact,
    ):  # fmt: skip
        column[at] = column[clone[at]]
    idle = np.flatnonzero(forms.nop)
    strided_nops(rng, shapes, forms.nop, whole)
    for side, on_gm in ((src, from_gm), (dst, to_gm)):
        local, gm = nop_strides(rng, shapes.need[idle], shapes.pad[idle])
        side[idle] = np.where(on_gm[idle, None], gm, local)
    moves.far[index] = far
    moves.dtype[index] = shapes.dtype
    _fill(rng, moves, index, shapes, src, dst)
    moves.settle(index, shapes.length > 0)


def _marked(count: int, index: Ints) -> Bools:
    """Returns ``bool[count]``, true at ``index``."""
    found = np.zeros(count, dtype=bool)
    found[index] = True
    return found


def _same_rows(
    moves: Moves, shapes: Shapes, index: Ints, wanted: Bools, whole: Bools, write: Ints,
    legacy: Bools, limits: OpConstraints,
) -> Ints:  # fmt: skip
    """Gives ops exactly the rows that their strided parents wrote; returns these ops."""
    parent = np.maximum(moves.parent[index], 0)
    counts = moves.write.counts[parent]
    length = moves.write.foot[parent]
    length = np.where(whole, align(length), length)
    n_loops = moves.columns["n_loops"][parent]
    fits = strided(moves.opcode[parent]) & wanted & (moves.write.hull[parent] > 0)
    # Two register loops cannot hold three.
    fits &= np.where(legacy, n_loops <= 2, n_loops <= limits.max_loops)
    fits &= moves.write.hull[parent] <= moves.extent[parent]
    fits &= (length <= current().longest) & ~(whole & (counts[:, 0] > MOST_BLOCKS))
    fits &= counts.prod(axis=1) * align(length) <= write
    same = np.flatnonzero(fits)
    shapes.counts[same], shapes.length[same] = counts[same], length[same]
    shapes.n_loops[same] = np.where(legacy, 2, n_loops)[same]
    return same


def _fill(
    rng: np.random.Generator, moves: Moves, index: Ints, shapes: Shapes, src: Ints, dst: Ints
) -> None:
    """Writes the descriptor fields of shapes and padding."""
    columns, opcode = moves.columns, moves.opcode[index]
    store = (DESTINATION[opcode] == GM)[:, None]
    ext, loc = np.where(store, dst, src), np.where(store, src, dst)
    present = np.arange(1, LEVELS) <= shapes.n_loops[:, None]
    columns["elem_log2"][index] = np.log2(shapes.elem).astype(np.int64)
    columns["n_loops"][index] = shapes.n_loops
    whole = _GAPS[opcode]
    columns["len"][index] = np.where(whole, shapes.length // UB_BLOCK, shapes.length)
    columns["n_burst"][index] = shapes.counts[:, 0]
    for name, strides in (("ext_stride", ext[:, 0]), ("loc_stride", loc[:, 0])):
        # A gap after a single burst may hold anything.
        gap = (strides - np.where(shapes.counts[:, 0] > 1, shapes.length, 0)) // UB_BLOCK
        columns[name][index] = np.where(whole, gap & ((1 << BLOCK_GAP_BITS) - 1), strides)
    for k in range(MAX_LOOPS):
        columns[f"loop{k}_count"][index] = np.where(present[:, k], shapes.counts[:, 1 + k], 1)
        columns[f"loop{k}_ext_stride"][index] = np.where(present[:, k], ext[:, 1 + k], 0)
        columns[f"loop{k}_loc_stride"][index] = np.where(present[:, k], loc[:, 1 + k], 0)
    legacy, pad = moves.legacy[index], shapes.pad
    unit = np.where(legacy & (current().legacy_pad_unit == "bytes"), 1, shapes.elem)
    value = rng.integers(0, np.left_shift(1, 8 * np.minimum(shapes.elem, 4)))
    columns["pad_en"][index] = pad
    if current().pad_unselected == "register":
        counted = pad & legacy & (shapes.left + shapes.right > 0)
        counted &= rng.random(len(index)) < BY_COUNTS
        columns["pad_en"][index[counted]] = 0
    columns["pad_legacy"][index] = legacy & _PADS[opcode]
    columns["pad_left"][index] = pad * shapes.left // unit
    columns["pad_right"][index] = pad * shapes.right // unit
    columns["pad_value"][index] = pad * value
