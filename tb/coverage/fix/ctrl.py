# SPDX-License-Identifier: Apache-2.0
"""Saturation and atomics of write-backs from a clause or from CTRL.

An omitted clause leaves both to CTRL as sampled at issue (spec/order_and_atomics.md, section 5,
CT-02 to CT-05).
"""

from __future__ import annotations

import numpy as np

from tb.coverage.atomic import OPS, TYPES
from tb.coverage.fix.view import ALL_MODES, FixPart
from tb.coverage.model import Cross, Ints, point
from tb.coverage.sampled import Sampled, only, program_flag
from tb.coverage.view import (
    ATOMIC_CLAUSE,
    CTRL_OP_LSB,
    CTRL_TYPE_LSB,
    RESTORED,
    SAT_CLAUSE,
    SET_ATOMIC_NONE,
    SET_ATOMIC_OP,
    SET_ATOMIC_TYPE,
    SET_CTRL,
    Bools,
)

Points = list[Sampled[FixPart]]

CLAUSES = ("sat", "sat(preserve_nan)", "nosat")
CTRL_SATS = ("0, 0", "0, 1", "1, 0", "1, 1")
"""Bits 48 and 50."""

_WRITTEN = SET_CTRL | SET_ATOMIC_TYPE | SET_ATOMIC_OP
_MASK = (1 << 3) - 1


def _ctrl_written(view: FixPart) -> Bools:
    return (view.program & _WRITTEN) > 0


def ctrl_sat(view: FixPart) -> Ints:
    """Returns an index into ``CTRL_SATS``."""
    nosat, keep = view.ctrl & 1, view.ctrl >> 1 & 1
    return 2 * nosat + keep


def _sat_clause(view: FixPart) -> Bools:
    """The op has a clause; one that is written alone with the reset value has none."""
    alone = ~_ctrl_written(view) & (view["sat"] > 0)
    return alone | ((view.program & SAT_CLAUSE) > 0)


def sat_points() -> Points:
    """Returns points of saturation: its source, and CTRL under a clause."""

    def source(view: FixPart) -> Ints:
        omitted = len(CLAUSES) + ctrl_sat(view)
        return only(view.live, np.where(_sat_clause(view), view["sat"], omitted))

    def clause(view: FixPart) -> Ints:
        return only(view.live & _sat_clause(view), view["sat"])

    def under(view: FixPart) -> Ints:
        return only(view.live & _sat_clause(view), ctrl_sat(view))

    return [
        Sampled(
            point("sat_source", [*CLAUSES, *(f"CTRL {bits}" for bits in CTRL_SATS)],
                  "saturation: clause, or bits 48 and 50 of CTRL"),
            source,
        ),
        Sampled(point("sat_clause", CLAUSES, "clause, for the cross"), clause),
        Sampled(
            point("sat_under", CTRL_SATS, "bits 48 and 50 of CTRL, which a clause replaces"), under
        ),
        program_flag("set_ctrl", SET_CTRL, "set_ctrl before the op"),
        program_flag("restored", RESTORED, "CTRL is written right after the op, which samples it"),
    ]  # fmt: skip


def sat_crosses() -> tuple[Cross, ...]:
    """Returns the cross of clauses with the bits of CTRL that they replace."""
    return (Cross("sat_clause x sat_under", ("sat_clause", "sat_under")),)


def ctrl_atomic_points() -> Points:
    """Returns points of atomics of ``mte_l0c_gm``: source, values of CTRL, instructions."""
    pairs = [f"{kind} {op}" for kind in TYPES for op in OPS]

    def kind(view: FixPart) -> Ints:
        return view.ctrl >> CTRL_TYPE_LSB & _MASK

    def clause(view: FixPart) -> Bools:
        alone = ~_ctrl_written(view) & (view["atomic_type"] > 0)
        return alone | ((view.program & ATOMIC_CLAUSE) > 0)

    def source(view: FixPart) -> Ints:
        found = np.where(clause(view), 0, np.where(kind(view) > 0, 1, 2))
        return only(view.live, found)

    def value(view: FixPart) -> Ints:
        taken = view.live & ~clause(view) & (kind(view) > 0)
        return only(taken, len(OPS) * (kind(view) - 1) + (view.ctrl >> CTRL_OP_LSB))

    def idle(view: FixPart) -> Ints:
        off = view.live & ~clause(view) & _ctrl_written(view) & (kind(view) == 0)
        return only(off, view.ctrl >> CTRL_OP_LSB)

    def under(view: FixPart) -> Ints:
        replaced = view.live & ((view.program & ATOMIC_CLAUSE) > 0)
        same = kind(view) == view["atomic_type"]
        found = np.where(kind(view) == 0, 0, np.where(same, 1, 2))
        return only(replaced, found)

    narrow = {label: ALL_MODES for label in pairs if label.startswith("s16")}
    return [
        Sampled(
            point("atomic_source", ["clause", "CTRL", "none"], "what makes the store atomic"),
            source,
        ),
        Sampled(
            point("atomic_ctrl", pairs, "atomic type and op of CTRL without a clause",
                  needs=narrow),
            value,
        ),
        Sampled(
            point("atomic_idle", ("0", "1", "2", "3"), "bits 10:9 of CTRL while its type is off"),
            idle
        ),
        Sampled(
            point("atomic_under", ["off", "same type", "other type"],
                  "type in CTRL, which the clause replaces"),
            under,
        ),
        program_flag("set_atomic_type", SET_ATOMIC_TYPE, "set_atomic_<type> or none before the op"),
        program_flag("set_atomic_op", SET_ATOMIC_OP, "set_atomic_<op> before the op"),
        program_flag("set_atomic_none", SET_ATOMIC_NONE, "set_atomic_none before the op"),
    ]  # fmt: skip
