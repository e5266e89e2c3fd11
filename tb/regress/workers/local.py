# SPDX-License-Identifier: Apache-2.0
"""Workers on this machine: a process for each job, forked from one with all imports done.

A worker is the leader of a session of its own. It is ended with everything it started when its
time is up, when it is stopped, and when this process ends in whatever way.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.common.processes import kill_left
from tb.regress.workers.job import Job, Lost, Outcome
from tb.regress.workers.pool import WORK, Closes
from tb.regress.workers.spawner import GRACE_SECONDS

START_SECONDS = 120.0
"""What importing the work function may take."""


@dataclass
class _Running:
    job: Job
    began: datetime
    pid: int = 0

    @property
    def worker(self) -> str:
        return f"{socket.gethostname()}:{self.pid}"


def how_ended(code: int) -> str:
    """Returns what an exit code says: ``killed by SIGKILL``, ``ended with exit code 3``."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _unfinished(outcome: Outcome) -> bool:
    """True of a job that did not come to its end."""
    if outcome.error or outcome.kind == "build":
        return bool(outcome.error)
    return outcome.record is None or outcome.record.status == "interrupted"


def judge(job: Job, report: dict[str, Any], worker: str, began: datetime) -> Outcome | Lost:
    """Returns what became of a job.

    Args:
        job: The job.
        report: What the spawner says: exit ``code`` of the worker, ``why`` it was ended
            (``timeout``, ``stop``, or empty), ``text`` that it handed back. With ``fork`` as
            ``why`` there was no worker, and ``text`` says why.
        worker: Host and process.
        began: When it was started.
    """
    code, why = report["code"], report["why"]
    outcome = Outcome(
        key=job.key,
        kind=job.kind,
        attempt=job.attempt,
        worker=worker,
        started=began,
        ended=datetime.now(UTC),
    )
    if why == "fork":
        outcome.worker = ""
        outcome.error = f"no process could be started for it for minutes: {report['text']}"
        return outcome
    if code and not why:
        return Lost(key=job.key, attempt=job.attempt, worker=worker, why=how_ended(code))
    if not code:
        try:
            given = Outcome.model_validate_json(report["text"])
        except ValidationError:
            size = len(report["text"])
            given = outcome.model_copy(
                update={"error": f"the worker's outcome is truncated or missing ({size} bytes)"}
            )
        if (given.key, given.attempt) != (job.key, job.attempt):
            given = outcome.model_copy(
                update={"error": f"the worker handed back the outcome of another job: {given.key}"}
            )
        if not why or not _unfinished(given):
            return given
        outcome = given
    if why == "stop":
        outcome.stopped = True
    else:
        # What it handed back says that it was interrupted, and not by whom: no verdict.
        outcome.record, outcome.coverage, outcome.code_coverage = None, "", ""
        outcome.error = f"took longer than {job.timeout:g} s and was ended"
        if code:
            outcome.error += f"; it did not end when asked to and was {how_ended(code)}"
    return outcome


class LocalWorkers(Closes):
    """Workers on this machine (see :class:`tb.regress.workers.pool.Workers`).

    Args:
        size: Jobs at a time.
        work: Function that does a job, ``module:name``.
        grace: Seconds between asking a worker to end and killing it.
        folder: Where workers work; empty for the folder of this process.

    Raises:
        PtoError: the work function cannot be imported.
    """

    def __init__(
        self, size: int, work: str = WORK, *, grace: float = GRACE_SECONDS, folder: str = ""
    ) -> None:
        if size < 1:
            raise PtoError(f"{size} workers", where="JOBS", legal="1 or more")
        self._size = size
        self._work = work
        self._grace = grace
        self._folder = folder
        self._number = 0
        self._waiting: deque[Job] = deque()
        self._running: dict[int, _Running] = {}
        self._ready: list[Outcome | Lost] = []
        self._start()

    @property
    def size(self) -> int:
        """How many jobs run at a time."""
        return self._size

    def submit(self, job: Job) -> None:
        """Hands over a job; it begins at once if a worker is free."""
        self._waiting.append(job)
        self._begin_waiting()

    def wait(self, seconds: float) -> list[Outcome | Lost]:
        """Returns what ended since the last call, after at most so many seconds.

        Without any job it returns at once.
        """
        limit = time.monotonic() + seconds
        while not self._ready and self._running:
            try:
                report = self._reports.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                break
            self._take(report)
        while not self._reports.empty():
            self._take(self._reports.get())
        ready, self._ready = self._ready, []
        return ready

    def stop(self, keys: list[str]) -> None:
        """Ends these jobs; those that have not begun come back as stopped at once."""
        for job in [job for job in self._waiting if job.key in keys]:
            self._waiting.remove(job)
            now = datetime.now(UTC)
            self._ready.append(
                Outcome(
                    key=job.key,
                    kind=job.kind,
                    attempt=job.attempt,
                    started=now,
                    ended=now,
                    stopped=True,
                )
            )
        for number, running in self._running.items():
            if running.job.key in keys:
                self._send({"stop": number})

    def close(self) -> None:
        """Ends every job and all processes; what has not come back by now never does."""
        self._waiting.clear()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(self._grace + 5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            self._kill_running()
        self._reader.join()
        self._running.clear()

    # --- the process that forks ---------------------------------------------------------------

    def _start(self) -> None:
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        # Jobs run beside each other: threads within them only take turns.
        env = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": os.pathsep.join(path)}
        code = "from tb.regress.workers.spawner import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, self._work, str(self._grace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder or None,
            env=env,
            start_new_session=True,  # Ctrl-C is for us, who then end the workers in order
        )
        self._reports: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(
            target=_read, args=(self._process, self._reports), daemon=True
        )
        self._reader.start()
        try:
            first = self._reports.get(timeout=START_SECONDS)
        except queue.Empty:
            first = {"failed": f"it was not imported within {START_SECONDS:g} s"}
        if "ready" not in first:
            self._process.kill()
            why = first.get("failed", "its process ended")
            raise PtoError(
                f"workers cannot be started: {why}",
                where=self._work,
                remedy="`make doctor` checks the installation",
            )

    def _send(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # its end is reported by the reader
            self._process.stdin.write((json.dumps(command) + "\n").encode())
            self._process.stdin.flush()

    def _begin_waiting(self) -> None:
        while self._waiting and len(self._running) < self._size:
            job = self._waiting.popleft()
            self._number += 1
            self._running[self._number] = _Running(job, datetime.now(UTC))
            self._send({"number": self._number, "job": job.model_dump(mode="json")})

    def _take(self, report: dict[str, Any]) -> None:
        if "gone" in report:
            self._spawner_lost(report["gone"])
        elif "pid" in report:
            self._running[report["number"]].pid = report["pid"]
        else:
            running = self._running.pop(report["number"])
            self._ready.append(judge(running.job, report, running.worker, running.began))
            self._begin_waiting()

    def _spawner_lost(self, code: int) -> None:
        """All its workers died with it; the jobs that wait get a new one."""
        self._kill_running()
        self._ready += [
            Lost(
                key=running.job.key,
                attempt=running.job.attempt,
                worker=running.worker,
                why=f"the process that forks workers was lost: {how_ended(code)}",
            )
            for running in self._running.values()
        ]
        self._running.clear()
        self._start()
        self._begin_waiting()

    def _kill_running(self) -> None:
        for running in self._running.values():
            if running.pid:
                kill_left(running.pid, str(running.pid))


def _read(process: subprocess.Popen[bytes], reports: queue.Queue[dict[str, Any]]) -> None:
    """Takes reports as they come, so that the spawner never waits for us."""
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if line.endswith(b"\n"):
                reports.put(json.loads(line))
    reports.put({"gone": process.wait()})
