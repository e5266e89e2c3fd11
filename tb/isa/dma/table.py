# SPDX-License-Identifier: Apache-2.0
"""Operand tables and descriptor layout of the strided DMA ops (docs/spec/dma.md, section 1).

In the layout ``ext`` is the GM side and ``loc`` the on-chip side, whichever is the source, so
that loads and stores share one layout and one decoder. An op without a GM side holds its source in
``ext``.
"""

from __future__ import annotations

from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.spaces import GM_ADDR_BITS, UB_BLOCK

MAX_LOOPS = 3
"""Loop groups a descriptor carries (docs/spec/ambiguities.md, A-08)."""

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


def _operands(source: str, destination: str, unit: int) -> tuple[Operand, ...]:
    """Returns addresses, row and loops of a copy; rows of units of several bytes have gaps."""
    blocks, found, units = unit > 1, [], f"{unit} B"
    steps, loops = [], [Operand("loop_count", LOOP_COUNT_BITS, "iterations", "loop{k}_count",
                                "outer repetition")]  # fmt: skip
    for role, what, space in (("src", "source", source), ("dst", "destination", destination)):
        gm, memory = space == "gm", space.upper()
        side = "ext" if role == ("dst" if destination == "gm" else "src") else "loc"
        bits = GM_STRIDE_BITS if gm else LOCAL_STRIDE_BITS
        place = f"{memory} {what} address" + ("" if gm else ", multiple of 32")
        found.append(Operand(f"{space}_{role}", None, "B", f"{side}_addr", place))
        if blocks:
            steps.append(Operand(f"{role}_gap", BLOCK_GAP_BITS, units, f"{side}_stride",
                                 f"{memory} blocks between bursts"))  # fmt: skip
        else:
            steps.append(Operand(f"{role}_stride", bits, "B", f"{side}_stride",
                                 f"{memory} distance between rows"))  # fmt: skip
        loops.append(Operand(f"loop_{role}_stride", bits, "B", f"loop{{k}}_{side}_stride",
                             f"{what} advance"))  # fmt: skip
    if blocks:
        rows = (Operand("len_burst", BLOCK_LEN_BITS, units, "len", "blocks in a burst"),
                Operand("n_burst", BLOCK_COUNT_BITS, "bursts", "n_burst", "bursts"))  # fmt: skip
    else:
        rows = (Operand("len_burst", LEN_BITS, "B", "len", "bytes in a row"),
                Operand("n_burst", N_BURST_BITS, "rows", "n_burst", "rows"))  # fmt: skip
    return (*found, *rows, *steps, *loops)


def strided_row(
    name: str,
    opcode: int,
    slot: str,
    source: str,
    destination: str,
    *,
    d_rules: tuple[int, ...],
    doc: str,
    hint: tuple[Operand, ...] = (),
    pads: tuple[Operand, ...] = (),
    unit: int = 1,
    updates: bool = False,
) -> OpSpec:
    """Returns the row of a strided copy; memories and unit decide most operands.

    Arguments are those of :class:`tb.isa.fields.OpSpec`; ``hint`` follows the addresses and
    ``pads`` the loops.
    """
    first, second, *rest = _operands(source, destination, unit)
    operands = (first, second, *hint, *rest, *pads)
    return OpSpec(
        name, opcode, slot, source, destination, operands, DMA_LAYOUT, "DMA", d_rules, doc,
        unit=unit, updates=updates,
    )  # fmt: skip


MTE_GM_UB = strided_row(
    "mte_gm_ub", 1, "mte2", "gm", "ub",
    d_rules=(3, 5, 6, 7, 8, 9, 10, 12),
    doc="rows of bytes from GM to UB, optionally padded to the UB row stride",
    hint=(Operand("l2_cache_ctl", 2, "code", "l2", "L2 cache allocate hint"),),
    pads=(
        Operand("pad_value", 32, "bits", "pad_value", "pad pattern, as wide as the element"),
        Operand("left_padding_count", PAD_COUNT_BITS, "elements", "pad_left", "pad before a row"),
        Operand("right_padding_count", PAD_COUNT_BITS, "elements", "pad_right", "pad after a row"),
    ),
)  # fmt: skip
MTE_UB_GM = strided_row(
    "mte_ub_gm", 2, "mte3", "ub", "gm",
    d_rules=(5, 6, 7, 8, 12, 16, 17),
    doc="rows of bytes from UB to GM; only the len bytes of a row are read and written",
    updates=True,
    hint=(Operand("l2_cache_ctl", 4, "code", "l2", "L2 cache hint, omitted = 0"),),
)  # fmt: skip
MTE_GM_L1 = strided_row(
    "mte_gm_l1", 3, "mte2", "gm", "l1",
    d_rules=(5, 6, 7, 8, 12),
    doc="rows of bytes from GM to L1",
)  # fmt: skip
MTE_L1_UB = strided_row(
    "mte_l1_ub", 4, "mte1", "l1", "ub",
    d_rules=(5, 6, 7, 12),
    doc="bursts of 32-byte blocks with gaps from L1 to UB sub-block 0",
    unit=UB_BLOCK,
)  # fmt: skip

OF_PADS = ("DMA-L03", "DMA-L09", "DMA-L10")
"""Rules of padded loads alone."""

OF_UPDATES = ("DMA-L16", "DMA-L17")
"""Rules of atomic stores alone."""

STRIDED: tuple[OpSpec, ...] = (MTE_GM_UB, MTE_UB_GM, MTE_GM_L1, MTE_L1_UB)
"""Rows of the family."""

UPDATED = frozenset(spec.name for spec in STRIDED if spec.updates)
"""Copies that CTRL makes atomic updates of GM."""

SOURCE_SIDE: dict[str, str] = {
    spec.name: "loc" if spec.destination == "gm" else "ext" for spec in STRIDED
}
"""Op to the side of its descriptor that it reads: ``"ext"`` or ``"loc"``; it writes the other."""
