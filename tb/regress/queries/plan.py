# SPDX-License-Identifier: Apache-2.0
"""The testplan with the results of a regression run: it claims only what was done.

Tests of pytest count when the night has taken in their results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tb.common.text import counted
from tb.regress.plan.testplan import PYTEST, Behaviour, TestPlan
from tb.regress.queries.views import PlanRow, RunRow

Counts = tuple[int, int, int]
"""Done, passed, planned."""

Suites = Mapping[str, Mapping[str, Sequence[int]]]
"""File of pytest to its functions, each with the numbers of cases that passed and that failed."""

NOT_TAKEN = "tests of pytest: make nightly FULL=1 runs them"


def plan_rows(
    plan: TestPlan, runs: Sequence[RunRow], groups: Mapping[str, float], suites: Suites
) -> list[PlanRow]:
    """Maps the results of a regression run onto the testplan: a row for each behaviour, in order.

    Args:
        plan: The testplan.
        runs: The planned runs of the regression run.
        groups: Coverage group to percent, of the groups that were sampled.
        suites: Results of pytest; empty where they were not taken in.
    """
    by_test: dict[str, list[RunRow]] = {}
    for run in runs:
        by_test.setdefault(run.test, []).append(run)
    return [_row(one, by_test, groups, suites) for one in plan.behaviour]


def _row(
    one: Behaviour,
    by_test: Mapping[str, Sequence[RunRow]],
    groups: Mapping[str, float],
    suites: Suites,
) -> PlanRow:
    tests = {name: _of_runs(by_test.get(name, ())) for name in one.tests}
    tests |= {name: _of_pytest(name, suites) for name in tests if name.startswith(PYTEST)}
    passed = [run for name in one.tests for run in by_test.get(name, ()) if run.state == "pass"]
    missing = [_missing(name, counts, suites) for name, counts in tests.items()]
    missing += [
        f"a run with {need.text}" for need in one.needs if not any(map(need.is_met_by, passed))
    ]
    return PlanRow(
        name=one.name,
        milestone=one.milestone,
        description=one.description,
        tests=tests,
        groups={name: groups.get(name) for name in one.groups},
        rules=one.rules,
        missing=tuple(dict.fromkeys(filter(None, missing))),
    )


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


def _missing(name: str, counts: Counts, suites: Suites) -> str:
    """Returns what a behaviour lacks of a test, or nothing."""
    done, _, planned = counts
    if done and done == planned:
        return ""
    if done:
        return f"{counted(planned - done, 'run')} of {name}"
    if name.startswith(PYTEST):
        return name if suites else NOT_TAKEN
    return f"test {name}"


def left_out(rows: Sequence[PlanRow]) -> list[str]:
    """Returns what behaviours lack, with the number of those that do, the most first."""
    lacking = Counter(what for row in rows for what in row.missing)
    return [f"{what} ({counted(number, 'behaviour')})" for what, number in lacking.most_common()]
