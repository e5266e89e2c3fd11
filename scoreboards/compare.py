# SPDX-License-Identifier: Apache-2.0
"""Compares the memories under test with the golden ones.

After an op: its destination and a guard around every row (:func:`compare_op`). At intervals and
at the end: every byte of every memory (:func:`compare_full`). Equal memories cost a few
microseconds; explanations are computed only for a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.mismatch import Kind, Mismatch, Part, Position
from scoreboards.model.outcome import Outcome
from scoreboards.regions import (
    PAGE,
    PAGE_SHIFT,
    RowMap,
    joined,
    page_runs,
    row_starts,
    rows_view,
)
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space

Memories = Mapping[Space, NDArray[np.uint8]]

GUARD = 64
"""Bytes compared on both sides of every row."""

WINDOW = 32
"""Bytes shown around the first wrong one."""

_DENSE = 8192  # bytes compared as one range at less cost than a strided view
_DENSE_CLIPPED = 65536  # the same, compared with gathering rows with clipped guards
_DENSE_LOCAL = 1 << 19  # the same for an on-chip memory, which allocates no pages
_GATHER = 1 << 22
_MERGE = 32


def compare_op(
    actual: Memories,
    golden: GoldenMemory,
    outcome: Outcome,
    *,
    guard: int = GUARD,
    in_flight: Sequence[Footprint] = (),
    bus_bytes: int = 32,
) -> tuple[Mismatch, ...]:
    """Compares the destination of an op, and ``guard`` bytes on both sides of each row.

    Guards end at the ends of the memory. Close rows are compared as one range, with everything
    between them.

    Args:
        actual: Memories under test.
        golden: Golden memories, the op applied.
        outcome: Outcome of the op in the model; of a NOP or an illegal op nothing is compared.
        guard: Bytes, 0 or more.
        in_flight: Destinations of ops that the design may be writing now and the model has not
            applied yet: guard bytes inside them are not compared.
        bus_bytes: Bus width on the destination's side, for the byte lane.

    Returns:
        For every region of the op at most one mismatch of kind ``DATA`` and one of kind
        ``GUARD``, in this order.
    """
    regions = outcome.regions
    if len(regions) == 1:
        return _compare_region(actual, golden, outcome, 0, guard, in_flight, bus_bytes)
    found: tuple[Mismatch, ...] = ()
    for number in range(len(regions)):
        found += _compare_region(actual, golden, outcome, number, guard, in_flight, bus_bytes)
    return found


def _compare_region(
    actual: Memories,
    golden: GoldenMemory,
    outcome: Outcome,
    region: int,
    guard: int,
    in_flight: Sequence[Footprint],
    bus_bytes: int,
) -> tuple[Mismatch, ...]:
    written = outcome.regions[region]
    space = written.space
    ours, theirs = golden[space], actual[space]
    start, rows = written.base, 1
    stop = start + written.length
    for count, stride in zip(written.counts, written.strides, strict=True):
        if count > 1:
            stop += (count - 1) * stride
            rows *= count
    low, high = start - guard, stop + guard
    clipped = low < 0 or high > ours.size
    if clipped:
        low, high = max(low, 0), min(high, ours.size)
    dense = _DENSE
    if clipped:
        dense = _DENSE_CLIPPED if space is Space.GM else _DENSE_LOCAL
    if high - low <= max(dense, 2 * rows * (written.length + 2 * guard)):
        golden.ensure(space, low, high - low)
        # Copies of a few KiB and one memcmp beat an array of booleans.
        if ours[low:high].tobytes() == theirs[low:high].tobytes():
            return ()
        wrong = low + np.flatnonzero(ours[low:high] != theirs[low:high])
    else:
        around = joined(written, guard)
        if clipped:
            wrong = _wrong_clipped(theirs, golden, around)
        else:
            wrong = _wrong_strided(theirs, golden, around)
        if not wrong.size:
            return ()
    return _explain(actual, golden, outcome, region, wrong, in_flight, bus_bytes)


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
    starts = row_starts(around)
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


def _explain(
    actual: Memories,
    golden: GoldenMemory,
    outcome: Outcome,
    region: int,
    wrong: NDArray[np.int64],
    in_flight: Sequence[Footprint],
    bus_bytes: int,
) -> tuple[Mismatch, ...]:
    written = outcome.regions[region]
    rows = RowMap(written)
    is_data = rows.inside(wrong)
    guard = wrong[~is_data]
    for other in in_flight:
        if guard.size and _near(other, written.space, guard):
            guard = guard[~RowMap(other).inside(guard)]
    found = []
    for kind, addresses in ((Kind.DATA, wrong[is_data]), (Kind.GUARD, guard)):
        if addresses.size:
            first, last = int(addresses[0]), int(addresses[-1])
            position = locate(outcome, first, rows, region)
            found.append(
                _mismatch(
                    kind,
                    written.space,
                    actual,
                    golden,
                    first,
                    addresses.size,
                    last - first + 1,
                    bus_bytes,
                    position,
                )
            )
    return tuple(found)


def _near(other: Footprint, space: Space, addresses: NDArray[np.int64]) -> bool:
    """Tells whether a region may hold one of some addresses, ascending."""
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
        told = outcome.transfer.explain(row.index, byte if row.inside else None, region)
        label, values = told.label, told.values
        if told.source is not None:
            source = (read.space, told.source)
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
    actual: Memories,
    golden: GoldenMemory,
    dut_pages: Iterable[int],
    *,
    golden_pages: Iterable[int] | None = None,
    bus_bytes: int = 32,
) -> tuple[Mismatch, ...]:
    """Compares every byte of every memory; nothing may be in flight.

    On-chip memories are compared whole, GM over the union of ``dut_pages`` and ``golden_pages``.
    A page of ``dut_pages`` that neither model nor stimulus wrote is an error, even if
    its bytes are right.

    Args:
        actual: Memories under test, every space of ``golden`` among them.
        golden: Golden memories, every op applied.
        dut_pages: Numbers of the GM pages (4 KiB) the design wrote.
        golden_pages: GM pages compared as well; None means all that ``golden`` ensured.
            Its ``written_pages()`` suffice, and cost less, where ``dut_pages`` is reliable.
        bus_bytes: Bus width, for the byte lane.

    Returns:
        One mismatch of kind ``PAGE`` per run of unexpected pages and one of kind ``STRAY`` per
        range of wrong bytes (less than 32 right ones between two wrong ones), by space and
        address.
    """
    found = []
    for space, ours in golden.items():
        theirs = actual[space]
        if space is not Space.GM:
            found += _ranges(space, actual, golden, _wrong(ours, theirs, 0, ours.size), bus_bytes)
            continue
        dut = {int(page) for page in dut_pages}
        unexpected = dut.difference(golden.written_pages())
        for page, count in page_runs(unexpected):
            start, length = page << PAGE_SHIFT, count << PAGE_SHIFT
            golden.ensure(space, start, length)
            wrong = _wrong(ours, theirs, start, length)
            first = int(wrong[0]) if wrong.size else start
            found.append(
                _mismatch(
                    Kind.PAGE, space, actual, golden, first, wrong.size, length, bus_bytes, None
                )
            )
        others = golden.touched_pages() if golden_pages is None else golden_pages
        parts = []
        for page, count in page_runs(dut.union(int(p) for p in others) - unexpected):
            start, length = page << PAGE_SHIFT, count << PAGE_SHIFT
            golden.ensure(space, start, length)
            parts.append(_wrong(ours, theirs, start, length))
        if parts:
            found += _ranges(space, actual, golden, np.concatenate(parts), bus_bytes)
    return tuple(found)


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


def _ranges(
    space: Space,
    actual: Memories,
    golden: GoldenMemory,
    wrong: NDArray[np.int64],
    bus_bytes: int,
) -> list[Mismatch]:
    if not wrong.size:
        return []
    cuts = np.flatnonzero(np.diff(wrong) > _MERGE) + 1
    found = []
    for part in np.split(wrong, cuts):
        first, last = int(part[0]), int(part[-1])
        found.append(
            _mismatch(
                Kind.STRAY,
                space,
                actual,
                golden,
                first,
                part.size,
                last - first + 1,
                bus_bytes,
                None,
            )
        )
    return found


def _mismatch(
    kind: Kind,
    space: Space,
    actual: Memories,
    golden: GoldenMemory,
    address: int,
    count: int,
    extent: int,
    bus_bytes: int,
    position: Position | None,
) -> Mismatch:
    ours, theirs = golden[space], actual[space]
    start = max(0, address // 8 * 8 - 8)
    stop = min(start + WINDOW, ours.size)
    # The neighbourhood shown must not allocate pages that are never compared.
    page = address & ~(PAGE - 1)
    if not golden.is_ensured(space, start):
        start = page
    if not golden.is_ensured(space, stop - 1):
        stop = page + PAGE
    return Mismatch(
        kind,
        space,
        address,
        count,
        extent,
        start,
        ours[start:stop].tobytes(),
        theirs[start:stop].tobytes(),
        address % bus_bytes,
        bus_bytes,
        position,
    )
