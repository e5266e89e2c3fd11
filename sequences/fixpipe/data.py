# SPDX-License-Identifier: Apache-2.0
"""Corner values of write-backs: pools of numbers for each last stage, drawn once.

A tile is a slice of the pool of its mode, in the domain after the scale, divided by the scale of
each channel, so that products are exact ties, limits and their neighbours; some elements are then
replaced by corner values of the source stage (docs/spec/fixpipe.md, sections 3, 4 and 7).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tb.isa.fix.table import ATOMIC_TYPES, QUANT_BY_CODE

Floats = NDArray[np.float32]
Words = NDArray[np.uint32]

POOL = 8192
"""Elements of a pool."""

_SPECIALS = np.array(
    [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
     0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFBFFFFF,
     0x7FFFFFFF, 0x3F800000, 0xBF800000, 0x7F000000, 0x00400000, 0x7FC12345],
    dtype=np.uint32,
)  # fmt: skip
"""f32 zeros, subnormals, normal limits, infinities and NaNs of both kinds."""


def bits_of(values: Sequence[float] | Floats) -> Words:
    """Returns f32 bit patterns of ``values``."""
    return np.asarray(values, dtype=np.float32).view(np.uint32)


def _near(points: Words, steps: Sequence[int] = (-2, -1, 0, 1, 2)) -> Words:
    """Returns the patterns and their neighbours; the sign stays where magnitudes are not 0."""
    moved = points[:, None].astype(np.int64) + np.array(steps)
    sign = points[:, None].astype(np.int64) & 0x80000000
    inside = (moved & 0x80000000) == sign
    kept: Words = np.where(inside, moved, points[:, None]).astype(np.uint32).ravel()
    return kept


def _both(values: Sequence[float] | NDArray[np.float64]) -> Words:
    array = np.asarray(values, dtype=np.float64)
    return bits_of(np.concatenate((array, -array)).astype(np.float32))


def _ties(rng: np.random.Generator, count: int, drop: int, low: int, high: int) -> Words:
    """Returns f32 patterns half way between values with ``drop`` fraction bits fewer."""
    exponent = rng.integers(low, high + 1, count) + 127
    fraction = (rng.integers(0, 1 << 23, count) >> drop << drop) | (1 << (drop - 1))
    sign = rng.integers(0, 2, count)
    return (sign << 31 | exponent << 23 | fraction).astype(np.uint32)


def _subnormal_ties(rng: np.random.Generator, count: int, step: int, most: int) -> Words:
    """Returns multiples of half a subnormal step 2^``step``, up to ``most`` steps."""
    halves = rng.integers(0, 2 * most + 2, count).astype(np.float64)
    return bits_of((halves * 2.0 ** (step - 1) * rng.choice((-1, 1), count)).astype(np.float32))


def _small_float(
    rng: np.random.Generator, fraction: int, low: int, high: int, limits: Sequence[float]
) -> list[Words]:
    """Returns ties, subnormal ties and limits of a narrow float format."""
    drop = 23 - fraction
    tie = _ties(rng, 2048, drop, low, high)
    return [
        tie,
        _near(tie[:512], (-1, 1)),
        _subnormal_ties(rng, 1024, low - fraction, 1 << fraction),
        _near(_subnormal_ties(rng, 256, low - fraction, 4), (-1, 1)),
        np.resize(_near(_both(limits)), 1024),
    ]


def _hif8(rng: np.random.Generator, *, hybrid: bool) -> list[Words]:
    """Returns values around the thresholds of the HiF8 encoder, of every exponent."""
    exponent = rng.integers(-25, 17, 4096)
    size = np.abs(exponent)
    keep = np.select([size <= 3, size <= 7, size <= 15], [3, 2, 1], 0)
    fraction = rng.integers(0, 1 << 23, 4096)
    half = np.left_shift(1, 22 - keep)
    tie = (fraction & ~(2 * half - 1)) | half
    tie = tie + rng.integers(-1, 2, 4096)
    # The threshold of the hybrid mode is the low 14 bits, compared with 14 bits further up: equal
    # where the fraction repeats itself with their distance as its period.
    period = np.where(exponent <= -23, 10, np.where(exponent <= -16, 9, 9 - keep))
    low = fraction & (np.left_shift(1, period) - 1)
    same = np.zeros_like(low)
    for k in range(3):
        same |= low << (k * period)
    same = (same + rng.integers(-2, 3, 4096)) & 0x7FFFFF
    top = np.left_shift(1, 23 - keep) - 1
    fields = np.where(keep > 0, (fraction & ~top) | (same & top), same)
    chosen = np.where(rng.random(4096) < (0.7 if hybrid else 0.2), fields, tie) & 0x7FFFFF
    exact = rng.random(4096) < 0.08
    chosen = np.where(exact, fraction & ~(2 * half - 1), chosen)
    sign = rng.integers(0, 2, 4096)
    words = (sign << 31 | (exponent + 127) << 23 | chosen).astype(np.uint32)
    edges = _both([32768, 40959, 40960, 40961, 49152, 65536, 2**-15, 1.5 * 2**-15, 2**-16,
                   1.5 * 2**-16, 1.75 * 2**-16, 2**-22, 2**-23, 1.5 * 2**-23, 2**-24])  # fmt: skip
    return [words, np.resize(_near(edges), 512)]


def _integers(rng: np.random.Generator, ends: Sequence[int], reach: int) -> list[Words]:
    """Returns halves and their neighbours up to ``reach``, and values around ``ends``."""
    halves = (rng.integers(-reach, reach + 1, 3072) + 0.5).astype(np.float32)
    near = np.array([end + step for end in ends for step in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)])
    return [
        bits_of(halves),
        _near(bits_of(halves[:512]), (-1, 1)),
        bits_of(rng.integers(-reach, reach + 1, 512).astype(np.float32)),
        np.resize(_near(bits_of(near.astype(np.float32)), (-1, 0, 1)), 2048),
        bits_of((rng.normal(size=512) * reach).astype(np.float32)),
    ]


def _plain(rng: np.random.Generator) -> list[Words]:
    """Returns f32 of all kinds: small integers, any fraction near 1, any bits."""
    small = rng.integers(-64, 65, 1024).astype(np.float32)
    odd = (rng.integers(0, 1 << 23, 3072) | 0x3F000000) + (rng.integers(0, 4, 3072) << 23)
    odd |= rng.integers(0, 2, 3072) << 31
    low = rng.integers(0, 1 << 25, 512) | rng.integers(0, 2, 512) << 31
    return [
        bits_of(small),
        odd.astype(np.uint32),
        low.astype(np.uint32),
        rng.integers(0, 1 << 32, 1024, dtype=np.uint32),
    ]


def _pool(rng: np.random.Generator, parts: list[Words], special: float) -> Words:
    """Returns ``uint32[2 * POOL]``, a pool followed by itself: any slice of it is a draw."""
    values = rng.choice(np.concatenate(parts), POOL)
    mine = np.flatnonzero(rng.random(POOL) < special)
    values[mine] = rng.choice(_SPECIALS, len(mine))
    return np.concatenate((values, values))


_F16_LIMITS = (65504, 65519.996, 65520, 65536, 2**-14, 2**-24, 2**-25, 1.00146484375, 1.0)
_BF16_LIMITS = (3.3895314e38, 3.3961775e38, 3.4028235e38, 2**-126, 1.00390625, 1.01171875)
_E4M3_LIMITS = (448, 463.99997, 464, 464.1, 480, 2**-6, 2**-9, 2**-10, 1.5 * 2**-10, 17, 19, 0.3)


_LARGEST = {
    "f32": (3.4028234663852886e38, 2.0**104),
    "f16": (65504.0, 32.0),
    "bf16": (3.3895313892515355e38, 2.0**120),
}
"""Atomic type to its largest number and the step below it."""


SUMS = 0.4
"""Fraction of the floats in memory whose sums are hard to round."""


def _old(rng: np.random.Generator, name: str) -> NDArray[np.generic]:
    bits = 32 if "32" in name else 16 if "16" in name else 8
    if name.startswith("s"):
        top = 1 << (bits - 1)
        ends = [0, 1, 2, 127, 128, top - 1, top - 2, top, top + 1, 2 * top - 1, 2 * top - 2]
        wide = rng.integers(0, 2 * top, 64)
        chosen = rng.choice(np.concatenate((ends * 8, wide)), 2 * POOL)
        return np.asarray(chosen.astype(f"<u{bits // 8}"))
    fraction, bias = {"f32": (23, 127), "f16": (10, 15), "bf16": (7, 127)}[name]
    # Halves of the last place of 1, 2 and 4, where Pools.update has its values.
    exponent = bias - fraction - rng.integers(-2, 4, 4096)
    drawn = np.where(rng.random(4096) < 0.5, 0, rng.integers(0, 1 << fraction, 4096))
    low = np.maximum(exponent, 0) << fraction | drawn
    near = (bias + rng.integers(-1, 3, 3072)) << fraction
    near |= rng.integers(0, 8, 3072) << (fraction - 3)
    inf = (2 * bias + 1) << fraction
    nan = inf | 1 << (fraction - 1)
    half = 2 * bias << fraction  # of the largest: the exponent is the last one
    special = np.array([0, inf, inf - 1, nan, inf | 1, 1, (1 << fraction) - 1, inf - 2, half])
    values = np.concatenate((low, near, np.resize(special, 2400)))
    values |= rng.integers(0, 2, len(values)) << (bits - 1)
    chosen = rng.choice(values, 2 * POOL)
    (apart,) = rng.spawn(1)
    mine = np.flatnonzero(apart.random(2 * POOL) < SUMS)
    chosen[mine] = apart.choice(_sums(apart, bits, fraction, bias), len(mine))
    return np.asarray(chosen.astype(f"<u{bits // 8}"))


def _sums(rng: np.random.Generator, bits: int, fraction: int, bias: int) -> NDArray[np.int64]:
    """Returns floats whose sums are hard to round, as bits: any two of them may meet.

    Just above and below half units of the last place, fractions of ones through which a carry
    runs, any distance of exponents, and values of a few units around few numbers, down to the
    smallest exponents, which cancel.
    """
    ones = (1 << fraction) - 1
    near_tie = np.maximum(bias - fraction + rng.integers(-3, 4, 1024), 1) << fraction
    near_tie |= rng.choice([1, 2, 3, ones, ones - 1], 1024)
    full = (bias + rng.integers(-1, 2, 1024)) << fraction
    full |= ones - (rng.random(1024) < 0.5) * rng.integers(0, 16, 1024)
    far = np.maximum(bias + rng.integers(-fraction - 6, 4, 1024), 1) << fraction
    far |= rng.integers(0, ones + 1, 1024)
    centre = np.minimum([*rng.integers([1, 5, 17, 21], [5, 17, 21, 25]), bias], bias) << fraction
    centre |= rng.integers(0, ones + 1, len(centre))
    cancel = rng.choice(centre, 1024) + (rng.integers(-2, 3, 1024) << rng.integers(0, 4, 1024))
    values = np.concatenate((near_tie, full, far, np.maximum(cancel, 0)))
    values |= rng.integers(0, 2, len(values)) << (bits - 1)
    return values.astype(np.int64)


def old_values(rng: np.random.Generator) -> dict[int, NDArray[np.generic]]:
    """Returns atomic type code -> elements to have in memory before updates of that type.

    Each is ``uint8``, ``uint16`` or ``uint32[2 * POOL]``: the second half repeats the first.
    """
    return {code: _old(rng, name) for name, code in ATOMIC_TYPES.items()}


class Pools:
    """Pools of a generator, ``uint32[2 * POOL]`` of f32 bits unless noted.

    Attributes:
        target: Last stage of a mode to values after the scale.
        source: Source stage (``"x"``, ``"H"``, ``"f32"``, ``"HI"``) to accumulators.
        old: Atomic type code to elements in memory, ``uint8``, ``uint16`` or ``uint32``.
        update: Atomic type code of a float to values after the scale, to combine with those.
        noise: Random bits.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        """Draws every pool."""
        self.target = {
            "none": _pool(rng, _plain(rng), 0.12),
            "f16": _pool(rng, _small_float(rng, 10, -14, 15, _F16_LIMITS), 0.08),
            "bf16": _pool(rng, _small_float(rng, 7, -126, 127, _BF16_LIMITS), 0.08),
            "e4m3": _pool(rng, _small_float(rng, 3, -6, 8, _E4M3_LIMITS), 0.08),
            "hif8": _pool(rng, _hif8(rng, hybrid=False), 0.06),
            "hif8_hybrid": _pool(rng, _hif8(rng, hybrid=True), 0.06),
            "b8": _pool(rng, _integers(rng, (-256, -128, 0, 127, 128, 255, 256), 160), 0.05),
            "s4": _pool(rng, _integers(rng, (-16, -8, 0, 7, 15), 20), 0.05),
            "s16": _pool(rng, _integers(rng, (-65536, -32768, 0, 32767, 65535), 80000), 0.05),
            "s32": _pool(rng, _integers(rng, (-(2**31), -(2**24), 0, 2**24, 2**31), 1 << 22), 0.05),
        }
        self.source = {name: self._source(rng, name) for name in ("bits", "x", "H", "f32", "HI")}
        self.source["i32"] = self._source(rng, "f32")
        self.old = old_values(rng)
        self.update = {ATOMIC_TYPES[name]: self._update(rng, name) for name in _LARGEST}
        self.noise = rng.integers(0, 1 << 32, 2 * POOL, dtype=np.uint32)

    @staticmethod
    def _source(rng: np.random.Generator, stage: str) -> Words:
        if stage in ("bits", "x"):
            return _pool(rng, [_SPECIALS], 1.0)
        if stage == "H":
            return _pool(rng, _small_float(rng, 10, -14, 15, (*_F16_LIMITS, 1e6, 3e38)), 0.25)
        scale = np.left_shift(1, rng.integers(0, 32, 2048))
        # Ties of i32 to f32, and of i32 to f16: one bit below those that are kept.
        kept, drop = (24, 7) if stage == "f32" else (11, 20)
        shift = rng.integers(1, drop + 1, 2048)
        tie = ((1 << (kept - 1) | rng.integers(0, 1 << (kept - 1), 2048)) << shift) | (
            1 << (shift - 1)
        )
        tie += rng.integers(-1, 2, 2048)
        edges = np.array([0, 1, 2**24, 2**24 + 1, 2**24 + 3, 2**31 - 1, 2**31, 2049, 65504, 65519,
                          65520, 65536, 70000, 2**31 - 64, 2**31 - 65])  # fmt: skip
        near = (edges[:, None] + np.array([-1, 0, 1])).ravel()
        values = np.concatenate((scale, tie, np.resize(near, 2048)))
        values = values * rng.choice((-1, 1), len(values))
        values = np.clip(values, -(2**31), 2**31 - 1)
        return _pool(rng, [values.astype(np.int32).view(np.uint32)], 0.0)

    @staticmethod
    def _update(rng: np.random.Generator, name: str) -> Words:
        eighths = (1 + rng.integers(0, 8, 4096) / 8) * 2.0 ** rng.integers(-1, 3, 4096)
        values = bits_of((eighths * rng.choice((-1, 1), 4096)).astype(np.float32))
        # Sums with the largest number overflow, tie with the end of the range or stay below it.
        largest, step = _LARGEST[name]
        ends = _near(_both([largest, largest / 2, 2 * step, step, step / 2]), (-1, 0, 1))
        return _pool(rng, [values, np.resize(ends, 1024)], 0.15)


def spread(pool: NDArray[np.generic], start: int, count: int) -> NDArray[np.generic]:
    """Returns ``count`` elements of a pool from ``start`` on, around its end as often as needed."""
    start %= POOL
    if count <= POOL:
        return pool[start : start + count]
    return np.resize(pool[start : start + POOL], count)


MODES = {code: (mode.stage, mode.narrow) for code, mode in QUANT_BY_CODE.items()}
"""Source stage and last stage by code."""
