# SPDX-License-Identifier: Apache-2.0
"""A made-up regression run with everything that a page shows, the same for the same arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import Coverage
from tb.coverage.stress import GROUPS
from tb.isa.rules import RULES
from tb.record.outside import OutsideGroup, OutsideRow
from tb.regress.plan.spec import FILES
from tb.regress.queries.views import (
    FAILED,
    Bucket,
    Difference,
    Figures,
    OutsideView,
    PlanRow,
    Point,
    RegressionRun,
    RegressionView,
    RunRow,
    RunState,
    SpecRow,
)
from tests.regress.made import MIX, jobs
from tests.report.sample_code import code_percent, sample_code
from tests.report.sample_failures import bucket_list, failing_runs

_BEHAVIOURS = (
    ("copies in", "V1", "Copies from GM into UB and L1 move every byte and no other.", "random"),
    ("copies out", "V1", "Copies from UB to GM, partial beats and 4 KiB pages included.", "random"),
    ("repacking", "V1", "Matrices become NZ fractals, in all element sizes.", "legal"),
    ("worked examples", "V1", "Each example of the specification gives its CRC-32.", "directed"),
    ("refusals", "V2", "An op that breaks a D rule moves nothing and names the rule.", "illegal"),
    ("bus errors", "V2", "A bus error ends its op with the right status and no other.", "errors"),
    ("corners", "V2", "Limits of every count, all alignments, all pads.", "corner"),
    ("pressure", "V2", "Stalls, latencies and several errors at a time.", "stress"),
    ("reset", "V3", "A reset in mid-op leaves memory and flags defined.", "reset"),
    ("descriptor pins", "V3", "The descriptor and done channels keep their handshakes.", "pins"),
    ("soak", "V3", "Two million transactions in one run without a leak.", "soak"),
)


def sample_coverage(seed: int = 1, misses: float = 0.06) -> Coverage:
    """Returns the real groups with invented hits; ``misses`` is the share of bins left out."""
    draw = np.random.default_rng(seed)
    found = Coverage(
        [
            counts.group
            for counts in FunctionalCoverage(32, illegal=True, stress=tuple(GROUPS)).groups.values()
        ]
    )
    for number, counts in enumerate(found.groups.values()):
        share = misses * (0.0, 0.2, 1.0, 3.0)[number % 4]
        for name, hits in counts.hits.items():
            wanted = counts.wanted(name)
            values = np.rint(draw.lognormal(4.0, 2.0, len(hits))).astype(np.int64) + 1
            values[draw.random(len(hits)) < share] = 0
            hits += np.where(wanted, values, 0)
    return found


def _runs(count: int, regression_run: str) -> list[RunRow]:
    draw = np.random.default_rng(7)
    rows = []
    for number, job in enumerate(jobs(count, mix=len(MIX))):
        seed, transactions = int(draw.integers(1, 2**31)), job.settings.transactions
        settings = job.settings.model_copy(update={"seed": seed})
        took = float(job.expected_seconds * draw.uniform(0.85, 1.25))
        # The budget was up before the last ones on the slow simulator.
        late = settings.sim == "icarus" and number >= count - count // 10
        state: RunState = "planned" if late else "pass"
        done = state != "planned"
        rows.append(
            RunRow(
                id=1000 + number,
                key=job.key,
                state=state,
                test=settings.test,
                sim=settings.sim,
                seed=settings.seed,
                transactions=transactions,
                sent=transactions if done else 0,
                gm_width=settings.gm_width,
                local_width=settings.local_width,
                seconds=took if done else 0.0,
                rate=transactions / took if done else 0.0,
                coverage=float(draw.uniform(35, 98)) if done else 0.0,
                command=settings.command(),
                folder=f"sim_build/nightly/{regression_run}/runs/{job.key}/1" if done else "",
                worker=f"build-host-3:{4700 + number % 2}" if done else "",
                simulator={"verilator": "Verilator 5.036", "icarus": "Icarus Verilog 12.0"}[
                    settings.sim
                ],
                code_coverage=settings.test == "legal",
            )
        )
    return rows


def _plan(runs: Sequence[RunRow], coverage: Coverage) -> list[PlanRow]:
    groups, rules = list(coverage.groups), list(RULES)
    rows = []
    for number, (name, milestone, description, test) in enumerate(_BEHAVIOURS):
        mine = [row for row in runs if row.test == test]
        done = [row for row in mine if row.state != "planned"]
        passed = [row for row in done if row.state == "pass"]
        state = "pass" if mine else "not run"
        if len(done) < len(mine):
            state = "partial"
        if len(passed) < len(done):
            state = "fail"
        tests = {test: (len(done), len(passed), len(mine))}
        if number % 3 == 0:
            tests["pytest:tests/model/test_examples.py"] = (0, 0, 0)
        chosen: dict[str, float | None] = {
            group: coverage.groups[group].percent for group in groups[number % 5 :: 5]
        }
        if number == len(_BEHAVIOURS) - 1:
            chosen = dict.fromkeys(chosen)
        rows.append(
            PlanRow(
                name,
                milestone,
                description,
                tests,
                chosen,
                tuple(rules[number :: len(_BEHAVIOURS)]),
                state,
            )
        )
    return rows


def _spec() -> list[SpecRow]:
    rows = []
    for number, (name, rule) in enumerate(RULES.items()):
        tests: Mapping[str, int] = {}
        if rule.kind == "D" and number % 9:
            tests = {"illegal": 40 + 13 * number, "stress": number}
        units: tuple[str, ...] = (f"tests/isa/test_rules.py::test_rule_{number}",)
        rows.append(
            SpecRow(
                name,
                "rule",
                rule.title,
                FILES[rule.family],
                {name: count for name, count in tests.items() if count},
                units if number % 7 else (),
            )
        )
    for number in range(1, 25):
        tests = {"directed": 20} if number % 11 else {}
        where = "spec/examples.md, section 2"
        rows.append(SpecRow(f"GU-E{number}", "value", "rows into UB", where, tests, ()))
    name = "rule check left 8, len 40, right 8 of f16 in 64 B"
    units = tuple(f"tests/model/test_examples.py::test_number_{number}" for number in range(11))
    rows.append(SpecRow(name, "value", "", "spec/examples.md, section 7", {}, units))
    return rows


def _points(regression_runs: int, last: RegressionRun) -> list[Point]:
    points = []
    for number in range(regression_runs):
        back = regression_runs - 1 - number
        lower = {
            name: max(0.0, value - (0.0, 0.3, 2.7, 5.1)[place % 4] * back)
            for place, (name, value) in enumerate(last.groups.items())
        }
        figures = last.figures
        started = last.started - timedelta(days=back)
        points.append(
            Point(
                name=f"{started:%Y-%m-%d}.1",
                started=started,
                pass_rate=figures.pass_rate if not back else (100.0, 96.8, 99.3)[number % 3],
                runs=figures.done - 4 * back,
                transactions=figures.transactions - 90_000 * back,
                transactions_per_second=figures.transactions_per_second
                * (1.0 if not back else (0.97, 1.04, 0.88)[number % 3]),
                wall_seconds=figures.wall_seconds - 11.0 * back,
                coverage=last.coverage - 1.9 * back,
                groups=lower if back < regression_runs - 1 else dict(list(lower.items())[2:]),
                # Code coverage was not counted in the first of several regression runs.
                code={}
                if back and back == regression_runs - 1
                else {kind: value - 1.3 * back for kind, value in last.code.items()},
            )
        )
    return points


def _config(row: RunRow) -> str:
    return f"{row.sim}-gm{row.gm_width}-local{row.local_width}"


def _difference(points: Sequence[Point], buckets: Sequence[Bucket]) -> Difference | None:
    if len(points) < 2:
        return None
    before, after = points[-2], points[-1]
    return Difference(
        before=before.name,
        after=after.name,
        newly_failing=tuple(
            (bucket.example_run.test, _config(bucket.example_run), bucket.title)
            for bucket in buckets[:2]
        ),
        newly_passing=(("corner", "icarus-gm128-local128", "hang after 200000 clocks"),),
        buckets_new=tuple(bucket.title for bucket in buckets if bucket.regression_runs == 1),
        buckets_gone=("hang: mte_gm_l1_frac on mte2, no done",),
        won=tuple(f"mte_gm_ub.len_mod_bus: {number}" for number in range(3, 40)),
        lost=("rules.rule: FIX-L17", "traffic.pair: mte_l1_bt x mte_l0c_gm"),
        coverage=(before.coverage, after.coverage),
        rate=(before.transactions_per_second, after.transactions_per_second),
    )


def sample_view(
    *, regression_runs: int = 5, runs: int = 300, failing: bool = True
) -> RegressionView:
    """Returns a regression run.

    Args:
        regression_runs: Regression runs in the trend, with this one; 1 for the first of a database.
        runs: Planned runs, at least 60.
        failing: With failures; without, every run passed, and the regression run is complete.
    """
    started = datetime(2026, 11, 21, 2, 0, 3, tzinfo=UTC)
    regression_run = RegressionRun(
        "2026-11-21.1", "complete", "nightly", started, command="make nightly SEEDS=20"
    )
    rows = _runs(runs, regression_run.name)
    if failing:
        rows = failing_runs(rows)
    else:
        rows = [row if row.state == "pass" else _passing(row) for row in rows]
    buckets = bucket_list(rows) if failing else []
    coverage, all_time = sample_coverage(1, 0.06), sample_coverage(1, 0.06)
    all_time.merge(sample_coverage(2, 0.05))
    code = sample_code()
    done = [row for row in rows if row.state != "planned"]
    passed = [row for row in done if row.state == "pass"]
    busy = sum(row.seconds for row in done)
    figures = Figures(
        planned=len(rows),
        done=len(done),
        passed=len(passed),
        failed=sum(row.state in FAILED for row in rows),
        flaky=sum(row.state == "flaky" for row in rows),
        not_run=len(rows) - len(done),
        transactions=sum(row.sent for row in done),
        bytes_checked=sum(row.sent for row in done) * 1640,
        clocks=sum(row.sent for row in done) * 90,
        wall_seconds=busy / 1.86 + 75,
        busy_seconds=busy,
        runs_per_minute=60 * len(done) / (busy / 1.86 + 75),
        transactions_per_second=sum(row.sent for row in done) / busy,
        workers=2,
        builds=7,
        build_seconds=148.2,
        lost=1 if failing else 0,
    )
    regression_run = replace(
        regression_run,
        status="budget" if failing else "complete",
        ended=started + timedelta(seconds=figures.wall_seconds),
        commit="a0c4f83d19e27b64c5510fd0c1a3e6b2f7889d04+" if failing else "a0c4f83d19e27b64",
        base_seed=20261121,
        host="build-host-3",
        budget_seconds=1500.0,
        command="make nightly SEEDS=20 BUDGET=25m" if failing else "make nightly SEEDS=20",
        folder=f"sim_build/nightly/{regression_run.name}",
        figures=figures,
        coverage=coverage.percent,
        groups={name: counts.percent for name, counts in coverage.groups.items()},
        code=code_percent(code),
    )
    trend = _points(regression_runs, regression_run)
    notes = (
        "worker build-host-3:4701 was lost with faults-verilator-gm256-local256-s0004: killed by "
        "SIGKILL; the run was done again and passed",
        "the record of pins-icarus-gm256-local256-s0011 is truncated",
    )
    return RegressionView(
        regression_run=regression_run,
        runs=rows,
        buckets=buckets,
        plan=_plan(rows, coverage),
        spec=_spec(),
        coverage=coverage,
        all_time=all_time,
        code=code,
        trend=trend,
        difference=_difference(trend, buckets),
        notes=notes if failing else (),
        outside=_outside(failing),
    )


def _outside(failing: bool) -> list[OutsideView]:
    """Results of others: two profiles, one row of each verdict; a5 lacks a source where failing."""
    fact = "mte_gm_ub len=72, no pad: 96 B = GM for 0..71, rest not stated"
    rows = [
        OutsideRow(name="TAIL-1", verdict="differs", why="tail = fill", text=fact),
        OutsideRow(name="PAD-4", verdict="unknown", why="breaks DMA-L05 (A-16)", text="fill 3C00"),
    ]
    wrong = OutsideRow(
        name="tstore_acc2gm fn_qf2b8_pre line 3",
        verdict="unexplained",
        why="no value of any knob gives it",
        text="qf322b8_pre f32 40A00000 -> i8 05",
    )
    facts = OutsideGroup(file="dma_facts", source="PTOAS", agrees=9, rows=rows)
    good = OutsideGroup(file="dma_facts", source="PTOAS", agrees=10, rows=rows[1:])
    elements = OutsideGroup(file="writeback", source="pto-isa", agrees=1206)
    bad = OutsideGroup(file="writeback", source="pto-isa", agrees=1205, rows=[wrong])
    if failing:
        return [OutsideView("seed", 2, [facts, bad]), OutsideView("a5", 0)]
    return [OutsideView("seed", 2, [facts, elements]), OutsideView("a5", 1, [good, elements])]


def _passing(row: RunRow) -> RunRow:
    values: dict[str, Any] = {"state": "pass", "sent": row.transactions, "seconds": 8.0}
    return replace(row, **values, rate=row.transactions / 8.0, coverage=61.0)
