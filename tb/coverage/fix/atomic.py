# SPDX-License-Identifier: Apache-2.0
"""Atomic updates of ``mte_l0c_gm``: operands and events (spec/fixpipe.md, section 9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb.coverage.atomic import EVENT_CELLS, FLOATS, OPS, TYPES
from tb.coverage.fix.ctrl import ctrl_atomic_points
from tb.coverage.fix.place import ALIGN
from tb.coverage.fix.view import ALL_MODES, LAYOUTS, FixPart
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, excluding, point
from tb.coverage.sampled import Sampled, only
from tb.coverage.view import Bools
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.table import ATOMIC_DST, ATOMIC_OPS, ATOMIC_TYPES

_WIDE = ("f32", "f16", "bf16", "s16", "s32")
SATS = ("sat", "preserve_nan", "nosat")

_DSTS: tuple[str, ...] = tuple(name for kind in TYPES for name in ATOMIC_DST[kind])


def _updates(view: FixPart) -> Bools:
    return view.live & (view["atomic_type"] > 0)


def _cell_table(types: Sequence[str], ops: Sequence[str]) -> Ints:
    """Returns the bin of type code x op code; op code 3 is legal while the type is off."""
    table = np.full((len(TYPES) + 1, len(OPS) + 1), NOT_SAMPLED)
    for number, (kind, op) in enumerate((kind, op) for kind in types for op in ops):
        table[ATOMIC_TYPES[kind], ATOMIC_OPS[op]] = number
    return table


def _met(event: FixEvent, types: Sequence[str], ops: Sequence[str]) -> Sampled[FixPart]:
    table = _cell_table(types, ops)

    def index(view: FixPart) -> Ints:
        seen = _updates(view) & ((view.events & event.value) > 0)
        return only(seen, table[view["atomic_type"], view["atomic_op"]])

    assert event.name is not None
    labels = [f"{kind} {op}" for kind in types for op in ops]
    name, doc = f"met_{event.name.lower()}", FIX_EVENT_NOTES[event]
    return Sampled(point(name, labels, doc, needs=_narrow(labels)), index)


def _narrow(labels: Sequence[str]) -> dict[str, str]:
    """Returns the bins of updates of 16-bit integers, which only some modes write."""
    return {label: ALL_MODES for label in labels if label.startswith(("s16", *ATOMIC_DST["s16"]))}


def _c48(event: FixEvent, ops: Sequence[str]) -> Sampled[FixPart]:
    """Returns the point of f16 updates that show an event, by op and bit 48 (AT-02)."""

    def index(view: FixPart) -> Ints:
        half = _updates(view) & (view["atomic_type"] == ATOMIC_TYPES["f16"])
        seen = half & ((view.events & event.value) > 0) & (view["atomic_op"] < len(ops))
        return only(seen, 2 * view["atomic_op"] + (view["sat"] == SATS.index("nosat")))

    assert event.name is not None
    name = event.name.lower().replace("atomic", "f16")
    labels = [f"{op} {sat}" for op in ops for sat in ("c48 0", "c48 1")]
    return Sampled(point(name, labels, f"f16: {FIX_EVENT_NOTES[event]}"), index)


def atomic_points() -> list[Sampled[FixPart]]:
    """Returns type, op and events of atomic updates."""
    spelling = np.full(len(ALL_DTYPES), NOT_SAMPLED)
    spelling[[ALL_DTYPES.index(name) for name in _DSTS]] = np.arange(len(_DSTS))
    cells = _cell_table(TYPES, OPS)
    of_float = np.full(len(TYPES) + 1, NOT_SAMPLED)
    of_float[[ATOMIC_TYPES[name] for name in FLOATS]] = np.arange(len(FLOATS))

    def update(name: str, labels: Sequence[str], values: Callable[[FixPart], Ints], doc: str
    ) -> Sampled[FixPart]:  # fmt: skip
        bins = point(name, labels, doc, needs=_narrow(labels))
        return Sampled(bins, lambda v: only(_updates(v), values(v)))

    def sat(view: FixPart) -> Ints:
        kind = of_float[view["atomic_type"]]
        return np.where(kind < 0, NOT_SAMPLED, len(SATS) * kind + view["sat"])

    sats = [f"{kind} {name}" for kind in FLOATS for name in SATS]
    pairs = [f"{kind} {op}" for kind in TYPES for op in OPS]
    return [
        update("atomic", pairs, lambda v: cells[v["atomic_type"], v["atomic_op"]],
               "atomic type and op"),
        update("atomic_type", TYPES, lambda v: v["atomic_type"] - 1, "atomic type"),
        update("atomic_dst", _DSTS, lambda v: spelling[v.pad_dtype], "destination as written"),
        update("atomic_layout", LAYOUTS, lambda v: v.layout, "layout of an update"),
        update("atomic_sat", sats, sat, "saturation, whose bit 48 acts on f16 too"),
        update("update", ["atomic"], lambda v: np.zeros(v.size, np.int64),
               "an update, for crosses"),
        *[_met(event, types, ops) for event, (types, ops) in EVENT_CELLS.items()],
        _c48(FixEvent.ATOMIC_NAN, OPS),
        _c48(FixEvent.ATOMIC_INF, OPS),
        _c48(FixEvent.ATOMIC_OVERFLOW, OPS[:1]),
        *ctrl_atomic_points(),
    ]  # fmt: skip


def atomic_crosses() -> tuple[Cross, ...]:
    """Returns crosses of atomic updates with alignment and strides of their rows."""
    odd = (excluding("aligned to the element", atomic_type=_WIDE, gm_align=ALIGN[1:3]),)
    return (
        Cross("atomic_type x gm_align", ("atomic_type", "gm_align"), odd),
        Cross("update x dst_stride", ("update", "dst_stride")),
        Cross("update x flag", ("update", "flag")),
        Cross("update x page", ("update", "page")),
    )
