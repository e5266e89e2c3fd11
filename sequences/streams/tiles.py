# SPDX-License-Identifier: Apache-2.0
"""FIXPIPE write-backs of one tile shape, so that their elements per clock can be compared."""

from __future__ import annotations

from sequences.streams.workload import Workload
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FixOp,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    Scalar,
)
from tb.isa.footprint import destinations
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.spaces import SIZES, Space

ROWS = 64
COLUMNS = 64
"""Tile of the rate measurement."""

HALF = Scalar("f32", 0x3F000000)
GAP = 32
"""Elements between rows that are not contiguous."""

PLACES = 4
SOURCE_STEP = ROWS * COLUMNS * 4
"""Bytes of a tile in L0C: ops read tiles of their own."""


def _at(op: FixOp, place: int, step: int) -> FixOp:
    """Returns ``op`` on the accumulators and the destination of a place."""
    source = place * SOURCE_STEP % SIZES[Space.L0C]
    return replace(op, src=source, dst=op.dst + place * step)


def tile(name: str, op: FixOp, bits: int, places: int = PLACES) -> Workload:
    """Returns a workload; ``bits`` are those of a destination element."""
    reach = destinations(lower(op))[0].end - op.dst
    step = -(-reach // 4096) * 4096
    size = op.m * op.n * bits // 8
    return Workload(name, "elements", op.m * op.n, size, places, lambda k: _at(op, k, step))


def scaled(mode: str) -> PreQuant:
    """Returns the clause of a scalar mode, with a scale of 0.5."""
    return PreQuant(mode, HALF)


def rated_tiles() -> list[Workload]:
    """Returns a 64 x 64 tile for each layout, destination and element width."""
    shape = (ROWS, COLUMNS, ROWS, COLUMNS)
    f16_ub, f16_gm = Ptr("f16", "ub"), Ptr("f16", "gm")
    ub = MteL0cUb(0, 0, *shape)
    gm = MteL0cGm(0, 0, *shape)
    half_ub = replace(ub, pre_quant=scaled("qf322f16_pre_scalar"), dst_type=f16_ub)
    half_gm = replace(gm, pre_quant=scaled("qf322f16_pre_scalar"), dst_type=f16_gm)
    byte_ub = replace(ub, pre_quant=scaled("qf322b8_pre_scalar"), dst_type=Ptr("i8", "ub"))
    byte_gm = replace(gm, pre_quant=scaled("qf322b8_pre_scalar"), dst_type=Ptr("i8", "gm"))
    nibble = replace(ub, pre_quant=scaled("qf322s4_pre_scalar"), dst_type=Ptr("i4", "ub"))
    nz = MteL0cL1(0, 0, ROWS, COLUMNS, ROWS, ROWS * 16, layout="nz2nz", split=0)
    return [
        tile("nz2nd f16 to UB", half_ub, 16),
        tile("nz2nd f32 to UB", ub, 32),
        tile("nz2nd s8 to UB", byte_ub, 8),
        tile("nz2nd s4 to UB", nibble, 4),
        tile("split_m f32 to UB", replace(ub, ub_split="split_m"), 32),
        tile("nz2nd f16 to GM", half_gm, 16),
        tile("nz2nd f16 to GM, gaps", replace(half_gm, dst_stride=COLUMNS + GAP), 16),
        tile("nz2nd f16 to GM, odd", replace(half_gm, dst=2), 16),
        tile("nz2nd f32 to GM", gm, 32),
        tile("nz2nd s8 to GM", byte_gm, 8),
        tile("nz2dn f16 to UB", replace(half_ub, layout="nz2dn", k=1), 16),
        tile("nz2dn f32 to UB", replace(ub, layout="nz2dn", k=1), 32),
        tile("nz2dn f16 to GM", replace(half_gm, layout="nz2dn", k=1), 16),
        tile("nz2nz f32 to L1", nz, 32),
        tile("nz2nz(1) f32 to L1", replace(nz, split=1, dst_stride=ROWS * 8), 32),
        tile("f16 add to GM", replace(half_gm, atomic=Atomic("f16", "add")), 16),
        tile("f32 add to GM", replace(gm, atomic=Atomic("f32", "add")), 32),
    ]
