# SPDX-License-Identifier: Apache-2.0
"""The group ``fixpipe``: the effect of all write-backs on values.

Modes, saturation, ReLU, clip and their payloads (docs/spec/fixpipe.md, sections 3 to 7), parameters
in fb, unit flags; an omitted saturation leaves it to CTRL (docs/spec/order_and_atomics.md, section
5, CT-02 to CT-05). Events of the data and the order of ops are in separate modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from tb.coverage.atomic import WRITTEN
from tb.coverage.fix import events, order, values
from tb.coverage.fix.values import ALL_MODES, CONVERTING, RESULT_NEEDS, RESULTS, SATS, needs_of
from tb.coverage.model import NOT_SAMPLED, Cross, Ints, crossed, excluding
from tb.coverage.ops import Bools, Derived, Ops
from tb.coverage.points import Group, Row, cases, codes, place_of, program_flag, ranges
from tb.coverage.scope import Scope
from tb.coverage.view import RESTORED, SAT_CLAUSE, SET_CTRL
from tb.isa.dtypes import ALL_DTYPES
from tb.isa.fix.table import (
    ALPHA_WORD,
    CLIP_CODES,
    CLIP_LIMITS,
    CLIP_TYPES,
    DST_F16,
    FLAG_CHECK,
    GROUP,
    NUMBER_CODES,
    NUMBER_TYPES,
    QUANT_BY_CODE,
    QUANT_MODES,
    QUANT_RECORD,
    SCALAR_RELU,
    SCALE_MASK,
)
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS

NAME = "fixpipe"
"""Name of the group."""

DSTS = RESULTS[:10]
"""Destinations by code."""

RELUS = ("absent", "no_relu", "normal_relu", "scalar_relu", "vector_relu")
CLIPPED = tuple(DSTS[code] for code in CLIP_TYPES)
PLACES = ("whole", "first rows", "last rows", "inside")
CHANNELS = ("1..16", "17..64", "65..")
CLAUSES = ("sat", "sat(preserve_nan)", "nosat")
CTRL_SATS = ("0, 0", "0, 1", "1, 0", "1, 1")
"""Bits 48 and 50."""

_UNCHANGED = ("f32", "i32", "i16", "s8", "u8", "s4")
_NO_CLIP = tuple(name for name in DSTS if name not in CLIPPED)
_PLAIN = tuple(mode for mode in QUANT_MODES.values() if not mode.scale)
_ABSENT = len(QUANT_BY_CODE)
_COPIES = ("f32", "i32", "si32", "ui32")
"""Destinations without a conversion (FIX-L04)."""

assert NUMBER_CODES[1:] == NUMBER_TYPES, "a written type is its code less one"

DERIVED: Derived = values.DERIVED | events.DERIVED | order.DERIVED | {
    # Bits 48 and 50 of CTRL, an index into CTRL_SATS; a clause that is written alone with the
    # reset value is none.
    "ctrl_sat": lambda v: 2 * (v.ctrl & 1) + (v.ctrl >> 1 & 1),
    "sat_alone": lambda v: (v.program & WRITTEN == 0) & (v.sat > 0),
    "sat_clause": lambda v: v.sat_alone | (v.program & SAT_CLAUSE > 0),
    "live_clause": lambda v: v.live & v.sat_clause,
    # Ops with a clip, a scalar scale, a scalar alpha, an alpha of any kind, and either in fb.
    "clips": lambda v: v.live & (v.clip_en > 0),
    "scalar_quant": lambda v: v.live & v.scaled & ~v.vector_quant,
    "scalar_relu": lambda v: v.live & (v.relu == SCALAR_RELU),
    "alpha": lambda v: v.live & (v.relu >= SCALAR_RELU),
    "fb_quant": lambda v: v.live & v.vector_quant,
    "fb_relu": lambda v: v.live & v.vector_relu,
    "late": lambda v: v.checks & (v.flag_delay >= 0),
}  # fmt: skip


def _sat_of(table: Ints, column: str, v: Ops) -> Ints:
    """Returns the bins of rows of a table by saturation."""
    row = table[v[column]]
    return np.where(row < 0, NOT_SAMPLED, len(SATS) * row + v.sat)


def _mode(legal: Ints, v: Ops) -> Ints:
    row = np.where((v.quant == 0) & (v.quant_type == 0), _ABSENT, v.quant)
    return legal[row, v.pad_dtype]


def _mode_points() -> list[Row]:
    pairs = [("absent", _ABSENT, name) for name in _COPIES]
    for row in QUANT_MODES.values():
        pairs += [(row.name, row.code, name) for name in row.dst or _COPIES]
    legal = np.full((_ABSENT + 1, len(ALL_DTYPES)), NOT_SAMPLED)
    for number, (_, code, name) in enumerate(pairs):
        legal[code, ALL_DTYPES.index(name)] = number
    labels = [f"{name} to {dst}" for name, _, dst in pairs]
    listed = {f"{name} to {dst}": needs_of([code]) for name, code, dst in pairs if code != _ABSENT}
    converting = np.full(_ABSENT, NOT_SAMPLED)
    converting[list(CONVERTING)] = np.arange(len(CONVERTING))
    modes = [QUANT_BY_CODE[code].name for code in CONVERTING]
    ignored = {f"{name} {sat}": ALL_MODES
               for name, sat in product(_UNCHANGED, SATS) if name in RESULT_NEEDS}  # fmt: skip
    return [
        codes("mode", labels, partial(_mode, legal),
              "pre_quant mode and destination type as written", needs=listed),
        codes("convert", [f"{name} {sat}" for name, sat in product(modes, SATS)],
              partial(_sat_of, converting, "quant"),
              "mode that converts to a narrower float, and saturation"),
        codes("sat_ignored", [f"{name} {sat}" for name, sat in product(_UNCHANGED, SATS)],
              partial(_sat_of, place_of(_UNCHANGED, DSTS), "dst_type"),
              "destination that saturation has no effect on, and its value", needs=ignored),
    ]  # fmt: skip


def _relu(v: Ops) -> Ints:
    written = (v.relu > 0) | (v.relu_type > 0) | (v.clip_en > 0)
    return v.relu + written


def _clip_type(types: Ints, v: Ops) -> Ints:
    return types[v.dst_type, v.clip_type]


_LIMITS = np.array([CLIP_LIMITS.get(code, 0) for code in range(len(DSTS))])
_CLIPPED = place_of(CLIPPED, DSTS)


def _clip_value(v: Ops) -> Ints:
    other = np.where(v.clip == _LIMITS[v.dst_type], 1, 2)
    return 3 * _CLIPPED[v.dst_type] + np.where(v.clip == 1, 0, other)


def _relu_points() -> list[Row]:
    pairs = [(DSTS.index(name), kind) for name in CLIPPED for kind in CLIP_TYPES[DSTS.index(name)]]
    types = np.full((len(DSTS), len(CLIP_CODES)), NOT_SAMPLED)
    for number, (code, name) in enumerate(pairs):
        types[code, CLIP_CODES.index(name)] = number
        if name == ("f16" if code == DST_F16 else "i16"):
            types[code, 0] = number
    kinds = {f"{name} to {DSTS[code]}": RESULT_NEEDS.get(DSTS[code], "") for code, name in pairs}
    clips = {f"{name} {what}": RESULT_NEEDS.get(name, "")
             for name, what in product(CLIPPED, ("1", "limit", "other"))}  # fmt: skip
    return [
        codes("relu", RELUS, _relu, "pre_relu mode"),
        codes("clip", ["no", "yes"], "clip_en", "a clip"),
        codes("dst", DSTS, "dst_type", "destination", needs=RESULT_NEEDS),
        codes("clip_type", [*kinds], partial(_clip_type, types),
              "type of the clip and destination", ops="clips", needs=kinds),
        codes("clip_value", [*clips], _clip_value,
              "destination and clip, as bits: the limits are those of FIX-L07", ops="clips",
              needs=clips),
    ]  # fmt: skip


def _payload(vector: str, column: str, v: Ops) -> Ints:
    """Returns the index of a payload's type, those of pointers after those of scalars."""
    return len(NUMBER_TYPES) * v[vector] + np.maximum(v[column] - 1, 0)


_PLAIN_OF = np.full(_ABSENT, NOT_SAMPLED)
_PLAIN_OF[[mode.code for mode in _PLAIN]] = 3 * np.arange(len(_PLAIN))


def _plain(v: Ops) -> Bools:
    written = (v.quant > 0) | (v.quant_type > 0)
    return v.live & written & (_PLAIN_OF[v.quant] >= 0)


def _ignored(v: Ops) -> Ints:
    what = np.where(v.quant_scale > 0, 1, 2)
    return _PLAIN_OF[v.quant] + np.where(v.quant_addr > 0, 0, what)


def _magnitude(bits: str, v: Ops) -> list[Bools]:
    kept = v[bits] & SCALE_MASK & 0x7FFFFFFF
    return [kept == 0, kept >> 23 == 0, kept == 0x3F800000, kept & 0x7FFFFF == 0]


def _sign(bits: str, v: Ops) -> Ints:
    return v[bits] >> 31 & 1


def _low(bits: str, v: Ops) -> Bools:
    return v[bits] & ~SCALE_MASK & 0xFFFFFFFF > 0


def _single(scalar: str, kind: str, v: Ops) -> Bools:
    """Returns the ops with a scalar payload of type f32."""
    return v[scalar] & (v[kind] <= 1)


def _number_points(what: str, scalar: str, bits: str, kind: str) -> list[Row]:
    """Returns the points of a scalar payload: class, sign, and the bits that are cleared."""
    return [
        cases(what, ("0", "subnormal", "1", "power of 2", "other"), partial(_magnitude, bits),
              f"magnitude of a scalar {what}", ops=scalar),
        codes(f"{what}_sign", ["+", "-"], partial(_sign, bits), f"sign of a scalar {what}",
              ops=scalar),
        codes(f"{what}_low", ["0", "other"], partial(_low, bits),
              f"low 13 bits of a f32 {what}, which are cleared",
              ops=partial(_single, scalar, kind)),
    ]  # fmt: skip


def _payload_points() -> list[Row]:
    types = [f"{kind} {name}" for kind in ("scalar", "pointer to") for name in NUMBER_TYPES]
    rest = [f"{mode.name} {what}" for mode in _PLAIN for what in ("pointer", "number", "0")]
    refused = {
        f"{mode.name} pointer": "the payload is a number (FIX-L03)" for mode in _PLAIN if mode.code
    }
    return [
        codes("quant_type", types, partial(_payload, "vector_quant", "quant_type"),
              "payload of pre_quant as written", ops=lambda v: v.live & v.scaled),
        codes("relu_type", types, partial(_payload, "vector_relu", "relu_type"),
              "payload of pre_relu as written", ops="alpha"),
        codes("ignored", rest, _ignored, "payload that the mode ignores", ops=_plain, **refused),
        *_number_points("scale", "scalar_quant", "quant_scale", "quant_type"),
        *_number_points("alpha", "scalar_relu", "relu_alpha", "relu_type"),
    ]  # fmt: skip


def _fb_rows(column: str, size: int, v: Ops) -> list[Bools]:
    start = v[column] % (1 << FB_SEGMENT_SHIFT)
    first, last = start == 0, start + size * GROUP * v.groups == FB_SEGMENT_BYTES
    return [first & last, first, last]


PARAMETER_POINTS = [
    cases("quant_rows", PLACES, partial(_fb_rows, "quant_addr", QUANT_RECORD),
          "rows of 16 records in segment 0 of fb", ops="fb_quant"),
    cases("relu_rows", PLACES, partial(_fb_rows, "relu_addr", ALPHA_WORD),
          "rows of 16 alphas in their segment of fb", ops="fb_relu"),
    codes("relu_segment", [str(number) for number in sorted(FB_SEGMENTS.values())],
          lambda v: v.relu_addr >> FB_SEGMENT_SHIFT,
          "segment of fb with the alphas; that of pre_quant is legal too (A-24)", ops="fb_relu"),
    ranges("channels", (1, 17, 65), "n", "columns N, for crosses"),
]  # fmt: skip

FLAG_POINTS = [
    codes("flag", ["check, set", "check, late", "clear, set", "clear, late"],
          lambda v: 2 * (v.unit_flag != FLAG_CHECK) + v.late,
          "unit_flag, and whether the flags are set already", ops="checks"),
    ranges("flag_delay", (0, 16, 256), "flag_delay", "clocks until flags are set", ops="late"),
    ranges("flag_blocks", (1, 2, 3, 33), "flag_blocks", "flags from the first to the last",
           ops="checks"),
]  # fmt: skip

SAT_POINTS = [
    codes("sat_source", [*CLAUSES, *(f"CTRL {bits}" for bits in CTRL_SATS)],
          lambda v: np.where(v.sat_clause, v.sat, len(CLAUSES) + v.ctrl_sat),
          "saturation: clause, or bits 48 and 50 of CTRL"),
    codes("sat_clause", CLAUSES, "sat", "clause, for the cross", ops="live_clause"),
    codes("sat_under", CTRL_SATS, "ctrl_sat",
          "bits 48 and 50 of CTRL, which a clause replaces", ops="live_clause"),
    program_flag("set_ctrl", SET_CTRL, "set_ctrl before the op"),
    program_flag("restored", RESTORED, "CTRL is written right after the op, which samples it"),
]  # fmt: skip


def _crosses() -> tuple[Cross, ...]:
    clips = (
        excluding("the destination takes no clip (FIX-L06)", clip="yes", dst=_NO_CLIP),
        excluding("a clip is part of pre_relu", clip="yes", relu="absent"),
    )
    several = "n is more than 496 channels of scale, 1008 of alpha"
    return (
        crossed("relu x clip x dst", clips),
        *[
            Cross(f"{name} x channels", (name, "channels"),
                  (excluding(several, **{name: "whole"}, channels=CHANNELS[:2]),))
            for name in ("quant_rows", "relu_rows")
        ],
        crossed("relu_segment x relu_rows"),
        crossed("flag x flag_blocks"),
    )  # fmt: skip


def path_group() -> Group:
    """Returns the group, with bins for every write-back, whether a run sends it or not."""
    points = [
        *_mode_points(),
        *_relu_points(),
        *_payload_points(),
        *PARAMETER_POINTS,
        *FLAG_POINTS,
        *SAT_POINTS,
        *events.EVENT_POINTS,
        *events.alpha_points(),
        *order.ORDER_POINTS,
    ]
    clauses = crossed("sat_clause x sat_under")
    crosses = (*_crosses(), clauses, *events.event_crosses(), *order.order_crosses())
    doc = "Legal write-backs of all three ops: values on their way, parameters, flags, order."
    return Group(NAME, points, crosses, DERIVED, doc)


def path_scope(forms: Sequence[str]) -> Scope:
    """Returns the bins of the group that a run of ``forms`` can reach."""
    return order.order_scope(forms)
