# SPDX-License-Identifier: Apache-2.0
"""Twins on the engines: they are compared, and find what engine and model have wrong alike."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pyuvm

from scoreboards.model.dma import ReferenceModel
from sequences.constraints import OpConstraints
from tb.common.paths import ROOT
from tb.env.tests.traffic import RandomTest
from tb.isa.dma.op import MteGmUb
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.run import run_once
from tb.run.testlist import PlannedTest
from tests.bugs.campaign import Bug, plant
from tests.sim.runs import assert_passed, run

pytestmark = pytest.mark.sim

BUG = Bug(
    name="gm_stride_8_bit",
    file="rtl_stubs/common/dma/pto_dma_loops.v",
    find="ext_step = ext_stride_q[2*G +: G];",
    replace="ext_step = {{(G - 8){1'b0}}, ext_stride_q[2*G +: 8]};",
    models="GM stride of the second loop is kept in 8 of its bits",
)


@pyuvm.test()
class SameMistake(RandomTest):
    """The model has the mistake of ``BUG``, too: ops of two loops, one at a time."""

    def constraints(self) -> OpConstraints:
        """Returns the constraints of small ops with loops."""
        return replace(
            super().constraints(), block_ops=1, saturate=0.0, mixed=0.0, loops=(0.0, 0.2, 0.6, 0.2),
            nop=0.0, far=0.0, pad=0.0, edge=0.0, stretch=0.0,
        )  # fmt: skip

    def build_phase(self) -> None:
        """Patches the model."""
        super().build_phase()
        issue = ReferenceModel.issue

        def wrong(model: ReferenceModel, op: Any, **words: Any) -> Any:
            if isinstance(op, MteGmUb) and len(op.loops) > 1:
                first, second, *others = op.loops
                second = replace(second, src_stride=second.src_stride & 0xFF)
                op = replace(op, loops=(first, second, *others))
            return issue(model, op, **words)

        setattr(ReferenceModel, "issue", wrong)  # noqa: B010 (another signature)


def run_with_the_mistake(folder: Path, share: float) -> RunRecord:
    planned = PlannedTest.model_validate(
        {
            "name": "random", "module": "tests.sim.test_twins", "class": "SameMistake",
            "transactions": 150, "doc": "twins",
        }
    )  # fmt: skip
    settings = RunSettings(
        sim="icarus",
        test="random",
        seed=4,
        transactions=150,
        ops=("mte_gm_ub",),
        duts=(str(folder / "rtl_stubs" / "pto_mte2" / "manifest.toml"),),
        options={"illegal": 0.0, "faults": 0.0, "twins": share},
        mismatch_limit=1000,
    )
    return run_once(settings, planned, console=Console(quiet=True), folder=folder / "run")


def test_a_mistake_of_engine_and_model_is_found_by_twins_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "rtl_stubs", tmp_path / "rtl_stubs")
    plant(BUG, tmp_path)
    without = run_with_the_mistake(tmp_path, 0.0)
    assert_passed(without)
    assert not without.twins
    record = run_with_the_mistake(tmp_path, 0.5)
    assert record.status == "fail"
    assert record.message == "DUT and model agree, and a check of what they left fails"
    assert record.failures
    for report in record.failures:
        lines = report.splitlines()
        assert lines[0].startswith("MISMATCH: twins: mte_gm_ub leaves other bytes as ")
        forms = [line for line in lines if ", transaction" in line]
        assert len(forms) == 2
        assert sum("pto.mte_gm_ub" in line for line in lines) >= 2
        assert "loop(" in report
        assert "  model and engine agree on each form: both have the same mistake" in lines
        assert "REPRO=" in lines[-1]
    assert record.mismatches < record.twins["mte_gm_ub"], "twins of ops without the mistake agree"


def test_random_traffic_compares_twins() -> None:
    record = run("random", seed=17, transactions=200)
    assert_passed(record)
    assert record.transactions == 200
    assert record.twins.total() > 0
    assert record.twin_forms.total() == 2 * record.twins.total()


def test_a_share_of_the_transactions_is_twins() -> None:
    record = run("legal", seed=18, transactions=300, options={"twins": 0.6})
    assert_passed(record)
    assert record.transactions == 300
    assert record.twins.total() > 10
    assert len(record.twins) > 3
    assert len(record.twin_forms) > 6
