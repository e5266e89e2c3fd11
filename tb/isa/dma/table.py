# SPDX-License-Identifier: Apache-2.0
"""Operand tables and descriptor layout of the strided DMA ops (spec/dma.md, section 1).

In the layout ``ext`` is the GM side and ``loc`` the on-chip side, whichever is the source, so
that loads and stores share one layout and one decoder. ``mte_l1_ub``, which has no GM side,
holds its source in ``ext``.
"""

from __future__ import annotations

from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.spaces import GM_ADDR_BITS

MAX_LOOPS = 3
"""Loop groups a descriptor carries (spec/ambiguities.md, A-08)."""

GM_STRIDE_BITS = 40
LOCAL_STRIDE_BITS = 21
LOOP_COUNT_BITS = 21
LEN_BITS = 21
N_BURST_BITS = 21
"""Bits of lengths and row counts of copies with a GM side. The legal maximum is that of the knob
``len_bits`` (:mod:`tb.isa.profile`; A-04)."""
BLOCK_LEN_BITS = 16
BLOCK_GAP_BITS = 16
BLOCK_COUNT_BITS = 12
"""Bits of lengths and gaps (32 B units) and of the burst count of ``mte_l1_ub`` (A-12)."""
PAD_COUNT_BITS = 8
PAD_LIMIT = 32
"""Most pad bytes on either side of a row (DMA-L09)."""

_LOOP_FIELDS = tuple(
    field
    for k in range(MAX_LOOPS)
    for field in (
        Field(f"loop{k}_count", LOOP_COUNT_BITS + 1, f"iterations of loop {k}, 0 innermost"),
        Field(
            f"loop{k}_ext_stride", GM_STRIDE_BITS + 1, f"GM bytes between iterations of loop {k}"
        ),
        Field(f"loop{k}_loc_stride", LOCAL_STRIDE_BITS + 1, f"local bytes, loop {k}"),
    )
)

DMA_LAYOUT = Layout(
    "dma",
    (
        Field("elem_log2", 2, "log2 of the element size in bytes"),
        Field("ub_sub", 1, "UB sub-block of the core that owns the op (A-17)"),
        Field("n_loops", 2, "loop groups present; the others hold count 1, strides 0"),
        Field("pad_en", 2, "rows are padded: v0.6 pad clause, legacy data_select_bit"),
        Field("pad_legacy", 1, "form of the pad counts: 0 v0.6, 1 legacy (A-06, A-16)"),
        Field("l2", 5, "L2 cache hint, never changes data"),
        Field("pad_left", PAD_COUNT_BITS + 1, "pad before the data of each row"),
        Field("pad_right", PAD_COUNT_BITS + 1, "least pad after the data of each row"),
        Field("pad_value", 33, "bit pattern of one pad element"),
        Field("len", LEN_BITS + 1, "bytes of data in a row; mte_l1_ub: 32 B units"),
        Field("n_burst", N_BURST_BITS + 1, "rows"),
        Field("ext_addr", GM_ADDR_BITS + 4, "GM base byte address; mte_l1_ub: L1", keep_low=5),
        Field("loc_addr", 24, "local base byte address", keep_low=5),
        Field("ext_stride", GM_STRIDE_BITS + 1, "GM bytes, row to row; mte_l1_ub: L1 gap in 32 B"),
        Field("loc_stride", LOCAL_STRIDE_BITS + 1, "local bytes, row to row; mte_l1_ub: gap, 32 B"),
        *_LOOP_FIELDS,
        Field("atomic_type", 3, "mte_ub_gm: CTRL 8:6 at the issue; others 0"),
        Field("atomic_op", 2, "mte_ub_gm: CTRL 10:9 at the issue; others 0"),
        Field("nosat", 1, "mte_ub_gm: CTRL 48 at the issue; others 0"),
    ),
)


def _loop_operands(
    src_bits: int, src_field: str, dst_bits: int, dst_field: str
) -> tuple[Operand, ...]:
    return (
        Operand("loop_count", LOOP_COUNT_BITS, "iterations", "loop{k}_count", "outer repetition"),
        Operand("loop_src_stride", src_bits, "B", f"loop{{k}}_{src_field}", "source advance"),
        Operand("loop_dst_stride", dst_bits, "B", f"loop{{k}}_{dst_field}", "destination advance"),
    )


MTE_GM_UB = OpSpec(
    name="mte_gm_ub",
    opcode=1,
    slot="mte2",
    source="gm",
    destination="ub",
    operands=(
        Operand("gm_src", None, "B", "ext_addr", "GM source address"),
        Operand("ub_dst", None, "B", "loc_addr", "UB destination address, multiple of 32"),
        Operand("l2_cache_ctl", 2, "code", "l2", "L2 cache allocate hint"),
        Operand("len_burst", LEN_BITS, "B", "len", "bytes in a row"),
        Operand("n_burst", N_BURST_BITS, "rows", "n_burst", "rows"),
        Operand("src_stride", GM_STRIDE_BITS, "B", "ext_stride", "GM distance between rows"),
        Operand("dst_stride", LOCAL_STRIDE_BITS, "B", "loc_stride", "UB distance between rows"),
        *_loop_operands(GM_STRIDE_BITS, "ext_stride", LOCAL_STRIDE_BITS, "loc_stride"),
        Operand("pad_value", 32, "bits", "pad_value", "pad pattern, as wide as the element"),
        Operand("left_padding_count", PAD_COUNT_BITS, "elements", "pad_left", "pad before a row"),
        Operand("right_padding_count", PAD_COUNT_BITS, "elements", "pad_right", "pad after a row"),
    ),
    layout=DMA_LAYOUT,
    rules="DMA",
    d_rules=(3, 5, 6, 7, 8, 9, 10, 12),
    doc="rows of bytes from GM to UB, optionally padded to the UB row stride",
)

MTE_UB_GM = OpSpec(
    name="mte_ub_gm",
    opcode=2,
    slot="mte3",
    source="ub",
    destination="gm",
    operands=(
        Operand("ub_src", None, "B", "loc_addr", "UB source address, multiple of 32"),
        Operand("gm_dst", None, "B", "ext_addr", "GM destination address"),
        Operand("l2_cache_ctl", 4, "code", "l2", "L2 cache hint, omitted = 0"),
        Operand("len_burst", LEN_BITS, "B", "len", "bytes in a row"),
        Operand("n_burst", N_BURST_BITS, "rows", "n_burst", "rows"),
        Operand("src_stride", LOCAL_STRIDE_BITS, "B", "loc_stride", "UB distance between rows"),
        Operand("dst_stride", GM_STRIDE_BITS, "B", "ext_stride", "GM distance between rows"),
        *_loop_operands(LOCAL_STRIDE_BITS, "loc_stride", GM_STRIDE_BITS, "ext_stride"),
    ),
    layout=DMA_LAYOUT,
    rules="DMA",
    d_rules=(5, 6, 7, 8, 12, 16, 17),
    doc="rows of bytes from UB to GM; only the len bytes of a row are read and written",
)

MTE_GM_L1 = OpSpec(
    name="mte_gm_l1",
    opcode=3,
    slot="mte2",
    source="gm",
    destination="l1",
    operands=(
        Operand("gm_src", None, "B", "ext_addr", "GM source address"),
        Operand("l1_dst", None, "B", "loc_addr", "L1 destination address, multiple of 32"),
        Operand("len_burst", LEN_BITS, "B", "len", "bytes in a row"),
        Operand("n_burst", N_BURST_BITS, "rows", "n_burst", "rows"),
        Operand("src_stride", GM_STRIDE_BITS, "B", "ext_stride", "GM distance between rows"),
        Operand("dst_stride", LOCAL_STRIDE_BITS, "B", "loc_stride", "L1 distance between rows"),
        *_loop_operands(GM_STRIDE_BITS, "ext_stride", LOCAL_STRIDE_BITS, "loc_stride"),
    ),
    layout=DMA_LAYOUT,
    rules="DMA",
    d_rules=(5, 6, 7, 8, 12),
    doc="rows of bytes from GM to L1",
)

MTE_L1_UB = OpSpec(
    name="mte_l1_ub",
    opcode=4,
    slot="mte1",
    source="l1",
    destination="ub",
    operands=(
        Operand("l1_src", None, "B", "ext_addr", "L1 source address, multiple of 32"),
        Operand("ub_dst", None, "B", "loc_addr", "UB destination address, multiple of 32"),
        Operand("len_burst", BLOCK_LEN_BITS, "32 B", "len", "blocks in a burst"),
        Operand("n_burst", BLOCK_COUNT_BITS, "bursts", "n_burst", "bursts"),
        Operand("src_gap", BLOCK_GAP_BITS, "32 B", "ext_stride", "L1 blocks between bursts"),
        Operand("dst_gap", BLOCK_GAP_BITS, "32 B", "loc_stride", "UB blocks between bursts"),
        *_loop_operands(LOCAL_STRIDE_BITS, "ext_stride", LOCAL_STRIDE_BITS, "loc_stride"),
    ),
    layout=DMA_LAYOUT,
    rules="DMA",
    d_rules=(5, 6, 7, 12),
    doc="bursts of 32-byte blocks with gaps from L1 to UB sub-block 0",
)

STRIDED: tuple[OpSpec, ...] = (MTE_GM_UB, MTE_UB_GM, MTE_GM_L1, MTE_L1_UB)
"""Rows of the family."""

SOURCE_SIDE: dict[str, str] = {
    spec.name: "loc" if spec.destination == "gm" else "ext" for spec in STRIDED
}
"""Op to the side of its descriptor that it reads: ``"ext"`` or ``"loc"``; it writes the other."""
