# SPDX-License-Identifier: Apache-2.0
"""The probe of what engines hold: its ops, its verdict, and what it leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sequences.constraints import OP_NAMES, OpConstraints
from tb.env import capacity
from tb.env.base_test import PtoTestBase
from tb.env.capacity import OPS_PER_BATCH, SHORT, SIZES, CapacityProbe, in_flight
from tb.harness.knobs import late_answers
from tb.harness.layout import KNOBS, OPEN
from tb.isa.ops import LEGACY_FORMS, OPS, OPS_BY_CODE, SLOTS
from tb.record.capacity import NOUNS, CapacityFigure
from tb.record.failure import Failure
from tb.record.record import RunCounters
from tb.run.testlist import load_plan

FORMS = [name for name in OP_NAMES if name not in LEGACY_FORMS]
SOME = ("mte_gm_ub", "mte_ub_gm", "copy_gm_to_ubuf")


class Run(SimpleNamespace):
    """A run without a simulator that collects failures."""

    def fail(self, report: str, detail: Failure) -> None:
        """Notes a failure."""
        self.counts.failures.append(report)
        self.counts.details.append(detail)


def a_test(ops: Sequence[str] = SOME, seed: int = 1, n: int = SHORT, **options: Any) -> PtoTestBase:
    settings = SimpleNamespace(ops=ops, seed=seed, transactions=n, gm="hdl", options=options)
    run = Run(
        settings=settings,
        counts=RunCounters(),
        mailbox=SimpleNamespace(cycles=77),
        profile=None,
        aborted=False,
    )
    env = SimpleNamespace(dispatcher=SimpleNamespace(probing=False))
    limits = SimpleNamespace(filters=())
    found = SimpleNamespace(run=run, env=env, limits=limits, narrowed=OpConstraints)
    return cast("PtoTestBase", found)


class Measured(CapacityProbe):
    """A probe with given measurements of each batch, one after the other."""

    def __init__(self, test: PtoTestBase, counts: Sequence[dict[str, int]]) -> None:
        super().__init__(test)
        self.left = dict.fromkeys(self._blocks, tuple(counts))
        self.sent = 0

    async def _held(self, key: tuple[str, str]) -> dict[str, int]:
        assert self._test.env.dispatcher.probing
        self.sent += 1
        first, *rest = self.left[key]
        self.left[key] = tuple(rest)
        return first


def judged(*counts: dict[str, int], aborted: bool = False) -> tuple[Measured, RunCounters]:
    test = a_test(("mte_ub_gm",))
    probe = Measured(test, counts)
    asyncio.run(probe.begin())
    cast("Any", test.run).aborted = aborted
    asyncio.run(probe.end())
    assert not test.env.dispatcher.probing
    return probe, test.run.counts


def test_a_loss_is_a_failure_of_its_own_kind() -> None:
    probe, counts = judged({"ops": 16, "writes": 4}, {"ops": 15, "writes": 4}, {"ops": 15})
    assert counts.failures == [
        "LEAK: mte3 holds 15 ops at the end, 16 at the start (mte_ub_gm, tiny ops)"
    ]
    (detail,) = counts.details
    assert (detail.kind, detail.slot, detail.op, detail.field) == (
        "leak",
        "mte3",
        "mte_ub_gm",
        "ops",
    )
    assert detail.end_clock == 77
    assert probe.sent == 3


def test_what_is_not_in_flight_any_more_is_lost() -> None:
    _, counts = judged({"ops": 16, "src": 4}, {"ops": 16}, {"ops": 16})
    assert counts.capacity[0].unlike == {"src": (4, 0)}
    assert len(counts.failures) == 1


def test_the_nearer_of_two_measurements_at_the_end_counts() -> None:
    probe, counts = judged({"ops": 16, "src": 9}, {"ops": 15, "src": 9}, {"ops": 16, "src": 8})
    assert counts.failures == []
    assert counts.capacity[0].end == {"ops": 16, "src": 9}
    assert probe.sent == 3


def test_more_at_the_end_is_a_failure_if_it_stays_so() -> None:
    probe, counts = judged({"ops": 16}, {"ops": 18}, {"ops": 17})
    assert counts.failures == [
        "LEAK: mte3 holds 17 ops at the end, 16 at the start (mte_ub_gm, tiny ops)"
    ]
    assert probe.sent == 3
    assert counts.capacity[0].changes == "tiny mte_ub_gm: ops 16 -> 17"
    _, counts = judged({"ops": 16}, {"ops": 16, "src": 1}, {"ops": 16, "src": 1})
    assert counts.capacity[0].unlike == {"src": (0, 1)}
    assert len(counts.failures) == 1
    probe, counts = judged({"ops": 16}, {"ops": 17}, {"ops": 16})
    assert (counts.failures, probe.sent) == ([], 3)


def test_an_aborted_run_has_no_verdict() -> None:
    probe, counts = judged({"ops": 16}, aborted=True)
    assert (counts.failures, probe.sent) == ([], 1)
    assert counts.capacity[0].end == {}
    assert counts.capacity[0].unlike == {}
    assert counts.capacity[0].changes == ""


@pytest.mark.long
def test_every_form_has_a_batch_that_fills_its_unit_and_the_seed_changes_nothing() -> None:
    blocks, again = (CapacityProbe(a_test(FORMS, seed, capacity=2))._blocks for seed in (1, 2))
    assert set(blocks) == {(name, size) for name in OPS for size in SIZES}
    for (name, size), block in blocks.items():
        assert {OPS_BY_CODE[int(code)].name for code in block.opcode} == {name}
        assert np.array_equal(block.pack(), again[name, size].pack())
        assert size != SIZES[0] or len(block) == OPS_PER_BATCH


def test_a_short_run_probes_one_form_of_each_slot() -> None:
    found = [set(CapacityProbe(a_test(FORMS, seed, SHORT - 1))._blocks) for seed in (1, 2)]
    for keys in found:
        assert sorted(OPS[name].slot for name, _ in keys) == sorted(SLOTS)
        assert {size for _, size in keys} == {SIZES[0]}
    assert found[0] != found[1]


def test_legacy_forms_are_left_out() -> None:
    assert set(CapacityProbe(a_test())._blocks) == {("mte_gm_ub", "tiny"), ("mte_ub_gm", "tiny")}


def test_only_tests_that_ask_for_it_probe_and_no_short_ones() -> None:
    def wanted(test: PtoTestBase) -> bool:
        return PtoTestBase.probes_capacity(test)

    assert wanted(a_test(capacity=1))
    assert not wanted(a_test())
    assert not wanted(a_test(n=capacity.FEWEST - 1, capacity=1))
    python = a_test(capacity=1)
    python.run.settings.gm = "cocotbext"  # type: ignore[misc]
    assert not wanted(python)
    assert {name for name, one in load_plan().items() if "capacity" in one.options} == {
        *("random", "legal", "errors", "faults", "stress", "reset")
    }


def test_everything_answers_late_and_nothing_else_stalls() -> None:
    knobs = late_answers(400).knobs
    assert {name for name, clocks in knobs.items() if clocks == 400} == {
        name for name in KNOBS if name.endswith("_latency")
    }
    assert {name for name in knobs if name.startswith("stall_") and knobs[name]} == {"stall_done"}
    assert knobs["stall_done"] == 255  # never taken: what is held does not depend on chance


def test_counts_of_a_state_have_the_names_of_what_is_open() -> None:
    assert set(NOUNS) <= {"ops", *OPEN}
    state: Any = SimpleNamespace(held=3, open={**dict.fromkeys(OPEN, 0), "src": 5})
    assert in_flight(state) == {"ops": 3, "src": 5}


def test_a_figure_names_each_difference() -> None:
    figure = CapacityFigure(
        slot="fix",
        op="mte_l0c_gm",
        size="small",
        start={"ops": 9, "writes": 16, "src": 8},
        end={"ops": 9, "writes": 15, "src": 9},
    )
    assert figure.unlike == {"writes": (16, 15), "src": (8, 9)}
    assert figure.leaks == [
        "fix holds 15 write bursts at the end, 16 at the start (mte_l0c_gm, small ops)",
        "fix holds 9 words of port src at the end, 8 at the start (mte_l0c_gm, small ops)",
    ]
    assert figure.changes == "small mte_l0c_gm: write bursts 16 -> 15, words of port src 8 -> 9"


def test_option_1_probes_one_form_of_each_slot_in_a_long_run() -> None:
    found = set(CapacityProbe(a_test(FORMS, capacity=1))._blocks)
    assert sorted(OPS[name].slot for name, _ in found) == sorted(SLOTS)
    assert {size for _, size in found} == {SIZES[0]}
