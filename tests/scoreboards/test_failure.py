# SPDX-License-Identifier: Apache-2.0
"""Each failure is sent to the run as a report and as fields."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from scoreboards.faults import FaultKind
from scoreboards.flights import MOST_ERRORS, ErrorHistory
from scoreboards.golden import GoldenMemory
from scoreboards.picture import (
    LINE,
    LINES,
    MOST_BYTES,
    MOST_ROWS,
    PICTURES,
    picture_lines,
    picture_rows,
)
from scoreboards.unordered import unordered
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.harness.layout import HIT, WRITE
from tb.harness.protocol import protocol_failure
from tb.isa.block import OpBlock, from_ops
from tb.isa.burst.op import MteL1Bt, MteUbUb
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.footprint import Footprint, source
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.op import Op, replace
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space, segment_base
from tb.isa.status import Status
from tb.record.failure import Failure
from tb.record.signature import signature_of
from tests.scoreboards.bench import Bench, context, noise
from tests.wording import line_says, says

BIAS = MteL1Bt(64, 128, 3, 4, 1, 5, Ptr("f16", "l1"), Ptr("f32", "bt"))
TO_L1 = MteGmL1(1001, 4096, 50, 4, 60, 96)
LOOPED = MteGmUb(4096, 8192, 64, 3, 64, 96, (Loop(4, 256, 1024),))


def changed(failure: Failure) -> list[int]:
    """Returns the addresses at which a picture shows wrong bytes."""
    assert failure.picture is not None
    return [
        row.address + byte
        for row in failure.picture.rows
        for byte, (a, b) in enumerate(
            zip(bytes.fromhex(row.expected), bytes.fromhex(row.actual), strict=True)
        )
        if a != b
    ]


def test_wrong_bytes_of_an_op(bench: Bench) -> None:
    bench.check([BIAS, TO_L1], (Space.L1, 4096 + 2 * 96 + 7))
    failure = bench.only()
    assert (failure.kind, failure.slot, failure.op) == ("data", "mte2", "mte_gm_l1")
    assert (failure.field, failure.address_class) == ("row data", "later row")
    assert (failure.space, failure.address) == ("l1", 4096 + 2 * 96 + 7)
    assert (failure.transaction, failure.begin_clock, failure.end_clock) == (1, 100, 1000)
    assert failure.picture is not None
    assert [row.address for row in failure.picture.rows] == [4096 + 96 * k for k in range(4)]
    assert {len(row.actual) for row in failure.picture.rows} == {2 * 50}
    assert failure.picture.left_out == ""
    assert changed(failure) == [4096 + 2 * 96 + 7]


@pytest.mark.parametrize(
    ("place", "where"),
    [(8192, "first row"), (8192 + 96, "later row"), (8192 + 1024 + 96, "later iteration")],
)
def test_the_class_of_an_address_is_the_wrong_loop(bench: Bench, place: int, where: str) -> None:
    bench.check([LOOPED], (Space.UB0, place + 5))
    assert bench.only().address_class == where


def test_a_wrong_value_has_no_class_of_address(bench: Bench) -> None:
    bench.check([BIAS], (Space.BT, 128 + 4 * 17))
    failure = bench.only()
    assert (failure.field, failure.space, failure.address_class) == ("row data", "bt", "")


def test_a_write_next_to_the_destination_has_a_picture_of_its_surroundings(bench: Bench) -> None:
    bench.check([TO_L1], (Space.L1, 4096 + 50 + 3))
    failure = bench.only()
    assert (failure.kind, failure.field, failure.op) == ("guard", "behind the row", "mte_gm_l1")
    assert failure.picture is not None
    assert len(failure.picture.rows) == LINES
    assert {len(row.actual) for row in failure.picture.rows} == {2 * LINE}
    assert changed(failure) == [4096 + 50 + 3]


def test_a_stray_byte_of_unknown_origin_has_no_op(bench: Bench) -> None:
    bench.corrupt(Space.L1, 70_000)
    bench.scoreboard.close()
    failure = bench.only()
    assert (failure.kind, failure.op, failure.slot) == ("stray", "", "")
    assert (failure.space, failure.address, changed(failure)) == ("l1", 70_000, [70_000])


def test_only_the_first_failures_have_pictures(bench: Bench) -> None:
    batch = bench.batch([MteL1Ub(4096 * k, 4096 * k, 64, 1, 64, 64) for k in range(6)])
    for k in range(6):
        bench.corrupt(Space.UB0, 4096 * k)
    bench.write(batch)
    assert len(bench.failures) == len(bench.details) == 6
    drawn = [failure.picture is not None for failure in bench.details]
    assert drawn == [True] * PICTURES + [False] * (6 - PICTURES)


@pytest.mark.parametrize(
    ("column", "value", "kind", "field"),
    [
        ("tag", 77, "tag", ""),
        ("status", int(Status.RULE), "status", "RULE not OK"),
        ("rule", 5, "rule", "rule L05"),
        ("written_bytes", 3, "early", ""),
    ],
)
def test_a_wrong_done(bench: Bench, column: str, value: int, kind: str, field: str) -> None:
    batch = bench.batch([TO_L1])
    (records,) = batch.done.values()
    records[column] = value
    bench.write(batch)
    failure = bench.only()
    assert (failure.kind, failure.field, failure.op) == (kind, field, "mte_gm_l1")
    assert failure.picture is None


@pytest.mark.parametrize(
    ("op", "rule", "words"),
    [
        (TO_L1, 5, "rule 5 (DMA-L05: every field fits its width)"),
        (TO_L1, 12, "rule 12 (DMA-L12: every byte accessed lies inside its memory)"),
        (TO_L1, 13, "rule 13, which no rule of this op has"),
        (TO_L1, 0, "rule 0, which no rule of this op has"),
        (BIAS, 2, "rule 2 (BT-L02: every field fits its width)"),
        (BIAS, 5, "rule 5, which no rule of this op has"),
    ],
)
@pytest.mark.parametrize("error", [False, True])
def test_a_refused_op_has_the_rule_of_its_family(
    bench: Bench, op: Op, rule: int, words: str, *, error: bool
) -> None:
    batch = bench.batch([op])
    (records,) = batch.done.values()
    records["status"], records["rule"] = int(Status.RULE), rule
    if error:
        region = source(op)
        slot, kind = SLOTS[int(batch.block.slot[0])], FaultKind.LOCAL
        kind = FaultKind.SLVERR if region.space is Space.GM else kind
        bench.hit(batch, slot, region.space, region.base & ~31, kind=kind)
    bench.write(batch)
    text = bench.details[0].text
    assert text.startswith(f"MISMATCH: retired with status 1 RULE, {words}, expected ")


def test_bytes_that_never_come_are_counted_against_their_op_alone(bench: Bench) -> None:
    batch = bench.batch([TO_L1, replace(TO_L1, l1_dst=8192)])
    (records,) = batch.done.values()
    records["written_bytes"] -= 10
    bench.bytes[SLOTS.index("mte2")] -= 10
    checked = bench.write(batch)
    assert checked.passed.tolist() == [False, True]
    failure = bench.only()
    assert failure.kind == "missing"
    assert "never wrote 10 bytes" in failure.text


@pytest.mark.long
def test_an_illegal_op_that_went_through_names_its_rule(bench: Bench) -> None:
    blocks = IllegalGenerator(1, ("mte_gm_ub",)).blocks(40)
    block, broken = next((block, count) for block in blocks if (count := broken_rules(block)))
    batch = bench.batch(block)
    for records in batch.done.values():
        records["status"], records["rule"] = int(Status.OK), 0
    bench.write(batch)
    assert len(bench.details) == broken
    for failure in bench.details:
        assert (failure.kind, failure.field) == ("status", "OK not RULE")
        assert failure.rule.startswith("DMA-L")
        assert failure.rule in failure.text


def test_a_missing_rule_comes_before_its_consequences(bench: Bench) -> None:
    """An engine of mte2 executes a row after the end of L1, and others retire late."""
    behind = MteGmL1(0, 524256, 64, 1, 64, 64)
    batch = bench.batch(from_ops([BIAS, TO_L1, behind], expected_rule=[0, 0, 12]))
    record = batch.done[SLOTS.index("mte2")][1]
    record["status"], record["rule"] = int(Status.LOCAL), 0
    batch.done[SLOTS.index("mte1")]["written_bytes"] -= 1
    said = "mte2: DST-OUTSIDE: write outside of the memory (0x3, 0x80000) at 9005 ns, cycle 900"
    bench.mailbox.poll_errors = [said].copy
    bench.hit(batch, "mte2", Space.L1, 0x80000, side=WRITE, cycle=900)
    bench.corrupt(Space.L1, 4096 + 60)
    checked = bench.write(batch)
    assert checked.passed.tolist() == [False, False, False]
    kinds = [failure.kind for failure in bench.details]
    assert kinds == ["status", "protocol", "access", "early", "guard"]
    first = bench.details[0]
    assert (first.transaction, first.field, first.rule) == (2, "LOCAL not RULE", "DMA-L12")


def test_a_hang_names_the_oldest_op(bench: Bench) -> None:
    bench.hang([BIAS, TO_L1], 700)
    failure = bench.only()
    assert (failure.kind, failure.slot, failure.op) == ("hang", "mte1", "mte_l1_bt")
    assert (failure.begin_clock, failure.end_clock) == (1300, 2000)


def test_a_hang_says_how_much_moved_and_what_gives_more_time(bench: Bench) -> None:
    bench.mailbox.moves_on, bench.mailbox.moved_bytes = True, lambda slot: 4096 + slot
    text = bench.hang([TO_L1], 700)
    assert says(text, f"no descriptor {700} clocks while beats granted")
    assert says(text, "moved since: mte2 4097 bytes WATCHDOG= watchdog_clocks manifest")
    assert f"nothing retired for {700} clocks" in bench.run.abort_message


def test_a_legacy_form_is_named_and_grouped_with_its_op(bench: Bench) -> None:
    blocks = IllegalGenerator(3, ("copy_ubuf_to_gm",)).blocks(200)
    block = next(block for block in blocks if 0 in block.legacy)
    batch = bench.batch(block)
    for records in batch.done.values():
        records["tag"][0] = 99
    bench.write(batch)
    failure = bench.details[0]
    assert failure.op == "copy_ubuf_to_gm"
    assert signature_of(failure).op == "mte_ub_gm"


def test_a_checkers_message_has_slot_rule_and_clock() -> None:
    text = "mte2: AR-4K: the burst crosses 4 KiB (ARADDR, ARLEN) (0xff, 0x3a) at 295 ns, cycle 29"
    failure = protocol_failure(text, f"protocol: {text}")
    assert (failure.kind, failure.slot, failure.rule) == ("protocol", "mte2", "AR-4K")
    assert (failure.begin_clock, failure.end_clock) == (29, 29)
    other = protocol_failure("the backend is shut (0x1, 0x2) at 5 ns", "")
    assert (other.slot, other.rule, other.field) == ("", "", "the backend is shut")


def broken_rules(block: OpBlock) -> int:
    """Returns how many ops of a block are illegal."""
    assert block.expected_rule is not None
    return int((block.expected_rule > 0).sum())


def memories() -> tuple[GoldenMemory, GoldenMemory]:
    return GoldenMemory(noise), GoldenMemory(noise)


@pytest.mark.parametrize("row", [0, 3, 150, 299])
@pytest.mark.parametrize("byte", [0, 600, 1999])
def test_a_large_destination_is_shown_around_the_wrong_byte(row: int, byte: int) -> None:
    actual, golden = memories()
    region = Footprint(Space.GM, 1 << 33, 2000, (100, 3), (4096, 1 << 20))
    address = (1 << 33) + row % 100 * 4096 + row // 100 * (1 << 20) + byte
    for memory in (actual, golden):
        memory.ensure_footprint(region)
    actual[Space.GM][address] ^= 1
    picture = picture_rows(actual, golden, region, address)
    assert len(picture.rows) == MOST_ROWS
    assert {len(shown.expected) for shown in picture.rows} == {2 * MOST_BYTES}
    assert changed(Failure(kind="data", picture=picture)) == [address]
    assert "of 300 by address" in picture.left_out
    assert line_says(picture.left_out, "2000 each row")


def test_untouched_pages_are_not_read() -> None:
    actual, golden = memories()
    for memory in (actual, golden):
        memory.ensure(Space.GM, 1 << 20, 4096)
    picture = picture_lines(actual, golden, Footprint(Space.GM, 1 << 20, 9000, (), ()))
    assert [row.address for row in picture.rows] == [(1 << 20) + 32 * k for k in range(12)]
    assert says(picture.left_out, "4096-byte pages touched left out last wrong byte 8616 bytes")
    assert golden.touched_pages() == [256]


def test_the_ends_of_a_memory_bound_the_lines() -> None:
    actual, golden = memories()
    size = golden[Space.BT].size
    for address in (0, size - 1):
        actual[Space.BT][address] ^= 1
        picture = picture_lines(actual, golden, Footprint(Space.BT, address, 1, (), ()))
        assert len(picture.rows) == LINES
        assert changed(Failure(kind="stray", picture=picture)) == [address]
        actual[Space.BT][address] ^= 1


def test_a_store_is_drawn_in_gm(bench: Bench) -> None:
    bench.check([MteUbGm(0, 1 << 34, 40, 3, 96, 100)], (Space.GM, (1 << 34) + 105))
    failure = bench.only()
    assert (failure.space, changed(failure)) == ("gm", [(1 << 34) + 105])
    assert failure.address == (1 << 34) + 105


def test_a_check_that_gives_only_a_report_gets_a_failure_of_its_first_line() -> None:
    run = context(None, SimpleNamespace(cycles=4321))
    run.fail("MISMATCH: it took too long\n  repeat: make")
    (failure,) = run.counts.details
    assert (failure.kind, failure.field) == ("check", "it took too long")
    assert (failure.end_clock, failure.text) == (4321, run.counts.failures[0])


def test_as_many_failures_in_fields_are_kept_as_reports() -> None:
    run = context(None, SimpleNamespace(cycles=4321), mismatch_limit=2)
    for number in range(5):
        run.fail(f"report {number}")
    run.fail("stray", Failure(kind="stray", text="stray"), stray=True)
    run.protocol_failure("protocol", Failure(kind="protocol", text="protocol"))
    run.hang("it hangs", "HANG", Failure(kind="hang", text="HANG"))
    assert run.counts.failures == ["report 0", "report 1", "stray", "HANG"]
    assert [failure.text for failure in run.counts.details] == run.counts.failures
    assert run.abort_status == "fail"
    assert run.counts.past_limit == {"check of the test, report N": 3, "protocol": 1}
    assert run.counts.mismatches == 6


@pytest.mark.parametrize("ordered", [False, True])
def test_a_failure_of_ops_that_nothing_orders_says_so(bench: Bench, ordered: bool) -> None:
    """The second copy inside UB reads what the first wrote."""
    first, second = MteUbUb(0, 4096, 1, 4, 0, 0), MteUbUb(4096, 8192, 1, 4, 0, 0)
    block = from_ops([MteGmL1(0, 0, 64, 1, 64, 64), first, second])
    if ordered:
        block.after[2] = 1
    bench.check(block, (Space.UB0, 8192 + 40))
    failure = bench.only()
    assert (failure.kind == "stimulus") != ordered
    words = "UNORDERED transactions 2 and 1 share bytes MISMATCH wrong data"
    assert says(failure.text, words) != ordered


def test_an_op_that_reads_wrong_bytes_names_the_op_that_wrote_them(bench: Bench) -> None:
    """The last one of them, of this batch, and only for bytes that the op should have written."""
    ops: list[Op] = [MteGmUb(0, at, 64, 1, 64, 64) for at in (0, 64, 512)]
    ops += [MteUbUb(0, 4096, 1, 5, 0, 0), MteUbUb(4096, 8192, 1, 5, 0, 0)]
    block = from_ops(ops)
    block.after[3], block.after[4] = 1, 3
    for wrong, cause in (((8, 72), ["101"]), ((130,), [])):
        bench.details.clear()
        batch = bench.batch(block)
        batch.first = 100
        for address in (*wrong, 520, 4096 + 8, 8192 + 8):
            bench.corrupt(Space.UB0, address)
        bench.write(batch)
        found = {one.transaction: one.text for one in bench.details}
        fields = {one.transaction: one.cause for one in bench.details}
        causes = {at: re.findall(r"cause .* transaction (\d+)", found[at]) for at in found}
        assert causes.pop(100, []) == []
        assert causes == {101: [], 102: [], 103: cause, 104: ["103"]}
        assert {at: [str(one)] for at, one in fields.items() if one} == {
            at: one for at, one in causes.items() if one
        }


def test_an_op_that_reads_its_own_destination_is_not_its_cause(bench: Bench) -> None:
    bench.check([MteUbUb(0, 0, 1, 2, 0, 0)], (Space.UB0, 8))
    failure = bench.only()
    assert failure.kind == "data"
    assert "cause" not in failure.text


def test_ops_are_ordered_by_links_of_links_and_by_those_before_in_a_slot() -> None:
    chain: list[Op] = [MteGmUb(0, 0, 64, 1, 64, 64), MteGmUb(4096, 64, 64, 1, 64, 64)]
    chain += [MteUbUb(0, 4096, 1, 2, 0, 0), MteUbGm(4096, 1 << 20, 64, 1, 64, 64)]
    block = from_ops(chain)
    assert [unordered(block, at) for at in range(4)] == [2, None, 0, 2]
    block.after[2] = 1
    assert [unordered(block, at) for at in range(4)] == [None, None, 3, 2]
    block.after[3] = 2
    assert [unordered(block, at) for at in range(4)] == [None] * 4
    loads: list[Op] = [MteGmUb(0, 0, 64, 1, 64, 64), MteUbUb(4096, 8192, 1, 2, 0, 0)]
    block = from_ops([*loads, MteUbUb(0, 4096, 1, 2, 0, 0)])
    assert unordered(block, 2) == 0
    block.after[1] = 0  # What the op before in its slot waits for, it waits for.
    assert unordered(block, 2) == 1


def test_a_load_of_l0_names_operands_column_and_fractal(bench: Bench) -> None:
    f16 = Ptr("f16", "l1"), Ptr("f16", "l0b")
    load = LOAD_CLASSES["mte_l1_l0b"](4096, 0, 1, 2, 3, 4, 8, 5, 0, *f16)
    bench.check([load], (Space.L0, segment_base("l0b") + 2 * 5 * 512 + 512 + 3 * 32 + 7))
    text = bench.only().text
    named = ", ".join(f"{one.name} {getattr(load, one.name)}" for one in load.spec.operands[2:])
    assert named in " ".join(text.split())
    assert says(text, "where C0 column 2, fractal 1, row 3 of 16, byte 7 of 32")
    assert "source     L1 0x" in text


@pytest.mark.parametrize(
    ("resets", "words"),
    [
        ([], ""),
        ([40], "after 1 reset"),
        ([40, 90], "after 2 resets"),
        ([40, 5000], "after 1 reset"),
    ],
)
def test_a_failure_after_resets_says_that_the_op_alone_may_pass(
    bench: Bench, resets: list[int], words: str
) -> None:
    """The op retires in clock 1000; programs that replay it have no reset."""
    bench.run.resets += resets
    bench.check([TO_L1], (Space.L1, 4096 + 7))
    text = bench.only().text
    assert ("the op alone may pass" in text) == bool(words)
    last = max([at for at in resets if at < 1000], default=0)
    assert not words or line_says(text, f"{words} last at clock {last} op alone may pass")


def test_a_hang_after_resets_counts_them_all(bench: Bench) -> None:
    bench.run.resets += [40, 5000]
    assert "after 2 resets, the last at clock 5000" in bench.hang([BIAS], 777)


@pytest.mark.parametrize(
    ("earlier", "now", "words"),
    [
        ([], [], ""),
        ([("mte2", 500)], [], "after 1 error, the last at clock 500 by op 0"),
        ([("mte2", 500), ("mte2", 510)], [], "after 2 errors, the last at clock 510 by op 0"),
        ([("mte1", 500)], [], ""),  # another slot
        ([], [("mte2", 1001)], "after 1 error, the last at clock 1001 by op 7"),
        ([], [("mte2", 1002)], ""),  # the op had retired
        ([("mte2", 500)], [("mte2", 600)], "after 2 errors, the last at clock 600 by op 7"),
    ],
)
def test_a_failure_after_errors_of_its_slot_says_that_the_op_alone_may_pass(
    bench: Bench, earlier: list[tuple[str, int]], now: list[tuple[str, int]], words: str
) -> None:
    """Op 8 retires in clock 1001; the errors are of reads of op 7, beside it, and of op 0."""
    for first, load, hits in ((0, TO_L1, earlier), (7, TO_L1, now)):
        batch = bench.batch([load, replace(load, gm_src=65536, l1_dst=8192)])
        batch.first = first
        (records,) = batch.done.values()
        for slot, clock in hits:
            bench.hit(batch, slot, Space.GM, 992, kind=FaultKind.SLVERR, cycle=clock)
            if slot == "mte2":
                records["done_cycle"][0] = max(1000, clock)
                bench.failed(batch, slot, Status.RD_SLVERR, 992)
        if first:
            bench.corrupt(Space.L1, 8192 + 7)
        bench.write(batch)
    (text,) = [one.text for one in bench.details if one.transaction == 8]
    assert ("the op alone may pass" in text) == bool(words)
    assert not words or f"\n  {words}; the op alone may pass" in text


def test_the_errors_of_an_op_itself_are_in_its_replay(bench: Bench) -> None:
    batch = bench.batch([TO_L1])
    bench.hit(batch, "mte2", Space.GM, 992, kind=FaultKind.SLVERR)
    bench.write(batch)
    assert "the op alone may pass" not in bench.only().text


def test_a_hang_after_errors_counts_those_of_its_slot(bench: Bench) -> None:
    batch = bench.batch([TO_L1])
    for slot, clock in (("mte2", 300), ("mte2", 320), ("mte3", 330)):
        bench.hit(batch, slot, Space.GM, 0, kind=FaultKind.SLVERR, cycle=clock)
    bench.mailbox.watchdog_clocks = 777
    batch.hung, batch.done = True, {}
    bench.scoreboard.write(batch)
    words = "after 2 errors, the last at clock 320; the op alone may pass"
    assert words in bench.only().text


def test_old_errors_of_a_slot_are_counted() -> None:
    history, batch = ErrorHistory(), Bench().batch([TO_L1])
    batch.hits = np.zeros(MOST_ERRORS + 5, dtype=HIT)
    batch.hits["slot"] = SLOTS.index("mte2")
    history.add(batch, {})
    words = f"after {MOST_ERRORS + 5} errors, the last at clock 0"
    assert history.sentence(SLOTS.index("mte2"), None, 1) == words


FLIGHT = [replace(TO_L1, l1_dst=4096 + 512 * k) for k in range(6)]
ALL = "transaction 7 (mte_gm_l1), 8, 9, 10 and 2 more"


@pytest.mark.parametrize(
    ("clock", "ops", "words"),
    [
        (99, [], ""),
        (100, [0], "transaction 7 (mte_gm_l1)"),
        (101, [0, 1], "transaction 7 (mte_gm_l1), 8"),
        (105, list(range(6)), ALL),
        (1000, list(range(6)), ALL),
        (1001, list(range(1, 6)), "transaction 8 (mte_gm_l1), 9, 10, 11 and 1 more"),
        (1005, [5], "transaction 12 (mte_gm_l1)"),
        (1006, [], ""),
    ],
)
def test_ops_in_flight_at_the_clock_of_a_write_or_message_are_named(
    bench: Bench, clock: int, ops: list[int], words: str
) -> None:
    """Op k of six is accepted in clock 100 + k, and retires in clock 1000 + k."""
    batch = bench.batch([*FLIGHT, BIAS])
    batch.first = 7
    said = f"mte2: AR-4K: the burst crosses 4 KiB (ARADDR) (0xff) at 295 ns, cycle {clock}"
    bench.mailbox.poll_errors = [said].copy
    bench.write(batch)
    bench.mailbox.poll_errors = list
    bench.corrupt(Space.L1, 70_000)
    writer = SimpleNamespace(cycle=clock, slot=SLOTS.index("mte2"))
    bench.memory.last_writer = lambda space, address: writer  # type: ignore[method-assign]
    bench.scoreboard.close()
    assert [failure.kind for failure in bench.details] == ["protocol", "stray"]
    for failure in bench.details:
        assert re.findall("in flight then: (.*)", failure.text) == ([words] if words else [])
    stray = bench.details[1]
    expected = (7 + ops[-1], "mte_gm_l1") if ops else (None, "")
    assert (stray.transaction, stray.op) == expected


@pytest.mark.parametrize(("clock", "words"), [(99, []), (100, ["transaction 1 (mte_gm_l1), 2"])])
def test_ops_that_a_reset_cut_off_were_in_flight(
    bench: Bench, clock: int, words: list[str]
) -> None:
    batch = bench.batch(FLIGHT)
    bench.cut(batch, "mte2", retired=1, reached=3)
    batch.done[SLOTS.index("mte2")]["done_cycle"] = 99
    said = f"mte2: AR-4K: the burst crosses 4 KiB (ARADDR) (0xff) at 295 ns, cycle {clock}"
    bench.mailbox.poll_errors = [said].copy
    bench.write(batch)
    assert re.findall("in flight then: (.*)", bench.details[0].text) == words


def test_a_write_beside_an_op_names_the_ops_of_its_slot(bench: Bench) -> None:
    for clock, words in ((500, ["transaction 0 (mte_gm_l1), 1"]), (1001, [])):
        bench.details.clear()
        writer = SimpleNamespace(cycle=clock, slot=SLOTS.index("mte2"))
        bench.memory.last_writer = lambda *_, it=writer: it  # type: ignore[method-assign]
        bench.check(FLIGHT[:2], (Space.L1, 4096 + 512 + 3 * 96 + 53))
        (failure,) = bench.details
        assert (failure.kind, failure.transaction) == ("guard", 1)
        assert re.findall("in flight then: (.*)", failure.text) == words


@pytest.mark.parametrize(("held", "words"), [(0, []), (2, ["transaction 0 (mte_gm_l1), 1"])])
def test_ops_that_hang_were_in_flight(bench: Bench, held: int, words: list[str]) -> None:
    said = "mte2: AR-4K: the burst crosses 4 KiB (ARADDR) (0xff) at 295 ns, cycle 29"
    bench.mailbox.poll_errors = [said].copy
    bench.mailbox.watchdog_clocks = 777
    bench.mailbox.state = lambda slot: SimpleNamespace(held=held, oldest=5)
    batch = bench.batch(FLIGHT)
    batch.hung, batch.done = True, {}
    bench.scoreboard.write(batch)
    assert re.findall("in flight then: (.*)", bench.details[0].text) == words


@pytest.mark.long
@pytest.mark.parametrize("generator", [TrafficGenerator, IllegalGenerator])
def test_no_op_of_the_generators_is_unordered(
    generator: type[TrafficGenerator | IllegalGenerator],
) -> None:
    blocks = list(generator(8).blocks(300))
    assert any((block.after >= 0).any() for block in blocks)
    assert not [
        at for block in blocks for at in range(len(block)) if unordered(block, at) is not None
    ]
