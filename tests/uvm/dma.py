# SPDX-License-Identifier: Apache-2.0
"""pyuvm tests of the data-movement ops; ``tests/plan.toml`` names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyuvm
from pyuvm import uvm_factory

from scoreboards.faults import Fault, FaultKind
from sequences.constraints import DmaConstraints, SizeClass
from sequences.corner import corner_blocks
from sequences.data import special_fills
from sequences.directed import op_names, program_blocks, rule_blocks
from sequences.examples import EXAMPLES, Example
from sequences.illegal import IllegalGenerator
from sequences.traffic import TrafficGenerator
from sequences.uvm import DmaBlockItem, DmaItemSeq
from tb.agents.agent import MailboxDriver
from tb.agents.pins import PinDriver
from tb.isa.block import OpBlock
from tb.isa.burst_table import MTE_L1_BT
from tb.isa.descriptor import unpack
from tb.isa.fix import FixDescriptor
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.ops import LEGACY_FORMS
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space
from tb.record import RunSettings
from tests.uvm.base import PtoTestBase

PROFILE_BLOCKS = 2
"""Blocks between two changes of the memory profile."""

LONGEST_CUT = 600
"""Clocks after which a block is cut off at the latest."""

ILLEGAL_FRACTION = 0.05
FAULT_FRACTION = 0.05
"""Fractions of the blocks of a mixed run, unless the plan says otherwise."""


SMALL: dict[str, Any] = {
    "block_ops": 8,
    "crowd": 0.0,
    "sizes": (SizeClass(1, 64, 0.3), SizeClass(65, 512, 0.4), SizeClass(513, 4096, 0.3)),
    "max_bytes": 8192,
    "max_rows": 64,
    "big_nz": 0.0,
    "big_tile": 0.0,
}
"""Constraints of random ops where the GM is in Python."""


@pyuvm.test()
class RandomDmaTest(PtoTestBase):
    """Random blocks; options ``illegal`` and ``faults`` are fractions of the blocks."""

    def prepare_memory(self) -> None:
        """Lays floats of every class among the random bytes, where bias loads are sent."""
        super().prepare_memory()
        if MTE_L1_BT.name in self.run.settings.ops:
            for fill in special_fills(self.run.settings.seed):
                self.env.scoreboard.poke(fill.space, fill.start, fill.data.tobytes())

    async def stimulate(self) -> None:
        """Sends N transactions."""
        await DmaItemSeq(self.items()).start(self.env.sequencer)

    def constraints(self) -> DmaConstraints:
        """Returns the constraints of the random ops; with small blocks there are no crowds."""
        settings = self.run.settings
        limits = DmaConstraints(bus_bytes=settings.gm_width // 8)
        if "block_ops" in settings.options:
            limits = replace(limits, block_ops=int(settings.options["block_ops"]), crowd=0.0)
        if settings.gm == "cocotbext":  # each clock costs Python time
            limits = replace(limits, **SMALL)
        return limits

    def sends_illegal_ops(self, settings: RunSettings) -> bool:
        """Illegal ops are part of the coverage where a fraction of the blocks has them."""
        return float(settings.options.get("illegal", ILLEGAL_FRACTION)) > 0

    def items(self) -> Iterator[DmaBlockItem]:
        """Yields block items with N ops in all, changing the memory profile on the way."""
        settings = self.run.settings
        options = settings.options
        illegal = float(options.get("illegal", ILLEGAL_FRACTION))
        faults = float(options.get("faults", FAULT_FRACTION))
        limits = self.constraints()
        legal = TrafficGenerator(settings.seed, settings.ops, limits).blocks(settings.transactions)
        bad = IllegalGenerator(settings.seed + 1, settings.ops, limits).blocks(
            settings.transactions
        )
        left, number = settings.transactions, 0
        while left > 0 and not self.run.aborted:
            with self.run.stopwatch.phase("generate"):
                if number % PROFILE_BLOCKS == 0:
                    self.apply_profile(self.random_profile())
                number += 1
                chance = float(self.rng.random())
                isolated = chance < illegal
                block = next(bad if isolated else legal)
                if len(block) > left:
                    block = block.take(0, left)
                faulty = not isolated and chance > 1.0 - faults
                fault = self.draw_fault(block) if faulty else None
                item = DmaBlockItem(block, fault=fault, isolated=isolated)
            left -= len(block)
            yield item

    def draw_fault(self, block: OpBlock) -> Fault | None:
        """Draws an error inside what one op of the block touches; None when no op moves bytes."""
        desc = unpack(block.pack()[int(self.rng.integers(len(block)))])
        if desc.is_nop or first_d_violation(desc):
            return None
        read = [source(desc)]
        if isinstance(desc, FixDescriptor):
            read += parameters(desc)
        side = read if self.rng.random() < 0.5 else list(destinations(desc))
        region = side[int(self.rng.integers(len(side)))]
        kind = FaultKind.LOCAL
        if region.space is Space.GM:
            kind = FaultKind(int(self.rng.integers(2)))
        return Fault(region.space, self._byte_of(region), kind)

    def _byte_of(self, region: Footprint) -> int:
        starts = region.row_starts()
        start = int(starts[int(self.rng.integers(len(starts)))])
        return start + int(self.rng.integers(region.length))


@pyuvm.test()
class IllegalDmaTest(RandomDmaTest):
    """Every D rule broken in many ways, legal ops between them."""

    def items(self) -> Iterator[DmaBlockItem]:
        """Yields blocks with N ops in all, about half of them illegal."""
        settings = self.run.settings
        blocks = IllegalGenerator(settings.seed, settings.ops, self.constraints())
        for number, block in enumerate(blocks.blocks(settings.transactions)):
            if self.run.aborted:
                return
            if number % PROFILE_BLOCKS == 0:
                self.apply_profile(self.random_profile())
            yield DmaBlockItem(block, isolated=True)


@pyuvm.test()
class CornerDmaTest(RandomDmaTest):
    """Hand-picked corners, each under several memory profiles in turn."""

    def items(self) -> Iterator[DmaBlockItem]:
        """Yields the corner blocks."""
        settings = self.run.settings
        for number, block in enumerate(corner_blocks(settings.gm_width // 8, settings.ops)):
            if self.run.aborted:
                return
            if number % PROFILE_BLOCKS == 0:
                self.apply_profile(self.random_profile())
            yield DmaBlockItem(block, isolated=True)


@pyuvm.test()
class DirectedDmaTest(PtoTestBase):
    """The worked examples of the ISA documents: every form, its image and its CRC-32."""

    async def stimulate(self) -> None:
        """Runs each form of each example on fresh memories, then the rule examples."""
        served = {LEGACY_FORMS.get(name, name) for name in self.run.settings.ops}
        for example in EXAMPLES:
            if not op_names(example) <= served:
                continue
            images = {}
            for form, ops in example.forms.items():
                self._restart(example)
                await self._send(program_blocks(ops))
                images[form] = b""
                for image in example.images:
                    data = self.run.memory.view(image.space)[: image.length]
                    images[form] += data.tobytes()
                    if not image.matches(data):
                        where = f"{example.name}, {form}, {image.space.name}"
                        self.run.fail(f"MISMATCH: example {where}: wrong CRC-32")
            if len(set(images.values())) > 1:
                self.run.fail(f"MISMATCH: example {example.name}: its forms give unlike images")
        await self._send(rule_blocks(served))

    async def _send(self, blocks: list[OpBlock]) -> None:
        items = [DmaBlockItem(block) for block in blocks]
        await DmaItemSeq(iter(items)).start(self.env.sequencer)

    def _restart(self, example: Example) -> None:
        scoreboard = self.env.scoreboard
        scoreboard.compare_everything()
        for space, byte in example.backgrounds.items():
            self.run.memory.set_background(space, byte)
        scoreboard.restart()
        for fill in example.fills:
            data = example.initial(fill.space, fill.start, fill.length)
            scoreboard.poke(fill.space, fill.start, data.tobytes())


@pyuvm.test()
class PinLevelDmaTest(RandomDmaTest):
    """Random traffic with the descriptor pins driven by Python: the mailbox has a second judge."""

    def configure(self) -> None:
        """Puts the pin driver where the environment asks for a mailbox driver."""
        uvm_factory().set_type_override_by_type(MailboxDriver, PinDriver)


@pyuvm.test()
class ResetDmaTest(RandomDmaTest):
    """Resets in the middle of blocks: queued work is forgotten, and the next block is right."""

    async def stimulate(self) -> None:
        """Cuts one block off for each that it lets finish."""
        settings = self.run.settings
        limits = self.constraints()
        blocks = TrafficGenerator(settings.seed, settings.ops, limits).blocks(settings.transactions)
        scoreboard = self.env.scoreboard
        for cut in blocks:
            self.apply_profile(self.random_profile())
            await self.env.dispatcher.abandon(cut, int(self.rng.integers(1, LONGEST_CUT)))
            scoreboard.adopt_block(cut)
            scoreboard.compare_everything()
            block = next(blocks, None)
            if block is not None and not self.run.aborted:
                await DmaItemSeq([DmaBlockItem(block)]).start(self.env.sequencer)
