# SPDX-License-Identifier: Apache-2.0
"""Capabilities of the engines as predicates that drop ops from what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sequences.op_filter import Bools, OpFilter
from tb.dut.manifest import Capabilities
from tb.dut.selection import has_elements, without_bits
from tb.isa.block import FAMILIES, OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma.table import MAX_LOOPS, MTE_UB_GM
from tb.isa.l0.table import ELEMENT_CODES, LOADS
from tb.isa.ops import OPS, SLOTS
from tb.isa.rules import d_violations

_DMA = FAMILIES.index("dma")
_FIX = FAMILIES.index("fix")
_L0 = FAMILIES.index("l0")


def _of_slot(block: OpBlock, slot: str) -> Bools:
    found: Bools = block.slot == SLOTS.index(slot)
    return found


def taken_ops(capabilities: Mapping[str, Capabilities]) -> OpFilter:
    """Returns the predicate of the ops that an engine takes."""
    taken = np.zeros(256, dtype=bool)
    for can in capabilities.values():
        taken[[OPS[name].opcode for name in can.ops]] = True
    return OpFilter("taken_ops", lambda block: taken[block.opcode], "ops that no engine takes")


def fewer_loops(slot: str, most: int) -> OpFilter:
    """Returns the predicate of ops of at most ``most`` loop groups; a loop3 is one."""

    def holds(block: OpBlock) -> Bools:
        loops = np.where(block.family == _DMA, block.column("n_loops"), 0)
        loops = np.where(block.family == _FIX, block.column("loop3_en"), loops)
        kept: Bools = ~_of_slot(block, slot) | (loops <= most)
        return kept

    what = f"more than {most} loops" if most else "loops"
    return OpFilter(f"{slot}_loops", holds, f"{what}: the engine of {slot} takes none")


def no_pads(slot: str) -> OpFilter:
    """Returns the predicate of ops without padded rows."""

    def holds(block: OpBlock) -> Bools:
        selects = [block.column(name) != 0 for name in ("pad_en", "pad_left", "pad_right")]
        padded = (block.family == _DMA) & np.any(selects, axis=0)
        kept: Bools = ~(_of_slot(block, slot) & padded)
        return kept

    return OpFilter(f"{slot}_pad", holds, f"padded rows: the engine of {slot} takes none")


def no_legacy(slot: str) -> OpFilter:
    """Returns the predicate of ops in v0.6 forms."""

    def holds(block: OpBlock) -> Bools:
        legacy = np.zeros(len(block), dtype=bool)
        legacy[block.legacy_forms] = True
        kept: Bools = ~(_of_slot(block, slot) & legacy)
        return kept

    return OpFilter(f"{slot}_legacy", holds, f"legacy forms: the engine of {slot} takes none")


def no_atomic_stores(slot: str) -> OpFilter:
    """Returns the predicate of ops without stores that CTRL makes updates."""

    def holds(block: OpBlock) -> Bools:
        updates = (block.opcode == MTE_UB_GM.opcode) & (block.column("atomic_type") > 0)
        kept: Bools = ~updates
        return kept

    return OpFilter(f"{slot}_atomic", holds, f"atomic stores: the engine of {slot} takes none")


def no_transposition(slot: str) -> OpFilter:
    """Returns the predicate of ops without transposed loads to L0."""

    def holds(block: OpBlock) -> Bools:
        turned = (block.family == _L0) & (block.column("transpose") != 0)
        kept: Bools = ~(_of_slot(block, slot) & turned)
        return kept

    return OpFilter(
        f"{slot}_transpose", holds, f"transposed loads: the engine of {slot} takes none"
    )


def loaded_elements(slot: str, bits: Sequence[int]) -> OpFilter:
    """Returns the predicate of ops without loads to L0 of other elements; scales have none."""
    codes = [ELEMENT_CODES[size] for size in bits]
    loads = [spec.opcode for spec in LOADS.values() if not spec.scales]

    def holds(block: OpBlock) -> Bools:
        other = np.isin(block.opcode, loads) & ~np.isin(block.column("elem"), codes)
        kept: Bools = ~(_of_slot(block, slot) & other)
        return kept

    what = f"loads of {without_bits(bits)}-bit elements"
    return OpFilter(f"{slot}_elements", holds, f"{what}: the engine of {slot} takes none")


def reported_rules(slot: str, rules: Sequence[str]) -> OpFilter:
    """Returns the predicate of ops that break no D rule but those of ``rules``."""
    reported = frozenset(rules)

    def holds(block: OpBlock) -> Bools:
        kept = np.ones(len(block), dtype=bool)
        if block.expected_rule is None:
            return kept
        illegal = np.flatnonzero((block.expected_rule > 0) & _of_slot(block, slot))
        words = block.pack() if len(illegal) else None
        for index in illegal.tolist():
            assert words is not None
            broken = {found.rule.name for found in d_violations(unpack(words[index]))}
            kept[index] = broken <= reported
        return kept

    return OpFilter(f"{slot}_d_rules", holds, f"rules that the engine of {slot} does not report")


def capability_filters(capabilities: Mapping[str, Capabilities]) -> tuple[OpFilter, ...]:
    """Returns what keeps a run to what its engines can do; nothing where they can do everything."""
    if not capabilities:
        return ()
    filters = []
    if {name for can in capabilities.values() for name in can.ops} < set(OPS):
        filters.append(taken_ops(capabilities))
    for slot, can in capabilities.items():
        if can.loops < MAX_LOOPS:
            filters.append(fewer_loops(slot, can.loops))
        if not can.pad:
            filters.append(no_pads(slot))
        if not can.legacy:
            filters.append(no_legacy(slot))
        if MTE_UB_GM.name in can.ops and not can.atomic_stores:
            filters.append(no_atomic_stores(slot))
        if has_elements(can.ops):
            if not can.transpose:
                filters.append(no_transposition(slot))
            if without_bits(can.element_bits):
                filters.append(loaded_elements(slot, can.element_bits))
        if {rule for name in can.ops for rule in OPS[name].rule_names} - set(can.d_rules):
            filters.append(reported_rules(slot, can.d_rules))
    return tuple(filters)
