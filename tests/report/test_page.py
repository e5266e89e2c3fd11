# SPDX-License-Identifier: Apache-2.0
"""Numbers as they are written, places of pages, and charts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime

import pytest

from tb.report.charts import stack, trend
from tb.report.page import (
    breakable,
    bucket_path,
    compact,
    duration,
    filter_state,
    group_path,
    moment,
    number,
    plural,
    signed,
    slug,
    source_path,
)


def plain(text: str) -> str:
    """Returns a text with ordinary spaces."""
    return text.replace("\u202f", " ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 01 s"),
        (3599.7, "1 h"),
        (3660, "1 h 01 min"),
        (90000, "25 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert plain(duration(seconds)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1234, "1 234"), (2094900, "2 094 900"), (4.25, "4.2"), (7.0, "7")],
)
def test_numbers(value: float, text: str) -> None:
    assert plain(number(value)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(17, "17"), (2_094_900, "2.09 M"), (34_000, "34.0 k"), (3.4e9, "3.40 G")]
)
def test_large_numbers_in_three_figures(value: float, text: str) -> None:
    assert plain(compact(value)) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.94, 1, "+1.9"),
        (-6.25, 1, "\u22126.2"),
        (0.04, 1, "0"),
        (-0.04, 1, "0"),
        (90_000, 0, "+90.0 k"),
        (-3, 0, "\u22123"),
    ],
)
def test_changes_have_a_sign(value: float, digits: int, text: str) -> None:
    assert plain(signed(value, digits)) == text


def test_small_texts() -> None:
    assert plural(1, "run") == "1 run"
    assert plural(2, "bucket") == "2 buckets"
    assert plural(0, "entry", "entries") == "0 entries"
    assert moment(None) == ""
    assert moment(datetime(2026, 11, 21, 2, 0, tzinfo=UTC)) == "2026-11-21 02:00 UTC"
    assert filter_state(width="128/512", q="a b") == "width=128%2F512&q=a+b"
    assert breakable("tests/a_b.py::<x>") == "tests/<wbr>a_<wbr>b.<wbr>py::<wbr>&lt;x&gt;"


def test_names_of_files_are_safe_and_different() -> None:
    names = [
        "mte_gm_ub",
        "mte_gm_ub (gm 128)",
        "mte_gm_ub  (gm 128)",
        "a/b",
        "a-b",
        "../x",
        "é",
        "",
    ]
    slugs = [slug(name) for name in names]
    assert slugs[0] == "mte_gm_ub"
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", text) for text in slugs)
    assert slug("x" * 500 + "/") != slug("x" * 500 + "?")
    assert len(slug("x/" * 500)) < 100
    assert bucket_path("B3fa2c190d") == "failures/B3fa2c190d.html"
    assert group_path("rules") == "coverage/rules.html"
    assert source_path("mte2", "a/b.v") != source_path("mte2", "a-b.v")


def parsed(svg: str) -> ElementTree.Element:
    """Returns a chart as a tree: what HTML allows and XML does not is an error."""
    return ElementTree.fromstring(svg)


def test_a_trend_says_its_values() -> None:
    chart = parsed(trend("rate", [("a", 1.0), ("b", None), ("c", 3.5)], "{:.1f}".format))
    assert chart.get("aria-label") == "rate over 3 regression runs: a 1.0, c 3.5"
    assert [text.text for text in chart.iter("text")] == ["1.0", "3.5"]
    assert [title.text for title in chart.iter("title")] == ["a: 1.0", "c: 3.5"]
    # No line leads over the regression run without a value.
    assert [len((line.get("points") or "").split()) for line in chart.iter("polyline")] == [1, 1]


def test_a_trend_goes_up_where_values_do() -> None:
    chart = parsed(trend("x", [("a", 1.0), ("b", 2.0), ("c", 5.0)], str, height=40))
    heights = [float(dot.get("cy") or 0) for dot in chart.iter("circle")]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == 34.0
    assert heights[-1] == 6.0


def test_little_looks_little() -> None:
    chart = parsed(trend("x", [("a", 99.9), ("b", 100.0)], str, height=40, span=5.0))
    first, last = (float(dot.get("cy") or 0) for dot in chart.iter("circle"))
    assert 0 < first - last < 2


@pytest.mark.parametrize("values", [[], [None], [7.0], [7.0, 7.0]])
def test_few_values_are_a_chart(values: list[float | None]) -> None:
    chart = parsed(trend("x", [(str(i), value) for i, value in enumerate(values)], str))
    assert len(list(chart.iter("circle"))) == sum(value is not None for value in values)


def test_many_regression_runs_have_no_points_but_the_last() -> None:
    chart = parsed(trend("x", [(str(i), float(i)) for i in range(200)], str))
    assert len(list(chart.iter("circle"))) == 1


def test_names_in_a_chart_are_escaped() -> None:
    chart = parsed(trend('a"<b>', [("<n>", 1.0), ("&", 2.0)], str))
    assert chart.get("aria-label") == 'a"<b> over 2 regression runs: <n> 1.0, & 2.0'


def test_a_stack_is_as_wide_as_its_place() -> None:
    chart = parsed(stack("Runs", [("passed", "ok", 30), ("failed", "bad", 0), ("open", "no", 10)]))
    assert chart.get("aria-label") == "Runs: 30 passed, 0 failed, 10 open"
    assert [part.get("width") for part in chart.iter("rect")] == ["75.000%", "25.000%"]
    assert len(parsed(stack("Runs", []))) == 0
