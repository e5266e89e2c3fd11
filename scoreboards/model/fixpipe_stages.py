# SPDX-License-Identifier: Apache-2.0
"""The write-back pipeline, accumulators to destination elements (docs/spec/fixpipe.md, section 3).

Source stage, scale, ReLU, then rounding to a float or to an integer with offset, clip and clamp.
:class:`Pipeline` holds the settings of an op, :class:`Parameters` the values per channel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_float import (
    BF16,
    E4M3,
    F16,
    Floats,
    Saturation,
    Words,
    bits_of,
    floats_of,
    from_i32,
    half_stage,
    half_stage_i32,
    leaky_relu,
    minimum,
    multiply,
    normal_relu,
    replacing_relu,
    roundings,
    some,
    to_float,
    to_hif8,
)
from tb.isa.events import FixEvent

Elements = NDArray[Any]
"""Destination elements as unsigned integers of their width; 4-bit ones in the low nibble."""

_B8 = frozenset(("i8", "si8", "ui8"))
_S4 = frozenset(("i4", "si4"))
_S16 = frozenset(("i16", "si16"))
_S32 = frozenset(("i32", "si32"))

STAGES: dict[str, tuple[float, float] | None] = {
    "S5": (-16.0, 15.0),
    "S9": (-256.0, 255.0),
    "S17": (-65536.0, 65535.0),
    "WIDE": None,
}
"""Range of each integer stage; WIDE has none (section 4)."""

OFFSET_BITS = {"S5": 5, "S9": 9, "S17": 17, "WIDE": 9}
"""Width of the signed offset of a record, from bit 37 on, by stage (section 5)."""

_FAR = np.float32(2.0**34)
"""Beyond every clamp, and so is any sum of it and an offset."""

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_SIGN = np.uint32(0x80000000)
_ONE = np.uint32(1)
_SUBNORMALS = np.uint32(0x7FFFFF)
_LEADING = np.uint32(0x800000)
_INFINITY = np.uint32(0x7F800000)


@dataclass(frozen=True, slots=True)
class Mode:
    """A row of docs/spec/fixpipe.md, section 4, without its suffix.

    Attributes:
        accumulator: ``"f32"`` or ``"i32"``.
        targets: Destination element types.
        stage: Source stage: ``"x"``, ``"H"``, ``"f32"`` or ``"HI"``.
        narrow: Last stage: ``"none"``, a float format, or an integer stage of :data:`STAGES`.
        scaled: There is an M1, and so a ``_vec`` and a ``_scalar`` form.
        hybrid: HiF8 rounds by the hybrid threshold.
    """

    accumulator: str
    targets: frozenset[str]
    stage: str
    narrow: str
    scaled: bool = True
    hybrid: bool = False


def _one(name: str) -> frozenset[str]:
    return frozenset((name,))


MODES: dict[str, Mode] = {
    "f32_f16": Mode("f32", _one("f16"), "x", "f16", scaled=False),
    "f32_bf16": Mode("f32", _one("bf16"), "x", "bf16", scaled=False),
    "qf322hif8_pre": Mode("f32", _one("hif8"), "x", "hif8"),
    "qf322hif8_pre_hybrid": Mode("f32", _one("hif8"), "x", "hif8", hybrid=True),
    "qf322fp8_pre": Mode("f32", _one("f8E4M3FN"), "x", "f8E4M3FN"),
    "qf322f32_pre": Mode("f32", _one("f32"), "x", "none"),
    "qf322f16_pre": Mode("f32", _one("f16"), "x", "f16"),
    "qf322bf16_pre": Mode("f32", _one("bf16"), "x", "bf16"),
    "qf322b8_pre": Mode("f32", _B8, "x", "S9"),
    "qf322s4_pre": Mode("f32", _S4, "x", "S5"),
    "qf162b8_pre": Mode("f32", _B8, "H", "S9"),
    "qf162s4_pre": Mode("f32", _S4, "H", "S5"),
    "deqs32_int": Mode("i32", _S32, "f32", "WIDE"),
    "req8": Mode("i32", _B8, "f32", "S9"),
    "req4": Mode("i32", _S4, "f32", "S5"),
    "deqf16": Mode("i32", _one("f16"), "f32", "f16"),
    "deqs16": Mode("i32", _S16, "f32", "S17"),
    "qf162s16_pre": Mode("i32", _S16, "HI", "S17"),
    "qs322bf16_pre": Mode("i32", _one("bf16"), "f32", "bf16"),
}
"""Modes that convert; ``no_convert`` and an absent clause are :data:`KEPT`."""

KEPT: dict[str, Mode] = {
    "f32": Mode("f32", _one("f32"), "x", "none", scaled=False),
    "i32": Mode("i32", _S32 | {"ui32"}, "i32", "i32", scaled=False),
}
"""``no_convert`` by accumulator type."""

_SOURCES: dict[str, Callable[[Words], Floats]] = {
    "x": floats_of,
    "H": lambda words: half_stage(floats_of(words)),
    "f32": from_i32,
    "HI": half_stage_i32,
}

_FORMATS = {"f16": F16, "bf16": BF16, "f8E4M3FN": E4M3}

_LIMITS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_S4, (-8, 7)),
    **dict.fromkeys(_S16, (-32768, 32767)),
    **dict.fromkeys(_S32, (-(2**31), 2**31 - 1)),
}

CONTAINERS: dict[str, np.dtype[Any]] = {
    **dict.fromkeys((*_S4, *_B8, "hif8", "f8E4M3FN"), np.dtype(np.uint8)),
    **dict.fromkeys((*_S16, "f16", "bf16"), np.dtype("<u2")),
    **dict.fromkeys((*_S32, "ui32", "f32"), np.dtype("<u4")),
}
"""Array element type of a destination element during computation."""

PACKED = _S4
"""Destination types with two elements in a byte."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Scale, offset, sign and alpha: arrays over the channels, or of one element for all.

    Attributes:
        scale: M1, None without a scale.
        offset: Added after rounding to an integer.
        signed: The clamp of b8 destinations is that of signed bytes.
        alpha: Slope below zero, None without one.
    """

    scale: Floats | None = None
    offset: NDArray[np.int32] | None = None
    signed: NDArray[np.bool_] | None = None
    alpha: Floats | None = None

    def channel(self, n: int) -> Parameters:
        """Returns the parameters of channel ``n`` alone, as arrays of one element."""

        def pick(values: Any) -> Any:
            return values if values is None or len(values) == 1 else values[n : n + 1]

        return Parameters(pick(self.scale), pick(self.offset), pick(self.signed), pick(self.alpha))


Note = Callable[[str, Any], None]
"""Called with the name and result of a stage; for the explanation of a single element."""


def _ignore(_stage: str, _values: Any) -> None:
    """Ignores them."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Conversion settings of an op.

    Attributes:
        mode: Row of section 4.
        target: Destination element type.
        relu: ``""`` or ``"no_relu"``, ``"normal_relu"``, ``"scalar_relu"``, ``"vector_relu"``.
        clip: Limit as a number, or None.
        sat: Result of overflow, inf and NaN in float destinations.
        replace: Alpha replaces the scale (knob ``alpha``), else it multiplies the scaled value.
    """

    mode: Mode
    target: str
    relu: str = ""
    clip: float | None = None
    sat: Saturation = Saturation.SAT
    replace: bool = False

    @np.errstate(all="ignore")  # NaN and overflow are results
    def run(
        self, words: Words, parameters: Parameters, note: Note = _ignore
    ) -> tuple[Elements, int]:
        """Converts accumulators.

        Args:
            words: ``uint32[..., N]`` accumulators, channels last.
            parameters: Their arrays have N elements or one.
            note: Called after every stage in use.

        Returns:
            Elements of the same shape and the events of all of them.
        """
        mode, events = self.mode, 0
        if mode.narrow == "i32":
            return self._integers(words, note)
        if mode.accumulator == "f32" and some((words & _MAGNITUDE) - _ONE < _SUBNORMALS):
            events |= FixEvent.SUBNORMAL_INPUT.value
        values = source = _SOURCES[mode.stage](words)
        if mode.stage != "x":
            note(f"{mode.stage}(x)", values)
        if parameters.scale is not None:
            values = multiply(values, parameters.scale)
            note("* M1", values)
        if self.relu not in ("", "no_relu"):
            before = values
            if parameters.alpha is None:
                values = normal_relu(before)
            else:
                negative = self._negative(words)
                events |= self._alpha_events(words, negative)
                if self.replace:
                    values = replacing_relu(source, negative, before, parameters.alpha)
                else:
                    values = leaky_relu(before, parameters.alpha)
            note(self.relu, values)
            if some((before < 0) & (before != values)):
                events |= FixEvent.RELU_CHANGED.value
        if mode.narrow in STAGES:
            found, seen = self._narrow(values, source, parameters, note)
        else:
            found, seen = self._float(values, note)
        return found, events | seen

    def _negative(self, words: Words) -> NDArray[np.bool_]:
        """Returns where accumulators are below 0: neither -0 nor NaN is."""
        if self.mode.accumulator == "i32":
            return words.view(np.int32) < 0
        return floats_of(words) < 0

    def _alpha_events(self, words: Words, negative: NDArray[np.bool_]) -> int:
        events = FixEvent.ALPHA_NEGATIVE.value if some(negative) else 0
        if self.mode.accumulator == "f32" and some(words == _SIGN):
            events |= FixEvent.ALPHA_MINUS_ZERO.value
        return events

    def _integers(self, words: Words, note: Note) -> tuple[Elements, int]:
        """Returns i32 accumulators that stay what they are, apart from an integer ReLU."""
        if self.relu != "normal_relu":
            return words, 0
        signed = words.view(np.int32)
        kept: NDArray[np.int32] = np.maximum(signed, 0)
        note(self.relu, kept)
        changed = some(signed < 0)
        return kept.view(np.uint32), FixEvent.RELU_CHANGED.value if changed else 0

    def _float(self, values: Floats, note: Note) -> tuple[Elements, int]:
        """Clips and converts to a float destination."""
        mode, events = self.mode, 0
        if self.clip is not None:
            values, events = minimum(values, self.clip)
            note("clip", values)
        if mode.narrow == "none":
            return bits_of(values), _word_events(bits_of(values))
        if mode.narrow == "hif8":
            code, seen = to_hif8(values, self.sat, hybrid=mode.hybrid)
        else:
            code, seen = to_float(values, _FORMATS[mode.narrow], self.sat)
        return code.astype(CONTAINERS[self.target], copy=False), events | seen

    def _narrow(
        self, values: Floats, source: Floats, parameters: Parameters, note: Note
    ) -> tuple[Elements, int]:
        """Rounds to integers in the range of the stage, adds the offset, clips and clamps.

        A NaN becomes 0, and an infinity that the source stage had already, or that meets a stage
        without a range, a limit of the destination, both past stage and offset (A-35, A-40, A-76).
        """
        low, high = self._limits(parameters)
        limits = STAGES[self.mode.narrow]
        events, hidden = _special_events(values), None
        nan = infinite = None
        if events & FixEvent.NAN.value:
            nan = hidden = np.isnan(values)
            values = np.where(nan, np.float32(0), values)
        if events & FixEvent.INF.value:
            product = np.isinf(values)
            infinite = product & np.isinf(source)
            if some(product & ~infinite):
                events |= FixEvent.PRODUCT_OVERFLOW.value
            if limits is None:
                infinite = product
            hidden = _either(hidden, infinite)
        least, most = (-_FAR, _FAR) if limits is None else map(np.float32, limits)
        held = np.clip(values, least, most)
        away = held != values
        rounded = np.rint(held)
        whole: NDArray[Any] = rounded.astype(np.int64 if limits is None else np.int32)
        if some(away):
            events |= FixEvent.STAGE_CLAMPED.value if limits is not None else 0
            hidden = _either(hidden, away)
        note(self.mode.narrow, whole)
        offset = parameters.offset
        if offset is not None and some(offset):
            staged = whole
            whole = whole + offset
            note("+ offset", whole)
            events |= _offset_events(staged, whole, away, low, high)
        for special, value, event in (
            (nan, 0, FixEvent.NAN_BYPASSED.value),
            (infinite, np.where(values > 0, high, low), FixEvent.INF_BYPASSED.value),
        ):
            if special is not None and some(special):
                if offset is not None and some(special & (offset != 0)):
                    events |= event
                whole = np.where(special, value, whole)
                note("without stage and offset", whole)
        if self.clip is not None:
            above = whole > int(self.clip)
            if some(above):
                events |= FixEvent.CLIPPED.value
                hidden = _either(hidden, above)
                whole = np.minimum(whole, int(self.clip))
            note("clip", whole)
        clamped = np.clip(whole, low, high)
        outside = clamped != whole
        if infinite is not None:
            outside = outside | infinite
        if some(outside):
            hidden = _either(hidden, outside)
            events |= FixEvent.SATURATED_HIGH.value if some(whole > clamped) else 0
            events |= FixEvent.SATURATED_LOW.value if some(whole < clamped) else 0
            if infinite is not None:
                events |= FixEvent.SATURATED_HIGH.value if some(infinite & (values > 0)) else 0
                events |= FixEvent.SATURATED_LOW.value if some(infinite & (values < 0)) else 0
        events |= _integer_events(held, rounded, hidden)
        note("clamp", clamped)
        stored: Elements = clamped.astype(CONTAINERS[self.target])
        if self.target in PACKED:
            stored &= 0xF
        return stored, events

    def _limits(self, parameters: Parameters) -> tuple[Any, Any]:
        """Returns the least and the greatest integer of the destination."""
        if self.target not in _B8:
            return _LIMITS[self.target]
        signed = parameters.signed
        if signed is None or not some(signed):
            return 0, 255
        if signed.all():
            return -128, 127
        return np.where(signed, -128, 0), np.where(signed, 127, 255)


def _offset_events(
    staged: NDArray[Any], moved: NDArray[Any], away: NDArray[np.bool_], low: Any, high: Any
) -> int:
    """Returns what offsets did: ``staged`` are integers in front of them, ``moved`` after them."""
    events = FixEvent.OFFSET_MOVED.value
    inside = (moved >= low) & (moved <= high)
    if some(away & inside & (moved != staged)):
        events |= FixEvent.STAGE_RETURNED.value
    if some(~inside & (staged >= low) & (staged <= high)):
        events |= FixEvent.OFFSET_CROSSED.value
    return events


def _either(hidden: NDArray[np.bool_] | None, more: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return more if hidden is None else hidden | more


def _special_events(values: Floats) -> int:
    """Returns whether there are NaNs or infinities in front of the last stage."""
    # A NaN in it makes the greatest magnitude NaN.
    greatest = np.abs(values).max(initial=0)
    if greatest < np.inf:
        return 0
    events = 0
    if some(np.isnan(values)):
        events |= FixEvent.NAN.value
    if some(np.isinf(values)):
        events |= FixEvent.INF.value
    return events


def _word_events(bits: Words) -> int:
    """Returns the events of f32 results without a further conversion."""
    magnitude = bits & _MAGNITUDE
    odd = magnitude - _LEADING >= _INFINITY - _LEADING  # no normal number
    if not some(odd):
        return 0
    few, magnitude = bits[odd], magnitude[odd]
    events = 0
    for where, event in (
        (magnitude - _ONE < _SUBNORMALS, FixEvent.SUBNORMAL_RESULT.value),
        (few == _SIGN, FixEvent.MINUS_ZERO.value),
        (magnitude > _INFINITY, FixEvent.NAN.value),
        (magnitude == _INFINITY, FixEvent.INF.value),
    ):
        events |= event if some(where) else 0
    return events


def _integer_events(held: Floats, rounded: Floats, hidden: NDArray[np.bool_] | None) -> int:
    """Returns the rounding to integers of the elements with a visible rounding.

    Args:
        held: Values before the rounding.
        rounded: Values after it.
        hidden: Elements with a limit, or the replacement of a NaN, as result.
    """
    size, before = np.abs(rounded), np.abs(held)
    found = roundings(np.abs(size - before), np.float32(0.5), size > before)
    found |= ((size == 0) & (before != 0)) * np.uint32(FixEvent.UNDERFLOW_TO_ZERO)
    if hidden is not None:
        found[hidden] = 0
    return int(np.bitwise_or.reduce(found, axis=None))
