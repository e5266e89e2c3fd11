# SPDX-License-Identifier: Apache-2.0
"""Atomic updates of GM, by write-backs and by stores of UB: types, ops and events of the data.

Source: docs/spec/order_and_atomics.md, sections 5 and 6; docs/spec/fixpipe.md, section 9. Families
define ``updates``, the live ops that are atomic, and ``c48``, bit 48 of CTRL or of the clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from tb.coverage.model import NOT_SAMPLED, Ints
from tb.coverage.ops import Bools, Ops
from tb.coverage.points import Row, Source, codes, program_flag
from tb.coverage.view import SET_ATOMIC_NONE, SET_ATOMIC_OP, SET_ATOMIC_TYPE, SET_CTRL
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.table import ATOMIC_OPS, ATOMIC_TYPES

TYPES: tuple[str, ...] = tuple(sorted(ATOMIC_TYPES, key=ATOMIC_TYPES.__getitem__))
OPS: tuple[str, ...] = tuple(ATOMIC_OPS)
PAIRS = [f"{kind} {op}" for kind, op in product(TYPES, OPS)]
FLOATS = ("f32", "f16", "bf16")
INTEGERS = ("s16", "s32", "s8")
BITS_48 = ("c48 0", "c48 1")
WRITTEN = SET_CTRL | SET_ATOMIC_TYPE | SET_ATOMIC_OP
"""Bits of a program that writes CTRL."""

EVENT_CELLS: dict[FixEvent, tuple[tuple[str, ...], tuple[str, ...]]] = {
    FixEvent.ATOMIC_NAN: (FLOATS, OPS),
    FixEvent.ATOMIC_INF: (FLOATS, OPS),
    FixEvent.ATOMIC_ZEROS: (FLOATS, OPS),
    FixEvent.ATOMIC_ROUNDED: (FLOATS, OPS[:1]),
    FixEvent.ATOMIC_OVERFLOW: (FLOATS, OPS[:1]),
    FixEvent.ATOMIC_WRAPPED: (INTEGERS, OPS[:1]),
    FixEvent.ATOMIC_KEPT: (TYPES, OPS[1:]),
    FixEvent.ATOMIC_TAKEN: (TYPES, OPS[1:]),
}
"""Atomic types and ops that can show each event: integers have no NaN and no -0, sums of floats
do not wrap, and only max and min choose."""

_HALF_EVENTS = {
    FixEvent.ATOMIC_NAN: OPS, FixEvent.ATOMIC_INF: OPS, FixEvent.ATOMIC_OVERFLOW: OPS[:1]
}  # fmt: skip
"""Events of f16 updates that depend on bit 48 (AT-02), and the ops that show them."""

SET_POINTS = (
    program_flag("set_atomic_type", SET_ATOMIC_TYPE, "set_atomic_<type> or none before the op"),
    program_flag("set_atomic_op", SET_ATOMIC_OP, "set_atomic_<op> before the op"),
    program_flag("set_atomic_none", SET_ATOMIC_NONE, "set_atomic_none before the op"),
)


def _cells(types: Sequence[str], ops: Sequence[str]) -> Ints:
    """Returns the bin of type code x op code; op code 3 is legal while the type is off."""
    table = np.full((len(TYPES) + 1, len(OPS) + 1), NOT_SAMPLED)
    for number, (kind, op) in enumerate(product(types, ops)):
        table[ATOMIC_TYPES[kind], ATOMIC_OPS[op]] = number
    return table


def _cell(table: Ints, v: Ops) -> Ints:
    return table[v.atomic_type, v.atomic_op]


def _seen(event: int, v: Ops) -> Bools:
    return v.updates & (v.events & event > 0)


def _half(event: int, ops: int, v: Ops) -> Bools:
    half = v.atomic_type == ATOMIC_TYPES["f16"]
    return _seen(event, v) & half & (v.atomic_op < ops)


def narrow_bins(labels: Sequence[str], needs: str) -> dict[str, str]:
    """Returns the bins of updates of 16-bit integers with the knobs they need."""
    return {label: needs for label in labels if label.startswith("s16")}


def kind_points(narrow: str = "") -> list[Row]:
    """Returns the points of type and op; ``narrow`` is the knob that s16 needs."""
    return [
        codes("atomic", PAIRS, partial(_cell, _cells(TYPES, OPS)), "atomic type and op",
              ops="updates", needs=narrow_bins(PAIRS, narrow)),
        codes("atomic_type", TYPES, lambda v: v.atomic_type - 1, "atomic type",
              ops="updates", needs=narrow_bins(TYPES, narrow)),
    ]  # fmt: skip


def event_points(narrow: str = "") -> list[Row]:
    """Returns the points of events by type and op, and of f16 by op and bit 48."""
    found = []
    for event, (types, ops) in EVENT_CELLS.items():
        name, labels = f"met_{event.name}".lower(), [f"{x} {op}" for x, op in product(types, ops)]
        values, met = partial(_cell, _cells(types, ops)), partial(_seen, event.value)
        needs = narrow_bins(labels, narrow)
        found.append(codes(name, labels, values, FIX_EVENT_NOTES[event], ops=met, needs=needs))
    for event, ops in _HALF_EVENTS.items():
        labels = [f"{op} {bit}" for op, bit in product(ops, BITS_48)]
        name, doc = f"{event.name}".lower(), f"f16: {FIX_EVENT_NOTES[event]}"
        met = partial(_half, event.value, len(ops))
        found.append(codes(name.replace("atomic", "f16"), labels, _op_and_bit, doc, ops=met))
    return found


def _op_and_bit(v: Ops) -> Ints:
    return 2 * v.atomic_op + v.c48


def idle_point(values: Source, ops: Source) -> Row:
    """Returns the point of the op in CTRL while its atomic type is off."""
    doc = "bits 10:9 of CTRL while its type is off"
    return codes("atomic_idle", ("0", "1", "2", "3"), values, doc, ops=ops)
