# SPDX-License-Identifier: Apache-2.0
"""A made-up regression run with everything that a page shows, read back from a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache, partial
from tempfile import TemporaryDirectory

import numpy as np

from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import Coverage
from tb.coverage.stress import GROUPS
from tb.regress.plan.testplan import load_testplan
from tb.regress.queries import history
from tb.regress.queries.views import RegressionView
from tb.regress.results.store import Store
from tb.regress.workers.job import Job
from tests.regress.made import LOST, MIX, START, Plan, Plans, add_regression
from tests.report.sample_code import sample_code
from tests.report.sample_failures import FAILURES

NOTHING = Coverage([])
"""Coverage for views whose pages about it do not matter; they are most of a report."""


def sample_coverage(seed: int, misses: float, _run: int = 0) -> Coverage:
    """Returns the real groups with invented hits; ``misses`` is the share of bins left out."""
    draw = np.random.default_rng(seed)
    real = FunctionalCoverage(32, illegal=True, stress=tuple(GROUPS)).groups
    found = Coverage([counts.group for counts in real.values()])
    for number, counts in enumerate(found.groups.values()):
        share = misses * (0.0, 0.2, 1.0, 3.0)[number % 4]
        for name, hits in counts.hits.items():
            values = np.rint(draw.lognormal(4.0, 2.0, len(hits))).astype(np.int64) + 1
            values[draw.random(len(hits)) < share] = 0
            hits += np.where(counts.wanted(name), values, 0)
    return found


def _plans(before: int) -> Plans:
    """Returns what fails ``before`` regression runs earlier; most fails in the last one only."""

    def plans(planned: Sequence[Job]) -> Mapping[str, Plan]:
        found: dict[str, Plan] = {}
        for failure, state, again, test, sim, runs, known in FAILURES.values():
            of = [
                job.key for job in planned if (job.settings.test, job.settings.sim) == (test, sim)
            ]
            if known >= before:
                found |= dict.fromkeys(of[1 : 1 + runs], Plan(failure, state, again))
        if not before:
            (directed, *_) = [job.key for job in planned if job.settings.test == "directed"]
            found |= {LOST: Plan(lost=True), directed: Plan(missing=True)}
        return found

    return plans


@cache
def sample_view(
    *, regression_runs: int = 5, runs: int = 300, failing: bool = True
) -> RegressionView:
    """Returns a regression run.

    Args:
        regression_runs: Regression runs in the trend, with this one; 1 for the first of a database.
        runs: Planned runs, at least 60.
        failing: With failures; without, every run passed, and the regression run is complete.
    """
    with TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/results.db") as store:
        for before in reversed(range(regression_runs)):
            name = add_regression(
                store,
                START - timedelta(days=before),
                runs=24 if before else runs,
                number=regression_runs - before,
                left=10 if failing and not before else 0,
                counted=runs,
                mix=len(MIX),
                plans=_plans(before) if failing else lambda _planned: {},
                cover=partial(sample_coverage, 1 + before, 0.06 + 0.02 * before),
                noted=failing and not before,
            )
        return history.view(store, name, load_testplan(), code=sample_code())
