# SPDX-License-Identifier: Apache-2.0
"""What is begun next, and what is left out for lack of time."""

from __future__ import annotations

from tb.record.settings import RunSettings
from tb.regress.plan.schedule import BUILD_SECONDS, Schedule, kind_of
from tb.regress.workers.job import Job

PLENTY = 1e6


def run(key: str, config: str = "a", test: str = "random", expected: float = 10.0) -> Job:
    return Job(
        key=key,
        kind="run",
        settings=RunSettings(test=test),
        config=config,
        folder="",
        expected_seconds=expected,
    )


def keys(schedule: Schedule, left: float = PLENTY) -> list[str]:
    found = []
    while (job := schedule.next(left)) is not None:
        found.append(job.key)
    return found


def test_builds_come_before_the_runs_that_need_them() -> None:
    schedule = Schedule([run("x"), run("y", "b"), run("z")], {})
    assert keys(schedule) == ["build-a", "build-b"]
    schedule.built("b", "digest-b")
    assert keys(schedule) == ["y"]
    schedule.built("a", "digest-a")
    first = schedule.next(PLENTY)
    assert first is not None
    assert (first.key, first.inputs) == ("x", "digest-a")
    assert keys(schedule) == ["z"]
    assert len(schedule) == 0


def test_in_a_budget_cheap_runs_of_the_first_seeds_come_first() -> None:
    """A build that takes longer begins when its runs are due, the one of most runs first."""

    def of(sim: str, config: str, test: str, number: int = 1, expected: float = 5.0) -> Job:
        job = run(f"{test}-{config}-s{number:04d}", config, test, expected)
        return job.model_copy(update={"settings": RunSettings(test=test, sim=sim)})

    jobs = [
        of("verilator", "few", "random", expected=1.0),
        of("verilator", "many", "random", expected=9.0),
        of("verilator", "many", "stress", expected=2.0),
        of("verilator", "many", "legal", expected=5.0),
        of("icarus", "short", "random", expected=8.0),
        of("icarus", "short", "stress", expected=4.0),
        of("icarus", "short", "stress", number=2, expected=4.0),
    ]
    schedule = Schedule(jobs, {}, cheap_first=True)
    assert keys(schedule) == ["build-short", "build-many", "build-few"]
    schedule = Schedule(jobs, {}, cheap_first=True)
    begun = [schedule.next(PLENTY)]
    schedule.built("short", "d")
    begun += [schedule.next(PLENTY) for _ in range(3)]
    schedule.built("many", "d")
    first = ["build-short", "stress-short-s0001", "random-short-s0001", "build-many"]
    assert [job.key for job in begun if job] == first
    assert keys(schedule) == [
        *(f"{test}-many-s0001" for test in ("stress", "legal", "random")),
        *("build-few", "stress-short-s0002"),
    ]
    late = Schedule(jobs, {kind_of(jobs[5]): 90.0}, cheap_first=True)
    late.next(PLENTY)
    late.built("short", "d")
    assert keys(late, BUILD_SECONDS / 2) == ["random-short-s0001"], "no build begins that late"
    assert keys(Schedule(jobs, {}))[0] == "build-few", "without a budget in the order of the plan"


def test_runs_of_a_failed_build_are_given_up_and_no_others() -> None:
    schedule = Schedule([run("x"), run("y", "b"), run("z")], {})
    keys(schedule)
    assert [job.key for job in schedule.give_up("a")] == ["x", "z"]
    schedule.built("b", "d")
    assert keys(schedule) == ["y"]


def test_a_long_run_makes_room_for_a_short_one() -> None:
    schedule = Schedule([run("long", expected=100), run("short", test="corner", expected=5)], {})
    assert schedule.next(BUILD_SECONDS / 2) is None, "no build begins that cannot end"
    assert schedule.runs_left == 2
    schedule.next(PLENTY)
    schedule.built("a", "d")
    assert keys(schedule, left=10.0) == ["short"]
    assert keys(schedule, left=200.0) == ["long"]


def test_durations_are_learnt() -> None:
    jobs = [run("x"), run("y"), run("z")]
    schedule = Schedule(jobs, {kind_of(jobs[0]): 30.0})
    assert schedule.expected(jobs[0]) == 30.0
    schedule.learn(jobs[0], 4.0)
    schedule.learn(jobs[1], 6.0)
    assert schedule.expected(jobs[2]) == 5.0
    assert Schedule(jobs, {}).expected(jobs[0]) == 10.0


def test_lost_jobs_and_reruns_come_first_but_not_when_time_is_up() -> None:
    schedule = Schedule([run("x"), run("y")], {})
    schedule.next(PLENTY)
    schedule.built("a", "d")
    rerun = run("x").model_copy(update={"key": "rerun-x", "kind": "rerun", "expected_seconds": 90})
    schedule.again(rerun)
    schedule.again(run("w"))
    assert schedule.runs_left == 3
    assert keys(schedule, left=50.0) == ["w", "x", "y"]
    assert schedule.runs_left == 0
    assert len(schedule) == 1
    assert keys(schedule) == ["rerun-x"]
