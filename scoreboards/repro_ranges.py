# SPDX-License-Identifier: Apache-2.0
"""Memory bytes that a printed program needs, and their place in a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from tb.isa.footprint import Footprint
from tb.isa.spaces import SEGMENTS, Space

GRAIN = 64
"""Bytes of a GM word: whole words around rows are written to the file."""

GAP = 256
"""Rows of GM closer than this are one range."""

MOST_RANGES = 2000
"""Most ranges of GM; above it neighbouring ranges are merged with the bytes between them."""


@dataclass(frozen=True, slots=True)
class Section:
    """Bytes of a memory, and their offset in a file."""

    space: Space
    start: int
    length: int
    offset: int


Ranges = Mapping[Space, Sequence[tuple[int, int]]]
"""First byte and end (exclusive) of each range, ascending and disjoint."""


def ranges_of(footprints: Iterable[Footprint]) -> Ranges:
    """Returns what footprints need: on-chip memories as a whole, of GM the rows."""
    found: dict[Space, Sequence[tuple[int, int]]] = {}
    parts: list[tuple[NDArray[np.int64], int]] = []
    for footprint in footprints:
        if footprint.space is Space.GM:
            parts.append((footprint.row_starts(), footprint.length))
        else:
            memories = SEGMENTS[footprint.space]
            found[footprint.space] = [(part.start, part.stop) for part in memories]
    if parts:
        starts = np.concatenate([rows for rows, _ in parts]) // GRAIN * GRAIN
        stops = np.concatenate([-(-(rows + length) // GRAIN) * GRAIN for rows, length in parts])
        found[Space.GM] = _joined(starts, stops)
    return dict(sorted(found.items()))


def _joined(starts: NDArray[np.int64], stops: NDArray[np.int64]) -> list[tuple[int, int]]:
    order = np.argsort(starts, kind="stable")
    starts, stops = starts[order], np.maximum.accumulate(stops[order])
    away = starts[1:] - stops[:-1]
    gap = GAP
    while (away > gap).sum() >= MOST_RANGES:
        gap *= 4
    first = np.concatenate(([True], away > gap))
    last = np.concatenate((away > gap, [True]))
    return list(zip(starts[first].tolist(), stops[last].tolist(), strict=True))


def read_sections(golden: GoldenMemory, ranges: Ranges) -> tuple[list[Section], bytes]:
    """Returns the bytes of ranges, and the offset of each range in them."""
    found: list[Section] = []
    parts: list[bytes] = []
    offset = 0
    for space, pairs in ranges.items():
        for start, stop in pairs:
            golden.ensure(space, start, stop - start)
            found.append(Section(space, start, stop - start, offset))
            parts.append(golden[space][start:stop].tobytes())
            offset += stop - start
    return found, b"".join(parts)


def sections_in(sections: Sequence[Section], ranges: Ranges) -> list[Section]:
    """Returns the offsets of ranges in a file; each range is inside one of its sections."""
    keys = [(section.space, section.start) for section in sections]
    found = []
    for space, pairs in ranges.items():
        for start, stop in pairs:
            around = sections[bisect_right(keys, (space, start)) - 1]
            offset = around.offset + start - around.start
            found.append(Section(space, start, stop - start, offset))
    return found
