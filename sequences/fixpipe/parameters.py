# SPDX-License-Identifier: Apache-2.0
"""Scales, offsets and alphas of write-backs, as scalars and as records in FB.

All of them are finite with the low 13 bits cleared (FIX-L25), also if a record is read as two
alphas or two alphas as a record; ignored bits are arbitrary (docs/spec/fixpipe.md, sections 5 and
6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sequences.draw.shapes import Bools, Ints, pick
from sequences.fixpipe.data import POOL
from tb.isa.fix.table import SCALE_MASK

F32, F16, BF16 = 1, 2, 3
"""Indices into ``NUMBER_CODES``."""

_JUNK = ~SCALE_MASK & 0xFFFFFFFF
_SIGN = 1 << 31
_EXPONENT = 0xFF << 23

_CORNERS = np.array(
    [0x00000000, 0x80000000, 0x00002000, 0x007FE000, 0x00800000, 0x7F7FE000, 0xFF7FE000, 0x7F000000,
     0x3F802000, 0x3F7FE000, 0x3FFFE000, 0x00400000, 0x34000000, 0x4B000000],
    dtype=np.int64,
)  # fmt: skip
_DECIMALS = (0.1, 0.3, 0.25, 1 / 3, 3.140625, 0.7, 1e-3, 1.5, 10.0, 0.99)


def _as_bits(values: NDArray[np.floating[Any]]) -> Ints:
    return values.astype(np.float32).view(np.uint32).astype(np.int64)


def scales(rng: np.random.Generator, count: int, negative: float, corner: float) -> Ints:
    """Returns f32 bits with the low 13 clear: powers of two, small odd numbers, any, corners."""
    kind = pick(rng, count, np.array([0.42, 0.2, 0.13, 0.25 - corner, corner]))
    power = (rng.integers(-9, 4, count) + 127) << 23
    odd = _as_bits((2 * rng.integers(1, 16, count) + 1) * 2.0 ** rng.integers(-9, -2, count))
    decimal = _as_bits(rng.choice(_DECIMALS, count))
    mantissa = rng.integers(0, 1 << 10, count) << 13
    near = (rng.integers(-11, 6, count) + 127) << 23 | mantissa
    bits = np.choose(kind, (power, odd, decimal, near, rng.choice(_CORNERS, count)))
    found: Ints = (bits & SCALE_MASK) | np.where(rng.random(count) < negative, _SIGN, 0)
    return found


def draw_numbers(rng: np.random.Generator, kind: Ints, negative: float, corner: float) -> Ints:
    """Returns numbers of types ``kind`` widened to f32 bits; those of f32 have low bits too."""
    count = len(kind)
    bits = scales(rng, count, negative, corner)
    junk = np.where(rng.random(count) < 0.25, _JUNK, rng.integers(0, _JUNK + 1, count))
    wide = bits | np.where(rng.random(count) < 0.7, junk, 0)
    half = bits.astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        half = np.clip(half, -65504, 65504).astype(np.float16).astype(np.float32)
    found: Ints = np.select([kind == F16, kind == BF16], [_as_bits(half), bits & 0xFFFF0000], wide)
    return found


def ignored_numbers(rng: np.random.Generator, kind: Ints) -> Ints:
    """Returns payloads that a mode ignores: any bits of the type, not 0."""
    anything = rng.integers(1, 1 << 32, len(kind)) | 1 << 16
    numbers = draw_numbers(rng, kind, 0.5, 0.2)
    found: Ints = np.select([kind == F16, kind == BF16], [numbers, anything & 0xFFFF0000], anything)
    return found


OFFSET_BITS: dict[str, int] = {"s4": 5, "s16": 17}
"""Last stage to the bits of its offset, from bit 37 of a record on; 9 for every other one."""


def offset_bits(narrow: str) -> int:
    """Returns the width of the offset of a last stage (docs/spec/fixpipe.md, section 5)."""
    return OFFSET_BITS.get(narrow, 9)


class Records:
    """Pools of ``2 * POOL`` parameters, each followed by itself.

    Attributes:
        quant: Width of the offset that they are made for to ``uint64`` records of vector pre_quant;
            the bits above the offset and the sign are random.
        alpha: ``uint32`` words of vector pre_relu.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        """Draws all of them."""
        self.quant = {bits: self._quant(rng, bits) for bits in (5, 9, 17)}
        alpha = scales(rng, POOL, 0.35, 0.08)
        alpha |= rng.integers(0, _JUNK + 1, POOL) * (rng.random(POOL) < 0.8)
        self.alpha = np.concatenate((alpha, alpha)).astype(np.uint32)

    @staticmethod
    def _quant(rng: np.random.Generator, width: int) -> NDArray[np.uint64]:
        bits = scales(rng, POOL, 0.15, 0.04)
        low = bits | rng.integers(0, _JUNK + 1, POOL) * (rng.random(POOL) < 0.8)
        kind = pick(rng, POOL, np.array([0.2, 0.1, 0.1, 0.25, 0.35]))
        end = 1 << (width - 1)
        offset = np.choose(
            kind,
            (np.zeros(POOL, np.int64), np.full(POOL, -end), np.full(POOL, end - 1),
             rng.integers(-8, 9, POOL), rng.integers(-end, end, POOL)),
        )  # fmt: skip
        # Bits 63:37 above the offset: all ones, or any. One of them is the sign of b8.
        junk = np.where(rng.random(POOL) < 0.15, (1 << 27) - 1, rng.integers(0, 1 << 27, POOL))
        field = (1 << width) - 1
        high = rng.integers(0, 32, POOL) | ((offset & field) | (junk & ~field)) << 5
        high = _finite(high)
        quant = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
        return np.concatenate((quant, quant))


def _finite(words: Ints) -> Ints:
    """Returns the words with exponents of all ones decremented."""
    found: Ints = np.where((words & _EXPONENT) == _EXPONENT, words ^ (1 << 23), words)
    return found


def needs_scalar(vector: Bools, scale: Bools) -> Bools:
    """Returns a mask of the ops with M1 in the descriptor."""
    found: Bools = scale & ~vector
    return found


def split_records(
    words: NDArray[np.uint32], narrow: str
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns M1 and offset, ``float32[n]`` each, of records ``uint32[2 * n]`` for a last stage."""
    scale = (words[0::2] & np.uint32(SCALE_MASK)).view(np.float32)
    sign = 1 << (offset_bits(narrow) - 1)
    field = (words[1::2] >> np.uint32(5)).astype(np.int32) & (2 * sign - 1)
    return scale, ((field ^ sign) - sign).astype(np.float32)


def alphas_of(words: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Returns the alphas of FB words."""
    return (words & np.uint32(SCALE_MASK)).view(np.float32)
