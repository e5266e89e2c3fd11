# SPDX-License-Identifier: Apache-2.0
"""A failing op that another profile explains has a report that names the knob."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from scoreboards.alternatives import MOST
from tb.harness.items import Batch
from tb.isa.block import from_ops
from tb.isa.dma.op import MteGmL1, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm, PreQuant, PreRelu, Scalar
from tb.isa.op import Op, replace
from tb.isa.profile import A5, SEED, Profile, current, use, using
from tb.isa.spaces import Space
from tb.record.signature import signature_of, title
from tests.scoreboards.bench import Bench

REPEATED = MteGmUb(4096, 8192, 64, 3, 32, 96)
"""Rows that overlap in GM: DMA-L08, or legal with knob row_repeat. It is the first of its block,
which the model judges; of others it takes the word of their generator."""

SHORT = MteGmUb(4096, 8192, 72, 3, 128, 160)
"""Rows that do not end with a 32-byte block: knob tail."""

PLAIN = MteGmL1(65536, 4096, 64, 4, 64, 96)
"""An op that is the same in every profile."""


@pytest.fixture(autouse=True)
def profile() -> Iterator[None]:
    """Each test begins and ends under ``seed``."""
    use(SEED)
    yield
    use(SEED)


def ran(bench: Bench, ops: list[Op], dut: Profile, run: Profile = SEED) -> Batch:
    """Runs ops on a design of one profile, and checks them under another one."""
    with using(dut):
        batch = bench.batch(ops)
    with using(run):
        bench.write(batch)
    return batch


def has(text: str, *facts: str) -> None:
    """Checks that a report has words, wherever its lines are broken."""
    flat = " ".join(text.split())
    assert [fact for fact in facts if fact not in flat] == [], flat


def report(bench: Bench) -> str:
    """Returns the first report of a run."""
    return bench.failures[0]


def test_a_status_that_another_profile_expects_names_the_knob(bench: Bench) -> None:
    ran(bench, [REPEATED, PLAIN], A5)
    text = report(bench)
    assert "retired with status 0 OK, expected 1 RULE" in text
    has(text, "profile", "status OK", "profile a5")
    has(text, "knob row_repeat = legal", "this run is seed", "row_repeat = error", "DMA-L08")
    has(text, "PROFILE=a5", "PROFILE='seed, row_repeat = legal'", "manifest")
    for other in ("tail", "compact", "len_bits", "pad_end", "alpha"):
        assert other not in text


def test_a_rule_that_another_profile_expects_names_the_knob(bench: Bench) -> None:
    ran(bench, [REPEATED], SEED, run=A5)
    text = report(bench)
    has(text, "profile", "status RULE DMA-L08", "profile seed")
    has(text, "knob row_repeat = error", "this run is a5", "PROFILE=seed")


def test_bytes_that_another_profile_writes_name_the_knob_and_their_place(bench: Bench) -> None:
    ran(bench, [PLAIN, SHORT], A5)
    text = report(bench)
    has(text, "write outside the destination", "byte 72..95 of each row", "knob tail = fill")
    has(text, "profile a5", "this run is seed", "PROFILE='seed, tail = fill'")


def bits(value: float) -> int:
    """Returns the bits of an f32."""
    return int.from_bytes(struct.pack("<f", value), "little")


PAD = Pad("f16", 0x3C00)

KNOB_OPS: list[tuple[str, Op, list[str]]] = [
    ("len_bits = 21", MteGmUb(0, 0, 65536, 1, 0, 0), ["status OK"]),
    (
        "pad_end = block",
        MteGmUb(0, 0, 10, 2, 16, 64, pad=PAD, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub")),
        ["byte 32..63 of each row"],
    ),
    (
        "tail = fill",
        MteGmUb(0, 0, 12, 2, 16, 32, src_type=Ptr("f32", "gm"), dst_type=Ptr("f32", "ub")),
        ["byte 12..31 of each row"],
    ),
    ("tail = fill", MteGmL1(0, 0, 20, 1, 0, 0), ["byte 20..31 of each row"]),
    ("row_repeat = legal", MteGmUb(0, 0, 32, 3, 0, 32), ["status OK"]),
    ("compact = legal", MteGmL1(0, 0, 16, 4, 20, 16), ["status OK"]),
    (
        "alpha = replace",
        MteL0cGm(
            0, 4096, 16, 16, 16, 16,
            pre_quant=PreQuant("qf322f32_pre_scalar", Scalar("f32", bits(0.5))),
            pre_relu=PreRelu("scalar_relu", Scalar("f32", bits(0.25))),
            layout="nz2nd",
            sat="sat",
        ),
        ["bytes of GM 0x1"],
    ),
]  # fmt: skip
"""A knob of a5, an op that it concerns, and words of the report."""


@pytest.mark.parametrize(("knob", "op", "words"), KNOB_OPS, ids=[one[0] for one in KNOB_OPS])
def test_every_knob_is_named(bench: Bench, knob: str, op: Op, words: list[str]) -> None:
    ran(bench, [op], A5)
    has(report(bench), *words, f"(knob {knob}: ", "profile a5", "this run is seed")
    field = bench.details[0].field
    assert field.endswith(f", knob {knob.partition(' ')[0]}")
    knobs = field[field.index("knob") :]
    assert knobs in title(signature_of(bench.details[0]))


@pytest.mark.parametrize(("knob", "op", "words"), KNOB_OPS, ids=[one[0] for one in KNOB_OPS])
def test_every_knob_of_an_engine_of_seed_is_named(
    bench: Bench, knob: str, op: Op, words: list[str]
) -> None:
    ran(bench, [op], SEED, run=A5)
    name = knob.partition(" ")[0]
    has(report(bench), f"(knob {name} = {getattr(SEED, name)}: ", "profile seed", "this run is a5")


def test_rows_that_are_filled_together_are_counted_as_one(bench: Bench) -> None:
    """Two knobs for an engine of a5 under seed; one under a profile that has the other one."""
    op = MteGmUb(0, 0, 5, 3, 8, 5)
    ran(bench, [op], A5, run=replace(A5, tail="keep"))
    has(report(bench), "byte 15..31 of each group of 3 rows", "(knob tail = fill: ")


def test_an_op_that_reads_what_another_slot_wrote_names_its_knob(bench: Bench) -> None:
    ran(bench, [SHORT, MteUbGm(8192, 65536, 96, 1, 96, 96)], replace(A5, modes="all"))
    assert any(one.slot == "mte3" for one in bench.details), bench.failures
    texts = [" ".join(text.split()) for text in bench.failures if "mte3" in text]
    assert any("an op whose bytes it reads follows profile a5 (knob tail" in one for one in texts)


def test_a_mode_that_only_one_profile_has_does_not_hide_a_knob(bench: Bench) -> None:
    mode = MteL0cGm(
        0, 1 << 20, 16, 16, 16, 16,
        pre_quant=PreQuant("req4_scalar", Scalar("f32", bits(0.5))),
        layout="nz2nd",
        sat="sat",
        src_type=Ptr("i32", "l0c"),
        dst_type=Ptr("si4", "gm"),
    )  # fmt: skip
    ops: list[Op] = [MteGmUb(0, 0, 5, 3, 8, 5), mode]
    ran(bench, ops, replace(A5, modes="all"))
    has(report(bench), "compact = legal", "tail = fill", "this run is seed")


def test_knobs_that_only_together_explain_are_all_named(bench: Bench) -> None:
    ran(bench, [MteGmUb(0, 0, 5, 3, 8, 5)], A5)
    has(report(bench), "status OK", "compact = legal", "tail = fill", "profile a5")


def test_bytes_that_only_this_profile_writes_name_the_knob(bench: Bench) -> None:
    ran(bench, [SHORT], SEED, run=A5)
    reports = bench.failures
    assert reports
    for text in reports:
        has(text, "byte 72..95 of each row", "knob tail = keep", "profile seed", "this run is a5")


def test_the_op_is_explained_in_the_midst_of_others_that_differ(bench: Bench) -> None:
    """The source of the second op is the destination of the first, fill included."""
    ran(bench, [SHORT, MteGmUb(8192, 65536, 40, 2, 64, 64)], A5)
    assert len(bench.failures) == 2
    for text in bench.failures:
        has(text, "knob tail = fill", "this run is seed")


def test_bytes_that_are_counted_over_ops_name_the_knob_of_the_op_before(bench: Bench) -> None:
    """The second op is right, and the bytes that the first left out are not counted against it."""
    ran(bench, [SHORT, MteGmUb(4096, 65536, 64, 1, 64, 64)], SEED, A5)
    texts = bench.failures
    assert "never wrote 72 bytes" in texts[0]
    assert len(texts) == 2
    for text in texts:
        has(text, "transaction 0", "knob tail = keep", "this run is a5")
    bench.scoreboard.close()
    found = bench.run.counts.explained
    assert found == "all 1 failed ops agree under tail = keep: PROFILE='a5, tail = keep'"


def test_the_sentence_at_the_end_counts_the_ops_that_a_profile_explains(bench: Bench) -> None:
    ran(bench, [REPEATED, replace(SHORT, ub_dst=65536), PLAIN], A5)
    bench.scoreboard.close()
    assert bench.run.counts.explained == "all 2 failed ops agree under knobs of a5: PROFILE=a5"


def test_two_knobs_at_once_name_the_profile_and_both(bench: Bench) -> None:
    ran(bench, [MteGmUb(4096, 8192, 72, 3, 32, 160)], A5)
    text = report(bench)
    has(text, "status OK", "profile a5", "row_repeat = legal", "tail = fill", "this run is seed")


def test_a_wrong_byte_that_no_profile_explains_is_reported_without_a_knob(bench: Bench) -> None:
    with using(A5):
        batch = bench.batch([SHORT])
    bench.corrupt(Space.UB0, 8192 + 160 + 80)  # in the fill of the second row
    bench.write(batch)
    assert bench.run.counts.mismatches
    assert all("knob" not in text for text in bench.failures)


def test_a_wrong_byte_under_the_profile_of_the_run_has_no_knob(bench: Bench) -> None:
    bench.check([SHORT], (Space.UB0, 8192 + 7))
    assert "knob" not in report(bench)


def test_another_failed_check_of_a_right_op_has_no_knob(bench: Bench) -> None:
    batch = bench.batch([SHORT])
    batch.done[1]["tag"] += 1
    bench.write(batch)
    assert "tag" in report(bench)
    assert "knob" not in report(bench)


@pytest.mark.parametrize("cut", ["reset", "error"])
def test_what_a_reset_or_an_error_leaves_is_not_explained(bench: Bench, cut: str) -> None:
    with using(A5):
        batch = bench.batch([REPEATED])
    if cut == "reset":
        bench.cut(batch, "mte2", 1, 1)
    else:
        bench.hit(batch, "mte2", Space.GM, 4096)
    bench.write(batch)
    assert all("knob" not in text for text in bench.failures)


def test_memories_registers_and_profile_are_left_as_they_were(bench: Bench) -> None:
    golden = bench.scoreboard.expected.golden
    golden.ensure(Space.GM, 0, 1 << 18)
    seen: list[dict[Space, bytes]] = []

    def state() -> dict[Space, bytes]:
        return {space: golden[space][: 1 << 18].tobytes() for space in Space}

    explain = bench.scoreboard.reporter.alternatives
    assert explain is not None
    lines = explain.lines

    def watched(*args: Any) -> list[str]:
        before = state()
        found: list[str] = lines(*args)
        assert state() == before
        seen.append(before)
        return found

    explain.lines = watched  # type: ignore[assignment,method-assign]
    ran(bench, [REPEATED, PLAIN], A5)
    assert seen
    assert current() == SEED


@pytest.mark.long
def test_the_search_ends_after_some_ops(bench: Bench) -> None:
    ops: list[Op] = [MteGmUb(4096, 8192 + 512 * k, 64, 3, 32, 96) for k in range(MOST + 3)]
    block = replace(from_ops(ops), expected_rule=np.full(len(ops), 8))
    with using(A5):
        batch = bench.batch(block)
    bench.write(batch)
    named = ["knob row_repeat" in text for text in bench.failures]
    assert named[: MOST + 3] == [True] * MOST + [False] * 3
    assert np.count_nonzero(named) == MOST
