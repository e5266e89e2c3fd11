# SPDX-License-Identifier: Apache-2.0
"""Coverage of a run: files in its folder, and lines for the console.

A run passes without coverage, too.
"""

from __future__ import annotations

import json
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT, relative
from tb.common.text import percent_text
from tb.run.folder import CODE_COUNTS, CODE_COVERAGE, COVERAGE, COVERAGE_TABLE
from tb.run.plan import RunPlan

MOST_HOLES = 1000
"""Holes of each group that the table in the run's folder names."""

LOWEST = 5
"""Groups that are printed, those with the least coverage."""


def write_coverage(plan: RunPlan) -> list[str]:
    """Writes the coverage files of a run that has ended; returns the lines to print.

    Functional coverage of programs has neither lines nor a table: a few chosen ops have holes
    everywhere, and to name them takes longer than the program.
    """
    code = _code(plan.folder) if plan.build.code_coverage else []
    if plan.settings.programs or not (plan.folder / COVERAGE).exists():
        return code
    return _functional(plan.folder) + code


def _functional(folder: Path) -> list[str]:
    """Writes the table of all holes; returns the groups with the least coverage, and odd hits."""
    from tb.coverage.export.exchange import from_json
    from tb.coverage.table import odd, table

    coverage = from_json(json.loads((folder / COVERAGE).read_text()))
    target = folder / COVERAGE_TABLE
    target.write_text(table(coverage, holes=MOST_HOLES) + "\n")
    lines = [""]
    lowest = sorted(coverage.groups.items(), key=lambda item: item[1].percent)[:LOWEST]
    for name, counts in lowest:
        hit = f"{counts.covered:>5} of {counts.total:>5} bins"
        lines.append(f"  {name:<17} {hit} {percent_text(counts.percent):>6} %")
    missing = coverage.total - coverage.covered
    return [
        *lines,
        f"  {missing} uncovered bins: see {relative(target)}",
        *odd(coverage),
    ]


def _code(folder: Path) -> list[str]:
    """Writes the folded code coverage; returns it by engine, or the reason why there is none."""
    if not (folder / CODE_COVERAGE).exists():
        return ["", "code coverage: none, the simulator was ended before it wrote its counts"]
    from tb.coverage.export.code_files import fold

    target = folder / CODE_COUNTS
    try:
        found = fold(folder / CODE_COVERAGE, target, ROOT).by_engine()
    except PtoError as error:
        return ["", f"code coverage: none, {error}"]
    lines = [""]
    for engine, totals in found.items():
        words = [
            f"{kind} {percent_text(100 * hit / every) if every else '-':>5} %"
            for kind, (hit, every) in totals.items()
        ]
        lines.append(f"  code of {engine:<9} {'  '.join(words)}")
    return [*lines, f"  its counts are in {relative(target)}"]
