# SPDX-License-Identifier: Apache-2.0
"""Numbers of worked values as bytes: accumulators, records and results of write-backs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

BITS = {
    **dict.fromkeys(("i4", "si4"), 4),
    **dict.fromkeys(("i8", "si8", "ui8", "f8E4M3FN", "hif8"), 8),
    **dict.fromkeys(("i16", "si16", "f16", "bf16"), 16),
}
"""Bits of a result by its type; others have 32."""

_OFFSET_BITS = {"i4": 5, "si4": 5, "i16": 17, "si16": 17}


def f32_bits(value: float) -> int:
    """Returns the bits of the f32 nearest to a value."""
    return int(np.array([value], dtype=np.float32).view(np.uint32)[0])


def accumulators(values: Sequence[float], acc: str) -> bytes:
    """Returns accumulators of type ``acc``, f32 or i32, as in L0C."""
    if acc == "i32":
        return np.array(values, dtype=np.int64).astype("<i4").tobytes()
    return np.array(values, dtype=np.float64).astype("<f4").tobytes()


def pack(values: Iterable[int], dtype: str) -> bytes:
    """Returns results as stored, by their codes or values: 4-bit ones two per byte."""
    bits = BITS.get(dtype, 32)
    low = [value & ((1 << bits) - 1) for value in values]
    if bits == 4:
        return bytes(a | b << 4 for a, b in zip(low[0::2], low[1::2], strict=True))
    return b"".join(value.to_bytes(bits // 8, "little") for value in low)


def record(scale: float, offset: int = 0, signed: bool = True, dtype: str = "i8") -> int:
    """Returns the 64-bit record of a channel (docs/spec/fixpipe.md, section 5).

    Args:
        scale: M1.
        offset: Offset; of a 4-bit destination also one of nine bits, whose low five count.
        signed: Sign bit of b8 destinations.
        dtype: Destination type.
    """
    bits = _OFFSET_BITS.get(dtype, 9)
    if not -(1 << bits) <= 2 * offset < 1 << bits:
        bits = max(bits, 9)
    sign = int(signed) << 46 if dtype in ("i8", "si8", "ui8") else 0
    return f32_bits(scale) | (offset & ((1 << bits) - 1)) << 37 | sign


def records(words: Iterable[int]) -> bytes:
    """Returns records as in FB."""
    return np.array(list(words), dtype="<u8").tobytes()
