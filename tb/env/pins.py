# SPDX-License-Identifier: Apache-2.0
"""A driver of the descriptor channel by pins: slow, and independent of the mailbox.

The bundles are cocotb-bus buses on the harness's channel pins. A test that overrides
:class:`~tb.env.agent.MailboxDriver` with :class:`PinDriver` in the factory makes the
handshakes from Python, clock by clock, so that the HDL feeder is not the only judge of the
channel. Everything else of the environment stays as it is.
"""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, ReadOnly
from cocotb_bus.bus import Bus
from pyuvm import ConfigDB

from tb.env.agent import MailboxDriver
from tb.harness.items import SlotItem
from tb.isa.ops import SLOTS

DESC_SIGNALS = ("valid", "ready", "data", "tag")
DONE_SIGNALS = ("valid", "ready", "tag", "status", "rule", "addr")


class DescriptorBus(Bus):
    """Descriptor channel of a slot: ``<slot>_desc_<signal>`` of the harness."""

    def __init__(self, harness: Any, slot: str) -> None:
        super().__init__(harness, f"{slot}_desc", DESC_SIGNALS)


class DoneBus(Bus):
    """Done channel of a slot: ``<slot>_done_<signal>`` of the harness."""

    def __init__(self, harness: Any, slot: str) -> None:
        super().__init__(harness, f"{slot}_done", DONE_SIGNALS)


def descriptor_value(words: np.ndarray[Any, Any]) -> int:
    """Returns ``uint32[16]``, least significant word first, as one 512-bit integer."""
    return int.from_bytes(np.ascontiguousarray(words, dtype="<u4").tobytes(), "little")


class PinDriver(MailboxDriver):
    """Offers each descriptor on the pins; gaps and waits are counted here, in clocks."""

    def build_phase(self) -> None:
        """Takes the slot's channels over from the HDL feeder."""
        super().build_phase()
        self.slot: int = ConfigDB().get(self, "", "SLOT")
        self.harness = ConfigDB().get(self, "", "DUT")
        self.desc = DescriptorBus(self.harness, SLOTS[self.slot])
        self.done = DoneBus(self.harness, SLOTS[self.slot])
        self._pending: Queue[SlotItem] = Queue()

    async def run_phase(self) -> None:
        """Serves items, and offers descriptors at their own pace beside that."""
        cocotb.start_soon(self._offer_all())
        await super().run_phase()

    async def drive(self, item: SlotItem) -> None:
        """Queues the descriptors: one that waits must not keep other slots' items back."""
        await self._pending.put(item)

    async def _offer_all(self) -> None:
        # One value for all slots: each driver sees the others' writes only after this step.
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
        self.desc.data.value = descriptor_value(item.words[position])
        self.desc.tag.value = int(item.tags[position])
        self.desc.valid.value = 1
        # Inputs change at falling edges, so what is seen just before one holds for the rising one.
        while True:
            await ReadOnly()
            taken = bool(self.desc.ready.value)
            await FallingEdge(self.harness.clk)
            if taken:
                break
        self.desc.valid.value = 0
