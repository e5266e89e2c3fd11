# SPDX-License-Identifier: Apache-2.0
"""The memories of the ISA: codes, capacities and alignments (docs/spec/README.md, "Memories")."""

from __future__ import annotations

from enum import IntEnum


class Space(IntEnum):
    """One simulated memory. The value is the code on a slot's ``*_space`` ports."""

    GM = 0
    UB0 = 1
    UB1 = 2
    L1 = 3
    L0C = 4
    BT = 5
    FB = 6
    L0 = 7

    @property
    def keyword(self) -> str:
        """Name of the address space in PTO text: both vector sub-blocks are ``ub``."""
        return "ub" if self in UB_SUB_BLOCKS else self.name.lower()


GM_ADDR_BITS = 40
"""Width of a GM byte address (docs/spec/ambiguities.md, A-18)."""

FB_SEGMENT_BYTES = 4096
"""Capacity of one segment of fb in bytes (docs/spec/bias_fb.md, section 3; A-61)."""

FB_SEGMENT_SHIFT = 16
"""An fb address is ``segment << FB_SEGMENT_SHIFT`` plus an offset below ``FB_SEGMENT_BYTES``."""

FB_SEGMENTS: dict[str, int] = {"pre_quant": 0, "pre_relu": 1}
"""Segments of fb by the parameters that they hold (A-24)."""

L0_SEGMENT_SHIFT = 17
"""An address in l0 is ``segment << L0_SEGMENT_SHIFT`` plus an offset: one port reaches all four."""

L0_SEGMENTS: dict[str, int] = {"l0a": 0, "l0b": 1, "l0a_mx": 2, "l0b_mx": 3}
"""Memories of the matrix unit's operands and of their scales, by the segment of l0."""

_L0_BYTES = {"l0a": 65536, "l0b": 65536, "l0a_mx": 4096, "l0b_mx": 4096}
"""Their capacities in bytes (docs/spec/l0_loads.md, section 1)."""

SIZES: dict[Space, int] = {
    Space.GM: 1 << GM_ADDR_BITS,
    Space.UB0: 262144,
    Space.UB1: 262144,
    Space.L1: 524288,
    Space.L0C: 262144,
    Space.BT: 4096,
    Space.FB: (max(FB_SEGMENTS.values()) << FB_SEGMENT_SHIFT) + FB_SEGMENT_BYTES,
    Space.L0: (max(L0_SEGMENTS.values()) << L0_SEGMENT_SHIFT) + _L0_BYTES["l0b_mx"],
}
"""First byte address after each memory (docs/spec/ambiguities.md, A-02): its capacity, except for
fb and l0, whose segments leave holes; see :data:`SEGMENTS`."""

SEGMENTS: dict[Space, tuple[range, ...]] = {
    space: (range(size),) for space, size in SIZES.items()
} | {
    Space.FB: tuple(
        range(number << FB_SEGMENT_SHIFT, (number << FB_SEGMENT_SHIFT) + FB_SEGMENT_BYTES)
        for number in FB_SEGMENTS.values()
    ),
    Space.L0: tuple(
        range(number << L0_SEGMENT_SHIFT, (number << L0_SEGMENT_SHIFT) + _L0_BYTES[name])
        for name, number in L0_SEGMENTS.items()
    ),
}
"""Byte addresses that exist in each memory. An op stays in one segment; an access outside all of
them is an error of the port."""

UB_SUB_BLOCKS: tuple[Space, Space] = (Space.UB0, Space.UB1)
"""The UB of each vector core; an op accesses the one of the core that issues it (A-17)."""

UB_BLOCK = 32
"""Bytes in a UB block: alignment of UB and L1 base addresses and strides (DMA-L06, DMA-L07)."""


def segment_base(memory: str) -> int:
    """Returns the address in l0 at which a memory begins, such as ``l0b``."""
    return L0_SEGMENTS[memory] << L0_SEGMENT_SHIFT


def memory_range(name: str) -> tuple[Space, range]:
    """Returns the space and the byte addresses of a memory, such as ``ub1`` or ``l0b_mx``.

    Raises:
        KeyError: there is no such memory.
    """
    if name in L0_SEGMENTS:
        return Space.L0, SEGMENTS[Space.L0][L0_SEGMENTS[name]]
    space = Space[name.upper()]
    return space, range(SIZES[space])


def located(space: Space, address: int) -> tuple[str, int]:
    """Returns the name of the memory at an address of a space, and the address in that memory.

    The space l0 is four memories on one port: ``l0b`` begins at address 0x20000 of it. What an
    engine accesses after the last of them is in none: ``l0`` and the address in the space.
    """
    if space is not Space.L0 or address >> L0_SEGMENT_SHIFT >= len(L0_SEGMENTS):
        return space.name.lower(), address
    name = tuple(L0_SEGMENTS)[address >> L0_SEGMENT_SHIFT]
    return name, address - segment_base(name)


def place_text(space: Space, address: int) -> str:
    """Returns the memory and the address in it as reports have them: ``L0B 0x03a00``."""
    name, offset = located(space, address)
    return f"{name.upper()} {hex_address(space, offset)}"


def hex_address(space: Space, address: int) -> str:
    """Returns an address as wide as its memory's: ten digits for GM, five for the others."""
    return f"{address:#0{12 if space is Space.GM else 7}x}"


def block_end(address: int) -> int:
    """Returns the first multiple of 32 that is not below ``address``: ALIGN32 of the spec."""
    return -(-address // UB_BLOCK) * UB_BLOCK


def ub_space(sub_block: int) -> Space:
    """Returns the UB of vector sub-block 0 or 1.

    Raises:
        ValueError: ``sub_block`` is neither 0 nor 1.
    """
    if sub_block not in (0, 1):
        raise ValueError(f"ub_sub is {sub_block}: a UB sub-block is 0 or 1")
    return UB_SUB_BLOCKS[sub_block]
