# SPDX-License-Identifier: Apache-2.0
"""The first page: passes, failures, coverage and their changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from markupsafe import Markup

from tb.common.text import percent_text
from tb.regress.queries.views import FAILED, RegressionView, RunRow
from tb.report.charts import before, stack, trend
from tb.report.page import Page, compact, duration, number, plural, widths

_SPAN = 5.0
"""Points of a percentage that a line over regression runs shows at least."""

MOST = 12
"""Most buckets, runs outside of buckets, and notes on the first page."""

_PERCENT = "{:.1f}".format

Word = Literal["PASS", "FAIL", "INCOMPLETE"]


@dataclass(frozen=True)
class Verdict:
    """How the regression run ended: a word and one sentence."""

    word: Word
    text: str


@dataclass(frozen=True)
class Tile:
    """A figure of the regression run with its line over regression runs.

    Attributes:
        label, value: Name, and the value of this regression run as text.
        detail: More of it, in few words.
        change: Since the last regression run with a value, None without one.
        digits, unit: How the change is written.
        good: 1 where more is better, -1 where less is, 0 where neither is.
        chart: The line.
    """

    label: str
    value: str
    detail: str
    change: float | None
    digits: int
    unit: str
    good: int
    chart: Markup


@dataclass(frozen=True)
class GroupRow:
    """A coverage group: bins of this regression run and of all, and the change of its share."""

    name: str
    covered: int
    total: int
    percent: float
    all_time: float | None
    change: float | None
    chart: Markup

    @property
    def holes(self) -> int:
        """Bins that count and were not hit in this regression run."""
        return self.total - self.covered


@dataclass(frozen=True)
class CodeRow:
    """A kind of code coverage, of all engines together."""

    kind: str
    percent: float
    change: float | None
    chart: Markup


@dataclass(frozen=True)
class Cell:
    """The runs of one test in one configuration."""

    done: int = 0
    passed: int = 0
    planned: int = 0

    @property
    def state(self) -> str:
        """``fail``, ``partial`` where runs are missing, or ``pass``."""
        if self.passed < self.done:
            return "fail"
        return "partial" if self.done < self.planned else "pass"


def verdict(view: RegressionView) -> Verdict:
    """Returns the regression run in one line."""
    regression_run, figures = view.regression_run, view.regression_run.figures
    failed = sum(row.state in FAILED for row in view.runs)
    sentences = []
    if failed:
        text = f"{number(failed)} of {plural(figures.done, 'run')} failed"
        if view.buckets:
            fresh = sum(bucket.first_regression == regression_run.name for bucket in view.buckets)
            text += f" in {plural(len(view.buckets), 'bucket')}"
            which = {0: "none of them new", len(view.buckets): "all new"}
            text += f", {which.get(fresh, f'{fresh} of them new')}"
        sentences.append(text)
    elif figures.done:
        sentences.append(f"all {plural(figures.done, 'run')} passed")
    else:
        sentences.append("no run was done")
    if figures.not_run:
        why = {
            "budget": f": the budget of {duration(regression_run.budget_seconds)} was used up",
            "interrupted": ": the regression run was interrupted",
            "running": " yet: the regression run is still active",
        }.get(regression_run.status, "")
        sentences.append(f"{number(figures.not_run)} of {figures.planned} planned did not run{why}")
    word: Word = "PASS"
    if failed or not (figures.done or regression_run.status == "running"):
        word = "FAIL"
    elif regression_run.status in ("running", "interrupted"):
        word = "INCOMPLETE"
    return Verdict(word, "; ".join(sentences))


def _tiles(view: RegressionView) -> list[Tile]:
    regression_run, figures, points = view.regression_run, view.regression_run.figures, view.trend

    def tile(
        label: str,
        value: str,
        detail: str,
        key: str,
        *,
        shown: str = "{:.0f}",
        digits: int = 0,
        unit: str = "",
        good: int = 1,
    ) -> Tile:
        series: list[tuple[str, float | None]] = [
            (point.name, getattr(point, key)) for point in points
        ]
        last, old = series[-1][1] if series else None, before(series)
        change = None if last is None or old is None else last - old
        texts = {"time": duration, "count": compact}.get(shown, shown.format)
        return Tile(label, value, detail, change, digits, unit, good, trend(label, series, texts))

    return [
        tile(
            "Pass rate",
            f"{percent_text(figures.pass_rate)} %",
            f"{number(figures.passed)} of {number(figures.done)} runs",
            "pass_rate",
            shown="{:.1f}",
            digits=1,
        ),
        tile(
            "Functional coverage",
            f"{percent_text(regression_run.coverage)} %" if regression_run.counted else "-",
            f"{number(view.coverage.total - view.coverage.covered)} holes"
            if regression_run.counted
            else "no run counted it",
            "coverage",
            shown="{:.1f}",
            digits=1,
        ),
        tile(
            "Throughput",
            f"{number(round(figures.transactions_per_second))} /s",
            "transactions per worker",
            "transactions_per_second",
        ),
        tile(
            "Transactions",
            compact(figures.transactions),
            f"{compact(figures.bytes_checked)}B checked",
            "transactions",
            shown="count",
        ),
        tile(
            "Duration",
            duration(figures.wall_seconds),
            f"{figures.runs_per_minute:.1f} runs per minute",
            "wall_seconds",
            shown="time",
            unit=" s",
            good=0,
        ),
    ]


def _groups(view: RegressionView) -> list[GroupRow]:
    """Returns the groups, those with the largest share of holes first."""
    rows = []
    for name, counts in view.coverage.groups.items():
        series = [(point.name, point.groups.get(name)) for point in view.trend]
        old = before(series)
        both = view.all_time.groups.get(name)
        rows.append(
            GroupRow(
                name=name,
                covered=counts.covered,
                total=counts.total,
                percent=counts.percent,
                all_time=both.percent if both else None,
                change=None if old is None else counts.percent - old,
                chart=trend(name, series, _PERCENT, width=96, height=20, ends=False, span=_SPAN),
            )
        )
    return sorted(rows, key=lambda row: row.percent)


def _code(view: RegressionView) -> list[CodeRow]:
    rows: list[CodeRow] = []
    for kind, percent in view.regression_run.code.items():
        series = [(point.name, point.code.get(kind)) for point in view.trend]
        old = before(series)
        chart = trend(kind, series, _PERCENT, width=64, height=20, ends=False, span=_SPAN)
        rows.append(CodeRow(kind, percent, None if old is None else percent - old, chart))
    return rows


def _said(moved: Iterable[tuple[str, str, str]]) -> list[str]:
    return [
        f"{test} in {where}: {why}" if why else f"{test} in {where}" for test, where, why in moved
    ]


def configuration(row: RunRow) -> str:
    """Returns simulator, widths and profile of a run as ``verilator 256/256 a5 code``."""
    return f"{row.sim} {widths(row)}"


def _tests_run(runs: Sequence[RunRow]) -> dict[str, dict[str, Cell]]:
    """Returns test to configuration to its runs; tests with most failures first."""
    found: dict[str, dict[str, Cell]] = defaultdict(dict)
    order = attrgetter("test", "sim", "gm_width", "local_width", "profile", "code_coverage")
    for row in sorted(runs, key=order):
        cells, name = found[row.test], configuration(row)
        cell = cells.get(name, Cell())
        cells[name] = Cell(
            cell.done + (row.state != "planned"),
            cell.passed + (row.state == "pass"),
            cell.planned + 1,
        )
    failing = {
        test: sum(cell.done - cell.passed for cell in cells.values())
        for test, cells in found.items()
    }
    return dict(sorted(found.items(), key=lambda item: -failing[item[0]]))


def overview_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the first page."""
    figures = view.regression_run.figures
    flaky = figures.flaky
    runs = stack(
        "Runs",
        [
            ("passed", "part-ok", figures.passed),
            ("failed", "part-bad", sum(row.state in FAILED for row in view.runs) - flaky),
            ("flaky", "part-warn", flaky),
            ("not run", "part-none", figures.not_run),
        ],
    )
    in_bucket = {run for bucket in view.buckets for run in bucket.runs}
    yield Page(
        "index.html",
        "Overview",
        "overview.html.j2",
        {
            "verdict": verdict(view),
            "tiles": _tiles(view),
            "groups": _groups(view),
            "code": _code(view),
            "tests": _tests_run(view.runs),
            "stack": runs,
            "loose": [row for row in view.runs if row.state in FAILED and row.id not in in_bucket],
            "most": MOST,
            "said": _said,
            "simulators": sorted({row.simulator for row in view.runs if row.simulator}),
            "exports": (
                ("junit.xml", "JUnit results"),
                ("code.info", "Code coverage, lcov"),
                ("code.expression.info", "Expressions, lcov"),
                ("code.toggle.info", "Toggles, lcov"),
            ),
        },
    )
