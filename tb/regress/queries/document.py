# SPDX-License-Identifier: Apache-2.0
"""The testplan as a page of Markdown: ``pto-dv testplan``."""

from __future__ import annotations

from collections.abc import Iterable

from tb.record.settings import DEFAULT_PROFILE, DEFAULT_TAG_WIDTH
from tb.regress.plan.expand import expand
from tb.regress.plan.testplan import PYTEST, Behaviour, Regression, RunSet, TestPlan, load_testplan

MILESTONES = {
    "V1": "data movement",
    "V2": "rules, corners, errors",
    "V3": "everything at once",
}
"""Milestones in order, with their meaning."""

SEEDS = 20
"""Seeds for which the page counts the runs."""


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _tests(one: Behaviour) -> str:
    """Returns the tests of a behaviour, files of pytest last."""
    in_simulator = [name for name in one.tests if not name.startswith(PYTEST)]
    files = [name.removeprefix(PYTEST) for name in one.tests if name.startswith(PYTEST)]
    return _codes(in_simulator + files)


def _behaviours(plan: TestPlan, milestone: str) -> list[str]:
    lines = []
    for one in plan.behaviour:
        if one.milestone != milestone:
            continue
        lines += [f"### {one.name}", "", one.description, "", "| | |", "|---|---|"]
        lines.append(f"| tests | {_tests(one)} |")
        if one.groups:
            lines.append(f"| coverage | {_codes(one.groups)} |")
        if one.rules:
            lines.append(f"| rules | {', '.join(one.rules)} |")
        lines.append("")
    return lines


def _runs(runs: RunSet) -> str:
    widths = ", ".join(f"{gm}/{local}" for gm, local in runs.widths)
    length = str(runs.transactions or "")
    more = [
        f"tags of {runs.tag_width} bits" if runs.tag_width != DEFAULT_TAG_WIDTH else "",
        f"{runs.outstanding} bursts in flight" if runs.outstanding != 16 else "",
        "GM by cocotbext-axi" if runs.gm != "hdl" else "",
        "code coverage" if runs.code_coverage else "",
        "one pair of widths in turn, by the seed" if runs.in_turn else "",
        f"ops {_codes(runs.ops)}" if runs.ops else "",
        "" if runs.profiles == (DEFAULT_PROFILE,) else f"profiles {_codes(runs.profiles)}",
    ]
    cells = (_codes(runs.tests), ", ".join(runs.sims), widths, length, str(runs.seeds))
    return f"| {' | '.join(cells)} | {', '.join(filter(None, more))} |"


def _regression(plan: TestPlan, one: Regression) -> list[str]:
    count = len(expand(plan, one.name, seeds=SEEDS, base_seed=0))
    return [
        f"### {one.name}",
        "",
        f"{one.doc[:1].upper()}{one.doc[1:]}. {count} runs with {SEEDS} seeds.",
        "",
        "| tests | simulators | widths GM/local | N | seeds | options |",
        "|---|---|---|---|---|---|",
        *(_runs(runs) for runs in one.runs),
        "",
    ]


def page_text() -> str:
    """Returns the page: every behaviour by milestone, then the regressions."""
    plan = load_testplan()
    counts = {name: sum(one.milestone == name for one in plan.behaviour) for name in MILESTONES}
    lines = [
        "# Testplan",
        "",
        "What is to be verified, what proves it, and which tests run in which regression. The page",
        "of a regression run shows the same list with results. Files are run by `make test`, other",
        "tests are those of `TEST=`. Every test, coverage group (`pto-dv coverage-table`) and rule",
        "is claimed by a behaviour.",
        "",
        "| milestone | | behaviours |",
        "|---|---|---|",
        *(f"| {name} | {text} | {counts[name]} |" for name, text in MILESTONES.items()),
        "",
    ]
    for name, text in MILESTONES.items():
        lines += [f"## {name}: {text}", "", *_behaviours(plan, name)]
    lines += [
        "## Regressions",
        "",
        "Each test runs on each simulator at each pair of widths under each profile, `seed` where",
        "the table names none, with as many seeds as the table gives or, for `all`, as requested",
        "for; N is that of the test where the table has none. The first seeds of all come before",
        "any second one, so that a regression run that runs out of time has covered everything",
        "once. Seeds of runs are made from the base seed of the regression run and the name of the",
        "run.",
        "",
    ]
    for one in plan.regression:
        lines += _regression(plan, one)
    return "\n".join(lines)
