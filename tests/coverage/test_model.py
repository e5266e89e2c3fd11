# SPDX-License-Identifier: Apache-2.0
"""Counting, crossing, excluding, merging, exporting: on small groups with hand-made indices."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tb.cli.main import app
from tb.coverage.export.exchange import from_json, to_json
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import (
    NOT_SAMPLED,
    Coverage,
    CoverageError,
    CoverGroup,
    Cross,
    GroupCounts,
    excluding,
    point,
)
from tb.coverage.table import table

A = point("a", ["x"])


def small_group() -> CoverGroup:
    return CoverGroup(
        "small",
        (point("a", ["a0", "a1", "a2"], a2="cannot be"), point("b", ["b0", "b1"])),
        (Cross("a x b", ("a", "b"), (excluding("never together", a="a1", b="b0"),)),),
        "doc",
    )


def crossing(*of: str, **excluded: str) -> CoverGroup:
    """Returns a group of the point ``a`` and a cross that excludes some bins."""
    exclude = (excluding("r", **excluded),) if excluded else ()
    return CoverGroup("g", (A,), (Cross("c", of, exclude),))


def index(**values: list[int]) -> dict[str, np.ndarray]:
    return {name: np.array(item, dtype=np.int64) for name, item in values.items()}


def test_counts_percent_and_holes() -> None:
    counts = GroupCounts(small_group())
    assert counts.group.reachable["a x b"].tolist() == [True, True, False, True, False, False]
    assert counts.percent == 0
    assert counts.total == 2 + 2 + 3
    counts.sample(index(a=[0, 0, 1, NOT_SAMPLED], b=[0, 0, 1, 1]))
    assert counts.hits["a"].tolist() == [2, 1, 0]
    assert counts.hits["b"].tolist() == [2, 2]
    assert counts.hits["a x b"].tolist() == [2, 0, 0, 1, 0, 0]
    assert counts.holes("a") == []
    assert counts.holes("a x b") == ["a=a0 x b=b1"]
    assert counts.covered == 6
    assert counts.percent == pytest.approx(100 * 6 / 7)
    assert counts.impossible == []


def test_hits_on_unreachable_bins_do_not_count_and_are_reported() -> None:
    counts = GroupCounts(small_group())
    counts.sample(index(a=[2, 1], b=[0, 0]))
    assert counts.impossible == [
        "small.a: a2",
        "small.a x b: a=a1 x b=b0",
        "small.a x b: a=a2 x b=b0",
    ]
    assert counts.covered == 2


def test_rows_select() -> None:
    counts = GroupCounts(small_group())
    counts.sample(index(a=[0, 1, 1], b=[0, 1, 1]), np.array([1, 2]))
    assert counts.hits["a"].tolist() == [0, 2, 0]


@pytest.mark.long
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 1), st.integers(-1, 4)), max_size=80))
def test_against_counting_one_by_one(samples: list[tuple[int, int, int]]) -> None:
    group = CoverGroup(
        "three",
        (point("a", list("wxyz")), point("b", list("pq")), point("c", list("abcde"))),
        (Cross("abc", ("a", "b", "c")), Cross("ca", ("c", "a"))),
    )
    counts = GroupCounts(group)
    a, b, c = ([row[k] for row in samples] for k in range(3))
    half = len(samples) // 2
    counts.sample(index(a=a[:half], b=b[:half], c=c[:half]))
    counts.sample(index(a=a[half:], b=b[half:], c=c[half:]))
    slow = {name: np.zeros_like(hits) for name, hits in counts.hits.items()}
    for x, y, z in samples:
        for name, value in (("a", x), ("b", y), ("c", z)):
            if value >= 0:
                slow[name][value] += 1
        if min(x, y, z) >= 0:
            slow["abc"][(x * 2 + y) * 5 + z] += 1
        if min(x, z) >= 0:
            slow["ca"][z * 4 + x] += 1
    for name, hits in counts.hits.items():
        assert hits.tolist() == slow[name].tolist(), name


def test_index_outside_the_bins() -> None:
    with pytest.raises(CoverageError, match=r"small\.b: bin 2 of 2"):
        GroupCounts(small_group()).sample(index(a=[0], b=[2]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: point("a", []), "at least one"),
        (lambda: point("a", ["x", "x"]), "distinct"),
        (lambda: point("a", ["x"], y="no such"), "no bins"),
        (lambda: CoverGroup("g", (A, A)), "repeats"),
        (lambda: crossing("a", "b"), "unknown b"),
        (lambda: crossing("a", b="x"), "excludes by unknown b"),
        (lambda: crossing("a", a="q"), "no bins"),
        (lambda: GroupCounts(small_group(), {"b": np.zeros(3, np.int64)}), "2 bins"),
    ],
)
def test_contradicting_definitions(build: Any, message: str) -> None:
    with pytest.raises(CoverageError, match=message):
        build()


def sampled(a: list[int], b: list[int]) -> Coverage:
    coverage = Coverage([small_group()])
    coverage.groups["small"].sample(index(a=a, b=b))
    return coverage


def test_merge_adds_counts() -> None:
    one, other = sampled([0, 0], [0, 1]), sampled([1, 0], [1, 0])
    one.merge(other)
    assert one.groups["small"].hits["a"].tolist() == [3, 1, 0]
    assert one.percent == 100
    # A group that is missing is added as a copy.
    empty = Coverage([])
    empty.merge(other)
    empty.merge(other)
    assert empty.groups["small"].hits["a"].tolist() == [2, 2, 0]
    assert other.groups["small"].hits["a"].tolist() == [1, 1, 0]


def test_merge_of_different_definitions() -> None:
    other = Coverage([CoverGroup("small", (point("a", ["a0"]),))])
    with pytest.raises(CoverageError, match="defined differently"):
        sampled([0], [0]).merge(other)


def test_json_round_trip() -> None:
    one = sampled([0, 1], [0, 1])
    text = json.dumps(to_json(one))
    back = from_json(json.loads(text))
    assert back.groups["small"].group == one.groups["small"].group
    assert to_json(back) == to_json(one)
    back.merge(one)
    assert back.groups["small"].hits["a"].tolist() == [2, 2, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema="other"), "schema is 'other'"),
        (lambda d: d["groups"][0].pop("points"), "lacks"),
        (lambda d: d["groups"][0]["crosses"][0].update(hits=[1]), "6 bins"),
    ],
)
def test_broken_json(change: Any, message: str) -> None:
    data = to_json(sampled([0], [0]))
    change(data)
    with pytest.raises(CoverageError, match=message):
        from_json(data)


def test_table_names_holes() -> None:
    text = table(sampled([0], [0]))
    assert "small: 3 of 7 bins, 42.86 %" in text
    assert "holes: a1;" in text
    assert "a=a0 x b=b1" in text
    assert text.endswith("total: 3 of 7 bins, 42.86 %")
    assert "and 1 more" in table(sampled([0], [0]), holes=1)
    assert " more" not in table(sampled([0], [0]), holes=2)
    full = sampled([0, 1, 0], [0, 1, 1])
    assert "point" not in table(full, complete=False)
    assert "unreachable" in table(sampled([2], [0]))


def test_summary() -> None:
    summary = sampled([0], [0]).summary()
    assert (summary.covered, summary.bins, summary.percent) == (3, 7, 42.86)
    assert summary.groups == {"small": 42.86}
    assert Coverage([]).percent == 100


# --- `pto-dv coverage-table` prints what the coverage defines


@pytest.mark.long
def test_table_names_every_point_and_cross_with_the_reasons_of_its_exclusions() -> None:
    done = CliRunner().invoke(app, ["coverage-table"])
    assert done.exit_code == 0
    text = done.stdout
    for counts in FunctionalCoverage(illegal=True).groups.values():
        points, crosses = counts.group.points, counts.group.crosses
        assert f"| [`{counts.group.name}`](#{counts.group.name}) |" in text
        for name in [*[f"`{item.name}`" for item in points], *[cross.name for cross in crosses]]:
            assert f"\n| {name} |" in text, name
        reasons = [one.reason for cross in crosses for one in cross.exclude]
        reasons += [one.unreachable for item in points for one in item.bins]
        assert all(reason in text for reason in reasons)
