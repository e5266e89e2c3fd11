# SPDX-License-Identifier: Apache-2.0
"""Rates and overhead of ops other than the GM <-> UB copies, for ``make bench``.

Each :class:`Workload` is one op of a fixed shape, at other addresses each time. Its engine's rate
is measured on ops back to back, the overhead on blocks of them, checked against self-driven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyuvm

from sequences.uvm import BlockItem
from tb.benchmark.figures import Overhead, Rate
from tb.benchmark.workload import HarnessBench, Timer
from tb.harness.knobs import PROFILES
from tb.isa.block import from_ops
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.ctrl import TYPE_LSB
from tb.isa.dma.op import MteGmL1, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.table import ATOMIC_TYPES
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.lower import V06Op
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.ops import SLOTS
from tb.isa.spaces import UB_BLOCK

RATE_OPS = 8
"""Ops back to back for a rate."""

F16_BYTES = 2
C0_F16 = 16
C0_BYTES = 32
F32_ADD = ATOMIC_TYPES["f32"] << TYPE_LSB
MAX_LOCAL_LATENCY = 63
"""Longest measured read latency of the local ports, which the engines' read-ahead covers."""


@dataclass(frozen=True)
class Workload:
    """One op of a fixed shape.

    Attributes:
        name: Name in the report.
        unit: Unit of its rate.
        units: Of those in one op.
        bytes: Written by one op.
        places: Number of such ops with separate destinations.
        make: Returns the op at a place, 0 to ``places - 1``.
        ctrl: CTRL at its issue.
    """

    name: str
    unit: str
    units: int
    bytes: int
    places: int
    make: Callable[[int], V06Op]
    ctrl: int = 0


def _repack(mode: str, n: int, d: int) -> Workload:
    """An NZ repack of a tight ``n`` x ``d`` matrix of f16 to tight fractals."""
    blocks = n * -(-d // C0_F16)
    rows, row = (n, d * F16_BYTES) if mode == "nd2nz" else (d, n * F16_BYTES)
    size = blocks * C0_BYTES
    places = min((512 << 10) // size, 64)

    def make(place: int) -> V06Op:
        return MteGmL1Frac(place * rows * row, place * size, mode, n, d, row, 1, 1, n, 1)

    return Workload(f"{mode} {n} x {d} f16", "C0 blocks", blocks, size, places, make)


def _copies(width: int) -> list[Workload]:
    """Local copies of 8 KiB in one burst, a fill of single blocks, bias vectors, parameter rows.

    Words are of ``width`` bytes.
    """
    size = 8192
    f16, f32 = Ptr("f16", "l1"), Ptr("f32", "bt")
    return [
        Workload(
            "mte_gm_l1 8 KiB", "words", size // width, size, 32,
            lambda k: MteGmL1(k * size, k * size, size, 1, size, size),
        ),
        Workload(
            "raw_fill_l1 8 KiB", "C0 blocks", size // C0_BYTES, size, 32,
            lambda k: RawFillL1(2 * k * size, 0, 0x1234, size // C0_BYTES, 1, 1),
        ),
        Workload(
            "mte_l1_ub 8 KiB", "words", size // width, size, 32,
            lambda k: MteL1Ub(k * size, k * size, size // UB_BLOCK, 1, 0, 0),
        ),
        Workload(
            "mte_ub_l1 8 KiB", "words", size // width, size, 32,
            lambda k: MteUbL1(k * size, k * size, size // 32, 1, 0, 0),
        ),
        Workload(
            "mte_ub_ub 8 KiB", "words", size // width, size, 16,
            lambda k: MteUbUb(k * size, (16 + k) * size, size // 32, 1, 0, 0),
        ),
        Workload(
            "mte_l1_bt 128 f16", "words", 512 // width, 512, 8,
            lambda k: MteL1Bt(k * 256, k * 512, 128, 1, 0, 0, f16, f32),
        ),
        Workload(
            "mte_l1_fb 512 B", "words", 512 // width, 512, 8,
            lambda k: MteL1Fb(k * 512, k * 512, 8, 1, 0, 0),
        ),
    ]  # fmt: skip


def _loads() -> list[Workload]:
    """Loads of 32 KiB to L0, as they are and transposed, and of 2 KiB of scales."""
    size, control = 32768, (0, 0, 4, 16, 4, 4)
    plain, scaled = LOAD_CLASSES["mte_l1_l0a"], LOAD_CLASSES["mte_l1_l0a_mx"]
    types = Ptr("f16", "l1"), Ptr("f16", "l0a")
    scales = Ptr("f8E8M0", "l1"), Ptr("f8E8M0", "l0a")
    return [
        Workload(
            "mte_l1_l0a 32 KiB", "C0 blocks", size // C0_BYTES, size, 2,
            lambda k: plain(k * size, k * size, *control, 0, *types),
        ),
        Workload(
            "l1_l0a transposed", "C0 blocks", size // C0_BYTES, size, 2,
            lambda k: plain(k * size, k * size, 0, 0, 4, 16, 4, 16, 1, *types),
        ),
        Workload(
            "mte_l1_l0a_mx 2 KiB", "C0 blocks", 64, 2048, 2,
            lambda k: scaled(k * 2048, k * 16 * 2048, 0, 0, 4, 16, 16, 16, 0, *scales),
        ),
    ]  # fmt: skip


def _stores(width: int) -> list[Workload]:
    """Stores of 8 KiB, plain and atomic."""
    size = 8192
    types = Ptr("f32", "ub"), Ptr("f32", "gm")

    def make(place: int) -> V06Op:
        return MteUbGm(place * size, place * size, size, 1, 0, 0, (), 0, *types)

    words = size // width
    return [
        Workload("mte_ub_gm 8 KiB", "words", words, size, 32, make),
        Workload("ub_gm 8 KiB, f32 add", "words", words, size, 32, make, F32_ADD),
    ]


SHAPES = (("nd2nz", 64, 512), ("nd2nz", 512, 16), ("dn2nz", 64, 512), ("dn2nz", 512, 64))
"""Matrices of the rate measurement: long and short rows both ways."""

SMALL_SHAPES = (("nd2nz", 16, 64), ("dn2nz", 16, 64))
"""2 KiB matrices, for the overhead."""


@pyuvm.test()
class OpsBench(HarnessBench):
    """Rates at every latency, and the overhead of the bench over the simulation of small ops."""

    def rated(self, width: int) -> list[Workload]:
        """Returns the workloads of the rates; ``width`` is that of the local ports in bytes."""
        repacks = [_repack(*shape) for shape in SHAPES]
        return [*repacks, *_copies(width), *_loads(), *_stores(width)]

    def timed(self, width: int) -> list[Workload]:
        """Returns the workloads of the overhead."""
        small = [_repack(*shape) for shape in SMALL_SHAPES]
        return [*small, *(work for work in _copies(width) if work.bytes == 8192)]

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
