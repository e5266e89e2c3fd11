# SPDX-License-Identifier: Apache-2.0
"""Runs of tests of the plan, shared by the tests with a simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tb.common.paths import ROOT
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.launch import NEW_PROCESS, Launcher
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.sim.figures import wrong_figures

WRONG_DONES = """
module = "wrong_done_mte2"
slot = "mte2"
sources = ["wrong_done_mte2.v", "rtl/pto_mte2/*.sv", "rtl/common/**/*.sv"]
include_dirs = ["rtl/common"]
parameters = {{ Fault = {fault} }}

[capabilities]
ops = ["mte_gm_ub"]
"""


def wrong_dones(folder: Path, fault: int) -> Path:
    """Returns the manifest, in ``folder``, of an engine with a fault of wrong_done_mte2.v."""
    source = Path(__file__).with_name("wrong_done_mte2.v")
    (folder / "rtl").symlink_to(ROOT / "rtl_stubs")
    (folder / source.name).symlink_to(source)
    manifest = folder / "manifest.toml"
    manifest.write_text(WRONG_DONES.format(fault=fault))
    return manifest


def run(
    test: str,
    *,
    folder: Path | None = None,
    fast_build: bool = False,
    launcher: Launcher = NEW_PROCESS,
    **settings: Any,
) -> RunRecord:
    """Runs one test of the plan, or of a user's file, with its own options.

    A fast build of the reference engines by Verilator has a folder of its own.
    """
    planned = planned_test(test)
    chosen = RunSettings.model_validate(
        {
            "test": test,
            "options": planned.options,
            "transactions": planned.transactions,
            **settings,
        }
    )
    return run_once(
        chosen,
        planned,
        console=Console(quiet=True),
        folder=folder,
        fast_build=fast_build,
        launcher=launcher,
        variant="fast" if fast_build and chosen.sim == "verilator" else "",
    )


def assert_passed(record: RunRecord) -> None:
    """Asserts that a run passed, and that all its transactions were counted."""
    assert record.passed, "\n\n".join([record.message, *record.failures[:2]])
    assert record.mismatches == record.protocol_errors == 0
    assert record.transactions > 0
    assert wrong_figures(record) == []
