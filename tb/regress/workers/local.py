# SPDX-License-Identifier: Apache-2.0
"""Workers on this machine: keepers (:mod:`.keeper`), each of which forks a worker for a job.

A worker is the leader of a session of its own. It is ended with everything it started when its
time is up, when it is stopped, and when this process ends in whatever way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.processes import kill_left
from tb.regress.workers.job import Job, Lost, Outcome, blank, here
from tb.regress.workers.keeper import STOP, how_ended
from tb.regress.workers.pool import WORK, Closes

GRACE_SECONDS = 10.0
"""Between the request to end and the kill of a worker."""

START_SECONDS = 120.0
"""The limit for importing the work function."""

END_SECONDS = 5.0
"""The limit for the end of a keeper whose worker has ended."""


class _Keeper:
    """A keeper's process, and the job that it has."""

    def __init__(self, work: str, grace: float, folder: str) -> None:
        self.job: Job | None = None
        self._worker = 0
        self._work = work
        self.connection, theirs = Pipe()
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        code = "from tb.regress.workers.keeper import main; main()"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", code, work, str(grace), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[theirs.fileno()],
                cwd=folder or None,
                env=env,
                start_new_session=True,  # Ctrl-C is for us, who then end the workers in order
            )

    def wait_until_ready(self) -> None:
        """Waits for the import of the work function.

        Raises:
            PtoError: it failed.
        """
        try:
            why = f"it was not imported within {START_SECONDS:g} s"
            if self.connection.poll(START_SECONDS):
                why = self.connection.recv()
        except (EOFError, ConnectionError):
            why = "its process ended"
        if why:
            raise PtoError(
                f"workers cannot be started: {why}",
                where=self._work,
                remedy="check the installation with `make doctor`",
            )

    def send(self, command: Job | str) -> None:
        """Sends a job, or a stop for the one that it has."""
        if isinstance(command, Job):
            self.job, self._worker = command, 0
        with suppress(ConnectionError):  # receive() notices it
            self.connection.send(command)

    def receive(self) -> Outcome | Lost | None:
        """Returns the result of the job, None without one; a keeper that has ended is closed."""
        try:
            message: Any = self.connection.recv()
        except (EOFError, OSError):
            worker = here(self._worker or self.process.pid)
            why = f"the process that forks workers was lost: {how_ended(self.close(END_SECONDS))}"
            job = self.job
            return Lost(key=job.key, attempt=job.attempt, worker=worker, why=why) if job else None
        if isinstance(message, int):
            self._worker = message
            return None
        self.job, self._worker = None, 0
        found: Outcome | Lost = message
        return found

    def close(self, seconds: float) -> int:
        """Ends the keeper, in order within so many seconds; returns its exit code."""
        self.connection.close()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
        code = self.process.wait()
        if code and self._worker:
            kill_left(self._worker, str(self._worker))
        return code


class LocalWorkers(Closes):
    """Workers on this machine (see :class:`tb.regress.workers.pool.Workers`).

    Args:
        size: Jobs at a time.
        work: Function that does a job, ``module:name``.
        grace: Seconds between the request to end and the kill of a worker.
        folder: Where workers work; empty for the folder of this process.

    Raises:
        PtoError: the work function cannot be imported.
    """

    def __init__(
        self, size: int, work: str = WORK, *, grace: float = GRACE_SECONDS, folder: str = ""
    ) -> None:
        if size < 1:
            raise PtoError(f"{size} workers", where="JOBS", legal="1 or more")
        self._make = partial(_Keeper, work, grace, folder)
        self._grace = grace
        self._waiting: deque[Job] = deque()
        self._ready: list[Outcome | Lost] = []
        self._keepers = [self._make() for _ in range(size)]
        try:
            for keeper in self._keepers:
                keeper.wait_until_ready()
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """How many jobs run at a time."""
        return len(self._keepers)

    def submit(self, job: Job) -> None:
        """Hands over a job; it begins at once if a worker is free."""
        self._waiting.append(job)
        self._begin_waiting()

    def wait(self, seconds: float) -> list[Outcome | Lost]:
        """Returns what ended since the last call, after at most so many seconds.

        Without any job it returns at once.
        """
        limit = time.monotonic() + seconds
        while not self._ready and any(keeper.job for keeper in self._keepers):
            found = wait([keeper.connection for keeper in self._keepers], limit - time.monotonic())
            if not found:
                break
            for keeper in [keeper for keeper in self._keepers if keeper.connection in found]:
                self._take(keeper)
        ready, self._ready = self._ready, []
        return ready

    def stop(self, keys: list[str]) -> None:
        """Ends these jobs; those that have not begun come back as stopped at once."""
        for job in [job for job in self._waiting if job.key in keys]:
            self._waiting.remove(job)
            self._ready.append(blank(job, datetime.now(UTC), stopped=True))
        for keeper in self._keepers:
            if keeper.job and keeper.job.key in keys:
                keeper.send(STOP)

    def close(self) -> None:
        """Ends every job and all processes; what has not come back by now never does."""
        self._waiting.clear()
        for keeper in self._keepers:
            keeper.connection.close()
        end = time.monotonic() + self._grace + END_SECONDS
        for keeper in self._keepers:
            keeper.close(max(0.0, end - time.monotonic()))

    def _begin_waiting(self) -> None:
        for keeper in self._keepers:
            if self._waiting and keeper.job is None:
                keeper.send(self._waiting.popleft())

    def _take(self, keeper: _Keeper) -> None:
        """Receives from a keeper; another one takes the place of one that has ended."""
        result = keeper.receive()
        if result:
            self._ready.append(result)
        if keeper.process.returncode is not None:
            place = self._keepers.index(keeper)
            self._keepers[place] = self._make()
            self._keepers[place].wait_until_ready()
        self._begin_waiting()
