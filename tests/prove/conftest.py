# SPDX-License-Identifier: Apache-2.0
"""What tests of ``make prove-rtl`` and ``pto-dv prove`` share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import ToolError
from tb.prove import dut, rtl


@pytest.fixture(autouse=True)
def reports(worker_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that run at a time write to folders of their own."""
    for module in (dut, rtl):
        monkeypatch.setattr(module, "REPORTS", Path("sim_build/prove-tests", worker_id))


@pytest.fixture
def yosys() -> None:
    """Skips a test where Yosys is missing: pytest was called by hand, make test installs it."""
    try:
        rtl.yosys_program()
    except ToolError:
        pytest.skip("no Yosys: make test installs it")
