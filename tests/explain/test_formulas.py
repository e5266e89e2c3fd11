# SPDX-License-Identifier: Apache-2.0
"""The formulas of the op table, against the bytes that the ops read and write."""

from __future__ import annotations

import itertools
import re

import pytest

from tb.explain.command import op_table
from tb.explain.formulas import formulas
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbUb
from tb.isa.descriptor import field_values
from tb.isa.dma.op import Loop, MteGmUb, MteL1Ub, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import V06Op, lower
from tb.isa.ops import OPS

LOOPS = (Loop(2, 4096, 8192), Loop(3, 512, 1024))
MOVES: tuple[V06Op, ...] = (
    MteGmUb(1000, 64, 20, 3, 50, 64, LOOPS),
    MteUbGm(64, 1000, 20, 3, 32, 70, LOOPS),
    MteL1Ub(64, 128, 2, 3, 1, 4, LOOPS),
    MteUbUb(64, 4096, 2, 3, 1, 4),
    MteL1Bt(64, 128, 3, 4, 1, 5, Ptr("f16", "l1"), Ptr("f32", "bt")),
    MteL1Fb(64, 128, 3, 4, 1, 5),
)


@pytest.mark.parametrize("op", MOVES, ids=lambda op: op.spec.name)
def test_formulas_of_moves_give_their_rows(op: V06Op) -> None:
    desc = lower(op)
    values = {**field_values(desc), "size": 2}
    read, written = formulas(op.spec)
    length, start = re.search(r"(\S+) B from (.*)", read).groups()  # type: ignore[union-attr]
    to = written.removeprefix("to ").partition(", ")[0]
    counts = [range(max(1, values.get(f"loop{k}_count", 1))) for k in range(3)]
    steps = itertools.product(range(values["n_burst"]), *counts)
    rows = [dict(zip(("j", "i0", "i1", "i2"), step, strict=True)) for step in steps]

    def starts(formula: str) -> list[int]:
        return sorted(eval(formula, {**values, **row}) for row in rows)

    def of(region: Footprint) -> list[int]:
        return sorted(region.row_starts().tolist())

    assert starts(start) == of(source(desc))
    assert starts(to) == of(destination(desc))
    assert eval(length, dict(values)) == source(desc).length


def test_the_op_table_has_the_formulas_of_each_op() -> None:
    parts = op_table().split("\n## `")
    for spec in OPS.values():
        (part,) = (part for part in parts if part.startswith(f"{spec.name}`"))
        assert formulas(spec)
        assert all(f"\n    {line}\n" in part for line in formulas(spec))
