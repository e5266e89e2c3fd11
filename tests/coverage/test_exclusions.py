# SPDX-License-Identifier: Apache-2.0
"""Exclusions: totals without them, errors of the file, reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.coverage.exclusions import apply_exclusions, known_groups, load_exclusions
from tb.coverage.model import Coverage, CoverGroup, Cross, excluding, point
from tb.coverage.table import table
from tests.wording import line_says, says

PROJECT = ROOT / "tb/regress/plan/exclusions.toml"


def group(name: str = "small") -> CoverGroup:
    return CoverGroup(
        name,
        (point("a", ["0", "1..3", "4.."], **{"4..": "too large"}), point("b", ["x", "y"])),
        (Cross("a x b", ("a", "b"), (excluding("never", a="0", b="x"),)),),
    )


def written(tmp_path: Path, **changed: object) -> Path:
    entry = {"group": "small", "item": "a", "bins": ["1*"], "reason": "not ours", **changed}
    lines = [f"{key} = {value!r}" for key, value in entry.items() if value is not None]
    path = tmp_path / "exclusions.toml"
    path.write_text("# why\n\n[[exclude]]\n" + "\n".join(lines) + "\n")
    return path


def excluded(tmp_path: Path, coverage: Coverage, **changed: object) -> Coverage:
    path = written(tmp_path, **changed)
    apply_exclusions(load_exclusions(path, {"small": [group()]}), coverage)
    return coverage


@pytest.mark.parametrize(
    ("item", "bins", "total", "holes", "cells", "reasons"),
    [
        # Bins of a point count neither there nor in its crosses.
        ("a", ["1*"], 1 + 2 + 1, ["0"], ["a=0 x b=y"], {"a": [1], "a x b": [2, 3]}),
        ("a", ["?"], 1 + 2 + 2, ["1..3"], ["a=1..3 x b=x", "a=1..3 x b=y"],
         {"a": [0], "a x b": [1]}),
        ("a x b", ["* x b=y"], 2 + 2 + 1, ["0", "1..3"], ["a=1..3 x b=x"], {"a x b": [1, 3]}),
    ],
)  # fmt: skip
def test_bins_and_cells(
    tmp_path: Path,
    item: str,
    bins: list[str],
    total: int,
    holes: list[str],
    cells: list[str],
    reasons: dict[str, list[int]],
) -> None:
    coverage = Coverage([group()])
    counts = coverage.groups["small"]
    assert counts.total == 2 + 2 + 3
    excluded(tmp_path, coverage, item=item, bins=bins)
    assert counts.total == total
    assert (counts.holes("a"), counts.holes("a x b")) == (holes, cells)
    assert counts.excluded == {
        name: dict.fromkeys(numbers, "not ours") for name, numbers in reasons.items()
    }


def test_hit_and_covered(tmp_path: Path) -> None:
    coverage = Coverage([group()])
    counts = coverage.groups["small"]
    counts.sample({"a": np.array([1, 0]), "b": np.array([0, 1])})
    assert (counts.covered, coverage.excluded_hits) == (2 + 2 + 2, [])
    excluded(tmp_path, coverage)
    assert counts.covered == 1 + 2 + 1
    assert counts.percent == 100.0
    assert coverage.excluded_hits == [
        "small.a: 1..3 (not ours)",
        "small.a x b: a=1..3 x b=x (not ours)",
    ]
    assert line_says(table(coverage), "hit though excluded small.a 1..3 not ours")
    assert coverage.impossible == []


def test_merging_after_and_before_gives_the_same(tmp_path: Path) -> None:
    first, second = Coverage([group()]), Coverage([group()])
    second.groups["small"].sample({"a": np.array([1]), "b": np.array([0])})
    excluded(tmp_path, first).merge(second)
    second.merge(Coverage([group()]))
    excluded(tmp_path, second)
    assert first.groups["small"].covered == second.groups["small"].covered == 1
    assert first.total == second.total
    assert first.groups["small"].hits["a"].tolist() == [0, 1, 0]


def test_groups_of_other_widths_and_groups_that_are_missing(tmp_path: Path) -> None:
    coverage = excluded(tmp_path, Coverage([group("small (gm 128)"), group("other")]))
    assert coverage.groups["small (gm 128)"].total == 4
    assert coverage.groups["other"].total == 7


@pytest.mark.parametrize(
    ("changed", "facts", "legal"),
    [
        ({"group": "smal"}, "'smal' not a group", "small"),
        ({"item": "a x c"}, "'a x c' not a coverpoint cross small", "a x b"),
        ({"bins": ["2"]}, "'2' not a bin small.a", "1..3"),
        # Brackets and dots in patterns are literal.
        ({"bins": ["[01]*"]}, r"'\[01\]\*' not a bin small.a", "1..3"),
        ({"bins": ["1.3"]}, r"'1\.3' not a bin small.a", "1..3"),
        ({"bins": ["0", "4.."]}, r"'4\.\.' not a bin reached small.a", "0"),
        ({"bins": []}, "bins", "reason"),
        ({"reason": ""}, "reason", "bins"),
        ({"reason": None}, "reason", "bins"),
        ({"because": "x"}, "because", "bins"),
    ],
)
def test_broken_entries(tmp_path: Path, changed: dict[str, object], facts: str, legal: str) -> None:
    path = written(tmp_path, **changed)
    with pytest.raises(PtoError) as caught:
        load_exclusions(path, {"small": [group()]})
    assert says(caught.value.what, facts)
    assert legal in caught.value.legal
    assert caught.value.where == f"{path}:3"


@pytest.mark.parametrize("text", ["[[exclude]\n", "[exclude]\na = 1\n", "[[exclusion]]\n"])
def test_broken_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "exclusions.toml"
    path.write_text(text)
    with pytest.raises(PtoError) as caught:
        load_exclusions(path, {})
    assert caught.value.where.startswith(str(path))


def test_no_file_excludes_nothing(tmp_path: Path) -> None:
    assert load_exclusions(tmp_path / "exclusions.toml") == ()
    path = tmp_path / "a folder"
    path.mkdir()
    with pytest.raises(PtoError, match="cannot read the file of exclusions"):
        load_exclusions(path)


def test_the_file_of_the_project_names_existing_bins() -> None:
    load_exclusions(PROJECT)


@pytest.mark.long
def test_the_example_in_the_file_of_the_project(tmp_path: Path) -> None:
    text = PROJECT.read_text()
    lines = [line.removeprefix("#     ") for line in text.split("\n") if line.startswith("#     ")]
    path = tmp_path / "exclusions.toml"
    path.write_text("\n".join(lines))
    (entry,) = load_exclusions(path)
    assert any(entry.matching(item) for item in known_groups()[entry.group])
