# SPDX-License-Identifier: Apache-2.0
"""Source and destination layouts of the write-back (docs/spec/fixpipe.md, section 2).

L0C is column-group major: group of 16 columns, row, column in the group. A tile of R repeats,
M rows and N channels is handled as arrays with the axes (R, M, N), whole or in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_float import Words
from scoreboards.model.outcome import Memory
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space

N0 = 16
"""Columns of a group in L0C (A-30)."""

FLAG_BLOCK = 512
"""Bytes of L0C with one unit flag (A-48)."""

_WORD_BYTES = 64
_ACCUMULATOR = np.dtype("<u4")
_CHUNK = 1 << 17  # accumulators converted at once: their intermediate values stay in the cache

Chunk = tuple[slice, slice]
"""Repeats and rows of a tile."""


@dataclass(frozen=True, slots=True)
class Place:
    """An element of a tile: repeat, row and channel."""

    r: int
    m: int
    n: int


@dataclass(frozen=True, slots=True)
class Source:
    """The accumulators of a tile; steps in units of 64 bytes.

    Attributes:
        base: Byte address in L0C.
        m, n, repeats: M, N and R.
        group: From one group of 16 columns to the next, ``src_stride``.
        row: From row to row: K for nz2dn, else 1.
        repeat: From repeat to repeat, S3.
    """

    base: int
    m: int
    n: int
    repeats: int
    group: int
    row: int
    repeat: int

    @property
    def groups(self) -> int:
        """Groups of 16 columns, the last one perhaps not whole."""
        return -(-self.n // N0)

    @property
    def read(self) -> Footprint:
        """The 64-byte words that hold an accumulator of the tile."""
        counts = (self.m, self.groups, self.repeats)
        strides = (self.row * _WORD_BYTES, self.group * _WORD_BYTES, self.repeat * _WORD_BYTES)
        return Footprint(Space.L0C, self.base, _WORD_BYTES, counts, strides)

    @property
    def blocks(self) -> NDArray[np.int64]:
        """Numbers of the blocks with a unit flag that hold a byte of the tile, ascending."""
        return np.unique(self.read.row_starts() // FLAG_BLOCK)

    def address(self, place: Place) -> int:
        """Returns A(r, m, n), the byte address of an accumulator."""
        group, column = divmod(place.n, N0)
        words = place.r * self.repeat + group * self.group + place.m * self.row
        return self.base + _WORD_BYTES * words + 4 * column

    def chunks(self) -> Iterator[Chunk]:
        """Yields the tile in parts of bounded size; a part of a repeat has an even first row."""
        row = self.groups * N0
        repeats = _CHUNK // (self.m * row)
        if repeats:
            for first in range(0, self.repeats, repeats):
                yield slice(first, min(first + repeats, self.repeats)), slice(0, self.m)
            return
        rows = max(2, _CHUNK // row // 2 * 2)
        for repeat in range(self.repeats):
            for first in range(0, self.m, rows):
                yield slice(repeat, repeat + 1), slice(first, min(first + rows, self.m))

    def gather(self, memory: Memory, chunk: Chunk) -> Words:
        """Returns the accumulators of a chunk, ``uint32[r, m, N]``."""
        shape = (self.repeats, self.groups, self.m, N0)
        steps = (self.repeat, self.group, self.row)
        strides = (*[step * _WORD_BYTES for step in steps], _ACCUMULATOR.itemsize)
        words: Words = np.ndarray(shape, _ACCUMULATOR, memory.data, self.base, strides)
        repeats, rows = chunk
        part = words[repeats, :, rows].transpose(0, 2, 1, 3)
        found = part.reshape(part.shape[0], part.shape[1], self.groups * N0)
        return np.ascontiguousarray(found[..., : self.n])


@dataclass(frozen=True, slots=True)
class Target:
    """Destination of a tile, or of the half for one UB sub-block; strides in elements.

    Attributes:
        space, base: Memory and byte address.
        bits: Bits of an element.
        m, n, repeats: Rows, channels and repeats that go there.
        stride: DS.
        repeat: D3.
        transposed: ``nz2dn``: channels are rows of the destination.
        columns: Columns of a destination group of ``nz2nz``, 0 for the other layouts.
        first_m, first_n: Row and channel of the tile at (0, 0) of the destination.
    """

    space: Space
    base: int
    bits: int
    m: int
    n: int
    repeats: int
    stride: int
    repeat: int = 0
    transposed: bool = False
    columns: int = 0
    first_m: int = 0
    first_n: int = 0

    @property
    def packed(self) -> bool:
        """Two elements share a byte."""
        return self.bits == 4

    def _bytes(self, elements: int) -> int:
        return elements * self.bits // 8

    @property
    def written(self) -> Footprint:
        """Rows written: of channels, of rows for nz2dn, whole groups for nz2nz."""
        step = self._bytes(self.stride)
        if self.columns:
            length = self._bytes(self.m * self.columns)
            return Footprint(self.space, self.base, length, (self.n // self.columns,), (step,))
        rows, elements = (self.n, self.m) if self.transposed else (self.m, self.n)
        counts, strides = (rows, self.repeats), (step, self._bytes(self.repeat))
        return Footprint(self.space, self.base, self._bytes(elements), counts, strides)

    def part(self, chunk: Chunk, rows: int) -> tuple[slice, slice, slice]:
        """Returns which elements of a chunk of ``rows`` rows go here, as (R, M, N) slices."""
        columns = slice(self.first_n, self.first_n + self.n)
        first = chunk[1].start
        low = max(self.first_m - first, 0)
        high = min(self.first_m + self.m - first, rows)
        return slice(None), slice(low, max(low, high)), columns

    def view(self, memory: Memory, chunk: Chunk, element: np.dtype[Any]) -> NDArray[Any]:
        """Returns where a chunk goes, as an array of elements, or of bytes where they are packed.

        Axes are (R, M, N), with nz2nz (R, M, group, column); of packed elements the axis along
        the bytes has half the length.
        """
        size = element.itemsize
        shape: tuple[int, ...] = (self.repeats, self.m, self.n)
        if self.columns:
            shape = (1, self.m, self.n // self.columns, self.columns)
            strides: tuple[int, ...] = (0, self.columns * size, self.stride * size, size)
        elif self.packed:
            repeat, step = self.repeat // 2, self.stride // 2
            if self.transposed:
                shape, strides = (self.repeats, self.m // 2, self.n), (repeat, 1, step)
            else:
                shape, strides = (self.repeats, self.m, self.n // 2), (repeat, step, 1)
        elif self.transposed:
            strides = (self.repeat * size, size, self.stride * size)
        else:
            strides = (self.repeat * size, self.stride * size, size)
        whole: NDArray[Any] = np.ndarray(shape, element, memory.data, self.base, strides)
        repeats, rows = chunk
        low, high = rows.start - self.first_m, rows.stop - self.first_m
        if self.packed and self.transposed:
            low, high = low // 2, high // 2
        return whole[repeats, max(low, 0) : max(high, 0)]

    def shaped(self, elements: NDArray[Any]) -> NDArray[Any]:
        """Returns (R, M, N) elements with the axes of :meth:`view`, packed where it is."""
        if self.columns:
            return elements.reshape(*elements.shape[:2], -1, self.columns)
        if not self.packed:
            return elements
        low, high = elements[..., 0::2], elements[..., 1::2]
        if self.transposed:
            low, high = elements[:, 0::2], elements[:, 1::2]
        packed: NDArray[Any] = low | high << 4
        return packed

    def places(self, index: tuple[int, ...], byte: int) -> tuple[Place, ...]:
        """Returns the elements of the tile that have a part in a byte.

        Args:
            index: Repeat and row of :attr:`written`, of nz2nz the group alone.
            byte: Offset in that row.
        """
        first, count = byte * 8 // self.bits, 2 if self.packed else 1
        found = []
        for element in range(first, first + count):
            if self.columns:
                m, column = divmod(element, self.columns)
                r, n = 0, index[0] * self.columns + column
            elif self.transposed:
                r, n, m = index[0], index[1], element
            else:
                r, m, n = index[0], index[1], element
            found.append(Place(r, m + self.first_m, n + self.first_n))
        return tuple(found)
