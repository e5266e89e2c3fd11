# SPDX-License-Identifier: Apache-2.0
"""Jobs of a worker of a regression: build, run, or run again with waves and make small.

:mod:`tb.regress` names :func:`execute` without importing it, so that it knows no simulator.
"""

from __future__ import annotations

import shutil
import traceback
from datetime import UTC, datetime
from pathlib import Path

from tb.common.errors import PtoError
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk
from tb.regress.workers.job import Job, Outcome, blank, here
from tb.run.build import build
from tb.run.console import Console
from tb.run.folder import CODE_COUNTS, WAVES
from tb.run.plan import build_plan, check_ports
from tb.run.run import interrupts_raise, run_once
from tb.run.testlist import planned_test

GRACE_SECONDS = 5.0
"""How much sooner than the worker's own limit a simulation is ended: its record has the reason."""


def execute(job: Job) -> Outcome:
    """Does a job and returns its outcome; raises nothing that a user can cause."""
    outcome = blank(job, datetime.now(UTC), worker=here())
    try:
        with interrupts_raise():
            if job.kind == "build":
                outcome.inputs = _build(job.settings)
            else:
                outcome.record = _run(job)
                if job.failed:
                    outcome.shrunk = _shrunk(job.failed, outcome.record)
    except PtoError as error:
        outcome.error = str(error)
    except KeyboardInterrupt:
        outcome.error = "the job was ended before its time"
    _collect(outcome, Path(job.folder))
    outcome.ended = datetime.now(UTC)
    return outcome


def _build(settings: RunSettings) -> str:
    """Builds what a run needs and returns the digest of its inputs."""
    plan = build_plan(settings, planned_test(settings.test))
    if settings.duts:
        check_ports(plan)
    return build(plan).inputs


def _run(job: Job) -> RunRecord:
    settings = job.settings
    if job.folder:
        # The same attempt may have been here: what it left is not of this run.
        shutil.rmtree(job.folder, ignore_errors=True)
    if not settings.time_limit:
        limit = max(1.0, job.timeout - GRACE_SECONDS)
        settings = settings.model_copy(update={"time_limit": limit})
    return run_once(
        settings,
        planned_test(settings.test),
        console=Console(quiet=True),
        folder=Path(job.folder),
        inputs=job.inputs,
    )


def _shrunk(failed: str, again: RunRecord) -> Shrunk | None:
    """Makes the failure of a run small; raises nothing, since its rerun counts in any case."""
    from tb.programs.options import ProgramOptions
    from tb.programs.shrink_command import shrink_command

    if again.status == "interrupted":
        return None
    try:
        return shrink_command(failed, ProgramOptions(), {})
    except PtoError as error:
        return Shrunk(error=error.what)
    except KeyboardInterrupt:
        return Shrunk(error="it was ended before its time")
    except Exception as error:
        traceback.print_exc()
        return Shrunk(error=f"{type(error).__name__}: {error}")


def outcome_of(job: Job, record: RunRecord, folder: Path) -> Outcome:
    """Returns the outcome of a run that was done apart from any worker."""
    now = datetime.now(UTC)
    outcome = Outcome(
        key=job.key, kind="rerun", started=now, ended=now, worker=here(), record=record
    )
    _collect(outcome, folder)
    return outcome


def _collect(outcome: Outcome, folder: Path) -> None:
    """Notes the files that a run left."""
    coverage = folder / "coverage.json"
    if coverage.exists():
        outcome.coverage = coverage.read_text()
    for name in WAVES:
        if (folder / name).exists():
            outcome.waves = str(folder / name)
    if (folder / "timeline.json").exists():
        outcome.timeline = str(folder / "timeline.json")
    if (folder / CODE_COUNTS).exists():
        outcome.code_coverage = str(folder / CODE_COUNTS)
