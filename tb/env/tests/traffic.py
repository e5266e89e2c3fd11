# SPDX-License-Identifier: Apache-2.0
"""pyuvm tests of the data-movement ops; ``tb/run/testlist.toml`` names them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
import pyuvm
from pyuvm import uvm_factory

from sequences.constraints import OpConstraints, SizeClass
from sequences.corner.blocks import corner_blocks
from sequences.draw.special_data import special_fills
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from sequences.uvm import BlockItem
from tb.env.agent import MailboxDriver
from tb.env.base_test import PtoTestBase
from tb.env.batches import KINDS, BatchDraw, Special
from tb.env.pins import PinDriver
from tb.env.stress import FaultDraw
from tb.isa.block import OpBlock
from tb.isa.burst.table import BURSTS
from tb.isa.op import replace
from tb.record.settings import RunSettings

PROFILE_BLOCKS = 2
"""Blocks between two changes of the memory profile."""

_BIASES = {name for name, row in BURSTS.items() if row.destination == "bt"}

ILLEGAL_FRACTION = 0.05
FAULT_FRACTION = 0.05
"""Fractions of the blocks of a mixed run, unless the plan gives others."""

SHORT, GROUP, GROUP_BLOCKS = 5000, 4, 4
"""Transactions below which a mixed run draws illegal ops of a few forms at a time, these forms, and
blocks of them until the next ones."""

MANY_FAULTS = 0.3
"""Fraction of the blocks with errors from which on other batches have errors, too."""

SMALL: dict[str, Any] = {
    "block_ops": 8,
    "saturate": 0.0,
    "sizes": (SizeClass(1, 64, 0.3), SizeClass(65, 512, 0.4), SizeClass(513, 4096, 0.3)),
    "max_bytes": 8192,
    "max_rows": 64,
    "big_nz": 0.0,
    "big_tile": 0.0,
}
"""Constraints of random ops where the GM is in Python."""


@pyuvm.test()
class RandomTest(PtoTestBase):
    """Random blocks; options are fractions of the blocks.

    ``illegal`` and ``faults`` are of these; batches of the kinds :data:`KINDS` come among them.

    Attributes:
        factors: Illegal ops of each form with high bits among small operands, at most.
    """

    factors = 0

    def build_phase(self) -> None:
        """Makes the generator of memory errors."""
        super().build_phase()
        self.fault_draw = self.draws_faults(self.rng)

    def draws_faults(self, rng: np.random.Generator) -> FaultDraw:
        """Returns the generator of errors that the engines survive by their manifests."""
        return FaultDraw(rng, self.limits.survives, self.run.faults_left_out)

    def prepare_memory(self) -> None:
        """Writes floats of every class among the random bytes, where bias loads are sent."""
        super().prepare_memory()
        self.env.scoreboard.forgets = self.run.settings.gm != "cocotbext"
        if _BIASES & set(self.run.settings.ops):
            for fill in special_fills(self.run.settings.seed):
                self.env.scoreboard.poke(fill.space, fill.start, fill.data.tobytes())

    async def stimulate(self) -> None:
        """Sends N transactions."""
        await self.send_items(self.with_special(self.items()))

    def stresses(self, settings: RunSettings) -> Collection[str]:
        """Full queues are part of the coverage where a fraction of the blocks fills them."""
        return ("queues",) if settings.options.get("queues", 0.0) else ()

    def special(self) -> list[BatchDraw]:
        """Returns the kinds of batches for one purpose that the options of the test name."""
        settings = self.run.settings
        found: list[BatchDraw] = []
        if settings.gm == "cocotbext":  # each clock costs Python time
            return found
        with_errors = float(settings.options.get("faults", FAULT_FRACTION)) >= MANY_FAULTS
        for name, kind in KINDS.items():
            fraction = float(settings.options.get(name, 0.0))
            if not fraction:
                continue
            rng = np.random.default_rng((settings.seed, kind.stream, 1))
            faults = self.draws_faults(rng) if with_errors or kind.of_errors else None
            found.append(kind(settings.seed, settings.ops, self.narrowed(), fraction, faults))
        return found

    def with_special(self, items: Iterator[BlockItem]) -> Iterator[BlockItem]:
        """Yields items and batches of :meth:`special` among them; N ops in all."""
        kinds = self.special()
        if not kinds:  # tests of fixed length have no N
            yield from items
            return
        self.left = self.run.settings.transactions
        for item in items:
            for kind in kinds:
                if kind.due():
                    yield from self._special(kind)
            if len(item.block) > self.left:
                item.block = item.block.take(0, self.left)
            self.left -= len(item.block)
            yield item
            if not self.left:
                return

    def _special(self, kind: BatchDraw) -> Iterator[BlockItem]:
        """Yields a batch of a kind and those that follow from it; one op is left over."""
        with self.run.stopwatch.phase("generate"):
            special: Special | None = kind.draw()
        usual = self.run.profile
        while special is not None and self.left > 1:
            block = self.filter_chain().select(special.block)
            block = block.take(0, min(len(block), self.left - 1))
            self.left -= len(block)
            self.apply_profile(special.profile)
            yield BlockItem(block, faults=special.faults, reset=special.reset)
            special = kind.follow(replace(special, block=block), self.env.dispatcher)
        if usual:
            self.apply_profile(usual)

    def constraints(self) -> OpConstraints:
        """Returns the constraints of the random ops; small blocks do not saturate queues."""
        settings = self.run.settings
        limits = super().constraints()
        if "block_ops" in settings.options:
            limits = replace(limits, block_ops=int(settings.options["block_ops"]), saturate=0.0)
        if settings.gm == "cocotbext":  # each clock costs Python time
            limits = replace(limits, **SMALL)
        return limits

    def sends_illegal_ops(self, settings: RunSettings) -> bool:
        """Illegal ops are part of the coverage where a fraction of the blocks has them."""
        return float(settings.options.get("illegal", ILLEGAL_FRACTION)) > 0

    def legal_blocks(self) -> Iterator[OpBlock]:
        """Yields blocks of N random legal ops that may be sent."""
        settings = self.run.settings
        source = TrafficGenerator(settings.seed, settings.ops, self.narrowed())
        return self.filter_chain().blocks(source.blocks, settings.transactions)

    def illegal_blocks(
        self, seed: int | np.random.Generator, cases: Sequence[str] = ()
    ) -> Iterator[OpBlock]:
        """Yields blocks of N ops that may be sent, most of them illegal, of all forms or some."""
        settings = self.run.settings
        ops = settings.ops
        shapes, reports = self.limits.shapes(ops), self.limits.reports(ops)
        self.illegal = source = IllegalGenerator(
            seed, ops, self.narrowed(), shapes, reports, self.factors, cases
        )
        return self.filter_chain().blocks(source.blocks, settings.transactions, isolated=True)

    def illegal_in_groups(self, seed: int) -> Iterator[OpBlock]:
        """Yields the same, in a short run some blocks of a few forms in turn.

        A generator searches all cases of its forms before the first block: of all forms that takes
        longer than the rest of a short run, which sends few of them.
        """
        forms, going = list(self.run.settings.ops), list[Iterator[OpBlock]]()
        if self.run.settings.transactions >= SHORT or len(forms) <= GROUP:
            yield from self.illegal_blocks(seed)
            return
        rng = np.random.default_rng(seed)
        rng.shuffle(forms)
        for first in range(0, len(forms), GROUP):
            going.append(self.illegal_blocks(rng.spawn(1)[0], forms[first : first + GROUP]))
            yield from islice(going[-1], GROUP_BLOCKS)
        for blocks in cycle(going):
            yield from islice(blocks, GROUP_BLOCKS)

    def items(self) -> Iterator[BlockItem]:
        """Yields block items with N ops in all, and changes the memory profile between blocks."""
        settings = self.run.settings
        options = settings.options
        illegal = float(options.get("illegal", ILLEGAL_FRACTION))
        if not self.limits.reports_rules(settings.ops):
            illegal = 0.0
        faults = float(options.get("faults", FAULT_FRACTION))
        legal, bad = self.legal_blocks(), self.illegal_in_groups(settings.seed + 1)
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
                found = self.fault_draw.draw(block, 1) if faulty else ()
                item = BlockItem(block, faults=found, isolated=isolated)
            left -= len(block)
            yield item


@pyuvm.test()
class IllegalTest(RandomTest):
    """Every D rule broken in many ways, legal ops between them."""

    factors = 900

    def items(self) -> Iterator[BlockItem]:
        """Yields blocks with N ops in all, most of them illegal."""
        settings = self.run.settings
        sent = False
        for number, block in enumerate(self.illegal_blocks(settings.seed)):
            if self.run.aborted:
                return
            sent |= block.expected_rule is not None and bool(block.expected_rule.any())
            if number % PROFILE_BLOCKS == 0:
                self.apply_profile(self.random_profile())
            yield BlockItem(block, isolated=True)
        unsent = self.illegal.unsent()
        if unsent:
            forms = ", ".join(f"{form} {count}" for form, count in unsent.most_common())
            self.run.notes.append(
                f"illegal ops, {unsent.total()} of {self.illegal.made}: N is too small ({forms})"
            )
        if not sent:
            self.run.counts.caveat = "none of them illegal (see left out)"
        if not self.limits.reports_rules(settings.ops):
            self.run.counts.caveat = "none of them illegal (d_rules of the manifest has no rule)"
            self.run.notes.append(
                "illegal ops, all: list in d_rules of the manifest the D rules that the engine "
                "reports (docs/plug-in.md)"
            )


@pyuvm.test()
class CornerTest(RandomTest):
    """Hand-picked corners, each under several memory profiles in turn."""

    def items(self) -> Iterator[BlockItem]:
        """Yields the corner blocks."""
        settings = self.run.settings
        for number, block in enumerate(corner_blocks(settings.gm_width // 8, settings.ops)):
            if self.run.aborted:
                return
            if number % PROFILE_BLOCKS == 0:
                self.apply_profile(self.random_profile())
            yield BlockItem(block, isolated=True)


@pyuvm.test()
class PinLevelTest(RandomTest):
    """Random traffic with the descriptor pins driven by Python instead of the mailbox."""

    def configure(self) -> None:
        """Overrides the mailbox driver with the pin driver."""
        uvm_factory().set_type_override_by_type(MailboxDriver, PinDriver)
