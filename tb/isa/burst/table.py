# SPDX-License-Identifier: Apache-2.0
"""Operand tables and descriptor layout of the gap-based burst copies between on-chip memories.

These are ``mte_ub_ub`` and ``mte_ub_l1`` (docs/spec/dma.md, sections 1 and 2), ``mte_l1_bt`` and
``mte_l1_fb`` (docs/spec/bias_fb.md). A burst is ``len`` units, a gap is counted in units from the
end of one burst to the start of the next, and the unit is that of the op.

A row defines an op of this family completely: everything else is derived from ``BURSTS``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.fields import Field, Layout, Operand, OpSpec
from tb.isa.spaces import UB_BLOCK

LEN_BITS = 16
GAP_BITS = 16
UB_COUNT_BITS = 16
PARAM_COUNT_BITS = 12
"""Bits of the burst count of ``mte_l1_bt`` and ``mte_l1_fb``."""

BLOCK_UNIT = 32
"""Bytes in a unit of ``mte_ub_ub`` and ``mte_ub_l1``."""

FB_UNIT = 64
"""Bytes in a unit of ``mte_l1_fb`` (docs/spec/ambiguities.md, A-24)."""

PARAM_ALIGN = 64
"""Alignment in bytes of bt and fb destinations (BT-L03, FB-L03)."""

BIAS_BYTES = 4
"""Bytes of a bias slot, which is a unit of ``mte_l1_bt`` in bt (A-22)."""

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


@dataclass(frozen=True, slots=True)
class BurstSpec(OpSpec):
    """Table row of a burst copy.

    Attributes:
        align: Alignment in bytes of the destination; sources are multiples of 32.
        dtype: Element type of pointers that are not given.
        widens: Elements become 32-bit slots, by the pairs of ``BIAS_TYPES``.
    """

    align: int = UB_BLOCK
    dtype: str = "i8"
    widens: bool = False

    @property
    def has_ub_side(self) -> bool:
        """One side at least is a UB sub-block."""
        return "ub" in (self.source, self.destination)


_PARAMETER_RULES = {"bt": "BT", "fb": "FB"}
"""Memories of parameters, and the rule families of the ops that load them."""


def burst_row(
    name: str,
    opcode: int,
    slot: str,
    source: str,
    destination: str,
    *,
    doc: str,
    unit: int = BLOCK_UNIT,
    pipe: str = "",
    dtype: str = "i8",
    widens: bool = False,
) -> BurstSpec:
    """Returns the row of a burst copy; memory and unit decide operands, widths and rules.

    Arguments are those of :class:`BurstSpec` and :class:`tb.isa.fields.OpSpec`.
    """
    rules = _PARAMETER_RULES.get(destination)
    align, count_bits = (PARAM_ALIGN, PARAM_COUNT_BITS) if rules else (UB_BLOCK, UB_COUNT_BITS)
    units = "elements" if widens else f"{unit} B"
    target = destination if rules else destination.upper()
    return BurstSpec(
        name=name,
        opcode=opcode,
        slot=slot,
        source=source,
        destination=destination,
        operands=(
            Operand(
                f"{source}_src", None, "B", "src_addr",
                f"{source.upper()} source address, multiple of {UB_BLOCK}",
            ),
            Operand(
                f"{destination}_dst", None, "B", "dst_addr",
                f"{target} destination address, multiple of {align}",
            ),
            Operand("len_burst", LEN_BITS, units, "len", "units in a burst"),
            Operand("n_burst", count_bits, "bursts", "n_burst", "bursts"),
            Operand("src_gap", GAP_BITS, units, "src_gap", "source units between bursts"),
            Operand("dst_gap", GAP_BITS, units, "dst_gap", "destination units between bursts"),
        ),
        layout=BURST_LAYOUT,
        rules=rules or "DMA",
        d_rules=(2, 3, 4) if rules else (5, 6, 12),
        doc=doc,
        pipe=pipe,
        unit=unit,
        align=align,
        dtype=dtype,
        widens=widens,
    )  # fmt: skip


MTE_UB_UB = burst_row(
    "mte_ub_ub", 5, "mte3", "ub", "ub",
    pipe="PIPE_V",
    doc="bursts of UB blocks inside one UB sub-block",
)  # fmt: skip
MTE_UB_L1 = burst_row(
    "mte_ub_l1", 6, "mte3", "ub", "l1",
    doc="bursts of UB blocks from UB to L1",
)  # fmt: skip
MTE_L1_BT = burst_row(
    "mte_l1_bt", 8, "mte1", "l1", "bt",
    unit=BIAS_BYTES, dtype="f32", widens=True,
    doc="bias elements from L1 to 32-bit bias slots, f16 and bf16 widened to f32",
)  # fmt: skip
MTE_L1_FB = burst_row(
    "mte_l1_fb", 9, "fix", "l1", "fb",
    unit=FB_UNIT, dtype="i64",
    doc="FIXPIPE parameter rows from L1 to fb, raw",
)  # fmt: skip

BURSTS: dict[str, BurstSpec] = {
    row.name: row for row in (MTE_UB_UB, MTE_UB_L1, MTE_L1_BT, MTE_L1_FB)
}
"""Rows of the family by mnemonic. Derived tables are built when their modules are imported."""
