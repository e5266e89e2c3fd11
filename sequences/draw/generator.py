# SPDX-License-Identifier: Apache-2.0
"""Random DMA traffic between GM and UB: thousands of ops at a time, legal by construction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sequences.constraints import GM_UB_NAMES, OpConstraints, check_ops
from sequences.draw.alignments import LONG, AlignmentCounts
from sequences.draw.plan import Bools, Ints, Plan, draw_plan
from sequences.draw.registers import RegisterFile
from sequences.draw.shapes import (
    LEVELS,
    MAX_LEN,
    Shapes,
    align,
    draw_shapes,
    make_nops,
    pad_types,
    pick,
)
from sequences.draw.split import split
from sequences.draw.strides import gm_strides, hulls, local_strides, nop_strides
from sequences.place.allocator import Extents, Placement, draw_targets, place
from sequences.place.far_rows import far_bases
from tb.isa.block import OpBlock
from tb.isa.dma_table import DMA_LAYOUT, MAX_LOOPS, MTE_GM_UB, MTE_UB_GM, PAD_LIMIT
from tb.isa.legacy import DmaRegisters
from tb.isa.spaces import GM_ADDR_BITS, UB_BLOCK

BATCH = 4096
"""Ops drawn at once by :meth:`DmaGenerator.blocks`."""


class DmaGenerator:
    """Draws blocks of legal ops.

    A block is an epoch: its ops may all be in flight at once on the two slots. What one op
    writes, no other op of the block touches, but for ops whose ``after`` names it. Across blocks
    regions are used again freely; the bench must drain the engines between blocks.

    The registers of legacy copies persist over the life of the generator, from their reset
    values on, so blocks must be sent in the order they were drawn.

    Args:
        seed: Seed or generator; the same seed, ops and constraints draw the same blocks.
        ops: Names out of ``sequences.constraints.GM_UB_NAMES``.
        constraints: What to draw.
        alignments: Alignments met so far, when several generators share them.

    Raises:
        ConstraintError: an op is unknown or none is given.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = GM_UB_NAMES,
        constraints: OpConstraints | None = None,
        alignments: AlignmentCounts | None = None,
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops, GM_UB_NAMES)
        self.constraints = constraints or OpConstraints()
        self._rng = np.random.default_rng(seed)
        self._file = RegisterFile()
        self._alignments = alignments or AlignmentCounts(self.constraints.bus_bytes)

    @property
    def registers(self) -> DmaRegisters:
        """Legacy registers behind the last op drawn."""
        return self._file.registers

    def blocks(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks that hold ``count`` ops in all, drawn in batches."""
        left = count
        while left > 0:
            batch = min(left, BATCH)
            yield from self.draw(batch)
            left -= batch

    def draw(self, count: int) -> list[OpBlock]:
        """Returns blocks that hold ``count`` ops in all.

        Raises:
            ValueError: ``count`` is negative.
        """
        if count < 0:
            raise ValueError(f"count is {count}: at least 0")
        if count == 0:
            return []
        rng, limits = self._rng, self.constraints
        plan = draw_plan(rng, count, self.ops, limits)
        shapes = draw_shapes(rng, plan, limits, self._lengths(plan))
        local, gm, offset = self._strides(plan, shapes)
        live_counts = shapes.counts.copy()
        make_nops(rng, shapes, plan.nop)
        nops = np.flatnonzero(plan.nop)
        local[nops], gm[nops] = nop_strides(rng, shapes.need[nops], shapes.pad[nops])
        foot = np.where(shapes.pad, local[:, 0], shapes.length)
        extents = Extents(
            hulls(live_counts, local, foot),
            hulls(live_counts, gm, shapes.length),
            shapes.length,
            plan.nop,
            plan.far & ~plan.nop,
        )
        targets = draw_targets(rng, shapes.length, self._addresses(plan, shapes), limits)
        placed = place(rng, plan, extents, targets, limits)
        return self._finish(plan, shapes, local, gm, offset, extents, placed)

    def _lengths(self, plan: Plan) -> Ints:
        """Returns length residues, -1 for any; the rows of a child are those of its parent."""
        rng = self._rng
        length = np.full(len(plan.store), -1, dtype=np.int64)
        free = (plan.parent < 0) & ~plan.legacy & ~plan.nop & ~plan.far
        index = np.flatnonzero(free & (rng.random(len(free)) < self.constraints.residue))
        length[index] = self._alignments.lengths(rng, plan.store[index].astype(np.int64))
        return length

    def _addresses(self, plan: Plan, shapes: Shapes) -> Ints:
        """Returns GM address residues that go with the lengths drawn, -1 for any."""
        rng = self._rng
        address = np.full(len(plan.store), -1, dtype=np.int64)
        # A load with a parent reads where that wrote.
        free = (plan.store | (plan.parent < 0)) & ~plan.legacy & ~plan.nop & ~plan.far
        free &= shapes.length <= LONG
        index = np.flatnonzero(free & (rng.random(len(free)) < self.constraints.residue))
        store = plan.store[index].astype(np.int64)
        address[index] = self._alignments.addresses(rng, store, shapes.length[index])
        return address

    def _strides(self, plan: Plan, shapes: Shapes) -> tuple[Ints, Ints, Ints]:
        """Returns UB strides, GM strides (``int64[N, 4]``) and the UB offset in a parent."""
        everything = np.ones(len(plan.store), dtype=bool)
        local = self._draw_local(shapes, plan, everything)
        gm = self._draw_gm(shapes, plan, everything)
        offset = np.zeros(len(plan.store), dtype=np.int64)
        index = np.flatnonzero(plan.clone >= 0)
        _take_shape(shapes, index, plan.clone[index])
        local[index], gm[index] = local[plan.clone[index]], gm[plan.clone[index]]
        plan.far[index] = plan.far[plan.clone[index]]
        for depth in (1, 2):
            child = plan.depth == depth
            # Two register loops cannot follow three: such an op keeps a shape of its own.
            alone = child & plan.legacy & (shapes.n_loops[plan.parent] > 2)
            plan.parent[alone], plan.depth[alone] = -1, 0
            child &= ~alone
            stores, loads = child & plan.store, child & ~plan.store
            self._follow_load(plan, shapes, local, offset, np.flatnonzero(stores))
            gm[stores] = self._draw_gm(shapes, plan, stores)
            index = np.flatnonzero(loads)
            self._follow_store(plan, shapes, index)
            gm[index] = gm[plan.parent[index]]
            plan.far[index] = plan.far[plan.parent[index]]
            local[loads] = self._draw_local(shapes, plan, loads)
        return local, gm, offset

    def _draw_local(self, shapes: Shapes, plan: Plan, mask: Bools) -> Ints:
        rng, limits = self._rng, self.constraints
        reread = plan.store[mask] & (rng.random(int(mask.sum())) < limits.reread)
        return local_strides(
            rng,
            shapes.counts[mask],
            shapes.need[mask],
            shapes.pad[mask],
            interleave=limits.interleave,
            reread=reread,
            most=limits.max_ub_bytes,
            stretch=limits.stretch,
        )

    def _draw_gm(self, shapes: Shapes, plan: Plan, mask: Bools) -> Ints:
        rng, limits = self._rng, self.constraints
        reread = ~plan.store[mask] & (rng.random(int(mask.sum())) < limits.reread)
        plan.far[mask] &= shapes.rows[mask] <= 64
        return gm_strides(
            rng,
            shapes.counts[mask],
            shapes.length[mask],
            interleave=limits.interleave,
            reread=reread,
            far=plan.far[mask],
            most=limits.max_gm_bytes,
        )

    def _follow_load(
        self, plan: Plan, shapes: Shapes, local: Ints, offset: Ints, index: Ints
    ) -> None:
        """Makes the stores ``index`` read the rows that their parents loaded, or parts."""
        rng, limits = self._rng, self.constraints
        parent = plan.parent[index]
        self._take_counts(plan, shapes, index)
        local[index] = local[parent]
        pad = shapes.pad[parent]
        length, left = shapes.length[parent], shapes.left[parent]
        row = np.where(pad, local[parent, 0], length)
        rows = shapes.rows[parent]
        most = np.minimum(np.minimum(row, MAX_LEN), np.maximum(limits.max_bytes // rows, 1))
        part = 1 + (rng.random(len(index)) * most).astype(np.int64)
        kind = pick(rng, len(index), np.array([0.5, 0.25, 0.25]))
        shapes.length[index] = np.minimum(np.choose(kind, (length, row, part)), most)
        # Only a left pad of one UB block leaves the data where a base address may point.
        depad = pad & (left == UB_BLOCK) & (kind == 0)
        offset[index] = np.where(depad, UB_BLOCK, 0)
        flat = rng.random(len(index)) < 0.12
        whole = hulls(shapes.counts[index], local[index], row)
        chunk = np.minimum(whole, min(MAX_LEN, limits.max_bytes))
        shapes.length[index] = np.where(flat, chunk, shapes.length[index])
        offset[index[flat]] = 0
        shapes.counts[index[flat]] = 1

    def _follow_store(self, plan: Plan, shapes: Shapes, index: Ints) -> None:
        """Makes the loads ``index`` read the rows that their parents stored."""
        self._take_counts(plan, shapes, index)
        length, elem = shapes.length[plan.parent[index]], shapes.elem[index]
        shapes.length[index] = length
        room = self.constraints.max_ub_bytes // shapes.rows[index]
        shapes.pad[index] &= (length % elem == 0) & (align(length) + 2 * PAD_LIMIT <= room)

    def _take_counts(self, plan: Plan, shapes: Shapes, index: Ints) -> None:
        parent = plan.parent[index]
        shapes.counts[index] = shapes.counts[parent]
        shapes.n_loops[index] = np.where(plan.legacy[index], 2, shapes.n_loops[parent])

    def _finish(
        self,
        plan: Plan,
        shapes: Shapes,
        local: Ints,
        gm: Ints,
        offset: Ints,
        extents: Extents,
        placed: Placement,
    ) -> list[OpBlock]:
        rng, limits = self._rng, self.constraints
        count = len(plan.store)
        ext, loc = placed.gm.copy(), placed.local.copy()
        inherits = placed.parent >= 0
        lost = np.zeros(count, dtype=bool)
        roams = np.flatnonzero(extents.far & ~(inherits & ~plan.store))
        ext[roams], lost[roams] = far_bases(
            rng,
            shapes.counts[roams],
            gm[roams],
            shapes.length[roams],
            extents.gm[roams],
            plan.store[roams],
            placed.block[roams],
            placed.taken,
            limits,
        )
        for depth in (1, 2):
            index = np.flatnonzero((plan.depth == depth) & inherits)
            parent = placed.parent[index]
            stores = plan.store[index]
            loc[index] = np.where(stores, loc[parent] + offset[index], loc[index])
            ext[index] = np.where(stores, ext[index], ext[parent])
            lost[index] |= lost[parent]
        self._nop_bases(plan.nop, ext, loc)
        shapes.counts[lost, 0] = 0
        columns = self._columns(plan, shapes, local, gm, ext, loc, placed.ub_sub)
        met = ~plan.legacy & ~plan.nop & ~lost
        self._alignments.note(plan.store[met].astype(np.int64), ext[met], shapes.length[met])
        pad_dtype = pad_types(rng, shapes.elem)
        legacy = self._file.programs(
            rng, np.flatnonzero(plan.legacy), columns, plan.store, shapes.dtype, pad_dtype
        )
        gap = np.where(
            rng.random(count) < limits.gap, rng.integers(1, limits.max_gap + 1, count), 0
        )
        opcode = np.where(plan.store, MTE_UB_GM.opcode, MTE_GM_UB.opcode)
        whole = OpBlock(
            opcode, columns, shapes.dtype, pad_dtype, gap, placed.parent, legacy, {},
            np.zeros(count, np.int64),
        )  # fmt: skip
        return split(whole, placed.starts)

    def _nop_bases(self, nop: Bools, ext: Ints, loc: Ints) -> None:
        """NOPs access nothing: their bases may point anywhere, even outside (A-18)."""
        rng = self._rng
        index = np.flatnonzero(nop)
        outside = rng.random((2, len(index))) < 0.3
        ext_bits = np.where(outside[0], DMA_LAYOUT["ext_addr"].field.container, GM_ADDR_BITS)
        loc_bits = np.where(outside[1], DMA_LAYOUT["loc_addr"].field.container, 18)
        ext[index] = rng.integers(0, np.left_shift(1, ext_bits))
        loc[index] = rng.integers(0, np.left_shift(1, loc_bits)) // UB_BLOCK * UB_BLOCK

    def _columns(
        self,
        plan: Plan,
        shapes: Shapes,
        local: Ints,
        gm: Ints,
        ext: Ints,
        loc: Ints,
        ub_sub: Ints,
    ) -> dict[str, Ints]:
        rng = self._rng
        count = len(plan.store)
        unit = np.where(plan.legacy, 1, shapes.elem)
        pad = shapes.pad.astype(np.int64)
        value = rng.integers(0, np.left_shift(1, 8 * np.minimum(shapes.elem, 4)))
        l2 = rng.integers(0, np.where(plan.store, 16, 4))
        zero = np.zeros(count, dtype=np.int64)
        columns = {
            "elem_log2": np.log2(shapes.elem).astype(np.int64),
            "ub_sub": ub_sub,
            "n_loops": shapes.n_loops,
            "pad_en": pad,
            "pad_in_bytes": (plan.legacy & ~plan.store).astype(np.int64),
            "reserved": zero,
            "l2": np.where(plan.legacy & plan.store, 0, l2),
            "pad_left": pad * shapes.left // unit,
            "pad_right": pad * shapes.right // unit,
            "pad_value": pad * value,
            "len": shapes.length,
            "n_burst": shapes.counts[:, 0].copy(),
            "ext_addr": ext,
            "loc_addr": loc,
            "ext_stride": gm[:, 0].copy(),
            "loc_stride": local[:, 0].copy(),
        }
        present = np.arange(1, LEVELS) <= shapes.n_loops[:, None]
        for k in range(MAX_LOOPS):
            columns[f"loop{k}_count"] = np.where(present[:, k], shapes.counts[:, 1 + k], 1)
            columns[f"loop{k}_ext_stride"] = np.where(present[:, k], gm[:, 1 + k], 0)
            columns[f"loop{k}_loc_stride"] = np.where(present[:, k], local[:, 1 + k], 0)
        return columns


def _take_shape(shapes: Shapes, index: Ints, source: Ints) -> None:
    for column in (
        shapes.counts, shapes.length, shapes.dtype, shapes.elem, shapes.pad, shapes.left,
        shapes.right,
    ):  # fmt: skip
        column[index] = column[source]
