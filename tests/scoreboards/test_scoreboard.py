# SPDX-License-Identifier: Apache-2.0
"""The scoreboard on hand-made batches, with a second model as the design."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.faults import FaultKind
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.isa.block import OpBlock, from_descriptors, from_ops
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.descriptor import unpack
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.events import BiasEvent
from tb.isa.footprint import Footprint, destination, source
from tb.isa.l0.op import L0Load
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.scoreboards.bench import Bench
from tests.wording import line_says, says

BIAS = MteL1Bt(64, 128, 3, 4, 1, 5, Ptr("f16", "l1"), Ptr("f32", "bt"))
SMALL = MteGmL1Frac(1001, 8192, "nd2nz", 6, 3, 6, 2, 0, 0, 4, 36, 0, 1)
OPS: tuple[Op, ...] = (
    BIAS,
    SMALL,
    MteGmL1(1001, 4096, 50, 4, 60, 96),
    MteL1Ub(65536, 1024, 2, 4, 1, 3),
    MteUbUb(4096, 8192, 2, 4, 1, 2),
    MteUbL1(4096, 131072, 2, 4, 1, 2),
    MteL1Fb(96, 64, 2, 3, 1, 5),
    MteGmL1Frac(1001, 262144, "dn2nz", 30, 58, 131, 2, 1, 30, 150, 9000),
)


def sent(bench: Bench) -> dict[str, tuple[int, int, int]]:
    return {name: (c.sent, c.passed, c.bytes) for name, c in bench.run.counts.ops.items()}


def test_every_op_passes_and_is_counted_in_destination_bytes(bench: Bench) -> None:
    checked = bench.check(OPS)
    bench.scoreboard.close()
    assert bench.failures == []
    assert checked.passed.all()
    assert sent(bench) == {
        "mte_l1_bt": (1, 1, 48),
        "mte_gm_l1_frac": (2, 2, 128 + 2 * 4 * 30 * 32),
        "mte_gm_l1": (1, 1, 200),
        "mte_l1_ub": (1, 1, 256),
        "mte_ub_ub": (1, 1, 256),
        "mte_ub_l1": (1, 1, 256),
        "mte_l1_fb": (1, 1, 384),
    }
    assert bench.run.counts.statuses == {"OK": 8}


def test_events_reach_coverage_one_per_op(bench: Bench) -> None:
    halves = np.array([0x0000, 0x3C00, 0xFC00], "<u2").tobytes()
    for memory in (bench.memory, bench.scoreboard.expected.golden):
        memory.write(Space.L1, 64, halves)
    one = MteL1Bt(64, 0, 3, 1, 0, 0, Ptr("f16", "l1"), Ptr("f32", "bt"))
    nop = MteL1Bt(64, 0, 0, 1, 0, 0)
    checked = bench.check([OPS[2], one, nop])
    assert checked.events.dtype == np.int64
    expected = BiasEvent.ZERO | BiasEvent.NORMAL | BiasEvent.INF | BiasEvent.NEGATIVE
    assert checked.events.tolist() == [0, int(expected), 0]


@pytest.mark.parametrize("index", range(len(OPS)))
def test_done_one_byte_early_is_found(bench: Bench, index: int) -> None:
    batch = bench.batch([OPS[index]])
    (records,) = batch.done.values()
    records["written_bytes"] -= 1
    checked = bench.write(batch)
    assert not checked.passed.any()
    assert "done came 1 bytes early" in bench.failures[0]


def test_a_wrong_byte_fails_its_op_alone_and_only_once(bench: Bench) -> None:
    checked = bench.check(OPS, (Space.BT, 128 + 4 * 17))
    assert checked.passed.tolist() == [False] + [True] * (len(OPS) - 1)
    (report,) = bench.failures
    assert line_says(report, "bias slot 17 = burst 2 element 1 f16 widened byte 0 4")
    assert "pto.mte_l1_bt" in report
    bench.scoreboard.close()
    assert len(bench.failures) == 1


def legacy_block(*ops: CopyUbufToUbuf) -> OpBlock:
    desc = lower_ubuf_copy(ops[-1])
    return from_descriptors([desc], legacy={0: ops}, expected_rule=[0])


LEGAL = CopyUbufToUbuf(4096, 0, 0, 3, 64, 96, 128)


@pytest.mark.parametrize(
    "refused",
    [
        CopyUbufToUbuf(4096, 0, 0, 3, 64, 2**21, 128),
        CopyUbufToUbuf(4096, 0, 0, 3, 64, 100, 128),
        CopyUbufToUbuf(4096, 0, 0, 3, 64, 32, 128),
        CopyUbufToUbuf(4096, 0, 0, 1, 40, 64, 128),
        CopyUbufToUbuf(4112, 0, 0, 3, 64, 96, 128),
        CopyUbufToUbuf(262112, 0, 0, 1, 64, 96, 128),
    ],
)
def test_nothing_is_expected_of_a_copy_that_is_not_issued(
    bench: Bench, refused: CopyUbufToUbuf
) -> None:
    checked = bench.check(legacy_block(refused, LEGAL))
    assert checked.passed.all()
    assert bench.failures == []
    assert sent(bench) == {"copy_ubuf_to_ubuf": (1, 1, 192)}


@pytest.mark.parametrize(
    ("issued", "decision"),
    [(LEGAL, "it is legal"), (CopyUbufToUbuf(4096, 0, 0, 0, 64, 96, 128), "it is legal")],
)
def test_a_copy_that_should_have_been_issued_is_an_error(
    bench: Bench, issued: CopyUbufToUbuf, decision: str
) -> None:
    bench.check(legacy_block(issued, LEGAL))
    (report,) = bench.failures
    assert line_says(report, f"copy_ubuf_to_ubuf not issued model {decision}")


def test_illegal_ops_change_nothing_and_carry_their_rule(bench: Bench) -> None:
    ops: tuple[Op, ...] = (
        MteL1Bt(0, 32, 1, 1, 0, 0),
        MteGmL1Frac(0, 0, "nd2nz", 4, 5, 10, 1, 0, 0, 0, None, 0, 1),
        MteL1Fb(0, 64, 63, 2, 0, 0),
        MteL1Ub(0, 16, 40, 1, 40, 40),
    )
    checked = bench.check(from_ops(ops, expected_rule=[3, 5, 4, 6]))
    assert checked.passed.all()
    assert bench.run.counts.statuses == {"RULE": 4}
    wrong = bench.batch(from_ops(ops, expected_rule=[3, 5, 4, 12]))
    bench.write(wrong)
    assert line_says(bench.failures[0], "rule 12 meant the model has 6")
    bench.scoreboard.close()
    assert len(bench.failures) == 1


@pytest.mark.parametrize("step", [-1, 1])
def test_a_rule_number_beside_the_right_one_is_wrong(bench: Bench, step: int) -> None:
    """Of the engine, which reports it, and of the stimulus, which means it."""
    op = MteL1Fb(0, 64, 63, 2, 0, 0)
    batch = bench.batch(from_ops([op], expected_rule=[4]))
    (records,) = batch.done.values()
    records["rule"] = 4 + step
    bench.write(batch)
    bench.write(bench.batch(from_ops([op], expected_rule=[4 + step])))
    assert line_says(bench.failures[0], f"reported rule {4 + step}, expected 4")
    assert line_says(bench.failures[1], f"rule {4 + step} meant the model has 4")
    assert len(bench.failures) == 2


@pytest.mark.parametrize(
    ("op", "address", "met"),
    [
        # The fix slot reads words of 64 bytes: 96..223 is in 64..255.
        (OPS[6], 64, True),
        (OPS[6], 224, True),
        (OPS[6], 32, False),
        # Others those of the local width.
        (BIAS, 64, True),
        (BIAS, 32, False),
        (BIAS, 128, False),
    ],
)
def test_faults_apply_to_whole_source_words(bench: Bench, op: Op, address: int, met: bool) -> None:
    batch = bench.batch([op])
    slot = SLOTS[next(iter(batch.order))]
    word = 64 if slot == "fix" else 32
    bench.hit(batch, slot, Space.L1, address // word * word)
    if met:
        bench.failed(batch, slot, Status.LOCAL, address)
    checked = bench.write(batch)
    assert checked.passed.all()
    assert (checked.events != 0).any() == (op is BIAS and not met)
    bench.scoreboard.close()
    if met:
        assert bench.failures == []
    else:
        (report,) = bench.failures
        assert f"no op in flight on {slot} makes this access" in report


def test_the_blocks_of_a_faulty_repack_are_undefined(bench: Bench) -> None:
    batch = bench.batch([OPS[7]])
    bench.hit(batch, "mte2", Space.GM, 1024, kind=FaultKind.SLVERR, status=Status.RD_SLVERR)
    bench.corrupt(Space.L1, 262144 + 777)
    assert bench.write(batch).passed.all()
    bench.corrupt(Space.L1, 262144 + 2 * 150 * 32 + 5)
    bench.scoreboard.close()
    assert len(bench.failures) == 1


@pytest.mark.parametrize("clocks", [200_000, 777])
def test_hang_names_the_limit_in_force_and_the_waiting_channels(
    bench: Bench, clocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "scoreboards.failure.channel_report", lambda mailbox: ["mte1: src waits for its grant"]
    )
    report = bench.hang([BIAS], clocks)
    assert f"for {clocks} clocks" in report
    assert "mte1: 1 descriptors not retired" in report
    assert says(report, "who waits mte1 src waits grant")
    assert f"{clocks} clocks" in bench.run.abort_message


def test_stray_bytes_are_attributed_past_illegal_ops_of_any_size(bench: Bench) -> None:
    """An illegal op may have too many rows to list."""
    huge = MteGmL1Frac(0, 0, "nd2nz", 2**17, 2**22, 1, 2**17, 1, 1, 1)
    ops: Sequence[Op] = [huge, OPS[2]]
    batch = bench.batch(from_ops(ops, expected_rule=[3, 0]))
    bench.write(batch)
    bench.corrupt(Space.L1, 4096 + 400)
    writer = SimpleNamespace(cycle=500, slot=SLOTS.index("mte2"))
    bench.memory.last_writer = lambda space, address: writer  # type: ignore[method-assign]
    bench.scoreboard.close()
    (report,) = bench.failures
    assert "stray write" in report
    assert "pto.mte_gm_l1" in report


def fractals(rows: Footprint) -> NDArray[np.int64]:
    """Returns the addresses of the 32-byte blocks of rows, ascending."""
    return np.unique(rows.row_starts()[:, None] + np.arange(0, rows.length, 32))


@pytest.mark.long
def test_random_traffic_passes(bench: Bench) -> None:
    """The model's regions are those of the descriptors, and one wrong byte fails its op alone."""
    rng = np.random.default_rng(4)
    bench.scoreboard.expected.prefill()
    wrong = 0
    for block in TrafficGenerator(9).blocks(1200):
        batch = bench.batch(block)
        writing = []
        for index, words in enumerate(block.pack()):
            outcome, desc = bench.outcomes[index], unpack(words)
            if outcome.read is None or outcome.written is None:
                assert desc.is_nop
                continue
            writing.append((index, outcome.written))
            for ours, theirs in (
                (outcome.read, source(desc)),
                (outcome.written, destination(desc)),
            ):
                assert ours.space == theirs.space
                if isinstance(desc, L0Load):  # columns of fractals may be one row, or many
                    assert np.array_equal(fractals(ours), fractals(theirs))
                    continue
                assert ours.length == theirs.length
                assert np.array_equal(np.sort(ours.row_starts()), np.sort(theirs.row_starts()))
        expected = np.ones(len(block), bool)
        if writing and rng.random() < 0.5:
            index, written = writing[int(rng.integers(len(writing)))]
            start = int(rng.choice(written.row_starts()))
            bench.corrupt(written.space, start + int(rng.integers(written.length)))
            expected[index] = False
            wrong += 1
        assert np.array_equal(bench.write(batch).passed, expected)
    bench.scoreboard.close()
    assert len(bench.failures) == wrong > 10


@pytest.mark.long
def test_random_illegal_traffic_passes(bench: Bench) -> None:
    for block in IllegalGenerator(9).blocks(1200):
        assert bench.check(block).passed.all()
    bench.scoreboard.close()
    assert bench.failures == []
    assert bench.run.counts.statuses["RULE"] > 300
