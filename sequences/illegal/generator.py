# SPDX-License-Identifier: Apache-2.0
"""Illegal ops among legal ones: each D rule broken in many ways, and legal ops at the limits.

An illegal op must retire with the number of the lowest rule it breaks and change nothing, so its
addresses may be anywhere, also in destinations of legal ops. Legal ops around it check that the
engine continues correctly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sequences.blocks import block_of, lower_program
from sequences.constraints import (
    FIX_NAMES,
    GM_UB_NAMES,
    OP_NAMES,
    OpConstraints,
    check_ops,
)
from sequences.draw.copies import COPY_FORMS, CopyGenerator
from sequences.fixpipe.generator import FixGenerator
from sequences.illegal.bases import REGISTER_FORMS
from sequences.illegal.cases import Case, all_cases
from sequences.illegal.neighbours import can_be_scored
from sequences.place.merge import merge
from tb.isa.block import OpBlock
from tb.isa.ctrl import ctrl_after
from tb.isa.dma.legacy import CopyUbufToUbuf, DmaRegisters
from tb.isa.dma.op import DmaOp
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.program import moving, moving_at
from tb.isa.rules import d_violations, first_d_violation, lowering_violation

MOST_FILL, MOST_BAD = 4, 16
"""Most random legal ops, and most illegal ops, of a block with both."""

TURNS = 12
"""Cases of each form and rule that are sent in turns."""

FILL_OPS = 512
"""Legal ops drawn at once."""


def within(case: Case, loops: int, pad: bool) -> Case | None:
    """Returns a case with fewer loop groups and without padding; None when it cannot be scored.

    It may break another rule, or none.
    """
    op = moving(case.program)
    if not isinstance(op, DmaOp):
        return case
    at = moving_at(case.program)
    before, after = case.program[:at], case.program[at + 1 :]
    ctrl = ctrl_after(before)
    less: Any = replace(op, loops=op.loops[:loops])
    if less.spec.has("pad_value") and not pad:
        less = replace(less, pad=None)
    if less == op:
        return case
    desc = lower(less, ctrl)
    found = first_d_violation(desc)
    if found is None and not can_be_scored(desc):
        return None
    return replace(case, rule=found.rule.number if found else 0, program=(*before, less, *after))


def _kind(case: Case) -> tuple[str, int, int]:
    """Returns the form of a case, its rule, and that of the copy that it refuses at lowering."""
    refused = (lowering_violation(op) for op in case.program if isinstance(op, CopyUbufToUbuf))
    return case.form, case.rule, next((found.rule.number for found in refused if found), 0)


class IllegalGenerator:
    """Draws blocks that mix illegal ops with legal ones.

    Cases of :func:`all_cases` are sent in turns over forms and rules, one for each first; new ones
    are made when all were sent.
    A block holds random legal ops with illegal ones among them, or one op at a limit
    between two illegal ones. Legacy programs write every register they use, and the random ops
    are of forms that use none, so the blocks can be sent in any order.

    Attributes:
        made: Cases that were made at first.

    Args:
        seed: Seed or generator.
        ops: Forms to use, out of ``OP_NAMES``.
        constraints: Constraints of the random legal ops.
        shapes: Form to the most loop groups that its ops may have, and whether they may be padded;
            for engines with such limits. Forms left out have none.
        reports: Form to the names of the D rules that its ops may break, for engines that do not
            report all; forms left out may break any.
        factors: Ops of each form with high bits among small operands (:mod:`.factors`), at most.
        cases: Forms of the illegal ops; none for all of ``ops``. Each takes some 50 ms at first.

    Raises:
        ConstraintError: a form is unknown or none is given.
    """

    def __init__(
        self,
        seed: int | np.random.Generator,
        ops: Sequence[str] = OP_NAMES,
        constraints: OpConstraints | None = None,
        shapes: Mapping[str, tuple[int, bool]] | None = None,
        reports: Mapping[str, frozenset[str]] | None = None,
        factors: int = 0,
        cases: Sequence[str] = (),
    ) -> None:
        self._factors = factors
        self.ops = tuple(ops)
        check_ops(self.ops)
        self._forms = tuple(cases) or self.ops
        self._shapes = dict(shapes or {})
        self._reports = dict(reports or {})
        self._rng = rng = np.random.default_rng(seed)
        limits = constraints or OpConstraints()
        limits = replace(limits, block_ops=min(limits.block_ops, MOST_FILL))
        no_registers = tuple(name for name in COPY_FORMS if name not in REGISTER_FORMS)
        chain = tuple(name for name in no_registers if name in self.ops)
        padded = tuple(name for name in chain if name in GM_UB_NAMES)
        fix = tuple(name for name in FIX_NAMES if name in self.ops)
        self._fills: list[CopyGenerator | FixGenerator] = []
        if padded:
            self._fills.append(CopyGenerator(rng, padded, limits))
        if set(chain) - set(GM_UB_NAMES):
            self._fills.append(CopyGenerator(rng, chain, limits))
        if fix:
            self._fills.append(FixGenerator(rng, fix, limits, self.ops))
        self._good_blocks: list[OpBlock] = []
        self._left: dict[bool, list[Case]] = {True: [], False: []}
        self._rounds = Counter[bool]()
        self.made = 0
        self._lacking: set[bool] = set()

    def _next_case(self, rule: bool) -> Case:
        """Returns a case that breaks a rule, or a legal one; the other kind where there is none.

        All ops are legal where no rule may be broken, or where lowering refuses the illegal ones.
        """
        if rule in self._lacking:
            rule = not rule
        if not self._left[rule]:
            made = self._in_turns(self._factors if rule or not self.made else 0)
            self.made = self.made or len(made)
            self._lacking = {True, False} - {bool(case.rule) for case in made}
            for kind, cases in self._left.items():
                if not cases:
                    self._rounds[kind] += 1
                    cases += [case for case in made if bool(case.rule) == kind]
            return self._next_case(rule)
        return self._left[rule].pop()

    def unsent(self) -> Counter[str]:
        """Returns how many of the first cases are left, by form."""
        left = (cases for kind, cases in self._left.items() if self._rounds[kind] == 1)
        return Counter(case.form for cases in left for case in cases)

    def _in_turns(self, most: int) -> list[Case]:
        """Returns new cases, last the first of each form and rule, before these the second ones.

        After some turns the rest of each form and rule is spread over the others.
        """
        kinds: dict[tuple[str, int, int], list[Case]] = defaultdict(list)
        for form in self._forms:
            for case in self._cases(form, most):
                kinds[_kind(case)].append(case)
        turns = [
            (min(turn, TURNS), turn / len(cases), self._rng.random(), case)
            for cases in kinds.values()
            for turn, case in enumerate(cases)
        ]
        turns.sort(key=lambda turn: turn[:3], reverse=True)
        return [turn[-1] for turn in turns]

    def _cases(self, form: str, most: int) -> list[Case]:
        cases = all_cases(self._rng, form, most)
        if form in self._shapes:
            less = [within(case, *self._shapes[form]) for case in cases]
            cases = [case for case in less if case is not None]
        if form in self._reports:
            cases = [case for case in cases if self._broken(case) <= self._reports[form]]
        return cases

    def _broken(self, case: Case) -> set[str]:
        """Returns the names of the D rules that a case breaks."""
        if not case.rule:
            return set()
        block = self._block([case])
        return {found.rule.name for found in d_violations(block.issued(len(block) - 1))}

    def _block(self, cases: Sequence[Case]) -> OpBlock:
        registers = DmaRegisters()
        items = []
        for case in cases:
            lowered, registers = lower_program(case.program, registers, case.rule)
            items.append(lowered)
        block = block_of(items)
        fills = tuple(fill for case in cases for fill in case.fills)
        return replace(block, fills=fills) if fills else block

    def blocks(self, count: int) -> Iterator[OpBlock]:
        """Yields blocks of ``count`` ops in all, most of them illegal."""
        left = count
        while left > 0:
            block = self._next(left)
            left -= len(block)
            yield block

    def _fill(self, most: int) -> OpBlock:
        """Returns a block of at most ``most`` legal ops."""
        if not self._good_blocks:
            for fill in self._fills:
                self._good_blocks += fill.draw(FILL_OPS)
            self._rng.shuffle(self._good_blocks)
        block = self._good_blocks.pop()
        return block.take(0, most) if len(block) > most else block

    def _next(self, left: int) -> OpBlock:
        rng = self._rng
        if left < 3 or not self._fills or rng.random() < 0.5:
            cases = [self._next_case(True), self._next_case(False), self._next_case(True)]
            return self._block(_disjoint(cases[3 - min(left, 3) :], 1))
        bad = min(int(rng.integers(1, MOST_BAD + 1)), left - 1)
        good = self._fill(left - bad)
        cases = [self._next_case(True) for _ in range(bad)]
        kept = _disjoint(cases, 0)
        return merge(rng, good, self._block(kept)) if kept else self._block(cases[:1])


def _disjoint(cases: Sequence[Case], most: int) -> list[Case]:
    """Returns the cases of a block with at most ``most`` legal ones: those could overlap."""
    legal = [case for case in cases if not case.rule]
    dropped = legal[most:]
    return [case for case in cases if case not in dropped]
