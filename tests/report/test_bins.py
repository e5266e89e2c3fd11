# SPDX-License-Identifier: Apache-2.0
"""Bins as pages show them: states, shades, crosses as tables, holes in few words."""

from __future__ import annotations

import numpy as np

from tb.coverage.model import Bin, CoverGroup, Coverpoint, Cross, GroupCounts, excluding, point
from tb.report.bins import Table, holes, level, tables

COLOUR = Coverpoint("colour", (Bin("red"), Bin("green"), Bin("blue", "no such lamp")))
SIZE = point("size", ["1", "2", "4", "8"])
SIDE = point("side", ["left", "right"])
BOTH = Cross("size x side", ("size", "side"))


def group(*crosses: Cross) -> CoverGroup:
    return CoverGroup("lamps", (COLOUR, SIZE, SIDE), crosses, "Lamps.")


def counted(definition: CoverGroup, **hits: list[int]) -> GroupCounts:
    """Counts of a group; what is not given was hit once where it can be."""
    counts = GroupCounts(definition)
    for name, values in counts.hits.items():
        given = hits.get(name.replace(" x ", "_x_"))
        values[:] = counts.group.reachable[name] if given is None else given
    return counts


def table(counts: GroupCounts, name: str, ever: GroupCounts | None = None) -> Table:
    return next(item for item in tables(counts, ever) if item.name == name)


def test_shades_go_by_decades() -> None:
    assert [level(hits) for hits in (0, 1, 2, 9, 10, 999, 1000, 10**9)] == [0, 1, 2, 2, 3, 4, 5, 6]


def test_a_point_tells_holes_from_bins_that_earlier_regression_runs_hit() -> None:
    definition = group()
    current = counted(definition, size=[5, 0, 0, 12])
    ever = counted(definition, size=[9, 3, 0, 12])
    found = table(current, "size", ever)
    assert [cell.state for cell in found.cells] == ["hit", "missed", "hole", "hit"]
    assert [cell.hits for cell in found.cells] == [5, 0, 0, 12]
    assert (found.covered, found.total, found.missing) == (2, 4, 2)
    other = counted(CoverGroup("lamps", (SIZE,)), size=[5, 5, 5, 5])
    for before in (None, other):  # nothing earlier, or of another definition
        assert [cell.state for cell in table(current, "size", before).cells].count("hole") == 2


def test_unreachable_bins_do_not_count_and_say_why() -> None:
    found = table(counted(group()), "colour")
    assert (found.covered, found.total) == (2, 2)
    assert found.cells[2].state == "unreachable"
    assert found.cells[2].reason == "no such lamp"
    assert found.reasons == (("cannot be reached: no such lamp", 1),)


def test_bins_excluded_or_out_of_scope_do_not_count() -> None:
    counts = counted(group(), size=[1, 0, 0, 7])
    counts.excluded = {"size": {2: "no engine has one", 3: "no engine has one"}}
    found = table(counts, "size")
    assert [cell.state for cell in found.cells] == ["hit", "hole", "excluded", "excluded"]
    assert [cell.level for cell in found.cells] == [1, 0, 0, 0]
    assert (found.covered, found.total) == (1, 2)
    assert found.reasons == (("excluded: no engine has one", 2),)
    assert [hole.text for hole in holes(counts, None, "size")] == ["2"]
    counts = counted(group())
    counts.scope["size"] = np.array([True, True, False, False])
    found = table(counts, "size")
    assert [cell.state for cell in found.cells] == ["hit", "hit", "out", "out"]
    assert (found.covered, found.total) == (2, 2)


def test_what_has_holes_comes_first_points_before_crosses() -> None:
    counts = counted(group(BOTH), side=[3, 0], size_x_side=[1, 1, 1, 1, 1, 1, 1, 0])
    assert [item.name for item in tables(counts, None)] == ["side", "colour", "size", "size x side"]


def test_a_cross_of_two_lies_with_its_narrow_axis_across() -> None:
    values = np.arange(1, 9)
    for axes, of_sizes in (
        (("size", "side"), values.reshape(4, 2)),
        (("side", "size"), values.reshape(2, 4).T),
    ):
        found = table(counted(group(Cross("both", axes)), both=values.tolist()), "both")
        assert found.axis == "side"
        assert found.columns == ("left", "right")
        assert [labels for labels, _ in found.rows] == [("1",), ("2",), ("4",), ("8",)]
        hits = [[cell.hits for cell in cells] for _, cells in found.rows]
        assert hits == of_sizes.tolist()
        for (size,), cells in found.rows:
            for side, cell in zip(found.columns, cells, strict=True):
                assert f"size={size}" in cell.label
                assert f"side={side}" in cell.label


def test_a_cross_of_three_folds_the_first_axes_into_rows_and_drops_what_cannot_be() -> None:
    cross = Cross(
        "all", ("colour", "side", "size"), (excluding("too big", colour="red", size="8"),)
    )
    found = table(counted(group(cross)), "all")
    assert found.axes == ("colour", "side")
    assert found.columns == ("1", "2", "4", "8")
    assert [labels for labels, _ in found.rows] == [
        ("red", "left"),
        ("red", "right"),
        ("green", "left"),
        ("green", "right"),
    ]
    assert found.dropped == "2 rows"
    assert dict(found.reasons) == {
        "cannot be reached: no such lamp": 8,
        "cannot be reached: too big": 2,
    }
    assert found.rows[0][1][3].reason == "too big"
    assert found.rows[2][1][3].state == "hit"


def test_holes_of_a_cross_fold_into_whole_bins_and_lists() -> None:
    # All of size 2 is missing, and of the left side 4 and 8.
    counts = counted(group(BOTH), size_x_side=[1, 1, 0, 0, 0, 1, 0, 1])
    found = holes(counts, None, "size x side")
    assert [hole.text for hole in found] == ["size=2, all 2 cells", "side=left, size=4, 8"]
    assert sum(hole.cells for hole in found) == 4


def test_holes_that_earlier_regression_runs_hit_are_listed_apart() -> None:
    current = counted(group(BOTH), size_x_side=[1, 1, 1, 1, 0, 1, 0, 1])
    ever = counted(group(BOTH), size_x_side=[1, 1, 1, 1, 0, 1, 4, 1])
    found = holes(current, ever, "size x side")
    assert [(hole.text, hole.before) for hole in found] == [
        ("size=4, side=left", 0),
        ("size=8, side=left", 1),
    ]


def test_every_hole_is_in_some_line() -> None:
    """Whatever is missing of a cross of three, the cells of the lines cover it."""
    cross = Cross("all", ("colour", "side", "size"))
    draw = np.random.default_rng(1)
    for _ in range(30):
        values = (draw.random(24) < 0.5).astype(int)
        counts = counted(group(cross), all=values.tolist())
        missing = set(counts.holes("all"))
        said: set[str] = set()
        for hole in holes(counts, None, "all"):
            said |= {label for label in missing if _fits(hole.text, label)}
        assert said == missing


def _fits(text: str, label: str) -> bool:
    """True when the cell ``a=1 x b=2`` is among those of a line ``a=1, b=2, 3``."""
    wanted: dict[str, set[str]] = {}
    axis = ""
    for word in text.split(", all ")[0].split(", "):
        if "=" in word:
            axis, word = word.split("=")
        wanted.setdefault(axis, set()).add(word)
    cell = dict(part.split("=") for part in label.split(" x "))
    return all(cell[axis] in bins for axis, bins in wanted.items())
