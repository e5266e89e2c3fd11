# SPDX-License-Identifier: Apache-2.0
"""The scoreboard on write-backs under CTRL: its writes are issued before and after the op."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sequences.blocks import block_of, lower_program
from sequences.constraints import FIX_NAMES, OpConstraints
from sequences.corner.fixpipe import fix_blocks
from sequences.fixpipe.generator import FixGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.isa.block import OpBlock
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm, PreQuant, Scalar
from tb.isa.op import replace
from tb.isa.profile import parse_profile, using
from tb.isa.program import Entry, moving, moving_at
from tb.isa.spaces import Space
from tb.language.linked import Linked, linked_steps
from tb.language.printer import program_text
from tests.scoreboards.bench import Bench
from tests.wording import says

GM = 0x10000
TO_F16 = MteL0cGm(
    0, GM, 4, 16, 16, 16, pre_quant=PreQuant("f32_f16", Scalar("f32", 0)), dst_type=Ptr("f16", "gm")
)
NOSAT = 1 << 48
F16_ADD = 2 << 6


def entries(*programs: Entry) -> OpBlock:
    return block_of([lower_program(each, DmaRegisters())[0] for each in programs])


def under(ctrl: int, address: int = GM) -> Entry:
    return (SetCtrl(ctrl), replace(TO_F16, dst=address), SetCtrl(0))


def test_the_op_of_an_entry() -> None:
    op = TO_F16
    for ops, at in (
        ((op,), 0),
        ((SetCtrl(1), op, SetCtrl(0)), 1),
        ((SetCtrl(1), SetAtomic("f16"), op, SetAtomic("none"), SetCtrl(0)), 2),
        ((SetCtrl(1), op), 1),
    ):
        assert moving_at(ops) == at
        assert moving(ops) is op


def test_ops_are_issued_with_their_ctrl(bench: Bench) -> None:
    block = entries(
        under(NOSAT), (replace(TO_F16, dst=GM + 256),), under(F16_ADD, GM + 512),
        under(F16_ADD | NOSAT, GM + 768), (replace(TO_F16, dst=GM + 1024),),
    )  # fmt: skip
    assert bench.check(block).passed.all()
    assert not bench.failures
    assert bench.scoreboard.expected.model.registers.ctrl == 0
    assert set(bench.run.counts.ops) == {"mte_l0c_gm"}


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_write_that_is_not_issued_is_found(
    bench: Bench, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the write before it the first op differs, without the one after it the second."""
    block = entries(under(F16_ADD), (replace(TO_F16, dst=GM + 256),))
    batch = bench.batch(block)
    issue = type(bench.scoreboard.expected.model).issue
    skipped = SetCtrl(F16_ADD if lost == "before" else 0)

    def skipping(model: object, op: object, **more: bool) -> object:
        if op == skipped:
            return None
        return issue(model, op, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(bench.scoreboard.expected.model), "issue", skipping)
    passed = bench.write(batch).passed
    assert passed.tolist() == ([False, True] if lost == "before" else [True, False])


@pytest.mark.long
@pytest.mark.parametrize("text", ["seed", "a5"])
def test_random_write_backs_pass(bench: Bench, text: str) -> None:
    with using(parse_profile(text)):
        for block in FixGenerator(5, constraints=OpConstraints(ctrl=0.5)).blocks(400):
            assert bench.check(block).passed.all()
        for block in IllegalGenerator(6, FIX_NAMES).blocks(400):
            checked = bench.check(block)
            assert checked.passed.all()
            assert block.expected_rule is not None
    assert not bench.failures


@pytest.mark.long
@pytest.mark.parametrize("text", ["seed", "a5"])
def test_corners_pass(bench: Bench, text: str) -> None:
    with using(parse_profile(text)):
        blocks = [b for b in fix_blocks(32, ("mte_l0c_gm",)) if b.legacy]
        assert len(blocks) > 5
        for block in blocks:
            assert bench.check(block).passed.all()
    assert not bench.failures


def test_writes_are_in_the_programs_of_a_failure(bench: Bench, tmp_path: Path) -> None:
    bench.scoreboard.repro.folder = tmp_path / "repro"
    block = entries(under(NOSAT, GM + 256), (SetAtomic("f16"), TO_F16, SetCtrl(0)))
    batch = bench.batch(block)
    bench.corrupt(Space.GM, GM)
    assert bench.write(batch).passed.tolist() == [True, False]
    (folder,) = bench.scoreboard.repro.folder.glob("*")
    failing = (folder / "failing.pto").read_text()
    assert failing.index("pto.set_atomic_f16\n") < failing.index("pto.mte_l0c_gm")
    assert failing.index("pto.mte_l0c_gm") < failing.index("pto.set_ctrl %c0_i64 : i64")
    whole = (folder / "batch.pto").read_text()
    assert whole.count("pto.set_ctrl") == 3
    assert f"pto.set_ctrl %c{NOSAT}_i64 : i64" in whole
    assert says(bench.failures[0], "transaction 1 on fix")
    assert "pto.set_atomic_f16" in bench.failures[0]


def test_gap_and_delay_belong_to_the_op() -> None:
    item = Linked((SetCtrl(NOSAT), TO_F16, SetCtrl(0)), gap=7, flag_delay=3)
    lines = [line.strip() for line in program_text(linked_steps([item])).splitlines()]
    ops = [line for line in lines if line.startswith("pto.")]
    assert [line.split()[0] for line in ops] == ["pto.set_ctrl", "pto.mte_l0c_gm", "pto.set_ctrl"]
    assert ["pto_dv.gap" in line for line in ops] == [False, True, False]


def test_values_stay_out_of_the_columns_of_chips() -> None:
    """Atomic bits of CTRL reach only the descriptor of ops that have an atomic."""
    limits = OpConstraints(ctrl=1.0)
    for name in FIX_NAMES[1:]:
        for block in FixGenerator(3, (name,), limits).blocks(60):
            assert not np.any(block.column("atomic_type") | block.column("atomic_op"))
