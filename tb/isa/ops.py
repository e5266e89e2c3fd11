# SPDX-License-Identifier: Apache-2.0
"""Every op an engine executes, by name and by opcode."""

from __future__ import annotations

from tb.isa.burst.table import MTE_L1_BT, MTE_L1_FB, MTE_UB_L1, MTE_UB_UB
from tb.isa.dma.table import MTE_GM_L1, MTE_GM_UB, MTE_L1_UB, MTE_UB_GM
from tb.isa.fields import Layout, OpSpec
from tb.isa.fix.table import MTE_L0C_GM, MTE_L0C_L1, MTE_L0C_UB
from tb.isa.nz.table import MTE_GM_L1_FRAC

OPS: dict[str, OpSpec] = {
    spec.name: spec
    for spec in (
        MTE_GM_UB,
        MTE_UB_GM,
        MTE_GM_L1,
        MTE_L1_UB,
        MTE_UB_UB,
        MTE_UB_L1,
        MTE_GM_L1_FRAC,
        MTE_L1_BT,
        MTE_L1_FB,
        MTE_L0C_GM,
        MTE_L0C_L1,
        MTE_L0C_UB,
    )
}
"""Op tables by mnemonic."""

OPS_BY_CODE: dict[int, OpSpec] = {spec.opcode: spec for spec in OPS.values()}
"""Op tables by opcode."""

LEGACY_FORMS: dict[str, str] = {
    "copy_gm_to_ubuf": "mte_gm_ub",
    "copy_ubuf_to_gm": "mte_ub_gm",
    "copy_ubuf_to_ubuf": "mte_ub_ub",
}
"""Legacy copies and the op whose descriptor they become (spec/README.md, legacy mapping)."""

SLOTS: tuple[str, ...] = ("mte1", "mte2", "mte3", "fix")
"""Slots in the order of their number in the mailbox."""

LAYOUTS: dict[str, Layout] = {spec.layout.family: spec.layout for spec in OPS.values()}
"""Descriptor families by name, in the order of their first op."""
