# SPDX-License-Identifier: Apache-2.0
"""Code coverage of the engines: points, counts merged over runs, and views for pages.

Verilator counts line, branch, expression and toggle points of every instance. Here the counts of
all instances of one engine are added up; a module that several engines use is counted for each
engine. :mod:`tb.coverage.export.code_files` reads and writes them.

A toggle is one edge of one bit; signals wider than the toggle limit of the build are left out
(``TOGGLE_WIDTH`` in tb/run/build.py), and so are the sources of the harness.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tb.isa.ops import SLOTS

KINDS = ("line", "branch", "expression", "toggle")
"""Kinds of points. A line is covered when a line or branch point that it belongs to is."""

_BIT = re.compile(r"(.*?)\[(\d+)\](:[01]->[01])")
_BRANCHES = {"cond_then": "?: first", "cond_else": "?: second"}

Totals = Mapping[str, tuple[int, int]]
"""Kind to (covered, all) points; of the kind ``line`` these are source lines."""


class CodePoint(NamedTuple):
    """A coverage point: kind, place in the source, and the lines it counts.

    Attributes:
        engine: Slot.
        path: Source, from the top of the project or absolute.
        line, column: Its place, from 1.
        kind: ``line``, ``branch``, ``expression`` or ``toggle``.
        text: Verilator's description, such as ``else``, ``(a==1 && b==0) => 1``, ``q[3]:0->1``.
        span: Lines that were executed when it counts, such as ``87,90-93``, or empty.
    """

    engine: str
    path: str
    line: int
    column: int
    kind: str
    text: str
    span: str

    def lines(self) -> Iterator[int]:
        """Yields the source lines in ``span``."""
        for part in self.span.split(",") if self.span else ():
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)


@dataclass
class CodeCounts:
    """Counts by point, of one run or the sum of several.

    Attributes:
        counts: Executions, or edges seen.
        runs: Number of runs.
        excluded: Points that are not in the totals, with the reason; a line is its
            :func:`line_point`.
    """

    counts: dict[CodePoint, int] = field(default_factory=dict)
    runs: int = 0
    excluded: dict[CodePoint, str] = field(default_factory=dict)

    def merge(self, other: CodeCounts) -> None:
        """Adds the counts of other runs."""
        mine = self.counts
        for point, count in other.counts.items():
            mine[point] = mine.get(point, 0) + count
        self.runs += other.runs

    def lines(self) -> dict[tuple[str, str], dict[int, int]]:
        """Returns (engine, path) to source line to executions."""
        found: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        for point, count in self.counts.items():
            if point.kind in ("line", "branch"):
                lines = found[point.engine, point.path]
                for number in point.lines():
                    lines[number] = max(lines.get(number, 0), count)
        return found

    def by_file(self) -> dict[tuple[str, str], Totals]:
        """Returns the totals of each (engine, path), in order."""
        covered: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(
            lambda: {kind: [0, 0] for kind in KINDS}
        )
        for point, count in self.counts.items():
            if point.kind != "line" and point not in self.excluded:
                cell = covered[point.engine, point.path][point.kind]
                cell[0] += count > 0
                cell[1] += 1
        for place, lines in self.lines().items():
            hits = [n for at, n in lines.items() if line_point(*place, at) not in self.excluded]
            covered[place]["line"] = [sum(count > 0 for count in hits), len(hits)]
        return {
            place: {kind: (cell[0], cell[1]) for kind, cell in covered[place].items()}
            for place in sorted(covered, key=_order)
        }

    def by_engine(self) -> dict[str, Totals]:
        """Returns the totals of each engine."""
        return _added(self.by_file())

    def percent(self) -> dict[str, float]:
        """Returns the percentage of each kind over all engines, kinds without points left out."""
        totals = dict.fromkeys(KINDS, (0, 0))
        for cells in self.by_engine().values():
            totals = {kind: _plus(totals[kind], cells[kind]) for kind in KINDS}
        return {kind: 100.0 * hit / every for kind, (hit, every) in totals.items() if every}


def line_point(engine: str, path: str, number: int) -> CodePoint:
    """Returns a source line as a point, for exclusions."""
    return CodePoint(engine, path, number, 0, "line", "", "")


def _order(place: tuple[str, str]) -> tuple[int, str]:
    return SLOTS.index(place[0]), place[1]


def _plus(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _added(files: Mapping[tuple[str, str], Totals]) -> dict[str, Totals]:
    engines: dict[str, dict[str, tuple[int, int]]] = {}
    for (engine, _), totals in files.items():
        mine = engines.setdefault(engine, dict.fromkeys(KINDS, (0, 0)))
        for kind, cell in totals.items():
            mine[kind] = _plus(mine[kind], cell)
    return dict(engines)


# ---- data of pages ----


@dataclass(frozen=True)
class CodeLine:
    """Counts of one source line.

    Attributes:
        number: From 1.
        text: The line.
        line: Executions, None where the line has no line point that counts.
        points: (kind, description, count) of branch, expression and toggle points on the line.
            Neighbouring bits of a signal are one entry, ``q[7:4]:0->1``, with the smallest count
            for those that have changed, and one with 0 for those that have not.
        excluded: (kind, descriptions, reason) of points that do not count.
    """

    number: int
    text: str
    line: int | None
    points: tuple[tuple[str, str, int], ...] = ()
    excluded: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class CodeFile:
    """One source of an engine.

    Attributes:
        engine: Slot of the engine.
        path: From the top of the project, or absolute for sources elsewhere.
        totals: Kind to (covered, all) points.
        lines: The source with its counts; empty when the source is not available.
    """

    engine: str
    path: str
    totals: Totals
    lines: tuple[CodeLine, ...] = ()


@dataclass(frozen=True)
class CodeView:
    """Code coverage of a regression run.

    Attributes:
        engines: Slot to kind to (covered, all) points.
        files: Sources by engine.
        runs: Runs that counted.
    """

    engines: Mapping[str, Totals]
    files: tuple[CodeFile, ...]
    runs: int


def code_view(counts: CodeCounts, root: Path) -> CodeView:
    """Returns the data of pages: totals, and every source with its counts.

    Args:
        counts: Of a regression run.
        root: Top of the project, where sources are read.
    """
    files = counts.by_file()
    executed = counts.lines()
    points: dict[tuple[str, str], dict[int, list[tuple[CodePoint, int]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for point, count in sorted(counts.counts.items()):
        if point.kind != "line" and point not in counts.excluded:
            points[point.engine, point.path][point.line].append((point, count))
    excluded: dict[tuple[str, str, int], dict[tuple[str, str], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for point, reason in sorted(counts.excluded.items()):
        excluded[point.engine, point.path, point.line][point.kind, reason].append(point.text)
        if point.kind == "line":
            del executed[point.engine, point.path][point.line]
    sources: dict[str, Sequence[str]] = {}
    shown = []
    for (engine, path), totals in files.items():
        text = sources.setdefault(path, _source(root / path))
        place = engine, path
        lines = tuple(
            CodeLine(
                number,
                line,
                executed[place].get(number),
                _described(points[place][number]),
                tuple(
                    (kind, "; ".join(text for text, _ in _signals((t, 0) for t in texts)), reason)
                    for (kind, reason), texts in excluded[*place, number].items()
                ),
            )
            for number, line in enumerate(text, 1)
        )
        shown.append(CodeFile(engine, path, totals, lines))
    return CodeView(_added(files), tuple(shown), counts.runs)


def _source(path: Path) -> Sequence[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def _described(points: Sequence[tuple[CodePoint, int]]) -> tuple[tuple[str, str, int], ...]:
    """Returns the points of a line for display, in the order of :data:`KINDS`."""
    found = [
        (point.kind, _BRANCHES.get(point.text, point.text), count)
        for point, count in points
        if point.kind != "toggle"
    ]
    found += [
        ("toggle", text, count)
        for text, count in _signals((p.text, count) for p, count in points if p.kind == "toggle")
    ]
    return tuple(sorted(found, key=lambda item: KINDS.index(item[0])))


def _signals(edges: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yields edges with neighbouring bits of a signal merged, see :class:`CodeLine`."""
    signals: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for text, count in edges:
        match = _BIT.fullmatch(text)
        if match is None:
            yield text, count
        else:
            signals[match[1], match[3]][int(match[2])] = count
    for (name, edge), bits in signals.items():
        run: list[int] = []
        for bit in sorted(bits, reverse=True):
            if run and (bit != run[-1] - 1 or (bits[bit] > 0) != (bits[run[-1]] > 0)):
                yield _range(name, edge, run), min(bits[at] for at in run)
                run = []
            run.append(bit)
        yield _range(name, edge, run), min(bits[at] for at in run)


def _range(name: str, edge: str, bits: Sequence[int]) -> str:
    inside = str(bits[0]) if len(bits) == 1 else f"{bits[0]}:{bits[-1]}"
    return f"{name}[{inside}]{edge}"
