# SPDX-License-Identifier: Apache-2.0
"""Exclusions of code coverage: totals without them, marks on pages, reports, errors of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.coverage.exclusions import load_exclusions
from tb.coverage.export.code import CodeCounts, CodePoint, code_view
from tb.coverage.export.code_exclusions import apply_code_exclusions, load_code_exclusions
from tb.coverage.export.code_files import write
from tb.nightly.publish import code_counts
from tests.wording import says

PROJECT = ROOT / "tb/regress/plan/exclusions.toml"

SOURCE = """\
module unit (input clk_i, input go_i);
  reg [3:0] q;
  function [3:0] next;
    input [3:0] x;
    if (x == 4'd9) next = 4'd0;
    else next = x + 4'd1;
  endfunction
  always @(posedge clk_i)
    if (go_i) q <= next(q);
endmodule
"""


def counts() -> CodeCounts:
    """Line 6 ran in fix alone, q[1] never fell; each point is there for both engines."""
    points = {
        (5, 5, "branch", "if", "5"): 0,
        (5, 5, "branch", "else", "6"): 0,
        (5, 9, "expression", "(x == 4'h9)==1 => 1", ""): 0,
        (9, 5, "branch", "if", "9"): 7,
        (2, 13, "toggle", "q[0]:1->0", ""): 3,
        (2, 13, "toggle", "q[1]:1->0", ""): 0,
    }
    found = {
        CodePoint(engine, "unit.v", *point): count
        for engine in ("mte3", "fix")
        for point, count in points.items()
    }
    found[CodePoint("fix", "unit.v", 5, 5, "branch", "else", "6")] = 1
    return CodeCounts(found, 1)


def written(tmp_path: Path, **changed: object) -> Path:
    (tmp_path / "unit.v").write_text(SOURCE)
    entry = {"file": "unit.v", "text": "else next", "kind": "line", "reason": "not ours", **changed}
    lines = [f"{key} = {value!r}" for key, value in entry.items() if value is not None]
    path = tmp_path / "exclusions.toml"
    path.write_text("# why\n\n[[code]]\n" + "\n".join(lines) + "\n")
    return path


def excluded(tmp_path: Path, **changed: object) -> tuple[CodeCounts, list[str]]:
    found = counts()
    path = written(tmp_path, **changed)
    return found, apply_code_exclusions(load_code_exclusions(path, tmp_path), found)


@pytest.mark.parametrize(
    ("changed", "kind", "mte3", "fix", "notes"),
    [
        ({"kind": "line", "engine": "mte3"}, "line", (1, 2), (2, 3), []),
        ({"kind": "line"}, "line", (1, 2), (1, 2), ["covered though excluded unit.v:6 line fix"]),
        ({"text": "if  (x ==", "kind": "branch", "point": "i*"}, "branch", (1, 2), (2, 2), []),
        ({"text": "if (x", "kind": "branch", "engine": "fix"}, "branch", (1, 3), (1, 1),
         ["covered though excluded unit.v:5 branch else fix"]),
        ({"text": None, "function": "next", "kind": "expression"}, "expression",
         (0, 0), (0, 0), []),
        ({"text": None, "function": "next", "kind": "line", "engine": "mte3"}, "line",
         (1, 1), (2, 3), []),
        ({"text": "reg [3:0] q", "kind": "toggle", "point": "q[1]*"}, "toggle", (1, 1), (1, 1), []),
        ({"text": "reg [3:0] q", "kind": "branch"}, "branch", (1, 3), (2, 3),
         ["nothing to exclude exclusions.toml:3 no branch point unit.v"]),
        ({"engine": "mte1"}, "line", (1, 3), (2, 3), []),  # It was not counted at all.
    ],
)  # fmt: skip
def test_totals_and_notes(
    tmp_path: Path,
    changed: dict[str, object],
    kind: str,
    mte3: tuple[int, int],
    fix: tuple[int, int],
    notes: list[str],
) -> None:
    plain = counts().by_engine()
    found, texts = excluded(tmp_path, **changed)
    totals = found.by_engine()
    assert (totals["mte3"][kind], totals["fix"][kind]) == (mte3, fix)
    others = [other for other in plain["fix"] if other != kind]
    assert all(totals[engine][o] == plain[engine][o] for engine in totals for o in others)
    assert len(texts) == len(notes)
    assert all(says(text, facts) for text, facts in zip(texts, notes, strict=True))


def test_the_page_has_them_with_the_reason_and_not_as_missing(tmp_path: Path) -> None:
    found, _ = excluded(tmp_path, text="reg [3:0] q", kind="toggle")
    line = code_view(found, tmp_path).files[0].lines[1]
    assert (line.points, line.excluded) == ((), (("toggle", "q[1:0]:1->0", "not ours"),))
    found, _ = excluded(tmp_path)
    line = code_view(found, tmp_path).files[0].lines[5]
    assert (line.line, line.excluded) == (None, (("line", "", "not ours"),))


def test_a_regression_run_has_totals_without_them_and_the_notes(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    write(counts(), tmp_path / "code/1.dat.gz")
    found, notes = code_counts(tmp_path, load_code_exclusions(written(tmp_path), tmp_path))
    assert found
    assert found.by_engine()["fix"]["line"] == (1, 2)
    assert says("".join(notes), "covered though excluded unit.v:6 line fix not ours")


@pytest.mark.parametrize(
    ("changed", "facts", "legal"),
    [
        ({"file": "gone.v"}, "gone.v cannot read", "top of the project"),
        ({"text": "next"}, "'next' in lines 3, 5, 6, 9 unit.v", "one line"),
        ({"text": "prev"}, "'prev' in no line unit.v", "one line"),
        ({"text": None, "function": "nex"}, "'nex' not a function unit.v", "next"),
        ({"text": None}, "text function", "kind"),
        ({"function": "next"}, "text function", "kind"),
        ({"kind": "lines"}, "kind 'lines'", "expression"),
        ({"point": "else"}, "line no point", "point"),
        ({"engine": "mte4"}, "engine 'mte4'", "mte1"),
        ({"reason": ""}, "reason", "reason"),
        ({"line": 6}, "line", "text or function"),
    ],
)
def test_broken_entries(tmp_path: Path, changed: dict[str, object], facts: str, legal: str) -> None:
    path = written(tmp_path, **changed)
    with pytest.raises(PtoError) as caught:
        load_code_exclusions(path, tmp_path)
    assert says(caught.value.what, facts)
    assert legal in caught.value.legal
    assert caught.value.where == f"{path}:3"


def test_the_files_of_the_project(tmp_path: Path) -> None:
    load_code_exclusions(PROJECT, ROOT)
    text = PROJECT.read_text()
    lines = [line.removeprefix("#     ") for line in text.split("\n") if line.startswith("#     ")]
    path = tmp_path / "exclusions.toml"
    path.write_text("\n".join(lines))
    (one,) = load_code_exclusions(path, ROOT)
    assert len(one.lines) == 1
    assert len(load_exclusions(path)) == 1
