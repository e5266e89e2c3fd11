# SPDX-License-Identifier: Apache-2.0
"""Illegal ops break the rule they name, and ops marked legal are legal."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from sequences.blocks import lower_program
from sequences.constraints import FIX_NAMES, OP_NAMES
from sequences.illegal.bursts import refused_copies
from sequences.illegal.generator import IllegalGenerator, all_cases
from sequences.illegal.legacy import to_legacy
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters, fits
from tb.isa.dma.op import DmaDescriptor, Loop
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import parse_profile, using
from tb.isa.rules import d_predicates, lowering_violation, t_violations
from tests.model.naive import read_descriptor
from tests.model.naive_rules import lowest_rule
from tests.sequences.profiles import PROFILES
from tests.sequences.reference import (
    BlockError,
    check_programs,
    check_rows_disjoint,
    descriptors,
    plain_op,
    rule_of,
)


def rules_of(form: str) -> tuple[int, ...]:
    """Returns the D rules that an op of a form can break."""
    if form == "copy_ubuf_to_ubuf":
        # It is judged once, at lowering, and not issued when it is illegal.
        return ()
    # A padded v0.6 op with 8-byte elements is an error of the front end.
    return tuple(
        number
        for number in OPS[LEGACY_FORMS.get(form, form)].d_rules
        if (form, number) != ("mte_gm_ub", 3)
    )


@pytest.mark.parametrize("form", [name for name in OP_NAMES if name not in FIX_NAMES])
@pytest.mark.parametrize("text", PROFILES)
def test_cases_follow_the_profile(form: str, text: str) -> None:
    with using(parse_profile(text)):
        for case in all_cases(np.random.default_rng(9), form):
            lowered, _ = lower_program(case.program, DmaRegisters(), case.rule)
            desc = lowered.descriptor
            assert rule_of(desc) == case.rule, case
            if isinstance(desc, DmaDescriptor):
                assert lowest_rule(read_descriptor(desc)) == case.rule, case
            if not case.rule:
                assert not t_violations(desc), case


def test_neighbours_of_the_knobs() -> None:
    """An op that one value of a knob forbids is sent as a legal one under the other."""
    names = {}
    for text in ("seed", "a5"):
        with using(parse_profile(text)):
            cases = all_cases(np.random.default_rng(9), "mte_gm_ub")
            names[text] = {case.name for case in cases if not case.rule}
    new = names["a5"] - names["seed"]
    assert {"rows without gaps", "src_stride 0", "stride past the end"} <= new
    assert {"padded rows without gaps", "one padded row, stride 33"} <= new
    with using(parse_profile("a5")):
        broken = {c.name: c.rule for c in all_cases(np.random.default_rng(9), "mte_gm_ub")}
    assert broken["dst_stride len + 1"] == 7
    assert broken["padded rows, dst_stride len"] == 10
    assert broken["src_stride 0, dst_stride 0"] == 8
    assert broken["n_burst = 2097152"] == broken["no rows, len too wide"] == 5


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_every_case_breaks_its_rule(form: str, seed: int) -> None:
    for case in all_cases(np.random.default_rng(seed), form):
        lowered, _ = lower_program(case.program, DmaRegisters(), case.rule)
        assert rule_of(lowered.descriptor) == case.rule, case
        if not case.rule:
            assert not t_violations(lowered.descriptor), case


@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
def test_every_rule_is_broken_in_several_ways(form: str) -> None:
    rules = Counter(case.rule for case in all_cases(np.random.default_rng(1), form))
    numbers = rules_of(form)
    for number in numbers:
        assert rules[number] >= 4, (number, rules)
    assert set(rules) == {0, *numbers}
    assert rules[0] >= 10


@pytest.mark.parametrize("seed", range(8))
def test_refused_copies_break_their_rule_at_lowering(seed: int) -> None:
    seen = set()
    for name, op in refused_copies(np.random.default_rng(seed)).items():
        found = lowering_violation(op)
        assert found is not None, name
        assert found.rule.name == f"DMA-{name[:3]}", (name, op)
        seen.add(found.rule.number)
    assert seen == {5, 6, 7, 8, 11, 12}


def test_refused_copies_precede_a_legal_one() -> None:
    cases = all_cases(np.random.default_rng(4), "copy_ubuf_to_ubuf")
    refused = [case for case in cases if len(case.program) > 1]
    assert len(refused) > 25
    for case in refused:
        bad, good = case.program
        assert lowering_violation(bad)  # type: ignore[arg-type]
        assert not lowering_violation(good)  # type: ignore[arg-type]
        assert not case.rule


@pytest.mark.long
@pytest.mark.parametrize("form", OPS)
def test_combinations_break_several_rules(form: str) -> None:
    several = 0
    pairs: set[tuple[int, int]] = set()
    for case in all_cases(np.random.default_rng(2), form):
        if case.name.startswith("rules "):
            lowered, _ = lower_program(case.program, DmaRegisters())
            rules = d_predicates(lowered.descriptor)
            broken = [rule.number for rule, holds in rules.items() if holds(lowered.descriptor)]
            assert broken[0] == case.rule
            several += len(broken) > 1
            pairs.update(pairwise(broken))
    # Without groups, or with small-C0 strides, a higher rule may hold again.
    assert several >= 36
    wanted = set(pairwise(rules_of(form)))
    if form in FIX_NAMES:
        # 4-bit elements, K, fractals and halves exclude each other at the front end.
        wanted = {pair for pair in wanted if not set(pair) & {19, 20, 21}}
        wanted |= {(15, 16), (16, 19), (19, 22), (18, 20), (20, 22)}
        if form == "mte_l0c_ub":
            wanted |= {(17, 21), (21, 23)}
    if "ub_gm" in form or "ubuf_to_gm" in form:
        # Types 1 to 6 alone have elements.
        wanted -= {(16, 17)}
    assert wanted <= pairs


def test_refused_sets_leave_the_registers() -> None:
    found = 0
    for form in ("copy_gm_to_ubuf", "copy_ubuf_to_gm"):
        for case in all_cases(np.random.default_rng(3), form):
            if case.name.startswith("refused"):
                bad = case.program[-2]
                assert not fits(bad)  # type: ignore[arg-type]
                without = (*case.program[:-2], case.program[-1])
                one = lower_program(case.program, DmaRegisters())
                assert one[0].descriptor == lower_program(without, DmaRegisters())[0].descriptor
                found += 1
    assert found >= 15


def check_block(block: OpBlock) -> None:
    assert block.expected_rule is not None
    for number, desc in enumerate(descriptors(block)):
        if rule_of(desc) != block.expected_rule[number]:
            raise BlockError(f"op {number}: {rule_of(desc)} for {block.expected_rule[number]}")


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.long
@pytest.mark.parametrize("ops", [OP_NAMES, *[(name,) for name in OP_NAMES]])
def test_blocks(ops: tuple[str, ...]) -> None:
    count = 1200 if len(ops) == 1 else 3000
    blocks = list(IllegalGenerator(4, ops).blocks(count))
    assert sum(map(len, blocks)) == count
    rules = Counter[int]()
    for block in blocks:
        check_block(block)
        assert block.expected_rule is not None
        rules.update(block.expected_rule.tolist())
        assert len(block.program()) == len(block)
    if ops == ("copy_ubuf_to_ubuf",):
        refused = sum(len(entry) > 1 for block in blocks for entry in block.legacy.values())
        assert refused > 400
        assert rules[0] == count
        return
    assert 0.25 < rules[0] / count < 0.75
    for number in rules_of(ops[0]):
        assert rules[number]


@pytest.mark.long
def test_legal_ops_of_a_block_are_disjoint() -> None:
    for block in IllegalGenerator(5).blocks(600):
        if len(block) > 3:
            check_rows_disjoint(block)


def test_programs_lower_to_the_columns() -> None:
    registers = DmaRegisters()
    for block in IllegalGenerator(6, ("copy_gm_to_ubuf", "copy_ubuf_to_gm")).blocks(400):
        for number, program in block.legacy.items():
            lowered, registers = lower_program(program, registers)
            assert lowered.descriptor == block.descriptors[number]


@pytest.mark.long
def test_the_rule_check_can_fail() -> None:
    block = next(IllegalGenerator(7).blocks(3))
    assert block.expected_rule is not None
    block.expected_rule[int(np.argmax(block.expected_rule))] = 0
    with pytest.raises(BlockError):
        check_block(block)


def test_to_legacy_refuses_three_loops() -> None:
    with pytest.raises(ValueError, match="3 loops"):
        to_legacy(plain_op(loops=(Loop(1, 0, 0),) * 3))


@pytest.mark.long
def test_same_seed_same_blocks() -> None:
    one, other = (list(IllegalGenerator(8).blocks(300)) for _ in range(2))
    assert all((a.pack() == b.pack()).all() for a, b in zip(one, other, strict=True))


def test_check_programs_agrees_on_v06() -> None:
    for block in IllegalGenerator(9, ("mte_gm_ub",)).blocks(200):
        if block.expected_rule is not None and not block.expected_rule.any():
            check_programs(block, DmaRegisters())
