# SPDX-License-Identifier: Apache-2.0
"""f32 arithmetic of the write-back and its conversions to narrow floats.

Spec: fixpipe.md, sections 3 to 7. Everything works on whole arrays: ``float32`` for values that
are computed with, ``uint32`` for bit patterns. numpy's f32 product is the IEEE one, rounded to
nearest even with subnormals kept (A-42); NaNs are made canonical after it (A-51).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.isa.events import FixEvent

Words = NDArray[np.uint32]
Floats = NDArray[np.float32]
Integers = NDArray[np.int32]

CANONICAL_NAN = 0x7FC00000
"""The f32 NaN that every operation gives."""

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_INFINITY = np.uint32(0x7F800000)
_FRACTION = np.uint32(0x7FFFFF)
_LEADING = np.uint32(0x800000)
_ONE = np.uint32(1)
_HALF_LIMIT = np.float32(65504.0)


class Saturation(IntEnum):
    """The ``sat`` clause: the result of overflow, inf and NaN in a float destination (A-45)."""

    SAT = 0
    PRESERVE_NAN = 1
    NOSAT = 2


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A narrow float destination (spec/fixpipe.md, section 7).

    Attributes:
        name: Element type.
        bits: Bits of an element.
        fraction: Bits of its fraction.
        lowest: Unbiased exponent of its least normal number.
        greatest: Code of its greatest finite magnitude.
        overflow: Code of an overflow with ``nosat``.
        nan: Canonical NaN.
    """

    name: str
    bits: int
    fraction: int
    lowest: int
    greatest: int
    overflow: int
    nan: int


F32 = FloatFormat("f32", 32, 23, -126, 0x7F7FFFFF, 0x7F800000, CANONICAL_NAN)
F16 = FloatFormat("f16", 16, 10, -14, 0x7BFF, 0x7C00, 0x7E00)
BF16 = FloatFormat("bf16", 16, 7, -126, 0x7F7F, 0x7F80, 0x7FC0)
E4M3 = FloatFormat("f8E4M3FN", 8, 3, -6, 0x7E, 0x7F, 0x7F)
HIF8 = FloatFormat("hif8", 8, 0, -15, 0x6E, 0x6F, 0x80)
"""Fraction and exponent of HiF8 are those of its tapered ends; :func:`to_hif8` handles the rest."""


def bits_of(values: Floats) -> Words:
    """Returns the bit patterns of f32 values, without a copy."""
    return values.view(np.uint32)


def floats_of(bits: Words) -> Floats:
    """Returns the f32 values of bit patterns, without a copy."""
    return bits.view(np.float32)


def canonical(values: Floats) -> Floats:
    """Replaces every NaN by the canonical one, in place; for results of operations."""
    nan = np.isnan(values)
    if nan.any():
        values.view(np.uint32)[nan] = CANONICAL_NAN
    return values


def multiply(values: Floats, factor: Floats) -> Floats:
    """Returns f32 products, rounded to nearest even."""
    with np.errstate(all="ignore"):
        return canonical(values * factor)


def normal_relu(values: Floats) -> Floats:
    """Returns ``t > 0 ? t : +0``; a NaN becomes the canonical one."""
    with np.errstate(all="ignore"):
        chosen = np.where(values > 0, values, np.float32(0))
    nan = np.isnan(values)
    if nan.any():
        chosen.view(np.uint32)[nan] = CANONICAL_NAN
    return chosen


def leaky_relu(values: Floats, alpha: Floats) -> Floats:
    """Returns ``t >= 0 ? t : RNE(alpha * t)``, which keeps -0; a NaN becomes the canonical one."""
    with np.errstate(all="ignore"):
        chosen = np.where(values >= 0, values, values * alpha)
    return canonical(chosen)


def replacing_relu(
    source: Floats, negative: NDArray[np.bool_], scaled: Floats, alpha: Floats
) -> Floats:
    """Returns ``x < 0 ? RNE(s * alpha) : t``; a NaN becomes the canonical one (knob ``alpha``).

    Args:
        source: s, the values of the source stage.
        negative: Where the accumulator x is below 0.
        scaled: t, the product of s and the scale.
        alpha: Factor that replaces the scale.
    """
    with np.errstate(all="ignore"):
        chosen = np.where(negative, source * alpha, scaled)
    return canonical(chosen)


def from_i32(words: Words) -> Floats:
    """Returns ``f32(x)`` of signed accumulators, rounded to nearest even."""
    return words.view(np.int32).astype(np.float32)


def half_stage(values: Floats) -> Floats:
    """Returns H(x): rounded to f16, saturated, NaN to +0, and widened again (A-41)."""
    with np.errstate(all="ignore"):
        # What rounds to an overflow saturates to the greatest f16 anyway: saturate first.
        held = np.clip(values, -_HALF_LIMIT, _HALF_LIMIT)
        held[np.isnan(values)] = 0
        return held.astype(np.float16).astype(np.float32)


def half_stage_i32(words: Words) -> Floats:
    """Returns HI(x): the exact integer rounded once to f16, saturated, and widened again."""
    # Saturated integers have 16 bits: exact in f32, so that the only rounding is the one to f16.
    held = np.clip(words.view(np.int32), -65504, 65504)
    return held.astype(np.float32).astype(np.float16).astype(np.float32)


def minimum(values: Floats, limit: float) -> tuple[Floats, int]:
    """Returns ``min(t, limit)``, NaN kept, and whether the limit acted as an event."""
    with np.errstate(all="ignore"):
        above = values > np.float32(limit)
    if not above.any():
        return values, 0
    return np.where(above, np.float32(limit), values), int(FixEvent.CLIPPED)


def to_float(values: Floats, form: FloatFormat, sat: Saturation) -> tuple[Words, int]:
    """Converts to f16, bf16 or e4m3fn: nearest even, gradual underflow, overflow after rounding.

    Args:
        values: f32 values of any shape.
        form: The destination.
        sat: What becomes of overflow, inf and NaN.

    Returns:
        Codes, ``uint32`` of the same shape, and the events of the conversion.
    """
    bits = bits_of(values)
    magnitude = bits & _MAGNITUDE
    value, shift = _aligned(magnitude, form)
    kept = value >> shift
    half = _ONE << (shift - _ONE)
    rest = value & ((half << _ONE) - _ONE)
    code = (value + (half - _ONE + (kept & _ONE))) >> shift
    rounding = Rounding(rest, half, code > kept)
    return _finish(bits, magnitude, code, code > form.greatest, form, sat, rounding)


def _aligned(magnitude: Words, form: FloatFormat) -> tuple[Words, Words]:
    """Returns magnitudes as integers and how many of their low bits the destination drops.

    Normal results keep exponent and fraction packed together, so that a carry out of the
    fraction raises the exponent; subnormal ones are the significand alone.
    """
    dropped: Any = np.uint32(23 - form.fraction)
    normal = magnitude - np.uint32(form.lowest + 126 << 23)
    small = magnitude < np.uint32(form.lowest + 127 << 23)
    if not small.any():
        return normal, dropped
    exponent = magnitude >> np.uint32(23)
    significand = np.where(exponent > 0, magnitude & _FRACTION | _LEADING, magnitude)
    below = np.uint32(form.lowest + 127) - np.maximum(exponent, _ONE)
    # A significand has 24 bits: beyond 26 places it is less than half of the least number.
    shift = np.where(small, np.minimum(dropped + below, np.uint32(26)), dropped)
    return np.where(small, significand, normal), shift


@dataclass(frozen=True, slots=True)
class Rounding:
    """Rounding of the elements of an array.

    Attributes:
        rest: What was dropped, not negative.
        half: Half a step of the destination, in the units of ``rest``; one for all or for each.
        up: Whether the magnitude was raised.
    """

    rest: NDArray[Any]
    half: Any
    up: NDArray[np.bool_]

    def only(self, where: NDArray[np.bool_]) -> Rounding:
        """Returns the rounding of the elements that ``where`` marks."""
        half = self.half[where] if np.ndim(self.half) else self.half
        return Rounding(self.rest[where], half, self.up[where])

    def events(self) -> int:
        """Returns which of exact, tie and inexact there are, and their directions."""
        rest, up = self.rest, self.up
        if not rest.size:
            return 0
        inexact = rest != 0
        if not inexact.any():
            return int(FixEvent.EXACT)
        events = 0 if inexact.all() else FixEvent.EXACT
        tie = rest == self.half
        if tie.any():
            if np.any(tie & up):
                events |= FixEvent.TIE_UP
            if np.any(tie > up):
                events |= FixEvent.TIE_DOWN
            inexact ^= tie
        if np.any(inexact & up):
            events |= FixEvent.ROUNDED_UP
        if np.any(inexact > up):
            events |= FixEvent.ROUNDED_DOWN
        return int(events)


def _finish(
    bits: Words,
    magnitude: Words,
    code: Words,
    over: NDArray[np.bool_],
    form: FloatFormat,
    sat: Saturation,
    rounding: Rounding,
) -> tuple[Words, int]:
    """Puts overflow, sign and NaN in place."""
    negative = bits > _MAGNITUDE
    events, nan = 0, None
    if over.any():
        nan = magnitude > _INFINITY
        special = sat is Saturation.NOSAT
        code[over] = form.overflow if special else form.greatest
        events |= _range_events(magnitude, over & ~nan, negative, special)
        rounding = rounding.only(~over)
    events |= rounding.events() | small_events(code, magnitude, negative, form)
    signs = negative
    if form is E4M3 and sat is Saturation.NOSAT:
        signs = negative & ~over  # NaN, the code of an overflow, has one sign
    code |= signs.astype(np.uint32) << np.uint32(form.bits - 1)
    if form is HIF8:
        code[code == 0x80] = 0  # HiF8 has no -0
    if nan is not None and nan.any():
        code[nan] = 0 if sat is Saturation.SAT else form.nan
        events |= FixEvent.NAN
    return code, int(events)


def _range_events(
    magnitude: Words, over: NDArray[np.bool_], negative: NDArray[np.bool_], special: bool
) -> int:
    """Returns the events of numbers out of range."""
    if not over.any():
        return 0
    events = FixEvent(0)
    if np.any(magnitude == _INFINITY):
        events |= FixEvent.INF
    if special:
        return int(events | FixEvent.OVERFLOW_SPECIAL)
    if np.any(over & negative):
        events |= FixEvent.SATURATED_LOW
    if np.any(over > negative):
        events |= FixEvent.SATURATED_HIGH
    return int(events)


def small_events(
    code: Words, magnitude: Words, negative: NDArray[np.bool_], form: FloatFormat
) -> int:
    """Returns the events of small results; ``code`` has no sign yet."""
    least = (1 << form.fraction) if form is not HIF8 else 8
    small = code < np.uint32(least)
    if not small.any():
        return 0
    codes, events = code[small], FixEvent(0)
    if codes.any():
        events |= FixEvent.SUBNORMAL_RESULT
    zero = codes == 0
    if zero.any():
        if np.any(magnitude[small][zero]):
            events |= FixEvent.UNDERFLOW_TO_ZERO
        if form is not HIF8 and np.any(negative[small][zero]):
            events |= FixEvent.MINUS_ZERO
    return int(events)


def hif8_value(code: int) -> float:
    """Returns the value of a HiF8 code (spec/fixpipe.md, section 7).

    Args:
        code: 0..255; 0x80 is NaN, 0x6F and 0xEF are the infinities.
    """
    sign, low = -1.0 if code & 0x80 else 1.0, code & 0x7F
    if low == 0:
        return float("nan") if sign < 0 else 0.0
    if low == 0x6F:
        return sign * float("inf")
    if low < 8:
        return sign * 2.0 ** (low - 23)
    if low < 0x10:
        exponent, width = 0, 3
    elif low < 0x20:
        exponent, width = (-1 if low & 8 else 1), 3
    elif low < 0x40:
        exponent, width = 2 | low >> 3 & 1, 3
        exponent = -exponent if low & 0x10 else exponent
    elif low < 0x60:
        exponent, width = 4 | low >> 2 & 3, 2
        exponent = -exponent if low & 0x10 else exponent
    else:
        exponent, width = 8 | low >> 1 & 7, 1
        exponent = -exponent if low & 0x10 else exponent
    mantissa = low & (1 << width) - 1
    return sign * 2.0**exponent * (1 + mantissa / (1 << width))


_HIF8_LOWEST = -22
_HIF8_HIGHEST = 15
_HIF8_LIMIT = np.float32(32768.0).view(np.uint32)
_INDEX = np.uint32(20)  # exponent and three fraction bits identify a HiF8 number


@cache
def _hif8_tables() -> tuple[NDArray[np.uint8], Words]:
    """Returns the code of every f32 prefix that is a HiF8 number, and the bits each exponent drops.

    The first is indexed by magnitude bits 30:20, the second by the biased exponent.
    """
    codes = np.zeros(4096, dtype=np.uint8)
    for code in range(1, 0x80):
        if code != 0x6F:
            codes[int(np.float32(hif8_value(code)).view(np.uint32)) >> 20] = code
    dropped = np.full(256, 23, dtype=np.uint32)
    for exponent in range(-15, _HIF8_HIGHEST + 1):
        width = 3 if abs(exponent) < 4 else 2 if abs(exponent) < 8 else 1
        dropped[exponent + 127] = 23 - width
    return codes, dropped


def to_hif8(values: Floats, sat: Saturation, *, hybrid: bool = False) -> tuple[Words, int]:
    """Converts to HiF8, rounding half away from zero or by the hybrid threshold (A-43).

    Args:
        values: f32 values of any shape.
        sat: What becomes of overflow, inf and NaN.
        hybrid: Compare 14 dropped bits with the low 14 bits of the fraction where fewer than
            three bits of mantissa are kept.

    Returns:
        As :func:`to_float`.
    """
    codes, dropped = _hif8_tables()
    bits = bits_of(values)
    magnitude = bits & _MAGNITUDE
    exponent = magnitude >> np.uint32(23)
    shift = dropped[exponent]
    half = _ONE << (shift - _ONE)
    rest = magnitude & ((half << _ONE) - _ONE)
    up = rest >= half
    if hybrid:
        threshold = magnitude & np.uint32(0x3FFF)
        raised = (rest > 0) & ((rest >> (shift - np.uint32(14))) >= threshold)
        up = np.where(shift == 20, up, raised)
    edge = exponent == np.uint32(_HIF8_LOWEST - 1 + 127)
    below = exponent < np.uint32(_HIF8_LOWEST - 1 + 127)
    tiny = edge | below
    if tiny.any():
        # 2^-23 up to 2^-22: the whole significand is dropped; its leading 1 is half of a step.
        leading = magnitude & _FRACTION | _LEADING
        at_edge: NDArray[np.bool_] = np.ones_like(edge)
        if hybrid:
            at_edge = (leading >> np.uint32(10)) >= (magnitude & np.uint32(0x3FFF))
        up = np.where(tiny, edge & at_edge, up)
        rest = np.where(tiny, np.where(edge, leading, magnitude), rest)
        half = np.where(tiny, np.where(edge, _LEADING, _MAGNITUDE), half)
    rounded = ((magnitude >> shift) + up) << shift
    code = codes[rounded >> _INDEX].astype(np.uint32)
    rounding = Rounding(rest, half, up)
    return _finish(bits, magnitude, code, rounded > _HIF8_LIMIT, HIF8, sat, rounding)
