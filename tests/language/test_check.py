# SPDX-License-Identifier: Apache-2.0
"""Rules of a program's ops: every violation of the stimulus, and unknown operands."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from sequences.constraints import OP_NAMES
from sequences.illegal.cases import all_cases
from tb.isa.burst.op import MteL1Bt, MteUbL1, MteUbUb
from tb.isa.ctrl import CtrlOp, SetAtomic, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    LegacyOp,
    SetLoopSize,
    SetLoopStride,
)
from tb.isa.dma.op import Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import Atomic, MteL0cGm, MteL0cUb, PreQuant, PreRelu, Scalar
from tb.isa.lower import V06Op
from tb.isa.mad import Mad
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.profile import A5, SEED, Profile, using
from tb.isa.rule import Violation
from tb.isa.rules import RULES
from tb.language.place import Finding
from tb.language.rules.check import HINT_RULES, check
from tb.language.trace import Step
from tb.language.unknown import UNKNOWN, Unknown
from tests.language.steps import compute, move, program
from tests.wording import says

Op = V06Op | LegacyOp | CtrlOp
WIDTHS = ("DMA-L05", "ND-L03", "BT-L02", "FB-L02", "FIX-L14", "LD-L03", "RF-L02")


def found(*ops: Op, d_rules: bool = True) -> list[Finding]:
    return check(program([move(op) for op in ops]), d_rules=d_rules)


def rules(*ops: Op, d_rules: bool = True) -> list[str]:
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


def test_t_rules_are_also_checked_where_illegal_ops_are_sent() -> None:
    """An engine refuses violations of D rules; a violation of a T rule has an undefined result."""
    overlap = MteGmUb(0, 0, 64, 1, 0, 64, (Loop(2, 64, 0),))
    assert rules(overlap, d_rules=False) == ["DMA-L13"]
    assert rules(MteUbUb(0, 32, 2, 1, 0, 0), d_rules=False) == ["DMA-L14"]
    assert rules(replace(overlap, ub_dst=8)) == ["DMA-L06"]
    assert rules(replace(overlap, ub_dst=8), d_rules=False) == []
    assert rules(replace(overlap, l2_cache_ctl=4), d_rules=False) == ["DMA-L15"]
    assert rules(replace(overlap, gm_src=UNKNOWN), d_rules=False) == ["DMA-L13"]
    assert rules(replace(overlap, gm_src=UNKNOWN, ub_dst=8), d_rules=False) == []


def test_a_finding_has_place_op_rule_and_legal_range() -> None:
    (finding,) = found(MteGmUb(0, 0, 1 << 16, 1, 0, 0))
    message, legal, note = str(finding).splitlines()
    assert says(message, "x.pto:0:3 error pto.mte_gm_ub DMA-L05 len_burst 65536")
    assert says(legal, r"legal 0\.\.65535 knob len_bits 16")
    assert says(note, "note: the compiler does not check this")


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
def test_legal_ranges(op: Op, rule: str, legal: str) -> None:
    findings = found(op)
    assert [(finding.rule, finding.legal) for finding in findings] == [(rule, legal)]
    assert "not a multiple of" not in findings[0].legal


def test_rules_of_ctrl() -> None:
    store = MteL0cGm(0, 0, 1, 1, 0, 1)
    clause = replace(store, atomic=Atomic("f32", "add"))
    assert rules(SetCtrl(7 << 6), store) == ["FIX-L26"]
    assert rules(SetCtrl(1 << 6 | 3 << 9), replace(store, m=0)) == ["FIX-L26"]
    assert rules(SetCtrl(7 << 6), clause) == rules(SetCtrl(3 << 9), store) == []
    assert rules(SetAtomic("f32"), store) == []
    assert rules(SetAtomic("s32"), store) == ["FIX-L27"]
    assert rules(SetAtomic("s32"), store, d_rules=False) == ["FIX-L27"]
    assert rules(SetCtrl(7 << 6), store, d_rules=False) == []
    assert rules(SetCtrl(UNKNOWN), store) == []
    assert rules(SetCtrl(UNKNOWN), replace(store, dst_stride=0)) == ["FIX-L14"]
    # All of CTRL is unknown then, also what set_atomic_* writes.
    assert rules(SetCtrl(UNKNOWN), SetAtomic("s32"), store) == []


def test_rules_of_the_profile() -> None:
    long = MteGmUb(0, 0, 1 << 16, 1, 0, 0)
    compact = MteGmUb(0, 0, 6, 3, 6, 6)
    repeated = MteGmUb(0, 0, 64, 3, 0, 64)
    short = replace(compact, len_burst=1, n_burst=1, src_type=Ptr("f16", "gm"),
                    dst_type=Ptr("f16", "ub"))  # fmt: skip
    padded = MteGmUb(0, 0, 32, 1, 0, 64, (Loop(2, 64, 32),), Pad("i8", 0, 0, 1))
    for op, seed, a5 in (
        (long, ["DMA-L05"], []),
        (compact, ["DMA-L07"], []),
        (repeated, ["DMA-L08"], []),
        (short, [], ["DMA-L19"]),
        (replace(short, gm_src=UNKNOWN), [], ["DMA-L19"]),
        (padded, ["DMA-L13"], ["DMA-L18"]),
    ):
        assert rules(op) == seed, op
        with using(A5):
            assert rules(op) == a5, op


def test_a_rule_without_a_range_reports_its_title() -> None:
    for rule in RULES.values():
        violation = Violation(rule, "wrong")
        assert (violation.what, violation.legal) == ("wrong", rule.title)


def test_each_rule_of_an_op_once_with_the_iteration() -> None:
    steps: list[Step] = [move(MteGmUb(0, base, 32, 1, 0, 0)) for base in (0, 8, 16, 32)]
    (finding,) = check(program(steps, [7] * 4))
    assert finding.place.line == 7
    assert says(finding.message, r"UB address 0x8 not multiple 32 iteration 2 of 4")


def test_extents_are_not_reported_where_a_count_does_not_fit() -> None:
    assert rules(MteGmUb(0, 1, 32, 1 << 16, 1 << 30, 1 << 20)) == ["DMA-L05", "DMA-L06"]


def test_a_wrong_hint_hides_no_other_rule_and_is_reported_once() -> None:
    assert rules(MteGmUb(0, 8, 32, 1, 0, 0, l2_cache_ctl=4)) == ["DMA-L15", "DMA-L06"]
    assert rules(MteL0cGm(32, 0, 1, 1, 0, 1, sid=4, l2_cache_ctrl=16)) == ["FIX-L13", "FIX-L16"]


def test_more_loops_than_a_descriptor_holds() -> None:
    assert rules(MteGmUb(0, 8, 32, 1, 0, 0, (Loop(1, 0, 0),) * 4)) == ["A-08"]
    unknown = MteGmUb(UNKNOWN, 8, 32, 1, 0, 0, (Loop(1, 0, 0),) * 4)
    assert rules(unknown) == ["A-08"]


# --- legacy --------------------------------------------------------------------------------------


def test_set_ops() -> None:
    assert rules(SetLoopSize("outtoub", 1, 1 << 21)) == ["DMA-L05"]
    assert rules(SetLoopStride("ubtoout", 1, 1 << 21, 0)) == ["DMA-L05"]
    assert rules(SetLoopStride("outtoub", 1, 1 << 21, 0)) == []
    assert rules(SetLoopSize("outtoub", UNKNOWN, 1 << 21)) == ["DMA-L05"]
    assert rules(SetLoopSize("outtoub", 1, 1 << 21), d_rules=False) == []


def test_copies_are_checked_with_the_registers_of_program_order() -> None:
    copy = CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 0, 0)
    stride = SetLoopStride("outtoub", 1, 0, 48)
    assert rules(stride, SetLoopSize("outtoub", 2, 1), copy) == ["DMA-L07"]
    assert rules(stride, SetLoopSize("outtoub", 1, 2), copy) == ["DMA-L13"]
    assert rules(copy, stride) == []
    assert rules(stride, SetLoopSize("outtoub", UNKNOWN, 1), copy) == []


def test_types_of_legacy_copies() -> None:
    copy = CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 0, 32)
    mixed = replace(copy, src_type=Ptr("f16", "gm"))
    (finding,) = found(mixed)
    assert finding.rule == "DMA-L04"
    (finding,) = found(CopyUbufToGm(0, 0, 0, 1, 32, 0, 0, 0, src_type=Ptr("i8", "l1")))
    assert finding.rule == "DMA-L04"
    assert says(finding.legal, "copy_ubuf_to_gm ub$")
    assert rules(CopyUbufToUbuf(0, 64, 0, 1, 32, 0, 0, dst_type=Ptr("i8", "l1"))) == ["DMA-L04"]
    wide = replace(copy, src_type=Ptr("i64", "gm"), dst_type=Ptr("i64", "ub"))
    assert rules(replace(wide, data_select_bit=1)) == ["DMA-L03"]
    assert rules(wide) == []


# --- T rules -------------------------------------------------------------------------------------


def test_rows_too_many_to_compare_are_counted() -> None:
    far = MteUbGm(0, 0, 64, 60000, 64, 64, (Loop(1 << 10, 0, 32),))
    assert rules(replace(far, src_stride=0, n_burst=1)) == ["DMA-L13"]
    wide = MteUbGm(0, 0, 32, 4000, 64, 64, (Loop(1 << 20, 0, 32),))
    (finding,) = found(wide)
    assert finding.rule == "DMA-L13"
    assert "addresses" in finding.message
    apart = MteUbGm(0, 0, 32, 4000, 64, 64, (Loop(1 << 18, 0, 4000 * 64),))
    assert rules(apart) == []


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
    fixed = ("ub_sub", "level", "unit_flag", "fill_word_bits")
    if isinstance(value, bool | str) or value is None or name in fixed:
        return value
    if isinstance(value, int):
        return UNKNOWN if rng.random() < share else value
    if isinstance(value, tuple):
        return tuple(masked(part, rng, share, name) for part in value)
    if is_dataclass(value) and not isinstance(value, Ptr | type):
        parts = {x.name: masked(getattr(value, x.name), rng, share, x.name) for x in fields(value)}
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
    """Tells whether violations of the rules ``known`` suppress other findings of the actual op.

    Extents are not checked after a wrong width, T rules not after a D rule; of a copy that is
    not issued only the reason is reported. An NZ repack of no groups has no extent.
    """
    if RULES[name].kind == "T":
        return bool(known)
    ranges = ("DMA-L12", "ND-L08", "BT-L04", "FB-L04", "FIX-L23", "LD-L06", "RF-L04")
    if name in ranges:
        return bool(known & {*WIDTHS, "ND-L04"})
    return name.startswith("DMA-") and bool(known & _FIRST)


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (MteGmUb(UNKNOWN, 0, UNKNOWN, 1 << 16, 0, 0), "DMA-L05"),
        (MteGmUb(UNKNOWN, 0, UNKNOWN, 1, 0, 0, (Loop(UNKNOWN, 0, 1 << 21),)), "DMA-L05"),
        (MteGmUb(UNKNOWN, 8, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN), "DMA-L06"),
        (MteL1Ub(UNKNOWN, 8, 1, 1, 0, 0), "DMA-L06"),
        (MteGmUb(UNKNOWN, 0, UNKNOWN, 2, UNKNOWN, 48), "DMA-L07"),
        (MteGmUb(UNKNOWN, 0, 64, 2, UNKNOWN, 32), "DMA-L08"),
        (MteGmUb(UNKNOWN, 0, 64, 1, 0, 64, pad=Pad("i8", UNKNOWN, UNKNOWN, 8)), "DMA-L10"),
        (MteL1Ub(0, UNKNOWN, 33, UNKNOWN, 1 << 16, 0), "DMA-L05"),
        (MteGmL1(UNKNOWN, 1 << 19, 32, 1, 0, 0), "DMA-L12"),
        (MteGmUb(UNKNOWN, 0, 32, 2, UNKNOWN, 32, (Loop(2, 0, 0),)), "DMA-L13"),
        (MteUbGm(0, UNKNOWN, 32, 2, 32, 32, (Loop(2, 64, 0),)), "DMA-L13"),
        (MteUbL1(UNKNOWN, 8, 1, 1, 0, 0), "DMA-L06"),
        (MteGmL1Frac(UNKNOWN, 0, "nd2nz", 32, 32, 64, 1, 1, 16, 0), "ND-L09"),
        (MteGmL1Frac(UNKNOWN, 0, "nd2nz", 32, 8, UNKNOWN, 1, 0, 0, 0), "ND-L07"),
        (MteGmL1Frac(0, 0, "nd2nz", UNKNOWN, UNKNOWN, 64, 0, 1, 16, 0, UNKNOWN), "ND-L04"),
        (MteL0cGm(0, UNKNOWN, UNKNOWN, 32, 8, UNKNOWN), "FIX-L15"),
        (MteL0cGm(0, UNKNOWN, 4, 16, 16, 8), "FIX-L24"),
        (MteL0cGm(0, UNKNOWN, 1, 1, 0, 1, sid=4), "FIX-L13"),
        (CopyUbufToUbuf(UNKNOWN, 0, 0, UNKNOWN, 33, UNKNOWN, 0), "DMA-L11"),
        (CopyUbufToUbuf(UNKNOWN, 8, 0, 1, 32, 0, 0), "DMA-L06"),
        (CopyUbufToGm(0, UNKNOWN, 0, UNKNOWN, 32, 16, 0, 0), "DMA-L05"),
    ],
)
def test_known_operands_decide(op: Op, rule: str) -> None:
    assert rules(op) == [rule]


def test_unknown_operands_decide_nothing() -> None:
    one = UNKNOWN
    assert rules(MteGmUb(one, one, one, one, one, one)) == []
    assert rules(MteUbUb(UNKNOWN, 0, 8, 1, 0, 0)) == []
    assert rules(MteGmL1Frac(0, 0, "nd2nz", one, one, one, one, one, one, one)) == []
    scale = PreQuant("qf322f16_pre_scalar", Scalar("f32", UNKNOWN))
    clip = PreRelu("no_relu", None, Scalar("f16", UNKNOWN))
    back = MteL0cGm(one, one, one, one, one, one, dst_type=Ptr("f16", "gm"))
    back = replace(back, pre_quant=scale, pre_relu=clip)
    assert rules(back) == []
    with_k = replace(back, layout="nz2dn", k=UNKNOWN, unit_flag=2)
    assert rules(with_k) == []
    assert isinstance(UNKNOWN, Unknown)


# --- the matrix unit -----------------------------------------------------------------------------


def test_ops_of_the_host() -> None:
    def messages(op: Mad) -> list[str]:
        return [finding.message for finding in check(program([compute(op)]))]

    l0a, l0b, l0c = (Ptr("f16", space) for space in ("l0a", "l0b", "l0c"))
    result = Ptr("f32", "l0c")
    mad = Mad(0, 0, 0, 16, 16, 16, l0a, l0b, result)
    assert messages(mad) == []
    assert messages(replace(mad, dst_type=l0c)) == ["accumulators of f16 are f16"]
    (finding,) = check(program([compute(replace(mad, rhs_type=Ptr("bf16", "l0b")))]))
    assert finding.legal == "two of i8, f16, bf16, f32 or hif8, or any two of f8E4M3FN and f8E5M2"
    assert messages(replace(mad, lhs_type=Ptr("i16", "l0a"))) != []
    assert messages(replace(mad, dst=32)) == ["result address is 0x20"]
    assert messages(replace(mad, m=4095, n=32, k=16)) == ["lhs reaches l0a 0x20000"]
    assert messages(replace(mad, m=1024, n=80, k=16)) == ["dst reaches l0c 0x50000"]
    assert messages(replace(mad, m=-1)) == ["m is -1"]
    assert messages(replace(mad, k=4096)) == ["k is 4096"]


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
    profile: Profile, op: Op, rule: str, facts: str
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
