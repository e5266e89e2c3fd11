# SPDX-License-Identifier: Apache-2.0
"""Jobs of a worker on Icarus: builds, runs, and errors around them."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tb.harness.mailbox_reader import MailboxReader
from tb.nightly.worker import execute
from tb.record.settings import RunSettings
from tb.regress.workers.job import Job, JobKind, Outcome
from tb.run.folder import CODE_COUNTS
from tests.wording import says

pytestmark = pytest.mark.sim


def job(folder: Path, kind: JobKind = "run", inputs: str = "", **more: object) -> Job:
    settings = {"sim": "icarus", "transactions": 10, "ops": ("mte_gm_ub",), **more}
    return Job(
        key="one",
        kind=kind,
        settings=RunSettings.model_validate(settings),
        config="icarus",
        folder=str(folder),
        inputs=inputs,
    )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = execute(job(tmp_path_factory.mktemp("build"), "build"))
    assert done.passed, done.error
    assert len(done.inputs) == 64
    return done.inputs


def test_a_run_returns_record_and_coverage(tmp_path: Path, inputs: str) -> None:
    done = execute(job(tmp_path, inputs=inputs))
    assert done.passed, done.error
    assert done.record is not None
    assert done.record.transactions == 10
    assert '"schema"' in done.coverage[:200]
    assert done.worker.endswith(f":{os.getpid()}")
    assert Outcome.model_validate_json(done.model_dump_json()) == done


def test_sources_changed_since_the_build_are_an_error_of_the_run(tmp_path: Path) -> None:
    done = execute(job(tmp_path, inputs="0" * 64))
    assert not done.passed
    assert says(done.error, "sources changed since regression")


def test_an_unknown_test_is_an_error_of_the_run(tmp_path: Path) -> None:
    assert "test 'none' is unknown" in execute(job(tmp_path, test="none")).error


def test_files_of_an_earlier_attempt_are_not_returned(tmp_path: Path) -> None:
    """A regression run that was killed repeats a run in the same folder."""
    names = ("coverage.json", "waves.fst", "timeline.json", CODE_COUNTS)
    for name in names:
        (tmp_path / name).write_text("of the one before")
    done = execute(job(tmp_path, test="none"))
    assert done.error
    assert (done.coverage, done.waves, done.timeline, done.code_coverage) == ("", "", "", "")


def test_a_job_without_a_folder_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").touch()
    place = job(tmp_path, test="none").model_copy(update={"folder": ""})
    assert execute(place).error
    assert (tmp_path / "mine").exists()


def test_a_full_disk_is_an_error_of_the_run(
    tmp_path: Path, inputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "mailbox"))

    monkeypatch.setattr(MailboxReader, "create", full)
    done = execute(job(tmp_path, inputs=inputs))
    assert not done.passed
    assert "No space left on device" in done.error
    assert "free disk space" in done.error


def test_a_run_that_takes_too_long_is_a_hang(tmp_path: Path, inputs: str) -> None:
    slow = job(tmp_path, inputs=inputs, transactions=100_000, time_limit=3)
    done = execute(slow)
    assert done.record is not None
    assert done.record.status == "hang"
    assert says(done.record.message, "no end 3 s")


def test_a_worker_that_is_terminated_ends_its_simulator(tmp_path: Path, inputs: str) -> None:
    def ask() -> None:
        # A signal's exception may be lost while Python starts a process; the log is empty then.
        log = tmp_path / "simulator.log"
        while not log.exists() or not log.stat().st_size:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    done = execute(job(tmp_path, inputs=inputs, transactions=100_000))
    asker.join()
    assert done.record is not None
    assert done.record.status == "interrupted"
    assert not done.passed
    assert signal.getsignal(signal.SIGTERM) is before
    left = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(tmp_path).encode() in (path.read_bytes() if path.exists() else b"")
    ]
    assert not left
