# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the loads to L0 in the engine of slot mte1; test_l0.py starts them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from tb.harness.mailbox import FaultWindow
from tb.isa.descriptor import pack
from tb.isa.dma.op import MteL1Ub
from tb.isa.l0.op import L0Load
from tb.isa.lower import lower
from tb.isa.spaces import Space
from tests.hdl import l0_reference as ref
from tests.hdl.bench import WIDTH, Bench
from tests.hdl.l0_reference import load
from tests.hdl.mini import MTE1, RESULT_ENV, SIM_ENV
from tests.model.naive_loads import (
    ELEM_BITS,
    SEGMENT,
    half_bytes,
    is_scales,
    memory_of,
    move,
    pairs,
)

ICARUS = os.environ[SIM_ENV] == "icarus"
PER_LINE = max(1, 32 // WIDTH)
"""Clocks of 32 bytes."""

OTHER = lower(MteL1Ub(0, 0, 4, 2, 1, 1))
"""An op of the other unit of the engine."""


class L0Bench(Bench):
    """A bench with the golden L0 of the ops that ran."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.l1 = half_bytes(self.memory.view(Space.L1))
        self.l0 = self.memory.view(Space.L0)

    async def check(self, ops: list[L0Load]) -> None:
        """Runs legal ops back to back and compares all of L0, its holes included."""
        golden = half_bytes(self.l0)
        done = await self.run(MTE1, *(pack(op) for op in ops))
        assert done["status"].tolist() == [0] * len(ops), (done["status"], done["rule"], ops)
        for op in ops:
            move(op, self.l1, golden)
        wrong = np.flatnonzero(half_bytes(self.l0) != golden)
        assert wrong.size == 0, (len(wrong), [hex(int(at) // 2) for at in wrong[:8]], ops)

    async def verdicts(self, ops: list[L0Load]) -> list[tuple[int, int]]:
        """Returns status and rule of each op."""
        done = await self.run(MTE1, *(pack(op) for op in ops))
        assert not done["addr"].any()
        return [(int(one["status"]), int(one["rule"])) for one in done]


# --- values -----------------------------------------------------------------------------------

SQUARE = {"transpose": 1, "elem": 1, "m_step": 2, "k_step": 1, "src_stride": 2}
FAR = {"elem": 1, "m_start": 2, "k_start": 2, "m_step": 2, "k_step": 3, "src_stride": 5}
WORKED: tuple[tuple[L0Load, int, int, int], ...] = (
    (load("l0b", **SQUARE), 2, 0x226, 0x262),
    (load("l0b", transpose=1, m_step=4, src_stride=4, dst_stride=2), 1, 0x514, 0x688),
    (load("l0b", transpose=1, elem=2, k_step=2), 4, 0x328, 0x344),
    (load("l0a", elem=1, m_step=3, k_step=4, src_stride=3, dst_stride=3), 2, 0xA28, 0xA28),
    (load("l0a", **FAR, dst_stride=3), 2, 0x1800, 0x000),
    (load("l0a", **FAR, dst_stride=3), 2, 0x2E00, 0xE00),
    (load("l0a_mx"), 1, 11, 11),
)
"""Rows of docs/spec/l0_loads.md, section 7: op, bytes of an element, place in L1 and in L0."""


@cocotb.test()
async def worked(dut: Any) -> None:
    """One element that is not 0 comes to the place of the worked example, and nowhere else."""
    bench = L0Bench(dut)
    l1, l0 = bench.memory.view(Space.L1), bench.l0
    await bench.reset()
    for op, size, source, target in WORKED:
        bench.memory.set_background(Space.L1, 0)
        bench.memory.set_background(Space.L0, 0)
        element = np.arange(0xA1, 0xA1 + size, dtype=np.uint8)
        l1[source : source + size] = element
        (done,) = await bench.run(MTE1, pack(op))
        assert done["status"] == 0, op
        target += SEGMENT[memory_of(op)]
        assert np.flatnonzero(l0).tolist() == list(range(target, target + size)), op
        assert (l0[target : target + size] == element).all(), op
    assert bench.errors == 0, bench.mailbox.poll_errors()


STEPS = {"m_step": 4, "k_step": 2, "src_stride": 4}
"""Whole squares of elements of each size."""


@cocotb.test()
async def every_square(dut: Any) -> None:
    """Every element size, transposed and not, in each data memory, and scales in theirs."""
    bench = L0Bench(dut)
    await bench.reset()
    ops = [
        load(
            ("l0a", "l0b")[elem & 1],
            elem=elem,
            transpose=transpose,
            src_addr=0x2000 * elem + 32,
            dst_addr=0x4000 * elem,
            **STEPS,
            dst_stride=8,
        )
        for elem in range(4)
        for transpose in (0, 1)
    ]
    ops += [
        load(name, src_addr=96, m_step=3, k_step=5, src_stride=3, dst_stride=6)
        for name in ("l0a_mx", "l0b_mx")
    ]
    for op in ops:
        await bench.check([op])
    await bench.check(ops)
    assert bench.errors == 0, bench.mailbox.poll_errors()


@cocotb.test()
async def random_loads(dut: Any) -> None:
    """Random operands, back to back, at several latencies and with stalls."""
    bench = L0Bench(dut)
    random = np.random.default_rng(20)
    await bench.reset()
    batches, size, most = (4, 4, 6) if ICARUS else (40, 12, 48)
    for batch in range(batches):
        stalled = batch % 4 == 3
        bench.mailbox.set_knobs(
            local_read_latency=(1, 40, 2, 7)[batch % 4],
            local_read_jitter=8 * stalled,
            stall_src_gnt=90 * stalled,
            stall_dst_gnt=(0, 90)[stalled] if batch % 8 != 5 else 200,
            seed=batch + 1,
        )
        await bench.check([ref.draw(random, most) for _ in range(size)])
    assert bench.errors == 0, bench.mailbox.poll_errors()


@cocotb.test()
async def large_loads(dut: Any) -> None:
    """Loads that fill a memory, and the largest steps."""
    bench = L0Bench(dut)
    await bench.reset()
    ops = []
    for elem, c0 in enumerate((32, 16, 8, 64)):
        m, k = 16, 8
        depth = c0 * k // 16
        for transpose, stride in ((1, depth), (0, m)):
            ops.append(
                load("l0a", elem=elem, transpose=transpose, m_step=m, k_step=k, src_stride=m + elem,
                     dst_stride=stride)
            )  # fmt: skip
    ops.append(load("l0b", m_step=1, k_step=128, src_stride=7, dst_stride=1))
    ops.append(load("l0b", m_step=128, k_step=1, dst_stride=65535, src_stride=65535))
    ops.append(load("l0a_mx", m_step=1, k_step=128, dst_stride=128, src_stride=9))
    ops.append(load("l0b_mx", m_step=128, k_step=1, dst_stride=1, src_stride=77))
    await bench.check(ops)
    # Overlapping destinations are not refused (LD-L07); their bytes are not defined.
    over = load("l0a", elem=1, transpose=1, m_step=3, k_step=100, src_stride=2)
    assert (
        await bench.verdicts([over, load("l0b", m_step=8, k_step=90, src_stride=2)]) == [(0, 0)] * 2
    )
    assert bench.errors == 0, bench.mailbox.poll_errors()


# --- rules ------------------------------------------------------------------------------------

TOO_WIDE: tuple[dict[str, int], ...] = (
    {"m_start": 1 << 16},
    {"k_start": 1 << 16},
    {"m_step": 256},
    {"k_step": 256},
    {"src_stride": 1 << 16},
    {"dst_stride": 1 << 16},
    {"src_stride": 0},
    {"dst_stride": 0},
)


def at_limits() -> list[L0Load]:
    """Returns loads that just fit, and those that are one unit too far."""
    ops = []
    for name in ref.L0_BYTES:
        scales = name.endswith("_mx")
        unit = 32 if scales else 512
        last = ref.L1_BYTES - unit
        most = ref.L0_BYTES[name] // unit
        outer, inner = ("m", "k") if scales else ("k", "m")
        scale = 16 if scales else 1
        ends: list[dict[str, int]] = [
            {"src_addr": last},
            {"src_addr": last + 32},
            {"src_addr": last - unit + 32, f"{inner}_step": 2, "dst_addr": 0},
            {f"{inner}_start": last // unit},
            {f"{inner}_start": last // unit + 1},
            {f"{outer}_start": last // unit},
            {f"{outer}_start": last // unit + 1},
            {f"{outer}_start": 1, "src_stride": last // unit},
            {f"{outer}_start": 1, "src_stride": last // unit + 1},
            {f"{outer}_step": 2, "src_stride": last // unit},
            {f"{outer}_step": 2, "src_stride": last // unit + 1},
            {f"{outer}_start": 3, "src_stride": (last // unit) // 3, "src_addr": last % 3},
            {"dst_addr": (most - 1) * unit * scale},
            {"dst_addr": most * unit * scale},
            {f"{outer}_step": 2, "dst_stride": most - 1},
            {f"{outer}_step": 2, "dst_stride": most},
            {f"{outer}_step": 1, "dst_stride": 65535},
            {f"{inner}_step": 3, "dst_addr": (most - 3) * unit * scale},
            {f"{inner}_step": 3, "dst_addr": (most - 2) * unit * scale},
            {f"{outer}_start": 65535, "src_stride": 65535},
            {f"{outer}_start": 16384, "src_stride": 1},
            {f"{outer}_start": 1, "src_stride": 16384},
            {f"{outer}_start": 1 << 15, "src_stride": 1 << 15},
            {f"{outer}_step": 255, "src_stride": 65535, "dst_stride": 65535},
            {f"{outer}_step": 2, "dst_stride": 1 << 15},
            {f"{inner}_start": 65535},
            {"src_addr": (1 << 24) - 32},
            {"dst_addr": (1 << 28) - 512},
            {"src_addr": 1 << 19},
            {"dst_addr": 1 << 20},
            {"dst_addr": 1 << 24},
        ]
        ops += [load(name, **fields) for fields in ends]
    for elem, c0 in enumerate((32, 16, 8, 64)):
        m, k = (4, 2)
        depth, columns = c0 * k // 16, 16 * m // c0
        shape = {"elem": elem, "transpose": 1, "m_step": m, "k_step": k, "src_stride": m}
        for stride in (depth, 128 - depth, 129 - depth):
            ops.append(load("l0b", **shape, dst_stride=stride))
        fits = 128 - depth - (columns - 1) * depth
        for first in (fits, fits + 1):
            ops.append(load("l0a", **shape, dst_stride=depth, dst_addr=512 * first))
    return ops


@cocotb.test()
async def rules(dut: Any) -> None:
    """Each D rule at its limits, the lowest number, and NOPs."""
    bench = L0Bench(dut)
    await bench.reset()
    before = bench.mailbox.written_bytes(MTE1)
    ops = []
    for name in ref.L0_BYTES:
        for fields in TOO_WIDE:
            ops += [load(name, **fields), load(name, **{**fields, "m_step": 0, "src_addr": 1})]
        for bit in range(5):
            ops += [load(name, src_addr=1 << bit), load(name, src_addr=1 << bit, k_step=0)]
        for bit in range(9):
            ops += [load(name, dst_addr=1 << bit), load(name, dst_addr=1 << bit, m_step=0)]
    for elem in range(4):
        for transpose in (0, 1):
            for m in range(5):
                for k in range(3):
                    shape = {"elem": elem, "transpose": transpose, "m_step": m, "k_step": k}
                    ops.append(load("l0a", **shape, dst_stride=128, src_addr=ref.L1_BYTES))
    # A NOP accesses nothing, so its extents do not count.
    ops += [load("l0b", m_step=0, dst_addr=1 << 20), load("l0a_mx", k_step=0, src_addr=1 << 20)]
    assert {ref.violated(op) for op in ops} == {0, 3, 4, 5, 6}
    assert all(ref.violated(op) or not (op.m_step and op.k_step) for op in ops)
    assert await bench.verdicts(ops) == [
        (int(rule > 0), rule) for rule in map(ref.violated, ops)
    ]  # nothing is moved
    assert bench.mailbox.written_bytes(MTE1) == before
    # Fields without an operand are ignored in loads of scales.
    ops = [load(name, elem=3, transpose=1, m_step=3) for name in ("l0a_mx", "l0b_mx")]
    await bench.check([*ops, load("l0a", elem=3, m_step=3, dst_stride=3)])
    ops = at_limits()
    assert {ref.violated(op) for op in ops} == {0, 6}
    found = await bench.verdicts(ops)
    for op, verdict in zip(ops, found, strict=True):
        rule = ref.violated(op)
        assert verdict == (int(rule > 0), rule), op
    assert bench.errors == 0, bench.mailbox.poll_errors()


@cocotb.test()
async def random_rules(dut: Any) -> None:
    """Fields of any value that their containers hold."""
    bench = L0Bench(dut)
    random = np.random.default_rng(3)
    await bench.reset()
    names = list(ref.L0_BYTES)
    ops: list[L0Load] = []

    def some(bits: int) -> int:
        """Returns a number of up to ``bits`` bits, every magnitude as likely."""
        return int(random.integers(1 << int(random.integers(bits + 1))))

    while len(ops) < (60 if ICARUS else 800):
        op = load(
            names[int(random.integers(4))],
            elem=some(2),
            transpose=some(1),
            src_addr=some(19) << 5 | some(1) * (random.random() < 0.1),
            dst_addr=some(12) << 9 | some(1) * (random.random() < 0.1),
            m_start=some(17 if random.random() < 0.2 else 12),
            k_start=some(17 if random.random() < 0.2 else 12),
            m_step=some(9 if random.random() < 0.2 else 5),
            k_step=some(9 if random.random() < 0.2 else 5),
            src_stride=some(17),
            dst_stride=some(17 if random.random() < 0.2 else 7),
        )
        if ref.violated(op) or op.m_step * op.k_step <= 64:
            ops.append(op)
    rules_ = [ref.violated(op) for op in ops]
    assert set(rules_) == {0, 3, 4, 5, 6}
    found = await bench.verdicts(ops)
    for op, verdict, rule in zip(ops, found, rules_, strict=True):
        assert verdict == (int(rule > 0), rule), op
    assert bench.errors == 0, bench.mailbox.poll_errors()


# --- errors -----------------------------------------------------------------------------------


@cocotb.test()
async def errors(dut: Any) -> None:
    """Status 6, the first bad word, no access after it, and the next op works."""
    bench = L0Bench(dut)
    box = bench.mailbox
    await bench.reset()
    shape = {**STEPS, "dst_stride": 16, "src_addr": 0x8000}
    good = load("l0b", elem=3, transpose=1, m_step=4, dst_addr=0x4000, dst_stride=4)
    for latency in (7,) if ICARUS else (1, 40):
        for elem in (0,) if ICARUS else range(4):
            for transpose in (0, 1):
                box.set_knobs(local_read_latency=latency)
                op = load("l0a", elem=elem, transpose=transpose, dst_addr=0x400, **shape)
                _, target = pairs(op)
                inside = np.zeros(2 * len(bench.l0), bool)
                inside[target] = True
                for space, at in (
                    (Space.L1, 0x8000 + 0x940),
                    (Space.L0, 0x400 + 32 * 22),
                    (Space.L1, 0x8000),
                    (Space.L0, 0x400),
                ):
                    start = half_bytes(bench.l0)
                    written = box.written_bytes(MTE1)
                    # From that word on each access fails, so the log has all after the error.
                    box.set_fault(0, FaultWindow(space, at, 2, length=0x4000))
                    box.set_fault(1, FaultWindow(Space.L0, 0x400, 2, length=0x4000, slots=1))
                    if space is Space.L1:
                        box.clear_fault(1)
                    done = await bench.run(MTE1, pack(op), pack(op))
                    hits = box.poll_hits()
                    assert done["status"].tolist() == [6, 6]
                    assert done["rule"].tolist() == [0, 0]
                    assert int(done["addr"][0]) == int(hits["addr"][0])
                    word = int(done["addr"][0])
                    assert word % WIDTH == 0
                    if space is Space.L1:
                        assert word == at & -WIDTH
                        # Words granted from the first bad one to its answer, in both ops.
                        assert len(hits) <= 2 * (latency + 1), len(hits)
                    else:
                        assert len(hits) == 2, "no write after the first error"
                        assert box.written_bytes(MTE1) == written
                    box.clear_faults()
                    after = half_bytes(bench.l0)
                    assert (after == start)[~inside].all()
                    golden = after.copy()
                    await bench.check([good, op])
                    move(good, bench.l1, golden)
                    move(op, bench.l1, golden)
                    assert (half_bytes(bench.l0) == golden).all()
    assert bench.errors == 0, box.poll_errors()


# --- order and rate ---------------------------------------------------------------------------


@cocotb.test()
async def units(dut: Any) -> None:
    """Ops of the other unit between loads, opcodes of neither, and resets."""
    bench = L0Bench(dut)
    box = bench.mailbox
    await bench.reset()
    fractals = load("l0a", transpose=1, elem=3, m_step=4, k_step=2, src_stride=4, dst_stride=8)
    unknown = np.zeros(16, np.uint32)
    unknown[0] = 17
    words = [pack(fractals), pack(OTHER), pack(load("l0b_mx")), unknown, pack(OTHER), unknown]
    golden = half_bytes(bench.l0)
    for op in (fractals, load("l0b_mx")):
        move(op, bench.l1, golden)
    done = await bench.run(MTE1, *words * 3)
    assert done["status"].tolist() == [0, 0, 0, 1, 0, 1] * 3
    assert not done["rule"].any()
    assert (done["tag"] == (int(done["tag"][0]) + np.arange(len(done))) & 255).all()
    assert (half_bytes(bench.l0) == golden).all()
    l1, ub = bench.memory.view(Space.L1), bench.ub
    assert (ub[:128] == l1[:128]).all()
    for delay in (155, 505, 905, 1555):
        box.submit_block(MTE1, np.stack([pack(fractals)] * 6), 0)
        await Timer(delay, "ns")
        await bench.reset()
        box.poll_done(MTE1)
        await bench.check([fractals, load("l0b", elem=2, transpose=1, k_step=2)])
    assert bench.errors == 0, box.poll_errors()


@cocotb.test()
async def rate(dut: Any) -> None:
    """One line of 32 bytes a clock, a word of 128 bits, also from op to op."""
    bench = L0Bench(dut)
    box = bench.mailbox
    await bench.reset()
    result: dict[str, float] = {}
    mixed = [
        load("l0a", elem=3, transpose=1, m_step=4, k_step=1, src_stride=4, dst_stride=4),
        load("l0a", elem=1, m_step=2, k_step=2, src_stride=3, dst_stride=2),
        load("l0b", elem=2, transpose=1, k_step=2, src_addr=32),
        load("l0a_mx", m_step=4, k_step=8, src_stride=9, dst_stride=8, src_addr=32),
        load("l0b", elem=0, transpose=1, m_step=2, k_step=2, src_stride=2, dst_stride=4),
        load("l0a", m_step=3, dst_stride=3),
    ]
    cases = {"mixed": mixed * 3}
    for elem in range(4):
        for transpose in (0, 1):
            op = load("l0a", elem=elem, transpose=transpose, **STEPS, dst_stride=8)
            cases[f"elem {elem} transpose {transpose}"] = [op] * 8
    for latency in (1, 40):
        box.set_knobs(local_read_latency=latency)
        for name, ops in cases.items():
            if ICARUS and name != "mixed":
                continue
            done = await bench.run(MTE1, *(pack(op) for op in ops))
            assert not done["status"].any()
            clocks = int(done["done_cycle"][-1]) - int(done["accept_cycle"][0])
            lines = sum(op.m_step * op.k_step * (1 if is_scales(op) else 16) for op in ops)
            # Once: the pipeline, and the longest square, which is filled before it is read.
            square = max(256 // ELEM_BITS[op.elem] if op.transpose else 1 for op in ops)
            assert clocks <= PER_LINE * (lines + square) + latency + 14, (name, latency, clocks)
            result[f"{name} latency {latency}"] = clocks - PER_LINE * lines
            assert clocks >= PER_LINE * lines
    Path(os.environ[RESULT_ENV] + ".rate").write_text(json.dumps(result))
    assert bench.errors == 0, box.poll_errors()
