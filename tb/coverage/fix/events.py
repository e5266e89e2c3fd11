# SPDX-License-Identifier: Apache-2.0
"""Events in the values of write-backs, by destination, stage and saturation.

The events that a destination can show follow from spec/fixpipe.md, sections 3, 4 and 7; every
combination that cannot occur has its reason.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb.coverage.fix.view import (
    ALL_MODES,
    HYBRID,
    RESULT_NEEDS,
    RESULTS,
    STAGE_NEEDS,
    STAGES,
    WIDE,
    FixPart,
)
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, excluding, point
from tb.coverage.sampled import Sampled, only
from tb.coverage.view import Bools
from tb.isa.events import FIX_EVENT_NOTES, FixEvent
from tb.isa.fix.table import DST_HIF8, SCALAR_RELU
from tb.isa.profile import current

Points = list[Sampled[FixPart]]

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


SATS = ("sat", "preserve_nan", "nosat")
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


def _name(event: FixEvent) -> str:
    assert event.name is not None
    return event.name.lower()


def _met(event: FixEvent) -> Sampled[FixPart]:
    """Returns the point of the destinations that showed an event."""

    def index(view: FixPart) -> Ints:
        return only(view.live & _has(view, event), view.result)

    name, doc = f"met_{_name(event)}", FIX_EVENT_NOTES[event]
    return Sampled(point(name, RESULTS, doc, needs=_needs(event), **IMPOSSIBLE[event]), index)


def _has(view: FixPart, event: FixEvent) -> Bools:
    found: Bools = (view.events & event.value) > 0
    return found


def _any(event: FixEvent) -> Sampled[FixPart]:
    def index(view: FixPart) -> Ints:
        return np.where(view.live & _has(view, event), 0, NOT_SAMPLED)

    return Sampled(point(_name(event), ["met"], f"{_name(event)}, for crosses"), index)


def event_points() -> Points:
    """Returns points of each event by destination, and those that crosses of events need."""
    narrow = np.full(len(RESULTS), NOT_SAMPLED)
    narrow[[RESULTS.index(name) for name in _NARROW]] = len(SATS) * np.arange(len(_NARROW))
    narrow[HYBRID] = narrow[DST_HIF8]

    def float_sat(view: FixPart) -> Ints:
        row = narrow[view.result]
        return only(view.live & (row >= 0), row + view.sat)

    def copied_nan(view: FixPart) -> Ints:
        copies = view.live & (view["quant"] == 0) & (view["acc"] == 0)
        return only(copies & _has(view, FixEvent.NAN), view["relu"])

    def acts(view: FixPart) -> Ints:
        whole = (view["quant"] == 0) & (view["acc"] == 1)
        changed = view.live & _has(view, FixEvent.RELU_CHANGED)
        return only(changed, np.where(whole, 0, view["relu"]))

    return [
        *[_met(event) for event in IMPOSSIBLE],
        Sampled(
            point("float_sat", [f"{name} {sat}" for name in _NARROW for sat in SATS],
                  "narrower float and saturation of the conversion",
                  needs=dict.fromkeys(("f16 preserve_nan", "bf16 preserve_nan"),
                                      "sat_scope = all")),
            float_sat,
        ),
        Sampled(
            point("stage", STAGES, "way to an integer: what is rounded, and to how many bits",
                  needs=STAGE_NEEDS),
            lambda v: only(v.live, v.stage),
        ),
        *[_any(event) for event in _ANY],
        Sampled(
            point("copied_nan", ["bits", "normal_relu", "scalar_relu", "vector_relu"],
                  "NaN of a f32 without conversion, and what it goes through"),
            copied_nan,
        ),
        Sampled(
            point("relu_changed",
                  ["normal_relu of i32", "normal_relu", "scalar_relu", "vector_relu"],
                  "ReLU gave another value than it got"),
            acts,
        ),
        *_alpha_points(),
    ]  # fmt: skip


ALPHAS = ("scalar_relu", "vector_relu")


def _alpha_points() -> Points:
    """Returns points of ReLU with an alpha, by the knob that says what alpha multiplies."""

    def alpha(event: FixEvent, *, scaled: bool, knob: str = "") -> Callable[[FixPart], Ints]:
        def index(view: FixPart) -> Ints:
            met = view.live & (view["relu"] >= SCALAR_RELU) & _has(view, event)
            met &= knob in ("", current().alpha)
            return only(met & (view.scaled == scaled), view["relu"] - SCALAR_RELU)

        return index

    below, zero = FixEvent.ALPHA_NEGATIVE, FixEvent.ALPHA_MINUS_ZERO
    scaled, plain = "with a scale", "without a scale"
    return [
        Sampled(
            point("alpha_behind_scale", ALPHAS, f"{FIX_EVENT_NOTES[below]}, {scaled}",
                  needs="alpha = sequential"),
            alpha(below, scaled=True, knob="sequential"),
        ),
        Sampled(
            point("alpha_for_scale", ALPHAS, f"{FIX_EVENT_NOTES[below]}, {scaled}",
                  needs="alpha = replace"),
            alpha(below, scaled=True, knob="replace"),
        ),
        Sampled(
            point("alpha_alone", ALPHAS, f"{FIX_EVENT_NOTES[below]}, {plain}"),
            alpha(below, scaled=False),
        ),
        Sampled(
            point("alpha_zero_scaled", ALPHAS, f"{FIX_EVENT_NOTES[zero]}, {scaled}"),
            alpha(zero, scaled=True),
        ),
        Sampled(
            point("alpha_zero_alone", ALPHAS, f"{FIX_EVENT_NOTES[zero]}, {plain}"),
            alpha(zero, scaled=False),
        ),
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
        Cross("float_sat x nan", ("float_sat", "nan")),
        Cross("float_sat x inf", ("float_sat", "inf")),
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
