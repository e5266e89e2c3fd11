# SPDX-License-Identifier: Apache-2.0
"""pyuvm tests of stress: errors of memories, resets, drawn knobs, and all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyuvm

from scoreboards.faults import Fault
from sequences.uvm import BlockItem
from tb.env.stress import draw_reset
from tb.env.tests.traffic import RandomTest
from tb.harness.items import Reset
from tb.harness.knobs import KnobProfile, draw_profile, paced
from tb.harness.layout import FAULTS
from tb.isa.block import OpBlock
from tb.record.settings import RunSettings

STREAMS = 0x5EED
"""Separates the random numbers of faults and resets from those of the ops."""


@pyuvm.test()
class StressTest(RandomTest):
    """All kinds of stress: drawn knobs, errors, illegal ops and resets among random legal ops.

    Options are fractions of the blocks: ``faults`` with armed errors, ``illegal`` of illegal ops,
    ``resets`` cut off by a reset; ``named`` of the changes of knobs to a named profile instead of a
    drawn one. Batches for one purpose come among them as in ``random``.
    """

    def build_phase(self) -> None:
        """Makes the generator of faults."""
        super().build_phase()
        settings = self.run.settings
        self.stress_rng = np.random.default_rng((settings.seed, STREAMS))
        self.fault_draw = self.draws_faults(self.stress_rng)

    def fraction(self, name: str) -> float:
        """Returns an option of the plan, 0 where it has none."""
        return float(self.run.settings.options.get(name, 0.0))

    def sends_illegal_ops(self, settings: RunSettings) -> bool:
        """Illegal ops are part of the coverage where a fraction of the blocks has them."""
        return float(settings.options.get("illegal", 0.0)) > 0

    def stresses(self, settings: RunSettings) -> Collection[str]:
        """Coverage groups of the options in use."""
        enabled = [name for name in ("faults", "resets") if settings.options.get(name, 0.0)]
        return ("knobs", *super().stresses(settings), *enabled)

    def random_profile(self) -> KnobProfile:
        """Draws every knob, or selects one of the named profiles."""
        if self.stress_rng.random() < self.fraction("named"):
            return super().random_profile()
        return draw_profile(self.stress_rng)

    def items(self) -> Iterator[BlockItem]:
        """Yields blocks with N ops in all; the knobs change with each block but for a few."""
        settings = self.run.settings
        illegal = self.fraction("illegal")
        if not self.limits.reports_rules(settings.ops):
            illegal = 0.0
        legal, bad = self.legal_blocks(), self.illegal_blocks(settings.seed + 1)
        left, rng = settings.transactions, self.stress_rng
        profile = None
        while left > 0 and not self.run.aborted:
            with self.run.stopwatch.phase("generate"):
                if profile is None or rng.random() < 0.5:
                    profile = self.random_profile()
                    self.apply_profile(profile)
                isolated = bool(rng.random() < illegal)
                block = next(bad if isolated else legal)
                if len(block) > left:
                    block = block.take(0, left)
                block = paced(block, profile.pace)
                item = BlockItem(
                    block, faults=self.faults(block), reset=self.reset_of(), isolated=isolated
                )
            left -= len(block)
            yield item

    def faults(self, block: OpBlock) -> list[Fault]:
        """Draws the errors of a block: none, one, or up to all that the harness can hold."""
        rng = self.stress_rng
        if rng.random() >= self.fraction("faults"):
            return []
        return self.fault_draw.draw(block, int(rng.integers(1, FAULTS + 1)))

    def reset_of(self) -> Reset | None:
        """Draws whether and when a block is reset."""
        rng = self.stress_rng
        return draw_reset(rng) if rng.random() < self.fraction("resets") else None
