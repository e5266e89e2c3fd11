# SPDX-License-Identifier: Apache-2.0
"""A user's coverage group: row lengths of interest to one DUT, and their slots."""

import pyuvm

from tb.coverage.model import crossed
from tb.coverage.points import Group, codes, ranges
from tb.env.tests.traffic import RandomTest
from tb.isa.ops import SLOTS

ROWS = Group(
    "my_rows",
    [
        ranges("length", (1, 60, 64, 68, 1500), "len", "bytes in a row"),
        codes("slot", SLOTS, "slot", "slot of the op"),
        codes("odd", ["even", "odd"], lambda ops: ops.len & 1, "last bit of it"),
    ],
    (crossed("length x odd"),),
    {"live": lambda ops: ops.len > 0},  # the ops that count: legal ones of rows with bytes
    "Row lengths around a packet.",
)


@pyuvm.test()
class RowsTest(RandomTest):
    """The random test of the plan, with the group in its table and record."""

    transactions = 1000

    def configure(self) -> None:
        """Adds the group to the coverage of the run."""
        super().configure()
        self.run.coverage.add(ROWS)
