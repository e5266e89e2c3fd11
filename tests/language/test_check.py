# SPDX-License-Identifier: Apache-2.0
"""Rules of a program's ops: every violation of the stimulus, unknown operands, the compiler."""

from __future__ import annotations

import random
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

from sequences.constraints import OP_NAMES
from sequences.illegal.cases import all_cases
from tb.isa.burst.op import MteL1Bt, MteUbL1, MteUbUb
from tb.isa.ctrl import SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
)
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, MteL0cGm, MteL0cL1, MteL0cUb, PreQuant, PreRelu, Scalar
from tb.isa.mad import Mad
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, operand_names, replace
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.rules import RULES
from tb.isa.text import AnyOp, op_name
from tb.language.place import Finding
from tb.language.rules.check import HINT_RULES, check
from tb.language.rules.compiler import unchecked
from tb.language.trace import Step
from tb.language.unknown import UNKNOWN, Unknown
from tests.language.steps import compute, move, program
from tests.wording import says

WIDTHS = ("DMA-L05", "ND-L03", "BT-L02", "FB-L02", "FIX-L14", "LD-L03", "RF-L02")


def found(*ops: AnyOp, d_rules: bool = True) -> list[Finding]:
    return check(program([move(op) for op in ops]), d_rules=d_rules)


def rules(*ops: AnyOp, d_rules: bool = True) -> list[str]:
    return [finding.rule for finding in found(*ops, d_rules=d_rules)]


def family(form: str) -> str:
    return OPS[LEGACY_FORMS.get(form, form)].rules


# --- known operands ------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
def test_every_violation_is_found_first_and_near_misses_are_not(form: str) -> None:
    for case in all_cases(np.random.default_rng(5), form):
        names = rules(*case.program)
        if not case.rule:
            # A refused copy is not issued and does not reach the engine.
            assert bool(names) == case.name.startswith("refused"), case
            continue
        expected = f"{family(form)}-L{case.rule:02d}"
        others = [name for name in names if name not in HINT_RULES]
        if names != others and expected in WIDTHS and expected not in others:
            continue  # The constant hint has its own finding.
        assert others, case
        assert others[0] == expected, case


@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
def test_d_rules_may_be_left_to_the_engines(form: str) -> None:
    for case in all_cases(np.random.default_rng(6), form):
        assert set(rules(*case.program, d_rules=False)) <= set(HINT_RULES), case


OVERLAP = MteGmUb(0, 0, 64, 1, 0, 64, (Loop(2, 64, 0),))
STORE = MteL0cGm(0, 0, 1, 1, 0, 1)
CLAUSE = replace(STORE, atomic=Atomic("f32", "add"))
FOUR_LOOPS = MteGmUb(0, 8, 32, 1, 0, 0, (Loop(1, 0, 0),) * 4)
COPY = CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 0, 0)
STRIDE = SetLoopStride("outtoub", 1, 0, 48)
MIXED = replace(COPY, dst_stride=32, src_type=Ptr("f16", "gm"))
WIDE = replace(COPY, dst_stride=32, src_type=Ptr("i64", "gm"), dst_type=Ptr("i64", "ub"))
FAR = MteUbGm(0, 0, 64, 60000, 64, 64, (Loop(1 << 10, 0, 32),))
APART = MteUbGm(0, 0, 32, 4000, 64, 64, (Loop(1 << 18, 0, 4000 * 64),))
X = UNKNOWN

RULES_OF: list[tuple[tuple[AnyOp, ...], str]] = [
    # An engine refuses violations of D rules; a violation of a T rule has an undefined result.
    ((replace(OVERLAP, ub_dst=8),), "DMA-L06"),
    # CTRL, which an op of an unknown value makes unknown with all that set_atomic_* writes.
    ((SetCtrl(7 << 6), STORE), "FIX-L26"),
    ((SetCtrl(1 << 6 | 3 << 9), replace(STORE, m=0)), "FIX-L26"),
    ((SetCtrl(7 << 6), CLAUSE), ""),
    ((SetCtrl(3 << 9), STORE), ""),
    ((SetAtomic("f32"), STORE), ""),
    ((SetAtomic("s32"), STORE), "FIX-L27"),
    ((SetCtrl(X), STORE), ""),
    ((SetCtrl(X), replace(STORE, dst_stride=0)), "FIX-L14"),
    ((SetCtrl(X), SetAtomic("s32"), STORE), ""),
    # Extents where a count does not fit, a wrong hint, more loops than a descriptor holds.
    ((MteGmUb(0, 1, 32, 1 << 16, 1 << 30, 1 << 20),), "DMA-L05 DMA-L06"),
    ((MteGmUb(0, 8, 32, 1, 0, 0, l2_cache_ctl=4),), "DMA-L15 DMA-L06"),
    ((MteL0cGm(32, 0, 1, 1, 0, 1, sid=4, l2_cache_ctrl=16),), "FIX-L13 FIX-L16"),
    ((FOUR_LOOPS,), "A-08"),
    ((replace(FOUR_LOOPS, gm_src=X),), "A-08"),
    # Legacy ops, with the registers of program order.
    ((SetLoopSize("outtoub", 1, 1 << 21),), "DMA-L05"),
    ((SetLoopStride("ubtoout", 1, 1 << 21, 0),), "DMA-L05"),
    ((SetLoopStride("outtoub", 1, 1 << 21, 0),), ""),
    ((SetLoopSize("outtoub", X, 1 << 21),), "DMA-L05"),
    ((STRIDE, SetLoopSize("outtoub", 2, 1), COPY), "DMA-L07"),
    ((STRIDE, SetLoopSize("outtoub", 1, 2), COPY), "DMA-L13"),
    ((COPY, STRIDE), ""),
    ((STRIDE, SetLoopSize("outtoub", X, 1), COPY), ""),
    ((MIXED,), "DMA-L04"),
    ((CopyUbufToUbuf(0, 64, 0, 1, 32, 0, 0, dst_type=Ptr("i8", "l1")),), "DMA-L04"),
    ((replace(WIDE, data_select_bit=1),), "DMA-L03"),
    ((WIDE,), ""),
    # Rows too many to compare are counted.
    ((replace(FAR, src_stride=0, n_burst=1),), "DMA-L13"),
    ((APART,), ""),
    # Known operands decide.
    ((MteGmUb(X, 0, X, 1 << 16, 0, 0),), "DMA-L05"),
    ((MteGmUb(X, 0, X, 1, 0, 0, (Loop(X, 0, 1 << 21),)),), "DMA-L05"),
    ((MteGmUb(X, 8, X, X, X, X),), "DMA-L06"),
    ((MteL1Ub(X, 8, 1, 1, 0, 0),), "DMA-L06"),
    ((MteGmUb(X, 0, X, 2, X, 48),), "DMA-L07"),
    ((MteGmUb(X, 0, 64, 2, X, 32),), "DMA-L08"),
    ((MteGmUb(X, 0, 64, 1, 0, 64, pad=Pad("i8", X, X, 8)),), "DMA-L10"),
    ((MteL1Ub(0, X, 33, X, 1 << 16, 0),), "DMA-L05"),
    ((MteGmL1(X, 1 << 19, 32, 1, 0, 0),), "DMA-L12"),
    ((MteGmUb(X, 0, 32, 2, X, 32, (Loop(2, 0, 0),)),), "DMA-L13"),
    ((MteUbGm(0, X, 32, 2, 32, 32, (Loop(2, 64, 0),)),), "DMA-L13"),
    ((MteUbL1(X, 8, 1, 1, 0, 0),), "DMA-L06"),
    ((MteGmL1Frac(X, 0, "nd2nz", 32, 32, 64, 1, 1, 16, 0),), "ND-L09"),
    ((MteGmL1Frac(X, 0, "nd2nz", 32, 8, X, 1, 0, 0, 0),), "ND-L07"),
    ((MteGmL1Frac(0, 0, "nd2nz", X, X, 64, 0, 1, 16, 0, X),), "ND-L04"),
    ((MteL0cGm(0, X, X, 32, 8, X),), "FIX-L15"),
    ((MteL0cGm(0, X, 4, 16, 16, 8),), "FIX-L24"),
    ((MteL0cGm(0, X, 1, 1, 0, 1, sid=4),), "FIX-L13"),
    ((CopyUbufToUbuf(X, 0, 0, X, 33, X, 0),), "DMA-L11"),
    ((CopyUbufToUbuf(X, 8, 0, 1, 32, 0, 0),), "DMA-L06"),
    ((CopyUbufToGm(0, X, 0, X, 32, 16, 0, 0),), "DMA-L05"),
    # Unknown operands decide nothing.
    ((MteGmUb(X, X, X, X, X, X),), ""),
    ((MteUbUb(X, 0, 8, 1, 0, 0),), ""),
    ((MteGmL1Frac(0, 0, "nd2nz", X, X, X, X, X, X, X),), ""),
]
"""Ops, and the rules that the last of them breaks."""

T_RULES_OF: list[tuple[tuple[AnyOp, ...], str]] = [
    ((OVERLAP,), "DMA-L13"),
    ((MteUbUb(0, 32, 2, 1, 0, 0),), "DMA-L14"),
    ((replace(OVERLAP, ub_dst=8),), ""),
    ((replace(OVERLAP, l2_cache_ctl=4),), "DMA-L15"),
    ((replace(OVERLAP, gm_src=X),), "DMA-L13"),
    ((replace(OVERLAP, gm_src=X, ub_dst=8),), ""),
    ((SetAtomic("s32"), STORE), "FIX-L27"),
    ((SetCtrl(7 << 6), STORE), ""),
    ((SetLoopSize("outtoub", 1, 1 << 21),), ""),
]
"""The same without D rules, as where illegal ops are sent to an engine."""


@pytest.mark.parametrize(
    ("ops", "expected", "d_rules"),
    [*((*row, True) for row in RULES_OF), *((*row, False) for row in T_RULES_OF)],
)
def test_rules_that_ops_break(ops: tuple[AnyOp, ...], expected: str, d_rules: bool) -> None:
    assert rules(*ops, d_rules=d_rules) == expected.split()


def test_unknown_payloads_decide_nothing() -> None:
    scale = PreQuant("qf322f16_pre_scalar", Scalar("f32", X))
    clip = PreRelu("no_relu", None, Scalar("f16", X))
    back = MteL0cGm(X, X, X, X, X, X, dst_type=Ptr("f16", "gm"), pre_quant=scale, pre_relu=clip)
    assert rules(back) == rules(replace(back, layout="nz2dn", k=X, unit_flag=2)) == []
    assert isinstance(UNKNOWN, Unknown)


def test_messages_of_copies_and_of_rows() -> None:
    (finding,) = found(CopyUbufToGm(0, 0, 0, 1, 32, 0, 0, 0, src_type=Ptr("i8", "l1")))
    assert finding.rule == "DMA-L04"
    assert says(finding.legal, "copy_ubuf_to_gm ub$")
    (finding,) = found(MteUbGm(0, 0, 32, 4000, 64, 64, (Loop(1 << 20, 0, 32),)))
    assert (finding.rule, "addresses" in finding.message) == ("DMA-L13", True)


@pytest.mark.parametrize(
    ("op", "rule", "legal"),
    [
        (MteGmUb(0, 33, 32, 1, 0, 0), "DMA-L06", "a multiple of 32"),
        (MteGmUb(0, 0, 32, 2, 32, 33), "DMA-L07", "a multiple of 32"),
        (MteGmUb(0, 0, 64, 2, 64, 32), "DMA-L08", "at least 64"),
        (
            MteGmUb(0, 0, 64, 1, 0, 64, pad=Pad("i8", 0, 8, 0)),
            "DMA-L10",
            "dst_stride at least 72; this op with knob pad_end = block (profile a5)",
        ),
        (MteL1Ub(0, 0, 1, 1, 0, 0, (Loop(2, 40, 32),)), "DMA-L07", "a multiple of 32"),
        (MteL1Ub(0, 0, 1, 4096, 0, 0), "DMA-L05", "12 bits hold 0..4095"),
        (CopyUbufToUbuf(0, 64, 0, 1, 40, 0, 0), "DMA-L11", "a multiple of 32"),
        (MteGmUb(0, 262144, 32, 1, 0, 0), "DMA-L12", "addresses below 0x40000"),
        (MteUbGm(0, 0, 32, 1, 0, 0, l2_cache_ctl=16), "DMA-L15", "4 bits hold 0..15"),
        (MteGmUb(0, 0, 8, 1, 0, 32, pad=Pad("f32", 0)), "DMA-L03", "i8"),
        (MteL0cGm(0, 0, 16, 17, 8, 32), "FIX-L15", "a multiple of 16"),
        (MteL0cGm(0, 0, 1, 1, 0, 0), "FIX-L14", "at least 1"),
        (MteL0cGm(0, 0, 1, 1, 0, 1, dst_type=Ptr("f16", "gm")), "FIX-L04", "f32"),
        (MteL0cGm(0, 0, 1, 1, 0, 1, sid=4), "FIX-L13", "at most 3"),
        (MteL0cUb(0, 0, 1, 1, 0, 3), "FIX-L17", "a multiple of 32 B"),
        (MteUbUb(0, 32, 2, 1, 0, 0), "DMA-L14", RULES["DMA-L14"].title),
        (MteL1Bt(0, 0, 1, 1, 0, 0, Ptr("i8", "l1")), "BT-L01",
         "one of f32 -> f32, i32 -> i32, bf16 -> f32, f16 -> f32"),
    ],
)  # fmt: skip
def test_legal_ranges(op: AnyOp, rule: str, legal: str) -> None:
    findings = found(op)
    assert [(finding.rule, finding.legal) for finding in findings] == [(rule, legal)]
    assert "not a multiple of" not in findings[0].legal


def test_rules_of_the_profile() -> None:
    short = MteGmUb(0, 0, 1, 1, 6, 6, src_type=Ptr("f16", "gm"), dst_type=Ptr("f16", "ub"))
    padded = MteGmUb(0, 0, 32, 1, 0, 64, (Loop(2, 64, 32),), Pad("i8", 0, 0, 1))
    for op, seed, a5 in (
        (short, [], ["DMA-L19"]),
        (replace(short, gm_src=UNKNOWN), [], ["DMA-L19"]),
        (padded, ["DMA-L13"], ["DMA-L18"]),
    ):
        assert rules(op) == seed, op
        with using(A5):
            assert rules(op) == a5, op


def test_each_rule_of_an_op_once_with_the_iteration() -> None:
    steps: list[Step] = [move(MteGmUb(0, base, 32, 1, 0, 0)) for base in (0, 8, 16, 32)]
    (finding,) = check(program(steps, [7] * 4))
    assert finding.place.line == 7
    assert says(finding.message, r"UB address 0x8 not multiple 32 iteration 2 of 4")


@pytest.mark.parametrize("bits", [0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001])
def test_scales_and_alphas_are_finite(bits: int) -> None:
    scale = PreQuant("qf322f16_pre_scalar", Scalar("f32", bits))
    back = MteL0cGm(0, 0, 1, 1, 0, 1, pre_quant=scale, dst_type=Ptr("f16", "gm"))
    assert rules(back) == ["FIX-L25"]
    one = PreQuant("qf322f16_pre_scalar", Scalar("f32", 0x3F800000))
    alpha = PreRelu("scalar_relu", Scalar("f32", bits))
    assert rules(replace(back, pre_quant=one)) == []
    assert rules(replace(back, pre_quant=one, pre_relu=alpha)) == ["FIX-L25"]


# --- operands that are not known -----------------------------------------------------------------


def masked(value: Any, rng: random.Random, share: float, name: str = "") -> Any:
    """Returns an op with some numbers unknown; those that its text fixes stay."""
    fixed = ("ub_sub", "level", "unit_flag", "fill_word_bits", "mode", "layout", "sat")
    if isinstance(value, bool | str) or value is None or name in fixed:
        return value
    if isinstance(value, int):
        return UNKNOWN if rng.random() < share else value
    if isinstance(value, tuple):
        return tuple(masked(part, rng, share, name) for part in value)
    if isinstance(value, Op) or (is_dataclass(value) and not isinstance(value, Ptr | type)):
        names = operand_names(type(value))
        if isinstance(value, Op):
            names = tuple(name for name in names if value.is_given(name))
        parts = {x: masked(getattr(value, x), rng, share, x) for x in names}
        parts = {x: part for x, part in parts.items() if part is not getattr(value, x)}
        return replace(value, **parts)
    return value


@pytest.mark.long
@pytest.mark.parametrize("form", OP_NAMES)
def test_findings_hold_for_every_value_of_unknown_operands(form: str) -> None:
    rng = random.Random(form)
    count = 0
    for case in all_cases(np.random.default_rng(7), form):
        known = set(rules(*case.program))
        for share in (0.15, 0.5):
            some = [masked(op, rng, share) for op in case.program]
            names = set(rules(*some))
            count += len(names)
            extra = names - known
            hides = (*_JUDGED_ONCE, *known) if form == "copy_ubuf_to_ubuf" and known else known
            assert all(_may_hide(name, {*hides}) for name in extra), (case, some, known)
    assert count > 5, "known operands decide rules"


_JUDGED_ONCE = ("DMA-L05", "DMA-L07")
"""Of a copy that is not issued only the lowest rule is reported, and no T rule (A-67)."""


_FIRST = {"DMA-L03", "DMA-L05", "DMA-L07", "DMA-L08", "DMA-L11"}
"""Rules after which others are not reported: of padded 8-byte elements L03 alone (A-68)."""


def _may_hide(name: str, known: set[str]) -> bool:
    """Returns whether violations of the rules ``known`` suppress other findings of the actual op.

    Extents are not checked after a wrong width, T rules not after a D rule; of a copy that is
    not issued only the reason is reported. An NZ repack of no groups has no extent.
    """
    if RULES[name].kind == "T":
        return bool(known)
    ranges = ("DMA-L12", "ND-L08", "BT-L04", "FB-L04", "FIX-L23", "LD-L06", "RF-L04")
    if name in ranges:
        return bool(known & {*WIDTHS, "ND-L04"})
    return name.startswith("DMA-") and bool(known & _FIRST)


def test_a_product_of_negative_rows() -> None:
    """The reader refuses them before; other rules of products are in illegal/mad.pto."""
    factors = Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c")
    (finding,) = check(program([compute(Mad(0, 0, 0, -1, 16, 16, *factors))]))
    assert finding.message == "m is -1"


# --- profiles ------------------------------------------------------------------------------------

REPEATED = MteGmUb(0, 0, 64, 3, 0, 64)
SHORT_STRIDE = MteGmUb(0, 0, 5, 3, 8, 5)
S16 = MteL0cGm(
    0, 0, 16, 16, 16, 16, layout="nz2nd", src_type=Ptr("i32", "l0c"), dst_type=Ptr("i16", "gm"),
    pre_quant=PreQuant("deqs16_scalar", Scalar("f32", 0x3F800000)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "op", "rule", "facts"),
    [
        (SEED, REPEATED, "DMA-L08", "at least 64 knob row_repeat = legal a5"),
        (SEED, SHORT_STRIDE, "DMA-L07", "multiple 32 knob compact = legal a5"),
        (SEED, MteGmUb(0, 0, 1 << 16, 1, 0, 0), "DMA-L05", "65535 knob len_bits = 21 a5"),
        (A5, S16, "FIX-L04", "knob modes = all seed"),
    ],
)
def test_an_op_that_is_legal_under_one_profile_names_the_knob(
    profile: Profile, op: AnyOp, rule: str, facts: str
) -> None:
    with using(profile):
        (finding,) = found(op)
    assert finding.rule == rule
    assert says(finding.legal, facts)
    with using(A5 if profile is SEED else SEED):
        assert rules(op) == []


def test_an_op_that_no_profile_permits_names_no_knob() -> None:
    (finding,) = found(replace(SHORT_STRIDE, dst_stride=40))
    assert finding.rule == "DMA-L07"
    assert "knob" not in finding.legal


# --- what the compiler checks; the cases of FIX rules are in test_corpus.py

ONE = Scalar("f32", 0x3F800000)


def l0c_gm(dst: str = "f32", acc: str = "f32", **fields: object) -> MteL0cGm:
    """Returns a write-back of one element."""
    src, to = Ptr(acc, "l0c"), Ptr(dst, "gm")
    return MteL0cGm(0, 0, 1, 1, 0, 1, src_type=src, dst_type=to, **fields)


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
    ("FIX-L04", l0c_gm("f16", pre_quant=PreQuant("qf322b8_pre_scalar", ONE))),
    ("FIX-L04", l0c_gm("i4", "i32", pre_quant=PreQuant("req4_scalar", ONE))),
    ("FIX-L04", l0c_gm("ui16", "i32", pre_quant=PreQuant("deqs16_scalar", ONE))),
    ("", MteGmUb(0, 0, 1, 1, 0, 0)),
    ("A-08", MteGmUb(0, 0, 1, 1, 0, 0)),
    ("FIX-L04", SetAtomic("f32")),
]


@pytest.mark.parametrize(("rule", "op"), NOT_CHECKED)
def test_the_compiler_accepts(rule: str, op: AnyOp) -> None:
    name = "mte_gm_l1_frac" if rule.startswith("ND") else op_name(op)
    assert unchecked(name, op, rule)


@pytest.mark.parametrize(("rule", "op"), CHECKED)
def test_the_compiler_refuses(rule: str, op: AnyOp) -> None:
    assert not unchecked(op_name(op), op, rule)


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
