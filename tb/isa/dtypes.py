# SPDX-License-Identifier: Apache-2.0
"""Element types of pointers, their sizes, and the types of pad values."""

from __future__ import annotations

import re
from dataclasses import dataclass

ELEMENT_BYTES: dict[str, int] = {
    "i8": 1,
    "si8": 1,
    "ui8": 1,
    "f8E4M3FN": 1,
    "hif8": 1,
    "f8E5M2": 1,
    "f8E8M0": 1,
    "f4E2M1x2": 1,
    "f4E1M2x2": 1,
    "i16": 2,
    "si16": 2,
    "ui16": 2,
    "f16": 2,
    "bf16": 2,
    "hif8x2": 2,
    "i32": 4,
    "si32": 4,
    "ui32": 4,
    "f32": 4,
    "bf16x2": 4,
    "i64": 8,
    "si64": 8,
    "ui64": 8,
    "f64": 8,
}
"""Size E in bytes of each element type (docs/spec/dialect.md, section 1). A pair such as
``f4E2M1x2`` is one element. Movement depends on the size only."""

DTYPES: tuple[str, ...] = tuple(ELEMENT_BYTES)
"""Element types of whole bytes in a fixed order."""

NIBBLE_DTYPES: tuple[str, ...] = ("i4", "si4")
"""Element types that are packed two per byte, the even index in the low nibble; only FIXPIPE
writes them."""

ALL_DTYPES: tuple[str, ...] = (*DTYPES, *NIBBLE_DTYPES)
"""Every element type; blocks of ops hold an index into it."""

DTYPE_INDEX: dict[str, int] = {name: index for index, name in enumerate(ALL_DTYPES)}

DIALECT_DTYPES: tuple[str, ...] = (*("hif8", "hif8x2", "bf16x2", "f8E8M0", "f4E2M1x2", "f4E1M2x2"),)
"""Element types of the pto dialect, which text writes with ``!pto.``."""

OTHER_BYTE_FLOATS: tuple[str, ...] = (
    *("f8E4M3", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ", "f8E3M4", "f8E8M0FNU"),
)
"""Floats of one byte that text may name and no op distinguishes: copies move them as bytes."""

PAD_DTYPES: tuple[str, ...] = ("i8", "i16", "i32", "f16", "bf16", "f32")
"""Types of a pad value (DMA-L03)."""


@dataclass(frozen=True, slots=True)
class Ptr:
    """A pointer type: ``!pto.ptr<dtype, space>``."""

    dtype: str
    space: str

    def __str__(self) -> str:
        return f"!pto.ptr<{element_text(self.dtype)}, {self.space}>"


def element_text(dtype: str) -> str:
    """Returns an element type as text writes it."""
    return f"!pto.{dtype}" if dtype in DIALECT_DTYPES else dtype


_BITS = re.compile(r"(?:s|u)?i(\d+)|b?f(\d+)(?:E\w+)?")


def element_bits(dtype: str) -> int:
    """Returns the bits of an element, also of types that no op moves; 0 where text has none."""
    if dtype in ELEMENT_BYTES:
        return 8 * ELEMENT_BYTES[dtype]
    found = _BITS.fullmatch(dtype)
    return int(found[1] or found[2]) if found else 0


def moved_as(dtype: str, *, any_type: bool = False) -> str:
    """Returns the element type that an op without arithmetic holds for that of its text.

    Args:
        dtype: Element type.
        any_type: Whether the op has no rule on it at all.
    """
    if dtype in OTHER_BYTE_FLOATS:
        return "f8E5M2"
    return "ui8" if any_type and dtype not in ELEMENT_BYTES else dtype


def element_bytes(dtype: str) -> int:
    """Returns E for ``dtype``.

    Raises:
        ValueError: the type is not one of ``ELEMENT_BYTES``.
    """
    try:
        return ELEMENT_BYTES[dtype]
    except KeyError:
        raise ValueError(f"element type {dtype!r} is unknown: one of {', '.join(DTYPES)}") from None
