# SPDX-License-Identifier: Apache-2.0
"""Code coverage as lcov's tracefiles (``.info``), which genhtml and many services display.

A tracefile has lines and branches. One file holds these two kinds; expressions and toggles have a
file each, with their points as branches of their line, so that percentages are not mixed. Each
engine is a test of its own (``TN``), with all sources it uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tb.common.files import write_bytes
from tb.coverage.export.code import CodeCounts, CodePoint

FILES = {"": ("line", "branch"), ".expression": ("expression",), ".toggle": ("toggle",)}
"""Suffix of the stem of a tracefile's name to the kinds in it."""


def write_lcov(counts: CodeCounts, path: Path, root: Path) -> list[Path]:
    """Writes ``code.info`` for ``path`` ``code.info``, ``code.expression.info`` and so on.

    Args:
        counts: Of a regression run.
        path: The file for lines and branches.
        root: Top of the project, for the absolute names of sources.

    Returns:
        The files.

    Raises:
        PtoError: a file cannot be written.
    """
    written = []
    for word, kinds in FILES.items():
        target = path.with_name(f"{path.stem}{word}{path.suffix}")
        data = tracefile(counts, root, kinds).encode("utf-8", errors="surrogateescape")
        write_bytes(target, data)
        written.append(target)
    return written


def tracefile(counts: CodeCounts, root: Path, kinds: Sequence[str]) -> str:
    """Returns the text of a tracefile with points of ``kinds``.

    Lines (``DA``) are those of the kind ``line`` and those that have points of ``kinds``. A
    line counts as executed when one of these points does: lcov reports branches of a line that was
    never executed as inconsistent.
    """
    executed = counts.lines() if "line" in kinds else {}
    points: dict[tuple[str, str], list[tuple[CodePoint, int]]] = defaultdict(list)
    for point, count in sorted(counts.counts.items()):
        if point.kind in kinds and point.kind != "line":
            points[point.engine, point.path].append((point, count))
    branches = _branches(point for listed in points.values() for point, _ in listed)
    records = []
    for place in counts.by_file():
        if place not in points and place not in executed:
            continue
        lines = dict(executed.get(place, {}))
        for point, count in points[place]:
            lines[point.line] = max(lines.get(point.line, 0), count)
        taken = []
        for point, count in points[place]:
            text = str(count) if lines[point.line] else "-"
            taken.append(f"BRDA:{point.line},{branches[_same(point)]},{text}")
        records += [
            f"TN:{place[0]}",
            f"SF:{root / place[1]}",
            *taken,
            f"BRF:{len(taken)}",
            f"BRH:{sum(count > 0 for _, count in points[place])}",
            *(f"DA:{number},{count}" for number, count in sorted(lines.items())),
            f"LF:{len(lines)}",
            f"LH:{sum(count > 0 for count in lines.values())}",
            "end_of_record",
        ]
    return "\n".join([*records, ""])


def _same(point: CodePoint) -> CodePoint:
    """Returns the point without its engine: lcov adds up common sources of engines."""
    return point._replace(engine="")


def _branches(points: Iterable[CodePoint]) -> dict[CodePoint, str]:
    """Returns block and branch number of each point; points of one column are a block."""
    found: dict[CodePoint, str] = {}
    for _, same in groupby(sorted({_same(point) for point in points}), lambda p: (p.path, p.line)):
        here = list(same)
        columns = {column: at for at, column in enumerate(sorted({p.column for p in here}))}
        found |= {point: f"{columns[point.column]},{at}" for at, point in enumerate(here)}
    return found
