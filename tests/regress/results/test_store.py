# SPDX-License-Identifier: Apache-2.0
"""The results database, on SQLite and on a real PostgreSQL: nothing is lost or counted twice."""

from __future__ import annotations

import multiprocessing
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from tb.coverage.export.exchange import to_json
from tb.regress.queries.views import Figures
from tb.regress.results import nights
from tb.regress.results.database import (
    BucketTable,
    BuildTable,
    FailureTable,
    LostTable,
    NightTable,
    RerunTable,
    RunTable,
)
from tb.regress.results.store import Store, StoreError
from tb.regress.workers.job import Lost
from tests.regress.samples import (
    BUCKET,
    FAILURE,
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

# The quick kind: these processes open a database of their own, and no other thread is there.
FORK = multiprocessing.get_context("fork")


# --- nights -----------------------------------------------------------------------------------


def test_nights_of_a_day_are_counted(store: Store) -> None:
    names = [begin(store) for _ in range(11)]
    day = names[0].rsplit(".", 1)[0]
    assert names == [f"{day}.{number}" for number in range(1, 12)]
    assert column(store, NightTable.folder)[-1] == f"nightly/{day}.11"


def test_times_come_back_with_their_zone(store: Store) -> None:
    begin(store)
    (started,) = column(store, NightTable.started)
    assert started.utcoffset() == timedelta(0)
    assert abs((nights.now_utc() - started).total_seconds()) < 60


def test_a_night_that_runs_is_not_resumed(store: Store) -> None:
    night = begin(store)
    assert store.unfinished("nightly", "plan") is None
    assert not store.adopt(night)


def test_an_interrupted_night_is_resumed_by_its_own_plan(store: Store) -> None:
    night = begin(store)
    store.end_night(night, "interrupted", Figures())
    assert store.unfinished("nightly", "another") is None
    assert store.unfinished("weekly", "plan") is None
    assert store.unfinished("nightly", "plan") == night
    assert store.adopt(night)
    assert store.unfinished("nightly", "plan") is None
    assert not store.adopt(night)
    assert column(store, NightTable.ended) == [None]


@pytest.mark.parametrize("status", ["complete", "budget", "error"])
def test_a_night_that_ended_is_not_resumed(store: Store, status: Any) -> None:
    night = begin(store)
    store.end_night(night, status, Figures())
    assert store.unfinished("nightly", "plan") is None
    assert not store.adopt(night)


def test_a_dead_coordinator_is_noticed_at_once(store: Store) -> None:
    night = begin(store)
    put(store, night, pid=dead_pid())
    assert store.unfinished("nightly", "plan") == night
    assert store.adopt(night)


def test_a_silent_coordinator_elsewhere_is_taken_for_dead(store: Store) -> None:
    night = begin(store)
    put(store, night, host="elsewhere", pid=dead_pid())
    assert store.unfinished("nightly", "plan") is None
    late = nights.now_utc() - timedelta(seconds=nights.STALE_SECONDS + 1)
    put(store, night, heartbeat=late)
    assert store.unfinished("nightly", "plan") == night


def test_a_night_without_runs_left_is_not_resumed(store: Store) -> None:
    night = begin(store, jobs(1))
    store.finish_run(night, outcome(jobs(1)[0]), state="pass")
    store.end_night(night, "interrupted", Figures())
    assert store.unfinished("nightly", "plan") is None


def test_the_latest_night_alone_is_resumed(store: Store) -> None:
    """Somebody began anew since: what was interrupted before stays so."""
    store.end_night(begin(store), "interrupted", Figures())
    store.end_night(begin(store), "complete", Figures())
    assert store.unfinished("nightly", "plan") is None


def test_wall_time_leaves_interruptions_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = nights.now_utc()
    monkeypatch.setattr(nights, "now_utc", lambda: now)
    night = begin(store)
    for _ in range(3):
        now += timedelta(seconds=5)
        seconds = store.heartbeat(night)
    assert seconds == pytest.approx(15)
    put(store, night, pid=dead_pid())
    now += timedelta(hours=8)
    assert store.adopt(night)
    now += timedelta(seconds=5)
    assert store.heartbeat(night) == pytest.approx(20)


def test_a_coordinator_is_told_that_its_night_was_taken_over(store: Store) -> None:
    night = begin(store)
    put(store, night, host="elsewhere")
    with pytest.raises(StoreError, match="on elsewhere now"):
        store.heartbeat(night)


def test_end_of_a_night(store: Store) -> None:
    night = begin(store)
    store.end_night(
        night,
        "complete",
        Figures(planned=3, wall_seconds=12.5),
        coverage=81.25,
        groups={"traffic": 50.0},
        code={"mte2": {"line": (3, 4)}},
        notes=["a worker was lost"],
    )
    with store.reading() as session:
        row = session.scalars(select(NightTable)).one()
        assert row.status == "complete"
        assert row.ended is not None
        assert Figures(**row.figures) == Figures(planned=3, wall_seconds=12.5)
        assert row.coverage == {"percent": 81.25, "groups": {"traffic": 50.0}}
        assert row.code == {"mte2": {"line": [3, 4]}}
        assert row.notes == ["a worker was lost"]


def test_an_unknown_night_or_run_is_an_error(store: Store) -> None:
    night = begin(store)
    with pytest.raises(StoreError, match=r"no regression run 2001-01-01\.1"):
        store.jobs_left("2001-01-01.1")
    with pytest.raises(StoreError, match="has no run r99"):
        store.finish_run(night, outcome(job("r99")), state="pass")
    with pytest.raises(StoreError, match="no run 99"):
        store.job(99)
    with pytest.raises(StoreError, match="no run 99"):
        store.note_rerun(99, outcome(job("r0")), state="pass")


# --- runs -------------------------------------------------------------------------------------


def test_runs_are_left_in_the_order_of_the_plan(store: Store) -> None:
    planned = jobs(5)[::-1]
    night = begin(store, planned)
    assert store.jobs_left(night) == planned
    store.finish_run(night, outcome(planned[1]), state="pass")
    assert store.jobs_left(night) == [planned[0], *planned[2:]]


def test_a_run_counts_once(store: Store) -> None:
    planned = jobs(2)
    night = begin(store, planned)
    done = outcome(planned[0], status="fail", coverage=text(coverage(1)))
    first = store.finish_run(night, done, state="fail", failures=[(FAILURE, BUCKET)])
    assert first is not None
    again = outcome(planned[0], coverage=text(coverage(2)))
    assert store.finish_run(night, again, state="pass") is None
    assert store.finish_lost(night, "r0", "gone") is None
    assert state(store, first) == "fail"
    assert len(column(store, FailureTable.id)) == 1
    assert to_json(store.merged()) == to_json(coverage(1))


def test_what_a_run_leaves(store: Store) -> None:
    planned = jobs(1)[0]
    night = begin(store, [planned])
    store.note_build(night, "verilator", inputs="abc", seconds=30.0)
    done = outcome(planned, status="fail", attempt=2)
    number = run_id(
        store.finish_run(
            night,
            done,
            state="fail",
            bucket=BUCKET,
            failures=[(FAILURE, BUCKET)],
            identity="id",
            folder="nightly/runs/r0/2",
        )
    )
    assert done.record is not None
    assert store.record(number) == done.record
    assert store.job(number) == (night, planned)
    with store.reading() as session:
        row = session.scalars(select(RunTable)).one()
        assert (row.state, row.bucket, row.identity) == ("fail", BUCKET.id, "id")
        assert (row.inputs, row.manifest_hash) == ("abc", "manifests")
        assert (row.seconds, row.attempts, row.worker) == (8.0, 2, "host:1")
        assert (row.message, row.transactions) == ("3 mismatches", 20000)
        assert row.folder == "nightly/runs/r0/2"
        assert row.started == done.started
        bucket = session.scalars(select(BucketTable)).one()
        assert (bucket.title, bucket.signature) == (BUCKET.title, BUCKET.signature)


def test_a_bucket_is_one_over_nights(store: Store) -> None:
    planned = jobs(1)
    for _ in range(2):
        night = begin(store, planned)
        store.finish_run(night, outcome(planned[0], status="fail"), state="fail", bucket=BUCKET)
    assert column(store, BucketTable.id) == [BUCKET.id]
    assert len(column(store, NightTable.id)) == 2


def test_a_run_without_record(store: Store) -> None:
    planned = jobs(1)
    night = begin(store, planned)
    done = outcome(planned[0], record=None, error="result.json is truncated\0\ud800")
    number = run_id(store.finish_run(night, done, state="error"))
    assert store.record(number) is None
    (message,) = column(store, RunTable.message)
    assert message.startswith("result.json is truncated")
    assert column(store, RunTable.command) == [planned[0].settings.command()]


def test_a_stopped_run_stays_planned(store: Store) -> None:
    planned = jobs(1)
    night = begin(store, planned)
    assert store.finish_run(night, outcome(planned[0], stopped=True), state="interrupted") is None
    assert store.jobs_left(night) == planned


@pytest.mark.parametrize(("given", "kept"), [("pass", "error"), ("fail", "fail")])
def test_coverage_that_cannot_be_read(store: Store, given: Any, kept: str) -> None:
    planned = jobs(2)
    night = begin(store, planned)
    cut = text(coverage(1))[:-100]
    number = store.finish_run(night, outcome(planned[0], status=given, coverage=cut), state=given)
    assert state(store, number) == kept
    assert "coverage cannot be read" in column(store, RunTable.message)[0]
    whole = outcome(planned[1], coverage=text(coverage(1)))
    assert state(store, store.finish_run(night, whole, state="pass")) == "pass"
    assert to_json(store.merged()) == to_json(coverage(1))


def test_lost_attempts_are_counted_each_once(store: Store) -> None:
    planned = jobs(1)
    night = begin(store, planned)
    first = Lost(key="r0", attempt=1, worker="w1", why="killed by SIGKILL")
    assert store.lose(night, first) == 1
    assert store.lose(night, first) == 1
    assert store.jobs_left(night)[0].attempt == 2
    assert store.lose(night, Lost(key="r0", attempt=2)) == 2
    number = store.finish_lost(night, "r0", "killed its workers", bucket=BUCKET)
    assert state(store, number) == "lost"
    assert store.jobs_left(night) == []
    assert column(store, LostTable.why) == ["killed by SIGKILL", ""]
    assert column(store, BucketTable.id) == [BUCKET.id]


def test_a_lost_build_is_no_run(store: Store) -> None:
    night = begin(store)
    assert store.lose(night, Lost(key="build-verilator", attempt=2)) == 2
    assert column(store, LostTable.id) == []


def test_of_two_builds_the_last_is_kept(store: Store) -> None:
    night = begin(store)
    store.note_build(night, "verilator", inputs="", seconds=1.0, error="no compiler")
    store.note_build(night, "verilator", inputs="abc", seconds=30.0)
    assert column(store, BuildTable.error) == [""]
    assert column(store, BuildTable.seconds) == [30.0]


def test_expected_seconds_are_those_of_passes(store: Store) -> None:
    planned = [job("a"), job("b", seed=2), job("c", transactions=100), job("d", test="legal")]
    night = begin(store, planned)
    for item, seconds, how in zip(
        planned, (8.0, 10.0, 1.0, 99.0), ("pass", "pass", "pass", "hang"), strict=True
    ):
        done = outcome(item, status=how, seconds=seconds)
        store.finish_run(night, done, state=done.record.status if done.record else "error")
    assert store.expected_seconds() == {}, "engines of others are no measure"
    assert store.expected_seconds("manifests") == {
        ("random", "verilator", 20000): 9.0,
        ("random", "verilator", 100): 1.0,
    }


# --- flaky ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [("pass", "fail"), ("hang", "pass")])
def test_equal_runs_that_end_differently_are_flaky(store: Store, before: Any, after: Any) -> None:
    planned = [job("a"), job("b"), job("c", seed=2)]
    night = begin(store, planned)
    one = store.finish_run(night, outcome(planned[0]), state=before, identity="same")
    other = store.finish_run(night, outcome(planned[2]), state=after, identity="other")
    two = store.finish_run(night, outcome(planned[1]), state=after, identity="same")
    assert [state(store, number) for number in (one, two, other)] == ["flaky", "flaky", after]


def test_an_earlier_night_keeps_its_state(store: Store) -> None:
    planned = jobs(1)
    numbers = []
    for how in ("pass", "fail", "pass"):
        done = outcome(planned[0], status=how)
        assert done.record is not None
        numbers.append(
            store.finish_run(begin(store, planned), done, state=done.record.status, identity="same")
        )
    assert [state(store, number) for number in numbers] == ["pass", "flaky", "flaky"]
    record = store.record(run_id(numbers[1]))
    assert record is not None
    assert record.status == "fail"


@pytest.mark.parametrize("how", ["error", "interrupted"])
def test_a_run_without_verdict_contradicts_nothing(store: Store, how: Any) -> None:
    planned = [job("a"), job("b"), job("c")]
    night = begin(store, planned)
    numbers = [
        store.finish_run(night, outcome(item), state=kind, identity="same")
        for item, kind in zip(planned, ("pass", how, "pass"), strict=True)
    ]
    assert [state(store, number) for number in numbers] == ["pass", how, "pass"]


def test_runs_of_unknown_identity_are_compared_with_nothing(store: Store) -> None:
    planned = [job("a"), job("b")]
    night = begin(store, planned)
    one = store.finish_run(night, outcome(planned[0]), state="pass")
    two = store.finish_run(night, outcome(planned[1]), state="fail")
    assert [state(store, number) for number in (one, two)] == ["pass", "fail"]


@pytest.mark.parametrize(
    ("again", "identity", "flaky"),
    [("pass", "same", True), ("fail", "same", False), ("hang", "same", False),
     ("pass", "changed", False), ("pass", "", False), ("error", "same", False)],
)  # fmt: skip
def test_a_rerun_that_ends_differently(
    store: Store, again: Any, identity: str, flaky: bool
) -> None:
    planned = jobs(1)
    night = begin(store, planned)
    done = outcome(planned[0], status="fail")
    number = run_id(store.finish_run(night, done, state="fail", identity="same"))
    second = outcome(planned[0], status=again, waves="dump.fst", timeline="trace.json")
    assert store.note_rerun(number, second, state=again, identity=identity) == flaky
    assert state(store, number) == ("flaky" if flaky else "fail")
    assert column(store, RerunTable.state) == [again]
    assert column(store, RerunTable.waves) == ["dump.fst"]


def test_a_stopped_rerun_is_none(store: Store) -> None:
    planned = jobs(1)
    night = begin(store, planned)
    number = run_id(store.finish_run(night, outcome(planned[0]), state="fail", identity="same"))
    stopped = outcome(planned[0], stopped=True)
    assert not store.note_rerun(number, stopped, state="pass", identity="same")
    assert column(store, RerunTable.id) == []
