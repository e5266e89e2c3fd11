# SPDX-License-Identifier: Apache-2.0
"""Illegal ops among legal ones: each D rule broken in many ways, and limits just kept.

An illegal op must retire with the number of the lowest rule it breaks and change nothing, so its
addresses may lie anywhere, also where others write. Legal ops around it show that the engine
goes on as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from sequences.illegal.bursts import KINDS, burst_cases, ubuf_copy_cases
from sequences.illegal.cases import COMBINATIONS, Case
from sequences.illegal.fixpipe import FORMS as FIX_FORMS
from sequences.illegal.fixpipe import fix_cases
from sequences.illegal.near import near_misses
from sequences.illegal.nz import FORM as NZ_FORM
from sequences.illegal.nz import nz_cases
from sequences.illegal.strided import FORMS as STRIDED_FORMS
from sequences.illegal.strided import strided_cases
from sequences.illegal.violations import V06, base_op, combination, violations
from sequences.place.merge import merge
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma import MteGmL1, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dma_table import GM_STRIDE_BITS, LOCAL_STRIDE_BITS, LOOP_COUNT_BITS, PAD_LIMIT
from tb.isa.dtypes import element_bytes
from tb.isa.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacyCopy,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.lower import lower
from tb.isa.ops import LEGACY_FORMS
from tb.isa.rules import d_violations, first_d_violation, t_violations

MOST_GOOD = 16
"""Most legal ops, and most illegal ones, of a block with many of both."""

REGISTER_FORMS = ("copy_gm_to_ubuf", "copy_ubuf_to_gm")
"""Forms that read registers."""

FILL_OPS = 512
"""Legal ops drawn at once."""


def to_legacy(op: V06) -> tuple[tuple[LegacySet, ...], LegacyCopy]:
    """Returns the register writes and the legacy copy of a v0.6 op of at most two loops.

    Raises:
        ValueError: the op has more loops than there are registers.
    """
    if len(op.loops) > 2:
        raise ValueError(f"{len(op.loops)} loops: legacy registers hold 2")
    load = isinstance(op, MteGmUb)
    side = OUTTOUB if load else UBTOOUT
    counts = [loop.count for loop in op.loops] + [1, 1]
    sets: list[LegacySet] = [SetLoopSize(side, counts[0], counts[1])]
    for level in (1, 2):
        here = op.loops[level - 1] if level <= len(op.loops) else None
        strides = (here.src_stride, here.dst_stride) if here else (0, 0)
        sets.append(SetLoopStride(side, level, *strides))
    if not isinstance(op, MteGmUb):
        return tuple(sets), CopyUbufToGm(
            op.ub_src, op.gm_dst, 0, op.n_burst, op.len_burst, 0, op.dst_stride, op.src_stride,
            op.src_type, op.dst_type, op.ub_sub,
        )  # fmt: skip
    left = right = 0
    if op.pad:
        size = element_bytes(op.src_type.dtype)
        left, right = (op.pad.left or 0) * size, (op.pad.right or 0) * size
        sets.append(SetMovPadVal(op.pad.dtype, op.pad.value))
    return tuple(sets), CopyGmToUbuf(
        op.gm_src, op.ub_dst, 0, op.n_burst, op.len_burst, left, right, int(op.pad is not None),
        op.l2_cache_ctl, op.src_stride, op.dst_stride, op.src_type, op.dst_type, op.ub_sub,
    )  # fmt: skip


def _v06_cases(rng: np.random.Generator, form: str) -> list[Case]:
    store = form == "mte_ub_gm"
    cases = []
    for item in violations(store=store):
        pad = item.pad or (not store and rng.random() < 0.3)
        op = base_op(rng, store=store, pad=pad, n_loops=3)
        cases.append(Case(item.name, form, item.rule, (item.change(op),)))
    for _ in range(COMBINATIONS):
        changes, pad = combination(rng, store=store)
        op = base_op(rng, store=store, pad=pad, n_loops=3)
        for change in changes.values():
            op = change(op)
        name = "rules " + ", ".join(map(str, changes))
        cases.append(Case(name, form, min(changes), (op,)))
    for name, op in near_misses(rng, store=store, n_loops=3).items():
        cases.append(Case(name, form, 0, (op,)))
    return cases


def _legacy_cases(rng: np.random.Generator, form: str) -> list[Case]:
    store = form == "copy_ubuf_to_gm"
    cases = []

    def add(name: str, rule: int, op: V06) -> None:
        sets, copy = to_legacy(op)
        cases.append(Case(name, form, rule, (*sets, copy)))

    for item in violations(store=store):
        if not item.v06_only:
            op = base_op(rng, store=store, pad=item.pad, n_loops=2)
            add(item.name, item.rule, item.change(op))
    for name, op in near_misses(rng, store=store, n_loops=2).items():
        add(name, 0, op)
    return [*cases, *_copy_operands(rng, form), *_refused_sets(rng, form)]


def _copy_operands(rng: np.random.Generator, form: str) -> list[Case]:
    """Violations of operands that only legacy copies have."""
    store = form == "copy_ubuf_to_gm"
    sets, copy = to_legacy(base_op(rng, store=store, pad=False, n_loops=2))
    cases = []

    def add(name: str, rule: int, changed: LegacyCopy, before: tuple[LegacySet, ...]) -> None:
        cases.append(Case(name, form, rule, (*before, changed)))

    if isinstance(copy, CopyUbufToGm):
        for value in (1, 2, 1 << 40):
            add(f"reserved {value}", 5, replace(copy, reserved=value), sets)
        add("sid 15", 0, replace(copy, sid=15), sets)
        return cases
    for value in (1, PAD_LIMIT, 255):
        add(f"left {value}, no select", 5, replace(copy, left_padding=value), sets)
        add(f"right {value}, no select", 5, replace(copy, right_padding=value), sets)
    # The pad register is read with any select that is not 0, so it must be known.
    sets = (*sets, SetMovPadVal("i8", 0xA5))
    for value in (2, 3, 1 << 20):
        add(f"data_select_bit {value}", 5, replace(copy, data_select_bit=value), sets)
    while True:
        sets, copy = to_legacy(base_op(rng, store=False, pad=True, n_loops=2))
        if element_bytes(copy.src_type.dtype) > 1:
            break
    assert isinstance(copy, CopyGmToUbuf)
    for value in (1, 31, 33):
        add(f"left {value} B", 9, replace(copy, left_padding=value), sets)
        add(f"right {value} B", 9, replace(copy, right_padding=value), sets)
    add("sid 2^70", 0, replace(copy, sid=1 << 70), sets)
    return cases


def _refused_sets(rng: np.random.Generator, form: str) -> list[Case]:
    """Legal copies behind a ``set_*`` op that its register refuses with DMA-L05 (A-19)."""
    store = form == "copy_ubuf_to_gm"
    side = UBTOOUT if store else OUTTOUB
    gm, ub = 1 << GM_STRIDE_BITS, 1 << LOCAL_STRIDE_BITS
    src, dst = (ub, gm) if store else (gm, ub)
    count = 1 << LOOP_COUNT_BITS
    refused: list[LegacySet] = [
        SetLoopSize(side, count, 0),
        SetLoopSize(side, 0, count),
        SetLoopSize(side, count << 12, 2),
    ]
    for level in (1, 2):
        refused += [SetLoopStride(side, level, src, 32), SetLoopStride(side, level, 32, dst)]
    if not store:
        refused += [SetMovPadVal("i8", 256), SetMovPadVal("bf16", 1 << 16)]
        refused += [SetMovPadVal("f32", 1 << 32)]
    cases = []
    for bad in refused:
        op = base_op(rng, store=store, pad=not store, n_loops=2)
        sets, copy = to_legacy(op)
        cases.append(Case(f"refused {type(bad).__name__}", form, 0, (*sets, bad, copy)))
    return cases


def all_cases(rng: np.random.Generator, form: str) -> list[Case]:
    """Returns every violation, many combinations and every near miss of ``form``, in order."""
    if form in STRIDED_FORMS:
        return strided_cases(rng, form)
    if form in KINDS:
        return burst_cases(rng, form)
    if form == NZ_FORM:
        return nz_cases(rng)
    if form in FIX_FORMS:
        return fix_cases(rng, form)
    if form == "copy_ubuf_to_ubuf":
        return ubuf_copy_cases(rng)
    return _legacy_cases(rng, form) if form in LEGACY_FORMS else _v06_cases(rng, form)


def within(case: Case, loops: int, pad: bool) -> Case | None:
    """Returns a case with fewer loop groups and without padding; None when it is undefined then.

    What it breaks may be another rule, or none.
    """
    op = case.program[-1]
    if not isinstance(op, MteGmUb | MteUbGm | MteGmL1 | MteL1Ub):
        return case
    less: Any = replace(op, loops=op.loops[:loops])
    if isinstance(less, MteGmUb) and not pad:
        less = replace(less, pad=None)
    if less == op:
        return case
    desc = lower(less)
    found = first_d_violation(desc)
    if found is None and t_violations(desc):
        return None
    return replace(case, rule=found.rule.number if found else 0, program=(less,))


class IllegalGenerator:
    """Draws blocks that mix illegal ops with legal ones.

    Every case of :func:`all_cases` of every form comes once, in random order, before any comes
    again. A block holds random legal ops with illegal ones strewn in, or one op at a limit
    between two illegal ones. Legacy programs write every register they use, and the random ops
    are of forms that use none, so the blocks can be sent in any order.

    Args:
        seed: Seed or generator.
        ops: Forms to use, out of ``OP_NAMES``.
        constraints: Constraints of the random legal ops.
        shapes: Form to the most loop groups that its ops may have, and whether they may be padded;
            for engines that take less than all. Of forms left out nothing is changed.
        reports: Form to the names of the D rules that its ops may break, for engines that do not
            report all; forms left out may break any.

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
    ) -> None:
        self.ops = tuple(ops)
        check_ops(self.ops)
        self._shapes = dict(shapes or {})
        self._reports = dict(reports or {})
        self._rng = rng = np.random.default_rng(seed)
        limits = constraints or OpConstraints()
        limits = replace(limits, block_ops=min(limits.block_ops, MOST_GOOD))
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
        self._bad: list[Case] = []
        self._good: list[Case] = []

    def _next_case(self, rule: bool) -> Case:
        cases = self._bad if rule else self._good
        if not cases:
            for form in self.ops:
                cases += [case for case in self._cases(form) if bool(case.rule) == rule]
            self._rng.shuffle(cases)
        # Where no rule may be broken all ops are legal.
        return cases.pop() if cases else self._next_case(not rule)

    def _cases(self, form: str) -> list[Case]:
        cases = all_cases(self._rng, form)
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
        desc = unpack(self._block([case]).pack()[-1])
        return {found.rule.name for found in d_violations(desc)}

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
        """Yields blocks of ``count`` ops in all, roughly half of them illegal."""
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
            return self._block(cases[3 - min(left, 3) :])
        bad = min(int(rng.integers(1, MOST_GOOD + 1)), left - 1)
        good = self._fill(left - bad)
        return merge(rng, good, self._block([self._next_case(True) for _ in range(bad)]))
