# SPDX-License-Identifier: Apache-2.0
"""Addresses of buffers in GM: random, 40 bits, disjoint.

Two buffers, or a buffer and bytes that the program names by address, never overlap, and at least
:data:`GUARD` bytes lie between them, so that a write outside a buffer is not hidden by another
buffer's data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tb.common.errors import PtoError
from tb.isa.spaces import GM_ADDR_BITS
from tb.language.order.loaded import Written

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
    name: str


def place(
    wanted: Sequence[Wanted],
    seed: tuple[int, ...],
    *,
    taken: Iterable[Taken] = (),
    avoided: Iterable[tuple[int, int]] = (),
) -> tuple[int, ...]:
    """Returns the address of each buffer; equal seeds give equal addresses.

    Args:
        wanted: The buffers.
        seed: Of random addresses.
        taken: Ranges with given contents, which no buffer may overlap.
        avoided: Ranges ``start, stop`` that no randomly placed buffer may overlap.

    Raises:
        PtoError: fixed addresses overlap or leave GM, or there is no room.
    """
    fixed = list(taken)
    for one in wanted:
        if one.address is not None:
            fixed.append(_fixed(one, one.address, fixed))
    used = Written()
    for start, stop in sorted([*((one.start, one.stop) for one in fixed), *avoided]):
        used.add(start, stop)
    rng = np.random.default_rng(seed)
    return tuple(draw(one, used, rng) if one.address is None else one.address for one in wanted)


def _fixed(wanted: Wanted, start: int, others: Iterable[Taken]) -> Taken:
    """Returns the range of a buffer with a given address; raises PtoError where it cannot be."""
    what = f"{wanted.name}, {wanted.length} bytes at {start:#x}"
    stop = start + wanted.length
    if stop > GM_BYTES:
        raise PtoError(f"{what}, leaves GM", legal=f"addresses 0..{GM_BYTES - 1:#x}")
    for other in others:
        if other.start < stop and start < other.stop:
            raise PtoError(
                f"{what}, overlaps {other.name} at {other.start:#x}..{other.stop - 1:#x}",
                remedy="move one of them, or let the address be chosen",
            )
    return Taken(start, stop, wanted.name)


def draw(wanted: Wanted, used: Written, rng: np.random.Generator) -> int:
    """Adds a range at a random address, away from others, and returns the address.

    Raises:
        PtoError: no place was found.
    """
    most = (GM_BYTES - wanted.length) // wanted.align
    for _ in range(TRIES if wanted.length <= GM_BYTES else 0):
        start = int(rng.integers(0, most + 1)) * wanted.align
        stop = start + wanted.length
        guarded = start - GUARD, stop + GUARD
        if used.missing(*guarded) == guarded:
            used.add(start, stop)
            return start
    raise PtoError(
        f"no place in GM for {wanted.name}, {wanted.length} bytes",
        legal=f"GM has {GM_BYTES} bytes",
        remedy="make buffers smaller, or give their addresses",
    )
