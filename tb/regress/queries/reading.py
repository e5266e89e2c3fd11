# SPDX-License-Identifier: Apache-2.0
"""Reads regression runs and their runs into the data classes of :mod:`tb.regress.queries.views`.

Every function takes a session and leaves it unchanged. Counts come from the rows of runs, so they
are also right for a regression run in progress, or after its coordinator was killed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Float, cast, func, select
from sqlalchemy.orm import Session

from tb.isa.profile import PROFILES
from tb.record.outside import OutsideGroup, merged
from tb.record.settings import DEFAULT_PROFILE, RunSettings
from tb.regress.queries.plan import Suites
from tb.regress.queries.views import FAILED, Figures, OutsideView, RegressionRun, RunRow
from tb.regress.results.database import RegressionRunTable, RunTable
from tb.regress.results.outcomes import message_of
from tb.regress.results.regressions import is_free
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
    about = {name: value for name, value in row.about.items() if name != "options"}
    return RegressionRun(
        name=row.name,
        status=status,
        regression=row.regression,
        started=row.started,
        ended=row.ended,
        host=row.host,
        **{**about, "duts": tuple(about["duts"])},
        items=items_of(row.about),
        figures=figures,
        coverage=row.coverage["percent"] if row.coverage.get("groups") else None,
        groups=row.coverage.get("groups", {}),
        code=code_percent(row.code),
    )


def items_of(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names that chose the runs of a regression run; none for all."""
    return tuple(about["options"].get("items", ()))


def code_percent(engines: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, float]:
    """Returns the percentage of each kind over all engines."""
    totals: dict[str, tuple[int, int]] = {}
    for kinds in engines.values():
        for kind, (covered, total) in kinds.items():
            before = totals.get(kind, (0, 0))
            totals[kind] = before[0] + covered, before[1] + total
    return {kind: 100.0 * got / total for kind, (got, total) in totals.items() if total}


_SUMMED = ("transactions", "bytes_checked", "clocks", "seconds", "build_seconds")


def _figures(session: Session, rows: Sequence[RegressionRunTable]) -> dict[int, Figures]:
    """Returns the figures of regression runs by identifier."""
    states: dict[int, Counter[str]] = defaultdict(Counter)
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    # Sums of BIGINT are decimals in PostgreSQL.
    summed = [*(getattr(RunTable, name) for name in _SUMMED), func.json_array_length(RunTable.lost)]
    columns = (cast(func.coalesce(func.sum(column), 0), Float) for column in summed)
    for number, state, count, *values in session.execute(
        select(RunTable.regression_id, RunTable.state, func.count(), *columns)
        .where(RunTable.regression_id.in_([row.id for row in rows]))
        .group_by(RunTable.regression_id, RunTable.state)
    ):
        states[number][state] = count
        sums[number].update(dict(zip((*_SUMMED, "lost"), values, strict=True)))
    return {row.id: _of_counts(row, states[row.id], sums[row.id]) for row in rows}


def _of_counts(row: RegressionRunTable, states: Counter[str], sums: Mapping[str, float]) -> Figures:
    planned = states.total()
    done = planned - states[PLANNED]
    builds = [one for one in row.builds.values() if not one["error"]]
    in_builds = sum(one["seconds"] for one in builds)
    wall = float(row.figures.get("wall_seconds", 0.0)) or _since_start(row)
    working = sums["seconds"] - sums["build_seconds"]
    return Figures(
        planned=planned,
        done=done,
        passed=states["pass"],
        failed=sum(count for state, count in states.items() if state in FAILED),
        flaky=states["flaky"],
        not_run=planned - done,
        transactions=int(sums["transactions"]),
        bytes_checked=int(sums["bytes_checked"]),
        clocks=int(sums["clocks"]),
        wall_seconds=wall,
        busy_seconds=max(sums["seconds"] + in_builds, float(row.figures.get("busy_seconds", 0.0))),
        runs_per_minute=60.0 * done / wall if wall > 0 else 0.0,
        transactions_per_second=sums["transactions"] / working if working > 0 else 0.0,
        workers=int(row.figures.get("workers", 1)),
        builds=len(builds),
        build_seconds=in_builds,
        lost=int(sums["lost"]),
        killed=int(row.figures.get("killed", 0)),
        planted=int(row.figures.get("planted", 0)),
    )


def _since_start(row: RegressionRunTable) -> float:
    end = row.ended or row.heartbeat
    return max(0.0, (end - row.started).total_seconds())


def rows(session: Session, regression_run: str) -> Sequence[RunTable]:
    """Returns the rows of the planned runs of a regression run, in the order of its plan."""
    wanted = (
        select(RunTable)
        .join(RegressionRunTable, RegressionRunTable.id == RunTable.regression_id)
        .where(RegressionRunTable.name == regression_run)
        .order_by(RunTable.position, RunTable.id)
    )
    return session.scalars(wanted).all()


def record(row: RunTable) -> Mapping[str, Any]:
    """Returns the record of a run as JSON; empty where there is none."""
    return (row.outcome or {}).get("record") or {}


def run(row: RunTable, both: str = "") -> RunRow:
    """Returns a planned run and its outcome.

    Args:
        row: Its row.
        both: Of a flaky run, how equal runs ended.
    """
    settings = RunSettings.model_validate(row.job["settings"])
    outcome, found = row.outcome or {}, record(row)
    details = found.get("details") or [{}]
    failure = str(details[0].get("text") or "").strip().partition("\n")[0]
    message = message_of(row.state, row.outcome, row.lost)
    # What differed is a better message than a limit that was reached.
    why = failure or message if row.state == "fail" else message or failure
    times = found.get("times", {})
    busy = times.get("simulator", 0.0) + times.get("python", 0.0)
    version = found.get("simulator_version", "")
    title = SIMULATORS[settings.sim].title if settings.sim in SIMULATORS else settings.sim
    lost = [one["attempt"] for one in row.lost]
    return RunRow(
        id=row.id,
        key=row.key,
        state=row.state,  # type: ignore[arg-type]
        test=row.test,
        sim=settings.sim,
        seed=settings.seed,
        transactions=settings.transactions,
        sent=row.transactions,
        gm_width=settings.gm_width,
        local_width=settings.local_width,
        tag_width=settings.tag_width,
        outstanding=settings.outstanding,
        gm=settings.gm,
        duts=settings.duts,
        profile=settings.profile or DEFAULT_PROFILE,
        seconds=row.seconds,
        rate=row.transactions / busy if busy > 0 else 0.0,
        coverage=found.get("coverage", {}).get("percent", 0.0),
        bucket=row.bucket,
        message="; ".join(filter(None, [both, why])),
        command=found.get("command") or settings.command(),
        folder=row.folder,
        worker=outcome.get("worker", ""),
        attempts=max((outcome.get("attempt", 1), *lost)),
        simulator=f"{title} {version}" if version else "",
        code_coverage=settings.code_coverage,
        config=row.config,
    )


def exercised(found: Iterable[RunTable]) -> dict[str, Counter[str]]:
    """Returns the items of the specification that each test exercised, with counts."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in found:
        if names := record(row).get("exercised"):
            counts[row.test].update(names)
    return counts


def outside(found: Iterable[RunTable]) -> list[OutsideView]:
    """Returns the verdicts about results of others, by profile; the named profiles come first."""
    views: dict[str, list[list[OutsideGroup]]] = {name: [] for name in PROFILES}
    for row in found:
        if groups := record(row).get("outside"):
            profile = row.job["settings"].get("profile") or DEFAULT_PROFILE
            parsed = [OutsideGroup.model_validate(group) for group in groups]
            views.setdefault(profile, []).append(parsed)
    return [OutsideView(name, len(runs), merged(runs)) for name, runs in views.items()]


def suites(session: Session, regression_run: str) -> Suites:
    """Returns the results of pytest that were taken in."""
    wanted = select(RegressionRunTable.suites).where(RegressionRunTable.name == regression_run)
    found: Suites = session.scalars(wanted).one()
    return found


def notes(session: Session, regression_run: str, found: Sequence[RunTable]) -> list[str]:
    """Returns the notes of a regression run's coordinator, and further ones from the tables.

    The notes of a killed coordinator are lost; the rows that they were about are not.
    """
    row = session.scalars(
        select(RegressionRunTable).where(RegressionRunTable.name == regression_run)
    ).one()
    noted = [str(note) for note in row.notes]
    known = "\n".join(noted)
    derived = (*_builds(row), *_losses(found), *_broken(found))
    return noted + [note for name, note in derived if name not in known]


def _builds(row: RegressionRunTable) -> Iterator[tuple[str, str]]:
    for config, build in row.builds.items():
        if build["error"]:
            what = f"the build {config} failed"
            yield what, f"{what}: {build['error'].splitlines()[0]}"


def _losses(found: Iterable[RunTable]) -> Iterator[tuple[str, str]]:
    for row in found:
        for one in row.lost:
            yield (
                row.key,
                (
                    f"{row.key}: worker {one['worker'] or 'unknown'} was lost with it, attempt "
                    f"{one['attempt']} ({one['why'] or 'no reason'})"
                ),
            )


def _broken(found: Iterable[RunTable]) -> Iterator[tuple[str, str]]:
    """Yields runs without a record of their own; those that lacked their build are listed."""
    messages = {row.key: message_of(row.state, row.outcome, row.lost)
                for row in found if row.state == "error"}  # fmt: skip
    broken = [pair for pair in messages.items() if not pair[1].startswith("the build ")]
    for key, message in broken[:MOST_BROKEN]:
        yield key, f"{key}: {message.splitlines()[0] if message else 'no record'}"
    if len(broken) > MOST_BROKEN:
        more = f"{len(broken) - MOST_BROKEN} more runs ended without a record of their own"
        yield more, more
