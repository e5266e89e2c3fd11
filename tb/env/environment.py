# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment: agents, dispatcher, scoreboard and coverage around one harness.

A test sends :class:`~sequences.uvm.BlockItem` items to the environment's sequencer. The
dispatcher splits each block over the slots' agents, waits until every descriptor of the block
has retired, and publishes the whole as an :class:`~tb.harness.items.Epoch`. All ops of a block
may be in flight at once; between blocks the engines are idle and the memories stand still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cocotb.triggers import Timer
from numpy.typing import NDArray
from pyuvm import (
    ConfigDB,
    uvm_analysis_port,
    uvm_driver,
    uvm_env,
    uvm_sequence,
    uvm_sequencer,
    uvm_subscriber,
)

from scoreboards.faults import Fault
from scoreboards.scoreboard import Scoreboard
from tb.env.agent import SlotAgent
from tb.env.timeline import Timeline
from tb.harness.items import MAX_IN_FLIGHT, CheckedEpoch, DoneBatch, Epoch, Reset, SlotItem
from tb.harness.knobs import slowdown
from tb.harness.layout import FAULTS, KNOBS
from tb.harness.mailbox import FaultWindow
from tb.harness.memory import UNIT_FLAGS
from tb.isa.block import FAMILIES, OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fix.op import FixDescriptor
from tb.isa.fix.table import FLAG_CLEAR, FLAG_NONE, GROUP, NZ2DN
from tb.isa.footprint import flag_blocks
from tb.isa.nz.table import C0_BYTES, DN2NZ
from tb.isa.ops import SLOTS

LATENCY_KNOBS = tuple(name for name in KNOBS if name.endswith(("_latency", "_jitter")))
CLOCKS_PER_ROW = 64
"""What a row may cost beside the latencies of the memories, stalls included."""

CLOCKS_PER_BLOCK = 32
"""What a 32-byte block of an NZ repack or a word of accumulators may cost, stalls included."""

HAND_OVER = (0.0, 0.5, 1.0)
"""When the parts of a tile are handed over, in fractions of its delay; 0 is before the block."""

CLOCK_NS = 10
"""Period of the harness clock."""

STATE_CLOCKS = 2
"""Clocks before a reset at which the state of the slots is asked for."""

AHEAD = 2
"""Descriptors an engine may have accepted at a reset beyond those the mailbox knows of."""

_UNTOUCHED, _CLEARED, _AGAIN = range(3)
"""An L0C block: no op of the block cleared it; the last one did; it was handed over since."""


def _fix_work(block: OpBlock) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns per op, as if all were write-backs, the pieces of destination rows and the words."""
    m, n = (block.column(name).astype(np.float64) for name in ("m", "n"))
    repeats = np.where(block.column("loop3_en") > 0, block.column("loop3_count"), 1.0)
    groups = np.ceil(n / GROUP)
    # nz2dn writes channels, 16 elements of each at a time; words may be read twice by nz2nz.
    pieces = np.where(block.column("layout") == NZ2DN, n * np.ceil(m / GROUP), m)
    return pieces * repeats, 2 * m * groups * repeats


def _work(block: OpBlock) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns per op the rows it moves and the blocks or words it makes, ``float64[N]`` each."""

    def column(name: str) -> NDArray[np.float64]:
        return block.column(name).astype(np.float64)

    family = block.family
    bursts = np.where(block.column("len") > 0, column("n_burst"), 0.0)
    loops = np.ones(len(block))
    for k in range(MAX_LOOPS):
        loops *= column(f"loop{k}_count")
    lines = column("n_value"), column("d_value")
    groups = column("group_count") * ((lines[0] > 0) & (lines[1] > 0))
    matrices = np.where(block.column("mode") == DN2NZ, lines[1], lines[0]) * groups
    blocks = lines[0] * np.ceil(lines[1] * np.exp2(column("elem_log2")) / C0_BYTES) * groups
    pieces, words = _fix_work(block)
    of_rows = {"dma": bursts * loops, "burst": bursts, "nz": matrices, "fix": pieces}
    of_blocks = {"nz": blocks, "fix": words}
    none = np.zeros(len(block))
    return (
        np.choose(family, [of_rows[name] for name in FAMILIES]),
        np.choose(family, [of_blocks.get(name, none) for name in FAMILIES]),
    )


@dataclass(frozen=True, slots=True)
class HandOver:
    """Blocks of accumulators that their producer hands over to the engine.

    Attributes:
        blocks: ``int64[k]``, numbers of L0C blocks.
        delay: Clocks from the start of the block of ops until their flags are set, -1 for flags
            that are set before; where ``again``, clocks from the clear of each.
        again: Whether they are handed over once more, after an op of the block has cleared them.
    """

    blocks: NDArray[np.int64]
    delay: int
    again: bool


def _in_parts(blocks: NDArray[np.int64], delay: int, turn: int) -> list[HandOver]:
    """Returns how a tile is handed over: at once, or in parts of which the last takes ``delay``.

    Which part comes last changes with ``turn``, so that an engine which takes one flag for all is
    found whichever it looks at.
    """
    parts = min(len(HAND_OVER), len(blocks)) if delay > 0 else 1
    split = np.array_split(np.roll(blocks, turn), parts)
    return [
        HandOver(np.sort(part), int(delay * share) if share else -1, again=False)
        for part, share in zip(split, HAND_OVER[-parts:], strict=True)
    ]


def flags_to_set(block: OpBlock) -> list[HandOver]:
    """Returns what the producer of accumulators does for the ops of ``block``, in their order.

    It sets the flags of each L0C block before the first op that waits for it, and again for the
    first op that waits after one has cleared it; further ops find them set. ``flag_delay`` of an op
    that waits for flags set again counts from their clear; if it waits for others too, they are set
    before the block starts. Tiles with a delay come in parts. Ops that move nothing wait for none.
    """
    checks = np.flatnonzero(block.column("unit_flag") != FLAG_NONE)
    if not len(checks):
        return []
    words = block.pack()
    found = []
    state = np.zeros(UNIT_FLAGS, dtype=np.int8)
    for index in checks.tolist():
        if block.expected_rule is not None and block.expected_rule[index]:
            continue
        desc = unpack(words[index])
        if not isinstance(desc, FixDescriptor) or not desc.unit_flag or desc.is_nop:
            continue
        delay = -1 if block.flag_delay is None else int(block.flag_delay[index])
        blocks = flag_blocks(desc)
        now = state[blocks]
        if now.any():
            found.append(HandOver(blocks[now == _UNTOUCHED], -1, again=False))
            gone = blocks[now == _CLEARED]
            found.append(HandOver(gone, max(delay, 0), again=True))
            state[gone] = _AGAIN
        else:
            found += _in_parts(blocks, delay, index)
        if desc.unit_flag == FLAG_CLEAR:
            state[blocks] = _CLEARED
    return found


class SlotSequence(uvm_sequence):
    """Sends one :class:`SlotItem` to the sequencer of its slot."""

    def __init__(self, item: SlotItem) -> None:
        """Takes the item to send."""
        super().__init__("slot_sequence")
        self.item = item

    async def body(self) -> None:
        """Sends the item."""
        await self.start_item(self.item)
        await self.finish_item(self.item)


class Dispatcher(uvm_driver):
    """Turns blocks into items of the slots' agents and waits until each block has retired."""

    def build_phase(self) -> None:
        """Makes the analysis ports and fetches what the run is configured with."""
        self.issue_ap = uvm_analysis_port("issue_ap", self)
        self.epoch_ap = uvm_analysis_port("epoch_ap", self)
        self.mailbox = ConfigDB().get(self, "", "MAILBOX")
        self.dut = ConfigDB().get(self, "", "DUT")
        self.run = ConfigDB().get(self, "", "RUN")
        self.memory = self.run.memory
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.filter_chain = ConfigDB().get(self, "", "FILTER_CHAIN")
        self.agents: dict[int, SlotAgent] = {}
        self.submitted = [0] * len(SLOTS)
        self.epochs = 0
        self.transactions = 0
        self.responses = 0
        self._open: Epoch | None = None

    def collect_done(self, batch: DoneBatch) -> None:
        """Takes the done records that a monitor published."""
        if self._open is None:
            return
        earlier = self._open.done.get(batch.slot)
        records = batch.records if earlier is None else np.concatenate((earlier, batch.records))
        self._open.done[batch.slot] = records

    async def run_phase(self) -> None:
        """Serves items for ever; once the run is aborted they are dropped."""
        while True:
            item = await self.seq_item_port.get_next_item()
            if not self.run.aborted:
                try:
                    await self.execute(
                        item.block, item.faults, reset=item.reset, isolated=item.isolated
                    )
                except Exception as error:
                    # In a scoreboard or a subscriber of a user's, perhaps.
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
        """Runs one block, to its end or into a reset, and publishes its epoch.

        What no engine takes is left out.
        """
        block = self.filter_chain.select(block, isolated=isolated)
        if not len(block):
            return
        epoch, items = self._split(block)
        self._prepare(block)
        epoch.faults, epoch.reset, epoch.isolated = tuple(faults), reset, isolated
        self._open = epoch
        self.issue_ap.write(epoch)
        if faults:
            self.arm(faults)
        for slot, item in items.items():
            await SlotSequence(item).start(self.agents[slot].sequencer)
        self.mailbox.set_watchdog_clocks(self._patience(block))
        if reset is None:
            self.mailbox.set_wake_at(tuple(self.submitted))
            await self._drain(epoch)
        else:
            await self._cut(epoch, reset)
        if faults:
            self.disarm()
        self._collect_errors(epoch)
        epoch.flags_due = self.memory.settle_flags()
        self._open = None
        self.epochs += 1
        self.transactions += sum(len(records) for records in epoch.done.values())
        self.epoch_ap.write(epoch)

    def arm(self, faults: Sequence[Fault]) -> None:
        """Has memories answer with errors from the next clock on; the one place that does so.

        Raises:
            ValueError: more than the mailbox holds, or a fault outside of its memory.
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
        """Has memories answer well again."""
        self.mailbox.clear_faults()

    def _collect_errors(self, epoch: Epoch) -> None:
        """Takes the erroneous responses and the late bursts out of the mailbox."""
        before = self.responses
        self.responses = self.mailbox.hits
        epoch.hits = self.mailbox.poll_hits()
        epoch.hits_lost = self.responses - before - len(epoch.hits)
        epoch.late = self.mailbox.poll_late_bursts()

    async def _cut(self, epoch: Epoch, reset: Reset) -> None:
        """Resets the harness in the middle of an epoch.

        Descriptors that have not retired by then get no done (docs/contract.md, reset). The epoch
        has what was issued of the block.
        """
        await self._clocks(max(1, reset.after - STATE_CLOCKS))
        self.mailbox.set_knobs()  # asks for the state of the slots
        await self._clocks(STATE_CLOCKS)
        if reset.phase:
            await Timer(reset.phase, "ns")
        for slot in epoch.order:
            retired = self.mailbox.retired(slot) - epoch.before[slot]
            waiting = [one.state != "queued" for one in self.mailbox.in_flight(slot)]
            epoch.reached[slot] = retired + sum(waiting) + AHEAD
        epoch.states = {slot: self.mailbox.state(slot) for slot in self.agents}
        await self._reset(reset.hold)
        for gap in reset.again:
            await self._clocks(gap)
            await self._reset(reset.hold)
        await self._clocks(reset.quiet)
        for agent in self.agents.values():
            agent.monitor.collect()
        self.run.counts.injected["resets"] += 1 + len(reset.again)
        epoch.hung = self.mailbox.hang

    async def _reset(self, clocks: int) -> None:
        self.dut.rst_n_req.value = 0
        await self._clocks(clocks)
        self.dut.rst_n_req.value = 1

    async def _clocks(self, count: int) -> None:
        """Waits; one event of the simulator, however long."""
        start = self.stopwatch.clock()
        await Timer(count * CLOCK_NS, "ns")
        self.stopwatch.book_simulator(self.stopwatch.clock() - start)

    def _prepare(self, block: OpBlock) -> None:
        """Puts the block's fills into the memories under test, and has its unit flags set."""
        with self.stopwatch.phase("drive"):
            for fill in block.fills:
                self.memory.ensure(fill.space, fill.start, len(fill.data))
                self.memory.view(fill.space)[fill.start : fill.start + len(fill.data)] = fill.data
            for hand in flags_to_set(block):
                if hand.again:
                    self.memory.stage_flags_again(hand.blocks, hand.delay)
                else:
                    self.memory.stage_flags(hand.blocks, hand.delay)

    def _patience(self, block: OpBlock) -> int:
        """Returns after how many clocks without a descriptor moving the block counts as hung.

        An op of many short rows legally takes long: each row may cost a whole memory latency. An
        op that moves nothing, a NOP or an illegal one, has no rows whatever its counts say.
        """
        rows, blocks = _work(block)
        if block.expected_rule is not None:
            rows[block.expected_rule > 0] = 0
            blocks[block.expected_rule > 0] = 0
        knobs = {name: self.mailbox.knob(name) for name in KNOBS}
        latency = sum(knobs[name] for name in LATENCY_KNOBS)
        clocks = rows * (latency + CLOCKS_PER_ROW) + blocks * CLOCKS_PER_BLOCK
        clocks *= slowdown(knobs)
        longest = float(clocks.max())
        if block.flag_delay is not None:
            longest += max(0, int(block.flag_delay.max()))
        limit = self.run.settings.watchdog_clocks
        return int(min(limit + min(longest, 1e9), 2**32 - 1))

    def _split(self, block: OpBlock) -> tuple[Epoch, dict[int, SlotItem]]:
        """Returns the epoch of ``block`` and the item of each slot."""
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
            epoch = Epoch(self.epochs, self.transactions, block, order, tags, tuple(self.submitted))
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
        return epoch, items

    async def _drain(self, epoch: Epoch) -> None:
        """Waits for the harness and collects done records until all are in, or a hang."""
        missing = len(epoch.block)
        while missing > 0:
            start = self.stopwatch.clock()
            await self.dut.wake.value_change
            self.stopwatch.book_simulator(self.stopwatch.clock() - start)
            with self.stopwatch.phase("drive"):
                missing -= sum(agent.monitor.collect() for agent in self.agents.values())
            if missing > 0 and self.mailbox.hang:
                epoch.hung = True
                return


class CoverageCollector(uvm_subscriber):
    """Samples functional coverage of the transactions whose check passed."""

    def build_phase(self) -> None:
        """Fetches the coverage model."""
        self.coverage = ConfigDB().get(self, "", "COVERAGE")
        self.stopwatch = ConfigDB().get(self, "", "STOPWATCH")
        self.run = ConfigDB().get(self, "", "RUN")

    def write(self, checked: CheckedEpoch) -> None:
        """Samples one epoch."""
        with self.stopwatch.phase("cover"):
            self.coverage.sample(checked.epoch.block, checked.passed, checked.events)
            profile = self.run.profile
            self.coverage.sample_stress(checked, profile and profile.values)


class DoneCollector(uvm_subscriber):
    """Hands the batches of every monitor to the dispatcher."""

    dispatcher: Dispatcher

    def write(self, batch: DoneBatch) -> None:
        """Forwards one batch."""
        self.dispatcher.collect_done(batch)


class PtoEnv(uvm_env):
    """One agent per slot that has an engine, a dispatcher, a scoreboard and coverage.

    Of a run that is to write its transactions down, also what does that.
    """

    def build_phase(self) -> None:
        """Builds the components through the factory."""
        run = ConfigDB().get(self, "", "RUN")
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.dispatcher = Dispatcher.create("dispatcher", self)
        self.done_collector = DoneCollector.create("done_collector", self)
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
        self.done_collector.dispatcher = self.dispatcher
        for agent in self.agents.values():
            agent.monitor.ap.connect(self.done_collector.analysis_export)
        self.dispatcher.epoch_ap.connect(self.scoreboard.analysis_export)
        self.scoreboard.ap.connect(self.coverage.analysis_export)
        if self.timeline is not None:
            self.scoreboard.ap.connect(self.timeline.analysis_export)
            self.dispatcher.epoch_ap.connect(self.timeline.analysis_export)
