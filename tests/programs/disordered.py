# SPDX-License-Identifier: Apache-2.0
"""A replay that forgets what ops wait for: the test of the tests of flags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyuvm

from tb.language.trace import Trace
from tb.programs.job import ProgramJob
from tb.programs.replay_test import ProgramTest


@pyuvm.test()
class DisorderedTest(ProgramTest):
    """Forgets it in programs whose title begins with ``disordered``."""

    def program(self, job: ProgramJob) -> tuple[Trace, Any]:
        """Returns a program without links between its ops."""
        trace, order = super().program(job)
        if job.title.startswith("disordered"):
            order = replace(order, after={})
        return trace, order
