# SPDX-License-Identifier: Apache-2.0
"""Atomic updates of ``mte_l0c_gm``, from a clause or from CTRL (docs/spec/fixpipe.md, section 9).

An omitted clause leaves the update to CTRL as sampled at issue (docs/spec/order_and_atomics.md,
section 5, CT-02 to CT-05).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from tb.coverage.atomic import (
    FLOATS,
    OPS,
    PAIRS,
    SET_POINTS,
    TYPES,
    WRITTEN,
    event_points,
    idle_point,
    kind_points,
    narrow_bins,
)
from tb.coverage.fix.values import ALL_MODES, LAYOUTS, SATS
from tb.coverage.geometry import ALIGN
from tb.coverage.model import Cross, Ints, crossed, excluding
from tb.coverage.ops import Bools, Derived, Ops
from tb.coverage.points import Row, codes, entry, only, place_of
from tb.coverage.view import ATOMIC_CLAUSE, CTRL_OP_LSB, CTRL_TYPE_LSB
from tb.isa.fix.table import ATOMIC_DST

_WIDE = ("f32", "f16", "bf16", "s16", "s32")
_DSTS: tuple[str, ...] = tuple(name for kind in TYPES for name in ATOMIC_DST[kind])
_SPELLING = place_of(_DSTS)
_FLOAT = place_of(FLOATS, ("off", *TYPES))
_TYPE_MASK = (1 << 3) - 1

DERIVED: Derived = {
    "updates": lambda v: v.live & (v.atomic_type > 0),
    "c48": lambda v: v.sat == SATS.index("nosat"),
    # Atomic type and op of CTRL. An atomic op that is written alone has a clause.
    "ctrl_type": lambda v: v.ctrl >> CTRL_TYPE_LSB & _TYPE_MASK,
    "ctrl_op": lambda v: v.ctrl >> CTRL_OP_LSB,
    "ctrl_written": lambda v: v.program & WRITTEN > 0,
    "clause": lambda v: (~v.ctrl_written & (v.atomic_type > 0)) | (v.program & ATOMIC_CLAUSE > 0),
    "free": lambda v: v.live & ~v.clause,
}


def _sat(v: Ops) -> Ints:
    kind: Ints = _FLOAT[v.atomic_type]
    return only(kind >= 0, len(SATS) * kind + v.sat)


def _ctrl_pair(v: Ops) -> Ints:
    return len(OPS) * (v.ctrl_type - 1) + v.ctrl_op


def _under(v: Ops) -> Ints:
    other = np.where(v.ctrl_type == v.atomic_type, 1, 2)
    return np.where(v.ctrl_type == 0, 0, other)


def _idle(v: Ops) -> Bools:
    return v.free & v.ctrl_written & (v.ctrl_type == 0)


def atomic_points() -> list[Row]:
    """Returns type, op, source and events of atomic updates."""
    narrow = dict.fromkeys(ATOMIC_DST["s16"], ALL_MODES)
    return [
        *kind_points(ALL_MODES),
        codes("atomic_dst", _DSTS, entry(_SPELLING, "pad_dtype"), "destination as written",
              ops="updates", needs=narrow),
        codes("atomic_layout", LAYOUTS, "layout_bin", "layout of an update", ops="updates"),
        codes("atomic_sat", [f"{kind} {sat}" for kind, sat in product(FLOATS, SATS)], _sat,
              "saturation, whose bit 48 acts on f16 too", ops="updates"),
        codes("update", ["atomic"], "zero", "an update, for crosses", ops="updates"),
        *event_points(ALL_MODES),
        codes("atomic_source", ["clause", "CTRL", "none"],
              lambda v: np.where(v.clause, 0, np.where(v.ctrl_type > 0, 1, 2)),
              "what makes the store atomic"),
        codes("atomic_ctrl", PAIRS, _ctrl_pair, "atomic type and op of CTRL without a clause",
              ops=lambda v: v.free & (v.ctrl_type > 0), needs=narrow_bins(PAIRS, ALL_MODES)),
        idle_point("ctrl_op", _idle),
        codes("atomic_under", ["off", "same type", "other type"], _under,
              "type in CTRL, which the clause replaces",
              ops=lambda v: v.live & (v.program & ATOMIC_CLAUSE > 0)),
        *SET_POINTS,
    ]  # fmt: skip


def atomic_crosses() -> tuple[Cross, ...]:
    """Returns crosses of atomic updates with alignment and strides of their rows."""
    odd = (excluding("aligned to the element", atomic_type=_WIDE, gm_align=ALIGN[1:3]),)
    return (
        crossed("atomic_type x gm_align", odd),
        crossed("update x dst_stride"),
        crossed("update x flag"),
        crossed("update x page"),
    )
