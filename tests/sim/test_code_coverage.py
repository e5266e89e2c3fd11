# SPDX-License-Identifier: Apache-2.0
"""A build that counts code coverage: its counts, in runs that pass and in runs that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.coverage.export.code import CodeCounts, code_view
from tb.coverage.export.code_files import read
from tb.dut.manifest import reference_manifests
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.build import build
from tb.run.console import Console
from tb.run.folder import CODE_COUNTS, CODE_COVERAGE
from tb.run.plan import BuildPlan
from tb.run.run import run_once
from tb.run.testlist import planned_test

MTE1 = tuple(item for item in reference_manifests() if item.slot == "mte1")
FRONT = "rtl_stubs/common/pto_front.sv"
TAKEN = "if (retire) done_ptr_q"


def run(folder: Path, test: str) -> RunRecord:
    """Runs ops of the smallest engine in one build."""
    planned = planned_test(test)
    chosen = RunSettings(
        test=test, transactions=60, code_coverage=True, options=planned.options, ops=MTE1[0].ops
    )
    return run_once(
        chosen,
        planned,
        manifests=MTE1,
        variant="mte1",
        fast_build=True,
        folder=folder,
        console=Console(quiet=True),
    )


def counts_of(folder: Path) -> CodeCounts:
    assert not (folder / CODE_COVERAGE).exists(), "the large file remains"
    return read(folder / CODE_COUNTS, ROOT)


def executed(counts: CodeCounts, path: str, text: str) -> int:
    """Returns how often the branch on the line with ``text`` was taken."""
    lines = (ROOT / path).read_text().split("\n")
    (number,) = [at for at, line in enumerate(lines, 1) if text in line]
    (found,) = [
        count
        for point, count in counts.counts.items()
        if (point.path, point.line, point.kind, point.text) == (path, number, "branch", "if")
    ]
    return found


@pytest.mark.sim
def test_a_run_counts_the_code_of_its_engine(tmp_path: Path) -> None:
    record = run(tmp_path, "legal")
    assert record.passed, record.message
    assert record.command.endswith("CODE_COVERAGE=1")
    counts = counts_of(tmp_path)
    assert executed(counts, FRONT, TAKEN) == record.transactions == 60
    assert {point.engine for point in counts.counts} == {"mte1"}
    assert not [point.path for point in counts.counts if "tb/hdl" in point.path]
    totals = counts.by_engine()["mte1"]
    for kind, (hit, every) in totals.items():
        assert 0 < hit < every, kind
    assert totals["line"][1] == sum(
        line.line is not None for file in code_view(counts, ROOT).files for line in file.lines
    )


BREAKING = """\
import pyuvm
from tb.env.tests.traffic import RandomTest

@pyuvm.test()
class Breaks(RandomTest):
    async def stimulate(self):
        await super().stimulate()
        raise RuntimeError("out of order")
"""


@pytest.mark.sim
def test_a_run_that_fails_counts_too(tmp_path: Path) -> None:
    (tmp_path / "breaking.py").write_text(BREAKING)
    record = run(tmp_path / "run", f"{tmp_path / 'breaking.py'}:Breaks")
    assert not record.passed
    assert "out of order" in record.message
    assert executed(counts_of(tmp_path / "run"), FRONT, TAKEN) == 60


def test_simulators_without_it_are_refused() -> None:
    with pytest.raises(PtoError) as caught:
        build(BuildPlan("icarus", MTE1, code_coverage=True))
    assert "Icarus Verilog" in caught.value.what
    assert caught.value.legal == "SIM=verilator"


def test_its_build_is_separate() -> None:
    plain, counting = (BuildPlan("verilator", MTE1, code_coverage=code) for code in (False, True))
    assert counting.folder.name == f"{plain.folder.name}-cov"
