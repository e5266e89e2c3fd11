# SPDX-License-Identifier: Apache-2.0
"""The pyuvm tests that ``make bench`` runs; measure.py starts them and evaluates the figures.

Options of the run: ``file`` for the measurements, ``repetitions`` of each, ``copies`` as pairs of
bytes and transactions.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import pyuvm
from cocotb.queue import Queue
from cocotb.triggers import RisingEdge
from cocotb_bus.bus import Bus
from numpy.typing import NDArray
from pyuvm import ConfigDB

from sequences.constraints import OpConstraints, SizeClass
from sequences.draw.copies import CopyGenerator
from sequences.streams.workload import stream
from tb.benchmark.figures import Copies, Measurements
from tb.common.files import write_json
from tb.env.pins import DESC_SIGNALS, DONE_SIGNALS, descriptor_value
from tb.env.python_axi import PythonAxiMemory, start_clock
from tb.env.stopwatch import Stopwatch
from tb.env.tests.speed import BatchTap
from tb.env.tests.traffic import RandomTest
from tb.harness.items import MAX_IN_FLIGHT
from tb.harness.knobs import PROFILES, KnobProfile
from tb.harness.mailbox import Mailbox
from tb.isa.block import OpBlock, from_ops
from tb.isa.dma.op import MteGmUb
from tb.isa.op import Op, replace
from tb.isa.ops import SLOTS
from tb.isa.spaces import SIZES, Space, ub_space

OP = "mte_gm_ub"
SLOT = SLOTS.index("mte2")

BLOCK_OPS = 256
"""Copies in a block, or as many as the destinations in both UBs hold."""

IN_FLIGHT = 4
"""Descriptors in flight where Python drives the pins: the engines queue at least as many."""


def copies_of(size: int, bus_bytes: int) -> OpConstraints:
    """Returns constraints of copies that are one row of ``size`` bytes, GM address at random."""
    return OpConstraints(
        block_ops=BLOCK_OPS,
        bus_bytes=bus_bytes,
        sizes=(SizeClass(size, size, 1.0),),
        max_bytes=size,
        max_rows=1,
        max_loops=0,
        loops=(1.0, 0.0, 0.0, 0.0),
        far=0.0,
        pad=0.0,
        dependent=0.0,
        nop=0.0,
        reread=0.0,
        residue=0.0,
        edge=0.0,
        gap=0.0,
    )


class Timer:
    """Processor seconds, wall seconds and clocks since its creation.

    Simulator and Python share one process and one thread, so processor time equals wall time on an
    otherwise idle machine.
    """

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._clocks = mailbox.cycles
        self._wall = time.perf_counter()
        self._start = time.process_time()

    def stop(self) -> dict[str, Any]:
        """Returns the elapsed times, as arguments of :class:`Copies`."""
        return {
            "seconds": time.process_time() - self._start,
            "wall": time.perf_counter() - self._wall,
            "clocks": self._mailbox.cycles - self._clocks,
        }


class CopyBench(RandomTest):
    """Base class of both benches: draws, options, and the file of measurements."""

    sends = (OP,)
    drawn_from: OpConstraints
    found: Measurements

    @property
    def harness(self) -> Any:
        """Top of the simulation; its signals exist only there."""
        return cocotb.top

    def constraints(self) -> OpConstraints:
        """Returns the constraints of the copies being measured."""
        return self.drawn_from

    def sends_illegal_ops(self, settings: Any) -> bool:  # noqa: ARG002 (of the base)
        """Copies are legal."""
        return False

    def random_profile(self) -> KnobProfile:
        """Memories without latency or stalls, whatever is measured."""
        return PROFILES[0]

    def option(self, name: str) -> Any:
        """Returns an option of the run."""
        return self.run.settings.options[name]

    def use(self, size: int, transactions: int, seed: int) -> None:
        """Sets up the generator to draw ``transactions`` copies of ``size`` bytes."""
        self.drawn_from = copies_of(size, self.run.settings.gm_width // 8)
        settings = self.run.settings.model_copy(
            update={"transactions": transactions, "seed": seed, "ops": (OP,)}
        )
        self.run.config = self.run.config.model_copy(update={"run": settings})

    def draw(self) -> list[OpBlock]:
        """Returns the blocks that :meth:`items` sends."""
        settings = self.run.settings
        generator = CopyGenerator(settings.seed, settings.ops, self.drawn_from)
        return list(generator.blocks(settings.transactions))

    measure: Callable[[], Awaitable[None]]
    """Fills ``self.found``; each bench overrides it."""

    async def stimulate(self) -> None:
        """Measures, and writes the measurements."""
        self.found = Measurements()
        await self.measure()
        write_json(Path(self.option("file")), self.found)


@pyuvm.test()
class HarnessBench(CopyBench):
    """Copies with and without the checking side."""

    def configure(self) -> None:
        """Makes the subscriber for done records, and counts the processor's time."""
        self.run.stopwatch = Stopwatch(time.process_time)
        ConfigDB().set(None, "*", "STOPWATCH", self.run.stopwatch)
        self.tap = BatchTap.create("tap", self)

    def connect_phase(self) -> None:
        """Connects the subscriber."""
        self.env.dispatcher.batch_ap.connect(self.tap.analysis_export)

    async def measure(self) -> None:
        """Alternates the ways, so that a slow phase of the machine affects all of them."""
        seed = self.run.settings.seed
        self.apply_profile(PROFILES[0])
        for size, transactions in self.option("copies"):
            # First uses are slow: imports, pages touched, caches filled.
            self.use(size, transactions // 4, seed)
            await self.self_driven(size)
            await self.checked(size)
        for repetition in range(self.option("repetitions")):
            for size, transactions in self.option("copies"):
                self.use(size, transactions, seed + repetition)
                self.found.copies.append(await self.self_driven(size))
                self.found.copies.append(await self.checked(size))

    async def self_driven(self, size: int) -> Copies:
        """Times the copies in batches that fill the ring; Python wakes at the end of each."""
        blocks = self.draw()
        spent = await self.unchecked(blocks, SLOT, f"copies of {size} bytes")
        return Copies(
            way="self-driven",
            bytes=size,
            transactions=sum(map(len, blocks)),
            **spent,
        )

    async def unchecked(self, blocks: Sequence[OpBlock], slot: int, what: str) -> dict[str, Any]:
        """Runs blocks of one slot from its descriptor ring; returns the times of :class:`Timer`.

        Nothing is compared inside the measured time: the next full comparison checks the bytes.
        """
        words = np.concatenate([block.pack() for block in blocks])
        mailbox, dispatcher = self.run.mailbox, self.env.dispatcher
        timer = Timer(mailbox)
        for first in range(0, len(words), MAX_IN_FLIGHT):
            batch = words[first : first + MAX_IN_FLIGHT]
            mailbox.submit_block(slot, batch, 0)
            dispatcher.submitted[slot] += len(batch)
            mailbox.set_wake_at(tuple(dispatcher.submitted))
            await self.harness.wake.value_change
            done = mailbox.poll_done(slot)
            if len(done) < len(batch) or done["status"].any():
                self.run.fail(f"self-driven {what} did not all retire well")
        spent = timer.stop()
        model = self.env.scoreboard.expected.model
        for block in blocks:
            for ops in block.program():
                for op in ops:
                    model.apply(model.issue(op))
        return spent

    async def checked(self, size: int) -> Copies:
        """Times the copies as the random test sends and checks them."""
        watch, mailbox = self.run.stopwatch, self.run.mailbox
        phases, waited = dict(watch.seconds), watch.simulator
        timer = Timer(mailbox)
        await RandomTest.stimulate(self)
        spent = timer.stop()
        split = {name: watch.seconds[name] - before for name, before in phases.items()}
        simulator = watch.simulator - waited
        split["other"] = max(0.0, spent["seconds"] - simulator - sum(split.values()))
        return Copies(
            way="checked",
            bytes=size,
            transactions=self.run.settings.transactions,
            python=split,
            **spent,
        )

    async def clocks(self, ops: Sequence[Op], ctrl: int = 0) -> int:
        """Runs ops back to back, checked; returns clocks from the first accept to the last done.

        CTRL is ``ctrl`` at the issue of each.
        """
        await self.send(stream(ops, ctrl))
        (records,) = self.tap.last.done.values()
        return int(records["done_cycle"][-1]) - int(records["accept_cycle"][0])


@pyuvm.test()
class PythonAxiBench(CopyBench):
    """Copies with a per-beat Python AXI memory as GM and descriptors driven by Python."""

    def configure(self) -> None:
        """Connects the memory to the engine's pins, and starts the clock."""
        self.gm = PythonAxiMemory(self.run.memory.library)
        self.gm.connect(self.harness, self.run.slots)
        self.run.memory = self.gm
        start_clock(self.harness)

    async def run_phase(self) -> None:
        """Measures without the environment's checks; the copies are compared here."""
        self.raise_objection()
        try:
            self.prepare_memory()
            await self.reset()
            await self.stimulate()
            self.run.write(complete=True)
        except BaseException:
            self.run.write(complete=False)
            raise
        self.drop_objection()

    async def measure(self) -> None:
        """Takes the descriptor channel over and times the copies."""
        self.harness.pin_mode.value = 1 << SLOT
        self.desc = Bus(self.harness, f"{SLOTS[SLOT]}_desc", DESC_SIGNALS)
        self.done = Bus(self.harness, f"{SLOTS[SLOT]}_done", DONE_SIGNALS)
        self.done.ready.value = 1
        self.retired: Queue[int] = Queue()
        cocotb.start_soon(self.watch_dones())
        seed = self.run.settings.seed
        for size, transactions in self.option("copies"):
            self.use(size, transactions // 4, seed)
            await self.copies(size)
        for repetition in range(self.option("repetitions")):
            for size, transactions in self.option("copies"):
                self.use(size, transactions, seed + repetition)
                self.found.copies.append(await self.copies(size))

    async def watch_dones(self) -> None:
        """Queues the status of everything that retires; one wake per transaction."""
        while True:
            await RisingEdge(self.done.valid)
            self.retired.put_nowait(int(self.done.status.value))

    async def copies(self, size: int) -> Copies:
        """Offers the copies, a few in flight, and compares the bytes of each that is done."""
        programs = [program for block in self.draw() for program in block.program()]
        drawn = [op for (op,) in programs if isinstance(op, MteGmUb)]
        # Neighbours must not overlap in UB: the next copy may be writing while one is compared.
        places = SIZES[Space.UB0] // size
        ops = [
            replace(op, ub_dst=index % places * size, ub_sub=0) for index, op in enumerate(drawn)
        ]
        words = from_ops(ops).pack()
        timer = Timer(self.run.mailbox)
        offered = 0
        for number, op in enumerate(ops):
            while offered < min(number + IN_FLIGHT, len(ops)):
                await self.offer(words[offered])
                offered += 1
            self.compare(op, await self.retired.get())
        # No scoreboard counts these.
        self.run.counts.transactions += len(ops)
        self.run.counts.bytes_checked += sum(op.len_burst for op in ops)
        return Copies(
            way="Python AXI",
            bytes=size,
            transactions=len(ops),
            **timer.stop(),
        )

    async def offer(self, words: NDArray[np.uint32]) -> None:
        """Makes one handshake on the descriptor pins; the pins count half a clock later."""
        self.desc.data.value = descriptor_value(words)
        self.desc.valid.value = 1
        taken = False
        while not taken:
            # Python drives the clock: values sampled at a rising edge were valid before it.
            await RisingEdge(self.harness.clk)
            taken = bool(self.desc.ready.value)
        self.desc.valid.value = 0

    def compare(self, op: MteGmUb, status: int) -> None:
        """Compares the destination of a copy with its source."""
        found = self.gm.view(ub_space(op.ub_sub))[op.ub_dst : op.ub_dst + op.len_burst]
        if status or found.tobytes() != self.gm.read_gm(op.gm_src, op.len_burst):
            self.run.fail(f"a copy with the Python AXI memory is wrong, status {status}: {op}")
