# SPDX-License-Identifier: Apache-2.0
"""Corners of the fill of L1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sequences.constraints import L1_SIZE
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


def fill_limits() -> Iterator[RawFillL1]:
    """The largest counts that L1 allows, its ends, and NOPs."""
    blocks = L1_SIZE // UB_BLOCK
    yield RawFillL1(0, 0, PATTERN, 1, blocks, MOST, 32)
    yield RawFillL1(0, 0, PATTERN, blocks, 1, 0)
    yield RawFillL1(0, 0, PATTERN, blocks // 2, 1, 1, 32)
    yield RawFillL1(0, 0, PATTERN, 2, 1, blocks - 2)
    for repeat, length, gap in ((1, 1, 0), (3, 2, 1), (2, 5, 0), (1, 1, MOST)):
        span = ((repeat - 1) * (length + gap) + length) * UB_BLOCK
        yield RawFillL1(L1_SIZE - span, 0, PATTERN, repeat, length, gap)
        yield RawFillL1(0, L1_SIZE - span, PATTERN, repeat, length, gap, 32)
        yield RawFillL1(L1_SIZE - span - 7, 7, PATTERN, repeat, length, gap, 32)
    for base, offset in ((0, 0), (L1_SIZE, 0), (0, L1_SIZE), (L1_SIZE - 1, L1_SIZE + 1)):
        yield RawFillL1(base, offset, PATTERN, 0, MOST, MOST)
        yield RawFillL1(base, offset, PATTERN, MOST, 0, MOST, 32)
    yield RawFillL1(0, 0, PATTERN, 0, 0, 0)
