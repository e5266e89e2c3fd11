# SPDX-License-Identifier: Apache-2.0
"""Memory and speed over the course of long runs, as text and as a picture (``pto-dv course``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tb.common.errors import PtoError
from tb.common.files import regular, write_bytes
from tb.common.paths import relative
from tb.common.text import columns
from tb.record.record import Mark, RunRecord
from tb.report.page import TEMPLATES

PARTS = 10
"""Parts of a run whose speeds are compared."""

WIDTH, HEIGHT, LEFT = 560, 110, 60
"""Measures of a panel in pixels, and of the space for its scale."""

COLOURS = ("#0b6e99", "#b4441b", "#4f7a28", "#7b4fa3", "#8a6d00", "#40606b")


@dataclass(frozen=True)
class Panel:
    """One panel: title, greatest value of its scale, and the points of each run."""

    title: str
    most: float
    lines: tuple[str, ...]


def speeds(course: Sequence[Mark], parts: int = PARTS) -> list[tuple[float, float]]:
    """Returns transactions so far, and transactions a second, at the end of each part of a run."""
    last = course[-1].transactions
    ends = [course[0]]
    for part in range(1, parts + 1):
        end = next(mark for mark in course if mark.transactions >= last * part / parts)
        if end.seconds > ends[-1].seconds:
            ends.append(end)
    return [
        (two.transactions, (two.transactions - one.transactions) / (two.seconds - one.seconds))
        for one, two in pairwise(ends)
    ]


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or "its text is not that of a record"


def read_courses(paths: Sequence[Path]) -> list[RunRecord]:
    """Reads records of runs.

    Raises:
        PtoError: one is not a record, or of a run too short to have a course.
    """
    records = []
    for path in paths:
        try:
            record = RunRecord.model_validate_json(regular(path).read_text())
        except (OSError, ValueError) as error:
            raise PtoError(
                f"no record of a run: {_reason(error)}",
                where=str(path),
                legal="record.json of a run",
                remedy="name record.json in the folder of a run, below sim_build/runs",
            ) from None
        course = record.times.course
        if len(course) < PARTS or not speeds(course):
            done = course[-1].transactions if course else 0
            raise PtoError(
                f"the run has {len(course)} marks and {done} transactions: a mark is made when all "
                "memories are compared",
                where=str(path),
                legal=f"{PARTS} marks or more, and a transaction",
                remedy="make it longer: N=100000 has enough",
            )
        records.append(record)
    return records


def course_text(records: Sequence[RunRecord]) -> str:
    """Returns a table: memory and speed of each run."""
    rows = [
        ["seed", "result", "transactions", "MB at most", "MB at the end", "a second, by tenths"]
    ]
    for record in records:
        course = record.times.course
        rows.append(
            [
                str(record.settings.seed),
                record.status,
                str(record.transactions),
                f"{max(mark.megabytes for mark in course):.0f}",
                f"{course[-1].megabytes:.0f}",
                " ".join(f"{rate:.0f}" for _, rate in speeds(course)),
            ]
        )
    return "\n".join(columns(rows))


def picture(records: Sequence[RunRecord]) -> str:
    """Returns an SVG of both: memory at every mark, speed by parts of each run."""
    courses = [record.times.course for record in records]
    last = max(course[-1].transactions for course in courses)
    memory = [[(mark.transactions, mark.megabytes) for mark in course] for course in courses]
    panels = (
        _panel("memory of the simulator, MB", memory, last),
        _panel("transactions a second", [speeds(course) for course in courses], last),
    )
    env = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=True
    )
    return env.get_template("course.svg.j2").render(
        panels=panels,
        seeds=[record.settings.seed for record in records],
        colours=COLOURS,
        last=last,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
    )


def _panel(title: str, values: Sequence[Sequence[tuple[float, float]]], last: int) -> Panel:
    most = max(y for line in values for _, y in line)
    step = 10 ** (len(str(int(most))) - 1)
    most = step * (int(most / step) + 1)

    def at(x: float, y: float) -> str:
        return f"{LEFT + WIDTH * x / last:.1f},{HEIGHT * (1 - y / most):.1f}"

    return Panel(title, most, tuple(" ".join(at(x, y) for x, y in line) for line in values))


def course_command(paths: Sequence[Path], target: Path) -> int:
    """Prints the table and writes the picture; returns 0.

    Raises:
        PtoError: a record is not fit, or the picture cannot be written.
    """
    records = read_courses(paths)
    print(course_text(records))
    write_bytes(target, picture(records).encode())
    print(f"picture in {relative(target)}")
    return 0
