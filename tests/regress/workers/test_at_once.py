# SPDX-License-Identifier: Apache-2.0
"""Several coordinators on one database, and one that is killed: every run counts, and once."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from sqlalchemy import func, select

from tb.coverage.export.exchange import to_json
from tb.regress.results import merge
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.store import Store
from tests.regress.samples import (
    FORK,
    at_once,
    begin,
    column,
    coverage,
    dead_pid,
    job,
    jobs,
    outcome,
    put,
    text,
    total,
)

pytestmark = pytest.mark.long

PAIRS = 4


def write(url: str, seeds: range, own: str, go: Any) -> None:
    """Writes as a coordinator does: a regression run of its own unless one is given."""
    with Store.open(url) as store:
        planned = [job(f"r{seed}", seed=seed) for seed in seeds]
        regression = own or begin(store, planned)
        go.wait()
        for item in planned:
            store.heartbeat(regression) if not own else None
            done = outcome(item, status="fail", coverage=text(coverage(item.settings.seed)))
            store.finish_run(regression, done, state="fail", identity=f"{item.key}")


def test_two_regression_runs_at_once_lose_nothing(url: str) -> None:
    """From an empty database on: tables, names and definitions are made by both."""
    at_once(write, *[(url, seeds, "") for seeds in (range(25), range(25, 50))])
    with Store.open(url) as store:
        assert sorted(name[-2:] for name in column(store, RegressionRunTable.name)) == [".1", ".2"]
        assert column(store, RunTable.state) == ["fail"] * 50
        assert to_json(store.merged()) == to_json(total(range(50)))


def test_one_regression_run_written_by_two_counts_each_run_once(url: str) -> None:
    with Store.open(url) as store:
        regression = begin(store, jobs(30))
    at_once(write, *[(url, range(30), regression)] * 2)
    with Store.open(url) as store:
        assert store.jobs_left(regression) == []
        assert to_json(store.merged()) == to_json(total(range(30)))


def adopt(url: str, regression: str, won: Any, go: Any) -> None:
    with Store.open(url) as store:
        go.wait()
        if store.adopt(regression):
            with won.get_lock():
                won.value += 1
        go.wait()  # alive while the other tries


def test_of_two_that_resume_one_wins(url: str) -> None:
    with Store.open(url) as store:
        regression = begin(store)
        put(store, regression, pid=dead_pid())
    won = FORK.Value("i", 0)
    at_once(adopt, *[(url, regression, won)] * 2)
    assert won.value == 1


def test_a_killed_coordinator_leaves_whole_runs(url: str) -> None:
    with Store.open(url) as store:
        regression = begin(store, jobs(1000))
    go = FORK.Barrier(1)
    process = FORK.Process(target=write, args=(url, range(1000), regression, go))
    process.start()
    assert process.pid is not None
    with Store.open(url) as store:
        while len(store.jobs_left(regression)) > 990:
            assert process.is_alive()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        left = store.jobs_left(regression)
        done = 1000 - len(left)
        assert 10 <= done < 1000
        records = [one for one in column(store, RunTable.outcome) if one]
        assert [one["key"] for one in records] == [f"r{seed}" for seed in range(done)]
        assert [item.key for item in left] == [f"r{seed}" for seed in range(done, 1000)]
        assert to_json(store.merged()) == to_json(total(range(done)))
        put(store, regression, pid=process.pid)
        assert store.unfinished("nightly", "plan") == regression


def begin_regressions(url: str, go: Any) -> None:
    with Store.open(url) as store:
        go.wait()
        for _ in range(5):
            begin(store, [])


def test_regression_runs_that_begin_at_once_get_names_of_their_own(url: str) -> None:
    at_once(begin_regressions, *[(url,)] * 3)
    with Store.open(url) as store:
        numbers = sorted(
            int(name.rsplit(".", 1)[1]) for name in column(store, RegressionRunTable.name)
        )
    assert numbers == list(range(1, 16))


def equal_runs(url: str, regression: str, mine: str, how: Any, go: Any) -> None:
    with Store.open(url) as store:
        go.wait()
        for number in range(PAIRS):
            done = outcome(job(f"{mine}{number}"), status=how)
            store.finish_run(regression, done, state=how, identity=f"same{number}")


def test_of_equal_runs_that_end_at_once_one_sees_the_other(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*arguments: Any) -> None:
        time.sleep(0.1)  # compared with the others already, and not to be seen yet

    monkeypatch.setattr(merge, "add_hits", slowly)
    with Store.open(url) as store:
        regression = begin(
            store, [job(f"{mine}{number}") for mine in "ab" for number in range(PAIRS)]
        )
    at_once(equal_runs, (url, regression, "a", "pass"), (url, regression, "b", "fail"))
    with Store.open(url) as store:
        assert column(store, RunTable.state) == ["flaky"] * 2 * PAIRS


def test_what_is_read_together_is_of_one_moment(store: Store, url: str) -> None:
    planned = jobs(2)
    regression = begin(store, planned)
    query = select(func.count(RunTable.id)).where(RunTable.state == "planned")
    with Store.open(url) as other, store.reading() as session:
        assert session.scalar(query) == 2
        other.finish_run(regression, outcome(planned[0]), state="pass")
        assert session.scalar(query) == 2
    with store.reading() as session:
        assert session.scalar(query) == 1
