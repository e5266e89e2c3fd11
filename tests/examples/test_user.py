# SPDX-License-Identifier: Apache-2.0
"""The examples of examples/user, run as in docs/uvm.md, from a folder outside the project."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.record.record import RunRecord
from tests.sim import runs
from tests.wording import says

EXAMPLES = ROOT / "examples/user"
PAGE = ROOT / "docs/uvm.md"
N = 200


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with copies of the examples, the current folder of the runs."""
    shutil.copytree(EXAMPLES, tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(test: str, folder: Path, **settings: Any) -> RunRecord:
    """Runs a test as ``make TEST=...`` does."""
    return runs.run(test, folder=folder / "run", **{"transactions": N, **settings})


def passed(record: RunRecord) -> RunRecord:
    assert record.passed, "\n\n".join([record.message, *record.failures[:1]])
    assert record.transactions == N
    return record


@pytest.mark.sim
def test_a_test_with_its_own_sequence(here: Path) -> None:
    record = passed(run("mine/my_test.py:SmallLoadsTest", here))
    assert set(record.ops) == {"mte_gm_ub"}
    assert set(record.coverage.groups) == {"mte_gm_ub", "traffic"}
    assert "TEST=mine/my_test.py:SmallLoadsTest" in record.command


@pytest.mark.sim
def test_an_override_of_the_sequence(here: Path) -> None:
    slow = passed(run("mine/my_sequence.py:PausingTest", here))
    plain = passed(run("mine/my_coverage.py:RowsTest", here))
    assert slow.ops == plain.ops
    assert slow.clocks > plain.clocks + 2000


@pytest.mark.sim
def test_an_override_of_the_driver(here: Path) -> None:
    assert passed(run("mine/my_driver.py:LateDriverTest", here)).injected["late descriptors"] > 10


@pytest.mark.sim
def test_an_additional_check_passes_and_fails(here: Path) -> None:
    passed(run("mine/my_scoreboard.py:TimedTest", here))
    file = here / "mine/my_scoreboard.py"
    file.write_text(file.read_text().replace("1_000_000", "20"))
    record = run("mine/my_scoreboard.py:TimedTest", here)
    assert record.status == "fail"
    assert re.search(r"transaction \d+ took \d+ clocks, at most 20", record.failures[0])


@pytest.mark.sim
def test_a_coverage_group_is_in_table_and_record(here: Path) -> None:
    record = passed(run("mine/my_coverage.py:RowsTest", here))
    assert record.coverage.groups["my_rows"] > 50
    table = (here / "run/coverage.txt").read_text()
    assert re.search(r"^my_rows: \d+ of 21 bins", table, re.MULTILINE)
    assert "length x odd" in table


@pytest.mark.sim
def test_constraints_narrow_the_random_test(here: Path) -> None:
    record = passed(run("random", here, constraints="mine/my_constraints.py"))
    assert [line for line in record.left_out if "even_addresses of my_constraints.py" in line]
    assert "CONSTRAINTS=mine/my_constraints.py" in record.command


@pytest.mark.sim
def test_a_test_that_ignores_constraints_reports_it(here: Path) -> None:
    record = run("directed", here, constraints="mine/my_constraints.py")
    assert record.passed
    (line,) = record.left_out
    assert says(line, "constraints my_constraints.py test not draw")


@pytest.mark.sim
def test_the_exception_of_a_test_is_the_message_of_its_run(here: Path) -> None:
    (here / "bad.py").write_text(
        "from tb.env.base_test import PtoTestBase\n"
        "class Bad(PtoTestBase):\n"
        "    async def stimulate(self):\n"
        "        return 1 / 0\n"
    )
    record = run("bad.py:Bad", here)
    assert record.status == "error"
    assert "ZeroDivisionError" in record.message
    assert "bad.py, line 4" in record.message


@pytest.mark.sim
@pytest.mark.parametrize("phase", ["run_phase", "check_phase"])
def test_an_exception_after_the_result_is_no_pass(here: Path, phase: str) -> None:
    wait = "async " if phase == "run_phase" else ""
    call = "await super().run_phase()" if phase == "run_phase" else "super().check_phase()"
    (here / "late.py").write_text(
        "from tb.env.tests.traffic import RandomTest\n"
        "class Late(RandomTest):\n"
        f"    {wait}def {phase}(self):\n"
        f"        {call}\n"
        "        assert self.run.counts.transactions == 7, 'not seven'\n"
    )
    record = run("late.py:Late", here, transactions=5)
    assert record.status == "error"
    assert says(record.message, "exception after result")


@pytest.mark.sim
def test_the_exception_of_a_scoreboard_is_the_message_of_its_run(here: Path) -> None:
    file = here / "mine/my_scoreboard.py"
    file.write_text(file.read_text().replace('"done_cycle"', '"done_clock"'))
    record = run("mine/my_scoreboard.py:TimedTest", here)
    assert record.status == "error"
    assert "done_clock" in record.message


def nothing_is_built(*_: object, **__: object) -> None:
    raise AssertionError("a build was started")


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "\n\nx = (\n", "is not Python"),
        (lambda text: text.replace("0.8)", "-0.8)"), "weight >= 0"),
        (lambda text: text.replace("% 2 == 0", "< 0"), "even_addresses refused"),
        (lambda text: text.replace('"n_burst"', '"bursts"'), "few_rows raised KeyError"),
    ],
)
def test_wrong_constraints_start_no_build(
    here: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str], message: str
) -> None:
    file = here / "mine/my_constraints.py"
    text = change(file.read_text())
    assert text != file.read_text()
    file.write_text(text)
    monkeypatch.setattr("tb.run.run.build", nothing_is_built)
    with pytest.raises(PtoError, match=message) as caught:
        run("random", here, constraints="mine/my_constraints.py")
    assert caught.value.exit_code == 2
    assert "my_constraints.py" in str(caught.value)


def test_the_page_has_the_examples() -> None:
    """docs/uvm.md has my_test.py without its licence line, and links to the others."""
    page = PAGE.read_text()
    code = {path.name: path.read_text().split("\n", 1)[1] for path in EXAMPLES.glob("*.py")}
    assert f"```python\n{code.pop('my_test.py')}```" in page, "my_test.py is quoted as it was"
    assert all(f"](../examples/user/{name})" in page for name in code)
    filter_ = page.split("```python\n@op_filter")[1].split("```")[0]
    assert filter_ in code["my_constraints.py"]
