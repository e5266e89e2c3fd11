# SPDX-License-Identifier: Apache-2.0
"""Queries of regression runs for pages and commands: one, all, and changes between two.

Regression runs are compared, and drawn as a trend, if regression, engines and items are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from tb.common.errors import PtoError
from tb.coverage.export.code import CodeView
from tb.coverage.model import Coverage
from tb.regress.plan.spec import spec_rows
from tb.regress.plan.testplan import TestPlan
from tb.regress.queries import gates, reading, reading_failures
from tb.regress.queries.difference import Side, compare
from tb.regress.queries.plan import plan_rows
from tb.regress.queries.views import (
    Bucket,
    Difference,
    RegressionRun,
    RegressionView,
    RunRow,
)
from tb.regress.results.database import RegressionRunTable
from tb.regress.results.store import Store

LATEST = "latest"
TREND = 30
"""Most regression runs of a trend."""

SHOWN_NAMES = 5

Exclude = Callable[[Coverage], object]
"""Takes the excluded bins out of a coverage, in place."""


def nothing(coverage: Coverage) -> None:
    """Excludes nothing."""


def regression_runs(
    store: Store, limit: int | None = 20, regression: str = ""
) -> list[RegressionRun]:
    """Returns regression runs, the newest first.

    Args:
        store: The database.
        limit: Most of them, None for all.
        regression: Name of the regression, or all of them.
    """
    where = RegressionRunTable.regression == regression if regression else None
    with store.reading() as session:
        return reading.regression_runs(session, where, limit)


def regression_run(store: Store, name: str = LATEST) -> RegressionRun:
    """Returns one regression run.

    Args:
        store: The database.
        name: Its name; a date for the last one of that day; ``latest`` for the one begun last.

    Raises:
        PtoError: there is no such regression run.
    """
    with store.reading() as session:
        return _regression_run(store, session, name)


def _regression_run(store: Store, session: Session, name: str) -> RegressionRun:
    where: ColumnElement[bool] | None = None
    if name != LATEST:
        where = RegressionRunTable.name == name
        if "." not in name:
            where = RegressionRunTable.name.startswith(f"{name}.", autoescape=True)
    found = reading.regression_runs(session, where, 1)
    if found:
        return found[0]
    names = session.scalars(
        select(RegressionRunTable.name)
        .order_by(RegressionRunTable.started.desc(), RegressionRunTable.id.desc())
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
    """Returns the planned runs of a regression run in the order of its plan."""
    with store.reading() as session:
        return reading_failures.runs(session, reading.rows(session, name))


def buckets(store: Store, name: str) -> list[Bucket]:
    """Returns the failures of a regression run in groups, the largest first."""
    with store.reading() as session:
        rows = reading.rows(session, name)
        shown = reading_failures.runs(session, rows)
        one = _regression_run(store, session, name)
        return reading_failures.buckets(session, one, rows, shown)


def trend(store: Store, last: RegressionRun, limit: int = TREND) -> list[RegressionRun]:
    """Returns the regression runs up to ``last`` with its regression and engines, oldest first.

    Those without a finished run are left out.
    """
    with store.reading() as session:
        return _alike(session, last, limit)


def _alike(session: Session, last: RegressionRun, limit: int) -> list[RegressionRun]:
    """Returns ``last`` and the comparable regression runs before it, oldest first."""
    rows = session.execute(
        select(RegressionRunTable.id, RegressionRunTable.about)
        .where(
            RegressionRunTable.regression == last.regression,
            RegressionRunTable.started <= last.started,
            RegressionRunTable.name != last.name,
        )
        .order_by(RegressionRunTable.started.desc(), RegressionRunTable.id.desc())
    )
    mine = last.duts, last.items
    alike = [
        number for number, about in rows if (tuple(about["duts"]), reading.items_of(about)) == mine
    ]
    ids = alike[: 2 * limit]
    found = reading.regression_runs(session, RegressionRunTable.id.in_(ids)) if ids else []
    before = [one for one in found if one.figures.done][: limit - 1]
    return [*reversed(before), last]


def difference(store: Store, a: str, b: str, exclude: Exclude = nothing) -> Difference:
    """Returns the changes from regression run ``a`` to ``b``; their regressions may differ.

    Raises:
        PtoError: one of them is not in the database.
    """
    with store.reading() as session:
        before, after = (_regression_run(store, session, name) for name in (a, b))
        sides = [_side(store, session, one, exclude) for one in (before, after)]
    return compare(*sides)


def _side(store: Store, session: Session, one: RegressionRun, exclude: Exclude) -> Side:
    rows = reading.rows(session, one.name)
    shown, titles = reading_failures.runs(session, rows), reading_failures.titles(rows)
    return Side(one, shown, titles, _merged(store, one.name, exclude))


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
    database: str = "",
) -> RegressionView:
    """Returns everything a report shows of a regression run.

    Args:
        store: The database.
        name: The regression run, as :func:`regression_run` takes it.
        testplan: The testplan onto which its results are mapped.
        code: Its code coverage, None when no run counted.
        exclude: Takes excluded bins out of a coverage.
        database: As of the view.

    Raises:
        PtoError: there is no such regression run, or the database cannot be read.
    """
    with store.reading() as session:
        one = _regression_run(store, session, name)
        stored = reading.rows(session, one.name)
        rows = reading_failures.runs(session, stored)
        found = reading_failures.buckets(session, one, stored, rows)
        culprits = reading_failures.culprits(stored)
        exercised = reading.exercised(stored)
        outside = reading.outside(stored)
        notes = reading.notes(session, one.name, stored)
        suites = reading.suites(session, one.name)
        earlier = _alike(session, one, TREND)[:-1]
        coverage = _merged(store, one.name, exclude)
        all_time = store.merged(_same_engines(session, one), definitions_of=one.name)
        exclude(all_time)
        one = _as_counted(one, coverage, code)
        titles = {bucket.id: bucket.title for bucket in found}
        mine = Side(one, rows, titles, coverage)
        complete = [past for past in earlier if past.status == "complete"]
        last = {past.name: past for past in (*complete[-1:], *earlier[-1:])}
        moves = [compare(_side(store, session, past, exclude), mine) for past in last.values()]
    plan, today = plan_rows(testplan, rows, one.groups, suites, culprits), date.today()
    return RegressionView(
        regression_run=one,
        runs=rows,
        buckets=found,
        plan=plan,
        spec=spec_rows(exercised),
        coverage=coverage,
        all_time=all_time,
        code=code,
        trend=[*earlier, one],
        difference=moves[-1] if moves else None,
        notes=[*notes, *gates.notes(testplan, found, today)],
        outside=outside,
        database=database,
        known=gates.known(testplan, today),
        noted={known.bucket: known for known in testplan.known},
        gates=tuple(
            gates.broken(testplan, one.regression, coverage, plan, moves[0] if complete else None)
        ),
    )


def _same_engines(session: Session, last: RegressionRun) -> list[str]:
    """Returns the regression runs up to ``last`` with the same engines, of any regression."""
    rows = session.execute(
        select(RegressionRunTable.name, RegressionRunTable.about).where(
            RegressionRunTable.started <= last.started
        )
    )
    return [name for name, about in rows if tuple(about["duts"]) == last.duts]


def _as_counted(one: RegressionRun, coverage: Coverage, code: CodeView | None) -> RegressionRun:
    """Returns the regression run with its present coverage: runs or exclusions may be new."""
    # With nothing to hit, nothing is complete.
    groups: Mapping[str, float] = {
        name: counts.percent for name, counts in coverage.groups.items() if coverage.total
    }
    kinds = one.code if code is None else reading.code_percent(code.engines)
    percent = coverage.percent if groups else None
    return replace(one, coverage=percent, groups=groups, code=kinds)
