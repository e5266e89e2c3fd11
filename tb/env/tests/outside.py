# SPDX-License-Identifier: Apache-2.0
"""The pyuvm test of outside results: the engines against numbers of reference code of others."""

from __future__ import annotations

import pyuvm

from sequences.outside.case import Case
from sequences.outside.catalog import outside_cases
from tb.env.tests.directed import DirectedTest
from tb.isa.dma.legacy import LegacyCopy
from tb.isa.op import Op
from tb.isa.text import op_name
from tb.outside.verdict import Tally


def _names(case: Case) -> set[str]:
    """Returns the ops and legacy copies that a case issues."""
    return {op_name(op) for op in case.ops if isinstance(op, Op | LegacyCopy)}


@pyuvm.test()
class OutsideTest(DirectedTest):
    """Every row as ops: compared with the model as every op is, then with the bytes it states.

    A row may differ where the model gives its bytes under other values of knobs; then the engines
    must differ as the model does.
    """

    sends = tuple(sorted({name for case in outside_cases() for name in _names(case)}))

    async def stimulate(self) -> None:
        """Sends each case to fresh memories and judges its rows by the memories under test."""
        tally = Tally()
        for case in outside_cases():
            blocks = [] if case.refused else case.blocks()
            if not _names(case) <= set(self.run.settings.ops) or self.refuses(
                blocks, "an outside result"
            ):
                continue
            if case.ops:
                self.restart(case.backgrounds, case.fills)
                await self.send_blocks(blocks)
            for row in tally.add(case, self.run.memory.view if case.ops else None):
                self.run.fail(f"MISMATCH: outside result {row.name}: {row.why}; {row.text}")
            self.run.counts.outside = tally.groups
