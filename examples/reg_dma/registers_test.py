# SPDX-License-Identifier: Apache-2.0
"""The registers of reg_dma by their bus: accesses of a CPU that the adapter does not use."""

from typing import Any

import cocotb
from apb import ApbDriver
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly

ID, CTRL, STATUS, IRQ_CLEAR, SRC, SRC_STRIDE, ROW_LEN, ROWS = range(0x00, 0x20, 4)
DST_LO, DST_HI, DST_STRIDE_LO, DST_STRIDE_HI, ERR_LO, ERR_HI, NONE = range(0x20, 0x3C, 4)
START, IRQ_EN = 1, 2


class Cpu(ApbDriver):
    """Accesses registers and checks the response."""

    async def put(self, address: int, data: int, *, refused: bool = False) -> None:
        """Writes a register."""
        access = await self.write(address, data)
        assert access.refused == refused, f"{address:02x}: PSLVERR {access.refused:d}"

    async def get(self, address: int, data: int, *, refused: bool = False) -> None:
        """Reads a register."""
        access = await self.read(address)
        assert access.refused == refused, f"{address:02x}: PSLVERR {access.refused:d}"
        assert refused or access.data == data, f"{address:02x}: {access.data:08x}, not {data:08x}"


@cocotb.test()
async def registers(dut: Any) -> None:
    """Every bit, every rejected access, a job without bytes, a job with an error, the next one."""
    starts = 0

    async def count_starts() -> None:
        nonlocal starts
        while True:
            await FallingEdge(dut.clk)
            await ReadOnly()
            starts += bool(dut.rst_n.value) and bool(dut.start.value)

    cpu = Cpu(dut, None, dut.clk)
    dut.rst_n.value = 0
    for name in ("psel", "penable", "pwrite", "paddr", "pwdata", "error", "error_addr"):
        getattr(dut, name).value = 0
    dut.idle.value = 1
    Clock(dut.clk, 10, "ns").start()
    cocotb.start_soon(count_starts())
    await ClockCycles(dut.clk, 2)
    await FallingEdge(dut.clk)
    dut.rst_n.value = 1

    await cpu.get(ID, 0x2DDA0100)
    await cpu.get(CTRL, 0)
    await cpu.get(STATUS, 0)
    # Addresses without a register, and registers that cannot be written.
    await cpu.get(NONE, 0, refused=True)
    for address in (0xFC, ID, STATUS, ERR_LO, ERR_HI):
        await cpu.put(address, 0, refused=True)
    # Every implemented bit is stored, no other.
    for address, data, kept in (
        (SRC, 0xFFFF_FFFF, 0x0007_FFFF),
        (SRC_STRIDE, 0xFFF5_5AA5, 0x0005_5AA5),
        (DST_LO, 0x89AB_CDEF, 0x89AB_CDEF),
        (DST_HI, 0xFFFF_FF67, 0x67),
        (DST_STRIDE_LO, 0x7654_3210, 0x7654_3210),
        (DST_STRIDE_HI, 0x1FE, 0xFE),
    ):
        await cpu.put(address, data)
        await cpu.get(address, kept)
    assert int(dut.dst.value) == 0x67_89AB_CDEF
    assert int(dut.dst_stride.value) == 0xFE_7654_3210
    # A job without bytes ends at once with an error; interrupts are not enabled.
    await cpu.put(ROWS, 0x0001_0003)
    await cpu.put(CTRL, START)
    await cpu.get(STATUS, 0x42)
    assert starts == 0
    assert not dut.irq.value, "irq, not enabled"
    await cpu.put(CTRL, START, refused=True)  # not cleared yet
    await cpu.put(IRQ_CLEAR, 0)  # clears nothing
    await cpu.get(STATUS, 0x42)
    await cpu.put(IRQ_CLEAR, 1)
    await cpu.get(STATUS, 0x40)
    # A job: shadows may be written, another START may not.
    await cpu.put(ROW_LEN, 0x11)
    dut.idle.value = 0
    await cpu.put(CTRL, START | IRQ_EN)
    assert starts == 1
    await cpu.get(STATUS, 0x01)
    await cpu.put(ROW_LEN, 0x22)
    await cpu.put(CTRL, START | IRQ_EN, refused=True)
    assert starts == 1
    assert not dut.irq.value, "irq, busy"
    dut.error.value, dut.error_addr.value, dut.idle.value = 2, 0x12_3456_789A, 1
    await ClockCycles(dut.clk, 2)
    await FallingEdge(dut.clk)
    dut.error.value, dut.error_addr.value = 0, 0
    assert dut.irq.value, "irq"
    await cpu.get(STATUS, 0x22)
    await cpu.get(ERR_LO, 0x3456_789A)
    await cpu.get(ERR_HI, 0x12)
    await cpu.put(IRQ_CLEAR, 1)
    assert not dut.irq.value, "irq, cleared"
    # The next job clears the error.
    await cpu.put(CTRL, START | IRQ_EN)
    await ClockCycles(dut.clk, 3)
    await cpu.get(STATUS, 0x02)
    assert (int(dut.row_len.value), int(dut.rows.value)) == (0x22, 3)
    dut.rst_n.value = 0
    await ClockCycles(dut.clk, 1)
    assert not dut.irq.value, "irq, reset"
