# SPDX-License-Identifier: Apache-2.0
"""Clusters: regions whose extents meet, and who touched their bytes last.

Few accesses to few rows are lists (:class:`FewAccesses`), more are arrays
(:class:`tb.language.order.overlap.Cluster`). What is too large for both is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from tb.language.lowered import Region
from tb.language.order.accesses import (
    Accesses,
    Shared,
    TooLargeError,
    extent_of,
    rows_of,
    unit_of,
)

FEW_ACCESSES = 256
"""Accesses up to which a cluster is a list."""

FEW_ROWS = 4096
"""Rows of all its regions up to which it is one."""

SPARSE_ROWS = 1 << 22
"""Rows up to which a cluster that is larger is cut into pieces."""


_Runs = list[tuple[int, int]]
"""Begin and end of runs of bytes, in ascending order, none of which meet."""


class FewAccesses:
    """A cluster as lists; a pair of regions is compared once, run by run of their bytes."""

    def __init__(self) -> None:
        """Nothing has been touched."""
        self._accesses: dict[tuple[int, bool], list[tuple[int, Region]]] = {}
        self._runs: dict[Region, _Runs] = {}
        self._meet: dict[tuple[Region, Region], bool] = {}

    def latest(self, region: Region, queue: int, write: bool, known: int) -> int:
        """As :meth:`Accesses.latest`."""
        for position, other in reversed(self._accesses.get((queue, write), ())):
            if position <= known:
                return 0
            if self._meets(region, other):
                return position
        return 0

    def shared(self, region: Region, queue: int, write: bool, position: int) -> Shared:
        """As :meth:`Accesses.shared`, of the position that :meth:`latest` has returned."""
        touched = [
            run
            for at, other in self._accesses[queue, write]
            if at == position
            for run in self._common(region, other)
        ]
        runs = _merged(touched)
        return Shared(runs[0][0], runs[-1][1], sum(end - begin for begin, end in runs))

    def mark(self, region: Region, queue: int, write: bool, position: int) -> None:
        """As :meth:`Accesses.mark`."""
        self._accesses.setdefault((queue, write), []).append((position, region))

    @property
    def queues(self) -> Iterable[tuple[int, bool]]:
        """As :attr:`Accesses.queues`."""
        return self._accesses

    def _meets(self, one: Region, other: Region) -> bool:
        if one.base >= other.end or other.base >= one.end:
            return False
        if one == other or not (one.counts or other.counts):
            return True
        found = self._meet.get((one, other))
        if found is None:
            found = self._meet[one, other] = bool(self._common(one, other))
        return found

    def _common(self, one: Region, other: Region) -> _Runs:
        """Returns the bytes of both."""
        found: _Runs = []
        first, second = self._runs_of(one), self._runs_of(other)
        at = number = 0
        while at < len(first) and number < len(second):
            begin = max(first[at][0], second[number][0])
            end = min(first[at][1], second[number][1])
            if begin < end:
                found.append((begin, end))
            if first[at][1] <= second[number][1]:
                at += 1
            else:
                number += 1
        return found

    def _runs_of(self, region: Region) -> _Runs:
        runs = self._runs.get(region)
        if runs is None:
            starts = [region.base]
            for count, stride in zip(region.counts, region.strides, strict=True):
                starts = [start + step * stride for step in range(count) for start in starts]
            runs = _merged([(start, start + region.length) for start in starts])
            self._runs[region] = runs
        return runs


def _merged(runs: _Runs) -> _Runs:
    """Returns runs in ascending order, those that meet as one."""
    found: _Runs = []
    for begin, end in sorted(runs):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


@dataclass(slots=True)
class Use:
    """How often a region is touched, and whether anyone writes it."""

    count: int = 0
    written: bool = False


def clusters(used: Mapping[Region, Use], left_out: list[Region]) -> dict[Region, Accesses]:
    """Returns the cluster of each region of which two steps may share bytes, one writing.

    Of regions that are too large together, the first is added to ``left_out``.
    """
    found: dict[Region, Accesses] = {}
    ordered = sorted(used, key=lambda region: (region.space, region.base))
    for _, of_space in groupby(ordered, key=lambda region: region.space):
        group: list[Region] = []
        end = 0
        for region in of_space:
            if group and region.base >= end:
                if not _add(found, group, used):
                    left_out.append(group[0])
                group = []
            end = max(end, region.end) if group else region.end
            group.append(region)
        if not _add(found, group, used):
            left_out.append(group[0])
    return found


def _add(found: dict[Region, Accesses], group: list[Region], used: Mapping[Region, Use]) -> bool:
    """Adds the cluster of a group if it needs one; returns whether it is not too large."""
    if sum(used[region].count for region in group) < 2:
        return True
    if not any(used[region].written for region in group):
        return True
    rows = sum(map(rows_of, group))
    if rows <= FEW_ROWS and sum(used[region].count for region in group) <= FEW_ACCESSES:
        found.update(dict.fromkeys(group, FewAccesses()))
        return True
    # Imported here: most programs do without numpy, whose import takes longer than all else.
    from tb.language.order.overlap import DENSE_UNITS, Cluster

    if extent_of(group) // unit_of(group) <= DENSE_UNITS or rows <= SPARSE_ROWS:
        with suppress(TooLargeError):
            found.update(dict.fromkeys(group, Cluster(group)))
            return True
    return False
