# SPDX-License-Identifier: Apache-2.0
"""The process that :class:`.local.LocalWorkers` starts: it forks a worker for each job.

It has the work function imported already, so that a worker begins in milliseconds. It keeps the
limits: a worker that takes too long is asked to end and killed after a grace. When its standard
input ends, because whoever started it closed or died, it ends all workers and itself.

Both ways go lines of JSON: commands ``{"number", "job"}`` and ``{"stop": number}``; reports
``{"ready"}`` or ``{"failed"}`` once, then ``{"number", "pid"}`` when a worker began and
``{"number", "code", "why", "text"}`` when it ended, ``text`` being the outcome as JSON. Where no
worker could be forked for minutes, ``why`` is ``fork`` and ``text`` the system's words.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from tb.common.processes import MARK, end_with_parent, kill_left
from tb.regress.workers.job import Job, Outcome

GRACE_SECONDS = 10.0
"""Between asking a worker to end and killing it."""

AGAIN_SECONDS = 1.0
AGAIN_MOST_SECONDS = 30.0
"""After so long a fork that found too many processes or files is tried again; it doubles."""

FORK_SECONDS = 300.0
"""For so long at most; then the job is an error."""

Work = Callable[[Job], Outcome]

_FOREVER = float("inf")


@dataclass
class _Worker:
    """A worker at work; ``why`` says who ended it: ``timeout``, ``stop``, or nobody."""

    number: int
    pid: int
    result: int
    deadline: float
    why: str = ""
    kill_at: float = _FOREVER


@dataclass
class _Delayed:
    """A job for which no worker could be forked, and when that is tried again."""

    number: int
    job: Job
    first: float = field(default_factory=time.monotonic)
    delay: float = 0.0
    again_at: float = 0.0


def load_work(name: str) -> Work:
    """Returns the function that is named ``module:function``."""
    module, _, function = name.partition(":")
    found: Work = getattr(importlib.import_module(module), function)
    return found


def hand_back(result: int, text: bytes) -> None:
    """Writes the outcome's JSON into the file that the spawner reads when the worker has ended."""
    while text:
        text = text[os.write(result, text) :]


class Spawner:
    """Forks and watches workers.

    Args:
        work: Does a job.
        commands: File descriptor of commands.
        reports: File descriptor of reports.
        grace: Seconds between asking a worker to end and killing it.
    """

    def __init__(self, work: Work, commands: int, reports: int, grace: float) -> None:
        self._work = work
        self._commands = commands
        self._reports = reports
        self._grace = grace
        self._workers: dict[int, _Worker] = {}
        self._delayed: dict[int, _Delayed] = {}
        self._rest = b""
        self._open = True
        self._bell, self._ringer = socket.socketpair()

    def serve(self) -> None:
        """Works until the commands end, and ends all workers then."""
        self._ringer.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._ringer.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._commands, selectors.EVENT_READ)
            selector.register(self._bell, selectors.EVENT_READ)
            while self._open or self._workers:
                for key, _ in selector.select(self._seconds_to_limit()):
                    if key.fileobj is self._bell:
                        self._bell.recv(4096)
                    elif self._open and not self._read():
                        selector.unregister(self._commands)
                        self._stop_all()
                self._reap()
                self._keep_limits()
                self._begin_delayed()

    def _read(self) -> bool:
        """Does the commands that have come; False at their end."""
        data = os.read(self._commands, 1 << 16)
        if not data:
            return False
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            command = json.loads(line)
            if "stop" in command:
                self._ask_to_end(command["stop"], "stop")
            else:
                self._begin(command["number"], Job.model_validate(command["job"]))
        return True

    def _stop_all(self) -> None:
        self._open = False
        for number in [*self._workers, *self._delayed]:
            self._ask_to_end(number, "stop")

    def _report(self, **report: Any) -> None:
        text = (json.dumps(report) + "\n").encode()
        try:
            hand_back(self._reports, text)
        except BrokenPipeError:
            if self._open:
                self._stop_all()

    def _begin(self, number: int, job: Job) -> None:
        """Forks a worker for a job, or notes that it is to be tried again."""
        try:
            self._fork(number, job)
        except OSError as error:  # Too many processes or files, for now.
            self._delay(self._delayed.setdefault(number, _Delayed(number, job)), error)
        else:
            self._delayed.pop(number, None)

    def _fork(self, number: int, job: Job) -> None:
        parent = os.getpid()
        result = os.memfd_create("outcome")
        try:
            pid = os.fork()
        except OSError:
            os.close(result)
            raise
        if pid == 0:
            self._become_worker(job, result, parent)
        deadline = time.monotonic() + job.timeout
        self._workers[number] = _Worker(number, pid, result, deadline)
        self._report(number=number, pid=pid)

    def _delay(self, item: _Delayed, error: OSError) -> None:
        now = time.monotonic()
        if now - item.first >= FORK_SECONDS:
            del self._delayed[item.number]
            self._report(number=item.number, code=os.EX_OSERR, why="fork", text=str(error))
            return
        item.delay = min(2 * item.delay or AGAIN_SECONDS, AGAIN_MOST_SECONDS)
        item.again_at = min(now + item.delay, item.first + FORK_SECONDS)

    def _begin_delayed(self) -> None:
        now = time.monotonic()
        for item in list(self._delayed.values()):
            if now >= item.again_at and self._open:
                self._begin(item.number, item.job)

    def _become_worker(self, job: Job, result: int, parent: int) -> NoReturn:
        try:
            end_with_parent(parent)
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, _interrupt)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for descriptor in (self._commands, self._reports):
                os.close(descriptor)
            self._bell.close()
            self._ringer.close()
            for other in self._workers.values():
                os.close(other.result)
            os.environ[MARK] = str(os.getpid())
            outcome = _do(self._work, job)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # too late to be asked
            hand_back(result, outcome.model_dump_json().encode())
            os._exit(0)
        finally:  # Nothing of the spawner's runs in its copy.
            os._exit(70)

    def _ask_to_end(self, number: int, why: str) -> None:
        if self._delayed.pop(number, None):
            self._report(number=number, code=-signal.SIGTERM, why=why, text="")
            return
        worker = self._workers.get(number)
        if worker is None or worker.why:
            return
        worker.why = why
        worker.kill_at = time.monotonic() + self._grace
        os.kill(worker.pid, signal.SIGTERM)

    def _keep_limits(self) -> None:
        now = time.monotonic()
        for worker in list(self._workers.values()):
            if now >= worker.kill_at:
                worker.kill_at = _FOREVER
                kill_left(worker.pid, str(worker.pid))
            elif now >= worker.deadline:
                self._ask_to_end(worker.number, "timeout")

    def _seconds_to_limit(self) -> float | None:
        limits = [
            worker.kill_at if worker.why else worker.deadline for worker in self._workers.values()
        ]
        limits += [item.again_at for item in self._delayed.values()]
        nearest = min(limits, default=_FOREVER)
        return None if nearest == _FOREVER else max(0.0, nearest - time.monotonic())

    def _reap(self) -> None:
        """Reports the workers that have ended, and kills what they left."""
        for worker in list(self._workers.values()):
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if not pid:
                continue
            del self._workers[worker.number]
            code = os.waitstatus_to_exitcode(status)
            if code or worker.why:
                kill_left(worker.pid, str(worker.pid))
            with os.fdopen(worker.result, "rb") as file:
                file.seek(0)
                text = file.read().decode(errors="replace")
            self._report(number=worker.number, code=code, why=worker.why, text=text)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _printing_to(folder: str) -> Iterator[None]:
    """Sends what a worker prints to a file beside the job's folder, which the job may remove."""
    log = Path(f"{folder.rstrip('/')}.log") if folder else None
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
    out = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(out, 1)
    os.dup2(out, 2)
    yield
    sys.stdout.flush()
    sys.stderr.flush()
    if log and not os.fstat(out).st_size:
        log.unlink()


def _do(work: Work, job: Job) -> Outcome:
    """Returns the outcome of a job; an exception is one, too."""
    started = datetime.now(UTC)
    try:
        with _printing_to(job.folder):
            try:
                outcome: object = work(job)
            except Exception:
                traceback.print_exc()
                raise
        if isinstance(outcome, Outcome):
            return outcome
        error = f"the work function returned {type(outcome).__name__}, no outcome"
    except KeyboardInterrupt:
        error = "the job was ended before its time"
    except BaseException as problem:
        error = f"the worker failed: {type(problem).__name__}: {problem}"
    return Outcome(
        key=job.key,
        kind=job.kind,
        attempt=job.attempt,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        started=started,
        ended=datetime.now(UTC),
        error=error,
    )


def main() -> None:
    """Serves on standard input and output; arguments are the work function and the grace."""
    name, grace = sys.argv[1], float(sys.argv[2])
    commands, reports = os.dup(0), os.dup(1)
    # Nothing that is imported may read commands or print among reports.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    try:
        work = load_work(name)
    except Exception as error:
        failed = {"failed": f"{type(error).__name__}: {error}"}
        hand_back(reports, (json.dumps(failed) + "\n").encode())
        return
    gc.collect()
    gc.freeze()  # Workers share the pages of what is imported as long as nobody writes to them.
    spawner = Spawner(work, commands, reports, grace)
    hand_back(reports, b'{"ready": true}\n')
    spawner.serve()
