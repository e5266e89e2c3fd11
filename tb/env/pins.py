# SPDX-License-Identifier: Apache-2.0
"""Drivers and monitors of valid/ready channels on pins, with buses of cocotb-bus.

:class:`HandshakeDriver` and :class:`HandshakeMonitor` serve any such channel: the descriptor and
done channels of the harness (``DESC_SIGNALS``, ``DONE_SIGNALS``), those of an engine that is the
top of a simulation of its own (``DESC_PORTS``, ``DONE_PORTS``), or the native buses of a block.

A test of the harness that overrides :class:`~tb.env.agent.MailboxDriver` with :class:`PinDriver`
in the factory makes the handshakes from Python, clock by clock, as a second check of the channel.
The rest of the environment is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cocotb
import numpy as np
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, ReadOnly
from cocotb_bus.bus import Bus
from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor
from pyuvm import ConfigDB

from tb.env.agent import MailboxDriver
from tb.harness.items import SlotItem
from tb.isa.ops import SLOTS

DESC_SIGNALS = ("valid", "ready", "data", "tag")
"""Descriptor channel of a slot: ``<slot>_desc_<signal>`` of the harness."""
DONE_SIGNALS = ("valid", "ready", "tag", "status", "rule", "addr")
"""Done channel of a slot: ``<slot>_done_<signal>`` of the harness."""

DESC_PORTS = {"valid": "valid_i", "ready": "ready_o", "data": "i", "tag": "tag_i"}
"""Descriptor channel of an engine (docs/contract.md): signal to port, after ``desc_``."""
DONE_PORTS = {
    "valid": "valid_o",
    "ready": "ready_i",
    **{name: f"{name}_o" for name in DONE_SIGNALS[2:]},
}
"""Done channel of an engine: signal to port, after ``done_``."""

Signals = Sequence[str] | Mapping[str, str]


class HandshakeDriver(BusDriver):
    """Sends mappings of signal to value over a channel with ``valid`` and ``ready``.

    ``await send({...})`` returns when the values were taken; ``append({...})`` queues them. Inputs
    change at falling edges, so that ``ready`` after a falling edge holds for the rising one.
    """

    def __init__(self, entity: Any, name: str | None, clock: Any, signals: Signals) -> None:
        self._signals = signals
        super().__init__(entity, name, clock)
        self.bus.valid.value = 0

    async def _driver_send(self, transaction: Mapping[str, int], sync: bool = True) -> None:
        if sync:
            await FallingEdge(self.clock)
        for name, value in transaction.items():
            getattr(self.bus, name).value = value
        self.bus.valid.value = 1
        taken = False
        while not taken:
            await ReadOnly()
            taken = bool(self.bus.ready.value)
            await FallingEdge(self.clock)
        self.bus.valid.value = 0


class HandshakeMonitor(BusMonitor):
    """Receives the values of each handshake of a channel: a dict without ``valid`` and ``ready``.

    They go to ``callback``, or into the queue that ``len`` and an index show, half a clock before
    the rising edge that they belong to. An X in them is an error.
    """

    def __init__(
        self,
        entity: Any,
        name: str | None,
        clock: Any,
        signals: Signals,
        *,
        reset_n: Any = None,
        callback: Callable[[dict[str, int]], None] | None = None,
    ) -> None:
        self._signals = signals
        super().__init__(entity, name, clock, reset_n=reset_n, callback=callback)

    def happens(self) -> bool:
        """Returns whether a handshake takes place at the next rising edge."""
        return bool(self.bus.valid.value) and bool(self.bus.ready.value)

    async def _monitor_recv(self) -> None:
        while True:
            await FallingEdge(self.clock)
            await ReadOnly()
            if not self.in_reset and self.happens():
                seen = self.bus.capture().items()
                self._recv({name: int(v) for name, v in seen if name not in ("valid", "ready")})


def descriptor_value(words: np.ndarray[Any, Any]) -> int:
    """Returns ``uint32[16]``, least significant word first, as one 512-bit integer."""
    return int.from_bytes(np.ascontiguousarray(words, dtype="<u4").tobytes(), "little")


class PinDriver(MailboxDriver):
    """Offers each descriptor on the pins; gaps and waits are counted here, in clocks."""

    def build_phase(self) -> None:
        """Takes control of the slot's channels from the HDL feeder."""
        super().build_phase()
        name = SLOTS[ConfigDB().get(self, "", "SLOT")]
        self.harness = ConfigDB().get(self, "", "DUT")
        self.desc = HandshakeDriver(self.harness, f"{name}_desc", self.harness.clk, DESC_SIGNALS)
        self.done = Bus(self.harness, f"{name}_done", DONE_SIGNALS)
        self._pending: Queue[SlotItem] = Queue()

    async def run_phase(self) -> None:
        """Serves items, and offers descriptors in a separate task."""
        cocotb.start_soon(self._offer_all())
        await super().run_phase()

    async def drive(self, item: SlotItem) -> None:
        """Queues the descriptors: a waiting descriptor must not block other slots' items."""
        await self._pending.put(item)

    async def _offer_all(self) -> None:
        # One value for all slots: a driver reads the others' writes only after this step.
        slots = ConfigDB().get(self, "", "RUN").slots
        self.harness.pin_mode.value = sum(1 << SLOTS.index(name) for name in slots)
        self.done.ready.value = 1
        while True:
            item = await self._pending.get()
            for position in range(len(item)):
                await self._offer(item, position)

    async def _offer(self, item: SlotItem, position: int) -> None:
        for _ in range(int(item.gaps[position])):
            await FallingEdge(self.harness.clk)
        waits = item.waits[position].tolist()
        while any(self.mailbox.retired(slot) < count for slot, count in enumerate(waits)):
            await FallingEdge(self.harness.clk)
        data, tag = descriptor_value(item.words[position]), int(item.tags[position])
        await self.desc.send({"data": data, "tag": tag}, sync=False)
