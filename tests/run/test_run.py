# SPDX-License-Identifier: Apache-2.0
"""A run that ends before its simulation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.console import Console
from tb.run.folder import LOCK, MAILBOX, RECORD, claimed, empty, load_record
from tb.run.run import run_once
from tb.run.testlist import planned_test


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> RunSettings:
    """Settings of a run that is interrupted before its build."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tb.run.run.plan_run", interrupted)
    return RunSettings(sim="icarus")


def run(settings: RunSettings, folder: Path, target: Path | None = None) -> RunRecord:
    quiet = Console(quiet=True)
    return run_once(settings, planned_test("random"), target, folder=folder, console=quiet)


def test_an_interrupt_before_the_build_ignores_the_progress_of_an_earlier_run(
    settings: RunSettings, tmp_path: Path
) -> None:
    (tmp_path / MAILBOX).write_bytes(b"of an earlier run")
    (tmp_path / RECORD).write_text("{}")
    record = run(settings, tmp_path)
    assert (record.status, record.transactions, record.exit_code) == ("interrupted", 0, 130)
    assert load_record(tmp_path / RECORD) == record
    assert not (tmp_path / MAILBOX).exists()


def test_a_pipe_for_the_record_is_written_into_and_stays(
    settings: RunSettings, tmp_path: Path
) -> None:
    """As ``/dev/null``, which root could remove: the record is written, the special file stays."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for target in (pipe, link):
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(pipe.read_text)
            run(settings, tmp_path / "run", target)
            assert pipe.is_fifo()
            assert json.loads(read.result(timeout=60))["status"] == "interrupted"
    assert link.is_symlink()


def test_a_link_for_the_record_is_kept_and_its_stale_target_replaced(
    settings: RunSettings, tmp_path: Path
) -> None:
    record, link = tmp_path / "there.json", tmp_path / "link.json"
    record.write_text("of an earlier run")
    link.symlink_to(record.name)
    run(settings, tmp_path / "run", link)
    assert link.is_symlink()
    assert load_record(record).status == "interrupted"


HOLDS = """
import sys
from pathlib import Path
from tb.run.folder import claimed
with claimed(Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    sys.stdin.read()
    (Path(sys.argv[1]) / "last").touch()
"""


def test_an_equal_run_waits_until_the_first_has_ended(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path / "run")],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as first:  # fmt: skip
        assert first.stdin
        assert first.stdout
        assert first.stdout.readline() == "held\n"
        waited: list[bool] = []

        def waiting() -> None:
            waited.append((tmp_path / "run/last").exists())
            assert first.stdin
            first.stdin.close()

        with claimed(tmp_path / "run", waiting):
            assert waited == [False]
            assert (tmp_path / "run/last").exists()
            empty(tmp_path / "run")
            assert [path.name for path in (tmp_path / "run").iterdir()] == [LOCK]
    with claimed(tmp_path / "run", waiting):
        assert len(waited) == 1


RUN = """
import sys
from pathlib import Path
from tb.run.launch import Watch, new_runner
runner = new_runner("icarus")
runner.env = {}
runner.watch = Watch(Path(sys.argv[1]) / "log")
code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
runner._execute_cmds([[sys.executable, "-S", "-u", "-c", code]], sys.argv[1])
"""


@pytest.mark.long
def test_a_simulator_dies_with_its_runner(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as runner:
        end = time.monotonic() + 60
        while not (log.exists() and log.read_text().strip()):
            assert time.monotonic() < end
            assert runner.poll() is None
            time.sleep(0.01)
        simulator = Path(f"/proc/{log.read_text().strip()}/stat")
        assert simulator.exists()
        runner.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while simulator.exists() and simulator.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)
