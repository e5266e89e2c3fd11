# SPDX-License-Identifier: Apache-2.0
"""Shapes of the strided copies: rows and loops on both sides, within what each side may take."""

from __future__ import annotations

import numpy as np

from sequences.constraints import MAX_FAR_ROWS, OpConstraints
from sequences.draw.moves import DESTINATION, GM, SOURCE, STRIDED, Moves, by_name
from sequences.draw.plan import Bools, Ints, Plan
from sequences.draw.shapes import (
    LEVELS,
    MAX_LEN,
    Shapes,
    align,
    draw_counts,
    draw_elements,
    edge_lengths,
    limit_counts,
    log_uniform,
    make_nops,
    pick,
    total_bytes,
    with_residue,
)
from sequences.draw.strides import gm_strides, local_strides, nop_strides
from tb.isa.dma_table import MAX_LOOPS, MTE_L1_UB, MTE_UB_GM
from tb.isa.spaces import UB_BLOCK

_IS_STRIDED = by_name(dict.fromkeys(STRIDED, 1))

SPREAD = 5
"""How much more often a source is spread over all it may take: it needs no room of its own."""


def strided(opcode: Ints) -> Bools:
    """Tells which ops are strided copies, ``bool[N]``."""
    found: Bools = _IS_STRIDED[opcode] == 1
    return found


def _plan(far: Bools, nop: Bools) -> Plan:
    none = np.full(len(far), -1, dtype=np.int64)
    no = np.zeros(len(far), dtype=bool)
    return Plan(no, no, nop, far, none, none, none)


def _fresh(
    rng: np.random.Generator, plan: Plan, whole: Bools, read: Ints, write: Ints, residue: Ints,
    limits: OpConstraints,
) -> Shapes:  # fmt: skip
    """Draws rows of any shape that fit ``read`` and ``write`` bytes, each ``int64[M]``."""
    count = len(read)
    most = np.minimum(read, write)
    total = np.minimum(total_bytes(rng, count, limits), most)
    n_loops = pick(rng, count, np.array(limits.loops[: limits.max_loops + 1]))
    counts = draw_counts(rng, plan, total, n_loops, limits)
    length = np.clip(total // counts.prod(axis=1), 1, MAX_LEN)
    top = min(MAX_LEN, limits.max_bytes)
    length = with_residue(length, residue, limits.bus_bytes, np.minimum(most, top))
    length = edge_lengths(rng, plan, counts, length, residue, top, limits.edge)
    length = np.minimum(length, most)
    blocks = np.minimum(align(length), MAX_LEN // UB_BLOCK * UB_BLOCK)
    length = np.where(whole, np.minimum(blocks, most // UB_BLOCK * UB_BLOCK), length)
    room = np.minimum(most // align(length), limits.max_bytes // np.maximum(length, 1))
    limit_counts(counts, np.minimum(room, limits.max_rows))
    dtype, elem = draw_elements(rng, np.zeros(count, dtype=bool))
    none = np.zeros(count, dtype=np.int64)
    return Shapes(
        counts, n_loops, length, dtype, elem, np.zeros(count, dtype=bool), none, none.copy()
    )


def _flat(rng: np.random.Generator, shapes: Shapes, index: Ints, most: Ints, whole: Bools) -> None:
    """Makes the ops ``index`` one row over all the ``most`` bytes they may read, or a part."""
    part = log_uniform(rng, 1, most[index])
    length = np.where(rng.random(len(index)) < 0.6, most[index], part)
    length = np.minimum(length, MAX_LEN)
    blocks = np.maximum(length // UB_BLOCK * UB_BLOCK, UB_BLOCK)
    shapes.length[index] = np.where(whole[index], blocks, length)
    shapes.counts[index] = 1


def _strides(
    rng: np.random.Generator, shapes: Shapes, far: Bools, on_gm: Bools, most: Ints, *,
    source: bool, limits: OpConstraints,
) -> Ints:  # fmt: skip
    strides = np.zeros_like(shapes.counts)
    for gm in (False, True):
        index = np.flatnonzero(on_gm == gm)
        reread = (rng.random(len(index)) < limits.reread) & source
        counts = shapes.counts[index]
        if gm:
            strides[index] = gm_strides(
                rng, counts, shapes.length[index], interleave=limits.interleave, reread=reread,
                far=far[index] & source, most=most[index],
            )  # fmt: skip
        elif len(index):
            strides[index] = local_strides(
                rng, counts, shapes.length[index], shapes.pad[index],
                interleave=limits.interleave, reread=reread, most=most[index],
                stretch=min(limits.stretch * (SPREAD if source else 1), 1.0),
            )  # fmt: skip
    return strides


def shape_strided(
    rng: np.random.Generator,
    moves: Moves,
    index: Ints,
    read: Ints,
    write: Ints,
    limits: OpConstraints,
) -> None:
    """Gives the ops ``index`` of ``moves`` rows of at most ``read`` and ``write`` bytes.

    Args:
        rng: Source of randomness.
        moves: The draw; parents have their shape.
        index: ``int64[M]``, strided ops.
        read: ``int64[M]``, bytes from the first to the last one at the source.
        write: The same at the destination.
        limits: Constraints.
    """
    opcode, parent = moves.opcode[index], moves.parent[index]
    nop = moves.nop[index]
    whole = opcode == MTE_L1_UB.opcode
    plan = _plan(moves.far[index].copy(), nop)
    shapes = _fresh(rng, plan, whole, read, write, moves.residue[index], limits)
    plan.far[:] &= shapes.rows <= MAX_FAR_ROWS
    child = parent >= 0
    luck = rng.random(len(index))
    flat = np.flatnonzero(child & (luck < 0.2))
    _flat(rng, shapes, flat, np.minimum(np.minimum(read, write), limits.max_bytes), whole)
    same = _same_rows(moves, shapes, index, child & (luck > 0.35), whole, write)
    from_gm, to_gm = SOURCE[opcode] == GM, DESTINATION[opcode] == GM
    src = _strides(rng, shapes, plan.far, from_gm, read, source=True, limits=limits)
    dst = _strides(rng, shapes, plan.far, to_gm, write, source=False, limits=limits)
    src[same] = moves.write.strides[parent[same]]
    idle = np.flatnonzero(nop)
    make_nops(rng, shapes, nop)
    for side, on_gm in ((src, from_gm), (dst, to_gm)):
        local, gm = nop_strides(rng, shapes.length[idle], shapes.pad[idle])
        side[idle] = np.where(on_gm[idle, None], gm, local)
    moves.far[index] = plan.far
    moves.dtype[index] = shapes.dtype
    moves.read.put(index, shapes.counts, src, shapes.length)
    moves.write.put(index, shapes.counts, dst, shapes.length)
    _fill(moves, index, shapes, src, dst)


def _same_rows(
    moves: Moves, shapes: Shapes, index: Ints, wanted: Bools, whole: Bools, write: Ints
) -> Ints:
    """Gives ops the very rows that their strided parents wrote; returns which they are."""
    parent = np.maximum(moves.parent[index], 0)
    counts = moves.write.counts[parent]
    length = moves.write.foot[parent]
    length = np.where(whole, align(length), length)
    fits = strided(moves.opcode[parent]) & wanted & (moves.write.hull[parent] > 0)
    fits &= (moves.write.hull[parent] <= moves.extent[parent]) & (length <= MAX_LEN)
    fits &= counts.prod(axis=1) * align(length) <= write
    same = np.flatnonzero(fits)
    shapes.counts[same], shapes.length[same] = counts[same], length[same]
    shapes.n_loops[same] = moves.columns["n_loops"][parent[same]]
    return same


def _fill(moves: Moves, index: Ints, shapes: Shapes, src: Ints, dst: Ints) -> None:
    columns = moves.columns
    store = (moves.opcode[index] == MTE_UB_GM.opcode)[:, None]
    ext, loc = np.where(store, dst, src), np.where(store, src, dst)
    present = np.arange(1, LEVELS) <= shapes.n_loops[:, None]
    columns["elem_log2"][index] = np.log2(shapes.elem).astype(np.int64)
    columns["n_loops"][index] = shapes.n_loops
    columns["len"][index] = shapes.length
    columns["n_burst"][index] = shapes.counts[:, 0]
    columns["ext_stride"][index] = ext[:, 0]
    columns["loc_stride"][index] = loc[:, 0]
    for k in range(MAX_LOOPS):
        columns[f"loop{k}_count"][index] = np.where(present[:, k], shapes.counts[:, 1 + k], 1)
        columns[f"loop{k}_ext_stride"][index] = np.where(present[:, k], ext[:, 1 + k], 0)
        columns[f"loop{k}_loc_stride"][index] = np.where(present[:, k], loc[:, 1 + k], 0)
