# SPDX-License-Identifier: Apache-2.0
"""``mte_gm_l1_frac``: matrices repacked to 32-byte C0 blocks (docs/spec/nd2nz.md).

The element of source row and column (n, d) of group g, d = c C0 + k, becomes lane k of the block
of g, n and C0 column c; small-C0 packing gives every n four lanes, back to back. Lanes without
an element are zero. A whole op is a few strided numpy assignments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.outcome import NOTHING, Explanation, Memory, Outcome
from scoreboards.model.registers import Registers
from tb.isa.dtypes import element_bytes
from tb.isa.footprint import Footprint
from tb.isa.nz.op import NzOp
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space
from tb.isa.status import Status

_BLOCK = 32
_CHANNELS = 4
_BYTE = np.dtype(np.uint8)
_WHOLE_BLOCK = np.dtype("V32")
_ELEMENTS = {size: np.dtype(f"<u{size}") for size in (1, 2, 4)}

_Axes = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class NzTransfer:
    """Operands of a legal repack that moves something; strides in bytes.

    Attributes:
        transposed: ``dn2nz``: the source is ``src[d][n]``.
        small: Small-C0 packing: four lanes a row, ``row`` and ``column`` unused.
        size: E, bytes of an element.
        n, d, groups: Logical rows, elements of a row, matrices.
        src, inner, outer: GM address, source bytes between rows and between matrices.
        dst, row, column, group: L1 address, bytes between rows n, C0 columns and groups.
    """

    transposed: bool
    small: bool
    size: int
    n: int
    d: int
    groups: int
    src: int
    inner: int
    outer: int
    dst: int
    row: int
    column: int
    group: int

    @property
    def read(self) -> Footprint:
        """Source rows of every group."""
        rows, elements = (self.d, self.n) if self.transposed else (self.n, self.d)
        counts, strides = (rows, self.groups), (self.inner, self.outer)
        return Footprint(Space.GM, self.src, elements * self.size, counts, strides)

    @property
    def written(self) -> Footprint:
        """Blocks of every row, C0 column and group; small-C0 packing: one range per group."""
        if self.small:
            packed = self.n * _CHANNELS * self.size
            whole = -(-packed // _BLOCK) * _BLOCK
            return Footprint(Space.L1, self.dst, whole, (self.groups,), (self.group,))
        counts = (self.n, -(-self.d * self.size // _BLOCK), self.groups)
        strides = (self.row, self.column, self.group)
        return Footprint(Space.L1, self.dst, _BLOCK, counts, strides)

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Moves all elements and writes the zero fill."""
        gm, l1 = memories[Space.GM], memories[Space.L1]
        if self.small:
            written = self.written
            groups = ((self.groups, self.group),)
            _view(l1, _BYTE, self.dst, (*groups, (written.length, 1)))[...] = 0
            self._part(gm, l1, 0, 1, self.d, _CHANNELS * self.size)
            return 0
        lanes = _BLOCK // self.size
        columns, tail = divmod(self.d, lanes)
        if columns:
            self._part(gm, l1, 0, columns, lanes, self.row)
        if tail:
            blocks = ((self.groups, self.group), (self.n, self.row))
            used = tail * self.size
            end = self.dst + columns * self.column
            _view(l1, _BYTE, end + used, (*blocks, (_BLOCK - used, 1)))[...] = 0
            self._part(gm, l1, columns, 1, tail, self.row)
        return 0

    def _part(self, gm: Memory, l1: Memory, first: int, columns: int, lanes: int, row: int) -> None:
        """Moves the first ``lanes`` lanes of C0 columns ``first`` .. ``first + columns - 1``."""
        size = self.size
        depth = first * (_BLOCK // size)
        dst = self.dst + first * self.column
        sources: _Axes
        targets: _Axes
        if self.transposed:
            element, src = _ELEMENTS[size], self.src + depth * self.inner
            sources = ((columns, _BLOCK // size * self.inner), (self.n, size), (lanes, self.inner))
            targets = ((columns, self.column), (self.n, row), (lanes, size))
        else:
            # Elements of a row lie side by side on both sides: a block moves as one item.
            src, width = self.src + depth * size, lanes * size
            sources = ((columns, _BLOCK), (self.n, self.inner))
            targets = ((columns, self.column), (self.n, row))
            element = _WHOLE_BLOCK
            if width < _BLOCK:
                element, sources, targets = _BYTE, (*sources, (width, 1)), (*targets, (width, 1))
        source = _view(gm, element, src, ((self.groups, self.outer), *sources))
        _view(l1, element, dst, ((self.groups, self.group), *targets))[...] = source

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names group, row n, C0 column and lane of a byte, and what fills the lane."""
        size = self.size
        if self.small:
            (group,) = index
            if byte is None:
                return Explanation(f"matrix {group} of {self.groups}")
            n, lane = divmod(byte // size, _CHANNELS)
            d, place = lane, f"matrix {group}, row n {n}"
        else:
            group, column, n = index
            place = f"matrix {group}, row n {n}, C0 column {column}"
            if byte is None:
                return Explanation(place)
            lane = byte // size
            d = column * (_BLOCK // size) + lane
        if n >= self.n:
            return Explanation(f"{place}, zero fill of lane {lane} (n {n} >= n_value {self.n})")
        if d >= self.d:
            return Explanation(f"{place}, zero fill of lane {lane} (d {d} >= d_value {self.d})")
        across, along = (d, n) if self.transposed else (n, d)
        source = self.src + group * self.outer + across * self.inner + along * size
        part = "" if size == 1 else f", byte {byte % size} of {size}"
        return Explanation(f"{place}, lane {lane} (d {d}){part}", source + byte % size)


def gm_l1_frac(op: NzOp, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of an ``mte_gm_l1_frac``.

    Raises:
        ValueError: elements have 8 bytes (ND-L01).
    """
    size = element_bytes(op.src_type.dtype)
    if size not in _ELEMENTS:
        raise ValueError(f"ND-L01: elements of {op.src_type.dtype} have {size} B: 1, 2 or 4")
    if not legal:
        violation = first_d_violation(op)
        if violation is not None:
            return Outcome(Status.RULE, violation.rule.number)
    if not op.n_value or not op.d_value:
        return NOTHING
    transfer = NzTransfer(
        op.mode_name == "dn2nz",
        bool(op.smallc0_en),
        size,
        op.n_value,
        op.d_value,
        op.group_count,
        op.gm_src,
        op.src_inner_stride,
        op.src_outer_stride,
        op.l1_dst,
        op.dst_loop2_stride * _BLOCK,
        op.dst_loop3_stride * _BLOCK,
        op.dst_loop4_stride * _BLOCK,
    )
    return Outcome(Status.OK, 0, transfer.read, transfer.written, transfer=transfer)


def _view(memory: Memory, element: np.dtype[Any], base: int, axes: _Axes) -> NDArray[Any]:
    """Returns (count, stride) axes over a memory, outermost first; an axis used once has none."""
    used = [axis for axis in axes if axis[0] > 1]
    shape, strides = [count for count, _ in used], [stride for _, stride in used]
    return np.ndarray(shape, element, memory.data, base, strides)
