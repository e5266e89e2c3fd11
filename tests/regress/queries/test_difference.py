# SPDX-License-Identifier: Apache-2.0
"""Changes between two regression runs, of hand-made runs and small coverage groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from tb.coverage.model import Coverage, CoverGroup, Cross, GroupCounts, excluding, point
from tb.regress.queries.difference import Side, compare
from tb.regress.queries.views import Figures, RegressionRun, RunRow, RunState

GROUP = CoverGroup(
    "g",
    (point("p", ["one", "two", "three", "four"], four="cannot be"), point("q", ["x", "y"])),
    (Cross("p x q", ("p", "q"), (excluding("never", p="one", q="y"),)),),
)


def run(number: int, state: RunState, test: str = "random", **more: str) -> RunRow:
    return RunRow(number, f"{test}-{number}", state, test, "verilator", number, 100, **more)  # type: ignore[arg-type]


def counted(
    hits: Mapping[str, Sequence[int]], group: CoverGroup = GROUP, name: str = "g"
) -> Coverage:
    coverage = Coverage(())
    coverage.groups[name] = GroupCounts(
        group, {key: np.array(values, dtype=np.int64) for key, values in hits.items()}
    )
    return coverage


def side(
    name: str,
    runs: Sequence[RunRow] = (),
    coverage: Coverage | None = None,
    buckets: Mapping[str, str] | None = None,
    rate: float = 0.0,
) -> Side:
    regression_run = RegressionRun(
        name,
        "complete",
        "nightly",
        datetime(2026, 11, 20, tzinfo=UTC),
        figures=Figures(transactions_per_second=rate),
    )
    return Side(regression_run, runs, buckets or {}, coverage or Coverage(()))


def test_newly_failing_and_passing_by_test_and_configuration() -> None:
    before = side(
        "a",
        [
            run(1, "pass"),
            run(2, "fail", "corner", message="was wrong"),
            run(3, "fail", "soak", message="also wrong"),
            run(4, "hang", "reset"),
            run(5, "pass", "corner", config="icarus-gm128-local128"),
        ],
    )
    after = side(
        "b",
        [
            run(1, "pass"),
            run(2, "flaky", message="first"),
            run(3, "crash", message="second"),
            run(4, "pass", "corner"),
            run(5, "planned", "soak"),
            run(6, "hang", "reset"),
            run(7, "lost", "new", message="no worker left"),
            run(8, "fail", "corner", config="icarus-gm128-local128", message="narrow"),
        ],
    )
    moved = compare(before, after)
    config = "verilator-gm256-local256"
    assert moved.newly_failing == (
        ("random", config, "first"),
        ("new", config, "no worker left"),
        ("corner", "icarus-gm128-local128", "narrow"),
    )
    assert moved.newly_passing == (("corner", config, "was wrong"),), "soak did not run"
    still = compare(side("a", [run(1, "fail")]), side("b", [run(1, "pass"), run(2, "fail")]))
    assert (still.newly_passing, still.newly_failing) == ((), ())


def test_buckets_and_figures() -> None:
    moved = compare(
        side("a", buckets={"B1": "old", "B2": "both"}, rate=100.0),
        side("b", buckets={"B2": "both", "B3": "fresh"}, rate=120.0),
    )
    assert (moved.before, moved.after) == ("a", "b")
    assert moved.buckets_new == ("fresh",)
    assert moved.buckets_gone == ("old",)
    assert moved.rate == (100.0, 120.0)
    assert moved.coverage == (None, None), "neither counted any"


def test_bins_won_and_lost() -> None:
    before = counted({"p": [1, 0, 5, 0], "q": [1, 0]})
    after = counted({"p": [1, 2, 0, 9], "q": [3, 0], "p x q": [0, 1, 1, 0, 0, 0, 0, 0]})
    moved = compare(side("a", coverage=before), side("b", coverage=after))
    assert moved.won == ("g.p: two", "g.p x q: p=two x q=x"), "what cannot be hit is not won"
    assert moved.lost == ("g.p: three",)
    assert moved.coverage == (before.percent, after.percent)


def test_bins_of_one_regression_run_alone_are_in_neither_list() -> None:
    before, after = counted({"p": [0, 1, 0, 0]}), counted({"p": [1, 0, 0, 0]})
    after.groups["g"].scope["p"] = np.array([True, False, True, True])
    moved = compare(side("a", coverage=before), side("b", coverage=after))
    assert (moved.won, moved.lost) == (("g.p: one",), ()), "two is out of scope"
    other = CoverGroup("g", (point("p", ["zero", "two", "three"]), point("r", ["a"])))
    before = counted({"p": [1, 0, 1], "r": [1]}, other)
    after = counted({"p": [1, 1, 0, 0], "q": [1, 1]})
    moved = compare(side("a", coverage=before), side("b", coverage=after))
    assert (moved.won, moved.lost) == (("g.p: two",), ("g.p: three",)), "zero and one are of one"
    assert compare(side("a"), side("b", coverage=after)).won == ()
    assert compare(side("a", coverage=after), side("b")).lost == ()


def test_a_group_is_found_by_its_definition_when_widths_change_places() -> None:
    narrow = CoverGroup("g", (point("p", ["n1", "n2"]),))
    wide = CoverGroup("g", (point("p", ["n1", "w2"]),))
    before, after = counted({"p": [1, 0]}, narrow), counted({"p": [1, 1]}, wide)
    before.groups["g (gm 512)"] = counted({"p": [0, 1]}, wide).groups["g"]
    after.groups["g (gm 128)"] = counted({"p": [1, 1]}, narrow).groups["g"]
    moved = compare(side("a", coverage=before), side("b", coverage=after))
    assert moved.won == ("g.p: n1", "g (gm 128).p: n2")
    assert moved.lost == ()
