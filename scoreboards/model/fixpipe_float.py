# SPDX-License-Identifier: Apache-2.0
"""f32 arithmetic of the write-back and its conversions to narrow floats.

Spec: fixpipe.md, sections 3 to 7. Everything works on whole arrays: ``float32`` for values that
are computed with, ``uint32`` for bit patterns. numpy's f32 product is the IEEE one, rounded to
nearest even with subnormals kept (A-42); NaNs are made canonical after it (A-51). Callers silence
the warnings of numpy about NaN and overflow (``np.errstate``): once for an op.
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
Codes = NDArray[np.uint16]
Integers = NDArray[np.int32]

some = np.count_nonzero
"""Whether an array has a value that is true, in a third of the time of ``any``."""

CANONICAL_NAN = 0x7FC00000
"""The f32 NaN that every operation gives."""

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_SIGN = np.uint32(0x80000000)
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
    """A narrow float destination (docs/spec/fixpipe.md, section 7).

    Attributes:
        name: Element type.
        bits: Bits of an element.
        fraction: Bits of its fraction, at most.
        lowest: Unbiased exponent of its least normal number.
        below: Exponents below that one which have numbers.
        highest: Unbiased exponent of its greatest number.
        greatest: Code of its greatest finite magnitude.
        overflow: Code of an overflow with ``nosat``.
        nan: Canonical NaN.
    """

    name: str
    bits: int
    fraction: int
    lowest: int
    below: int
    highest: int
    greatest: int
    overflow: int
    nan: int


F16 = FloatFormat("f16", 16, 10, -14, 10, 15, 0x7BFF, 0x7C00, 0x7E00)
BF16 = FloatFormat("bf16", 16, 7, -126, 7, 127, 0x7F7F, 0x7F80, 0x7FC0)
E4M3 = FloatFormat("f8E4M3FN", 8, 3, -6, 3, 8, 0x7E, 0x7F, 0x7F)
HIF8 = FloatFormat("hif8", 8, 3, -15, 7, 15, 0x6E, 0x6F, 0x80)
"""HiF8 has fewer bits of fraction far from 1: :func:`to_hif8`."""


def bits_of(values: Floats) -> Words:
    """Returns the bit patterns of f32 values, without a copy."""
    return values.view(np.uint32)


def floats_of(bits: Words) -> Floats:
    """Returns the f32 values of bit patterns, without a copy."""
    return bits.view(np.float32)


def canonical(values: Floats) -> Floats:
    """Replaces every NaN by the canonical one, in place; for results of operations."""
    nan = values != values  # faster than isnan
    if some(nan):
        values.view(np.uint32)[nan] = CANONICAL_NAN
    return values


def multiply(values: Floats, factor: Floats) -> Floats:
    """Returns f32 products, rounded to nearest even."""
    return canonical(values * factor)


def normal_relu(values: Floats) -> Floats:
    """Returns ``t > 0 ? t : +0``; a NaN becomes the canonical one."""
    chosen = np.where(values > 0, values, np.float32(0))
    nan = np.isnan(values)
    if some(nan):
        chosen.view(np.uint32)[nan] = CANONICAL_NAN
    return chosen


def leaky_relu(values: Floats, alpha: Floats) -> Floats:
    """Returns ``t >= 0 ? t : RNE(alpha * t)``, which keeps -0; a NaN becomes the canonical one."""
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
    chosen = np.where(negative, source * alpha, scaled)
    return canonical(chosen)


def from_i32(words: Words) -> Floats:
    """Returns ``f32(x)`` of signed accumulators, rounded to nearest even."""
    return words.view(np.int32).astype(np.float32)


def half_stage(values: Floats) -> Floats:
    """Returns H(x): rounded to f16, saturated, NaN to +0, and widened again (A-41)."""
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
    above = values > np.float32(limit)
    if not some(above):
        return values, 0
    return np.where(above, np.float32(limit), values), int(FixEvent.CLIPPED)


def to_float(values: Floats, form: FloatFormat, sat: Saturation) -> tuple[Codes, int]:
    """Converts to f16, bf16, e4m3fn or HiF8.

    Args:
        values: f32 values of any shape.
        form: The destination.
        sat: What becomes of overflow, inf and NaN.

    Returns:
        Codes, ``uint16`` of the same shape, and the events of the conversion.
    """
    return _conversion(form, sat).run(bits_of(values))


@cache
def _conversion(form: FloatFormat, sat: Saturation) -> _Conversion:
    return _Conversion(form, sat)


class _Conversion:
    """A conversion to a narrow float, by a table after twice as many elements as that has.

    The result depends on sign, exponent, the bits of the fraction that the format keeps, the next
    one, and on whether another one is 1: the table has what :func:`convert` returns for each of
    these. Exponents at which everything overflows, or becomes 0, share their entries.
    """

    def __init__(self, form: FloatFormat, sat: Saturation) -> None:
        self._form, self._sat = form, sat
        width = form.fraction + 2
        self._width, self._shift = np.uint32(width), np.uint32(23 - width)
        self._rest = (_ONE << self._shift) - _ONE
        least, most = max(1, form.lowest - form.below + 125), min(254, form.highest + 128)
        exponents = np.clip(np.arange(256), least, most)
        exponents[[0, 255]] = 0, 255
        self._exponents, numbers = np.unique(exponents, return_inverse=True)
        self._size = len(self._exponents) << width
        # The shifted word still has sign and exponent: they are subtracted in the same step.
        starts = np.concatenate([numbers, numbers + len(self._exponents)]) - np.arange(512)
        self._starts = (starts << width).astype(np.uint32)
        self._table: Words | None = None
        self._direct = 0

    def run(self, bits: Words) -> tuple[Codes, int]:
        """Returns the codes of f32 words, and the events of all of them."""
        table = self._table
        if table is None:
            self._direct += bits.size
            if self._direct > 2 * self._size:
                self._table = self._entries()
            codes, flags = convert(bits, self._form, self._sat)
            return codes.astype(np.uint16), int(np.bitwise_or.reduce(flags, axis=None))
        index = bits & self._rest
        index += self._rest
        index |= bits
        index >>= self._shift
        index += self._starts.take(bits >> np.uint32(23))
        found = table.take(index)
        return found.astype(np.uint16), int(np.bitwise_or.reduce(found, axis=None)) >> 16

    def _entries(self) -> Words:
        """Returns the table: a code, and 16 bits further its events."""
        low = np.arange(1 << int(self._width), dtype=np.uint32) << self._shift
        high = self._exponents.astype(np.uint32) << np.uint32(23)
        rows = [convert(base + low, self._form, self._sat) for base in (*high, *(high | _SIGN))]
        return np.concatenate([codes | flags << np.uint32(16) for codes, flags in rows])


def convert(
    bits: Words, form: FloatFormat, sat: Saturation, *, hybrid: bool = False
) -> tuple[Words, Words]:
    """Returns the codes of f32 words and the events of each.

    Rounds to nearest even, HiF8 as :func:`to_hif8`; underflow is gradual, and overflow is
    judged after the rounding.
    """
    magnitude = bits & _MAGNITUDE
    if form is HIF8:
        code, over, rest, half, up = _hif8(magnitude, hybrid=hybrid)
    else:
        value, shift = _aligned(magnitude, form)
        kept = value >> shift
        half = _ONE << (shift - _ONE)
        rest = value & ((half << _ONE) - _ONE)
        code = (value + (half - _ONE + (kept & _ONE))) >> shift
        over, up = code > form.greatest, code > kept
    flags = roundings(rest, half, up)
    flags[over] = 0
    special = sat is Saturation.NOSAT
    code[over] = form.overflow if special else form.greatest
    negative, nan = bits > _MAGNITUDE, magnitude > _INFINITY
    number, zero = over & ~nan, code == 0
    for where, event in (
        ((code < np.uint32(1 << form.fraction)) & ~zero, FixEvent.SUBNORMAL_RESULT),
        (zero & (magnitude != 0), FixEvent.UNDERFLOW_TO_ZERO),
        (zero & negative & (form is not HIF8), FixEvent.MINUS_ZERO),
        (magnitude == _INFINITY, FixEvent.INF),
        (number & special, FixEvent.OVERFLOW_SPECIAL),
        (number & negative & (not special), FixEvent.SATURATED_LOW),
        (number & ~negative & (not special), FixEvent.SATURATED_HIGH),
        (nan, FixEvent.NAN),
    ):
        flags |= where * np.uint32(event)
    signs = negative
    if form is E4M3 and special:
        signs = negative & ~over  # NaN, the code of an overflow, has one sign
    code |= signs.astype(np.uint32) << np.uint32(form.bits - 1)
    if form is HIF8:
        code[code == 0x80] = 0  # HiF8 has no -0
    code[nan] = 0 if sat is Saturation.SAT else form.nan
    return code, flags


def _aligned(magnitude: Words, form: FloatFormat) -> tuple[Words, Words]:
    """Returns magnitudes as integers and how many of their low bits the destination drops.

    Normal results keep exponent and fraction packed together, so that a carry out of the
    fraction raises the exponent; subnormal ones are the significand alone.
    """
    dropped = np.uint32(23 - form.fraction)
    normal = magnitude - np.uint32(form.lowest + 126 << 23)
    small = magnitude < np.uint32(form.lowest + 127 << 23)
    exponent = magnitude >> np.uint32(23)
    significand = np.where(exponent > 0, magnitude & _FRACTION | _LEADING, magnitude)
    below = np.uint32(form.lowest + 127) - np.maximum(exponent, _ONE)
    # A significand has 24 bits: beyond 26 places it is less than half of the least number.
    shift = np.where(small, np.minimum(dropped + below, np.uint32(26)), dropped)
    return np.where(small, significand, normal), shift


def roundings(rest: NDArray[Any], half: Any, up: NDArray[np.bool_]) -> Words:
    """Returns the event of each rounding: exact, tie or inexact, and its direction.

    Args:
        rest: What was dropped, not negative.
        half: Half a step of the destination, in the units of ``rest``; one for all or for each.
        up: Whether the magnitude was raised.
    """
    tie = np.where(up, np.uint32(FixEvent.TIE_UP), np.uint32(FixEvent.TIE_DOWN))
    inexact = np.where(up, np.uint32(FixEvent.ROUNDED_UP), np.uint32(FixEvent.ROUNDED_DOWN))
    found: Words = np.where(rest == half, tie, inexact)
    found[rest == 0] = FixEvent.EXACT
    return found


def hif8_value(code: int) -> float:
    """Returns the value of a HiF8 code (docs/spec/fixpipe.md, section 7).

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
    for exponent in range(HIF8.lowest, HIF8.highest + 1):
        width = 3 if abs(exponent) < 4 else 2 if abs(exponent) < 8 else 1
        dropped[exponent + 127] = 23 - width
    return codes, dropped


def to_hif8(values: Floats, sat: Saturation, *, hybrid: bool = False) -> tuple[Codes, int]:
    """Converts to HiF8, rounding half away from zero or by the hybrid threshold (A-43).

    Args:
        values: f32 values of any shape.
        sat: What becomes of overflow, inf and NaN.
        hybrid: Compare 14 dropped bits with the low 14 bits of the fraction where fewer than
            three bits of mantissa are kept.

    Returns:
        As :func:`to_float`.
    """
    if not hybrid:
        return to_float(values, HIF8, sat)
    codes, flags = convert(bits_of(values), HIF8, sat, hybrid=True)
    return codes.astype(np.uint16), int(np.bitwise_or.reduce(flags, axis=None))


def _hif8(
    magnitude: Words, *, hybrid: bool
) -> tuple[Words, NDArray[np.bool_], Words, Words, NDArray[np.bool_]]:
    """Returns codes without sign, which ones overflow, and the arguments of :func:`roundings`."""
    codes, dropped = _hif8_tables()
    exponent = magnitude >> np.uint32(23)
    shift = dropped[exponent]
    half = _ONE << (shift - _ONE)
    rest = magnitude & ((half << _ONE) - _ONE)
    up = rest >= half
    if hybrid:
        threshold = magnitude & np.uint32(0x3FFF)
        raised = (rest > 0) & ((rest >> (shift - np.uint32(14))) >= threshold)
        up = np.where(shift == 20, up, raised)
    # 2^-23 up to 2^-22: the whole significand is dropped; its leading 1 is half of a step.
    first = np.uint32(HIF8.lowest - HIF8.below - 1 + 127)
    edge, tiny = exponent == first, exponent <= first
    leading = magnitude & _FRACTION | _LEADING
    at_edge: NDArray[np.bool_] = edge
    if hybrid:
        at_edge = edge & ((leading >> np.uint32(10)) >= (magnitude & np.uint32(0x3FFF)))
    up = np.where(tiny, at_edge, up)
    rest = np.where(tiny, np.where(edge, leading, magnitude), rest)
    half = np.where(tiny, np.where(edge, _LEADING, _MAGNITUDE), half)
    rounded = ((magnitude >> shift) + up) << shift
    code = codes[rounded >> _INDEX].astype(np.uint32)
    return code, rounded > _HIF8_LIMIT, rest, half, up
