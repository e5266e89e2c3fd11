# SPDX-License-Identifier: Apache-2.0
"""Corners of the loads to L0A, L0B and their scales."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product

from sequences.corner.spots import BLOCK_OPS, block
from tb.isa.block import OpBlock
from tb.isa.dtypes import Ptr
from tb.isa.footprint import destination, source
from tb.isa.l0.op import LOAD_CLASSES, L0Load, bits_of, square_of
from tb.isa.l0.table import (
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    LOADS,
    SCALE_BYTES,
    SCALE_DTYPE,
    SCALE_RATIO,
    LoadSpec,
)
from tb.isa.op import replace
from tb.isa.spaces import SIZES, UB_BLOCK, Space, memory_range

L1 = SIZES[Space.L1]

TYPES = ("i8", "f16", "f32", "f4E2M1x2")

Control = tuple[int, int, int, int, int, int]


def load(spec: LoadSpec, dtype: str, control: Control, turn: int = 0) -> L0Load:
    """Returns a load from the start of L1 to the start of its memory, in control form."""
    dtype = SCALE_DTYPE if spec.scales else dtype
    types = Ptr(dtype, "l1"), Ptr(dtype, spec.destination)
    return LOAD_CLASSES[spec.name](0, 0, *control, turn, *types)


def _multiples(dtype: str) -> tuple[int, int]:
    """Returns what m_step and k_step of a transposed load are multiples of."""
    bits = bits_of(dtype)
    return square_of(bits) // FRACTAL_ROWS if bits < 16 else 1, 2 if bits == 32 else 1


def _height(op: L0Load) -> int:
    """Returns the units of a column, or of a row of fragments, at the destination."""
    return op.k_step if op.spec.scales else op.moved[0]


def _tight(op: L0Load) -> L0Load:
    """Returns a load with the least destination stride."""
    return replace(op, dst_stride=max(_height(op), 1))


def _spots(spec: LoadSpec) -> Iterator[L0Load]:
    if spec.scales:
        for x, y, more in product((1, 2, 3, 5), (1, 2, 3, 4, 7), (0, 1, 5)):
            yield load(spec, "", (0, 0, x, y, y + more, y + (more + 1) % 3))
        for x, start in product((0, 1, 3), (0, 1, 2, 5)):
            yield load(spec, "", (x, start, 3, 3, 9, 4))
        return
    for dtype, turn in product(TYPES, (0, 1)):
        rows, columns = _multiples(dtype) if turn else (1, 1)
        for m, k in product((1, 2, 3), (1, 2, 3, 4)):
            m_step, k_step = m * rows, k * columns
            for more, apart in ((0, 0), (1, 0), (0, 1), (3, 5)):
                op = load(spec, dtype, (0, 0, m_step, k_step, m_step + more, 1), turn)
                yield replace(op, dst_stride=_height(op) + apart)
        for m_start, k_start in product((0, 1, 2), (0, 1, 3)):
            yield _tight(load(spec, dtype, (m_start, k_start, rows, 2 * columns, 11, 1), turn))
        # Columns that are read again, in part or whole.
        for stride in range(1, 2 * rows):
            yield _tight(load(spec, dtype, (0, 0, 2 * rows, 4 * columns, stride, 1), turn))
        for at in range(0, 128, UB_BLOCK):
            op = _tight(load(spec, dtype, (0, 0, 2 * rows, 2 * columns, 2 * rows + 1, 1), turn))
            yield replace(op, src=at)
        # All of the memory, as one column, few ones, few rows.
        fractals = len(memory_range(spec.memory)[1]) // FRACTAL_BYTES
        for m_step in (fractals // 2, 8, rows):
            yield _tight(load(spec, dtype, (0, 0, m_step, fractals // m_step, m_step, 1), turn))


def _packed(ops: Iterable[L0Load]) -> Iterator[OpBlock]:
    """Yields blocks of loads with a place each at the destination; sources move on, too."""
    placed: list[L0Load] = []
    reached, read = 0, 0
    for op in ops:
        written = destination(op)
        span = written.end - written.base
        span = -(-span // _alignment(op.spec)) * _alignment(op.spec)
        if placed and (reached + span > len(memory_range(op.spec.memory)[1])
                       or len(placed) == BLOCK_OPS):  # fmt: skip
            yield block(placed)
            placed, reached = [], 0
        size = source(op).end
        read = read if read + size <= L1 else 0
        ratio = SCALE_RATIO if op.spec.scales else 1
        placed.append(replace(op, src=op.src + read, dst=reached * ratio))
        reached, read = reached + span, read + -(-size // UB_BLOCK) * UB_BLOCK
    if placed:
        yield block(placed)


def _alignment(spec: LoadSpec) -> int:
    return SCALE_BYTES if spec.scales else FRACTAL_BYTES


def l0_blocks(names: Collection[str]) -> Iterator[OpBlock]:
    """Yields the corners of every load of ``names``."""
    for name, spec in LOADS.items():
        if name in names:
            yield from _packed(_spots(spec))
