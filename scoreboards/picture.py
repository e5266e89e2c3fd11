# SPDX-License-Identifier: Apache-2.0
"""Actual and expected memory contents around a wrong byte, for pages that draw them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoreboards.compare import Memories
from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Kind, Mismatch
from scoreboards.regions import PAGE_SHIFT, distance
from tb.isa.footprint import Footprint
from tb.isa.spaces import SEGMENTS, located
from tb.record.failure import Picture, PictureRow

MOST_ROWS = 64
MOST_BYTES = 512
"""Rows and bytes of each row that a picture of a destination shows."""

PICTURES = 3
"""Failures of a run that get a picture; each picture takes file space."""

LINES = 16
LINE = 32
"""Lines, and their bytes, of a picture around a byte that belongs to no row."""

_LEAD = 4  # 1/_LEAD of what is shown precedes the wrong byte


class Pictures:
    """Draws the memory around the first mismatches of a run.

    Args:
        actual: Memories under test.
    """

    def __init__(self, actual: Memories) -> None:
        self._actual = actual
        self._left = PICTURES

    def draw(
        self, golden: GoldenMemory, found: Mismatch, written: Sequence[Footprint] = ()
    ) -> Picture | None:
        """Returns a picture, or None after the first ones.

        Args:
            golden: Golden memories.
            found: The wrong bytes.
            written: The destination of the op that they belong to.
        """
        if not self._left:
            return None
        self._left -= 1
        if found.kind is Kind.DATA:
            regions = [region for region in written if region.space is found.space]
            region = min(regions, key=lambda one: distance(one, found.address))
            return picture_rows(self._actual, golden, region, found.address)
        extent = Footprint(found.space, found.address, found.extent, (), ())
        return picture_lines(self._actual, golden, extent)


def picture_rows(
    actual: Memories, golden: GoldenMemory, region: Footprint, address: int
) -> Picture:
    """Returns the rows of a destination around a wrong byte inside it.

    Args:
        actual: Memories under test.
        golden: Golden memories.
        region: The destination; its pages are ensured.
        address: The byte, in a row.
    """
    starts = np.unique(region.row_starts())
    wrong = max(0, int(np.searchsorted(starts, address, side="right")) - 1)
    first = max(0, min(wrong - MOST_ROWS // _LEAD, len(starts) - MOST_ROWS))
    shown = starts[first : first + MOST_ROWS].tolist()
    length = min(region.length, MOST_BYTES)
    byte = (address - int(starts[wrong]) - MOST_BYTES // _LEAD) // LINE * LINE
    byte = max(0, min(byte, region.length - length))
    parts = []
    if len(shown) < len(starts):
        parts.append(f"rows {first} to {first + len(shown) - 1} of {len(starts)} by address")
    if length < region.length:
        parts.append(f"bytes {byte} to {byte + length - 1} of the {region.length} of each row")
    left_out = f"Shown are {' and '.join(parts)}." if parts else ""
    return _picture(actual, golden, region, [start + byte for start in shown], length, left_out)


def picture_lines(actual: Memories, golden: GoldenMemory, region: Footprint) -> Picture:
    """Returns lines around the first byte of ``region``: of a memory, with its wrong extent.

    Lines of pages that hold nothing yet on either side are left out.
    """
    memory = next(part for part in SEGMENTS[region.space] if region.base in part)
    middle = region.base // LINE * LINE
    first = max(memory.start, min(middle - LINES // _LEAD * LINE, memory.stop - LINES * LINE))
    lines = range(first, min(first + LINES * LINE, memory.stop), LINE)
    known = [line for line in lines if golden.is_ensured(region.space, line)]
    parts = []
    if len(known) < len(lines):
        parts.append(
            f"lines of {1 << PAGE_SHIFT}-byte pages that neither side touched are left out"
        )
    after = region.base + region.length - lines[-1] - LINE
    if after > 0:
        parts.append(f"the last wrong byte is {after} bytes after the last line")
    left_out = "; ".join(parts)
    left_out = f"{left_out[:1].upper()}{left_out[1:]}." if parts else ""
    return _picture(actual, golden, region, known, LINE, left_out)


def _picture(
    actual: Memories,
    golden: GoldenMemory,
    region: Footprint,
    starts: Sequence[int],
    length: int,
    left_out: str,
) -> Picture:
    ours, theirs = golden[region.space], actual[region.space]
    rows = [
        PictureRow(
            address=located(region.space, start)[1],
            expected=ours[start : start + length].tobytes().hex(),
            actual=theirs[start : start + length].tobytes().hex(),
        )
        for start in starts
    ]
    return Picture(space=located(region.space, region.base)[0], rows=rows, left_out=left_out)
