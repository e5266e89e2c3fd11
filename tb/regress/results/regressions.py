# SPDX-License-Identifier: Apache-2.0
"""Regression runs in the results database: ownership, and taking over an abandoned one."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from tb.regress.queries.views import Figures, RegressionStatus
from tb.regress.results import merge
from tb.regress.results.access import Access
from tb.regress.results.connect import StoreError
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.outcomes import clean, cleaned

STALE_SECONDS = 120.0
"""A coordinator on another host, or in another container, counts as dead after so long without a
heartbeat."""

FORGOTTEN_SECONDS = 3600.0
"""The same on this host if its process exists: the number may have been reused."""


class RegressionRuns(Access):
    """Rows of regression runs as coordinators write them."""

    def begin_regression(
        self,
        *,
        regression: str,
        signature: str,
        base_seed: int = 0,
        budget_seconds: float = 0.0,
        duts: Sequence[str] = (),
        command: str = "",
        folder_root: str = "",
        options: Mapping[str, Any] | None = None,
        commit: str = "",
        claim: Callable[[str], bool] = bool,
    ) -> str:
        """Begins a regression run of this process and returns its name, date and a counter.

        Args:
            regression: Name of the regression in the plan.
            signature: Digest of all inputs of the plan; only an equal one is resumed.
            base_seed: Source of the seeds of runs.
            budget_seconds: Time allowed, 0 for no limit.
            duts: Manifests of engines under test.
            command: Command that repeats the regression run.
            folder_root: Folder that holds the folder of the regression run.
            claim: Reserves a name; False if a regression run of another database has it.
            options: Further data to store, as JSON.
            commit: Git commit, ``+`` after it when the tree had changes.
        """
        about = {
            "commit": commit, "base_seed": base_seed, "budget_seconds": budget_seconds,
            "duts": list(duts), "command": command, "options": dict(options or {}),
        }  # fmt: skip
        now = now_utc()
        day = f"{now.astimezone():%Y-%m-%d}"

        def body(connection: Connection) -> str:
            names = connection.execute(
                select(RegressionRunTable.name).where(RegressionRunTable.name.startswith(f"{day}."))
            ).scalars()
            number = max((int(name.rsplit(".", 1)[1]) for name in names), default=0) + 1
            while not claim(f"{day}.{number}"):
                number += 1
            name = f"{day}.{number}"
            connection.execute(
                insert(RegressionRunTable).values(
                    name=name,
                    regression=regression,
                    signature=signature,
                    status="running",
                    started=now,
                    heartbeat=now,
                    **_me(),
                    about=cleaned(
                        {**about, "folder": f"{folder_root}/{name}" if folder_root else name}
                    ),
                    builds={},
                    figures={"wall_seconds": 0.0},
                    coverage={},
                    code={},
                    notes=[],
                    suites={},
                )
            )
            return name

        # Two that begin at once on a server choose the same name; one of them tries again.
        return self._write(body)

    def unfinished(self, regression: str, signature: str) -> str | None:
        """Returns the regression run to resume, or None.

        It is the latest of this regression and signature, if it was interrupted or its coordinator
        is dead, and runs are left.
        """

        def body(connection: Connection) -> str | None:
            regression_run = connection.execute(
                select(RegressionRunTable.id, RegressionRunTable.name, *_OWNER)
                .where(
                    RegressionRunTable.regression == regression,
                    RegressionRunTable.signature == signature,
                )
                .order_by(RegressionRunTable.id.desc())
                .limit(1)
            ).one_or_none()
            if regression_run is None or not is_free(regression_run):
                return None
            left = connection.execute(
                select(RunTable.id)
                .where(RunTable.regression_id == regression_run.id, RunTable.state == "planned")
                .limit(1)
            ).first()
            return str(regression_run.name) if left else None

        return self._read(body)

    def adopt(self, regression_run: str) -> bool:
        """Takes over an interrupted regression run; False if another process owns it."""

        def body(connection: Connection) -> bool:
            row = connection.execute(
                select(RegressionRunTable.id, *_OWNER)
                .where(RegressionRunTable.id == self._regression_id(connection, regression_run))
                .with_for_update()
            ).one()
            if not is_free(row):
                return False
            change = update(RegressionRunTable).where(RegressionRunTable.id == row.id)
            connection.execute(
                change.values(status="running", ended=None, heartbeat=now_utc(), **_me())
            )
            return True

        return self._write(body)

    def heartbeat(self, regression_run: str) -> float:
        """Records that the coordinator is alive; called every few seconds.

        Returns:
            Wall seconds of the regression run so far, without times in which it had no owner.

        Raises:
            StoreError: another process has taken over the regression run: stop.
        """

        def body(connection: Connection) -> float:
            row = connection.execute(
                select(RegressionRunTable.figures, *_OWNER)
                .where(RegressionRunTable.id == self._regression_id(connection, regression_run))
                .with_for_update()
            ).one()
            if row.status != "running" or not _mine(row):
                raise self._taken(regression_run, row)
            now = now_utc()
            passed = min((now - row.heartbeat).total_seconds(), STALE_SECONDS)
            seconds: float = float(row.figures.get("wall_seconds", 0.0)) + max(passed, 0.0)
            connection.execute(
                update(RegressionRunTable)
                .where(RegressionRunTable.name == regression_run)
                .values(heartbeat=now, figures={**row.figures, "wall_seconds": seconds})
            )
            return seconds

        return self._write(body)

    def _taken(self, regression_run: str, row: Any) -> StoreError:
        return StoreError(
            f"regression run {regression_run} belongs to process {row.pid} on {row.host} now "
            f"({row.status})",
            where=self.where,
            remedy="let that one end; runs that are done are kept, each once",
        )

    def options(self, regression_run: str) -> dict[str, Any]:
        """Returns the ``options`` of :meth:`begin_regression`."""
        return self._read(
            lambda connection: dict(
                connection.execute(
                    select(RegressionRunTable.about).where(
                        RegressionRunTable.id == self._regression_id(connection, regression_run)
                    )
                ).scalar_one()["options"]
            )
        )

    def end_regression(
        self,
        regression_run: str,
        status: RegressionStatus,
        figures: Figures,
        *,
        coverage: float | None = None,
        groups: Mapping[str, float] | None = None,
        code: Mapping[str, Mapping[str, tuple[int, int]]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Ends a regression run, for now if it was interrupted.

        Args:
            regression_run: Its name.
            status: How it ended.
            figures: Counts and rates.
            coverage: Functional coverage in percent after exclusions, None where none was counted.
            groups: The same by group.
            code: Engine to kind of code coverage to (covered, all) points.
            notes: Sentences about problems outside the runs, added to those of earlier calls.

        Raises:
            StoreError: another process owns the regression run.
        """

        def body(connection: Connection) -> None:
            number = self._regression_id(connection, regression_run)
            # No other process may add a run's hits between the sum and the end.
            row = connection.execute(
                select(RegressionRunTable.notes, *_OWNER)
                .where(RegressionRunTable.id == number)
                .with_for_update()
            ).one()
            if row.status == "running" and not _mine(row) and not is_free(row):
                raise self._taken(regression_run, row)
            if status not in ("running", "interrupted"):
                merge.sum_up(connection, number)
            now = now_utc()
            connection.execute(
                update(RegressionRunTable)
                .where(RegressionRunTable.id == number)
                .values(
                    status=status,
                    ended=now,
                    heartbeat=now,
                    figures=asdict(figures),
                    coverage={} if coverage is None
                    else {"percent": coverage, "groups": dict(groups or {})},
                    code={slot: {key: list(two) for key, two in kinds.items()}
                          for slot, kinds in (code or {}).items()},
                    notes=list(dict.fromkeys([*row.notes, *map(clean, notes)])),
                )
            )  # fmt: skip

        self._write(body)

    def remove(self, regression_run: str) -> bool:
        """Removes a regression run with its runs and coverage; False if a process owns it."""

        def body(connection: Connection) -> bool:
            number = self._regression_id(connection, regression_run)
            mine = RegressionRunTable.id == number
            row = connection.execute(select(*_OWNER).where(mine).with_for_update()).one()
            if row.status == "running" and not is_free(row):
                return False
            connection.execute(delete(RegressionRunTable).where(mine))
            return True

        removed = self._write(body)
        if removed:
            self._regression_ids.pop(regression_run)
        return removed


_OWNER: tuple[Any, ...] = (
    RegressionRunTable.status,
    RegressionRunTable.heartbeat,
    RegressionRunTable.host,
    RegressionRunTable.space,
    RegressionRunTable.pid,
)


def now_utc() -> datetime:
    """Returns the time, with its zone."""
    return datetime.now(UTC)


def is_free(regression_run: Any) -> bool:
    """Returns whether a regression run was interrupted or its owner is dead."""
    if regression_run.status != "running":
        return bool(regression_run.status == "interrupted")
    silence = (now_utc() - regression_run.heartbeat).total_seconds()
    if (regression_run.host, regression_run.space) == (socket.gethostname(), process_space()):
        return not _exists(regression_run.pid) or silence > FORGOTTEN_SECONDS
    return bool(silence > STALE_SECONDS)


def process_space() -> str:
    """Returns the key of a place in which a number of a process means one process.

    Containers may share the name of a host, and have processes of their own.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _me() -> dict[str, Any]:
    return {"host": socket.gethostname(), "space": process_space(), "pid": os.getpid()}


def _mine(regression_run: Any) -> bool:
    return all(getattr(regression_run, name) == value for name, value in _me().items())


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
