# SPDX-License-Identifier: Apache-2.0
"""Queries of regression runs for pages and commands: one, all, and changes between two.

Nights are compared and drawn as a trend with those of the same regression and the same engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from tb.common.errors import PtoError
from tb.coverage.export.code import CodeView
from tb.coverage.model import Coverage
from tb.regress.plan.spec import spec_rows
from tb.regress.plan.testplan import PYTEST, Behaviour, TestPlan
from tb.regress.queries import reading, reading_failures
from tb.regress.queries.difference import Side, compare
from tb.regress.queries.views import Bucket, Difference, Night, NightView, PlanRow, Point, RunRow
from tb.regress.results.database import NightTable
from tb.regress.results.store import Store

LATEST = "latest"
TREND = 30
"""Most nights of a trend."""

SHOWN_NAMES = 5

Exclude = Callable[[Coverage], object]
"""Takes the excluded bins out of a coverage, in place."""


def nothing(coverage: Coverage) -> None:
    """Excludes nothing."""


def nights(store: Store, limit: int | None = 20, regression: str = "") -> list[Night]:
    """Returns nights, the newest first.

    Args:
        store: The database.
        limit: Most of them, None for all.
        regression: Name of the regression, or all of them.
    """
    where = NightTable.regression == regression if regression else None
    with store.reading() as session:
        return reading.nights(session, where, limit)


def night(store: Store, name: str = LATEST) -> Night:
    """Returns one night.

    Args:
        store: The database.
        name: Its name; a date for the last one of that day; ``latest`` for the one begun last.

    Raises:
        PtoError: there is no such night.
    """
    with store.reading() as session:
        return _night(store, session, name)


def _night(store: Store, session: Session, name: str) -> Night:
    where: ColumnElement[bool] | None = None
    if name != LATEST:
        where = NightTable.name == name
        if "." not in name:
            where = NightTable.name.startswith(f"{name}.", autoescape=True)
    found = reading.nights(session, where, 1)
    if found:
        return found[0]
    names = session.scalars(
        select(NightTable.name)
        .order_by(NightTable.started.desc(), NightTable.id.desc())
        .limit(SHOWN_NAMES)
    ).all()
    if not names:
        raise PtoError(
            "there is no regression run in the results database",
            where=store.where,
            remedy="make nightly starts one",
        )
    raise PtoError(
        f"there is no regression run {name!r}",
        where=store.where,
        legal=f"{', '.join(names)} and older ones; a date for the last one of that day; {LATEST}",
        remedy="pto-dv history lists the regression runs",
    )


def runs(store: Store, name: str) -> list[RunRow]:
    """Returns the planned runs of a night in the order of its plan."""
    with store.reading() as session:
        return reading.runs(session, name)


def buckets(store: Store, name: str) -> list[Bucket]:
    """Returns the failures of a night in groups, the largest first."""
    with store.reading() as session:
        rows = reading.runs(session, name)
        return reading_failures.buckets(session, _night(store, session, name), rows)


def trend(store: Store, last: Night, limit: int = TREND) -> list[Point]:
    """Returns the nights of the same regression and engines up to ``last``, the oldest first.

    Nights without a finished run are left out.
    """
    with store.reading() as session:
        return [point(one) for one in _alike(session, last, limit)]


def point(one: Night) -> Point:
    """Returns a night as a point of a trend."""
    figures = one.figures
    return Point(
        name=one.name,
        started=one.started,
        pass_rate=figures.pass_rate,
        runs=figures.done,
        transactions=figures.transactions,
        transactions_per_second=figures.transactions_per_second,
        wall_seconds=figures.wall_seconds,
        coverage=one.coverage if one.counted else None,
        groups=one.groups,
        code=one.code,
    )


def _alike(session: Session, last: Night, limit: int) -> list[Night]:
    """Returns ``last`` and the nights before it that can be compared with it, oldest first."""
    rows = session.execute(
        select(NightTable.id, NightTable.duts)
        .where(
            NightTable.regression == last.regression,
            NightTable.started <= last.started,
            NightTable.name != last.name,
        )
        .order_by(NightTable.started.desc(), NightTable.id.desc())
    )
    ids = [number for number, duts in rows if tuple(duts or ()) == last.duts][: 2 * limit]
    found = reading.nights(session, NightTable.id.in_(ids)) if ids else []
    before = [one for one in found if one.figures.done][: limit - 1]
    return [*reversed(before), last]


def difference(store: Store, a: str, b: str, exclude: Exclude = nothing) -> Difference:
    """Returns what moved from night ``a`` to night ``b``, of whatever regressions they are.

    Raises:
        PtoError: one of them is not in the database.
    """
    with store.reading() as session:
        before, after = (_night(store, session, name) for name in (a, b))
        sides = [_side(store, session, one, exclude) for one in (before, after)]
    return compare(*sides)


def _side(store: Store, session: Session, one: Night, exclude: Exclude) -> Side:
    rows = reading.runs(session, one.name)
    titles = reading_failures.titles(session, one.name)
    return Side(one, rows, titles, _merged(store, one.name, exclude))


def _merged(store: Store, name: str, exclude: Exclude) -> Coverage:
    coverage = store.merged([name])
    exclude(coverage)
    return coverage


def view(
    store: Store,
    name: str,
    testplan: TestPlan,
    *,
    code: CodeView | None = None,
    exclude: Exclude = nothing,
) -> NightView:
    """Returns everything a report shows of a night.

    Args:
        store: The database.
        name: The night, as :func:`night` takes it.
        testplan: What its results are mapped onto.
        code: Its code coverage, None when no run counted.
        exclude: Takes excluded bins out of a coverage.

    Raises:
        PtoError: there is no such night, or the database cannot be read.
    """
    with store.reading() as session:
        one = _night(store, session, name)
        rows = reading.runs(session, one.name)
        found = reading_failures.buckets(session, one, rows)
        exercised = reading.exercised(session, one.name)
        notes = reading.notes(session, one.name)
        earlier = _alike(session, one, TREND)[:-1]
        coverage = _merged(store, one.name, exclude)
        all_time = store.merged(_same_engines(session, one), definitions_of=one.name)
        exclude(all_time)
        one = _as_counted(one, coverage, code)
        moved = None
        if earlier:
            titles = {bucket.id: bucket.title for bucket in found}
            before = _side(store, session, earlier[-1], exclude)
            moved = compare(before, Side(one, rows, titles, coverage))
    return NightView(
        night=one,
        runs=rows,
        buckets=found,
        plan=plan_rows(testplan, rows, one.groups),
        spec=spec_rows(exercised),
        coverage=coverage,
        all_time=all_time,
        code=code,
        trend=[point(item) for item in (*earlier, one)],
        difference=moved,
        notes=notes,
    )


def _same_engines(session: Session, last: Night) -> list[str]:
    """Returns the nights up to ``last`` that had the same engines, whatever their regression."""
    rows = session.execute(
        select(NightTable.name, NightTable.duts).where(NightTable.started <= last.started)
    )
    return [name for name, duts in rows if tuple(duts or ()) == last.duts]


def _as_counted(one: Night, coverage: Coverage, code: CodeView | None) -> Night:
    """Returns the night with its coverage as it is now: it may still run, or exclusions moved."""
    # With nothing to hit, nothing is complete.
    groups: Mapping[str, float] = {
        name: counts.percent for name, counts in coverage.groups.items() if coverage.total
    }
    kinds = one.code if code is None else reading.code_percent(code.engines)
    percent = coverage.percent if groups else 0.0
    return replace(one, coverage=percent, groups=groups, code=kinds)


def plan_rows(plan: TestPlan, runs: Sequence[RunRow], groups: Mapping[str, float]) -> list[PlanRow]:
    """Maps the results of a night onto the testplan: a row for each behaviour, in its order.

    Args:
        plan: The testplan.
        runs: The planned runs of the night.
        groups: Coverage group to percent, of the groups that were sampled.
    """
    counts: dict[str, tuple[int, int, int]] = {}
    for run in runs:
        done, passed, planned = counts.get(run.test, (0, 0, 0))
        counts[run.test] = (
            done + (run.state != "planned"),
            passed + (run.state == "pass"),
            planned + 1,
        )
    return [_plan_row(one, counts, groups) for one in plan.behaviour]


def _plan_row(
    one: Behaviour, counts: Mapping[str, tuple[int, int, int]], groups: Mapping[str, float]
) -> PlanRow:
    tests = {name: counts.get(name, (0, 0, 0)) for name in one.tests}
    mine = [count for name, count in tests.items() if not name.startswith(PYTEST)]
    return PlanRow(
        name=one.name,
        milestone=one.milestone,
        description=one.description,
        tests=tests,
        groups={name: groups.get(name) for name in one.groups},
        rules=one.rules,
        state=_behaviour_state(mine),
    )


def _behaviour_state(tests: Sequence[tuple[int, int, int]]) -> str:
    """Returns the state of a behaviour from its tests' (done, passed, planned) runs."""
    if any(passed < done for done, passed, _ in tests):
        return "fail"
    if not any(done for done, _, _ in tests):
        return "not run"
    if any(done < planned or not done for done, _, planned in tests):
        return "partial"
    return "pass"
