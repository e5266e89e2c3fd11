# SPDX-License-Identifier: Apache-2.0
"""Which rules the compiler does not check, and that messages say so."""

from __future__ import annotations

import pytest

from tb.isa.burst.op import MteL1Bt, MteUbL1, MteUbUb
from tb.isa.ctrl import SetAtomic
from tb.isa.dma.legacy import CopyGmToUbuf
from tb.isa.dma.op import MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, FbPtr, MteL0cGm, MteL0cL1, MteL0cUb, PreQuant, PreRelu, Scalar
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.text import AnyOp
from tb.language.rules.check import check
from tb.language.rules.compiler import unchecked
from tb.language.unknown import UNKNOWN
from tests.language.steps import move, name_of, program

ONE = Scalar("f32", 0x3F800000)


def l0c_gm(dst: str = "f32", acc: str = "f32", **fields: object) -> MteL0cGm:
    """Returns a write-back of one element."""
    src, to = Ptr(acc, "l0c"), Ptr(dst, "gm")
    return MteL0cGm(0, 0, 1, 1, 0, 1, src_type=src, dst_type=to, **fields)  # type: ignore[arg-type]


def copy(kind: type, source: str, destination: str) -> AnyOp:
    """Returns a copy between ``dtype, space`` and ``dtype, space``."""
    pointers = [Ptr(*text.split(", ")) for text in (source, destination)]
    return kind(0, 0, 1, 1, 0, 0, src_type=pointers[0], dst_type=pointers[1])  # type: ignore[no-any-return]


NOT_CHECKED: list[tuple[str, AnyOp]] = [
    ("DMA-L03", MteGmUb(0, 0, 8, 1, 0, 32, pad=Pad("f32", 0))),
    ("DMA-L04", copy(MteGmUb, "i8, l1", "i8, ub")),
    ("DMA-L04", copy(MteGmUb, "i8, gm", "i8, l1")),
    ("DMA-L04", copy(MteGmL1, "i8, gm", "i8, ub")),
    ("DMA-L04", copy(MteUbL1, "i8, ub", "i8, ub")),
    ("DMA-L04", copy(MteUbUb, "i4, ub", "i4, ub")),
    ("DMA-L04", copy(MteUbUb, "i8, ub", "f16, ub")),
    ("DMA-L05", MteGmUb(0, 0, 1 << 16, 1, 0, 0)),
    ("DMA-L15", MteGmUb(0, 0, 1, 1, 0, 0, l2_cache_ctl=4)),
    ("ND-L01", copy(MteGmL1, "i64, gm", "i64, l1")),
    ("BT-L01", copy(MteL1Bt, "ui32, l1", "i32, bt")),
    ("FIX-L02", l0c_gm("si32", "si32")),
    ("FIX-L04", l0c_gm("f16")),
    ("FIX-L04", l0c_gm("f8E4M3FN", pre_quant=PreQuant("qf322hif8_pre_scalar", ONE))),
    ("FIX-L04", l0c_gm("ui32", "i32", pre_quant=PreQuant("deqs32_int_scalar", ONE))),
    ("FIX-L05", l0c_gm("i32", "i32", pre_relu=PreRelu("scalar_relu", ONE))),
    ("FIX-L11", l0c_gm("f16", atomic=Atomic("f32", "add"))),
    ("FIX-L13", l0c_gm(sid=4)),
    ("FIX-L14", l0c_gm(sid=0)),
    ("FIX-L16", l0c_gm()),
]

CHECKED: list[tuple[str, AnyOp]] = [
    ("DMA-L02", MteGmUb(0, 0, 8, 1, 0, 32, pad=Pad("i8", 0, 1))),
    ("DMA-L03", MteGmUb(0, 0, 8, 1, 0, 32, pad=Pad("si8", 0))),
    ("DMA-L04", copy(MteGmUb, "i8, ub", "i8, ub")),
    ("DMA-L04", copy(MteGmUb, "i8, gm", "i8, gm")),
    ("DMA-L04", copy(MteGmUb, "i8, gm", "i16, ub")),
    ("DMA-L04", copy(MteGmUb, "i4, gm", "i4, ub")),
    ("DMA-L04", copy(MteUbGm, "i8, l1", "i8, gm")),
    ("DMA-L04", copy(MteL1Ub, "i8, gm", "i8, ub")),
    ("DMA-L04", copy(MteUbL1, "i8, ub", "i8, gm")),
    ("DMA-L15", MteUbGm(0, 0, 1, 1, 0, 0, l2_cache_ctl=16)),
    ("BT-L01", copy(MteL1Bt, "f16, l1", "i32, bt")),
    ("FIX-L02", l0c_gm("f32", "si32", pre_quant=PreQuant("req8_scalar", ONE))),
    ("FIX-L04", l0c_gm("f16", pre_quant=PreQuant("qf322b8_pre_scalar", ONE))),
    ("FIX-L04", l0c_gm("i4", "i32", pre_quant=PreQuant("req4_scalar", ONE))),
    ("FIX-L04", l0c_gm("ui16", "i32", pre_quant=PreQuant("deqs16_scalar", ONE))),
    ("FIX-L05", l0c_gm(pre_relu=PreRelu("scalar_relu", FbPtr("f32", 0)))),
    ("FIX-L05", l0c_gm(pre_relu=PreRelu("pwl"))),
    ("FIX-L06", l0c_gm(pre_relu=PreRelu("no_relu", None, ONE))),
    ("FIX-L11", l0c_gm(atomic=Atomic("f64", "add"))),
    ("FIX-L12", MteL0cUb(0, 0, 2, 32, 0, 32, ub_split="split_m", layout="nz2nz")),
    ("FIX-L14", MteL0cUb(0, 0, 2, 32, 0, 32, 2)),
    ("FIX-L21", MteL0cUb(0, 0, 3, 32, 0, 32, ub_split="split_m")),
    ("", MteGmUb(0, 0, 1, 1, 0, 0)),
    ("A-08", MteGmUb(0, 0, 1, 1, 0, 0)),
    ("FIX-L04", SetAtomic("f32")),
]


@pytest.mark.parametrize(("rule", "op"), NOT_CHECKED)
def test_the_compiler_accepts(rule: str, op: AnyOp) -> None:
    name = "mte_gm_l1_frac" if rule.startswith("ND") else name_of(op)
    assert unchecked(name, op, rule)


@pytest.mark.parametrize(("rule", "op"), CHECKED)
def test_the_compiler_refuses(rule: str, op: AnyOp) -> None:
    assert not unchecked(name_of(op), op, rule)


def test_register_forms_have_rules_of_their_own() -> None:
    load = CopyGmToUbuf(0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, Ptr("i8", "gm"), Ptr("i8", "l1"))
    assert unchecked("copy_gm_to_ubuf", load, "DMA-L04")
    inside = copy(MteGmL1, "i8, gm", "i16, l1")
    assert unchecked("copy_gm_to_cbuf", inside, "DMA-L04"), "it has no verifier"
    assert not unchecked("mte_gm_l1", inside, "DMA-L04")


def test_what_depends_on_an_unknown_operand_is_not_said() -> None:
    assert not unchecked("mte_l0c_ub", MteL0cUb(0, 0, 2, 32, 0, 32, UNKNOWN), "FIX-L14")


def test_findings_say_what_only_we_refuse() -> None:
    strict = MteL0cL1(0, 0, 16, 16, 16, 16, dst_type=Ptr("f16", "l1"))
    refused = MteL0cL1(0, 0, 16, 16, 16, 16, dst_type=Ptr("f32", "gm"))
    repack = MteGmL1Frac(0, 8, "nd2nz", 1, 1, 1, 1, 1, 1, 1)
    found = check(program([move(strict), move(refused), move(repack)]))
    assert [(x.rule, x.ours) for x in found] == [
        ("FIX-L04", True), ("FIX-L02", False), ("ND-L06", True),
    ]  # fmt: skip
    note = "the compiler does not check this"
    assert [note in str(x) for x in found] == [True, False, True]
