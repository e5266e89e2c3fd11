# SPDX-License-Identifier: Apache-2.0
"""Random traffic of every op on disjoint regions, with chains from pipe to pipe.

This generator knows all v0.6 ops but the write-backs, and ``copy_ubuf_to_ubuf``. It draws
``mte_gm_ub`` and ``mte_ub_gm`` only as links of chains, without padding and register forms: those
are the business of :class:`sequences.draw.generator.DmaGenerator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sequences.constraints import COPY_NAMES, FIX_NAMES, OP_NAMES, OpConstraints, check_ops
from sequences.draw.alignments import LONG, AlignmentCounts
from sequences.draw.bursts import bursts, shape_bursts
from sequences.draw.moves import (
    BT,
    DESTINATION,
    FB,
    GM,
    L1,
    LEAST_READ,
    MAX_DEPTH,
    SOURCE,
    UB,
    Moves,
    draw_moves,
)
from sequences.draw.nz import shape_nz
from sequences.draw.plan import Bools, Ints
from sequences.draw.shapes import align
from sequences.draw.split import split
from sequences.draw.strided import shape_strided, strided
from sequences.place.arena import Cells, Places, arrange
from tb.isa.block import OpBlock
from tb.isa.burst_table import BLOCK_UNIT, BURST_LAYOUT, MTE_UB_UB
from tb.isa.dma_table import DMA_LAYOUT, LOCAL_STRIDE_BITS, MTE_GM_UB, MTE_UB_GM
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.legacy import CopyUbufToUbuf, LegacyOp
from tb.isa.nz_table import MTE_GM_L1_FRAC, NZ_LAYOUT
from tb.isa.ops import OPS
from tb.isa.spaces import GM_ADDR_BITS, SIZES, UB_BLOCK, Space

BATCH = 4096
"""Ops drawn at once by :meth:`CopyGenerator.blocks`."""

PARAM_SIZE = SIZES[Space.BT]
MODEST = 512
"""Bytes of BT or FB that most ops get."""

UNKNOWN_FORMS = ("copy_gm_to_ubuf", "copy_ubuf_to_gm", *FIX_NAMES)
CHAIN_NAMES: tuple[str, ...] = tuple(name for name in OP_NAMES if name not in UNKNOWN_FORMS)
"""Every name that :class:`CopyGenerator` takes."""

_BITS = np.zeros(5, dtype=np.int64)
_BITS[[GM, UB, L1, BT, FB]] = GM_ADDR_BITS, 18, 19, 12, 12
"""Address bits of each memory."""

_DMA_COLUMNS = tuple(name for name in DMA_LAYOUT if not name.startswith(("pad_", "reserved")))
_UB = tuple(Ptr(dtype, "ub") for dtype in DTYPES)
_FAMILY_COLUMNS = {"dma": _DMA_COLUMNS, "burst": tuple(BURST_LAYOUT), "nz": tuple(NZ_LAYOUT)}


class CopyGenerator:
    """Draws blocks of legal ops.

    A block is an epoch: its ops may all be in flight at once on all slots. What one op writes, no
    other op of the block touches, but for ops whose ``after`` names it. Across blocks regions are
    used again freely; the bench must drain the engines between blocks.

    Args:
        seed: Seed or generator; the same seed, ops and constraints draw the same blocks.
        ops: Names out of ``CHAIN_NAMES``.
        constraints: What to draw.
        weights: v0.6 name to weight; ops left out weigh 1.
        alignments: Alignments met so far, when several generators share them.

    Raises:
        ConstraintError: an op is unknown or none is given.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = COPY_NAMES,
        constraints: OpConstraints | None = None,
        weights: Mapping[str, float] | None = None,
        alignments: AlignmentCounts | None = None,
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops, CHAIN_NAMES)
        self.constraints = constraints or OpConstraints()
        self._rng = np.random.default_rng(seed)
        self._alignments = alignments or AlignmentCounts(self.constraints.bus_bytes)
        # The legacy form of mte_ub_ub is a way to write it, not an op of its own.
        names = dict.fromkeys("mte_ub_ub" if n == "copy_ubuf_to_ubuf" else n for n in self.ops)
        self._weights = {name: (weights or {}).get(name, 1.0) for name in names}
        families = {OPS[name].layout.family for name in names}
        used = [name for family in sorted(families) for name in _FAMILY_COLUMNS[family]]
        self._columns = tuple(dict.fromkeys(used))

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
        moves = draw_moves(rng, count, self._weights, self._columns, limits)
        self._wish_lengths(moves)
        for depth in range(MAX_DEPTH + 1):
            self._shape(moves, np.flatnonzero(moves.depth == depth))
        places = arrange(rng, moves, limits, self._addresses(moves))
        return split(self._finish(moves, places), places.starts)

    def _aligned(self, moves: Moves) -> Bools:
        """Tells which ops get the next alignment: those whose place in GM is their own."""
        store = moves.opcode == MTE_UB_GM.opcode
        load = (moves.opcode == MTE_GM_UB.opcode) & (moves.parent < 0)
        free: Bools = (store | load) & ~moves.nop & ~moves.far
        return free & (self._rng.random(len(moves)) < self.constraints.residue)

    def _wish_lengths(self, moves: Moves) -> None:
        """Asks for length residues where rows are not those of a parent."""
        index = np.flatnonzero(self._aligned(moves) & (moves.parent < 0))
        store = (moves.opcode[index] == MTE_UB_GM.opcode).astype(np.int64)
        if len(index):
            moves.residue[index] = self._alignments.lengths(self._rng, store)

    def _addresses(self, moves: Moves) -> Ints:
        """Returns GM address residues that go with the lengths drawn, -1 for any."""
        address = np.full(len(moves), -1, dtype=np.int64)
        index = np.flatnonzero(self._aligned(moves))
        if len(index):
            index = index[moves.columns["len"][index] <= LONG]
            store = (moves.opcode[index] == MTE_UB_GM.opcode).astype(np.int64)
            length = moves.columns["len"][index]
            address[index] = self._alignments.addresses(self._rng, store, length)
        return address

    def _note(self, moves: Moves) -> None:
        """Counts the alignments that came of it."""
        store = moves.opcode == MTE_UB_GM.opcode
        index = np.flatnonzero((store | (moves.opcode == MTE_GM_UB.opcode)) & ~moves.nop)
        if len(index):
            address, length = moves.columns["ext_addr"][index], moves.columns["len"][index]
            self._alignments.note(store[index].astype(np.int64), address, length)

    def _shape(self, moves: Moves, index: Ints) -> None:
        """Draws the shapes of ops whose parents have theirs."""
        if not len(index):
            return
        rng, limits = self._rng, self.constraints
        opcode = moves.opcode[index]
        read_most, write_most = Cells.of(limits).budgets(limits)
        read, write = read_most[SOURCE[opcode]], write_most[DESTINATION[opcode]]
        # BT and FB are small: most ops leave room for others in the block.
        modest = (write <= PARAM_SIZE) & (rng.random(len(index)) < 0.87)
        write = np.where(modest, np.minimum(write, MODEST), write)
        self._bound_by_parents(moves, index, read)
        is_strided, is_burst = strided(opcode), bursts(opcode)
        for mine, shape in (
            (is_strided, shape_strided),
            (is_burst, shape_bursts),
            (opcode == MTE_GM_L1_FRAC.opcode, shape_nz),
        ):
            if mine.any():
                shape(rng, moves, index[mine], read[mine], write[mine], limits)
        hull, to = moves.write.hull[index], DESTINATION[opcode]
        moves.extent[index] = np.minimum(np.where(to == GM, hull, align(hull)), read_most[to])

    def _bound_by_parents(self, moves: Moves, index: Ints, read: Ints) -> None:
        """Lowers what ops may ``read`` to what their parents wrote; some lose their parent."""
        parent = moves.parent[index]
        child = parent >= 0
        parent = np.maximum(parent, 0)
        extent, foot = moves.extent[parent], moves.write.foot[parent]
        # Between the rows of a sparse parent is nothing it wrote: better read the first row.
        rows = moves.write.counts[parent].prod(axis=1)
        sparse = (2 * rows * foot < extent) & (self._rng.random(len(index)) < 0.8)
        row = np.where(DESTINATION[moves.opcode[parent]] == GM, foot, align(foot))
        least = LEAST_READ[moves.opcode[index]]
        small = child & (extent < least)
        moves.parent[index[small]] = -1
        most = np.where(sparse & (row >= least), np.minimum(row, extent), extent)
        read[:] = np.where(child & ~small, np.minimum(read, most), read)

    def _finish(self, moves: Moves, placed: Places) -> OpBlock:
        rng, limits = self._rng, self.constraints
        count = len(moves)
        opcode, columns = moves.opcode, moves.columns
        read, write = placed.read, placed.write
        self._nop_bases(moves, read, write)
        is_strided = strided(opcode)
        lost = placed.lost
        for name, mine in (("n_burst", is_strided), ("n_value", ~is_strided)):
            if name in columns:
                columns[name][lost & mine] = 0
        sub = placed.ub_sub
        for name, values in (
            ("ext_addr", np.where(opcode == MTE_UB_GM.opcode, write, read)),
            ("loc_addr", np.where(opcode == MTE_UB_GM.opcode, read, write)),
            ("src_addr", read),
            ("dst_addr", write),
            ("ub_sub", sub),
        ):
            if name in columns:
                columns[name][:] = values
        self._hints(opcode, columns)
        self._note(moves)
        late = rng.random(count) < limits.gap
        gap = np.where(late, rng.integers(1, limits.max_gap + 1, count), 0)
        return OpBlock(
            opcode, columns, moves.dtype, moves.dtype, gap, placed.parent,
            self._legacy(moves, placed), {}, np.zeros(count, dtype=np.int64),
        )  # fmt: skip

    def _hints(self, opcode: Ints, columns: dict[str, Ints]) -> None:
        for spec, most in ((MTE_GM_UB, 4), (MTE_UB_GM, 16)):
            index = np.flatnonzero(opcode == spec.opcode)
            if len(index):
                columns["l2"][index] = self._rng.integers(0, most, len(index))

    def _nop_bases(self, moves: Moves, read: Ints, write: Ints) -> None:
        """NOPs access nothing: their bases may point anywhere, even outside (A-18)."""
        rng = self._rng
        index = np.flatnonzero(moves.nop)
        for side, space in ((read, SOURCE), (write, DESTINATION)):
            on_gm = space[moves.opcode[index]] == GM
            outside = rng.random(len(index)) < 0.3
            bits = np.where(outside, np.where(on_gm, 44, 24), _BITS[space[moves.opcode[index]]])
            base = rng.integers(0, np.left_shift(1, bits))
            side[index] = np.where(on_gm, base, base // 64 * 64)

    def _legacy(self, moves: Moves, placed: Places) -> dict[int, tuple[LegacyOp, ...]]:
        """Writes some ``mte_ub_ub`` as ``copy_ubuf_to_ubuf``: bytes and strides (A-15)."""
        if "copy_ubuf_to_ubuf" not in self.ops:
            return {}
        rng = self._rng
        share = self.constraints.legacy if "mte_ub_ub" in self.ops else 1.0
        x = moves.columns
        mine = (moves.opcode == MTE_UB_UB.opcode) & (rng.random(len(moves)) < share)
        most = (1 << 16) // BLOCK_UNIT
        # Lengths of 16 bits in bytes hold fewer blocks than lengths in blocks do.
        if share == 1.0:
            x["len"][mine] = np.minimum(x["len"][mine], most - 1)
        mine &= x["len"] < most
        index = np.flatnonzero(mine)
        longest = (x["n_burst"][index] == 0) & (rng.random(len(index)) < 0.3)
        x["len"][index[longest]] = most - 1
        length = x["len"][index] * BLOCK_UNIT
        lone = x["n_burst"][index] <= 1
        limit = ((1 << LOCAL_STRIDE_BITS) - 1) // UB_BLOCK * UB_BLOCK
        strides = []
        for name in ("src_gap", "dst_gap"):
            stride = np.minimum(length + x[name][index] * BLOCK_UNIT, limit)
            # With one burst the strides are not used, may hold anything, and the gaps are 0.
            x[name][index] = np.where(lone, 0, (stride - length) // BLOCK_UNIT)
            bits = np.where(rng.random(len(index)) < 0.5, 7, LOCAL_STRIDE_BITS)
            anything = rng.integers(0, np.left_shift(1, bits))
            strides.append(np.where(lone, anything, stride).tolist())
        sids = np.where(rng.random(len(index)) < 0.9, 0, rng.integers(0, 16, len(index)))
        rows = zip(
            index.tolist(), placed.read[index].tolist(), placed.write[index].tolist(),
            sids.tolist(), x["n_burst"][index].tolist(), length.tolist(), *strides,
            moves.dtype[index].tolist(), placed.ub_sub[index].tolist(), strict=True,
        )  # fmt: skip
        return {
            number: (CopyUbufToUbuf(src, dst, sid, n, size, ss, ds, _UB[t], _UB[t], sub),)
            for number, src, dst, sid, n, size, ss, ds, t, sub in rows
        }
