# SPDX-License-Identifier: Apache-2.0
"""Corners of the fill of L1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tb.isa.fill.op import COUNT_BITS, WORD_BITS, RawFillL1
from tb.isa.spaces import UB_BLOCK

MOST = (1 << COUNT_BITS) - 1
PATTERN = 0x89ABCDEF


def fill_spots() -> Iterator[RawFillL1]:
    """Small fills: blocks, repeats and gaps, both widths, and every division of the address."""
    for blocks, repeat, gap, bits in product((1, 2, 3, 5), (1, 2, 3), (0, 1, 2, 3), WORD_BITS):
        yield RawFillL1(0, 0, PATTERN, repeat, blocks, gap, bits)
    for offset in range(2 * UB_BLOCK + 1):
        yield RawFillL1(0, offset, PATTERN ^ offset, 2, 1, 1, WORD_BITS[offset % 2])
    for blocks in range(1, 34):
        yield RawFillL1(0, 0, PATTERN, 2, blocks, 0)
    for raw, bits in product((0, 1, 0xFF00, 0xFFFF, 0x10000, 0x80000000, 0xFFFFFFFF), WORD_BITS):
        yield RawFillL1(0, 0, raw, 1, 1, 0, bits)
