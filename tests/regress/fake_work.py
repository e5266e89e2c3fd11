# SPDX-License-Identifier: Apache-2.0
"""Work functions in place of simulations: they sleep, fail, and die, as their options say."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tb.common.processes import end_with_parent
from tb.record.record import CoverageSummary, RunRecord
from tb.record.settings import RunSettings
from tb.regress.workers.job import Job, JobKind, Outcome, blank

IMPORTED_BY = os.getpid()


def job(
    key: str, folder: Path, *, timeout: float = 60.0, kind: JobKind = "run", **options: Any
) -> Job:
    """Returns a job for :func:`execute`."""
    settings = RunSettings(options=options)
    place = str(folder / key / "1")
    return Job(key=key, kind=kind, settings=settings, config="c", folder=place, timeout=timeout)


def outcome(job: Job) -> Outcome:
    """Returns the outcome of a run that passed."""
    record = RunRecord(status="pass", settings=job.settings)
    return blank(job, datetime.now(UTC), worker=str(IMPORTED_BY), record=record)


class Truncated(Outcome):
    """An outcome of which half is handed back."""

    def model_dump_json(self, **options: Any) -> str:
        text = super().model_dump_json(**options)
        return text[: len(text) // 2]


def execute(job: Job) -> Outcome:
    """Leaves a line in ``begun`` of the job's folder, then does what the options say."""
    options = job.settings.options
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "begun").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if "simulator" in options:
        _start_simulator(folder, bound=options["simulator"] == "bound")
    if options.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(options.get("says", ""), end="")
    end = time.monotonic() + options.get("sleep", 0.0)
    try:
        while time.monotonic() < end:
            time.sleep(0.01)
    except KeyboardInterrupt:
        result = outcome(job)
        result.record = RunRecord(status="interrupted", settings=job.settings)
        return result
    match options.get("then", "pass"):
        case "raise":
            raise RuntimeError("the fake failed")
        case "die":
            os.kill(os.getpid(), options.get("signal", signal.SIGKILL))
        case "exit":
            os._exit(options.get("code", 0))
        case "truncate":
            return Truncated(**outcome(job).model_dump())
        case "nothing":
            return None  # type: ignore[return-value]
        case "other":
            return outcome(job.model_copy(update={"key": "another"}))
        case "big":
            return outcome(job).model_copy(update={"coverage": "x" * 3_000_000})
    return outcome(job)


def coordinated(job: Job) -> Outcome:
    """Does a job of a regression run: a build, or a run that returns the file ``coverage``.

    With ``first`` among the options a run sleeps so many seconds in its first attempt.
    """
    if job.kind == "build":
        return outcome(job).model_copy(update={"record": None, "inputs": f"inputs of {job.config}"})
    options = dict(job.settings.options)
    options["sleep"] = options.get("first", 0.0) if job.attempt == 1 else 0.0
    settings = job.settings.model_copy(update={"options": options})
    done = execute(job.model_copy(update={"settings": settings}))
    if done.record and done.record.passed:
        done.record.coverage = CoverageSummary(percent=10.0, covered=1, bins=10)
        done.coverage = Path(options["coverage"]).read_text()
    return done


def _start_simulator(folder: Path, *, bound: bool) -> None:
    """Starts a process in a session of its own, as simulators are, that works for a minute."""
    code = "import time; time.sleep(60)"
    hook = functools.partial(end_with_parent, os.getpid()) if bound else None
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", code], start_new_session=True, preexec_fn=hook
    )
    (folder / "simulator").write_text(str(process.pid))
