# SPDX-License-Identifier: Apache-2.0
"""The command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TextIO

from tb.common.paths import ROOT


def pto_dv(
    *arguments: str, output: int | TextIO = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Runs ``pto-dv`` with arguments in the project folder, and captures its output."""
    return subprocess.run(
        [sys.executable, "-m", "tb", *arguments],
        cwd=ROOT,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
