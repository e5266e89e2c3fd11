# SPDX-License-Identifier: Apache-2.0
"""Tests of the plan with engines of few capabilities, and a check of every block that is sent."""

from __future__ import annotations

from typing import Any

import pyuvm
from pyuvm import uvm_factory

from tb.dut.manifest import Capabilities
from tb.env.base_test import Dispatcher
from tb.env.tests.directed import DirectedTest
from tb.env.tests.stress import StressTest
from tb.env.tests.traffic import CornerTest, IllegalTest, RandomTest
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma.op import DmaOp
from tb.isa.fix.op import FixOp
from tb.isa.ops import OPS
from tb.isa.rules import d_predicates


def _rules(slot: str) -> tuple[str, ...]:
    names = {rule for op in OPS.values() if op.slot == slot for rule in op.rule_names}
    return tuple(sorted(names))


LIMITED: dict[str, Capabilities] = {
    "mte1": Capabilities(ops=("mte_l1_ub", "mte_l1_bt"), d_rules=_rules("mte1"), loops=0),
    "mte2": Capabilities(
        ops=("mte_gm_ub", "mte_gm_l1", "mte_gm_l1_frac"),
        d_rules=("DMA-L05", "DMA-L07"),
        loops=1,
        pad=False,
        legacy=False,
        errors=("read",),
    ),
    "mte3": Capabilities(
        ops=("mte_ub_gm", "mte_ub_ub", "mte_ub_l1"), d_rules=_rules("mte3"), loops=2, errors=()
    ),
    "fix": Capabilities(
        ops=("mte_l1_fb", "mte_l0c_gm", "mte_l0c_ub"), loops=0, errors=("local", "write")
    ),
}
"""Capabilities declared for the reference engines."""


class ExcludedError(Exception):
    """An op that an engine does not take was sent to it."""


def check_block(block: OpBlock) -> None:
    """Raises ExcludedError unless every op keeps to ``LIMITED``, by its packed words."""
    for at, words in enumerate(block.pack()):
        desc = unpack(words)
        can = LIMITED[desc.spec.slot]
        if desc.spec.name not in can.ops:
            raise ExcludedError(f"op: {desc}")
        if at in block.legacy and not can.legacy:
            raise ExcludedError(f"legacy: {desc}")
        if isinstance(desc, DmaOp) and len(desc.loops) > can.loops:
            raise ExcludedError(f"loops: {desc}")
        if isinstance(desc, FixOp) and desc.loop3_en > can.loops:
            raise ExcludedError(f"loops: {desc}")
        if isinstance(desc, DmaOp) and desc.padded and not can.pad:
            raise ExcludedError(f"pad: {desc}")
        broken = {rule.name for rule, holds in d_predicates(desc).items() if holds(desc)}
        if not broken <= set(can.d_rules):
            raise ExcludedError(f"rules: {sorted(broken)} of {desc}")


class Judge(Dispatcher):
    """Checks each block as it is sent."""

    def _split(self, block: OpBlock) -> Any:
        check_block(block)
        return super()._split(block)


class _Judged(RandomTest):
    def configure(self) -> None:
        super().configure()
        uvm_factory().set_type_override_by_type(Dispatcher, Judge)


@pyuvm.test()
class LimitedRandomTest(_Judged):
    pass


@pyuvm.test()
class LimitedIllegalTest(_Judged, IllegalTest):
    pass


@pyuvm.test()
class LimitedCornerTest(_Judged, CornerTest):
    pass


@pyuvm.test()
class LimitedStressTest(_Judged, StressTest):
    pass


@pyuvm.test()
class LimitedDirectedTest(DirectedTest):
    def configure(self) -> None:
        super().configure()
        uvm_factory().set_type_override_by_type(Dispatcher, Judge)
