# SPDX-License-Identifier: Apache-2.0
"""Every check can fail: one byte is corrupted and must be found, at its place."""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.compare import compare_op, equal_spaces, locate
from scoreboards.mismatch import Kind, Part, Position
from scoreboards.model.dma import DmaOp
from scoreboards.model.outcome import NOTHING
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tests.scoreboards.bench import noise
from tests.scoreboards.conftest import Pair, only

LINEAR = MteUbGm(0, 10000, 2048, 1, 0, 0)
ROWS = MteUbGm(0, 10000, 100, 5, 128, 173)
FAR = MteUbGm(0, 10000, 100, 3, 128, 100000, (Loop(2, 512, 2**38 + 9), Loop(2, 1024, 5000)))
LOAD = MteGmUb(777, 2048, 96, 4, 200, 160, (Loop(2, 1000, 1024), Loop(3, 2000, 32768)))
PADDED = MteGmUb(777, 2048, 90, 4, 200, 160, (Loop(3, 1000, 1024),), Pad("i8", 0x5A, 7, 0))
LOW = MteUbGm(0, 5, 64, 3, 64, 100000)
HIGH = MteUbGm(0, 2**40 - 300064, 64, 4, 64, 100000)
UB_ENDS = MteGmUb(0, 0, 32, 2, 32, 262144 - 32)
OPS: list[DmaOp] = [LINEAR, ROWS, FAR, LOAD, PADDED, LOW, HIGH, UB_ENDS]


@pytest.mark.parametrize("op", OPS)
def test_equal_memories_give_nothing(pair: Pair, op: DmaOp) -> None:
    pair.run(op)
    assert pair.op() == ()
    assert pair.full() == ()


@pytest.mark.parametrize("op", OPS)
def test_each_corrupted_byte_is_found_at_its_address(pair: Pair, op: DmaOp) -> None:
    written = pair.run(op).written
    assert written is not None
    space, rng = written.space, np.random.default_rng(3)
    starts = written.row_starts()
    size = pair.golden[space].size
    offsets = [-64, -1, 0, 1, written.length - 1, written.length, written.length + 63]
    offsets += rng.integers(-64, written.length + 64, 10).tolist()
    for start in map(int, starts):
        for offset in offsets:
            address = start + offset
            if not 0 <= address < size:
                continue
            pair.corrupt(space, address)
            mismatch = only(pair.op())
            data = any(0 <= address - int(s) < written.length for s in starts)
            assert (mismatch.kind is Kind.DATA) == data
            assert (mismatch.space, mismatch.address) == (space, address)
            assert (mismatch.count, mismatch.extent, mismatch.lane) == (1, 1, address % 32)
            at = address - mismatch.window
            assert mismatch.actual[at] == mismatch.expected[at] ^ 0x10
            assert mismatch.expected[at] == pair.golden[space][address]
            pair.corrupt(space, address)
    assert pair.op() == ()


def test_bytes_beyond_the_guard_are_left_to_the_full_compare(pair: Pair) -> None:
    pair.run(FAR)
    pair.corrupt(Space.GM, 10000 - 65, 10000 + 100 + 64)
    assert pair.op() == ()
    stray = pair.full()
    assert [(m.kind, m.address) for m in stray] == [
        (Kind.STRAY, 10000 - 65),
        (Kind.STRAY, 10000 + 164),
    ]


def test_data_and_guard_are_counted_separately(pair: Pair) -> None:
    pair.run(ROWS)
    pair.corrupt(Space.GM, 9990, 10003, 10050, 10100, 10173 + 99)
    data, guard = pair.op()
    assert (data.kind, data.address, data.count) == (Kind.DATA, 10003, 3)
    assert data.extent == 10173 + 99 - 10003 + 1
    assert (guard.kind, guard.address, guard.count) == (Kind.GUARD, 9990, 2)
    assert guard.position is not None
    assert guard.position.part is Part.BEFORE


@pytest.mark.parametrize(
    ("outer", "inner", "row", "byte"), [(0, 0, 0, 0), (2, 0, 3, 95), (1, 1, 2, 41), (0, 1, 0, 7)]
)
def test_position_in_loops(pair: Pair, outer: int, inner: int, row: int, byte: int) -> None:
    pair.run(LOAD)
    address = 2048 + 32768 * outer + 1024 * inner + 160 * row + byte
    pair.corrupt(Space.UB0, address)
    source = 777 + 2000 * outer + 1000 * inner + 200 * row + byte
    assert only(pair.op()).position == Position(
        (outer, inner), (3, 2), row, 4, byte, 96, Part.DATA, (Space.GM, source)
    )
    assert noise(Space.GM, source, 1)[0] == pair.golden[Space.UB0][address]


@pytest.mark.parametrize(
    ("byte", "part"),
    [
        (-1, Part.BEFORE),
        (0, Part.LEFT_PAD),
        (6, Part.LEFT_PAD),
        (7, Part.DATA),
        (96, Part.DATA),
        (97, Part.RIGHT_PAD),
        (159, Part.RIGHT_PAD),
        (160, Part.BEHIND),
        (223, Part.BEHIND),
    ],
)
def test_part_of_a_padded_row(pair: Pair, byte: int, part: Part) -> None:
    pair.run(PADDED)
    row = 0 if part is Part.BEFORE else 3
    pair.corrupt(Space.UB0, 2048 + 1024 + 160 * row + byte)
    mismatch = only(pair.op())
    position = mismatch.position
    assert position is not None
    assert (position.loops, position.row, position.byte) == ((1,), row, byte)
    assert position.part is part
    inside = part in (Part.LEFT_PAD, Part.DATA, Part.RIGHT_PAD)
    assert mismatch.kind is (Kind.DATA if inside else Kind.GUARD)
    source = (Space.GM, 777 + 1000 + 200 * 3 + byte - 7)
    assert position.source == (source if part is Part.DATA else None)


def test_lane_follows_the_bus(pair: Pair) -> None:
    pair.run(LINEAR)
    pair.corrupt(Space.GM, 10047)
    for bus in (16, 32, 64):
        mismatch = only(pair.op(bus_bytes=bus))
        assert (mismatch.lane, mismatch.bus_bytes) == (10047 % bus, bus)


def test_destinations_in_flight_are_no_guard(pair: Pair) -> None:
    pair.run(ROWS)
    later = Footprint(Space.GM, 10105, 20, (3,), (173,))
    pair.corrupt(Space.GM, 10105, 10124)
    assert len(pair.op()) == 1
    assert pair.op(in_flight=[later]) == ()
    elsewhere = Footprint(Space.UB0, 10105, 20, (3,), (173,))
    assert only(pair.op(in_flight=[elsewhere])).count == 2
    pair.corrupt(Space.GM, 10125)
    assert only(pair.op(in_flight=[later])).address == 10125
    # Data of the op itself are always compared.
    pair.corrupt(Space.GM, 10000)
    everything = Footprint(Space.GM, 0, 20000, (1,), (0,))
    assert only(pair.op(in_flight=[everything])).address == 10000


def test_nothing_written_compares_nothing(pair: Pair) -> None:
    pair.corrupt(Space.UB0, 0)
    assert compare_op(pair.actual, pair.golden, NOTHING) == ()
    assert locate(NOTHING, 0) is None


def test_lost_op_is_found(pair: Pair) -> None:
    pair.outcome = pair.model.execute(ROWS)
    data = only(pair.op())
    assert (data.kind, data.address) == (Kind.DATA, 10000)
    assert data.count > 450


@pytest.mark.parametrize("space", [Space.UB0, Space.UB1, Space.L1, Space.L0C, Space.BT, Space.FB])
def test_full_compare_covers_every_local_byte(pair: Pair, space: Space) -> None:
    pair.run(LINEAR)
    last = pair.golden[space].size - 1
    for address in (0, 2049, last):
        pair.corrupt(space, address)
        mismatch = only(pair.full())
        assert (mismatch.kind, mismatch.space) == (Kind.STRAY, space)
        assert (mismatch.address, mismatch.count, mismatch.extent) == (address, 1, 1)
        assert len(mismatch.expected) == len(mismatch.actual) <= 32
        pair.corrupt(space, address)
    assert pair.full() == ()


def test_unexpected_page_with_wrong_bytes(pair: Pair) -> None:
    pair.run(LINEAR)
    address = 2**39 + 12345
    pair.corrupt(Space.GM, address)
    mismatch = only(pair.full())
    assert (mismatch.kind, mismatch.address, mismatch.count) == (Kind.PAGE, address, 1)
    assert mismatch.extent == 4096


def test_unexpected_page_is_an_error_even_with_the_right_bytes(pair: Pair) -> None:
    pair.run(LINEAR)
    for page in (500, 501, 900):
        pair.corrupt(Space.GM, page << 12)
        pair.corrupt(Space.GM, page << 12)
    pages = pair.full()
    assert [(m.kind, m.address, m.count, m.extent) for m in pages] == [
        (Kind.PAGE, 500 << 12, 0, 8192),
        (Kind.PAGE, 900 << 12, 0, 4096),
    ]


def test_page_next_to_an_expected_one(pair: Pair) -> None:
    pair.run(LINEAR)  # pages 2 only: 10000..12047
    pair.corrupt(Space.GM, 12288)
    mismatch = only(pair.full())
    assert (mismatch.kind, mismatch.address) == (Kind.PAGE, 12288)


def test_lost_page_is_found_by_the_full_compare(pair: Pair) -> None:
    pair.model.execute(MteUbGm(0, 2**33, 4000, 1, 0, 0))
    wrong = pair.full()
    assert wrong[0].kind is Kind.STRAY
    assert wrong[0].address >= 2**33
    assert sum(m.count for m in wrong) > 3900


def test_source_page_written_by_the_design(pair: Pair) -> None:
    pair.run(LOAD)  # reads GM 777.., writes none
    pair.corrupt(Space.GM, 800)
    assert only(pair.full()).kind is Kind.PAGE


def test_close_bytes_are_one_range_and_far_ones_several(pair: Pair) -> None:
    pair.corrupt(Space.L1, 100, 101, 133, 166, 5000)
    found = pair.full()
    assert [(m.address, m.count, m.extent) for m in found] == [
        (100, 3, 34),
        (166, 1, 1),
        (5000, 1, 1),
    ]


def test_window_ends_at_the_memory(pair: Pair) -> None:
    pair.corrupt(Space.BT, 2, 4095)
    first, last = pair.full()
    assert (first.window, len(first.expected)) == (0, 32)
    assert (last.window, len(last.expected)) == (4080, 16)


@pytest.mark.parametrize(
    ("regions", "wrong", "found"), [(16, (), True), (16, (200000,), False), (15, (), False)]
)
def test_a_memory_with_many_regions_is_compared_whole(
    pair: Pair, regions: int, wrong: tuple[int, ...], found: bool
) -> None:
    pair.corrupt(Space.UB0, *wrong)
    written = [Footprint(space, 0, 32, (1,), (0,)) for space in (Space.UB0, Space.GM)] * regions
    assert equal_spaces(pair.actual, pair.golden, written) == ({Space.UB0} if found else set())
