# SPDX-License-Identifier: Apache-2.0
"""Text of an op becomes an op of :mod:`tb.isa` with every operand in its field."""

from __future__ import annotations

from typing import Any

import pytest

from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.ctrl import ATOMIC_WORDS, SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
)
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.pipes import Pipe
from tb.language.place import ProgramError
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.language.trace import Move, Trace
from tb.language.unknown import UNKNOWN
from tests.language.programs import AT, FORMS, is_built, name_of, short


def walk(text: str, *, static: bool = False) -> Trace:
    """Returns the trace of ops in the short form of the corpus."""
    return trace(read(short(text), "x.pto"), static=static)


def ops_of(text: str) -> list[Any]:
    return [step.op for step in walk(text).steps if isinstance(step, Move)]


def only(text: str, *, static: bool = False) -> Any:
    """Returns the only op of a text."""
    (step,) = walk(text, static=static).steps
    assert isinstance(step, Move)
    return step.op


GM, UB, L1, _, _, _, BT, FB = (Ptr("i8", space) for space in AT)
GM32, UB32, L132, L0C32 = (Ptr("f32", space) for space in ("gm", "ub", "l1", "l0c"))
CONTROL = "%c1, %c2, %c3, %c4, %c5, %c6"
CASES: list[tuple[str, Any]] = [
    (
        "pto.mte_gm_ub %gm, %ub, %c1, %c2 nburst(%c3, %c4, %c5) loop(%c6, %c7, %c8) "
        "loop(%c9, %c10, %c11) pad(%i8, %c1, %c2) "
        ": I8_GM, I8_UB, I64x5, loop I64x3, loop I64x3, pad i8, I64x2",
        MteGmUb(
            0x100, 0x200, 2, 3, 4, 5, (Loop(6, 7, 8), Loop(9, 10, 11)), Pad("i8", 0xFD, 1, 2), 1,
            GM, UB,
        ),
    ),
    (
        "pto.mte_gm_ub %gm, %ub, %c1, %c2 nburst(%c3, %c4, %c5) pad(%f16) "
        ": I8_GM, I8_UB, I64x5, pad f16 {ub_sub = 1}",
        MteGmUb(0x100, 0x200, 2, 3, 4, 5, (), Pad("f16", 0x3C00), 1, GM, UB, 1),
    ),
    (
        "pto.mte_ub_gm %ub, %gm, %c2 nburst(%c3, %c4, %c5) l2_cache_ctl(%c1) loop(%c6, %c7, %c8) "
        ": I8_UB, I8_GM, I64x5, loop I64x3",
        MteUbGm(0x200, 0x100, 2, 3, 4, 5, (Loop(6, 7, 8),), 1, UB, GM),
    ),
    (
        "pto.mte_ub_gm %ub, %gm, %c2 nburst(%c3, %c4, %c5) : I8_UB, I8_GM, I64x4",
        MteUbGm(0x200, 0x100, 2, 3, 4, 5, (), 0, UB, GM),
    ),
    (
        "pto.mte_gm_l1 %gm, %l1, %c2 nburst(%c3, %c4, %c5) : I8_GM, I8_L1, I64x4",
        MteGmL1(0x100, 0x300, 2, 3, 4, 5, (), GM, L1),
    ),
    (
        "pto.mte_l1_ub %l1, %ub, %c2 nburst(%c3, %c4, %c5) : I8_L1, I8_UB, I64x4",
        MteL1Ub(0x300, 0x200, 2, 3, 4, 5, (), L1, UB),
    ),
    (
        "pto.mte_ub_ub %ub, %ub, %c2 nburst(%c3, %c4, %c5) : I8_UB, I8_UB, I64x4",
        MteUbUb(0x200, 0x200, 2, 3, 4, 5, UB, UB),
    ),
    (
        "pto.mte_ub_l1 %ub, %l1, %c2 nburst(%c3, %c4, %c5) : I8_UB, I8_L1, I64x4",
        MteUbL1(0x200, 0x300, 2, 3, 4, 5, UB, L1),
    ),
    (
        "pto.mte_l1_bt %l1, %bt, %c2 nburst(%c3, %c4, %c5) : I8_L1, I8_BT, I64x4",
        MteL1Bt(0x300, 0x700, 2, 3, 4, 5, L1, BT),
    ),
    (
        "pto.mte_l1_fb %l1, %fb, %c2 nburst(%c3, %c4, %c5) : I8_L1, I8_FB, I64x4",
        MteL1Fb(0x300, 0x800, 2, 3, 4, 5, L1, FB),
    ),
    (
        "pto.mte_gm_l1_frac %gm, %l1, dn2nz, shape(%c1, %c2), src_layout(%c3, %c4), "
        "dst_group(%c5, %c6, %c7, %c8), ctrl(%c9, %true) "
        ": I8_GM, I8_L1, dn2nz, shape I64x2, src_layout(I64x2), dst_group I64x4, ctrl i64, i1",
        MteGmL1Frac(0x100, 0x300, "dn2nz", 1, 2, 3, 5, 6, 7, 8, 4, 9, 1, GM, L1),
    ),
    (
        "pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%c1, %c2), src_layout(%c3), "
        "dst_group(%c5, %c6, %c7, %c8), ctrl(%c9, %false) "
        ": I8_GM, I8_L1, nd2nz, shape I64x2, src_layout(i64), dst_group I64x4, ctrl i64, i1",
        MteGmL1Frac(0x100, 0x300, "nd2nz", 1, 2, 3, 5, 6, 7, 8, None, 9, 0, GM, L1),
    ),
    (
        "pto.mte_l0c_gm %l0c, %gm, %c1, %c2, %c3, %c4, %c5, %c6, unit_flag(check_and_clear), "
        "pre_quant(%fb, mode = vqf322b8_pre), pre_relu(%f32, mode = scalar_relu, clip = %f16), "
        "nz2dn(%c7), loop3(%c8, %c9, %c10), sat(preserve_nan), atomic(type = f32, op = add) "
        ": F32_L0C, F32_GM, I64x6, I8_FB, f32, f16, I64x4",
        MteL0cGm(
            0x600, 0x100, 1, 2, 3, 4, 5, 6, 3, PreQuant("vqf322b8_pre", FbPtr("i8", 0x800)),
            PreRelu("scalar_relu", Scalar("f32", 0xC0000000), Scalar("f16", 0x3C00)),
            "nz2dn", 7, None, Loop3(8, 9, 10), "preserve_nan", Atomic("f32", "add"), L0C32, GM32,
        ),
    ),
    (
        "pto.mte_l0c_l1 %l0c, %l1, %c1, %c2, %c3, %c4, unit_flag(1), pre_quant(mode = f322f16), "
        "pre_relu(mode = normal_relu), nz2nz(%c1), nosat : F32_L0C, F32_L1, I64x5",
        MteL0cL1(
            0x600, 0x300, 1, 2, 3, 4, 1, PreQuant("f322f16", None), PreRelu("normal_relu"),
            "nz2nz", None, 1, None, "nosat", L0C32, L132,
        ),
    ),
    (
        f"pto.mte_l0c_gm %l0c, %gm, {CONTROL}, unit_flag(check_only), "
        "pre_quant(%f32, mode = qf322f32_pre_scalar), "
        "pre_relu(%fb, mode = vector_relu, clip = %f16) : F32_L0C, F32_GM, I64x6, f32, F32_FB, f16",
        MteL0cGm(
            *(0x600, 0x100, 1, 2, 3, 4, 5, 6, 2),
            PreQuant("qf322f32_pre_scalar", Scalar("f32", 0xC0000000)),
            PreRelu("vector_relu", FbPtr("f32", 0x800), Scalar("f16", 0x3C00)),
            src_type=L0C32, dst_type=GM32,
        ),
    ),
    (
        "pto.mte_l0c_ub %l0c, %ub, %c1, %c2, %c3, %c4, dst_mode(split_m) : F32_L0C, F32_UB, I64x4",
        MteL0cUb(0x600, 0x200, 1, 2, 3, 4, ub_split="split_m", src_type=L0C32, dst_type=UB32),
    ),
    (
        "pto.mte_l0c_ub %l0c, %ub, %c1, %c2, %c3, %c4, dst_mode(%c1), nz2nd, sat "
        ": F32_L0C, F32_UB, I64x5",
        MteL0cUb(
            0x600, 0x200, 1, 2, 3, 4, 1, layout="nz2nd", sat="sat", src_type=L0C32, dst_type=UB32
        ),
    ),
    (
        "pto.copy_gm_to_ubuf %gm, %ub, %c1, %c2, %c3, %c4, %c5, %true, %c6, %c7, %c8 "
        ": I8_GM, I8_UB, I64x5, i1, I64x3",
        CopyGmToUbuf(0x100, 0x200, 1, 2, 3, 4, 5, 1, 6, 7, 8, GM, UB),
    ),
    (
        f"pto.copy_ubuf_to_gm %ub, %gm, {CONTROL} : I8_UB, I8_GM, I64x6",
        CopyUbufToGm(0x200, 0x100, 1, 2, 3, 4, 5, 6, UB, GM),
    ),
    (
        "pto.copy_ubuf_to_ubuf %ub, %ub, %c1, %c2, %c3, %c4, %c5 : I8_UB, I8_UB, I64x5",
        CopyUbufToUbuf(0x200, 0x200, 1, 2, 3, 4, 5, UB, UB),
    ),
    ("pto.set_loop_size_outtoub %c1, %c2 : I64x2", SetLoopSize("outtoub", 1, 2)),
    ("pto.set_loop_size_ubtoout %c1, %c2 : I64x2", SetLoopSize("ubtoout", 1, 2)),
    ("pto.set_loop1_stride_outtoub %c1, %c2 : I64x2", SetLoopStride("outtoub", 1, 1, 2)),
    ("pto.set_loop2_stride_outtoub %c1, %c2 : I64x2", SetLoopStride("outtoub", 2, 1, 2)),
    ("pto.set_loop1_stride_ubtoout %c1, %c2 : I64x2", SetLoopStride("ubtoout", 1, 1, 2)),
    ("pto.set_loop2_stride_ubtoout %c1, %c2 : I64x2", SetLoopStride("ubtoout", 2, 1, 2)),
    ("pto.set_mov_pad_val %i8 : i8", SetMovPadVal("i8", 0xFD)),
    (
        "pto.raw_fill_l1 %l1, %c1, %i32, %c2, %c3, %c4 {fill_word_bits = 16 : i64} "
        ": I8_L1, i64, i32, I64x3",
        RawFillL1(0x300, 1, 7, 2, 3, 4, 16, L1),
    ),
    (
        "pto.create_cbuf_matrix %l1, %i32, %c2, %c3, %c4 {fill_word_bits = 16 : i64} "
        ": UI16_L1, i32, I64x3",
        RawFillL1(0x300, 0, 7, 2, 3, 4, 16, Ptr("ui16", "l1")),
    ),
    ("pto.set_ctrl %m1 : i64", SetCtrl((1 << 64) - 1)),
    *((f"pto.set_atomic_{word}", SetAtomic(word)) for word in ATOMIC_WORDS),
    # Register forms of the grouped ops.
    (
        "pto.copy_gm_to_cbuf %gm, %l1, %c1, %c2, %c3, %c4 : I8_GM, I8_L1, I64x4",
        MteGmL1(0x100, 0x300, 2, 1, 3, 4, (), GM, L1),
    ),
    (
        "pto.copy_cbuf_to_ubuf %l1, %ub, %c3, %c1, %c2, %c6, %c7 : I8_L1, I8_UB, I64x5",
        MteL1Ub(0x300, 0x200, 2, 1, 6, 7, (), L1, UB, 1),
    ),
    (
        "pto.copy_ubuf_to_cbuf %ub, %l1, %c3, %c1, %c2, %c6, %c7 : I8_UB, I8_L1, I64x5",
        MteUbL1(0x200, 0x300, 2, 1, 6, 7, UB, L1),
    ),
    (
        "pto.copy_cbuf_to_fbuf %l1, %fb, %c1, %c2, %c6, %c7 : I8_L1, I8_FB, I64x4",
        MteL1Fb(0x300, 0x800, 2, 1, 6, 7, L1, FB),
    ),
]  # fmt: skip
"""An op with a different value in each operand, and the expected op."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "expected"), CASES, ids=[name_of(text) for text, _ in CASES])
def test_operands_reach_their_fields(text: str, expected: Any, form: str) -> None:
    """Each op, each clause: values, types, words."""
    is_built(text, expected, form)


def test_ops_that_write_ctrl() -> None:
    """A negative number is a bit pattern; an op samples CTRL at its issue, where it needs it."""
    store = f"pto.mte_l0c_gm %l0c, %gm, {CONTROL}{{}} : F32_L0C, F32_GM, I64x6\n"
    *writes, omitted, written = walk(
        "pto.set_ctrl %m1 : i64\npto.set_atomic_none\npto.set_atomic_max\n"
        + store.format("")
        + store.format(", sat, atomic(type = f32, op = add)")
    ).steps
    assert [step.op for step in writes if isinstance(step, Move)] == [
        SetCtrl((1 << 64) - 1), SetAtomic("none"), SetAtomic("max"),
    ]  # fmt: skip
    assert all(step.pipe is Pipe.S for step in writes)
    assert isinstance(omitted, Move)
    assert isinstance(written, Move)
    assert omitted.ctrl == (1 << 64) - 1 & ~(7 << 6) & ~(3 << 9) | 1 << 9
    assert written.ctrl == 0, "its clauses leave nothing to CTRL"


def _load(length: str = "%c2", l2: str = "%c1", tail: str = "") -> str:
    return (
        f"pto.mte_gm_ub %gm, %ub, {l2}, {length} nburst(%c3, %c4, %c5) : I8_GM, I8_UB, I64x5{tail}"
    )


def test_a_negative_operand_ends_a_run_and_no_static_walk() -> None:
    """Its finding is the same; illegal/values.pto has such a case for each rule of a width."""
    with pytest.raises(ProgramError) as caught:
        walk(_load("%m1"))
    trace = walk(_load("%m1"), static=True)
    assert trace.findings == caught.value.findings
    assert ([found.rule for found in trace.findings], len(trace.steps)) == (["DMA-L05"], 1)


COPY = f"pto.copy_gm_to_ubuf %gm, %ub, {'%c1, ' * 5}%x, %c1, %c1, %c1 : I8_GM, I8_UB, I64x5, "


@pytest.mark.parametrize(("kind", "value", "bit"), [("i1", "true", 1), ("i64", "2 : i64", 2)])
def test_a_flag_is_an_i1_or_holds_what_no_i1_does(kind: str, value: str, bit: int) -> None:
    op = only(f"%x = arith.constant {value}\n{COPY}{kind}, I64x3")
    assert op.data_select_bit == bit


def test_an_unknown_operand_leaves_the_others_known() -> None:
    op = only(_load("%n"), static=True)
    assert isinstance(op, MteGmUb)
    assert op.len_burst is UNKNOWN
    assert (op.gm_src, op.n_burst, op.src_stride) == (0x100, 3, 4)


@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "index", "si64", "ui64"])
def test_counts_are_i64(kind: str) -> None:
    load = _load("%x").replace("I64x5", f"i64, {kind}, I64x3")
    with pytest.raises(ProgramError, match=f"len_burst has type {kind}, it takes i64"):
        walk(f"%x = pto.get_block_idx : {kind}\n{load}")


def test_bits_of_ctrl_are_set_and_cleared() -> None:
    set_bit, clear_bit = (f"pto.sbitset{bit} {{}}, %c63 : I64x2 -> i64\n" for bit in (1, 0))
    text = (
        f"%a = pto.get_ctrl : i64\n%b = {set_bit.format('%a')}pto.set_ctrl %b : i64\n"
        f"pto.set_atomic_f16\n%c = pto.get_ctrl : i64\n%d = {clear_bit.format('%c')}"
        "pto.set_ctrl %d : i64\n"
    )
    assert ops_of(text) == [SetCtrl(1 << 63), SetAtomic("f16"), SetCtrl(2 << 6)]
