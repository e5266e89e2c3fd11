# SPDX-License-Identifier: Apache-2.0
"""What travels between dispatcher, agents and subscribers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyuvm import uvm_sequence_item

from tb.isa.block import OpBlock
from tb.isa.fields import DESC_WORDS
from tb.isa.ops import SLOTS

MAX_IN_FLIGHT = 1024
"""Most descriptors of one epoch on one slot: the depth of the mailbox rings."""


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


@dataclass
class Epoch:
    """A block of ops that were in flight together, and what became of them.

    Attributes:
        number: Position in the run, from 0.
        first: Number of transactions before this epoch.
        block: The ops.
        order: Slot number to indices into the block, in issue order.
        tags: ``uint32[N]`` tag of each op.
        before: Descriptors each slot had been given before this epoch.
        done: Slot number to its done records.
        fault: Fault injected while the epoch ran, or None.
        isolated: The block is a program of its own: legacy registers are saved before it and
            restored behind it, as at a context switch.
        hung: True when the watchdog ended the epoch.
    """

    number: int
    first: int
    block: OpBlock
    order: dict[int, NDArray[np.int64]]
    tags: NDArray[np.uint32]
    before: tuple[int, ...]
    done: dict[int, NDArray[Any]] = field(default_factory=dict)
    fault: Any = None
    isolated: bool = False
    hung: bool = False


@dataclass(frozen=True)
class CheckedEpoch:
    """An epoch with the scoreboard's verdict.

    Attributes:
        epoch: The epoch.
        passed: ``bool[N]``, the check of each op.
        events: ``int64[N]``, what the data of each op held, as bits of :mod:`tb.isa.events`; 0
            for an op that has no events or met an injected fault.
    """

    epoch: Epoch
    passed: NDArray[np.bool_]
    events: NDArray[np.int64]
