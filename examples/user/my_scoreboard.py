# SPDX-License-Identifier: Apache-2.0
"""A further check in the scoreboard: a limit on the time of an op."""

import numpy as np
import pyuvm
from pyuvm import ConfigDB, uvm_factory

from tb.env.base_test import Batch, Scoreboard
from tb.env.tests.traffic import RandomTest

MOST_CLOCKS = 1_000_000


class TimedScoreboard(Scoreboard):
    """Fails ops that take more than ``MOST_CLOCKS`` from acceptance to done."""

    def build_phase(self) -> None:
        """Reads the limit."""
        super().build_phase()
        self.most = ConfigDB().get(self, "", "MOST_CLOCKS")

    def write(self, batch: Batch) -> None:
        """Checks a batch as usual, then its times."""
        super().write(batch)
        for slot, records in batch.done.items():
            clocks = records["done_cycle"] - records["accept_cycle"]
            for position in np.flatnonzero(clocks > self.most).tolist():
                number = batch.first + int(batch.order[slot][position])
                self.run.fail(
                    f"MISMATCH: transaction {number} took {clocks[position]} clocks, "
                    f"at most {self.most} are allowed\n  repeat: {self.run.command}"
                )


@pyuvm.test()
class TimedTest(RandomTest):
    """The random test of the plan with a limit on the time of an op."""

    transactions = 1000

    def configure(self) -> None:
        """Overrides the scoreboard of the environment."""
        super().configure()
        uvm_factory().set_type_override_by_type(Scoreboard, TimedScoreboard)
        ConfigDB().set(None, "*", "MOST_CLOCKS", MOST_CLOCKS)
