# SPDX-License-Identifier: Apache-2.0
"""Atomic updates of GM by a write-back (docs/spec/fixpipe.md, section 9; A-47).

Sums of f16 and bf16 are made in f32 and rounded once more, which equals one rounding of the exact
sum (24 >= 2p + 2). Integers wrap. Bit 48 of CTRL, or the ``sat`` clause in its place, decides what
becomes of inf and NaN in f16; no other type has it (A-65).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_float import (
    BF16,
    CANONICAL_NAN,
    F16,
    Floats,
    Saturation,
    bits_of,
    canonical,
    floats_of,
    some,
    to_float,
)
from tb.isa.events import FixEvent

Elements = NDArray[Any]

_INTEGERS: dict[str, np.dtype[Any]] = {
    "s8": np.dtype("i1"),
    "s16": np.dtype("<i2"),
    "s32": np.dtype("<i4"),
}
_NARROW = {"f16": F16, "bf16": BF16}
_INFINITIES = {"f32": 0x7F800000, "f16": F16.overflow, "bf16": BF16.overflow}
_NANS = {"f32": CANONICAL_NAN, "f16": F16.nan, "bf16": BF16.nan}

TYPES = ("f32", "f16", "s16", "s32", "s8", "bf16")
OPS = ("add", "max", "min")

UPDATED: dict[str, tuple[str, ...]] = {
    "f32": ("f32",),
    "f16": ("f16",),
    "bf16": ("bf16",),
    "s16": ("i16", "si16"),
    "s32": ("i32", "si32"),
    "s8": ("i8", "si8"),
}
"""Destination elements of each type (section 9)."""


def combine(
    kind: str, op: str, old: Elements, new: Elements, *, ieee: bool = True
) -> tuple[Elements, int]:
    """Returns the new elements in memory and the events of the operation.

    Args:
        kind: Atomic type: f32, f16, bf16, s32, s16 or s8.
        op: add, max or min.
        old: Elements in memory, unsigned integers of the type's width.
        new: Elements written, the same.
        ieee: c48 of the op: inf and NaN of f16 stay. Else an infinite sum is the greatest finite
            number with its sign, and NaN is +0.

    Raises:
        ValueError: there is no such type or op (FIX-L11).
    """
    if kind not in TYPES or op not in OPS:
        raise ValueError(f"FIX-L11: atomic({kind}, {op}): one of {TYPES} and one of {OPS}")
    if kind in _INTEGERS:
        return _integer(_INTEGERS[kind], op, old, new)
    if op == "add":
        result, events = _sum(kind, old, new)
    else:
        result, events = _extreme(kind, op, old, new)
    zeros = (old ^ new) == _sign(result)  # +0 and -0 differ in the sign alone
    if some(zeros) and some(zeros & (_magnitude(old) == 0)):
        events |= FixEvent.ATOMIC_ZEROS
    special = _result_events(kind, result)
    if op == "add" and special & FixEvent.ATOMIC_INF:
        infinity = _INFINITIES[kind]
        finite = (_magnitude(old) < infinity) & (_magnitude(new) < infinity)
        if np.any(finite & (_magnitude(result) == infinity)):
            events |= FixEvent.ATOMIC_OVERFLOW
    if kind == "f16" and not ieee and special:
        result = _without_ieee(op, result)
    return result, int(events | special)


def _without_ieee(op: str, result: Elements) -> Elements:
    """Returns f16 results with c48 = 0: sums are finite, and a NaN is +0 (AT-02)."""
    magnitude, infinity = _magnitude(result), F16.overflow
    if op == "add":
        finite = np.where(magnitude == infinity, result - result.dtype.type(1), result)
    else:
        finite = result.copy()
    finite[magnitude > infinity] = 0
    return finite


def _widened(kind: str, elements: Elements) -> Floats:
    """Returns elements as f32, exactly."""
    if kind == "f32":
        return floats_of(np.ascontiguousarray(elements, dtype=np.uint32))
    if kind == "bf16":
        return floats_of(elements.astype(np.uint32) << np.uint32(16))
    halves = np.ascontiguousarray(elements, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        return canonical(halves.astype(np.float32))


def _narrowed(kind: str, values: Floats) -> Elements:
    """Returns f32 values as elements, rounded to nearest even."""
    if kind == "f32":
        return bits_of(values)
    return to_float(values, _NARROW[kind], Saturation.NOSAT)[0]


def _sum(kind: str, old: Elements, new: Elements) -> tuple[Elements, int]:
    """Returns the sums and whether one of them was rounded."""
    one, two = _widened(kind, old), _widened(kind, new)
    with np.errstate(all="ignore"):
        total = canonical(one + two)
        # Knuth's two-sum: what f32 lost, exactly.
        part = total - one
        lost = (one - (total - part)) + (two - part)
        finite = np.isfinite(total)
        rounded = np.any((lost != 0) & finite)
        result = _narrowed(kind, total).astype(old.dtype, copy=False)
        if not rounded and kind != "f32":
            rounded = np.any((_widened(kind, result) != total) & finite)
    return result, int(FixEvent.ATOMIC_ROUNDED) if rounded else 0


def _extreme(kind: str, op: str, old: Elements, new: Elements) -> tuple[Elements, int]:
    """Returns the greater or lesser in the total order in which +0 > -0; NaN with a NaN."""
    left, right = _ordered(old), _ordered(new)
    kept = left >= right if op == "max" else left <= right
    chosen = np.where(kept, old, new)
    infinity = _INFINITIES[kind]
    nan = np.maximum(_magnitude(old), _magnitude(new)) > infinity
    if some(nan):
        chosen[nan] = _NANS[kind]
        kept = kept[~nan]
    return chosen, _choice(kept)


def _sign(elements: Elements) -> Any:
    """Returns the sign bit alone, in the type of the elements."""
    return elements.dtype.type(1 << 8 * elements.dtype.itemsize - 1)


def _magnitude(elements: Elements) -> Elements:
    """Returns the bits below the sign."""
    magnitude: Elements = elements & ~_sign(elements)
    return magnitude


def _choice(kept: NDArray[np.bool_]) -> int:
    """Returns whether memory kept a value and whether it took one."""
    events = FixEvent(0)
    if some(kept):
        events |= FixEvent.ATOMIC_KEPT
    if not kept.all():
        events |= FixEvent.ATOMIC_TAKEN
    return int(events)


def _result_events(kind: str, result: Elements) -> int:
    """Returns whether there are NaNs or infinities in memory now."""
    infinity, magnitude = _INFINITIES[kind], _magnitude(result)
    events = FixEvent(0)
    if np.any(magnitude > infinity):
        events |= FixEvent.ATOMIC_NAN
    if np.any(magnitude == infinity):
        events |= FixEvent.ATOMIC_INF
    return int(events)


def _ordered(elements: Elements) -> Elements:
    """Returns integers in the order of the numbers: negative ones have their magnitude inverted."""
    signed = np.ascontiguousarray(elements).view(f"i{elements.dtype.itemsize}")
    return np.where(signed < 0, signed ^ np.iinfo(signed.dtype).max, signed)


def _integer(dtype: np.dtype[Any], op: str, old: Elements, new: Elements) -> tuple[Elements, int]:
    one = np.ascontiguousarray(old).view(dtype)
    two = np.ascontiguousarray(new).view(dtype)
    if op != "add":
        kept = one >= two if op == "max" else one <= two
        return np.where(kept, one, two).view(old.dtype), _choice(kept)
    total = one + two  # modulo 2^width
    # The sum of operands of one sign has the other sign: overflow.
    wrapped = ((one ^ total) & (two ^ total)) < 0
    return total.view(old.dtype), int(FixEvent.ATOMIC_WRAPPED) if some(wrapped) else 0
