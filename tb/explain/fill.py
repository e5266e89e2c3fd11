# SPDX-License-Identifier: Apache-2.0
"""Bytes of the fill of L1 (spec/dma.md, section 9)."""

from __future__ import annotations

from collections.abc import Iterator

from tb.explain.parts import DATA, Axis, Part, made
from tb.isa.fill.op import FillDescriptor
from tb.isa.spaces import UB_BLOCK, Space


def fill_parts(desc: FillDescriptor) -> Iterator[Part]:
    """Yields the runs of a fill that writes something."""
    word = (desc.raw & (1 << desc.word_bits) - 1).to_bytes(desc.word_bits // 8, "little")
    axes = (Axis("burst", desc.n_burst, 0, (desc.len + desc.dst_gap) * UB_BLOCK),)
    how = f"pattern {word[::-1].hex()}"
    yield made(DATA, (Space.L1, desc.first), desc.len * UB_BLOCK, axes, word, how)


def fill_lines(desc: FillDescriptor) -> Iterator[str]:
    """Yields the sentences on where the runs begin, and what is in them."""
    gap = f", {desc.dst_gap * UB_BLOCK} B between two" if desc.n_burst > 1 else ""
    size = desc.len * UB_BLOCK
    yield f"{desc.n_burst} runs of {size} B from L1 {desc.first:#x} on{gap}; nothing is read"
    if desc.word_bits < 32:
        yield "the low 16 bits of raw count, the others are ignored"
