# SPDX-License-Identifier: Apache-2.0
"""Events in the values of write-backs, by destination, stage and saturation.

The events that a destination can show follow from docs/spec/fixpipe.md, sections 3, 4 and 7; every
combination that cannot occur has its reason.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from tb.coverage.fix.values import (
    ALL_MODES,
    HYBRID,
    RESULT_NEEDS,
    RESULTS,
    SATS,
    STAGE_NEEDS,
    STAGES,
    WIDE,
)
from tb.coverage.model import Cross, crossed, excluding
from tb.coverage.ops import Bools, Derived, Ops
from tb.coverage.points import Row, codes, entry, place_of
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.table import DST_HIF8, SCALAR_RELU
from tb.isa.profile import current

_INTEGERS = ("i32", "i16", "s8", "u8", "s4")
_HIF8 = ("hif8", "hif8 hybrid")
_CLAMPED = ("i16", "s8", "u8", "s4")
_CLIPPED = ("f16", "i16", "s8", "u8", "s4")

_F32 = {"f32": "nothing is narrowed"}
_AWAY = dict.fromkeys(_HIF8, "rounds ties away from zero")
_NO_SPECIAL = {"f32": "stays an infinity", **dict.fromkeys(_INTEGERS, "integers always saturate")}
_FROM_I32 = dict.fromkeys(("i32", "i16"), "accumulators are integers")
_WHOLE = dict.fromkeys(_INTEGERS, "integers have none")


def _others(names: tuple[str, ...], reason: str) -> dict[str, str]:
    return {name: reason for name in RESULTS if name not in names}


_NO_CLAMP = _others(_CLAMPED, "has no clamp before the offset")
_NO_OFFSET = _others(_INTEGERS, "floats have no offset")

IMPOSSIBLE: dict[FixEvent, dict[str, str]] = {
    FixEvent.EXACT: _F32,
    FixEvent.TIE_UP: _F32,
    FixEvent.TIE_DOWN: _F32 | _AWAY,
    FixEvent.ROUNDED_UP: _F32,
    FixEvent.ROUNDED_DOWN: _F32,
    FixEvent.SATURATED_HIGH: _F32,
    FixEvent.SATURATED_LOW: _F32,
    FixEvent.OVERFLOW_SPECIAL: _NO_SPECIAL,
    FixEvent.NAN: {},
    FixEvent.INF: {},
    FixEvent.SUBNORMAL_INPUT: _FROM_I32,
    FixEvent.SUBNORMAL_RESULT: _WHOLE,
    FixEvent.MINUS_ZERO: _WHOLE | dict.fromkeys(_HIF8, "has no -0"),
    FixEvent.UNDERFLOW_TO_ZERO: _F32,
    FixEvent.RELU_CHANGED: {},
    FixEvent.CLIPPED: _others(_CLIPPED, "takes no clip (FIX-L06)"),
    FixEvent.STAGE_CLAMPED: _NO_CLAMP,
    FixEvent.OFFSET_MOVED: _NO_OFFSET,
    FixEvent.STAGE_RETURNED: _NO_OFFSET,
    FixEvent.OFFSET_CROSSED: _NO_OFFSET,
    FixEvent.NAN_BYPASSED: _NO_OFFSET,
    FixEvent.INF_BYPASSED: _NO_OFFSET | {"i16": _FROM_I32["i16"]},
    FixEvent.PRODUCT_OVERFLOW: _others(_INTEGERS, "floats have no integer stage"),
}
"""Event to the destinations that never show it, with the reason."""

_COPIED = (FixEvent.RELU_CHANGED,)
"""Events of i32 that is copied; the others need the conversion to 32 bits."""

_NEVER_REPLACED = (FixEvent.NAN, FixEvent.NAN_BYPASSED)
"""Events that an i32 accumulator shows only when alpha 0 multiplies an infinite product."""


def _needs(event: FixEvent) -> dict[str, str]:
    """Returns the destinations that show an event only under some values of knobs."""
    found = dict(RESULT_NEEDS)
    if event not in _COPIED:
        found["i32"] = ALL_MODES
    if event in _NEVER_REPLACED:
        found |= dict.fromkeys(("i32", "i16"), f"alpha = sequential, {ALL_MODES}")
    return found


_NARROW = ("f16", "bf16", "e4m3", "hif8")

_ANY = (
    FixEvent.NAN,
    FixEvent.INF,
    FixEvent.SATURATED_HIGH,
    FixEvent.SATURATED_LOW,
    FixEvent.OVERFLOW_SPECIAL,
    FixEvent.TIE_UP,
    FixEvent.TIE_DOWN,
    FixEvent.STAGE_CLAMPED,
    FixEvent.OFFSET_MOVED,
    FixEvent.STAGE_RETURNED,
    FixEvent.OFFSET_CROSSED,
    FixEvent.NAN_BYPASSED,
    FixEvent.INF_BYPASSED,
    FixEvent.PRODUCT_OVERFLOW,
)


_NARROW_OF = place_of(_NARROW, RESULTS)
_NARROW_OF[HYBRID] = _NARROW_OF[DST_HIF8]
_FLOAT_SATS = [f"{name} {sat}" for name, sat in product(_NARROW, SATS)]

DERIVED: Derived = {
    # Index into the narrower floats, and ops with one as their destination.
    "narrow": entry(_NARROW_OF, "result"),
    "narrowed": lambda v: v.live & (v.narrow >= 0),
}


def _name(event: FixEvent) -> str:
    return str(event.name).lower()


def _met(event: int, v: Ops) -> Bools:
    return v.live & (v.events & event > 0)


def _copied_nan(v: Ops) -> Bools:
    copied: Bools = (v.quant == 0) & (v.acc == 0)
    return copied & _met(FixEvent.NAN, v)


EVENT_POINTS: list[Row] = [
    *[codes(f"met_{_name(event)}", RESULTS, "result", FIX_EVENT_NOTES[event],
            ops=partial(_met, event.value), needs=_needs(event), **never)
      for event, never in IMPOSSIBLE.items()],
    codes("float_sat", _FLOAT_SATS, lambda v: len(SATS) * v.narrow + v.conversion_sat,
          "narrower float and saturation of the conversion", ops="narrowed",
          needs=dict.fromkeys(("f16 preserve_nan", "bf16 preserve_nan"), "sat_scope = all")),
    codes("stage", STAGES, "stage", "way to an integer: what is rounded, and to how many bits",
          needs=STAGE_NEEDS),
    *[codes(_name(event), ["met"], "zero", f"{_name(event)}, for crosses",
            ops=partial(_met, event.value))
      for event in _ANY],
    codes("copied_nan", ["bits", "normal_relu", "scalar_relu", "vector_relu"], "relu",
          "NaN of a f32 without conversion, and what it goes through", ops=_copied_nan),
    codes("relu_changed", ["normal_relu of i32", "normal_relu", "scalar_relu", "vector_relu"],
          lambda v: np.where((v.quant == 0) & (v.acc == 1), 0, v.relu),
          "ReLU gave another value than it got", ops=partial(_met, FixEvent.RELU_CHANGED.value)),
]  # fmt: skip
"""Points of each event by destination, and those that crosses of events need."""

_ALPHAS = (
    ("alpha_behind_scale", FixEvent.ALPHA_NEGATIVE, True, "sequential"),
    ("alpha_for_scale", FixEvent.ALPHA_NEGATIVE, True, "replace"),
    ("alpha_alone", FixEvent.ALPHA_NEGATIVE, False, ""),
    ("alpha_zero_scaled", FixEvent.ALPHA_MINUS_ZERO, True, ""),
    ("alpha_zero_alone", FixEvent.ALPHA_MINUS_ZERO, False, ""),
)
"""Name of a point, its event, whether the mode has a scale, and the value of the knob ``alpha``."""


def _alpha(event: int, scaled: bool, knob: str, v: Ops) -> Bools:
    met = _met(event, v) & (v.relu >= SCALAR_RELU)
    met &= knob in ("", current().alpha)
    return met & (v.scaled == scaled)


def alpha_points() -> list[Row]:
    """Returns points of ReLU with an alpha, by the knob of what alpha multiplies."""
    return [
        codes(name, ("scalar_relu", "vector_relu"), lambda v: v.relu - SCALAR_RELU,
              f"{FIX_EVENT_NOTES[event]}, {'with' if scaled else 'without'} a scale",
              ops=partial(_alpha, event.value, scaled, knob),
              needs=f"alpha = {knob}" if knob else "")
        for name, event, scaled, knob in _ALPHAS
    ]  # fmt: skip


def event_crosses() -> tuple[Cross, ...]:
    """Returns crosses of saturation and integer stages with their events."""
    limited = tuple(f"{name} {sat}" for name in _NARROW for sat in SATS[:2])
    special = tuple(f"{name} {SATS[2]}" for name in _NARROW)
    at_limit = (excluding("nosat takes no limit", float_sat=special),)
    wide = (excluding("no clamp before the offset", stage=WIDE),)
    ranged = tuple(name for name in STAGES[1:] if name != WIDE)
    finite = (excluding("the source value is finite", stage=ranged),)
    return (
        crossed("float_sat x nan"),
        crossed("float_sat x inf"),
        Cross("float_sat x high", ("float_sat", "saturated_high"), at_limit),
        Cross("float_sat x low", ("float_sat", "saturated_low"), at_limit),
        Cross("float_sat x special", ("float_sat", "overflow_special"),
              (excluding("the limit is taken", float_sat=limited),)),
        Cross("stage x tie up", ("stage", "tie_up")),
        Cross("stage x tie down", ("stage", "tie_down")),
        Cross("stage x high", ("stage", "saturated_high")),
        Cross("stage x low", ("stage", "saturated_low")),
        Cross("stage x clamp", ("stage", "stage_clamped"), wide),
        Cross("stage x offset", ("stage", "offset_moved")),
        Cross("stage x returned", ("stage", "stage_returned")),
        Cross("stage x crossed", ("stage", "offset_crossed")),
        Cross("stage x inf", ("stage", "inf_bypassed"), finite),
        Cross("stage x overflow", ("stage", "product_overflow")),
    )  # fmt: skip
