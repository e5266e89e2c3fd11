# SPDX-License-Identifier: Apache-2.0
"""A driver override: it delays the first descriptor of every block."""

import pyuvm
from pyuvm import ConfigDB, uvm_factory

from tb.env.base_test import MailboxDriver, PtoTestBase, RandomSeq, SlotItem

LATE_CLOCKS = 250


class LateDriver(MailboxDriver):
    """Offers the first descriptor of every item late, and counts these."""

    def build_phase(self) -> None:
        """Reads the configuration of the run."""
        super().build_phase()
        self.run = ConfigDB().get(self, "", "RUN")
        self.clocks = ConfigDB().get(self, "", "LATE_CLOCKS")

    async def drive(self, item: SlotItem) -> None:
        """Changes the item and passes it on."""
        item.gaps[0] = self.clocks
        self.run.counts.injected["late descriptors"] += 1
        await super().drive(item)


@pyuvm.test()
class LateDriverTest(PtoTestBase):
    """Random ops of every form, with the first one late on each slot."""

    transactions = 1000

    def configure(self) -> None:
        """Overrides the agents' driver, and sets the delay."""
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
