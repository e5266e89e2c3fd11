# SPDX-License-Identifier: Apache-2.0
"""Code in the process of a Dask worker: it does each job in a child process.

A Dask worker that is killed takes its jobs with it, and the scheduler gives them to another one.
That one finds the claim of the first beside the job's folder and says that the job was lost, so
that no attempt is ever begun twice. Folders are on a file system that all hosts share.
"""

from __future__ import annotations

import json
import os
import socket
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
from tb.regress.workers.job import Job, Lost, Outcome
from tb.regress.workers.local import LocalWorkers

IDLE_SECONDS = 30.0
"""A child that nothing was asked of for so long is let go, in case that nobody will ever."""

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
        """File that says that this submission has begun, and where."""
        place = Path(self.folder) / self.job.folder
        return place.with_name(f"{place.name}.{self.session}-{self.token}.begun")


@dataclass
class _Session:
    idle: list[tuple[LocalWorkers, threading.Timer]] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    closed: bool = False


_SESSIONS: defaultdict[str, _Session] = defaultdict(_Session)
"""Registry of this process; a session goes when its coordinator lets the workers go."""

_LOCK = threading.Lock()


def host() -> str:
    """Returns host and process of this worker."""
    return f"{socket.gethostname()}:{os.getpid()}"


def do(text: str) -> str:
    """Does a task, given as JSON; returns an :class:`Outcome` or :class:`Lost` as JSON.

    Raises nothing: what goes wrong is the outcome's error.
    """
    task = Task.model_validate_json(text)
    job = task.job
    began = datetime.now(UTC)
    try:
        before = _claim(task)
        if before is not None:
            why = "its worker was lost with it"
            item: Outcome | Lost = Lost(key=job.key, attempt=job.attempt, worker=before, why=why)
        else:
            item = _in_child(task, _wanted())
    except (PtoError, OSError) as error:
        item = Outcome(
            key=job.key,
            kind=job.kind,
            attempt=job.attempt,
            worker=host(),
            started=began,
            ended=datetime.now(UTC),
            error=f"worker {host()}: {error}",
        )
    kind = "lost" if isinstance(item, Lost) else "outcome"
    return json.dumps({kind: item.model_dump(mode="json")})


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
            file.write(host())
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
        asked = False
        while True:
            for item in workers.wait(POLL_SECONDS):
                return item
            if not asked and (task.token in session.stopped or session.closed or not wanted()):
                workers.stop([job.key])
                asked = True


@contextmanager
def _borrowed(task: Task) -> Iterator[tuple[LocalWorkers, _Session]]:
    """Lends a child that has the work function imported."""
    with _LOCK:
        session = _SESSIONS[task.session]
        session.running.add(task.token)
        workers = None
        if session.idle:
            workers, timer = session.idle.pop()
            timer.cancel()
    try:
        workers = workers or LocalWorkers(1, task.work, folder=task.folder)
        yield workers, session
    finally:
        with _LOCK:
            session.running.discard(task.token)
            keep = workers is not None and not session.closed
            if workers is not None and keep:
                timer = threading.Timer(IDLE_SECONDS, _let_go, (session, workers))
                timer.daemon = True
                session.idle.append((workers, timer))
                timer.start()
        if workers is not None and not keep:
            workers.close()


def _let_go(session: _Session, workers: LocalWorkers) -> None:
    with _LOCK:
        kept = [entry for entry in session.idle if entry[0] is not workers]
        mine = len(kept) < len(session.idle)
        session.idle[:] = kept
    if mine:
        workers.close()


def stop(session: str, tokens: list[str]) -> list[str]:
    """Ends submissions that run in this process and returns which those are."""
    with _LOCK:
        if session not in _SESSIONS:
            return []
        found = _SESSIONS[session]
        mine = found.running & set(tokens)
        found.stopped |= mine
        return sorted(mine)


def close(session: str) -> int:
    """Ends all jobs of a coordinator in this process; returns how many have not ended yet."""
    with _LOCK:
        if session not in _SESSIONS:
            return 0
        found = _SESSIONS[session]
        found.closed = True
        idle, found.idle = found.idle, []
        left = len(found.running)
        if not left:
            del _SESSIONS[session]
    for workers, timer in idle:
        timer.cancel()
        workers.close()
    return left
