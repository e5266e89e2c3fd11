# SPDX-License-Identifier: Apache-2.0
"""Names of memories and addresses in them: the space l0 is four memories behind one port."""

from __future__ import annotations

from tb.isa.spaces import L0_SEGMENTS, SEGMENTS, Space, located

NAMES: tuple[str, ...] = tuple(
    name
    for space in Space
    for name in (L0_SEGMENTS if space is Space.L0 else (space.name.lower(),))
)
"""Names of all memories, such as ``ub1`` and ``l0b_mx``."""


def memory(space: Space, address: int) -> str:
    """Returns the name of the memory at an address of a space."""
    return located(space, address)[0]


def heading(space: Space, address: int) -> str:
    """Returns the name of the memory at an address of a space as it is printed: ``L0B``."""
    return memory(space, address).upper()


def ranges_of(name: str) -> tuple[tuple[Space, int, int], ...]:
    """Returns what a name means: spaces, with the first address and the one after the last.

    ``ub`` means both sub-blocks. An unknown name means nothing.
    """
    if name in L0_SEGMENTS:
        addresses = SEGMENTS[Space.L0][L0_SEGMENTS[name]]
        return ((Space.L0, addresses.start, addresses.stop),)
    return tuple(
        (space, 0, SEGMENTS[space][-1].stop)
        for space in Space
        if space is not Space.L0 and name in (space.keyword, space.name.lower())
    )
