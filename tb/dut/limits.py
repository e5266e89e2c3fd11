# SPDX-License-Identifier: Apache-2.0
"""Limits of a run's stimulus: capabilities of the manifests, and a user's constraints.

Where it is cheap the generators are told to draw less; for the rest there are predicates
(:mod:`sequences.op_filter`) that drop ops from what was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.op_filter import Bools, FilterChain, OpFilter
from tb.common.errors import PtoError
from tb.coverage.limits import FormLimits
from tb.dut.manifest import Capabilities
from tb.dut.user_code import UserConstraints, load_constraints
from tb.isa.block import FAMILIES, OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.ops import LEGACY_FORMS, OPS, SLOTS
from tb.isa.rules import d_violations
from tb.record.settings import RunSettings

PROBE_OPS = 64
"""Ops that must be drawn before a build is worth its time."""

_DMA = FAMILIES.index("dma")
_FIX = FAMILIES.index("fix")


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
        padded = (block.family == _DMA) & (block.column("pad_en") != 0)
        kept: Bools = ~(_of_slot(block, slot) & padded)
        return kept

    return OpFilter(f"{slot}_pad", holds, f"padded rows: the engine of {slot} takes none")


def no_legacy(slot: str) -> OpFilter:
    """Returns the predicate of ops in v0.6 forms."""

    def holds(block: OpBlock) -> Bools:
        legacy = np.zeros(len(block), dtype=bool)
        legacy[list(block.legacy)] = True
        kept: Bools = ~(_of_slot(block, slot) & legacy)
        return kept

    return OpFilter(f"{slot}_legacy", holds, f"legacy forms: the engine of {slot} takes none")


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
        if {rule for name in can.ops for rule in OPS[name].rule_names} - set(can.d_rules):
            filters.append(reported_rules(slot, can.d_rules))
    return tuple(filters)


def without_legacy(capabilities: Mapping[str, Capabilities]) -> frozenset[str]:
    """Returns the v0.6 ops that are not sent in their legacy forms.

    A legacy copy between GM and UB always comes with two loops.
    """
    found = set()
    for can in capabilities.values():
        for name in can.ops:
            if not can.legacy or (can.loops < 2 and OPS[name].layout.family == "dma"):
                found.add(name)
    return frozenset(found)


@dataclass(frozen=True)
class Limits:
    """What a run may send.

    Attributes:
        capabilities: By slot; nothing for engines that can do everything.
        user: Constraints of the user, or None.
    """

    capabilities: Mapping[str, Capabilities] = field(default_factory=dict)
    user: UserConstraints | None = None

    @property
    def filters(self) -> tuple[OpFilter, ...]:
        """Predicates of random ops, those of the manifests first."""
        own = self.user.filters if self.user else ()
        return (*capability_filters(self.capabilities), *own)

    def narrowed(self, default: OpConstraints) -> OpConstraints:
        """Returns what to draw: ``default`` as the manifests and then the user narrow it.

        Raises:
            PtoError: the user's code is wrong, or what it returns.
        """
        found = self._within(default)
        if self.user is not None:
            found = self._within(self.user.narrowed(found))
        return found

    def _within(self, limits: OpConstraints) -> OpConstraints:
        """Returns ``limits`` without what no engine takes."""
        if not self.capabilities:
            return limits
        strided = [
            can
            for can in self.capabilities.values()
            if any(OPS[name].layout.family == "dma" for name in can.ops)
        ]
        changes: dict[str, int | float] = {}
        most = max((can.loops for can in strided), default=MAX_LOOPS)
        if most < limits.max_loops and any(limits.loops[: most + 1]):
            changes["max_loops"] = most
        loads = self.capabilities.get("mte2")
        if loads is not None and not loads.pad:
            changes["pad"] = 0.0
        fix = self.capabilities.get("fix")
        if fix is not None and not fix.loops:
            changes["loop3"] = 0.0
        return replace(limits, **changes) if changes else limits  # type: ignore[arg-type]

    def reports_rules(self, ops: Sequence[str]) -> bool:
        """Tells whether an engine reports any D rule that ``ops`` can break."""
        if not self.capabilities:
            return True
        return any(limits.rules for limits in self.forms(ops).values())

    def forms(self, ops: Sequence[str]) -> dict[str, FormLimits]:
        """Returns form to what its engine can do of it, for the scope of the coverage."""
        found = {}
        for form in ops:
            spec = OPS[LEGACY_FORMS.get(form, form)]
            can = self.capabilities.get(spec.slot)
            if can is not None:
                found[form] = FormLimits(can.loops, can.pad, frozenset(can.d_rules))
        return found

    def shapes(self, ops: Sequence[str]) -> dict[str, tuple[int, bool]]:
        """Returns form to the most loops and whether pads are taken, of the v0.6 strided copies.

        Those that their engine takes in full are left out.
        """
        found = {}
        for form in ops:
            can = self.capabilities.get(OPS[form].slot) if form in OPS else None
            limited = can is not None and (can.loops < MAX_LOOPS or not can.pad)
            if can is not None and limited and OPS[form].layout.family == "dma":
                found[form] = (can.loops, can.pad)
        return found

    def reports(self, ops: Sequence[str]) -> dict[str, frozenset[str]]:
        """Returns form to the D rules that its engine reports; forms with all are left out."""
        return {
            form: limits.rules
            for form, limits in self.forms(ops).items()
            if limits.rules is not None
            and set(OPS[LEGACY_FORMS.get(form, form)].rule_names) - limits.rules
        }

    def survives(self, slot: int, kind: str) -> bool:
        """Tells whether the engine of a slot survives errors of a kind: read, write or local."""
        can = self.capabilities.get(SLOTS[slot])
        return can is None or kind in can.errors


def user_limits(settings: RunSettings, capabilities: Mapping[str, Capabilities]) -> Limits:
    """Returns the limits of a run, with the user's constraints loaded.

    Raises:
        PtoError: their file cannot be used.
    """
    path = settings.constraints
    return Limits(capabilities, load_constraints(Path(path)) if path else None)


def probe(limits: Limits, seed: int, ops: Sequence[str], bus_bytes: int) -> None:
    """Draws a few ops under the constraints of a user, so that errors come before a build.

    Raises:
        PtoError: the user's code is wrong, or leaves nothing to draw.
    """
    if limits.user is None:
        return
    narrowed = limits.narrowed(OpConstraints(bus_bytes=bus_bytes))
    filter_chain = FilterChain(limits.filters)
    try:
        source = TrafficGenerator(seed, ops, narrowed)
        for _ in filter_chain.blocks(source.blocks, PROBE_OPS):
            pass
    except PtoError:
        raise
    except Exception as error:
        raise PtoError(
            f"nothing can be drawn under these constraints: {type(error).__name__}: {error}",
            where=limits.user.path,
            remedy="widen the constraints: sizes, windows and ranges must leave room for an op",
        ) from error
