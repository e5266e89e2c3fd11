# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of a harness with an engine in every slot; test_slots.py starts them."""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles, FallingEdge, Timer
from numpy.typing import NDArray

from tb.isa.spaces import SEGMENTS, SIZES, Space
from tests.hdl.bench import IDLE_CLOCKS, WIDTH, Bench, until
from tests.hdl.mini import (
    FIX,
    GM,
    MTE1,
    MTE2,
    MTE3,
    READ,
    WRITE,
    Fault,
    Late,
    descriptor,
    local_descriptor,
)

SOURCE_BYTES = {MTE1: WIDTH, FIX: 64}
"""Bytes of a word of the source port."""

ON_CHIP = [space for space in Space if space is not Space.GM]

MESSAGES = {
    Late.WRITE: ": IDLE-TRAFFIC: ",
    Late.READ: ": IDLE-TRAFFIC: ",
    Late.DONE: ": DONE-TWICE: ",
    Late.BUSY: ": BUSY-HIGH: ",
    Late.BURST: ": IDLE-TRAFFIC: ",
}

WINDOWS = ((64, 20, True), (64, 60, True), (64, 80, False), (0, 400, True))
"""Idle clocks, delay of a late action after the done, and whether it is seen immediately."""

SOME = ((Space.L1, 0), (Space.UB0, 0))
"""Source and destination of copies with irrelevant data."""

COUNTING = local_descriptor(1, *SOME, counting=True)
"""A copy that returns in its done the clocks since the reset of the engine."""


async def clocks_of(bench: Bench, slot: int) -> int:
    """Returns how many clocks the engine of ``slot`` has seen since its reset."""
    (done,) = await bench.run(slot, COUNTING)
    return int(done["addr"])


@cocotb.test()
async def all_slots(dut: Any) -> None:
    """All slots work at the same time, and each reaches every memory."""
    bench = Bench(dut)
    box, memory = bench.mailbox, bench.memory
    await bench.reset()
    assert box.slots == ("mte1", "mte2", "mte3", "fix")
    size = 512
    tag = 0
    for source in ON_CHIP:
        for target in ON_CHIP:
            tag += 1
            moves = {MTE1: (0x200, 0x400), FIX: (0x600, SIZES[target] - size)}
            expected = {}
            for slot, (start, end) in moves.items():
                expected[slot] = memory.view(source)[start : start + size].copy()
                words = local_descriptor(size // SOURCE_BYTES[slot], (source, start), (target, end))
                box.submit_block(slot, [words], [tag])
            gm = {MTE2: GM, MTE3: GM + 0x10_0000}
            for slot, opcode in ((MTE2, READ), (MTE3, WRITE)):
                box.submit_block(
                    slot, [descriptor(opcode, 8, gm[slot], 0x20000 + 0x1000 * slot)], [tag]
                )
            written = [box.written_bytes(slot) for slot in range(4)]
            await bench.wait()
            for slot, (_, end) in moves.items():
                found = memory.view(target)[end : end + size]
                assert (found == expected[slot]).all(), (source, target, slot)
                writer = memory.last_writer(target, end + size - 1)
                assert writer is not None
                assert writer.slot == slot
            for slot, bytes_ in enumerate((size, 8 * WIDTH, 8 * WIDTH, size)):
                (done,) = box.poll_done(slot)
                assert (done["tag"], done["status"]) == (tag, 0)
                assert done["written_bytes"] - written[slot] == bytes_
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def source_widths(dut: Any) -> None:
    """The fix slot reads words of 512 bits at all widths of the other ports."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    for slot, width in SOURCE_BYTES.items():
        for address in (16, 32, 64):
            await bench.run(slot, local_descriptor(1, (Space.L1, address), (Space.UB0, 0)))
            odd = [line for line in box.poll_errors() if ": SRC-ALIGN: " in line]
            assert len(odd) == (address % width > 0), (slot, address)
        size = SIZES[Space.BT]
        box.set_fault(0, Space.BT, size - 32, 2)
        copy = local_descriptor(1, (Space.BT, size - width), (Space.UB0, 0))
        assert (await bench.run(slot, copy))["status"] == 6
        box.set_fault(0, Space.BT, size - width - 32, 2)
        assert (await bench.run(slot, copy))["status"] == 0
        box.clear_fault(0)


@cocotb.test()
async def holes(dut: Any) -> None:
    """Words between the segments of a memory are answered as those outside of it."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    for space in (Space.FB, Space.L0):
        inside = [
            at
            for segment in SEGMENTS[space]
            for at in (segment.start, segment.stop - 64, (segment.start + segment.stop) // 2)
        ]
        size = len(bench.memory.view(space))
        bits = range(12, 20)
        near = {at ^ 1 << bit for at in inside for bit in bits}
        hole = sorted(at for at in near if all(at not in one for one in SEGMENTS[space]))
        assert max(hole) > size
        for address, bad in (*((at, False) for at in inside), *((at, True) for at in hole)):
            for source, target in (((Space.L1, 0), (space, address)), ((space, address), SOME[1])):
                before = bench.errors
                (done,) = await bench.run(MTE1, local_descriptor(1, source, target))
                assert (done["status"] == 6) == bad, (space, hex(address))
                assert bench.errors - before == bad, (space, hex(address))
    assert all("OUTSIDE" in line for line in box.poll_errors())


@cocotb.test()
async def idle_slots(dut: Any) -> None:
    """An engine has the clocks of its ops, and after them the number of the knob."""
    bench = Bench(dut)
    box = bench.mailbox
    for idle in (0, 1, 5, 64, 400):
        box.set_knobs(idle_clocks=idle)
        for slot in (MTE1, FIX):
            await bench.reset()
            first, start = await clocks_of(bench, slot), box.cycles
            await ClockCycles(dut.clk, 2000)
            (done,) = await bench.run(slot, COUNTING)
            seen = int(done["addr"]) - first
            if idle == 0:
                assert seen == box.cycles - start
            else:
                # The edges of the done before and of the offer, then those of the op.
                assert seen == 1 + idle + 1 + int(done["done_cycle"] - done["accept_cycle"])
            # One that waits in the ring for its gap or for another slot does not need a clock.
            first = await clocks_of(bench, slot)
            other = FIX if slot == MTE1 else MTE1
            waits = [0, 0, 0, 0]
            waits[other] = box.submitted(other) + 1
            box.submit_block(slot, [COUNTING], 0, waits=[waits])
            box.submit_block(other, [local_descriptor(1, *SOME)], 0, gaps=1000)
            await bench.wait()
            (done,) = box.poll_done(slot)
            assert len(box.poll_done(other)) == 1
            assert (int(done["addr"]) - first < idle + 30) == (idle > 0)
    assert bench.errors == 0, box.poll_errors()


async def late_messages(bench: Bench, slot: int, late: int, what: Late) -> list[str]:
    """Returns the messages of a slot, idle for 500 clocks after a copy with a late action."""
    await bench.run(slot, local_descriptor(1, *SOME, late, what))
    await ClockCycles(bench.dut.clk, 500)
    return bench.mailbox.poll_errors()


@cocotb.test()
async def late_activity(dut: Any) -> None:
    """Actions of an engine after its done are checked while it has a clock, or once it has one."""
    bench = Bench(dut)
    box = bench.mailbox
    for slot in (MTE1, FIX):
        for what in Late:
            for idle, late, seen in WINDOWS:
                box.set_knobs(idle_clocks=idle)
                await bench.reset()
                before = box.written_bytes(slot)
                messages = await late_messages(bench, slot, late, what)
                assert any(MESSAGES[what] in line for line in messages) == seen, (what, idle, late)
                if not seen:
                    # Without a clock the action is delayed until the next clocks.
                    assert messages == []
                    box.set_knobs(seed=1)
                    await ClockCycles(dut.clk, 100)
                    messages = box.poll_errors()
                    assert any(MESSAGES[what] in line for line in messages), (what, late)
                stray = WIDTH if what is Late.WRITE else 0
                assert box.written_bytes(slot) - before == SOURCE_BYTES[slot] + stray


@cocotb.test()
async def open_accesses(dut: Any) -> None:
    """A slot with a request or a response that is still to come has a clock, done or not."""
    bench = Bench(dut)
    box = bench.mailbox
    for what, latency, knob in (
        (Late.READ, 63, "local_read_latency"),
        (Late.BURST, 200, "axi_read_latency"),
    ):
        for slot in (MTE1, FIX):
            box.set_knobs(**{"idle_clocks": 1, knob: latency})
            await bench.reset()
            await bench.run(slot, local_descriptor(1, *SOME, 1, what))
            box.set_knobs(**{knob: 1})
            await ClockCycles(dut.clk, 2 * latency)
            messages = box.poll_errors()
            assert all(MESSAGES[what] in line for line in messages), messages
            in_copy = latency if what is Late.READ else 1
            assert await clocks_of(bench, slot) > in_copy + latency
    # A write that is late and not granted for long.
    box.set_knobs(idle_clocks=5, stall_dst_gnt=253, seed=4)
    await bench.reset()
    before = box.written_bytes(FIX)
    await bench.run(FIX, local_descriptor(1, *SOME, 3))
    await ClockCycles(dut.clk, 3000)
    assert box.written_bytes(FIX) - before == SOURCE_BYTES[FIX] + WIDTH
    # A write with its response after the done: bytes count from then on.
    box.set_knobs(idle_clocks=1, stall_dst_gnt=0, axi_write_latency=100)
    await bench.reset()
    before = box.written_bytes(MTE3)
    await bench.run(MTE3, descriptor(WRITE, 4, GM, 0, Fault.DONE_BEFORE_B))
    await ClockCycles(dut.clk, 150)
    assert box.written_bytes(MTE3) - before == 4 * WIDTH
    await bench.run(MTE3, descriptor(WRITE, 1, GM, 0))
    box.poll_errors()


@cocotb.test()
async def knobs_reach_stopped_slots(dut: Any) -> None:
    """Faults, latencies and seeds that change while a clock is stopped apply to the next op."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    copy = local_descriptor(4, (Space.L1, 0), (Space.UB1, 0x100))

    async def run(slot: int) -> tuple[int, int]:
        # The clock is stopped when the knobs change, and again when the op comes.
        await ClockCycles(dut.clk, 5 * IDLE_CLOCKS)
        (done,) = await bench.run(slot, copy)
        await ClockCycles(dut.clk, 5 * IDLE_CLOCKS)
        return int(done["status"]), int(done["done_cycle"] - done["accept_cycle"])

    for slot in (MTE1, FIX):
        for knobs in ({"idle_clocks": 0}, {"idle_clocks": IDLE_CLOCKS}):
            box.set_knobs(**knobs)
            status, fast = await run(slot)
            assert status == 0
            box.set_fault(1, Space.UB1, 0x100, 2)
            assert (await run(slot))[0] == 6
            box.clear_fault(1)
            assert (await run(slot))[0] == 0
            box.set_knobs(local_read_latency=21)
            assert (await run(slot))[1] == fast + 4 * 20
            box.set_knobs(local_read_latency=1, stall_src_gnt=200, stall_dst_gnt=200, seed=3)
            slow = (await run(slot))[1]
            assert slow > fast
            box.set_knobs(seed=3)
            assert (await run(slot))[1] == slow
            box.set_knobs(stall_src_gnt=0, stall_dst_gnt=0)
            assert (await run(slot))[1] == fast
    assert bench.errors == 0, box.poll_errors()


def value(words: NDArray[np.uint32]) -> int:
    """Returns a descriptor as the value of a pin."""
    return int.from_bytes(words.tobytes(), "little")


@cocotb.test()
async def pins_start_a_stopped_slot(dut: Any) -> None:
    """Slots with pins have every clock, from the one on that follows the change of mode."""
    bench = Bench(dut)
    box = bench.mailbox
    await bench.reset()
    await ClockCycles(dut.clk, 5 * IDLE_CLOCKS)
    await FallingEdge(dut.clk)
    dut.pin_mode.value = 1 << FIX
    await FallingEdge(dut.clk)
    dut.fix_desc_data.value = value(COUNTING)
    dut.fix_desc_tag.value = 77
    dut.fix_desc_valid.value = 1
    dut.fix_done_ready.value = 1
    await until(dut, dut.fix_desc_ready, 1)
    await FallingEdge(dut.clk)
    dut.fix_desc_valid.value = 0
    await until(dut, dut.fix_done_valid, 1)
    await ClockCycles(dut.clk, 200)
    start = box.cycles
    dut.fix_desc_valid.value = 1
    await until(dut, dut.fix_desc_ready, 1)
    await FallingEdge(dut.clk)
    dut.fix_desc_valid.value = 0
    await until(dut, dut.fix_done_valid, 1)
    await ClockCycles(dut.clk, 3)
    first, second = box.poll_done(FIX)
    assert first["tag"] == second["tag"] == 77
    assert second["addr"] - first["addr"] == second["accept_cycle"] - first["accept_cycle"]
    assert second["accept_cycle"] - start < 5
    await FallingEdge(dut.clk)
    dut.pin_mode.value = 0
    await FallingEdge(dut.clk)
    assert await clocks_of(bench, FIX) > 0
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def reset_starts_a_stopped_slot(dut: Any) -> None:
    """A reset of any length reaches the modules of a slot with a stopped clock."""
    bench = Bench(dut)
    box = bench.mailbox
    for length in (1, 3, 7, 10, 35, 2000):
        for offset in range(1, 10):
            await bench.reset()
            await ClockCycles(dut.clk, 3 * IDLE_CLOCKS)
            # Descriptors in the ring that are not offered are dropped, with or without a clock.
            box.submit_block(FIX, [local_descriptor(1, *SOME)], 0, gaps=1000)
            await Timer(10 * IDLE_CLOCKS * 3 + offset, "ns")
            dut.rst_n_req.value = 0
            await Timer(length, "ns")
            dut.rst_n_req.value = 1
            await ClockCycles(dut.clk, 3)
            assert dut.rst_n.value == 1
            await ClockCycles(dut.clk, 100)
            assert not box.in_flight(FIX)
            assert box.retired(FIX) == box.submitted(FIX)
            for slot in (MTE1, FIX):
                clocks = await clocks_of(bench, slot)
                # The engine was reset, and has had its clocks since then.
                assert IDLE_CLOCKS <= clocks < IDLE_CLOCKS + 25, (length, offset)
    assert bench.errors == 0, box.poll_errors()
    # Pins in a reset are checked even if that reset lasts for one edge.
    await bench.run(MTE2, descriptor(READ, 1, GM, 0, Fault.AR_RESET))
    await ClockCycles(dut.clk, 3 * IDLE_CLOCKS)
    await FallingEdge(dut.clk)
    await Timer(1, "ns")
    dut.rst_n_req.value = 0
    await Timer(2, "ns")
    dut.rst_n_req.value = 1
    await ClockCycles(dut.clk, 5)
    messages = [line.partition(" (")[0] for line in box.poll_errors()]
    await bench.run(MTE2, descriptor(READ, 1, GM, 0))  # the fault persists over the reset, not this
    assert messages == ["mte2: AR-RESET: ARVALID is up in reset"]
