# SPDX-License-Identifier: Apache-2.0
"""Illegal ops break the rule they name, and ops marked legal are legal."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, pairwise

import numpy as np
import pytest

from sequences.blocks import lower_program
from sequences.constraints import FIX_NAMES, OP_NAMES
from sequences.illegal.bases import bases
from sequences.illegal.cases import all_cases
from sequences.illegal.factors import factors
from sequences.illegal.generator import IllegalGenerator
from sequences.illegal.legacy import to_legacy
from sequences.illegal.neighbours import UNITS, Search, judged, lowered
from sequences.illegal.operands import Path, bits_of_type, field_bits, operands
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters, fits
from tb.isa.dma.op import DmaOp, Loop
from tb.isa.footprint import destination, source
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import parse_profile, using
from tb.isa.rules import LOWERING_RULES, d_violations, lowering_violation, t_violations
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
            desc = lower_program(case.program, DmaRegisters(), case.rule)[0].descriptor
            assert rule_of(desc) == case.rule, case
            if isinstance(desc, DmaOp):
                assert lowest_rule(read_descriptor(desc)) == case.rule, case
            if not case.rule:
                assert not t_violations(desc), case


def test_neighbours_of_the_knobs() -> None:
    """An op that one value of a knob forbids is sent as a legal one under the other."""
    with using(parse_profile("a5")):
        legal = [case for case in all_cases(np.random.default_rng(9), "mte_gm_ub") if not case.rule]
    with using(parse_profile("seed")):
        made = [lower_program(case.program, DmaRegisters())[0] for case in legal]
        rules = {rule_of(one.descriptor) for one in made}
    assert rules & {5, 8, 10}


@pytest.mark.share("sequences", "tb/isa")
@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_every_case_breaks_its_rule(form: str, seed: int) -> None:
    for case in all_cases(np.random.default_rng(seed), form, 100 * (seed % 2)):
        desc = lower_program(case.program, DmaRegisters(), case.rule)[0].descriptor
        assert rule_of(desc) == case.rule, case
        if not case.rule:
            assert not t_violations(desc), case


@pytest.mark.long
@pytest.mark.parametrize(
    ("form", "count", "stride", "limit"),
    [
        ("mte_gm_ub", ("loops", 1, "count"), ("loops", 1, "src_stride"), 21),
        ("mte_l1_l0a", ("k_start",), ("src_stride",), 16),
        ("mte_gm_l1_frac", ("group_count",), ("src_outer_stride",), 12),
        ("mte_l0c_gm", ("loop3", "count"), ("loop3", "dst_stride"), 16),
    ],
)
def test_high_bits_and_products_break_rules_among_small_operands(
    form: str, count: Path, stride: Path, limit: int
) -> None:
    found = factors(np.random.default_rng(1), form, 10**6)
    assert all(judged(one) == rule > 0 for rule, one in found)
    alone = {
        one.changes[0][1].bit_length()
        for _, one in found
        if one.kind in ("alone", "beyond") and one.changes[0][0] == count
    }
    assert alone >= set(range(5, limit + 1))
    kinds = Counter(
        one.kind for _, one in found if {path for path, _ in one.changes} == {count, stride}
    )
    assert min(kinds[kind] for kind in ("powers", "factors", "beyond")) > 1


def test_cases_that_are_not_sent_are_counted() -> None:
    source = IllegalGenerator(1, ("raw_fill_l1", "mte_ub_ub"), factors=20)
    sent = sum(len(block) for block in source.blocks(50))
    left = source.unsent()
    assert source.made > left.total() >= source.made - sent
    assert set(left) == {"raw_fill_l1", "mte_ub_ub"}
    list(source.blocks(3 * source.made))
    assert not source.unsent()


def test_illegal_ops_are_of_the_forms_of_the_cases() -> None:
    source = IllegalGenerator(2, ("mte_gm_ub", "raw_fill_l1"), cases=("raw_fill_l1",))
    sent = Counter[tuple[str, bool]]()
    for block in source.blocks(200):
        assert block.expected_rule is not None
        for desc, rule in zip(descriptors(block), block.expected_rule.tolist(), strict=True):
            sent[desc.spec.name, rule > 0] += 1
    assert sent["raw_fill_l1", True] > 50
    assert sent["mte_gm_ub", False], "random legal ops are of all forms"
    assert not sent["mte_gm_ub", True]


@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
def test_every_rule_is_broken_at_once_and_in_several_ways(form: str) -> None:
    together = Counter[int]()
    for seed in range(1, 9):
        rules = Counter(case.rule for case in all_cases(np.random.default_rng(seed), form))
        assert set(rules) == {0, *rules_of(form)}
        assert rules[0] >= 10
        together += rules
    assert min(together.values()) >= 16, together


def test_refused_copies_break_every_rule_of_lowering_and_precede_a_legal_one() -> None:
    seen = Counter[int]()
    rng = np.random.default_rng(4)
    for case in all_cases(rng, "copy_ubuf_to_ubuf") + all_cases(rng, "copy_ubuf_to_ubuf"):
        *refused, good = case.program
        assert not case.rule
        assert not lowering_violation(good)  # type: ignore[arg-type]
        for bad in refused:
            found = lowering_violation(bad)  # type: ignore[arg-type]
            assert found is not None
            assert case.name.startswith(f"refused by rule {found.rule.number}")
            seen[found.rule.number] += 1
    assert set(seen) == set(LOWERING_RULES)
    assert min(seen.values()) >= 2


@pytest.mark.long
@pytest.mark.parametrize("form", OPS)
def test_combinations_break_several_rules(form: str) -> None:
    pairs: set[tuple[int, int]] = set()
    rng = np.random.default_rng(2)
    for case in chain.from_iterable(all_cases(rng, form) for _ in range(4)):
        desc = lower_program(case.program, DmaRegisters())[0].descriptor
        broken = [found.rule.number for found in d_violations(desc)]
        assert broken[:1] == ([case.rule] if case.rule else [])
        pairs.update(combinations(broken, 2))
    wanted = set(pairwise(rules_of(form)))
    if form in FIX_NAMES:
        # 4-bit elements, K, fractals and halves exclude each other at the front end.
        wanted = {pair for pair in wanted if not set(pair) & {18, 19, 20, 21}}
    assert wanted <= pairs


@pytest.mark.parametrize("form", ["mte_gm_ub", "mte_l1_fb", "raw_fill_l1", "mte_l0c_ub"])
def test_every_bit_of_every_operand_is_inverted(form: str) -> None:
    rng = np.random.default_rng(3)
    base = bases(rng, form, 1)[0]
    search = Search(rng)
    for _ in range(16):
        search.around(base)
    tried = {one.changes[0] for _, one in search.noted() if one.kind == "bit"}
    for path, value in operands(base.op).items():
        for bit in range(min(field_bits(base.op, path), bits_of_type(base.op, path))):
            assert (path, value ^ 1 << bit) in tried, (path, bit)


@pytest.mark.parametrize("form", OPS)
def test_addresses_are_tried_at_the_end_of_the_memory_and_a_unit_beyond(form: str) -> None:
    rng = np.random.default_rng(5)
    search = Search(rng)
    for base in bases(rng, form, 4):
        for _ in range(8):
            search.around(base)
    sides = (destination,) if form == "raw_fill_l1" else (source, destination)  # It reads none.
    for operand, side in zip(OPS[form].operands, sides, strict=False):
        path = (operand.name,)
        inside, beyond = set[int](), set[int]()
        for _, one in search.noted():
            desc = lowered(one.op, one.ctrl)
            if one.kind == "limit" and one.changes[0][0] == path and desc:
                (inside if side(desc).outside is None else beyond).add(one.changes[0][1])
        assert any(value + step in beyond for value in inside for step in UNITS), operand


def test_refused_sets_leave_the_registers() -> None:
    found = 0
    for form in ("copy_gm_to_ubuf", "copy_ubuf_to_gm"):
        for case in all_cases(np.random.default_rng(3), form):
            if case.name.startswith("refused Set"):
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
        assert all(len(block) == 1 for block in blocks), "legal ops of a block could overlap"
        assert rules[0] == count
        return
    assert 0.15 < rules[0] / count < 0.5
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
