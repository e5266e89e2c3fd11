# SPDX-License-Identifier: Apache-2.0
"""A draw of ops of any family in progress: sources, destinations and dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import OpConstraints
from sequences.draw.shapes import LEVELS, Bools, Ints, pick
from tb.isa.burst.table import BURSTS as BURST_ROWS
from tb.isa.dma.table import STRIDED as STRIDED_ROWS
from tb.isa.fields import OpSpec
from tb.isa.l0.table import FRACTAL_BYTES, LOADS, SCALE_BYTES
from tb.isa.nest import NESTS
from tb.isa.ops import OPS, OPS_BY_CODE, SLOTS

KEYWORDS = ("gm", "ub", "l1", "bt", "fb", "l0a", "l0b", "l0a_mx", "l0b_mx", "")
"""Memories; both UB sub-blocks are UB. The last is the source of ops that read nothing. Write-backs
are not drawn as moves."""

GM, UB, L1, BT, FB, L0A, L0B, L0A_MX, L0B_MX, NOTHING = range(len(KEYWORDS))
"""Their numbers."""

MAX_REACH = 12
"""Farthest distance, in ops, of a dependency."""

MAX_DEPTH = 3
"""Most ops before another in a chain of dependencies."""

STRIDED = tuple(row.name for row in STRIDED_ROWS)
BURSTS = tuple(BURST_ROWS)


def by_name(values: dict[str, int]) -> Ints:
    """Returns ``int64[256]``: opcode to the value of that op, 0 for opcodes without one."""
    table = np.zeros(256, dtype=np.int64)
    for name, value in values.items():
        table[OPS[name].opcode] = value
    return table


def marked(test: Callable[[OpSpec], bool]) -> Bools:
    """Returns ``bool[256]``: the opcodes of the ops whose row passes a test."""
    table = np.zeros(256, dtype=bool)
    table[[row.opcode for row in OPS.values() if test(row)]] = True
    return table


SOURCE = by_name(
    {name: KEYWORDS.index(s.source) for name, s in OPS.items() if s.source in KEYWORDS}
)
"""Opcode to the memory read."""

DESTINATION = by_name(
    {name: KEYWORDS.index(spec.destination) for name, spec in OPS.items()}
    | {name: KEYWORDS.index(row.memory) for name, row in LOADS.items()}
)
"""Opcode to the memory written."""

UPDATES = marked(lambda row: row.family == "dma" and row.updates)
"""Opcodes of copies that CTRL makes updates of GM."""

SLOT = by_name({name: SLOTS.index(spec.slot) for name, spec in OPS.items()})
"""Opcode to slot number."""

FAR_SHARE = by_name(dict.fromkeys(OPS, 1) | {"mte_gm_l1_frac": 3})
"""Factor of the fraction of far ops: the two strides of repacks have few ops to be drawn in."""

LEAST_READ = by_name(
    {name: row.unit for name, row in BURST_ROWS.items()}
    | {name: SCALE_BYTES if row.scales else FRACTAL_BYTES for name, row in LOADS.items()}
    | {row.name: row.unit for row in STRIDED_ROWS}
    | {"mte_gm_l1_frac": 4}
)
"""Opcode to the fewest bytes the op reads when it moves anything; of wider elements the most."""


@dataclass
class Side:
    """Rows that ops read or write, innermost level first: see :class:`tb.isa.footprint.Footprint`.

    Attributes:
        counts, strides: ``int64[N, 4]``.
        foot: ``int64[N]``, bytes of a row.
        hull: ``int64[N]``, bytes from the first to the last, 0 for a NOP.
    """

    counts: Ints
    strides: Ints
    foot: Ints
    hull: Ints

    @classmethod
    def empty(cls, count: int) -> Side:
        """Returns a side of ``count`` ops that touch nothing."""
        shape = (count, LEVELS)
        return cls(
            np.ones(shape, np.int64),
            np.zeros(shape, np.int64),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
        )

    def put(
        self, index: Ints, counts: Ints, strides: Ints, foot: Ints, live: Bools | bool = True
    ) -> None:
        """Sets the rows of the ops ``index``; a count of 0 leaves the hull 0, as ``live`` does."""
        self.counts[index], self.strides[index], self.foot[index] = counts, strides, foot
        reach = ((counts - 1) * strides).sum(axis=1) + foot
        self.hull[index] = np.where((counts > 0).all(axis=1) & (foot > 0) & live, reach, 0)


@dataclass
class Moves:
    """N ops in program order.

    Attributes:
        opcode: ``int64[N]``.
        nop: ``bool[N]``, has a zero count or length.
        far: ``bool[N]``, may have GM rows anywhere.
        legacy: ``bool[N]``, written in the legacy form.
        parent: ``int64[N]``, earlier op on another slot that writes the source of this one, or -1.
        depth: ``int64[N]``, parents up to the first op of the chain.
        read, write: Sides.
        skew: ``int64[N]``, of a copy inside a memory with interleaved rows on both sides: bytes
            from the destination to the source; 0 for all others.
        extent: ``int64[N]``, bytes of its destination that dependents may read, whole blocks on
            chip.
        residue: ``int64[N]``, wanted row length modulo the bus width, or -1.
        dtype: ``int64[N]``, index into ``DTYPES``.
        columns: Descriptor fields except the addresses.
    """

    opcode: Ints
    nop: Bools
    far: Bools
    legacy: Bools
    parent: Ints
    depth: Ints
    read: Side
    write: Side
    skew: Ints
    extent: Ints
    residue: Ints
    dtype: Ints
    columns: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.opcode)

    def settle(self, index: Ints, live: Bools | bool = True) -> None:
        """Sets the rows of both sides of the ops ``index``, which have their columns.

        Where ``live`` (``bool[M]``) is false an op is a NOP whatever its counts.
        """
        alive, opcode = np.broadcast_to(live, len(index)), self.opcode[index]
        for code in np.unique(opcode).tolist():
            mine = opcode == code
            at, spec = index[mine], OPS_BY_CODE[code]
            v = SimpleNamespace(spec=spec, **{x: self.columns[x][at] for x in spec.layout
                                              if x in self.columns})  # fmt: skip
            nest = NESTS[spec.layout.family]
            for side, rows in ((self.read, nest.read(v)), (self.write, nest.written(v))):
                counts = np.ones((len(at), LEVELS), dtype=np.int64)
                strides = np.zeros_like(counts)
                for level, (count, stride) in enumerate(
                    zip(rows.counts, rows.strides, strict=True)
                ):
                    counts[:, level], strides[:, level] = count, stride
                side.put(at, counts, strides, rows.length, alive[mine])


def _opcodes(
    rng: np.random.Generator, count: int, codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> Ints:
    return codes[pick(rng, count, weights)]


def _parents(
    rng: np.random.Generator, opcode: Ints, nop: Bools, fraction: float, tries: int
) -> Ints:
    count = len(opcode)
    here = np.arange(count)
    parent = np.full(count, -1, dtype=np.int64)
    wants = (rng.random(count) < fraction) & ~nop
    for _ in range(tries):
        there = here - rng.integers(1, MAX_REACH + 1, count)
        ok = wants & (parent < 0) & (there >= 0)
        there = np.maximum(there, 0)
        before = opcode[there]
        ok &= (DESTINATION[before] == SOURCE[opcode]) & (SLOT[before] != SLOT[opcode])
        parent = np.where(ok & ~nop[there], there, parent)
    return parent


def _depths(parent: Ints) -> Ints:
    """Returns the number of ops before each in its chain; cuts ``parent`` at ``MAX_DEPTH``."""
    child = parent >= 0
    depth = np.zeros(len(parent), dtype=np.int64)
    for _ in range(MAX_DEPTH + 1):
        depth = np.where(child, depth[np.maximum(parent, 0)] + 1, 0)
    parent[depth > MAX_DEPTH] = -1
    depth[depth > MAX_DEPTH] = 0
    child = parent >= 0
    for _ in range(MAX_DEPTH + 1):
        depth = np.where(child, depth[np.maximum(parent, 0)] + 1, 0)
    return depth


def draw_moves(
    rng: np.random.Generator,
    count: int,
    weights: Mapping[str, float],
    legacy: Mapping[str, float],
    columns: tuple[str, ...],
    limits: OpConstraints,
) -> Moves:
    """Draws ops and their dependencies, without shapes.

    Args:
        rng: Source of randomness.
        count: Number of ops.
        weights: v0.6 name of an op to its weight.
        legacy: v0.6 name of an op to the fraction in the legacy form.
        columns: Descriptor fields to make room for.
        limits: Constraints.
    """
    codes = np.array([OPS[name].opcode for name in weights], dtype=np.int64)
    opcode = _opcodes(rng, count, codes, np.array(list(weights.values()), dtype=np.float64))
    nop = rng.random(count) < limits.nop
    # With two kinds of ops every op soon finds a producer, but some must have independent shapes.
    parent = _parents(rng, opcode, nop, limits.dependent, 5 if len(weights) > 2 else 1)
    depth = _depths(parent)
    feeds = np.zeros(count, dtype=bool)
    feeds[parent[parent >= 0]] = True
    loads, stores = SOURCE[opcode] == GM, DESTINATION[opcode] == GM
    far = (rng.random(count) < limits.far * FAR_SHARE[opcode]) & ~nop
    far &= (loads & (parent < 0)) | (stores & ~feeds)
    share = np.zeros(256)
    for name, fraction in legacy.items():
        share[OPS[name].opcode] = fraction
    zero = np.zeros(count, dtype=np.int64)
    return Moves(
        opcode, nop, far, rng.random(count) < share[opcode], parent, depth, Side.empty(count),
        Side.empty(count), zero.copy(), zero.copy(), zero - 1, zero.copy(),
        {name: zero.copy() for name in columns},
    )  # fmt: skip
