# SPDX-License-Identifier: Apache-2.0
"""Random traffic against an AXI memory that others wrote, for every engine.

Everything but the GM side is as in the random test: same generator, model, scoreboard. So an
error that our AXI memory and our protocol checker share is seen here.
"""

from __future__ import annotations

from dataclasses import replace

import cocotb
import pyuvm

from sequences.constraints import DmaConstraints, SizeClass
from tb.agents.python_axi import PythonAxiMemory, start_clock
from tb.knobs import KnobProfile
from tests.uvm.dma import RandomDmaTest

BLOCK_OPS = 8
SIZES = (SizeClass(1, 64, 0.3), SizeClass(65, 512, 0.4), SizeClass(513, 4096, 0.3))
MAX_BYTES = 8192
MAX_STALL = 0.5


@pyuvm.test()
class AxiRamDmaTest(RandomDmaTest):
    """Random legal ops with GM in ``cocotbext-axi`` RAMs that stall at random."""

    def configure(self) -> None:
        """Puts the RAMs where the C memory has its GM, and starts the clock."""
        memory = PythonAxiMemory(self.run.memory.library)
        memory.connect(cocotb.top, self.run.slots)
        self.gm = memory
        self.run.memory = memory
        start_clock(cocotb.top)

    def constraints(self) -> DmaConstraints:
        """Returns constraints of small ops inside the windows: each clock costs Python time."""
        return replace(
            super().constraints(),
            block_ops=BLOCK_OPS,
            crowd=0.0,
            sizes=SIZES,
            max_bytes=MAX_BYTES,
            max_rows=64,
            far=0.0,
        )

    def apply_profile(self, profile: KnobProfile) -> None:
        """Sets the local memory's timing, and how often the RAMs stall."""
        super().apply_profile(profile)
        chance = float(self.rng.choice((0.0, 0.1, MAX_STALL)))
        self.gm.stall(chance, int(self.rng.integers(2**31)))
