# SPDX-License-Identifier: Apache-2.0
"""Legacy register form: registers, lowering, equality with v0.6 (docs/spec/README.md, 6)."""

from __future__ import annotations

import pytest

from tb.isa.descriptor import field_values
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacySet,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
    lower_copy,
    to_v06,
    write_registers,
    writes_between,
)
from tb.isa.dma.op import DmaLoop, Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.text import to_text

COPY_IN = CopyGmToUbuf(0x1001, 64, 0, 3, 40, 4, 8, 1, 2, 100, 96)
COPY_OUT = CopyUbufToGm(64, 0x1001, 0, 3, 40, 0, 100, 96)


def after(*ops: LegacySet) -> DmaRegisters:
    registers = DmaRegisters()
    for op in ops:
        registers = write_registers(op, registers)
    return registers


def test_reset_state() -> None:
    assert lower_copy(COPY_OUT, DmaRegisters()).loops == tuple(
        MteUbGm(0, 0, 1, 1, 0, 0, (Loop(1, 0, 0),) * 2).loops
    )
    assert DmaRegisters().pad_value == 0


def test_registers_persist_and_belong_to_their_direction() -> None:
    registers = after(
        SetLoopSize("outtoub", 4, 5),
        SetLoopStride("outtoub", 1, 1000, 2048),
        SetLoopStride("outtoub", 2, 1 << 39, 4096),
    )
    incoming, outgoing = lower_copy(COPY_IN, registers), lower_copy(COPY_OUT, registers)
    assert incoming.field_loops == (DmaLoop(4, 1000, 2048), DmaLoop(5, 1 << 39, 4096))
    assert [loop.count for loop in outgoing.field_loops] == [1, 1]
    # Those of a store name UB first.
    registers = after(SetLoopSize("ubtoout", 2, 3), SetLoopStride("ubtoout", 2, 64, 1 << 38))
    assert lower_copy(COPY_OUT, registers).field_loops[1] == DmaLoop(3, 1 << 38, 64)


@pytest.mark.parametrize(
    ("op", "fits"),
    [
        (SetLoopSize("outtoub", (1 << 21) - 1, 0), True),
        (SetLoopSize("outtoub", 1 << 21, 1), False),
        (SetLoopSize("ubtoout", 1, 1 << 21), False),
        (SetLoopStride("outtoub", 1, (1 << 40) - 1, (1 << 21) - 1), True),
        (SetLoopStride("outtoub", 1, 1 << 40, 0), False),
        (SetLoopStride("outtoub", 2, 0, 1 << 21), False),
        (SetLoopStride("ubtoout", 2, (1 << 21) - 1, (1 << 40) - 1), True),
        (SetLoopStride("ubtoout", 1, 1 << 21, 0), False),
        (SetLoopStride("ubtoout", 2, 0, 1 << 40), False),
        (SetMovPadVal("f32", (1 << 32) - 1), True),
        (SetMovPadVal("i8", 256), False),
        (SetMovPadVal("bf16", 1 << 16), False),
        (SetMovPadVal("f32", 1 << 32), False),
    ],
)
def test_an_operand_that_does_not_fit_changes_nothing(op: LegacySet, fits: bool) -> None:
    for before in (DmaRegisters(), after(SetLoopSize("outtoub", 7, 8), SetMovPadVal("i8", 9))):
        assert (write_registers(op, before) != before) == fits


def test_copy_uses_the_low_bytes_of_the_pad_register() -> None:
    registers = after(SetMovPadVal("i32", 0x12345678))
    assert lower_copy(COPY_IN, registers).pad_value == 0x78


def test_legacy_and_v06_lower_alike_but_for_the_pad_unit() -> None:
    registers = after(
        SetLoopSize("outtoub", 4, 5),
        SetLoopStride("outtoub", 1, 1000, 2048),
        SetMovPadVal("i8", 0x5A),
    )
    op = to_v06(COPY_IN, registers)
    assert op == MteGmUb(
        0x1001, 64, 40, 3, 100, 96, (Loop(4, 1000, 2048), Loop(5, 0, 0)), Pad("i8", 0x5A, 4, 8), 2
    )
    assert field_values(replace(lower_copy(COPY_IN, registers), pad_legacy=0)) == field_values(op)
    assert lower_copy(COPY_OUT, registers) == to_v06(COPY_OUT, registers)


def test_padding_bytes_that_are_no_elements_have_no_v06_form() -> None:
    copy = replace(COPY_IN, left_padding=3, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub"))
    with pytest.raises(ValueError, match="DMA-L09"):
        to_v06(copy, DmaRegisters())


def test_unknown_direction_is_named() -> None:
    with pytest.raises(ValueError, match="outtoub"):
        write_registers(SetLoopSize("sideways", 1, 1), DmaRegisters())


def test_writes_between_two_register_states() -> None:
    have = after(SetLoopSize("outtoub", 2, 3), SetMovPadVal("i8", 7))
    want = after(
        SetLoopStride("outtoub", 2, 64, 32),
        SetLoopSize("ubtoout", 4, 5),
        SetMovPadVal("f16", 0x3C00),
    )
    registers = have
    for op in writes_between(have, want):
        registers = write_registers(op, registers)
    assert registers == want
    assert writes_between(want, want) == ()
    assert writes_between(have, want, ("ubtoout",)) == (SetLoopSize("ubtoout", 4, 5),)


# --- PTO text of ops, as printed in logs; tests/language reads it back


def test_text_reads_like_the_documents() -> None:
    op = MteUbGm(32, 16, 40, 3, 64, 64)
    assert to_text(op) == (
        "pto.mte_ub_gm %ub_0x20, %gm_0x10, %c40_i64 nburst(%c3_i64, %c64_i64, %c64_i64) "
        ": !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64"
    )


NZ_TEXT = (
    "pto.mte_gm_l1_frac %gm_0x0, %l1_0x0, nd2nz, shape(%c32_i64, %c16_i64), "
    "src_layout(%c32_i64, %c1024_i64), dst_group(%c2_i64, %c1_i64, %c16_i64, %c64_i64), "
    "ctrl(%c0_i64, %false) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, "
    "src_layout(i64, i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
)


def test_repack_reads_like_the_documents() -> None:
    op = MteGmL1Frac(0, 0, "nd2nz", 32, 16, 32, 2, 1, 16, 64, 1024)
    assert to_text(op) == NZ_TEXT
    alone = NZ_TEXT.replace(", %c1024_i64", "").replace("src_layout(i64, i64)", "src_layout(i64)")
    assert to_text(replace(op, src_outer_stride=None)) == alone


def test_a_vector_core_is_named_after_its_op() -> None:
    op = replace(MteUbGm(32, 16, 40, 3, 64, 64), ub_sub=1)
    assert to_text(op).endswith(", i64 // ub_sub 1")


def test_operands_of_several_bits_are_integers() -> None:
    text = to_text(CopyGmToUbuf(5, 64, 0, 3, 40, 0, 0, 2, 3, 64, 96))
    assert ", %c2_i64, %c3_i64, %c64_i64, %c96_i64 : " in text
    assert "i1" not in text.partition(" : ")[2]
