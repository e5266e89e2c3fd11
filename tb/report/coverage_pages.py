# SPDX-License-Identifier: Apache-2.0
"""Pages of functional coverage: groups with their holes, points and crosses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tb.common.text import percent_text
from tb.coverage.model import Coverage, GroupCounts
from tb.regress.queries.views import RegressionView
from tb.report.bins import DECADES, MOST_HOLES, Hole, Table, holes, tables
from tb.report.charts import before, trend
from tb.report.page import Page, group_path


@dataclass(frozen=True)
class GroupRow:
    """A group in the list.

    Attributes:
        name, doc: Of the definition.
        path: Of its page.
        covered, total, percent: Of the regression run.
        ever: Percent over all regression runs.
        move: Percent points since the last regression run that counted it, None without one.
        missing: Bins not hit, of which ``before`` were in earlier regression runs.
        trend: (regression run, percent or None where it had no such group), oldest first.
        worst: Points and crosses with holes, most first: (name, missing).
    """

    name: str
    doc: str
    path: str
    covered: int
    total: int
    percent: float
    ever: float
    move: float | None
    missing: int
    before: int
    trend: tuple[tuple[str, float | None], ...]
    worst: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class HoleList:
    """Holes of one point or cross, ``more`` beyond those listed."""

    table: Table
    holes: tuple[Hole, ...]
    more: int


def coverage_pages(view: RegressionView) -> Iterator[Page]:
    """Yields the list of groups and the page of each."""
    groups, ever = view.coverage.groups, view.all_time.groups
    details = {name: tables(counts, ever.get(name)) for name, counts in groups.items()}
    rows = [_row(view, name, counts, details[name]) for name, counts in groups.items()]
    rows.sort(key=lambda row: (row.missing == 0, row.percent))
    data: dict[str, Any] = {
        "rows": rows,
        "notes": _notes(view.coverage),
        "trend": partial(trend, text=percent_text),
    }
    yield Page("coverage.html", "Functional coverage", "coverage.html.j2", data)
    for row in rows:
        counts, mine = groups[row.name], details[row.name]
        found = [(table, holes(counts, ever.get(row.name), table.name)) for table in mine]
        data = {
            "row": row,
            "points": [table for table in mine if table.cells],
            "crosses": [table for table in mine if not table.cells],
            "holes": [
                HoleList(table, tuple(missing[:MOST_HOLES]), len(missing) - MOST_HOLES)
                for table, missing in found
                if missing
            ],
            "notes": _notes(counts),
            "decades": DECADES,
        }
        yield Page(row.path, row.name, "group.html.j2", data, section="coverage.html")


def _row(view: RegressionView, name: str, counts: GroupCounts, details: list[Table]) -> GroupRow:
    ever = view.all_time.groups.get(name)
    trend = tuple((point.name, point.groups.get(name)) for point in view.trend)
    last = before(trend)
    worst = sorted(((item.name, item.missing) for item in details), key=lambda item: -item[1])
    return GroupRow(
        name,
        counts.group.doc,
        group_path(name),
        counts.covered,
        counts.total,
        counts.percent,
        ever.percent if ever else counts.percent,
        None if last is None else counts.percent - last,
        counts.total - counts.covered,
        _missed(counts, ever),
        trend,
        tuple((item, missing) for item, missing in worst if missing),
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
