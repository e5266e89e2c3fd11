# SPDX-License-Identifier: Apache-2.0
"""The interface of workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Protocol, Self

from tb.regress.workers.job import Job, Lost, Outcome

WORK = "tb.nightly.worker:execute"
"""Function that does a job, as ``module:name``: ``execute(job: Job) -> Outcome``. Workers import it
by name, so that this package is independent of simulators."""


class Closes(ABC):
    """A context that closes what it was entered with."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Workers(Protocol):
    """A set of workers. One job is on one worker at a time.

    Attributes:
        size: How many jobs run at a time. Of a cluster, how many it has now.
    """

    @property
    def size(self) -> int:
        """How many jobs can run at a time, at the moment."""

    def submit(self, job: Job) -> None:
        """Hands over a job; it begins at once if a worker is free."""

    def wait(self, seconds: float) -> list[Outcome | Lost]:
        """Returns what ended since the last call, after at most so many seconds.

        Each job submitted comes back once: as an outcome, or as lost with its worker. Who submits
        a lost job again is the coordinator.
        """

    def stop(self, keys: list[str]) -> None:
        """Ends these jobs; they come back from :meth:`wait` as outcomes that are ``stopped``."""

    def close(self) -> None:
        """Ends every job and releases the workers; none of their processes remains."""
