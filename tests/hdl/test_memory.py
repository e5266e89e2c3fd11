# SPDX-License-Identifier: Apache-2.0
"""The C memory and the mailbox without a simulator: backends called by ctypes.

Each test has its own copy of the library (conftest.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb.common.paths import ROOT
from tb.harness.layout import (
    CHANNELS,
    DESC_WORDS,
    FAULT,
    HITS,
    KNOBS,
    LAYOUTS,
    NO_FAULT,
    RING,
    MailboxError,
    check_layout,
)
from tb.harness.mailbox import FaultWindow
from tb.harness.mailbox_reader import MAILBOX_ENV, MailboxReader
from tb.harness.memory import FORGET, PAGE, load_library
from tb.isa.spaces import SEGMENTS, SIZES, Space
from tests.hdl.backends import SLOT, Backends, random_bytes
from tests.wording import line_says, pattern

SLVERR, DECERR = 2, 3
TICK_WAKE, TICK_KNOBS = 16, 32

ON_CHIP = [space for space in Space if space is not Space.GM]


# --- layout -----------------------------------------------------------------------------------


@pytest.mark.long
def test_c_and_numpy_have_the_same_layout(backends: Backends) -> None:
    check_layout(backends.library)


@pytest.mark.long
def test_a_difference_is_named(backends: Backends, monkeypatch: pytest.MonkeyPatch) -> None:
    other = np.dtype([*FAULT.descr[:-1], ("settings", "<u4")])
    monkeypatch.setitem(LAYOUTS, "pto_fault", other)
    with pytest.raises(MailboxError, match=r"differ in pto_fault\.sets, pto_fault\.settings"):
        check_layout(backends.library)


def test_another_library_is_refused() -> None:
    with pytest.raises(AttributeError, match=pattern("no pto_mailbox link simulator -rdynamic")):
        load_library(None)


# --- background -------------------------------------------------------------------------------


@pytest.mark.parametrize("space", list(Space))
def test_a_touched_page_has_the_background(backends: Backends, space: Space) -> None:
    memory = backends.memory
    memory.set_background_seed(5)
    start = 0 if SIZES[space] == PAGE else SIZES[space] - 2 * PAGE
    length = SIZES[space] - start
    memory.ensure(space, start, length)
    expected = memory.background(space, start, length)
    assert (memory.view(space)[start : start + length] == expected).all()
    assert len(np.unique(expected)) == 256


def test_background_does_not_depend_on_the_ranges_read(backends: Backends) -> None:
    whole = backends.memory.background(Space.GM, 0x12_3456_7000, 9000)
    for start, length in ((0, 1), (1, 1), (3, 4), (5, 11), (7, 9), (4090, 12), (8, 8), (17, 8900)):
        part = backends.memory.background(Space.GM, 0x12_3456_7000 + start, length)
        assert (part == whole[start : start + length]).all()


def test_background_depends_on_seed_space_and_address(backends: Backends) -> None:
    memory = backends.memory
    pieces = []
    for seed in (0, 1, 2**64 - 1):
        memory.set_background_seed(seed)
        for space in (Space.GM, Space.UB0, Space.UB1):
            pieces += [memory.background(space, start, 64).tobytes() for start in (0, 0x1000)]
    assert len(set(pieces)) == len(pieces)


def test_a_constant_background(backends: Backends) -> None:
    memory = backends.memory
    memory.set_background(Space.GM, 0xA5)
    memory.set_background(Space.L1, 0)
    assert backends.gm_read(1 << 39)[1].tolist() == [0xA5] * 32
    assert not memory.view(Space.L1).any()
    assert memory.view(Space.UB0).any()
    with pytest.raises(ValueError, match="a byte is 0 to 255"):
        memory.set_background(Space.GM, 256)


def test_a_new_seed_resets_all_memories(backends: Backends) -> None:
    memory = backends.memory
    backends.aw(0x5000, 1)
    backends.w(random_bytes(32))
    backends.local_write(Space.UB1, 0x40, random_bytes(32))
    assert len(memory.dirty_gm_pages()) == 1
    memory.set_background_seed(99)
    assert len(memory.dirty_gm_pages()) == 0
    assert memory.last_writer(Space.GM, 0x5000) is None
    assert memory.last_writer(Space.UB1, 0x40) is None
    background = memory.background(Space.GM, 0x5000, 32)
    assert (backends.gm_read(0x5000)[1] == background).all()
    assert (memory.view(Space.UB1) == memory.background(Space.UB1, 0, SIZES[Space.UB1])).all()


def test_ensure_counts_new_pages_and_keeps_old_bytes(backends: Backends) -> None:
    memory = backends.memory
    assert memory.ensure(Space.GM, 0xFFF, 2) == 2
    memory.view(Space.GM)[0xFFF] = 1
    assert memory.ensure(Space.GM, 0, 3 * PAGE) == 1
    assert memory.view(Space.GM)[0xFFF] == 1
    assert memory.ensure(Space.GM, 5, 0) == 0
    assert memory.ensure(Space.UB0, 0, PAGE) == 0


@pytest.mark.parametrize(("start", "length"), [(-1, 2), (SIZES[Space.GM] - 1, 2), (0, -1)])
def test_ranges_are_checked(backends: Backends, start: int, length: int) -> None:
    for call in (backends.memory.ensure, backends.memory.background):
        with pytest.raises(ValueError, match="leave GM"):
            call(Space.GM, start, length)


@pytest.mark.long
def test_scattered_pages_stay_cheap(backends: Backends) -> None:
    rng = np.random.default_rng(1)
    before = _resident_kib()
    for address in rng.integers(0, 1 << 40, 3000).tolist():
        backends.aw(address & ~31, 1)
        backends.w(random_bytes(32))
    # A page, its stamps, its states: 4, 4 and 4 KiB, where huge pages would be 2 MiB each.
    assert 3000 * 4 < _resident_kib() - before < 3000 * 30


def _resident_kib() -> int:
    """Returns the resident memory of this process."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, 32, 64])
def test_strobed_writes(backends: Backends, size: int) -> None:
    rng = np.random.default_rng(size)
    gm, ub = backends.memory.view(Space.GM), backends.memory.view(Space.UB0)
    base = 0x3_0000
    backends.memory.ensure(Space.GM, base, PAGE)
    copies = {Space.GM: gm[base : base + PAGE].copy(), Space.UB0: ub[base : base + PAGE].copy()}
    full = (1 << size) - 1
    for turn in range(300):
        data = random_bytes(size, turn)
        strobe = int.from_bytes(rng.bytes(8), "little") & full
        strobe = {0: full, 1: 0, 2: 1, 3: 1 << (size - 1)}.get(turn, strobe)
        offset = int(rng.integers(PAGE // size)) * size
        lanes = [lane for lane in range(size) if strobe >> lane & 1]
        backends.aw(base + offset, 1, size)
        assert backends.w(data, strobe) == 1
        assert backends.local_write(Space.UB0, base + offset, data, strobe) == 0
        for copy in copies.values():
            copy[offset : offset + size][lanes] = data[lanes]
        assert (
            backends.gm_read(base + offset, size)[1] == copies[Space.GM][offset : offset + size]
        ).all()
    assert (gm[base : base + PAGE] == copies[Space.GM]).all()
    assert (ub[base : base + PAGE] == copies[Space.UB0]).all()


@pytest.mark.parametrize("space", ON_CHIP)
@pytest.mark.parametrize("size", [16, 32, 64])
def test_local_bounds(backends: Backends, space: Space, size: int) -> None:
    last = SIZES[space] - size
    data = random_bytes(size)
    assert backends.local_write(space, last, data) == 0
    error, read = backends.local_read(space, last, size)
    assert error == 0
    assert (read == data).all()
    assert backends.box.errors == 0
    if SIZES[space] < 1 << 20:
        assert backends.local_write(space, last + size, data) == 1
        assert backends.local_read(space, last + size, size)[0] == 1
        assert backends.box.errors == 2
        assert "outside of the memory" in backends.box.poll_errors()[0]


@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize("space", [Space.FB, Space.L0])
def test_holes_between_segments(backends: Backends, space: Space, size: int) -> None:
    segments = SEGMENTS[space]
    holes = []
    for first, second in pairwise(segments):
        middle = (first.stop + second.start) // 2 & -64
        holes += [first.stop, first.stop + size, middle, second.start - size]
    for address in holes:
        assert backends.local_write(space, address, random_bytes(size)) == 1
        assert backends.local_read(space, address, size)[0] == 1
    assert backends.box.errors == 2 * len(holes)
    assert all("outside of the memory" in line for line in backends.box.poll_errors())
    for segment in segments:
        for address in (segment.start, segment.stop - size):
            data = random_bytes(size)
            assert backends.local_write(space, address, data) == 0
            error, read = backends.local_read(space, address, size)
            assert error == 0
            assert (read == data).all()
    assert backends.box.errors == 2 * len(holes)


@pytest.mark.parametrize("space", [0, 8])
def test_unknown_spaces(backends: Backends, space: int) -> None:
    assert backends.local_read(space, 0)[0] == 1
    assert backends.local_write(space, 0, random_bytes(32)) == 1
    assert backends.box.errors == 0, "the checkers report the space"


def test_gm_ends_at_two_to_the_forty(backends: Backends) -> None:
    assert backends.gm_read((1 << 40) - 32)[0] == 0
    assert backends.gm_read(1 << 40)[0] == DECERR
    backends.aw(1 << 40, 1)
    assert backends.w(random_bytes(32)) == 1 + DECERR
    assert backends.box.errors == 0


def test_stamps(backends: Backends) -> None:
    memory = backends.memory
    backends.tick(41)
    backends.aw(0x1000, 1, 64)
    backends.w(random_bytes(64), 1 << 33)
    assert memory.last_writer(Space.GM, 0x1000) is None
    writer = memory.last_writer(Space.GM, 0x103F)
    assert writer is not None
    assert (writer.cycle, writer.slot) == (41, SLOT)
    backends.tick()
    backends.library.pto_local_write(3, 3, 0x20, 32, 1 << 31, random_bytes(32).ctypes.data)
    writer = memory.last_writer(Space.L1, 0x20)
    assert writer is not None
    assert (writer.cycle, writer.slot) == (42, 3)
    assert memory.last_writer(Space.L1, 0x40) is None


@pytest.mark.long
def test_dirty_pages_are_listed_once_in_order(backends: Backends) -> None:
    pages = [77, 5, 1 << 27, 77, 6, 5]
    for page in pages:
        backends.aw(page * PAGE + 64, 1)
        backends.w(random_bytes(32))
    backends.aw(9 * PAGE, 1)
    backends.w(random_bytes(32), 0)
    backends.gm_read(10 * PAGE)
    backends.memory.ensure(Space.GM, 11 * PAGE, 1)
    assert backends.memory.dirty_gm_pages().tolist() == [77, 5, 1 << 27, 6]
    for page in range(2000, 6000):
        backends.aw(page * PAGE, 1)
        backends.w(random_bytes(32))
    assert backends.memory.dirty_gm_pages()[4:].tolist() == list(range(2000, 6000))


def test_memory_is_given_back_but_for_some_ranges(backends: Backends) -> None:
    memory, top = backends.memory, SIZES[Space.GM]
    written = [0x5000, FORGET - PAGE, FORGET, 1 << 33, top - PAGE]
    for address in written:
        backends.aw(address, 1)
        backends.w(random_bytes(32))
    memory.forget_gm([(0, FORGET), (top - FORGET, top)])
    for address in written:
        stays = address in (0x5000, FORGET - PAGE, top - PAGE)
        found = backends.gm_read(address)[1]
        assert (found == memory.background(Space.GM, address, 32)).all() != stays
        assert (memory.last_writer(Space.GM, address) is not None) == stays
    pages = [0x5, FORGET // PAGE - 1, top // PAGE - 1]
    assert memory.dirty_gm_pages().tolist() == pages
    backends.aw(1 << 33, 1)
    backends.w(random_bytes(32))
    assert memory.dirty_gm_pages().tolist() == [*pages, (1 << 33) // PAGE]
    for kept in ([(0, PAGE)], [(FORGET, 0)], [(FORGET, 2 * FORGET), (0, FORGET)]):
        with pytest.raises(ValueError, match="multiples of 0x1000000"):
            memory.forget_gm(kept)


# --- AXI writes -------------------------------------------------------------------------------


def test_data_may_come_before_their_address(backends: Backends) -> None:
    data = [random_bytes(32, beat) for beat in range(200)]
    gm = backends.memory.view(Space.GM)
    for beat in data:
        assert backends.w(beat) == 0
    before = gm[0x4000:0x4020].copy()
    assert backends.aw(0x4000, 100) == 1
    assert backends.aw(0x8000, 99) == 1
    assert backends.aw(0xC000, 2) == 0
    assert backends.w(data[0]) == 1
    assert (gm[0x4000 : 0x4000 + 3200] == np.concatenate(data[:100])).all()
    assert (gm[0x8000 : 0x8000 + 99 * 32] == np.concatenate(data[100:199])).all()
    assert (gm[0xC000:0xC040] == np.concatenate([data[199], data[0]])).all()
    assert not before.any(), "an untouched page is empty"


def test_bytes_count_once_the_response_was_taken(backends: Backends) -> None:
    box = backends.box
    backends.aw(0x4000, 2)
    backends.w(random_bytes(32), 0xF)
    backends.w(random_bytes(32), 0xFF)
    assert box.written_bytes(SLOT) == 0
    backends.library.pto_axi_b(SLOT)
    assert box.written_bytes(SLOT) == 12
    backends.local_write(Space.UB0, 0, random_bytes(32), 7)
    assert box.written_bytes(SLOT) == 15


@pytest.mark.parametrize("write_first", [True, False])
def test_a_write_on_the_edge_of_done_counts_for_it(backends: Backends, write_first: bool) -> None:
    """Verilog does not say which of two modules calls first."""
    box = backends.box
    box.submit_block(SLOT, np.zeros((1, DESC_WORDS)), 0)
    backends.tick()
    backends.pop()
    backends.library.pto_desc_accept(SLOT)
    backends.tick()
    calls: list[Callable[[], object]] = [
        lambda: backends.local_write(Space.UB0, 0, random_bytes(32)),
        backends.retire,
    ]
    for call in calls if write_first else reversed(calls):
        call()
    backends.tick()
    backends.local_write(Space.UB0, 0, random_bytes(32))
    assert box.poll_done(SLOT)["written_bytes"].tolist() == [32]


def test_faults(backends: Backends) -> None:
    box = backends.box
    box.set_fault(0, Space.GM, 0x1047, 0)
    box.set_fault(3, Space.GM, 0x2000, 1)
    box.set_fault(1, Space.L1, 0x80, 2)
    assert backends.gm_read(0x1040)[0] == 0, "faults count from the next clock"
    assert backends.tick() == TICK_KNOBS
    assert backends.gm_read(0x1040)[0] == SLVERR
    assert backends.gm_read(0x1050, 16)[0] == SLVERR
    assert backends.gm_read(0x1060)[0] == 0
    assert backends.gm_read(0x1040, 64)[0] == SLVERR
    assert backends.gm_read(0x1020)[0] == 0
    assert backends.gm_read(0x2000)[0] == DECERR
    gm = backends.memory.view(Space.GM)
    backends.memory.ensure(Space.GM, 0x2000, 32)
    before = gm[0x2000:0x2020].copy()
    backends.aw(0x1FE0, 3)
    assert backends.w(random_bytes(32)) == 0
    assert backends.w(random_bytes(32)) == 0
    assert backends.w(random_bytes(32)) == 1 + DECERR
    assert (gm[0x2000:0x2020] == before).all()
    backends.aw(0x1FE0, 1)
    assert backends.w(random_bytes(32)) == 1, "an error does not stick to the next burst"
    assert backends.local_read(Space.L1, 0x80)[0] == 1
    assert backends.local_read(Space.UB0, 0x80)[0] == 0
    assert backends.local_write(Space.L1, 0x80, random_bytes(32)) == 1
    box.clear_fault(1)
    backends.tick()
    assert backends.local_read(Space.L1, 0x80)[0] == 0
    assert box.errors == 0


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ((8, Space.GM, 0, 0), "legal 0 7"),
        ((0, Space.GM, 1 << 40, 0), "GM ends"),
        ((0, Space.UB0, -1, 2), "UB0 ends"),
        ((0, Space.UB0, 0, 0), "other memories 2"),
        ((0, Space.GM, 0, 2), "GM has 0"),
    ],
)
def test_impossible_faults(backends: Backends, arguments: Any, facts: str) -> None:
    with pytest.raises(ValueError, match=pattern(facts)):
        backends.box.set_fault(*arguments)


def beat(backends: Backends, address: int, *, write: bool) -> int:
    """One beat of GM through its backend, answered at once; returns its response."""
    if not write:
        response = backends.gm_read(address)[0]
        if response:
            backends.library.pto_hit(SLOT, 2)
        return response
    backends.aw(address, 1)
    response = backends.w(random_bytes(32)) - 1
    backends.library.pto_axi_b(SLOT)
    return response


def test_windows_have_sides_slots_and_edges(backends: Backends) -> None:
    box = backends.box
    box.set_fault(7, FaultWindow(Space.GM, 0x1020, 1, 0x40, sides=2, slots=1 << SLOT))
    backends.tick()
    for address, fails in ((0x1000, 0), (0x1020, 1), (0x1040, 1), (0x1060, 0)):
        assert beat(backends, address, write=True) == DECERR * fails
        assert beat(backends, address, write=False) == 0
    assert box.poll_hits()["addr"].tolist() == [0x1020, 0x1040]
    assert box.fault_hits(7) == box.hits == 2
    box.set_fault(7, FaultWindow(Space.GM, 0x1020, 1, 0x40, slots=15 ^ 1 << SLOT))
    backends.tick()
    assert beat(backends, 0x1020, write=True) == beat(backends, 0x1020, write=False) == 0
    assert box.fault_hits(7) == 0
    # The first of two windows applies; a clear of one keeps the other.
    box.set_fault(3, FaultWindow(Space.GM, 0x1000, 1, 0x80))
    box.set_fault(2, FaultWindow(Space.GM, 0x1040, 0))
    backends.tick()
    assert [beat(backends, 0x1020 * (k + 1) - 0x1000 * k, write=False) for k in (0, 1)] == [3, 2]
    assert box.poll_hits()["fault"].tolist() == [3, 2]
    assert [index for index, _ in box.faults()] == [2, 3, 7]
    box.clear_fault(2)
    backends.tick()
    assert beat(backends, 0x1040, write=False) == DECERR
    box.clear_faults()
    backends.tick()
    assert beat(backends, 0x1040, write=False) == 0
    assert box.faults() == []


def test_the_nth_word_is_counted_from_the_setting(backends: Backends) -> None:
    box = backends.box
    fault = FaultWindow(Space.GM, 0x2000, 0, 0x100, nth=5)
    box.set_fault(0, fault)
    answers = []
    for turn in range(12):
        backends.tick()
        answers.append(beat(backends, 0x2000 + 32 * (turn % 8), write=bool(turn % 2)))
        beat(backends, 0x2100, write=False)
        box.set_knobs(stall_r=turn)
        box.set_fault(1, FaultWindow(Space.BT, 0, 2, nth=turn))
    assert answers == [SLVERR if turn == 4 else 0 for turn in range(12)]
    box.set_fault(0, fault)
    backends.tick()
    # Beats of one burst that come together, before their address.
    for _ in range(8):
        backends.w(random_bytes(32))
    assert backends.aw(0x2000, 8) == 1 + SLVERR
    backends.library.pto_axi_b(SLOT)
    assert box.poll_hits()["addr"].tolist() == [0x2080, 0x2080]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_ports_on_one_clock_do_not_depend_on_their_order(
    backends: Backends, order: tuple[int, int]
) -> None:
    box, word = backends.box, random_bytes(32)
    for nth, expected in ((1, [1]), (2, [2]), (3, [2]), (4, [3]), (5, [3])):
        box.set_fault(0, FaultWindow(Space.L1, 0, 2, nth=nth))
        fails: list[int] = []
        for clock in (1, 2, 3):
            backends.tick()
            for slot in order:
                before = backends.library.pto_local_fault(slot, 0, int(Space.L1), 0, 32)
                error = backends.library.pto_local_write(
                    slot, int(Space.L1), 0, 32, 1, word.ctypes.data
                )
                assert before == error, "dst_err follows the write"
                fails += [clock] * error
        # A word each on each of three clocks: on the clock of the n-th one both fail, or on the
        # next one where it was the second of its clock.
        assert sorted(set(fails)) == expected, nth
        assert len(fails) == 2
        box.poll_hits()


def test_hits_are_logged_with_their_response(backends: Backends) -> None:
    box = backends.box
    box.set_fault(0, FaultWindow(Space.GM, 0x1000, 0, 0x1000))
    box.set_fault(1, FaultWindow(Space.FB, 0, 2))
    backends.tick(10)
    backends.gm_read(0x1040)
    backends.aw(0x1080, 3)
    for _ in range(3):
        backends.w(random_bytes(32))
    backends.local_read(Space.FB, 0)
    assert box.hits == 0
    backends.tick(5)
    backends.library.pto_axi_b(SLOT)
    backends.tick(5)
    backends.library.pto_hit(SLOT, 0)
    backends.library.pto_hit(SLOT, 2)
    backends.library.pto_hit(SLOT, 2)
    backends.memory.note_hit(3, 1, 0x77C0, 1, NO_FAULT, 12345)
    backends.memory.note_hit(2, 0, 0x88C0, 0, 0)
    hits = box.poll_hits()
    assert hits["cycle"].tolist() == [15, 15, 15, 20, 20, 12345, 20]
    assert hits["addr"].tolist() == [0x1080, 0x10A0, 0x10C0, 0, 0x1040, 0x77C0, 0x88C0]
    assert hits["side"].tolist() == [1, 1, 1, 0, 0, 1, 0]
    assert hits["fault"].tolist() == [0, 0, 0, 1, 0, NO_FAULT, 0]
    assert hits["slot"].tolist() == [SLOT] * 5 + [3, 2]
    assert box.fault_hits(0) == 5
    # An access dropped by a reset is not a hit; a full log only counts.
    backends.gm_read(0x1040)
    backends.aw(0x1080, 1)
    backends.w(random_bytes(32))
    backends.library.pto_reset(0b1111)
    backends.library.pto_hit(SLOT, 2)
    backends.library.pto_axi_b(SLOT)
    assert len(box.poll_hits()) == 0
    for index in range(HITS + 10):
        backends.memory.note_hit(1, 0, 32 * index, 0, 0)
    hits = box.poll_hits()
    assert hits["addr"].tolist() == [32 * index for index in range(HITS)]
    assert box.hits == 7 + HITS + 10


def test_a_memory_in_python_has_its_own_faults(backends: Backends) -> None:
    box = backends.box
    backends.library.pto_start(0b1_0110)
    assert box.slots == ("mte2", "mte3")
    box.set_fault(0, FaultWindow(Space.GM, 0x1000, 0))
    box.set_fault(1, FaultWindow(Space.UB0, 0, 2))
    box.set_gm_limit(0x2000)
    backends.tick()
    assert beat(backends, 0x1000, write=True) == 0
    assert beat(backends, 0x2000, write=True) == 0
    assert box.hits == 0
    assert backends.local_write(Space.UB0, 0, random_bytes(32)) == 1
    assert box.hits == 1


def test_late_bursts(backends: Backends) -> None:
    box, library = backends.box, backends.library
    watch = 1 << 12 + SLOT
    box.submit_block(SLOT, np.zeros((2, DESC_WORDS)), 0)
    for _ in range(2):
        backends.tick()
        backends.pop()
        library.pto_desc_accept(SLOT)
    backends.tick(98)
    library.pto_late_burst(SLOT, 0, 0x40, 0, 0)
    assert library.pto_tick(0, 0) & 0xF000 == 0
    backends.memory.note_hit(SLOT, 0, 0, 0, 0)
    assert library.pto_tick(0, 0) & 0xF000 == watch
    backends.tick(49)
    assert box.cycles == 151
    for waited in (50, 35, 34, 33, 0):
        library.pto_late_burst(SLOT, 1, 0x1000 + waited, 7, waited)
    backends.retire()
    assert library.pto_tick(0, 0) & watch, "the slot still holds one"
    library.pto_late_burst(SLOT, 0, 0x2000, 255, 0)
    library.pto_late_burst(2, 0, 0x3000, 255, 0)
    backends.retire()
    assert not library.pto_tick(0, 0) & watch
    library.pto_late_burst(SLOT, 0, 0x4000, 0, 0)
    late = box.poll_late_bursts()
    assert late["cycle"].tolist() == [118, 151, 152]
    assert late["addr"].tolist() == [0x1021, 0x1000, 0x2000]
    assert late["beats"].tolist() == [8, 8, 256]
    assert late["side"].tolist() == [1, 1, 0]
    assert len(box.poll_late_bursts()) == 0


@pytest.mark.parametrize(
    ("fault", "facts"),
    [
        (FaultWindow(Space.GM, 16, 0), "both multiples 32"),
        (FaultWindow(Space.GM, 0, 0, 16), "both multiples 32"),
        (FaultWindow(Space.GM, 0, 0, 0), "not empty"),
        (FaultWindow(Space.BT, 4096 - 32, 2, 64), "window 0x1020 BT ends 0x1000"),
        (FaultWindow(Space.BT, 4096, 2), "BT ends"),
        (FaultWindow(Space.BT, 0, 1), "other memories 2"),
        (FaultWindow(Space.GM, 0, 0, sides=0), "sides 0 legal 1 3"),
        (FaultWindow(Space.GM, 0, 0, slots=16), "slots 16 legal 1 15"),
        (FaultWindow(Space.GM, 0, 0, nth=-1), "nth -1"),
    ],
)
def test_impossible_windows(backends: Backends, fault: FaultWindow, facts: str) -> None:
    with pytest.raises(ValueError, match=pattern(facts)):
        backends.box.set_fault(0, fault)
    with pytest.raises(ValueError, match="needs its address"):
        backends.box.set_fault(0, Space.GM)


def test_stall_counts_may_wrap(backends: Backends) -> None:
    box, words = backends.box, np.zeros(16, np.uint32)
    backends.tick()
    assert box.state(SLOT) is None
    for total, expected in ((100, 100), (0xFFFF_FFF0, 0xFFFF_FFF0), (5, 0x1_0000_0005)):
        words[CHANNELS.index("aw")] = total
        backends.library.pto_state(SLOT, 1, words.ctypes.data)
        assert box.stalls()["mte2", "aw"] == expected
    assert sum(box.stalls().values()) == 0x1_0000_0005


# --- rings ------------------------------------------------------------------------------------


def test_descriptors_pass_through_a_ring_that_wraps(backends: Backends) -> None:
    box = backends.box
    rng = np.random.default_rng(3)
    sent = 0
    for count in (1, RING, 700, 700, RING, 0, 3):
        words = rng.integers(0, 1 << 32, (count, DESC_WORDS), dtype=np.uint32)
        tags = rng.integers(0, 256, count, dtype=np.uint32)
        box.submit_block(SLOT, words, tags)
        for index in range(count):
            assert backends.tick() & 1 << SLOT
            tag, got = backends.pop()
            assert tag == tags[index]
            assert (got == words[index]).all()
            backends.library.pto_desc_accept(SLOT)
            backends.library.pto_done(SLOT, tag, index % 7, index % 256, sent + index)
        assert not backends.tick() & 1 << SLOT
        done = box.poll_done(SLOT)
        assert (done["tag"] == tags).all()
        assert done["addr"].tolist() == list(range(sent, sent + count))
        assert (done["accept_cycle"] == done["done_cycle"]).all()
        sent += count
    assert box.submitted(SLOT) == box.retired(SLOT) == sent
    assert len(box.poll_done(SLOT)) == 0


def test_unread_done_records_keep_their_place(backends: Backends) -> None:
    box = backends.box
    box.submit_block(SLOT, np.zeros((1000, DESC_WORDS)), 0)
    for _ in range(1000):
        backends.tick()
        backends.pop()
        backends.library.pto_desc_accept(SLOT)
        backends.retire()
    assert box.room(SLOT) == 24
    with pytest.raises(MailboxError, match="has room for 24 of 1024"):
        box.submit_block(SLOT, np.zeros((25, DESC_WORDS)), 0)
    assert len(box.poll_done(SLOT)) == 1000
    assert box.room(SLOT) == RING


def test_wrong_descriptors_are_refused(backends: Backends) -> None:
    with pytest.raises(ValueError, match=r"descriptors are \[n, 16\]"):
        backends.box.submit_block(SLOT, np.zeros((2, 15)), 0)
    with pytest.raises(MailboxError, match=pattern("slot fix no engine simulation mte2")):
        backends.box.submit_block(3, np.zeros((2, 16)), 0)


def test_a_wait_holds_until_the_other_slot_has_retired(backends: Backends) -> None:
    box = backends.box
    backends.tick()
    box.submit_block(2, np.zeros((1, 16)), 0, waits=[[0, 2, 0, 0]])
    box.submit_block(SLOT, np.zeros((2, 16)), 0)
    for retired in range(2):
        assert backends.tick() == 1 << SLOT
        backends.pop()
        backends.library.pto_desc_accept(SLOT)
        assert box.retired(SLOT) == retired
        backends.retire()
    assert backends.tick() == 1 << 2


def test_a_wake_up_is_given_once(backends: Backends) -> None:
    box = backends.box
    box.submit_block(SLOT, np.zeros((2, 16)), 0)
    box.set_wake_at((0, 2, 0, 0))
    for _ in range(2):
        assert not backends.tick() & TICK_WAKE
        backends.pop()
        backends.library.pto_desc_accept(SLOT)
        backends.retire()
    assert backends.tick() & TICK_WAKE
    assert not backends.tick() & TICK_WAKE
    box.set_wake_at((0, 1, 0, 0))
    assert backends.tick() & TICK_WAKE


def test_an_aim_wakes_some_clocks_after_the_nth_event(backends: Backends) -> None:
    box, library = backends.box, backends.library
    wake = 1 << 4

    def met() -> bool:
        return box.aim_met

    box.set_wake_at((1, 0, 0, 0))  # never reached
    box.set_aim(SLOT, "b", 3, 2)
    library.pto_axi_b(SLOT)
    backends.tick()  # events count from here on
    for _ in range(3):
        library.pto_axi_aw(SLOT, 0, 0, 32)
        library.pto_axi_b(SLOT + 1)
        assert not met()
        library.pto_axi_b(SLOT)
    assert [bool(library.pto_tick(0, 0) & wake) for _ in range(5)] == [
        False,
        False,
        True,
        *2 * [False],
    ]
    assert met()
    box.set_aim(SLOT, "w", 1, 0)
    backends.tick()
    library.pto_reset(0xF)
    library.pto_axi_w(SLOT, 32, 0, np.zeros(16, dtype=np.uint32).ctypes.data)
    assert not any(library.pto_tick(0, 0) & wake for _ in range(5)), "a reset removes it"
    assert not met()
    for event, count, facts in (("x", 1, "'x'.*ar"), ("w", 0, "0.*1 to 4294967295")):
        with pytest.raises(ValueError, match=facts):
            box.set_aim(SLOT, event, count, 0)


def test_a_done_without_a_descriptor_leaves_no_record(backends: Backends) -> None:
    box = backends.box
    backends.retire(tag=7)
    box.submit_block(SLOT, np.zeros((1, 16)), [4])
    backends.tick()
    backends.retire(tag=4)
    assert len(box.poll_done(SLOT)) == 0
    backends.pop()
    backends.library.pto_desc_accept(SLOT)
    backends.retire(tag=4)
    backends.retire(tag=4)
    assert box.poll_done(SLOT)["tag"].tolist() == [4]
    assert box.retired(SLOT) == box.submitted(SLOT) == 1


def test_the_watchdog_needs_stuck_work(backends: Backends) -> None:
    box = backends.box
    box.set_watchdog_clocks(50)
    backends.tick(500)
    assert not box.hang
    box.submit_block(SLOT, np.zeros((2, 16)), [4, 5], gaps=[200, 0])
    backends.tick(190)
    assert not box.hang
    backends.tick(20)
    backends.pop()
    backends.library.pto_desc_accept(SLOT)
    assert not backends.tick(49) & TICK_WAKE
    assert backends.tick() & TICK_WAKE
    assert box.progress().hang
    assert [(entry.state, entry.tag) for entry in box.in_flight(SLOT)] == [
        ("accepted", 4),
        ("queued", 5),
    ]
    box.clear_hang()
    # An op may wait for flags that are not set yet, not for set ones.
    backends.memory.stage_flags([1], 300)
    backends.tick(345)
    assert not box.progress().hang
    backends.tick(20)
    assert box.progress().hang
    box.clear_hang()
    backends.retire()
    backends.tick(10)
    assert not box.hang


def test_a_granted_beat_is_progress_for_a_while(backends: Backends) -> None:
    box = backends.box
    box.set_watchdog_clocks(50, moving=800)
    assert box.watchdog_clocks == 50
    box.submit_block(SLOT, np.zeros((1, 16)), [4])
    backends.tick()
    backends.pop()
    backends.library.pto_desc_accept(SLOT)
    data = random_bytes(32).ctypes.data
    for _ in range(17):
        backends.library.pto_local_read(SLOT, 0, int(Space.L1), 0, 32, data)
        backends.tick(47)
    assert not box.progress().hang
    assert box.moved_bytes(SLOT) == 32 * 17
    backends.library.pto_local_write(SLOT, int(Space.L1), 0, 32, 0, data)
    assert backends.tick() & TICK_WAKE
    assert box.progress().hang
    assert box.moves_on
    assert box.watchdog_clocks == 800
    box.clear_hang()
    backends.retire()
    assert box.moved_bytes(SLOT) == 0
    box.submit_block(SLOT, np.zeros((1, 16)), [5])
    backends.tick()
    backends.pop()
    backends.library.pto_desc_accept(SLOT)
    backends.tick(50)
    assert box.progress().hang
    assert not box.moves_on


def test_a_slot_hangs_though_others_move(backends: Backends) -> None:
    box = backends.box
    box.set_watchdog_clocks(50, moving=800)
    other = SLOT + 1
    for slot in (SLOT, other):
        box.submit_block(slot, np.zeros((2, 16)), [4, 5])
        backends.tick()
        backends.pop(slot)
        backends.library.pto_desc_accept(slot)
    data = random_bytes(32).ctypes.data
    backends.tick(48)
    backends.library.pto_local_read(other, 0, int(Space.L1), 0, 32, data)
    assert backends.tick() & TICK_WAKE
    assert box.progress().hang
    assert not box.moves_on


def test_a_request_to_stop_wakes_python_once(backends: Backends) -> None:
    backends.tick(10)
    backends.box._array["stop"][0] = 1
    assert backends.tick() & TICK_WAKE
    assert not backends.tick() & TICK_WAKE


# --- knobs, errors ----------------------------------------------------------------------------


def test_knobs(backends: Backends) -> None:
    box = backends.box
    assert backends.tick() == TICK_KNOBS, "the defaults are loaded by the first clock"
    assert backends.tick() == 0
    box.set_knobs(axi_read_latency=100, stall_b=255, seed=0xFFFF_FFFF)
    assert backends.tick() == TICK_KNOBS
    assert backends.library.pto_knob(0) == 100
    assert backends.library.pto_knob(KNOBS["stall_b"].number) == 255
    assert backends.library.pto_knob(1) == 1


@pytest.mark.parametrize("name", list(KNOBS))
def test_knobs_have_ranges(backends: Backends, name: str) -> None:
    knob = KNOBS[name]
    for value in (knob.low, knob.high):
        backends.box.set_knobs(**{name: value})
        assert backends.box.knob(name) == value
    for value in (knob.low - 1, knob.high + 1):
        facts = f"{name} {value} legal {knob.low} {knob.high}"
        with pytest.raises(ValueError, match=pattern(facts)):
            backends.box.set_knobs(**{name: value})
        assert backends.box.knob(name) == knob.high


def test_an_unknown_knob_sets_none(backends: Backends) -> None:
    with pytest.raises(ValueError, match=pattern("no knob 'latency' axi_read_latency")):
        backends.box.set_knobs(stall_r=9, latency=3)
    assert backends.box.knob("stall_r") == 0
    with pytest.raises(ValueError, match="legal is 0"):
        backends.box.set_watchdog_clocks(-1)
    with pytest.raises(ValueError, match="gm_limit"):
        backends.box.set_gm_limit((1 << 40) + 1)


def test_messages_are_limited_and_counted(
    backends: Backends, capfd: pytest.CaptureFixture[str]
) -> None:
    box = backends.box
    backends.tick(12)
    for number in range(1000):
        backends.library.pto_error(SLOT, b"one kind (number)", number, 0)
    backends.library.pto_error(2, b"another", 1, 2)
    messages = box.poll_errors()
    assert len(messages) == 9
    assert messages[0] == "mte2: one kind (number) (0x0, 0x0) at 125 ns, cycle 12"
    assert messages[8].startswith("mte3: another (0x1, 0x2)")
    assert box.errors == 1001
    assert box.poll_errors() == []
    for number in range(100):
        backends.library.pto_error(SLOT, f"kind {number} {'x' * 300}".encode(), 0, 0)
    messages = box.poll_errors()
    assert len(messages) == 64
    assert all(len(line) == 255 for line in messages)
    backends.library.pto_reset(0b0110)
    backends.library.pto_error(SLOT, b"one kind (number)", 7, 0)
    assert len(box.poll_errors()) == 1, "a reset restarts the count"
    assert capfd.readouterr().err.count("one kind") == 8


# --- files and refusals -----------------------------------------------------------------------


def child(library: Path, code: str, *, env: dict[str, str] | None = None) -> Any:
    program = f"""
import resource, sys
from pathlib import Path
from tb.harness.memory import SimMemory, load_library
from tb.harness.mailbox import Mailbox
library = Path({str(library)!r})
{code}
"""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.long
def test_a_refused_mapping_ends_the_process(compiled: Path, tmp_path: Path) -> None:
    path = tmp_path / "mailbox"
    reader = MailboxReader.create(path)
    done = child(
        compiled,
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n"
        "SimMemory.attach(library)\nprint('went on')",
        env={MAILBOX_ENV: str(path)},
    )
    assert done.returncode == 3
    assert "went on" not in done.stdout
    for text in (done.stderr, *reader.error_messages()):
        assert line_says(text, "kernel refuses sparse mapping gm 1048576 MiB")
        assert "vm.overcommit_memory" in text
        assert "ulimit -v" in text
    assert reader.errors == len(reader.error_messages()) == 1


@pytest.mark.long
def test_the_mailbox_file_is_shared(compiled: Path, tmp_path: Path) -> None:
    path = tmp_path / "mailbox"
    reader = MailboxReader.create(path)
    assert reader.progress().submitted == 0
    done = child(
        compiled,
        "box = Mailbox.attach(SimMemory.attach(library).library)\n"
        "box.submit_block(1, [range(16)] * 3, [7, 8, 9])\nbox.report_progress(5, 1)",
        env={MAILBOX_ENV: str(path)},
    )
    assert done.returncode == 0, done.stderr
    now = MailboxReader.open(path).progress()
    assert (now.submitted, now.checked, now.mismatches, now.heartbeat) == (3, 5, 1, 1)
    waiting = reader.in_flight(1)
    assert [entry.tag for entry in waiting] == [7, 8, 9]
    assert waiting[0].words.tolist() == list(range(16))
    assert waiting[0].state == "queued"


@pytest.mark.long
def test_files_that_are_no_mailbox(compiled: Path, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"\0" * 100)
    with pytest.raises(MailboxError, match="has 100 bytes"):
        MailboxReader.open(path)
    good = tmp_path / "mailbox"
    MailboxReader.create(good)
    with good.open("r+b") as file:
        file.write(b"X")
    with pytest.raises(MailboxError, match="not a mailbox of version"):
        MailboxReader.open(good)
    for bad in (path, good, tmp_path / "missing"):
        done = child(compiled, "SimMemory.attach(library)", env={MAILBOX_ENV: str(bad)})
        assert done.returncode == 3
        assert f"PTO_MAILBOX={bad}" in done.stderr
