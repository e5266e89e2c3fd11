# SPDX-License-Identifier: Apache-2.0
"""Engines with few capabilities receive only supported ops in every test; the run reports it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb.dut.manifest import reference_manifests
from tb.harness.protocol import RULES
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.sim.limited import LIMITED
from tests.sim.runs import wrong_dones
from tests.wording import says

pytestmark = pytest.mark.sim


MANIFESTS = tuple(
    item.model_copy(update={"capabilities": LIMITED[item.slot]}) for item in reference_manifests()
)
"""Reference engines with restricted capabilities, in the build of the other tests."""


def run(test: str, class_name: str, folder: Path, transactions: int) -> RunRecord:
    """Runs a test of the plan with a check of its blocks."""
    planned = planned_test(test)
    judged = planned.model_copy(update={"module": "tests.sim.limited", "class_name": class_name})
    settings = RunSettings(test=test, transactions=transactions, seed=3, options=planned.options)
    return run_once(
        settings, judged, manifests=MANIFESTS, console=Console(quiet=True), folder=folder
    )


@pytest.mark.share("tb/dut", "tb/env", "sequences")
@pytest.mark.parametrize(
    ("test", "class_name", "transactions"),
    [
        ("random", "LimitedRandomTest", 1500),
        ("errors", "LimitedRandomTest", 600),
        ("stress", "LimitedStressTest", 600),
        ("illegal", "LimitedIllegalTest", 800),
        ("corner", "LimitedCornerTest", 1),
        ("directed", "LimitedDirectedTest", 1),
    ],
)
def test_nothing_else_is_sent(
    test: str, class_name: str, transactions: int, tmp_path: Path
) -> None:
    record = run(test, class_name, tmp_path, transactions)
    assert record.passed, "\n\n".join([record.message, *record.failures[:1]])
    assert record.left_out, "nothing was left out"
    if not planned_test(test).fixed_length and test != "stress":
        assert record.transactions == transactions
    assert "copy_gm_to_ubuf" not in record.ops
    assert "mte_l0c_l1" not in record.ops
    coverage: dict[str, Any] = json.loads((tmp_path / "coverage.json").read_text())
    for group in coverage["groups"]:
        for point in group["points"]:
            hit = [
                item["name"]
                for item in point["bins"]
                if item.get("out_of_scope") and item["hits"] and not item.get("unreachable")
            ]
            assert not hit, f"{group['name']}.{point['name']}: {hit}"
    assert not record.caveat
    if test == "illegal":
        assert record.statuses["RULE"] > 100
    if test in ("corner", "directed"):
        assert any("takes none" in line for line in record.left_out), record.left_out


# --- An engine with dones of unknown tags, dones twice, out of order, or without a done


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (0, "pass", ""),
        (1, "fail", "DONE-UNKNOWN-TAG"),
        (2, "fail", "DONE-TWICE"),
        (3, "fail", "DONE-ORDER"),
        (4, "hang", "HANG"),
        (5, "fail", "X-DESC"),
        (6, "hang", "last events: none; rst_ni is active low"),
    ],
)
def test_each_fault_has_its_message(fault: int, status: str, message: str, tmp_path: Path) -> None:
    manifest = wrong_dones(tmp_path, fault)
    settings = RunSettings(
        sim="icarus", test="legal", transactions=60, duts=(str(manifest),), watchdog_clocks=5000
    )
    record = run_once(settings, planned_test("legal"), console=Console(quiet=True))
    assert record.status == status, record.message
    first = record.failures[0] if record.failures else ""
    assert message in first, first
    if message in RULES:
        assert first.startswith(f"protocol: mte2: {message}: ")
        assert f"rule: {RULES[message].text}" in first
    if fault == 5:
        assert record.transactions == 0
        assert len(record.failures) == 1
        assert says(first, "desc_ready_o 2 clocks after reset before first descriptor rst_ni low")
