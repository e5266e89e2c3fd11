# SPDX-License-Identifier: Apache-2.0
"""The adapters of adapter_top.sv against the buses of cocotbext-axi.

Traffic that the blocks of the examples do not have: narrow, sparse and unaligned bursts of several
ids, bursts that AXI4 or the adapter forbids; packets from any lane; AXI4-Lite registers.
"""

import random
from itertools import cycle
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly
from cocotbext.axi import (
    AxiBurstType,
    AxiBus,
    AxiLiteBus,
    AxiLiteRam,
    AxiMaster,
    AxiRam,
    AxiResp,
    AxiStreamBus,
    AxiStreamSink,
)

SIZE = 1 << 14


async def begin(dut: Any) -> random.Random:
    """Resets the adapters."""
    for name in ("cmd_valid_i", "req_valid_i", "rst_ni"):
        getattr(dut, name).value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 3)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return random.Random(int(cocotb.plusargs["seed"]))


def pauses(rng: random.Random) -> Any:
    """Returns a channel's pauses, for ever."""
    return cycle([rng.random() < 0.4 for _ in range(199)])


@cocotb.test(timeout_time=400, timeout_unit="us")
async def axi_to_and_from_gm(dut: Any) -> None:
    """Bytes and responses of random bursts are right, and no more of GM is written or asked for."""
    block = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_ni, False)
    memory = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, False, size=SIZE)
    rng = await begin(dut)
    for channel in (block.write_if.b_channel, block.read_if.r_channel, memory.write_if.aw_channel,
                    memory.write_if.w_channel, memory.read_if.ar_channel):  # fmt: skip
        channel.set_pause_generator(pauses(rng))
    beat = len(dut.s_axi_wstrb)
    expected = bytearray(rng.randbytes(SIZE))
    memory.write(0, bytes(expected))
    for _ in range(30):
        bursts: list[tuple[Any, bytes | None]] = []
        for part in range(4):  # disjoint quarters, in flight together
            length = rng.choice((1, 2, 7, 8, 40, 300, 1000))
            address = part * SIZE // 4 + rng.randrange(SIZE // 4 - length)
            size = rng.randrange(beat.bit_length())
            if rng.random() < 0.5:
                data = bytearray(rng.randbytes(length).replace(b"\xee", b"\xed"))
                whole = -address % beat if 1 << size == beat else length
                dead = [at for at in range(whole, length - beat + 1, beat) if rng.random() < 0.7]
                for at in dead:  # a whole beat that writes nothing
                    data[at] = 0xEE
                write = block.init_write(address, bytes(data), awid=part, size=size)
                for at in dead:
                    data[at : at + beat] = expected[address + at : address + at + beat]
                expected[address : address + length] = data
                bursts.append((write, None))
            else:
                read = block.init_read(address, length, arid=part, size=size)
                bursts.append((read, bytes(expected[address : address + length])))
        for event, wanted in bursts:
            await event.wait()
            assert event.data.resp == AxiResp.OKAY
            assert wanted is None or event.data.data == wanted
    assert memory.read(0, SIZE) == expected


@cocotb.test(timeout_time=400, timeout_unit="us")
async def bursts_that_are_refused(dut: Any) -> None:
    """FIXED bursts fail and move nothing; their neighbours work."""
    block = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_ni, False)
    memory = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, False, size=SIZE)
    await begin(dut)
    memory.write(0, bytes(range(128)))
    for kind, answer in ((AxiBurstType.FIXED, AxiResp.SLVERR), (AxiBurstType.INCR, AxiResp.OKAY)):
        assert (await block.write(64, b"x" * 8, burst=kind)).resp == answer
        assert (await block.read(0, 8, burst=kind)).resp == answer
        wanted = bytes(range(64, 72)) if answer else b"x" * 8
        assert memory.read(64, 8) == wanted


@cocotb.test(timeout_time=400, timeout_unit="us")
async def packets(dut: Any) -> None:
    """Packets have their bytes, from lane 0 on, and end where they should."""
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk_i, dut.rst_ni, False)
    rng = await begin(dut)
    sink.set_pause_generator(pauses(rng))
    places = [(rng.randrange(4096), rng.choice((1, 3, 8, 31, 32, 33, 200))) for _ in range(80)]
    for address, length in places:
        dut.cmd_addr_i.value, dut.cmd_len_i.value, dut.cmd_valid_i.value = address, length, 1
        taken = False
        while not taken:
            await ReadOnly()
            taken = bool(dut.cmd_ready_o.value)
            await FallingEdge(dut.clk_i)
        dut.cmd_valid_i.value = 0
    for address, length in places:
        frame = await sink.recv()
        assert bytes(frame.tdata) == bytes((address + k) % 251 for k in range(length))


@cocotb.test(timeout_time=400, timeout_unit="us")
async def registers(dut: Any) -> None:
    """Transfers of AXI4-Lite reach their registers, in order, and end once."""
    ram = AxiLiteRam(AxiLiteBus.from_prefix(dut, "m_axil"), dut.clk_i, dut.rst_ni, False, size=256)
    rng = await begin(dut)
    for channel in (ram.write_if.aw_channel, ram.write_if.w_channel, ram.write_if.b_channel,
                    ram.read_if.ar_channel, ram.read_if.r_channel):  # fmt: skip
        channel.set_pause_generator(pauses(rng))
    values = dict.fromkeys(range(0, 256, 4), 0)
    for _ in range(80):
        write, address, value = rng.random() < 0.6, 4 * rng.randrange(64), rng.getrandbits(32)
        dut.req_valid_i.value, dut.req_write_i.value = 1, write
        dut.req_addr_i.value, dut.req_data_i.value = address, value
        ends: list[tuple[bool, int]] = []
        while not ends or not dut.free_o.value:
            await FallingEdge(dut.clk_i)
            dut.req_valid_i.value = 0
            await ReadOnly()
            if dut.wrote_o.value or dut.read_o.value:
                ends.append((bool(dut.wrote_o.value), int(dut.m_axil_rdata.value)))
        (end,) = ends
        assert end[0] == write
        if write:
            values[address] = value
        else:
            assert end[1] == values[address]
        assert ram.read_dword(address) == values[address]
        await FallingEdge(dut.clk_i)
