# SPDX-License-Identifier: Apache-2.0
"""Regression runs as text: output of ``pto-dv history``, ``pto-dv diff`` and ``nightly``.

On a terminal tables fit its width and have colours; elsewhere (CI logs, pipes) a row is a line,
whatever its length.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tb.common.text import counted, percent_text
from tb.regress.queries.plan import left_out
from tb.regress.queries.views import Difference, RegressionRun, RegressionView

SHOWN_ROWS = 20
SHOWN_LACKS = 8
SHOWN_BINS = 12
"""Most bins named of one point."""

_NO_LIMIT = 100_000

_LONG = ("what", "failed with", "first run")
"""Columns that wrap on a narrow terminal; others are as wide as their contents."""

_COLOURS = {
    "complete": "green",
    "budget": "green",
    "failures": "red",
    "running": "cyan",
    "interrupted": "yellow",
}


def as_text(content: RenderableType, width: int = _NO_LIMIT) -> str:
    """Returns lines without colours and without blanks at their ends."""
    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, soft_wrap=False
    )
    with console.capture() as capture:
        console.print(content)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def show(content: RenderableType) -> None:
    """Prints to standard output, as wide as a terminal is and without limit elsewhere."""
    if sys.stdout.isatty():
        Console(highlight=False).print(content)
    else:
        print(as_text(content), flush=True)


def _width() -> int:
    return Console().width if sys.stdout.isatty() else _NO_LIMIT


def duration(seconds: float) -> str:
    """Returns a time such as ``9:58`` or ``1:02:03``."""
    text = str(timedelta(seconds=round(seconds)))
    return text.removeprefix("0:").removeprefix("0") if seconds < 3600 else text


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        if name in _LONG:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return table


def _row(table: Table, *cells: str | Text) -> None:
    # As Text: brackets of a message are not markup.
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def _more(count: int) -> list[RenderableType]:
    return [Text(f"  and {count} more")] if count > 0 else []


def history(regression_runs: Sequence[RegressionRun], width: int | None = None) -> RenderableType:
    """Returns a table of regression runs in the order given.

    Args:
        regression_runs: A line each.
        width: Columns available, default those of the terminal; if there are few, columns that can
            be read elsewhere are left out.
    """
    if not regression_runs:
        return Text("no regression run in the database yet; make nightly starts one")
    rows = [_cells(regression_run) for regression_run in regression_runs]
    wide = (_width() if width is None else width) >= _WIDE
    names = [name for name in rows[0] if wide or name not in _LEFT_OUT]
    table = _table(*names, right=[name for name in names if name not in _LEFT])
    for row in rows:
        _row(table, *(row[name] for name in names))
    return table


_WIDE = 118
_LEFT = ("name", "regression", "status", "commit")
_LEFT_OUT = ("regression", "flaky", "transactions", "commit")


def _cells(regression_run: RegressionRun) -> dict[str, str | Text]:
    figures = regression_run.figures
    unfinished = "" if figures.done == figures.planned else f"/{figures.planned}"
    return {
        "name": regression_run.name,
        "regression": regression_run.regression,
        "status": Text(regression_run.status, style=_COLOURS.get(regression_run.status, "red")),
        "runs": f"{figures.done}{unfinished}",
        "pass %": percent_text(figures.pass_rate) if figures.done else "-",
        "failed": Text(str(figures.failed), style="red" if figures.failed else ""),
        "flaky": str(figures.flaky),
        "transactions": str(figures.transactions),
        "per s": f"{figures.transactions_per_second:.0f}",
        "cover %": "-"
        if regression_run.coverage is None
        else percent_text(regression_run.coverage),
        "time": duration(figures.wall_seconds),
        "commit": _commit(regression_run.commit),
    }


def _commit(commit: str) -> str:
    """Returns ten digits of a commit, and the plus of changes in its tree."""
    digits = commit.removesuffix("+")
    return digits[:10] + commit[len(digits) :]


def _moved(name: str, before: float | None, after: float | None, unit: str, digits: int) -> Text:
    def shown(value: float | None) -> str:
        if value is None:
            return "-"
        return percent_text(value, digits) if unit == "%" else f"{value:.{digits}f}"

    line = f"{name:<14} {shown(before)} -> {shown(after)} {unit}"
    if before is not None and after is not None:
        line += f" ({after - before:+.{digits}f})"
    return Text(line)


def difference(moved: Difference) -> RenderableType:
    """Returns the changes between two regression runs, newly failing tests first."""
    parts: list[RenderableType] = [
        Text(f"{moved.before} -> {moved.after}", style="bold"),
        _moved("coverage", *moved.coverage, "%", 2),
        _moved("rate", *moved.rate, "transactions/s", 0),
    ]
    for title, rows, style in (
        ("newly failing", moved.newly_failing, "red"),
        ("newly passing", moved.newly_passing, "green"),
    ):
        parts.append(_heading(title, len(rows), style))
        if rows:
            table = _table("test", "configuration", "failed with")
            for test, config, message in rows[:SHOWN_ROWS]:
                _row(table, test, config, message.splitlines()[0] if message else "")
            parts += [Padding(table, (0, 0, 0, 2)), *_more(len(rows) - SHOWN_ROWS)]
    for title, lines, style in (
        ("new buckets", moved.buckets_new, "red"),
        ("gone buckets", moved.buckets_gone, "green"),
    ):
        parts.append(_heading(title, len(lines), style))
        parts += [Text(f"  {line}") for line in lines[:SHOWN_ROWS]]
        parts += _more(len(lines) - SHOWN_ROWS)
    for title, bins, style in (
        ("coverage won", moved.won, "green"),
        ("coverage lost", moved.lost, "red"),
    ):
        parts.append(_heading(title, len(bins), style))
        parts += _bins(bins)
    return Group(*parts)


def _bins(bins: Sequence[str]) -> list[RenderableType]:
    """Returns a line for each point, with the first of its bins."""
    points: dict[str, list[str]] = {}
    for text in bins:
        point, _, label = text.partition(": ")
        points.setdefault(point, []).append(label)
    lines: list[RenderableType] = []
    for point, labels in list(points.items())[:SHOWN_ROWS]:
        rest = f"; and {len(labels) - SHOWN_BINS} more" if len(labels) > SHOWN_BINS else ""
        lines.append(Text(f"  {point}: {'; '.join(labels[:SHOWN_BINS])}{rest}"))
    hidden = sum(len(labels) for labels in list(points.values())[SHOWN_ROWS:])
    return [*lines, *_more(hidden)]


def _heading(title: str, count: int, style: str) -> Text:
    return Text(f"{title:<14} {count or 'none'}", style=style if count else "")


def closing(view: RegressionView, page: str, *, passed: bool) -> RenderableType:
    """Returns the closing lines of a regression run; the last one is the verdict with key figures.

    Args:
        view: The regression run.
        page: Path of the page, as printed.
        passed: The verdict: exit code 0.
    """
    regression_run, figures = view.regression_run, view.regression_run.figures
    lines = [
        f"runs       {figures.done} of {figures.planned} done: {figures.passed} passed, "
        f"{figures.failed} failed, {figures.flaky} of them flaky"
        + (
            f"; {figures.not_run} not run{regression_run.why_not_run(duration)}"
            if figures.not_run
            else ""
        ),
        f"time       {duration(figures.wall_seconds)}, {figures.runs_per_minute:.1f} runs/minute; "
        f"{figures.builds} builds in {figures.build_seconds:.1f} s",
        f"work       {figures.transactions} transactions, {figures.bytes_checked} bytes checked, "
        f"{figures.transactions_per_second:.0f} transactions/s of a worker",
        f"workers    {figures.workers}",
        "coverage   none was counted"
        if not view.coverage.total
        else f"coverage   {view.coverage.covered} of {view.coverage.total} bins, "
        f"{percent_text(view.coverage.percent, 2)} %{_since(view)}",
    ]
    if regression_run.code:
        kinds = ", ".join(
            f"{kind} {percent_text(value)} %" for kind, value in regression_run.code.items()
        )
        lines.append(f"code       {kinds}")
    if figures.kill_rate is not None:
        found = f"{figures.killed} of {figures.planted} planted faults"
        lines.append(f"faults     {found} found, {percent_text(figures.kill_rate)} %")
    if figures.lost:
        lines.append(f"lost       {figures.lost} attempts, with their workers")
    lines += _plan(view)
    lines += [f"gate       {sentence}" for sentence in view.gates]
    lines += [
        f"known      {counted(len(bucket.runs), 'run')} in {bucket.id}: {view.known[bucket.id]}"
        for bucket in view.buckets
        if bucket.id in view.known
    ]
    parts: list[RenderableType] = [Text(line) for line in lines]
    parts += [Text(f"note       {note}") for note in view.notes]
    parts += _failures(view)
    word = "PASS" if passed else "FAIL"
    if passed and regression_run.status in ("running", "interrupted"):
        word = "INCOMPLETE"
    covered = f"{percent_text(view.coverage.percent)} %" if view.coverage.total else "-"
    verdict = (
        f"{word} regression run {regression_run.name} ({regression_run.status}): "
        f"{figures.passed} of {figures.done} runs passed, {figures.transactions} transactions, "
        f"{figures.runs_per_minute:.1f} runs/minute, coverage {covered}; page: {page}"
    )
    parts.append(Text(verdict, style="bold green" if passed else "bold red"))
    return Group(*parts)


def _plan(view: RegressionView) -> list[str]:
    """Returns lines of how much of the testplan is proven, and what the others lack."""
    if not view.plan:
        return []
    proven = sum(row.state == "pass" for row in view.plan)
    lacking = left_out(view.plan)
    lines = [f"testplan   {proven} of {len(view.plan)} behaviours proven"]
    lines += [f"left out   {what}" for what in lacking[:SHOWN_LACKS]]
    more = len(lacking) - SHOWN_LACKS
    return lines + [f"           and {more} more, on the testplan page"] * (more > 0)


def _since(view: RegressionView) -> str:
    moved = view.difference
    if moved is None:
        return ""
    return (
        f"; against {moved.before}: {len(moved.won)} bins won, {len(moved.lost)} lost, "
        f"{len(moved.newly_failing)} newly failing, {len(moved.newly_passing)} newly passing"
    )


def _failures(view: RegressionView) -> list[RenderableType]:
    """Returns the failure buckets as a table, and what repeats the first failing run."""
    bad = view.failing
    if not bad:
        return []
    parts: list[RenderableType] = [Text("")]
    if view.buckets:
        table = _table("bucket", "runs", "seen", "what", "first run", right=("runs",))
        for bucket in view.buckets[:SHOWN_ROWS]:
            new = bucket.first_regression == view.regression_run.name
            seen = "new" if new else f"{bucket.regression_runs} runs"
            what = bucket.title
            what += f" (follows from {bucket.follows})" if bucket.follows else ""
            what += f" ({view.noted[bucket.id].text})" if bucket.id in view.noted else ""
            _row(
                table,
                bucket.id,
                str(len(bucket.runs)),
                seen,
                what,
                f"{bucket.example_run.id} {bucket.example_run.key}",
            )
        parts += [table, *_more(len(view.buckets) - SHOWN_ROWS)]
    unknown = [bucket for bucket in view.buckets if bucket.id not in view.known]
    first = unknown[0].example_run if unknown else bad[0]
    alone = sum(not run.bucket for run in bad)
    if alone and view.buckets:
        parts.append(Text(f"and {alone} failing runs in no bucket"))
    again = view.rerun(first.id)
    parts += [Text(""), Text(f"repeat     {first.command or again}")]
    parts.append(Text(f"           or: {again}"))
    shrunk = unknown[0].shrunk if unknown else None
    if shrunk and shrunk.command:
        parts.append(Text(f"           or made small, {shrunk.size}: {shrunk.command}"))
    return parts
