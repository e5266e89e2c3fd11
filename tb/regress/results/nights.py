# SPDX-License-Identifier: Apache-2.0
"""Regression runs in the results database: ownership, and taking over an abandoned one."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from tb.regress.queries.views import Figures, NightStatus
from tb.regress.results import merge
from tb.regress.results.access import Access
from tb.regress.results.connect import StoreError
from tb.regress.results.database import NightTable, RunTable
from tb.regress.results.finish import clean

STALE_SECONDS = 120.0
"""A coordinator of another host that has not been heard of for so long is taken for dead."""

FORGOTTEN_SECONDS = 3600.0
"""The same on this host, where its process is still there: the number may be another's by now."""


class Nights(Access):
    """What a coordinator writes of a night as a whole."""

    def begin_night(
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
        """Begins a night of this process and returns its name, date and a counter.

        Args:
            regression: Name of the regression in the plan.
            signature: What the plan is made from; a night is resumed by an equal one alone.
            base_seed: What the seeds of runs are made from.
            budget_seconds: Time allowed, 0 for no limit.
            duts: Manifests of engines under test.
            command: What repeats the night.
            folder_root: Folder in which the night has one of its own.
            claim: Asked whether a name is free, where another database may have used it; makes
                it taken.
            options: Anything else to be kept, as JSON.
            commit: Git commit, ``+`` behind it when the tree had changes.
        """
        now = now_utc()
        day = f"{now.astimezone():%Y-%m-%d}"

        def body(connection: Connection) -> str:
            names = connection.execute(
                select(NightTable.name).where(NightTable.name.startswith(f"{day}."))
            ).scalars()
            number = max((int(name.rsplit(".", 1)[1]) for name in names), default=0) + 1
            while not claim(f"{day}.{number}"):
                number += 1
            name = f"{day}.{number}"
            connection.execute(
                insert(NightTable).values(
                    name=name,
                    regression=regression,
                    signature=signature,
                    status="running",
                    started=now,
                    heartbeat=now,
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    commit=commit,
                    base_seed=base_seed,
                    budget_seconds=budget_seconds,
                    duts=list(duts),
                    command=clean(command),
                    folder=f"{folder_root}/{name}" if folder_root else name,
                    options=dict(options or {}),
                    figures={"wall_seconds": 0.0},
                    coverage={},
                    code={},
                    notes=[],
                )
            )
            return name

        # Two that begin at once on a server choose the same name, and one of them again.
        return self._write(body)

    def unfinished(self, regression: str, signature: str) -> str | None:
        """Returns the night to resume, or None.

        It is the latest of this regression and signature, if it was interrupted or its coordinator
        is dead, and runs are left.
        """

        def body(connection: Connection) -> str | None:
            night = connection.execute(
                select(NightTable.id, NightTable.name, *_OWNER)
                .where(NightTable.regression == regression, NightTable.signature == signature)
                .order_by(NightTable.id.desc())
                .limit(1)
            ).one_or_none()
            if night is None or not is_free(night):
                return None
            left = connection.execute(
                select(RunTable.id)
                .where(RunTable.night_id == night.id, RunTable.state == "planned")
                .limit(1)
            ).first()
            return str(night.name) if left else None

        return self._read(body)

    def adopt(self, night: str) -> bool:
        """Takes over an interrupted night for this process; False if somebody else has it."""

        def body(connection: Connection) -> bool:
            row = connection.execute(
                select(NightTable.id, *_OWNER)
                .where(NightTable.id == self._night(connection, night))
                .with_for_update()
            ).one()
            if not is_free(row):
                return False
            merge.forget(connection, row.id)
            connection.execute(
                update(NightTable)
                .where(NightTable.id == row.id)
                .values(
                    status="running",
                    ended=None,
                    heartbeat=now_utc(),
                    host=socket.gethostname(),
                    pid=os.getpid(),
                )
            )
            return True

        return self._write(body)

    def heartbeat(self, night: str) -> float:
        """Says that the coordinator is alive, every few seconds.

        Returns:
            Wall seconds of the night so far, without times in which nobody had it.

        Raises:
            StoreError: another process has taken the night over: stop.
        """

        def body(connection: Connection) -> float:
            row = connection.execute(
                select(NightTable.figures, *_OWNER)
                .where(NightTable.id == self._night(connection, night))
                .with_for_update()
            ).one()
            if (row.status, row.host, row.pid) != ("running", socket.gethostname(), os.getpid()):
                raise self._taken(night, row)
            now = now_utc()
            passed = min((now - row.heartbeat).total_seconds(), STALE_SECONDS)
            seconds: float = float(row.figures.get("wall_seconds", 0.0)) + max(passed, 0.0)
            connection.execute(
                update(NightTable)
                .where(NightTable.name == night)
                .values(heartbeat=now, figures={**row.figures, "wall_seconds": seconds})
            )
            return seconds

        return self._write(body)

    def _taken(self, night: str, row: Any) -> StoreError:
        return StoreError(
            f"regression run {night} belongs to process {row.pid} on {row.host} now ({row.status})",
            where=self.where,
            remedy="let that one end; runs that are done are kept, each once",
        )

    def options(self, night: str) -> dict[str, Any]:
        """Returns what :meth:`begin_night` was given to keep."""
        return self._read(
            lambda connection: dict(
                connection.execute(
                    select(NightTable.options).where(
                        NightTable.id == self._night(connection, night)
                    )
                ).scalar_one()
            )
        )

    def end_night(
        self,
        night: str,
        status: NightStatus,
        figures: Figures,
        *,
        coverage: float | None = None,
        groups: Mapping[str, float] | None = None,
        code: Mapping[str, Mapping[str, tuple[int, int]]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Ends a night, for now if it was interrupted.

        Args:
            night: Its name.
            status: How it ended.
            figures: Counts and rates.
            coverage: Functional coverage in percent after exclusions, None where none was counted.
            groups: The same by group.
            code: Engine to kind of code coverage to (covered, all) points.
            notes: Sentences about what went wrong around the runs, beside those of earlier calls.

        Raises:
            StoreError: another process has the night.
        """

        def body(connection: Connection) -> None:
            number = self._night(connection, night)
            # Nobody may add a run's hits between the sum and its end.
            row = connection.execute(
                select(NightTable.notes, *_OWNER).where(NightTable.id == number).with_for_update()
            ).one()
            if row.status == "running" and not _mine(row) and not is_free(row):
                raise self._taken(night, row)
            if status not in ("running", "interrupted"):
                merge.sum_up(connection, number)
            now = now_utc()
            connection.execute(
                update(NightTable)
                .where(NightTable.id == number)
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


_OWNER: tuple[Any, ...] = (NightTable.status, NightTable.heartbeat, NightTable.host, NightTable.pid)


def now_utc() -> datetime:
    """Returns the time, with its zone."""
    return datetime.now(UTC)


def is_free(night: Any) -> bool:
    """Tells whether a night was interrupted, or nobody is alive who has it."""
    if night.status != "running":
        return bool(night.status == "interrupted")
    silence = (now_utc() - night.heartbeat).total_seconds()
    if night.host == socket.gethostname():
        return not _exists(night.pid) or silence > FORGOTTEN_SECONDS
    return bool(silence > STALE_SECONDS)


def _mine(night: Any) -> bool:
    return bool((night.host, night.pid) == (socket.gethostname(), os.getpid()))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
