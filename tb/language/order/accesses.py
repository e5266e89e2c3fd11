# SPDX-License-Identifier: Apache-2.0
"""Accesses to the bytes of a cluster, that is, of regions whose extents meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Protocol

from tb.language.lowered import Region


@dataclass(frozen=True, slots=True)
class Shared:
    """Bytes that two steps touch: where they begin and end, and how many they are."""

    first: int
    end: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.first:#x}..{self.end - 1:#x} ({self.bytes} B)"


class TooLargeError(Exception):
    """A cluster has too many pieces."""


class Accesses(Protocol):
    """Positions at which queues touched the bytes of a cluster."""

    def latest(self, region: Region, queue: int, write: bool, known: int) -> int:
        """Returns the latest position above ``known`` at which ``queue`` touched the region.

        ``write`` selects writes, otherwise reads count. 0 means none.
        """

    def shared(self, region: Region, queue: int, write: bool, position: int) -> Shared:
        """Returns the bytes of ``region`` that ``queue`` touched last at ``position``."""

    def mark(self, region: Region, queue: int, write: bool, position: int) -> None:
        """Notes that ``queue`` touches the region at ``position``, its latest."""

    @property
    def queues(self) -> Iterable[tuple[int, bool]]:
        """Who has touched the cluster: queues, and whether they wrote."""


def rows_of(region: Region) -> int:
    """Returns the rows of a region."""
    rows = 1
    for count in region.counts:
        rows *= count
    return rows


def extent_of(group: Sequence[Region]) -> int:
    """Returns the bytes from the first of some regions to the last."""
    return max(region.end for region in group) - min(region.base for region in group)


def unit_of(group: Sequence[Region]) -> int:
    """Returns the largest number of bytes that no region of a group divides."""
    first, unit = min(region.base for region in group), 0
    for region in group:
        unit = gcd(unit, region.base - first, region.length, *region.strides)
    return unit
