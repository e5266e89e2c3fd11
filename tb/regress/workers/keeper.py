# SPDX-License-Identifier: Apache-2.0
"""A process that does one job after another, each in a worker that it forks.

It has imported the work function, so a worker begins in milliseconds. A worker over its limit gets
SIGTERM, and SIGKILL after a grace. When the connection to :mod:`.local` closes, because that
process closed it or died, the keeper ends its worker and itself.

It sends an empty string when it is ready, or the reason why the work function cannot be imported;
then, for each :class:`Job` that it receives, the worker's process number and its outcome or loss.
``STOP`` ends the job at work.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Literal, NoReturn

from pydantic import ValidationError

from tb.common.processes import MARK, end_with_parent, kill_left
from tb.regress.workers.job import Job, Lost, Outcome, blank, here

AGAIN_SECONDS = 1.0
AGAIN_MOST_SECONDS = 30.0
"""A fork that fails for lack of processes or memory is repeated after this time; it doubles."""

FORK_SECONDS = 300.0
"""For so long at most; then the job is an error."""

STOP = "stop"

Work = Callable[[Job], Outcome]


@dataclass
class _Worker:
    """A worker at work: ``limit`` is when to end it, then when to kill it; ``why`` it was ended."""

    job: Job
    pid: int
    began: datetime
    limit: float
    why: Literal["", "timeout", "stop"] = ""

    def outcome(self, error: str = "") -> Outcome:
        """Returns an outcome of the job without a record."""
        return blank(self.job, self.began, worker=here(self.pid), error=error)


class Keeper:
    """Forks workers, one at a time, and watches them.

    Args:
        work: Does a job.
        commands: Connection to the process that hands out jobs.
        grace: Seconds between SIGTERM and SIGKILL.
    """

    def __init__(self, work: Work, commands: Connection, grace: float) -> None:
        self._work = work
        self._commands = commands
        self._grace = grace
        self._bell, self._ringer = socket.socketpair()
        self._result = os.fdopen(os.memfd_create("outcome"), "w+b", buffering=0)

    def serve(self) -> None:
        """Works until the connection closes."""
        self._ringer.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._ringer.fileno(), warn_on_full_buffer=False)
        with suppress(EOFError, ConnectionError):
            while True:
                command = self._commands.recv()
                if isinstance(command, Job):  # and not a stop that came too late
                    self._commands.send(self._do(command))

    def _do(self, job: Job) -> Outcome | Lost:
        began, keeper = datetime.now(UTC), os.getpid()
        self._result.seek(0)
        self._result.truncate()
        try:
            pid = self._fork()
        except OSError as error:
            why = f"no process could be started for it for minutes: {error}"
            return blank(job, began, error=why)
        if pid == 0:
            self._become_worker(job, keeper)
        if pid is None:
            return blank(job, began, stopped=True)
        with suppress(ConnectionError):  # noticed while watching
            self._commands.send(pid)
        worker = _Worker(job, pid, datetime.now(UTC), time.monotonic() + job.timeout)
        code = self._watch(worker)
        if code or worker.why:
            kill_left(pid, str(pid))
        self._result.seek(0)
        return judge(worker, code, self._result.read())

    def _fork(self) -> int | None:
        """Forks; returns None for a job that was stopped before that was possible.

        Raises:
            OSError: for minutes there were too many processes.
        """
        delay, end = AGAIN_SECONDS, time.monotonic() + FORK_SECONDS
        while True:
            try:
                return os.fork()
            except OSError:
                left = end - time.monotonic()
                if left <= 0:
                    raise
            if self._commands.poll(min(delay, left)) and self._stopped():
                return None
            delay = min(2 * delay, AGAIN_MOST_SECONDS)

    def _become_worker(self, job: Job, keeper: int) -> NoReturn:
        try:
            end_with_parent(keeper)
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, _interrupt)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for inherited in (self._commands, self._bell, self._ringer):
                inherited.close()
            os.environ[MARK] = str(os.getpid())
            outcome = _perform(self._work, job)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # too late to end early
            self._result.write(outcome.model_dump_json().encode())
            os._exit(0)
        finally:  # Nothing of the keeper's runs in its copy.
            os._exit(70)

    # --- watching -----------------------------------------------------------------------------

    def _watch(self, worker: _Worker) -> int:
        """Returns the exit code of a worker, which is ended at its limit or when stopped."""
        while True:
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            left = worker.limit - time.monotonic()
            if left <= 0:
                self._end(worker)
                continue
            commands = [] if worker.why else [self._commands]
            ready = wait([self._bell, *commands], left)
            if self._bell in ready:
                self._bell.recv(4096)
            if self._commands in ready and self._stopped():
                self._ask_to_end(worker, "stop")

    def _stopped(self) -> bool:
        """Receives a command: True for a stop and for the end of the connection."""
        try:
            return bool(self._commands.recv() == STOP)
        except (EOFError, ConnectionError):
            return True

    def _end(self, worker: _Worker) -> None:
        """Requests the end of a worker over its limit, or kills one that had the request before."""
        if worker.why:
            kill_left(worker.pid, str(worker.pid))
            worker.limit = time.monotonic() + self._grace
        else:
            self._ask_to_end(worker, "timeout")

    def _ask_to_end(self, worker: _Worker, why: Literal["timeout", "stop"]) -> None:
        worker.why = why
        worker.limit = time.monotonic() + self._grace
        os.kill(worker.pid, signal.SIGTERM)


# --- in the worker ----------------------------------------------------------------------------


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


def _perform(work: Work, job: Job) -> Outcome:
    """Returns the outcome of a job; an exception is one, too."""
    began = datetime.now(UTC)
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
    return blank(job, began, worker=here(), error=error)


# --- how a worker ended -----------------------------------------------------------------------


def how_ended(code: int) -> str:
    """Returns the meaning of an exit code: ``killed by SIGKILL``, ``ended with exit code 3``."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def judge(worker: _Worker, code: int, text: bytes) -> Outcome | Lost:
    """Returns the result of a job whose worker has ended.

    Args:
        worker: The worker.
        code: Its exit code.
        text: What it handed back.
    """
    job, outcome = worker.job, worker.outcome()
    if code and not worker.why:
        why = how_ended(code)
        return Lost(key=job.key, attempt=job.attempt, worker=outcome.worker, why=why)
    if not code:
        outcome = _handed_back(worker, text)
        if not worker.why or not _unfinished(outcome):
            return outcome
    if worker.why == "stop":
        outcome.stopped = True
        return outcome
    # Who interrupted a simulation is not known: no verdict.
    outcome = worker.outcome(f"took longer than {job.timeout:g} s and was ended")
    if code:
        outcome.error += f"; it did not end on request and was {how_ended(code)}"
    return outcome


def _handed_back(worker: _Worker, text: bytes) -> Outcome:
    """Returns the outcome that a worker handed back, or one with the error."""
    try:
        given = Outcome.model_validate_json(text)
    except ValidationError:
        size = len(text)
        return worker.outcome(f"the worker's outcome is truncated or missing ({size} bytes)")
    if (given.key, given.attempt) != (worker.job.key, worker.job.attempt):
        return worker.outcome(f"the worker handed back the outcome of another job: {given.key}")
    return given


def _unfinished(outcome: Outcome) -> bool:
    """True of a job that did not come to its end."""
    if outcome.error or outcome.kind == "build":
        return bool(outcome.error)
    return outcome.record is None or outcome.record.status == "interrupted"


def load_work(name: str) -> Work:
    """Returns the function that is named ``module:function``."""
    module, _, function = name.partition(":")
    found: Work = getattr(importlib.import_module(module), function)
    return found


def main() -> None:
    """Serves; arguments are work function, grace, and file descriptor of the connection."""
    name, grace, descriptor = sys.argv[1:]
    commands = Connection(int(descriptor))
    os.set_inheritable(int(descriptor), False)
    try:
        work = load_work(name)
    except Exception as error:
        commands.send(f"{type(error).__name__}: {error}")
        return
    gc.collect()
    gc.freeze()  # Workers share the pages of what is imported as long as nobody writes to them.
    with suppress(ConnectionError):
        commands.send("")
        Keeper(work, commands, float(grace)).serve()
