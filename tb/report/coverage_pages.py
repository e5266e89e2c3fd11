# SPDX-License-Identifier: Apache-2.0
"""Pages of functional coverage: groups with their holes, points and crosses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tb.coverage.model import Coverage, GroupCounts
from tb.regress.queries.views import RegressionView
from tb.report.bins import DECADES, MOST_HOLES, Hole, Table, holes, tables
from tb.report.charts import Series, previous
from tb.report.page import Page, group_path


@dataclass(frozen=True)
class GroupRow:
    """A group in a list.

    Attributes:
        name, doc: Of the definition.
        covered, total, percent: Of the regression run.
        ever: Percent over all regression runs.
        move: Percent points since the last regression run that counted it, None without one.
        missing: Bins not hit, of which ``before`` were in earlier regression runs.
        trend: (regression run, percent or None where it had no such group), oldest first.
        worst: Points and crosses with holes, most first: (name, missing).
    """

    name: str
    doc: str
    covered: int
    total: int
    percent: float
    ever: float
    move: float | None
    missing: int
    before: int
    trend: Series
    worst: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class HoleList:
    """Holes of one point or cross, ``more`` beyond those listed."""

    name: str
    anchor: str
    missing: int
    total: int
    holes: tuple[Hole, ...]
    more: int


def coverage_pages(view: RegressionView) -> Iterator[Page]:
    """Yields the list of groups and the page of each."""
    rows = group_rows(view)
    data: dict[str, Any] = {
        "rows": rows,
        "total": view.coverage.total,
        "ever": view.all_time.percent,
        "compared": len(view.trend) > 1,
        "notes": _notes(view.coverage),
    }
    yield Page("coverage.html", "Functional coverage", "coverage.html.j2", data)
    for row in rows:
        data = _details(row, view)
        yield Page(group_path(row.name), row.name, "group.html.j2", data, section="coverage.html")


def group_rows(view: RegressionView) -> list[GroupRow]:
    """Returns the groups, those with the lowest percentage first."""
    rows = [_row(view, name, counts) for name, counts in view.coverage.groups.items()]
    return sorted(rows, key=lambda row: (row.missing == 0, row.percent))


def _details(row: GroupRow, view: RegressionView) -> dict[str, Any]:
    counts, ever = view.coverage.groups[row.name], view.all_time.groups.get(row.name)
    found = tables(counts, ever)
    return {
        "row": row,
        "points": [table for table in found if table.cells],
        "crosses": [table for table in found if not table.cells],
        "holes": [_hole_list(counts, ever, table) for table in found if table.missing],
        "notes": _notes(counts),
        "decades": DECADES,
    }


def _hole_list(counts: GroupCounts, ever: GroupCounts | None, table: Table) -> HoleList:
    found = holes(counts, ever, table.name)
    return HoleList(
        table.name,
        table.anchor,
        table.missing,
        table.total,
        tuple(found[:MOST_HOLES]),
        len(found) - MOST_HOLES,
    )


def _row(view: RegressionView, name: str, counts: GroupCounts) -> GroupRow:
    ever = view.all_time.groups.get(name)
    trend = tuple((one.name, one.groups.get(name)) for one in view.trend)
    last = previous(trend)
    missing = {item: len(counts.holes(item)) for item in counts.hits}
    worst = sorted(missing.items(), key=lambda item: -item[1])
    return GroupRow(
        name,
        counts.group.doc,
        counts.covered,
        counts.total,
        counts.percent,
        ever.percent if ever else counts.percent,
        None if last is None else counts.percent - last,
        counts.total - counts.covered,
        _missed(counts, ever),
        trend,
        tuple((item, size) for item, size in worst if size),
    )


def _notes(counts: Coverage | GroupCounts) -> list[tuple[str, list[str]]]:
    """Returns what was hit that was not to be, under a sentence about it."""
    notes = (
        (
            "Hit though declared unreachable: the declaration is wrong, or the sampling.",
            counts.impossible,
        ),
        (
            "Hit though excluded: the reason is wrong, or an engine does what it should not.",
            counts.excluded_hits,
        ),
    )
    return [(text, bins) for text, bins in notes if bins]


def _missed(counts: GroupCounts, ever: GroupCounts | None) -> int:
    """Returns how many bins were hit in earlier regression runs but not in this one."""
    if ever is None or ever.group != counts.group:
        return 0
    return sum(
        int((counts.wanted(name) & (hits == 0) & (ever.hits[name] > 0)).sum())
        for name, hits in counts.hits.items()
    )
