# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment: agents, dispatcher, scoreboard and coverage around one harness.

A test sends :class:`~sequences.uvm.BlockItem` items to the environment's sequencer. The
dispatcher splits each block over the slots' agents, waits until every descriptor of the block
has retired, and publishes the whole as an :class:`~tb.harness.items.Batch`. All ops of a block
may be in flight at once; between blocks the engines are idle and the memories do not change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cocotb.triggers import Timer
from pyuvm import (
    ConfigDB,
    uvm_analysis_port,
    uvm_driver,
    uvm_env,
    uvm_sequence,
    uvm_sequencer,
    uvm_subscriber,
)

from scoreboards.counts import count_unchecked
from scoreboards.faults import Fault
from scoreboards.scoreboard import Scoreboard
from tb.env.agent import SlotAgent
from tb.env.schedule import MOVING, WATCHDOG_CLOCKS, flags_to_set, watchdog_clocks
from tb.env.timeline import Timeline
from tb.harness.items import MAX_IN_FLIGHT, Aim, Batch, CheckedBatch, Reset, SlotItem
from tb.harness.layout import FAULTS, HIT, KNOBS
from tb.harness.mailbox import FaultWindow
from tb.isa.block import OpBlock
from tb.isa.ops import SLOTS

CLOCK_NS = 10
"""Period of the harness clock."""

COVERAGE_SECONDS = 20.0
"""Seconds after which the coverage so far is kept for the case that the simulator is killed."""

STATE_CLOCKS = 2
"""Clocks before a reset at which the state of the slots is requested."""

AHEAD = 2
"""Descriptors an engine may have accepted at a reset beyond those counted in the mailbox."""


class SlotSequence(uvm_sequence):
    """Sends one :class:`SlotItem` to the sequencer of its slot."""

    def __init__(self, item: SlotItem) -> None:
        """Sets the item to send."""
        super().__init__("slot_sequence")
        self.item = item

    async def body(self) -> None:
        """Sends the item."""
        await self.start_item(self.item)
        await self.finish_item(self.item)


class Dispatcher(uvm_driver):
    """Turns blocks into items of the slots' agents and waits until each block has retired."""

    def build_phase(self) -> None:
        """Makes the analysis ports and reads the configuration of the run."""
        self.issue_ap = uvm_analysis_port("issue_ap", self)
        self.batch_ap = uvm_analysis_port("batch_ap", self)
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.dut = ConfigDB().get(self, "", "DUT")
        self.run = ConfigDB().get(self, "", "RUN")
        self.memory = self.run.memory
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.filter_chain = ConfigDB().get(self, "", "FILTER_CHAIN")
        self.agents: dict[int, SlotAgent] = {}
        self.submitted = [0] * len(SLOTS)
        self.batches = 0
        self.transactions = 0
        self.responses = 0
        self.probing = False
        """Whether batches are those of a probe."""
        self.cut_at = 0
        """Place in the last block that was reset of its first op that had not retired."""
        self.hits = np.zeros(0, dtype=HIT)
        """Erroneous responses in the last block."""

    async def run_phase(self) -> None:
        """Serves items until the end of the run; after an abort they are dropped."""
        while True:
            item = await self.seq_item_port.get_next_item()
            if not self.run.aborted:
                try:
                    await self.execute(
                        item.block, item.faults, reset=item.reset, isolated=item.isolated
                    )
                except Exception as error:
                    # Possibly in a user's scoreboard or subscriber.
                    self.run.crashed(error)
                    raise
            self.seq_item_port.item_done()

    async def execute(
        self,
        block: OpBlock,
        faults: Sequence[Fault] = (),
        *,
        reset: Reset | None = None,
        isolated: bool = False,
    ) -> None:
        """Runs one block, to its end or into a reset, and publishes its batch.

        Ops that no engine takes are left out. Of a run that is stopped on request the block in
        flight is not published.
        """
        block = self.filter_chain.select(block, isolated=isolated)
        if not len(block) or self._stopped():
            return
        batch, items = self._split(block)
        self._prepare(block)
        batch.faults, batch.reset, batch.isolated = tuple(faults), reset, isolated
        batch.probe = self.probing
        self.issue_ap.write(batch)
        if faults:
            self.arm(faults)
        for slot, item in items.items():
            await SlotSequence(item).start(self.agents[slot].sequencer)
        self.mailbox.set_watchdog_clocks(*self._watchdog_clocks(block))
        if reset is None:
            self.mailbox.set_wake_at(tuple(self.submitted))
            await self._drain(batch)
        else:
            await self._cut(batch, reset)
        if self._stopped():
            if not batch.offered:
                self._note_offered(batch)
            count_unchecked(self.run.counts, batch, retired_too=True)
            return
        if faults:
            self.disarm()
        self._collect_errors(batch)
        batch.flags_due = self.memory.settle_flags()
        self.batches += 1
        if not batch.probe:
            self.transactions += sum(len(records) for records in batch.done.values())
        self.batch_ap.write(batch)

    def arm(self, faults: Sequence[Fault]) -> None:
        """Sets memory errors from the next clock on; no other code does.

        Raises:
            ValueError: more faults than the mailbox holds, or a fault outside of its memory.
        """
        if len(faults) > FAULTS:
            raise ValueError(f"{len(faults)} faults at once: at most {FAULTS}")
        for number, fault in enumerate(faults):
            self.mailbox.set_fault(
                number,
                FaultWindow(
                    fault.space,
                    fault.start,
                    fault.kind,
                    length=fault.size,
                    sides=fault.sides,
                    slots=fault.slots,
                    nth=fault.nth,
                ),
            )
        self.run.counts.injected["faults armed"] += len(faults)

    def disarm(self) -> None:
        """Removes all memory errors."""
        self.mailbox.clear_faults()

    def _collect_errors(self, batch: Batch) -> None:
        """Reads the erroneous responses and the late bursts from the mailbox."""
        before = self.responses
        self.responses = self.mailbox.hits
        batch.hits = self.hits = self.mailbox.poll_hits()
        batch.hits_lost = self.responses - before - len(batch.hits)
        batch.late = self.mailbox.poll_late_bursts()

    async def _cut(self, batch: Batch, reset: Reset) -> None:
        """Resets the harness in the middle of a batch.

        Descriptors that have not retired by then get no done (docs/contract.md, reset). The batch
        has the issued ops of the block.
        """
        if reset.aim is None:
            await self._clocks(max(1, reset.after - STATE_CLOCKS))
            self.mailbox.set_knobs()  # requests the state of the slots
            await self._clocks(STATE_CLOCKS)
        else:
            batch.aim_met = await self._until(reset.aim, reset.after)
        if reset.phase:
            await Timer(reset.phase, "ns")
        self._note_offered(batch)
        batch.reached = {slot: ops + AHEAD for slot, ops in batch.offered.items()}
        batch.states = {slot: self.mailbox.state(slot) for slot in self.agents}
        await self._reset(reset.hold)
        for gap in reset.again:
            await self._clocks(gap)
            await self._reset(reset.hold)
        await self._clocks(reset.quiet)
        self._collect(batch)
        left = (order[len(batch.done.get(slot, ())) :] for slot, order in batch.order.items())
        self.cut_at = int(min((ops[0] for ops in left if len(ops)), default=len(batch.block)))
        batch.hung = self.mailbox.hang

    def _note_offered(self, batch: Batch) -> None:
        """Notes how many ops of a batch have been offered to each engine."""
        for slot in batch.order:
            waiting = [one.state != "queued" for one in self.mailbox.in_flight(slot)]
            retired = self.mailbox.retired(slot) - batch.before[slot]
            batch.offered[slot] = retired + sum(waiting)

    async def _until(self, aim: Aim, clocks: int) -> bool:
        """Waits until some clocks after an event; False: until all ops had retired without it."""
        self.mailbox.set_aim(aim.slot, aim.event, aim.count, clocks)
        self.mailbox.set_wake_at(tuple(self.submitted))
        await self._woken()
        met: bool = self.mailbox.aim_met
        self.run.counts.injected["resets at events"] += met
        return met

    async def _woken(self) -> None:
        """Waits for the harness."""
        start = self.stopwatch.clock()
        await self.dut.wake.value_change
        self.stopwatch.book_simulator(self.stopwatch.clock() - start)

    def _stopped(self) -> bool:
        """Ends the stimulus if the process that follows the run has requested it."""
        if self.mailbox.stop_requested:
            self.run.abort("interrupted", "ended by request")
        return bool(self.run.abort_status == "interrupted")

    async def _reset(self, clocks: int) -> None:
        self.run.resets.append(int(self.mailbox.cycles))
        self.run.counts.injected["resets"] += 1
        self.dut.rst_n_req.value = 0
        await self._clocks(clocks)
        self.dut.rst_n_req.value = 1

    async def _clocks(self, count: int) -> None:
        """Waits; one event of the simulator for any time."""
        start = self.stopwatch.clock()
        await Timer(count * CLOCK_NS, "ns")
        self.stopwatch.book_simulator(self.stopwatch.clock() - start)

    def _prepare(self, block: OpBlock) -> None:
        """Writes the block's fills to the memories under test, and schedules its unit flags."""
        with self.stopwatch.phase("drive"):
            for fill in block.fills:
                self.memory.ensure(fill.space, fill.start, len(fill.data))
                self.memory.view(fill.space)[fill.start : fill.start + len(fill.data)] = fill.data
            for one in flags_to_set(block):
                if one.again:
                    self.memory.stage_flags_again(one.blocks, one.delay)
                else:
                    self.memory.stage_flags(one.blocks, one.delay)

    def _watchdog_clocks(self, block: OpBlock) -> tuple[int, int]:
        """Returns the clocks of the watchdog, without a beat and while beats are granted."""
        knobs = {name: self.mailbox.knob(name) for name in KNOBS}
        limit = self.run.settings.watchdog_clocks or WATCHDOG_CLOCKS
        still, moving = watchdog_clocks(block, knobs, limit)
        # The harness does not see the beats of a GM in Python.
        return (still, moving) if self.run.settings.gm == "hdl" else (moving // MOVING, moving)

    def _split(self, block: OpBlock) -> tuple[Batch, dict[int, SlotItem]]:
        """Returns the batch of ``block`` and the item of each slot."""
        with self.stopwatch.phase("drive"):
            words = block.pack()
            slots = block.slot
            tag_mask = (1 << self.run.settings.tag_width) - 1
            tags = np.zeros(len(block), dtype=np.uint32)
            rank = np.zeros(len(block), dtype=np.int64)
            order = {}
            for slot in np.unique(slots).tolist():
                indices = np.flatnonzero(slots == slot)
                if len(indices) > MAX_IN_FLIGHT:
                    raise ValueError(
                        f"a block has {len(indices)} ops for {SLOTS[slot]}: at most "
                        f"{MAX_IN_FLIGHT} fit the ring"
                    )
                order[slot] = indices
                rank[indices] = self.submitted[slot] + np.arange(len(indices))
                tags[indices] = rank[indices] & tag_mask
            batch = Batch(
                self.batches, self.transactions, block, order, tags, tuple(self.submitted)
            )
            items = {}
            for slot, indices in order.items():
                item = SlotItem(slot, len(indices))
                item.words = words[indices]
                item.tags = tags[indices]
                item.gaps = block.gap[indices].astype(np.uint32)
                after = block.after[indices]
                waiting = np.flatnonzero(after >= 0)
                # Done counts are cumulative: rank + 1 descriptors of that slot must have retired.
                item.waits[waiting, slots[after[waiting]]] = rank[after[waiting]] + 1
                items[slot] = item
                self.submitted[slot] += len(indices)
            for index, others in block.also_after.items():
                waits = items[int(slots[index])].waits
                position = int(np.searchsorted(order[int(slots[index])], index))
                for other in others:
                    of = int(slots[other])
                    waits[position, of] = max(waits[position, of], rank[other] + 1)
        return batch, items

    async def _drain(self, batch: Batch) -> None:
        """Waits for the harness and collects done records until all are in, or a hang."""
        missing = len(batch.block)
        while missing > 0:
            await self._woken()
            with self.stopwatch.phase("drive"):
                missing -= self._collect(batch)
            if missing > 0 and (self.mailbox.stop_requested or self.mailbox.hang):
                self._note_offered(batch)
                batch.hung = not self.mailbox.stop_requested
                return

    def _collect(self, batch: Batch) -> int:
        """Adds the new done records of every slot to the batch; returns how many there are."""
        count = 0
        for slot, agent in self.agents.items():
            records = agent.monitor.collect()
            if len(records):
                earlier = batch.done.get(slot)
                batch.done[slot] = records if earlier is None else np.append(earlier, records)
                count += len(records)
        return count


class CoverageCollector(uvm_subscriber):
    """Samples functional coverage of the transactions that passed their check."""

    def build_phase(self) -> None:
        """Fetches the coverage model."""
        self.coverage = ConfigDB().get(self, "", "COVERAGE")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.run = ConfigDB().get(self, "", "RUN")
        self.kept = self.stopwatch.elapsed
        """Seconds of the run when its coverage was last written."""

    def write(self, checked: CheckedBatch) -> None:
        """Samples one batch, unless a probe has sent it."""
        if checked.batch.probe:
            return
        with self.stopwatch.phase("cover"):
            self.coverage.sample(checked.batch.block, checked.passed, checked.events)
            profile = self.run.profile
            self.coverage.sample_stress(checked, profile and profile.values)
            if self.stopwatch.elapsed > self.kept + COVERAGE_SECONDS:
                self.kept = self.stopwatch.elapsed
                self.run.write_coverage()


class PtoEnv(uvm_env):
    """One agent per slot that has an engine, a dispatcher, a scoreboard and coverage.

    A run that records its transactions also has the writer of the timeline.
    """

    def build_phase(self) -> None:
        """Builds the components through the factory."""
        run = ConfigDB().get(self, "", "RUN")
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.dispatcher = Dispatcher.create("dispatcher", self)
        self.scoreboard = Scoreboard.create("scoreboard", self)
        self.coverage = CoverageCollector.create("coverage", self)
        self.timeline = Timeline.create("timeline", self) if run.settings.timeline else None
        self.agents: dict[int, SlotAgent] = {}
        for name in run.slots:
            slot = SLOTS.index(name)
            ConfigDB().set(self, f"agent_{name}*", "SLOT", slot)
            self.agents[slot] = SlotAgent.create(f"agent_{name}", self)

    def connect_phase(self) -> None:
        """Connects sequencer, dispatcher, monitors, scoreboard and coverage."""
        self.dispatcher.seq_item_port.connect(self.sequencer.seq_item_export)
        self.dispatcher.agents = self.agents
        self.dispatcher.batch_ap.connect(self.scoreboard.analysis_export)
        self.scoreboard.ap.connect(self.coverage.analysis_export)
        if self.timeline is not None:
            self.scoreboard.ap.connect(self.timeline.analysis_export)
            self.dispatcher.batch_ap.connect(self.timeline.analysis_export)
