# SPDX-License-Identifier: Apache-2.0
"""The scoreboard on write-backs: several regions, unit flags, atomics, faults, explanations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from scoreboards.faults import FaultKind
from scoreboards.mismatch import Objection
from scoreboards.model.outcome import FlagUse, Outcome
from scoreboards.unit_flags import judge_clear, judge_flags
from scoreboards.verdict import Evidence
from tb.harness.items import Batch
from tb.harness.layout import NO_CLEAR, READ, WRITE
from tb.isa.block import Fill, OpBlock, from_ops
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.op import replace
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.scoreboards.bench import Bench, flat
from tests.wording import line_says, says

FIX = 3
GM = 0x10000
PLAIN = MteL0cGm(0, GM, 16, 32, 16, 32)
HALVES = MteL0cUb(1024, 4096, 8, 32, 16, 32, ub_split="split_m")
CLEARING = replace(PLAIN, unit_flag=3)
HALF = Scalar("f32", 0x3F000000)
VECTOR = MteL0cL1(
    0, 0, 4, 20, 16, 32, pre_quant=PreQuant("qf322b8_pre_vec", FbPtr("f32", 128)),
    pre_relu=PreRelu("vector_relu", FbPtr("f32", 1024)), dst_type=Ptr("si8", "l1"),
)  # fmt: skip
ATOMIC = replace(
    PLAIN, n=20, pre_quant=PreQuant("qf322f16_pre_scalar", HALF), dst_type=Ptr("f16", "gm"),
    atomic=Atomic("f16", "add"),
)  # fmt: skip


def accumulators() -> Fill:
    """A tile of ascending numbers at the start of L0C."""
    values = (np.arange(2048) * 0.25 - 30).astype("<f4")
    return Fill(Space.L0C, 0, values.view(np.uint8))


def parameters() -> Fill:
    """Records (0.5, +3, signed) and then alphas of 0.25."""
    fb = np.zeros(4096, dtype=np.uint8)
    fb[128:1024].view("<u8")[:] = 0x0000_4060_3F00_0000
    fb[1024:2048].view("<u4")[:] = 0x3E800000
    return Fill(Space.FB, 0, fb)


def block(*ops: FixOp, rules: list[int] | None = None) -> OpBlock:
    return replace(from_ops(ops, expected_rule=rules), fills=(accumulators(), parameters()))


@pytest.mark.parametrize(
    "op",
    [
        PLAIN,
        HALVES,
        CLEARING,
        VECTOR,
        ATOMIC,
        replace(PLAIN, unit_flag=2),
        replace(PLAIN, m=0, unit_flag=3),
    ],
)
def test_a_correct_write_back_passes(bench: Bench, op: FixOp) -> None:
    checked = bench.check(block(op))
    assert not bench.failures
    assert checked.passed.all()
    size = bench.outcomes[0].bytes_written
    assert bench.run.counts.bytes_checked == size
    assert checked.events.tolist() == [bench.outcomes[0].events]
    bench.scoreboard.compare_everything()
    assert not bench.failures


def test_fills_count_as_writes_of_the_stimulus(bench: Bench) -> None:
    fill = Fill(Space.GM, GM + 5000, np.arange(100, dtype=np.uint8))
    bench.check(replace(block(ATOMIC), fills=(accumulators(), fill)))
    bench.scoreboard.compare_everything()
    assert not bench.failures
    assert bench.scoreboard.expected.golden[Space.GM][GM + 5099] == 99


# --- several regions ---


@pytest.mark.parametrize("space", [Space.UB0, Space.UB1])
def test_a_wrong_byte_in_either_half_is_found(bench: Bench, space: Space) -> None:
    checked = bench.check(block(PLAIN, HALVES), (space, 4096 + 128 + 4 * 5))
    assert checked.passed.tolist() == [True, False]
    assert len(bench.failures) == 1
    row = 1 if space is Space.UB0 else 5
    assert f"row m {row}, channel n 5" in bench.failures[0]
    bench.scoreboard.compare_everything()
    assert len(bench.failures) == 1  # reported once


def test_the_guard_of_the_second_half_is_compared(bench: Bench) -> None:
    bench.check(block(HALVES), (Space.UB1, 4096 + 4 * 128 + 7))
    assert "write outside the destination, UB1" in bench.failures[0]


def test_a_neighbour_in_flight_is_no_guard_failure(bench: Bench) -> None:
    """A wrong byte in the second region of another op is a failure of that op alone."""
    other = MteL0cUb(0, 4096 + 512, 4, 16, 16, 16, sub_block=1)
    checked = bench.check(block(HALVES, other), (Space.UB1, 4096 + 512))
    assert checked.passed.tolist() == [True, False]
    assert len(bench.failures) == 1


def test_a_done_before_the_second_half_is_early(bench: Bench) -> None:
    batch = bench.batch(block(HALVES))
    batch.done[FIX]["written_bytes"] -= 512
    bench.write(batch)
    assert "512 bytes early: 512 of 1024" in bench.failures[0]


def test_a_stray_byte_is_blamed_on_the_op_that_wrote_near(bench: Bench) -> None:
    batch = bench.batch(block(HALVES))
    bench.write(batch)
    bench.corrupt(Space.UB1, 100)
    bench.scoreboard.compare_everything()
    assert "stray write, UB1" in bench.failures[0]


def test_both_halves_of_an_abandoned_op_are_taken_over(bench: Bench) -> None:
    batch = bench.batch(block(HALVES, CLEARING))
    bench.cut(batch, "fix", retired=0, reached=2)
    for space in (Space.UB0, Space.UB1):
        bench.corrupt(space, 4096 + 3)
    bench.memory.unit_flags[:4] = [1, 0, 1, 0]
    assert not bench.write(batch).passed.any()
    assert not bench.failures
    assert bench.scoreboard.expected.golden.unit_flags[:4].tolist() == [1, 0, 1, 0]


# --- unit flags ---


def set_flag(bench: Bench, batch: Batch) -> None:
    bench.memory.unit_flags[2] = 1


def clear_flags(bench: Bench, batch: Batch) -> None:
    bench.memory.unit_flags[1:3] = 0


def early_clear(bench: Bench, batch: Batch) -> None:
    batch.done[FIX]["clear_bytes"][1] -= 32


@pytest.mark.parametrize(
    ("ops", "change", "words"),
    [
        ((PLAIN, CLEARING), set_flag, "unit flag L0C block 2 not cleared 1 expected 0"),
        (
            (PLAIN, replace(PLAIN, unit_flag=2)),
            clear_flags,
            r"unit flags L0C block 1,\s2 cleared 0 expected 1",
        ),
        ((PLAIN, CLEARING), early_clear, "cleared unit flags 32 bytes early 4064 4096"),
    ],
)
def test_wrong_flags_are_reported_with_their_op(
    bench: Bench, ops: tuple[FixOp, ...], change: Callable[[Bench, Batch], None], words: str
) -> None:
    batch = bench.batch(block(*ops))
    change(bench, batch)
    assert bench.write(batch).passed.tolist() == [True, False]
    (report,) = bench.failures
    assert line_says(report, words)
    assert "mte_l0c_gm" in report


def test_a_flag_of_no_op_is_reported_once(bench: Bench) -> None:
    batch = bench.batch(block(CLEARING))
    bench.memory.unit_flags[300] ^= 1
    bench.write(batch)
    assert "block 300" in bench.failures[0]
    assert line_says(bench.failures[0], "no op this batch")
    bench.check(block(CLEARING))
    assert len(bench.failures) == 1


def test_a_missing_clear_and_one_too_many_are_reported(bench: Bench) -> None:
    batch = bench.batch(block(CLEARING, PLAIN, replace(PLAIN, dst_stride=0), rules=[0, 0, 14]))
    batch.done[FIX]["clear_bytes"] = [NO_CLEAR, 4096, NO_CLEAR]
    bench.write(batch)
    missing, unwanted = bench.failures
    assert line_says(missing, "retired without clearing unit flags")
    assert line_says(unwanted, "cleared unit flags leave alone")


def test_illegal_ops_and_nops_keep_flags(bench: Bench) -> None:
    before = bench.memory.unit_flags.copy()
    ops = block(replace(CLEARING, dst_stride=0), replace(CLEARING, n=0), rules=[14, 0])
    bench.check(ops)
    assert not bench.failures
    assert np.array_equal(bench.scoreboard.expected.golden.unit_flags, before)
    assert not before.all()


def test_flags_of_an_op_that_met_a_fault_are_taken_over(bench: Bench) -> None:
    batch = bench.batch(block(CLEARING))
    bench.hit(batch, "fix", Space.L0C, 0x100, status=Status.LOCAL)
    batch.done[FIX]["clear_bytes"] = NO_CLEAR
    bench.memory.unit_flags[:4] = 1
    bench.corrupt(Space.GM, GM + 100)
    bench.write(batch)
    assert not bench.failures
    assert bench.scoreboard.expected.golden.unit_flags[:4].tolist() == [1, 1, 1, 1]


def test_flags_are_undefined_after_an_op_that_met_a_fault(bench: Bench) -> None:
    # The first did not clear, so one set is left after the clear of the second.
    part = replace(CLEARING, src=0x200, dst=CLEARING.dst + 0x10000, m=4, n=16)
    for undefined, other in ((1, 0), (0, 0), (1, 1)):
        batch = bench.batch(block(CLEARING, part, replace(part, src=0x1000)))
        bench.hit(batch, "fix", Space.L0C, 0x100, status=Status.LOCAL)
        bench.memory.unit_flags[:4] = undefined
        bench.memory.unit_flags[8] = other
        bench.write(batch)
        assert len(bench.failures) == other
    assert line_says(bench.failures[0], "unit flag L0C block 8 not cleared")


def test_many_wrong_flags_make_a_short_report(bench: Bench) -> None:
    actual, golden = np.zeros(512, dtype=np.uint8), np.ones(512, dtype=np.uint8)
    use = Outcome(Status.OK, flags=FlagUse(np.arange(20), True))
    outcomes = [Outcome(Status.OK), use]
    evidence = Evidence(bench.batch(block(PLAIN)), (), outcomes, (None, None))
    of_none, of_op = judge_flags(evidence, actual, golden)
    assert (of_op.index, of_none.index) == (1, None)
    assert isinstance(of_op.finding, Objection)
    assert isinstance(of_none.finding, Objection)
    text = of_op.finding.text
    assert line_says(text, r"block 0,\s1,\s2,\s3,\s4,\s5,\s6,\s7 12 more are\scleared")
    assert line_says(of_none.finding.text, r"block 20,\s21 484 more")
    assert judge_flags(evidence, golden, golden) == []
    assert judge_clear(use, 100, 100) is None


# --- faults ---


@pytest.mark.parametrize(
    ("op", "space", "address", "status"),
    [
        (PLAIN, Space.L0C, 0, Status.LOCAL),
        (PLAIN, Space.L0C, 2047, Status.LOCAL),
        (PLAIN, Space.L0C, 2048, None),
        (PLAIN, Space.GM, GM + 100, Status.WR_DECERR),
        (PLAIN, Space.GM, GM - 32, None),
        (PLAIN, Space.FB, 128, None),
        (ATOMIC, Space.GM, GM + 36, Status.RD_DECERR),
        (HALVES, Space.UB0, 4096, Status.LOCAL),
        (HALVES, Space.UB1, 4096 + 511, Status.LOCAL),
        (HALVES, Space.UB1, 4096 + 512, None),
        (HALVES, Space.L1, 4096, None),
        (VECTOR, Space.FB, 128, Status.LOCAL),
        (VECTOR, Space.FB, 128 + 20 * 8 + 31, Status.LOCAL),
        (VECTOR, Space.FB, 128 + 192, None),
        (VECTOR, Space.FB, 1024 + 127, Status.LOCAL),  # in the last 64-byte word
        (VECTOR, Space.FB, 1024 + 128, None),
        (VECTOR, Space.L1, 5, Status.LOCAL),
        (replace(PLAIN, n=40), Space.L0C, 2048 + 60, Status.LOCAL),  # word of channels 32 to 39
    ],
)  # fmt: skip
def test_errors_belong_to_the_op_that_accesses_the_word(
    bench: Bench, op: FixOp, space: Space, address: int, status: Status | None
) -> None:
    kind = FaultKind.DECERR if space is Space.GM else FaultKind.LOCAL
    writes = op is not ATOMIC and space is {PLAIN: Space.GM, VECTOR: Space.L1}.get(op)
    side = WRITE if writes or op is HALVES else READ
    batch = bench.batch(block(op))
    word = 64 if side == READ and space is not Space.GM else 32
    bench.hit(batch, "fix", space, address // word * word, kind=kind, side=side)
    if status is not None:
        bench.failed(batch, "fix", status, address // word * word)
    bench.write(batch)
    found = ["makes this access" in report for report in bench.failures]
    assert found == [True] * (status is None)


def test_the_port_of_a_read_of_gm_is_the_bus(bench: Bench) -> None:
    """A granule next to the row, inside 64 bytes but not in a bus word of the row."""
    batch = bench.batch(block(replace(ATOMIC, m=1, n=8)))
    bench.hit(batch, "fix", Space.GM, GM + 32, kind=FaultKind.SLVERR)
    bench.write(batch)
    assert line_says(bench.failures[0], "this access read GM")


def test_an_atomic_that_met_a_fault_is_taken_over(bench: Bench) -> None:
    batch = bench.batch(block(ATOMIC))
    bench.hit(batch, "fix", Space.GM, GM + 64, kind=FaultKind.SLVERR, status=Status.RD_SLVERR)
    bench.corrupt(Space.GM, GM + 10)
    bench.write(batch)
    bench.scoreboard.compare_everything()
    assert not bench.failures


# --- explanations ---


@pytest.mark.parametrize("apart", [False, True])
def test_an_atomic_after_a_failed_one_starts_from_undefined_bytes(
    bench: Bench, apart: bool
) -> None:
    later = replace(ATOMIC, src=0x1000, dst=GM + 0x4000 * apart)
    batch = bench.batch(block(ATOMIC, later))
    bench.hit(batch, "fix", Space.L0C, 0x100, status=Status.LOCAL)
    if apart:
        bench.corrupt(Space.GM, later.dst)
    checked = bench.write(batch)
    # Its own elements are compared as usual.
    assert checked.passed.tolist() == [True, not apart]
    assert len(bench.failures) == apart


def test_a_wrong_element_is_reported_with_its_stages(bench: Bench) -> None:
    batch = bench.batch(block(VECTOR))
    bench.corrupt(Space.L1, 2 * 32 + 17)  # row 2, channel 17: word 64 + 2 * 16 of group 1
    bench.write(batch)
    report = flat(bench)
    number = (16 * 16 + 2 * 16 + 1) * 0.25 - 30
    assert f"acc {number:g} (0x" in report
    assert f"* M1 0.5 (0x3f000000): {number / 2:g}" in report
    assert "vector_relu alpha 0.25 (0x3e800000):" in report
    assert "S9: 21 -> + offset 3: 24 -> clamp: 24 -> si8 0x18" in report
    assert "row m 2, channel n 17" in report
    assert f"source L0C {4 * (16 * 16 + 2 * 16 + 1):#07x}" in report


def test_an_atomic_element_is_reported_with_its_old_value(bench: Bench) -> None:
    old = Fill(Space.GM, GM, np.full(2048, 0x3C, dtype=np.uint8))
    bench.check(replace(block(ATOMIC), fills=(accumulators(), old)), (Space.GM, GM + 64 + 6))
    report = flat(bench)
    assert "row m 1, channel n 3, byte 0 of 2" in report
    assert "f16 0xca50 -> add to 0x3c3c: 0x" in report


def test_both_nibbles_of_a_byte_are_explained(bench: Bench) -> None:
    op = replace(
        PLAIN, layout="nz2dn", k=1, m=4, n=3, dst_stride=8, dst_type=Ptr("i4", "gm"),
        pre_quant=PreQuant("qf322s4_pre_scalar", HALF), loop3=Loop3(2, 16, 64),
    )  # fmt: skip
    bench.check(block(op), (Space.GM, GM + 32 + 4 + 1))
    report = flat(bench)
    assert line_says(report, "row m 2 channel n 1 low nibble row m 3 channel n 1 high nibble")
    assert "repeat 1 of 2" in report
    assert report.count("i4 0x") == 2


@pytest.mark.parametrize(
    ("op", "address", "text", "source"),
    [
        (replace(PLAIN, layout="nz2nz", dst_stride=320), 320 * 4 + 2 * 64 + 8,
         "row m 2, channel n 18", 1024 + 2 * 64 + 2 * 4),
        (replace(PLAIN, layout="nz2nz", split=1, dst_stride=160), 160 * 4 * 3 + 32 + 4,
         "row m 1, channel n 25", 1024 + 64 + 9 * 4),
        (replace(PLAIN, layout="nz2nd", loop3=Loop3(2, 64, 600)), 2400 + 128 + 8,
         "row m 1, channel n 2, repeat 1 of 2", 64 * 64 + 64 + 2 * 4),
        (replace(PLAIN, layout="nz2dn", k=3, m=4, src_stride=48, dst_stride=4), 16 * 20 + 12,
         "row m 3, channel n 20", 64 * 48 + 3 * 3 * 64 + 4 * 4),
    ],
)  # fmt: skip
def test_labels_of_the_layouts(
    bench: Bench, op: FixOp, address: int, text: str, source: int
) -> None:
    bench.check(block(op), (Space.GM, GM + address))
    report = flat(bench)
    assert text in report
    assert f"source L0C {source:#07x}" in report


@pytest.mark.parametrize(
    ("op", "address", "facts"),
    [
        (replace(PLAIN, dst_stride=40), 160 + 130, "row m 1 3 B last byte"),
        (replace(PLAIN, dst_stride=320, layout="nz2nz"), 1030, "column group 0 of 2 7 B"),
        (replace(PLAIN, dst_stride=40, layout="nz2dn", k=1), 160 * 31 + 65, "channel n 31 2 B"),
    ],
)
def test_guards_name_the_row(bench: Bench, op: FixOp, address: int, facts: str) -> None:
    bench.check(block(op), (Space.GM, GM + address))
    place = flat(bench)
    assert says(place.partition(" where ")[2], facts), place
