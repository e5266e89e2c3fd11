# SPDX-License-Identifier: Apache-2.0
"""cocotb tests in a simulation of flag_dma.v in slot fix; test_unit_flags.py starts them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles
from numpy.typing import NDArray

from tb.harness.layout import NO_CLEAR
from tb.harness.memory import FLAG_BLOCK, UNIT_FLAGS
from tb.isa.spaces import Space
from tests.hdl.bench import WIDTH, Bench
from tests.hdl.mini import CHECK_AND_CLEAR, CHECK_ONLY, FIX, GM, FlagFault, FlagOp

BLOCKS = [64, 65, 95]
"""Blocks that :data:`TILE` waits for; it reads from the first."""

TILE = FlagOp(CHECK_AND_CLEAR, 2, 1 << 31 | 3, src=4, l0c=64 * FLAG_BLOCK + 64, ub=0x4000)
PARAMETERS = FlagOp(par=3, fb=0x0C0, ub=0x1000)
BEAT = FlagOp(times=3, gm=GM)


class Flags(Bench):
    """A bench with flag_dma.v as the only engine."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.l0c = self.memory.view(Space.L0C)
        self.fb = self.memory.view(Space.FB)
        self.ub1 = self.memory.view(Space.UB1)
        self.memory.ensure(Space.GM, GM, 4096)

    async def op(self, op: FlagOp) -> NDArray[Any]:
        """Runs one op and returns its done record."""
        (done,) = await self.run(FIX, op.pack())
        return np.asarray(done)

    def read(self, op: FlagOp) -> NDArray[np.uint8]:
        """Returns a copy of the bytes of L0C that ``op`` reads."""
        return self.l0c[op.l0c : op.l0c + 64 * op.src].copy()

    def found(self, op: FlagOp) -> NDArray[np.uint8]:
        """Returns a copy of the bytes that ``op`` wrote to UB."""
        return self.ub1[op.ub : op.ub + 64 * (op.src + op.par)].copy()


@cocotb.test()
async def waits_for_flags(dut: Any) -> None:
    """An op with a check mode sees the flags when they are set, and the accumulators whole."""
    bench = Flags(dut)
    memory, box = bench.memory, bench.mailbox
    await bench.reset()
    flags = memory.background_flags()
    assert 200 < flags.sum() < 312
    assert (memory.unit_flags == flags).all()
    for mode in (CHECK_ONLY, CHECK_AND_CLEAR):
        for delay in (-1, 0, 1, 300):
            op = replace(TILE, unit_flag=mode)
            expected, before = bench.read(op), bench.l0c.copy()
            start = box.cycles
            memory.stage_flags(BLOCKS, delay)
            done = await bench.op(op)
            assert (bench.found(op) == expected).all()
            assert done["done_cycle"] > start + delay
            assert (done["addr"] == 1) == (delay < 2), "flags are read until they are set"
            flags[BLOCKS] = mode == CHECK_ONLY
            assert (memory.unit_flags == flags).all()
            owned = before.reshape(UNIT_FLAGS, FLAG_BLOCK).copy()
            if mode == CHECK_AND_CLEAR:
                owned[BLOCKS] ^= 0xFF
                assert done["clear_bytes"] == done["written_bytes"]
            else:
                assert done["clear_bytes"] == NO_CLEAR
            assert (bench.l0c == owned.reshape(-1)).all()
            assert memory.settle_flags() == 0
            assert (bench.l0c == before).all()
            assert (memory.unit_flags == flags).all()
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def waits_for_flags_set_again(dut: Any) -> None:
    """Consecutive ops read the same tile; its flags are set again some clocks after each clear."""
    bench = Flags(dut)
    memory, box = bench.memory, bench.mailbox
    await bench.reset()
    expected = bench.read(TILE)
    ops = [replace(TILE, ub=TILE.ub + 0x400 * k) for k in range(3)]
    ops.append(replace(ops[0], unit_flag=CHECK_ONLY, ub=TILE.ub + 0x1000))
    for delays in ((0, 0, 0), (1, 300, 2), (50, 0, 400)):
        bench.ub1[:] = 0
        memory.stage_flags(BLOCKS)
        for delay in delays:
            memory.stage_flags_again(BLOCKS, delay)
        done = await bench.run(FIX, *(op.pack() for op in ops))
        for op in ops:
            assert (bench.found(op) == expected).all()
        clocks = np.diff(done["done_cycle"].astype(np.int64))
        assert (clocks > delays).all()
        assert memory.unit_flags[BLOCKS].tolist() == [1, 1, 1]
        assert memory.settle_flags() == 0
        assert (bench.read(TILE) == expected).all()
    # Ignored flags are visible, and the last set is still due.
    memory.stage_flags(BLOCKS)
    memory.stage_flags_again(BLOCKS, 2000)
    wrong = replace(ops[3], fault=FlagFault.IGNORES_FLAGS)
    await bench.run(FIX, ops[0].pack(), wrong.pack())
    assert (bench.found(ops[0]) == expected).all()
    assert (bench.found(wrong) == ~expected).all()
    assert memory.settle_flags() == 3
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def wrong_waits_read_wrong_bytes(dut: Any) -> None:
    """Accumulators before their flag is set, and after the clear, are complemented."""
    bench = Flags(dut)
    memory = bench.memory
    bench.mailbox.set_knobs(local_read_latency=3)
    await bench.reset()
    expected = bench.read(TILE)
    for fault, staged in (
        (FlagFault.IGNORES_FLAGS, 400),
        (FlagFault.JUNK_FLAGS, 400),
        (FlagFault.CLEARS_FIRST, -1),
    ):
        memory.stage_flags(BLOCKS, staged)
        await bench.op(replace(TILE, fault=fault))
        assert (bench.found(TILE) == ~expected).all(), fault
        pending = memory.settle_flags()
        assert pending == (3 if staged > 0 else 0)
        # A flag that was cleared before it was set is found by the comparison of flags.
        assert memory.unit_flags[BLOCKS].tolist() == [int(staged > 0)] * 3
        assert (bench.read(TILE) == expected).all()
    messages = bench.mailbox.poll_errors()
    assert messages
    assert all(": FLAG-NOT-SET: " in line for line in messages)


@cocotb.test()
async def clears_are_counted(dut: Any) -> None:
    """A done record has the bytes written when the first of its flags was cleared."""
    bench = Flags(dut)
    memory, box = bench.memory, bench.mailbox
    box.set_knobs(axi_write_latency=30)
    await bench.reset()
    op = replace(TILE, times=2, gm=GM)
    for fault, missing in ((FlagFault.NONE, 0), (FlagFault.CLEARS_EARLY, 2 * WIDTH)):
        memory.stage_flags(BLOCKS)
        done = await bench.op(replace(op, fault=fault))
        assert done["written_bytes"] - done["clear_bytes"] == missing
        memory.settle_flags()
    # A reset forgets the clears of ops in flight; flags are still set.
    memory.stage_flags(BLOCKS)
    memory.stage_flags([7], 200)
    long = replace(op, times=15, fault=FlagFault.CLEARS_EARLY)
    box.submit_block(FIX, [long.pack()], [1])
    while memory.unit_flags[64]:
        await ClockCycles(dut.clk, 1)
    assert memory.unit_flags[7] == 0
    await bench.reset()
    assert not box.in_flight(FIX)
    await ClockCycles(dut.clk, 200)
    assert memory.unit_flags[7] == 1
    assert memory.unit_flags[64] == 0
    memory.settle_flags()
    assert (await bench.op(PARAMETERS))["clear_bytes"] == NO_CLEAR
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def reads_parameters(dut: Any) -> None:
    """Parameters come in order under all stalls; faults of FB come with the data."""
    bench = Flags(dut)
    box = bench.mailbox
    await bench.reset()
    expected = bench.fb[0xC0 : 0xC0 + 192].copy()
    clocks = []
    for latency in (1, 2, 17, 63):
        box.set_knobs(local_read_latency=latency)
        bench.ub1[0x1000:0x1100] = 0
        done = await bench.op(PARAMETERS)
        assert done["status"] == 0
        assert (bench.found(PARAMETERS) == expected).all()
        clocks.append(int(done["done_cycle"] - done["accept_cycle"]) - 3 * latency)
    assert len(set(clocks)) == 1, clocks
    for granule, status in ((0x0A0, 0), (0x0E0, 6), (0x100, 6), (0x17F, 6), (0x180, 0)):
        box.set_fault(1, Space.FB, granule, 2)
        done = await bench.op(PARAMETERS)
        assert done["status"] == status
        assert done["addr"] == (granule & ~63 if status else 0)
    box.set_fault(1, Space.L0C, 0x0E0, 2)
    assert (await bench.op(PARAMETERS))["status"] == 0
    box.clear_fault(1)
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def stalls(dut: Any) -> None:
    """Grants of par and flag stall independently, as those of src; equal seeds, equal stalls."""
    bench = Flags(dut)
    box, memory = bench.mailbox, bench.memory
    await bench.reset()
    par = replace(PARAMETERS, par=15, fb=0)
    flag = FlagOp(CHECK_ONLY, 2, 1 << 31 | 3)
    src = replace(TILE, unit_flag=0, src=15)

    async def clocks(op: FlagOp, **knobs: int) -> int:
        box.set_knobs(**{"stall_src_gnt": 0, "local_read_latency": 1, **knobs})
        done = await bench.op(op)
        return int(done["done_cycle"] - done["accept_cycle"])

    seen = {}
    for seed in range(30):
        knobs = {"stall_src_gnt": 170, "seed": seed}
        for name, op in (("par", par), ("src", src), ("flag", flag)):
            memory.stage_flags(BLOCKS)
            seen[name, seed] = await clocks(op, **knobs)
            assert await clocks(op, **knobs) == seen[name, seed]
    for name, op, reads in (("par", par, 15), ("src", src, 15), ("flag", flag, 1)):
        extra = [seen[name, seed] - await clocks(op) for seed in range(30)]
        # A grant takes 1 / (1 - 170 / 256) clocks in the mean.
        assert 1.0 < np.mean(extra) / reads < 3.0, (name, extra)
    assert [seen["par", seed] for seed in range(30)] != [seen["src", seed] for seed in range(30)]
    fast = await clocks(flag)
    assert await clocks(flag, local_read_latency=41) == fast + 40
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def read_modify_write(dut: Any) -> None:
    """Reads after the response of the write before are not error, on any edge."""
    bench = Flags(dut)
    box = bench.mailbox
    await bench.reset()
    for latency, stall in ((1, 0), (2, 0), (40, 0), (1, 128), (5, 128)):
        names = ("stall_ar", "stall_r", "stall_aw", "stall_w", "stall_b")
        box.set_knobs(
            axi_read_latency=latency, axi_write_latency=latency, **dict.fromkeys(names, stall)
        )
        expected = bench.gm[GM : GM + WIDTH] + np.uint8(BEAT.times)
        await bench.op(BEAT)
        assert (bench.gm[GM : GM + WIDTH] == expected).all()
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def reads_over_writes(dut: Any) -> None:
    """A read is wrong if it has a beat in common with a write in flight, and only then."""
    bench = Flags(dut)
    box = bench.mailbox
    box.set_knobs(axi_write_latency=40)
    await bench.reset()
    page = 4096 // WIDTH
    op = replace(BEAT, times=1, gm=GM + 0x400, fault=FlagFault.AR_BEFORE_B)
    for beat, length, wrong in (
        (0, 0, True),
        (0, 4, True),
        (-3, 3, True),
        (-3, 7, True),
        (-3, 2, False),
        (1, 5, False),
        (-1, 0, False),
        (page, 0, False),
        (-page, 2, False),
    ):
        await bench.op(replace(op, wrong_beat=beat, wrong_len=length))
        await ClockCycles(dut.clk, 30)
        messages = [line for line in box.poll_errors() if ": AR-OVER-WRITE: " in line]
        assert len(messages) == wrong, (beat, length)
        await bench.reset()


@cocotb.test()
async def open_reads_keep_the_clock(dut: Any) -> None:
    """A slot with a request or a pending response of par or flag has a clock."""
    bench = Flags(dut)
    box = bench.mailbox
    for fault, op in (
        (FlagFault.FLAG_OPEN, replace(TILE, unit_flag=CHECK_ONLY, src=0)),
        (FlagFault.PAR_OPEN, PARAMETERS),
    ):
        box.set_knobs(idle_clocks=1, local_read_latency=60)
        await bench.reset()
        await bench.op(replace(op, fault=fault))
        box.set_knobs(local_read_latency=1)
        await ClockCycles(dut.clk, 200)
        # A response still pending would come with the clocks of the next op.
        box.poll_errors()
        await bench.op(replace(BEAT, times=1))
        assert box.poll_errors() == []
