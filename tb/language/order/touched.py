# SPDX-License-Identifier: Apache-2.0
"""Bytes that a step of a program touches, for ops of the engines and of the matrix unit."""

from __future__ import annotations

from tb.isa.mad import ACC, Mad, parts
from tb.language.lowered import Region, Touches
from tb.language.trace import Compute, Move
from tb.language.unknown import UndecidedError, Unknown


def mad_touches(op: Mad) -> Touches:
    """Returns what a product touches at known addresses: whole fractals.

    Raises:
        UndecidedError: an extent is not known.
    """
    found = [
        (Region(part.memory, part.start, part.length), part.role == "dst")
        for part in parts(op)
        if part.length and not isinstance(part.start, Unknown)
    ]
    if op.initial == ACC:
        found += [(region, False) for region, written in found if written]
    return tuple(found)


def touches(step: Move | Compute) -> Touches:
    """Returns the bytes that a step touches; nothing where that is not known."""
    if isinstance(step, Move):
        return step.lowering.touches
    try:
        return mad_touches(step.op)
    except (ValueError, UndecidedError):  # Types that the matrix unit does not take.
        return ()
