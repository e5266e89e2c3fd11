# SPDX-License-Identifier: Apache-2.0
"""Writes pages and exports of a regression run.

Below its folder: ``report/index.html``, ``junit.xml`` and ``code/merged.dat.gz`` (code coverage).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tb.common.paths import ROOT
from tb.coverage.exclusions import Excluded, apply_exclusions
from tb.coverage.export.code import CodeCounts, code_view
from tb.coverage.export.code_exclusions import CodeExclusion, apply_code_exclusions
from tb.coverage.export.code_files import merged_readable, write
from tb.nightly.place import database_option
from tb.regress.plan.testplan import TestPlan
from tb.regress.queries import history, junit
from tb.regress.queries.views import Figures, RegressionStatus, RegressionView
from tb.regress.results.store import Store
from tb.report import site

EXCLUSIONS = ROOT / "tb/regress/plan/exclusions.toml"
"""Bins, and points of code coverage, that are not to count, with reasons."""

MERGED = "merged.dat.gz"
"""Code coverage of a whole regression run, in its folder ``code``."""


class Publisher:
    """Ends a regression run and writes its files; code coverage is read once for both.

    Args:
        store: The database.
        regression_run: Name of the regression run.
        folder: Where its files are.
        exclusions: Bins that are not to count.
        code_exclusions: Points of code coverage that are not to count.
    """

    def __init__(
        self,
        store: Store,
        regression_run: str,
        folder: Path,
        exclusions: Sequence[Excluded],
        code_exclusions: Sequence[CodeExclusion],
    ) -> None:
        self._store = store
        self._regression_run = regression_run
        self._folder = folder
        self._exclude = partial(apply_exclusions, exclusions)
        self._counts, self._notes = code_counts(folder, code_exclusions)

    def conclude(self, status: RegressionStatus, figures: Figures, notes: Sequence[str]) -> None:
        """Ends the regression run in the database, with the totals of its coverage.

        Raises:
            PtoError: the database cannot be written.
        """
        coverage = self._store.merged([self._regression_run])
        self._exclude(coverage)
        self._store.end_regression(
            self._regression_run,
            status,
            figures,
            coverage=coverage.percent if coverage.total else None,
            groups={name: group.percent for name, group in coverage.groups.items()},
            code=self._counts.by_engine() if self._counts else {},
            notes=[*notes, *self._notes],
        )

    def publish(self, plan: TestPlan) -> RegressionView:
        """Writes pages and JUnit XML, and returns what they show.

        Raises:
            PtoError: the database cannot be read or the folder not be written.
        """
        counts, folder = self._counts, self._folder
        view = history.view(
            self._store,
            self._regression_run,
            plan,
            code=code_view(counts, ROOT) if counts else None,
            exclude=self._exclude,
            database=database_option(self._store.where),
        )
        if counts:
            write(counts, folder / "code" / MERGED)
        junit.write(view, folder / "junit.xml")
        site.write(view, folder / "report")
        return view


def code_counts(
    folder: Path, exclusions: Sequence[CodeExclusion]
) -> tuple[CodeCounts | None, list[str]]:
    """Returns the code coverage of a regression run, and messages about files and exclusions."""
    files = [path for path in sorted((folder / "code").glob("*.dat.gz")) if path.name != MERGED]
    if not files:
        return None, []
    counts, problems = merged_readable(files, ROOT)
    notes = [f"code coverage is not complete: {problem}" for problem in problems]
    return counts, notes + apply_code_exclusions(exclusions, counts)
