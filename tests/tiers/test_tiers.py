# SPDX-License-Identifier: Apache-2.0
"""Selection, order and processor time of tests, in small projects of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.tiers import cost
from tests.tiers.cost import Cost, spent, table
from tests.tiers.selection import Share

ROWS = """
import pytest

@pytest.mark.parametrize("n", range(20))
@pytest.mark.share
def test_row(n): pass

@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.share("rtl/a.v", group="g"))
                               for n in range(4)])
def test_group(n): pass

def test_plain(): pass

@pytest.mark.long
def test_long(): sum(range(30_000_000))

@pytest.mark.sim
def test_sim(): pass

@pytest.mark.smoke
@pytest.mark.sim
def test_smoke(): pass
"""
CONFTEST = """
import pytest
from tests.tiers.selection import Share, balanced, quick, shared

def pytest_addoption(parser):
    parser.addoption("--rows"); parser.addoption("--changed", default="x")
    parser.addoption("--quick", action="store_true")
    parser.addoption("--balance", action="store_true")

def pytest_collection_modifyitems(config, items):
    changed = [config.getoption("changed")]
    if config.getoption("quick"):
        items[:] = quick(items, changed)
    items[:] = shared(items, Share.parse(config.getoption("rows") or ""), changed)
    if config.getoption("balance"):
        items[:] = balanced(items)
"""


def collected(folder: Path, *options: str) -> list[str]:
    """Returns the tests that are chosen of :data:`ROWS`, in their order."""
    folder.mkdir(exist_ok=True)
    (folder / "conftest.py").write_text(CONFTEST)
    for name in ("test_a.py", "test_b.py"):
        (folder / name).write_text(ROWS)
    words = ("--collect-only", "-c", "/dev/null", "--rootdir", str(folder))
    output = run_pytest(*words, *options, str(folder))
    return re.findall(r"^(\S+::\S+)$", output, re.MULTILINE)


def run_pytest(*words: str) -> str:
    """Returns what pytest prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


@pytest.mark.long
def test_the_shares_are_all_rows_once_and_the_rest_always(tmp_path: Path) -> None:
    every = collected(tmp_path)
    shares = [collected(tmp_path, f"--rows={number}/4") for number in (1, 2, 3, 4)]
    counts = Counter(name for share in shares for name in share)
    rows = [name for name in every if "row" in name or "group" in name]
    assert len(rows) == 48
    assert counts == {name: 1 if name in rows else 4 for name in every}
    for share in shares:
        assert sum("row" in name for name in share) == 10
        groups = Counter(name.partition("::")[0] for name in share if "group" in name)
        assert set(groups.values()) <= {4}, "a group stays together"


@pytest.mark.long
def test_rows_that_concern_a_changed_file_are_in_every_share(tmp_path: Path) -> None:
    for number in (1, 2):
        names = collected(tmp_path, f"--rows={number}/2", "--changed=rtl/a.v")
        assert sum("group" in name for name in names) == 8
        assert sum("row" in name for name in names) == 20


@pytest.mark.long
def test_a_check_has_short_tests_and_short_runs_after_changes_of_engines(tmp_path: Path) -> None:
    names = {name.partition("::")[2].partition("[")[0] for name in collected(tmp_path, "--quick")}
    assert names == {"test_row", "test_group", "test_plain"}
    more = collected(tmp_path, "--quick", "--changed=rtl_stubs/a.v")
    assert {name for name in more if "smoke" in name} == {
        "test_a.py::test_smoke",
        "test_b.py::test_smoke",
    }


@pytest.mark.long
def test_each_half_begins_with_the_long_tests_of_half_of_the_files(tmp_path: Path) -> None:
    every = collected(tmp_path)
    names = collected(tmp_path, "--balance")
    assert sorted(names) == sorted(every)
    middle = len(every) // 2
    for begin, file in ((0, "test_a.py"), (middle, "test_b.py")):
        assert [name.partition("::")[2] for name in names[begin : begin + 4]] == [
            "test_long", "test_sim", "test_smoke", names[begin + 3].partition("::")[2],
        ]  # fmt: skip
        assert {name.partition("::")[0] for name in names[begin : begin + 3]} == {file}


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "x/8", "1/0", "8/", "ALL"])
def test_a_wrong_share_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(pytest.UsageError, match=r"PTO_SHARE is .*: write all, or a share like"):
        Share.parse(text)


@pytest.mark.parametrize("text", ["3/8", "1/8", "8/8", "all"])
def test_a_share_is_printed_as_it_is_read(text: str) -> None:
    assert str(Share.parse(text)) == text


SPEND = "import time\nwhile time.process_time() < 0.3: pass\n"


@pytest.mark.long
def test_the_time_of_processes_counts_while_they_run_and_once(tmp_path: Path) -> None:
    before = spent()
    code = f"{SPEND}print(flush=True)\ninput()\n"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    running = spent() - before
    child.communicate(b"\n")
    ended = spent() - before
    assert running.children >= 0.25
    ticks = 2 / os.sysconf("SC_CLK_TCK")
    assert running.children - ticks <= ended.children < 2 * running.children
    assert running.own < 0.25


def test_the_table_sums_up_folders() -> None:
    costs = [
        ("tests/a/test_x.py::one", Cost(1, 10, 12)),
        ("tests/a/test_x.py::one", Cost(0.5, 0, 1)),
        ("tests/b/test_y.py::two[/::]", Cost(2, 0, 2)),
    ]
    lines = table(costs, 20.0, [Cost(3, 10, 19), Cost(2, 1, 19)])
    assert [line.split() for line in lines[1:3]] == [
        ["tests/a", "1", "1.5", "s", "10.0", "s", "13.0", "s"],
        ["tests/b", "1", "2.0", "s", "0.0", "s", "2.0", "s"],
    ]
    assert lines[3].startswith("processor time 16 s: Python 4, ")
    assert "processes 10, start and collection 2; wall time 20 s" in lines[3]


LENGTHS = """
import pytest, time
from tests.tiers import cost

cost.LIMIT_SECONDS = 0.5
cost._work = lambda: None  # The limit is the same on any machine.

def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass

def test_near_the_limit(): spend(0.3)

def test_too_long(): spend(0.7)

@pytest.mark.long
def test_marked(): spend(0.7)

def test_short(): spend(0.05)
"""


def test_a_slow_machine_has_a_higher_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        end = time.process_time() + 3 * cost.QUICK_SECONDS
        while time.process_time() < end:
            pass

    monkeypatch.setattr(cost, "_work", work)
    assert 2.9 <= cost.limit() / cost.LIMIT_SECONDS < 10
    monkeypatch.setattr(cost, "_work", lambda: None)
    assert cost.limit() == cost.LIMIT_SECONDS


@pytest.mark.long
def test_a_long_test_without_the_mark_fails(tmp_path: Path) -> None:
    (tmp_path / "test_lengths.py").write_text(LENGTHS)
    options = ("-c", "/dev/null", "-p", "tests.tiers.plugin", str(tmp_path))
    output = run_pytest(*options)
    assert re.search(r"FAILED \S+::test_too_long", output), output
    assert "shorten the test, or mark it with pytest.mark.long" in output
    assert "1 failed, 3 passed" in output
