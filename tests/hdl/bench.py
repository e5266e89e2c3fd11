# SPDX-License-Identifier: Apache-2.0
"""cocotb tests that run in a simulation of copy_dma.v; test_harness.py starts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, with_timeout
from numpy.typing import NDArray

from tb.harness.layout import KNOBS, MailboxError
from tb.harness.mailbox import Mailbox
from tb.harness.memory import SimMemory
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space
from tests.hdl.mini import GM, LIBRARY_ENV, MTE2, MTE3, READ, WIDTH_ENV, WRITE, Fault, descriptor

WIDTH = int(os.environ[WIDTH_ENV]) // 8
"""Bytes of a bus word."""

IDLE_CLOCKS = 10
"""Clocks after which the clock of an idle slot stops: few, so that it stops in every test."""


class Bench:
    """Memories and mailbox for one test, as at the start of a simulation."""

    def __init__(self, dut: Any) -> None:
        library = os.environ[LIBRARY_ENV]
        self.dut = dut
        self.memory = SimMemory.attach(Path(library) if library else None)
        self.mailbox = Mailbox.attach(self.memory.library)
        self.gm = self.memory.view(Space.GM)
        self.ub = self.memory.view(Space.UB0)
        self.memory.set_background_seed(7)
        self.mailbox.set_knobs(
            **{
                name: knob.low
                for name, knob in KNOBS.items()
                if name not in ("max_outstanding", "idle_clocks")
            },
            max_outstanding=64,
            idle_clocks=IDLE_CLOCKS,
        )
        self.mailbox.set_watchdog_clocks(0)
        self.mailbox.clear_hang()
        self.mailbox.clear_faults()
        self.mailbox.poll_hits()
        self.mailbox.poll_errors()
        for slot in range(len(SLOTS)):
            self.mailbox.poll_done(slot)
        self._errors = self.mailbox.errors

    @property
    def errors(self) -> int:
        """Protocol errors of this test."""
        return self.mailbox.errors - self._errors

    async def reset(self) -> None:
        self.dut.rst_n_req.value = 0
        await Timer(50, "ns")
        self.dut.rst_n_req.value = 1
        await Timer(50, "ns")

    async def wait(self, *, timeout_us: int = 1000) -> None:
        """Waits until everything submitted has retired, or the watchdog fires."""
        counts = [self.mailbox.submitted(slot) for slot in range(4)]
        self.mailbox.set_wake_at(counts)
        await with_timeout(self.dut.wake.value_change, timeout_us, "us")

    async def run(self, slot: int, *words: NDArray[np.uint32]) -> NDArray[Any]:
        """Runs descriptors back to back and returns their done records."""
        first = self.mailbox.submitted(slot)
        self.mailbox.submit_block(slot, np.stack(words), np.arange(first, first + len(words)) & 255)
        await self.wait()
        return self.mailbox.poll_done(slot)


@cocotb.test()
async def copies(dut: Any) -> None:
    """Loads, a dependent store, wrapped rings, no message."""
    bench = Bench(dut)
    await bench.reset()
    words = 40
    size = words * WIDTH
    bench.memory.ensure(Space.GM, GM, size)
    source = bench.memory.background(Space.GM, GM, size)
    box = bench.mailbox
    assert box.slots == ("mte2", "mte3")
    before = [box.written_bytes(slot) for slot in range(4)]
    box.submit_block(MTE2, [descriptor(READ, words, GM, 0x1000)], [5])
    target = GM + 0x10_0000
    waits = [[0, box.submitted(MTE2), 0, 0]]
    box.submit_block(MTE3, [descriptor(WRITE, words, target, 0x1000)], [9], waits=waits)
    await bench.wait()
    loads, stores = box.poll_done(MTE2), box.poll_done(MTE3)
    written = loads["written_bytes"][0] - before[MTE2], stores["written_bytes"][0] - before[MTE3]
    assert written == (size, size)
    assert (bench.ub[0x1000 : 0x1000 + size] == source).all()
    assert (bench.gm[target : target + size] == source).all()
    assert loads["tag"].tolist() == [5]
    assert stores["tag"].tolist() == [9]
    assert stores["accept_cycle"][0] > loads["done_cycle"][0]
    pages = {(target + offset) >> 12 for offset in range(0, size, 64)}
    assert set(bench.memory.dirty_gm_pages().tolist()) == pages
    assert box.poll_errors() == []
    assert bench.errors == 0


@cocotb.test()
async def watchdog(dut: Any) -> None:
    """A descriptor that never retires is a hang, reported by a wake-up; a reset ends it."""
    bench = Bench(dut)
    box = bench.mailbox
    box.set_watchdog_clocks(200)
    await bench.reset()
    await Timer(5, "us")
    assert not box.hang, "an idle bench does not hang"
    box.submit_block(MTE2, [descriptor(READ, 4, GM, 0)], [1], gaps=[500])
    await bench.wait()
    assert not box.hang, "neither does one that waits for a gap"
    bad = descriptor(READ, 4, GM, 0, Fault.HANG)
    box.submit_block(MTE2, [bad, descriptor(READ, 4, GM, 0)], [2, 3])
    before = box.cycles
    await bench.wait()
    assert bench.mailbox.hang
    assert 200 <= box.cycles - before <= 230
    waiting = box.in_flight(MTE2)
    assert [entry.state for entry in waiting] == ["accepted", "offered"]
    assert waiting[0].tag == 2
    assert (waiting[0].words == bad).all()
    await bench.reset()
    box.clear_hang()
    assert box.in_flight(MTE2) == []
    assert box.retired(MTE2) == box.submitted(MTE2)
    assert box.poll_done(MTE2)["tag"].tolist() == [1]
    done = await bench.run(MTE2, descriptor(READ, 4, GM, 0))
    assert len(done) == 1
    assert done["status"][0] == 0
    assert not box.hang
    assert bench.errors == 0


@cocotb.test()
async def throughput(dut: Any) -> None:
    """A beat a clock in each direction, at any latency."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    words = 1024
    for latency in (1, 40, 100):
        box.set_knobs(axi_read_latency=latency, axi_write_latency=latency)
        for slot, opcode in ((MTE2, READ), (MTE3, WRITE)):
            (done,) = await bench.run(slot, descriptor(opcode, words, GM, 0))
            clocks = int(done["done_cycle"] - done["accept_cycle"])
            dut._log.info(f"{opcode=} {latency=} {clocks=}")
            assert words + latency <= clocks <= words + latency + 8, (slot, latency, clocks)
    # Both at once share only the memory.
    for slot, opcode, base in ((MTE2, READ, GM), (MTE3, WRITE, GM + 0x10_0000)):
        box.submit_block(slot, [descriptor(opcode, words, base, 0)], [7])
    await bench.wait()
    for slot in (MTE2, MTE3):
        (done,) = box.poll_done(slot)
        assert int(done["done_cycle"] - done["accept_cycle"]) <= words + 100 + 8
    assert bench.errors == 0


@cocotb.test()
async def exact_latency(dut: Any) -> None:
    """One-beat transfers show each latency clock by clock."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    base: dict[str, int] = {}
    for name, slot, opcode in (
        ("axi_read_latency", MTE2, READ),
        ("axi_write_latency", MTE3, WRITE),
        ("local_read_latency", MTE3, WRITE),
    ):
        for latency in (1, 2, 3, 17, 63):
            box.set_knobs(axi_read_latency=1, axi_write_latency=1, local_read_latency=1)
            box.set_knobs(**{name: latency})
            (done,) = await bench.run(slot, descriptor(opcode, 1, GM, 0))
            clocks = int(done["done_cycle"] - done["accept_cycle"])
            assert clocks - latency == base.setdefault(name, clocks - latency), (name, latency)
    assert bench.errors == 0


@cocotb.test()
async def stalls(dut: Any) -> None:
    """Every stall costs clocks and no byte; the same seed gives the same clocks."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    words = 300
    size = words * WIDTH
    names = [name for name in KNOBS if name.startswith("stall_")]
    clean = dict.fromkeys(names, 0)
    counts: dict[str, tuple[int, int]] = {}
    bench.memory.ensure(Space.GM, GM, size)

    async def both() -> tuple[int, int]:
        target = GM + 0x20_0000
        bench.memory.ensure(Space.GM, target, size)
        bench.gm[target : target + size] = 0
        (load,) = await bench.run(MTE2, descriptor(READ, words, GM, 0x800))
        (store,) = await bench.run(MTE3, descriptor(WRITE, words, target, 0x800))
        assert (bench.gm[target : target + size] == bench.gm[GM : GM + size]).all()
        clocks = [int(done["done_cycle"] - done["accept_cycle"]) for done in (load, store)]
        return clocks[0], clocks[1]

    fast = await both()
    for name in names:
        box.set_knobs(**{**clean, name: 128}, seed=5)
        counts[name] = await both()
        assert max(a - b for a, b in zip(counts[name], fast, strict=True)) >= 0
        box.set_knobs(**{**clean, name: 128}, seed=5)
        assert await both() == counts[name], name
    for name, index in (("stall_r", 0), ("stall_w", 1), ("stall_src_gnt", 1), ("stall_dst_gnt", 0)):
        assert 1.5 < counts[name][index] / fast[index] < 2.6, (name, counts[name], fast)
    box.set_knobs(**dict.fromkeys(names, 100), axi_read_latency=9, axi_write_latency=5)
    await both()
    box.set_knobs(w_after_aw=1)
    await both()
    box.set_knobs(max_outstanding=1)
    await both()
    # Ready is low until valid: two clocks a beat, and no ready at rest.
    rest = {"axi_read_latency": 1, "axi_write_latency": 1, "w_after_aw": 0, "max_outstanding": 64}
    box.set_knobs(**clean, **rest, ready_after_valid=255)
    slow = await both()
    assert all(1.6 < clocks / base < 2.6 for clocks, base in zip(slow, fast, strict=True))
    box.set_knobs()
    await ClockCycles(dut.clk, 2)
    for slot in (MTE2, MTE3):
        state = box.state(slot)
        assert state is not None
        for name in ("arready", "awready", "wready", "src_gnt", "dst_gnt", "done_ready"):
            assert not state.pins[name], (slot, name)
    box.set_knobs(ready_after_valid=0)
    assert await both() == fast
    assert bench.errors == 0


@cocotb.test()
async def memory_faults(dut: Any) -> None:
    """Injected errors and addresses past the limit come back with the right response."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    read = descriptor(READ, 8, GM, 0x1000)
    write = descriptor(WRITE, 8, GM, 0x1000)

    async def status(slot: int, words: NDArray[np.uint32]) -> int:
        return int((await bench.run(slot, words))["status"][0])

    for kind in (0, 1):
        box.set_fault(1, Space.GM, GM + 3 * WIDTH + 1, kind)
        assert await status(MTE2, read) == 2 + kind
        assert await status(MTE3, write) == 4 + kind
    box.clear_fault(1)
    assert await status(MTE2, read) == 0
    assert await status(MTE3, write) == 0
    box.set_fault(2, Space.UB0, 0x1000 + 4 * WIDTH + 5, 2)
    assert await status(MTE2, read) == 6
    assert await status(MTE3, write) == 6
    box.set_fault(2, Space.UB1, 0x1000 + 4 * WIDTH + 5, 2)
    assert await status(MTE2, read) == 0
    assert await status(MTE3, write) == 0
    box.clear_fault(2)
    box.set_gm_limit(GM + 4 * WIDTH)
    assert await status(MTE2, read) == 3
    assert await status(MTE3, write) == 5
    box.set_gm_limit()
    assert await status(MTE2, read) == 0
    assert bench.errors == 0
    # An access outside of an on-chip memory is answered with an error and has its own message.
    assert await status(MTE2, descriptor(READ, 8, GM, 0x40000 - 4 * WIDTH)) == 6
    assert await status(MTE3, descriptor(WRITE, 8, GM, 0x40000 - 4 * WIDTH)) == 6
    messages = box.poll_errors()
    assert any("mte2: DST-OUTSIDE: write outside" in line for line in messages)
    assert any("mte3: SRC-OUTSIDE: read outside" in line for line in messages)


@cocotb.test()
async def stray_stamps(dut: Any) -> None:
    """Stamps name slot and clock of the last write; nothing else is stamped."""
    bench = Bench(dut)
    await bench.reset()
    (load,) = await bench.run(MTE2, descriptor(READ, 5, GM, 0x2000))
    for word in range(5):
        writer = bench.memory.last_writer(Space.UB0, 0x2000 + word * WIDTH)
        assert writer is not None
        assert writer.slot == MTE2
        assert load["accept_cycle"] < writer.cycle < load["done_cycle"]
    assert bench.memory.last_writer(Space.UB0, 0x2000 - 1) is None
    assert bench.memory.last_writer(Space.UB0, 0x2000 + 5 * WIDTH + 31) is None


@cocotb.test()
async def rings_wrap(dut: Any) -> None:
    """Rings take 1024 descriptors, refuse more, and wrap; gaps and tags are kept."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    block = np.stack([descriptor(READ, 1, GM, 0)] * 700)
    for turn in range(3):
        tags = (np.arange(700) + turn) & 255
        box.submit_block(MTE2, block, tags, gaps=2)
        await bench.wait()
        done = box.poll_done(MTE2)
        assert (done["tag"] == tags).all()
        accepts = done["accept_cycle"].astype(np.int64)
        assert (accepts[1:] - done["done_cycle"][:-1].astype(np.int64) > 0).all()
    box.submit_block(MTE2, block, 0)
    with pytest.raises(MailboxError, match="room for 324"):
        box.submit_block(MTE2, block, 0)
    await bench.wait()
    with pytest.raises(MailboxError, match="mte1 has no engine"):
        box.submit_block(0, block[:1], 0)
    assert bench.errors == 0


@cocotb.test()
async def gaps(dut: Any) -> None:
    """A gap counts from the accept before to the offer."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    for gap in (50, 51, 200):
        box.submit_block(MTE2, [descriptor(READ, 1, GM, 0)] * 3, 0, gaps=[0, gap, 0])
        await bench.wait()
        accepts = box.poll_done(MTE2)["accept_cycle"].astype(np.int64)
        assert accepts[1] - accepts[0] == gap + 1
        assert accepts[2] - accepts[1] < 20


async def until(dut: Any, signal: Any, value: int) -> None:
    """Waits until a pin has a value in the half clock before a rising edge."""
    for _ in range(100):
        await Timer(2, "ns")
        if dut.clk.value == 0 and signal.value == value:
            return
        await FallingEdge(dut.clk)
    raise AssertionError(f"{signal._name} never became {value}")


@cocotb.test()
async def pins(dut: Any) -> None:
    """Descriptors and dones by pins, driven at rising or at falling edges."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    first = box.submitted(MTE2)
    await FallingEdge(dut.clk)
    dut.pin_mode.value = 1 << MTE2
    dut.mte2_done_ready.value = 0
    for edge in (RisingEdge, FallingEdge):
        for tag in range(4):
            await edge(dut.clk)
            words = descriptor(READ, 3, GM, 0x100 * tag)
            dut.mte2_desc_data.value = int.from_bytes(words.tobytes(), "little")
            dut.mte2_desc_tag.value = tag
            dut.mte2_desc_valid.value = 1
            await until(dut, dut.mte2_desc_ready, 1)
            await edge(dut.clk)
            if edge is FallingEdge:
                assert dut.mte2_desc_ready.value == 0
            dut.mte2_desc_valid.value = 0
            await until(dut, dut.mte2_done_valid, 1)
            await ClockCycles(dut.clk, 3)
            assert dut.mte2_done_valid.value == 1
            assert dut.mte2_done_tag.value == tag
            dut.mte2_done_ready.value = 1
            await until(dut, dut.mte2_done_valid, 0)
            dut.mte2_done_ready.value = 0
    assert box.poll_done(MTE2)["tag"].tolist() == [0, 1, 2, 3] * 2
    assert box.submitted(MTE2) == box.retired(MTE2) == first + 8
    await FallingEdge(dut.clk)
    dut.pin_mode.value = 0
    await FallingEdge(dut.clk)
    await bench.run(MTE2, descriptor(READ, 3, GM, 0))
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def reset_forgets(dut: Any) -> None:
    """A reset with ops in flight drops the queue, keeps counts usable and brings no message."""
    bench = Bench(dut)
    box = bench.mailbox
    box.set_knobs(axi_read_latency=60, axi_write_latency=60)
    await bench.reset()
    for delay in (55, 205, 333, 801):
        for slot, opcode in ((MTE2, READ), (MTE3, WRITE)):
            box.submit_block(slot, [descriptor(opcode, 50, GM, 0)] * 5, 0)
        await Timer(delay, "ns")
        await bench.reset()
        for slot in (MTE2, MTE3):
            assert box.retired(slot) == box.submitted(slot)
            assert not box.in_flight(slot)
            box.poll_done(slot)
        (load,) = await bench.run(MTE2, descriptor(READ, 20, GM, 0))
        (store,) = await bench.run(MTE3, descriptor(WRITE, 20, GM + 0x8000, 0))
        assert load["status"] == store["status"] == 0
        start, size = GM + 0x8000, 20 * WIDTH
        assert (bench.gm[start : start + size] == bench.gm[GM : GM + size]).all()
    assert bench.errors == 0, box.poll_errors()
