# SPDX-License-Identifier: Apache-2.0
"""Operand table and descriptor layout of the NZ repack (docs/spec/nd2nz.md, section 1)."""

from __future__ import annotations

from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.spaces import GM_ADDR_BITS

ND2NZ = 0
DN2NZ = 1
MODES: tuple[str, str] = ("nd2nz", "dn2nz")
"""Keywords of the two source layouts, by their code in the descriptor."""

N_BITS = 16
D_BITS = 21
GROUP_BITS = 16
GM_STRIDE_BITS = 40
DST_STRIDE_BITS = 16
L2_BITS = 4

MAX_N = 16384
MAX_D = 65535
MAX_GROUPS = 4095
"""Largest legal counts (ND-L03), below the limits of their fields."""

C0_BYTES = 32
"""Bytes of a C0 block in L1, the unit of the destination strides."""

SMALL_C0 = 4
"""Channels of a row in small-C0 mode, and the most ``d_value`` there (ND-L05)."""

NZ_LAYOUT = Layout(
    "nz",
    (
        Field("elem_log2", 2, "log2 of the element size in bytes: 0, 1 or 2"),
        Field("mode", 1, "0 nd2nz: source is src[n][d]; 1 dn2nz: source is src[d][n]"),
        Field("small_c0", 2, "small-C0 packing"),
        Field("l2", L2_BITS + 1, "L2 cache hint, never changes data"),
        Field("n_value", N_BITS + 1, "logical rows N"),
        Field("d_value", D_BITS + 1, "logical columns D"),
        Field("group_count", GROUP_BITS + 1, "matrices"),
        Field("ext_addr", GM_ADDR_BITS + 4, "GM base byte address", keep_low=5),
        Field("loc_addr", 24, "L1 base byte address", keep_low=5),
        Field("inner_stride", GM_STRIDE_BITS + 1, "GM bytes between source rows"),
        Field("outer_stride", GM_STRIDE_BITS + 1, "GM bytes between matrices"),
        Field("dst_loop2", DST_STRIDE_BITS + 1, "32 B blocks between rows n of a C0 column"),
        Field("dst_loop3", DST_STRIDE_BITS + 1, "32 B blocks between C0 columns"),
        Field("dst_loop4", DST_STRIDE_BITS + 1, "32 B blocks between groups"),
    ),
)

MTE_GM_L1_FRAC = OpSpec(
    name="mte_gm_l1_frac",
    opcode=7,
    slot="mte2",
    source="gm",
    destination="l1",
    operands=(
        Operand("gm_src", None, "B", "ext_addr", "GM source address"),
        Operand("l1_dst", None, "B", "loc_addr", "L1 destination address, multiple of 32"),
        Operand("n_value", N_BITS, "rows", "n_value", "logical N, at most 16384"),
        Operand("d_value", D_BITS, "elements", "d_value", "logical D, at most 65535"),
        Operand("src_inner_stride", GM_STRIDE_BITS, "B", "inner_stride", "between source rows"),
        Operand("src_outer_stride", GM_STRIDE_BITS, "B", "outer_stride", "between matrices"),
        Operand("group_count", GROUP_BITS, "matrices", "group_count", "1 to 4095"),
        Operand("dst_loop2_stride", DST_STRIDE_BITS, "32 B", "dst_loop2", "row n to n + 1"),
        Operand("dst_loop3_stride", DST_STRIDE_BITS, "32 B", "dst_loop3", "C0 column c to c + 1"),
        Operand("dst_loop4_stride", DST_STRIDE_BITS, "32 B", "dst_loop4", "group g to g + 1"),
        Operand("l2_cache_ctrl", L2_BITS, "code", "l2", "L2 cache hint"),
        Operand("smallc0_en", 1, "flag", "small_c0", "small-C0 packing, d_value at most 4"),
    ),
    layout=NZ_LAYOUT,
    rules="ND",
    d_rules=(3, 4, 5, 6, 7, 8),
    doc="row- or column-major matrices from GM to NZ fractals in L1",
)

REPACKS: tuple[OpSpec, ...] = (MTE_GM_L1_FRAC,)
"""Rows of the family."""
