# SPDX-License-Identifier: Apache-2.0
"""Loads from L1 to L0A, L0B and their scales (docs/spec/l0_loads.md, sections 2 to 4).

A load moves whole fractals: 16 rows of 32 bytes. Without ``transpose`` they keep their bytes, and a
column of fractals is one run on both sides. With it, element (p, q) of the source matrix becomes
element (q, p) of the destination, both in NZ order; the whole op is one numpy transposition.

The shape form is derived here from its own operands, not through :func:`tb.isa.l0.op.shaped`, which
the engine's descriptors come from: the two must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.outcome import NOTHING, Explanation, Memory, Outcome
from scoreboards.model.registers import Registers
from tb.isa.dtypes import element_bits
from tb.isa.footprint import Footprint
from tb.isa.l0.op import L0Load
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space, segment_base
from tb.isa.status import Status

_FRACTAL = 512
_ROWS = 16
_LINE = 32
_GROUP = 32
"""k that share a scale."""

_PAIRS = ("f4E2M1x2", "f4E1M2x2")
"""Types whose elements are two values of 4 bits."""

_SIZES = (8, 16, 32)
"""Bits of an element that is not a pair."""


@dataclass(frozen=True, slots=True)
class Transposition:
    """Operands of a legal transposed load that moves something.

    Attributes:
        bits: Bits of a value.
        rows, columns: P and Q, the extents of the source matrix.
        src: L1 address of the first fractal that is read.
        dst: Address in ``Space.L0`` of the first that is written.
        src_column, dst_column: Bytes from one C0 column to the next.
    """

    bits: int
    rows: int
    columns: int
    src: int
    dst: int
    src_column: int
    dst_column: int

    @property
    def lanes(self) -> int:
        """C0: values in 32 bytes."""
        return 8 * _LINE // self.bits

    @property
    def read(self) -> Footprint:
        """The fractals of every source column."""
        count = self.columns // self.lanes
        return Footprint(Space.L1, self.src, self.rows * _LINE, (count,), (self.src_column,))

    @property
    def written(self) -> Footprint:
        """The fractals of every destination column, of which Q / 16 lie side by side."""
        count = self.rows // self.lanes
        return Footprint(Space.L0, self.dst, self.columns * _LINE, (count,), (self.dst_column,))

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Moves all values; there are no events."""
        values = self._side(memories, self.read)
        if self.bits == 4:
            values = np.stack((values & 15, values >> 4), axis=-1)
        lanes = self.lanes
        # Columns, rows, lanes to the matrix [p][q], and back with p and q exchanged.
        matrix = values.reshape(-1, self.rows, lanes).swapaxes(0, 1).reshape(self.rows, -1)
        turned = matrix.T.reshape(self.columns, -1, lanes).swapaxes(0, 1)
        if self.bits == 4:
            turned = turned[..., 0::2] | turned[..., 1::2] << 4
        self._side(memories, self.written)[...] = turned
        return 0

    def _side(self, memories: Mapping[Space, Memory], region: Footprint) -> NDArray[np.integer]:
        """Returns source or destination as [column][row of 32 bytes][element]."""
        size = max(1, self.bits // 8)
        shape = (region.counts[0], region.length // _LINE, _LINE // size)
        # The distance of a column that is alone may be any number.
        step = region.strides[0] if region.counts[0] > 1 else 0
        strides = (step, _LINE, size)
        return np.ndarray(shape, f"<u{size}", memories[region.space].data, region.base, strides)

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names row and column of the destination matrix, and where its value came from."""
        (column,) = index
        if byte is None:
            return Explanation(f"C0 column {column} of {self.rows // self.lanes}")
        row, lane = byte // _LINE, byte % _LINE * 8 // self.bits
        source_column, source_lane = divmod(row, self.lanes)
        p = column * self.lanes + lane
        offset = source_column * self.src_column + p * _LINE + source_lane * self.bits // 8
        size = self.bits // 8
        part = f", byte {byte % size} of {size}" if size > 1 else ""
        name = "values" if self.bits == 4 else "element"
        return Explanation(
            f"row {row}, column {p} of the transposed tile, from {name} ({p}, {row}){part}",
            self.src + offset + (byte % size if size > 1 else 0),
        )


def load(op: L0Load, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of a load of data or of scales.

    Raises:
        ValueError: the elements are not pairs of FP4 and have no 1, 2 or 4 bytes (LD-L01).
    """
    bits = 4 if op.src_type.dtype in _PAIRS else element_bits(op.src_type.dtype)
    known = op.src_type.dtype in _PAIRS or bits in _SIZES
    if not known and not op.spec.scales:
        raise ValueError(f"LD-L01: element type is {op.src_type.dtype}")
    control = _control(op, bits)
    m_start, k_start, m_step, k_step, src_stride, dst_stride = control
    if not legal:
        violation = first_d_violation(op)
        if violation is not None:
            return Outcome(Status.RULE, violation.rule.number)
    if not m_step or not k_step:
        return NOTHING
    if op.spec.scales:
        # x goes from row to row of fragments, y along it.
        return _rows(
            Footprint(
                Space.L1,
                op.src + (m_start * src_stride + k_start) * _LINE,
                k_step * _LINE,
                (m_step,),
                (src_stride * _LINE,),
            ),
            segment_base(f"{op.spec.destination}_mx") + op.dst // 16,
            dst_stride * _LINE,
            _fragment,
        )
    base = segment_base(op.spec.destination) + op.dst
    first = op.src + (k_start * src_stride + m_start) * _FRACTAL
    if not op.transpose:
        column = Footprint(Space.L1, first, m_step * _FRACTAL, (k_step,), (src_stride * _FRACTAL,))
        return _rows(column, base, dst_stride * _FRACTAL, _fractal)
    turned = Transposition(
        bits,
        m_step * _ROWS,
        k_step * 8 * _LINE // bits,
        first,
        base,
        src_stride * _FRACTAL,
        dst_stride * _FRACTAL,
    )
    return Outcome(Status.OK, 0, turned.read, turned.written, transfer=turned)


def _rows(
    source: Footprint, base: int, stride: int, place: Callable[[tuple[int, ...], int], str]
) -> Outcome:
    """Returns the outcome of a move of rows to ``base``, ``stride`` bytes apart."""
    written = Footprint(Space.L0, base, source.length, source.counts, (stride,))
    return Outcome(Status.OK, 0, source, written, place=place)


def _fractal(index: tuple[int, ...], byte: int) -> str:
    """Names a byte of a load of whole fractals."""
    fractal, rest = divmod(byte, _FRACTAL)
    row, lane = divmod(rest, _LINE)
    return f"C0 column {index[-1]}, fractal {fractal}, row {row} of 16, byte {lane} of 32"


def _fragment(index: tuple[int, ...], byte: int) -> str:
    """Names a byte of a load of scales."""
    fragment, rest = divmod(byte, _LINE)
    return f"row {index[-1]} of fragments, fragment {fragment}, byte {rest} of 32"


def _blocks(extent: int, size: int) -> int:
    return -(-extent // size)


def _control(op: L0Load, bits: int) -> tuple[int, int, int, int, int, int]:
    """Returns starts, steps and strides, of the shape form by sections 3 and 4."""
    shape = op.shape
    if shape is None:
        return op.m_start, op.k_start, op.m_step, op.k_step, op.src_stride, op.dst_stride
    # The extents are m, k of the left operand and k, n of the right one.
    right = op.spec.destination == "l0b"
    k, outer = (shape.rows, shape.columns) if right else (shape.columns, shape.rows)
    if op.spec.scales:
        pairs = _blocks(_blocks(k, _GROUP), 2)
        return shape.start_row, shape.start_col, _blocks(outer, _ROWS), pairs, pairs, pairs
    lanes = 8 * _LINE // bits
    start = (shape.start_row, shape.start_col // 2 if bits == 4 else shape.start_col)
    if not op.transpose:
        rows = _blocks(outer, _ROWS)
        return *start, rows, _blocks(k, lanes), rows, rows
    square = {4: 64, 8: 32}.get(bits, 16)
    k_squares, outer_squares = _blocks(k, square) * square, _blocks(outer, square) * square
    k_rows, outer_rows = k_squares // _ROWS, outer_squares // _ROWS
    return *start, k_rows, outer_squares // lanes, k_rows, outer_rows
