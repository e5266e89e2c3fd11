# SPDX-License-Identifier: Apache-2.0
"""The agent of one slot: sequencer, mailbox driver, done monitor.

Python acts per block: the driver copies packed descriptors into a ring of the mailbox, the HDL
feeder offers them clock by clock, and the monitor reads the ring of done records when the harness
resumes Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pyuvm import ConfigDB, uvm_agent, uvm_analysis_port, uvm_driver, uvm_monitor, uvm_sequencer

from tb.harness.items import DoneBatch, SlotItem


class MailboxDriver(uvm_driver):
    """Passes the descriptors of each item to the HDL feeder; the item is then finished."""

    def build_phase(self) -> None:
        """Makes the analysis port and fetches the mailbox."""
        self.ap = uvm_analysis_port("ap", self)
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")

    async def run_phase(self) -> None:
        """Drives items until the end of the run."""
        while True:
            item: SlotItem = await self.seq_item_port.get_next_item()
            await self.drive(item)
            self.ap.write(item)
            self.seq_item_port.item_done()

    async def drive(self, item: SlotItem) -> None:
        """Submits the descriptors of ``item``; may be overridden."""
        with self.stopwatch.phase("drive"):
            self.mailbox.submit_block(item.slot, item.words, item.tags, item.gaps, item.waits)


class DoneMonitor(uvm_monitor):
    """Publishes the done records of its slot as :class:`DoneBatch`."""

    def build_phase(self) -> None:
        """Makes the analysis port and fetches the mailbox."""
        self.ap = uvm_analysis_port("ap", self)
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.slot: int = ConfigDB().get(self, "", "SLOT")

    def collect(self) -> np.ndarray[Any, Any]:
        """Publishes the done records since the last call, and returns them."""
        records: np.ndarray[Any, Any] = self.mailbox.poll_done(self.slot)
        if len(records):
            self.ap.write(DoneBatch(self.slot, records))
        return records


class SlotAgent(uvm_agent):
    """Everything around the descriptor and done channels of one slot."""

    def build_phase(self) -> None:
        """Builds sequencer, driver and monitor through the factory."""
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.driver = MailboxDriver.create("driver", self)
        self.monitor = DoneMonitor.create("monitor", self)

    def connect_phase(self) -> None:
        """Connects the driver to its sequencer."""
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
