# SPDX-License-Identifier: Apache-2.0
"""Rows: every kind of bins on hand-made ops, and values that are missing or called wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import CoverageError, Exclusion, crossed
from tb.coverage.ops import Ops
from tb.coverage.points import ALL, Group, Row, cases, codes, ordered_cases, ranges, residues
from tb.coverage.view import View
from tb.isa.block import from_ops
from tb.isa.burst.op import MteUbUb
from tests.coverage.counting import hits

LENGTHS = (0, 1, 2, 3, 7, 8, 40)
BLOCK = from_ops([MteUbUb(0, 4096, length, 1, 0, 0) for length in LENGTHS])
LIVE = {"live": lambda v: v.len > 0, "one": lambda v: v.len == 1, "twice": lambda v: 2 * v.len}


def small(v: Ops) -> dict[str, np.ndarray]:
    return {"c": v.len > 7, "a": v.len > 2}


@pytest.mark.parametrize(
    ("row", "want"),
    [
        (ranges("p", (1, 2, 4), "len", ""), [-1, 0, 1, 1, 2, 2, 2]),
        (ranges("p", (2, 4), lambda v: v.len, "", ops=ALL), [-1, -1, 0, 0, 1, 1, 1]),
        (ranges("p", (2, 8), "len", "", apart=("one", "one")), [-1, 0, 1, 1, 1, 2, 2]),
        (residues("p", 8, 2, "twice", ""), [-1, 1, 2, 3, 3, 0, 0]),
        (codes("p", ["no", "yes"], lambda v: v.len > 2, ""), [-1, 0, 0, 1, 1, 1, 1]),
        (codes("p", ["x"], "zero", "", ops="dead"), [0, -1, -1, -1, -1, -1, -1]),
        (cases("p", "abc", lambda v: [v.len > 7, v.len > 2], ""), [-1, 2, 2, 1, 1, 0, 0]),
        (ordered_cases("p", "abc", small, "", ops=ALL), [2, 2, 2, 0, 0, 2, 2]),
    ],
)
def test_bins_of_rows(row: Row, want: list[int]) -> None:
    group = Group("g", [row], (), LIVE)
    view = View([BLOCK], [None], [None])
    assert row.index(Ops(view, np.arange(view.size), group.values)).tolist() == want
    coverage = FunctionalCoverage()
    coverage.add(group)
    coverage.sample(BLOCK)
    coverage.flush()
    assert sum(hits(coverage.groups["g"], "p").values()) == sum(at >= 0 for at in want)


def test_values_are_computed_once() -> None:
    seen: list[int] = []

    def noted(v: Ops) -> np.ndarray:
        seen.append(v.size)
        return np.asarray(v.len)

    view = View([BLOCK], [None], [None])
    ops = Ops(view, np.arange(2), {"x": noted})
    assert ops.x is ops["x"]
    assert seen == [2]
    assert ops.at(np.array([4, 5])).x.tolist() == [7, 8]


def test_unknown_and_reserved_names() -> None:
    ops = Ops(View([BLOCK], [None], [None]), np.arange(2), {})
    with pytest.raises(AttributeError, match="no descriptor has a field lenght"):
        _ = ops.lenght
    with pytest.raises(CoverageError, match="derived values are called places"):
        Group("g", [], (), {"places": lambda v: v.len})
    assert crossed("a x b", [Exclusion("r", {})]).of == ("a", "b")
