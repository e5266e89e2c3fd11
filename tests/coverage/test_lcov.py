# SPDX-License-Identifier: Apache-2.0
"""lcov's tracefiles: lines and branches in one, expressions and toggles in files of their own."""

from __future__ import annotations

from pathlib import Path

from tb.coverage.export.code import CodeCounts, CodePoint
from tb.coverage.export.lcov import tracefile, write_lcov

ROOT = Path("/project")


def counts() -> CodeCounts:
    """Two engines with a common source and different points in it."""
    points = {
        ("mte2", 3, 3, "line", "block", "3"): 22,
        ("mte2", 4, 5, "branch", "if", "4-5"): 4,
        ("mte2", 4, 6, "branch", "else", "6"): 0,
        ("mte2", 9, 7, "branch", "?: first", "9"): 0,
        ("mte2", 9, 8, "branch", "?: second", ""): 0,
        ("mte2", 4, 14, "expression", "(a==0) => 0", ""): 0,
        ("mte2", 4, 14, "expression", "(a==1) => 1", ""): 3,
        ("mte2", 2, 13, "toggle", "q[0]:0->1", ""): 5,
        ("fix", 4, 6, "branch", "else", "6"): 1,
    }
    return CodeCounts(
        {
            CodePoint(engine, "rtl/unit.v", line, column, kind, text, span): count
            for (engine, line, column, kind, text, span), count in points.items()
        },
        runs=2,
    )


def test_lines_and_branches() -> None:
    # Hit and all: BRH and BRF below.
    assert [cells["branch"] for cells in counts().by_engine().values()] == [(1, 4), (1, 1)]
    assert tracefile(counts(), ROOT, ("line", "branch")).split("\n") == [
        *("TN:mte2", "SF:/project/rtl/unit.v"),
        *("BRDA:4,0,0,4", "BRDA:4,1,1,0", "BRDA:9,0,0,-", "BRDA:9,1,1,-", "BRF:4", "BRH:1"),
        *("DA:3,22", "DA:4,4", "DA:5,4", "DA:6,0", "DA:9,0", "LF:5", "LH:3"),
        "end_of_record",
        *("TN:fix", "SF:/project/rtl/unit.v"),
        # The branch has the number that it has in the other engine.
        *("BRDA:4,1,1,1", "BRF:1", "BRH:1"),
        *("DA:4,1", "DA:6,1", "LF:2", "LH:2"),
        *("end_of_record", ""),
    ]


def test_the_other_kinds_have_files_of_their_own(tmp_path: Path) -> None:
    files = write_lcov(counts(), tmp_path / "code.info", ROOT)
    assert [file.name for file in files] == [
        "code.info", "code.expression.info", "code.toggle.info"
    ]  # fmt: skip
    texts = [file.read_text() for file in files]
    assert texts[0] == tracefile(counts(), ROOT, ("line", "branch"))
    assert "BRDA:4,0,0,0\nBRDA:4,0,1,3\nBRF:2\nBRH:1\nDA:4,3\n" in texts[1]
    assert "BRDA:2,0,0,5\nBRF:1\nBRH:1\nDA:2,5\n" in texts[2]
    assert "TN:fix" not in texts[1] + texts[2]
