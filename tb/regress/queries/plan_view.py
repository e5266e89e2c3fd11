# SPDX-License-Identifier: Apache-2.0
"""Maps the results of a regression run to the behaviours of the testplan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tb.regress.plan.testplan import PYTEST, Behaviour, TestPlan
from tb.regress.queries.views import PlanRow, RunRow

_NOT_DONE = "planned"


def plan_rows(plan: TestPlan, runs: Sequence[RunRow], groups: Mapping[str, float]) -> list[PlanRow]:
    """Returns every behaviour with what the night says of it, in the order of the plan.

    Args:
        plan: The testplan.
        runs: The planned runs of the night.
        groups: Coverage group to percent, of the groups that were sampled.
    """
    counts: dict[str, tuple[int, int, int]] = {}
    for run in runs:
        done, passed, planned = counts.get(run.test, (0, 0, 0))
        counts[run.test] = (
            done + (run.state != _NOT_DONE),
            passed + (run.state == "pass"),
            planned + 1,
        )
    return [_row(one, counts, groups) for one in plan.behaviour]


def _row(
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
        state=_state(mine),
    )


def _state(tests: Sequence[tuple[int, int, int]]) -> str:
    """Returns the state of a behaviour from its tests' (done, passed, planned) runs."""
    if any(passed < done for done, passed, _ in tests):
        return "fail"
    if not any(done for done, _, _ in tests):
        return "not run"
    if any(done < planned or not done for done, _, planned in tests):
        return "partial"
    return "pass"
