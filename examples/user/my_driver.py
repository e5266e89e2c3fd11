# SPDX-License-Identifier: Apache-2.0
"""A driver in the place of ours: it holds back the first descriptor of every block."""

import pyuvm
from pyuvm import ConfigDB, uvm_factory

from tb.env.base_test import MailboxDriver, PtoTestBase, RandomSeq, SlotItem

LATE_CLOCKS = 250


class LateDriver(MailboxDriver):
    """Offers the first descriptor of every item late, and counts how often."""

    def build_phase(self) -> None:
        """Fetches what the run is configured with."""
        super().build_phase()
        self.run = ConfigDB().get(self, "", "RUN")
        self.clocks = ConfigDB().get(self, "", "LATE_CLOCKS")

    async def drive(self, item: SlotItem) -> None:
        """Changes the item and hands it on."""
        item.gaps[0] = self.clocks
        self.run.counts.injected["late descriptors"] += 1
        await super().drive(item)


@pyuvm.test()
class LateDriverTest(PtoTestBase):
    """Random ops of every form whose first one is late on each slot."""

    transactions = 1000

    def configure(self) -> None:
        """Puts the driver where the agents ask for theirs, and tells it how late."""
        uvm_factory().set_type_override_by_type(MailboxDriver, LateDriver)
        ConfigDB().set(None, "*", "LATE_CLOCKS", LATE_CLOCKS)

    async def stimulate(self) -> None:
        """Sends N random ops."""
        settings = self.run.settings
        sequence = RandomSeq(
            seed=settings.seed,
            transactions=settings.transactions,
            ops=settings.ops,
            constraints=self.narrowed(),
            filter_chain=self.filter_chain(),
        )
        await sequence.start(self.env.sequencer)
