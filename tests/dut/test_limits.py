# SPDX-License-Identifier: Apache-2.0
"""Capabilities of manifests restrict the stimulus; excluded bins are out of scope."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sequences.constraints import OpConstraints
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from sequences.op_filter import FilterChain, without
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.limits import reported
from tb.coverage.model import CoverageError
from tb.coverage.traffic import traffic_group
from tb.dut.constraints import Limits
from tb.dut.limits import capability_filters
from tb.dut.manifest import Capabilities, reference_manifests
from tb.dut.selection import sendable, without_legacy
from tb.isa.descriptor import unpack
from tb.isa.l0.op import L0Load
from tb.isa.ops import OPS, SLOTS
from tests.sim.limited import LIMITED, ExcludedError, check_block
from tests.wording import says

ALL = {item.slot: item.capabilities for item in reference_manifests()}
OPS_TAKEN = tuple(name for can in LIMITED.values() for name in can.ops)


def forms() -> tuple[str, ...]:
    return sendable((), OPS_TAKEN, without_legacy(LIMITED))


def test_reference_engines_are_not_limited() -> None:
    assert capability_filters(ALL) == ()
    assert not without_legacy(ALL)
    limits = OpConstraints()
    assert Limits(ALL).narrowed(limits) is limits
    assert Limits(ALL).reports_rules(tuple(OPS))


def test_legacy_forms_are_only_sent_to_engines_that_support_them() -> None:
    assert set(forms()) == {*OPS_TAKEN, "copy_ubuf_to_gm", "copy_ubuf_to_ubuf"}
    one_loop = {"mte3": Capabilities(ops=("mte_ub_gm", "mte_ub_ub"), loops=1)}
    assert without_legacy(one_loop) == {"mte_ub_gm"}


def test_legacy_forms_of_a_slot_are_refused() -> None:
    can = Capabilities(ops=("mte_gm_ub",), legacy=False)
    (kept,) = (one for one in capability_filters({"mte2": can}) if one.name == "mte2_legacy")
    block = max(TrafficGenerator(25).blocks(1000), key=lambda one: len(one.legacy_forms))
    of_slot = np.flatnonzero(block.slot == SLOTS.index("mte2"))
    refused = np.flatnonzero(~kept(block)).tolist()
    assert refused == sorted({*of_slot.tolist()} & {*block.legacy_forms})
    assert 0 < len(refused) < min(len(of_slot), len(block.legacy_forms))


@pytest.mark.long
def test_random_ops_keep_to_the_capabilities() -> None:
    limits, counts = Limits(LIMITED), Counter[str]()
    filter_chain = FilterChain(limits.filters, counts)
    source = TrafficGenerator(21, forms(), limits.narrowed(OpConstraints()))
    total = 0
    for block in filter_chain.blocks(source.blocks, 4000):
        check_block(block)
        total += len(block)
    assert total == 4000
    assert any(says(refusal, "loops mte1") for refusal in counts)
    # Ops that constraints exclude are not drawn.
    assert not any(says(refusal, "padded rows mte2") for refusal in counts)


@pytest.mark.long
def test_illegal_ops_break_reported_rules_alone() -> None:
    limits, counts = Limits(LIMITED), Counter[str]()
    filter_chain = FilterChain(limits.filters, counts)
    source = IllegalGenerator(22, forms(), limits.narrowed(OpConstraints()), limits.shapes(forms()))
    rules: Counter[tuple[int, int]] = Counter()
    for block in filter_chain.blocks(source.blocks, 3000, isolated=True):
        check_block(block)
        assert block.expected_rule is not None
        rules.update(zip(block.slot.tolist(), block.expected_rule.tolist(), strict=True))
    assert {rule for slot, rule in rules if slot == SLOTS.index("mte2")} == {0, 5, 7}
    assert {rule for slot, rule in rules if slot == SLOTS.index("fix")} == {0}
    assert len({rule for slot, rule in rules if slot == SLOTS.index("mte3")}) > 4
    assert sum(counts.values()) > 500


@pytest.mark.long
def test_the_check_finds_excluded_ops() -> None:
    found: Counter[str] = Counter()
    for source in (TrafficGenerator(23), IllegalGenerator(23)):
        for block in source.blocks(3000):
            for at in range(len(block)):
                kept = np.arange(len(block)) == at
                try:
                    check_block(without(block, kept, {}))
                except ExcludedError as error:
                    found[str(error).split(":")[0]] += 1
    assert set(found) == {"op", "loops", "pad", "legacy", "rules"}


def coverage_of(limits: Limits) -> FunctionalCoverage:
    """Returns the coverage of a long draw that keeps to ``limits``."""
    coverage = FunctionalCoverage(32, forms(), illegal=True, limits=limits.forms(forms()))
    narrowed = limits.narrowed(OpConstraints())
    legal = TrafficGenerator(24, forms(), narrowed)
    illegal = IllegalGenerator(24, forms(), narrowed, limits.shapes(forms()))
    for draw, count in ((legal.blocks, 12000), (illegal.blocks, 10000)):
        for block in FilterChain(limits.filters).blocks(draw, count):
            coverage.sample(block)
    coverage.flush()
    return coverage


@pytest.mark.long
def test_excluded_bins_are_out_of_scope_and_never_hit() -> None:
    coverage = coverage_of(Limits(LIMITED))
    assert not coverage.impossible
    for name, counts in coverage.groups.items():
        for item, scope in counts.scope.items():
            hit = counts.hits[item][~scope & counts.group.reachable[item]]
            assert not hit.any(), f"{name}.{item}"
    loads = coverage.groups["mte_gm_ub"]
    for point in ("n_loops", "loops_active", "loop1_count", "pad", "pad_left"):
        assert not loads.holes(point), point
    assert loads.wanted("n_loops").tolist() == [True, True, False, False]
    assert not loads.wanted("pad_left").any()
    assert not coverage.groups["mte_l0c_gm"].wanted("loop3_src").any()
    assert not coverage.groups["rules"].holes("form x rule")
    assert coverage.total < FunctionalCoverage(32, forms(), illegal=True).total


def test_coverage_groups_have_different_names() -> None:
    coverage = FunctionalCoverage(32)
    with pytest.raises(CoverageError, match="group traffic"):
        coverage.add(traffic_group())


LOADS = ("mte_l1_l0a", "mte_l1_l0b", "mte_l1_l0a_mx", "mte_l1_l0b_mx")
RULES = ("LD-L03", "LD-L04", "LD-L05", "LD-L06")


def loader(transpose: bool, *bits: int) -> Limits:
    """Returns the limits of an engine of loads to L0 alone."""
    can = Capabilities.model_validate(
        {"ops": LOADS, "d_rules": RULES, "transpose": transpose, "element_bits": bits}
    )
    return Limits({"mte1": can})


@pytest.mark.long
@pytest.mark.parametrize(
    ("transpose", "bits", "reason"),
    [
        (False, (4, 8, 16, 32), "transposed loads mte1"),
        (True, (16, 32), "loads of 4, 8-bit elements mte1"),
        (False, (16,), "loads of 4, 8, 32-bit elements mte1"),
    ],
)
def test_loads_to_l0_keep_to_transposition_and_elements(
    transpose: bool, bits: tuple[int, ...], reason: str
) -> None:
    limits, counts = loader(transpose, *bits), Counter[str]()
    coverage = FunctionalCoverage(32, LOADS, illegal=True, limits=limits.forms(LOADS))
    legal = TrafficGenerator(31, LOADS, limits.narrowed(OpConstraints())).blocks
    illegal = IllegalGenerator(31, LOADS, OpConstraints(), limits.shapes(LOADS)).blocks
    seen, scales = set(), 0
    for draw, count in ((legal, 4000), (illegal, 1000)):
        for block in FilterChain(limits.filters, counts).blocks(draw, count):
            coverage.sample(block)
            for words in block.pack():
                desc = unpack(words)
                assert isinstance(desc, L0Load)
                scales += desc.spec.scales
                if not desc.spec.scales:
                    seen.add((desc.elem_bits, bool(desc.transpose)))
    assert seen == {(size, turn) for size in bits for turn in {False, transpose}}
    assert scales
    assert any(says(refusal, reason) for refusal in counts)
    group = coverage.groups["mte_l1_l0a"]
    for point in ("elem", "dtype", "transpose"):
        assert not group.holes(point), point
        assert not group.hits[point][~group.wanted(point)].any(), point
    rules = {rule for desc in LOADS for rule in reported(limits.forms(LOADS))[desc]}
    assert ("LD-L05" in rules) == (transpose and bits != (16,))


def test_a_loader_of_everything_has_no_limits() -> None:
    names = {found.name for found in loader(True, 4, 8, 16, 32).filters}
    assert names == {"taken_ops"}
    scales = Capabilities(ops=LOADS[2:], d_rules=RULES, transpose=False, element_bits=(8,))
    assert {found.name for found in Limits({"mte1": scales}).filters} == {"taken_ops"}


@pytest.mark.parametrize("bits", [[], [16, 16], [64], ["16"]])
def test_wrong_widths_of_elements_are_refused(bits: list[object]) -> None:
    with pytest.raises(ValueError, match="element_bits"):
        Capabilities.model_validate({"ops": LOADS, "element_bits": bits})
