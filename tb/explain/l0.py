# SPDX-License-Identifier: Apache-2.0
"""Bytes of the loads to L0A, L0B and their scales (spec/l0_loads.md, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Iterator

from tb.explain.parts import DATA, Axis, Part, moved
from tb.isa.l0.op import L0Descriptor
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, SCALE_BYTES
from tb.isa.spaces import Space, segment_base

_NIBBLE = 4


def l0_parts(desc: L0Descriptor) -> Iterator[Part]:
    """Yields the rows of 32 bytes, the fragments, or transposed the elements of a load."""
    base = segment_base(desc.spec.memory)
    if desc.spec.scales:
        first = desc.m_start * desc.src_stride + desc.k_start
        x = Axis("x", desc.m_step, desc.src_stride * SCALE_BYTES, desc.dst_stride * SCALE_BYTES)
        y = Axis("y", desc.k_step, SCALE_BYTES, SCALE_BYTES)
        source = (Space.L1, desc.src_addr + first * SCALE_BYTES)
        yield moved(DATA, (Space.L0, base + desc.scale_addr), source, SCALE_BYTES, (x, y))
        return
    first = desc.k_start * desc.src_stride + desc.m_start
    source = (Space.L1, desc.src_addr + first * FRACTAL_BYTES)
    target = (Space.L0, base + desc.dst_addr)
    pitches = (desc.src_stride * FRACTAL_BYTES, desc.dst_stride * FRACTAL_BYTES)
    rows = FRACTAL_ROWS * desc.m_step
    if desc.transpose:
        yield _transposed(desc, source, target, rows)
        return
    column = Axis("C0 column", desc.k_step, *pitches)
    yield moved(DATA, target, source, C0_BYTES, (column, Axis("row", rows, C0_BYTES, C0_BYTES)))


def _transposed(
    desc: L0Descriptor, source: tuple[Space, int], target: tuple[Space, int], rows: int
) -> Part:
    """Returns elements (p, q) of the source that become (q, p); p is the row there."""
    bits = desc.elem_bits
    lanes = 8 * C0_BYTES // bits
    column = Axis("source column", desc.k_step, desc.src_stride * FRACTAL_BYTES, lanes * C0_BYTES)
    block = Axis("row block", rows // lanes, lanes * C0_BYTES, desc.dst_stride * FRACTAL_BYTES)
    if bits == _NIBBLE:
        # A byte is made of the same nibble of two rows, which lie under each other at the source.
        axes = (
            column,
            block,
            Axis("lane byte", C0_BYTES, 1, 2 * C0_BYTES),
            Axis("nibble", 2, 0, C0_BYTES),
            Axis("row pair", C0_BYTES, 2 * C0_BYTES, 1),
        )
        how = "low or high nibble (0 or 1) of two rows"
        return Part(DATA, *target, 1, axes, *source, 1, pieces=(0, C0_BYTES), moved=False, how=how)
    size = bits // 8
    lane, row = Axis("lane", lanes, size, C0_BYTES), Axis("row", lanes, C0_BYTES, size)
    return moved(DATA, target, source, size, (column, block, lane, row))
