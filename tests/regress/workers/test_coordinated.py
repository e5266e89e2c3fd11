# SPDX-License-Identifier: Apache-2.0
"""Regression runs from coordinator to database, with real processes: workers die, a disk is full.

Whatever happens, each run has one result, and coverage is the exact sum of the runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.coverage.export.exchange import to_json
from tb.record.settings import RunSettings
from tb.regress.coordinator import Coordinator, Limits, Tally
from tb.regress.queries import history
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.store import Store
from tb.regress.workers.job import Job
from tb.regress.workers.local import LocalWorkers
from tb.regress.workers.pool import Workers
from tests.regress.results.test_connect import limit_pages
from tests.regress.samples import column, coverage, dead_pid, put, text, total
from tests.regress.workers.test_local import until

pytestmark = pytest.mark.long

WORK = "tests.regress.fake_work:coordinated"
LONG = 60.0
"""Seconds of a run that is to lose its worker."""

Hook = Callable[[Tally], None]


class RegressionRun:
    """A regression run; its run ``r3`` covers what :func:`samples.coverage` draws with seed 3."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = self.open()
        self.name = self.store.begin_regression(regression="nightly", signature="plan")

    def open(self) -> Store:
        return Store.open(f"sqlite:///{self.folder}/results.db")

    def plan(self, count: int, **special: dict[str, Any]) -> None:
        """Plans so many runs; by their keys what is special in some."""
        jobs = []
        for seed in range(count):
            file = self.folder / f"coverage{seed}.json"
            file.write_text(text(coverage(seed)))
            options = {"coverage": str(file), **special.get(f"r{seed}", {})}
            settings = RunSettings(seed=seed, options=options)
            jobs.append(Job(key=f"r{seed}", kind="run", settings=settings, config="c", folder=""))
        self.store.plan_runs(self.name, jobs)

    def coordinate(self, workers: Workers, hook: Hook = lambda _: None) -> Coordinator:
        """Does the runs that are left; ``hook`` is called all the while."""
        coordinator = Coordinator(
            self.store,
            self.name,
            self.folder / self.name,
            self.store.jobs_left(self.name),
            workers,
            Limits(),
            progress=hook,
        )
        assert coordinator.run() == "complete"
        self.store.end_regression(self.name, "complete", coordinator.figures())
        return coordinator

    def begun(self, key: str) -> Path | None:
        """The first attempt's file that says which process does it, or None."""
        file = self.folder / self.name / "runs" / key / "1/begun"
        return file if file.exists() and file.read_text() else None

    def states(self) -> dict[str, str]:
        """How each run ended; a run has one row, so there is one end."""
        keys, states = column(self.store, RunTable.key), column(self.store, RunTable.state)
        assert len(set(keys)) == len(keys)
        return dict(zip(keys, states, strict=True))


def summed(store: Store, regression: str) -> dict[str, Any]:
    return to_json(store.merged([regression]))


def of_runs(seeds: list[int]) -> dict[str, Any]:
    """The exact sum of runs, each counted once."""
    return to_json(total(seeds))


@pytest.fixture
def regression(tmp_path: Path) -> Iterator[RegressionRun]:
    made = RegressionRun(tmp_path)
    yield made
    made.store.close()


class Victims:
    """Workers of a kind, and how one of them is killed with the run that it does."""

    def __init__(self, workers: Workers, kill: Callable[[Path], None]) -> None:
        self.workers, self.kill = workers, kill


def _kill_process(begun: Path) -> None:
    os.kill(int(begun.read_text().split()[0]), signal.SIGKILL)


@pytest.fixture(params=["local", "dask"])
def victims(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Victims]:
    if request.param == "local":
        with LocalWorkers(2, WORK) as workers:
            yield Victims(workers, _kill_process)
        return
    pytest.importorskip("distributed", reason="Dask is not installed: requirements-farm.lock")
    from tests.regress.workers.test_cluster import Cluster

    place = tmp_path / "cluster"
    place.mkdir()
    cluster = Cluster(place)

    def kill(begun: Path) -> None:
        """Kills the Dask worker that a file next to the run's folder names."""
        (claim,) = begun.parents[1].glob("1.*.begun")
        pid = int(claim.read_text().rpartition(":")[2])
        (victim,) = [process for process in cluster.workers if process.pid == pid]
        victim.kill()

    try:
        cluster.start_worker()
        cluster.start_worker()
        with cluster.open(work=WORK) as pool:
            until(lambda: pool.size == 2)
            yield Victims(pool, kill)
    finally:
        cluster.close()


def test_a_killed_worker_costs_a_repetition_and_nothing_else(
    regression: RegressionRun, victims: Victims
) -> None:
    regression.plan(8, r3={"first": LONG})
    killed: list[Path] = []

    def hook(_: Tally) -> None:
        begun = regression.begun("r3")
        if begun and not killed:
            killed.append(begun)
            victims.kill(begun)

    coordinator = regression.coordinate(victims.workers, hook)
    assert killed
    assert regression.states() == {f"r{seed}": "pass" for seed in range(8)}
    runs = history.runs(regression.store, regression.name)
    assert [run.attempts for run in runs] == [1, 1, 1, 2, 1, 1, 1, 1]
    lost = column(regression.store, RunTable.lost)
    assert [len(attempts) for attempts in lost] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert lost[3][0]["attempt"] == 1
    assert lost[3][0]["why"]
    assert (coordinator.tally.done, coordinator.tally.failed, coordinator.tally.lost) == (8, 0, 1)
    assert summed(regression.store, regression.name) == to_json(total(range(8)))
    assert regression.store.jobs_left(regression.name) == []


def test_a_truncated_outcome_is_an_error_of_its_run(regression: RegressionRun) -> None:
    regression.plan(5, r2={"then": "truncate"})
    with LocalWorkers(2, WORK) as workers:
        coordinator = regression.coordinate(workers)
    assert regression.states() == {**{f"r{seed}": "pass" for seed in range(5)}, "r2": "error"}
    (outcome,) = column(regression.store, RunTable.outcome, RunTable.key == "r2")
    assert "truncated or missing" in outcome["error"]
    assert (coordinator.tally.done, coordinator.tally.failed) == (5, 1)
    assert summed(regression.store, regression.name) == of_runs([0, 1, 3, 4])


def test_a_run_over_its_time_is_an_error_and_covers_nothing(regression: RegressionRun) -> None:
    regression.plan(2, r0={"first": LONG})
    late, other = regression.store.jobs_left(regression.name)
    jobs = [late.model_copy(update={"timeout": 0.5}), other]
    with LocalWorkers(2, WORK) as workers:
        place = regression.folder / regression.name
        Coordinator(regression.store, regression.name, place, jobs, workers, Limits()).run()
    assert regression.states() == {"r0": "error", "r1": "pass"}
    assert summed(regression.store, regression.name) == of_runs([1])


def test_a_disk_that_is_full_stops_a_regression_run_that_can_go_on(
    regression: RegressionRun,
) -> None:
    regression.plan(16)
    limited: list[int] = []

    def fill(tally: Tally) -> None:
        if tally.done >= 3 and not limited:
            limited.append(tally.done)
            limit_pages(regression.store, extra=0)

    with LocalWorkers(2, WORK) as workers, pytest.raises(PtoError, match="disk is full") as caught:
        regression.coordinate(workers, fill)
    assert "free room" in caught.value.remedy
    regression.store.close()

    regression.store = regression.open()  # as another process, with room again
    states = regression.states()
    done = [seed for seed in range(16) if states[f"r{seed}"] == "pass"]
    assert 3 <= len(done) < 16
    assert set(states.values()) == {"pass", "planned"}
    assert summed(regression.store, regression.name) == of_runs(done)
    ends = column(regression.store, RunTable.outcome, RunTable.state == "pass")
    put(regression.store, regression.name, pid=dead_pid())
    assert regression.store.unfinished("nightly", "plan") == regression.name
    assert regression.store.adopt(regression.name)
    with LocalWorkers(2, WORK) as workers:
        coordinator = regression.coordinate(workers)
    assert coordinator.tally.done == 16 - len(done)
    assert set(regression.states().values()) == {"pass"}
    keys = [f"r{seed}" for seed in done]
    assert column(regression.store, RunTable.outcome, RunTable.key.in_(keys)) == ends
    assert summed(regression.store, regression.name) == to_json(total(range(16)))


def test_without_a_scheduler_no_regression_run_begins(tmp_path: Path, nowhere: str) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: requirements-farm.lock")
    farm = tmp_path / "farm.toml"
    farm.write_text(f'[workers]\nkind = "dask"\naddress = "{nowhere}"\n')
    results = tmp_path / "results"
    code = (
        "import functools, sys\n"
        "from tb.regress.workers import cluster, farm\n"
        "farm.connect = functools.partial(cluster.connect, seconds=1.0)\n"  # it would be 8
        "from tb.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", code, "nightly"),
            *("--farm", str(farm), "--folder", str(results), "--seeds", "1"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2, done.stderr
    assert "the scheduler cannot be reached" in done.stderr
    assert nowhere in done.stderr
    assert "Traceback" not in done.stderr
    assert "started" not in done.stdout
    assert [path.name for path in results.iterdir() if path.is_dir()] == []
    with closing(Store.open(f"sqlite:///{results}/results.db")) as store:
        assert column(store, RegressionRunTable.name) == []
