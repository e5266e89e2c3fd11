# SPDX-License-Identifier: Apache-2.0
"""Traffic group: random mixed blocks against slow counting, scopes of runs, and their merge."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tb.coverage.export.exchange import from_json, to_json
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import Coverage, CoverageError
from tb.coverage.table import table
from tb.coverage.view import FORMS
from tb.isa.block import OpBlock, from_ops
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.lower import OP_CLASSES
from tb.isa.op import replace
from tb.isa.ops import OPS, OPS_BY_CODE, SLOTS, feeds
from tests.coverage.counting import (
    GM_UB,
    collect,
    cover,
    form_of,
    hits,
    labels,
    range_label,
    traffic,
)

WAITS = ("0", "1..7", "8..63", "64..")


def slow(block: OpBlock) -> Counter[tuple[str, str]]:
    """Counts the bins and cells of one block, op by op."""
    found: Counter[tuple[str, str]] = Counter()
    specs = [OPS_BY_CODE[int(code)] for code in block.opcode]
    for number, spec in enumerate(specs):
        form = form_of(block, number)
        before = specs[number - 1].slot if number else "first"
        others = [other.slot for at, other in enumerate(specs) if at != number]
        parent = int(block.after[number])
        depends = "free" if parent < 0 else "waits"
        wait = range_label(int(block.gap[number]), WAITS)
        busy = len({*others, spec.slot})
        found["slot x slot_before", f"slot={spec.slot} x slot_before={before}"] += 1
        found["slot x busy_slots", f"slot={spec.slot} x busy_slots={busy}"] += 1
        cell = f"form={form} x depends={depends} x wait={wait}"
        found["form x depends x wait", cell] += 1
        for slot in set(others):
            name = f"beside_{slot}"
            found[f"form x {name}", f"form={form} x {name}=active"] += 1
        if parent >= 0:
            assert feeds(specs[parent], spec)
            cell = f"producer={specs[parent].name} x consumer={spec.name}"
            found["producer x consumer", cell] += 1
    return found


@pytest.mark.long
def test_against_one_op_at_a_time() -> None:
    blocks = traffic(5, 2500)
    coverage = collect(blocks)
    counts = coverage.groups["traffic"]
    want: Counter[tuple[str, str]] = Counter()
    for block in blocks:
        want += slow(block)
    for cross in counts.group.crosses:
        mine = {label: n for (name, label), n in want.items() if name == cross.name}
        assert hits(counts, cross.name) == mine, cross.name
    assert counts.impossible == []


@pytest.mark.parametrize("slot", SLOTS)
def test_an_order_that_carries_no_data_is_no_dependency(slot: str) -> None:
    """A user's test may order any two ops; only what reads what was written counts."""
    ops = {}
    for name, cls in OP_CLASSES.items():
        operands: dict[str, Any] = dict.fromkeys((x for x in cls.names if x not in cls.defaults), 0)
        if name in LOAD_CLASSES:
            operands |= {"src_stride": 1, "dst_stride": 1}
        if "mode" in operands:
            operands["mode"] = "nd2nz"
        ops[name] = cls(**operands)
    pairs = [(one, other) for one in ops for other in ops if OPS[one].slot == slot]
    block = from_ops([op for pair in pairs for op in (ops[pair[0]], ops[pair[1]])])
    after = np.where(np.arange(len(block)) % 2, np.arange(len(block)) - 1, -1)
    counts = cover(replace(block, after=after)).groups["traffic"]
    data = Counter(
        f"producer={one} x consumer={other}" for one, other in pairs if feeds(OPS[one], OPS[other])
    )
    assert hits(counts, "producer x consumer") == data
    found = hits(counts, "depends")
    assert found == {"free": len(pairs), **({"waits": data.total()} if data else {})}


def test_illegal_ops_run_alone() -> None:
    block = next(iter(traffic(6, 64, ("mte_gm_l1", "mte_l1_ub"))))
    rules = np.zeros(len(block), np.int64)
    rules[OPS["mte_gm_l1"].opcode == block.opcode] = 6
    bad = OpBlock(
        block.opcode, block.columns, block.dtype, block.pad_dtype, block.gap,
        np.full(len(block), -1), block.legacy, block.descriptors, rules,
    )  # fmt: skip
    counts = collect([bad]).groups["traffic"]
    assert hits(counts, "beside_mte2") == {}
    assert set(hits(counts, "busy_slots")) == {"1"}
    assert set(hits(counts, "form")) == {"mte_l1_ub"}


def test_scope_of_one_op() -> None:
    coverage = FunctionalCoverage(forms=("mte_l1_ub",))
    counts = coverage.groups["traffic"]
    assert counts.group == FunctionalCoverage().groups["traffic"].group
    # form, slot, before, busy, beside itself, waits, free
    assert [int(counts.wanted(item.name).sum()) for item in counts.group.points] == [
        1, 1, 2, 1, 1, 0, 0, 0, 4, 1, 0, 0,
    ]  # fmt: skip
    assert int(counts.wanted("form x depends x wait").sum()) == 4
    assert int(counts.wanted("producer x consumer").sum()) == 0
    assert "producer" not in table(coverage)
    full = collect(traffic(7, 2000, ("mte_l1_ub",)), forms=("mte_l1_ub",))
    assert full.groups["traffic"].percent == 100


def test_scope_of_a_chain() -> None:
    counts = FunctionalCoverage(forms=("mte_gm_l1", "mte_l1_bt", "mte_l1_fb")).groups["traffic"]
    pairs, waiting = (
        labels(counts, name, counts.wanted(name))
        for name in ("producer x consumer", "form x depends x wait")
    )
    assert pairs == [f"producer=mte_gm_l1 x consumer={x}" for x in ("mte_l1_bt", "mte_l1_fb")]
    assert sum("waits" in cell for cell in waiting) == 2 * len(WAITS)
    assert sum("free" in cell for cell in waiting) == 3 * len(WAITS)


def test_every_possible_pair() -> None:
    pairs = [(one, other) for one in OPS.values() for other in OPS.values() if feeds(one, other)]
    assert len(pairs) == 53
    own = {(one.name, other.name) for one, other in pairs if one.slot == other.slot}
    assert own == {
        ("mte_l1_fb", "mte_l0c_gm"), ("mte_l1_fb", "mte_l0c_l1"), ("mte_l1_fb", "mte_l0c_ub"),
        ("mte_l0c_gm", "mte_l0c_gm"),
    }  # fmt: skip
    assert all(one.destination == other.source for one, other in pairs if one.slot != other.slot)
    counts = FunctionalCoverage().groups["traffic"]
    assert int(counts.wanted("producer x consumer").sum()) == len(pairs)
    assert {SLOTS.index(spec.slot) for pair in pairs for spec in pair} == set(range(len(SLOTS)))


@pytest.mark.parametrize("through_json", [False, True])
def test_merge_of_runs_of_different_ops(through_json: bool) -> None:
    others = ("mte_l1_bt", "copy_ubuf_to_ubuf")
    pair = collect(traffic(9, 300, others), forms=others)
    total: Coverage = collect(traffic(8, 300, ("mte_gm_l1",)), forms=("mte_gm_l1",), illegal=True)
    added: Coverage = pair
    if through_json:
        total, added = (from_json(json.loads(json.dumps(to_json(x)))) for x in (total, pair))
    before = {name: mask.copy() for name, mask in total.groups["traffic"].scope.items()}
    total.merge(added)
    counts = total.groups["traffic"]
    assert counts.hits["form"].sum() == 600
    assert set(hits(counts, "form")) == {"mte_gm_l1", *others}
    scope = {FORMS[at] for at in np.flatnonzero(counts.wanted("form"))}
    assert scope == {"mte_gm_l1", *others}
    theirs = pair.groups["traffic"].scope
    for name in counts.hits:
        everything = np.ones(len(counts.hits[name]), dtype=bool)
        both = before.get(name, everything) | theirs.get(name, everything)
        assert counts.scope.get(name, everything).tolist() == both.tolist(), name
    assert set(total.groups) == {"mte_gm_l1", "traffic", "rules", *others}
    # From mte_gm_l1 to mte_l1_bt is in the scope of neither.
    assert int(counts.wanted("producer x consumer").sum()) == 0


def test_merge_with_a_run_of_all_ops_has_the_full_scope() -> None:
    total = FunctionalCoverage(forms=("mte_gm_l1",), illegal=True)
    total.merge(FunctionalCoverage(illegal=True))
    whole = FunctionalCoverage(illegal=True)
    for name in ("traffic", "rules"):
        assert total.groups[name].scope == {}
        assert total.groups[name].total == whole.groups[name].total


def test_merge_of_bus_widths_is_refused() -> None:
    with pytest.raises(CoverageError, match="bus width"):
        FunctionalCoverage(16, ("mte_gm_l1",)).merge(FunctionalCoverage(32, ("mte_gm_l1",)))
    FunctionalCoverage(16, ("mte_l1_bt",)).merge(FunctionalCoverage(32, ("mte_l1_bt",)))


def test_mask_and_buffering() -> None:
    blocks = traffic(22, 500, GM_UB)
    coverage = FunctionalCoverage()
    for block in blocks:
        coverage.sample(block, np.arange(len(block)) % 2 == 0)
    form = coverage.groups["traffic"].hits["form"]
    assert form.sum() == 0
    coverage.flush()
    assert form.sum() == sum(-(-len(block) // 2) for block in blocks)
    before = coverage.summary()
    coverage.sample(blocks[0], np.zeros(len(blocks[0]), dtype=bool))
    assert coverage.summary() == before
    with pytest.raises(CoverageError, match="mask of 1"):
        coverage.sample(blocks[0], np.ones(1, dtype=bool))


def test_subset_of_forms() -> None:
    coverage = FunctionalCoverage(forms=("mte_ub_gm", "copy_gm_to_ubuf"))
    assert list(coverage.groups) == ["mte_ub_gm", "copy_gm_to_ubuf", "traffic"]
    for block in traffic(1, 500, GM_UB):
        coverage.sample(block)
    assert coverage.summary().groups["traffic"] > 50
    data = coverage.to_json()
    assert data["covered"] == from_json(data).covered > 0
    for forms in ((), ("mte_l1_l0c",)):
        with pytest.raises(CoverageError, match="no coverage for"):
            FunctionalCoverage(forms=forms)


@pytest.mark.long
def test_block_by_block_is_the_same_as_all_at_once() -> None:
    blocks = traffic(3, 600)
    together = collect(blocks)
    merged = Coverage([])
    for block in blocks:
        merged.merge(cover(block))
    for name, counts in together.groups.items():
        for item, values in counts.hits.items():
            # Events are drawn again for every collection.
            if not item.startswith("data_"):
                assert merged.groups[name].hits[item].tolist() == values.tolist(), (name, item)
