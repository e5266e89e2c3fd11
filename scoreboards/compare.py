# SPDX-License-Identifier: Apache-2.0
"""Compares the memories under test with the golden ones.

After an op: its destination and a guard around every row (:func:`compare_op`). At intervals and
at the end: every byte of every memory (:func:`compare_full`). Equal memories cost a few
microseconds; explanations are computed only for a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Kind, Mismatch, Part, Position
from scoreboards.model.outcome import Outcome
from scoreboards.regions import PAGE, PAGE_SHIFT, RowMap, joined, page_runs, rows_view
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space

Memories = Mapping[Space, NDArray[np.uint8]]

GUARD = 64
"""Bytes compared on both sides of every row."""

WINDOW = 32
"""Bytes shown around the first wrong one."""

_WHOLE = 16384  # bytes of an on-chip memory that are compared at the cost of one region
_DENSE = 8192  # bytes compared as one range at less cost than a strided view
_DENSE_CLIPPED = 65536  # the same, compared with gathering rows with clipped guards
_DENSE_LOCAL = 1 << 19  # the same for an on-chip memory, which allocates no pages
_GATHER = 1 << 22
_MERGE = 32


def equal_spaces(
    actual: Memories, golden: GoldenMemory, written: Iterable[Footprint]
) -> set[Space]:
    """Returns on-chip memories that are equal as a whole, among those that have many regions.

    One comparison of a memory then costs less than one for each region.
    """
    counts = Counter([region.space for region in written])
    counts.pop(Space.GM, None)
    return {
        space
        for space, count in counts.items()
        if count * _WHOLE >= golden[space].size
        and golden[space].tobytes() == actual[space].tobytes()
    }


def compare_op(
    actual: Memories,
    golden: GoldenMemory,
    outcome: Outcome,
    *,
    in_flight: Sequence[Footprint] = (),
    bus_bytes: int = 32,
) -> tuple[Mismatch, ...]:
    """Compares the destination of an op, and the guards on both sides of each row.

    Guards end at the ends of the memory. Close rows are compared as one range, with everything
    between them.

    Args:
        actual: Memories under test.
        golden: Golden memories, the op applied.
        outcome: Outcome of the op in the model; of a NOP or an illegal op nothing is compared.
        in_flight: Destinations of ops that the design may be writing now and the model has not
            applied yet: guard bytes inside them are not compared.
        bus_bytes: Bus width on the destination's side, for the byte lane.

    Returns:
        For every region of the op at most one mismatch of kind ``DATA`` and one of kind
        ``GUARD``, in this order.
    """
    found: list[Mismatch] = []
    for number, region in enumerate(outcome.regions):
        wrong = _wrong_around(actual[region.space], golden, region)
        if wrong is not None and wrong.size:
            sides = _Sides(actual, golden, bus_bytes)
            found += _explain(sides, outcome, number, wrong, in_flight)
    return tuple(found)


def _wrong_around(
    theirs: NDArray[np.uint8], golden: GoldenMemory, written: Footprint
) -> NDArray[np.int64] | None:
    """Returns the addresses, ascending, at which a region or its guards differ; None if equal."""
    space = written.space
    ours = golden[space]
    low, high = written.base - GUARD, written.end + GUARD
    clipped = low < 0 or high > ours.size
    if clipped:
        low, high = max(low, 0), min(high, ours.size)
    dense = _DENSE
    if clipped:
        dense = _DENSE_CLIPPED if space is Space.GM else _DENSE_LOCAL
    if high - low <= max(dense, 2 * written.rows * (written.length + 2 * GUARD)):
        golden.ensure(space, low, high - low)
        # Copies of a few KiB and one memcmp beat an array of booleans.
        if ours[low:high].tobytes() == theirs[low:high].tobytes():
            return None
        return low + np.flatnonzero(ours[low:high] != theirs[low:high])
    around = joined(written, GUARD)
    return (_wrong_clipped if clipped else _wrong_strided)(theirs, golden, around)


def _wrong_strided(
    theirs: NDArray[np.uint8], golden: GoldenMemory, around: Footprint
) -> NDArray[np.int64]:
    """Returns the addresses, ascending, at which rows of a region differ."""
    golden.ensure_footprint(around)
    left, right = rows_view(golden[around.space], around), rows_view(theirs, around)
    if left.tobytes() == right.tobytes():
        return np.empty(0, dtype=np.int64)
    where = np.nonzero(left != right)
    addresses = np.full(len(where[0]), around.base, dtype=np.int64)
    for index, step in zip(where, left.strides, strict=True):
        addresses += index * step
    return np.unique(addresses)


def _wrong_clipped(
    theirs: NDArray[np.uint8], golden: GoldenMemory, around: Footprint
) -> NDArray[np.int64]:
    """The same for a region that leaves the memory: what lies outside is not compared."""
    ours = golden[around.space]
    starts = around.row_starts()
    offsets = np.arange(around.length, dtype=np.int64)
    per_chunk = max(1, _GATHER // around.length)
    found = [np.empty(0, dtype=np.int64)]
    for first in range(0, len(starts), per_chunk):
        addresses = (starts[first : first + per_chunk, None] + offsets).ravel()
        addresses = addresses[(addresses >= 0) & (addresses < ours.size)]
        if around.space is Space.GM:
            for page, count in page_runs(np.unique(addresses >> PAGE_SHIFT).tolist()):
                golden.ensure(around.space, page << PAGE_SHIFT, count << PAGE_SHIFT)
        found.append(addresses[ours[addresses] != theirs[addresses]])
    return np.unique(np.concatenate(found))


class _Sides(NamedTuple):
    """Memories under test and golden ones, and the bus width of the byte lanes."""

    actual: Memories
    golden: GoldenMemory
    bus_bytes: int

    def mismatch(
        self,
        kind: Kind,
        space: Space,
        wrong: NDArray[np.int64],
        position: Position | None = None,
    ) -> Mismatch:
        """Returns the mismatch of wrong addresses, ascending and at least one."""
        address = int(wrong[0])
        ours, theirs = self.golden[space], self.actual[space]
        start = max(0, address // 8 * 8 - 8)
        stop = min(start + WINDOW, ours.size)
        # The neighbourhood shown must not allocate pages that are never compared.
        page = address & ~(PAGE - 1)
        if not self.golden.is_ensured(space, start):
            start = page
        if not self.golden.is_ensured(space, stop - 1):
            stop = page + PAGE
        return Mismatch(
            kind,
            space,
            address,
            wrong.size,
            int(wrong[-1]) - address + 1,
            start,
            ours[start:stop].tobytes(),
            theirs[start:stop].tobytes(),
            address % self.bus_bytes,
            self.bus_bytes,
            position,
        )


def _explain(
    sides: _Sides,
    outcome: Outcome,
    region: int,
    wrong: NDArray[np.int64],
    in_flight: Sequence[Footprint],
) -> list[Mismatch]:
    """Returns the mismatches of wrong addresses in and around a region of an op."""
    written = outcome.regions[region]
    rows = RowMap(written)
    is_data = rows.inside(wrong)
    guard = wrong[~is_data]
    for other in in_flight:
        if guard.size and _near(other, written.space, guard):
            guard = guard[~RowMap(other).inside(guard)]
    return [
        sides.mismatch(
            kind, written.space, addresses, locate(outcome, int(addresses[0]), rows, region)
        )
        for kind, addresses in ((Kind.DATA, wrong[is_data]), (Kind.GUARD, guard))
        if addresses.size
    ]


def _near(other: Footprint, space: Space, addresses: NDArray[np.int64]) -> bool:
    """Returns whether a region may hold one of some addresses, ascending."""
    return bool(other.space is space and other.base <= addresses[-1] and addresses[0] < other.end)


def locate(
    outcome: Outcome, address: int, rows: RowMap | None = None, region: int = 0
) -> Position | None:
    """Returns the position of a byte of the destination memory in the op.

    Args:
        outcome: An op's outcome.
        address: Byte address in the memory of the region.
        rows: Row map of the region when one exists already.
        region: Number of a written region, ``outcome.regions``.

    Returns:
        The position in the closest row; None when the op writes nothing.
    """
    read = outcome.read
    if read is None or outcome.written is None:
        return None
    written = outcome.regions[region]
    row = (rows or RowMap(written)).nearest(address)
    byte, label = address - row.start, ""
    source = None
    values: tuple[str, ...] = ()
    if outcome.transfer is not None:
        meaning = outcome.transfer.explain(row.index, byte if row.inside else None, region)
        label, values = meaning.label, meaning.values
        if meaning.source is not None:
            source = (read.space, meaning.source)
    if not row.inside:
        part = Part.BEFORE if byte < 0 else Part.BEHIND
    elif outcome.transfer is not None:
        part = Part.DATA if source else Part.ZERO_FILL
    elif byte < outcome.left:
        part = Part.LEFT_PAD
    elif byte >= outcome.left + read.length:
        part = Part.RIGHT_PAD
    else:
        part = Part.DATA
        steps = zip(row.index, read.strides[::-1], strict=True)
        offset = sum(i * stride for i, stride in steps)
        source = (read.space, read.base + offset + byte - outcome.left)
        label = label or (outcome.place(row.index, byte) if outcome.place else "")
    return Position(
        row.index[:-1],
        written.counts[:0:-1],
        row.index[-1] if row.index else 0,  # a lone run, such as a compact group, has no counts
        written.counts[0] if written.counts else 1,
        byte,
        written.length,
        part,
        source,
        label,
        values,
    )


def compare_full(
    actual: Memories, golden: GoldenMemory, dut_pages: Iterable[int], *, bus_bytes: int = 32
) -> tuple[Mismatch, ...]:
    """Compares every byte of every memory; nothing may be in flight.

    On-chip memories are compared whole, GM over the union of ``dut_pages`` and the pages that
    ``golden`` ensured. A page of ``dut_pages`` that neither model nor stimulus wrote is an error,
    even if its bytes are right.

    Args:
        actual: Memories under test, every space of ``golden`` among them.
        golden: Golden memories, every op applied.
        dut_pages: Numbers of the GM pages (4 KiB) the design wrote.
        bus_bytes: Bus width, for the byte lane.

    Returns:
        One mismatch of kind ``PAGE`` per run of unexpected pages and one of kind ``STRAY`` per
        range of wrong bytes (less than 32 right ones between two wrong ones), by space and
        address.
    """
    sides = _Sides(actual, golden, bus_bytes)
    found = []
    for space, ours in golden.items():
        ranges = [(0, ours.size)]
        if space is Space.GM:
            dut = {int(page) for page in dut_pages}
            unexpected = dut.difference(golden.written_pages())
            found += [_page(sides, *part) for part in _ranges(unexpected)]
            ranges = _ranges(dut.union(golden.touched_pages()) - unexpected)
        parts = [np.empty(0, dtype=np.int64)]
        for start, length in ranges:
            golden.ensure(space, start, length)
            parts.append(_wrong(ours, actual[space], start, length))
        wrong = np.concatenate(parts)
        if wrong.size:
            cuts = np.flatnonzero(np.diff(wrong) > _MERGE) + 1
            found += [sides.mismatch(Kind.STRAY, space, part) for part in np.split(wrong, cuts)]
    return tuple(found)


def _ranges(pages: Iterable[int]) -> list[tuple[int, int]]:
    """Returns first byte and length of every run of pages, ascending."""
    return [(page << PAGE_SHIFT, count << PAGE_SHIFT) for page, count in page_runs(pages)]


def _page(sides: _Sides, start: int, length: int) -> Mismatch:
    """Returns the mismatch of a run of unexpected pages, of wrong bytes or right ones."""
    sides.golden.ensure(Space.GM, start, length)
    wrong = _wrong(sides.golden[Space.GM], sides.actual[Space.GM], start, length)
    shown = sides.mismatch(Kind.PAGE, Space.GM, wrong if wrong.size else np.array([start]))
    return replace(shown, count=wrong.size, extent=length)


def _wrong(
    ours: NDArray[np.uint8], theirs: NDArray[np.uint8], start: int, length: int
) -> NDArray[np.int64]:
    """Returns the addresses at which a range differs, ascending, a page-sized step at a time."""
    found = [np.empty(0, dtype=np.int64)]
    step = 256 * PAGE
    for low in range(start, start + length, step):
        high = min(low + step, start + length)
        differs = ours[low:high] != theirs[low:high]
        if differs.any():
            found.append(low + np.flatnonzero(differs))
    return np.concatenate(found)
