# SPDX-License-Identifier: Apache-2.0
"""Rates and overhead of ops other than the GM <-> UB copies, for ``make bench``.

The engine's rate of a :class:`Workload` is measured on ops back to back, the overhead on blocks of
them, checked against self-driven.
"""

from __future__ import annotations

import pyuvm

from sequences.streams.workload import (
    Workload,
    l0_loads,
    local_copies,
    repack,
    repacks,
    stores,
)
from sequences.uvm import BlockItem
from tb.benchmark.figures import Overhead, Rate
from tb.benchmark.workload import HarnessBench, Timer
from tb.harness.knobs import PROFILES
from tb.isa.block import from_ops
from tb.isa.ops import SLOTS

RATE_OPS = 8
"""Ops back to back for a rate."""

MAX_LOCAL_LATENCY = 63
"""Longest measured read latency of the local ports, which the engines' read-ahead covers."""

SMALL_SHAPES = (("nd2nz", 16, 64), ("dn2nz", 16, 64))
"""2 KiB matrices, for the overhead."""


@pyuvm.test()
class OpsBench(HarnessBench):
    """Rates at every latency, and the overhead of the bench over the simulation of small ops."""

    def rated(self, width: int) -> list[Workload]:
        """Returns the workloads of the rates; ``width`` is that of the local ports in bytes."""
        return [*repacks(), *local_copies(width), *l0_loads(), *stores(width)]

    def timed(self, width: int) -> list[Workload]:
        """Returns the workloads of the overhead."""
        small = [repack(*shape) for shape in SMALL_SHAPES]
        return [*small, *(work for work in local_copies(width) if work.bytes == 8192)]

    async def measure(self) -> None:
        """Fills rates and overheads."""
        width = self.run.settings.local_width // 8
        for latency in self.option("latencies"):
            local = min(latency, MAX_LOCAL_LATENCY)
            self.run.mailbox.set_knobs(
                axi_read_latency=latency, axi_write_latency=latency, local_read_latency=local
            )
            for work in self.rated(width):
                await self._rate(work, latency)
        self.apply_profile(PROFILES[0])
        for work in self.timed(width):
            await self._both(work, 1)
            for _ in range(self.option("repetitions")):
                self.found.overheads.append(await self._both(work, self.option("rounds")))

    async def _rate(self, work: Workload, latency: int) -> None:
        ops = [work.make(k % work.places) for k in range(min(RATE_OPS, work.places))]
        single = await self.clocks(ops[:1], work.ctrl)
        cycles = await self.clocks(ops, work.ctrl)
        self.found.rates.append(
            Rate(
                name=work.name,
                engine=ops[0].spec.slot,
                latency=latency,
                unit=work.unit,
                units=work.units * len(ops),
                ops=len(ops),
                cycles=cycles,
                single=single,
            )
        )

    async def _both(self, work: Workload, rounds: int) -> Overhead:
        """Times the same blocks self-driven and checked."""
        blocks = [from_ops([work.make(k) for k in range(work.places)]) for _ in range(rounds)]
        slot = SLOTS.index(work.make(0).spec.slot)
        alone = await self.unchecked(blocks, slot, work.name)
        watch = self.run.stopwatch
        waited, model = watch.simulator, watch.seconds["model"]
        timer = Timer(self.run.mailbox)
        await self.send_items([BlockItem(block) for block in blocks])
        spent = timer.stop()
        count = rounds * work.places
        return Overhead(
            name=work.name,
            bytes=work.bytes,
            checked=1e6 * spent["seconds"] / count,
            self_driven=1e6 * alone["seconds"] / count,
            python=1e6 * (spent["seconds"] - (watch.simulator - waited)) / count,
            model=1e6 * (watch.seconds["model"] - model) / count,
        )
