# SPDX-License-Identifier: Apache-2.0
"""Rules of the fill of L1: RF-L of docs/spec/dma.md, section 9.

Predicates return None when a rule holds and a sentence when it does not.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.fill.op import WORD_BITS, FillOp
from tb.isa.footprint import destination
from tb.isa.rule import Breach, Rule, not_multiple, operands_fit, reaches
from tb.isa.spaces import UB_BLOCK

DPredicate = Callable[[FillOp], "str | None"]


def l01(op: FillOp) -> str | None:
    """The pointer lies in l1 and the pattern has 16 or 32 bits."""
    if op.dst_type.space != "l1":
        return Breach(f"destination pointer is in {op.dst_type.space}", "l1")
    if op.fill_word_bits not in WORD_BITS:
        return Breach(f"fill_word_bits is {op.fill_word_bits}", "16 or 32")
    return None


def l02(desc: FillOp) -> str | None:
    """Every operand fits its width, and the offset is not negative."""
    if desc.below:
        return Breach(f"byte_offset is {-desc.offset}", "0 and above")
    values = {"n_burst": desc.n_burst, "len": desc.len, "dst_gap": desc.dst_gap, "raw": desc.raw}
    return operands_fit(desc.spec, values)


def l03(desc: FillOp) -> str | None:
    """The first block is one: base and offset together are a multiple of 32."""
    return not_multiple("dst + byte_offset", desc.first, UB_BLOCK)


def l04(desc: FillOp) -> str | None:
    """Every byte written lies inside l1."""
    if desc.is_nop:
        return None
    written = destination(desc)
    size = written.outside
    return None if size is None else reaches("L1", written.end, size)


S_RULES: dict[Rule, Callable[[FillOp], str | None] | None] = {
    Rule(1, "S", "destination in l1, fill_word_bits 16 or 32", "RF"): l01
}
D_RULES: dict[Rule, DPredicate] = {
    Rule(2, "D", "every operand fits its width, byte_offset is not negative", "RF"): l02,
    Rule(3, "D", "dst + byte_offset is a multiple of 32", "RF"): l03,
    Rule(4, "D", "every byte written lies inside l1", "RF"): l04,
}
