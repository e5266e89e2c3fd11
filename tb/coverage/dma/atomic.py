# SPDX-License-Identifier: Apache-2.0
"""Atomic stores of UB: CTRL at the issue, elements, and rows in bus words.

Source: docs/spec/order_and_atomics.md, sections 5 and 6.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tb.coverage.atomic import (
    BITS_48,
    SET_POINTS,
    TYPES,
    WRITTEN,
    event_points,
    idle_point,
    kind_points,
)
from tb.coverage.model import Cross, Ints, crossed
from tb.coverage.ops import Bools, Derived, Ops
from tb.coverage.points import Row, codes, ordered_cases, program_flag
from tb.coverage.view import RESTORED, SET_CTRL
from tb.isa.fix.table import ATOMIC_BYTES

PLACES = ("whole words", "inside a word", "meets the next row", "across words")
_SIZES = np.array([1, *[ATOMIC_BYTES[code] for code in range(1, len(TYPES) + 1)]])
_OFFSETS = [f"{size} B at {at}" for size in (1, 2, 4) for at in range(0, 4, size)]

DERIVED: Derived = {
    "updates": lambda v: v.live & (v.atomic_type > 0),
    "c48": lambda v: v.nosat,
}


def _place(bus_bytes: int, v: Ops) -> dict[str, Bools]:
    start, length = v.ext_addr, v.length
    partly = length % bus_bytes > 0
    return {
        "whole words": (start % bus_bytes == 0) & ~partly,
        "meets the next row": (v.n_burst > 1) & (v.ext_stride == length) & partly,
        "inside a word": start // bus_bytes == (start + length - 1) // bus_bytes,
    }


def _offset(v: Ops) -> Ints:
    size = _SIZES[v.atomic_type]
    first = np.where(size == 1, 0, np.where(size == 2, 4, 6))
    return first + v.ext_addr % 4 // size


def _idle(v: Ops) -> Bools:
    return v.live & (v.program & WRITTEN > 0) & (v.atomic_type == 0)


def atomic_points(bus_bytes: int) -> list[Row]:
    """Returns type, op and events of atomic stores, and how their rows lie in bus words."""
    return [
        *kind_points(),
        idle_point("atomic_op", _idle),
        codes("c48", BITS_48, "c48", "bit 48 of CTRL at an update", ops="updates"),
        ordered_cases("atomic_place", PLACES, partial(_place, bus_bytes),
                      "rows of an update in bus words", ops="updates"),
        codes("atomic_offset", _OFFSETS, _offset, "first element in its 32 bits", ops="updates"),
        *event_points(),
        program_flag("set_ctrl", SET_CTRL, "set_ctrl before the op"),
        *SET_POINTS,
        program_flag("restored", RESTORED, "CTRL is written right after the op, which samples it"),
    ]  # fmt: skip


def atomic_crosses() -> tuple[Cross, ...]:
    """Returns crosses of atomic stores with the place of their rows and the page."""
    return tuple(crossed(f"atomic_type x {name}") for name in ("atomic_place", "page", "c48"))
