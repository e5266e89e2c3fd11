# SPDX-License-Identifier: Apache-2.0
"""Data events of a scored op: bits that the model reports and coverage counts.

An op's events are the bitwise or over its elements. ``mte_l1_bt`` reports the classes of its
source elements (docs/spec/bias_fb.md, section 2); integer elements report none.
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
    """Events in the elements of a write-back (docs/spec/fixpipe.md, sections 3 to 9).

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
    STAGE_CLAMPED = 1 << 16
    NINE_BIT_CLAMP = STAGE_CLAMPED  # older name, set by the model
    OFFSET_MOVED = 1 << 17
    ATOMIC_NAN = 1 << 18
    ATOMIC_INF = 1 << 19
    ATOMIC_ROUNDED = 1 << 20
    ATOMIC_WRAPPED = 1 << 21
    ATOMIC_ZEROS = 1 << 22
    ATOMIC_KEPT = 1 << 23
    ATOMIC_TAKEN = 1 << 24
    STAGE_RETURNED = 1 << 25
    OFFSET_CROSSED = 1 << 26
    NAN_BYPASSED = 1 << 27
    INF_BYPASSED = 1 << 28
    PRODUCT_OVERFLOW = 1 << 29
    ALPHA_NEGATIVE = 1 << 30
    ALPHA_MINUS_ZERO = 1 << 31
    ATOMIC_OVERFLOW = 1 << 32


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
    FixEvent.STAGE_CLAMPED: "the clamp of the integer stage S5, S9 or S17 took effect",
    FixEvent.OFFSET_MOVED: "an offset that is not 0 was added",
    FixEvent.ATOMIC_NAN: "atomic: the result is NaN, before CTRL bit 48 acts on f16",
    FixEvent.ATOMIC_INF: "atomic: the result is an infinity, before CTRL bit 48 acts on f16",
    FixEvent.ATOMIC_ROUNDED: "atomic add of floats: the sum was rounded",
    FixEvent.ATOMIC_WRAPPED: "atomic add of integers: the sum wrapped",
    FixEvent.ATOMIC_ZEROS: "atomic: +0 met -0",
    FixEvent.ATOMIC_KEPT: "atomic max or min: memory kept its value",
    FixEvent.ATOMIC_TAKEN: "atomic max or min: the new value was taken",
    FixEvent.STAGE_RETURNED: "the stage gave its limit, the offset led back into the destination",
    FixEvent.OFFSET_CROSSED: "the offset led from inside the range of the destination to outside",
    FixEvent.NAN_BYPASSED: "NaN became 0 past an offset that is not 0",
    FixEvent.INF_BYPASSED: "inf became a limit of the destination past an offset that is not 0",
    FixEvent.PRODUCT_OVERFLOW: "to integers: infinite product of a finite source value",
    FixEvent.ALPHA_NEGATIVE: "scalar_relu or vector_relu of an accumulator below 0",
    FixEvent.ALPHA_MINUS_ZERO: "scalar_relu or vector_relu of an accumulator that is -0",
    FixEvent.ATOMIC_OVERFLOW: "atomic add of floats: infinite sum of finite operands",
}
"""Description of each event, printed by coverage."""
