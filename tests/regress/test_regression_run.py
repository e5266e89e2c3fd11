# SPDX-License-Identifier: Apache-2.0
"""The coordinator with workers of the test's own: what is counted, repeated, kept and left out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.regress import coordinator as module
from tb.regress.coordinator import Coordinator, Limits, Tally
from tb.regress.plan.schedule import BUILD_TIMEOUT
from tb.regress.queries.views import Figures
from tb.regress.results.database import RunTable
from tb.regress.results.store import Store
from tb.regress.workers.job import Job, Lost, Outcome
from tests.regress.samples import column
from tests.wording import says

Work = Callable[[Job], Outcome | Lost | None]

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """Time of the coordinator: advances only by the duration of jobs."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


class Workers:
    """Does jobs one after the other, in the order in which they were handed over."""

    def __init__(self, work: Work, clock: Clock, size: int = 2, seconds: float = 10.0) -> None:
        self.size = size
        self.seen: list[Job] = []
        self._work, self._clock, self._seconds = work, clock, seconds
        self._queue: deque[Job] = deque()
        self._stopped: list[Job] = []

    def submit(self, job: Job) -> None:
        assert len(self._queue) < self.size, "no more jobs than workers"
        self.seen.append(job)
        self._queue.append(job)

    def wait(self, seconds: float) -> list[Outcome | Lost]:
        found: list[Outcome | Lost] = [outcome(job, stopped=True) for job in self._stopped]
        self._stopped = []
        self._clock.now += self._seconds
        if self._queue:
            result = self._work(self._queue[0])
            if result is not None:
                self._queue.popleft()
                found.append(result)
        return found

    def stop(self, keys: list[str]) -> None:
        self._stopped += [job for job in self._queue if job.key in keys]
        self._queue = deque(job for job in self._queue if job.key not in keys)

    def close(self) -> None:
        self._queue.clear()


def outcome(job: Job, status: str = "pass", **more: object) -> Outcome:
    found = {
        "key": job.key,
        "kind": job.kind,
        "attempt": job.attempt,
        "worker": "here:1",
        "started": START,
        "ended": START + timedelta(seconds=8),
        **more,
    }
    if job.kind == "build":
        return Outcome.model_validate({"inputs": f"digest of {job.config}", **found})
    if "record" not in more and "error" not in more and not more.get("stopped"):
        found["record"] = record(job, status)
    return Outcome.model_validate(found)


def record(job: Job, status: str, field: str = "row data") -> RunRecord:
    failures = [Failure(kind="data", slot="mte2", field=field, text="wrong data")]
    return RunRecord.model_validate(
        {
            "settings": job.settings,
            "status": status,
            "transactions": 100,
            "details": [] if status == "pass" else failures,
            "failures": [] if status == "pass" else ["wrong data"],
        }
    )


def fails(job: Job, field: str = "row data") -> Outcome:
    return outcome(job) if job.kind == "build" else outcome(job, record=record(job, "fail", field))


def but(key: str, other: Work) -> Work:
    """Passes each job but one."""
    return lambda job: other(job) if job.key == key else outcome(job)


def lose(job: Job) -> Lost:
    return Lost(key=job.key, attempt=job.attempt, worker="there:7", why="killed by SIGSEGV")


def without_coverage(job: Job) -> Outcome:
    done = outcome(job)
    if done.record is not None:
        done.record.coverage.bins = 10
    return done


def runs(count: int, config: str = "c", **settings: object) -> list[Job]:
    return [
        Job(
            key=f"random-{config}-s{seed}",
            kind="run",
            settings=RunSettings.model_validate({"seed": seed, **settings}),
            config=config,
            folder="",
            expected_seconds=10,
        )
        for seed in range(1, count + 1)
    ]


class RegressionRun:
    """A regression run in a database of its own."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder, self.clock = folder, clock
        self.store = Store.open(f"sqlite:///{folder / 'results.db'}")
        self.name = ""

    def begin(self, jobs: list[Job]) -> None:
        self.name = self.store.begin_regression(regression="nightly", signature="s")
        self.store.plan_runs(self.name, jobs)

    def resume(self) -> None:
        self.store.end_regression(self.name, "interrupted", Figures())
        assert self.store.adopt(self.name)

    def coordinate(
        self,
        work: Work,
        budget: float = 0.0,
        reruns: int = 8,
        sources: Callable[[], str] = str,
        most_failed: int = 0,
    ) -> tuple[str, Tally, list[Job]]:
        """Does the runs that are left; returns its status, its tally and the jobs handed over."""
        workers = Workers(work, self.clock)
        coordinator = Coordinator(
            self.store,
            self.name,
            self.folder / self.name,
            self.store.jobs_left(self.name),
            workers,
            Limits(budget, self.clock.now),
            reruns=reruns,
            sources=sources,
            most_failed=most_failed,
        )
        return coordinator.run(), coordinator.tally, workers.seen

    def states(self) -> list[str]:
        return column(self.store, RunTable.state)


@pytest.fixture
def regression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RegressionRun]:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    made = RegressionRun(tmp_path, clock)
    yield made
    made.store.close()


def test_everything_is_built_once_and_run_once(regression: RegressionRun) -> None:
    jobs = [*runs(3), *runs(2, "d")]
    regression.begin(jobs)
    status, tally, seen = regression.coordinate(outcome)
    assert status == "complete"
    assert [job.key for job in seen] == ["build-c", "build-d", *(job.key for job in jobs)]
    inputs = {job.inputs for job in seen if job.kind == "run"}
    assert inputs == {"digest of c", "digest of d"}
    assert regression.states() == ["pass"] * 5
    assert (tally.done, tally.failed, tally.transactions) == (5, 0, 500)
    assert regression.store.jobs_left(regression.name) == []


@pytest.mark.long
def test_only_what_is_missing_is_done_after_an_interruption(regression: RegressionRun) -> None:
    regression.begin(runs(5))

    def killed(job: Job) -> Outcome:
        if job.key == "random-c-s4":
            raise KeyboardInterrupt
        return outcome(job)

    with pytest.raises(KeyboardInterrupt):
        regression.coordinate(killed)
    assert regression.states().count("pass") == 3
    status, _, seen = regression.coordinate(outcome)
    assert status == "complete"
    assert [job.key for job in seen if job.kind == "run"] == ["random-c-s4", "random-c-s5"]


def test_runs_that_do_not_fit_the_budget_stay_planned(regression: RegressionRun) -> None:
    regression.begin(runs(20))
    status, tally, _ = regression.coordinate(outcome, budget=150.0)
    assert status == "budget"
    states = regression.states()
    assert 0 < states.count("pass") < 20
    assert states.count("pass") + states.count("planned") == 20
    assert tally.failed == 0
    assert regression.clock.now <= 150.0


def test_after_enough_failures_no_run_begins(regression: RegressionRun) -> None:
    regression.begin(runs(20))
    status, tally, _ = regression.coordinate(
        lambda job: outcome(job) if job.key.endswith("s1") else fails(job), most_failed=3
    )
    assert status == "failures"
    states = regression.states()
    assert tally.failed == states.count("fail") >= 3
    assert states.count("planned") >= 20 - 1 - 3 - 2
    status, _, _ = regression.coordinate(outcome, most_failed=1)
    assert status == "complete"


def test_what_runs_when_the_time_is_up_is_stopped_and_not_counted(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(4))

    def sluggish(job: Job) -> Outcome | None:
        return outcome(job) if job.kind == "build" or job.key.endswith("s1") else None

    status, _, _ = regression.coordinate(sluggish, budget=300.0)
    assert status == "budget"
    assert regression.states() == ["pass", "planned", "planned", "planned"]
    assert regression.clock.now <= 300.0


@pytest.mark.parametrize(
    ("work", "states", "reruns", "note"),
    [
        (but("random-c-s2", lambda job: outcome(job, error="cut")), "pass error pass pass", 0, ""),
        (but("random-c-s1", lose), "lost pass pass pass", 0, "killed by SIGSEGV"),
        (but("random-c-s1", without_coverage), "error pass pass pass", 1, ""),
        (but("random-c-s1", fails), "flaky pass pass pass", 1, "is flaky"),
        (but("build-d", lambda job: outcome(job, inputs="", error="the build failed:\n  syntax")),
         "pass pass error error", 0, "build d failed"),
    ],
)  # fmt: skip
def test_a_run_that_is_not_good_and_the_others_go_on(
    regression: RegressionRun, work: Work, states: str, reruns: int, note: str
) -> None:
    regression.begin([*runs(2), *runs(2, "d")])
    status, tally, seen = regression.coordinate(work)
    assert status == "complete"
    assert regression.states() == states.split()
    assert tally.failed == 4 - states.split().count("pass")
    assert any(note in text for text in tally.notes) or not note
    assert [job.key for job in seen].count("rerun-random-c-s1") == reruns
    assert [job.kind for job in seen].count("rerun") == reruns
    attempts = [job.key for job in seen].count("random-c-s1")
    assert attempts == (module.MOST_ATTEMPTS if "lost" in states else 1)


def test_a_run_is_begun_again_elsewhere_when_its_worker_is_lost(regression: RegressionRun) -> None:
    regression.begin(runs(2))
    _, tally, seen = regression.coordinate(
        but("random-c-s1", lambda job: lose(job) if job.attempt == 1 else outcome(job))
    )
    first, second = [job for job in seen if job.key == "random-c-s1"]
    assert [first.attempt, second.attempt] == [1, 2]
    assert first.folder != second.folder, "an attempt never writes where another one may still"
    assert regression.states() == ["pass", "pass"]
    assert (tally.done, tally.lost) == (2, 1)


FIELDS = ("row data", "left pad", "right pad", "status", "rule", "tag")


def test_the_first_failure_of_each_bucket_is_run_again_with_waves(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(4))

    def work(job: Job) -> Outcome:
        field = "status" if job.settings.seed == 4 else "row data"
        return outcome(job) if job.settings.seed == 1 else fails(job, field)

    _, tally, seen = regression.coordinate(work)
    reruns = [job for job in seen if job.kind == "rerun"]
    assert [job.key for job in reruns] == ["rerun-random-c-s2", "rerun-random-c-s4"]
    assert all(job.settings.waves and job.settings.timeline for job in reruns)
    assert all(job.timeout > BUILD_TIMEOUT for job in reruns), "waves have time to be built"
    places = [regression.folder / regression.name / f"runs/random-c-s{at}/1" for at in (2, 4)]
    assert [job.failed for job in reruns] == list(map(str, places)), "what is made small"
    assert tally.failed == 3
    assert regression.states() == ["pass", "fail", "fail", "fail"]


def test_no_more_reruns_than_allowed(regression: RegressionRun) -> None:
    regression.begin(runs(6))
    _, tally, seen = regression.coordinate(
        lambda job: fails(job, FIELDS[job.settings.seed - 1]), reruns=2
    )
    assert [job.kind for job in seen].count("rerun") == 2
    (note,) = tally.notes
    assert says(note, "buckets not run again waves 4 pto-dv rerun RUN_ID --waves")


@pytest.mark.long
def test_folders_of_passing_runs_are_removed_and_those_of_others_stay(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(2))

    def work(job: Job) -> Outcome:
        if job.kind != "build":
            Path(job.folder).mkdir(parents=True)
            (Path(job.folder) / "coverage.dat").write_text("counts")
        more = {"code_coverage": f"{job.folder}/coverage.dat"} if job.kind == "run" else {}
        return outcome(job, "fail" if job.key.endswith("s2") else "pass", **more)

    regression.coordinate(work)
    place = regression.folder / regression.name
    assert not (place / "runs/random-c-s1").exists()
    assert (place / "runs/random-c-s2/1").exists()
    counts = sorted(path.name for path in (place / "code").iterdir())
    assert counts == ["random-c-s1.dat.gz", "random-c-s2.dat.gz"]


def test_a_rerun_that_was_missed_is_made_up_for_and_none_is_made_twice(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(4))

    def interrupted(job: Job) -> Outcome:
        if job.kind == "rerun" or job.settings.seed == 3:
            raise KeyboardInterrupt
        return fails(job, "status" if job.settings.seed == 2 else "row data")

    with pytest.raises(KeyboardInterrupt):
        regression.coordinate(interrupted)
    regression.resume()
    _, _, seen = regression.coordinate(fails)
    reruns = sorted((job.key, job.failed) for job in seen if job.kind == "rerun")
    place = regression.folder / regression.name / "runs"
    assert reruns == [
        (f"rerun-{key}", str(place / key / "1")) for key in ("random-c-s1", "random-c-s2")
    ]
    regression.resume()
    assert regression.coordinate(fails)[2] == []


def test_what_was_mended_while_the_regression_run_ran_is_not_flaky(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(1))
    now = ["before"]

    def work(job: Job) -> Outcome:
        if job.kind == "rerun":
            now[0] = "after"
        return outcome(job, "fail" if job.kind == "run" else "pass")

    regression.coordinate(work, sources=lambda: now[0])
    assert regression.states() == ["fail"]


@pytest.mark.long
@pytest.mark.parametrize(("sources", "found"), [("two", "pass"), ("one", "flaky")])
def test_only_equal_runs_of_the_same_sources_are_compared(
    regression: RegressionRun, sources: str, found: str
) -> None:
    regression.begin(runs(1))
    regression.coordinate(fails, sources=lambda: "one")
    regression.begin(runs(1))
    regression.coordinate(outcome, sources=lambda: sources)
    assert regression.states()[-1] == found


@pytest.mark.long
def test_a_run_that_was_to_count_code_coverage_and_did_not_is_noted(
    regression: RegressionRun,
) -> None:
    regression.begin(runs(1, code_coverage=True))
    _, tally, _ = regression.coordinate(outcome)
    assert tally.notes == ["random-c-s1: it left no counts of code coverage"]
