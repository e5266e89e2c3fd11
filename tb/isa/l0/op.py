# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to L0A, L0B and their scales.

Sources: docs/spec/l0_loads.md, sections 2 (control form), 3 (shape form) and 4 (scales).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.l0.table import (
    C0_BYTES,
    ELEMENT_CODES,
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    LOADS,
    NIBBLE_DTYPES,
    SCALE_DTYPE,
    SCALE_RATIO,
    LoadSpec,
)
from tb.isa.nest import NESTS
from tb.isa.op import Op, Values, op_class

if TYPE_CHECKING:
    from tb.isa.operands import L0LoadValues as _Values
else:
    _Values = Op

_GROUP = 32
"""k that share a scale."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Operands of the shape form: two extents in elements, and the start.

    Attributes:
        rows, columns: The extents as written: m, k of L0A; k, n of L0B.
        start_row, start_col: First fractal row and 32-byte column.
    """

    rows: int
    columns: int
    start_row: int = 0
    start_col: int = 0


class L0Load(_Values):
    """A load; each row of the table has a class.

    ``src`` and ``dst`` are byte addresses, ``dst`` of scales that of their data. ``shape`` has the
    operands of the shape form, from which the control form is derived, else None. Of scales m
    stands for x, k for y. ``transpose`` 1 exchanges rows and columns.
    """

    __slots__ = ()
    spec: ClassVar[LoadSpec]

    if TYPE_CHECKING:
        shape: Shape | None

    @classmethod
    def _typed(cls, values: Values, src_type: Ptr, dst_type: Ptr) -> None:  # noqa: ARG003
        values["elem"] = 0 if cls.spec.scales else code_of_element(src_type.dtype) or 0

    @classmethod
    def fitting(cls, values: Values) -> tuple[str, str]:
        """Returns a type of the bits of field ``elem``."""
        dtype = SCALE_DTYPE if cls.spec.scales else ("i8", "f16", "f32", "f4E2M1x2")[values["elem"]]
        return dtype, dtype

    @property
    def unencodable(self) -> str:
        """Elements that are not pairs of FP4 and have no 1, 2 or 4 bytes (LD-L01)."""
        dtype = self.src_type.dtype
        known = self.spec.scales or code_of_element(dtype) is not None
        return "" if known else _refusal(dtype)

    @property
    def is_nop(self) -> bool:
        """No row or no column (docs/spec/l0_loads.md, section 2)."""
        return not (self.m_step and self.k_step)

    @property
    def elem_bits(self) -> int:
        """Bits of an element."""
        return next(bits for bits, code in ELEMENT_CODES.items() if code == self.elem)

    @property
    def moved(self) -> tuple[int, int]:
        """Fractals that the destination holds: of each column, and columns of 32 bytes."""
        rows = NESTS["l0"].written(self)
        return rows.length // FRACTAL_BYTES, rows.counts[0]

    @property
    def scale_addr(self) -> int:
        """Address of the scales of ``dst``."""
        return self.dst_addr // SCALE_RATIO


_CONTROL = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")


def _class_of(spec: LoadSpec) -> type[L0Load]:
    dtype = SCALE_DTYPE if spec.scales else "f16"
    defaults = {
        "transpose": 0,
        "src_type": Ptr(dtype, spec.source),
        "dst_type": Ptr(dtype, spec.destination),
        "shape": None,
    }
    names = ("src", "dst", *_CONTROL, *defaults)
    return op_class(L0Load, spec, names, defaults, {"shape": None})


LOAD_CLASSES: dict[str, type[L0Load]] = {name: _class_of(spec) for name, spec in LOADS.items()}
"""Op classes by mnemonic."""


def bits_of(dtype: str) -> int:
    """Returns the bits of an element of a load: 4 in a pair of FP4; 0 of a type without bytes."""
    return 4 if dtype in NIBBLE_DTYPES else element_bits(dtype)


def code_of_element(dtype: str) -> int | None:
    """Returns the field ``elem`` of a type, None for one that no load moves (LD-L01).

    The compiler has no width of types of less than a byte, such as i4 (DI-12).
    """
    bits = bits_of(dtype)
    return ELEMENT_CODES.get(bits) if bits >= 8 or dtype in NIBBLE_DTYPES else None


def _refusal(dtype: str) -> str:
    legal = f"1, 2 or 4 bytes, {' or '.join(NIBBLE_DTYPES)}"
    return f"LD-L01: element type is {dtype}: {legal}"


def square_of(bits: int) -> int:
    """Returns the rows and columns of the squares that a transposed load works on."""
    return FRACTAL_ROWS if bits >= 16 else 32 if bits == 8 else 64


def _over(value: int, unit: int) -> int:
    return -(-value // unit)


def _up(value: int, unit: int) -> int:
    return _over(value, unit) * unit


def shaped(
    name: str, src: int, dst: int, shape: Shape, src_type: Ptr, dst_type: Ptr, transpose: int = 0
) -> L0Load:
    """Returns a load in the shape form, with the control operands that it stands for.

    Raises:
        ValueError: the elements are not pairs of FP4 and have no 1, 2 or 4 bytes (LD-L01).
    """
    cls = LOAD_CLASSES[name]
    left = cls.spec.destination == "l0a"
    outer, k = (shape.rows, shape.columns) if left else (shape.columns, shape.rows)
    if cls.spec.scales:
        pairs = _over(k, 2 * _GROUP)
        steps = (_over(outer, FRACTAL_ROWS), pairs, pairs, pairs)
        return cls(src, dst, shape.start_row, shape.start_col, *steps, 0, src_type, dst_type, shape)
    bits = bits_of(src_type.dtype)
    if code_of_element(src_type.dtype) is None:
        raise ValueError(_refusal(src_type.dtype))
    columns = 8 * C0_BYTES // bits
    start_col = shape.start_col // 2 if bits == 4 else shape.start_col
    if transpose:
        square = square_of(bits)
        rows, width = _up(k, square), _up(outer, square)
        source = rows // FRACTAL_ROWS
        control = (source, width // columns, source, width // FRACTAL_ROWS)
    else:
        rows = _over(outer, FRACTAL_ROWS)
        control = (rows, _over(k, columns), rows, rows)
    return cls(src, dst, shape.start_row, start_col, *control, transpose, src_type, dst_type, shape)
