# SPDX-License-Identifier: Apache-2.0
"""Random copies of every form on disjoint regions, with chains from pipe to pipe.

All ops but the write-backs are drawn here: shapes first, from the start of a chain to its end, then
places in all memories, then the programs of the legacy forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import (
    COPY_NAMES,
    FIX_NAMES,
    GM_UB_NAMES,
    OP_NAMES,
    ConstraintError,
    OpConstraints,
    check_ops,
)
from sequences.draw.alignments import LONG, AlignmentCounts
from sequences.draw.atomics import (
    aligned,
    ctrl_programs,
    data_of,
    room,
    shape_atomics,
    under_ctrl,
)
from sequences.draw.bursts import bursts, shape_bursts
from sequences.draw.fills import fills, place_fills, shape_fills
from sequences.draw.legacy import RegisterFile, ubuf_copies
from sequences.draw.loads import loads, place_loads, shape_loads
from sequences.draw.moves import (
    BT,
    DESTINATION,
    FB,
    GM,
    KEYWORDS,
    L0A,
    L0A_MX,
    L0B,
    L0B_MX,
    L1,
    LEAST_READ,
    MAX_DEPTH,
    SOURCE,
    UB,
    Moves,
    draw_moves,
    marked,
)
from sequences.draw.nz import shape_nz
from sequences.draw.shapes import Bools, Ints, align, pad_types
from sequences.draw.strided import shape_strided, strided
from sequences.fixpipe.data import old_values
from sequences.place.allocator import PARAM_UNIT, Cells, Places, arrange
from tb.isa.block import Fill, OpBlock
from tb.isa.dma.legacy import DmaRegisters, LegacyOp
from tb.isa.dma.op import SAMPLED
from tb.isa.dma.table import STRIDED
from tb.isa.l0.table import FRACTAL_BYTES
from tb.isa.ops import LAYOUTS, LEGACY_FORMS, OPS
from tb.isa.program import Entry, program_of
from tb.isa.spaces import (
    FB_SEGMENT_BYTES,
    FB_SEGMENT_SHIFT,
    GM_ADDR_BITS,
    SIZES,
    UB_BLOCK,
    Space,
)

BATCH = 4096
"""Ops drawn at once by :meth:`CopyGenerator.blocks`."""

PARAM_SIZE = SIZES[Space.BT]
MODEST = 512
"""Most bytes of BT or FB for most ops."""

WIDE = 0.25
"""Fraction of ``stretch`` that spreads over a whole memory on both sides, and leaves no room for
others in its block."""

COPY_FORMS: tuple[str, ...] = tuple(name for name in OP_NAMES if name not in FIX_NAMES)
"""Every name that :class:`CopyGenerator` takes."""

_BITS = np.zeros(len(KEYWORDS), dtype=np.int64)
_BITS[[GM, UB, L1, BT, FB]] = GM_ADDR_BITS, 18, 19, 12, 13
_BITS[[L0A, L0B, L0A_MX, L0B_MX]] = 16, 16, 12, 12
"""Address bits of each memory; the top one of FB is the segment."""

_REPACKS = marked(lambda row: row.family == "nz")
_LOADS_UB = marked(
    lambda row: row.family == "dma" and (row.source, row.destination) == ("gm", "ub")
)
_STORES = marked(lambda row: row.family == "dma" and row.destination == "gm")
_HINTS = {
    row.opcode: 1 << (row.operand("l2_cache_ctl").bits or 0)
    for row in STRIDED
    if row.has("l2_cache_ctl")
}
"""Opcode to the number of L2 hints."""

_FAMILY_COLUMNS = {family: tuple(layout) for family, layout in LAYOUTS.items()}


def _has_shape(opcode: Ints) -> Bools:
    """Returns a mask of the ops that :meth:`CopyGenerator._shape` shapes; others are NOPs."""
    shaped: Bools = strided(opcode) | bursts(opcode) | _REPACKS[opcode]
    return shaped | loads(opcode) | fills(opcode)


class CopyGenerator:
    """Draws blocks of legal ops.

    A block is a batch: its ops may all be in flight at once on all slots. In a block only ops with
    a dependency on it in ``after`` touch the destination of an op. Across blocks
    regions are reused freely; the bench must drain the engines between blocks.

    The registers of legacy copies persist over the life of the generator, from their reset values
    on, so blocks must be sent in the order they were drawn.

    Args:
        seed: Seed or generator; the same seed, ops and constraints draw the same blocks.
        ops: Names out of ``COPY_FORMS``.
        constraints: What to draw.
        weights: Name to weight, 1 where left out: of a v0.6 name among all ops, of a legacy form
            against its v0.6 form.
        alignments: Alignments used so far, if several generators share them.
        registers: Legacy registers, if several generators share them.

    Raises:
        ConstraintError: an op is unknown or none is given, or an op has no generator of shapes.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = COPY_NAMES,
        constraints: OpConstraints | None = None,
        weights: Mapping[str, float] | None = None,
        alignments: AlignmentCounts | None = None,
        registers: RegisterFile | None = None,
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops, COPY_FORMS)
        self.constraints = constraints or OpConstraints()
        self._rng = np.random.default_rng(seed)
        self._alignments = alignments or AlignmentCounts(self.constraints.bus_bytes)
        self._file = registers or RegisterFile()
        # A legacy form is a way to write an op, not an op of its own.
        names = dict.fromkeys(LEGACY_FORMS.get(name, name) for name in self.ops)
        if shapeless := [name for name in names if not _has_shape(np.array(OPS[name].opcode))]:
            raise ConstraintError(
                f"no shape is drawn for {', '.join(shapeless)}",
                where="ops",
                remedy="call a function that shapes them in CopyGenerator._shape",
            )
        self._weights = {name: (weights or {}).get(name, 1.0) for name in names}
        self._legacy_weights = {name: (weights or {}).get(name, 1.0) for name in LEGACY_FORMS}
        families = {OPS[name].layout.family for name in names}
        used = [name for family in sorted(families) for name in _FAMILY_COLUMNS[family]]
        self._columns = tuple(dict.fromkeys(used))
        self._pools: dict[int, NDArray[np.generic]] | None = None

    @property
    def registers(self) -> DmaRegisters:
        """Legacy registers after the last op drawn."""
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
        weights, legacy = self._directions(), self._legacy_shares()
        moves = draw_moves(rng, count, weights, legacy, self._columns, limits)
        aligned = self._aligned(moves)
        self._request_lengths(moves, aligned)
        for depth in range(MAX_DEPTH + 1):
            self._shape(moves, np.flatnonzero(moves.depth == depth))
        places = arrange(rng, moves, limits, self._addresses(moves, aligned & ~moves.far))
        return split(self._finish(moves, places), places.starts, self._data(moves, places))

    def _directions(self) -> dict[str, float]:
        """Returns the weights of the ops, those between GM and UB divided between directions."""
        load, store = GM_UB_NAMES[:2]
        weights = dict(self._weights)
        if load in weights and store in weights:
            both = weights[load] + weights[store]
            weights[load] = both * (1 - self.constraints.store)
            weights[store] = both * self.constraints.store
        return weights

    def _legacy_shares(self) -> dict[str, float]:
        """Returns v0.6 name to the fraction in the legacy form, of ops that may have it."""
        shares = {}
        for form, name in LEGACY_FORMS.items():
            if form in self.ops:
                legacy = self.constraints.legacy * self._legacy_weights[form]
                both = legacy + 1 - self.constraints.legacy
                shares[name] = legacy / both if name in self.ops else 1.0
        return shares

    def _aligned(self, moves: Moves) -> Bools:
        """Returns a mask of the ops that get the next alignment: those with a free place in GM."""
        store = _STORES[moves.opcode]
        load = _LOADS_UB[moves.opcode] & (moves.parent < 0)
        free: Bools = (store | load) & ~moves.nop & ~moves.far & ~moves.legacy
        return free & (self._rng.random(len(moves)) < self.constraints.residue)

    def _request_lengths(self, moves: Moves, aligned: Bools) -> None:
        """Requests length residues where rows are not those of a parent."""
        index = np.flatnonzero(aligned & (moves.parent < 0))
        store = _STORES[moves.opcode[index]].astype(np.int64)
        if len(index):
            moves.residue[index] = self._alignments.lengths(self._rng, store)

    def _addresses(self, moves: Moves, aligned: Bools) -> Ints:
        """Returns GM address residues that go with the lengths drawn, -1 for any."""
        address = np.full(len(moves), -1, dtype=np.int64)
        index = np.flatnonzero(aligned)
        if len(index):
            index = index[moves.columns["len"][index] <= LONG]
            store = _STORES[moves.opcode[index]].astype(np.int64)
            length = moves.columns["len"][index]
            address[index] = self._alignments.addresses(self._rng, store, length)
        return address

    def _note(self, moves: Moves) -> None:
        """Counts the resulting alignments."""
        store = _STORES[moves.opcode]
        mine = (store | _LOADS_UB[moves.opcode]) & ~moves.nop & ~moves.legacy
        index = np.flatnonzero(mine)
        if len(index):
            address, length = moves.columns["ext_addr"][index], moves.columns["len"][index]
            self._alignments.note(store[index].astype(np.int64), address, length)

    def _shape(self, moves: Moves, index: Ints) -> None:
        """Draws the shapes of ops after those of their parents."""
        if not len(index):
            return
        rng, limits = self._rng, self.constraints
        opcode = moves.opcode[index]
        read_most, write_most, all_of = Cells.of(limits).budgets(limits)
        read, write = read_most[SOURCE[opcode]], write_most[DESTINATION[opcode]]
        is_strided, is_burst = strided(opcode), bursts(opcode)
        wide = is_strided & (moves.parent[index] < 0) & (SOURCE[opcode] != DESTINATION[opcode])
        wide &= rng.random(len(index)) < limits.stretch * WIDE
        read = np.where(wide, all_of[SOURCE[opcode]], read)
        write = np.where(wide, all_of[DESTINATION[opcode]], write)
        # BT and FB are small: most ops leave room for others in the block. FB is two memories.
        few = np.where(DESTINATION[opcode] == FB, 0.75, 0.87)
        modest = (write <= PARAM_SIZE) & (rng.random(len(index)) < few)
        write = np.where(modest, np.minimum(write, MODEST), write)
        self._bound_by_parents(moves, index, read)
        if is_strided.any():
            at = np.flatnonzero(is_strided)
            shape_strided(rng, moves, index[at], read[at], write[at], wide[at], limits)
            shape_atomics(rng, moves, index[at], limits)
        for mine, shape in (
            (is_burst, shape_bursts),
            (_REPACKS[opcode], shape_nz),
            (loads(opcode), shape_loads),
            (fills(opcode), shape_fills),
        ):
            if mine.any():
                shape(rng, moves, index[mine], read[mine], write[mine], limits)
        hull, to = moves.write.hull[index] - room(moves, index), DESTINATION[opcode]
        moves.extent[index] = np.minimum(np.where(to == GM, hull, align(hull)), read_most[to])

    def _bound_by_parents(self, moves: Moves, index: Ints, read: Ints) -> None:
        """Limits the ``read`` bytes of ops to their parents' output; some lose their parent."""
        parent = moves.parent[index]
        child = parent >= 0
        parent = np.maximum(parent, 0)
        extent, foot = moves.extent[parent], moves.write.foot[parent]
        # A sparse parent writes nothing between its rows: read only the first row.
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
        if "atomic_type" in columns:
            moved = aligned(moves, write)
            # What reads the result of a store of its block moves along.
            parent = np.maximum(placed.parent, 0)
            read = np.where(placed.parent >= 0, read + (moved - write)[parent], read)
            write = moved
        is_strided = strided(opcode)
        lost = placed.lost
        for name, mine in (("n_burst", is_strided), ("n_value", ~is_strided)):
            if name in columns:
                columns[name][lost & mine] = 0
        sub = placed.ub_sub
        for name, values in (
            ("ext_addr", np.where(_STORES[opcode], write, read)),
            ("loc_addr", np.where(_STORES[opcode], read, write)),
            ("src_addr", read),
            ("dst_addr", write),
            ("ub_sub", sub),
        ):
            if name in columns:
                columns[name][:] = values
        fractals = np.flatnonzero(loads(opcode))
        if len(fractals):
            place_loads(moves, fractals, read[fractals], write[fractals])
        patterns = np.flatnonzero(fills(opcode))
        if len(patterns):
            place_fills(rng, moves, patterns, write[patterns])
        self._hints(moves)
        self._note(moves)
        gm_ub = np.flatnonzero(_LOADS_UB[opcode] | _STORES[opcode])
        pad_dtype = moves.dtype.copy()
        if len(gm_ub):
            pad_dtype[gm_ub] = pad_types(rng, np.left_shift(1, columns["elem_log2"][gm_ub]))
        late = rng.random(count) < limits.gap
        gap = np.where(late, rng.integers(1, limits.max_gap + 1, count), 0)
        entries: dict[int, Entry] = {**self._legacy(moves, placed, pad_dtype)}
        entries |= self._under_ctrl(moves, entries)
        return OpBlock(
            opcode, columns, moves.dtype, pad_dtype, gap, placed.parent, entries, {},
            np.zeros(count, dtype=np.int64),
        )  # fmt: skip

    def _data(self, moves: Moves, placed: Places) -> list[tuple[int, Fill]]:
        """Returns the bytes to write before some ops, each with the number of its op."""
        if not np.any(moves.columns.get("atomic_type", 0)):
            return []
        if self._pools is None:
            self._pools = old_values(self._rng)
        write = aligned(moves, placed.write)
        share = self.constraints.corner_data
        read, sub, live = placed.read, placed.ub_sub, ~placed.lost
        return data_of(self._rng, moves, read, write, sub, live, self._pools, share)

    def _under_ctrl(self, moves: Moves, entries: dict[int, Entry]) -> dict[int, Entry]:
        """Returns the entries of stores with CTRL written before them."""
        chosen = under_ctrl(moves)
        if not len(chosen):
            return {}
        alone = np.array([k for k in chosen.tolist() if k not in entries], dtype=np.int64)
        columns = {name: x[alone] for name, x in moves.columns.items() if name not in SAMPLED}
        ops = program_of(moves.opcode[alone], columns, moves.dtype[alone], moves.dtype[alone], {})
        written = dict(zip(alone.tolist(), ops, strict=True))
        return ctrl_programs(self._rng, moves, entries, written)

    def _hints(self, moves: Moves) -> None:
        for opcode, most in _HINTS.items():
            index = np.flatnonzero(moves.opcode == opcode)
            if len(index):
                moves.columns["l2"][index] = self._rng.integers(0, most, len(index))

    def _nop_bases(self, moves: Moves, read: Ints, write: Ints) -> None:
        """NOPs access nothing: their bases may point anywhere, even outside (A-18)."""
        rng = self._rng
        index = np.flatnonzero(moves.nop)
        for side, space in ((read, SOURCE), (write, DESTINATION)):
            to = space[moves.opcode[index]]
            on_gm, on_fb = to == GM, to == FB
            outside = rng.random(len(index)) < 0.3
            bits = np.where(outside, np.where(on_gm, 44, 24), _BITS[to])
            # The segment of FB is tested for a NOP, too (FB-L04).
            bits = np.where(outside & on_fb, FB_SEGMENT_SHIFT + 1, bits)
            base = rng.integers(0, np.left_shift(1, bits))
            segment, offset = np.divmod(base, FB_SEGMENT_BYTES)
            in_segment = (segment << FB_SEGMENT_SHIFT) + offset
            base = np.where(on_fb & ~outside, in_segment, base)
            small = np.isin(to, (BT, FB))
            unit = np.where(on_gm, 1, np.where(small, PARAM_UNIT, UB_BLOCK))
            # The alignment of a load is tested for a NOP, too (LD-L04).
            unit = np.where(np.isin(to, (L0A, L0B)), FRACTAL_BYTES, unit)
            side[index] = base // unit * unit

    def _legacy(
        self, moves: Moves, placed: Places, pad_dtype: Ints
    ) -> dict[int, tuple[LegacyOp, ...]]:
        """Returns the programs of the ops in legacy forms; brings their columns in line."""
        if not moves.legacy.any():
            return {}
        rng, ub_ub = self._rng, bursts(moves.opcode)
        found = self._file.programs(
            rng, np.flatnonzero(moves.legacy & ~ub_ub), moves.columns,
            _STORES[moves.opcode], moves.dtype, pad_dtype,
        )  # fmt: skip
        always = LEGACY_FORMS["copy_ubuf_to_ubuf"] not in self.ops
        return found | ubuf_copies(rng, moves, placed, moves.legacy & ub_ub, always=always)


def split(
    whole: OpBlock, starts: list[int], fills: Sequence[tuple[int, Fill]] = ()
) -> list[OpBlock]:
    """Cuts ``whole`` at ``starts``; one pass over its legacy programs.

    ``fills`` are those of the blocks, each with the number of its op, ascending.
    """
    index = sorted(whole.legacy)
    cuts = np.searchsorted(index, starts).tolist()
    blocks = []
    assert whole.expected_rule is not None
    at = np.searchsorted([number for number, _ in fills], starts).tolist()
    for number, (start, stop) in enumerate(pairwise(starts)):
        after = whole.after[start:stop]
        blocks.append(
            OpBlock(
                whole.opcode[start:stop],
                {name: column[start:stop] for name, column in whole.columns.items()},
                whole.dtype[start:stop],
                whole.pad_dtype[start:stop],
                whole.gap[start:stop],
                np.where(after >= 0, after - start, -1),
                {k - start: whole.legacy[k] for k in index[cuts[number] : cuts[number + 1]]},
                {},
                whole.expected_rule[start:stop],
                tuple(fill for _, fill in fills[at[number] : at[number + 1]]),
            )
        )
    return blocks
