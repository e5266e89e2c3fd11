# SPDX-License-Identifier: Apache-2.0
"""Lazy initialisation, windows and page records of the golden memories."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory, GoldenMemoryError
from tb.common.errors import PtoError
from tb.isa.footprint import Footprint
from tb.isa.spaces import SIZES, Space
from tests.scoreboards.bench import noise


class Recorder:
    """A background that records the requested ranges."""

    def __init__(self) -> None:
        self.calls: list[tuple[Space, int, int]] = []

    def __call__(self, space: Space, start: int, length: int) -> bytes:
        self.calls.append((space, start, length))
        return noise(space, start, length).tobytes()

    @property
    def gm(self) -> list[tuple[int, int]]:
        return [(start, length) for space, start, length in self.calls if space is Space.GM]


def test_on_chip_memories_have_their_background_from_the_start() -> None:
    golden = GoldenMemory(noise)
    assert set(golden) == set(SIZES)
    assert len(golden) == len(SIZES)
    for space, size in SIZES.items():
        assert golden.view(space).shape == (size,)
        assert golden.view(space) is golden[space]
        if space is not Space.GM:
            assert np.array_equal(golden[space], noise(space, 0, size))


def test_gm_reads_the_background_of_each_page_once() -> None:
    background = Recorder()
    golden = GoldenMemory(background)
    assert golden.touched_pages() == []
    golden.ensure(Space.GM, 4095, 2)
    golden.ensure(Space.GM, 0, 8192)
    assert background.gm == [(0, 8192)]
    golden[Space.GM][4100] = 1
    golden.ensure(Space.GM, 4100, 5000)
    assert background.gm == [(0, 8192), (8192, 4096)]
    assert golden[Space.GM][4100] == 1
    assert golden.touched_pages() == [0, 1, 2]
    golden.ensure(Space.GM, 2**40 - 1, 1)
    assert golden[Space.GM][-1] == noise(Space.GM, 2**40 - 1, 1)[0]
    assert golden.touched_pages()[-1] == 2**28 - 1
    golden.ensure(Space.GM, 0, 0)
    assert golden.written_pages() == []


@pytest.mark.parametrize(
    "footprint",
    [
        Footprint(Space.GM, 4090, 10, (1,), (99999,)),
        Footprint(Space.GM, 5, 10, (40,), (4096,)),
        Footprint(Space.GM, 4000, 200, (40,), (5000,)),
        Footprint(Space.GM, 4000, 200, (3, 2, 5), (2**30 + 77, 2**39 - 5, 70000)),
        Footprint(Space.GM, 4000, 9000, (3, 2), (20000, 100000)),
        Footprint(Space.GM, 1, 1, (100, 3), (8191, 2**33 + 1)),
    ],
)
def test_footprint_ensures_the_pages_of_its_rows_and_no_other(footprint: Footprint) -> None:
    golden = GoldenMemory(noise)
    golden.expect_write(footprint)
    expected: set[int] = set()
    for start in map(int, footprint.row_starts()):
        expected.update(range(start >> 12, ((start + footprint.length - 1) >> 12) + 1))
        row = golden[Space.GM][start : start + footprint.length]
        assert np.array_equal(row, noise(Space.GM, start, footprint.length))
    assert golden.touched_pages() == sorted(expected)
    assert golden.written_pages() == sorted(expected)


@pytest.mark.long
def test_prefilled_window_is_read_once() -> None:
    background = Recorder()
    golden = GoldenMemory(background)
    golden.ensure(Space.GM, 5 << 12, 1)
    golden[Space.GM][5 << 12] ^= 0xFF
    golden.prefill(0x2100, 20 << 20)
    calls = len(background.gm)
    assert sum(length for _, length in background.gm) == (20 << 20) + 4096
    assert golden[Space.GM][5 << 12] == noise(Space.GM, 5 << 12, 1)[0] ^ 0xFF
    golden.ensure(Space.GM, 0x2000, 20 << 20)
    golden.ensure_footprint(Footprint(Space.GM, 0x3000, 100, (7,), (0x20000,)))
    assert len(background.gm) == calls
    assert golden.touched_pages() == list(range(2, 2 + (20 << 8) + 1))


def test_gm_is_forgotten_outside_of_its_windows() -> None:
    background, unit = Recorder(), 1 << 24
    golden = GoldenMemory(background)
    for start, length in ((unit - 8192, 16384), (2**40 - 4096, 4096), (3 * unit, 4096)):
        golden.prefill(start, length)
    assert golden.far_pages == 0
    for address in (0, unit, 2 * unit, 2**39):
        golden.write(Space.GM, address, b"new!")
    assert golden.far_pages == 3
    parts: list[tuple[int, int]] = []

    def give_back(part: NDArray[np.uint8]) -> None:
        low = part.ctypes.data - golden[Space.GM].ctypes.data
        parts.append((low, low + part.size))
        for address in (2 * unit, 2**39):
            if low <= address < low + part.size:
                part[address - low : address - low + 4096] = 0

    kept = [(0, 2 * unit), (3 * unit, 4 * unit), (2**40 - unit, 2**40)]
    assert golden.forget(unit, give_back) == kept
    assert parts == [(2 * unit, 3 * unit), (4 * unit, 2**40 - unit)]
    assert golden.far_pages == 0
    assert golden.written_pages() == [0, unit >> 12]
    for address in (0, unit, 2 * unit, 2**39):
        golden.ensure(Space.GM, address, 4)
        wanted = noise(Space.GM, address, 4).tobytes() if address > unit else b"new!"
        assert golden[Space.GM][address : address + 4].tobytes() == wanted
    assert golden.far_pages == 2


def test_local_footprints_leave_no_record() -> None:
    golden = GoldenMemory(noise)
    golden.expect_write(Footprint(Space.UB0, 0, 32, (2,), (64,)))
    golden.ensure_footprint(Footprint(Space.UB0, 0, 32, (2,), (64,)))
    assert golden.touched_pages() == golden.written_pages() == []


def test_write_is_an_expected_write() -> None:
    golden = GoldenMemory(noise)
    golden.write(Space.GM, 4094, b"abcd")
    golden.write(Space.GM, 77, b"")
    golden.write(Space.L1, 3, np.array([1, 2], dtype=np.uint8))
    assert golden[Space.GM][4094:4098].tobytes() == b"abcd"
    assert golden[Space.GM][4093] == noise(Space.GM, 4093, 1)[0]
    assert golden.written_pages() == [0, 1]
    assert golden[Space.L1][3:5].tolist() == [1, 2]


def test_ranges_outside_a_memory_are_refused() -> None:
    golden = GoldenMemory()
    for space, start, length in (
        (Space.GM, 2**40 - 1, 2),
        (Space.GM, -1, 2),
        (Space.UB0, 262140, 8),
        (Space.UB0, -4, 8),
    ):
        with pytest.raises(ValueError, match=space.name):
            golden.ensure(space, start, length)
    with pytest.raises(ValueError, match="leaves"):
        golden.ensure_footprint(Footprint(Space.GM, 0, 1, (2,), (2**40,)))
    with pytest.raises(ValueError, match="leaves"):
        golden.prefill(2**40 - 4096, 4097)


def test_background_of_a_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="background of UB0"):
        GoldenMemory(lambda space, start, length: bytes(length - 1))


@pytest.mark.long
def test_refused_mapping_names_the_remedy() -> None:
    code = (
        "import resource\n"
        "from scoreboards.golden import GoldenMemory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))\n"
        "GoldenMemory()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "GoldenMemoryError" in done.stderr
    assert "vm.overcommit_memory" in done.stderr
    assert "ulimit -v" in done.stderr
    assert issubclass(GoldenMemoryError, PtoError)
