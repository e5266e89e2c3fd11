# SPDX-License-Identifier: Apache-2.0
"""The pages of one table: runs, the testplan, and the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tb.record.outside import VERDICTS, OutsideRow
from tb.regress.queries.views import FAILED, OutsideView, PlanRow, RegressionView, RunRow, SpecRow
from tb.report.formats import widths
from tb.report.page import Page, existing
from tb.report.spec_text import address, anchor, rendered

_FIRST = {"fail": 0, "not run": 1, "partial": 2, "pass": 3}


def run_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the table of all planned runs: failures first, then what passed, then what waits."""
    order = {"planned": 2, "pass": 1}
    rows = sorted(view.runs, key=lambda row: order.get(row.state, 0))
    states = Counter(row.state for row in rows)
    data = {
        "rows": [_run(row) for row in rows],
        "filters": {
            "state": [state for state, _ in states.most_common()],
            "test": sorted({row.test for row in rows}),
            "sim": sorted({row.sim for row in rows}),
            "widths": sorted({widths(row) for row in rows}),
            "bucket": [bucket.id for bucket in view.buckets],
        },
        "duts": any(row.duts for row in rows),
        "rerun": view.rerun("NUMBER"),
    }
    yield Page("runs.html", "Runs", "runs.html.j2", data, count=len(rows))


def _run(row: RunRow) -> dict[str, Any]:
    failed = row.state in FAILED
    return vars(row) | {
        "widths": widths(row),
        "failed": failed,
        "files": existing(row.folder) if failed else "",
    }


def testplan_pages(view: RegressionView) -> Iterable[Page]:
    """Makes the testplan with results: behaviours that failed or did not run first."""
    if not view.plan:
        return
    milestones: dict[str, Counter[str]] = {}
    for row in view.plan:
        milestones.setdefault(row.milestone, Counter())[row.state] += 1
    rows = sorted(view.plan, key=lambda row: (_FIRST.get(row.state, 0), row.milestone))
    proven = {name: (states["pass"], states.total()) for name, states in sorted(milestones.items())}
    data = {
        "rows": [_behaviour(row) for row in rows],
        "proven": proven,
        "filters": {
            "state": [state for state in _FIRST if any(row.state == state for row in rows)],
            "milestone": list(proven),
        },
        "by": {row.name: exercised(row) for row in view.spec},
    }
    yield Page("testplan.html", "Testplan", "testplan.html.j2", data)


def _behaviour(row: PlanRow) -> dict[str, Any]:
    """Returns a behaviour; files of pytest apart, groups with holes before complete ones."""
    mark = "pytest:"
    percents = {name: percent or 0.0 for name, percent in row.groups.items()}
    holes = sorted((name for name in percents if percents[name] < 100), key=percents.__getitem__)
    files = {x.removeprefix(mark): cases for x, cases in row.tests.items() if x.startswith(mark)}
    return vars(row) | {
        "tests": {name: runs for name, runs in row.tests.items() if not name.startswith(mark)},
        "pytest": files,
        "state": row.state,
        "holes": holes,
        "complete": [name for name in percents if name not in holes],
    }


def exercised(row: SpecRow) -> str:
    """Returns what exercised a rule or value: ``regression``, ``unit tests`` or ``nothing``."""
    if row.tests:
        return "regression"
    return "unit tests" if row.unit_tests else "nothing"


def page_of(row: SpecRow) -> str:
    """Returns the file of the specification, without the place in it."""
    return row.where.split(",")[0]


def _outside(views: Sequence[OutsideView]) -> list[dict[str, Any]]:
    """Returns the counts of each profile, file and source; a profile alone where none ran."""
    rows: list[dict[str, Any]] = []
    for one in views:
        rows += [
            {"profile": one.profile, "runs": one.runs, "file": group.file, "source": group.source}
            | {"total": group.total}
            | {verdict: group.count(verdict) for verdict in VERDICTS}
            for group in one.groups
        ] or [{"profile": one.profile, "runs": 0}]
    return rows


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
    order = ("nothing", "unit tests", "regression")
    claims = _claims(view)
    rows = sorted(view.spec, key=lambda row: order.index(exercised(row)))
    pages: dict[str, Counter[str]] = {}
    for row in view.spec:
        pages.setdefault(page_of(row), Counter(dict.fromkeys(order, 0)))[exercised(row)] += 1
    data = {
        "rows": [
            vars(row)
            | {"by": exercised(row), "page": page_of(row), "claims": claims.get(row.name, [])}
            | {"anchor": anchor(page_of(row), row.name, row.where)}
            for row in rows
        ],
        "pages": pages,
        "addresses": {page: address(page) for page in pages},
        "filters": {
            "exercised by": order,
            "page": list(pages),
            "kind": sorted({row.kind for row in rows}),
        },
        "outside": _outside(view.outside),
        "apart": _apart(view.outside),
    }
    yield Page("spec.html", "Specification", "spec.html.j2", data)
    for page in pages:
        title, html, _ = rendered(page)
        if html:
            data = {"file": page, "html": html}
            yield Page(address(page), title, "specification.html.j2", data, section="spec.html")


def _claims(view: RegressionView) -> dict[str, list[str]]:
    """Returns rule to the behaviours of the testplan that it is part of."""
    found: dict[str, list[str]] = {}
    for row in view.plan:
        for rule in row.rules:
            found.setdefault(rule, []).append(row.name)
    return found
