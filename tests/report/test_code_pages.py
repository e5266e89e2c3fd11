# SPDX-License-Identifier: Apache-2.0
"""Pages of code coverage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tb.coverage.export.code import CodeFile, CodeLine, CodeView
from tb.regress.queries.views import RegressionView
from tb.report.code_pages import code_pages, file_rows, not_covered, source_line
from tb.report.page import source_path
from tests.report.pages import Parsed
from tests.report.sample import NOTHING, sample_view
from tests.report.sample_code import REASON


@pytest.fixture(scope="module")
def view() -> RegressionView:
    made = replace(sample_view(), buckets=[], plan=(), spec=())
    return replace(made, coverage=NOTHING, all_time=NOTHING)


def code_of(view: RegressionView) -> CodeView:
    assert view.code
    return view.code


@pytest.mark.long
def test_sources_come_by_engine_those_that_lack_most_first(view: RegressionView) -> None:
    rows = file_rows(code_of(view))
    totals = {(file.engine, file.path): file.totals for file in code_of(view).files}
    engines = list(dict.fromkeys(row.engine for row in rows))
    assert engines == list(code_of(view).engines)
    for engine in engines:
        mine = [row for row in rows if row.engine == engine]
        # Toggles are so many that they would hide the rest.
        missing = [(row.missing, row.toggles) for row in mine]
        assert missing == sorted(missing, reverse=True)
        assert [row.missing + row.toggles for row in mine] == [
            sum(every - hit for hit, every in totals[engine, row.path].values()) for row in mine
        ]


@pytest.mark.long
def test_totals_stand_on_the_page_kinds_apart(view: RegressionView, site: Path) -> None:
    words = Parsed(site / "code.html").words
    for engine, totals in code_of(view).engines.items():
        text = " ".join(
            f"{100 * covered / total:.1f} {covered} / {total}" for covered, total in totals.values()
        )
        assert f"{engine} {text}" in words
    assert f"counted by {code_of(view).runs} runs" in words


@pytest.mark.long
def test_a_source_of_two_engines_has_a_page_for_each(view: RegressionView, site: Path) -> None:
    both = [file for file in code_of(view).files if file.path.endswith("pto_fifo.sv")]
    assert len({source_path(file.engine, file.path) for file in both}) == len(both) == 2
    for file in both:
        page = Parsed(site / source_path(file.engine, file.path))
        assert f"engine {file.engine}" in page.words


def test_every_line_stands_in_its_page(view: RegressionView, site: Path) -> None:
    file = next(file for file in code_of(view).files if file.lines)
    page = Parsed(site / source_path(file.engine, file.path))
    for line in file.lines:
        assert page.ids[f"L{line.number}"] == 1
        assert " ".join(line.text.split()) in page.words


def test_excluded_points_stand_below_their_line_with_the_reason(
    view: RegressionView, site: Path
) -> None:
    files = [file for file in code_of(view).files if any(line.excluded for line in file.lines)]
    assert files
    for file in files:
        words = Parsed(site / source_path(file.engine, file.path)).words
        marks = sum(len(line.excluded) for line in file.lines)
        assert words.count(f"branch else excluded: {REASON}") == marks


def test_a_source_that_is_gone_keeps_its_totals(view: RegressionView, site: Path) -> None:
    file = next(file for file in code_of(view).files if not file.lines)
    words = Parsed(site / source_path(file.engine, file.path)).words
    assert "was not to be had" in words
    assert "line 75.0 3 4" in words
    assert "Every point was hit" not in words


@pytest.mark.parametrize(
    ("line", "points", "state"),
    [
        (None, (), ""),
        (0, (), "miss"),
        (5, (), "hit"),
        (5, (("branch", "if", 5), ("branch", "else", 0)), "part"),
        (5, (("branch", "if", 5), ("branch", "else", 1)), "hit"),
        (None, (("toggle", "q", 0),), "miss"),
        (None, (("toggle", "q[0]", 0), ("toggle", "q[1]", 2)), "part"),
        (0, (("branch", "if", 0),), "miss"),
    ],
)
def test_states_of_lines(
    line: int | None, points: tuple[tuple[str, str, int], ...], state: str
) -> None:
    assert source_line(CodeLine(1, "x", line, points)).state == state


def test_a_line_says_what_of_it_is_missing() -> None:
    points = (
        ("branch", "if", 5),
        ("branch", "else", 0),
        ("toggle", "q[7:0]:0->1", 0),
        ("toggle", "q[9]:0->1", 0),
        ("toggle", "q[8]:0->1", 3),
    )
    found = source_line(CodeLine(7, "a <= b; // why", 1234, points))
    assert found.missing == (("branch", "else"), ("toggle", "q[7:0]:0->1; q[9]:0->1"))
    assert [(share.kind, share.covered, share.total) for share in found.marks] == [
        ("branch", 1, 2),
        ("toggle", 1, 10),
    ]
    assert (found.code, found.comment) == ("a <= b; ", "// why")
    assert found.hits == 1234


def test_many_missing_points_of_a_line_are_counted() -> None:
    points = tuple(("expression", f"(a{number}) => 0", 0) for number in range(20))
    ((_, text),) = source_line(CodeLine(1, "x", 1, points)).missing
    assert text.endswith("; and 12 more")


def test_what_is_not_covered_lists_lines_first_and_neighbours_together() -> None:
    lines = (
        CodeLine(1, "a", 0),
        CodeLine(2, "b", 0),
        CodeLine(3, "c", 1, (("branch", "else", 0),)),
        CodeLine(4, "d", 0),
        CodeLine(5, "e", None),
    )
    found = list(not_covered(CodeFile("mte1", "x.v", {}, lines)))
    assert [(item.kind, item.line, item.text) for item in found] == [
        ("line", 1, "to line 2: a"),
        ("line", 4, "d"),
        ("branch", 3, "else"),
    ]


def test_without_code_coverage_there_is_no_page(view: RegressionView) -> None:
    assert not list(code_pages(replace(view, code=None)))
