# SPDX-License-Identifier: Apache-2.0
"""The tables of injected bugs, in a small project of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bugs.table import Row, by_test
from tests.tiers.test_tiers import run_pytest

ROWS = [
    Row("a", "random", 7, "data", True),
    Row("b", "speed", 40, "speed", True),
    Row("c", "random", 1200, "hang", True),
    Row("d", "random", 3, "data", True),
    Row("e", "random", 2000, "NOT CAUGHT (pass)", False),
    Row("f", "speed", 43, "speed", True),
]
TESTS = f"""
from types import SimpleNamespace
import pytest

@pytest.mark.parametrize("row", {[tuple(row) for row in ROWS]})
def test_bug(row, tell):
    name, test, transactions, check, caught = row
    record = SimpleNamespace(status="pass")
    outcome = SimpleNamespace(check=check, caught=caught, transactions=transactions, record=record)
    tell(SimpleNamespace(name=name, test=test), outcome)
    assert caught

def test_other(): pass
"""
LINES = [
    "random: 3 bugs caught after 7 transactions in the median, 1200 at most",
    "speed: 2 bugs caught after 41.5 transactions in the median, 43 at most",
]


def test_each_test_has_count_median_and_largest_number_of_its_caught_bugs() -> None:
    assert by_test(ROWS) == LINES
    assert by_test(ROWS[4:5]) == []


@pytest.mark.long
@pytest.mark.parametrize("workers", [0, 2])
def test_the_tables_are_printed_once_whoever_ran_the_tests(tmp_path: Path, workers: int) -> None:
    below = tmp_path / "bugs"
    below.mkdir()
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary")
    (below / "conftest.py").write_text("from tests.bugs.conftest import tell")
    (below / "test_bugs.py").write_text(TESTS)
    words = (f"-n{workers}", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path))
    output = run_pytest(*words)
    for line in ("5 of 6 bugs caught", *LINES):
        assert output.splitlines().count(line) == 1, output
    assert "injected bugs" not in run_pytest(*words, "-k", "other")
