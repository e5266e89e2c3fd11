# SPDX-License-Identifier: Apache-2.0
"""Places of the files and of the results database of regression runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from tb.common.paths import ROOT, resolved
from tb.regress.workers.farm_file import Farm

NIGHTLY = ROOT / "sim_build/nightly"
"""Root of all files of regression runs; ``make clean`` leaves it alone."""


def database_url(option: str, farm: Farm, folder: Path = NIGHTLY) -> str:
    """Returns the URL of the results database: an option, the farm's, or the usual file."""
    return option or farm.database.url or f"sqlite:///{resolved(folder) / 'results.db'}"


def database_option(where: str) -> str:
    """Returns the option that names a database, with a space before; nothing for the usual one."""
    usual = database_url("", Farm())
    return "" if where == usual else f" --db {shlex.quote(where)}"
