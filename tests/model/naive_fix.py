# SPDX-License-Identifier: Apache-2.0
"""A second reading of docs/spec/fixpipe.md: one element at a time, exact numbers, rounding as
defined.

It shares no code with the model. Numbers are ``Fraction``; NaN, infinities and -0 have
separate names. A narrow float is the list of its values, and rounding finds the nearest.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import cache

NAN = "nan"
F32_NAN = 0x7FC00000
Number = Fraction | str
"""A finite number, ``"nan"``, ``"+inf"``, ``"-inf"`` or ``"-0"``; +0 is ``Fraction(0)``."""


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def number(bits: int, exponent_bits: int = 8, fraction_bits: int = 23) -> Number:
    """Returns the value of an IEEE pattern."""
    sign = bits >> (exponent_bits + fraction_bits) & 1
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    if exponent == (1 << exponent_bits) - 1:
        return NAN if fraction else "-inf" if sign else "+inf"
    if exponent:
        value = Fraction((1 << fraction_bits) + fraction) * power(exponent - bias - fraction_bits)
    else:
        value = Fraction(fraction) * power(1 - bias - fraction_bits)
    if not value:
        return "-0" if sign else Fraction(0)
    return -value if sign else value


def is_negative(value: Number) -> bool:
    return value in ("-0", "-inf") or (isinstance(value, Fraction) and value < 0)


def half_even(value: Fraction) -> int:
    """Returns the nearest integer, ties to even."""
    low = value.numerator // value.denominator
    rest = value - low
    if rest == Fraction(1, 2):
        return low + low % 2
    return low + (rest > Fraction(1, 2))


def f32(value: Number) -> int:
    """Returns the f32 pattern of an exact number, rounded to nearest even."""
    if isinstance(value, str):
        return {NAN: F32_NAN, "+inf": 0x7F800000, "-inf": 0xFF800000, "-0": 0x80000000}[value]
    if not value:
        return 0
    sign, magnitude = (1 << 31 if value < 0 else 0), abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if power(exponent) > magnitude:
        exponent -= 1  # the largest power not above the number
    step = power(max(exponent, -126) - 23)
    rounded = half_even(magnitude / step) * step
    if rounded >= power(128):
        return sign | 0x7F800000
    if rounded < power(-126):
        return sign | int(rounded / power(-149))
    while rounded >= power(exponent + 1):
        exponent += 1
    return sign | (exponent + 127) << 23 | int((rounded / power(exponent) - 1) * (1 << 23))


def product(one: int, two: int) -> int:
    """Returns the f32 product of f32 patterns."""
    left, right = number(one), number(two)
    negative = (one ^ two) >> 31 == 1
    if NAN in (left, right):
        return F32_NAN
    infinite = [value in ("+inf", "-inf") for value in (left, right)]
    zero = [value in ("-0", Fraction(0)) for value in (left, right)]
    if any(infinite):
        return F32_NAN if any(zero) else f32("-inf" if negative else "+inf")
    if any(zero):
        return f32("-0" if negative else Fraction(0))
    assert isinstance(left, Fraction)
    assert isinstance(right, Fraction)
    return f32(left * right)


def total(one: Number, two: Number) -> tuple[Number, bool]:
    """Returns an exact sum, and whether it is a zero with the sign set."""
    if NAN in (one, two) or {one, two} == {"+inf", "-inf"}:
        return NAN, False
    for value in (one, two):
        if value in ("+inf", "-inf"):
            return value, False
    if one == two == "-0":
        return "-0", True
    parts = [Fraction(0) if value == "-0" else value for value in (one, two)]
    assert all(isinstance(part, Fraction) for part in parts)
    return Fraction(parts[0]) + Fraction(parts[1]), False


# --- narrow floats: all their values --------------------------------------------------------------


@cache
def values_of(form: str) -> tuple[Fraction, ...]:
    """Returns the magnitude of every code from 0 on, and one more for overflow."""
    if form == "hif8":
        return (*sorted(hif8_values()), Fraction(3, 2) * power(15))
    exponent_bits, fraction_bits, count = {
        "f16": (5, 10, 0x7C00), "bf16": (8, 7, 0x7F80), "f8E4M3FN": (4, 3, 0x7F),
    }[form]  # fmt: skip
    bias = (1 << exponent_bits - 1) - 1
    found = []
    for code in range(count + 1):
        exponent, fraction = divmod(code, 1 << fraction_bits)
        if exponent:
            value = (Fraction(fraction, 1 << fraction_bits) + 1) * power(exponent - bias)
        else:
            value = Fraction(fraction, 1 << fraction_bits) * power(1 - bias)
        found.append(value)
    return tuple(found)


@cache
def hif8_values() -> dict[Fraction, int]:
    """Returns the finite HiF8 values that are not negative, to their codes."""
    found = {Fraction(0): 0}
    for m in range(1, 8):
        found[power(m - 23)] = m
    for m in range(8):
        found[1 + Fraction(m, 8)] = 0b0001000 | m
        for s in (0, 1):
            found[(1 + Fraction(m, 8)) * power(-1 if s else 1)] = 0b0010000 | s << 3 | m
            for e in (0, 1):
                exponent = (2 + e) * (-1 if s else 1)
                found[(1 + Fraction(m, 8)) * power(exponent)] = 0b0100000 | s << 4 | e << 3 | m
    for m in range(4):
        for s in (0, 1):
            for e in range(4):
                exponent = (4 + e) * (-1 if s else 1)
                found[(1 + Fraction(m, 4)) * power(exponent)] = 0b1000000 | s << 4 | e << 2 | m
    for m in range(2):
        for s in (0, 1):
            for e in range(8):
                if (s, e, m) != (0, 7, 1):  # that is inf
                    exponent = (8 + e) * (-1 if s else 1)
                    found[(1 + Fraction(m, 2)) * power(exponent)] = 0b1100000 | s << 4 | e << 1 | m
    return found


def nearest(magnitude: Fraction, form: str) -> int:
    """Returns the position of the nearest value; ties to the even one, with HiF8 to the greater."""
    values = values_of(form)
    above = bisect_right(values, magnitude)
    if above == len(values):
        return above - 1
    low, high = magnitude - values[above - 1], values[above] - magnitude
    if low == high:
        if form == "hif8":
            return above
        return above - 1 if (above - 1) % 2 == 0 else above
    return above - 1 if low < high else above


def convert(bits: int, form: str, sat: str, *, hybrid: bool = False) -> int:
    """Returns the code of an f32 pattern in a narrow float (docs/spec/fixpipe.md, section 7)."""
    width = 16 if form in ("f16", "bf16") else 8
    most, special, nan = {
        "f16": (0x7BFF, 0x7C00, 0x7E00), "bf16": (0x7F7F, 0x7F80, 0x7FC0),
        "f8E4M3FN": (0x7E, 0x7F, 0x7F), "hif8": (0x6E, 0x6F, 0x80),
    }[form]  # fmt: skip
    value = number(bits)
    if value == NAN:
        return 0 if sat == "sat" else nan
    sign = (bits >> 31) << (width - 1)
    if isinstance(value, str) and value != "-0":
        position = len(values_of(form)) - 1
    elif hybrid:
        position = hybrid_position(bits & 0x7FFFFFFF)
    else:
        position = nearest(Fraction(0) if isinstance(value, str) else abs(value), form)
    values = values_of(form)
    if position == len(values) - 1:
        if sat == "nosat" and form == "f8E4M3FN":
            return nan  # one code for both signs
        return sign | (special if sat == "nosat" else most)
    if form != "hif8":
        return sign | position
    code = hif8_values()[values[position]]
    return sign | code if code else 0


def hybrid_position(magnitude: int) -> int:
    """Returns the position of the hybrid result, bit by bit after the encoder's table."""
    e, f = (magnitude >> 23) - 127, magnitude & 0x7FFFFF
    threshold = f & 0x3FFF
    values = values_of("hif8")

    def field(high: int, low: int) -> int:
        return f >> low & (1 << high - low + 1) - 1

    if e < -23:
        return 0
    if e == -23:
        return values.index(power(-22)) if (1 << 13 | field(22, 10)) >= threshold else 0
    if e <= -16:
        up = f != 0 and field(22, 9) >= threshold
        return values.index(power(e + up))
    if e > 15:
        return len(values) - 1
    w = 3 if abs(e) < 4 else 2 if abs(e) < 8 else 1
    mantissa = f >> (23 - w)
    if w == 3:
        up = bool(f >> (22 - w) & 1)
    else:
        up = field(22 - w, 0) != 0 and field(22 - w, 9 - w) >= threshold
    mantissa += up
    if mantissa == 1 << w:
        e, mantissa = e + 1, 0
    if e > 15 or (e == 15 and mantissa == 1):
        return len(values) - 1
    return values.index((1 + Fraction(mantissa, 1 << w)) * power(e))


# --- the pipeline ---


def to_half(value: Number) -> int:
    """Returns the f32 pattern of a number rounded once to f16 and saturated; NaN gives +0."""
    if value == NAN:
        return 0
    if isinstance(value, str) and value != "-0":
        return f32(Fraction(65504) * (1 if value == "+inf" else -1))
    if value == "-0":
        return 0x80000000
    assert isinstance(value, Fraction)
    found = values_of("f16")[min(nearest(abs(value), "f16"), 0x7BFF)]
    return f32(found) | (0x80000000 if value < 0 else 0)


STAGES = {
    "qf162b8_pre": "H", "qf162s4_pre": "H", "deqs32_int": "F", "req8": "F", "req4": "F",
    "deqf16": "F", "deqs16": "F", "qf162s16_pre": "HI", "qs322bf16_pre": "F",
}  # fmt: skip
STAGE_RANGES = {
    "i4": (-16, 15), "si4": (-16, 15), "i16": (-65536, 65535), "si16": (-65536, 65535),
    "i8": (-256, 255), "si8": (-256, 255), "ui8": (-256, 255),
}  # fmt: skip
OFFSET_WIDTHS = {"i4": 5, "si4": 5, "i16": 17, "si16": 17}
RANGES = {
    "i4": (-8, 7), "si4": (-8, 7), "i16": (-32768, 32767), "si16": (-32768, 32767),
    "i32": (-(2**31), 2**31 - 1), "si32": (-(2**31), 2**31 - 1),
}  # fmt: skip
WIDTHS = {"i4": 4, "si4": 4, "i8": 8, "si8": 8, "ui8": 8, "i16": 16, "si16": 16}


def element(
    word: int,
    mode: str,
    target: str,
    *,
    scale: int | None = None,
    offset: int = 0,
    signed: bool = True,
    relu: str = "",
    alpha: int = 0,
    clip: int | Fraction | None = None,
    sat: str = "sat",
    replace: bool = False,
) -> int:
    """Returns the destination element of one accumulator.

    Args:
        word: Accumulator.
        mode: Row of section 4 without its suffix; ``""`` copies.
        target: Destination type.
        scale, alpha: f32 patterns, low bits not cleared yet; no scale without one.
        offset, signed: Of the channel's record.
        relu: Mode, or ``""``.
        clip: Limit as a number.
        sat: ``"sat"``, ``"preserve_nan"`` or ``"nosat"``.
        replace: Value of knob ``alpha``.
    """
    if not mode and target == "i32":
        signed_word = word - (1 << 32) if word >> 31 else word
        return max(signed_word, 0) if relu == "normal_relu" else word
    stage = STAGES.get(mode, "x")
    integer = Fraction(word - (1 << 32) if word >> 31 else word)
    t = {
        "x": lambda: word,
        "H": lambda: to_half(number(word)),
        "F": lambda: f32(integer),
        "HI": lambda: to_half(integer),
    }[stage]()
    s, below = t, False
    if replace and relu in ("scalar_relu", "vector_relu"):
        x = number(word) if stage in ("x", "H") else integer
        below = x != NAN and x != "-0" and is_negative(x)
        t = product(s, alpha & 0xFFFFE000) if below else t
    if scale is not None and not below:
        t = product(t, scale & 0xFFFFE000)
    if not replace or relu == "normal_relu":
        t = rectified(t, relu, alpha & 0xFFFFE000)
    elif relu in ("scalar_relu", "vector_relu") and number(t) == NAN:
        t = F32_NAN
    if target in ("f32", "f16", "bf16", "f8E4M3FN", "hif8"):
        if clip is not None and number(t) != NAN and above(number(t), Fraction(clip)):
            t = f32(Fraction(clip))
        if target == "f32":
            return t
        return convert(t, target, sat, hybrid=mode.endswith("hybrid"))
    value = number(t)
    low, high = RANGES.get(target) or ((-128, 127) if signed else (0, 255))
    least, most = STAGE_RANGES.get(target, (low, high))
    if value == NAN:
        q = 0
    elif value in ("+inf", "-inf") and (
        number(s) in ("+inf", "-inf") or target not in STAGE_RANGES
    ):
        q = high if value == "+inf" else low
    elif isinstance(value, str):
        q = offset + {"+inf": most, "-inf": least, "-0": 0}[value]
    else:
        q = half_even(value)
        if target in STAGE_RANGES:  # the other destinations have no range of the stage
            q = min(max(q, least), most)
        q += offset
    if clip is not None:
        q = min(q, int(clip))
    return min(max(q, low), high) & (1 << WIDTHS.get(target, 32)) - 1


def above(value: Number, limit: Fraction) -> bool:
    if isinstance(value, str):
        return value == "+inf"
    return value > limit


def rectified(t: int, relu: str, alpha: int) -> int:
    """Returns the f32 pattern after the ReLU (section 6)."""
    if relu in ("", "no_relu"):
        return t
    value = number(t)
    if value == NAN:
        return F32_NAN
    if relu == "normal_relu":
        return t if above(value, Fraction(0)) else 0
    return product(alpha, t) if is_negative(value) and value != "-0" else t


# --- atomics ---

_SHAPES = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}
_NANS = {"f32": F32_NAN, "f16": 0x7E00, "bf16": 0x7FC0}


def atomic(kind: str, op: str, old: int, new: int, *, c48: bool = True) -> int:
    """Returns the value in memory after an atomic update (section 9)."""
    if kind == "f16" and not c48:
        result = atomic(kind, op, old, new)
        if number(result, 5, 10) == NAN:
            return 0
        infinite = number(result, 5, 10) in ("+inf", "-inf")
        return result & 0x8000 | 0x7BFF if infinite and op == "add" else result
    if kind.startswith("s"):
        width = int(kind[1:])
        mask, sign = (1 << width) - 1, 1 << width - 1
        one, two = ((bits & mask ^ sign) - sign for bits in (old, new))
        return {"add": one + two, "max": max(one, two), "min": min(one, two)}[op] & mask
    one_f, two_f = (number(bits, *_SHAPES[kind]) for bits in (old, new))
    if NAN in (one_f, two_f):
        return _NANS[kind]
    if op != "add":
        order = sorted(((_rank(one_f), old), (_rank(two_f), new)))
        return order[1 if op == "max" else 0][1]
    value, negative_zero = total(one_f, two_f)
    if value == NAN:
        return _NANS[kind]
    bits = f32(value) if kind == "f32" else 0
    if kind == "f32":
        return bits
    if negative_zero:
        return 0x8000
    if isinstance(value, str):
        return 0x8000 * (value == "-inf") | (0x7C00 if kind == "f16" else 0x7F80)
    sign = 0x8000 if value < 0 else 0
    return sign | nearest(abs(value), kind)


def _rank(value: Number) -> tuple[Fraction, int]:
    """Returns a sort key with -0 below +0."""
    if isinstance(value, str):
        far = {"+inf": power(300), "-inf": -power(300), "-0": Fraction(0)}[value]
        return far, 0 if value == "-0" else 1
    return value, 1
