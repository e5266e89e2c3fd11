# SPDX-License-Identifier: Apache-2.0
"""A user's test: small padded loads in bursts, with a slow memory."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyuvm

from sequences.constraints import SizeClass
from tb.env.base_test import OpConstraints, PtoTestBase, RandomSeq
from tb.isa.block import OpBlock


class BurstySeq(RandomSeq):
    """Random ops, every eighth offered 400 clocks late, the others at once."""

    def blocks(self) -> Iterator[OpBlock]:
        """Yields the blocks of a generator with other gaps."""
        for block in super().blocks():
            late = np.arange(len(block)) % 8 == 7
            yield replace(block, gap=np.where(late, 400, 0))


@pyuvm.test()
class SmallLoadsTest(PtoTestBase):
    """Small padded loads, with a slow memory."""

    transactions = 2000
    sends = ("mte_gm_ub",)

    def constraints(self) -> OpConstraints:
        """Returns the constraints."""
        return replace(
            super().constraints(),
            sizes=(SizeClass(64, 512, 1.0),),
            pad=1.0,
            saturate=0.0,
            far=0.0,
            residue=0.0,
        )

    async def stimulate(self) -> None:
        """Slows the memory down and sends the loads."""
        self.run.mailbox.set_knobs(axi_read_latency=100, stall_r=64)
        settings = self.run.settings
        sequence = BurstySeq(
            seed=settings.seed,
            transactions=settings.transactions,
            ops=self.sends,
            constraints=self.narrowed(),
            filter_chain=self.filter_chain(),
        )
        await sequence.start(self.env.sequencer)
