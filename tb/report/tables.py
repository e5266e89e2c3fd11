# SPDX-License-Identifier: Apache-2.0
"""The pages of one table: runs, the testplan, and the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tb.record.outside import OutsideGroup, OutsideRow
from tb.regress.queries.views import OutsideView, PlanRow, RegressionView, SpecRow
from tb.report.page import Page, widths

_FIRST = {"fail": 0, "not run": 1, "partial": 2, "pass": 3}


def run_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the table of all planned runs: failures first, then what passed, then what waits."""
    order = {"planned": 2, "pass": 1}
    rows = sorted(view.runs, key=lambda row: order.get(row.state, 0))
    count = Counter(row.state for row in rows)
    yield Page(
        "runs.html",
        "Runs",
        "runs.html.j2",
        {
            "rows": rows,
            "titles": {bucket.id: bucket.title for bucket in view.buckets},
            "tests": sorted({row.test for row in rows}),
            "sims": sorted({row.sim for row in rows}),
            "widths": sorted({widths(row) for row in rows}),
            "states": [state for state, _ in count.most_common()],
            "duts": any(row.duts for row in rows),
        },
        count=len(rows),
    )


def testplan_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the testplan with results: behaviours that failed or did not run first."""
    if not view.plan:
        return
    milestones: dict[str, Counter[str]] = {}
    for row in view.plan:
        milestones.setdefault(row.milestone, Counter())[row.state] += 1
    rows: list[PlanRow] = sorted(
        view.plan, key=lambda row: (_FIRST.get(row.state, 0), row.milestone)
    )
    yield Page(
        "testplan.html",
        "Testplan",
        "testplan.html.j2",
        {
            "rows": rows,
            "milestones": dict(sorted(milestones.items())),
            "states": [state for state in _FIRST if any(row.state == state for row in rows)],
            "by": {row.name for row in view.spec},
            "unexercised": {row.name for row in view.spec if exercised(row) == "nothing"},
            "split": _split,
            "tests_of": _tests_of,
        },
    )


def _tests_of(row: PlanRow) -> tuple[list[tuple[str, tuple[int, int, int]]], list[str]]:
    """Returns the tests of the regression run with their counts, and the files of pytest."""
    mark = "pytest:"
    planned = [(name, counts) for name, counts in row.tests.items() if not name.startswith(mark)]
    return planned, [name.removeprefix(mark) for name in row.tests if name.startswith(mark)]


def _split(groups: Mapping[str, float | None]) -> tuple[list[str], list[str]]:
    """Returns the groups with holes, those with most first, and those without."""
    holes = {name: percent or 0.0 for name, percent in groups.items()}
    open_ones = sorted((name for name in holes if holes[name] < 100), key=holes.__getitem__)
    return open_ones, [name for name in groups if name not in open_ones]


def exercised(row: SpecRow) -> str:
    """Returns what exercised a rule or value: ``regression``, ``unit tests`` or ``nothing``."""
    if row.tests:
        return "regression"
    return "unit tests" if row.unit_tests else "nothing"


def page_of(row: SpecRow) -> str:
    """Returns the file of the specification, without what says where in it."""
    return row.where.split(",")[0]


def _outside(views: Sequence[OutsideView]) -> dict[tuple[str, str], list[OutsideGroup | None]]:
    """Returns file and source to the verdicts of each profile, None where none was judged."""
    names = dict.fromkeys((group.file, group.source) for one in views for group in one.groups)
    return {
        name: [
            next((group for group in one.groups if (group.file, group.source) == name), None)
            for one in views
        ]
        for name in names
    }


_Apart = tuple[str, OutsideRow, list[str]]
"""Source, row, and the profiles under which it has this verdict."""


def _apart(views: Sequence[OutsideView]) -> list[_Apart]:
    """Returns the rows that do not agree: unexplained ones first, then those that differ."""
    found: dict[tuple[str, ...], _Apart] = {}
    for one in views:
        for group in one.groups:
            for row in group.rows:
                key = group.file, group.source, row.name, row.verdict, row.why
                found.setdefault(key, (group.source, row, []))[2].append(one.profile)
    order = {"unexplained": 0, "differs": 1, "unknown": 2}
    return sorted(found.values(), key=lambda item: order.get(item[1].verdict, 3))


def spec_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the table of rules and worked values, those that nothing exercised first."""
    if not view.spec:
        return
    order = {"nothing": 0, "unit tests": 1, "regression": 2}
    rows = sorted(view.spec, key=lambda row: order[exercised(row)])
    pages: dict[str, Counter[str]] = {}
    for row in view.spec:
        pages.setdefault(page_of(row), Counter())[exercised(row)] += 1
    yield Page(
        "spec.html",
        "Specification",
        "spec.html.j2",
        {
            "rows": [(row, exercised(row)) for row in rows],
            "pages": pages,
            "kinds": sorted({row.kind for row in rows}),
            "claims": _claims(view),
            "page_of": page_of,
            "profiles": view.outside,
            "outside": _outside(view.outside),
            "apart": _apart(view.outside),
        },
    )


def _claims(view: RegressionView) -> dict[str, list[str]]:
    """Returns rule to the behaviours of the testplan that it is part of."""
    found: dict[str, list[str]] = {}
    for row in view.plan:
        for rule in row.rules:
            found.setdefault(rule, []).append(row.name)
    return found
