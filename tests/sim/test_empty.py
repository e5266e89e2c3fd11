# SPDX-License-Identifier: Apache-2.0
"""Runs that send nothing, or not the ops of OPS, are not PASS; tests of the plan send both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.dut.selection import SELECTABLE
from tb.record.record import RunRecord
from tb.run.testlist import load_plan
from tests.sim import runs
from tests.wording import says

pytestmark = pytest.mark.sim

OPS = {
    "random": ("mte_gm_l1", "mte_gm_l1_frac"),
    "legal": ("mte_l1_bt", "mte_l0c_gm"),
    "directed": ("mte_ub_l1", "copy_ubuf_to_gm"),
    "outside": ("mte_gm_l1_frac", "mte_l0c_ub"),
    "speed": ("mte_l1_bt", "mte_ub_gm"),
    "corner": ("mte_l1_fb", "copy_ubuf_to_ubuf"),
    "illegal": ("mte_ub_ub", "copy_gm_to_ubuf"),
    "errors": ("mte_l1_ub", "mte_ub_gm", "mte_l1_l0b_mx", "raw_fill_l1"),
    "pins": ("mte_gm_ub", "mte_l0c_ub"),
    "stress": ("mte_l0c_l1", "copy_gm_to_ubuf", "mte_l1_l0a"),
    "faults": ("mte_gm_ub", "mte_l1_fb", "mte_l1_l0b"),
    "reset": ("mte_ub_l1", "mte_gm_l1", "mte_l1_l0a_mx"),
}
"""Test of the plan to the ops it is run with; tests/run/test_verdict.py has all combinations."""

STIMULI = {
    "nothing": "pass",
    "nops": "await self.send(from_ops([MteGmUb(0, 0, 0, 1, 0, 0)] * 3))",
    "refused": "await self.send(named_rule_blocks(['mte_gm_ub'])['ub_dst 16'])",
    "another": "await self.send(from_ops([MteUbGm(0, 0, 64, 1, 64, 64)]))",
    "half": "await self.send(from_ops([MteGmUb(0, 0, 64, 1, 64, 64)]))",
}
"""Name of a user's test to its stimulus."""


def run(test: str, folder: Path, *ops: str, transactions: int = 2) -> RunRecord:
    return runs.run(
        test,
        folder=folder / "run",
        # The other tests of the plan run on Icarus in test_runs.py.
        sim="icarus" if test == "corner" else "verilator",
        ops=ops,
        transactions=transactions,
        fast_build=test == "pins",  # shared with test_runs.py
    )


def user_test(folder: Path, stimulus: str, sends: str = "") -> str:
    """Writes a user's test; returns its name."""
    (folder / "mine.py").write_text(
        "from sequences.examples.blocks import named_rule_blocks\n"
        "from tb.isa.block import from_ops\n"
        "from tb.isa.dma.op import MteGmUb, MteUbGm\n"
        "from tb.env.base_test import PtoTestBase\n"
        "class Mine(PtoTestBase):\n"
        f"    sends = ({sends})\n"
        "    async def stimulate(self):\n"
        f"        {STIMULI[stimulus]}\n"
    )
    return f"{folder / 'mine.py'}:Mine"


def test_the_runs_are_of_every_test_and_of_every_op() -> None:
    assert set(OPS) == set(load_plan())
    assert {op for ops in OPS.values() for op in ops} == set(SELECTABLE)


@pytest.mark.share("tb/env", "sequences")
@pytest.mark.parametrize("test", OPS)
def test_every_test_of_the_plan_moves_bytes_with_the_requested_ops(
    test: str, tmp_path: Path
) -> None:
    ops = OPS[test]
    record = run(test, tmp_path, *ops, transactions=40)
    assert record.passed, "\n\n".join([record.message, *record.failures[:1]])
    assert record.transactions > 0
    assert record.bytes_checked > 0
    unnamed = [
        op
        for op in ops
        if not (op in record.ops and record.ops[op].bytes)
        and not any(line.startswith(f"{op}: ") for line in record.left_out)
    ]
    assert not unnamed


@pytest.mark.parametrize(
    ("stimulus", "facts"),
    [
        ("nothing", "nothing sent 0 transactions"),
        ("nops", "no byte checked 3 transactions"),
        ("refused", "no byte checked 1 transactions"),
        ("another", "no byte any OPS checked"),
    ],
)
def test_an_empty_test_of_a_user_is_no_pass(stimulus: str, facts: str, tmp_path: Path) -> None:
    record = run(user_test(tmp_path, stimulus), tmp_path, "mte_gm_ub")
    assert record.status == "error"
    assert record.exit_code == 1
    assert says(record.message, facts)
    assert "mine.py:Mine OPS=mte_gm_ub" in record.message
    assert "run another test" in record.message
    assert record.mismatches == record.protocol_errors == 0


def test_an_op_that_a_test_of_a_user_does_not_send_is_named(tmp_path: Path) -> None:
    name = user_test(tmp_path, "half", "'mte_gm_ub',")
    record = run(name, tmp_path, "mte_gm_ub", "mte_ub_gm", transactions=1000)
    assert record.passed, record.message
    (line,) = record.left_out
    assert says(line, "mte_ub_gm not sent only mte_gm_ub")
    unsaid = user_test(tmp_path, "half")
    record = run(unsaid, tmp_path, "mte_gm_ub", "mte_ub_gm", transactions=1000)
    assert record.status == "error"
    assert says(record.message, "no byte mte_ub_gm checked")


def test_illegal_without_a_rule_that_the_engine_reports_says_so(tmp_path: Path) -> None:
    manifest = str(runs.wrong_dones(tmp_path, 0))
    record = runs.run("illegal", folder=tmp_path, sim="icarus", transactions=10, duts=(manifest,))
    assert record.exit_code == 0, record.message
    assert says(record.last_line(), "PASS 10 transactions none illegal d_rules manifest")
    assert says("\n".join(record.left_out), "illegal ops all d_rules D rules docs/plug-in.md")
