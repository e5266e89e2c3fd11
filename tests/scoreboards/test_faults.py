# SPDX-License-Identifier: Apache-2.0
"""Errors of memories: their ops, the status of these, and the state after a reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scoreboards.faults import (
    READS,
    WRITES,
    Attribution,
    BadAccess,
    Fault,
    FaultKind,
    Flight,
    OpErrors,
    Widths,
    accesses,
)
from scoreboards.model.outcome import Outcome
from tb.dut.manifest import Capabilities
from tb.harness.items import Batch
from tb.harness.layout import HIT, LATE_BURST, NO_FAULT, READ, WRITE
from tb.isa.burst.op import MteUbUb
from tb.isa.dma.op import MteGmL1, MteL1Ub
from tb.isa.footprint import Footprint
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space
from tb.isa.status import Status
from tests.scoreboards.bench import Bench
from tests.wording import line_says

MTE2 = SLOTS.index("mte2")
LOAD = MteGmL1(1001, 4096, 50, 4, 60, 96)  # GM 1001, rows of 50 bytes, 60 apart; L1 4096, 96 apart
NEXT = MteGmL1(65536, 8192, 64, 4, 64, 64)
SAME = MteGmL1(1001, 16384, 50, 4, 60, 96)
WIDTHS = Widths(dict.fromkeys(Space, 32))


def bad(cycle: int, address: int = 0, **changes: Any) -> BadAccess:
    """Returns an error of a GM read."""
    fields: dict[str, Any] = {
        "cycle": cycle, "slot": MTE2, "space": Space.GM, "address": address, "side": READ,
        "kind": FaultKind.SLVERR, "bus_bytes": 32,
    }  # fmt: skip
    return BadAccess(**{**fields, **changes})


def failures(bench: Bench, batch: Batch) -> list[str]:
    """Sends a batch to the scoreboard and returns the first lines of its reports."""
    bench.write(batch)
    return [report.splitlines()[0] for report in bench.failures]


# --- answers after the done ---


def owing(
    bench: Bench,
    ops: list[Op],
    address: int,
    *,
    side: int = READ,
    space: Space = Space.GM,
    accepted: int = 2,
    slot: int = MTE2,
) -> list[str]:
    """Sends ops of which ``accepted`` are in flight at the first done, which owes one answer."""
    batch = bench.batch(ops)
    records = batch.done[slot]
    records["done_cycle"] = 100 + np.arange(len(ops))
    records["accept_cycle"] = [1] * accepted + [101] * (len(ops) - accepted)
    access = {READ: 0, WRITE: 1} if space is Space.GM else {READ: 2, WRITE: 3}
    records["owed"][0, access[side]] = 1 << 63 | int(space) << 56 | address
    return failures(bench, batch)


@pytest.mark.parametrize("address", [992, 1024 + 192, 992 + 224])
def test_a_done_before_the_answer_to_its_read_is_early(bench: Bench, address: int) -> None:
    (report,) = owing(bench, [LOAD, NEXT], address)
    assert line_says(report, f"done came before the answer to its read of gm {address:#x}")


@pytest.mark.parametrize("address", [960, 1024 + 224])
def test_a_read_outside_of_its_rows_is_not_its_own(bench: Bench, address: int) -> None:
    assert not owing(bench, [LOAD, NEXT], address)


def test_a_read_of_a_younger_op_is_not_early(bench: Bench) -> None:
    assert not owing(bench, [LOAD, SAME], 1024)
    assert owing(bench, [LOAD, NEXT, SAME], 1024), "the third was not accepted then"


def test_a_read_of_the_third_op_is_not_early(bench: Bench) -> None:
    assert not owing(bench, [LOAD, NEXT, SAME], 1024, accepted=3)


def test_an_op_that_is_alone_is_left_to_the_port_checker(bench: Bench) -> None:
    assert not owing(bench, [LOAD, NEXT], 1024, accepted=1)


def test_a_done_before_its_write_is_early(bench: Bench) -> None:
    (report,) = owing(bench, [LOAD, NEXT], 4096 + 96, side=WRITE, space=Space.L1)
    assert line_says(report, "done came before the answer to its write of l1 0x1060")
    assert not owing(Bench(), [LOAD, NEXT], 8192, side=WRITE, space=Space.L1)


# --- windows and words ---


def test_a_window_grows_to_whole_granules() -> None:
    fault = Fault(Space.GM, 0x1047, FaultKind.SLVERR, length=0x20)
    assert (fault.start, fault.size) == (0x1040, 0x40)
    assert Fault(Space.L1, 31, FaultKind.LOCAL).size == 32
    assert Fault(Space.L1, 31, FaultKind.LOCAL, sides=READS).sides != WRITES


@pytest.mark.parametrize(
    ("kind", "side", "space", "status"),
    [
        (FaultKind.SLVERR, READ, Space.GM, Status.RD_SLVERR),
        (FaultKind.DECERR, READ, Space.GM, Status.RD_DECERR),
        (FaultKind.SLVERR, WRITE, Space.GM, Status.WR_SLVERR),
        (FaultKind.DECERR, WRITE, Space.GM, Status.WR_DECERR),
        (FaultKind.LOCAL, READ, Space.L1, Status.LOCAL),
        (FaultKind.LOCAL, WRITE, Space.UB1, Status.LOCAL),
    ],
)
def test_status_of_an_error(kind: FaultKind, side: int, space: Space, status: Status) -> None:
    error = bad(5, 0x2040, kind=kind, side=side, space=space)
    assert error.status is status
    assert error.explains(0x2040)
    assert error.explains(0x205F)
    assert not error.explains(0x1FFF)
    burst = space is Space.GM and side == WRITE
    for address in (0x2060, 0x203F, 0x2020, 0x2000):  # any address of the burst
        assert error.explains(address) is burst
    assert error.explains(0x2FFF) is burst
    assert not error.explains(0x3000)
    assert "0x2040" in str(error)


def test_the_beats_of_a_burst_share_its_response() -> None:
    hits = np.zeros(3, dtype=HIT)
    hits["cycle"], hits["addr"] = [9, 9, 7], [0x40, 0x60, 0x20]
    hits["side"], hits["kind"], hits["slot"] = WRITE, [0, 1, 0], MTE2
    found = accesses(hits, MTE2, WIDTHS)
    assert [(error.cycle, error.address) for error in found] == [(7, 0x20), (9, 0x40), (9, 0x60)]
    burst = OpErrors(found[1:])
    assert burst.objection(Status.WR_SLVERR, 0x40) is None
    assert burst.objection(Status.WR_DECERR, 0x40) is None
    assert burst.objection(Status.RD_DECERR, 0x40) is not None
    assert accesses(hits, 0, WIDTHS) == []


# --- the first error ---


def test_the_first_error_counts_in_time() -> None:
    verdict = OpErrors([bad(10, 0x100), bad(11, 0x200, kind=FaultKind.DECERR)])
    assert verdict.objection(Status.RD_SLVERR, 0x100) is None
    assert "expected 2 RD_SLVERR" in str(verdict.objection(Status.RD_DECERR, 0x200))
    assert "retired with status 0 OK" in str(verdict.objection(Status.OK, 0))
    assert "reported address 0x200" in str(verdict.objection(Status.RD_SLVERR, 0x200))
    assert verdict.objection(Status.RD_SLVERR, 0x200, compare_address=False) is None


@pytest.mark.parametrize(("apart", "either"), [(0, True), (4, True), (5, False)])
def test_errors_of_two_channels_have_no_order_when_they_are_close(apart: int, either: bool) -> None:
    local = bad(10 + apart, 64, space=Space.L1, side=WRITE, kind=FaultKind.LOCAL)
    verdict = OpErrors([bad(10, 0x100), local])
    assert verdict.objection(Status.RD_SLVERR, 0x100) is None
    assert (verdict.objection(Status.LOCAL, 64) is None) is either


def test_an_error_of_one_of_two_ops_may_be_reported_by_either() -> None:
    verdict = OpErrors([bad(20, 0x100)], [bad(10, 0x200), bad(30, 0x300)])
    assert verdict.objection(Status.RD_SLVERR, 0x100) is None
    assert verdict.objection(Status.RD_SLVERR, 0x200) is None
    assert verdict.objection(Status.RD_SLVERR, 0x300) is not None
    assert not OpErrors([], [bad(1)]).failed(Status.OK)
    assert OpErrors([], [bad(1)]).failed(Status.RD_SLVERR)
    assert OpErrors([bad(1)]).failed(Status.OK)


# --- the op of an error ---


def flight(index: int, base: int, *, status: int | None = 0, accept: int = 0) -> Flight:
    read = Footprint(Space.GM, base, 50, (4,), (60,))
    written = Footprint(Space.L1, base, 50, (4,), (64,))
    return Flight(index, Outcome(Status.OK, read=read, written=written), accept, 100, status)


def test_an_error_outside_the_flight_or_the_rows_is_nobodys() -> None:
    attribution = Attribution([flight(3, 1001)], WIDTHS)
    good = bad(50, 992)
    wrong = [bad(101, 992), bad(50, 960), bad(50, 1248), bad(50, 992, side=WRITE)]
    attribution.take([good, *wrong])
    assert attribution.errors[3].sure == [good]
    assert attribution.strays == wrong


def test_a_shared_error_belongs_to_the_op_that_reports_it() -> None:
    error = bad(50, 992)
    one = Attribution([flight(0, 1001), flight(1, 1001, status=2)], WIDTHS)
    one.take([error])
    assert one.errors[0].maybe == one.errors[1].maybe == [error]
    assert not one.errors[0].failed(Status.OK)
    none = Attribution([flight(0, 1001), flight(1, 1001)], WIDTHS)
    none.take([error])
    assert none.errors[0].sure == [error]
    assert 1 not in none.errors


def test_a_burst_long_after_the_error_of_its_op_is_late() -> None:
    late = np.zeros(1, dtype=LATE_BURST)
    late["cycle"], late["addr"], late["beats"], late["slot"] = 67, 1056, 1, MTE2
    attribution = Attribution([flight(0, 1001, status=2)], WIDTHS)
    attribution.take([bad(50, 992)])
    ((index, why),) = attribution.late_bursts(late)
    assert index == 0
    assert "AR of GM 0x420 came 17 clocks later" in why
    late["cycle"] = 66
    assert attribution.late_bursts(late) == []
    late["cycle"], late["addr"] = 67, 4096
    assert attribution.late_bursts(late) == []  # another op's, which is checked by its data
    both = Attribution([flight(0, 1001, status=2), flight(1, 1001, accept=60)], WIDTHS)
    both.take([bad(50, 992)])
    late["addr"] = 1056
    assert both.late_bursts(late) == []


# --- through the scoreboard ---


def test_errors_are_checked_op_by_op(bench: Bench) -> None:
    batch = bench.batch([LOAD, NEXT])
    bench.hit(batch, "mte2", Space.GM, 1024, kind=FaultKind.SLVERR)
    bench.hit(batch, "mte2", Space.L1, 4096 + 96, side=WRITE, cycle=600)
    bench.hit(batch, "mte2", Space.GM, 65536, kind=FaultKind.DECERR, cycle=400)
    bench.failed(batch, "mte2", Status.RD_SLVERR, 1024)
    bench.failed(batch, "mte2", Status.RD_DECERR, 65536, position=1)
    bench.corrupt(Space.L1, 4096 + 3)
    batch.faults = (Fault(Space.GM, 1024, FaultKind.SLVERR),)
    assert failures(bench, batch) == []
    assert bench.run.counts.injected == {
        "faults": 1, "SLVERR of reads": 1, "DECERR of reads": 1, "local errors of writes": 1
    }  # fmt: skip


def faulty(bench: Bench, *ops: Op, **error: Any) -> Batch:
    """Runs a load whose read of GM 1024 fails; it retires with that error, or as stated."""
    batch = bench.batch([LOAD, *ops])
    details = {"kind": FaultKind.SLVERR, "status": Status.RD_SLVERR, **error}
    bench.hit(batch, "mte2", Space.GM, 1024, **details)
    return batch


@pytest.mark.parametrize(
    ("status", "address", "field", "message"),
    [
        (Status.OK, 0, "OK not RD_SLVERR", "retired with status 0 OK, expected 2 RD_SLVERR"),
        (Status.LOCAL, 4096 + 96, "LOCAL not RD_SLVERR", "status 6 LOCAL, expected 2 RD_SLVERR"),
        (Status.RD_SLVERR, 1056, "RD_SLVERR", "reported address 0x420 for its first error"),
    ],
)
def test_a_wrong_report_of_an_error_is_found(
    bench: Bench, status: Status, address: int, field: str, message: str
) -> None:
    batch = faulty(bench, NEXT)
    bench.hit(batch, "mte2", Space.L1, 4096 + 96, side=WRITE, cycle=600)
    bench.failed(batch, "mte2", status, address)
    (report,) = failures(bench, batch)
    assert message in report
    kind = "address" if status is Status.RD_SLVERR else "status"
    assert (bench.only().kind, bench.only().field) == (kind, field)
    assert bench.checked[-1].passed.tolist() == [False, True]


def declare(bench: Bench, **capabilities: Any) -> None:
    """Makes the manifest of mte2 say so."""
    config: Any = bench.run.config
    config.capabilities = {"mte2": Capabilities(ops=("mte_gm_l1",), **capabilities)}


def test_an_address_is_compared_where_the_manifest_declares_it(bench: Bench) -> None:
    declare(bench, error_address=False)
    batch = faulty(bench)
    bench.failed(batch, "mte2", Status.RD_SLVERR, 1056)
    assert failures(bench, batch) == []


def without_error(bench: Bench) -> Batch:
    batch = bench.batch([LOAD])
    bench.failed(batch, "mte2", Status.RD_SLVERR, 1024)
    return batch


def other_slot(bench: Bench) -> Batch:
    batch = bench.batch([LOAD])
    bench.hit(batch, "mte3", Space.GM, 1024, kind=FaultKind.SLVERR, side=WRITE)
    return batch


def full_log(bench: Bench) -> Batch:
    return replace(faulty(bench), hits_lost=3)


def not_injected(bench: Bench) -> Batch:
    batch = faulty(bench, kind=FaultKind.DECERR, status=None)
    batch.hits["fault"] = NO_FAULT
    return batch


def late_burst(bench: Bench) -> Batch:
    late = np.zeros(1, dtype=LATE_BURST)
    late["cycle"], late["addr"], late["beats"], late["slot"] = 600, 1088, 1, MTE2
    return replace(faulty(bench), late=late)


def flags_due(bench: Bench) -> Batch:
    return replace(bench.batch([LOAD]), flags_due=2)


def far_away(bench: Bench) -> Batch:
    batch = bench.batch([LOAD])
    bench.hit(batch, "mte2", Space.GM, 1 << 30, kind=FaultKind.SLVERR)
    return batch


@pytest.mark.parametrize(
    ("made", "kind", "slot", "field", "words"),
    [
        (without_error, "status", "mte2", "RD_SLVERR not OK", "2 RD_SLVERR expected 0 OK"),
        (other_slot, "access", "mte3", "write of gm", "no op flight mte3 access write GM 0x400"),
        (far_away, "access", "mte2", "read of gm", "no op flight mte2 access read GM 0x40000000"),
        (full_log, "stimulus", "", "log of errors", "3 erroneous responses not fit log"),
        (not_injected, "status", "mte2", "OK not RD_DECERR", "expected 3 RD_DECERR"),
        (late_burst, "late burst", "mte2", "", "started burst after error"),
        (flags_due, "flags", "", "not set", "unit flags not set all ops retired 2"),
    ],
)
def test_an_error_that_does_not_fit_is_found(
    bench: Bench, made: Callable[[Bench], Batch], kind: str, slot: str, field: str, words: str
) -> None:
    (report,) = failures(bench, made(bench))
    assert line_says(report, words)
    failure = bench.only()
    assert (failure.kind, failure.slot, failure.field) == (kind, slot, field)


def test_bursts_after_an_error_may_be_declared(bench: Bench) -> None:
    declare(bench, stops_after_error=False)
    assert failures(bench, late_burst(bench)) == []


@pytest.mark.parametrize(("address", "read_bytes"), [(1248, 64), (928, 128), (1280, 512)])
def test_reads_around_a_row_may_be_declared(bench: Bench, address: int, read_bytes: int) -> None:
    batch = bench.batch([LOAD])
    bench.hit(batch, "mte2", Space.GM, address, kind=FaultKind.SLVERR)
    bench.failed(batch, "mte2", Status.RD_SLVERR, address)
    declare(bench, read_bytes=read_bytes)
    assert failures(bench, batch) == []
    declare(bench, read_bytes=read_bytes // 2)
    assert line_says(failures(bench, batch)[0], "no op flight mte2 access read GM")


def test_an_error_of_two_loads_of_one_place(bench: Bench) -> None:
    for position in (0, 1):
        batch = faulty(bench, SAME, status=None)
        bench.failed(batch, "mte2", Status.RD_SLVERR, 1024, position=position)
        assert failures(bench, batch) == []
    (report,) = failures(bench, faulty(bench, SAME, status=None))
    assert "retired with status 0 OK" in report


def test_readers_of_an_undefined_destination_are_compared_with_it(bench: Bench) -> None:
    batch = faulty(bench, MteL1Ub(4096, 1024, 32, 1, 0, 0))
    for space, at in ((Space.L1, 4096 + 3), (Space.UB0, 1024 + 3)):
        bench.corrupt(space, at)
    assert failures(bench, batch) == []
    bench.corrupt(Space.UB0, 1024 + 4)
    bench.scoreboard.close()
    assert len(bench.failures) == 1


# --- resets ---

COPIES = [MteUbUb(4096 * k, 131072 + 4096 * k, 2, 4, 1, 2) for k in range(4)]


def cut_batch(bench: Bench) -> Batch:
    """Four copies: one retired, two begun, one never offered, its bytes not written."""
    content = bench.memory[Space.UB0]
    before = content.copy()
    batch = bench.batch(COPIES)
    for copy in (1, 2, 3):
        low = 131072 + 4096 * copy
        content[low : low + 4096] = before[low : low + 4096]
    bench.cut(batch, "mte3", retired=1, reached=3)
    return batch


def test_a_reset_drops_ops_that_have_not_begun(bench: Bench) -> None:
    batch = cut_batch(bench)
    bench.corrupt(Space.UB0, 131072 + 4096 + 7)  # in flight: anything
    assert failures(bench, batch) == []
    assert bench.checked[-1].passed.tolist() == [True, False, False, False]
    assert bench.run.counts.transactions == bench.run.counts.statuses["OK"] == 1
    (count,) = bench.run.counts.ops.values()
    assert (count.sent, count.unchecked, count.passed) == (3, 2, 1), "the fourth was not offered"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (131072 + 4096 + 64, "write outside"),  # between the bursts of a copy in flight
        (131072 + 4096 * 3 + 1, "wrong data"),  # of a copy that was not begun
        (131072 + 3, "wrong data"),  # of the one that had retired
        (200_000, "stray write"),
    ],
)
def test_a_byte_outside_of_the_ops_in_flight_is_found(
    bench: Bench, address: int, message: str
) -> None:
    batch = cut_batch(bench)
    bench.corrupt(Space.UB0, address)
    found = failures(bench, batch)
    assert found
    assert message in found[0]


def test_the_next_block_starts_from_the_memories_after_a_reset(bench: Bench) -> None:
    bench.write(cut_batch(bench))
    bench.bytes[SLOTS.index("mte3")] = 10_000
    batch = bench.batch(COPIES)
    assert failures(bench, batch) == []


def test_errors_before_a_reset_belong_to_ops_in_flight(bench: Bench) -> None:
    batch = cut_batch(bench)
    bench.hit(batch, "mte3", Space.UB0, 4096)
    bench.hit(batch, "mte3", Space.UB0, 4096 * 2)
    assert failures(bench, batch) == []
    batch = cut_batch(bench)
    bench.hit(batch, "mte3", Space.UB0, 4096 * 3)
    assert line_says(failures(bench, batch)[0], "no op flight mte3")
