# SPDX-License-Identifier: Apache-2.0
"""Unit flags of L0C: what products and write-backs wait for.

Sources: docs/spec/fixpipe.md, section 8; docs/spec/l0_loads.md, section 6. A product waits until
the flags of its blocks are 0, a write-back until they are 1; only the pipe of the op waits. Pipes
start in order, so the n-th clear of a flag follows its n-th set, in whatever order the text has
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tb.isa.fix.op import FixOp
from tb.isa.fix.table import FLAG_CLEAR, FLAG_NONE
from tb.isa.footprint import flag_blocks
from tb.isa.mad import CHECK_AND_SET
from tb.isa.mad import flag_blocks as mad_blocks
from tb.isa.rules import d_violations
from tb.language.lowered import descriptor
from tb.language.order.buffers import Fault
from tb.language.rules.assume import ALL, SOURCE, assume, unknown_parts
from tb.language.trace import Compute, Move, Step, lane_text
from tb.language.unknown import UndecidedError

LEGAL = "check_and_set of a product, then check_and_clear of a write-back, in turn"


@dataclass
class UnitFlags:
    """Result of the unit flags of a program.

    Attributes:
        waits: Step to those that it waits for: products that set flags, write-backs that clear
            them.
        faults: Steps that wait for ever, the first of each pipe.
    """

    waits: dict[int, list[int]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Use:
    """An op that waits for unit flags: its step, blocks, None if not known, and what it does."""

    index: int
    blocks: tuple[int, ...] | None
    product: bool
    changes: bool


def waits_for_flags(step: Step) -> bool:
    """Returns whether an op has a clause ``unit_flag``."""
    if isinstance(step, Compute):
        return bool(step.op.unit_flag)
    return isinstance(step, Move) and bool(getattr(step.op, "unit_flag", FLAG_NONE))


def own_blocks(steps: Sequence[Step]) -> frozenset[int]:
    """Returns the blocks of L0C whose flags are those of the program.

    A product of it has a clause ``unit_flag`` for them. The flags of all other blocks are set by
    the harness, as if a product outside of the program did (A-48).
    """
    found = (_use(at, x) for at, x in enumerate(steps) if isinstance(x, Compute))
    return frozenset(block for one in found if one for block in one.blocks or ())


def _use(index: int, step: Step) -> _Use | None:
    """Returns how a step uses unit flags; None if it uses none."""
    if not waits_for_flags(step):
        return None
    if isinstance(step, Compute):
        sets = step.op.unit_flag == CHECK_AND_SET
        try:
            return _Use(index, tuple(mad_blocks(step.op)), True, sets)
        except UndecidedError:
            return _Use(index, None, True, sets)
    assert isinstance(step, Move)
    try:
        found, refused = step.lowering.descriptor, step.lowering.refused
    except UndecidedError:
        # Addresses of destination and parameters do not decide which blocks are read.
        if {ALL, SOURCE} & unknown_parts(step.op):
            return _Use(index, None, False, False)
        found = descriptor(assume(step.op, lambda _: 0), step.lowering.registers)
        refused = found is not None and bool(d_violations(found))
    if not isinstance(found, FixOp) or refused:
        return None
    blocks = tuple(flag_blocks(found).tolist())
    return _Use(index, blocks, False, found.unit_flag == FLAG_CLEAR)


def read_unit_flags(steps: tuple[Step, ...], preset: Collection[int] = ()) -> UnitFlags:
    """Returns what unit flags make steps wait for; nothing without a product that uses them.

    Args:
        steps: The program.
        preset: Blocks whose flags are set when it begins.
    """
    if not any(isinstance(step, Compute) and step.op.unit_flag for step in steps):
        return UnitFlags()
    uses = [one for at, step in enumerate(steps) if (one := _use(at, step)) is not None]
    cores = {steps[one.index].core for one in uses}
    if len(cores) > 1 or any(one.blocks is None for one in uses):
        return UnitFlags(_of_the_text(uses))
    return _Turns(steps, uses, frozenset(preset)).read()


def _of_the_text(uses: Sequence[_Use]) -> dict[int, list[int]]:
    """Returns the waits of a program of which not all blocks are known, in program order."""
    found: dict[int, list[int]] = {}
    last: dict[bool, dict[int, int]] = {True: {}, False: {}}
    for one in uses:
        before = last[not one.product]
        waits = sorted({before[block] for block in one.blocks or () if block in before})
        if waits:
            found[one.index] = waits
        if one.changes:
            last[one.product].update(dict.fromkeys(one.blocks or (), one.index))
    return found


class _Turns:
    """Sets and clears of each flag, in the order of their pipes."""

    def __init__(
        self, steps: tuple[Step, ...], uses: Sequence[_Use], preset: frozenset[int]
    ) -> None:
        self._steps, self._uses, self._preset = steps, uses, preset
        self._own = own_blocks(steps)
        self._sets: dict[int, list[int]] = defaultdict(list)
        self._clears: dict[int, list[int]] = defaultdict(list)
        for one in uses:
            if one.changes:
                for block in one.blocks or ():
                    self._changes(one.product)[block].append(one.index)

    def _changes(self, product: bool) -> dict[int, list[int]]:
        return self._sets if product else self._clears

    def read(self) -> UnitFlags:
        """Returns what each step waits for, and the first of each pipe that waits for ever."""
        found = UnitFlags()
        done: dict[bool, dict[int, int]] = {True: defaultdict(int), False: defaultdict(int)}
        stuck: set[bool] = set()
        for one in self._uses:
            waits: set[int] = set()
            for block in one.blocks or ():
                if block not in self._own:
                    continue
                others = self._changes(not one.product)[block]
                # A set flag is a set that no product of the program makes.
                first = int(block in self._preset)
                needed = done[one.product][block] + (first if one.product else 1 - first)
                if needed > len(others):
                    if one.product not in stuck:
                        found.faults.append(self._fault(one, block, others))
                    stuck.add(one.product)
                elif needed:
                    waits.add(others[needed - 1])
            if waits:
                found.waits[one.index] = sorted(waits)
            if one.changes:
                for block in one.blocks or ():
                    done[one.product][block] += 1
        return found

    def _fault(self, one: _Use, block: int, others: Sequence[int]) -> Fault:
        step = self._steps[one.index]
        who = lane_text(step, any(each.core for each in self._steps))
        flag = f"the unit flag of L0C block {block}"
        if one.product:
            text = f"{flag} to be clear: no write-back clears it"
            mine = [at for at in self._sets[block] if at < one.index]
            since = f"{self._op(mine[-1])} sets it" if mine else "it is set at the begin"
        else:
            text = f"{flag} to be set: no product sets it"
            mine = [at for at in self._clears[block] if at < one.index]
            since = f"{self._op(mine[-1])} clears it" if mine else ""
        again = " after that" if others else ""
        message = f"deadlock: {who} waits for ever for {text}{again}"
        return Fault(one.index, "", f"{message}{'; ' * bool(since)}{since}", legal=LEGAL)

    def _op(self, index: int) -> str:
        step = self._steps[index]
        assert isinstance(step, Move | Compute)
        return f"pto.{step.name} at {step.place}"
