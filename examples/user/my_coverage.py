# SPDX-License-Identifier: Apache-2.0
"""A user's coverage group: row lengths of interest to one DUT, and their slots."""

import numpy as np
import pyuvm

from tb.coverage.model import Cross
from tb.coverage.points import Group, codes, ranges
from tb.coverage.view import Bools, Part
from tb.env.tests.traffic import RandomTest
from tb.isa.ops import SLOTS


class Rows(Part):
    """Legal ops of every form, the input of the points below."""

    @property
    def live(self) -> Bools:
        """Copies of rows with at least one byte."""
        return self["len"] > 0


ROWS = Group(
    "my_rows",
    [
        ranges("length", (1, 60, 64, 68, 1500), lambda rows: rows["len"], "bytes in a row"),
        codes("slot", SLOTS, lambda rows: rows.slot, "slot of the op"),
        codes(
            "odd", ["even", "odd"], lambda rows: np.bitwise_and(rows["len"], 1), "last bit of it"
        ),
    ],
    (Cross("length x odd", ("length", "odd")),),
    Rows,
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
