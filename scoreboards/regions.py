# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on strided regions: rows, pages, and which row an address belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.isa.footprint import Footprint

PAGE_SHIFT = 12
PAGE = 1 << PAGE_SHIFT
"""Bytes in a page: unit of lazy initialisation and of the record of written GM pages."""

_BYTE = np.dtype(np.uint8)
_MANY_ROWS = 1 << 20
_FEW_ROWS = 64  # up to this number plain Python is faster than numpy


def distance(footprint: Footprint, address: int) -> int:
    """Returns the bytes between an address and the closest row of a region, 0 inside one."""
    if not footprint.rows:
        return 1 << 62
    # The footprint of an illegal op is not listed: its counts are arbitrary.
    many = footprint.rows > _MANY_ROWS
    starts = np.array([footprint.base]) if many else footprint.row_starts()
    length = footprint.end - footprint.base if many else footprint.length
    ahead, past = starts - address, address - (starts + length - 1)
    return int(np.maximum(np.maximum(ahead, past), 0).min())


def pages_of(footprint: Footprint) -> Iterable[int]:
    """Returns the numbers of the pages the region touches, each once."""
    low = footprint.base >> PAGE_SHIFT
    high = (footprint.end - 1) >> PAGE_SHIFT
    steps = [s for n, s in zip(footprint.counts, footprint.strides, strict=True) if n > 1]
    # Rows at most a page apart touch every page; two pages are those of the first and last row.
    if high - low < 2 or not steps or (len(steps) == 1 and steps[0] <= PAGE):
        return range(low, high + 1)
    if footprint.length <= PAGE and footprint.rows <= _FEW_ROWS:
        few = [footprint.base]
        for count, stride in zip(footprint.counts, footprint.strides, strict=True):
            if count > 1:
                few = [start + i * stride for i in range(count) for start in few]
        tail = footprint.length - 1
        touched = {start >> PAGE_SHIFT for start in few}
        return touched.union([(start + tail) >> PAGE_SHIFT for start in few])
    starts = footprint.row_starts()
    first = starts >> PAGE_SHIFT
    final = (starts + (footprint.length - 1)) >> PAGE_SHIFT
    width = int((final - first).max()) + 1
    pages = first[:, None] + np.arange(width, dtype=np.int64)
    found: list[int] = np.unique(pages[pages <= final[:, None]]).tolist()
    return found


def rows_view(memory: NDArray[np.uint8], footprint: Footprint) -> NDArray[np.uint8]:
    """Returns the rows of a region inside a memory as a view, outermost loop first.

    Loops and rows with a count of 1 have no axis; the last axis is the bytes of a row.

    Raises:
        ValueError, TypeError: the region leaves the memory.
    """
    axes = zip(footprint.counts[::-1], footprint.strides[::-1], strict=True)
    used = [(count, stride) for count, stride in axes if count > 1]
    shape = (*[count for count, _ in used], footprint.length)
    strides = (*[stride for _, stride in used], 1)
    return np.ndarray(shape, _BYTE, memory.data, footprint.base, strides)


def joined(footprint: Footprint, guard: int) -> Footprint:
    """Returns a region with the guards around each row, close rows joined to one.

    Rows are joined where the bytes from the first to the last are at most twice those of the
    rows with their guards: blocks of 32 bytes side by side become one row.
    """
    length = footprint.length
    apart: list[tuple[int, int]] = []
    axes = zip(footprint.strides, footprint.counts, strict=True)
    for stride, count in sorted(axes):
        if count < 2:
            continue
        reach = length + (count - 1) * stride
        if reach <= 2 * count * (length + 2 * guard):
            length = reach
        else:
            apart.append((stride, count))
    return Footprint(
        footprint.space,
        footprint.base - guard,
        length + 2 * guard,
        tuple([count for _, count in apart]),
        tuple([stride for stride, _ in apart]),
    )


def page_runs(pages: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields (first page, pages) of every run of consecutive numbers, ascending."""
    first = count = 0
    for page in sorted(pages):
        if count and page == first + count:
            count += 1
            continue
        if count:
            yield first, count
        first, count = page, 1
    if count:
        yield first, count


@dataclass(frozen=True, slots=True)
class NearestRow:
    """The row of a region an address lies in or next to.

    Attributes:
        index: Loop indices, outermost first, the row last.
        start: Address of its first byte.
        inside: Whether the address lies in it.
    """

    index: tuple[int, ...]
    start: int
    inside: bool


class RowMap:
    """Finds rows of one region by address; for regions without overlapping rows."""

    def __init__(self, footprint: Footprint) -> None:
        self._footprint = footprint
        starts = footprint.row_starts()
        self._order = np.argsort(starts, kind="stable")
        self._starts = starts[self._order]

    def inside(self, addresses: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns for each address whether a row covers it."""
        before = np.searchsorted(self._starts, addresses, side="right") - 1
        gap = addresses - self._starts[np.maximum(before, 0)]
        covered: NDArray[np.bool_] = (before >= 0) & (gap < self._footprint.length)
        return covered

    def nearest(self, address: int) -> NearestRow:
        """Returns the row that covers ``address``, or else the closest one."""
        length = self._footprint.length
        after = int(np.searchsorted(self._starts, address, side="right"))
        best, distance = 0, -1
        for candidate in (after - 1, after):
            if 0 <= candidate < len(self._starts):
                start = int(self._starts[candidate])
                away = max(start - address, address - (start + length - 1), 0)
                if distance < 0 or away < distance:
                    best, distance = candidate, away
        shape = self._footprint.counts[::-1]
        index = np.unravel_index(int(self._order[best]), shape)
        return NearestRow(tuple(int(i) for i in index), int(self._starts[best]), distance == 0)
