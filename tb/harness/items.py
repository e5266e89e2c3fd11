# SPDX-License-Identifier: Apache-2.0
"""Items and records exchanged by dispatcher, agents and subscribers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyuvm import uvm_sequence_item

from tb.harness.layout import HIT, LATE_BURST
from tb.isa.block import OpBlock
from tb.isa.fields import DESC_WORDS
from tb.isa.ops import SLOTS

MAX_IN_FLIGHT = 1024
"""Most descriptors of one batch on one slot: the depth of the mailbox rings."""


class SlotItem(uvm_sequence_item):
    """Descriptors for one slot, in order.

    Attributes:
        slot: Slot number.
        words: ``uint32[n, 16]`` packed descriptors.
        tags: ``uint32[n]``, echoed on the done channel.
        gaps: ``uint32[n]`` clocks of idle before each descriptor is offered.
        waits: ``uint32[n, 4]`` descriptors that each slot must have retired before, in all.
    """

    def __init__(self, slot: int, count: int) -> None:
        """Makes an item of ``count`` descriptors without gaps or waits."""
        super().__init__(f"{SLOTS[slot]}_item")
        self.slot = slot
        self.words: NDArray[np.uint32] = np.zeros((count, DESC_WORDS), dtype=np.uint32)
        self.tags: NDArray[np.uint32] = np.zeros(count, dtype=np.uint32)
        self.gaps: NDArray[np.uint32] = np.zeros(count, dtype=np.uint32)
        self.waits: NDArray[np.uint32] = np.zeros((count, len(SLOTS)), dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.tags)


@dataclass(frozen=True)
class DoneBatch:
    """Done records of one slot in the order in which they retired.

    ``records`` is a structured array with the fields of the mailbox's done ring.
    """

    slot: int
    records: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Aim:
    """An event at the ports of a slot, during a block.

    Attributes:
        slot: Slot number.
        event: Its kind, one of :data:`~tb.harness.layout.EVENTS`.
        count: It is the n-th of its kind, from the issue of the block.
    """

    slot: int
    event: str
    count: int


@dataclass(frozen=True, slots=True)
class Reset:
    """A reset in the middle of a block.

    Attributes:
        after: Clocks from the issue of the block, or from the event of ``aim``.
        phase: Nanoseconds after a clock edge; it asserts at any time.
        hold: Clocks that it lasts.
        again: Clocks from its end to the start of further ones, back to back.
        quiet: Clocks after it without a descriptor.
        aim: The event that it follows, if any; if that does not come, the last done.
    """

    after: int
    phase: int = 0
    hold: int = 4
    again: tuple[int, ...] = ()
    quiet: int = 4
    aim: Aim | None = None


@dataclass
class Batch:
    """A block of ops that were in flight together, and what became of them.

    Attributes:
        number: Position in the run, from 0.
        first: Number of transactions before this batch.
        block: The ops.
        order: Slot number to indices into the block, in issue order.
        tags: ``uint32[N]`` tag of each op.
        before: Descriptors each slot had been given before this batch.
        done: Slot number to its done records.
        faults: Faults armed while the batch ran.
        hits: Erroneous responses that the engines saw, ``HIT[n]`` of the mailbox.
        hits_lost: How many more there were than the log could hold.
        late: Bursts offered after an error of their slot, ``LATE_BURST[n]`` of the mailbox.
        flags_due: Unit flags that ops wait for and that were not set when all had retired.
        reset: The reset that cut the batch off, or None.
        aim_met: The event came that the reset was to follow.
        reached: Of an batch cut off, slot number to how many of its ops the engine may have
            accepted; no other op was begun.
        offered: Of a batch that did not end, slot number to how many of its ops had been offered to
            the engine.
        states: Of an batch cut off, slot number to the state of its channels just before.
        isolated: The block is a program of its own: legacy registers are saved before it and
            restored after it, as at a context switch.
        probe: Its ops measure what the engines hold (:mod:`tb.env.capacity`): they are checked as
            all ops are, and counted neither as transactions nor as coverage.
        hung: True when the watchdog ended the batch.
    """

    number: int
    first: int
    block: OpBlock
    order: dict[int, NDArray[np.int64]]
    tags: NDArray[np.uint32]
    before: tuple[int, ...]
    done: dict[int, NDArray[Any]] = field(default_factory=dict)
    faults: Sequence[Any] = ()
    hits: NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=HIT))
    hits_lost: int = 0
    late: NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=LATE_BURST))
    flags_due: int = 0
    reset: Reset | None = None
    aim_met: bool = False
    reached: dict[int, int] = field(default_factory=dict)
    offered: dict[int, int] = field(default_factory=dict)
    states: dict[int, Any] = field(default_factory=dict)
    isolated: bool = False
    probe: bool = False
    hung: bool = False

    def record(self, index: int) -> Any:
        """Returns the done record of op ``index`` of the block, None if it has not retired."""
        slot = int(self.block.slot[index])
        place = int(np.searchsorted(self.order[slot], index))
        records = self.done.get(slot, ())
        return records[place] if place < len(records) else None


@dataclass(frozen=True)
class CheckedBatch:
    """An batch with the scoreboard's verdict.

    Attributes:
        batch: The batch.
        passed: ``bool[N]``, the check of each op; false for one that a reset cut off.
        events: ``int64[N]``, what the data of each op held, as bits of :mod:`tb.isa.events`; 0
            for an op that has no events or met an injected fault.
        errors: Place of an op to the errors it met (:class:`scoreboards.faults.OpErrors`).
        outcomes: Result of the model for each op.
    """

    batch: Batch
    passed: NDArray[np.bool_]
    events: NDArray[np.int64]
    errors: Mapping[int, Any] = field(default_factory=dict)
    outcomes: Sequence[Any] = ()
