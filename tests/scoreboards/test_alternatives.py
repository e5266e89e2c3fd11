# SPDX-License-Identifier: Apache-2.0
"""A failing op that another profile explains has a report that names the knob."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scoreboards import alternatives
from scoreboards.alternatives import MOST
from scoreboards.model.dma import DmaOp, ReferenceModel
from scoreboards.model.outcome import Outcome
from tb.harness.items import Batch
from tb.isa.block import from_ops
from tb.isa.dma.op import MteGmL1, MteGmUb
from tb.isa.profile import A5, SEED, Profile, current, use, using
from tb.isa.spaces import Space
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


class Filling(ReferenceModel):
    """A model whose loads without padding follow knob tail: a planted alternative."""

    def apply(self, outcome: Outcome) -> Outcome:
        """Fills the last 32-byte block of each row with the row's first byte."""
        outcome = super().apply(outcome)
        written = outcome.written
        if current().tail != "fill" or written is None or outcome.pad or not written.length % 32:
            return outcome
        whole = written._replace(length=-(-written.length // 32) * 32)
        if self._before_write is not None:
            self._before_write(whole)
        memory = self._memories[written.space]
        for start in written.row_starts().tolist():
            memory[start + written.length : start + whole.length] = memory[start]
        return outcome._replace(written=whole)


def ran(bench: Bench, ops: list[DmaOp], dut: Profile, run: Profile = SEED) -> Batch:
    """Runs ops on a design of one profile, and checks them under another one."""
    with using(dut):
        batch = bench.batch(from_ops(ops))
    with using(run):
        bench.write(batch)
    return batch


def has(text: str, *facts: str) -> None:
    """Checks that a report has words, wherever its lines are broken."""
    flat = " ".join(text.split())
    assert [fact for fact in facts if fact not in flat] == [], flat


def report(bench: Bench) -> str:
    """Returns the first report of a run."""
    return bench.run.counts.failures[0]


@pytest.fixture
def filling(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench with a design that can fill; so can the model of alternatives."""
    monkeypatch.setattr(alternatives, "ReferenceModel", Filling)
    bench.dut.__class__ = Filling
    return bench


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


def test_bytes_that_another_profile_writes_name_the_knob_and_their_place(filling: Bench) -> None:
    ran(filling, [PLAIN, SHORT], A5)
    text = report(filling)
    has(text, "write outside the destination", "byte 72..95 of each row", "knob tail = fill")
    has(text, "profile a5", "this run is seed", "PROFILE='seed, tail = fill'")


def test_bytes_that_only_this_profile_writes_name_the_knob(
    filling: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    filling.scoreboard.model.__class__ = Filling
    ran(filling, [SHORT], SEED, run=A5)
    reports = filling.run.counts.failures
    assert reports
    for text in reports:
        has(text, "byte 72..95 of each row", "knob tail = keep", "profile seed", "this run is a5")


def test_the_op_is_explained_in_the_midst_of_others_that_differ(filling: Bench) -> None:
    """The source of the second op is the destination of the first, fill included."""
    ran(filling, [SHORT, MteGmUb(8192, 65536, 40, 2, 64, 64)], A5)
    assert len(filling.run.counts.failures) == 2
    for text in filling.run.counts.failures:
        has(text, "knob tail = fill", "this run is seed")


def test_two_knobs_at_once_name_the_profile_and_both(filling: Bench) -> None:
    ran(filling, [MteGmUb(4096, 8192, 72, 3, 32, 160)], A5)
    text = report(filling)
    has(text, "status OK", "profile a5", "row_repeat = legal", "tail = fill", "this run is seed")


def test_a_wrong_byte_that_no_profile_explains_is_reported_without_a_knob(filling: Bench) -> None:
    with using(A5):
        batch = filling.batch(from_ops([SHORT]))
    filling.corrupt(Space.UB0, 8192 + 160 + 80)  # in the fill of the second row
    filling.write(batch)
    assert filling.run.counts.mismatches
    assert all("knob" not in text for text in filling.run.counts.failures)


def test_a_wrong_byte_under_the_profile_of_the_run_has_no_knob(bench: Bench) -> None:
    batch = bench.batch(from_ops([SHORT]))
    bench.corrupt(Space.UB0, 8192 + 7)
    bench.write(batch)
    assert "knob" not in report(bench)


def test_another_failed_check_of_a_right_op_has_no_knob(bench: Bench) -> None:
    batch = bench.batch(from_ops([SHORT]))
    batch.done[1]["tag"] += 1
    bench.write(batch)
    assert "tag" in report(bench)
    assert "knob" not in report(bench)


@pytest.mark.parametrize("cut", ["reset", "error"])
def test_what_a_reset_or_an_error_leaves_is_not_explained(bench: Bench, cut: str) -> None:
    with using(A5):
        batch = bench.batch(from_ops([REPEATED]))
    if cut == "reset":
        bench.cut(batch, "mte2", 1, 1)
    else:
        bench.hit(batch, "mte2", Space.GM, 4096)
    bench.write(batch)
    assert all("knob" not in text for text in bench.run.counts.failures)


def test_memories_registers_and_profile_are_left_as_they_were(bench: Bench) -> None:
    golden = bench.scoreboard.golden
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

    explain.lines = watched  # type: ignore[method-assign]
    ran(bench, [REPEATED, PLAIN], A5)
    assert seen
    assert current() == SEED


def test_the_search_ends_after_some_ops(bench: Bench) -> None:
    ops: list[DmaOp] = [MteGmUb(4096, 8192 + 512 * k, 64, 3, 32, 96) for k in range(MOST + 3)]
    block = replace(from_ops(ops), expected_rule=np.full(len(ops), 8))
    with using(A5):
        batch = bench.batch(block)
    bench.write(batch)
    named = ["knob row_repeat" in text for text in bench.run.counts.failures]
    assert named[: MOST + 3] == [True] * MOST + [False] * 3
    assert np.count_nonzero(named) == MOST
