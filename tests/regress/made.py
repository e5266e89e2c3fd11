# SPDX-License-Identifier: Apache-2.0
"""Regression runs made up in a results database, through the store's own functions.

The same arguments give the same regression runs but for numbers of rows. Coverage grows from one to
the next; a data mismatch is there from the first to the last but one, a hang in the first only, a
wrong status from the second on. All but the first have a run that passes when run again, a lost
worker, and a missing record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import numpy as np

from tb.coverage.export.exchange import to_json
from tb.coverage.model import Coverage, CoverGroup, point
from tb.record.failure import Failure
from tb.record.outside import OutsideGroup, OutsideRow
from tb.record.record import CoverageSummary, RunRecord, RunStatus, Times
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk
from tb.regress.queries.views import Figures, RunState
from tb.regress.results.store import Store
from tb.regress.workers.job import Job, Lost, Outcome
from tests.regress.samples import group
from tests.report.sample_failures import DATA, GUARD, HANG, STATUS

LOST = "stress-verilator-gm256-local256-s0000"
"""The run that loses its first worker; the coordinator notes it."""

START = datetime(2026, 11, 19, 2, 0, 3, tzinfo=UTC)

# Test, simulator, GM and local width, transactions, seconds. A regression run in the database has
# the first six, one that is shown all of them.
MIX = (
    ("random", "verilator", 256, 256, 20000, 8.0),
    ("stress", "verilator", 256, 256, 20000, 15.0),
    ("random", "verilator", 128, 512, 20000, 9.0),
    ("illegal", "verilator", 256, 256, 2000, 2.0),
    ("corner", "icarus", 128, 128, 1, 20.0),
    ("directed", "icarus", 256, 256, 1, 12.0),
    ("legal", "verilator", 256, 256, 20000, 7.6),
    ("errors", "verilator", 512, 128, 2000, 2.6),
    ("faults", "verilator", 256, 256, 3000, 3.1),
    ("reset", "verilator", 256, 256, 3000, 3.9),
    ("random", "icarus", 512, 512, 300, 7.5),
    ("pins", "icarus", 256, 256, 200, 9.9),
)

COMMAND = "make nightly SEEDS=4 BUDGET=10m"

LATER = GUARD.model_copy(update={"text": "MISMATCH: stray write", "kind": "stray"})
"""Follows the first failure of each run."""


def groups(gm_width: int) -> tuple[CoverGroup, ...]:
    """Returns small groups, one of which depends on the bus width as real ones do."""
    traffic = CoverGroup("traffic", (point("pair", [f"p{number}" for number in range(160)]),))
    return group(bus_bytes=gm_width // 8), traffic


@dataclass(frozen=True)
class Plan:
    """Outcome of a run: its failure, and how it ends when run again."""

    failure: Failure | None = None
    state: RunStatus = "pass"
    again: RunStatus | None = None
    lost: bool = False
    missing: bool = False


Plans = Callable[[Sequence[Job]], Mapping[str, Plan]]


def coverage(gm_width: int, seed: int, share: float) -> Coverage:
    """Returns the groups with invented hits; ``share`` of the bins that can be hit are."""
    draw = np.random.default_rng(seed)
    found = Coverage(groups(gm_width))
    for counts in found.groups.values():
        for name, hits in counts.hits.items():
            hit = (draw.random(len(hits)) < share) & counts.wanted(name)
            hits += np.where(hit, draw.integers(1, 1000, len(hits)), 0)
    return found


def jobs(runs: int, duts: Sequence[str] = (), mix: int = 6) -> list[Job]:
    """Returns the planned runs of a regression run, of the first ``mix`` kinds."""
    found = []
    for number in range(runs):
        test, sim, gm, local, transactions, seconds = MIX[number % mix]
        seed = number // mix
        settings = RunSettings.model_validate(
            {
                "sim": sim,
                "test": test,
                "seed": 1000 + seed,
                "transactions": transactions,
                "gm_width": gm,
                "local_width": local,
                "duts": tuple(duts),
                "profile": "a5" if local == 512 else "seed",
            }
        )
        config = f"{sim}-gm{gm}-local{local}"
        found.append(
            Job(
                key=f"{test}-{config}-s{seed:04}",
                kind="run",
                settings=settings,
                config=config,
                folder="",
                expected_seconds=seconds,
            )
        )
    return found


def _plans(planned: Sequence[Job], regression_run: int, last: bool) -> dict[str, Plan]:
    """Returns what becomes of the runs that do not simply pass."""
    of: dict[str, list[str]] = {}
    for job in planned:
        of.setdefault(job.settings.test, []).append(job.key)
    found: dict[str, Plan] = {}
    if not last or regression_run == 0:
        found |= {key: Plan(DATA, "fail", "fail") for key in of.get("random", [])[:2]}
    if regression_run == 0:
        found |= {key: Plan(HANG, "hang", "hang") for key in of.get("corner", [])[:1]}
        return found
    found |= {key: Plan(STATUS, "fail", "fail") for key in of.get("illegal", [])[:3]}
    found |= {key: Plan(GUARD, "fail", "pass") for key in of.get("stress", [])[-1:]}
    found |= {key: Plan(lost=True) for key in of.get("stress", [])[:1]}
    found |= {key: Plan(missing=True) for key in of.get("directed", [])[:1]}
    return found


def outside(seed: int) -> OutsideGroup:
    """Returns ten facts, one of which the runs with an odd seed do not explain."""
    rows = [OutsideRow(name="PAD-4", verdict="unknown", why="A-16", text="fill")]
    if seed % 2:
        rows.append(OutsideRow(name="PAD-1", verdict="unexplained", why="no knob", text="40 B"))
    return OutsideGroup(file="dma_facts", source="PTOAS", agrees=10 - len(rows), rows=rows)


def _outcome(job: Job, plan: Plan, when: datetime, found: Coverage | None) -> Outcome:
    settings, times = job.settings, job.expected_seconds
    common = {
        "key": job.key,
        "kind": "run",
        "attempt": 2 if plan.lost else 1,
        "worker": "host-1:4711",
        "started": when,
        "ended": when + timedelta(seconds=times),
        "inputs": f"inputs of {job.config}",
    }
    if plan.missing:
        return Outcome.model_validate({**common, "error": "the record is missing: no record.json"})
    sent = settings.transactions if plan.state == "pass" else settings.transactions // 3
    failures = [plan.failure, LATER] if plan.failure else []
    record = RunRecord(
        status=plan.state,
        command=settings.command(),
        settings=settings,
        simulator=settings.sim,
        simulator_version="5.036" if settings.sim == "verilator" else "12.0",
        transactions=sent,
        bytes_checked=1600 * sent,
        clocks=90 * sent,
        mismatches=len(failures),
        failures=[failure.text for failure in failures],
        details=failures,
        exercised={"FIX-L17": 3} if settings.test == "illegal" else {},
        outside=[outside(settings.seed)] if settings.test == "illegal" else [],
        coverage=CoverageSummary(percent=found.percent if found else 0.0),
        times=Times(total=times, build=1.0, simulator=times / 2, python=times / 4),
    )
    text = json.dumps(to_json(found)) if found else ""
    return Outcome.model_validate({**common, "record": record, "coverage": text})


def add_regression(
    store: Store,
    when: datetime,
    *,
    runs: int = 24,
    number: int = 0,
    last: bool = False,
    left: int = 0,
    duts: Sequence[str] = (),
    regression: str = "nightly",
    counted: int = 1,
    ended: bool = True,
    noted: bool = True,
    mix: int = 6,
    plans: Plans | None = None,
    cover: Callable[[int], Coverage] | None = None,
    items: Sequence[str] = (),
) -> str:
    """Adds a regression run and returns its name.

    Args:
        store: The database.
        when: Its start.
        runs: Planned runs.
        number: How many came before it; decides what fails, and what is covered.
        last: The data mismatch is gone.
        left: Runs that the budget did not allow.
        duts: Manifests under test.
        regression: Name of the regression.
        counted: Every so-manieth run has coverage.
        ended: Without it the coordinator was killed at the end.
        noted: The coordinator noted the worker that it lost.
        mix: Kinds of runs, the first of ``MIX``.
        plans: Gives the runs that do not simply pass, with what becomes of them.
        cover: Gives the coverage of a run by its place.
        items: Names that chose the runs.
    """
    with patch("tb.regress.results.regressions.now_utc", lambda: when):
        name = store.begin_regression(
            regression=regression,
            signature="made",
            base_seed=20261119,
            budget_seconds=600.0,
            duts=duts,
            command=COMMAND,
            folder_root="sim_build/nightly",
            commit="a0c4f83d19e27b64c5510fd0c1a3e6b2f7889d04+",
            options={"items": items},
        )
    planned = jobs(runs, duts, mix)
    store.plan_runs(name, planned, "manifests")
    for config in dict.fromkeys(job.config for job in planned):
        store.note_build(name, config, inputs=f"inputs of {config}", seconds=30.0)
    wanted = plans(planned) if plans else _plans(planned, number, last)
    seen: set[str] = set()
    for at, job in enumerate(planned[: len(planned) - left]):
        plan = wanted.get(job.key, Plan())
        if plan.lost:
            store.lose(
                name, Lost(key=job.key, attempt=1, worker="host-1:99", why="killed by SIGKILL")
            )
        found = None
        if at % counted == 0:
            share = 0.02 + 0.02 * number
            found = cover(at) if cover else coverage(job.settings.gm_width, at, share)
        done = _outcome(job, plan, when + timedelta(seconds=at), found)
        state: RunState = "error" if plan.missing else plan.state
        identity = f"{job.key} {when:%Y%m%d%H%M}"[-64:]
        run, bucket = write(store, name, done, state, identity)
        if plan.again and bucket and bucket not in seen:
            seen.add(bucket)
            _again(store, run, done, plan.again, identity)
    if ended:
        _end(store, name, when + timedelta(seconds=400 + 10 * number), left, noted=noted)
    return name


def outcome(job: Job, when: datetime, failure: Failure | None = None) -> Outcome:
    """Returns what a worker hands back of a run that passed, or failed with ``failure``."""
    return _outcome(job, Plan(failure, "fail" if failure else "pass"), when, None)


def write(
    store: Store, regression_run: str, outcome: Outcome, state: RunState, identity: str
) -> tuple[int, str]:
    """Writes an outcome as coordinators do; returns the run's number and its bucket, or none."""
    folder = f"sim_build/nightly/{regression_run}/runs/{outcome.key}/1" if state != "pass" else ""
    found = store.finish_run(regression_run, outcome, state=state, identity=identity, folder=folder)
    assert found is not None
    return found.id, found.bucket


SHRUNK = Shrunk(
    *("runs/one/1/shrunk.pto", "module { }", 12, 1, "make program PROGRAM=shrunk.pto"),
    differs="mte2: 1st done: reference tag 1, DUT none",
)
"""Of each failure that was run again."""


def _again(store: Store, run: int, outcome: Outcome, state: RunStatus, identity: str) -> None:
    assert outcome.record is not None
    record = outcome.record.model_copy(update={"status": state})
    folder = f"sim_build/nightly/rerun-{outcome.key}"
    again = outcome.model_copy(
        update={
            "kind": "rerun",
            "record": record,
            "waves": f"{folder}/waves.fst",
            "timeline": f"{folder}/timeline.json",
            "shrunk": SHRUNK,
        }
    )
    store.note_rerun(run, again, state=state, identity=identity)


def _end(store: Store, name: str, when: datetime, left: int, *, noted: bool) -> None:
    merged = store.merged([name])
    with patch("tb.regress.results.regressions.now_utc", lambda: when):
        store.end_regression(
            name,
            "budget" if left else "complete",
            Figures(wall_seconds=400.0, workers=2),
            coverage=merged.percent,
            groups={group: counts.percent for group, counts in merged.groups.items()},
            code={"mte2": {"line": (90, 100), "branch": (40, 80)}, "fix": {"line": (50, 100)}},
            notes=[f"{LOST}: worker host-1:99 was lost (killed by SIGKILL), begun again"][:noted],
        )


def make(store: Store) -> list[str]:
    """Adds three regression runs, a day apart; the budget left two runs of the last one."""
    return [
        add_regression(
            store, START + number * timedelta(days=1), number=number, last=last, left=2 * last
        )
        for number, last in enumerate((False, False, True))
    ]
