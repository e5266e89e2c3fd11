# SPDX-License-Identifier: Apache-2.0
"""Places in one memory of a block, allocated one by one: at its ends, next to others, anywhere."""

from __future__ import annotations

from bisect import bisect_left
from random import Random

_TRIES = 6


class Arena:
    """Disjoint intervals of ``start..end - 1``.

    Args:
        start, end: Bounds, bytes.
    """

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self._starts: list[int] = []
        self._ends: list[int] = []

    def free(self, low: int, high: int) -> bool:
        """Returns whether ``low..high - 1`` lies inside and is free."""
        if low < self.start or high > self.end:
            return False
        at = bisect_left(self._starts, high)
        return at == 0 or self._ends[at - 1] <= low

    def take(self, low: int, high: int) -> None:
        """Takes a free interval."""
        at = bisect_left(self._starts, low)
        self._starts.insert(at, low)
        self._ends.insert(at, high)

    def candidates(self, rng: Random, size: int, unit: int, residue: int = 0) -> list[int]:
        """Returns a few starts at ``residue`` modulo ``unit``, some of which may be free."""
        spare = self.end - self.start - size
        if spare < 0:
            return []
        found = []
        for _ in range(_TRIES):
            kind = rng.random()
            if kind < 0.12:
                at = self.start
            elif kind < 0.3:
                at = self.end - size
            elif kind < 0.6 and self._ends:
                neighbour = rng.randrange(len(self._ends))
                at = self._ends[neighbour] if rng.random() < 0.5 else self._starts[neighbour] - size
                if at == self._ends[neighbour]:
                    at += (residue - at) % unit
            else:
                at = self.start + int(rng.random() * (spare + 1))
            found.append(at - (at - residue) % unit)
        return found

    def first(self, size: int, unit: int, residue: int = 0) -> int | None:
        """Returns the lowest place that is free, None without one."""
        at = self.start
        for low, high in zip((*self._starts, self.end), (*self._ends, self.end), strict=True):
            at += (residue - at) % unit
            if at + size <= low:
                return at
            at = max(at, high)
        return None

    def place(self, rng: Random, size: int, unit: int, residue: int = 0) -> int | None:
        """Takes ``size`` bytes at ``residue`` modulo ``unit`` somewhere; None when full."""
        for at in self.candidates(rng, size, unit, residue):
            if self.free(at, at + size):
                self.take(at, at + size)
                return at
        found = self.first(size, unit, residue)
        if found is not None:
            self.take(found, found + size)
        return found


def place_in_both(one: Arena, other: Arena, rng: Random, size: int, unit: int) -> int | None:
    """Takes the same place in two memories; None when no candidate is free in both."""
    for side in (one, other, one, other):
        for at in side.candidates(rng, size, unit):
            if one.free(at, at + size) and other.free(at, at + size):
                one.take(at, at + size)
                other.take(at, at + size)
                return at
    return None
