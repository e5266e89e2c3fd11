# SPDX-License-Identifier: Apache-2.0
"""Bytes that a step of a program touches, for ops of the engines and of the matrix unit."""

from __future__ import annotations

from tb.isa.cube import CubeOp, MteL1L0a, MteL1L0b
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.nz.table import C0_BYTES
from tb.language.lowered import Region, Touches
from tb.language.trace import Compute, Move
from tb.language.unknown import UndecidedError, Unknown

FRACTAL_ROWS = 16
"""Rows of a fractal: what the matrix unit rounds M, and K of its right factor, up to."""

ACCUMULATORS = 64
"""Bytes of one row of a group of accumulators in L0C."""


def cube_touches(op: CubeOp) -> Touches:
    """Returns what the matrix unit touches at known addresses: whole fractals.

    Raises:
        UndecidedError: a size is not known.
    """

    def up(value: int, unit: int) -> int:
        return -(-value // unit) * unit

    if isinstance(op, MteL1L0a | MteL1L0b):
        rows, columns = (op.m, op.k) if isinstance(op, MteL1L0a) else (op.k, op.n)
        size = ELEMENT_BYTES[op.src_type.dtype]
        length = up(rows, FRACTAL_ROWS) * up(columns * size, C0_BYTES)
        whole = [(op.src_type.space, op.src, length), (op.dst_type.space, op.dst, length)]
    else:
        size = ELEMENT_BYTES[op.lhs_type.dtype]
        row = up(op.k * size, C0_BYTES)
        rows = up(op.k, FRACTAL_ROWS)
        groups = up(op.n, FRACTAL_ROWS) // FRACTAL_ROWS
        whole = [
            (op.lhs_type.space, op.lhs, up(op.m, FRACTAL_ROWS) * row),
            (op.rhs_type.space, op.rhs, rows * up(op.n * size, C0_BYTES)),
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
