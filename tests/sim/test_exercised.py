# SPDX-License-Identifier: Apache-2.0
"""Exercised items of the specification: only those checked without a failure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import planned_test

pytestmark = pytest.mark.sim

BUGS = (
    ("{2{pad_val[15:0]}} : pad_val[31:0];", "{4{pad_val[7:0]}} : pad_val[31:0];"),
    ("wire l06 = |loc_addr[4:0] ||", "wire l06 = |loc_addr[3:0] ||"),
)
"""16-bit pads are written wrongly, and a UB address of 16 passes DMA-L06."""


def test_failures_are_not_counted(tmp_path: Path) -> None:
    engines = tmp_path / "rtl_stubs"
    shutil.copytree(ROOT / "rtl_stubs", engines)
    source = engines / "common/dma/pto_dma_check.v"
    text = source.read_text()
    for find, replace in BUGS:
        assert text.count(find) == 1, find
        text = text.replace(find, replace)
    source.write_text(text)
    settings = RunSettings(
        sim="icarus",
        test="directed",
        duts=(str(engines / "pto_mte2/manifest.toml"),),
        ops=("mte_gm_ub",),
        mismatch_limit=1000,
    )
    record = run_once(settings, planned_test("directed"), console=Console(quiet=True))
    assert record.status == "fail"
    assert {"EX1", "EX3", "EX3c", "GU-E3", "GU-E4"} <= set(record.exercised)
    assert not {"EX3b", "GU-E1", "GU-E2"} & set(record.exercised)
    assert "rule check ub_dst 16" not in record.exercised
    assert "DMA-L06" not in record.exercised
    assert record.exercised["rule check dst_stride 40"] == 1
    assert record.exercised["DMA-L07"] >= 1
