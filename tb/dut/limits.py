# SPDX-License-Identifier: Apache-2.0
"""Capabilities of the engines as predicates that drop ops from what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sequences.op_filter import Bools, OpFilter
from tb.dut.manifest import Capabilities
from tb.dut.selection import refusals, unreported
from tb.isa.block import FAMILIES, OpBlock
from tb.isa.dma.table import UPDATED
from tb.isa.l0.table import ELEMENT_CODES, LOADS
from tb.isa.ops import OPS, SLOTS
from tb.isa.rules import d_violations

_DMA = FAMILIES.index("dma")
_FIX = FAMILIES.index("fix")
_L0 = FAMILIES.index("l0")
_UPDATES = [OPS[name].opcode for name in UPDATED]

_ELEMENT_LOADS = [spec.opcode for spec in LOADS.values() if not spec.scales]


def _loops(block: OpBlock, can: Capabilities) -> Bools:
    loops = np.where(block.family == _DMA, block.column("n_loops"), 0)
    loops = np.where(block.family == _FIX, block.column("loop3_en"), loops)
    more: Bools = loops > can.loops
    return more


def _pad(block: OpBlock, _: Capabilities) -> Bools:
    selects = [block.column(name) != 0 for name in ("pad_en", "pad_left", "pad_right")]
    padded: Bools = (block.family == _DMA) & np.any(selects, axis=0)
    return padded


def _legacy(block: OpBlock, _: Capabilities) -> Bools:
    legacy = np.zeros(len(block), dtype=bool)
    legacy[block.legacy_forms] = True
    return legacy


def _atomic(block: OpBlock, _: Capabilities) -> Bools:
    updates: Bools = np.isin(block.opcode, _UPDATES) & (block.column("atomic_type") > 0)
    return updates


def _transpose(block: OpBlock, _: Capabilities) -> Bools:
    turned: Bools = (block.family == _L0) & (block.column("transpose") != 0)
    return turned


def _elements(block: OpBlock, can: Capabilities) -> Bools:
    codes = [ELEMENT_CODES[size] for size in can.element_bits]
    other: Bools = np.isin(block.opcode, _ELEMENT_LOADS) & ~np.isin(block.column("elem"), codes)
    return other


REFUSED: Mapping[str, Callable[[OpBlock, Capabilities], Bools]] = {
    "loops": _loops,
    "pad": _pad,
    "legacy": _legacy,
    "atomic": _atomic,
    "transpose": _transpose,
    "elements": _elements,
}
"""Name of :func:`tb.dut.selection.refusals` to the ops of a block that an engine refuses."""


def taken_ops(capabilities: Mapping[str, Capabilities]) -> OpFilter:
    """Returns the predicate of the ops that an engine takes."""
    taken = np.zeros(256, dtype=bool)
    for can in capabilities.values():
        taken[[OPS[name].opcode for name in can.ops]] = True
    return OpFilter("taken_ops", lambda block: taken[block.opcode], "ops that no engine takes")


def not_refused(slot: str, name: str, words: str, can: Capabilities) -> OpFilter:
    """Returns the predicate of ops that the engine of a slot does not refuse for one reason."""

    def holds(block: OpBlock) -> Bools:
        kept: Bools = ~((block.slot == SLOTS.index(slot)) & REFUSED[name](block, can))
        return kept

    return OpFilter(f"{slot}_{name}", holds, f"{words}: the engine of {slot} takes none")


def reported_rules(slot: str, rules: Sequence[str]) -> OpFilter:
    """Returns the predicate of ops that break no D rule but those of ``rules``."""
    reported = frozenset(rules)

    def holds(block: OpBlock) -> Bools:
        kept = np.ones(len(block), dtype=bool)
        if block.expected_rule is None:
            return kept
        of_slot = block.slot == SLOTS.index(slot)
        illegal = np.flatnonzero((block.expected_rule > 0) & of_slot)
        for index in illegal.tolist():
            broken = {found.rule.name for found in d_violations(block.issued(index))}
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
        filters += [not_refused(slot, name, words, can) for name, words in refusals(can).items()]
        if unreported(can):
            filters.append(reported_rules(slot, can.d_rules))
    return tuple(filters)
