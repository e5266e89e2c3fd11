# SPDX-License-Identifier: Apache-2.0
"""The register bus of reg_dma, APB3, as a driver and a monitor of cocotb-bus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cocotb.triggers import FallingEdge, ReadOnly
from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor

APB = ("psel", "penable", "pwrite", "paddr", "pwdata", "prdata", "pready", "pslverr")


@dataclass
class Access:
    """One access; a read returns its data."""

    write: bool
    address: int
    data: int = 0
    refused: bool = False


class ApbDriver(BusDriver):
    """Acts as the CPU: ``await write(address, data)``, ``await read(address)``."""

    _signals = APB

    async def _driver_send(self, access: Access, sync: bool = True) -> None:
        if sync:
            await FallingEdge(self.clock)
        self.bus.psel.value = 1
        self.bus.pwrite.value = access.write
        self.bus.paddr.value = access.address
        self.bus.pwdata.value = access.data if access.write else 0
        await FallingEdge(self.clock)
        self.bus.penable.value = 1
        await ReadOnly()
        while not self.bus.pready.value:
            await FallingEdge(self.clock)
            await ReadOnly()
        access.refused = bool(self.bus.pslverr.value)
        access.data = access.data if access.write else int(self.bus.prdata.value)
        await FallingEdge(self.clock)
        self.bus.psel.value = self.bus.penable.value = 0

    async def write(self, address: int, data: int) -> Access:
        """Returns the access when it has ended."""
        await self.send(access := Access(True, address, data))
        return access

    async def read(self, address: int) -> Access:
        """Returns the access with its data."""
        await self.send(access := Access(False, address))
        return access


class ApbMonitor(BusMonitor):
    """Receives an :class:`Access` for each one that ends."""

    _signals: ClassVar[list[str]] = list(APB)

    async def _monitor_recv(self) -> None:
        while True:
            await FallingEdge(self.clock)
            await ReadOnly()
            bus = self.bus
            if not self.in_reset and bus.psel.value and bus.penable.value and bus.pready.value:
                write = bool(bus.pwrite.value)
                data = int(bus.pwdata.value if write else bus.prdata.value)
                address, refused = int(bus.paddr.value), bool(bus.pslverr.value)
                self._recv(Access(write, address, data, refused))
