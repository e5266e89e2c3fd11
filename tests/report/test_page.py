# SPDX-License-Identifier: Apache-2.0
"""Numbers as they are written, places of pages, and lines over regression runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tb.report.charts import EDGE, HEIGHT, trend
from tb.report.formats import breakable, duration, moment, number, plural, short, signed
from tb.report.page import bucket_path, filter_state, group_path, slug, source_path

NUMBERS: dict[Callable[[float], str], dict[float, str]] = {
    duration: {0.0: "0.0 s", 9.94: "9.9 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min",
               61: "1 min 01 s", 3599.7: "1 h", 3660: "1 h 01 min", 90000: "25 h"},
    number: {0: "0", 1234: "1 234", 2094900.4: "2 094 900"},
    short: {0: "0", 999.9: "999", 1000: "1.0k", 1999: "1.9k", 10_000: "10k", 999_999: "999k",
            4_123_456: "4.1M", 10**18: "many"},
    signed: {1.94: "+1.9", -6.25: "\u22126.2", -0.04: "0", 90_000: "+90k"},
}  # fmt: skip


@pytest.mark.parametrize("written", NUMBERS)
def test_numbers(written: Callable[[float], str]) -> None:
    wanted = NUMBERS[written]
    assert {value: written(value).replace("\u202f", " ") for value in wanted} == wanted


def test_small_texts() -> None:
    assert signed(-3, 0) == "\u22123"
    assert plural(1, "run") == "1 run"
    assert plural(2, "bucket") == "2 buckets"
    assert plural(0, "entry", "entries") == "0 entries"
    assert moment(None) == ""
    assert moment("2026-11-21T02:00:00Z") == "2026-11-21 02:00 UTC"
    assert filter_state(width="128/512", q="a b") == "width=128%2F512&q=a+b"
    assert breakable("tests/a_b.py::<x>") == "tests/<wbr>a_<wbr>b.<wbr>py::<wbr>&lt;x&gt;"


def test_names_of_files_are_safe_and_different() -> None:
    names = ["mte_gm_ub", "mte_gm_ub (gm 128)", "mte_gm_ub  (gm 128)"]
    names += ["a/b", "a-b", "../x", "é", ""]
    slugs = [slug(name) for name in names]
    assert slugs[0] == "mte_gm_ub"
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", text) for text in slugs)
    assert slug("x" * 500 + "/") != slug("x" * 500 + "?")
    assert len(slug("x/" * 500)) < 100
    assert bucket_path("B3fa2c190d") == "failures/B3fa2c190d.html"
    assert group_path("rules") == "coverage/rules.html"
    assert source_path("mte2", "a/b.v") != source_path("mte2", "a-b.v")


def test_a_trend_has_its_values_as_text() -> None:
    found = trend("rate", [("a", 1.0), ("b", None), ("c", 3000.0)], "count")
    assert found.label == "rate over 3 regression runs: a 1, c 3.0k"
    assert found.ends == "1 to 3.0k"
    assert [dot.text for dot in found.dots] == ["a: 1", "c: 3.0k"]
    assert [dot.last for dot in found.dots] == [False, True]
    # No line leads over the regression run without a value.
    assert [len(points.split()) for points in found.lines] == [1, 1]


def test_a_trend_goes_up_where_values_do() -> None:
    heights = [dot.y for dot in trend("x", [("a", 1.0), ("b", 2.0), ("c", 5.0)], "count").dots]
    assert heights == sorted(heights, reverse=True)
    assert (heights[0], heights[-1]) == (HEIGHT - EDGE, EDGE)
    # A small change of a percentage looks small.
    first, last = (dot.y for dot in trend("x", [("a", 99.9), ("b", 100.0)], "percent").dots)
    assert 0 < first - last < 2


@pytest.mark.parametrize("values", [[], [None], [7.0], [7.0, 7.0]])
def test_few_values_are_a_line(values: list[float | None]) -> None:
    found = trend("x", [(str(at), value) for at, value in enumerate(values)], "time")
    assert len(found.dots) == sum(value is not None for value in values)
    assert ("no value yet" in found.label) == (not found.dots)


def test_many_regression_runs_have_no_points_but_the_last() -> None:
    assert len(trend("x", [(str(at), float(at)) for at in range(200)], "count").dots) == 1
