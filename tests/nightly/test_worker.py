# SPDX-License-Identifier: Apache-2.0
"""A worker makes the failure of a rerun small; the rerun counts whatever becomes of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.common.errors import PtoError
from tb.nightly import worker
from tb.programs import shrink_command
from tb.record.record import RunRecord, RunStatus
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk
from tb.regress.workers.job import Job, Outcome


def rerun(
    monkeypatch: pytest.MonkeyPatch, result: Shrunk | BaseException, status: RunStatus = "fail"
) -> Outcome:
    """Does a rerun that ends with ``status``, and its search with ``result``; no simulator."""

    def shrink(name: str, *_: object) -> Shrunk:
        assert name == "runs/one/1"
        if isinstance(result, BaseException):
            raise result
        return result

    record = RunRecord(settings=RunSettings(), status=status)
    monkeypatch.setattr(worker, "_run", lambda _: record)
    monkeypatch.setattr(shrink_command, "shrink_command", shrink)
    job = Job(
        key="one", kind="rerun", settings=RunSettings(), config="c", folder="none",
        failed="runs/one/1",
    )  # fmt: skip
    done = worker.execute(job)
    assert (done.record, done.error) == (record, "")
    assert Outcome.model_validate_json(done.model_dump_json()) == done
    return done


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (PtoError("no program repeats it", where="x"), "no program repeats it"),
        (KeyboardInterrupt(), "it was ended before its time"),
        (AssertionError("bad"), "AssertionError: bad"),
    ],
)
def test_a_rerun_counts_where_its_failure_is_not_made_small(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, says: str
) -> None:
    assert rerun(monkeypatch, raised).shrunk == Shrunk(error=says)


def test_only_a_rerun_that_has_ended_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Shrunk("a.pto", "module { }", 12, 1, "make program PROGRAM=a.pto")
    assert rerun(monkeypatch, small).shrunk == small
    assert rerun(monkeypatch, small, "interrupted").shrunk is None


def test_a_failing_run_is_not_made_small_in_its_own_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worker, "_run", lambda job: RunRecord(settings=job.settings, status="fail"))
    job = Job(key="one", kind="run", settings=RunSettings(), config="c", folder=str(tmp_path))
    assert worker.execute(job).shrunk is None
