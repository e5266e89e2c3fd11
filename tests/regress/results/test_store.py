# SPDX-License-Identifier: Apache-2.0
"""The results database, on SQLite and on a real PostgreSQL: nothing is lost or counted twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, get_args

import pytest
from sqlalchemy import select, update

from tb.coverage.export.exchange import to_json
from tb.record.record import RunStatus
from tb.regress.queries import history
from tb.regress.queries.views import Figures
from tb.regress.results import regressions
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.store import Finished, Store, StoreError
from tb.regress.workers.job import Job, Lost, Outcome
from tests.regress.samples import (
    BUCKET,
    begin,
    column,
    coverage,
    dead_pid,
    job,
    jobs,
    outcome,
    put,
    run_id,
    state,
    text,
)


def finish(store: Store, regression: str, planned: Job, how: Any, **more: Any) -> Finished | None:
    """Writes an outcome whose record has the state of the run."""
    status = how if how in get_args(RunStatus) else "pass"
    return store.finish_run(regression, outcome(planned, status=status), state=how, **more)


# --- regression runs ------------------------------------------------------------------------------


def test_regression_runs_of_a_day_are_counted(store: Store) -> None:
    names = [begin(store) for _ in range(11)]
    day = names[0].rsplit(".", 1)[0]
    assert names == [f"{day}.{number}" for number in range(1, 12)]
    assert column(store, RegressionRunTable.about)[-1]["folder"] == f"nightly/{day}.11"
    started = column(store, RegressionRunTable.started)[0]
    assert started.utcoffset() == timedelta(0)
    assert abs((regressions.now_utc() - started).total_seconds()) < 60


def test_an_interrupted_regression_run_is_resumed_by_its_own_plan(store: Store) -> None:
    regression = begin(store)
    store.end_regression(regression, "interrupted", Figures())
    assert store.unfinished("nightly", "another") is None
    assert store.unfinished("weekly", "plan") is None
    assert store.unfinished("nightly", "plan") == regression
    assert store.adopt(regression)
    assert store.unfinished("nightly", "plan") is None
    assert not store.adopt(regression)
    assert column(store, RegressionRunTable.ended) == [None]


@pytest.mark.parametrize("status", ["", "complete", "budget", "error"])
def test_a_regression_run_that_runs_or_ended_is_not_resumed(store: Store, status: Any) -> None:
    regression = begin(store)
    if status:
        store.end_regression(regression, status, Figures())
    assert store.unfinished("nightly", "plan") is None
    assert not store.adopt(regression)


def test_only_the_latest_with_runs_left_is_resumed(store: Store) -> None:
    """A newer regression run exists: the interrupted one stays interrupted."""
    store.end_regression(begin(store), "interrupted", Figures())
    store.end_regression(begin(store), "complete", Figures())
    assert store.unfinished("nightly", "plan") is None
    third = begin(store, jobs(1))
    finish(store, third, jobs(1)[0], "pass")
    store.end_regression(third, "interrupted", Figures())
    assert store.unfinished("nightly", "plan") is None


def test_a_dead_coordinator_is_noticed_at_once(store: Store) -> None:
    regression = begin(store)
    put(store, regression, pid=dead_pid())
    assert store.unfinished("nightly", "plan") == regression
    assert store.adopt(regression)


@pytest.mark.parametrize("where", [{"host": "elsewhere"}, {"space": "another container"}])
def test_a_silent_coordinator_elsewhere_is_taken_for_dead(
    store: Store, where: dict[str, str]
) -> None:
    regression = begin(store)
    put(store, regression, **where, pid=dead_pid())
    assert store.unfinished("nightly", "plan") is None
    late = regressions.now_utc() - timedelta(seconds=regressions.STALE_SECONDS + 1)
    put(store, regression, heartbeat=late)
    assert store.unfinished("nightly", "plan") == regression


def test_wall_time_leaves_interruptions_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = regressions.now_utc()
    monkeypatch.setattr(regressions, "now_utc", lambda: now)
    regression = begin(store)
    for _ in range(3):
        now += timedelta(seconds=5)
        seconds = store.heartbeat(regression)
    assert seconds == pytest.approx(15)
    put(store, regression, pid=dead_pid())
    now += timedelta(hours=8)
    assert store.adopt(regression)
    now += timedelta(seconds=5)
    assert store.heartbeat(regression) == pytest.approx(20)


def test_a_coordinator_is_told_that_its_regression_run_was_taken_over(store: Store) -> None:
    regression = begin(store)
    put(store, regression, host="elsewhere")
    with pytest.raises(StoreError, match="on elsewhere now"):
        store.heartbeat(regression)


def test_end_of_a_regression_run(store: Store) -> None:
    regression = begin(store)
    store.end_regression(
        regression,
        "complete",
        Figures(planned=3, wall_seconds=12.5),
        coverage=81.25,
        groups={"traffic": 50.0},
        code={"mte2": {"line": (3, 4)}},
        notes=["a worker was lost"],
    )
    with store.reading() as session:
        row = session.scalars(select(RegressionRunTable)).one()
        assert row.status == "complete"
        assert row.ended is not None
        assert Figures(**row.figures) == Figures(planned=3, wall_seconds=12.5)
        assert row.coverage == {"percent": 81.25, "groups": {"traffic": 50.0}}
        assert row.code == {"mte2": {"line": [3, 4]}}
        assert row.notes == ["a worker was lost"]


def test_an_unknown_regression_run_or_run_is_an_error(store: Store) -> None:
    regression = begin(store)
    with pytest.raises(StoreError, match=r"no regression run 2001-01-01\.1"):
        store.jobs_left("2001-01-01.1")
    with pytest.raises(StoreError, match="has no run r99"):
        store.finish_run(regression, outcome(job("r99")), state="pass")
    with pytest.raises(StoreError, match="no run 99"):
        store.planned(99)
    with pytest.raises(StoreError, match="no run 99"):
        store.note_rerun(99, outcome(job("r0")), state="pass")


# --- runs -------------------------------------------------------------------------------------


def test_runs_are_left_in_the_order_of_the_plan(store: Store) -> None:
    planned = jobs(5)[::-1]
    regression = begin(store, planned)
    assert store.jobs_left(regression) == planned
    finish(store, regression, planned[1], "pass")
    stopped = outcome(planned[0], stopped=True)
    assert store.finish_run(regression, stopped, state="interrupted") is None
    assert store.jobs_left(regression) == [planned[0], *planned[2:]]


def test_a_run_counts_once(store: Store) -> None:
    planned = jobs(2)
    regression = begin(store, planned)
    done = outcome(planned[0], status="fail", coverage=text(coverage(1)))
    first = store.finish_run(regression, done, state="fail")
    assert first is not None
    again = outcome(planned[0], coverage=text(coverage(2)))
    for how in ("pass", "lost"):
        assert store.finish_run(regression, again, state=how) is None
    assert state(store, first) == "fail"
    assert store.planned(first.id)[2] == done.record
    assert to_json(store.merged()) == to_json(coverage(1))


def test_what_a_run_leaves(store: Store) -> None:
    planned = jobs(1)[0]
    regression = begin(store, [planned])
    done = outcome(planned, status="fail", attempt=2)
    found = store.finish_run(
        regression, done, state="fail", identity="id", folder="nightly/runs/r0/2"
    )
    assert found == (run_id(found), "fail", BUCKET)
    assert done.record is not None
    assert store.planned(run_id(found)) == (regression, planned, done.record)
    with store.reading() as session:
        row = session.scalars(select(RunTable)).one()
        assert (row.state, row.bucket, row.identity) == ("fail", BUCKET, "id")
        assert (row.manifest_hash, row.folder) == ("manifests", "nightly/runs/r0/2")
        assert (row.seconds, row.transactions, row.bytes_checked) == (8.0, 20000, 1000)
        assert Outcome.model_validate(row.outcome) == done


def test_a_record_of_an_earlier_version_has_more_fields(store: Store) -> None:
    planned = jobs(1)
    done = outcome(planned[0])
    found = store.finish_run(begin(store, planned), done, state="pass")
    (stored,) = column(store, RunTable.outcome)
    stored["record"]["gone"] = {"mte_gm_ub": 1}
    store._write(lambda connection: connection.execute(update(RunTable).values(outcome=stored)))
    assert store.planned(run_id(found))[2] == done.record


def test_a_run_without_record(store: Store) -> None:
    planned = jobs(1)
    regression = begin(store, planned)
    done = outcome(planned[0], record=None, error="result.json is truncated\0\ud800")
    number = run_id(store.finish_run(regression, done, state="error"))
    assert store.planned(number)[2] is None
    (row,) = history.runs(store, regression)
    assert row.message == "result.json is truncated\ufffd?"
    assert row.command == planned[0].settings.command()


@pytest.mark.parametrize(("given", "kept"), [("pass", "error"), ("fail", "fail")])
def test_coverage_that_cannot_be_read(store: Store, given: Any, kept: str) -> None:
    planned = jobs(2)
    regression = begin(store, planned)
    cut = text(coverage(1))[:-100]
    number = store.finish_run(
        regression, outcome(planned[0], status=given, coverage=cut), state=given
    )
    assert state(store, number) == kept
    assert "coverage cannot be read" in column(store, RunTable.outcome)[0]["error"]
    whole = outcome(planned[1], coverage=text(coverage(1)))
    assert state(store, store.finish_run(regression, whole, state="pass")) == "pass"
    assert to_json(store.merged()) == to_json(coverage(1))


def test_lost_attempts_are_counted_each_once(store: Store) -> None:
    planned = jobs(1)
    regression = begin(store, planned)
    first = Lost(key="r0", attempt=1, worker="w1", why="killed by SIGKILL")
    assert store.lose(regression, first) == 1
    assert store.lose(regression, first) == 1
    assert store.jobs_left(regression)[0].attempt == 2
    assert store.lose(regression, Lost(key="r0", attempt=2)) == 2
    gone = outcome(planned[0], record=None, error="killed by SIGKILL")
    assert state(store, store.finish_run(regression, gone, state="lost")) == "lost"
    assert store.jobs_left(regression) == []
    (bucket,) = history.buckets(store, regression)
    assert (bucket.title, bucket.kind) == ("worker lost, killed by SIGKILL", "lost")
    assert bucket.example_run.message == (
        "workers were lost with it 2 times, last: killed by SIGKILL"
    )


def test_builds_are_no_runs_and_the_last_of_two_is_kept(store: Store) -> None:
    regression = begin(store)
    assert store.lose(regression, Lost(key="build-verilator", attempt=2)) == 2
    assert column(store, RunTable.lost) == [[]] * 3
    store.note_build(regression, "verilator", inputs="", seconds=1.0, error="no compiler")
    store.note_build(regression, "verilator", inputs="abc", seconds=30.0)
    (builds,) = column(store, RegressionRunTable.builds)
    assert builds == {"verilator": {"inputs": "abc", "seconds": 30.0, "error": ""}}


def test_expected_seconds_are_those_of_passes(store: Store) -> None:
    planned = [job("a"), job("b", seed=2), job("c", transactions=100), job("d", test="legal")]
    regression = begin(store, planned)
    for item, seconds, how in zip(
        planned, (8.0, 10.0, 1.0, 99.0), ("pass", "pass", "pass", "hang"), strict=True
    ):
        done = outcome(item, status=how, seconds=seconds)
        store.finish_run(regression, done, state=done.record.status if done.record else "error")
    assert store.expected_seconds() == {}, "other engines are not measure"
    assert store.expected_seconds("manifests") == {
        ("random", "verilator", 20000): 9.0,
        ("random", "verilator", 100): 1.0,
    }


# --- flaky ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "identities", "states"),
    [
        ("pass fail fail", "same other same", "flaky fail flaky"),
        ("hang pass pass", "same other same", "flaky pass flaky"),
        # Without a verdict a run contradicts nothing.
        ("pass error pass", "same same same", "pass error pass"),
        ("pass interrupted pass", "same same same", "pass interrupted pass"),
        # Runs of unknown identity are compared with nothing.
        ("pass fail hang", "  ", "pass fail hang"),
    ],
)
def test_equal_runs_that_end_differently_are_flaky(
    store: Store, ends: str, identities: str, states: str
) -> None:
    planned = [job("a"), job("b", seed=2), job("c")]
    regression = begin(store, planned)
    found = [
        finish(store, regression, item, how, identity=identity)
        for item, how, identity in zip(planned, ends.split(), identities.split(" "), strict=True)
    ]
    assert [state(store, one) for one in found] == states.split()


def test_an_earlier_regression_run_keeps_its_state(store: Store) -> None:
    numbers = [
        finish(store, begin(store, jobs(1)), jobs(1)[0], how, identity="same")
        for how in ("pass", "fail", "pass")
    ]
    assert [state(store, number) for number in numbers] == ["pass", "flaky", "flaky"]
    record = store.planned(run_id(numbers[1]))[2]
    assert record is not None
    assert record.status == "fail"


@pytest.mark.parametrize(
    ("again", "identity", "flaky"),
    [("pass", "same", True), ("fail", "same", False), ("hang", "same", False),
     ("pass", "changed", False), ("pass", "", False), ("error", "same", False)],
)  # fmt: skip
def test_a_rerun_that_ends_differently(
    store: Store, again: Any, identity: str, flaky: bool
) -> None:
    (planned,) = jobs(1)
    found = finish(store, begin(store, [planned]), planned, "fail", identity="same")
    stopped = outcome(planned, stopped=True)
    assert not store.note_rerun(run_id(found), stopped, state="pass", identity="same")
    second = outcome(planned, status=again, waves="dump.fst", timeline="trace.json")
    assert store.note_rerun(run_id(found), second, state=again, identity=identity) == flaky
    assert state(store, found) == ("flaky" if flaky else "fail")
    ((rerun,),) = column(store, RunTable.reruns)
    assert (rerun["state"], rerun["waves"]) == (again, "dump.fst")
