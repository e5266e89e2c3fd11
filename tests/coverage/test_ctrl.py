# SPDX-License-Identifier: Apache-2.0
"""Saturation and atomics of write-backs, from a clause or from CTRL."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
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
from tests.coverage.counting import hits

NOSAT, KEEP = 1 << 48, 1 << 50
COPY = MteL0cGm(0, 0, 4, 16, 16, 32)
HALF = replace(
    COPY, dst_type=Ptr("f16", "gm"), pre_quant=PreQuant("f32_f16", Scalar("f32", 0))
)  # fmt: skip


def covered(op: MteL0cGm, *writes: CtrlOp, events: int = 0, rule: int = 0) -> FunctionalCoverage:
    """Returns the coverage of an op after writes of CTRL, which is restored after it."""
    ctrl = 0
    for write in writes:
        ctrl = write_ctrl(write, ctrl)
    legacy = {0: (*writes, op, SetCtrl(0))} if writes else {}
    block = from_descriptors([lower(op, ctrl)], legacy=legacy, expected_rule=[rule])
    coverage = FunctionalCoverage(illegal=True)
    coverage.sample(block, None, np.array([events]))
    coverage.flush()
    assert coverage.impossible == []
    return coverage


def bins(op: MteL0cGm, *writes: CtrlOp, events: int = 0) -> dict[str, str]:
    """Returns point or cross to the bin of an op after writes of CTRL."""
    found: dict[str, str] = {}
    coverage = covered(op, *writes, events=events)
    for group in (NAME, "mte_l0c_gm"):
        counts = coverage.groups[group]
        found |= {name: next(iter(hits(counts, name)), "") for name in counts.hits}
    return {name: label for name, label in found.items() if label}


@pytest.mark.long
def test_source_of_the_saturation() -> None:
    assert bins(COPY)["sat_source"] == "CTRL 0, 0"
    assert bins(replace(COPY, sat="nosat"))["sat_source"] == "nosat"
    assert bins(replace(COPY, sat="preserve_nan"))["sat_source"] == "sat(preserve_nan)"
    for value, want in ((KEEP, "0, 1"), (NOSAT, "1, 0"), (NOSAT | KEEP, "1, 1")):
        found = bins(HALF, SetCtrl(value))
        assert found["sat_source"] == f"CTRL {want}"
        assert (found["set_ctrl"], found["restored"]) == ("yes", "yes")
        clause = bins(replace(HALF, sat="sat"), SetCtrl(value))
        assert (clause["sat_source"], clause["sat_under"]) == ("sat", want)
        assert clause["sat_clause x sat_under"] == f"sat_clause=sat x sat_under={want}"
    assert bins(COPY)["set_ctrl"] == bins(COPY)["restored"] == "no"


def test_a_write_of_ctrl_is_no_legacy_form() -> None:
    found = bins(COPY, SetCtrl(NOSAT))
    assert found["op"] == "mte_l0c_gm"
    assert found["nop"] == "live"


@pytest.mark.long
def test_source_of_the_atomic() -> None:
    assert bins(COPY)["atomic_source"] == "none"
    clause = replace(COPY, atomic=Atomic("f32", "add"))
    assert bins(clause)["atomic_source"] == "clause"
    found = bins(COPY, SetAtomic("f32"), SetAtomic("max"))
    assert (found["atomic_source"], found["atomic_ctrl"]) == ("CTRL", "f32 max")
    assert found["atomic"] == "f32 max"
    assert (found["set_atomic_type"], found["set_atomic_op"]) == ("yes", "yes")
    found = bins(COPY, SetAtomic("f32"), SetAtomic("min"), SetAtomic("none"))
    assert (found["atomic_source"], found["atomic_idle"]) == ("none", "2")
    assert found["set_atomic_none"] == "yes"
    assert "atomic_ctrl" not in found
    assert bins(COPY, SetCtrl(3 << 9))["atomic_idle"] == "3"
    assert bins(clause, SetAtomic("f32"))["atomic_under"] == "same type"
    assert bins(clause, SetAtomic("s8"))["atomic_under"] == "other type"
    assert bins(clause, SetCtrl(NOSAT))["atomic_under"] == "off"


@pytest.mark.long
def test_every_type_and_op_of_ctrl() -> None:
    labels = FunctionalCoverage().groups["mte_l0c_gm"].group.by_name["atomic_ctrl"].labels
    assert len(labels) == len(ATOMIC_TYPES) * len(ATOMIC_OPS)
    found = bins(HALF, SetCtrl(ATOMIC_TYPES["f16"] << 6 | ATOMIC_OPS["min"] << 9))
    assert found["atomic_ctrl"] == "f16 min"


@pytest.mark.long
def test_bit_48_of_f16_updates() -> None:
    events = FixEvent.ATOMIC_NAN | FixEvent.ATOMIC_INF | FixEvent.ATOMIC_OVERFLOW
    for op, sat, want in (("add", "", "add c48 0"), ("max", "nosat", "max c48 1")):
        found = bins(replace(HALF, sat=sat, atomic=Atomic("f16", op)), events=int(events))
        assert (found["f16_nan"], found["f16_inf"]) == (want, want)
        assert found.get("f16_overflow") == (want if op == "add" else None)
    assert "f16_nan" not in bins(replace(COPY, atomic=Atomic("f32", "add")), events=int(events))


@pytest.mark.long
def test_codes_without_a_meaning() -> None:
    want = {"form=mte_l0c_gm x rule=FIX-L26": 1}
    for ctrl in (7 << 6, 1 << 6 | 3 << 9):
        rules = covered(COPY, SetCtrl(ctrl), rule=26).groups["rules"]
        assert hits(rules, "form x rule") == want
