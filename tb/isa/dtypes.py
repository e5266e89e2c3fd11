# SPDX-License-Identifier: Apache-2.0
"""Element types of pointers, their sizes, and the types of pad values."""

from __future__ import annotations

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
"""Size E in bytes of each element type (spec/dialect.md, section 1). A pair such as ``f4E2M1x2`` is
one element. Movement depends on the size only."""

DTYPES: tuple[str, ...] = tuple(ELEMENT_BYTES)
"""Element types of whole bytes in a fixed order."""

NIBBLE_DTYPES: tuple[str, ...] = ("i4", "si4")
"""Element types that are packed two per byte, the even index in the low nibble; only FIXPIPE
writes them."""

ALL_DTYPES: tuple[str, ...] = (*DTYPES, *NIBBLE_DTYPES)
"""Every element type; blocks of ops hold an index into it."""

DTYPE_INDEX: dict[str, int] = {name: index for index, name in enumerate(ALL_DTYPES)}

PAD_DTYPES: tuple[str, ...] = ("i8", "i16", "i32", "f16", "bf16", "f32")
"""Types of a pad value (DMA-L03)."""


@dataclass(frozen=True, slots=True)
class Ptr:
    """A pointer type: ``!pto.ptr<dtype, space>``."""

    dtype: str
    space: str

    def __str__(self) -> str:
        return f"!pto.ptr<{self.dtype}, {self.space}>"


def element_bytes(dtype: str) -> int:
    """Returns E for ``dtype``.

    Raises:
        ValueError: the type is not one of ``ELEMENT_BYTES``.
    """
    try:
        return ELEMENT_BYTES[dtype]
    except KeyError:
        raise ValueError(f"element type {dtype!r} is unknown: one of {', '.join(DTYPES)}") from None
