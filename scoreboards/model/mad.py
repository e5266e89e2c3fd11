# SPDX-License-Identifier: Apache-2.0
"""The ``mad`` family on the host (docs/spec/l0_loads.md, sections 1, 4 and 6).

Rule MD-1: C = round(I + sum of products), the sum exact, one rounding to f32, to nearest even;
integers modulo 2^32. Factors are exact in f64, and so are their products. The sum over k is made
with the error of each step (Knuth's two-sum); where the errors are not 0, which data of few digits
never show, the terms are added exactly and rounded to odd before the rounding to f32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import fsum

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_float import hif8_value
from scoreboards.model.outcome import Memory
from tb.isa.mad import ACC, BIAS, GROUP, Mad
from tb.isa.spaces import Space, segment_base

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CANONICAL_NAN = 0x7FC00000
"""Bits written for a product that is NaN."""

MAX_F32 = float(np.finfo(np.float32).max)

_FP4 = ("f4E2M1x2", "f4E1M2x2")
_ROWS = 16
_LINE = 32
_SCALES = 16
"""A data address is so many times the address of its scales."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a product writes: row ``i`` of ``data`` (``uint8[n, 4]``) goes to ``starts[i]``."""

    starts: Ints
    data: NDArray[np.uint8]

    def put(self, memory: Memory) -> None:
        """Writes them into L0C, ``uint8[capacity]``."""
        memory[self.starts[:, None] + np.arange(self.data.shape[1])] = self.data


@cache
def _codes(dtype: str) -> Floats:
    """Returns the value of each code of a float of 8 or 4 bits."""
    if dtype == "hif8":
        return np.array([hif8_value(code) for code in range(256)])
    exponent, fraction = {
        "f8E4M3FN": (4, 3), "f8E5M2": (5, 2), "f4E2M1x2": (2, 1), "f4E1M2x2": (1, 2),
    }[dtype]  # fmt: skip
    bits = 1 + exponent + fraction
    bias = max((1 << (exponent - 1)) - 1, 1) if bits == 4 else (1 << (exponent - 1)) - 1
    found = []
    for code in range(1 << bits):
        sign = -1.0 if code >> (bits - 1) else 1.0
        high, low = code >> fraction & (1 << exponent) - 1, code & (1 << fraction) - 1
        value = np.ldexp(low + (1 << fraction) * (high > 0), max(high, 1) - bias - fraction)
        if dtype == "f8E5M2" and high == 31:
            value = np.nan if low else np.inf
        if dtype == "f8E4M3FN" and high == 15 and low == 7:
            value = np.nan
        found.append(sign * float(value))
    return np.array(found)


_LARGEST = {"f16": 65504.0, "bf16": 2.0**127 * (2 - 2.0**-7), "f32": MAX_F32, "f8E5M2": 57344.0,
            "hif8": 32768.0}  # fmt: skip
"""Largest finite number of each type that has an infinity."""


def _bits(dtype: str) -> int:
    return 4 if dtype in _FP4 else {"f16": 16, "bf16": 16, "f32": 32}.get(dtype, 8)


def _elements(raw: Memory, dtype: str) -> NDArray[np.generic]:
    """Returns the values of bytes ``uint8[..., 32 bytes of a row]`` along the last axis."""
    if dtype in _FP4:
        nibbles = np.stack((raw & 15, raw >> 4), axis=-1).reshape(*raw.shape[:-1], -1)
        return _codes(dtype)[nibbles]
    if dtype == "i8":
        return np.ascontiguousarray(raw).view(np.int8).astype(np.int64)
    if dtype in ("f8E4M3FN", "f8E5M2", "hif8"):
        return _codes(dtype)[raw]
    raw = np.ascontiguousarray(raw)
    if dtype == "bf16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return raw.view("<f2" if dtype == "f16" else "<f4").astype(np.float64)


def _tile(memory: Memory, start: int, rows: int, k: int, dtype: str) -> NDArray[np.generic]:
    """Returns the rows x k values of a tile in NZ order (section 1)."""
    bits = _bits(dtype)
    c0 = 8 * _LINE // bits
    columns, fractals = -(-k // c0), -(-rows // _ROWS)
    length = columns * fractals * _ROWS * _LINE
    lines = memory[start : start + length].reshape(columns, fractals * _ROWS, _LINE)
    values = _elements(lines, dtype)
    flat = values.swapaxes(0, 1).reshape(fractals * _ROWS, columns * c0)
    return flat[:rows, :k]


def _scales(memory: Memory, start: int, rows: int, k: int) -> Floats:
    """Returns the scale of each element, ``float64[rows, k]`` (section 4)."""
    pairs, blocks = -(-k // 64), -(-rows // _ROWS)
    codes = memory[start : start + blocks * pairs * _LINE].reshape(blocks, pairs, _ROWS, 2)
    groups = codes.transpose(0, 2, 1, 3).reshape(blocks * _ROWS, pairs * 2)
    with np.errstate(over="ignore"):
        values = np.where(groups == 255, np.nan, np.ldexp(1.0, groups.astype(np.int64) - 127))
    return np.repeat(values, 32, axis=1)[:rows, :k]


def tf32(bits: NDArray[np.uint32], rounding: str) -> NDArray[np.uint32]:
    """Returns f32 bits cut to ten fraction bits; inf and NaN are kept."""
    add = 0x1000 if rounding == "round_away" else np.uint32(0xFFF) + (bits >> 13 & 1)
    cut = (bits + np.asarray(add, dtype=np.uint32)) & np.uint32(0xFFFFE000)
    special = (bits & 0x7F800000) == 0x7F800000
    return np.where(special, bits, cut).astype(np.uint32)


def _finite(values: Floats, dtype: str) -> Floats:
    """Returns inputs as saturation takes them: inf is the largest number, NaN 0."""
    largest = _LARGEST.get(dtype)
    found = np.where(np.isnan(values), 0.0, values)
    return found if largest is None else np.clip(found, -largest, largest)


def _odd(total: float, rest: float) -> float:
    """Returns a sum rounded to odd: ``total`` is the nearest, ``rest`` what it lacks."""
    if not rest:
        return total
    bits = np.float64(total).view(np.int64)
    if bits & 1:
        return total
    # The exact sum is between this number and its neighbour on the side of the rest.
    towards = np.inf if rest > 0 else -np.inf
    return float(np.nextafter(total, towards))


def exact_sums(terms: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Returns f32 bits of sums over axis 0 of ``float64[k, ...]``, each rounded once.

    Infinities and NaN are as in IEEE; NaN is canonical.
    """
    total = np.full(terms.shape[1:], -0.0)  # the sum of no number: it keeps the sign of a zero
    inexact = np.zeros(terms.shape[1:], dtype=bool)
    with np.errstate(all="ignore"):
        for term in terms:
            new = total + term
            part = new - total
            inexact |= ((total - (new - part)) + (term - part)) != 0
            total = new
        inexact &= np.isfinite(total)
        for index in zip(*np.nonzero(inexact), strict=True):
            mine = [float(x) for x in terms[(slice(None), *index)]]
            nearest = fsum(mine)
            total[index] = _odd(nearest, fsum([*mine, -nearest]))
        single = total.astype(np.float32)
    bits = np.ascontiguousarray(single).view(np.uint32)
    bits[np.isnan(single)] = CANONICAL_NAN
    return bits


def _factor(
    memory: Memory, scales: Memory, start: int, rows: int, op: Mad, dtype: str, *, vector: bool
) -> NDArray[np.generic]:
    """Returns the values of a factor, ``[rows, k]``."""
    values: NDArray[np.generic]
    if vector:
        bits = _bits(dtype)
        length = -(-(op.k * bits // 8) // _LINE) * _LINE
        values = _elements(memory[start : start + length].reshape(1, -1), dtype)[:, : op.k]
    else:
        values = _tile(memory, start, rows, op.k, dtype)
    if dtype == "i8":
        return values
    floats = values.astype(np.float64)
    if op.rounding:
        bits32 = floats.astype(np.float32).view(np.uint32)
        floats = tf32(bits32, op.rounding).view(np.float32).astype(np.float64)
    if op.saturates:
        floats = _finite(floats, dtype)
    if op.mx:
        scale = _scales(scales, start // _SCALES, rows, op.k)
        floats = floats * (_finite(scale, "") if op.saturates else scale)
    return floats


def _initial(op: Mad, places: Ints, memories: Mapping[Space, Memory]) -> NDArray[np.uint32]:
    """Returns the bits that the sums start from, ``uint32[m, n]``."""
    if op.initial == ACC:
        words = memories[Space.L0C].view("<u4")
        return words[places // 4].astype(np.uint32)
    if op.initial == BIAS:
        slots = memories[Space.BT][op.bias : op.bias + 4 * op.n].view("<u4")
        return np.broadcast_to(slots, (op.m, op.n)).astype(np.uint32)
    return np.zeros((op.m, op.n), dtype=np.uint32)


@np.errstate(all="ignore")  # signalling NaN of elements that may not even count
def product(op: Mad, memories: Mapping[Space, Memory]) -> Rows | None:
    """Returns what a product writes to L0C, or None for a NOP.

    Args:
        op: A product that breaks no rule (:func:`tb.isa.mad.problems`).
        memories: L0, L0C and BT as they are.
    """
    if op.is_nop:
        return None
    l0 = memories[Space.L0]
    halves = {name: l0[segment_base(name) :] for name in ("l0a", "l0b", "l0a_mx", "l0b_mx")}
    left = _factor(
        halves["l0a"], halves["l0a_mx"], op.lhs, op.m, op, op.lhs_type.dtype, vector=op.vector
    )
    right = _factor(
        halves["l0b"], halves["l0b_mx"], op.rhs, op.n, op, op.rhs_type.dtype, vector=False
    )
    m, n = np.arange(op.m)[:, None], np.arange(op.n)[None, :]
    rows = -(-op.m // _ROWS) * _ROWS
    places = op.dst + 4 * ((n // GROUP * rows + m) * GROUP + n % GROUP)
    start = _initial(op, places, memories)
    if op.lhs_type.dtype == "i8":
        bits = (left.astype(np.int64) @ right.T.astype(np.int64)).astype(np.uint32) + start
    else:
        bits = _sums(op, left, right, start)
    return Rows(places.ravel(), bits.reshape(-1, 1).astype("<u4").view(np.uint8))


def _sums(
    op: Mad, left: NDArray[np.generic], right: NDArray[np.generic], start: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    one, other = left.astype(np.float64), right.astype(np.float64)
    first = start.view(np.float32).astype(np.float64)
    if op.saturates:
        first = _finite(first, "f32")
    found = np.empty((op.m, op.n), dtype=np.uint32)
    # All terms of some rows at a time: at most a few million numbers.
    step = max(1, (1 << 21) // (op.n * (op.k + 1)))
    with np.errstate(all="ignore"):
        for low in range(0, op.m, step):
            part = slice(low, min(low + step, op.m))
            terms = one[part].T[:, :, None] * other.T[:, None, :]
            found[part] = exact_sums(np.concatenate((first[part][None], terms)))
    if op.saturates:
        infinite = (found & 0x7FFFFFFF) == 0x7F800000
        found[infinite] -= 1
    return found
