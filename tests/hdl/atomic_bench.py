# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the atomic stores of pto_mte3; test_atomic_stores.py starts them.

The expected contents of GM come from the second reading of the copies, tests/model/naive.py.
"""

from __future__ import annotations

import json
import os
import random
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles
from numpy.typing import NDArray

from tb.harness.layout import READ as READ_SIDE
from tb.harness.layout import WRITE as WRITE_SIDE
from tb.harness.mailbox import FaultWindow
from tb.isa.burst.op import MteUbUb
from tb.isa.descriptor import pack
from tb.isa.dma.op import DmaLoop, DmaOp, Loop, MteUbGm
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.spaces import SIZES, Space
from tests.hdl.bench import WIDTH, Bench
from tests.hdl.mini import LOCAL_ENV, MTE3, OPS_ENV, RESULT_ENV
from tests.model.naive import copy, read_descriptor, rows

F32, F16, S16, S32, S8, BF16 = range(1, 7)
ADD, MAX, MIN = range(3)
BYTES = {0: 1, F32: 4, F16: 2, S16: 2, S32: 4, S8: 1, BF16: 2}
FRACTION_BITS = {F32: 23, F16: 10, BF16: 7}

GM_BASE = 0x12_3456_0000
WINDOW = GM_BASE - 0x1000
OK, RULE, RD_SLVERR, RD_DECERR, WR_SLVERR, WR_DECERR, LOCAL = range(7)

LOCAL_WIDTH = int(os.environ.get(LOCAL_ENV, "256")) // 8
"""Bytes of a local word."""

OPS = int(os.environ.get(OPS_ENV, "300"))
"""Random ops of a simulation."""


# ---- stores ----


def store(**values: Any) -> DmaOp:
    """Returns a store of one row of 32 bytes from UB 0 to the base, changed by ``values``."""
    fields: dict[str, Any] = {
        "ext_addr": GM_BASE,
        "loc_addr": 0,
        "len": 32,
        "n_burst": 1,
        "ext_stride": 0,
        "loc_stride": 0,
    }
    fields |= values
    loops = [Loop(x.count, x.loc_stride, x.ext_stride) for x in fields.pop("loops", ())]
    return MteUbGm(**fields, loops=tuple(loops))


def places(op: DmaOp) -> list[tuple[int, int]]:
    """Returns GM and UB address of each row, in order."""
    return [(row.dst, row.src) for row in rows(read_descriptor(op))]


class StoreBench(Bench):
    """A window of GM, UB, and what GM is to hold."""

    size = 0x8000

    async def start(self, background: NDArray[np.uint8] | None = None) -> None:
        """Resets, and puts a background in the window."""
        await self.reset()
        self.memory.ensure(Space.GM, WINDOW, self.size + 0x2000)
        self.window = self.gm[WINDOW : GM_BASE + self.size + 0x1000]
        if background is not None:
            self.window[:] = background
        self.golden = self.window.copy()

    async def stores(self, ops: Sequence[DmaOp], *, check: bool = True) -> NDArray[Any]:
        """Runs stores back to back; with ``check`` all of them are legal and GM is compared."""
        dones = await self.run(MTE3, *map(pack, ops))
        assert self.errors == 0, self.mailbox.poll_errors()
        if check:
            for op, done in zip(ops, dones, strict=True):
                assert (done["status"], done["rule"], done["addr"]) == (OK, 0, 0), op
                self.apply(op)
            self.compare(ops)
        return dones

    def apply(self, op: DmaOp) -> None:
        """Stores to what GM is to hold."""
        moved = replace(op, ext_addr=op.ext_addr - WINDOW)
        copy(read_descriptor(moved), {Space.GM: self.golden, Space.UB0: self.ub})

    def compare(self, ops: Sequence[DmaOp] = ()) -> None:
        """Compares the whole window."""
        wrong = np.flatnonzero(self.window != self.golden)
        if len(wrong):
            at = int(wrong[0])
            raise AssertionError(
                f"{len(wrong)} bytes differ, the first at {at - 0x1000:#x} of the window: "
                f"{self.window[at]:02x}, not {self.golden[at]:02x}\n" + "\n".join(map(str, ops))
            )


VALUES = {
    F32: (0, 1 << 31, 1, 0x8000_0001, 0x7F_FFFF, 0x80_0000, 0x3F80_0000, 0xBF80_0000, 0x3380_0000,
          0x3380_0001, 0x7F7F_FFFF, 0xFF7F_FFFF, 0x7F80_0000, 0xFF80_0000, 0x7F80_0001, 0x7FC0_0000,
          0x7300_0000),
    F16: (0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x1000, 0x1001, 0x7BFF, 0xFBFF,
          0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFE01, 0x4C00),
    BF16: (0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x3F80, 0xBF80, 0x3F81, 0x3B80, 0x7F7F, 0xFF7F, 0x7F80,
           0xFF80, 0x7F81, 0x7FC0, 0x7B00),
    S32: (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
    S16: (0, 1, 0x7FFF, 0x8000, 0xFFFF),
    S8: (0, 1, 0x7F, 0x80, 0xFF),
}  # fmt: skip


def elements(kind: int, count: int, rng: random.Random) -> NDArray[np.uint8]:
    """Returns elements, half of them at corners of the type."""
    bits = 8 * BYTES[kind]
    data = b"".join(
        (rng.choice(VALUES[kind]) if rng.random() < 0.5 else rng.getrandbits(bits)).to_bytes(
            bits // 8, "little"
        )
        for _ in range(count)
    )
    return np.frombuffer(data, np.uint8)


@cocotb.test()
async def updates(dut: Any) -> None:
    """Every type, op and value of CTRL 48: pairs of corners and random values, one row each."""
    bench = StoreBench(dut)
    await bench.start()
    rng = random.Random(11)
    for kind in range(1, 7):
        size = BYTES[kind]
        pool = VALUES[kind]
        pairs = [(a, b) for a in pool for b in pool]
        pairs += [(rng.getrandbits(8 * size), rng.getrandbits(8 * size)) for _ in range(400)]
        if kind in FRACTION_BITS:  # sums of neighbouring exponents
            step = 1 << FRACTION_BITS[kind]
            for _ in range(400):
                a = rng.getrandbits(8 * size)
                b = (a + rng.randrange(-14, 15) * step + rng.getrandbits(FRACTION_BITS[kind])) % (
                    1 << 8 * size
                )
                pairs.append((a, b ^ rng.getrandbits(1) << 8 * size - 1))
        old = np.frombuffer(b"".join(a.to_bytes(size, "little") for a, _ in pairs), np.uint8)
        new = np.frombuffer(b"".join(b.to_bytes(size, "little") for _, b in pairs), np.uint8)
        for op in (ADD, MAX, MIN):
            for nosat in (0, 1):
                place = 0x1000 + size
                for memory in (bench.window, bench.golden):
                    memory[place : place + len(old)] = old
                bench.ub[: len(new)] = new
                await bench.stores(
                    [
                        store(
                            len=len(new),
                            ext_addr=GM_BASE + size,
                            atomic_type=kind,
                            atomic_op=op,
                            nosat=nosat,
                        )
                    ]
                )


def pattern(seed: int, count: int) -> NDArray[np.uint8]:
    """Returns P(seed) of examples.md."""
    i = np.arange(count)
    return (7 * i + 13 * (i >> 8) + 29 * seed + 3).astype(np.uint8)


def packed(values: Sequence[int], size: int) -> str:
    """Returns elements as hexadecimal bytes."""
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values).hex()


WORKED: tuple[tuple[str, dict[str, Any], str, dict[int, str], str, int, int], ...] = (
    ("AS-E1, DW-9", {"atomic_type": S16, "len": 4}, "0100ffff", {0: "ff7f0100"}, "00800000", 16,
     0xE207534D),
    ("AS-E2", {"atomic_type": F16, "len": 4}, "ff7b007c", {0: "ff7b00fc"}, "ff7b0000", 16,
     0x7959E673),
    ("AS-E2b", {"atomic_type": F16, "nosat": 1, "len": 4}, "ff7b007c", {0: "ff7b00fc"}, "007c007e",
     16, 0xAF3BA08A),
    ("AS-E3", {"atomic_type": S8, "atomic_op": MAX, "n_burst": 2, "len": 2, "ext_stride": 4,
               "loc_stride": 32}, "807f112200ff", {0: "0102", 32: "fe01"}, "017f11220001", 16,
     0x141C8B48),
    ("AS-E4", {"atomic_type": BF16, "atomic_op": MIN, "len": 4}, "0000803f", {0: "00800040"},
     "0080803f", 16, 0x417D84B5),
    ("AS-E7", {"atomic_type": S32, "atomic_op": MAX, "n_burst": 2, "len": 12, "loc_stride": 32,
               "ext_stride": 12}, packed(range(-3, 5), 4), {0: packed(range(5, -11, -1), 4)},
     "050000000400000003000000000000000100000002000000", 32, 0x842D88CB),
    ("AS-E8", {"atomic_type": F16, "atomic_op": MAX, "len": 6}, "007e003c007c",
     {0: "003c0080003c"}, "0000003c007c", 16, 0x684A6B6C),
    ("AS-E9", {"atomic_op": MIN, "len": 4}, "00000000", {0: "01020304"}, "01020304", 16,
     0x16B6CCBB),
)  # fmt: skip
"""Id, fields, GM before, UB by address, first bytes after, bytes of the image, its CRC-32."""


@cocotb.test()
async def worked_values(dut: Any) -> None:
    """The rows of examples_v2.md section 5 and of dma.md section 7 for atomic stores."""
    bench = StoreBench(dut)
    bench.memory.set_background(Space.GM, 0x55)
    await bench.start()
    at = 0x1000
    cases = [
        *WORKED,
        (
            "AS-E5",
            {
                "atomic_type": F32,
                "len": 8,
                "n_burst": 2,
                "loc_stride": 32,
                "ext_stride": 16,
                "loops": (DmaLoop(2, 64, 64),),
            },
            b"".join(np.float32(i).tobytes() for i in range(32)).hex(),
            {0: pattern(8, 256).tobytes().hex()},
            "ebf2f9000000803f",
            128,
            0x69982057,
        ),
    ]
    for name, fields, before, source, after, size, crc in cases:
        bench.window[:] = 0x55
        old = np.frombuffer(bytes.fromhex(before), np.uint8)
        bench.window[at : at + len(old)] = old
        for address, text in source.items():
            data = np.frombuffer(bytes.fromhex(text), np.uint8)
            bench.ub[address : address + len(data)] = data
        (done,) = await bench.stores([store(**fields)], check=False)
        assert done["status"] == OK, name
        image = bench.window[at : at + size].tobytes()
        assert image[: len(after) // 2].hex() == after, (name, image.hex())
        assert zlib.crc32(image) == crc, (name, image.hex())


def drawn(rng: random.Random, size: int) -> DmaOp:
    """Returns a legal store inside the first ``size`` bytes of the window."""
    while True:
        kind = rng.randrange(7)
        unit = BYTES[kind]
        longest = rng.choice((4 * unit, 40, 200, 600, 1200))
        length = rng.randrange(1, max(2, longest // unit)) * unit
        n_burst = rng.choice((1, 1, 2, 3, 7)) if length < 300 else rng.choice((1, 1, 2))
        gap = rng.choice((0, 0, unit, 3 * unit, 16, 64))
        loops = []
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            step = rng.choice((0, 0, length, length + gap, n_burst * (length + gap), 256))
            loops.append(DmaLoop(rng.choice((1, 2, 3)), step // unit * unit, 32 * rng.randrange(9)))
        op = store(
            ext_addr=GM_BASE + rng.randrange(size // unit) * unit,
            loc_addr=32 * rng.randrange(100),
            len=length,
            n_burst=n_burst,
            ext_stride=length + gap,
            loc_stride=(length + 31) // 32 * 32,
            loops=tuple(loops),
            ub_sub=0,
            atomic_type=kind,
            atomic_op=rng.randrange(3) if kind else rng.randrange(4),
            nosat=rng.randrange(2),
        )
        targets = [gm for gm, _ in places(op)]
        if len(targets) * length < 2500 and max(targets) + length <= GM_BASE + size:
            return op


@cocotb.test()
async def random_stores(dut: Any) -> None:
    """Plain and atomic stores back to back on few words, under latencies and stalls."""
    bench = StoreBench(dut)
    await bench.start()
    rng = random.Random(5 + WIDTH)
    left = OPS
    while left > 0:
        latency = rng.choice((1, 1, 3, 40))
        stalls = rng.choice((0, 0, 60, 160))
        bench.mailbox.set_knobs(
            axi_read_latency=latency,
            axi_write_latency=rng.choice((1, latency)),
            local_read_latency=rng.choice((1, 5, 20)),
            axi_read_jitter=rng.choice((0, 20)),
            axi_write_jitter=rng.choice((0, 20)),
            stall_ar=stalls,
            stall_r=rng.choice((0, stalls)),
            stall_aw=rng.choice((0, stalls)),
            stall_w=rng.choice((0, stalls)),
            stall_b=rng.choice((0, stalls)),
            stall_src_gnt=rng.choice((0, stalls)),
            w_after_aw=rng.randrange(2),
            max_outstanding=rng.choice((1, 4, 64)),
            seed=rng.getrandbits(31),
        )
        kind = rng.randrange(1, 7)
        bench.ub[:0x2000] = elements(kind, 0x2000 // BYTES[kind], rng)
        size = rng.choice((64, 300, 0x1800, 0x4000))
        ops = [drawn(rng, size) for _ in range(rng.choice((1, 6, 20)))]
        await bench.stores(ops)
        left -= len(ops)


@cocotb.test()
async def long_rows(dut: Any) -> None:
    """Rows over several pages, and rows that touch inside a bus word."""
    bench = StoreBench(dut)
    await bench.start()
    rng = random.Random(3)
    for latency in (1, 40):
        bench.mailbox.set_knobs(axi_read_latency=latency, axi_write_latency=latency)
        bench.ub[:0x4000] = elements(S16, 0x2000, rng)
        await bench.stores(
            [
                store(ext_addr=GM_BASE + 0xFFE, len=0x2402, atomic_type=S16, atomic_op=ADD),
                store(ext_addr=GM_BASE + 0x10, len=0x2800, atomic_type=S8, atomic_op=MAX),
                store(ext_addr=GM_BASE + 0x20, len=0x2800),
                store(ext_addr=GM_BASE + 4, len=0x1804, atomic_type=S32, atomic_op=MIN),
                *[
                    store(ext_addr=GM_BASE + 2, len=70, n_burst=9, ext_stride=70, loc_stride=96,
                          atomic_type=BF16, loops=(DmaLoop(3, 0, 64),))
                    for _ in range(2)
                ],
            ]
        )  # fmt: skip


@cocotb.test()
async def rules(dut: Any) -> None:
    """The lowest number of a violated rule, of NOPs too, and no byte of GM changed."""
    bench = StoreBench(dut)
    await bench.start()
    end = SIZES[Space.GM]
    two = {"n_burst": 2, "ext_stride": 33, "loc_stride": 32}
    loop = (DmaLoop(2, 34, 32),)
    cases: tuple[tuple[int, dict[str, Any]], ...] = (
        (16, {"atomic_type": F32, "len": 6}),  # DW-8
        (16, {"atomic_type": F32, "len": 4, "ext_addr": GM_BASE + 2}),
        (16, {"atomic_type": F32, "len": 4, "ext_addr": GM_BASE + 1}),
        *((16, {"atomic_type": kind, **two}) for kind in (F32, F16, S16, S32, BF16)),
        (0, {"atomic_type": S8, **two}),
        (0, {"atomic_type": F16, **two, "n_burst": 1}),
        (16, {"atomic_type": F32, "loops": loop}),
        (0, {"atomic_type": F16, "loops": loop}),
        (0, {"atomic_type": F32, "loops": (DmaLoop(1, 33, 32),)}),
        (0, {"atomic_type": F32, "loops": (DmaLoop(2, 32, 32), DmaLoop(1, 34, 0))}),
        (0, {"atomic_type": F32, "loops": (*(DmaLoop(2, 32, 32),) * 2, DmaLoop(1, 35, 0))}),
        (16, {"atomic_type": F32, "loops": (DmaLoop(2, 32, 32), DmaLoop(2, 65, 32))}),
        (16, {"atomic_type": F32, "loops": (*(DmaLoop(2, 32, 32),) * 2, DmaLoop(2, 2, 32))}),
        (0, {"len": 6, "ext_addr": GM_BASE + 1}),
        (0, {"atomic_op": 3, "len": 6}),
        (17, {"atomic_type": 7}),
        (17, {"atomic_type": 7, "ext_addr": GM_BASE + 1, "len": 3}),
        *((17, {"atomic_type": kind, "atomic_op": 3}) for kind in range(1, 8)),
        (16, {"atomic_type": F32, "atomic_op": 3, "len": 6}),
        # NOPs
        (17, {"atomic_type": 7, "len": 0}),
        (17, {"atomic_type": S8, "atomic_op": 3, "n_burst": 0}),
        (16, {"atomic_type": F16, "ext_addr": GM_BASE + 1, "n_burst": 0}),
        (16, {"atomic_type": S32, "len": 2, "loops": (DmaLoop(0, 0, 0),)}),
        (0, {"atomic_type": S32, "len": 4, "loops": (DmaLoop(0, 1, 0),)}),
        (0, {"atomic_type": S32, "len": 0, "ext_addr": end}),
        (16, {"atomic_type": S32, "len": 0, "ext_addr": end + 2}),
        # With lower ones
        (5, {"atomic_type": 7, "l2": 16}),
        (6, {"atomic_type": F32, "len": 6, "loc_addr": 16}),
        (7, {"atomic_type": F32, "len": 6, "n_burst": 2, "ext_stride": 8, "loc_stride": 8}),
        (8, {"atomic_type": F32, "len": 6, "n_burst": 2, "ext_stride": 4, "loc_stride": 32}),
        (12, {"atomic_type": F32, "len": 6, "ext_addr": end - 4}),
        (12, {"atomic_type": 7, "ext_addr": end - 31}),
        (12, {"atomic_type": S8, "atomic_op": 3, "loc_addr": SIZES[Space.UB0]}),
    )  # fmt: skip
    for rule, fields in cases:
        op = store(**fields)
        (done,) = await bench.stores([op], check=False)
        assert (done["status"], done["rule"], done["addr"]) == (RULE if rule else OK, rule, 0), (
            op,
            done,
        )
        if not rule:
            bench.apply(op)
        bench.compare([op])
    # Between legal stores, all in flight together.
    legal = store(atomic_type=S8, len=40)
    mixed = [
        legal,
        store(atomic_type=7),
        legal,
        store(atomic_type=F16, len=7),
        legal,
        store(len=0),
        legal,
    ]
    dones = await bench.stores(mixed, check=False)
    assert [(int(done["status"]), int(done["rule"])) for done in dones] == [
        (OK, 0), (RULE, 17), (OK, 0), (RULE, 16), (OK, 0), (OK, 0), (OK, 0),
    ]  # fmt: skip
    for _ in range(4):
        bench.apply(legal)
    bench.compare()


@cocotb.test()
async def other_units(dut: Any) -> None:
    """Bits of the fields do not reach the other unit; ops of both units alternate."""
    bench = StoreBench(dut)
    await bench.start()
    between = pack(lower(MteUbUb(0, 0x8000, 4, 1, 0, 0)))
    for bits in (0, 0b1_11_111, 0b0_00_001):
        between[15] |= bits << 22  # descriptor bits 502 and up
        bench.ub[0x8000:0x8080] = 0
        op = store(atomic_type=S8, len=100, ext_addr=GM_BASE + 3)
        dones = await bench.run(MTE3, pack(op), between, pack(op))
        assert (dones["status"] == OK).all()
        for _ in range(2):
            bench.apply(op)
        bench.compare()
        assert (bench.ub[0x8000:0x8080] == bench.ub[:0x80]).all()
    assert bench.errors == 0, bench.mailbox.poll_errors()


@cocotb.test()
async def errors(dut: Any) -> None:
    """Errors of each side: status and first address; later ops work, other bytes keep."""
    bench = StoreBench(dut)
    await bench.start()
    box = bench.mailbox
    rng = random.Random(9)
    bench.ub[:0x4000] = elements(S16, 0x2000, rng)
    for round_ in range(60):
        latency = rng.choice((1, 7, 40))
        box.set_knobs(axi_read_latency=latency, axi_write_latency=latency,
                      stall_r=rng.choice((0, 100)), stall_w=rng.choice((0, 100)),
                      seed=round_ + 1)  # fmt: skip
        unit = rng.choice((0, 2, 30))
        shape = rng.choice(
            (
                {"len": 0x1900},
                {"len": 70, "n_burst": 20, "ext_stride": 70, "loc_stride": 96},
                {"len": 64, "n_burst": 30, "ext_stride": 256, "loc_stride": 64},
            )
        )
        bad = store(ext_addr=GM_BASE + unit, atomic_type=S16, **shape)
        gm, ub = rng.choice(places(bad))
        at = rng.randrange(bad.len)
        side = rng.choice(("read", "write", "local", "both"))
        kind = rng.randrange(2)
        if side == "local":
            box.set_fault(0, FaultWindow(Space.UB0, (ub + at) & ~31, 2))
        else:
            sides = {"read": 1 << READ_SIDE, "write": 1 << WRITE_SIDE}.get(side, 3)
            box.set_fault(0, FaultWindow(Space.GM, (gm + at) & ~31, kind, sides=sides))
        away = GM_BASE + 0x4000
        good = [
            store(ext_addr=away + 0x400 * k, len=200, loc_addr=0x3000 + 64 * k,
                  atomic_type=rng.choice((0, S8)))
            for k in range(rng.choice((1, 3)))
        ]  # fmt: skip
        box.poll_hits()
        dones = await bench.stores([good[0], bad, *good[1:]], check=False)
        hits = box.poll_hits()
        assert len(hits), (side, bad)
        assert [int(done["status"]) for done in dones] != [OK] * 4, (side, bad)
        status = int(dones[1]["status"])
        expected = {
            "read": (RD_SLVERR + kind,),
            "write": (WR_SLVERR + kind,),
            "local": (LOCAL,),
            "both": (RD_SLVERR + kind, WR_SLVERR + kind),
        }[side]
        assert status in expected, (side, kind, dones[1])
        first = int(dones[1]["addr"])
        if status in (LOCAL, RD_SLVERR, RD_DECERR):  # a word that meets the window
            width, window = (LOCAL_WIDTH, ub + at) if status == LOCAL else (WIDTH, gm + at)
            assert first % width == 0, dones[1]
            assert first - 32 < window & ~31 < first + width, (hex(first), hex(window))
        else:
            assert bad.ext_addr // WIDTH * WIDTH <= first <= gm + at, (hex(first), hex(gm + at))
        box.clear_fault(0)
        assert all(int(done["status"]) == OK for k, done in enumerate(dones) if k != 1), dones
        late = box.poll_late_bursts()
        assert len(good) > 1 or len(late) == 0, late  # else they may be of the ops after it
        for target, _ in places(bad):  # undefined
            start = target - GM_BASE + 0x1000
            bench.golden[start : start + bad.len] = bench.window[start : start + bad.len]
        for op in good:
            bench.apply(op)
        bench.compare([bad, *good])
        again = store(ext_addr=GM_BASE, len=0x900, atomic_type=S16)
        await bench.stores([again])


@cocotb.test()
async def changes_between(dut: Any) -> None:
    """An op that begins in the last bus word of an op before reads what GM holds then."""
    bench = StoreBench(dut)
    await bench.start()
    first = store(len=32 + 6, atomic_type=S16)
    for offset in (32, 38):
        await bench.stores([first])
        for memory in (bench.window, bench.golden):
            memory[0x1000 : 0x1000 + 2 * WIDTH] ^= 0x5A
        await bench.stores([store(ext_addr=GM_BASE + offset, len=6, atomic_type=S16), first])


@cocotb.test()
async def resets(dut: Any) -> None:
    """A reset in the middle of atomic stores leaves nothing behind: no old read, no place held."""
    bench = StoreBench(dut)
    await bench.start()
    rng = random.Random(2)
    bench.ub[:0x2000] = elements(S16, 0x1000, rng)
    op = store(ext_addr=GM_BASE + 2, len=0x1100, atomic_type=S16)
    short = store(ext_addr=GM_BASE + 6, len=58, n_burst=12, ext_stride=58, loc_stride=64,
                  atomic_type=S16)  # fmt: skip
    for clocks in range(8, 260, 12):
        bench.mailbox.set_knobs(axi_read_latency=rng.choice((1, 40)), axi_write_latency=30)
        first = bench.mailbox.submitted(MTE3)
        words = np.stack([pack(rng.choice((op, short))) for _ in range(4)])
        bench.mailbox.submit_block(MTE3, words, np.arange(first, first + 4) & 255)
        await ClockCycles(dut.clk, clocks)
        await bench.reset()
        bench.mailbox.poll_done(MTE3)
        start = 0x1000  # of what the stores may have changed
        bench.golden[start : start + 0x1200] = bench.window[start : start + 0x1200]
        await bench.stores([short, op, short])


@cocotb.test()
async def rates(dut: Any) -> None:
    """Beats per clock of long transfers: an atomic store has at least half of the plain one's."""
    bench = StoreBench(dut)
    bench.size = 0x10_0000
    await bench.start()
    seen: dict[str, float] = {}
    for latency in (1, 40, 100):
        bench.mailbox.set_knobs(axi_read_latency=latency, axi_write_latency=latency)
        for kind in (0, S16):
            (done,) = await bench.stores([store(atomic_type=kind)], check=False)
            clocks = int(done["done_cycle"] - done["accept_cycle"])
            seen[f"clocks of 32 bytes, latency {latency}, type {kind}"] = clocks
        for offset in (0, 6):
            for name, shape in (
                ("64 KiB", {"len": 0xFFF8, "n_burst": 3, "ext_stride": 0x1_2000,
                            "loc_stride": 0x1_0000}),
                ("1 KiB", {"len": 0x400 - 8, "n_burst": 200, "ext_stride": 0x500,
                           "loc_stride": 0x400}),
                ("48 B", {"len": 48, "n_burst": 2000, "ext_stride": 128, "loc_stride": 64}),
                # They meet inside bus words.
                ("100 B", {"len": 100, "n_burst": 1000, "ext_stride": 100, "loc_stride": 128}),
                ("4100 B", {"len": 4100, "n_burst": 40, "ext_stride": 4100, "loc_stride": 4128}),
            ):  # fmt: skip
                rate = []
                for kind in (0, S16):
                    op = store(ext_addr=GM_BASE + offset, atomic_type=kind, **shape)
                    (done,) = await bench.stores([op], check=False)
                    assert done["status"] == OK
                    beats = sum(
                        (gm + op.len - 1) // WIDTH - gm // WIDTH + 1 for gm, _ in places(op)
                    )
                    rate.append(beats / int(done["done_cycle"] - done["accept_cycle"]))
                seen[f"{name} rows, offset {offset}, latency {latency}, plain"] = rate[0]
                seen[f"{name} rows, offset {offset}, latency {latency}, atomic"] = rate[1]
    Path(os.environ[RESULT_ENV]).write_text(json.dumps(seen, indent=1))
    slow = [name for name in seen if seen[name] < seen[name.replace(", atomic", ", plain")] / 2]
    assert not slow, seen
