# SPDX-License-Identifier: Apache-2.0
"""Bytes that a step of a program touches, for ops of the engines and of the matrix unit."""

from __future__ import annotations

from tb.isa.cube import VECTOR_BYTES, CubeOp, MteL1L0a, MteL1L0b, square
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.nz.table import C0_BYTES
from tb.language.lowered import Region, Touches
from tb.language.trace import Compute, Move
from tb.language.unknown import UndecidedError, Unknown

FRACTAL_ROWS = 16
"""Rows of a fractal: what the matrix unit rounds M and N up to."""

ACCUMULATORS = 64
"""Bytes of one row of a group of accumulators in L0C."""


def cube_touches(op: CubeOp) -> Touches:
    """Returns what the matrix unit touches at known addresses: whole fractals.

    Raises:
        UndecidedError: a size is not known.
    """

    def up(value: int, unit: int) -> int:
        return -(-value // unit) * unit

    if isinstance(op, MteL1L0a):
        size = ELEMENT_BYTES[op.src_type.dtype]
        length = up(op.m, FRACTAL_ROWS) * up(op.k * size, C0_BYTES)
        whole = [(op.src_type.space, op.src, length), (op.dst_type.space, op.dst, length)]
    elif isinstance(op, MteL1L0b):
        size = ELEMENT_BYTES[op.src_type.dtype]
        rows, columns = up(op.k, square(size)), up(op.n, square(size))
        whole = [
            (op.src_type.space, op.src, rows * columns * size),
            (op.dst_type.space, op.dst, up(op.n, FRACTAL_ROWS) * rows * size),
        ]
    elif not op.m or not op.n or not op.k:
        return ()
    else:
        size = ELEMENT_BYTES[op.lhs_type.dtype]
        row = up(op.k * size, C0_BYTES)
        left = up(op.m, FRACTAL_ROWS) * row
        if op.vector:
            left = up(op.k * size, VECTOR_BYTES)
        groups = up(op.n, FRACTAL_ROWS) // FRACTAL_ROWS
        whole = [
            (op.lhs_type.space, op.lhs, left),
            (op.rhs_type.space, op.rhs, up(op.n, FRACTAL_ROWS) * row),
            (op.dst_type.space, op.dst, up(op.m, FRACTAL_ROWS) * groups * ACCUMULATORS),
        ]
    last = len(whole) - 1
    return tuple(
        (Region(space, base, length), number == last)
        for number, (space, base, length) in enumerate(whole)
        if length and not isinstance(base, Unknown)
    )


def touches(step: Move | Compute) -> Touches:
    """Returns the bytes that a step touches; nothing where that is not known."""
    if isinstance(step, Move):
        return step.lowering.touches
    try:
        return cube_touches(step.op)
    except (KeyError, UndecidedError):  # Types that the matrix unit does not take.
        return ()
