# SPDX-License-Identifier: Apache-2.0
"""Whole regression runs on Icarus, as a user starts them: good and bad engines, a kill."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.queries import history
from tb.regress.results.store import Store
from tb.report.page import bucket_path

pytestmark = pytest.mark.sim

PLAN = """
[[behaviour]]
name = "copies"
milestone = "V1"
description = "Rows are copied."
tests = ["random", "directed"]
groups = ["mte_gm_ub"]

[[regression]]
name = "nightly"
doc = "a few short runs"

[[regression.runs]]
tests = ["random"]
sims = ["icarus"]
transactions = 24
ops = ["mte_gm_ub", "mte_gm_l1"]
"""

BUG = "ext_stride_q[2*G +: G]", "ext_stride_q[G +: G]"
"""The bug of README.md in rtl_stubs/common/dma/pto_dma_loops.sv: the stride of another loop."""


class RegressionRuns:
    """Regression runs in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = folder / "testplan.toml"
        self.plan.write_text(PLAN)
        self.database = f"sqlite:///{folder}/results.db"

    def words(self, *more: str) -> list[str]:
        return [
            *(sys.executable, "-m", "tb", "nightly", "--plan", str(self.plan)),
            *("--folder", str(self.folder), "--seed", "7", "--jobs", "2", *more),
        ]

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*more), cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
        )

    def pto_dv(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tb", *words, "--db", self.database],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip

    def states(self) -> list[str]:
        with Store.open(self.database, create=False) as store:
            return [run.state for run in history.runs(store, history.regression_run(store).name)]


@pytest.fixture(scope="module")
def regressions(tmp_path_factory: pytest.TempPathFactory) -> RegressionRuns:
    return RegressionRuns(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def bad_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference engine of slot mte2 with a bug, as a manifest of a user."""
    folder = tmp_path_factory.mktemp("bad")
    for name in ("common", "pto_mte2"):
        shutil.copytree(ROOT / "rtl_stubs" / name, folder / name)
    source = folder / "common/dma/pto_dma_loops.sv"
    text = source.read_text()
    assert BUG[0] in text
    source.write_text(text.replace(*BUG))
    return folder / "pto_mte2/manifest.toml"


def test_a_regression_run_and_the_next(regressions: RegressionRuns) -> None:
    done = regressions.run("--seeds", "2", "--fresh")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"PASS regression run \S+ \(complete\): 2 of 2 runs passed, 48 transactions, "
        r"[\d.]+ runs/minute, coverage [\d.]+ %; page: \S+/report/index.html",
        last,
    )
    again = regressions.run("--seeds", "2", "--fresh")
    assert again.returncode == 0
    name = again.stdout.splitlines()[-1].split()[3]
    page = (regressions.folder / name / "report/index.html").read_text()
    assert last.split()[3] in page, "the trend lacks the previous regression run"
    assert "0 bins won, 0 lost" in again.stdout, "the same seeds cover the same"
    listed = regressions.pto_dv("history")
    assert listed.returncode == 0
    assert {name, last.split()[3]} <= set(listed.stdout.split())
    suites = JUnitXml.fromfile(str(regressions.folder / name / "junit.xml"))
    assert (suites.tests, suites.failures, suites.errors) == (2, 0, 0)


def test_a_bug_gives_few_buckets_and_a_command_that_repeats_it(
    regressions: RegressionRuns, bad_engine: Path
) -> None:
    done = regressions.run("--seeds", "6", "--dut", str(bad_engine), "--fresh")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("FAIL regression run")
    with Store.open(regressions.database, create=False) as store:
        regression = history.regression_run(store)
        found = history.buckets(store, regression.name)
    failing = sum(len(bucket.runs) for bucket in found)
    assert failing >= 2
    assert len(found) <= 3
    first = found[0]
    assert first.reruns, "the first failure was run again"
    assert all(rerun.state == "fail" for rerun in first.reruns)
    assert Path(first.reruns[0].waves).stat().st_size > 0
    assert Path(first.reruns[0].timeline).stat().st_size > 0
    report = regressions.folder / regression.name / "report"
    assert first.id in (report / "failures.html").read_text()
    small = first.shrunk
    assert small
    assert (small.ops, small.error) == (1, "")
    assert re.match(r"mte2: 2nd local write, from UB0 0x\w+: reference ..,", small.differs)
    folder = Path(first.example_run.folder)
    assert sorted(path.suffix for path in folder.glob("shrunk.*")) == [".pto", ".toml"]
    assert (folder / "shrunk.pto").read_text() == small.text
    page = json.loads((report / bucket_path(first.id)).with_suffix(".json").read_text())
    assert page["shrunk"] == asdict(small)
    assert f"           or made small, {small.size}: {small.command}" in done.stdout.splitlines()
    repeat = re.search(r"^repeat +(make .*)$", done.stdout, re.MULTILINE)
    assert repeat
    options = dict(word.split("=", 1) for word in shlex.split(repeat[1])[1:])
    words = [f"--{name.lower()}={value}" for name, value in options.items()]
    again = subprocess.run(
        [sys.executable, "-m", "tb", "run", *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert again.returncode == 1
    assert "MISMATCH" in again.stdout
    moved = regressions.pto_dv("rerun", str(first.runs[0]))
    assert moved.returncode == 1
    assert "was fail, is fail" in moved.stdout


def test_a_killed_regression_run_is_taken_up_and_finishes_only_what_is_missing(
    regressions: RegressionRuns,
) -> None:
    process = subprocess.Popen(
        regressions.words("--seeds", "5"), cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                states = regressions.states()
            except PtoError:  # the regression run is not there yet
                states = []
            if len(states) == 5 and 1 <= 5 - states.count("planned") <= 3:
                break
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = 5 - regressions.states().count("planned")
    assert 1 <= before < 5
    done = regressions.run("--seeds", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"resumed +\S+: (\d+) runs are left", done.stdout)
    assert found
    assert int(found[1]) == 5 - before
    assert "5 of 5 runs passed, 120 transactions" in done.stdout.splitlines()[-1]
    assert regressions.states() == ["pass"] * 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--regression", "hourly"], "hourly"),
        (["--budget", "soon"], "BUDGET is 'soon'"),
        (["--jobs", "many"], "JOBS is 'many'"),
        (["--farm", "none.toml"], "none.toml"),
        (["--dut", "none.toml"], "none.toml"),
        (["--db", "sqlite:////proc/results.db"], "results.db"),
        (["--plan", "none.toml"], "none.toml"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    tmp_path: Path, words: list[str], says: str
) -> None:
    regressions = RegressionRuns(tmp_path)
    done = regressions.run(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["testplan.toml"]
