# SPDX-License-Identifier: Apache-2.0
"""Lowered ops are cached, registers are sampled, the garbage collector pauses."""

from __future__ import annotations

import gc

import pytest

from tb.common.errors import PtoError
from tb.isa.dma.legacy import DmaRegisters, SetLoopSize, SetLoopStride
from tb.isa.dma.op import MteGmUb
from tb.language.collector import collector_off
from tb.language.lowered import Lowering
from tb.language.reader import read
from tb.language.run.registers import RegisterState
from tb.language.run.walk import trace
from tb.language.trace import Move
from tb.language.unknown import UNKNOWN, UndecidedError

COPIES = """
func.func @k(%gm: !pto.ptr<i8, gm>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c32 = arith.constant 32 : i64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  %ub = pto.castptr %c0 : i64 -> !pto.ptr<i8, ub>
  scf.for %i = %i0 to %i2 step %i1 {
    pto.set_loop_size_ubtoout %c2, %c1 : i64, i64
    pto.copy_ubuf_to_gm %ub, %gm, %c0, %c1, %c32, %c0, %c32, %c32
      : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64
    pto.set_loop_size_ubtoout %c1, %c1 : i64, i64
    pto.copy_ubuf_to_gm %ub, %gm, %c0, %c1, %c32, %c0, %c32, %c32
      : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64
  }
  return
}
"""


@pytest.mark.parametrize("arguments", [{}, {0: 4096}])
def test_a_walk_samples_registers_once_and_shares_equal_ops(arguments: dict[int, int]) -> None:
    found = trace(read(COPIES, "x.pto"), arguments=arguments, static=True)
    copies = [x for x in found.steps if isinstance(x, Move) and x.registers is not None]
    counts = [step.lowering.registers.ubtoout.counts for step in copies]
    assert counts == [(2, 1), (1, 1)] * 2
    assert copies[0] is copies[2]
    assert copies[1] is copies[3]


def test_lowered_ops_are_cached() -> None:
    lowering = Lowering(MteGmUb(0, 8, 32, 1, 0, 0), DmaRegisters())
    assert lowering.descriptor is lowering.descriptor is not None
    assert [one.rule.name for one in lowering.broken] == ["DMA-L06"]
    assert lowering.broken is lowering.broken
    assert (lowering.refused, lowering.unknown, lowering.touches) == (True, False, ())
    legal = Lowering(MteGmUb(0, 0, 32, 1, 0, 0), DmaRegisters())
    assert len(legal.touches) == 2
    assert legal.touches is legal.touches


def test_a_broken_rule_refuses_an_op_with_unknown_operands() -> None:
    broken = Lowering(MteGmUb(UNKNOWN, 8, 32, 1, 0, 0), DmaRegisters())
    assert (broken.unknown, broken.refused, broken.touches) == (True, True, ())
    with pytest.raises(UndecidedError):
        _ = broken.broken
    legal = Lowering(MteGmUb(UNKNOWN, 0, 32, 1, 0, 0), DmaRegisters())
    assert [(each.space, write) for each, write in legal.touches] == [("ub0", True)]


def test_registers_that_are_equal_are_one_object() -> None:
    state = RegisterState()
    reset = state.now
    state.write(SetLoopSize("outtoub", 2, 3))
    twice = state.now
    state.write(SetLoopSize("outtoub", 1 << 21, 3))
    assert state.now is twice, "an operand that does not fit changes no register"
    state.write(SetLoopSize("outtoub", 1, 1))
    assert state.now is reset
    state.write(SetLoopStride("ubtoout", 1, UNKNOWN, 32))
    assert state.now.ubtoout.strides[0][1] == 32, "its known operands are kept"
    assert state.now.ubtoout.strides[0][0] is UNKNOWN


def test_the_collector_pauses_and_is_as_before() -> None:
    assert gc.isenabled()
    with collector_off():
        assert not gc.isenabled()
        with collector_off():
            pass
        assert not gc.isenabled(), "an inner pause does not end the outer one"
    assert gc.isenabled()
    with pytest.raises(PtoError):
        read("func.func", "x.pto")
    assert gc.isenabled()
