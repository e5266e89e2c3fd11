# SPDX-License-Identifier: Apache-2.0
"""Hangs, crashes, interrupts and unusable folders are reported and never pass."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sequences.constraints import FIX_NAMES
from tb.common.paths import ROOT
from tb.harness.layout import MailboxError
from tb.harness.mailbox_reader import MailboxReader
from tb.isa.ops import SLOTS
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.folder import load_record, run_folder
from tests.bugs.campaign import REPORTED, WATCHDOG_CLOCKS, load_bugs, run_engines
from tests.wording import line_says, says

pytestmark = pytest.mark.sim

SEED = 4713
PATIENCE_SECONDS = 240.0

BUGS = {bug.name: bug for bug in load_bugs(REPORTED)}


class Run:
    """A ``python -m tb run`` and the simulator that it started."""

    def __init__(self, record: Path, *options: str) -> None:
        settings = RunSettings(seed=SEED)
        self.record = record
        self.mailbox = run_folder(settings) / "mailbox"
        self.mailbox.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tb", "run", "--seed", str(SEED), "--n", "200000", "--json",
             str(record), *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        self.simulator = 0

    def catch_in_flight(self) -> None:
        """Waits until descriptors are in flight, and stops the simulator there."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.process.communicate()[0]
            reader = self._reader()
            if reader is not None and self._under_way(reader):
                self.simulator = reader.pid
                os.kill(self.simulator, signal.SIGSTOP)
                time.sleep(0.1)
                if self._under_way(reader):
                    return
                os.kill(self.simulator, signal.SIGCONT)
            time.sleep(0.01)
        raise AssertionError("no descriptor in flight in time")

    def _reader(self) -> MailboxReader | None:
        try:
            return MailboxReader.open(self.mailbox)
        except (OSError, MailboxError):
            return None

    @staticmethod
    def _under_way(reader: MailboxReader) -> bool:
        return reader.progress().checked > 0 and any(
            reader.in_flight(slot) for slot in range(len(SLOTS))
        )

    def end(self) -> tuple[int, str, RunRecord]:
        """Returns exit code, output and record once the run has ended."""
        output, _ = self.process.communicate(timeout=60)
        return self.process.returncode, output, load_record(self.record)

    def clean_up(self) -> None:
        """Ends the processes of a failed test."""
        if self.process.poll() is None:
            if self.simulator and alive(self.simulator):
                os.kill(self.simulator, signal.SIGKILL)
            self.process.kill()
            self.process.communicate()


def alive(pid: int) -> bool:
    """True while a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def make(*options: str) -> Run:
        runs.append(Run(tmp_path / "record.json", *options))
        return runs[-1]

    yield make
    for run in runs:
        run.clean_up()


def run_bug(name: str, **options: Any) -> RunRecord:
    return run_engines(BUGS[name], BUGS[name].setting, **options).record


def test_hang_names_the_stuck_descriptor() -> None:
    record = run_bug("never_done")
    assert record.status == "hang"
    assert record.exit_code == 1
    (report,) = record.failures
    assert report.startswith("HANG: ")
    assert line_says(report, r"\d+ descriptors not retired oldest")
    assert re.search(r"\bpto\.(mte|copy)_\w+", report), report
    assert "repeat: make SIM=verilator TEST=random" in report
    (failure,) = record.details
    assert failure.kind == "hang"
    assert f"transaction {failure.transaction} on {failure.slot}" in report
    assert failure.end_clock - failure.begin_clock >= WATCHDOG_CLOCKS


def test_unit_flags_that_are_never_set_are_a_hang_with_the_waiting_op() -> None:
    record = run_bug("blind_to_flags")
    assert record.status == "hang"
    assert record.exit_code == 1
    (report,) = record.failures
    assert says(report, r"fix \d+ descriptors not retired oldest:\n\s+transaction \d+ on fix")
    assert re.search(r"\bpto\.mte_l0c_(gm|l1|ub) .*\bunit_flag\(check_", report), report


def test_early_clear_of_unit_flags_is_reported_with_its_op() -> None:
    record = run_bug("cleared_at_once")
    assert record.status == "fail"
    report = record.failures[0]
    assert line_says(report, r"MISMATCH cleared unit flags \d+ bytes early \d+ \d+"), report
    assert "unit_flag(check_and_clear)" in report


def test_clear_of_other_unit_flags_is_reported_with_the_blocks() -> None:
    bug = BUGS["cleared_next_block"]
    one = r"MISMATCH unit flags? L0C block \d+ cleared 0 expected 1"
    other = r"MISMATCH unit flags? L0C block \d+ not cleared 1 expected 0"
    told = []
    # The wrong flags may also cause wrong data, or an op that never ends, in the same batch.
    for op in FIX_NAMES:
        record = run_engines(bug, replace(bug.setting, ops=(op,)), mismatch_limit=30).record
        assert record.status in ("fail", "hang")
        told = [line_says(x, one) or line_says(x, other) for x in record.failures]
        if any(told):
            break
    assert any(told), record.failures


def test_simulated_time_that_does_not_advance_is_a_hang() -> None:
    record = run_bug("endless_loop", wall_limit=12)
    assert record.status == "hang"
    assert record.exit_code == 1
    assert "no progress for 12 s" in record.message
    (report,) = record.failures
    assert "in flight at the end" in report
    assert "mte1:" in report


def test_killed_simulator_is_a_crash(start: Callable[..., Run]) -> None:
    run = start()
    run.catch_in_flight()
    os.kill(run.simulator, signal.SIGKILL)
    code, output, record = run.end()
    assert code == 1
    assert record.status == "crash"
    assert not record.passed
    assert "signal SIGKILL" in record.message
    assert "last lines" in record.message
    assert "in flight at the end" in record.failures[0]
    (failure,) = record.details
    assert (failure.kind, failure.field) == ("crash", "signal SIGKILL")
    assert failure.text == record.failures[0]
    assert "descriptors not retired" in output
    assert "\nFAIL (crash) " in output
    assert "\nPASS" not in output


@pytest.mark.parametrize(
    ("number", "expected", "said"),
    [(signal.SIGINT, 130, "from the keyboard"), (signal.SIGTERM, 143, "by SIGTERM")],
)
def test_an_interrupt_leaves_a_record_and_no_simulator(
    start: Callable[..., Run], number: int, expected: int, said: str
) -> None:
    run = start()
    run.catch_in_flight()
    os.kill(run.simulator, signal.SIGCONT)
    run.process.send_signal(number)
    code, output, record = run.end()
    assert code == record.exit_code == expected
    assert record.status == "interrupted"
    assert said in record.message
    assert not record.passed
    assert not alive(run.simulator)
    assert "\nFAIL (interrupted) " in output
    assert "Traceback" not in output


def test_stopped_simulator_is_a_hang_by_wall_time(start: Callable[..., Run]) -> None:
    run = start("--wall-limit", "8")
    run.catch_in_flight()
    code, output, record = run.end()
    assert code == 1
    assert record.status == "hang"
    assert "no progress for 8 s" in record.message
    assert "in flight at the end" in record.failures[0]
    (failure,) = record.details
    assert (failure.kind, failure.field) == ("hang", "ended by wall time")
    assert failure.slot in SLOTS
    assert 0 < failure.begin_clock <= failure.end_clock == record.clocks
    assert not alive(run.simulator)
    assert "\nFAIL (hang) " in output


def test_unwritable_build_folder_is_one_clear_message(tmp_path: Path) -> None:
    top = tmp_path / "project"
    top.mkdir()
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("tb", "sequences", "scoreboards", "rtl_stubs", "tests"):
        shutil.copytree(ROOT / name, top / name, ignore=ignore)
    (top / "sim_build").write_text("in the way\n")
    done = subprocess.run(
        [sys.executable, "-m", "tb", "run", "--n", "10"],
        cwd=top,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "sim_build" in done.stderr
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr
    assert "PASS" not in done.stdout
