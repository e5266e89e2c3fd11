# SPDX-License-Identifier: Apache-2.0
"""The pyuvm test of the worked examples, apart from the others: it takes a while to read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyuvm

from sequences.examples.blocks import named_rule_blocks, op_names, program_blocks
from sequences.examples.catalog import EXAMPLES
from sequences.examples.example import Data, Fill
from sequences.examples.long_rows import LONG_ROWS
from sequences.op_filter import forms
from sequences.uvm import BlockItem
from tb.dut.limits import capability_filters
from tb.env.base_test import PtoTestBase
from tb.isa.block import OpBlock
from tb.isa.ops import LEGACY_FORMS
from tb.isa.spaces import Space


@pyuvm.test()
class DirectedTest(PtoTestBase):
    """The worked examples of the ISA documents, every form with its CRC-32, and long rows."""

    async def stimulate(self) -> None:
        """Runs each form of each example on fresh memories, then the rule examples."""
        served = {LEGACY_FORMS.get(name, name) for name in self.run.settings.ops}
        for example in (*EXAMPLES, *LONG_ROWS):
            if not example.applies or not op_names(example) <= served:
                continue
            images = {}
            for form, ops in example.forms.items():
                blocks = program_blocks(ops)
                if self.refuses(blocks, "a worked example"):
                    continue
                self.restart(example.backgrounds, example.fills)
                before = self._wrong()
                await self.send_blocks(blocks)
                if self.run.aborted:
                    return  # memories of ops in flight are undefined
                images[form] = b""
                for image in example.images:
                    data = image.of(self.run.memory.view(image.space))
                    images[form] += data.tobytes()
                    if not image.matches(data):
                        where = f"{example.name}, {form}, {image.space.name}"
                        self.run.fail(f"MISMATCH: example {where}: wrong CRC-32")
                if self._wrong() == before:
                    self.run.counts.exercised[example.name] += 1
            if len(set(images.values())) > 1:
                self.run.fail(f"MISMATCH: example {example.name}: its forms give unlike images")
        for name, block in named_rule_blocks(served).items():
            sent, before = self.run.counts.transactions, self._wrong()
            await self.send_blocks([block])
            if self.run.counts.transactions > sent and self._wrong() == before:
                self.run.counts.exercised[f"rule check {name}"] += 1

    def refuses(self, blocks: list[OpBlock], what: str) -> bool:
        """Returns whether an op of a program may not be sent, and counts it as left out if so."""
        for op_filter in capability_filters(self.limits.capabilities):
            if all(op_filter(block).all() for block in blocks):
                continue
            why = f"{what} needs all of its ops; {op_filter.reason}"
            for block in blocks:
                self.run.left_out[why] += 1
                for name in forms(block, np.ones(len(block), dtype=bool)):
                    self.run.dropped.setdefault(name, why)
            return True
        return False

    def _wrong(self) -> int:
        """Returns how many failures there were so far."""
        return self.run.counts.mismatches + self.run.counts.protocol_errors

    async def send_blocks(self, blocks: list[OpBlock]) -> None:
        """Sends blocks one after the other."""
        items = [BlockItem(block) for block in blocks]
        await self.send_items(items)

    def restart(self, backgrounds: Mapping[Space, int], fills: Iterable[Fill | Data]) -> None:
        """Compares every byte, then gives all memories new contents."""
        scoreboard = self.env.scoreboard
        scoreboard.compare_everything()
        for space, byte in backgrounds.items():
            self.run.memory.set_background(space, byte)
        scoreboard.expected.restart()
        for fill in fills:
            scoreboard.poke(fill.space, fill.start, fill.content().tobytes())
