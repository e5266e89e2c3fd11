# SPDX-License-Identifier: Apache-2.0
"""State before a block, which the model overwrites: to show it, or to run the block again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy

import numpy as np
from numpy.typing import NDArray

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from scoreboards.model.outcome import Outcome
from scoreboards.model.registers import Registers
from scoreboards.regions import rows_view
from tb.isa.block import OpBlock
from tb.isa.footprint import Footprint
from tb.isa.profile import Profile, using
from tb.isa.program import moving_at

_ROOM = 1 << 20
"""Bytes that a block may overwrite before more room is needed."""


class Before:
    """State of golden memories, registers and unit flags before a block.

    Attributes:
        number: Of the block, as :attr:`tb.harness.items.Batch.number`.
        registers: Of the legacy copies.
        flags: ``uint8[512]`` unit flags.
    """

    number: int
    registers: Registers
    flags: NDArray[np.uint8]

    def __init__(self) -> None:
        """Starts empty."""
        self._kept: list[tuple[Footprint, int]] = []
        self._bytes = np.empty(_ROOM, dtype=np.uint8)
        self._used = 0
        self._golden: GoldenMemory | None = None

    def begin(self, golden: GoldenMemory, registers: Registers, number: int) -> None:
        """Discards the previous block; to be called before the ops of a block are issued."""
        self._golden = golden
        self.number = number
        self._kept.clear()
        self._used = 0
        self.flags = golden.unit_flags.copy()
        self.registers = Registers(
            copy(registers.outtoub), copy(registers.ubtoout), registers.pad_value
        )

    def keep(self, region: Footprint) -> None:
        """Keeps the bytes of a region that is about to be overwritten.

        Called for every transaction: all bytes go into one array, allocated once per run.
        """
        if self._golden is None:
            return
        memory, rows = self._golden[region.space], region.rows
        first = self._used
        end = first + rows * region.length
        if end > self._bytes.size:
            more = np.empty(2 * end, dtype=np.uint8)
            more[:first] = self._bytes[:first]
            self._bytes = more
        if rows == 1:
            self._bytes[first:end] = memory[region.base : region.base + region.length]
        else:
            view = rows_view(memory, region)
            self._bytes[first:end].reshape(view.shape)[...] = view
        self._kept.append((region, first))
        self._used = end

    @contextmanager
    def rewound(self) -> Iterator[tuple[GoldenMemory, Callable[[Footprint], None]]]:
        """Restores golden memories to the bytes before the block, for the time of a context.

        Yields:
            The golden memories, and a function to be called with each region before it is
            overwritten in the context.
        """
        golden = self._golden
        assert golden is not None, "no block has begun"
        now: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = []

        def overwrite(region: Footprint) -> None:
            golden.ensure_footprint(region)
            view = rows_view(golden[region.space], region)
            now.append((view, view.copy()))

        for region, first in reversed(self._kept):
            overwrite(region)
            view, _ = now[-1]
            view[...] = self._bytes[first : first + view.size].reshape(view.shape)
        try:
            yield golden, overwrite
        finally:
            for view, rows in reversed(now):
                view[...] = rows

    @contextmanager
    def rerun(
        self, block: OpBlock, profile: Profile
    ) -> Iterator[tuple[GoldenMemory, list[Outcome]]]:
        """Executes the block under a profile, for the time of a context.

        Raises:
            ValueError: an op leaves its memory under this profile.
        """
        with self.rewound() as (golden, overwrite), using(profile):
            # Without unit flags: each one that an op waits for counts as set.
            model = ReferenceModel(
                golden, before_read=golden.ensure_footprint, before_write=overwrite
            )
            model.registers = deepcopy(self.registers)
            outcomes = []
            for ops in block.program():
                issued = [model.issue(op) for op in ops]
                outcomes.append(model.apply(issued[moving_at(ops)]))
            yield golden, outcomes
