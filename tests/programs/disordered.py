# SPDX-License-Identifier: Apache-2.0
"""A replay without the links between ops: shows that the tests of flags can fail."""

from __future__ import annotations

from dataclasses import replace

import pyuvm

from tb.language.order.order import Order
from tb.language.trace import Trace
from tb.programs.job import ProgramJob
from tb.programs.replay_test import ProgramTest


@pyuvm.test()
class DisorderedTest(ProgramTest):
    """Drops the links of programs with a title that begins with ``disordered``."""

    def program(self, job: ProgramJob) -> tuple[Trace, Order]:
        """Returns a program without links between its ops."""
        trace, order = super().program(job)
        if job.title.startswith("disordered"):
            order = replace(order, after={}, held={})
        return trace, order
