# SPDX-License-Identifier: Apache-2.0
"""The testplan with the results of a regression run: it claims only what was done.

Tests of pytest count when the night has taken in their results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from tb.common.text import counted
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.rules import RULES
from tb.regress.plan.testplan import PYTEST, Behaviour, TestPlan
from tb.regress.queries.views import FAILED, Culprit, PlanRow, RunRow

Counts = tuple[int, int, int]
"""Done, passed, planned."""

Suites = Mapping[str, Mapping[str, Sequence[int]]]
"""File of pytest to its functions, each with the numbers of cases that passed and that failed."""

NOT_TAKEN = "tests of pytest: make nightly FULL=1 runs them"


Culprits = Mapping[int, Collection[Culprit]]
"""Number of a failed run to what failed in it."""


def plan_rows(
    plan: TestPlan,
    runs: Sequence[RunRow],
    groups: Mapping[str, float],
    suites: Suites,
    culprits: Culprits,
) -> list[PlanRow]:
    """Maps the results of a regression run onto the testplan: a row for each behaviour, in order.

    Args:
        plan: The testplan.
        runs: The planned runs of the regression run.
        groups: Coverage group to percent, of the groups that were sampled.
        suites: Results of pytest; empty where they were not taken in.
        culprits: What failed; a failed run that is not in it fails all behaviours of its test.
    """
    by_test: dict[str, list[RunRow]] = {}
    for run in runs:
        by_test.setdefault(run.test, []).append(run)
    return [_row(one, by_test, groups, suites, culprits) for one in plan.behaviour]


def _row(
    one: Behaviour,
    by_test: Mapping[str, Sequence[RunRow]],
    groups: Mapping[str, float],
    suites: Suites,
    culprits: Culprits,
) -> PlanRow:
    mine = {name: by_test.get(name, ()) for name in one.tests}
    tests = {name: _of_runs(runs) for name, runs in mine.items()}
    failed = {
        name: sum(run.state in FAILED and _fails(one, culprits.get(run.id, ())) for run in runs)
        for name, runs in mine.items()
    }
    for name in one.tests:
        if name.startswith(PYTEST):
            done, passed, _ = tests[name] = _of_pytest(name, suites)
            failed[name] = done - passed
    passing = [run for runs in mine.values() for run in runs if run.state == "pass"]
    missing = [_missing(name, counts, failed[name], suites) for name, counts in tests.items()]
    missing += [
        f"a run with {need.text}" for need in one.needs if not any(map(need.is_met_by, passing))
    ]
    return PlanRow(
        name=one.name,
        milestone=one.milestone,
        description=one.description,
        tests=tests,
        failed=failed,
        groups={name: groups.get(name) for name in one.groups},
        rules=one.rules,
        missing=tuple(dict.fromkeys(filter(None, missing))),
    )


def _fails(one: Behaviour, culprits: Collection[Culprit]) -> bool:
    """Returns whether a failed run shows that a behaviour does not hold; also if that is open."""
    return not culprits or any(_concerns(one, culprit) for culprit in culprits)


def _concerns(one: Behaviour, culprit: Culprit) -> bool:
    """Returns whether what failed is of the scope of a behaviour; also if that is open."""
    if one.scope is None:
        about_rules = culprit.op and culprit.rule in RULES and one.groups and one.rules
        return not about_rules or culprit.rule in one.rules
    if culprit.op:  # A legacy form is executed as its v0.6 form.
        return not one.scope.isdisjoint((culprit.op, LEGACY_FORMS.get(culprit.op, culprit.op)))
    slots = {OPS[LEGACY_FORMS.get(op, op)].slot for op in one.scope}
    return not culprit.slot or culprit.slot in slots


def _of_runs(runs: Sequence[RunRow]) -> Counts:
    done = sum(run.state != "planned" for run in runs)
    return done, sum(run.state == "pass" for run in runs), len(runs)


def _of_pytest(name: str, suites: Suites) -> Counts:
    """Returns cases of a file or a function; those that were skipped are not planned."""
    file, _, function = name.removeprefix(PYTEST).partition("::")
    tests = suites.get(file, {})
    cases = [counts for test, counts in tests.items() if function in ("", test)]
    passed, failed = (sum(counts[at] for counts in cases) for at in (0, 1))
    return passed + failed, passed, passed + failed


def _missing(name: str, counts: Counts, failed: int, suites: Suites) -> str:
    """Returns what a behaviour lacks of a test, or nothing."""
    done, passed, planned = counts
    if done and done == planned:
        others = done - passed - failed
        return f"{counted(others, 'run')} of {name} without failures of other ops" if others else ""
    if done:
        return f"{counted(planned - done, 'run')} of {name}"
    if name.startswith(PYTEST):
        return name if suites else NOT_TAKEN
    return f"test {name}"


def left_out(rows: Sequence[PlanRow]) -> list[str]:
    """Returns what behaviours lack, with the number of those that do, the most first."""
    lacking = Counter(what for row in rows for what in row.missing)
    return [f"{what} ({counted(number, 'behaviour')})" for what, number in lacking.most_common()]
