# SPDX-License-Identifier: Apache-2.0
"""An engine with dones of unknown tags, dones twice, out of order, or without a done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.harness.protocol import RULES
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test

pytestmark = pytest.mark.sim

MANIFEST = """
module = "wrong_done_mte2"
slot = "mte2"
sources = ["wrong_done_mte2.v", "rtl/pto_mte2/*.v", "rtl/common/**/*.v"]
include_dirs = ["rtl/common"]
parameters = {{ Fault = {fault} }}

[capabilities]
ops = ["mte_gm_ub"]
"""


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
    manifest = tmp_path / "manifest.toml"
    (tmp_path / "rtl").symlink_to(ROOT / "rtl_stubs")
    (tmp_path / "wrong_done_mte2.v").symlink_to(Path(__file__).parent / "wrong_done_mte2.v")
    manifest.write_text(MANIFEST.format(fault=fault))
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
