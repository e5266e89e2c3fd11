# SPDX-License-Identifier: Apache-2.0
"""Row arithmetic against plain loops."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoreboards.regions import RowMap, joined, page_runs, pages_of, rows_view
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space


@st.composite
def regions(make: st.DrawFn) -> Footprint:
    depth = make(st.integers(1, 4))
    counts = tuple(make(st.integers(1, 4)) for _ in range(depth))
    stride = st.sampled_from([0, 1, 100, 4095, 4096, 4097, 20000, 2**30 + 5])
    strides = tuple(make(stride) for _ in range(depth))
    length = make(st.sampled_from([1, 2, 300, 4096, 4097, 10000]))
    return Footprint(Space.GM, make(st.integers(0, 9000)), length, counts, strides)


def slow_rows(region: Footprint) -> list[tuple[tuple[int, ...], int]]:
    """(loop indices outermost first, start) of each row, in the order of the spec's loops."""
    shape = region.counts[::-1]
    strides = region.strides[::-1]
    return [
        (index, region.base + sum(i * s for i, s in zip(index, strides, strict=True)))
        for index in product(*map(range, shape))
    ]


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(regions())
def test_rows_and_pages(region: Footprint) -> None:
    rows = slow_rows(region)
    assert region.row_starts().tolist() == [start for _, start in rows]
    pages = {
        page
        for _, start in rows
        for page in range(start >> 12, ((start + region.length - 1) >> 12) + 1)
    }
    assert sorted(pages_of(region)) == sorted(pages)


@pytest.mark.long
@given(st.sets(st.integers(0, 40)))
def test_runs_are_the_pages(pages: set[int]) -> None:
    runs = list(page_runs(pages))
    assert {page for first, count in runs for page in range(first, first + count)} == pages
    assert all(a + n < b for (a, n), (b, _) in pairwise(runs))


def test_nearest_row_of_interleaved_loops() -> None:
    region = Footprint(Space.GM, 1000, 10, (3, 2), (100, 30))
    rows = RowMap(region)
    for index, start in slow_rows(region):
        for byte in range(-9, 19):
            near = rows.nearest(start + byte)
            assert near.inside == (0 <= byte < 10)
            assert (near.index, near.start) == (index, start)
    assert rows.nearest(0).index == (0, 0)
    assert rows.nearest(10**6).index == (1, 2)
    inside = rows.inside(np.array([999, 1000, 1009, 1010, 1030, 1239, 1240]))
    assert inside.tolist() == [False, True, True, False, True, True, False]


@pytest.mark.long
@settings(deadline=None, max_examples=200)
@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from([0, 32, 40, 160, 900])), max_size=3),
    st.sampled_from([0, 5, 64]),
)
def test_joined_rows_cover_rows_and_guards(
    length: int, axes: list[tuple[int, int]], guard: int
) -> None:
    counts, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    region = Footprint(Space.UB0, 1000, length, counts, strides)
    memory = np.zeros(20000, np.uint8)
    wide = joined(region, guard)
    rows_view(memory, wide)[...] = 1
    for _, start in slow_rows(region):
        assert memory[start - guard : start + length + guard].all()
    low, high = 1000 - guard, region.end + guard
    assert not memory[:low].any()
    assert not memory[high:].any()


def test_adjacent_blocks_become_one_row() -> None:
    tile = Footprint(Space.L1, 4096, 32, (16, 4, 2), (32, 512, 131072))
    assert joined(tile, 64) == Footprint(Space.L1, 4032, 2048 + 128, (2,), (131072,))
    far = Footprint(Space.L1, 4096, 32, (16, 4), (8192, 32))
    assert joined(far, 64) == Footprint(Space.L1, 4032, 256, (16,), (8192,))
