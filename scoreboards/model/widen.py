# SPDX-License-Identifier: Apache-2.0
"""Widening of bias elements to 32 bits and their classes (docs/spec/bias_fb.md, section 2).

Sixteen-bit sources go through tables of all 65536 inputs, built once from the spec's rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.isa.events import BiasEvent

Words = NDArray[np.uint32]

_HALFWORD = np.dtype("<u2")
_WORD = np.dtype("<u4")


def f16_to_f32(halfwords: NDArray[Any]) -> Words:
    """Returns f32 bits of f16 bits, exact; NaN payloads shift and stay signalling (A-23).

    Args:
        halfwords: f16 bit patterns, integers of any width and shape.
    """
    bits = np.asarray(halfwords).astype(np.int64)
    sign, exponent, fraction = bits >> 15 & 1, bits >> 10 & 0x1F, bits & 0x3FF
    # Position of the leading 1 of a subnormal's fraction: how many thresholds 2^p it reaches.
    leading = np.searchsorted(1 << np.arange(10), fraction, side="right") - 1
    wide_exponent = np.select(
        [exponent == 31, exponent > 0, fraction == 0], [255, exponent + 112, 0], leading + 103
    )
    normalized = fraction << (23 - np.maximum(leading, 0)) & 0x7FFFFF
    subnormal = (exponent == 0) & (fraction != 0)
    wide_fraction = np.where(subnormal, normalized, fraction << 13)
    return (sign << 31 | wide_exponent << 23 | wide_fraction).astype(np.uint32)


def bf16_to_f32(halfwords: NDArray[Any]) -> Words:
    """Returns f32 bits of bf16 bits: ``bits << 16``, NaN payload kept."""
    return np.asarray(halfwords).astype(np.uint32) << np.uint32(16)


@cache
def _intervals(exponent_bits: int, fraction_bits: int) -> tuple[Words, NDArray[np.uint8]]:
    """Returns where each class of bit patterns begins, ascending, and the events of each class."""
    smallest = 1 << fraction_bits
    infinity = (1 << exponent_bits) - 1 << fraction_bits
    starts = {
        0: BiasEvent.ZERO,
        1: BiasEvent.SUBNORMAL,
        smallest: BiasEvent.NORMAL,
        infinity - 1: BiasEvent.NORMAL | BiasEvent.MAX_FINITE,
        infinity: BiasEvent.INF,
        infinity + 1: BiasEvent.SIGNALLING_NAN,
        infinity | smallest >> 1: BiasEvent.QUIET_NAN,
    }
    sign = 1 << (exponent_bits + fraction_bits)
    starts |= {sign | start: event | BiasEvent.NEGATIVE for start, event in starts.items()}
    return np.array(list(starts), dtype=np.uint32), np.array(list(starts.values()), dtype=np.uint8)


def classify(bits: NDArray[Any], exponent_bits: int, fraction_bits: int) -> NDArray[np.uint8]:
    """Returns the :class:`~tb.isa.events.BiasEvent` bits of each element, same shape as ``bits``.

    The sign is the bit above the exponent. The greatest finite magnitude is also ``NORMAL``;
    zeros and NaNs with the sign set are also ``NEGATIVE``.
    """
    starts, events = _intervals(exponent_bits, fraction_bits)
    words = np.asarray(bits, dtype=np.uint32)
    found: NDArray[np.uint8] = events[np.searchsorted(starts, words, side="right") - 1]
    return found


@dataclass(frozen=True)
class Widening:
    """Conversion of elements of one type to bias slots.

    Attributes:
        target: Destination type.
        element: Source element.
        words: ``uint32[65536]`` slot of every 16-bit source, None when the bits stay as they are.
        classes: ``uint8[65536]`` events of every 16-bit source.
        floating: Elements have classes.
    """

    target: str
    element: np.dtype[Any]
    words: Words | None = None
    classes: NDArray[np.uint8] | None = None
    floating: bool = True

    def events(self, elements: NDArray[Any]) -> int:
        """Returns the events of all elements together."""
        if not self.floating:
            return 0
        table = self.classes
        found = classify(elements, 8, 23) if table is None else table[elements]
        return int(np.bitwise_or.reduce(found, axis=None))


_ALL = np.arange(1 << 16, dtype=np.uint32)

WIDENINGS: dict[str, Widening] = {
    "f32": Widening("f32", _WORD),
    "i32": Widening("i32", _WORD, floating=False),
    "bf16": Widening("f32", _HALFWORD, bf16_to_f32(_ALL), classify(_ALL, 8, 7)),
    "f16": Widening("f32", _HALFWORD, f16_to_f32(_ALL), classify(_ALL, 5, 10)),
}
"""The four pairs of BT-L01 by source type."""
