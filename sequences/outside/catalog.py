# SPDX-License-Identifier: Apache-2.0
"""Every outside result as a case."""

from __future__ import annotations

from pathlib import Path

from sequences.outside.case import Case
from sequences.outside.elements import format_cases, writeback_cases
from sequences.outside.facts import fact_cases
from sequences.outside.images import layout_cases, nz_cases


def outside_cases(writeback: Path | None = None) -> list[Case]:
    """Returns the cases of all files.

    Args:
        writeback: A file to read in place of the writeback.csv of the repository.
    """
    return [
        *fact_cases(),
        *layout_cases(),
        *nz_cases(),
        *format_cases(),
        *writeback_cases(writeback),
    ]
