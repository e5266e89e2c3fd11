# SPDX-License-Identifier: Apache-2.0
"""Initial memory contents with values that bias loads treat in special ways.

Random bytes are rarely a NaN with a payload, a subnormal or an infinity of f32. Tests write
:func:`special_fills` once before the stimulus; copies then distribute the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sequences.constraints import DEFAULT_WINDOWS, L1_SIZE, UB_SIZE, GmWindow
from sequences.draw.shapes import Ints, pick
from tb.isa.spaces import Space

CHUNK = 512
"""Bytes in a row of one format, so that a bias vector gets values of its own type."""

STRETCH = 16384
"""Bytes in one fill."""

_ZERO, _SUBNORMAL, _NORMAL, _MAX, _INF, _QUIET, _SIGNALLING, _ANY = range(8)
_WEIGHTS = np.array([0.12, 0.16, 0.16, 0.1, 0.1, 0.12, 0.12, 0.12])


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format: bits of an element, of its exponent and its fraction."""

    bits: int
    exponent: int
    fraction: int


F16 = FloatFormat(16, 5, 10)
BF16 = FloatFormat(16, 8, 7)
F32 = FloatFormat(32, 8, 23)


def special_floats(rng: np.random.Generator, count: int, form: FloatFormat) -> Ints:
    """Returns bit patterns, ``int64[count]``: each class of value about as often as any other.

    The classes are those of :class:`tb.isa.events.BiasEvent`: zeros, subnormals, normal numbers,
    the largest finite ones, infinities, and NaNs of both kinds with any payload.
    """
    top, full = (1 << form.exponent) - 1, (1 << form.fraction) - 1
    kind = pick(rng, count, _WEIGHTS)
    high = np.array([0, 0, 0, top - 1, top, top, top, 0])[kind]
    exponent = np.where(kind == _NORMAL, rng.integers(1, top, count), high)
    exponent = np.where(kind == _ANY, rng.integers(0, top, count), exponent)
    # Subnormals of every leading one: the widening of f16 normalizes them.
    low = np.left_shift(1, rng.integers(0, form.fraction, count))
    fraction = rng.integers(0, full + 1, count)
    quiet = 1 << (form.fraction - 1)
    edge = rng.random(count) < 0.3
    fraction = np.where(edge, np.where(rng.random(count) < 0.5, 0, full), fraction)
    payload = np.where(rng.random(count) < 0.3, 1, rng.integers(1, quiet, count))
    drawn = np.select(
        [kind == _SUBNORMAL, kind == _QUIET, kind == _SIGNALLING, kind == _MAX],
        [low | (fraction & (low - 1)), quiet | fraction, payload, np.full(count, full)],
        fraction,
    )
    drawn = np.where((kind == _ZERO) | (kind == _INF), 0, drawn)
    sign = rng.integers(0, 2, count)
    bits: Ints = (sign << (form.bits - 1)) | (exponent << form.fraction) | drawn
    return bits


def bias_background(rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Returns ``uint8[size]`` rich in special values: chunks of f16, bf16 and f32 in turn."""
    chunks = -(-size // CHUNK)
    kind = rng.permutation(np.arange(chunks) % 3)
    data = np.empty((chunks, CHUNK), dtype=np.uint8)
    for number, form in enumerate((F16, BF16, F32)):
        mine = np.flatnonzero(kind == number)
        values = special_floats(rng, len(mine) * CHUNK * 8 // form.bits, form)
        stored = values.astype(f"<u{form.bits // 8}").view(np.uint8)
        data[mine] = stored.reshape(len(mine), CHUNK)
    return data.ravel()[:size]


@dataclass(frozen=True)
class SpecialFill:
    """Bytes to write at ``start`` of a memory."""

    space: Space
    start: int
    data: NDArray[np.uint8]


def special_fills(
    seed: int | np.random.Generator,
    share: float = 0.4,
    windows: Sequence[GmWindow] = DEFAULT_WINDOWS,
) -> Iterator[SpecialFill]:
    """Yields fills for a ``share`` of L1, of both UB sub-blocks and of the GM windows.

    Only stores overwrite GM, so copies from it keep special values in L1 for a whole run.

    Args:
        seed: Seed or generator.
        share: Fraction of each memory, 0..1.
        windows: Parts of GM.

    Raises:
        ValueError: ``share`` is not a fraction.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share is {share}: a fraction 0..1")
    rng = np.random.default_rng(seed)
    parts = [(Space.L1, 0, L1_SIZE), (Space.UB0, 0, UB_SIZE), (Space.UB1, 0, UB_SIZE)]
    parts += [(Space.GM, window.start, window.size) for window in windows]
    for space, origin, size in parts:
        places = np.flatnonzero(rng.random(-(-size // STRETCH)) < share)
        for place in places.tolist():
            start = place * STRETCH
            yield SpecialFill(
                space, origin + start, bias_background(rng, min(STRETCH, size - start))
            )
