# SPDX-License-Identifier: Apache-2.0
"""cocotb tests in a simulation of stress_dma.v; test_stress.py starts them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles
from numpy.typing import NDArray

from tb.harness.hang_report import channel_report
from tb.harness.layout import NO_FAULT, READ, WRITE
from tb.harness.mailbox import FaultWindow
from tb.isa.ops import SLOTS
from tb.isa.spaces import SEGMENTS, Space
from tests.hdl.bench import WIDTH, Bench
from tests.hdl.mini import FIX, GM, MTE2, MTE3, RESULT_ENV, Access, Hold, StressOp

PAGE = 4096
WORD = {MTE2: WIDTH, MTE3: WIDTH, FIX: 64}
"""Bytes of a word of the source port."""


class Stress(Bench):
    """A bench with stress_dma.v as engines."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.mailbox.poll_late_bursts()
        self.clocks: dict[int, list[int]] = {}
        """Of each slot the clocks that its ops took."""

    async def ops(self, slot: int, *ops: StressOp) -> NDArray[Any]:
        """Runs ops in one slot and returns their done records."""
        done = await self.run(slot, *(op.pack() for op in ops))
        clocks = done["done_cycle"].astype(np.int64) - done["accept_cycle"].astype(np.int64)
        self.clocks[slot] = clocks.tolist()
        return done

    async def both(self, first: tuple[int, StressOp], second: tuple[int, StressOp]) -> Any:
        """Runs an op each in two slots at the same time and returns their done records."""
        for slot, op in (first, second):
            self.mailbox.submit_block(slot, [op.pack()], 0)
        await self.wait()
        return [self.mailbox.poll_done(slot)[0] for slot, _ in (first, second)]

    def delta(self, before: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
        """Returns the stalls since ``before``, without those that are 0."""
        now = self.mailbox.stalls()
        return {key: now[key] - before[key] for key in now if now[key] != before[key]}


def signature(words: NDArray[np.uint8]) -> int:
    """Returns the signature that stress_dma.v computes of words ``uint8[n, width]``, in order."""
    value, mask = 0, (1 << 40) - 1
    for word in words:
        value = (value << 1 | value >> 39) & mask
        value ^= int.from_bytes(word[:5].tobytes(), "little")
    return value


def times(entries: NDArray[Any]) -> list[int]:
    """Returns the clocks of log entries."""
    return [int(cycle) for cycle in entries["cycle"]]


# --- faults -----------------------------------------------------------------------------------


@cocotb.test()
async def windows(dut: Any) -> None:
    """Every word that touches the window fails, and is in the log; no other is."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    for slot, op, space, kind, status in (
        (MTE2, StressOp(Access.READS, 2, 8, GM), Space.GM, 0, 2),
        (MTE2, StressOp(Access.READS, 2, 8, GM), Space.GM, 1, 3),
        (MTE3, StressOp(Access.WRITES, 2, 8, GM), Space.GM, 0, 4),
        (MTE3, StressOp(Access.WRITES, 2, 8, GM), Space.GM, 1, 5),
        (MTE2, StressOp(Access.SRC, 16, local=0x800, space=Space.UB1), Space.UB1, 2, 6),
        (MTE3, StressOp(Access.DST, 16, local=0x800, space=Space.L1), Space.L1, 2, 6),
        (FIX, StressOp(Access.SRC, 8, local=0x800, space=Space.L0C), Space.L0C, 2, 6),
        (FIX, StressOp(Access.PAR, 8, local=0x800, space=Space.FB), Space.FB, 2, 6),
    ):
        base = op.gm if space is Space.GM else op.local
        size = WORD[slot] if op.access in (Access.SRC, Access.PAR) else WIDTH
        side = WRITE if op.access in (Access.WRITES, Access.DST) else READ
        for first, length in ((3 * WIDTH, 32), (2 * 64, 5 * 64), (0, 512), (480, 1024)):
            box.set_fault(5, FaultWindow(space, base + first, kind, length))
            (done,) = await bench.ops(slot, op)
            box.clear_fault(5)
            words = range(first // size, min(-(-(first + length) // size), 512 // size))
            assert done["status"] == status
            hits = box.poll_hits()
            assert hits["addr"].tolist() == [base + word * size for word in words], (op, first)
            assert box.fault_hits(5) == len(words)
            for name, value in (("slot", slot), ("side", side), ("kind", kind), ("fault", 5)):
                assert set(hits[name].tolist()) == {value}, name
            assert set(hits["space"].tolist()) == {int(space)}
            assert int(done["accept_cycle"]) < times(hits)[0] <= int(done["done_cycle"])
            (clean,) = await bench.ops(slot, op)
            assert clean["status"] == 0
    # An error that was not injected has no fault, and is logged too.
    box.set_gm_limit(GM + WIDTH)
    (done,) = await bench.ops(MTE2, StressOp(Access.READS, 1, 2, GM))
    box.set_gm_limit()
    (hit,) = box.poll_hits()
    assert (done["status"], hit["fault"], hit["kind"], hit["addr"]) == (3, NO_FAULT, 1, GM + WIDTH)
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def bytes_stay(dut: Any) -> None:
    """A word that fails is not written, its neighbours are."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    window = slice(4 * WIDTH, 6 * WIDTH)
    for slot, op, space, base, kind in (
        (MTE3, StressOp(Access.WRITES, 1, 16, GM), Space.GM, GM, 0),
        (MTE2, StressOp(Access.DST, 16, local=0x2000, space=Space.UB0), Space.UB0, 0x2000, 2),
    ):
        bench.memory.ensure(space, base, PAGE)
        view = bench.memory.view(space)[base : base + 16 * WIDTH]
        view[:] = 0xA5
        box.set_fault(0, FaultWindow(space, base + window.start, kind, 2 * WIDTH))
        await bench.ops(slot, op)
        box.clear_faults()
        changed = np.flatnonzero(view != 0xA5)
        assert (view[window] == 0xA5).all()
        assert len(np.unique(changed // WIDTH)) == 14
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def sides_and_slots(dut: Any) -> None:
    """A fault applies to its sides and slots only."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    read, write = StressOp(Access.READS, gm=GM), StressOp(Access.WRITES, gm=GM)
    src = StressOp(Access.SRC, local=0x100, space=Space.UB0)
    dst = StressOp(Access.DST, local=0x100, space=Space.UB0)
    for space, kind, base, ops in (
        (Space.GM, 0, GM, (read, write)),
        (Space.UB0, 2, 0x100, (src, dst)),
    ):
        for sides in (1, 2, 3):
            for slots in (1 << MTE2, 1 << MTE3, 1 << FIX | 1 << MTE3, 15):
                box.set_fault(1, FaultWindow(space, base, kind, 64, sides, slots))
                for slot in (MTE2, MTE3, FIX):
                    for side, op in enumerate(ops):
                        (done,) = await bench.ops(slot, op)
                        fails = bool(sides >> side & 1 and slots >> slot & 1)
                        assert (done["status"] != 0) == fails, (space, sides, slots, slot, side)
                        assert len(box.poll_hits()) == fails
    box.clear_faults()
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def the_nth(dut: Any) -> None:
    """Only the n-th word that touches the window since it was set fails, beside other windows."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    for slot, op, space, base, kind in (
        (MTE2, StressOp(Access.READS, 2, 8, GM), Space.GM, GM, 0),
        (MTE3, StressOp(Access.WRITES, 4, 4, GM), Space.GM, GM, 1),
        (MTE2, StressOp(Access.SRC, 16, local=0x800, space=Space.L1), Space.L1, 0x800, 2),
        (MTE3, StressOp(Access.DST, 16, local=0x800, space=Space.L1), Space.L1, 0x800, 2),
    ):
        for stall in (0, 150):
            box.set_knobs(
                **dict.fromkeys(("stall_r", "stall_w", "stall_src_gnt", "stall_dst_gnt"), stall)
            )
            for nth in (1, 2, 7, 11, 17, 23):
                box.set_fault(0, FaultWindow(space, base + 32, kind, 9 * WIDTH, nth=nth))
                # Words 1 to 10 meet it with 32 bytes a word, in each of three ops.
                touched = range((base + 32) // WIDTH, -(-(base + 32 + 9 * WIDTH) // WIDTH))
                for turn in range(3):
                    box.set_knobs(seed=turn)
                    box.set_fault(7, FaultWindow(Space.BT, 64 * turn, 2))
                    (done,) = await bench.ops(slot, op)
                    hits = box.poll_hits()
                    index = nth - 1 - turn * len(touched)
                    if 0 <= index < len(touched):
                        assert hits["addr"].tolist() == [touched[index] * WIDTH], (op, nth)
                        assert done["status"] != 0
                    else:
                        assert len(hits) == 0
                        assert done["status"] == 0
                assert box.fault_hits(0) == 1
    box.clear_faults()
    box.set_fault(0, FaultWindow(Space.L1, 0, 2, nth=1))
    for status in (6, 0):
        (done,) = await bench.ops(MTE2, StressOp(Access.DST, space=Space.L1))
        assert done["status"] == status
    box.poll_hits()
    # Two ports on one clock: both or none, and the same number on every simulator.
    seen = []
    ops = [StressOp(Access.DST, 40, local=0x800 * k, space=Space.L1) for k in (0, 1)]
    for nth in range(1, 30):
        box.set_knobs(stall_dst_gnt=100, seed=nth)
        box.set_fault(0, FaultWindow(Space.L1, 0, 2, 0x2000, slots=0b0110, nth=nth))
        done = await bench.both((MTE2, ops[0]), (MTE3, ops[1]))
        hits = box.poll_hits()
        assert 1 <= len(hits) <= 2
        assert len(set(times(hits))) == 1
        assert sum(entry["status"] == 6 for entry in done) == len(hits)
        seen.append([len(hits), times(hits)[0] - int(done[0]["accept_cycle"])])
    assert {count for count, _ in seen} == {1, 2}
    assert bench.errors == 0, box.poll_errors()
    Path(os.environ[RESULT_ENV] + ".nth").write_text(json.dumps(seen))


@cocotb.test()
async def hit_clocks(dut: Any) -> None:
    """A hit has the clock in which the engine sees the response: never before its latency."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    for latency in (1, 2, 50):
        box.set_knobs(
            axi_read_latency=latency, axi_write_latency=latency, local_read_latency=latency
        )
        for slot, op, space, base, kind in (
            (MTE2, StressOp(Access.READS, 1, 1, GM), Space.GM, GM, 0),
            (MTE3, StressOp(Access.WRITES, 1, 1, GM), Space.GM, GM, 0),
            (MTE2, StressOp(Access.SRC, space=Space.UB0), Space.UB0, 0, 2),
            (FIX, StressOp(Access.PAR, space=Space.FB), Space.FB, 0, 2),
            (MTE2, StressOp(Access.DST, space=Space.UB0), Space.UB0, 0, 2),
        ):
            box.set_fault(0, FaultWindow(space, base, kind))
            (done,) = await bench.ops(slot, op)
            (hit,) = box.poll_hits()
            # The engine offers its done two clocks after the response, which is taken at once.
            assert int(done["done_cycle"]) - int(hit["cycle"]) == 2, op
            waited = int(hit["cycle"]) - int(done["accept_cycle"])
            assert waited == (1 if op.access == Access.DST else 1 + latency), op
            box.clear_faults()
    # An access dropped by a reset is not a hit.
    box.set_knobs(axi_read_latency=100, axi_write_latency=100, local_read_latency=100)
    box.set_fault(0, FaultWindow(Space.GM, GM, 0, PAGE))
    box.set_fault(1, FaultWindow(Space.UB0, 0, 2, PAGE, sides=1))
    box.submit_block(MTE2, [StressOp(Access.READS, 1, 1, GM).pack()], 0)
    box.submit_block(MTE3, [StressOp(Access.WRITES, 1, 1, GM).pack()], 0)
    box.submit_block(FIX, [StressOp(Access.SRC, space=Space.UB0).pack()], 0)
    await ClockCycles(dut.clk, 30)
    await bench.reset()
    box.clear_faults()
    assert len(box.poll_hits()) == 0
    box.set_knobs(axi_read_latency=1, axi_write_latency=1, local_read_latency=1)
    box.set_fault(0, FaultWindow(Space.GM, GM + 64, 0))
    (done,) = await bench.ops(MTE2, StressOp(Access.READS, 1, 4, GM))
    assert box.poll_hits()["addr"].tolist() == [GM + 64]
    box.clear_faults()
    assert bench.errors == 0, box.poll_errors()


# --- latencies --------------------------------------------------------------------------------


@cocotb.test()
async def long_latency(dut: Any) -> None:
    """Local ports answer up to 1023 clocks later and take a word a clock all the while."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    count = 3000
    for slot, access, space in (
        (MTE2, Access.SRC, Space.L1),
        (FIX, Access.SRC, Space.L1),
        (FIX, Access.PAR, Space.FB),
        (FIX, Access.FLAG, Space.FB),
    ):
        first = SEGMENTS[space][0]
        view = bench.memory.view(space)[first.start : first.stop]
        words = np.resize(view, (count, WORD[slot]))  # segment 0 of FB is read repeatedly
        expected = 0 if access is Access.FLAG else signature(words)
        box.set_knobs(local_read_latency=1)
        await bench.ops(slot, StressOp(access, count, space=space))
        (fast,) = bench.clocks[slot]
        assert fast <= count + 4
        for latency in (64, 200, 1023):
            box.set_knobs(local_read_latency=latency)
            op = StressOp(access, count, space=space, hold=Hold.SIGNED)
            (done,) = await bench.ops(slot, op)
            assert bench.clocks[slot] == [fast + latency - 1], (slot, access, latency)
            assert done["addr"] == expected
    assert bench.errors == 0, box.poll_errors()


JITTERED = (
    (MTE2, Access.READS, "axi_read"),
    (MTE3, Access.WRITES, "axi_write"),
    (MTE2, Access.SRC, "local_read"),
    (FIX, Access.PAR, "local_read"),
    (FIX, Access.FLAG, "local_read"),
)


@cocotb.test()
async def jitter(dut: Any) -> None:
    """Jitter adds 0 to j clocks, uniformly, to each response, in order; equal seeds repeat it."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    result = {}
    for slot, access, name in JITTERED:
        space = Space.FB if access is Access.PAR else Space.L1
        single = StressOp(access, 1, 1, GM, space=space)
        count = 200 if name == "local_read" else 16
        many = StressOp(access, count, 1, GM, space=space, hold=Hold.SIGNED)
        box.set_knobs(**{f"{name}_latency": 3, f"{name}_jitter": 0})
        (quiet,) = await bench.ops(slot, many)
        (base,) = bench.clocks[slot]
        await bench.ops(slot, single)
        (one,) = bench.clocks[slot]
        for most in (1, 7, 255):
            box.set_knobs(**{f"{name}_jitter": most}, seed=most)
            await bench.ops(slot, *[single] * 400)
            extra = np.array(bench.clocks[slot]) - one
            assert extra.min() >= 0
            assert extra.max() <= most
            counts = np.bincount(extra * 2 // (most + 1), minlength=2)
            assert (counts > 150).all(), (name, most, counts)
            if most < 255:
                assert len(np.unique(extra)) == most + 1
            box.set_knobs(seed=99)
            (done,) = await bench.ops(slot, many)
            (clocks,) = bench.clocks[slot]
            assert base <= clocks <= base + most
            assert done["addr"] == quiet["addr"], "answers out of order"
            box.set_knobs(seed=99)
            await bench.ops(slot, many)
            assert bench.clocks[slot] == [clocks]
            result[f"{slot} {access.name} {most}"] = [clocks, *extra.tolist()]
        box.set_knobs(**{f"{name}_latency": 1023, f"{name}_jitter": 255})
        long = StressOp(access, 4000 if name == "local_read" else 40, 1, GM, space=space)
        await bench.ops(slot, long)
        box.set_knobs(**{f"{name}_latency": 1, f"{name}_jitter": 0})
    assert bench.errors == 0, box.poll_errors()
    Path(os.environ[RESULT_ENV] + ".jitter").write_text(json.dumps(result))


# --- stalls -----------------------------------------------------------------------------------


@cocotb.test()
async def stall_counts(dut: Any) -> None:
    """Each channel counts its stalled clocks, exactly."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    result = {}
    cases = (
        (MTE2, StressOp(Access.READS, 20, 1, GM, delay=20), "stall_ar", "ar"),
        (MTE2, StressOp(Access.READS, 1, 100, GM), "stall_r", "r"),
        (MTE3, StressOp(Access.WRITES, 20, 1, GM, delay=20), "stall_aw", "aw"),
        (MTE3, StressOp(Access.WRITES, 1, 100, GM), "stall_w", "w"),
        (MTE3, StressOp(Access.WRITES, 1, 1, GM), "stall_b", "b"),
        (MTE2, StressOp(Access.SRC, 300, space=Space.L1), "stall_src_gnt", "src"),
        (MTE3, StressOp(Access.DST, 300, space=Space.L1), "stall_dst_gnt", "dst"),
        (FIX, StressOp(Access.PAR, 300, space=Space.FB), "stall_src_gnt", "par"),
        (FIX, StressOp(Access.FLAG, 300), "stall_src_gnt", "flag"),
        (FIX, StressOp(Access.NOTHING), "stall_done", "done"),
    )
    for slot, op, knob, channel in cases:
        await bench.ops(slot, op)
        (fast,) = bench.clocks[slot]
        before = box.stalls()
        await bench.ops(slot, op)
        assert bench.delta(before) == {}, (knob, "nothing stalls")
        for stall in (100, 230):
            box.set_knobs(**{knob: stall}, seed=stall)
            before = box.stalls()
            await bench.ops(slot, *[op] * 3)
            clocks = bench.clocks[slot]
            box.set_knobs(**{knob: 0})
            counted = bench.delta(before)
            key = (SLOTS[slot], channel)
            assert set(counted) == {key}, (knob, counted)
            result[f"{knob} {channel} {stall}"] = counted[key]
            assert counted[key] > 0
            assert counted[key] == sum(clocks) - 3 * fast, (knob, stall, counted, clocks, fast)
    assert bench.errors == 0, box.poll_errors()
    Path(os.environ[RESULT_ENV] + ".stalls").write_text(json.dumps(result))


# --- late bursts ------------------------------------------------------------------------------


@cocotb.test()
async def late_bursts(dut: Any) -> None:
    """Bursts that begin more than 16 clocks after an error are reported, and no others."""
    bench = Stress(dut)
    box = bench.mailbox
    await bench.reset()
    for slot, access, side in ((MTE2, Access.READS, READ), (MTE3, Access.WRITES, WRITE)):
        # Latency 1: a burst of one beat is answered two clocks after its VALID (W with AW).
        op = StressOp(access, 12, 1, GM, delay=4)
        await bench.ops(slot, op)
        assert len(box.poll_late_bursts()) == 0, "no error, nothing late"
        box.set_fault(0, FaultWindow(Space.GM, GM, 0))
        await bench.ops(slot, op)
        (hit,) = box.poll_hits()
        late = box.poll_late_bursts()
        assert (late["slot"] == slot).all()
        assert (late["side"] == side).all()
        assert (late["beats"] == 1).all()
        # Bursts rise every five clocks, and the first is answered on the next edge.
        first = int(hit["cycle"]) - 1
        rises = [first + 5 * k for k in range(12)]
        expected = [k for k in range(12) if rises[k] - int(hit["cycle"]) > 16]
        assert [(int(addr) - GM) // WIDTH for addr in late["addr"]] == expected
        assert times(late) == [rises[k] for k in expected]
        # A burst that has been offered in time and is taken late is in time.
        box.set_knobs(stall_ar=240, stall_aw=240, seed=3)
        done = await bench.ops(slot, StressOp(access, 2, 1, GM, delay=0))
        assert bench.clocks[slot][0] > 25
        assert len(box.poll_late_bursts()) == 0
        box.set_knobs(stall_ar=0, stall_aw=0)
        # After an idle slot bursts are in time again.
        box.clear_faults()
        await bench.ops(slot, op)
        await ClockCycles(dut.clk, 5)
        await bench.ops(slot, op)
        assert len(box.poll_late_bursts()) == 0
        assert len(done) == 1
        box.poll_hits()
    # An error of a local port counts as well; the other slot is not affected.
    box.set_fault(0, FaultWindow(Space.UB0, 0, 2))
    await bench.both(
        (MTE2, StressOp(Access.DST, space=Space.UB0)), (MTE3, StressOp(Access.WRITES, 9, gm=GM))
    )
    assert len(box.poll_hits()) == 1
    assert len(box.poll_late_bursts()) == 0
    box.set_fault(0, FaultWindow(Space.UB0, 0, 2, nth=1))
    dst, read = StressOp(Access.DST, space=Space.UB0), StressOp(Access.READS, gm=GM)
    box.set_knobs(stall_done=240, seed=2)
    await bench.ops(MTE2, dst, read)
    box.set_knobs(stall_done=0)
    assert len(box.poll_late_bursts()) == 0, "the engine was idle between the two"
    # A full log keeps the oldest entries.
    box.set_fault(0, FaultWindow(Space.GM, GM, 0))
    await bench.ops(MTE2, StressOp(Access.READS, 500, 1, GM))
    late = box.poll_late_bursts()
    assert len(late) == 256
    assert (np.diff(late["addr"].astype(np.int64)) == WIDTH).all()
    assert len(box.poll_late_bursts()) == 0
    box.clear_faults()
    box.poll_hits()
    assert bench.errors == 0, box.poll_errors()


# --- hangs ------------------------------------------------------------------------------------

L1 = Space.L1
AFTER = "ready_after_valid"
HANGS: dict[str, tuple[int, StressOp, dict[str, int]]] = {
    "silent": (MTE2, StressOp(Access.NOTHING, hold=Hold.NO_DONE), {}),
    "outstanding": (
        *(MTE2, StressOp(Access.READS, 4, 8, GM)),
        {"axi_read_latency": 1000, "max_outstanding": 1},
    ),
    "ar": (MTE2, StressOp(Access.READS, 4, 8, GM), {"stall_ar": 255, "seed": 5}),
    "aw": (MTE3, StressOp(Access.WRITES, 4, 8, GM, hold=Hold.NO_W), {"max_outstanding": 2}),
    "rready": (MTE2, StressOp(Access.READS, 1, 8, GM, hold=Hold.NO_RREADY), {}),
    "bready": (MTE3, StressOp(Access.WRITES, 1, 8, GM, hold=Hold.NO_BREADY), {}),
    "no_aw": (MTE3, StressOp(Access.WRITES, 1, 8, GM, hold=Hold.NO_AW), {}),
    "w_waits": (MTE3, StressOp(Access.WRITES, 1, 8, GM, hold=Hold.NO_AW), {"w_after_aw": 1}),
    "b_owed": (MTE3, StressOp(Access.WRITES, 3, 8, GM), {"axi_write_latency": 1000}),
    "src": (MTE2, StressOp(Access.SRC, 4, space=L1), {"stall_src_gnt": 255, "seed": 5}),
    "src_owed": (MTE2, StressOp(Access.SRC, 4, space=L1), {"local_read_latency": 1000}),
    "dst": (MTE3, StressOp(Access.DST, 4, space=L1), {"stall_dst_gnt": 255, "seed": 6}),
    "par": (FIX, StressOp(Access.PAR, 4, space=Space.FB), {"stall_src_gnt": 255, "seed": 7}),
    "flag": (FIX, StressOp(Access.FLAG, 4), {"stall_src_gnt": 255, "seed": 6}),
    "polls": (FIX, StressOp(Access.FLAG, 4, local=3, hold=Hold.NO_DONE), {}),
    "done": (MTE2, StressOp(Access.NOTHING), {"stall_done": 255, "seed": 4}),
    "after_w": (MTE3, StressOp(Access.WRITES, 1, 8, GM, hold=Hold.NO_AW), {AFTER: 0b11}),
    "after_done": (MTE2, StressOp(Access.NOTHING, hold=Hold.NO_DONE), {AFTER: 1 << 7}),
    "refuses": (MTE2, StressOp(Access.NOTHING, hold=Hold.REFUSE), {}),
}


@cocotb.test()
async def hangs(dut: Any) -> None:
    """Every kind of wait has a line in the report."""
    bench = Stress(dut)
    box = bench.mailbox
    reports = {}
    for name, (slot, op, knobs) in HANGS.items():
        quiet = {key: 1 if key.endswith("latency") else 0 for key in knobs}
        box.set_knobs(**{**quiet, **knobs})
        await bench.reset()
        bench.memory.unit_flags[96:128] = 1
        bench.memory.unit_flags[[98, 100, 101]] = 0
        box.set_watchdog_clocks(100)
        box.submit_block(slot, [op.pack()] * (2 if name == "refuses" else 1), 0)
        await bench.wait()
        assert box.hang, name
        reports[name] = channel_report(box.snapshot())
        state = box.state(slot)
        assert state is not None
        assert state.cycle == box.cycles
        box.set_watchdog_clocks(0)
        box.set_knobs(
            **{**quiet, **({"max_outstanding": 64} if "max_outstanding" in knobs else {})}
        )
        await bench.reset()
        box.clear_hang()
        box.poll_done(slot)
        assert channel_report(box.snapshot()) == []
    # A slot that waits for another, which is stuck.
    box.set_watchdog_clocks(100)
    silent = StressOp(Access.NOTHING, hold=Hold.NO_DONE).pack()
    box.submit_block(MTE2, [silent], 0)
    waits = [[0, box.submitted(MTE2), 0, 0]]
    box.submit_block(MTE3, [silent], 0, waits=waits)
    await bench.wait()
    reports["other"] = channel_report(box.snapshot())
    retired = [box.retired(MTE2), box.submitted(MTE2)]
    # The simulation goes on after the hang: the state is older than the end.
    await ClockCycles(dut.clk, 50)
    reports["later"] = channel_report(box.snapshot())
    Path(os.environ[RESULT_ENV] + ".hangs").write_text(json.dumps([reports, retired]))
    await bench.reset()
    box.clear_hang()
    box.set_watchdog_clocks(0)
    # For the process that reads the file after the end, long after the last wake-up.
    box.submit_block(MTE2, [StressOp(Access.READS, 1, 8, GM, hold=Hold.NO_RREADY).pack()], 9)
    await ClockCycles(dut.clk, 9000)
