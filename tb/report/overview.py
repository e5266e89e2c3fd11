# SPDX-License-Identifier: Apache-2.0
"""The first page: passes, failures, coverage and their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal

from tb.common.text import percent_text
from tb.regress.queries.views import FAILED, Difference, RegressionView, RunRow
from tb.report.charts import Series, change, previous
from tb.report.coverage_pages import group_rows
from tb.report.formats import duration, number, plural, short, widths
from tb.report.page import Page, bucket_path, existing

MOST = 12
"""Most failures, groups and notes on the first page."""

MOST_MOVED = 200
"""Most changes of one kind on the first page."""

EXPORTS = {
    "JUnit results": "junit.xml",
    "Code coverage, merged": "code/merged.dat.gz",
}
"""Files in the folder of a regression run."""

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
        kind: How values of the line are written: ``percent``, ``count`` or ``time``.
        good: 1 where more is better, 0 where neither is.
        series: The line, ``change`` since the last regression run with a value, None without one.
    """

    label: str
    value: str
    detail: str
    kind: str
    good: int
    series: Series
    change: float | None


@dataclass(frozen=True)
class CodeRow:
    """A kind of code coverage, of all engines together."""

    kind: str
    percent: float
    change: float | None
    series: Series


@dataclass(frozen=True)
class Failed:
    """A bucket, or a run outside of every bucket.

    Attributes:
        runs: How many runs.
        title, state, test: Of the first run.
        path: Of the page of the bucket, empty without one.
        seen: ``new``, or the number of regression runs that saw the bucket.
        wanted: Filters that show the runs.
    """

    runs: int
    title: str
    state: str
    test: str
    path: str
    seen: str
    wanted: Mapping[str, str]


@dataclass(frozen=True)
class RunSet:
    """The runs of one test in one configuration.

    Attributes:
        test, sim, widths: Test, simulator, widths and profile.
        done, passed, planned: Runs.
        state: ``fail``, ``partial`` where runs are missing, or ``pass``.
    """

    test: str
    sim: str
    widths: str
    done: int
    passed: int
    planned: int
    state: str


def verdict(view: RegressionView) -> Verdict:
    """Returns the regression run in one line."""
    regression_run, figures = view.regression_run, view.regression_run.figures
    failed = sum(row.state in FAILED for row in view.runs)
    sentences: list[str] = []
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
        why = regression_run.why_not_run(duration)
        sentences.append(f"{number(figures.not_run)} of {figures.planned} planned did not run{why}")
    if len(view.failing) < failed:
        sentences.append(f"{number(failed - len(view.failing))} failed as known")
    sentences += view.gates
    word: Word = "PASS"
    if view.failing or view.gates or not (figures.done or regression_run.status == "running"):
        word = "FAIL"
    elif regression_run.status in ("running", "interrupted"):
        word = "INCOMPLETE"
    return Verdict(word, "; ".join(sentences))


def _tiles(view: RegressionView) -> list[Tile]:
    covered, figures = view.regression_run.coverage, view.regression_run.figures
    holes = view.coverage.total - view.coverage.covered

    def tile(label: str, value: str, detail: str, key: str, kind: str, good: int = 1) -> Tile:
        get = attrgetter(key)
        series = [(one.name, get(one)) for one in view.trend]
        return Tile(label, value, detail, kind, good, series, change(series))

    tiles = [
        tile(
            "Pass rate",
            f"{percent_text(figures.pass_rate)} %",
            f"{number(figures.passed)} of {number(figures.done)} runs",
            "figures.pass_rate",
            "percent",
        ),
        tile(
            "Functional coverage",
            "-" if covered is None else f"{percent_text(covered)} %",
            "no run counted it" if covered is None else f"{number(holes)} holes",
            "coverage",
            "percent",
        ),
        tile(
            "Throughput",
            f"{number(figures.transactions_per_second)} /s",
            "transactions per worker",
            "figures.transactions_per_second",
            "count",
        ),
        tile(
            "Transactions",
            short(figures.transactions),
            f"{short(figures.bytes_checked)}B checked",
            "figures.transactions",
            "count",
        ),
        tile(
            "Duration",
            duration(figures.wall_seconds),
            f"{figures.runs_per_minute:.1f} runs per minute",
            "figures.wall_seconds",
            "time",
            good=0,
        ),
    ]
    if figures.kill_rate is not None:
        value = f"{percent_text(figures.kill_rate)} %"
        detail = f"{number(figures.killed)} of {number(figures.planted)} found"
        tiles.append(tile("Planted faults", value, detail, "figures.kill_rate", "percent"))
    return tiles


def _code(view: RegressionView) -> list[CodeRow]:
    rows = []
    for kind, percent in view.regression_run.code.items():
        series = [(one.name, one.code.get(kind)) for one in view.trend]
        old = previous(series)
        rows.append(CodeRow(kind, percent, None if old is None else percent - old, series))
    return rows


def _failed(view: RegressionView) -> list[Failed]:
    """Returns the buckets, then the runs that are in none."""
    found = []
    for bucket in view.buckets:
        new = bucket.first_regression == view.regression_run.name
        seen = "new" if new else plural(bucket.regression_runs, "regression run")
        run, wanted = bucket.example_run, {"bucket": bucket.id}
        path = bucket_path(bucket.id)
        size = len(bucket.runs)
        found.append(Failed(size, bucket.title, run.state, run.test, path, seen, wanted))
    in_bucket = {run for bucket in view.buckets for run in bucket.runs}
    for row in view.runs:
        if row.state in FAILED and row.id not in in_bucket:
            title = row.message or "no message"
            found.append(Failed(1, title, row.state, row.test, "", "", {"q": row.key}))
    return found


def _moves(difference: Difference | None) -> list[dict[str, Any]]:
    """Returns each kind of change: whether it is good, how many there are, and the first ones."""
    if difference is None:
        return []
    kinds: Mapping[str, tuple[str, Sequence[str]]] = {
        "Newly failing": ("bad", _sentences(difference.newly_failing)),
        "Newly passing": ("ok", _sentences(difference.newly_passing)),
        "Buckets new": ("bad", difference.buckets_new),
        "Buckets gone": ("ok", difference.buckets_gone),
        "Bins lost": ("bad", difference.lost),
        "Bins won": ("ok", difference.won),
    }
    return [
        {"label": label, "kind": kind, "total": len(texts), "texts": texts[:MOST_MOVED]}
        for label, (kind, texts) in kinds.items()
    ]


def _sentences(moved: Iterable[tuple[str, str, str]]) -> list[str]:
    return [
        f"{test} in {where}: {why}" if why else f"{test} in {where}" for test, where, why in moved
    ]


def run_sets(runs: Sequence[RunRow]) -> list[RunSet]:
    """Returns the runs by test and configuration; tests with most failures first."""
    found: dict[tuple[str, str, str], Counter[str]] = {}
    failing: Counter[str] = Counter()
    order = attrgetter("test", "sim", "gm_width", "local_width", "profile", "code_coverage")
    for row in sorted(runs, key=order):
        found.setdefault((row.test, row.sim, widths(row)), Counter())[row.state] += 1
        failing[row.test] += row.state in FAILED
    rows = [_run_set(key, states) for key, states in found.items()]
    return sorted(rows, key=lambda item: -failing[item.test])


def _run_set(key: tuple[str, str, str], states: Counter[str]) -> RunSet:
    planned, passed = states.total(), states["pass"]
    done = planned - states["planned"]
    state = "fail" if passed < done else "partial" if done < planned else "pass"
    return RunSet(*key, done, passed, planned, state)


def _parts(view: RegressionView) -> list[tuple[str, str, int]]:
    """Returns the planned runs by how they ended: class of the part, name, and how many."""
    figures = view.regression_run.figures
    failed = sum(row.state in FAILED for row in view.runs)
    return [
        ("full", "passed", figures.passed),
        ("low", "failed", failed - figures.flaky),
        ("warn", "flaky", figures.flaky),
        ("none", "not run", figures.not_run),
    ]


def overview_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the first page."""
    groups, failed = group_rows(view), _failed(view)
    files = {label: f"{view.regression_run.folder}/{name}" for label, name in EXPORTS.items()}
    data = {
        "verdict": verdict(view),
        "parts": _parts(view),
        "tiles": _tiles(view),
        "compared": len(view.trend) > 1,
        "failed": failed[:MOST],
        "more_failed": len(failed) - MOST,
        "notes": view.notes,
        "most": MOST,
        "since": view.difference.before if view.difference else None,
        "moves": _moves(view.difference),
        "bins": (view.coverage.covered, view.coverage.total),
        "ever": view.all_time.percent,
        "groups": groups[:MOST],
        "more_groups": len(groups) - MOST,
        "code": _code(view),
        "counted": view.code.runs if view.code else 0,
        "run_sets": run_sets(view.runs),
        "regression_runs": [replace(one, groups={}) for one in reversed(view.trend)],
        "simulators": sorted({row.simulator for row in view.runs if row.simulator}),
        "files": {label: path for label, path in files.items() if existing(path)},
    }
    yield Page("index.html", "Overview", "overview.html.j2", data)
