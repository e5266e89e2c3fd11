# SPDX-License-Identifier: Apache-2.0
"""Folders of the project."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Top of the project."""

BUILD_ROOT = ROOT / "sim_build"
"""Build products and results of runs; never committed."""

HDL = ROOT / "tb/hdl"
"""Verilog of the harness, and Verilator's main loop."""

MEMORY = HDL / "memory"
"""The memories and the mailbox in C."""

SETTINGS_ENV = "PTO_SETTINGS"
"""Environment variable with the path of the settings file a simulation reads."""

RESULT_ENV = "PTO_RESULT"
"""Environment variable with the path of the result file a simulation writes at its end."""


def resolved(path: Path) -> Path:
    """Returns an absolute path without links; links in a circle stay, and opening them fails."""
    return Path(os.path.realpath(path))


def relative(path: Path) -> str:
    """Returns a path relative to the top of the project, if it is below it."""
    try:
        return str(resolved(path).relative_to(ROOT))
    except ValueError:
        return str(path)
