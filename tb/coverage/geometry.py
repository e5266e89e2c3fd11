# SPDX-License-Identifier: Apache-2.0
"""Rows that families share: places in memories and words, zero counts, gaps between bursts.

They read values by the names that the families define: ``gm_addr``, ``gm_row`` and ``gm_end`` are
the first byte in GM, the bytes of a row there and the first byte after the op.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from tb.coverage.model import Ints, point
from tb.coverage.ops import Bools, Ops
from tb.coverage.points import (
    ALL,
    DEAD,
    Needs,
    Row,
    Source,
    cases,
    codes,
    range_labels,
    ranges,
    residue_of,
)
from tb.isa.spaces import SIZES, Space

PAGE = 4096
FAR = 1 << 32

WORD = 128
"""Bytes that on-chip addresses are taken modulo of: no local bus is wider."""

MAX_BANDS = 32
"""Most bins for a residue modulo the bus width: a 64-byte bus has two residues in each."""

ALIGN = ("0", "1", "bus-1", "other")
"""Bins of the position of a byte in a bus word."""

ENDS = ("ends at top", "starts at 0", "inside")
"""Bins of the range of an op in a memory."""

GAP_LOWS = (0, 1, 2, 4, 16)
GAPS = ("one burst", *range_labels(GAP_LOWS))
"""Bins of the gap between bursts."""


def bus_residues(name: str, bus_bytes: int, values: Source, doc: str) -> Row:
    """Returns a point of values modulo the bus width, in at most ``MAX_BANDS`` bins."""
    step = bus_bytes // min(bus_bytes, MAX_BANDS)
    lows = range(0, bus_bytes, step)
    labels = [str(low) if step == 1 else f"{low}..{low + step - 1}" for low in lows]
    bins = partial(residue_of, bus_bytes, step)
    return Row(point(name, labels, f"{doc} modulo the bus width"), values, bins)


def in_word(name: str, word: int, value: str, doc: str, *, last: str = ALIGN[2]) -> Row:
    """Returns a coarse point of a value modulo ``word`` bytes, for crosses."""
    return cases(name, (*ALIGN[:2], last, ALIGN[3]), partial(_in_word, value, word), doc)


def _in_word(value: str, word: int, v: Ops) -> list[Bools]:
    rest = v[value] % word
    return [rest == 0, rest == 1, rest == word - 1]


def gm_points(row: str) -> list[Row]:
    """Returns the position of an op in GM; ``row`` describes its first row."""
    pages = ("crosses 2+", "crosses 1", "starts at edge", "ends at edge", "inside")
    regions = ("ends at 2^40", "starts at 0", "spans 2^32", "below 2^32", "above 2^32")
    return [
        cases("page", pages, _page, f"{row} against 4 KiB boundaries"),
        cases("gm_place", regions, _region, "GM range of the op"),
    ]


def _page(v: Ops) -> list[Bools]:
    end = v.gm_addr + v.gm_row
    crossed = (end - 1) // PAGE - v.gm_addr // PAGE
    return [crossed >= 2, crossed == 1, v.gm_addr % PAGE == 0, end % PAGE == 0]


def _region(v: Ops) -> list[Bools]:
    start, end = v.gm_addr, v.gm_end
    return [end == SIZES[Space.GM], start == 0, (start < FAR) & (end > FAR), end <= FAR]


def place(name: str, size: int, start: str, end: str, doc: str, *, whole: str = "") -> Row:
    """Returns a point of the range of an op in a memory of ``size`` bytes.

    ``start`` and ``end`` are the names of the first byte and of the first after the op, ``whole``
    is a first bin for ops that take all of the memory.
    """
    labels = [whole] * bool(whole) + list(ENDS)
    return cases(name, labels, partial(_place, size, start, end, bool(whole)), doc)


def _place(size: int, start: str, end: str, whole: bool, v: Ops) -> list[Bools]:
    top, bottom = v[end] == size, v[start] == 0
    return [*[top & bottom] * whole, top, bottom]


def nop_place(limits: Sequence[tuple[str, str, int]]) -> Row:
    """Returns a point of NOP bases: for each of two sides its bin, its address and the size."""
    names = [name for name, _, _ in limits]
    labels = ["inside", *[f"{name} outside" for name in names], "both outside"]
    return codes("nop_place", labels, partial(_outside, tuple(limits)), "NOP bases", ops=DEAD)


def _outside(limits: Sequence[tuple[str, str, int]], v: Ops) -> Ints:
    (_, first, size), (_, second, other) = limits
    return (v[first] >= size) + 2 * (v[second] >= other)


def zero_counts(several: str, counts: Mapping[str, str], doc: str = "zero counts") -> Row:
    """Returns the point of NOPs: ``several`` zeros, or one of ``counts``, bin to its value."""
    values = partial(_zeros, tuple(counts.values()))
    return cases("nop", (several, *counts, "live"), values, doc, ops=ALL)


def _zeros(counts: Sequence[str], v: Ops) -> list[Bools]:
    zero = [v[name] == 0 for name in counts]
    return [np.add.reduce(zero, dtype=np.int8) > 1, *zero]


def largest(
    name: str, tops: Mapping[str, tuple[str, int]], doc: str, *, ops: Source = DEAD,
    needs: Needs = "",
) -> Row:  # fmt: skip
    """Returns a point of largest counts: bin to the name of a count and its limit."""
    values = partial(_largest, tuple(tops.values()))
    return cases(name, (*tops, "smaller"), values, doc, ops=ops, needs=needs)


def _largest(tops: Sequence[tuple[str, int]], v: Ops) -> list[Bools]:
    return [v[name] == top for name, top in tops]


def gap_point(name: str, gap: str, doc: str, *, labels: Sequence[str] = GAPS) -> Row:
    """Returns a point of gaps between bursts; a ``single`` burst has none."""
    return ranges(name, GAP_LOWS, gap, doc, apart=(labels[0], "single"))


def unused_gap(name: str, gap: str, top: int) -> Row:
    """Returns a point of the gap of a ``single`` burst; ``top`` is the largest."""
    labels = ("0", str(top), "1..1023", "1024..")
    doc = "gap of a lone burst, which has no effect"
    return cases(name, labels, partial(_unused_gap, gap, top), doc, ops="single")


def _unused_gap(gap: str, top: int, v: Ops) -> list[Bools]:
    return [v[gap] == 0, v[gap] == top, v[gap] < 1024]
