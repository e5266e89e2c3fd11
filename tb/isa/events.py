# SPDX-License-Identifier: Apache-2.0
"""Data events of a scored op: bits that the model reports and coverage counts.

An op's events are the bitwise or over its elements. ``mte_l1_bt`` reports the classes of its
source elements (spec/bias_fb.md, section 2); integer elements report none.
"""

from __future__ import annotations

from enum import IntFlag


class BiasEvent(IntFlag):
    """Classes of floating-point bias elements."""

    ZERO = 1
    SUBNORMAL = 2
    NORMAL = 4
    INF = 8
    QUIET_NAN = 16
    SIGNALLING_NAN = 32
    NEGATIVE = 64
    MAX_FINITE = 128


class FixEvent(IntFlag):
    """Events in the elements of a write-back (spec/fixpipe.md, sections 3 to 9).

    Rounding is that of the last stage, to the destination format or integer; the sign of the
    value does not matter: up is away from zero.
    """

    EXACT = 1 << 0
    TIE_UP = 1 << 1
    TIE_DOWN = 1 << 2
    ROUNDED_UP = 1 << 3
    ROUNDED_DOWN = 1 << 4
    SATURATED_HIGH = 1 << 5
    SATURATED_LOW = 1 << 6
    OVERFLOW_SPECIAL = 1 << 7
    NAN = 1 << 8
    INF = 1 << 9
    SUBNORMAL_INPUT = 1 << 10
    SUBNORMAL_RESULT = 1 << 11
    MINUS_ZERO = 1 << 12
    UNDERFLOW_TO_ZERO = 1 << 13
    RELU_CHANGED = 1 << 14
    CLIPPED = 1 << 15
    NINE_BIT_CLAMP = 1 << 16
    OFFSET_MOVED = 1 << 17
    ATOMIC_NAN = 1 << 18
    ATOMIC_INF = 1 << 19
    ATOMIC_ROUNDED = 1 << 20
    ATOMIC_WRAPPED = 1 << 21
    ATOMIC_ZEROS = 1 << 22
    ATOMIC_KEPT = 1 << 23
    ATOMIC_TAKEN = 1 << 24


FIX_EVENT_NOTES: dict[FixEvent, str] = {
    FixEvent.EXACT: "the value is one of the destination",
    FixEvent.TIE_UP: "half way between two results, the one farther from zero taken",
    FixEvent.TIE_DOWN: "half way between two results, the one closer to zero taken",
    FixEvent.ROUNDED_UP: "inexact, no tie, rounded away from zero",
    FixEvent.ROUNDED_DOWN: "inexact, no tie, rounded towards zero",
    FixEvent.SATURATED_HIGH: "positive limit of the destination taken for a larger value or inf",
    FixEvent.SATURATED_LOW: "negative limit, or 0 of an unsigned destination, for a smaller value",
    FixEvent.OVERFLOW_SPECIAL: "nosat: inf, or NaN of e4m3fn, for a value out of range",
    FixEvent.NAN: "NaN in front of the last stage",
    FixEvent.INF: "infinity in front of the last stage",
    FixEvent.SUBNORMAL_INPUT: "subnormal f32 accumulator",
    FixEvent.SUBNORMAL_RESULT: "subnormal element written",
    FixEvent.MINUS_ZERO: "-0 written",
    FixEvent.UNDERFLOW_TO_ZERO: "a value that is not 0 became 0",
    FixEvent.RELU_CHANGED: "ReLU gave another value than it got",
    FixEvent.CLIPPED: "clip gave another value than it got",
    FixEvent.NINE_BIT_CLAMP: "the clamp to [-256, 255] of S9 took effect",
    FixEvent.OFFSET_MOVED: "an offset that is not 0 was added",
    FixEvent.ATOMIC_NAN: "atomic: the result is NaN",
    FixEvent.ATOMIC_INF: "atomic: the result is an infinity",
    FixEvent.ATOMIC_ROUNDED: "atomic add of floats: the sum was rounded",
    FixEvent.ATOMIC_WRAPPED: "atomic add of integers: the sum wrapped",
    FixEvent.ATOMIC_ZEROS: "atomic: +0 met -0",
    FixEvent.ATOMIC_KEPT: "atomic max or min: memory kept its value",
    FixEvent.ATOMIC_TAKEN: "atomic max or min: the new value was taken",
}
"""Description of each event, printed by coverage."""
