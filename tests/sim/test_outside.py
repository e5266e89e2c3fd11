# SPDX-License-Identifier: Apache-2.0
"""``TEST=outside`` in a simulator: verdicts of both profiles, wrong facts, wrong engines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sequences.outside.catalog import outside_cases
from tb.common.paths import ROOT
from tb.isa.profile import parse_profile, using
from tb.outside.verdict import check
from tests.sim.runs import assert_passed, run
from tests.wording import says

pytestmark = pytest.mark.sim

BUG = "{2{pad_val[15:0]}} : pad_val[31:0];", "{4{pad_val[7:0]}} : pad_val[31:0];"
"""16-bit pads are written wrongly."""

CHANGED = """
from dataclasses import replace

import tb.env.tests.outside as module
from sequences.outside.case import Bytes

cases = module.outside_cases()


def changed():
    for case in cases:
        if case.name == "CMP-5":
            (row,) = case.rows
            (one,) = row.expected
            wrong = Bytes(one.space, one.start, bytes([one.data[0] ^ 1]) + one.data[1:])
            case = replace(case, rows=(replace(row, expected=(wrong,)),))
        yield case


module.outside_cases = changed


class Mine(module.OutsideTest):
    pass
"""


@pytest.mark.parametrize("profile", ["seed", "a5"])
def test_engines_have_the_verdicts_of_the_model(profile: str) -> None:
    record = run("outside", sim="icarus", profile=profile)
    assert_passed(record)
    with using(parse_profile(profile)):
        assert record.outside == check(outside_cases())


def test_a_wrong_fact_fails_though_engine_and_model_agree(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CHANGED)
    record = run(f"{tmp_path / 'mine.py'}:Mine", sim="icarus", folder=tmp_path / "run")
    assert (record.status, record.mismatches) == ("fail", 1)
    assert says(record.failures[0], "outside result CMP-5 no value any knob")
    (wrong,) = [row for one in record.outside for row in one.rows if row.verdict == "unexplained"]
    assert wrong.name == "CMP-5"


def test_a_wrong_engine_is_not_excused_by_a_knob(tmp_path: Path) -> None:
    engines = tmp_path / "rtl_stubs"
    shutil.copytree(ROOT / "rtl_stubs", engines)
    source = engines / "common/dma/pto_dma_check.sv"
    text = source.read_text()
    assert text.count(BUG[0]) == 1
    source.write_text(text.replace(*BUG))
    record = run(
        "outside",
        sim="icarus",
        duts=(str(engines / "pto_mte2/manifest.toml"),),
        ops=("mte_gm_ub",),
        mismatch_limit=1000,
    )
    assert record.status == "fail"
    rows = {row.name: row for one in record.outside for row in one.rows}
    wrong = {name for name, row in rows.items() if row.verdict == "unexplained"}
    assert wrong == {"PAD-5", "PAD-6"}, "the rows of 16-bit pads, also one that a knob explains"
    assert says(rows["PAD-6"].why, "design not bytes model")
    assert any("outside result PAD-6" in failure for failure in record.failures)
    assert {one.file for one in record.outside} == {"dma_facts"}
