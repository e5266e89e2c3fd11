# SPDX-License-Identifier: Apache-2.0
"""Corners of the copies with a GM side that a knob of the profile allows or changes.

Each is legal under the profile of the process, whatever mix of knobs it is; a knob at its value of
``seed`` has none here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sequences.corner.spots import up
from tb.isa.dma.op import DmaOp, Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.op import replace
from tb.isa.profile import SEED, current
from tb.isa.spaces import UB_BLOCK

ELEMENTS = {1: "ui8", 2: "bf16", 4: "si32", 8: "f64"}
"""An element type of each size."""


def _typed(op: DmaOp, size: int) -> DmaOp:
    dtype = ELEMENTS[size]
    return replace(op, src_type=Ptr(dtype, "gm"), dst_type=Ptr(dtype, op.spec.destination))


def tails(make: type[DmaOp]) -> Iterator[DmaOp]:
    """Knob ``tail``: rows of every length around a block and every element size, also in loops."""
    for size, length in product(ELEMENTS, range(1, 68)):
        if length >= size:
            rows, stride = 1 + length % 3, up(length) + UB_BLOCK * (length % 2)
            yield _typed(make(0, 0, length, rows, length + 5, stride), size)
    for size, length in product(ELEMENTS, (9, 33, 47)):
        loops = (Loop(2, 40, 64), Loop(3, 200, 256))
        yield _typed(make(0, 0, length, 1, 0, 0, loops), size)


def repeats(make: type[DmaOp]) -> Iterator[DmaOp]:
    """Knob ``row_repeat``: source strides from 0 to the length, of short and long rows."""
    for length, rows in product((1, 5, 31, 32, 33, 64, 100, 300), (2, 3, 9)):
        for stride in sorted({0, 1, length // 2, length - 1}):
            yield make(0, 0, length, rows, stride, up(length))
    yield make(0, 0, 64, 3, 16, 64, (Loop(2, 8, 192), Loop(2, 0, 384)))


def groups(make: type[DmaOp]) -> Iterator[DmaOp]:
    """Knob ``compact``: rows of every length without gaps, few and many, also in loops."""
    for size, length in product(ELEMENTS, (*range(1, 41), 63, 65, 95, 127, 129)):
        if length >= size:
            rows = 2 + length % 5
            yield _typed(make(0, 0, length, rows, length + length % 4, length), size)
    for length, rows in product((1, 2, 3, 5, 7, 31, 33), (16, 31, 32, 33, 64, 129)):
        yield make(0, 0, length, rows, length + 3, length)
    for length, rows in product((1, 5, 6, 33), (2, 3, 11)):
        step = up(length * rows)
        inner, outer = Loop(2, 100, step), Loop(3, 300, 2 * step + UB_BLOCK)
        yield make(0, 0, length, rows, length, length, (inner,))
        yield make(0, 0, length, rows, 40, length, (inner, outer))
        # Outer iterations between the inner ones.
        yield make(0, 0, length, rows, 40, length, (Loop(3, 90, 2 * step), Loop(2, 7, step)))
    if current().row_repeat == "legal":
        for stride in (0, 1, 4):
            yield make(0, 0, 5, 9, stride, 5)
    if current().longest > SEED.longest:
        # One byte a row: rows with gaps would need more than the memory.
        yield make(0, 0, 1, 65537, 2, 1)
    if make.spec.has("pad_value"):
        for size, length in product((1, 2, 4), (1, 3, 5, 8, 9, 15, 17, 31)):
            dtype, pad = ELEMENTS[size], Pad(f"i{8 * size}", 0xC3A5965A & (1 << 8 * size) - 1)
            types = {"src_type": Ptr(dtype, "gm"), "dst_type": Ptr(dtype, "ub")}
            row, rows = length * size, 2 + length % 4
            step = up(row * rows)
            for loops in ((), (Loop(2, 100, step), Loop(3, 300, 2 * step + UB_BLOCK))):
                yield replace(make(0, 0, row, rows, row + 3, row, loops, pad), **types)


def packed_stores() -> Iterator[MteUbGm]:
    """Knob ``compact``: rows of every length without gaps in UB, few and many, also in loops."""
    if current().compact == "error":
        return
    for length in (*range(1, 41), 63, 65, 127, 129):
        yield MteUbGm(0, 0, length, 2 + length % 5, length, length + length % 4)
    for length, rows in product((1, 5, 31, 33), (16, 33, 129)):
        step = up(length * rows)
        loops = (Loop(2, step, 8192), Loop(3, 2 * step + UB_BLOCK, 16384))
        yield MteUbGm(0, 0, length, rows, length, length + 3, loops)


def ends(make: type[DmaOp]) -> Iterator[DmaOp]:
    """Knob ``pad_end``: strides far larger than the padded row, and right pads in a later block."""
    for length, left, right in product((2, 10, 30, 32, 62), (0, 1, 16), (0, 1, 2, 16)):
        need = 2 * (left + right) + length
        for stride in (up(need), up(need) + UB_BLOCK, 1024, 8192):
            pad = Pad("f16", 0x3C00, left, right)
            yield _padded(make(0, 0, length, 1 + length % 3, 16 + length, stride, (), pad))
    for stride in (0, 1, 31, 64, 0x1FFFFF):
        for length, right in ((2, 0), (30, 1), (32, 0), (34, 16)):
            yield _padded(make(0, 0, length, 1, 7, stride, (), Pad("f16", 0x3C01, 1, right)))
    # Loops between the rows, inside the stride.
    pad = Pad("f16", 0x1234, 1, 0)
    yield _padded(make(0, 0, 10, 3, 20, 256, (Loop(4, 70, 32), Loop(2, 300, 128)), pad))


def _padded(op: DmaOp) -> DmaOp:
    return replace(op, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub"))


def knob_shapes(make: type[DmaOp]) -> Iterator[DmaOp]:
    """Small corners at address 0 of both memories, of the knobs that are not those of ``seed``."""
    knobs = current()
    if make.spec.source != "gm":
        return
    if knobs.tail == "fill":
        yield from tails(make)
    if knobs.row_repeat == "legal":
        yield from repeats(make)
    if knobs.compact == "legal":
        yield from groups(make)
    if knobs.pad_end == "block" and make.spec.has("pad_value"):
        yield from ends(make)


def neighbours() -> Iterator[list[DmaOp]]:
    """Padded loads side by side, each in the bytes that the strides of the others leave free."""
    if current().pad_end == "block":
        pad = Pad("f16", 0x3C00)
        for sizes in ((10, 20, 32, 4), (2, 32, 30, 8)):
            yield [
                _padded(MteGmUb(4096 * k, UB_BLOCK * k, length, 5, 48, 128, (), pad))
                for k, length in enumerate(sizes)
            ]
