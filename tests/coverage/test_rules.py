# SPDX-License-Identifier: Apache-2.0
"""Rules group: broken rules by form, of the engine and of the lowering."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sequences.illegal.generator import IllegalGenerator
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.rules import RULE_NAMES, rules_of
from tb.coverage.view import FORM_SPECS, FORMS
from tb.isa.block import OpBlock, from_descriptors
from tb.isa.burst.op import MteL1Bt, MteL1Fb
from tb.isa.burst.table import MTE_UB_UB
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.fields import rule_name
from tb.isa.fix.op import MteL0cL1, MteL0cUb
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op
from tb.isa.ops import OPS_BY_CODE
from tb.isa.rules import RULES, first_d_violation, lowering_violation
from tests.coverage.counting import GM_UB, collect, cover, form_of, hits


def slow(blocks: list[OpBlock]) -> tuple[Counter[str], Counter[str]]:
    """Counts forms x rules, and the orders of legal and illegal ops on each slot."""
    broken: Counter[str] = Counter()
    orders: Counter[str] = Counter()
    # Blocks of one flush are consecutive.
    last: dict[str, str] = {}
    for block in blocks:
        rules = [0] * len(block) if block.expected_rule is None else block.expected_rule.tolist()
        for number, (code, rule) in enumerate(zip(block.opcode.tolist(), rules, strict=True)):
            spec = OPS_BY_CODE[code]
            for item in block.legacy.get(number, ())[:-1]:
                if isinstance(item, CopyUbufToUbuf):
                    found = lowering_violation(item)
                    assert found is not None
                    broken[f"form=copy_ubuf_to_ubuf x rule={found.rule.name}"] += 1
            if rule:
                name = rule_name(spec.rules, rule)
                broken[f"form={form_of(block, number)} x rule={name}"] += 1
            mine = "illegal" if rule else "legal"
            if spec.slot in last:
                orders[f"{last[spec.slot]}, {mine}"] += 1
            last[spec.slot] = mine
    return broken, orders


@pytest.mark.long
def test_against_one_op_at_a_time() -> None:
    blocks = list(IllegalGenerator(1).blocks(1500))
    assert sum(len(block) for block in blocks) < 4096, "one flush"
    coverage = collect(blocks, illegal=True)
    counts = coverage.groups["rules"]
    broken, orders = slow(blocks)
    assert hits(counts, "form x rule") == dict(broken)
    assert hits(counts, "sequence") == dict(orders)
    assert coverage.impossible == []


@pytest.mark.long
@pytest.mark.parametrize("forms", [GM_UB, FORMS])
def test_illegal_traffic_breaks_every_rule(forms: tuple[str, ...]) -> None:
    coverage = collect(IllegalGenerator(1, forms).blocks(4000), forms=forms, illegal=True)
    rules = coverage.groups["rules"]
    holes = {name: rules.holes(name) for name in rules.hits if rules.holes(name)}
    assert rules.percent == 100, holes
    assert rules.impossible == []
    assert "rules" not in FunctionalCoverage(forms=forms).groups


def test_names_of_the_rules() -> None:
    assert len(RULE_NAMES) == 42
    # An S rule that the engine decides for the legacy form.
    assert [name for name in RULE_NAMES if RULES[name].kind != "D"] == ["DMA-L03"]
    for form in FORMS:
        engine = set(FORM_SPECS[form].rule_names)
        assert engine - set(rules_of(form)) == ({"DMA-L03"} if form == "mte_gm_ub" else set())
        assert (set(rules_of(form)) <= engine) == (form != "copy_ubuf_to_ubuf")
    per_form = {form: len(rules_of(form)) for form in FORMS}
    assert per_form == {
        "mte_gm_ub": 7, "mte_ub_gm": 7, "mte_gm_l1": 5, "mte_l1_ub": 4, "mte_ub_ub": 3,
        "mte_ub_l1": 3, "mte_gm_l1_frac": 6, "mte_l1_bt": 3, "mte_l1_fb": 3,
        "mte_l0c_gm": 10, "mte_l0c_l1": 10, "mte_l0c_ub": 11,
        "mte_l1_l0a": 4, "mte_l1_l0b": 4, "mte_l1_l0a_mx": 3, "mte_l1_l0b_mx": 3, "raw_fill_l1": 3,
        "copy_gm_to_ubuf": 8, "copy_ubuf_to_gm": 7, "copy_ubuf_to_ubuf": 6,
    }  # fmt: skip


def test_families_share_no_rule() -> None:
    made: list[tuple[Op, int, str]] = [
        (MteL1Bt(0, 0, 1, 4096, 0, 0), 2, "form=mte_l1_bt x rule=BT-L02"),
        (MteL1Fb(0, 0, 1, 4096, 0, 0), 2, "form=mte_l1_fb x rule=FB-L02"),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 0, 0, 1, 1, 1), 4,
         "form=mte_gm_l1_frac x rule=ND-L04"),
        (lower(MteL0cL1(0, 16, 1, 16, 16, 16)), 16, "form=mte_l0c_l1 x rule=FIX-L16"),
        (lower(MteL0cUb(0, 0, 3, 32, 16, 32, ub_split="split_m")), 21,
         "form=mte_l0c_ub x rule=FIX-L21"),
    ]  # fmt: skip
    descs, numbers, cells = zip(*made, strict=True)
    broken = [first_d_violation(desc) for desc in descs]
    assert [item.rule.number if item else 0 for item in broken] == list(numbers)
    counts = cover(from_descriptors(descs, expected_rule=numbers), illegal=True).groups["rules"]
    assert hits(counts, "form x rule") == dict.fromkeys(cells, 1)
    assert hits(counts, "decided") == {"engine": 5}


def refused_block() -> OpBlock:
    """Returns a legal copy after refused ones, one for each rule of the lowering."""
    good = CopyUbufToUbuf(0, 1024, 0, 2, 64, 64, 96)
    bad = (
        CopyUbufToUbuf(0, 1024, 0, 1 << 16, 64, 64, 96),
        CopyUbufToUbuf(16, 1024, 0, 2, 64, 64, 96),
        CopyUbufToUbuf(0, 1024, 0, 2, 64, 65, 96),
        CopyUbufToUbuf(0, 1024, 0, 2, 64, 32, 96),
        CopyUbufToUbuf(0, 1024, 0, 1, 33, 0, 0),
        CopyUbufToUbuf(0, 1 << 18, 0, 2, 64, 64, 96),
    )
    return from_descriptors([lower_ubuf_copy(good)], legacy={0: (*bad, good)}, expected_rule=[0])


def test_copies_refused_at_lowering() -> None:
    block = refused_block()
    assert (block.opcode == MTE_UB_UB.opcode).all()
    coverage = cover(block, illegal=True)
    counts = coverage.groups["rules"]
    numbers = (5, 6, 7, 8, 11, 12)
    assert hits(counts, "rule") == {f"DMA-L{number:02}": 1 for number in numbers}
    assert hits(counts, "form") == {"copy_ubuf_to_ubuf": 6}
    assert hits(counts, "decided") == {"lowering": 6}
    assert coverage.groups["copy_ubuf_to_ubuf"].hits["nop"].sum() == 1
    alone = FunctionalCoverage(forms=("copy_ubuf_to_ubuf",), illegal=True).groups["rules"]
    assert alone.holes("decided") == ["lowering"]


def test_refused_copies_count_with_the_next_op() -> None:
    coverage = FunctionalCoverage(illegal=True)
    coverage.sample(refused_block(), np.array([False]))
    coverage.flush()
    assert hits(coverage.groups["rules"], "rule") == {}
    other = cover(refused_block(), forms=("mte_ub_ub",), illegal=True)
    assert other.groups["rules"].hits["form"].sum() == 0


def test_scope_of_one_form() -> None:
    counts = FunctionalCoverage(forms=("mte_l1_fb",), illegal=True).groups["rules"]
    wanted = {item.name: int(counts.wanted(item.name).sum()) for item in counts.group.points}
    assert wanted == {"form": 1, "rule": 3, "decided": 1, "set_rule": 0, "sequence": 4}
    assert int(counts.wanted("form x rule").sum()) == 3
