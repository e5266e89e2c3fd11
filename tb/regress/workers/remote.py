# SPDX-License-Identifier: Apache-2.0
"""Code in the process of a Dask worker: it does each job in a child process.

A Dask worker that is killed takes its jobs with it, and the scheduler gives them to another one.
That one finds the claim of the first beside the job's folder and reports the job as lost, so
that no attempt is ever begun twice. Folders are on a file system that all hosts share.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers.job import Job, Lost, Outcome, blank, here
from tb.regress.workers.local import LocalWorkers

IDLE_SECONDS = 30.0
"""Idle children are closed when no job has ended for so long: the coordinator may be gone."""

POLL_SECONDS = 0.25


class Task(BaseModel):
    """A job on its way to a Dask worker.

    Attributes:
        session: Names the coordinator.
        token: Names this submission of the job in the session.
        work: Function that does a job, ``module:name``.
        folder: Where the coordinator works; relative paths begin there.
        root: Where the coordinator's PTO-DV is.
        job: The job.
    """

    model_config = ConfigDict(frozen=True)

    session: str
    token: str
    work: str
    folder: str
    root: str
    job: Job

    @property
    def claim(self) -> Path:
        """File that notes the begin of this submission, and its place."""
        place = Path(self.folder) / self.job.folder
        return place.with_name(f"{place.name}.{self.session}-{self.token}.begun")


@dataclass
class _Session:
    """Children that are idle, jobs that run, and whether the coordinator has let them go."""

    idle: list[LocalWorkers] = field(default_factory=list)
    running: int = 0
    closed: bool = False
    timer: threading.Timer | None = None

    def let_go(self) -> None:
        """Closes the idle children."""
        with _LOCK:
            idle, self.idle = self.idle, []
        for workers in idle:
            workers.close()

    def let_go_later(self) -> None:
        """Closes the idle children unless one is used in the next time."""
        if self.timer:
            self.timer.cancel()
        self.timer = threading.Timer(IDLE_SECONDS, self.let_go)
        self.timer.daemon = True
        self.timer.start()


_SESSIONS: defaultdict[str, _Session] = defaultdict(_Session)
"""Registry of this process; a session goes when its coordinator lets the workers go."""

_LOCK = threading.Lock()


def do(task: Task) -> Outcome | Lost:
    """Does a task. Raises nothing: what goes wrong is the outcome's error."""
    job = task.job
    began = datetime.now(UTC)
    try:
        before = _claim(task)
        if before is None:
            return _in_child(task, _wanted())
    except (PtoError, OSError) as error:
        return blank(job, began, worker=here(), error=f"worker {here()}: {error}")
    why = "its worker was lost with it"
    return Lost(key=job.key, attempt=job.attempt, worker=before, why=why)


def _claim(task: Task) -> str | None:
    """Notes that a task begins here; returns who had begun it before, or None.

    Raises:
        PtoError: this host does not share the coordinator's files.
    """
    if task.root != str(ROOT):
        raise PtoError(
            f"PTO-DV is in {ROOT} here and in {task.root} for the coordinator",
            remedy="start workers from the coordinator's copy, at the same path on each host",
        )
    if not Path(task.folder).is_dir():
        raise PtoError(
            f"the coordinator's folder {task.folder} does not exist here",
            remedy="work in a folder that all hosts share",
        )
    if not task.job.folder:
        return None
    task.claim.parent.mkdir(parents=True, exist_ok=True)
    try:
        with task.claim.open("x") as file:
            file.write(here())
    except FileExistsError:
        return task.claim.read_text()
    return None


def _wanted() -> Callable[[], bool]:
    """Returns a question: will anybody take the result of what this thread does?

    The scheduler forgets the jobs of a coordinator that is gone, and a worker closes when its
    scheduler is gone.
    """
    from distributed.core import Status
    from distributed.worker import get_worker, thread_state

    worker, key = get_worker(), thread_state.key

    def wanted() -> bool:
        if worker.status in (Status.closing, Status.closed, Status.failed):
            return False
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return wanted


def _in_child(task: Task, wanted: Callable[[], bool]) -> Outcome | Lost:
    job = task.job
    with _borrowed(task) as (workers, session):
        workers.submit(job)
        found: list[Outcome | Lost] = []
        while not found:
            found = workers.wait(POLL_SECONDS)
            if session.closed or not wanted():
                workers.stop([job.key])
        return found[0]


@contextmanager
def _borrowed(task: Task) -> Iterator[tuple[LocalWorkers, _Session]]:
    """Lends a child that has the work function imported."""
    with _LOCK:
        session = _SESSIONS[task.session]
        session.running += 1
        workers = session.idle.pop() if session.idle else None
    try:
        workers = workers or LocalWorkers(1, task.work, folder=task.folder)
        yield workers, session
    finally:
        with _LOCK:
            session.running -= 1
            session.idle += [] if workers is None else [workers]
        if session.closed:
            session.let_go()
        else:
            session.let_go_later()


def close(name: str) -> int:
    """Ends all jobs of a coordinator in this process; returns how many have not ended yet."""
    with _LOCK:
        if name not in _SESSIONS:
            return 0
        session = _SESSIONS[name]
        session.closed = True
        left = session.running
        if not left:
            del _SESSIONS[name]
    session.let_go()
    return left
