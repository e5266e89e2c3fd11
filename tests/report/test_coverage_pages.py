# SPDX-License-Identifier: Apache-2.0
"""Pages of functional coverage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tb.coverage.model import Coverage, CoverGroup, Cross, point
from tb.regress.queries.views import RegressionView
from tb.report.coverage_pages import GroupRow, coverage_pages
from tb.report.page import Page, group_path
from tb.report.site import write
from tests.report.pages import Parsed, malformed

pytestmark = pytest.mark.long


def page(view: RegressionView, path: str) -> Page:
    return next(item for item in coverage_pages(view) if item.path == path)


def rows(view: RegressionView) -> list[GroupRow]:
    found: list[GroupRow] = page(view, "coverage.html").data["rows"]
    return found


def with_group(view: RegressionView, group: CoverGroup, **hits: list[int]) -> RegressionView:
    """The regression run with this group alone."""
    coverage = Coverage([group])
    for name, values in hits.items():
        coverage.groups[group.name].hits[name][:] = values
    ever = Coverage([])
    ever.merge(coverage)
    made = replace(view, code=None, buckets=[], plan=(), spec=())
    return replace(made, coverage=coverage, all_time=ever)


def test_groups_with_holes_come_first(view: RegressionView) -> None:
    found = rows(view)
    assert {row.name for row in found} == set(view.coverage.groups)
    assert [row.percent for row in found] == sorted(row.percent for row in found)
    for row in found:
        counts = view.coverage.groups[row.name]
        assert (row.covered, row.total) == (counts.covered, counts.total)
        assert row.missing == sum(missing for _, missing in row.worst)
        assert row.missing == sum(len(counts.holes(name)) for name in counts.hits)


def test_a_group_page_lists_every_hole_and_every_bin(view: RegressionView, site: Path) -> None:
    name = rows(view)[0].name
    counts = view.coverage.groups[name]
    words = Parsed(site / group_path(name)).words
    for item in counts.group.points:
        for label in item.labels:
            assert label in words
    for item in page(view, group_path(name)).data["holes"]:
        assert sum(hole.cells for hole in item.holes) >= len(counts.holes(item.name))
        for hole in item.holes:
            assert hole.text in words
    assert words.index("not hit in this run") < words.index("bins with hits")
    name = next(row.name for row in rows(view) if not row.missing)
    assert "Every bin that can be hit was hit." in Parsed(site / group_path(name)).words


def test_each_cell_of_a_cross_has_its_count(view: RegressionView, tmp_path: Path) -> None:
    group = CoverGroup(
        "small",
        (point("a", ["a0", "a1"]), point("b", ["b0", "b1", "b2"])),
        (Cross("a x b", ("a", "b")),),
    )
    hits = {"a": [1, 1], "b": [1, 1, 1], "a x b": [11, 22, 0, 44, 55, 66]}
    made = with_group(view, group, **hits)
    words = Parsed(write(made, tmp_path / "report").parent / group_path("small")).words
    assert "b a0 a1 b0 11 44 b1 22 55 b2 0 66" in words
    assert "a=a0, b=b2" in words


def test_impossible_and_excluded_hits_are_told_on_both_pages(
    view: RegressionView, tmp_path: Path
) -> None:
    group = CoverGroup("odd", (point("a", ["yes", "no", "never", "cannot"], cannot="it cannot"),))
    made = with_group(view, group, a=[3, 0, 5, 5])
    made.coverage.groups["odd"].excluded = {"a": {1: "not required", 2: "not possible"}}
    found = rows(made)[0]
    assert (found.covered, found.total, found.missing) == (1, 1, 0)
    folder = write(made, tmp_path / "report").parent
    for path in ("coverage.html", group_path("odd")):
        words = Parsed(folder / path).words
        assert "Hit though declared unreachable" in words
        assert "odd.a: cannot" in words
        assert "Hit though excluded" in words
        assert "odd.a: never (not possible)" in words
    assert "1 bin excluded: not required" in words


def test_what_is_not_well_formed_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"><p id="x"></p></p><br><b>')
    assert malformed(tmp_path) == ["a.html: <b> is not ended", "a.html: id x repeats"]
    (tmp_path / "a.html").write_text("<p><b></p></b>")
    assert malformed(tmp_path) == ["a.html: </p> in ['b']", "a.html: <p> is not ended"]
