# SPDX-License-Identifier: Apache-2.0
"""Workers of a Dask cluster: a running one, or one that a job system starts.

A job goes to the cluster once. When a worker is lost with it, it comes back as lost, and the
coordinator decides whether it is submitted again (see :mod:`tb.regress.workers.remote`).
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.regress.workers import remote
from tb.regress.workers.job import Job, Lost, Outcome, blank
from tb.regress.workers.local import GRACE_SECONDS
from tb.regress.workers.pool import WORK, Closes

CONNECT_SECONDS = 8.0
"""How long a scheduler may take to answer."""

PATIENCE_SECONDS = 300.0
"""How long jobs may wait while the cluster has no worker at all."""

RESULT_SECONDS = 30.0
_LOOK_SECONDS = 1.0


def require() -> Any:
    """Returns the module ``distributed``.

    Raises:
        PtoError: it is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise PtoError(
            f"workers of a cluster need Dask: {error}",
            remedy="install them: .venv/bin/python -m tb.setup.install farm",
        ) from None
    return distributed


def connect(
    address: Any, *, where: str, security: Any = None, seconds: float = CONNECT_SECONDS
) -> Any:
    """Returns a client of a scheduler.

    Args:
        address: Such as ``tcp://head:8786``, or a cluster object.
        where: What messages call it.
        security: TLS settings of ``distributed``, or None.
        seconds: How long it may take to answer, now and after the connection was lost.

    Raises:
        PtoError: nobody answers there.
    """
    distributed = require()
    for name in ("distributed", "distributed.client"):  # what matters is raised
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return _client_type(distributed.Client)(
            address, timeout=seconds, set_as_default=False, security=security, name="pto-dv"
        )
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PtoError(
            f"the scheduler cannot be reached: {reason}",
            where=where,
            legal="the address that `dask scheduler` prints, such as tcp://host:8786",
            remedy="start it, or correct the address in the farm file; `pto-dv farm FILE` tries it",
        ) from None


def _client_type(base: Any) -> Any:
    """Returns a client that is closed at once if it cannot start.

    Otherwise the garbage collector closes it, in whatever thread it happens to run: in that of
    the next client's event loop it waits for a lock that the next client holds until its loop
    runs.
    """

    class Client(base):
        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.close()
                raise

    return Client


class DaskWorkers(Closes):
    """Workers of a Dask cluster (see :class:`tb.regress.workers.pool.Workers`).

    Args:
        client: Connected to the scheduler; closed with the workers.
        where: What messages call the scheduler.
        work: Function that does a job, ``module:name``.
        cluster: Cluster that is closed with the workers, or None.
        most: Most jobs at a time, 0 for as many as the cluster takes.
        patience: Seconds that jobs may wait while there is no worker at all.
        refusals: Answers of a job system to requests for workers; may grow.

    Raises:
        PtoError: no worker came in time.
    """

    def __init__(
        self,
        client: Any,
        *,
        where: str,
        work: str = WORK,
        cluster: Any = None,
        most: int = 0,
        patience: float = PATIENCE_SECONDS,
        refusals: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._where = where
        self._work = work
        self._cluster = cluster
        self._most = most
        self._patience = patience
        self._refusals = refusals
        self._session = uuid.uuid4().hex[:8]
        self._number = 0
        self._flying: dict[str, tuple[Job, Any, remote.Task]] = {}
        self._stopping: set[str] = set()
        self._done: queue.Queue[str] = queue.Queue()
        self._threads = 0
        self._looked = 0.0
        self._seen = time.monotonic()
        try:
            while not self._look():
                time.sleep(0.1)
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """Threads of all workers, each does a job; 1 while the cluster has none."""
        with contextlib.suppress(PtoError):  # for wait() to raise
            self._look()
        threads = max(1, self._threads)
        return min(threads, self._most) if self._most else threads

    def submit(self, job: Job) -> None:
        """Hands over a job; it begins at once if a worker is free."""
        self._number += 1
        token = str(self._number)
        task = remote.Task(
            session=self._session,
            token=token,
            work=self._work,
            folder=str(Path.cwd()),
            root=str(ROOT),
            job=job,
        )
        future = self._client.submit(
            remote.do,
            task,
            key=f"pto-dv-{self._session}-{token}-{job.key}",
            pure=False,
        )
        self._flying[token] = (job, future, task)
        future.add_done_callback(lambda _: self._done.put(token))

    def wait(self, seconds: float) -> list[Outcome | Lost]:
        """Returns what ended since the last call, after at most so many seconds.

        Without any job it returns at once.

        Raises:
            PtoError: the scheduler is gone, or there has been no worker for too long.
        """
        found: list[Outcome | Lost] = []
        limit = time.monotonic() + seconds
        while self._flying and not found:
            left = limit - time.monotonic()
            try:
                token = self._done.get(timeout=min(max(left, 0.0), _LOOK_SECONDS))
            except queue.Empty:
                self._look()
                if left <= 0:
                    break
                continue
            found.append(self._take(token))
        while not self._done.empty():
            found.append(self._take(self._done.get()))
        return found

    def stop(self, keys: list[str]) -> None:
        """Ends these jobs; those that have not begun come back as stopped at once."""
        for token, (job, future, _) in self._flying.items():
            if job.key in keys and token not in self._stopping:
                self._stopping.add(token)
                future.cancel()  # the worker notices, and ends the job

    def close(self) -> None:
        """Ends every job and lets the workers go; what has not come back by now never does."""
        limit = time.monotonic() + GRACE_SECONDS + 5
        for _, future, _ in self._flying.values():
            with contextlib.suppress(Exception):  # the connection may be gone
                future.cancel()
        while any(self._on_workers(remote.close).values()) and time.monotonic() < limit:
            time.sleep(0.1)
        for _, _, task in self._flying.values():
            task.claim.unlink(missing_ok=True)
        self._flying.clear()
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    # --- the cluster --------------------------------------------------------------------------

    def _on_workers(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """Calls a function of remote.py in each worker; returns the answers."""
        if self._client.status != "running":
            return {}
        try:
            answers: dict[str, Any] = self._client.run(
                function, self._session, *arguments, on_error="ignore"
            )
        except (OSError, ValueError, RuntimeError):  # no worker, or no scheduler any more
            return {}
        return answers

    def _look(self) -> int:
        """Returns the number of threads of all workers, requested at most once a second.

        Raises:
            PtoError: the scheduler is gone, or there has been no worker for too long.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS and self._threads:
            return self._threads
        self._looked = now
        if self._client.status == "closed":
            self._raise_gone()
        try:
            self._threads = sum(self._client.nthreads().values())
        except (OSError, ValueError, RuntimeError):
            if self._client.status == "closed":
                self._raise_gone()
        if self._threads:
            self._seen = now
        elif self._refusals:
            raise PtoError(
                f"the job system gives no worker: {self._refusals[-1]}",
                where=self._where,
                remedy="correct the farm file; `pto-dv farm FILE --script` shows what it requests",
            )
        elif now - self._seen > self._patience:
            raise PtoError(
                f"no worker has come for {self._patience:g} s",
                where=self._where,
                remedy="look at the job system's queue and at the workers' logs; "
                "`patience` in the farm file is the time to wait",
            )
        return self._threads

    def _reconnect(self) -> None:
        """Waits until the client is connected again, which it tries by itself.

        Raises:
            PtoError: the scheduler is gone.
        """
        limit = time.monotonic() + CONNECT_SECONDS + 1
        while self._client.status != "running":
            if self._client.status == "closed" or time.monotonic() > limit:
                self._raise_gone()
            time.sleep(0.1)

    def _raise_gone(self) -> None:
        raise PtoError(
            "the scheduler was lost",
            where=self._where,
            remedy="start it and call again: runs that are finished are not repeated",
        )

    def _take(self, token: str) -> Outcome | Lost:
        """Returns what became of a submission whose future is done."""
        job, future, task = self._flying.pop(token)
        try:
            return self._judge(token, job, future)
        finally:
            task.claim.unlink(missing_ok=True)
            future.release()

    def _judge(self, token: str, job: Job, future: Any) -> Outcome | Lost:
        distributed = require()
        lost = Lost(key=job.key, attempt=job.attempt)
        outcome = blank(job, datetime.now(UTC))
        if future.status == "cancelled":
            if token in self._stopping:
                return outcome.model_copy(update={"stopped": True})
            self._reconnect()
            return lost.model_copy(update={"why": "the connection to the scheduler was lost"})
        try:
            result: Outcome | Lost = future.result(timeout=RESULT_SECONDS)
            return result
        except distributed.scheduler.KilledWorker as error:
            return lost.model_copy(
                update={"worker": error.last_worker.address, "why": "its worker was lost with it"}
            )
        except (distributed.TimeoutError, distributed.client.FutureCancelledError):
            return lost.model_copy(update={"why": "its result was lost with its worker"})
        except Exception as error:  # Whatever a worker raised that cannot run our code.
            words = f"a Dask worker cannot do the job: {type(error).__name__}: {error}"
            return outcome.model_copy(update={"error": words})
