# SPDX-License-Identifier: Apache-2.0
"""Operand tables and descriptor layout of the gap-based burst copies between on-chip memories.

These are ``mte_ub_ub`` and ``mte_ub_l1`` (spec/dma.md, sections 1 and 2), ``mte_l1_bt`` and
``mte_l1_fb`` (spec/bias_fb.md). A burst is ``len`` units, a gap is counted in units from the end
of one burst to the start of the next, and the unit is that of the op.
"""

from __future__ import annotations

from tb.isa.fields import Field, Layout, Operand, OpSpec

LEN_BITS = 16
GAP_BITS = 16
UB_COUNT_BITS = 16
PARAM_COUNT_BITS = 12
"""Bits of the burst count of ``mte_l1_bt`` and ``mte_l1_fb``."""

BLOCK_UNIT = 32
"""Bytes in a unit of ``mte_ub_ub`` and ``mte_ub_l1``."""

FB_UNIT = 64
"""Bytes in a unit of ``mte_l1_fb`` (spec/ambiguities.md, A-24)."""

BIAS_BYTES = 4
"""Bytes of a bias slot; what a unit of ``mte_l1_bt`` takes in bt (A-22)."""

WIDEN_RAW = 0
WIDEN_BF16 = 1
WIDEN_F16 = 2

BIAS_TYPES: dict[str, tuple[str, int]] = {
    "f32": ("f32", WIDEN_RAW),
    "i32": ("i32", WIDEN_RAW),
    "bf16": ("f32", WIDEN_BF16),
    "f16": ("f32", WIDEN_F16),
}
"""Source type T of ``mte_l1_bt`` to its destination type U and ``widen`` code (BT-L01)."""

BURST_LAYOUT = Layout(
    "burst",
    (
        Field("ub_sub", 1, "UB sub-block of the core that owns the op (A-17)"),
        Field("widen", 2, "mte_l1_bt: 0 f32 or i32 as it is, 1 bf16 to f32, 2 f16 to f32"),
        Field("len", LEN_BITS + 1, "units in a burst"),
        Field("n_burst", UB_COUNT_BITS + 1, "bursts"),
        Field("src_addr", 24, "source base byte address", keep_low=6),
        Field("dst_addr", 24, "destination base byte address", keep_low=6),
        Field("src_gap", GAP_BITS + 1, "source units between bursts"),
        Field("dst_gap", GAP_BITS + 1, "destination units between bursts"),
    ),
)


def _operands(
    source: Operand, destination: Operand, unit: str, count_bits: int
) -> tuple[Operand, ...]:
    return (
        source,
        destination,
        Operand("len_burst", LEN_BITS, unit, "len", "units in a burst"),
        Operand("n_burst", count_bits, "bursts", "n_burst", "bursts"),
        Operand("src_gap", GAP_BITS, unit, "src_gap", "source units between bursts"),
        Operand("dst_gap", GAP_BITS, unit, "dst_gap", "destination units between bursts"),
    )


MTE_UB_UB = OpSpec(
    name="mte_ub_ub",
    opcode=5,
    slot="mte3",
    source="ub",
    destination="ub",
    operands=_operands(
        Operand("ub_src", None, "B", "src_addr", "UB source address, multiple of 32"),
        Operand("ub_dst", None, "B", "dst_addr", "UB destination address, multiple of 32"),
        "32 B",
        UB_COUNT_BITS,
    ),
    layout=BURST_LAYOUT,
    rules="DMA",
    d_rules=(5, 6, 12),
    doc="bursts of UB blocks inside one UB sub-block",
)

MTE_UB_L1 = OpSpec(
    name="mte_ub_l1",
    opcode=6,
    slot="mte3",
    source="ub",
    destination="l1",
    operands=_operands(
        Operand("ub_src", None, "B", "src_addr", "UB source address, multiple of 32"),
        Operand("l1_dst", None, "B", "dst_addr", "L1 destination address, multiple of 32"),
        "32 B",
        UB_COUNT_BITS,
    ),
    layout=BURST_LAYOUT,
    rules="DMA",
    d_rules=(5, 6, 12),
    doc="bursts of UB blocks from UB to L1",
)

MTE_L1_BT = OpSpec(
    name="mte_l1_bt",
    opcode=8,
    slot="mte1",
    source="l1",
    destination="bt",
    operands=_operands(
        Operand("l1_src", None, "B", "src_addr", "L1 source address, multiple of 32"),
        Operand("bt_dst", None, "B", "dst_addr", "bt destination address, multiple of 64"),
        "elements",
        PARAM_COUNT_BITS,
    ),
    layout=BURST_LAYOUT,
    rules="BT",
    d_rules=(2, 3, 4),
    doc="bias elements from L1 to 32-bit bias slots, f16 and bf16 widened to f32",
)

MTE_L1_FB = OpSpec(
    name="mte_l1_fb",
    opcode=9,
    slot="fix",
    source="l1",
    destination="fb",
    operands=_operands(
        Operand("l1_src", None, "B", "src_addr", "L1 source address, multiple of 32"),
        Operand("fb_dst", None, "B", "dst_addr", "fb destination address, multiple of 64"),
        "64 B",
        PARAM_COUNT_BITS,
    ),
    layout=BURST_LAYOUT,
    rules="FB",
    d_rules=(2, 3, 4),
    doc="FIXPIPE parameter rows from L1 to fb, raw",
)


def unit_bytes(spec: OpSpec, widen: int = WIDEN_RAW) -> tuple[int, int]:
    """Returns the bytes of one unit at the source and at the destination."""
    if spec is MTE_L1_BT:
        return (BIAS_BYTES if widen == WIDEN_RAW else BIAS_BYTES // 2, BIAS_BYTES)
    size = FB_UNIT if spec is MTE_L1_FB else BLOCK_UNIT
    return size, size
