# SPDX-License-Identifier: Apache-2.0
"""Regression runs read back from a results database that was filled through the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from tb.common.errors import PtoError
from tb.coverage.export.code import CodeView
from tb.coverage.model import Coverage
from tb.record.failure import Failure
from tb.record.signature import bucket_id, signature_of, title
from tb.regress.plan.testplan import TestPlan, load_testplan
from tb.regress.queries import history
from tb.regress.queries.views import FAILED, Figures, RegressionView
from tb.regress.results.store import Store
from tb.regress.workers.job import Job, Outcome
from tests.processor import processor_seconds
from tests.regress import made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three regression runs a day apart; the budget of the last excluded its last two runs."""
    path = tmp_path_factory.mktemp("results") / "results.db"
    with Store.open(f"sqlite:///{path}") as opened:
        made.make(opened)
        yield opened


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'results.db'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def plan() -> TestPlan:
    return load_testplan()


@pytest.fixture(scope="module")
def view(store: Store, plan: TestPlan) -> RegressionView:
    return history.view(store, history.LATEST, plan)


def begin(store: Store, planned: Sequence[Job] = (), day: int = 0) -> str:
    """Begins a regression run that the test fills itself."""
    with patch("tb.regress.results.regressions.now_utc", lambda: made.START + day * DAY):
        name = store.begin_regression(regression="nightly", signature="x")
    store.plan_runs(name, planned)
    return name


DAY = timedelta(days=1)
NAMES = ["2026-11-19.1", "2026-11-20.1", "2026-11-21.1"]


@pytest.mark.long
def test_regression_runs_the_newest_first_and_by_name(store: Store) -> None:
    assert [one.name for one in history.regression_runs(store)] == NAMES[::-1]
    assert [one.name for one in history.regression_runs(store, 1)] == NAMES[-1:]
    assert history.regression_runs(store, regression="weekly") == []
    assert history.regression_run(store).name == NAMES[2]
    for name in (NAMES[1], "2026-11-20"):
        assert history.regression_run(store, name).name == NAMES[1]


@pytest.mark.parametrize("name", ["2026-11-22.1", "2026-11-2", "%", "2026-11-2_.1", ""])
def test_a_regression_run_that_is_not_there(store: Store, name: str) -> None:
    with pytest.raises(PtoError, match="there is no regression run") as raised:
        history.regression_run(store, name)
    assert NAMES[2] in raised.value.legal


def test_a_database_without_regression_runs(fresh: Store) -> None:
    assert history.regression_runs(fresh) == []
    with pytest.raises(PtoError, match="no regression run in the results database") as raised:
        history.regression_run(fresh)
    assert "make nightly" in raised.value.remedy


def test_figures_count_what_is_in_the_rows(store: Store) -> None:
    figures = history.regression_run(store).figures
    rows = history.runs(store, NAMES[2])
    assert (figures.planned, figures.done, figures.not_run) == (24, 22, 2)
    assert figures.passed == sum(row.state == "pass" for row in rows)
    assert figures.failed == sum(row.state in FAILED for row in rows) == 22 - figures.passed
    assert figures.flaky == 1
    assert figures.transactions == sum(row.sent for row in rows)
    assert figures.bytes_checked == 1600 * figures.transactions
    assert figures.clocks == 90 * figures.transactions
    assert figures.wall_seconds == 400.0
    assert figures.runs_per_minute == pytest.approx(22 * 60 / 400)
    seconds = sum(row.seconds for row in rows)
    building = 1.0 * sum(row.state not in ("planned", "error") for row in rows)
    rate = figures.transactions / (seconds - building)
    assert figures.transactions_per_second == pytest.approx(rate)
    assert (figures.builds, figures.build_seconds) == (4, 120.0)
    assert figures.busy_seconds == pytest.approx(seconds + 120.0)
    assert (figures.workers, figures.lost) == (2, 1)


def test_a_regression_run_has_what_it_was_begun_with(store: Store) -> None:
    found = history.regression_run(store, NAMES[1])
    assert (found.regression, found.status) == ("nightly", "complete")
    assert found.started == made.START + DAY
    assert found.ended == found.started + timedelta(seconds=410)
    assert found.commit.startswith("a0c4f83")
    assert (found.command, found.folder) == (made.COMMAND, f"sim_build/nightly/{NAMES[1]}")
    assert found.code == {"line": 70.0, "branch": 50.0}
    assert history.regression_run(store).status == "budget"


def test_run_rows(store: Store) -> None:
    rows = history.runs(store, NAMES[2])
    assert [row.key for row in rows] == [job.key for job in made.jobs(24)]
    row = rows[2]
    assert (row.test, row.sim, row.seed) == ("random", "verilator", 1000)
    assert (row.gm_width, row.local_width, row.config) == (128, 512, "verilator-gm128-local512")
    assert [row.profile for row in rows[1:3]] == ["seed", "a5"]
    assert (row.transactions, row.sent, row.seconds) == (20000, 20000, 9.0)
    assert row.rate == pytest.approx(20000 / (9.0 * 0.75))
    assert row.simulator == "Verilator 5.036"
    assert row.command == (
        "make SIM=verilator TEST=random SEED=1000 N=20000 PROFILE=a5 GM_WIDTH=128 LOCAL_WIDTH=512"
    )
    assert (row.worker, row.attempts, row.message, row.bucket) == ("host-1:4711", 1, "", "")
    assert row.coverage > 0
    assert rows[1].attempts == 2, "its first worker was lost"
    left = rows[-1]
    assert (left.state, left.sent, left.rate, left.attempts) == ("planned", 0, 0.0, 1)
    assert left.command, "what was not run can be run by hand"


def test_a_failing_run_says_why_in_one_line(store: Store) -> None:
    rows = {row.key: row for row in history.runs(store, NAMES[0])}
    row = rows["random-verilator-gm256-local256-s0000"]
    assert row.message == "MISMATCH: wrong data, UB0 0x00560, 312 wrong bytes in 5376"
    assert row.bucket == bucket_id(signature_of(made.DATA))
    assert row.folder.endswith(f"{row.key}/1")
    rows = {row.key: row for row in history.runs(store, NAMES[1])}
    missing = rows["directed-icarus-gm256-local256-s0000"]
    assert missing.state == "error"
    assert missing.message == "the record is missing: no record.json"


def test_buckets_the_largest_first(view: RegressionView) -> None:
    assert [len(bucket.runs) for bucket in view.buckets] == [3, 1, 1]
    status = view.buckets[0]
    assert status.id == bucket_id(signature_of(made.STATUS))
    assert (status.kind, status.slot, status.op) == ("status", "fix", "mte_l0c_gm")
    assert (status.field, status.rule) == ("status OK not RULE", "FIX-L17")
    assert status.example == made.STATUS
    assert status.example_run.id == status.runs[0]
    assert (status.first_regression, status.regression_runs) == (NAMES[1], 2)
    assert [rerun.state for rerun in status.reruns] == ["fail"]
    assert status.reruns[0].waves.endswith("waves.fst")
    later = signature_of(made.LATER)
    assert status.later == ((bucket_id(later), title(later), 3),)
    missing = next(bucket for bucket in view.buckets if bucket.kind == "error")
    assert missing.example.text == "the record is missing: no record.json"
    assert missing.example.kind == "error"


def test_a_flaky_run_keeps_both_outcomes(view: RegressionView) -> None:
    (row,) = [row for row in view.runs if row.state == "flaky"]
    said = "MISMATCH: write outside the destination, GM 0x0010001050, 12 wrong bytes in 12"
    assert row.message == f"flaky: fail here, pass when run again; {said}"
    (bucket,) = [bucket for bucket in view.buckets if row.id in bucket.runs]
    assert bucket.example == made.GUARD
    assert [rerun.state for rerun in bucket.reruns] == ["pass"]


@pytest.mark.long
def test_a_flaky_run_names_the_equal_run_that_ended_otherwise(fresh: Store) -> None:
    first = made.add_regression(fresh, made.START, runs=12)
    failed = next(row for row in history.runs(fresh, first) if row.test == "corner")
    identity = f"{failed.key} {made.START:%Y%m%d%H%M}"
    job = next(job for job in made.jobs(12) if job.key == failed.key)
    second = begin(fresh, [job], day=1)
    outcome = made.outcome(job, made.START + DAY)
    fresh.finish_run(second, outcome, state="pass", identity=identity)
    (row,) = history.runs(fresh, second)
    assert row.state == "flaky"
    assert row.message == f"flaky: pass here, hang in run {failed.id} of {first}"
    again = next(row for row in history.runs(fresh, first) if row.id == failed.id)
    assert again.state == "hang", "the figures of a regression run do not change later"


@pytest.mark.long
def test_the_message_of_a_bench_that_failed_stands_before_its_failures(fresh: Store) -> None:
    job = made.jobs(1)[0]
    name = begin(fresh, [job])
    outcome = made.outcome(job, made.START, made.DATA)
    assert outcome.record is not None
    outcome.record.status, outcome.record.message = "error", "the bench raised KeyError"
    made.write(fresh, name, outcome, "error", "")
    (bucket,) = history.buckets(fresh, name)
    assert bucket.kind == "error"
    assert bucket.example.text == "the bench raised KeyError"
    assert history.runs(fresh, name)[0].message == "the bench raised KeyError"


LOAD = made.DATA.model_copy(update={"picture": None, "end_clock": 900})
COPY = LOAD.model_copy(update={"op": "mte_gm_l1", "transaction": 30, "begin_clock": 700})
STRAY = Failure(kind="protocol", slot="mte3", field="WLAST", begin_clock=800, end_clock=800)
READS = COPY.model_copy(update={"slot": "mte1", "op": "mte_l1_bt", "transaction": 31, "cause": 30})
HANG = Failure(kind="hang", slot="mte1", op="mte_l1_bt", transaction=5, begin_clock=20)
CRASH = Failure(kind="crash", slot="mte2", op="mte_gm_ub")

Details = list[list[Failure]]


def filled(store: Store, details: Details, status: str = "fail") -> str:
    """Returns a regression run with the failures of each run, the first of which is its bucket."""
    jobs = made.jobs(len(details))
    name = begin(store, jobs)
    for job, found in zip(jobs, details, strict=True):
        outcome = made.outcome(job, made.START, LOAD)
        assert outcome.record is not None
        record = outcome.record.model_copy(update={"details": found, "status": status})
        made.write(store, name, outcome.model_copy(update={"record": record}), "fail", "")
    return name


def named(found: Failure) -> str:
    return bucket_id(signature_of(found))


@pytest.mark.parametrize(
    ("details", "order"),
    [
        # Reported first, but by a later transaction or clock than the other failure of its run.
        ([[LOAD], [COPY, LOAD]], [(LOAD, None), (COPY, LOAD)]),
        ([[LOAD], [LOAD], [HANG, LOAD]], [(LOAD, None), (HANG, LOAD)]),
        ([[LOAD], [COPY, LOAD], [COPY, LOAD]], [(LOAD, None), (COPY, LOAD)]),
        # Not in all its runs; after it; not the first failure of a run of its own.
        ([[LOAD], [COPY, LOAD], [COPY]], [(COPY, None), (LOAD, None)]),
        ([[COPY], [LOAD, COPY]], [(COPY, None), (LOAD, None)]),
        ([[COPY, LOAD]], [(COPY, None)]),
        # Of one that follows itself; the larger one between them stays where it is.
        ([[LOAD], [COPY, LOAD], [HANG, COPY]], [(LOAD, None), (COPY, LOAD), (HANG, COPY)]),
        (
            [[LOAD], [LOAD], [STRAY], [STRAY], [STRAY], [COPY, LOAD]],
            [(STRAY, None), (LOAD, None), (COPY, LOAD)],
        ),
        # Each before the other: one of them has to be the first.
        ([[COPY, LOAD], [LOAD.model_copy(update={"transaction": 40}), COPY]],
         [(LOAD, None), (COPY, LOAD)]),
    ],
)  # fmt: skip
def test_buckets_that_follow_stand_after_their_cause(
    fresh: Store, details: Details, order: list[tuple[Failure, Failure | None]]
) -> None:
    found = history.buckets(fresh, filled(fresh, details))
    expected = [(named(one), named(cause) if cause else "") for one, cause in order]
    assert [(one.id, one.follows) for one in found] == expected


@pytest.mark.parametrize(
    ("details", "status", "scopes"),
    [
        ([[LOAD, COPY]], "fail", {"gm_ub_rows", "l1_rows"}),
        ([[COPY]], "fail", {"l1_rows"}),
        ([[COPY, READS]], "fail", {"l1_rows"}),
        ([[LOAD, READS]], "fail", {"gm_ub_rows", "bias_loads"}),
        ([[STRAY]], "fail", {"gm_ub_rows", "burst_copies"}),
        ([[HANG]], "hang", {"bias_loads"}),
        ([[CRASH]], "crash", None),
        ([[LOAD]], "error", None),
        ([[]], "fail", None),
    ],
)
def test_a_behaviour_fails_with_its_ops_alone(
    fresh: Store, plan: TestPlan, details: Details, status: str, scopes: set[str] | None
) -> None:
    """Wrong bytes that an op read from another failed op are not its own failure."""
    rows = history.view(fresh, filled(fresh, details, status), plan).plan
    rows = [row for row in rows if "random" in row.tests and row.milestone == "V1"]
    failing = {row.name for row in rows if row.state == "fail"}
    if scopes is None:
        assert failing == {row.name for row in rows}
    else:
        names = {"gm_ub_rows", "l1_rows", "burst_copies", "fills", "bias_loads"}
        assert failing & names == scopes


def test_an_earlier_regression_run_does_not_know_later_ones(
    store: Store, view: RegressionView, plan: TestPlan
) -> None:
    latest = view
    first = history.view(store, NAMES[0], plan)
    assert first.difference is None
    assert [point.name for point in first.trend] == NAMES[:1]
    view = history.view(store, NAMES[1], plan)
    data = next(bucket for bucket in view.buckets if bucket.kind == "data")
    assert (data.first_regression, data.regression_runs) == (NAMES[0], 2)
    assert data.example.picture == made.DATA.picture
    status = next(bucket for bucket in view.buckets if bucket.kind == "status")
    assert (status.first_regression, status.regression_runs) == (NAMES[1], 1)
    assert [len(bucket.runs) for bucket in view.buckets] == [3, 2, 1, 1]
    assert [point.name for point in view.trend] == NAMES[:2]
    earlier, later = (one.all_time.groups["mte_gm_ub"].hits["len"] for one in (view, latest))
    assert earlier.sum() < later.sum()


def test_trend_ends_with_the_regression_run_itself(view: RegressionView, store: Store) -> None:
    assert [point.name for point in view.trend] == NAMES
    assert view.trend[-1].coverage == view.coverage.percent
    percents = [point.coverage or 0.0 for point in view.trend]
    assert percents == sorted(set(percents)), "more from regression run to regression run"
    assert view.trend[-1].figures.done == 22
    assert view.trend[0].groups.keys() == view.trend[2].groups.keys()
    assert view.trend[0].code == {"line": 70.0, "branch": 50.0}
    last = history.trend(store, history.regression_run(store), 2)
    assert [point.name for point in last] == NAMES[1:]


def test_coverage_of_the_regression_run_and_of_all_time(store: Store, view: RegressionView) -> None:
    assert set(view.coverage.groups) == {"mte_gm_ub", "traffic", "mte_gm_ub (gm 128)"}
    one, two, three = (store.merged([name]) for name in NAMES)
    for name, counts in view.all_time.groups.items():
        for item, hits in counts.hits.items():
            parts = [part.groups[name].hits[item] for part in (one, two, three)]
            assert np.array_equal(hits, sum(parts))
    assert view.regression_run.groups["traffic"] == view.coverage.groups["traffic"].percent


def test_plan_and_specification_have_the_results(view: RegressionView) -> None:
    rows = [row for row in view.plan if "illegal" in row.tests]
    assert rows
    assert all(row.tests["illegal"] == (4, 1, 4) and row.state == "fail" for row in rows)
    groups = [row.groups["mte_gm_ub"] for row in view.plan if "mte_gm_ub" in row.groups]
    assert set(groups) == {view.coverage.groups["mte_gm_ub"].percent}
    rule = next(row for row in view.spec if row.name == "FIX-L17")
    assert rule.tests == {"illegal": 12}


def test_what_moved_since_the_previous_regression_run(view: RegressionView, store: Store) -> None:
    moved = view.difference
    assert moved is not None
    assert (moved.before, moved.after) == (NAMES[1], NAMES[2])
    assert {(test, config) for test, config, _ in moved.newly_passing} == {
        ("random", "verilator-gm256-local256"),
        ("random", "verilator-gm128-local512"),
    }
    assert moved.newly_failing == ()
    assert len(moved.won) > len(moved.lost) > 0, "two runs less, and more covered by the others"
    assert history.difference(store, NAMES[1], NAMES[2]) == moved
    back = history.difference(store, NAMES[2], NAMES[1])
    assert (back.won, back.lost) == (moved.lost, moved.won)


def test_code_coverage_is_what_was_handed_in(store: Store, plan: TestPlan) -> None:
    code = CodeView({"fix": {"line": (1, 4)}, "mte1": {"line": (2, 4)}}, (), 3)
    view = history.view(store, NAMES[2], plan, code=code)
    assert view.code is code
    assert view.regression_run.code == {"line": 37.5}
    assert view.trend[-1].code == {"line": 37.5}


def test_exclusions_are_applied_everywhere(store: Store, plan: TestPlan) -> None:
    def exclude(names: Sequence[str]) -> Callable[[Coverage], None]:
        def of(coverage: Coverage) -> None:
            for counts in (coverage.groups[name] for name in names or coverage.groups):
                counts.scope.update({name: hits < 0 for name, hits in counts.hits.items()})

        return of

    view = history.view(store, NAMES[2], plan, exclude=exclude(["traffic"]))
    assert view.coverage.groups["traffic"].total == 0
    assert view.all_time.groups["traffic"].total == 0
    assert view.difference is not None
    assert not [text for text in view.difference.won if text.startswith("traffic")]
    plain = history.difference(store, NAMES[1], NAMES[2])
    assert [text for text in plain.won if text.startswith("traffic")], "it would be seen"
    nothing = history.view(store, NAMES[2], plan, exclude=exclude([]))
    assert nothing.coverage.total == 0
    assert nothing.trend[-1].coverage is None
    assert nothing.difference is not None
    assert nothing.difference.coverage == (None, None)


FIELDS = ("regression_run", "runs", "buckets", "plan", "spec", "trend", "difference", "notes")


@pytest.mark.long
def test_every_database_shows_the_same(url: str, store: Store, plan: TestPlan) -> None:
    with Store.open(url) as other:
        made.make(other)
        mine, theirs = (history.view(one, "latest", plan) for one in (other, store))
    for field in FIELDS:
        assert getattr(mine, field) == getattr(theirs, field), field
    for name, counts in theirs.coverage.groups.items():
        for item, hits in counts.hits.items():
            assert np.array_equal(mine.coverage.groups[name].hits[item], hits)


@pytest.mark.long
def test_other_engines_and_regressions_are_not_compared(fresh: Store, plan: TestPlan) -> None:
    first = made.add_regression(fresh, made.START, runs=6)
    made.add_regression(fresh, made.START + DAY, runs=6, duts=["a/dut.toml"])
    made.add_regression(fresh, made.START + 2 * DAY, runs=6, regression="smoke")
    made.add_regression(fresh, made.START + 3 * DAY, runs=6, left=6)
    last = made.add_regression(fresh, made.START + 4 * DAY, runs=6, number=1)
    view = history.view(fresh, "latest", plan)
    assert [point.name for point in view.trend] == [first, last], "and none without a run"
    assert view.difference is not None
    assert view.difference.before == first
    counts = view.all_time.groups["traffic"].hits["pair"].sum()
    mine = [one.name for one in history.regression_runs(fresh) if not one.duts]
    assert len(mine) == 4
    assert counts == fresh.merged(mine).groups["traffic"].hits["pair"].sum()
    assert counts < fresh.merged().groups["traffic"].hits["pair"].sum()
    made.add_regression(fresh, made.START + 5 * DAY, runs=2)
    narrow = history.view(fresh, "latest", plan)
    assert set(narrow.all_time.groups) == set(narrow.coverage.groups) == {"mte_gm_ub", "traffic"}


@pytest.mark.long
def test_a_choice_of_runs_is_compared_with_the_same_choice(fresh: Store, plan: TestPlan) -> None:
    some = made.add_regression(fresh, made.START, runs=6, items=["random-*"])
    made.add_regression(fresh, made.START + DAY, runs=6)
    again = made.add_regression(fresh, made.START + 2 * DAY, runs=6, items=["random-*"])
    found = history.view(fresh, again, plan)
    assert [point.name for point in found.trend] == [some, again]
    assert found.regression_run.items == ("random-*",)
    assert found.difference
    assert found.difference.before == some


@pytest.mark.long
def test_a_regression_run_that_was_killed_shows_what_it_has(fresh: Store, plan: TestPlan) -> None:
    made.add_regression(fresh, made.START, runs=12, left=5, ended=False)
    regression_run = history.regression_run(fresh)
    assert regression_run.status == "interrupted", "it has no owner any more"
    assert (regression_run.figures.done, regression_run.figures.not_run) == (7, 5)
    view = history.view(fresh, regression_run.name, plan)
    assert view.regression_run.coverage == view.coverage.percent > 0
    assert view.regression_run.groups
    assert view.regression_run.code == {}


@pytest.mark.long
def test_a_regression_run_without_recorded_coverage_is_no_point_of_the_trend(
    fresh: Store, plan: TestPlan
) -> None:
    made.add_regression(fresh, made.START, runs=6)
    killed = made.add_regression(fresh, made.START + DAY, runs=6, ended=False)
    nothing = made.add_regression(fresh, made.START + 2 * DAY, runs=0, ended=False)
    broken = made.add_regression(fresh, made.START + 3 * DAY, runs=6, counted=99, ended=False)
    # A coordinator writes this when all builds failed: no groups, and 100 percent of none.
    fresh.end_regression(broken, "complete", Figures(), coverage=100.0)
    made.add_regression(fresh, made.START + 4 * DAY, runs=6)
    points = history.trend(fresh, history.regression_run(fresh))
    assert nothing not in [point.name for point in points]
    assert [point.coverage is None for point in points] == [False, True, True, False]
    counted = [one.coverage is not None for one in history.regression_runs(fresh)]
    assert counted == [True, False, False, False, True]
    found = history.view(fresh, killed, plan)
    assert found.regression_run.coverage is not None, "from the rows of its runs"


@pytest.mark.long
def test_reruns_say_of_which_run(fresh: Store) -> None:
    name = made.add_regression(fresh, made.START, runs=14)
    bucket = next(item for item in history.buckets(fresh, name) if item.kind == "data")
    first, second = bucket.runs[:2]
    job = fresh.planned(second)[1]
    for _ in range(2):
        fresh.note_rerun(second, made.outcome(job, made.START), state="pass", identity="")
    (bucket,) = [item for item in history.buckets(fresh, name) if item.id == bucket.id]
    assert [(again.run, again.state) for again in bucket.reruns] == [
        (first, "fail"),
        (second, "pass"),
        (second, "pass"),
    ]
    assert bucket.example_run.state == "fail"


def test_a_regression_run_without_runs(fresh: Store, plan: TestPlan) -> None:
    view = history.view(fresh, begin(fresh), plan)
    assert view.regression_run.figures.planned == 0
    assert not [*view.runs, *view.buckets, *view.notes]
    assert view.coverage.groups == {}
    assert view.regression_run.coverage is None
    assert view.trend[-1].coverage is None, "neither 0 nor 100 percent"
    assert {row.state for row in view.plan} == {"not run"}


@pytest.mark.long
def test_notes_of_the_coordinator_and_what_tables_say(
    view: RegressionView, fresh: Store, plan: TestPlan
) -> None:
    assert list(view.notes) == [
        f"{made.LOST}: worker host-1:99 was lost (killed by SIGKILL), begun again",
        "directed-icarus-gm256-local256-s0000: the record is missing: no record.json",
    ]
    killed = made.add_regression(fresh, made.START, runs=6, number=1, ended=False)
    error = "pto_mte2.sv:3: syntax error\nmore"
    fresh.note_build(killed, "icarus", inputs="", seconds=1.0, error=error)
    notes = history.view(fresh, killed, plan).notes
    assert list(notes[:2]) == [
        "the build icarus failed: pto_mte2.sv:3: syntax error",
        f"{made.LOST}: worker host-1:99 was lost with it, attempt 1 (killed by SIGKILL)",
    ]


@pytest.mark.long
def test_many_broken_runs_do_not_fill_the_notes(fresh: Store, plan: TestPlan) -> None:
    planned = made.jobs(30)
    name = begin(fresh, planned)
    for number, job in enumerate(planned):
        error = "the build x failed" if number == 0 else f"no record\nof {job.key}"
        values = {"key": job.key, "kind": "run", "started": made.START, "ended": made.START}
        outcome = Outcome.model_validate({**values, "error": error})
        fresh.finish_run(name, outcome, state="error")
    notes = history.view(fresh, name, plan).notes
    assert notes[0] == f"{planned[1].key}: no record"
    assert notes[20:] == ["9 more runs ended without a record of their own"]


@pytest.mark.long
def test_many_runs_are_read_fast(fresh: Store, plan: TestPlan) -> None:
    """2000 runs are to be read in 10 s; this is a tenth of them, on a busy machine."""
    made.add_regression(fresh, made.START, runs=200, counted=20)
    with processor_seconds(5.0):
        view = history.view(fresh, "latest", plan)
    assert len(view.runs) == 200


def test_results_of_others_by_profile(view: RegressionView) -> None:
    by_profile = {one.profile: one for one in view.outside}
    assert list(by_profile) == ["seed", "a5"], "the named profiles, also without a run"
    sent = [row for row in view.runs if row.test == "illegal" and row.state in ("pass", "fail")]
    assert sent
    assert {row.profile for row in sent} == {"seed"}
    assert by_profile["seed"].runs == len(sent)
    (group,) = by_profile["seed"].groups
    assert (group.file, group.source, group.total) == ("dma_facts", "PTOAS", 10)
    assert (group.agrees, group.count("unknown"), group.count("unexplained")) == (8, 1, 1)
    assert (by_profile["a5"].runs, list(by_profile["a5"].groups)) == (0, [])
