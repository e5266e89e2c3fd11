# SPDX-License-Identifier: Apache-2.0
"""Workers of a Dask cluster: a real scheduler and real workers, processes on 127.0.0.1."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers import remote
from tb.regress.workers.cluster import CONNECT_SECONDS, DaskWorkers, connect
from tb.regress.workers.farm import open_workers
from tb.regress.workers.farm_file import load_farm
from tb.regress.workers.job import Lost, Outcome
from tests.regress.fake_work import job
from tests.regress.workers.test_local import FAKE, alive, collect, read_pid, until

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed: requirements-farm.lock"
)


class Cluster:
    """A scheduler and workers, each a process that this one started."""

    def __init__(self, folder: Path, protocol: str = "tcp", *words: str) -> None:
        self.folder = folder
        self._words = ("--protocol", protocol, *words)
        self._stack = ExitStack()
        self.scheduler = self._start("scheduler", "--port", "0", "--no-show")
        listens = re.compile(r"Scheduler at: +(\S+)\n")
        until(lambda: listens.search((folder / "scheduler.log").read_text()) is not None)
        self.address = listens.findall((folder / "scheduler.log").read_text())[0]
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        local = ("--host", "127.0.0.1", "--no-dashboard")
        log = self._stack.enter_context((self.folder / f"{kind}.log").open("ab"))
        return subprocess.Popen(
            [
                *(sys.executable, "-m", f"distributed.cli.dask_{kind}"),
                *(*words, *self._words, *local),
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def start_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        words = ("--nthreads", str(threads), "--no-nanny", "--memory-limit", "0")
        self.workers.append(self._start("worker", self.address, *words))
        return self.workers[-1]

    def open(self, *, seconds: float = 60.0, work: str = FAKE, **options: Any) -> DaskWorkers:
        client = connect(self.address, where=self.address, seconds=seconds)
        return DaskWorkers(client, where=self.address, work=work, **options)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self._stack.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with one worker of two threads, for tests that kill nothing."""
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.start_worker(2)
    yield found
    found.close()


@pytest.fixture
def pool(lasting: Cluster) -> Iterator[DaskWorkers]:
    with lasting.open() as workers:
        yield workers


@pytest.mark.long
def test_outcomes_come_back(pool: DaskWorkers, tmp_path: Path) -> None:
    """A job that passes, fails, hands back rubbish, or loses its process: never an exception."""
    assert pool.size == 2
    pool.submit(job("good", tmp_path))
    pool.submit(job("bad", tmp_path, then="raise"))
    pool.submit(job("cut", tmp_path, then="truncate"))
    pool.submit(job("dead", tmp_path, then="die"))
    pool.submit(job("slow", tmp_path, sleep=30.0, timeout=1.0))
    found = {item.key: item for item in collect(pool, 5)}
    words = {key: item.error for key, item in found.items() if isinstance(item, Outcome)}
    assert words == {
        "good": "",
        "bad": "the worker failed: RuntimeError: the fake failed",
        "cut": words["cut"],
        "slow": "took longer than 1 s and was ended",
    }
    assert "truncated" in words["cut"]
    lost = found["dead"]
    assert isinstance(lost, Lost)
    assert lost.why == "killed by SIGKILL"
    assert pool.wait(5.0) == []
    assert not list(tmp_path.rglob("*.begun"))


def test_stop_ends_running_and_waiting_jobs(pool: DaskWorkers, tmp_path: Path) -> None:
    for key in ("a", "b", "c"):
        pool.submit(job(key, tmp_path, sleep=30.0, simulator="loose"))
    until(lambda: len(list(tmp_path.glob("*/1/simulator"))) == 2)
    pids = [read_pid(path) for path in tmp_path.glob("*/1/simulator")]
    pool.stop(["a", "b", "c"])
    found = collect(pool, 3)
    assert all(isinstance(item, Outcome) and item.stopped for item in found)
    assert len(list(tmp_path.glob("*/1/begun"))) == 2
    until(lambda: not any(alive(pid) for pid in pids))


def test_close_ends_everything(lasting: Cluster, tmp_path: Path) -> None:
    with lasting.open() as workers:
        workers.submit(job("a", tmp_path, sleep=30.0, simulator="loose"))
        pids = [read_pid(tmp_path / "a/1" / name) for name in ("simulator", "begun")]
    assert not any(alive(pid) for pid in pids)


@pytest.mark.long
def test_a_killed_worker_loses_its_job_once(cluster: Cluster, tmp_path: Path) -> None:
    """The other worker must not begin it a second time: that is for the coordinator to say."""
    victim = cluster.start_worker()
    with cluster.open() as workers:
        workers.submit(job("a", tmp_path, sleep=30.0, simulator="loose"))
        workers.submit(job("b", tmp_path, sleep=0.1))
        pids = [read_pid(tmp_path / "a/1" / name) for name in ("simulator", "begun")]
        cluster.start_worker()
        until(lambda: workers.size == 2)
        victim.send_signal(signal.SIGKILL)
        found = {item.key: item for item in collect(workers, 2)}
        lost, other = found["a"], found["b"]
        assert isinstance(lost, Lost)
        assert lost.why == "its worker was lost with it"
        assert lost.worker.endswith(f":{victim.pid}")
        assert isinstance(other, Outcome)
        assert other.passed
        assert (tmp_path / "a/1/begun").read_text().split() == [str(pids[1])]
        until(lambda: not any(alive(pid) for pid in pids))
        workers.submit(job("a", tmp_path / "again"))
        (again,) = collect(workers, 1)
        assert isinstance(again, Outcome)
        assert again.passed


@pytest.mark.long
def test_nothing_goes_on_for_a_killed_coordinator(lasting: Cluster, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from tb.regress.workers.cluster import DaskWorkers, connect\n"
        "from tests.regress.fake_work import job\n"
        f"workers = DaskWorkers(connect({lasting.address!r}, where=''), where='', work={FAKE!r})\n"
        "workers.submit(job('a', Path(sys.argv[1]), sleep=30.0, simulator='loose'))\n"
        "time.sleep(30)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT, env=environment) as coordinator:
        pids = [read_pid(tmp_path / "a/1" / name) for name in ("simulator", "begun")]
        coordinator.kill()
        coordinator.wait()
        until(lambda: not any(alive(pid) for pid in pids))


@pytest.mark.long
def test_a_lost_scheduler_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start_worker()
    with cluster.open(seconds=5.0) as workers:
        workers.submit(job("a", tmp_path, sleep=30.0))
        pid = read_pid(tmp_path / "a/1/begun")
        cluster.scheduler.kill()
        with pytest.raises(PtoError, match="scheduler was lost") as info:
            workers.wait(120.0)
        assert info.value.where == cluster.address
        assert "not repeated" in info.value.remedy
        until(lambda: not alive(pid))


def test_an_unreachable_scheduler_is_an_error(nowhere: str) -> None:
    assert CONNECT_SECONDS < 10
    with pytest.raises(PtoError, match="cannot be reached") as info:
        connect(nowhere, where=nowhere, seconds=0.5)
    assert info.value.where == nowhere
    assert "farm file" in info.value.remedy


@pytest.mark.long
def test_an_address_that_is_none() -> None:
    with pytest.raises(PtoError, match="cannot be reached"):
        connect("nowhere://x", where="x")


@pytest.mark.long
def test_a_refused_client_does_not_lock_the_next(
    nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector ran in the next client's event loop and waited there for ever."""
    made = distributed.utils.get_loop_factory

    def collect_first() -> Any:
        gc.collect()
        return made()

    monkeypatch.setattr(distributed.utils, "get_loop_factory", collect_first)
    gc.disable()
    try:
        for address in ("nowhere://x", nowhere):
            with pytest.raises(PtoError, match="cannot be reached"):
                connect(address, where=address, seconds=0.5)
    finally:
        gc.enable()


@pytest.mark.long
def test_no_worker_comes(cluster: Cluster) -> None:
    with pytest.raises(PtoError, match="no worker has come"):
        cluster.open(patience=0.5)


@pytest.mark.long
def test_only_who_has_a_certificate_is_let_in(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        # It makes the certificate of this test and nothing else of ours needs it.
        pytest.skip("openssl is not on the PATH")
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=farm -keyout {key} -out {cert}"
    subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    files = ("--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key)
    found = Cluster(tmp_path, "tls", *files)
    try:
        found.start_worker()
        path = tmp_path / "farm.toml"
        text = f'[workers]\nkind = "dask"\naddress = "{found.address}"\n'
        path.write_text(f'{text}[tls]\nca = "{cert}"\ncert = "{cert}"\nkey = "{key}"\n')
        with closing(open_workers(load_farm(path), 0, FAKE)) as workers:
            workers.submit(job("a", tmp_path))
            (item,) = collect(workers, 1)
            assert isinstance(item, Outcome)
            assert item.passed
        with pytest.raises(PtoError, match="cannot be reached"):
            connect(found.address, where=found.address, seconds=1.0)
    finally:
        found.close()


# --- what a Dask worker says before it begins ------------------------------------------------


def task(place: Path, **changes: str) -> remote.Task:
    values = {"session": "s", "token": "1", "work": FAKE, "folder": str(place), "root": str(ROOT)}
    return remote.Task.model_validate({**values, **changes, "job": job("a", place)})


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"root": "/elsewhere"}, "for the coordinator"),
        ({"folder": "/no/such/folder"}, "does not exist here"),
    ],
)
def test_a_host_that_does_not_share_files(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    found = remote.do(task(tmp_path, **changes))
    assert isinstance(found, Outcome)
    assert words in found.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_claimed_job_is_not_begun(tmp_path: Path) -> None:
    claimed = task(tmp_path)
    claimed.claim.parent.mkdir()
    claimed.claim.write_text("somebody:1")
    found = remote.do(claimed)
    assert isinstance(found, Lost)
    assert found.worker == "somebody:1"
    assert not (tmp_path / "a/1").exists()


@pytest.mark.long
def test_idle_children_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their coordinator may be gone."""
    monkeypatch.setattr(remote, "IDLE_SECONDS", 0.1)
    with remote._borrowed(task(tmp_path)) as (workers, _):
        pid = workers._keepers[0].process.pid
    until(lambda: not alive(pid))
    assert remote.close("s") == 0
