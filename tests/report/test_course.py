# SPDX-License-Identifier: Apache-2.0
"""Memory and speed over the course of a run: marks, table and picture."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tb.common.errors import PtoError
from tb.env.stopwatch import MOST_MARKS, Stopwatch
from tb.record.record import Mark, RunRecord
from tb.record.settings import RunSettings
from tb.report.course import course_command, course_text, picture, read_courses, speeds


def marks(rates: list[float], megabytes: float = 300) -> list[Mark]:
    """One mark each second."""
    found = [Mark(transactions=0, seconds=5.0, megabytes=megabytes)]
    for rate in rates:
        last = found[-1]
        found.append(
            Mark(
                transactions=last.transactions + int(rate),
                seconds=last.seconds + 1,
                megabytes=last.megabytes + 1,
            )
        )
    return found


def record(seed: int, course: list[Mark]) -> RunRecord:
    settings = RunSettings(test="random", seed=seed, transactions=1)
    made = RunRecord(settings=settings, status="pass", transactions=course[-1].transactions)
    made.times.course = course
    return made


def test_speed_is_that_of_each_part() -> None:
    assert [rate for _, rate in speeds(marks([100.0] * 20))] == [100.0] * 10
    slower = [rate for _, rate in speeds(marks([100.0] * 10 + [50.0] * 20))]
    assert (slower[0], slower[-1]) == (100, 50)


def test_the_table_has_peak_and_end() -> None:
    course = marks([100.0] * 20)
    course[7] = course[7].model_copy(update={"megabytes": 999.0})
    row = course_text([record(7, course)]).splitlines()[1].split()
    assert row == ["7", "pass", "2000", "999", "320", *["100"] * 10]


def test_the_picture_has_a_line_for_each_run_in_both_panels() -> None:
    drawn = ElementTree.fromstring(
        picture([record(7, marks([100.0] * 20)), record(8, marks([80.0] * 20))])
    )
    lines = [one for one in drawn.iter() if one.tag.endswith("polyline")]
    assert len(lines) == 4
    points = [tuple(map(float, one.split(","))) for one in lines[0].attrib["points"].split()]
    assert len(points) == 21
    assert all(two[0] > one[0] and two[1] < one[1] for one, two in pairwise(points))


def test_a_record_without_a_course_is_refused(tmp_path: Path) -> None:
    short, none, idle = (tmp_path / f"{name}.json" for name in ("short", "none", "idle"))
    short.write_text(record(7, marks([100.0])).model_dump_json())
    none.write_text("{}")
    with pytest.raises(PtoError, match="2 marks") as refused:
        read_courses([short])
    assert "N=100000" in str(refused.value)
    idle.write_text(record(7, marks([0.0] * 20)).model_dump_json())
    with pytest.raises(PtoError, match="21 marks and 0 transactions"):
        read_courses([idle])
    with pytest.raises(PtoError, match="no record of a run"):
        course_command([none], tmp_path / "course.svg")
    assert not (tmp_path / "course.svg").exists()


def test_a_stopwatch_keeps_a_bounded_number_of_marks() -> None:
    watch = Stopwatch()
    for done in range(5 * MOST_MARKS):
        watch.mark(done)
    assert MOST_MARKS // 2 <= len(watch.marks) <= MOST_MARKS
    assert watch.marks[0].transactions == 0
    assert watch.marks[-1].transactions == 5 * MOST_MARKS - 1
    assert all(two.seconds >= one.seconds for one, two in pairwise(watch.marks))
    assert 10 < watch.marks[-1].megabytes < 10_000
