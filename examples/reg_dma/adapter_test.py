# SPDX-License-Identifier: Apache-2.0
"""Test of the adapter on its pins: descriptors in, register accesses and dones out."""

from typing import Any

import cocotb
from apb import ApbMonitor
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

from tb.env.pins import (
    DESC_PORTS,
    DONE_PORTS,
    HandshakeDriver,
    HandshakeMonitor,
    descriptor_value,
)
from tb.isa.block import from_ops
from tb.isa.dma.op import MteUbGm
from tb.isa.status import Status

SRC, ROW_LEN, ROWS, DST_LO = 0x10, 0x18, 0x1C, 0x20


@cocotb.test()
async def one_descriptor_of_each_kind(dut: Any) -> None:
    """A broken rule and a NOP are done without the DMA; a copy programs its registers."""
    for port in dut:
        if port._name.endswith(("_i", "_ni")) or port._name in ("m_axi_awready", "m_axi_wready"):
            port.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    driver = HandshakeDriver(dut, "desc", dut.clk_i, DESC_PORTS)
    dones = HandshakeMonitor(dut, "done", dut.clk_i, DONE_PORTS, reset_n=dut.rst_ni)
    accesses = ApbMonitor(dut, None, dut.clk_i, reset_n=dut.rst_ni)
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1

    copy = MteUbGm(0x400, 0x12345, 96, 3, 128, 100)
    broken = MteUbGm(0x404, 0x12345, 96, 3, 128, 100)
    words = from_ops([broken, MteUbGm(0x400, 0x12345, 0, 3, 128, 100), copy]).pack()
    for tag, one in enumerate(words, 5):
        await driver.send({"data": descriptor_value(one), "tag": tag})
    await ClockCycles(dut.clk_i, 40)
    assert len(dones) == 0, "nothing is taken before done_ready"
    await FallingEdge(dut.clk_i)
    dut.done_ready_i.value = 1
    await ClockCycles(dut.clk_i, 40)

    ends = [(done["tag"], done["status"], done["rule"]) for done in dones]
    assert ends == [(5, Status.RULE, 6), (6, Status.OK, 0)]
    written = {access.address: access.data for access in accesses if access.write}
    assert {key: written[key] for key in (SRC, ROW_LEN, ROWS, DST_LO)} == {
        SRC: 0x400,
        ROW_LEN: 96,
        ROWS: 3,
        DST_LO: 0x12345,
    }
