# SPDX-License-Identifier: Apache-2.0
"""The group ``fixpipe``: the effect of all write-backs on values.

Modes, saturation, ReLU, clip and their payloads (spec/fixpipe.md, sections 3 to 7), parameters in
fb, unit flags; events of the data, CTRL and the order of ops are in separate modules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tb.coverage.fix.ctrl import sat_crosses, sat_points
from tb.coverage.fix.events import event_crosses, event_points
from tb.coverage.fix.order import order_crosses, order_points, order_scope
from tb.coverage.fix.view import (
    ALL_MODES,
    CONVERTING,
    RESULT_NEEDS,
    RESULTS,
    FixPart,
    needs_of,
)
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, excluding, point
from tb.coverage.sampled import Group, Sampled, codes, first_of, only, range_labels
from tb.coverage.scope import Scope
from tb.coverage.view import Bools
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.fix.table import (
    ALPHA_WORD,
    CLIP_CODES,
    CLIP_LIMITS,
    CLIP_TYPES,
    DST_F16,
    FLAG_CHECK,
    FLAG_NONE,
    GROUP,
    NUMBER_CODES,
    NUMBER_TYPES,
    QUANT_BY_CODE,
    QUANT_MODES,
    QUANT_RECORD,
    SCALAR_RELU,
    SCALE_MASK,
    VECTOR_RELU,
)
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS

Points = list[Sampled[FixPart]]

NAME = "fixpipe"
"""Name of the group."""

DSTS = RESULTS[:10]
"""Destinations by code."""

SATS = ("sat", "preserve_nan", "nosat")
RELUS = ("absent", "no_relu", "normal_relu", "scalar_relu", "vector_relu")
CLIPPED = tuple(DSTS[code] for code in CLIP_TYPES)
_UNCHANGED = ("f32", "i32", "i16", "s8", "u8", "s4")
_NO_CLIP = tuple(name for name in DSTS if name not in CLIPPED)
_PLAIN = tuple(mode for mode in QUANT_MODES.values() if not mode.scale)
_ABSENT = len(QUANT_BY_CODE)
_COPIES = ("f32", "i32", "si32", "ui32")
"""Destinations without a conversion (FIX-L04)."""


def _mode_points() -> Points:
    pairs = [("absent", _ABSENT, name) for name in _COPIES]
    for row in QUANT_MODES.values():
        pairs += [(row.name, row.code, name) for name in row.dst or _COPIES]
    legal = np.full((_ABSENT + 1, len(ALL_DTYPES)), NOT_SAMPLED)
    for number, (_, code, name) in enumerate(pairs):
        legal[code, ALL_DTYPES.index(name)] = number
    converting = np.full(_ABSENT, NOT_SAMPLED)
    converting[list(CONVERTING)] = np.arange(len(CONVERTING))
    unchanged = np.full(len(DSTS), NOT_SAMPLED)
    unchanged[[DSTS.index(name) for name in _UNCHANGED]] = np.arange(len(_UNCHANGED))

    def mode(view: FixPart) -> Ints:
        row = np.where((view["quant"] == 0) & (view["quant_type"] == 0), _ABSENT, view["quant"])
        return only(view.live, legal[row, view.pad_dtype])

    def with_sat(name: str, rows: Sequence[str], table: Ints, column: str, doc: str,
                 needs: Sequence[str] = ()) -> Sampled[FixPart]:  # fmt: skip
        def index(view: FixPart) -> Ints:
            row = table[view[column]]
            return only(view.live & (row >= 0), len(SATS) * row + view["sat"])

        labels = {f"{row} {sat}": row for row in rows for sat in SATS}
        limited = {label: ALL_MODES for label, row in labels.items() if row in needs}
        return Sampled(point(name, [*labels], doc, needs=limited), index)

    listed = {f"{name} to {dst}": needs_of([code]) for name, code, dst in pairs if code != _ABSENT}
    names = [QUANT_BY_CODE[code].name for code in CONVERTING]
    return [
        Sampled(
            point("mode", [f"{name} to {dst}" for name, _, dst in pairs],
                  "pre_quant mode and destination type as written", needs=listed),
            mode,
        ),
        with_sat("convert", names, converting, "quant",
                 "mode that converts to a narrower float, and saturation"),
        with_sat("sat_ignored", _UNCHANGED, unchanged, "dst_type",
                 "destination that saturation has no effect on, and its value",
                 tuple(RESULT_NEEDS)),
    ]  # fmt: skip


def _relu_points() -> Points:
    clip_code = [DSTS.index(name) for name in CLIPPED]
    pairs = [(code, name) for code in clip_code for name in CLIP_TYPES[code]]
    types = np.full((len(DSTS), len(CLIP_CODES)), NOT_SAMPLED)
    for number, (code, name) in enumerate(pairs):
        types[code, CLIP_CODES.index(name)] = number
        if name == ("f16" if code == DST_F16 else "i16"):
            types[code, 0] = number
    limits, place = np.zeros(len(DSTS), np.int64), np.zeros(len(DSTS), np.int64)
    for number, code in enumerate(clip_code):
        limits[code], place[code] = CLIP_LIMITS[code], 3 * number

    def relu(view: FixPart) -> Ints:
        written = (view["relu_type"] > 0) | (view["clip_en"] > 0)
        return only(view.live, view["relu"] + ((view["relu"] > 0) | written))

    def clip_type(view: FixPart) -> Ints:
        return only(_clips(view), types[view["dst_type"], view["clip_type"]])

    def clip_value(view: FixPart) -> Ints:
        value, dst = view["clip"], view["dst_type"]
        return only(_clips(view), place[dst] + first_of([value == 1, value == limits[dst]]))

    return [
        Sampled(point("relu", RELUS, "pre_relu mode"), relu),
        codes("clip", ["no", "yes"], lambda v: v["clip_en"], "a clip"),
        codes("dst", DSTS, lambda v: v["dst_type"], "destination", needs=RESULT_NEEDS),
        Sampled(
            point("clip_type", [f"{name} to {DSTS[code]}" for code, name in pairs],
                  "type of the clip and destination",
                  needs={f"{name} to {DSTS[code]}": RESULT_NEEDS.get(DSTS[code], "")
                         for code, name in pairs}),
            clip_type,
        ),
        Sampled(
            point("clip_value",
                  [f"{name} {what}" for name in CLIPPED for what in ("1", "limit", "other")],
                  "destination and clip, as bits: the limits are those of FIX-L07",
                  needs={f"{name} {what}": RESULT_NEEDS.get(name, "")
                         for name in CLIPPED for what in ("1", "limit", "other")}),
            clip_value,
        ),
    ]  # fmt: skip


def _clips(view: FixPart) -> Bools:
    found: Bools = view.live & (view["clip_en"] > 0)
    return found


def _number_type(column: Ints) -> Ints:
    """Returns an index into ``NUMBER_TYPES`` from one into ``NUMBER_CODES``."""
    assert NUMBER_CODES[1:] == NUMBER_TYPES
    return np.maximum(column - 1, 0)


def _number_points(
    name: str, what: str, scalar: Callable[[FixPart], Bools], bits: str, kind: str
) -> Points:
    """Returns the points of a scalar payload: class, sign, and the bits that are cleared."""

    def value(view: FixPart) -> Ints:
        kept = view[bits] & SCALE_MASK & 0x7FFFFFFF
        exponent, fraction = kept >> 23, kept & 0x7FFFFF
        cases = [kept == 0, exponent == 0, kept == 0x3F800000, fraction == 0]
        return only(view.live & scalar(view), first_of(cases))

    def sign(view: FixPart) -> Ints:
        return only(view.live & scalar(view), view[bits] >> 31 & 1)

    def low(view: FixPart) -> Ints:
        single = view.live & scalar(view) & (_number_type(view[kind]) == 0)
        return only(single, ((view[bits] & ~SCALE_MASK & 0xFFFFFFFF) > 0).astype(np.int64))

    classes = ["0", "subnormal", "1", "power of 2", "other"]
    return [
        Sampled(point(name, classes, f"magnitude of a scalar {what}"), value),
        Sampled(point(f"{name}_sign", ["+", "-"], f"sign of a scalar {what}"), sign),
        Sampled(
            point(f"{name}_low", ["0", "other"], f"low 13 bits of a f32 {what}, which are cleared"),
            low,
        ),
    ]


def _payload_points() -> Points:
    plain = np.full(_ABSENT, NOT_SAMPLED)
    plain[[mode.code for mode in _PLAIN]] = 3 * np.arange(len(_PLAIN))

    def scalar_quant(view: FixPart) -> Bools:
        return view.scaled & ~view.vector_quant

    def scalar_relu(view: FixPart) -> Bools:
        return np.equal(view["relu"], SCALAR_RELU)

    def quant_type(view: FixPart) -> Ints:
        row = len(NUMBER_TYPES) * view.vector_quant
        return only(view.live & view.scaled, row + _number_type(view["quant_type"]))

    def relu_type(view: FixPart) -> Ints:
        row = len(NUMBER_TYPES) * (view["relu"] == VECTOR_RELU)
        alpha = view["relu"] >= SCALAR_RELU
        return only(view.live & alpha, row + _number_type(view["relu_type"]))

    def ignored(view: FixPart) -> Ints:
        row = plain[view["quant"]]
        written = (view["quant"] > 0) | (view["quant_type"] > 0)
        found = row + first_of([view["quant_addr"] > 0, view["quant_scale"] > 0])
        return only(view.live & written & (row >= 0), found)

    types = [f"{kind} {name}" for kind in ("scalar", "pointer to") for name in NUMBER_TYPES]
    rest = [f"{mode.name} {what}" for mode in _PLAIN for what in ("pointer", "number", "0")]
    refused = {
        f"{mode.name} pointer": "the payload is a number (FIX-L03)" for mode in _PLAIN if mode.code
    }
    return [
        Sampled(point("quant_type", types, "payload of pre_quant as written"), quant_type),
        Sampled(point("relu_type", types, "payload of pre_relu as written"), relu_type),
        Sampled(point("ignored", rest, "payload that the mode ignores", **refused), ignored),
        *_number_points("scale", "scale", scalar_quant, "quant_scale", "quant_type"),
        *_number_points("alpha", "alpha", scalar_relu, "relu_alpha", "relu_type"),
    ]


PLACES = ("whole", "first rows", "last rows", "inside")
CHANNELS = ("1..16", "17..64", "65..")


def _parameter_points() -> Points:
    def place(vector: Callable[[FixPart], Bools], column: str, size: int) -> Callable[..., Ints]:
        def index(view: FixPart) -> Ints:
            start = view[column] % (1 << FB_SEGMENT_SHIFT)
            first, last = start == 0, start + size * GROUP * view.groups == FB_SEGMENT_BYTES
            return only(view.live & vector(view), first_of([first & last, first, last]))

        return index

    def channels(view: FixPart) -> Ints:
        return only(view.live, np.searchsorted([17, 65], view["n"], side="right"))

    def relu(view: FixPart) -> Bools:
        return np.equal(view["relu"], VECTOR_RELU)

    def segment(view: FixPart) -> Ints:
        return only(view.live & relu(view), view["relu_addr"] >> FB_SEGMENT_SHIFT)

    quant = place(lambda v: v.vector_quant, "quant_addr", QUANT_RECORD)
    alpha = place(relu, "relu_addr", ALPHA_WORD)
    return [
        Sampled(point("quant_rows", PLACES, "rows of 16 records in segment 0 of fb"), quant),
        Sampled(point("relu_rows", PLACES, "rows of 16 alphas in their segment of fb"), alpha),
        Sampled(
            point("relu_segment", [str(number) for number in sorted(FB_SEGMENTS.values())],
                  "segment of fb with the alphas; that of pre_quant is legal too (A-24)"),
            segment,
        ),
        Sampled(point("channels", CHANNELS, "columns N, for crosses"), channels),
    ]  # fmt: skip


def _flag_points() -> Points:
    def wait(view: FixPart) -> Ints:
        late = (view.flag_delay >= 0).astype(np.int64)
        clears = (view["unit_flag"] != FLAG_CHECK).astype(np.int64)
        return only(_checks(view), 2 * clears + late)

    def delay(view: FixPart) -> Ints:
        index = np.searchsorted([16, 256], view.flag_delay, side="right")
        return only(_checks(view) & (view.flag_delay >= 0), index)

    def blocks(view: FixPart) -> Ints:
        index = np.searchsorted([2, 3, 33], view.flag_blocks, side="right")
        return only(_checks(view), index)

    waits = ["check, set", "check, late", "clear, set", "clear, late"]
    return [
        Sampled(point("flag", waits, "unit_flag, and whether the flags are set already"), wait),
        Sampled(
            point("flag_delay", range_labels((0, 16, 256)), "clocks until flags are set"), delay
        ),
        Sampled(
            point("flag_blocks", range_labels((1, 2, 3, 33)), "flags from the first to the last"),
            blocks,
        ),
    ]


def _checks(view: FixPart) -> Bools:
    found: Bools = view.live & (view["unit_flag"] != FLAG_NONE)
    return found


def _crosses() -> tuple[Cross, ...]:
    clips = (
        excluding("the destination takes no clip (FIX-L06)", clip="yes", dst=_NO_CLIP),
        excluding("a clip is part of pre_relu", clip="yes", relu="absent"),
    )
    several = "n is more than 496 channels of scale, 1008 of alpha"
    return (
        Cross("relu x clip x dst", ("relu", "clip", "dst"), clips),
        *[
            Cross(f"{name} x channels", (name, "channels"),
                  (excluding(several, **{name: "whole"}, channels=CHANNELS[:2]),))
            for name in ("quant_rows", "relu_rows")
        ],
        Cross("relu_segment x relu_rows", ("relu_segment", "relu_rows")),
        Cross("flag x flag_blocks", ("flag", "flag_blocks")),
    )  # fmt: skip


def path_group() -> Group[FixPart]:
    """Returns the group, with bins for every write-back, whether a run sends it or not."""
    points = [
        *_mode_points(),
        *_relu_points(),
        *_payload_points(),
        *_parameter_points(),
        *_flag_points(),
        *sat_points(),
        *event_points(),
        *order_points(),
    ]
    crosses = (*_crosses(), *sat_crosses(), *event_crosses(), *order_crosses())
    doc = "Legal write-backs of all three ops: values on their way, parameters, flags, order."
    return Group(NAME, points, crosses, FixPart, doc)


def path_scope(forms: Sequence[str]) -> Scope:
    """Returns the bins of the group that a run of ``forms`` can reach."""
    return order_scope(forms)
