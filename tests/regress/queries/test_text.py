# SPDX-License-Identifier: Apache-2.0
"""Output of commands about regression runs: in a pipe, where nothing is cut, and on a terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tb.coverage.model import Coverage
from tb.regress.queries import text
from tb.regress.queries.views import Difference, Figures, RegressionRun, RegressionView
from tests.regress import made
from tests.report.sample import sample_view


@pytest.fixture(scope="module")
def view() -> RegressionView:
    return sample_view()


def regression_run(name: str, **more: object) -> RegressionRun:
    values: dict[str, object] = {"figures": Figures(planned=9, done=9, passed=9), **more}
    return RegressionRun(name, "complete", "nightly", datetime(2026, 11, 21, tzinfo=UTC), **values)  # type: ignore[arg-type]


def test_history_is_a_line_for_each_regression_run() -> None:
    regression_runs = [
        regression_run(
            "2026-11-22.1",
            figures=Figures(
                planned=2000, done=1999, passed=1998, failed=1, transactions=7, wall_seconds=3725
            ),
            coverage=99.996,
            groups={"traffic": 99.996},
            commit="a0c4f83d19e27b64c5510fd0c1a3e6b2f7889d04+",
        ),
        regression_run("2026-11-21.1", figures=Figures(planned=9, done=0)),
    ]
    header, first, second = text.as_text(text.history(regression_runs)).splitlines()
    assert header.split()[:4] == ["name", "regression", "status", "runs"]
    assert first.split() == [
        *("2026-11-22.1", "nightly", "complete", "1999/2000", "99.9", "1", "0", "7", "0", "99.9"),
        *("1:02:05", "a0c4f83d19+"),
    ]
    assert second.split()[3:5] == ["0/9", "-"]
    assert second.split()[9] == "-", "no coverage is neither 0 nor 100 percent"


def test_history_fits_a_narrow_terminal_and_without_a_row_says_what_makes_one() -> None:
    figures = Figures(planned=2000, done=1999, passed=1998, transactions=10**10, wall_seconds=3725)
    shown = text.as_text(text.history([regression_run("2026-11-22.1", figures=figures)], 80), 80)
    header, row = shown.splitlines()
    assert "…" not in shown
    assert row.split()[:3] == ["2026-11-22.1", "complete", "1999/2000"]
    assert "commit" not in header
    assert "make nightly" in text.as_text(text.history([]))


@pytest.mark.parametrize(
    ("seconds", "wanted"), [(0, "0:00"), (61.4, "1:01"), (600, "10:00"), (3599.6, "1:00:00")]
)
def test_durations(seconds: float, wanted: str) -> None:
    assert text.duration(seconds) == wanted


@pytest.mark.long
def test_closing_of_a_regression_run_that_counted_nothing(view: RegressionView) -> None:
    nothing = replace(
        view, regression_run=replace(view.regression_run, groups={}), coverage=Coverage([])
    )
    shown = text.as_text(text.closing(nothing, "x.html", passed=False))
    assert "coverage   none was counted" in shown
    assert "coverage -; page: x.html" in shown


def test_difference_names_what_moved() -> None:
    moved = Difference(
        "a",
        "b",
        newly_failing=(("random", "verilator-gm256", "wrong [bold]data[/] of [/x]\nmore"),),
        buckets_gone=("hang of mte1",),
        won=tuple(f"g.p: {number}" for number in range(25)),
        coverage=(98.0, 98.25),
        rate=(1000.0, 900.0),
    )
    lines = text.as_text(text.difference(moved)).splitlines()
    assert lines[0] == "a -> b"
    assert lines[1] == "coverage       98.00 -> 98.25 % (+0.25)"
    assert lines[2] == "rate           1000 -> 900 transactions/s (-100)"
    assert "newly failing  1" in lines
    assert "newly passing  none" in lines
    row = next(line for line in lines if line.startswith("  random"))
    assert row.endswith("wrong [bold]data[/] of [/x]"), "brackets are not markup"
    assert "  hang of mte1" in lines
    assert "  g.p: 0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11; and 13 more" in lines


def test_of_many_points_the_first_are_named_and_what_was_not_counted_is_a_dash() -> None:
    moved = Difference(
        "a", "b", lost=tuple(f"g.p{n}: x" for n in range(25)), coverage=(None, 98.25)
    )
    lines = text.as_text(text.difference(moved)).splitlines()
    assert lines[-2:] == ["  g.p19: x", "  and 5 more"]
    assert "coverage lost  25" in lines
    assert lines[1] == "coverage       - -> 98.25 %"


@pytest.mark.long
def test_closing_lines_of_a_regression_run_that_failed(view: RegressionView) -> None:
    lines = text.as_text(text.closing(view, "sim_build/x/index.html", passed=False)).splitlines()
    figures = view.regression_run.figures
    assert lines[-1].startswith("FAIL regression run 2026-11-19.1 (budget)")
    assert lines[-1].endswith("page: sim_build/x/index.html")
    assert lines[0].endswith(f"; {figures.not_run} not run: the budget of 10:00 was used up")
    whole = "\n".join(lines)
    assert f"{figures.transactions} transactions" in whole
    assert f"{figures.runs_per_minute:.1f} runs/minute" in whole
    assert f"{view.coverage.covered} of {view.coverage.total} bins" in whole
    for bucket in view.buckets:
        row = next(line for line in lines if line.startswith(bucket.id))
        assert bucket.title in row
        assert ("new" in row.split()) == (bucket.first_regression == view.regression_run.name)
    assert f"repeat     {view.buckets[0].example_run.command}" in lines
    assert f"           or: .venv/bin/pto-dv rerun {view.buckets[0].example_run.id}" in lines
    assert f"           or made small, 12 ops -> 1 op: {made.SHRUNK.command}" in lines
    for note in view.notes:
        assert f"note       {note}" in lines


@pytest.mark.long
def test_closing_lines_of_a_good_regression_run() -> None:
    view = sample_view(regression_runs=1, runs=60, failing=False)
    lines = text.as_text(text.closing(view, "p", passed=True)).splitlines()
    assert lines[-1].startswith("PASS regression run 2026-11-19.1 (complete): 60 of 60 runs passed")
    assert not [line for line in lines if "repeat" in line or line.startswith("note")]


def test_a_failing_regression_run_without_buckets_says_what_repeats(view: RegressionView) -> None:
    run = next(run for run in view.runs if run.state == "error")
    alone = replace(view, buckets=(), runs=[replace(run, command="")])
    shown = text.as_text(text.closing(alone, "p", passed=False))
    assert f"repeat     .venv/bin/pto-dv rerun {run.id}" in shown


def test_a_pipe_gets_no_colours_and_no_cut_lines(
    view: RegressionView, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text.show(text.closing(view, "a/very/long/path/" * 10, passed=False))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "a/very/long/path/" * 10 in shown.splitlines()[-1]
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_a_terminal_gets_tables_of_its_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    moved = Difference("a", "b", newly_failing=(("random", "verilator", "long " * 30),))
    text.show(text.difference(moved))
    shown = capsys.readouterr().out
    assert "\x1b[" in shown
    assert shown.count("long") == 30
