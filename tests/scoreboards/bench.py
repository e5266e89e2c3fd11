# SPDX-License-Identifier: Apache-2.0
"""A scoreboard without a simulator: hand-made batches, and a second model as the design."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyuvm import ConfigDB, uvm_root

from scoreboards.faults import FaultKind
from scoreboards.golden import UNIT_FLAGS, GoldenMemory
from scoreboards.model.dma import DmaOp, ReferenceModel
from scoreboards.model.outcome import Outcome
from scoreboards.scoreboard import Scoreboard
from scoreboards.unit_flags import produce
from tb.env.context import RunContext
from tb.env.stopwatch import Stopwatch
from tb.harness.items import Batch, CheckedBatch, Reset
from tb.harness.layout import DONE, HIT, KNOBS, NO_CLEAR, READ
from tb.harness.mailbox_reader import Progress, Snapshot
from tb.isa.block import OpBlock, from_ops
from tb.isa.footprint import Footprint
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.program import moving_at
from tb.isa.spaces import Space
from tb.isa.status import Status
from tb.record.failure import Failure
from tb.record.settings import RunSettings


def noise(space: Space, start: int, length: int) -> NDArray[np.uint8]:
    """Initial content of both sides."""
    a = np.arange(start, start + length, dtype=np.int64)
    mixed: NDArray[np.int64] = a * 137 + (a >> 8) * 11 + (a >> 20) * 3 + int(space) * 71
    return mixed.astype(np.uint8)


def model_on(memory: GoldenMemory) -> ReferenceModel:
    """Returns a model that writes memories, and their unit flags."""
    return ReferenceModel(
        memory,
        before_read=memory.ensure_footprint,
        before_write=memory.expect_write,
        unit_flags=memory.unit_flags,
    )


IDLE = Snapshot(
    Progress(2000, 0, 0, 0, 0, 0, errors=0, hang=False),
    *((), ((),) * len(SLOTS), (0,) * len(SLOTS), (None,) * len(SLOTS), {}, ()),
    last=({},) * len(SLOTS),
    reset_cycle=0,
)
"""A mailbox with no descriptor in flight."""


def context(memory: Any, mailbox: Any, **settings: Any) -> RunContext:
    """Returns the context of a run that no failure ends, unless ``mismatch_limit`` is given."""
    run = RunSettings(**{"mismatch_limit": 1 << 20, **settings})
    config: Any = SimpleNamespace(run=run, command="make again", slots=SLOTS, capabilities={})
    nothing: Any = None
    return RunContext(config, memory, mailbox, nothing, Stopwatch())


def background_flags() -> NDArray[np.uint8]:
    """Initial unit flags: a pattern without a short period."""
    blocks = np.arange(UNIT_FLAGS)
    flags: NDArray[np.uint8] = (blocks * blocks // 7 % 3 == 0).astype(np.uint8)
    return flags


class Memory(GoldenMemory):
    """Memories under test with the interface of the simulated ones."""

    def __init__(self) -> None:
        super().__init__(noise, unit_flags=background_flags())

    def background_flags(self) -> NDArray[np.uint8]:
        return background_flags()

    def background(self, space: Space, start: int, length: int) -> NDArray[np.uint8]:
        return noise(space, start, length)

    def dirty_gm_pages(self) -> list[int]:
        return self.written_pages()

    def unknown_registers(self, slot: int) -> list[tuple[str, int]]:
        return []

    def last_writer(self, space: Space, address: int) -> Any:
        return None


class Bench:
    """A scoreboard and a correct design."""

    def __init__(self) -> None:
        uvm_root().clear_hierarchy()
        ConfigDB().clear()
        self.memory = Memory()
        self.bytes = [0] * len(SLOTS)
        self.mailbox = SimpleNamespace(
            errors=0,
            poll_errors=list,
            report_progress=lambda checked, mismatches: None,
            stalls=dict,
            snapshot=lambda: IDLE,
            slots=(),
            written_bytes=lambda slot: self.bytes[slot],
            moved_bytes=lambda slot: 64,
            moves_on=False,
            state=lambda slot: None,
            knob=lambda name: 7 if name == "seed" else KNOBS[name].low,
            cycles=2000,
        )
        self.run = context(self.memory, self.mailbox)
        parts = {"RUN": self.run, "STOPWATCH": self.run.stopwatch, "MAILBOX": self.mailbox}
        for name, value in parts.items():
            ConfigDB().set(None, "*", name, value)
        self.scoreboard = Scoreboard("scoreboard", None)
        self.scoreboard.build_phase()
        self.checked: list[CheckedBatch] = []
        self.scoreboard.ap = SimpleNamespace(write=self.checked.append)
        self.dut = model_on(self.memory)
        self.outcomes: list[Outcome] = []

    @property
    def failures(self) -> list[str]:
        """The reports of the run."""
        return self.run.counts.failures

    @property
    def details(self) -> list[Failure]:
        """The same in fields."""
        return self.run.counts.details

    def only(self) -> Failure:
        """Returns the only failure of the run; it has a report, too."""
        (failure,) = self.details
        assert self.failures == [failure.text]
        return failure

    def check(self, block: OpBlock | Sequence[Op], *wrong: tuple[Space, int]) -> CheckedBatch:
        """Checks a block, a bit of some bytes flipped after its last op."""
        batch = self.batch(block)
        for space, address in wrong:
            self.corrupt(space, address)
        return self.write(batch)

    def batch(self, block: OpBlock | Sequence[Op]) -> Batch:
        """Runs a block on the design and returns its batch.

        The ops of a slot are in flight together from cycle 100 to cycle 1000, about.
        """
        block = block if isinstance(block, OpBlock) else from_ops(block)
        slots = block.slot
        order = {int(s): np.flatnonzero(slots == s) for s in np.unique(slots)}
        for fill in block.fills:
            self.memory.write(fill.space, fill.start, fill.data)
        entries = block.program()
        outcomes = [[self.execute(op) for op in ops][moving_at(ops)] for ops in entries]
        self.outcomes = outcomes
        tags = np.arange(len(block), dtype=np.uint32)
        done = {}
        for slot, indices in order.items():
            records = np.zeros(len(indices), dtype=DONE)
            records["accept_cycle"] = 100 + np.arange(len(indices))
            records["done_cycle"] = 1000 + np.arange(len(indices))
            for record, index in zip(records, indices.tolist(), strict=True):
                self.bytes[slot] += outcomes[index].bytes_written
                record["tag"], record["rule"] = tags[index], outcomes[index].rule
                record["status"] = int(outcomes[index].status)
                record["written_bytes"] = self.bytes[slot]
                flags = outcomes[index].flags
                clears = flags is not None and flags.clears
                record["clear_bytes"] = self.bytes[slot] if clears else NO_CLEAR
            done[slot] = records
        return Batch(0, 0, block, order, tags, (0,) * len(SLOTS), done)

    def hit(
        self,
        batch: Batch,
        slot: str,
        space: Space,
        address: int,
        *,
        kind: FaultKind = FaultKind.LOCAL,
        side: int = READ,
        cycle: int = 500,
        status: Status | None = None,
    ) -> None:
        """Adds an erroneous response to those of the engine; its first op retires with a status."""
        entry = np.zeros(1, dtype=HIT)
        entry["cycle"], entry["addr"], entry["slot"] = cycle, address, SLOTS.index(slot)
        entry["side"], entry["kind"], entry["space"] = side, kind, int(space)
        batch.hits = np.concatenate((batch.hits, entry))
        if status is not None:
            self.failed(batch, slot, status, address)

    def cut(self, batch: Batch, slot: str, retired: int, reached: int) -> None:
        """Ends a batch by a reset, with the numbers of retired and begun ops of each slot."""
        number = SLOTS.index(slot)
        batch.reset = Reset(300)
        batch.done[number] = batch.done[number][:retired]
        batch.offered[number] = batch.reached[number] = reached

    def failed(
        self, batch: Batch, slot: str, status: Status, address: int, *, position: int = 0
    ) -> None:
        """Makes an op of a slot retire with an error."""
        records = batch.done[SLOTS.index(slot)]
        records["status"][position], records["addr"][position] = int(status), address

    def execute(self, op: DmaOp) -> Outcome:
        """Executes an op on the design, with its flags set."""
        outcome = self.dut.issue(op)
        produce(self.memory.unit_flags, outcome)
        return self.dut.apply(outcome)

    def write(self, batch: Batch) -> CheckedBatch:
        """Sends a batch to the scoreboard."""
        self.scoreboard.write(batch)
        return self.checked[-1]

    def corrupt(self, space: Space, address: int) -> None:
        """Flips a bit of a byte under test."""
        self.memory.expect_write(Footprint(space, address, 1, (1,), (0,)))
        self.memory[space][address] ^= 0x10

    def hang(self, block: OpBlock | Sequence[Op], clocks: int) -> str:
        """Sends a batch that the watchdog ended before an op retired; returns its report."""
        batch = self.batch(block)
        self.mailbox.watchdog_clocks = clocks
        batch.hung, batch.done = True, {}
        self.scoreboard.write(batch)
        (report,) = self.failures
        return report


def flat(bench: Bench) -> str:
    """Returns the first report of a run on one line."""
    return " ".join(bench.failures[0].split())
