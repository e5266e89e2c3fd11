# SPDX-License-Identifier: Apache-2.0
"""Pages of code coverage: totals per engine, and each source with its counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath

from tb.coverage.export.code import KINDS, CodeFile, CodeLine, CodeView
from tb.regress.queries.views import RegressionView
from tb.report.page import Page, source_path

MOST_MISSING = 150
"""Most entries of the list of what is not covered."""

MOST_POINTS = 8
"""Most missing points of one kind that are listed below their line; the rest are counted."""

_BITS = re.compile(r"\[(\d+):(\d+)\](?::[01]->[01])?$")


@dataclass(frozen=True)
class Share:
    """Covered of all points of a kind; ``percent`` is 0 to 100, None where there are no points."""

    kind: str
    covered: int
    total: int
    percent: float | None


@dataclass(frozen=True)
class FileRow:
    """A source in the list.

    Attributes:
        engine, path: Of the source.
        shares: By kind, in the order of ``KINDS``.
        missing: Uncovered points, toggles apart: they would hide everything else.
        toggles: Uncovered toggles.
    """

    engine: str
    path: str
    shares: tuple[Share, ...]
    missing: int
    toggles: int


@dataclass(frozen=True)
class Missing:
    """An uncovered point: its kind, its line, and its text."""

    kind: str
    line: int
    text: str


@dataclass(frozen=True)
class SourceLine:
    """A line of a source.

    Attributes:
        number: From 1.
        state: ``hit``, ``part`` (some of its points were not hit), ``miss``, or empty.
        hits: Executions, None without a line point.
        marks: Shares of the other kinds that the line has points of.
        code, comment: The text, cut where a comment begins.
        missing: (kind, points) that were not hit.
        excluded: (kind, descriptions, reason) of points that do not count.
    """

    number: int
    state: str
    hits: int | None
    marks: tuple[Share, ...]
    code: str
    comment: str
    missing: tuple[tuple[str, str], ...]
    excluded: tuple[tuple[str, str, str], ...]


def code_pages(view: RegressionView) -> Iterator[Page]:
    """Yields the pages of code coverage; none when no run counted it."""
    if view.code is None:
        return
    rows = file_rows(view.code)
    engines = {name: shares(totals) for name, totals in view.code.engines.items()}
    data = {"kinds": KINDS, "engines": engines, "rows": rows, "counted": view.code.runs}
    yield Page("code.html", "Code coverage", "code.html.j2", data)
    files = {(file.engine, file.path): file for file in view.code.files}
    for row in rows:
        file = files[row.engine, row.path]
        missing = list(not_covered(file))
        data = {
            "row": row,
            "lines": [source_line(line) for line in file.lines],
            "missing": missing[:MOST_MISSING],
            "more": len(missing) - MOST_MISSING,
        }
        path, name = source_path(row.engine, row.path), PurePath(row.path).name
        yield Page(path, name, "source.html.j2", data, section="code.html")


def file_rows(code: CodeView) -> list[FileRow]:
    """Returns the sources by engine, those that lack most first, toggles looked at last."""
    order = list(code.engines)

    def place(row: FileRow) -> tuple[int, int, int, str]:
        return order.index(row.engine), -row.missing, -row.toggles, row.path

    return sorted(map(_file_row, code.files), key=place)


def _file_row(file: CodeFile) -> FileRow:
    found = shares(file.totals)
    missing = {share.kind: share.total - share.covered for share in found}
    toggles = missing.pop("toggle")
    return FileRow(file.engine, file.path, found, sum(missing.values()), toggles)


def shares(totals: Mapping[str, tuple[int, int]]) -> tuple[Share, ...]:
    """Returns the shares of ``totals``, kind to (covered, all), in the order of ``KINDS``."""
    return tuple(_share(kind, *totals.get(kind, (0, 0))) for kind in KINDS)


def _share(kind: str, covered: int, total: int) -> Share:
    return Share(kind, covered, total, 100.0 * covered / total if total else None)


def source_line(line: CodeLine) -> SourceLine:
    """Returns a line as the page shows it."""
    marks, missing = [], []
    for kind in KINDS[1:]:
        points = [(text, count) for name, text, count in line.points if name == kind]
        if not points:
            continue
        holes = [text for text, count in points if not count]
        total = sum(_size(kind, text) for text, _ in points)
        marks.append(_share(kind, total - sum(_size(kind, text) for text in holes), total))
        if holes:
            more = len(holes) - MOST_POINTS
            missing.append(
                (kind, "; ".join(holes[:MOST_POINTS]) + (f"; and {more} more" if more > 0 else ""))
            )
    state = ""
    if line.line == 0:
        state = "miss"
    elif any(share.covered < share.total for share in marks):
        state = "part" if line.line or any(share.covered for share in marks) else "miss"
    elif line.line or marks:
        state = "hit"
    code, sign, comment = line.text.expandtabs(4).partition("//")
    return SourceLine(
        line.number,
        state,
        line.line,
        tuple(marks),
        code,
        sign + comment,
        tuple(missing),
        line.excluded,
    )


def _size(kind: str, text: str) -> int:
    """Returns how many points an entry represents: bits of a signal come as ``q[7:4]:0->1``."""
    bits = _BITS.search(text) if kind == "toggle" else None
    return int(bits[1]) - int(bits[2]) + 1 if bits else 1


def not_covered(file: CodeFile) -> Iterator[Missing]:
    """Yields what of a source was not covered: lines first, neighbours as one entry."""
    cold = [line.number for line in file.lines if line.line == 0]
    texts = {line.number: line.text for line in file.lines}
    for first, last in _runs(cold):
        text = texts[first].strip()
        yield Missing("line", first, text if first == last else f"to line {last}: {text}")
    for kind in KINDS[1:]:
        for line in file.lines:
            holes = [text for name, text, count in line.points if name == kind and not count]
            for text in holes:
                yield Missing(kind, line.number, text)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields first and last of each run of neighbours of ascending numbers."""
    for _, group in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        members = [number for _, number in group]
        yield members[0], members[-1]
