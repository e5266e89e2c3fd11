# SPDX-License-Identifier: Apache-2.0
"""Saturation and atomics of write-backs, from a clause or from CTRL."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from tb.coverage.fix.path import NAME
from tb.coverage.functional import FunctionalCoverage
from tb.isa.block import from_descriptors
from tb.isa.ctrl import CtrlOp, SetAtomic, SetCtrl, write_ctrl
from tb.isa.dtypes import Ptr
from tb.isa.events import FixEvent
from tb.isa.fix.op import Atomic, MteL0cGm, PreQuant, Scalar
from tb.isa.fix.table import ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.lower import lower
from tests.coverage.counting import bins, cover, hits

NOSAT, KEEP = 1 << 48, 1 << 50
COPY = MteL0cGm(0, 0, 4, 16, 16, 32)
HALF = replace(
    COPY, dst_type=Ptr("f16", "gm"), pre_quant=PreQuant("f32_f16", Scalar("f32", 0))
)  # fmt: skip
SUM = replace(COPY, atomic=Atomic("f32", "add"))
ADDED = replace(HALF, atomic=Atomic("f16", "add"))
LARGEST = replace(HALF, sat="nosat", atomic=Atomic("f16", "max"))
UPDATED = FixEvent.ATOMIC_NAN | FixEvent.ATOMIC_INF | FixEvent.ATOMIC_OVERFLOW


class Written(NamedTuple):
    """A write-back after writes of CTRL, points that do not count it, and point to its bin."""

    op: MteL0cGm
    writes: tuple[CtrlOp, ...]
    without: str
    event: int
    want: dict[str, str]


def made(
    op: MteL0cGm, /, *writes: CtrlOp, without: str = "", event: int = 0, **want: str
) -> Written:
    return Written(op, writes, without, event, want)


def covered(op: MteL0cGm, *writes: CtrlOp, event: int = 0, rule: int = 0) -> FunctionalCoverage:
    """Returns the coverage of an op after writes of CTRL, which is restored after it."""
    ctrl = 0
    for write in writes:
        ctrl = write_ctrl(write, ctrl)
    legacy = {0: (*writes, op, SetCtrl(0))} if writes else {}
    block = from_descriptors([lower(op, ctrl)], legacy=legacy, expected_rule=[rule])
    return cover(block, event, forms=("mte_l0c_gm",), illegal=True)


ROWS = [
    made(COPY, sat_source="CTRL 0, 0", set_ctrl="no", restored="no", atomic_source="none"),
    made(replace(COPY, sat="nosat"), sat_source="nosat"),
    made(replace(COPY, sat="preserve_nan"), sat_source="sat(preserve_nan)"),
    *[made(HALF, SetCtrl(value), sat_source=f"CTRL {under}", set_ctrl="yes", restored="yes")
      for value, under in ((KEEP, "0, 1"), (NOSAT, "1, 0"), (NOSAT | KEEP, "1, 1"))],
    *[Written(replace(HALF, sat="sat"), (SetCtrl(value),), "", 0, {
          "sat_source": "sat", "sat_under": under,
          "sat_clause x sat_under": f"sat_clause=sat x sat_under={under}"})
      for value, under in ((KEEP, "0, 1"), (NOSAT, "1, 0"), (NOSAT | KEEP, "1, 1"))],
    # A write of CTRL makes no legacy form of the op.
    made(COPY, SetCtrl(NOSAT), op="mte_l0c_gm", nop="live"),
    made(SUM, atomic_source="clause"),
    made(COPY, SetAtomic("f32"), SetAtomic("max"), atomic_source="CTRL", atomic_ctrl="f32 max",
         atomic="f32 max", set_atomic_type="yes", set_atomic_op="yes"),
    made(COPY, SetAtomic("f32"), SetAtomic("min"), SetAtomic("none"), without="atomic_ctrl",
         atomic_source="none", atomic_idle="2", set_atomic_none="yes"),
    made(COPY, SetCtrl(3 << 9), atomic_idle="3"),
    made(SUM, SetAtomic("f32"), atomic_under="same type"),
    made(SUM, SetAtomic("s8"), atomic_under="other type"),
    made(SUM, SetCtrl(NOSAT), atomic_under="off"),
    made(HALF, SetCtrl(ATOMIC_TYPES["f16"] << 6 | ATOMIC_OPS["min"] << 9), atomic_ctrl="f16 min"),
    # Bit 48 of updates of f16.
    made(ADDED, event=UPDATED, f16_nan="add c48 0", f16_inf="add c48 0", f16_overflow="add c48 0"),
    made(LARGEST, event=UPDATED, without="f16_overflow",
         f16_nan="max c48 1", f16_inf="max c48 1"),
    made(SUM, event=UPDATED, without="f16_nan"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_bins_of_an_op(row: Written) -> None:
    coverage = covered(row.op, *row.writes, event=row.event)
    found = bins(coverage.groups[NAME]) | bins(coverage.groups["mte_l0c_gm"])
    assert {name: found.get(name) for name in row.want} == row.want
    assert not found.keys() & set(row.without.split())


def test_every_type_and_op_of_ctrl() -> None:
    group = FunctionalCoverage(forms=("mte_l0c_gm",)).groups["mte_l0c_gm"].group
    assert len(group.by_name["atomic_ctrl"].labels) == len(ATOMIC_TYPES) * len(ATOMIC_OPS)


@pytest.mark.parametrize("ctrl", [7 << 6, 1 << 6 | 3 << 9])
def test_codes_without_a_meaning(ctrl: int) -> None:
    rules = covered(COPY, SetCtrl(ctrl), rule=26).groups["rules"]
    assert hits(rules, "form x rule") == {"form=mte_l0c_gm x rule=FIX-L26": 1}
