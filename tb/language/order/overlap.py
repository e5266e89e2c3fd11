# SPDX-License-Identifier: Apache-2.0
"""Last access to each byte of a cluster: memories of positions, exact for strided regions.

A cluster of up to ``DENSE_UNITS`` units is an array, of which a strided region is a view; a sparse
one numbers the pieces that the rows of its regions cut it into.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tb.language.lowered import Region
from tb.language.order.accesses import Shared, TooLargeError, extent_of, unit_of

DENSE_UNITS = 1 << 24
"""Units up to which a cluster is an array; it takes memory only where it is touched."""

MOST_PIECES = 1 << 24
"""Pieces that all regions of such a cluster have at most."""

_Ints = NDArray[np.int32]


class Cluster:
    """Positions at which queues touched the bytes of some regions.

    Args:
        regions: All in one memory, extents overlapping one another.

    Raises:
        TooLargeError: they are cut into too many pieces.
    """

    def __init__(self, regions: list[Region]) -> None:
        """Divides the bytes into units; nothing has been touched."""
        self._base = min(region.base for region in regions)
        self.unit = unit_of(regions)
        self._cuts: NDArray[np.int64] | None = None
        self._pieces: dict[Region, NDArray[np.int64]] = {}
        self._size = extent_of(regions) // self.unit
        if self._size > DENSE_UNITS:
            self._cut(regions)
        self._arrays: dict[tuple[int, bool], _Ints] = {}
        self._peaks: dict[tuple[int, bool], int] = {}
        self._views: dict[tuple[Region, int, bool], _Ints] = {}

    def _cut(self, regions: list[Region]) -> None:
        rows = [_row_starts(region) for region in regions]
        ends = [start + region.length for start, region in zip(rows, regions, strict=True)]
        self._cuts = _distinct(np.concatenate((*rows, *ends)))
        self._size = len(self._cuts)
        pieces = 0
        for region, start, end in zip(regions, rows, ends, strict=True):
            first, last = np.searchsorted(self._cuts, start), np.searchsorted(self._cuts, end)
            counts = last - first
            pieces += int(counts.sum())
            if pieces > MOST_PIECES:
                raise TooLargeError
            offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            self._pieces[region] = _distinct(np.repeat(first, counts) + offsets)

    def _view(self, region: Region, queue: int, write: bool) -> _Ints:
        """Returns the positions of a region: a view that shows later marks."""
        array = self._arrays[queue, write]
        if self._cuts is not None:
            return array[self._pieces[region]]
        view = self._views.get((region, queue, write))
        if view is None:
            view = np.ndarray(
                (*reversed(region.counts), region.length // self.unit),
                np.int32,
                array,
                4 * ((region.base - self._base) // self.unit),
                (*(4 * (stride // self.unit) for stride in reversed(region.strides)), 4),
            )
            self._views[region, queue, write] = view
        return view

    def latest(self, region: Region, queue: int, write: bool, known: int) -> int:
        """Returns the latest position above ``known`` at which ``queue`` touched the region.

        ``write`` selects writes, otherwise reads count. 0 means none.
        """
        if self._peaks.get((queue, write), 0) <= known:
            return 0
        latest = int(self._view(region, queue, write).max())
        return latest if latest > known else 0

    def shared(self, region: Region, queue: int, write: bool, position: int) -> Shared:
        """Returns the bytes of ``region`` that ``queue`` touched last at ``position``."""
        hit = self._view(region, queue, write) == position
        if self._cuts is not None:
            pieces = self._pieces[region][np.ravel(hit)]
            starts, ends = self._cuts[pieces], self._cuts[pieces + 1]
            return Shared(int(starts[0]), int(ends[-1]), int((ends - starts).sum()))
        steps = np.array((*reversed(region.strides), self.unit), dtype=np.int64)
        starts = _distinct(region.base + np.argwhere(hit) @ steps)
        return Shared(int(starts[0]), int(starts[-1]) + self.unit, len(starts) * self.unit)

    def mark(self, region: Region, queue: int, write: bool, position: int) -> None:
        """Notes that ``queue`` touches the region at ``position``, its latest."""
        key = queue, write
        if key not in self._arrays:
            self._arrays[key] = np.zeros(self._size, dtype=np.int32)
        if self._cuts is not None:
            self._arrays[key][self._pieces[region]] = position
        else:
            self._view(region, queue, write)[...] = position
        self._peaks[key] = position

    @property
    def queues(self) -> Iterable[tuple[int, bool]]:
        """Who has touched the cluster: queues, and whether they wrote."""
        return self._arrays


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns sorted values, each once; ``np.unique`` takes ten times as long for millions."""
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))]


def _row_starts(region: Region) -> NDArray[np.int64]:
    starts = np.array([region.base], dtype=np.int64)
    for count, stride in zip(region.counts, region.strides, strict=True):
        steps = np.arange(count, dtype=np.int64) * stride
        starts = (steps[:, None] + starts[None, :]).ravel()
    return starts
