# SPDX-License-Identifier: Apache-2.0
"""An engine that hangs for an X has its registers with X in the report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.sim.runs import run

MANIFEST = """
module = "pto_mte2"
slot = "mte2"
sources = ["rtl/pto_mte2/*.sv", "rtl/common/**/*.sv"]
include_dirs = ["rtl/common"]

[capabilities]
ops = ["mte_gm_ub"]
"""


@pytest.mark.long
@pytest.mark.sim
@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_a_register_without_reset_is_named_where_there_is_an_x(sim: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rtl_stubs", tmp_path / "rtl")
    source = tmp_path / "rtl/common/dma/pto_dma_loops.sv"
    text = source.read_text()
    assert text.count("if (!rst_ni) active_q") == 1
    # Without a second state the register has a value from the start.
    source.write_text(text.replace("if (!rst_ni) active_q", "if (1'b0) active_q"))
    (tmp_path / "dut.toml").write_text(MANIFEST)
    record = run(
        "random", sim=sim, transactions=30, ops=("mte_gm_ub",), duts=(str(tmp_path / "dut.toml"),),
        watchdog_clocks=3000, folder=tmp_path / "run", fast_build=True,
    )  # fmt: skip
    if sim == "verilator":
        assert record.passed
        return
    assert (record.status, record.transactions) == ("hang", 0)
    assert record.clocks < 5000
    (count,) = record.ops.values()
    assert count.sent == count.unchecked > 0
    (failure,) = record.details
    (line,) = [line for line in failure.text.splitlines() if line.startswith("  X in mte2: ")]
    assert "u_loops.active_q (1 bit)" in line
