# SPDX-License-Identifier: Apache-2.0
"""The speed-up measured in a regression run, on a clock of the test's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.regress.plan.schedule import Schedule
from tb.regress.workers import speedup as module
from tb.regress.workers.job import Job, Outcome
from tb.regress.workers.speedup import Speedup

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def runs(count: int, **settings: object) -> list[Job]:
    return [
        Job(
            key=f"r{index}",
            kind="run",
            settings=RunSettings.model_validate({"seed": index, **settings}),
            config="c",
            folder="",
        )
        for index in range(count)
    ]


def measured(
    monkeypatch: pytest.MonkeyPatch,
    *,
    alone: float,
    beside: float,
    idle: float = 0.0,
    status: str = "pass",
    jobs: list[Job] | None = None,
) -> float | None:
    """Plays a regression run of two workers and returns the speed-up it measured."""
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    jobs = runs(12) if jobs is None else jobs
    speedup, schedule = Speedup(jobs, 0.0), Schedule(jobs, {})
    schedule.next(1e6)
    schedule.built("c", "digest")

    def outcome(job: Job, length: float) -> Outcome:
        record = RunRecord.model_validate({"settings": job.settings, "status": status})
        ended = EPOCH + timedelta(seconds=length)
        return Outcome(key=job.key, kind="run", started=EPOCH, ended=ended, record=record)

    while (job := speedup.alone(schedule, 1e6)) is not None:
        schedule.take(job)
        speedup.begun(job, 1)
        clock.now += alone
        speedup.ended(job, outcome(job, alone), waiting=True)
    while len(schedule):
        pair = [job for job in (schedule.next(1e6), schedule.next(1e6)) if job]
        for at, job in enumerate(pair):
            speedup.begun(job, at + 1)
        clock.now += beside + idle
        for job in pair:
            speedup.ended(job, outcome(job, beside), waiting=True)
    return speedup.result()


def test_two_workers_that_do_not_hinder_each_other_are_twice_as_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert measured(monkeypatch, alone=8.0, beside=8.0) == pytest.approx(2.0, rel=0.01)


def test_two_workers_on_one_core_are_as_fast_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(monkeypatch, alone=8.0, beside=16.0) == pytest.approx(1.0, rel=0.01)


def test_time_in_which_workers_are_idle_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(monkeypatch, alone=8.0, beside=8.0, idle=8.0) == pytest.approx(1.0, rel=0.01)


def test_failing_runs_are_no_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(monkeypatch, alone=1.0, beside=8.0, status="fail") is None


def test_a_clock_that_was_put_back_is_no_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(monkeypatch, alone=8.0, beside=0.0) is None
    assert measured(monkeypatch, alone=-3.0, beside=8.0) is None


def test_short_regression_runs_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured(monkeypatch, alone=8.0, beside=8.0, jobs=runs(4)) is None
    assert not Speedup(runs(12), budget=60.0).measuring
    assert Speedup(runs(12), budget=600.0).measuring


def test_runs_with_code_coverage_or_on_icarus_are_no_measure() -> None:
    assert not Speedup(runs(12, code_coverage=True), 0.0).measuring
    assert not Speedup(runs(12, sim="icarus"), 0.0).measuring
