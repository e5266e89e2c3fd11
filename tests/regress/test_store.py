# SPDX-License-Identifier: Apache-2.0
"""The results database, on SQLite and on a real PostgreSQL: nothing is lost or counted twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tb.coverage.exchange import to_json
from tb.coverage.model import Coverage, CoverGroup, Cross, point
from tb.regress import nights
from tb.regress.database import (
    BucketTable,
    BuildTable,
    FailureTable,
    HitsTable,
    LostTable,
    NightHitsTable,
    NightTable,
    RerunTable,
    RunTable,
)
from tb.regress.job import Job, Lost
from tb.regress.store import BucketKey, Store, StoreError
from tb.regress.views import Figures
from tests.regress.samples import BUCKET, FAILURE, coverage, group, job, jobs, outcome, text

# The quick kind: these processes open a database of their own, and no other thread is there.
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as found:
        yield found


def begin(store: Store, planned: list[Job] | None = None, signature: str = "plan") -> str:
    night = store.begin_night(regression="nightly", signature=signature, folder_root="nightly")
    store.plan_runs(night, planned if planned is not None else jobs(3), "manifests")
    return night


def column(store: Store, what: Any, *where: Any) -> list[Any]:
    with store.reading() as session:
        return list(session.scalars(select(what).where(*where).order_by(what.class_.id)))


def run_id(found: int | None) -> int:
    assert found is not None
    return found


def state(store: Store, number: int | None) -> str:
    (found,) = column(store, RunTable.state, RunTable.id == number)
    return str(found)


def put(store: Store, night: str, **values: Any) -> None:
    """Changes a night's row behind the store's back."""
    with store._writer.begin() as connection:
        connection.execute(update(NightTable).where(NightTable.name == night).values(**values))


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid


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
    with pytest.raises(StoreError, match=r"no night 2001-01-01\.1"):
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


def test_a_bucket_keeps_its_first_night(store: Store) -> None:
    planned = jobs(1)
    for _ in range(2):
        night = begin(store, planned)
        store.finish_run(night, outcome(planned[0], status="fail"), state="fail", bucket=BUCKET)
    (first,) = column(store, BucketTable.first_night_id)
    assert column(store, NightTable.id)[0] == first


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
    assert store.expected_seconds() == {
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


# --- coverage ---------------------------------------------------------------------------------


def cover(store: Store, seeds: range, end: Any = "complete") -> str:
    planned = [job(f"r{seed}", seed=seed) for seed in seeds]
    night = begin(store, planned)
    for item in planned:
        done = outcome(item, coverage=text(coverage(item.settings.seed)))
        store.finish_run(night, done, state="pass")
    if end:
        store.end_night(night, end, Figures())
    return night


def total(seeds: range) -> Coverage:
    found = coverage(seeds[0])
    for seed in seeds[1:]:
        found.merge(coverage(seed))
    return found


def test_merged_coverage_is_the_sum_of_all_runs(store: Store) -> None:
    """Of nights that ended, one that was interrupted and one that runs."""
    first = cover(store, range(7))
    second = cover(store, range(7, 12), "interrupted")
    cover(store, range(12, 15), "")
    assert to_json(store.merged()) == to_json(total(range(15)))
    assert to_json(store.merged([first])) == to_json(total(range(7)))
    assert to_json(store.merged([first, second])) == to_json(total(range(12)))
    assert to_json(store.merged([])) == to_json(Coverage(()))
    assert set(column(store, NightHitsTable.night_id)) == {column(store, NightTable.id)[0]}


def test_sums_of_a_night_never_hide_a_run(store: Store) -> None:
    """A run that comes after the night was summed up counts, and counts once."""
    planned = jobs(3)
    night = begin(store, planned)
    for item in planned[:2]:
        store.finish_run(night, outcome(item, coverage=text(coverage(item.settings.seed))),
                         state="pass")  # fmt: skip
    store.end_night(night, "complete", Figures())
    assert to_json(store.merged()) == to_json(total(range(2)))
    late = outcome(planned[2], coverage=text(coverage(2)))
    store.finish_run(night, late, state="pass")
    assert to_json(store.merged()) == to_json(total(range(3)))
    store.end_night(night, "complete", Figures())
    store.end_night(night, "complete", Figures())
    assert to_json(store.merged()) == to_json(total(range(3)))


def test_definitions_are_kept_once(store: Store) -> None:
    cover(store, range(5))
    assert len(column(store, HitsTable.id)) == 10
    with store.reading() as session:
        assert session.scalar(select(func.count(HitsTable.group_id.distinct()))) == 2


def test_groups_defined_differently_stay_apart(store: Store) -> None:
    narrow, wide = [group(bus_bytes=16)], [group(bus_bytes=32)]
    shared = group("rules", 16)
    planned = [job("a", gm_width=128), job("b", seed=2), job("c", seed=3)]
    night = begin(store, planned)
    given = [coverage(1, [*narrow, shared]), coverage(2, [*wide, shared]), coverage(4, wide)]
    for item, counts in zip(planned, given, strict=True):
        store.finish_run(night, outcome(item, coverage=text(counts)), state="pass")
    found = store.merged()
    assert found.groups["mte_gm_ub (gm 128)"].hits["len"].tolist() == [
        *given[0].groups["mte_gm_ub"].hits["len"]
    ]
    assert list(found.groups) == ["mte_gm_ub (gm 128)", "rules", "mte_gm_ub"]
    both = Coverage((shared,))
    both.groups["rules"] = given[0].groups["rules"]
    alone = Coverage((shared,))
    alone.groups["rules"] = given[1].groups["rules"]
    both.merge(alone)
    for name, hits in both.groups["rules"].hits.items():
        assert (found.groups["rules"].hits[name] == hits).all()
    assert found.groups["mte_gm_ub (gm 128)"].group.name == "mte_gm_ub (gm 128)"


def test_all_time_coverage_has_the_definitions_of_a_night(store: Store) -> None:
    """What was defined otherwise in an earlier version of the bench cannot be added up."""
    planned = jobs(1)
    old = begin(store, planned)
    before = coverage(1, [group(bus_bytes=16), group("rules", 16)])
    store.finish_run(old, outcome(planned[0], coverage=text(before)), state="pass")
    new = cover(store, range(2), "")
    assert list(store.merged(definitions_of=new).groups) == ["mte_gm_ub", "traffic"]
    assert to_json(store.merged(definitions_of=new)) == to_json(store.merged([new]))
    assert list(store.merged(definitions_of=old).groups) == ["mte_gm_ub", "rules"]


# --- several at once --------------------------------------------------------------------------


def write(url: str, seeds: range, own: str, go: Any) -> None:
    """What a coordinator does: a night of its own unless it is given one."""
    with Store.open(url) as store:
        planned = [job(f"r{seed}", seed=seed) for seed in seeds]
        night = own or begin(store, planned)
        go.wait()
        for item in planned:
            store.heartbeat(night) if not own else None
            done = outcome(item, status="fail", coverage=text(coverage(item.settings.seed)))
            keys = [BucketKey(f"B{number}") for number in range(4)]
            store.finish_run(night, done, state="fail", bucket=keys[0],
                             failures=[(FAILURE, key) for key in keys[:: 1 - 2 * bool(own)]],
                             identity=f"{item.key}")  # fmt: skip


def together(*processes: Any) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * len(processes)


def test_two_nights_at_once_lose_nothing(url: str) -> None:
    """From an empty database on: tables, names, definitions and buckets are made by both."""
    go = FORK.Barrier(2)
    together(*[
        FORK.Process(target=write, args=(url, seeds, "", go))
        for seeds in (range(25), range(25, 50))
    ])  # fmt: skip
    with Store.open(url) as store:
        assert sorted(name[-2:] for name in column(store, NightTable.name)) == [".1", ".2"]
        assert column(store, RunTable.state) == ["fail"] * 50
        assert len(column(store, FailureTable.id)) == 200
        assert to_json(store.merged()) == to_json(total(range(50)))


def test_one_night_written_by_two_counts_each_run_once(url: str) -> None:
    with Store.open(url) as store:
        night = begin(store, jobs(30))
    go = FORK.Barrier(2)
    together(*[FORK.Process(target=write, args=(url, range(30), night, go)) for _ in range(2)])
    with Store.open(url) as store:
        assert store.jobs_left(night) == []
        assert len(column(store, FailureTable.id)) == 120
        assert to_json(store.merged()) == to_json(total(range(30)))


def adopt(url: str, night: str, go: Any, won: Any) -> None:
    with Store.open(url) as store:
        go.wait()
        if store.adopt(night):
            with won.get_lock():
                won.value += 1
        time.sleep(0.5)  # alive while the other tries


def test_of_two_that_resume_one_wins(url: str) -> None:
    with Store.open(url) as store:
        night = begin(store)
        put(store, night, pid=dead_pid())
    go, won = FORK.Barrier(2), FORK.Value("i", 0)
    together(*[FORK.Process(target=adopt, args=(url, night, go, won)) for _ in range(2)])
    assert won.value == 1


def test_a_killed_coordinator_leaves_whole_runs(url: str) -> None:
    with Store.open(url) as store:
        night = begin(store, jobs(1000))
    go = FORK.Barrier(1)
    process = FORK.Process(target=write, args=(url, range(1000), night, go))
    process.start()
    assert process.pid is not None
    with Store.open(url) as store:
        while len(store.jobs_left(night)) > 990:
            assert process.is_alive()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        left = store.jobs_left(night)
        done = 1000 - len(left)
        assert 10 <= done < 1000
        assert len(column(store, FailureTable.id)) == 4 * done
        assert [item.key for item in left] == [f"r{seed}" for seed in range(done, 1000)]
        assert to_json(store.merged()) == to_json(total(range(done)))
        put(store, night, pid=process.pid, host=socket.gethostname())
        assert store.unfinished("nightly", "plan") == night


def test_a_run_is_written_and_merged_fast(store: Store) -> None:
    """As many bins as a run on all engines has. Bounds are for a busy machine: 9 ms is usual."""
    labels = [str(number) for number in range(100)]
    points = (point("one", labels), point("two", labels))
    many = [CoverGroup("many", points, (Cross("all", ("one", "two")),))]
    given = text(coverage(1, many))
    planned = jobs(60)
    night = begin(store, planned)
    start = time.perf_counter()
    for item in planned:
        store.finish_run(night, outcome(item, coverage=given), state="pass")
    assert (time.perf_counter() - start) / 60 < 0.1
    start = time.perf_counter()
    store.merged()
    assert time.perf_counter() - start < 1.0
