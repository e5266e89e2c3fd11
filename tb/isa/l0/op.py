# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to L0A, L0B and their scales, and the descriptor they become.

Sources: spec/l0_loads.md, sections 2 (control form), 3 (shape form) and 4 (scales).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tb.isa.dtypes import Ptr, element_bits
from tb.isa.l0.table import (
    C0_BYTES,
    ELEMENT_CODES,
    FRACTAL_ROWS,
    LOADS,
    NIBBLE_DTYPES,
    SCALE_RATIO,
    LoadSpec,
)

L1_F16 = Ptr("f16", "l1")
L0A_F16 = Ptr("f16", "l0a")
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


@dataclass(frozen=True, slots=True)
class L0Load:
    """A load; each row of the table has a class.

    Attributes:
        spec: Table row of the op.
        src, dst: Byte addresses; ``dst`` of scales is that of their data.
        m_start, k_start, m_step, k_step, src_stride, dst_stride: The control form, derived from
            ``shape`` where that is given. Of scales m stands for x, k for y.
        transpose: 1 exchanges rows and columns.
        src_type, dst_type: Pointer types.
        shape: Operands of the shape form if it is written so, else None.
    """

    spec: ClassVar[LoadSpec]
    src: int
    dst: int
    m_start: int
    k_start: int
    m_step: int
    k_step: int
    src_stride: int
    dst_stride: int
    transpose: int = 0
    src_type: Ptr = L1_F16
    dst_type: Ptr = L0A_F16
    shape: Shape | None = None


def _class(spec: LoadSpec) -> type[L0Load]:
    name = "".join(part.capitalize() for part in spec.name.split("_"))
    members = {"__slots__": (), "__module__": __name__, "spec": spec}
    made = type(name, (L0Load,), {**members, "__doc__": f"``pto.{spec.name}``."})
    globals()[name] = made  # pickle finds classes by name.
    return made


LOAD_CLASSES: dict[str, type[L0Load]] = {name: _class(spec) for name, spec in LOADS.items()}
"""Op classes by mnemonic."""


def bits_of(dtype: str) -> int:
    """Returns the bits of an element of a load: 4 in a pair of FP4; 0 of a type without bytes."""
    return 4 if dtype in NIBBLE_DTYPES else element_bits(dtype)


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
        ValueError: the element has no 1, 2 or 4 bytes or 4 bits (LD-L01).
    """
    cls = LOAD_CLASSES[name]
    left = cls.spec.destination == "l0a"
    outer, k = (shape.rows, shape.columns) if left else (shape.columns, shape.rows)
    if cls.spec.scales:
        pairs = _over(k, 2 * _GROUP)
        steps = (_over(outer, FRACTAL_ROWS), pairs, pairs, pairs)
        return cls(src, dst, shape.start_row, shape.start_col, *steps, 0, src_type, dst_type, shape)
    bits = element_code(src_type.dtype, bits=True)
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


def element_code(dtype: str, *, bits: bool = False) -> int:
    """Returns the field ``elem`` of an element type, or its bits.

    Raises:
        ValueError: the element has no 1, 2 or 4 bytes or 4 bits (LD-L01).
    """
    size = bits_of(dtype)
    if size not in ELEMENT_CODES:
        raise ValueError(f"LD-L01: elements of {dtype} have {size} bits: 4, 8, 16 or 32")
    return size if bits else ELEMENT_CODES[size]


@dataclass(frozen=True, slots=True)
class L0Descriptor:
    """Field values of a load before they are packed; they may break any width."""

    spec: LoadSpec
    elem: int
    transpose: int
    src_addr: int
    dst_addr: int
    m_start: int
    k_start: int
    m_step: int
    k_step: int
    src_stride: int
    dst_stride: int

    @property
    def is_nop(self) -> bool:
        """No row or no column (spec/l0_loads.md, section 2)."""
        return not (self.m_step and self.k_step)

    @property
    def elem_bits(self) -> int:
        """Bits of an element."""
        return next(bits for bits, code in ELEMENT_CODES.items() if code == self.elem)

    @property
    def moved(self) -> tuple[int, int]:
        """Fractals that the destination holds: of each column, and columns of 32 bytes."""
        if not self.transpose:
            return self.m_step, self.k_step
        # Q = C0 * k_step rows and P = 16 * m_step columns, in fractals of 16 rows by C0 columns.
        c0 = 8 * C0_BYTES // self.elem_bits
        return c0 * self.k_step // FRACTAL_ROWS, FRACTAL_ROWS * self.m_step // c0

    @property
    def scale_addr(self) -> int:
        """Address of the scales of ``dst_addr``."""
        return self.dst_addr // SCALE_RATIO


def lower_load(op: L0Load) -> L0Descriptor:
    """Returns the descriptor of a load.

    Raises:
        ValueError: the element has no 1, 2 or 4 bytes or 4 bits (LD-L01).
    """
    return L0Descriptor(
        op.spec,
        0 if op.spec.scales else element_code(op.src_type.dtype),
        op.transpose,
        op.src,
        op.dst,
        op.m_start,
        op.k_start,
        op.m_step,
        op.k_step,
        op.src_stride,
        op.dst_stride,
    )
