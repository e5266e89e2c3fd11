# SPDX-License-Identifier: Apache-2.0
"""Groups of stress: counts, and the scope of a run of few ops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scoreboards.faults import BadAccess, Fault, FaultKind, OpErrors
from scoreboards.model.outcome import Outcome
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.stress import GROUPS
from tb.harness.items import Batch, CheckedBatch, Reset
from tb.harness.knobs import PROFILES, RANGES, draw_profile
from tb.harness.layout import DONE, OPEN, PINS, READ
from tb.isa.block import from_ops
from tb.isa.dma.op import MteGmL1
from tb.isa.footprint import Footprint
from tb.isa.op import replace
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.coverage.counting import all_hits

MTE2 = SLOTS.index("mte2")
LOADS = [MteGmL1(4096 * k, 4096 * k, 256, 4, 256, 256) for k in range(3)]
ROWS = Footprint(Space.GM, 0, 256, (4,), (256,))


def batch(errors: dict[int, OpErrors] | None = None, **fields: Any) -> Any:
    """Returns a batch of three loads that passed."""
    block = from_ops(LOADS)
    one = Batch(0, 0, block, {MTE2: np.arange(3)}, np.arange(3, dtype=np.uint32), (0,) * 4)
    for name, value in fields.items():
        setattr(one, name, value)
    outcomes = [Outcome(Status.OK, read=ROWS, written=ROWS)] * 3
    return CheckedBatch(
        one, np.ones(3, dtype=bool), np.zeros(3, dtype=np.int64), errors or {}, outcomes
    )


def error(address: int, kind: FaultKind = FaultKind.DECERR) -> BadAccess:
    return BadAccess(5, MTE2, Space.GM, address, READ, kind, 32, 0)


def sampled(checked: CheckedBatch, knobs: dict[str, int] | None = None) -> FunctionalCoverage:
    coverage = FunctionalCoverage(stress=GROUPS)
    coverage.sample_stress(checked, knobs)
    return coverage


def test_groups_exist_for_the_tests_that_declare_them() -> None:
    assert not set(GROUPS) & set(FunctionalCoverage().groups)
    assert set(FunctionalCoverage(stress=("knobs",)).groups) & set(GROUPS) == {"knobs"}


def test_a_descriptor_that_waits_counts_by_what_the_engine_holds() -> None:
    done = np.zeros(3, dtype=DONE)
    done["accept_cycle"], done["done_cycle"] = (10, 11, 30), (29, 40, 41)

    def held(**fields: Any) -> dict[str, int]:
        found = sampled(batch(done={MTE2: done}, **fields)).groups["queues"]
        return all_hits(found).get("slot x held", {})

    # The second op came at once; the third waited behind both, until the first had retired.
    assert held() == {"slot=mte2 x held=1..7": 1}
    assert held(block=replace(from_ops(LOADS), gap=np.array((0, 0, 18)))) == {}
    assert held(block=replace(from_ops(LOADS), after=np.array((-1, -1, 0)))) == {}


@pytest.mark.parametrize(("others", "bin_name"), [(19, "16..19"), (20, "20.. (op numbers full)")])
def test_op_numbers_are_full(others: int, bin_name: str) -> None:
    block = from_ops(LOADS[:1] * (others + 1))
    done = np.zeros(len(block), dtype=DONE)
    done["accept_cycle"] = [*range(others), 100]
    done["done_cycle"] = 99 + np.arange(len(block))
    one = batch(block=block, order={MTE2: np.arange(len(block))}, done={MTE2: done})
    passed = replace(one, passed=np.ones(len(block), dtype=bool))
    hits = all_hits(sampled(passed).groups["queues"])
    assert hits["held"] == {bin_name: 1}


def test_every_knob_has_its_bin() -> None:
    coverage = sampled(batch(), PROFILES[-1].values)
    found = all_hits(coverage.groups["knobs"])
    assert found["stall"] == {"up to 1 in 4": 8}
    assert found["channel"] == dict.fromkeys(("ar", "r", "aw", "w", "b", "src", "dst", "done"), 1)
    assert found["port x latency x jitter"] == {
        "port=axi_read x latency=17..100 x jitter=0": 1,
        "port=axi_write x latency=2..16 x jitter=0": 1,
        "port=local_read x latency=2..16 x jitter=0": 1,
    }
    assert found["idle_clocks"] == {"for ever": 1}
    assert "ready_after_valid" not in found
    waiting = sampled(batch(), {**PROFILES[-1].values, "ready_after_valid": 0b1000_0010})
    assert all_hits(waiting.groups["knobs"])["ready_after_valid"] == {"aw": 1, "done": 1}
    assert sampled(batch(), None).groups["knobs"].covered == 0


@pytest.mark.parametrize(("passed", "counts"), [([0, 0, 0], False), ([0, 0, 1], True)])
def test_knobs_of_a_batch_in_which_no_op_passed_are_not_counted(
    passed: list[int], counts: bool
) -> None:
    checked = replace(batch(), passed=np.array(passed, dtype=bool))
    coverage = sampled(checked, PROFILES[-1].values)
    assert (coverage.groups["knobs"].covered > 0) == counts


@pytest.mark.long
def test_drawn_profiles_reach_every_bin() -> None:
    coverage = FunctionalCoverage(stress=GROUPS)
    rng = np.random.default_rng(1)
    for _ in range(600):
        coverage.sample_stress(batch(), draw_profile(rng).values)
    counts = coverage.groups["knobs"]
    assert counts.percent == 100.0, [counts.holes(name) for name in counts.hits]
    assert set(RANGES) >= {"burst_ops", "burst_gap"}


@pytest.mark.long
def test_an_error_is_counted_with_its_neighbours() -> None:
    errors = {0: OpErrors([error(0)]), 1: OpErrors([error(992), error(960)])}
    checked = batch(errors, faults=(Fault(Space.GM, 0, FaultKind.DECERR, nth=2),))
    checked.outcomes[2] = Outcome(Status.RULE, rule=5)
    found = all_hits(sampled(checked).groups["faults"])
    assert found["kind x side x memory x place"] == {
        "kind=DECERR x side=read x memory=gm x place=first": 1,
        "kind=DECERR x side=read x memory=gm x place=last": 1,
    }
    assert found["op"] == {"mte_gm_l1": 2}
    assert found["armed"] == {"n-th word": 2}
    assert found["errors"] == {"1": 1, "2..8": 1}
    assert found["next_error"] == {"same channel": 1}
    assert found["before x behind"] == {
        "before=none x behind=failed": 1, "before=failed x behind=illegal": 1
    }  # fmt: skip


def test_an_op_that_failed_its_check_is_not_counted() -> None:
    checked = batch({0: OpErrors([error(32)])}, faults=(Fault(Space.GM, 0, FaultKind.DECERR),))
    checked.passed[0] = False
    assert sampled(checked).groups["faults"].covered == 0


def state(**changes: int) -> SimpleNamespace:
    """Returns the state of an idle slot, with some pins and counts set."""
    pins = {name: bool(changes.get(name, 0)) for name in PINS}
    return SimpleNamespace(
        held=changes.get("held", 0), pins=pins, open={name: changes.get(name, 0) for name in OPEN}
    )


def test_a_reset_is_counted_with_the_ops_in_flight() -> None:
    states = {0: state(), MTE2: state(held=2, reads=3, done_valid=1), 3: None}
    found = all_hits(
        sampled(batch(reset=Reset(20, phase=7, again=(3,)), states=states)).groups["resets"]
    )
    assert found["slot x state"] == {
        "slot=mte1 x state=idle": 1,
        "slot=mte2 x state=descriptor held": 1,
        "slot=mte2 x state=several held": 1,
        "slot=mte2 x state=done pending": 1,
        "slot=mte2 x state=read burst open": 1,
    }
    assert found["times"] == {"2": 1}
    assert found["phase"] == {"low clock": 1}


@pytest.mark.long
def test_the_scope_of_a_run_of_few_ops_has_only_its_errors() -> None:
    few = FunctionalCoverage(forms=("mte_l1_bt",), stress=GROUPS).groups
    whole = FunctionalCoverage(stress=GROUPS).groups
    assert few["faults"].total < whole["faults"].total
    cells = few["faults"].holes("op x side x memory")
    assert cells == [
        "op=mte_l1_bt x side=read x memory=l1",
        "op=mte_l1_bt x side=write x memory=bt",
    ]
    legal, all_sent = (
        FunctionalCoverage(stress=GROUPS, illegal=x).groups["faults"] for x in (False, True)
    )
    assert legal.total == all_sent.total - 2 - 7
    assert few["resets"].total < whole["resets"].total
    assert few["queues"].total < whole["queues"].total
    assert few["knobs"].total == whole["knobs"].total
