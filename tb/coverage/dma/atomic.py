# SPDX-License-Identifier: Apache-2.0
"""Atomic stores of UB: CTRL at the issue, elements, and events of their data.

Source: spec/order_and_atomics.md, sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb.coverage.dma.view import DmaPart
from tb.coverage.fix.atomic import EVENT_CELLS
from tb.coverage.fix.ctrl import IDLE_OPS, OPS, TYPES
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, point
from tb.coverage.sampled import Sampled, first_of, only, program_flag
from tb.coverage.view import (
    RESTORED,
    SET_ATOMIC_NONE,
    SET_ATOMIC_OP,
    SET_ATOMIC_TYPE,
    SET_CTRL,
    Bools,
)
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_OPS, ATOMIC_TYPES

Points = list[Sampled[DmaPart]]

_WRITTEN = SET_CTRL | SET_ATOMIC_TYPE | SET_ATOMIC_OP
_BITS_48 = ("c48 0", "c48 1")
_SIZES = np.array([1, *[ATOMIC_BYTES[code] for code in range(1, len(TYPES) + 1)]])
PLACES = ("whole words", "inside a word", "meets the next row", "across words")


def _updates(view: DmaPart) -> Bools:
    return view.live & (view["atomic_type"] > 0)


def _cells(types: Sequence[str], ops: Sequence[str]) -> Ints:
    """Returns the bin of type code x op code."""
    table = np.full((len(TYPES) + 1, len(OPS) + 1), NOT_SAMPLED)
    for number, (kind, op) in enumerate((kind, op) for kind in types for op in ops):
        table[ATOMIC_TYPES[kind], ATOMIC_OPS[op]] = number
    return table


def _met(event: FixEvent, types: Sequence[str], ops: Sequence[str]) -> Sampled[DmaPart]:
    table = _cells(types, ops)

    def index(view: DmaPart) -> Ints:
        seen = _updates(view) & ((view.events & event.value) > 0)
        return only(seen, table[view["atomic_type"], view["atomic_op"]])

    assert event.name is not None
    labels = [f"{kind} {op}" for kind in types for op in ops]
    return Sampled(point(f"met_{event.name.lower()}", labels, FIX_EVENT_NOTES[event]), index)


def _half(event: FixEvent, ops: Sequence[str]) -> Sampled[DmaPart]:
    """Returns the point of f16 updates that show an event, by op and bit 48 (AT-02)."""

    def index(view: DmaPart) -> Ints:
        half = _updates(view) & (view["atomic_type"] == ATOMIC_TYPES["f16"])
        seen = half & ((view.events & event.value) > 0) & (view["atomic_op"] < len(ops))
        return only(seen, 2 * view["atomic_op"] + view["nosat"])

    assert event.name is not None
    labels = [f"{op} {bit}" for op in ops for bit in _BITS_48]
    name = event.name.lower().replace("atomic", "f16")
    return Sampled(point(name, labels, f"f16: {FIX_EVENT_NOTES[event]}"), index)


def atomic_points(bus_bytes: int) -> Points:
    """Returns type, op and events of atomic stores, and how their rows lie in bus words."""
    cells = _cells(TYPES, OPS)

    def place(view: DmaPart) -> Ints:
        start, length = view["ext_addr"], view.length
        meets = (view.counts[0] > 1) & (view["ext_stride"] == length) & (length % bus_bytes > 0)
        whole = (start % bus_bytes == 0) & (length % bus_bytes == 0)
        inside = start // bus_bytes == (start + length - 1) // bus_bytes
        return only(_updates(view), np.array([0, 2, 1, 3])[first_of([whole, meets, inside])])

    def offset(view: DmaPart) -> Ints:
        size = _SIZES[view["atomic_type"]]
        first = np.where(size == 1, 0, np.where(size == 2, 4, 6))
        return only(_updates(view), first + view["ext_addr"] % 4 // size)

    def idle(view: DmaPart) -> Ints:
        off = view.live & ((view.program & _WRITTEN) > 0) & (view["atomic_type"] == 0)
        return only(off, view["atomic_op"])

    pairs = [f"{kind} {op}" for kind in TYPES for op in OPS]
    offsets = [f"{size} B at {at}" for size in (1, 2, 4) for at in range(0, 4, size)]
    return [
        Sampled(
            point("atomic", pairs, "atomic type and op"),
            lambda v: only(_updates(v), cells[v["atomic_type"], v["atomic_op"]]),
        ),
        Sampled(
            point("atomic_type", TYPES, "atomic type"),
            lambda v: only(_updates(v), v["atomic_type"] - 1),
        ),
        Sampled(point("atomic_idle", IDLE_OPS, "bits 10:9 of CTRL while its type is off"), idle),
        Sampled(
            point("c48", _BITS_48, "bit 48 of CTRL at an update"),
            lambda v: only(_updates(v), v["nosat"]),
        ),
        Sampled(point("atomic_place", PLACES, "rows of an update in bus words"), place),
        Sampled(point("atomic_offset", offsets, "first element in its 32 bits"), offset),
        *[_met(event, types, ops) for event, (types, ops) in EVENT_CELLS.items()],
        _half(FixEvent.ATOMIC_NAN, OPS),
        _half(FixEvent.ATOMIC_INF, OPS),
        _half(FixEvent.ATOMIC_OVERFLOW, OPS[:1]),
        program_flag("set_ctrl", SET_CTRL, "set_ctrl before the op"),
        program_flag("set_atomic_type", SET_ATOMIC_TYPE, "set_atomic_<type> or none before the op"),
        program_flag("set_atomic_op", SET_ATOMIC_OP, "set_atomic_<op> before the op"),
        program_flag("set_atomic_none", SET_ATOMIC_NONE, "set_atomic_none before the op"),
        program_flag("restored", RESTORED, "CTRL is written right after the op, which samples it"),
    ]


def atomic_crosses() -> tuple[Cross, ...]:
    """Returns crosses of atomic stores with the place of their rows and the page."""
    return (
        Cross("atomic_type x atomic_place", ("atomic_type", "atomic_place")),
        Cross("atomic_type x page", ("atomic_type", "page")),
        Cross("atomic_type x c48", ("atomic_type", "c48")),
    )
