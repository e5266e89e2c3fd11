# SPDX-License-Identifier: Apache-2.0
"""Loads whose rows are filled up to a 32-byte block (docs/spec/dma.md, section 2; knob ``tail``).

In UB the first element of the row is repeated, with its phase counted from the row's start; in L1
the bytes are 0. Rows of a compact group have no gap between them, and the last one is filled, with
the pad pattern where padding is selected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoreboards.model.move import move, pad_bytes
from scoreboards.model.outcome import Explanation, Memory, Outcome, PadPattern
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space, block_end
from tb.isa.status import Status


@dataclass(frozen=True, slots=True)
class FilledRows:
    """Rows of a load, and the bytes after them.

    Attributes:
        read: Rows in GM.
        rows: The same rows at the destination.
        element: Bytes of the element that is repeated; 0 fills with zeros.
        group: Rows of a compact group; 1 where each row is filled.
        pad: Pad element that fills after a group, or None.
    """

    read: Footprint
    rows: Footprint
    element: int
    group: int = 1
    pad: PadPattern | None = None

    @property
    def end(self) -> int:
        """Offset of the last fill byte plus 1, from the start of the row that is filled."""
        before = (self.group - 1) * self.rows.length
        return block_end(before + self.rows.length) - before

    @property
    def written(self) -> Footprint:
        """Every byte written: rows of whole blocks, of compact groups one run each."""
        rows = self.rows
        if self.group == 1:
            return rows._replace(length=self.end)
        run = block_end(self.group * rows.length)
        return Footprint(rows.space, rows.base, run, rows.counts[1:], rows.strides[1:])

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Copies the rows and fills after them; returns no events."""
        move(memories, Outcome(Status.OK, 0, self.read, self.rows))
        read, rows = self.read, self.rows
        src, dst, begin = read.base, rows.base, rows.length
        skip = 0
        if self.group > 1:
            skip = 1
            src += (self.group - 1) * read.strides[0]
            dst += (self.group - 1) * rows.strides[0]
        steps = [
            (count, one, other)
            for count, one, other in zip(
                rows.counts[skip:], read.strides[skip:], rows.strides[skip:], strict=True
            )
            if count > 1
        ][::-1]
        shape = tuple(count for count, _, _ in steps)
        length = self.end - begin
        target = memories[rows.space]
        fill = np.ndarray(
            (*shape, length), np.uint8, target.data, dst + begin, (*(d for _, _, d in steps), 1)
        )
        if self.pad is not None:
            # Groups begin at multiples of 32: the phase is that of the first one.
            fill[...] = pad_bytes(self.pad, dst + begin, dst + self.end)
            return 0
        if not self.element:
            fill[...] = 0
            return 0
        first = np.ndarray(
            (*shape, self.element),
            np.uint8,
            memories[read.space].data,
            src,
            (*(s for _, s, _ in steps), 1),
        )
        fill[...] = first[..., np.arange(begin, self.end) % self.element]
        return 0

    def explain(self, index: tuple[int, ...], byte: int | None, region: int = 0) -> Explanation:
        """Separates data from fill, with the GM byte of each."""
        del region
        if byte is None:
            what = "row" if self.group == 1 else f"group of {self.group} rows"
            return Explanation(f"{what} and the bytes after it")
        row, at = index[-1] if self.group == 1 and index else 0, byte
        outer = index
        if self.group > 1:
            row = min(byte // self.rows.length, self.group - 1)
            at = byte - row * self.rows.length
            outer = (*index, row)
        source = self.read.base + sum(
            i * stride for i, stride in zip(outer[::-1], self.read.strides, strict=True)
        )
        name = f"row {row}" if self.group > 1 else "the row"
        if at < self.rows.length:
            return Explanation(f"byte {at} of {name}", source + at)
        place = f"{at - self.rows.length} bytes after the end of {name}, "
        if self.pad is not None:
            return Explanation(f"{place}pad")
        place += "knob tail = fill: "
        if not self.element:
            return Explanation(f"{place}0")
        return Explanation(f"{place}its first element", source + at % self.element)


def filled(
    read: Footprint,
    rows: Footprint,
    element: int,
    *,
    compact: bool,
    pad: PadPattern | None = None,
) -> Outcome:
    """Returns the outcome of a legal load whose rows are filled; some length is not a block."""
    copy = FilledRows(read, rows, element, rows.counts[0] if compact else 1, pad)
    return Outcome(Status.OK, 0, read, copy.written, transfer=copy)
