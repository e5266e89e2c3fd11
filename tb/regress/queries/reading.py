# SPDX-License-Identifier: Apache-2.0
"""Reads rows of the results database into the data classes of :mod:`tb.regress.queries.views`.

Every function takes a session and leaves it unchanged. Counts come from the rows of runs, so they
are also right for a regression run in progress, or after its coordinator was killed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Float, cast, func, select
from sqlalchemy.orm import Session

from tb.isa.profile import PROFILES
from tb.record.outside import OutsideGroup, merged
from tb.record.settings import DEFAULT_PROFILE
from tb.regress.queries.reading_failures import first_lines, outcomes
from tb.regress.queries.views import FAILED, Figures, OutsideView, RegressionRun, RunRow
from tb.regress.results.database import BuildTable, LostTable, RegressionRunTable, RunTable
from tb.regress.results.regressions import is_free
from tb.regress.workers.job import Job
from tb.run.recipes import SIMULATORS

PLANNED = "planned"

MOST_BROKEN = 20
"""Most runs in state ``error`` that are named in notes."""


def regression_runs(
    session: Session, where: ColumnElement[bool] | None = None, limit: int | None = None
) -> list[RegressionRun]:
    """Returns regression runs, the newest first.

    Args:
        session: The database.
        where: Which of them; all by default.
        limit: Most of them.
    """
    wanted = select(RegressionRunTable).order_by(
        RegressionRunTable.started.desc(), RegressionRunTable.id.desc()
    )
    if where is not None:
        wanted = wanted.where(where)
    if limit is not None:
        wanted = wanted.limit(limit)
    rows = session.scalars(wanted).all()
    counts = _figures(session, rows)
    return [_regression_run(row, counts[row.id]) for row in rows]


def _regression_run(row: RegressionRunTable, figures: Figures) -> RegressionRun:
    # A killed coordinator did not write its status.
    status: Any = "interrupted" if row.status == "running" and is_free(row) else row.status
    return RegressionRun(
        name=row.name,
        status=status,
        regression=row.regression,
        started=row.started,
        ended=row.ended,
        commit=row.commit,
        base_seed=row.base_seed,
        host=row.host,
        budget_seconds=row.budget_seconds,
        duts=tuple(row.duts or ()),
        command=row.command,
        folder=row.folder,
        figures=figures,
        coverage=float((row.coverage or {}).get("percent", 0.0)),
        groups=dict((row.coverage or {}).get("groups", {})),
        code=code_percent(row.code or {}),
    )


def code_percent(engines: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, float]:
    """Returns the percentage of each kind over all engines."""
    totals: dict[str, tuple[int, int]] = {}
    for kinds in engines.values():
        for kind, (covered, total) in kinds.items():
            before = totals.get(kind, (0, 0))
            totals[kind] = before[0] + covered, before[1] + total
    return {kind: 100.0 * got / total for kind, (got, total) in totals.items() if total}


def _figures(session: Session, rows: Sequence[RegressionRunTable]) -> dict[int, Figures]:
    """Returns the figures of regression runs by identifier."""
    wanted = [row.id for row in rows]
    states: dict[int, dict[str, int]] = defaultdict(dict)
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0] * 5)
    per_state = (
        select(
            RunTable.regression_id,
            RunTable.state,
            func.count(),
            # Sums of BIGINT are decimals in PostgreSQL.
            *(cast(func.coalesce(func.sum(column), 0), Float) for column in _SUMMED),
        )
        .where(RunTable.regression_id.in_(wanted))
        .group_by(RunTable.regression_id, RunTable.state)
    )
    for regression_id, state, count, *values in session.execute(per_state):
        states[regression_id][state] = count
        sums[regression_id] = [a + b for a, b in zip(sums[regression_id], values, strict=True)]
    builds = {
        regression_id: (count, float(seconds or 0.0))
        for regression_id, count, seconds in session.execute(
            select(BuildTable.regression_id, func.count(), func.sum(BuildTable.seconds))
            .where(BuildTable.regression_id.in_(wanted))
            .group_by(BuildTable.regression_id)
        )
    }
    lost: Counter[int] = Counter()
    lost_per_id = (
        select(RunTable.regression_id, func.count())
        .join(LostTable, LostTable.run_id == RunTable.id)
        .where(RunTable.regression_id.in_(wanted))
        .group_by(RunTable.regression_id)
    )
    for regression_id, count in session.execute(lost_per_id):
        lost[regression_id] = count
    return {
        row.id: _of_counts(
            row, states[row.id], sums[row.id], builds.get(row.id, (0, 0.0)), lost[row.id]
        )
        for row in rows
    }


_SUMMED = (
    RunTable.transactions,
    RunTable.bytes_checked,
    RunTable.clocks,
    RunTable.seconds,
    RunTable.build_seconds,
)


def _of_counts(
    row: RegressionRunTable,
    states: Mapping[str, int],
    sums: Sequence[float],
    builds: tuple[int, float],
    lost: int,
) -> Figures:
    noted: Mapping[str, Any] = row.figures or {}
    planned = sum(states.values())
    done = planned - states.get(PLANNED, 0)
    transactions, bytes_checked, clocks, seconds, in_builds = sums
    wall = float(noted.get("wall_seconds", 0.0)) or _since_start(row)
    working = seconds - in_builds
    return Figures(
        planned=planned,
        done=done,
        passed=states.get("pass", 0),
        failed=sum(count for state, count in states.items() if state in FAILED),
        flaky=states.get("flaky", 0),
        not_run=planned - done,
        transactions=int(transactions),
        bytes_checked=int(bytes_checked),
        clocks=int(clocks),
        wall_seconds=wall,
        busy_seconds=max(seconds + builds[1], float(noted.get("busy_seconds", 0.0))),
        runs_per_minute=60.0 * done / wall if wall > 0 else 0.0,
        transactions_per_second=transactions / working if working > 0 else 0.0,
        workers=int(noted.get("workers", 1)),
        builds=builds[0],
        build_seconds=builds[1],
        lost=lost,
    )


def _since_start(row: RegressionRunTable) -> float:
    end = row.ended or row.heartbeat
    return max(0.0, (end - row.started).total_seconds())


def runs(session: Session, regression_run: str) -> list[RunRow]:
    """Returns the planned runs of a regression run in the order of its plan."""
    wanted = (
        select(*_RUN_COLUMNS)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression_run)
        .order_by(RunTable.position, RunTable.id)
    )
    rows = session.execute(wanted).all()
    messages, both = first_lines(session, regression_run), outcomes(session, regression_run)
    return [_run(row, messages.get(row.id, ""), both.get(row.id, "")) for row in rows]


# Without the record, which is the most of a row.
_RUN_COLUMNS = (
    RunTable.id,
    RunTable.key,
    RunTable.config,
    RunTable.job,
    RunTable.state,
    RunTable.test,
    RunTable.sim,
    RunTable.seed,
    RunTable.attempts,
    RunTable.worker,
    RunTable.seconds,
    RunTable.simulator_version,
    RunTable.transactions,
    RunTable.simulator_seconds,
    RunTable.python_seconds,
    RunTable.coverage,
    RunTable.message,
    RunTable.command,
    RunTable.folder,
    RunTable.bucket,
)


def _run(row: Any, failure: str, both: str) -> RunRow:
    settings = Job.model_validate(row.job).settings
    # That some limit was reached says less than what differed.
    why = failure or row.message if row.state == "fail" else row.message or failure
    busy = row.simulator_seconds + row.python_seconds
    title = SIMULATORS[row.sim].title if row.sim in SIMULATORS else row.sim
    return RunRow(
        id=row.id,
        key=row.key,
        state=row.state,
        test=row.test,
        sim=row.sim,
        seed=row.seed,
        transactions=settings.transactions,
        sent=row.transactions,
        gm_width=settings.gm_width,
        local_width=settings.local_width,
        duts=settings.duts,
        profile=settings.profile or DEFAULT_PROFILE,
        seconds=row.seconds,
        rate=row.transactions / busy if busy > 0 else 0.0,
        coverage=row.coverage,
        bucket=row.bucket,
        message="; ".join(filter(None, [both, why])),
        command=row.command,
        folder=row.folder,
        worker=row.worker,
        attempts=max(1, row.attempts),
        simulator=f"{title} {row.simulator_version}" if row.simulator_version else "",
        code_coverage=settings.code_coverage,
        config=row.config,
    )


def exercised(session: Session, regression_run: str) -> dict[str, dict[str, int]]:
    """Returns the items of the specification that each test exercised, with counts."""
    found: dict[str, dict[str, int]] = {}
    rows = session.execute(
        select(RunTable.test, RunTable.record["exercised"])
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression_run, RunTable.record.is_not(None))
    )
    for test, names in rows:
        mine = found.setdefault(test, {})
        for name, count in (names or {}).items():
            mine[name] = mine.get(name, 0) + count
    return found


def outside(session: Session, regression_run: str) -> list[OutsideView]:
    """Returns the verdicts about results of others, by profile; the named profiles come first."""
    found: dict[str, list[list[OutsideGroup]]] = {name: [] for name in PROFILES}
    rows = session.execute(
        select(RunTable.record["settings"], RunTable.record["outside"])
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression_run, RunTable.record.is_not(None))
    )
    for settings, groups in rows:
        if groups:
            profile = settings.get("profile") or DEFAULT_PROFILE
            parsed = [OutsideGroup.model_validate(group) for group in groups]
            found.setdefault(profile, []).append(parsed)
    return [OutsideView(name, len(runs), merged(runs)) for name, runs in found.items()]


def notes(session: Session, regression_run: str) -> list[str]:
    """Returns the notes of a regression run's coordinator, and further ones from the tables.

    The notes of a killed coordinator are lost; the rows that they were about are not.
    """
    row = session.scalars(
        select(RegressionRunTable).where(RegressionRunTable.name == regression_run)
    ).one()
    found = [str(note) for note in row.notes or ()]
    derived: list[tuple[str, str]] = []
    for config, error in session.execute(
        select(BuildTable.config, BuildTable.error)
        .where(BuildTable.regression_id == row.id, BuildTable.error != "")
        .order_by(BuildTable.id)
    ):
        what = f"the build {config} failed"
        derived.append((what, f"{what}: {error.splitlines()[0]}"))
    for key, attempt, worker, why in session.execute(
        select(RunTable.key, LostTable.attempt, LostTable.worker, LostTable.why)
        .join(LostTable, LostTable.run_id == RunTable.id)
        .where(RunTable.regression_id == row.id)
        .order_by(LostTable.id)
    ):
        derived.append(
            (
                key,
                f"{key}: worker {worker or 'unknown'} was lost with it, attempt {attempt} "
                f"({why or 'no reason'})",
            )
        )
    broken = session.execute(
        select(RunTable.key, RunTable.message)
        .where(
            RunTable.regression_id == row.id,
            RunTable.state == "error",
            RunTable.message.not_like("the build %"),  # its build says so already
        )
        .order_by(RunTable.position)
    ).all()
    for key, message in broken[:MOST_BROKEN]:
        derived.append((key, f"{key}: {message.splitlines()[0] if message else 'no record'}"))
    if len(broken) > MOST_BROKEN:
        more = f"{len(broken) - MOST_BROKEN} more runs ended without a record of their own"
        derived.append((more, more))
    said = "\n".join(found)
    return found + [note for name, note in derived if name not in said]
