# SPDX-License-Identifier: Apache-2.0
"""Rates of the streams of ``TEST=speed`` and overhead of some ops, for ``make bench``.

The rate of a :class:`Workload` is measured on ops back to back, the overhead on blocks of them,
checked against self-driven. Options of the run: those of workload.py, ``latencies`` of GM for the
rates, ``bytes`` that the ops of one overhead write.
"""

from __future__ import annotations

import pyuvm

from sequences.streams.speed import speed_streams
from sequences.streams.tiles import HALF, scaled, tile
from sequences.streams.workload import Workload, local_copies, repack
from sequences.uvm import BlockItem
from tb.benchmark.figures import LOCAL_LATENCY, Overhead, Rate
from tb.benchmark.workload import HarnessBench, Timer
from tb.harness.knobs import PROFILES
from tb.isa.block import from_ops
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import MteL0cGm, PreRelu
from tb.isa.op import replace
from tb.isa.ops import SLOTS

RATE_OPS = 8
"""Ops back to back for a rate."""


def rated(width: int) -> list[Workload]:
    """Returns the streams whose latency and number of ops are free; words have ``width`` bytes."""
    return [work for work in speed_streams(width) if work.places > 1 and not work.far]


def timed(width: int) -> list[Workload]:
    """Returns 2 KiB matrices, local copies, a usual tile of a write-back, one that fills L0C."""
    f16, relu = Ptr("f16", "gm"), PreRelu("scalar_relu", HALF)
    half = scaled("qf322f16_pre_scalar")
    small = MteL0cGm(0, 0, 32, 32, 32, 32, pre_quant=half, pre_relu=relu, dst_type=f16)
    large = replace(small, m=256, n=256, src_stride=256, dst_stride=256)
    step = large.m * large.n * 2
    return [
        *(repack(mode, 16, 64) for mode in ("nd2nz", "dn2nz")),
        *(work for work in local_copies(width) if work.bytes == 8192),
        tile("32 x 32 f16 to GM", small, 16, 32),
        replace(
            tile("256 x 256 f16 to GM", large, 16), make=lambda k: replace(large, dst=k * step)
        ),
    ]


@pyuvm.test()
class OpsBench(HarnessBench):
    """Rates at every latency, and the overhead of the bench over the simulation."""

    async def measure(self) -> None:
        """Fills rates and overheads."""
        width = self.run.settings.local_width // 8
        for latency in self.option("latencies"):
            self.run.mailbox.set_knobs(
                axi_read_latency=latency,
                axi_write_latency=latency,
                local_read_latency=min(latency, LOCAL_LATENCY),
            )
            for work in rated(width):
                await self._rate(work, latency)
        self.apply_profile(PROFILES[0])
        for work in timed(width):
            await self._both(work, 1)
            rounds = self.option("bytes") // (work.bytes * work.places)
            for _ in range(self.option("repetitions")):
                self.found.overheads.append(await self._both(work, max(1, rounds)))

    async def _rate(self, work: Workload, latency: int) -> None:
        ops = [work.make(k % work.places) for k in range(min(RATE_OPS, work.places))]
        single = await self.clocks(ops[:1], work.ctrl)
        cycles = await self.clocks(ops, work.ctrl)
        self.found.rates.append(
            Rate(
                name=work.name,
                engine=work.slot,
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
        alone = await self.unchecked(blocks, SLOTS.index(work.slot), work.name)
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
