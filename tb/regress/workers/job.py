# SPDX-License-Identifier: Apache-2.0
"""Input and outcome of a worker."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk

JobKind = Literal["build", "run", "rerun"]


class Job(BaseModel):
    """One thing for a worker to do.

    Attributes:
        key: Name of the job, unique in its regression run, fit for a folder.
        kind: ``build`` compiles what runs share, ``run`` runs, ``rerun`` runs a failing run again
            with waves and timeline, and makes it small.
        settings: Settings of the run; of a build, those of one of its runs.
        config: Name of the build that the job needs or makes.
        folder: Where the job may write; each attempt gets one of its own.
        inputs: Digest of the build's inputs that a run must find; empty for any.
        timeout: Seconds that the job may take.
        expected_seconds: How long it will probably take, for the budget.
        attempt: 1, and one more each time that it lost its worker.
        failed: Of a rerun, the folder of the run that failed, which is made small; or empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    kind: JobKind
    settings: RunSettings
    config: str
    folder: str
    inputs: str = ""
    timeout: float = Field(600.0, gt=0)
    expected_seconds: float = Field(10.0, ge=0)
    attempt: int = Field(1, ge=1)
    failed: str = ""


class Outcome(BaseModel):
    """Outcome of a job.

    Attributes:
        key, kind, attempt: Those of the job.
        worker: Host and process that did it, such as ``host:4711``.
        started, ended: With time zone.
        record: The run's record; None where there is none, then ``error`` has the reason.
        error: Why there is no record, or why a build failed; empty when all is well.
        inputs: Of a build, the digest of its inputs.
        coverage: Functional coverage of the run as the text of its JSON file, or empty.
        code_coverage: Path of the run's ``coverage.dat``, or empty.
        waves, timeline: Paths of these files, or empty.
        shrunk: Of a rerun, the failure made small.
        stopped: The coordinator ended the job: it is neither good nor bad, and not done.
    """

    model_config = ConfigDict(extra="forbid")

    key: str
    kind: JobKind
    attempt: int = 1
    worker: str = ""
    started: datetime
    ended: datetime
    record: RunRecord | None = None
    error: str = ""
    inputs: str = ""
    coverage: str = ""
    code_coverage: str = ""
    waves: str = ""
    timeline: str = ""
    shrunk: Shrunk | None = None
    stopped: bool = False

    @property
    def seconds(self) -> float:
        """How long the worker was busy."""
        return (self.ended - self.started).total_seconds()

    @property
    def passed(self) -> bool:
        """True for a build that succeeded and for a run with a record of a pass."""
        if self.kind == "build":
            return not self.error
        return self.record is not None and self.record.passed


class Lost(BaseModel):
    """A worker that was lost with a job on it.

    Attributes:
        key: The job's.
        attempt: Which attempt it was.
        worker: The lost worker.
        why: The known reason, such as ``killed by SIGKILL``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    attempt: int
    worker: str = ""
    why: str = ""


def blank(job: Job, began: datetime, **values: Any) -> Outcome:
    """Returns an outcome without a record, of a job that has ended now."""
    fields = {"key": job.key, "kind": job.kind, "attempt": job.attempt, "started": began}
    return Outcome.model_validate({**fields, "ended": datetime.now(UTC), **values})


def here(pid: int = 0) -> str:
    """Returns host and number of a process of this host, by default of this one."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"
