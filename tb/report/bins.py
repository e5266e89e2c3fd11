# SPDX-License-Identifier: Apache-2.0
"""Bins of a coverage group on pages: points as lists, crosses as tables, holes as text.

A bin that counts is ``hit``, a ``hole`` (never hit) or ``missed`` (hit only in earlier regression
runs). One that does not is ``unreachable``, ``excluded`` or ``out`` (of no form that was sent).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import CoverGroup, Cross, GroupCounts

DECADES = (1, 2, 10, 100, 1000, 10_000)
"""Least hits of the shades of a heat map, from 1 up."""

MOST_HOLES = 60
"""Most lines of holes that are listed for one point or cross."""

UNREACHABLE = "a bin of it cannot be hit"


@dataclass(frozen=True)
class Cell:
    """One bin, or one cell of a cross.

    Attributes:
        label: Its name, ``axis=bin`` joined for a cell.
        hits: Its count.
        state: ``hit``, ``hole``, ``missed``, ``unreachable``, ``excluded`` or ``out``.
        level: Shade of a bin that counts, 0 for none, else 1 to ``len(DECADES)``.
        reason: Why it does not count, or empty.
    """

    label: str
    hits: int
    state: str
    level: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Hole:
    """A bin that was not hit, or a part of a cross in which none was.

    Attributes:
        item: Point or cross.
        text: The missing bins.
        cells: Bins in it.
        before: How many of them earlier regression runs have hit.
    """

    item: str
    text: str
    cells: int
    before: int


@dataclass(frozen=True)
class Table:
    """A point or cross with its bins.

    Attributes:
        name, doc: Of the definition.
        anchor: Its anchor in its page.
        covered, total: Bins that count: hit, and all.
        cells: The bins of a point; empty for a cross.
        columns: Labels of the last axis of a cross, ``axis`` its name.
        rows: Labels of the other axes with the cells.
        axes: Names of the axes of the rows.
        upright: Column labels are better written from bottom to top.
        dropped: Rows and columns without a cell that counts, not shown.
        reasons: Why cells do not count, with their number.
    """

    name: str
    doc: str
    anchor: str
    covered: int
    total: int
    cells: tuple[Cell, ...] = ()
    axis: str = ""
    columns: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[str, ...], tuple[Cell, ...]], ...] = ()
    upright: bool = False
    dropped: str = ""
    reasons: tuple[tuple[str, int], ...] = ()

    @property
    def missing(self) -> int:
        """Bins that count and were not hit."""
        return self.total - self.covered

    @property
    def percent(self) -> float:
        """Covered of all that count, 0 to 100."""
        return 100.0 * self.covered / self.total if self.total else 100.0


def level(hits: int) -> int:
    """Returns the shade of a count."""
    return sum(hits >= least for least in DECADES)


def tables(counts: GroupCounts, ever: GroupCounts | None) -> list[Table]:
    """Returns points and crosses of a group, those with most holes first, points before crosses.

    Args:
        counts: Hits of the regression run.
        ever: Hits of all regression runs with the same definition, or None.
    """
    points = [_point(counts, ever, number) for number in range(len(counts.group.points))]
    crosses = [_cross(counts, ever, number) for number in range(len(counts.group.crosses))]

    def order(item: Table) -> tuple[bool, float]:
        return (item.missing == 0, item.percent)

    return sorted(points, key=order) + sorted(crosses, key=order)


def holes(counts: GroupCounts, ever: GroupCounts | None, name: str) -> list[Hole]:
    """Returns what of ``name`` was not hit, the largest parts first.

    Of a cross, a bin (or two bins of different axes) without any hit cell is one hole, and cells
    that differ in one axis alone are one.
    """
    missing = counts.wanted(name) & (counts.hits[name] == 0)
    seen = _seen(counts, ever, name)
    cross = next((item for item in counts.group.crosses if item.name == name), None)
    if cross is not None:
        left, found = _parts(counts, cross, missing, seen)
        for before in (False, True):
            found += _lines(counts.group, cross, left & (seen == before), before)
        return found
    labels = counts.group.by_name[name].labels
    return [Hole(name, labels[at], 1, int(seen[at])) for at in np.flatnonzero(missing).tolist()]


def _lines(group: CoverGroup, cross: Cross, missing: NDArray[np.bool_], before: bool) -> list[Hole]:
    """Returns cells in as few holes as bins of one axis can be listed for."""
    cells = np.argwhere(missing.reshape(group.shape(cross))).tolist()
    best: dict[tuple[int, ...], list[int]] | None = None
    along = 0
    for axis in range(len(cross.of)):
        found: dict[tuple[int, ...], list[int]] = {}
        for cell in cells:
            found.setdefault(tuple(cell[:axis] + cell[axis + 1 :]), []).append(cell[axis])
        if best is None or len(found) <= len(best):
            best, along = found, axis
    names = [group.by_name[axis].labels for axis in cross.of]
    others = [axis for axis in range(len(cross.of)) if axis != along]
    result = []
    for fixed, bins in (best or {}).items():
        words = [
            f"{cross.of[axis]}={names[axis][at]}" for axis, at in zip(others, fixed, strict=True)
        ]
        listed = ", ".join(names[along][at] for at in bins)
        text = ", ".join([*words, f"{cross.of[along]}={listed}"])
        result.append(Hole(cross.name, text, len(bins), len(bins) if before else 0))
    return result


def _parts(
    counts: GroupCounts, cross: Cross, missing: NDArray[np.bool_], seen: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], list[Hole]]:
    """Returns the holes that are in no larger part, and the parts."""
    group, shape = counts.group, counts.group.shape(cross)
    wanted = counts.wanted(cross.name).reshape(shape)
    left = missing.reshape(shape).copy()
    whole, before = missing.reshape(shape), seen.reshape(shape)
    found: list[Hole] = []
    for fixed in range(1, len(shape)):
        parts: list[Hole] = []
        named = left.copy()
        for axes in itertools.combinations(range(len(shape)), fixed):
            for bins in itertools.product(*(range(shape[axis]) for axis in axes)):
                at: list[slice | int] = [slice(None)] * len(shape)
                for axis, one in zip(axes, bins, strict=True):
                    at[axis] = one
                part = tuple(at)
                cells = int(wanted[part].sum())
                if cells < 2 or int(whole[part].sum()) < cells or not left[part].any():
                    continue
                named[part] = False
                words = ", ".join(
                    f"{cross.of[axis]}={group.by_name[cross.of[axis]].bins[one].name}"
                    for axis, one in zip(axes, bins, strict=True)
                )
                hit = int((before[part] & whole[part]).sum())
                parts.append(Hole(cross.name, f"{words}, all {cells} cells", cells, hit))
        left = named
        found += sorted(parts, key=lambda item: -item.cells)
    return left.ravel(), found


def _seen(counts: GroupCounts, ever: GroupCounts | None, name: str) -> NDArray[np.bool_]:
    if ever is None or ever.group != counts.group:
        return np.zeros(len(counts.hits[name]), dtype=bool)
    return ever.hits[name] > 0


def _reasons(group: CoverGroup, name: str) -> dict[int, str]:
    """Returns the index of each bin or cell that cannot be hit, with the reason."""
    found: dict[int, str] = {}
    if name in group.by_name:
        bins = group.by_name[name].bins
        return {at: item.unreachable for at, item in enumerate(bins) if item.unreachable}
    cross = next(item for item in group.crosses if item.name == name)
    for axis in cross.of:
        for one in group.by_name[axis].bins:
            if one.unreachable:
                chosen = np.array([other is one for other in group.by_name[axis].bins])
                for at in np.flatnonzero(group.cells(cross, {axis: chosen})).tolist():
                    found.setdefault(at, one.unreachable)
    for item in cross.exclude:
        chosen_bins = {
            axis: np.isin(group.by_name[axis].labels, list(labels))
            for axis, labels in item.where.items()
        }
        for at in np.flatnonzero(group.cells(cross, chosen_bins)).tolist():
            found.setdefault(at, item.reason)
    return found


def _cells(counts: GroupCounts, ever: GroupCounts | None, name: str) -> list[Cell]:
    group, reachable = counts.group, counts.group.reachable[name]
    wanted, seen = counts.wanted(name), _seen(counts, ever, name)
    cannot, left_out = _reasons(group, name), counts.excluded.get(name, {})
    found = []
    for at, hits in enumerate(counts.hits[name].tolist()):
        label = group.label(name, at).replace(" x ", ", ")
        if wanted[at]:
            state = "hit" if hits else "missed" if seen[at] else "hole"
            found.append(Cell(label, hits, state, level(hits)))
        elif at in left_out:
            found.append(Cell(label, hits, "excluded", reason=left_out[at]))
        elif not reachable[at]:
            found.append(Cell(label, hits, "unreachable", reason=cannot.get(at, UNREACHABLE)))
        else:
            found.append(Cell(label, hits, "out"))
    return found


def _count(cells: Sequence[Cell]) -> tuple[int, int]:
    states = Counter(item.state for item in cells)
    return states["hit"], states["hit"] + states["hole"] + states["missed"]


def _why(cells: Sequence[Cell]) -> tuple[tuple[str, int], ...]:
    words = {"unreachable": "cannot be reached", "excluded": "excluded"}
    why = Counter(f"{words[item.state]}: {item.reason}" for item in cells if item.reason)
    out = sum(item.state == "out" for item in cells)
    return (*why.most_common(), *([("of forms that were not sent", out)] if out else []))


def _point(counts: GroupCounts, ever: GroupCounts | None, number: int) -> Table:
    item = counts.group.points[number]
    cells = tuple(_cells(counts, ever, item.name))
    covered, total = _count(cells)
    return Table(item.name, item.doc, f"p{number}", covered, total, cells, reasons=_why(cells))


def _cross(counts: GroupCounts, ever: GroupCounts | None, number: int) -> Table:
    item = counts.group.crosses[number]
    shape, cells = counts.group.shape(item), _cells(counts, ever, item.name)
    covered, total = _count(cells)
    grid = np.arange(len(cells)).reshape(shape)
    # The narrower axis of two lies across; of more the last, the others are folded into rows.
    across = 0 if len(shape) == 2 and shape[0] < shape[1] else len(shape) - 1
    grid = np.moveaxis(grid, across, -1).reshape(-1, shape[across])
    others = [axis for at, axis in enumerate(item.of) if at != across]
    labels = list(itertools.product(*(counts.group.by_name[axis].labels for axis in others)))
    counting = counts.group.reachable[item.name][grid]
    rows, columns = np.any(counting, axis=1).ravel(), np.any(counting, axis=0).ravel()
    heads = [
        label
        for label, kept in zip(counts.group.by_name[item.of[across]].labels, columns, strict=True)
        if kept
    ]
    dropped = " and ".join(
        f"{number} {word}{'s' if number > 1 else ''}"
        for number, word in ((int((~rows).sum()), "row"), (int((~columns).sum()), "column"))
        if number
    )
    return Table(
        item.name,
        item.doc,
        f"x{number}",
        covered,
        total,
        axis=item.of[across],
        columns=tuple(heads),
        axes=tuple(others),
        rows=tuple(
            (labels[row], tuple(cells[at] for at in grid[row][columns].tolist()))
            for row in np.flatnonzero(rows).tolist()
        ),
        upright=sum(max(len(head), 4) for head in heads) > 60,
        dropped=dropped,
        reasons=_why(cells),
    )
