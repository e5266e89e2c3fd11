# SPDX-License-Identifier: Apache-2.0
"""Coverage of a run as files in its folder: the table of holes, and the folded code coverage."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.coverage.export.code import CodeCounts
from tb.coverage.export.code_files import fold
from tb.coverage.export.exchange import from_json
from tb.coverage.model import Coverage
from tb.coverage.table import table
from tb.run.folder import CODE_COUNTS, CODE_COVERAGE, COVERAGE, COVERAGE_TABLE
from tb.run.plan import RunPlan

MOST_HOLES = 1000
"""Holes of each group that the table in the run's folder names."""


@dataclass(frozen=True)
class RunCoverage:
    """Coverage of a run; a run passes without it, too.

    Attributes:
        functional: Functional coverage to show; None where there is none, and for programs: a few
            chosen ops have holes everywhere.
        table: File with every hole.
        code: Code coverage, or None.
        code_file: Its file.
        code_missing: Why there is none, or empty where it was not asked for.
    """

    functional: Coverage | None
    table: Path
    code: CodeCounts | None
    code_file: Path
    code_missing: str = ""


def write_coverage(plan: RunPlan) -> RunCoverage:
    """Writes the coverage files of a run that has ended and returns what they hold."""
    folder, functional = plan.folder, None
    if (folder / COVERAGE).exists():
        functional = from_json(json.loads((folder / COVERAGE).read_text()))
        (folder / COVERAGE_TABLE).write_text(table(functional, holes=MOST_HOLES) + "\n")
    code, missing = None, ""
    if plan.build.code_coverage and not (folder / CODE_COVERAGE).exists():
        missing = "the simulator was ended before it wrote its counts"
    elif plan.build.code_coverage:
        try:
            code = fold(folder / CODE_COVERAGE, folder / CODE_COUNTS, ROOT)
        except PtoError as error:
            missing = str(error)
    shown = None if plan.settings.programs else functional
    return RunCoverage(shown, folder / COVERAGE_TABLE, code, folder / CODE_COUNTS, missing)
