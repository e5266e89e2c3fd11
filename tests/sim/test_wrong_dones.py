# SPDX-License-Identifier: Apache-2.0
"""An engine with dones of unknown tags, dones twice, out of order, or without a done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.harness.protocol import RULES
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.sim.runs import wrong_dones

pytestmark = pytest.mark.sim


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (0, "pass", ""),
        (1, "fail", "DONE-UNKNOWN-TAG"),
        (2, "fail", "DONE-TWICE"),
        (3, "fail", "DONE-ORDER"),
        (4, "hang", "HANG"),
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
