# SPDX-License-Identifier: Apache-2.0
"""Addresses of buffers in GM: random, 40 bits, disjoint.

Two buffers, or a buffer and bytes that the program names by address, never overlap, and at least
:data:`GUARD` bytes lie between them, so that a write outside a buffer is not hidden by another
buffer's data.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tb.common.errors import PtoError
from tb.isa.spaces import GM_ADDR_BITS

GM_BYTES = 1 << GM_ADDR_BITS
GUARD = 4096
"""Least bytes between two buffers: a page of the simulated GM."""

TRIES = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """A buffer to place.

    Attributes:
        name: Name in messages.
        length: Its bytes, at least 1.
        align: Alignment of its address.
        address: Required address, None for any.
    """

    name: str
    length: int
    align: int = 1
    address: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A range of GM, ``start .. stop - 1``."""

    start: int
    stop: int
    name: str = ""


class Placement:
    """Allocator of GM ranges.

    Args:
        taken: Ranges that no buffer may touch; they may overlap each other.

    Attributes:
        taken: Ranges in order of address, of which no two overlap.
    """

    def __init__(self, taken: Iterable[Taken] = ()) -> None:
        self.taken = merged(taken)

    def put(self, start: int, stop: int, name: str) -> None:
        """Allocates a given range.

        Raises:
            PtoError: a part of it is taken, or it leaves GM; the caller adds the place.
        """
        if start < 0 or stop > GM_BYTES:
            raise PtoError(
                f"{name}, {stop - start} bytes at {start:#x}, leaves GM",
                legal=f"addresses 0..{GM_BYTES - 1:#x}",
            )
        other = self.meets(start, stop)
        if other is not None:
            raise PtoError(
                f"{name}, {stop - start} bytes at {start:#x}, overlaps {other.name} at "
                f"{other.start:#x}..{other.stop - 1:#x}",
                remedy="move one of them, or let the address be chosen",
            )
        insort(self.taken, Taken(start, stop, name), key=lambda one: one.start)

    def meets(self, start: int, stop: int) -> Taken | None:
        """Returns an allocated part of a range, or None."""
        index = bisect_left(self.taken, stop, key=lambda one: one.start)
        if index and self.taken[index - 1].stop > start:
            return self.taken[index - 1]
        return None

    def draw(self, wanted: Wanted, rng: np.random.Generator) -> int:
        """Allocates a range at a random address, away from others, and returns the address.

        Raises:
            PtoError: no place was found.
        """
        most = (GM_BYTES - wanted.length) // wanted.align
        for _ in range(TRIES if wanted.length <= GM_BYTES else 0):
            start = int(rng.integers(0, most + 1)) * wanted.align
            stop = start + wanted.length
            if self.meets(start - GUARD, stop + GUARD) is None:
                self.put(start, stop, wanted.name)
                return start
        raise PtoError(
            f"no place in GM for {wanted.name}, {wanted.length} bytes",
            legal=f"GM has {GM_BYTES} bytes",
            remedy="make buffers smaller, or give their addresses",
        )


def merged(ranges: Iterable[Taken]) -> list[Taken]:
    """Returns ranges in order of address, with adjacent ones merged."""
    found: list[Taken] = []
    for one in sorted(ranges, key=lambda one: (one.start, one.stop)):
        if found and one.start <= found[-1].stop:
            last = found[-1]
            found[-1] = Taken(last.start, max(last.stop, one.stop), last.name or one.name)
        else:
            found.append(one)
    return found


def place(
    wanted: Sequence[Wanted],
    seed: tuple[int, ...],
    *,
    taken: Iterable[Taken] = (),
    avoided: Iterable[Taken] = (),
) -> tuple[int, ...]:
    """Returns the address of each buffer; equal seeds give equal addresses.

    Args:
        wanted: The buffers.
        seed: Of random addresses.
        taken: Ranges with given contents, which no buffer may overlap.
        avoided: Ranges that no randomly placed buffer may overlap.

    Raises:
        PtoError: fixed addresses overlap or leave GM, or there is no room.
    """
    fixed = Placement(taken)
    for one in wanted:
        if one.address is not None:
            fixed.put(one.address, one.address + one.length, one.name)
    gm = Placement((*fixed.taken, *avoided))
    rng = np.random.default_rng(seed)
    return tuple(one.address if one.address is not None else gm.draw(one, rng) for one in wanted)
