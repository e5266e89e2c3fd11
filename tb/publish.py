# SPDX-License-Identifier: Apache-2.0
"""Makes of a night in the database what people and other tools read.

Below the night's folder: ``report/index.html``, ``junit.xml``, ``coverage.ucis.xml`` (functional
coverage), ``code.info`` (code coverage, lcov) and ``code/merged.dat.gz``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tb.coverage.code import CodeCounts, code_view
from tb.coverage.code_files import merged_readable, write
from tb.coverage.exclusions import apply_exclusions, load_exclusions
from tb.coverage.lcov import write_lcov
from tb.coverage.ucis import Origin, write_ucis
from tb.dut import ROOT
from tb.regress import history, junit
from tb.regress.store import Store
from tb.regress.testplan import TestPlan
from tb.regress.views import FAILED, Figures, NightStatus, NightView
from tb.report import site

EXCLUSIONS = ROOT / "tests/exclusions.toml"
"""Bins that are not to count, with reasons."""

MERGED = "merged.dat.gz"
"""Code coverage of a whole night, in its folder ``code``."""


def conclude(
    store: Store,
    night: str,
    folder: Path,
    status: NightStatus,
    figures: Figures,
    notes: Sequence[str],
) -> None:
    """Ends a night in the database, with the totals of its coverage.

    Raises:
        PtoError: the database cannot be written.
    """
    coverage = store.merged([night])
    apply_exclusions(load_exclusions(EXCLUSIONS), coverage)
    counts, unread = code_counts(folder)
    store.end_night(
        night,
        status,
        figures,
        coverage=coverage.percent,
        groups={name: group.percent for name, group in coverage.groups.items()},
        code=counts.by_engine() if counts else {},
        notes=[*notes, *unread],
    )


def code_counts(folder: Path) -> tuple[CodeCounts | None, list[str]]:
    """Returns the code coverage of a night's runs, and what could not be read of it."""
    files = [path for path in sorted((folder / "code").glob("*.dat.gz")) if path.name != MERGED]
    if not files:
        return None, []
    counts, problems = merged_readable(files, ROOT)
    return counts, [f"code coverage is not complete: {problem}" for problem in problems]


def publish(store: Store, night: str, folder: Path, plan: TestPlan) -> NightView:
    """Writes pages, JUnit XML, UCIS XML and lcov of a night and returns what they show.

    Raises:
        PtoError: the database cannot be read or the folder not be written.
    """
    counts, _ = code_counts(folder)
    exclusions = load_exclusions(EXCLUSIONS)
    view = history.view(
        store,
        night,
        plan,
        code=code_view(counts, ROOT) if counts else None,
        exclude=partial(apply_exclusions, exclusions),
    )
    folder.mkdir(parents=True, exist_ok=True)
    if counts:
        write(counts, folder / "code" / MERGED)
        write_lcov(counts, folder / "code.info", ROOT)
    junit.write(view, folder / "junit.xml")
    one = view.night
    origin = Origin(
        one.name,
        one.ended or one.started,
        passed=not any(run.state in FAILED for run in view.runs),
        command=one.command,
        seed=str(one.base_seed),
        version=one.commit or "0",
    )
    write_ucis(view.coverage, folder / "coverage.ucis.xml", origin)
    site.write(view, folder / "report")
    return view
