# SPDX-License-Identifier: Apache-2.0
"""A sequence override: pauses between the blocks of the random test."""

import pyuvm
from cocotb.triggers import Timer
from pyuvm import uvm_factory

from tb.env.base_test import ItemSeq
from tb.env.tests.traffic import RandomTest

PAUSE_NS = 5000


class PausingSeq(ItemSeq):
    """Leaves the engines idle after each block, so that their clocks stop."""

    async def body(self) -> None:
        """Sends the items, with a pause after each."""
        for item in self.items:
            await self.start_item(item)
            await self.finish_item(item)
            self.sent += len(item.block)
            await Timer(PAUSE_NS, "ns")


@pyuvm.test()
class PausingTest(RandomTest):
    """The random test of the plan, with pauses."""

    transactions = 1000

    def configure(self) -> None:
        """Overrides the sequence of the tests in the plan."""
        super().configure()
        uvm_factory().set_type_override_by_type(ItemSeq, PausingSeq)
