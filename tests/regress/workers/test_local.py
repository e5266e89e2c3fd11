# SPDX-License-Identifier: Apache-2.0
"""Workers on this machine: what comes back, in which order, and that nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers.job import Lost, Outcome
from tb.regress.workers.local import LocalWorkers
from tb.regress.workers.pool import Workers
from tests.regress.fake_work import job

FAKE = "tests.regress.fake_work:execute"


@pytest.fixture(scope="module")
def pool() -> Iterator[LocalWorkers]:
    with LocalWorkers(2, FAKE, grace=0.5) as workers:
        yield workers


def collect(workers: Workers, count: int, seconds: float = 120.0) -> list[Outcome | Lost]:
    """Waits until so many jobs have come back."""
    found: list[Outcome | Lost] = []
    end = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < end:
        found += workers.wait(0.2)
    assert len(found) == count
    return found


def outcome_of(workers: LocalWorkers) -> Outcome:
    (item,) = collect(workers, 1)
    assert isinstance(item, Outcome)
    return item


def until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """True of a process that runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def read_pid(path: Path) -> int:
    until(lambda: path.exists() and path.read_text().strip() != "")
    return int(path.read_text().split()[0])


def test_a_job_comes_back_with_its_record(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path))
    found = outcome_of(pool)
    assert found.passed
    assert (found.key, found.kind, found.attempt, found.error) == ("a", "run", 1, "")
    assert not (tmp_path / "a/1.log").exists()  # nothing was printed


def test_workers_import_nothing_themselves(pool: LocalWorkers, tmp_path: Path) -> None:
    for index in range(3):
        pool.submit(job(f"j{index}", tmp_path))
    importers = {item.worker for item in collect(pool, 3)}
    assert importers <= {str(keeper.process.pid) for keeper in pool._keepers}


def test_no_more_than_size_at_a_time(pool: LocalWorkers, tmp_path: Path) -> None:
    for index in range(4):
        pool.submit(job(f"j{index}", tmp_path, sleep=30.0 if index < 2 else 0.0))
    assert pool.wait(0.4) == []
    pool.stop(["j0", "j1"])
    assert {item.key for item in collect(pool, 4)} == {"j0", "j1", "j2", "j3"}


def test_wait_without_jobs_returns_at_once(pool: LocalWorkers) -> None:
    start = time.monotonic()
    assert pool.wait(90.0) == []
    assert time.monotonic() - start < 60


def test_what_a_worker_prints_is_beside_its_folder(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path, says="hello"))
    outcome_of(pool)
    assert (tmp_path / "a/1.log").read_text() == "hello"
    pool.submit(job("b", tmp_path, then="raise"))
    assert "the fake failed" in outcome_of(pool).error
    assert "Traceback" in (tmp_path / "b/1.log").read_text()


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ("raise", "the worker failed: RuntimeError: the fake failed"),
        ("truncate", "truncated or missing"),
        ("exit", "truncated or missing (0 bytes)"),
        ("nothing", "returned NoneType"),
        ("other", "outcome of another job: another"),
    ],
)
def test_a_broken_outcome_is_an_error(
    pool: LocalWorkers, tmp_path: Path, then: str, words: str
) -> None:
    pool.submit(job("a", tmp_path, then=then))
    found = outcome_of(pool)
    assert words in found.error
    assert (found.key, found.record, found.passed) == ("a", None, False)
    (tmp_path / "b").write_text("a file instead of a folder")
    pool.submit(job("b", tmp_path))
    assert "FileExistsError" in outcome_of(pool).error


def test_a_big_outcome_passes(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path, then="big"))
    assert len(outcome_of(pool).coverage) == 3_000_000


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"then": "die"}, "killed by SIGKILL"),
        ({"then": "die", "signal": int(signal.SIGSEGV)}, "killed by SIGSEGV"),
        ({"then": "exit", "code": 3}, "ended with exit code 3"),
    ],
)
def test_a_worker_that_dies_is_lost(
    pool: LocalWorkers, tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    pool.submit(job("a", tmp_path, simulator="loose", **options))
    (item,) = collect(pool, 1)
    assert isinstance(item, Lost)
    assert (item.key, item.attempt, item.why) == ("a", 1, why)
    assert item.worker.endswith(f":{read_pid(tmp_path / 'a/1/begun')}")
    simulator = read_pid(tmp_path / "a/1/simulator")
    until(lambda: not alive(simulator))


def test_the_time_limit_ends_a_job(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path, sleep=30.0, timeout=1.0))
    found = outcome_of(pool)
    assert found.error == "took longer than 1 s and was ended"
    assert found.record is None  # not interrupted: an error of the regression run, no verdict
    assert found.coverage == ""
    assert not found.stopped


@pytest.mark.long
def test_a_worker_that_does_not_listen_is_killed(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path, sleep=30.0, timeout=2.0, deaf=True, simulator="loose"))
    found = outcome_of(pool)
    assert "did not end on request and was killed by SIGKILL" in found.error
    simulator = read_pid(tmp_path / "a/1/simulator")
    until(lambda: not alive(simulator))


@pytest.mark.long
def test_stop_ends_running_and_waiting_jobs(pool: LocalWorkers, tmp_path: Path) -> None:
    for key in ("a", "b", "c", "d"):
        pool.submit(job(key, tmp_path, sleep=30.0 if key != "d" else 0.0))
    read_pid(tmp_path / "b/1/begun")
    pool.stop(["a", "b", "c"])
    found = {item.key: item for item in collect(pool, 4) if isinstance(item, Outcome)}
    assert sorted(key for key, item in found.items() if item.stopped) == ["a", "b", "c"]
    assert not (tmp_path / "c").exists()
    assert found["d"].passed


def test_a_stop_that_comes_too_late_stops_nothing(pool: LocalWorkers, tmp_path: Path) -> None:
    pool.submit(job("a", tmp_path))
    until(lambda: not alive(read_pid(tmp_path / "a/1/begun")))
    pool.stop(["a"])
    pool.submit(job("b", tmp_path))
    pool.submit(job("c", tmp_path))
    assert all(isinstance(item, Outcome) and item.passed for item in collect(pool, 3))


@pytest.mark.long
def test_the_forking_process_may_die(tmp_path: Path) -> None:
    with LocalWorkers(1, FAKE) as workers:
        workers.submit(job("a", tmp_path, sleep=30.0, simulator="loose"))
        workers.submit(job("b", tmp_path))
        worker = read_pid(tmp_path / "a/1/begun")
        simulator = read_pid(tmp_path / "a/1/simulator")
        workers.wait(0.0)
        workers._keepers[0].process.kill()
        until(lambda: not alive(worker))  # by itself: nothing has been received since
        lost, done = collect(workers, 2)
        assert isinstance(lost, Lost)
        assert "killed by SIGKILL" in lost.why
        assert done.key == "b"
        until(lambda: not alive(simulator))


@pytest.mark.long
def test_close_ends_everything(tmp_path: Path) -> None:
    workers = LocalWorkers(2, FAKE, grace=0.5)
    keepers = [keeper.process.pid for keeper in workers._keepers]
    workers.submit(job("a", tmp_path, sleep=30.0, simulator="loose"))
    workers.submit(job("b", tmp_path, sleep=30.0, deaf=True, simulator="loose"))
    pids = [
        read_pid(tmp_path / key / "1" / name)
        for key in ("a", "b")
        for name in ("simulator", "begun")
    ]
    workers.close()
    assert not any(alive(pid) for pid in keepers)
    until(lambda: not any(alive(pid) for pid in pids))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_coordinator(tmp_path: Path, number: int) -> None:
    """Also when a simulator could only be found by the mark of its worker."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from tb.regress.workers.local import LocalWorkers\n"
        "from tests.regress.fake_work import job\n"
        f"workers = LocalWorkers(2, {FAKE!r}, grace=0.5)\n"
        "folder = Path(sys.argv[1])\n"
        "workers.submit(job('a', folder, sleep=30.0, simulator='loose'))\n"
        "workers.submit(job('b', folder, sleep=30.0, deaf=True, simulator='bound'))\n"
        "print(*[keeper.process.pid for keeper in workers._keepers], flush=True); time.sleep(30)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as coordinator:
        assert coordinator.stdout is not None
        pids = [int(pid) for pid in coordinator.stdout.readline().split()]
        for key in ("a", "b"):
            pids += [read_pid(tmp_path / key / "1" / name) for name in ("simulator", "begun")]
        coordinator.send_signal(number)
        coordinator.wait(60)
        until(lambda: not any(alive(pid) for pid in pids))


SCARCE = """
import errno, os
from tb.regress.workers import keeper
from tests.regress.fake_work import execute

keeper.AGAIN_SECONDS, keeper.AGAIN_MOST_SECONDS, keeper.FORK_SECONDS = 0.1, 0.2, 2.0
whole, calls = os.fork, open("forks", "a")

def fork():
    calls.write("fork\\n")
    calls.flush()
    if os.path.exists("scarce"):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return whole()

os.fork = fork
"""


@pytest.mark.long
def test_a_job_waits_while_no_process_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not lost; it is an error when that takes too long, and the next job is tried again."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    scarce, forks = tmp_path / "scarce", tmp_path / "forks"
    (tmp_path / "scarce_work.py").write_text(SCARCE)
    scarce.touch()
    with LocalWorkers(2, "scarce_work:execute", folder=str(tmp_path)) as workers:
        workers.submit(job("a", tmp_path))
        until(lambda: forks.read_text().count("fork") >= 2)
        assert workers.wait(0.0) == []
        scarce.unlink()
        assert outcome_of(workers).passed
        assert (tmp_path / "a/1/begun").read_text().count("\n") == 1
        scarce.touch()
        workers.submit(job("never", tmp_path))
        workers.submit(job("stopped", tmp_path, sleep=30.0))
        workers.stop(["stopped"])
        stopped, never = (item for item in collect(workers, 2) if isinstance(item, Outcome))
        assert "no process could be started for it" in never.error
        assert "Resource temporarily unavailable" in never.error
        assert not never.stopped
        assert (stopped.key, stopped.stopped, stopped.error) == ("stopped", True, "")
        assert forks.read_text().count("fork") < 40
        scarce.unlink()
        workers.submit(job("later", tmp_path))
        assert outcome_of(workers).passed


@pytest.mark.long
def test_no_workers_and_a_work_function_that_does_not_exist() -> None:
    with pytest.raises(PtoError, match="cannot be started: ModuleNotFoundError") as info:
        LocalWorkers(1, "tests.regress.no_such:execute")
    assert info.value.where == "tests.regress.no_such:execute"
    with pytest.raises(PtoError, match="AttributeError"):
        LocalWorkers(1, "tests.regress.fake_work:no_such")
    with pytest.raises(PtoError, match="0 workers"):
        LocalWorkers(0, FAKE)
