# SPDX-License-Identifier: Apache-2.0
"""The write-back family: tables, rules at both limits, text, footprints, lowering."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.isa.block import FrontEndError, OpBlock, from_ops
from tb.isa.descriptor import pack, unpack
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixOp,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    PreRelu,
    Scalar,
    clip_bits,
    number_bits,
    number_of,
)
from tb.isa.fix.table import NUMBER_TYPES, QUANT_BY_CODE, QUANT_MODES
from tb.isa.footprint import (
    Footprint,
    destinations,
    flag_blocks,
    footprints_overlap,
    parameters,
    row_overlap,
    source,
)
from tb.isa.lower import lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.rules import first_d_violation, s_violations, t_violations
from tb.isa.spaces import Space
from tb.isa.text import to_text
from tests.isa.strategies import fix_ops
from tests.model import naive_fix_op

ONE = Scalar("f32", 0x3F800000)
HALF = Scalar("f16", 0x3800)
F16_GM, I4_GM = Ptr("f16", "gm"), Ptr("i4", "gm")
TO_F16 = PreQuant("qf322f16_pre_scalar", ONE)
TO_S4 = PreQuant("qf322s4_pre_scalar", ONE)
VECTOR = PreQuant("qf322f16_pre_vec", FbPtr("f32", 0))
FB, L0C, UB, L1, GM = 4096, 262144, 262144, 524288, 1 << 40

SEED_TEXT = (
    "pto.mte_l0c_gm %l0c_0x0, %gm_0x0, %c16_i64, %c32_i64, %c16_i64, %c32_i64, %c0_i64, %c0_i64, "
    "pre_quant(%f32_0x3F800000, mode = qf322f16_pre_scalar), nz2nd, atomic(type = f16, op = add) "
    ": !pto.ptr<f32, l0c>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64, f32"
)
SEED_OP = MteL0cGm(
    0, 0, 16, 32, 16, 32, pre_quant=TO_F16, layout="nz2nd", atomic=Atomic("f16", "add"),
    dst_type=F16_GM,
)  # fmt: skip


gm = partial(replace, MteL0cGm(0, 0, 16, 32, 16, 32))
l1 = partial(replace, MteL0cL1(0, 0, 16, 32, 16, 32))
ub = partial(replace, MteL0cUb(0, 0, 16, 32, 16, 32))
half = partial(gm, pre_quant=TO_F16, dst_type=F16_GM)
nibble = partial(gm, pre_quant=TO_S4, dst_type=I4_GM)


def clipped(dst: str, kind: str, bits: int, mode: str) -> MteL0cGm:
    relu = PreRelu("no_relu", clip=Scalar(kind, bits))
    return gm(pre_quant=PreQuant(mode, ONE), pre_relu=relu, dst_type=Ptr(dst, "gm"))


def test_codes_are_those_of_the_spec() -> None:
    assert sorted(QUANT_BY_CODE) == list(range(37))
    assert len(QUANT_MODES) == 37
    for code, name in (
        (0, "no_convert"), (1, "f32_f16"), (16, "f32_bf16"), (3, "qf322hif8_pre_scalar"),
        (4, "qf322hif8_pre_hybrid_vec"), (7, "deqs32_int_scalar"), (9, "req8_scalar"),
        (10, "deqf16_vec"), (13, "qf322fp8_pre_scalar"), (14, "qf322f32_pre_vec"),
        (18, "qf162b8_pre_scalar"), (19, "qf162s4_pre_vec"), (22, "req4_scalar"),
        (24, "qf322b8_pre_scalar"), (25, "qf322s4_pre_vec"), (28, "deqs16_scalar"),
        (29, "qf162s16_pre_vec"), (32, "qf322f16_pre_scalar"), (33, "qf322bf16_pre_vec"),
        (36, "qs322bf16_pre_scalar"),
    ):  # fmt: skip
        assert QUANT_BY_CODE[code].name == name
    vector = {code for code, mode in QUANT_BY_CODE.items() if mode.vector}
    assert vector == {2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35}


CASES = [
    (gm(), 0),
    (clipped("f16", "f16", 0x7BFF, "qf322f16_pre_scalar"), 0),
    (clipped("f16", "f16", 0x7C00, "qf322f16_pre_scalar"), 7),
    (clipped("f16", "f16", 0, "qf322f16_pre_scalar"), 7),
    (clipped("f16", "f16", 0x8001, "qf322f16_pre_scalar"), 7),
    (clipped("ui8", "ui16", 255, "qf322b8_pre_scalar"), 0),
    (clipped("ui8", "ui16", 256, "qf322b8_pre_scalar"), 7),
    (clipped("ui8", "i16", 0xFFFF, "qf322b8_pre_scalar"), 7),
    (clipped("i4", "i16", 7, "qf322s4_pre_scalar"), 0),
    (clipped("si4", "si4", 8, "qf322s4_pre_scalar"), 7),
    (clipped("i4", "i8", 8, "qf322s4_pre_scalar"), 7),
    (clipped("si8", "i8", 127, "qf322b8_pre_scalar"), 0),
    (clipped("i8", "i16", 128, "qf322b8_pre_scalar"), 7),
    (clipped("i8", "si8", 0x80, "qf322b8_pre_scalar"), 7),
    (gm(m=8192, n=0), 0),
    (gm(m=4096, n=1, dst_stride=1), 0),
    (gm(m=4097, n=1, dst_stride=1), 23),
    (gm(m=8193, n=0), 14),
    (gm(m=65535, n=0, layout="nz2nz"), 0),
    (gm(m=65536, n=0, layout="nz2nz"), 14),
    (gm(n=4095, m=0), 0),
    (gm(n=4096, m=0), 14),
    (gm(dst_stride=0), 14),
    (gm(dst_stride=(1 << 32) - 1, m=1), 0),
    (gm(dst_stride=1 << 32, m=1), 14),
    (gm(src_stride=65535, n=16), 0),
    (gm(src_stride=65536, n=16), 14),
    (gm(sid=3, l2_cache_ctrl=15), 0),
    (gm(sid=4), 14),
    (gm(l2_cache_ctrl=16), 14),
    (gm(unit_flag=2), 0),
    (gm(unit_flag=1), 14),
    (gm(unit_flag=4), 14),
    (gm(layout="nz2dn", k=0), 14),
    (gm(layout="nz2dn", k=65535, m=1), 0),
    (gm(layout="nz2dn", k=65536, m=1), 14),
    (gm(layout="nz2nz", split=2, n=48), 14),
    (gm(layout="nz2nd", loop3=Loop3(65535, 65535, (1 << 32) - 1), m=0), 0),
    (gm(layout="nz2nd", loop3=Loop3(65536, 0, 0), m=0), 14),
    (gm(layout="nz2nd", loop3=Loop3(1, 65536, 0), m=0), 14),
    (gm(layout="nz2nd", loop3=Loop3(1, 0, 1 << 32), m=0), 14),
    (ub(sub_block=1), 0),
    (ub(sub_block=2), 14),
    (ub(ub_split="split_m", sub_block=3), 0),
    (gm(src_stride=20), 15),
    (gm(src_stride=20, n=16), 0),
    (gm(src=32), 16),
    (gm(dst=2), 16),
    (half(dst=2), 0),
    (half(dst=1), 16),
    (nibble(dst=1), 0),
    (ub(dst=16), 16),
    (l1(dst=32), 0),
    (l1(pre_quant=TO_F16, dst_type=Ptr("f16", "l1"), dst_stride=24), 17),
    (l1(pre_quant=TO_F16, dst_type=Ptr("f16", "l1"), dst_stride=48), 0),
    (ub(pre_quant=TO_S4, dst_type=Ptr("i4", "ub"), dst_stride=32), 17),
    (ub(pre_quant=TO_S4, dst_type=Ptr("i4", "ub"), dst_stride=64), 0),
    (ub(layout="nz2nd", loop3=Loop3(2, 16, 4), m=1), 17),
    (gm(layout="nz2nd", loop3=Loop3(2, 16, 4), m=1, dst_stride=5), 0),
    (nibble(dst_stride=33), 18),
    (nibble(n=31), 18),
    (nibble(n=31, layout="nz2dn", k=1), 0),
    (nibble(m=15, layout="nz2dn", k=1), 18),
    (nibble(layout="nz2nd", loop3=Loop3(2, 16, 1025)), 18),
    (gm(layout="nz2nz", n=24), 19),
    (gm(layout="nz2nz", n=24, split=1, dst_stride=128), 0),
    (gm(layout="nz2nz", n=20, split=1), 19),
    (gm(layout="nz2dn", k=2, unit_flag=2), 20),
    (gm(layout="nz2dn", k=1, unit_flag=3), 0),
    (gm(layout="nz2dn", k=2), 0),
    (ub(ub_split="split_m", m=7), 21),
    (ub(ub_split="split_n", n=48), 21),
    (ub(ub_split="split_n"), 0),
    (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f16", 64))), 22),
    (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f16", FB - 256))), 0),
    (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f16", FB - 128))), 22),
    (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f16", FB - 128)), m=0), 0),
    (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f16", 8)), m=0), 22),
    (gm(pre_relu=PreRelu("vector_relu", FbPtr("f32", FB - 128))), 0),
    (gm(pre_relu=PreRelu("vector_relu", FbPtr("f32", FB - 64))), 22),
    (gm(pre_relu=PreRelu("vector_relu", FbPtr("f32", 32))), 22),
    (gm(pre_quant=PreQuant("no_convert", FbPtr("f32", 3))), 0),
    (gm(src=L0C - 2048), 0),
    (gm(src=L0C - 1984), 23),
    (gm(dst=GM - 2048), 0),
    (gm(dst=GM - 2044), 23),
    (l1(dst=L1 - 2048), 0),
    (l1(dst=L1 - 2016), 23),
    (ub(ub_split="split_m", dst=UB - 1024), 0),
    (ub(ub_split="split_n", dst_stride=16, dst=UB - 1024), 0),
    (ub(ub_split="split_n", dst_stride=16, dst=UB - 992), 23),
    (gm(src=L0C, m=0), 0),
    (gm(layout="nz2nd", loop3=Loop3(0, 65535, 1 << 31), src=L0C), 0),
    (gm(layout="nz2dn", k=1, dst_stride=16, dst=GM - 2048), 0),
    (gm(layout="nz2nz", dst_stride=256, dst=GM - 2048), 0),
    (gm(layout="nz2nz", dst_stride=256, dst=GM - 2044), 23),
]


@pytest.mark.parametrize(("op", "rule"), CASES)
def test_lowest_violated_rule(op: FixOp, rule: int) -> None:
    desc = lower(op)
    for one in (desc, unpack(pack(desc))):
        violation = first_d_violation(one)
        assert (violation.rule.name if violation else "") == (f"FIX-L{rule:02d}" if rule else "")


def test_rules_of_other_ops_do_not_apply() -> None:
    assert first_d_violation(lower(gm(dst_stride=33))) is None
    assert "FIX-L17" not in gm().spec.rule_names
    assert "FIX-L21" not in l1().spec.rule_names


def test_words_without_a_code_are_refused() -> None:
    words: dict[str, str]
    for words in ({"sat": "saturate"}, {"layout": "nd2nz"}, {"ub_split": "split_k"}):
        with pytest.raises(ValueError, match="one of"):
            ub(**words)
    with pytest.raises(ValueError, match="nd2nz, dn2nz"):
        MteGmL1Frac(0, 0, "nz2nd", 1, 1, 1, 1, 1, 1, 1)


RELU = PreRelu("scalar_relu", HALF)


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        (SEED_OP, 0),
        (gm(src_type=Ptr("f32", "l1")), 2),
        (gm(dst_type=Ptr("f32", "ub")), 2),
        (half(pre_quant=PreQuant("qf322f16_pre_scalar", None)), 3),
        (half(pre_quant=PreQuant("qf322f16_pre_scalar", FbPtr("f32", 0))), 3),
        (half(pre_quant=PreQuant("qf322f16_pre_vec", ONE)), 3),
        (half(pre_quant=PreQuant("qf322f16_pre_scalar", Scalar("i16", 1))), 3),
        (half(pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("i32", 0))), 3),
        (half(pre_quant=PreQuant("f32_f16", FbPtr("f32", 3))), 3),
        (half(pre_quant=PreQuant("f32_f16", Scalar("bf16", 3))), 0),
        (gm(pre_quant=PreQuant("no_convert", FbPtr("f32", 3))), 0),
        (gm(src_type=Ptr("i32", "l0c"), dst_type=Ptr("ui32", "gm")), 0),
        (gm(dst_type=Ptr("i32", "gm")), 4),
        (gm(pre_quant=TO_F16), 4),
        (gm(dst_type=F16_GM), 4),
        (gm(src_type=Ptr("i32", "l0c")), 4),
        (half(src_type=Ptr("i32", "l0c")), 4),
        (gm(pre_relu=PreRelu("normal_relu", HALF)), 5),
        (gm(pre_relu=PreRelu("scalar_relu")), 5),
        (gm(pre_relu=PreRelu("vector_relu", HALF)), 5),
        (gm(pre_relu=PreRelu("pwl")), 5),
        (gm(src_type=Ptr("i32", "l0c"), dst_type=Ptr("i32", "gm"), pre_relu=RELU), 5),
        (gm(pre_relu=PreRelu("no_relu", clip=Scalar("f16", 1))), 6),
        (half(pre_relu=PreRelu("no_relu", clip=Scalar("i16", 1))), 6),
        (gm(k=1), 8),
        (gm(layout="nz2dn"), 8),
        (gm(layout="nz2nd", split=0), 8),
        (half(layout="nz2nz"), 9),
        (gm(layout="nz2nz", loop3=Loop3(1, 1, 1)), 9),
        (gm(loop3=Loop3(1, 1, 1)), 10),
        (half(atomic=Atomic("f32", "add")), 11),
        (half(atomic=Atomic("f16", "sub")), 11),
        (nibble(atomic=Atomic("s8", "add")), 11),
        (ub(ub_split="split_m", layout="nz2dn", k=1), 12),
        (ub(ub_split="split_m", pre_relu=PreRelu("no_relu")), 12),
        (ub(ub_split="split_n", layout="nz2nd", loop3=Loop3(1, 1, 1)), 12),
        (ub(ub_split="split_n", layout="nz2nd"), 0),
        (gm(sid=4), 13),
    ],
)
def test_front_end_rules(op: FixOp, rule: int) -> None:
    found = [violation.rule.number for violation in s_violations(op)]
    assert found[:1] == ([rule] if rule else [])
    if rule and rule != 13:
        with pytest.raises(FrontEndError, match=f"FIX-L{rule:02d}"):
            from_ops([op])
    else:
        assert len(from_ops([op])) == 1


@pytest.mark.parametrize(
    ("op", "broken"),
    [
        (gm(), False),
        (gm(dst_stride=31), True),
        (gm(m=1, dst_stride=1), False),
        (gm(layout="nz2nd", loop3=Loop3(2, 16, 511)), True),
        (gm(layout="nz2nd", loop3=Loop3(2, 16, 512)), False),
        (gm(layout="nz2nz", dst_stride=255), True),
    ],
)
def test_rows_that_overlap_are_recognised(op: FixOp, broken: bool) -> None:
    names = [violation.rule.name for violation in t_violations(lower(op))]
    assert names == (["FIX-L24"] if broken else [])


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
@given(bits=st.integers(0, 0x7BFF))
def test_widened_numbers_are_narrowed_back(dtype: str, bits: int) -> None:
    number = Scalar(dtype, bits)
    assert number_of(dtype, number_bits(number)) == number


def test_clip_payloads_are_sign_extended() -> None:
    assert clip_bits(Scalar("i4", 0xF)) == 0xFFFF
    assert clip_bits(Scalar("si8", 0x80)) == 0xFF80
    assert clip_bits(Scalar("i8", 0x7F)) == 0x7F
    assert clip_bits(Scalar("ui16", 0xFFFF)) == 0xFFFF
    assert clip_bits(Scalar("f16", 0x3C00)) == 0x3C00


def test_text_reads_like_the_documents() -> None:
    assert to_text(SEED_OP) == SEED_TEXT


@pytest.mark.long
@given(fix_ops())
def test_drawn_ops_keep_the_front_end_rules(op: FixOp) -> None:
    assert not [v for v in s_violations(op) if v.rule.name != "FIX-L13"]


def _touched(op: FixOp) -> tuple[set[int], dict[Space, set[int]]]:
    """Source words and destination bytes by the second reading (docs/spec/fixpipe.md section 2)."""
    words: set[int] = set()
    written: dict[Space, set[int]] = {}
    for element in naive_fix_op.elements(op):
        words.add(element.src // 64 * 64)
        written.setdefault(element.space, set()).update(naive_fix_op.bytes_of(op, element))
    return words, written


@pytest.mark.parametrize(
    "op",
    [
        half(m=5, n=37, dst=6, dst_stride=41),
        half(m=6, n=20, layout="nz2dn", k=3, dst_stride=9, loop3=Loop3(3, 7, 200)),
        nibble(m=3, n=18, dst=5, dst_stride=22),
        nibble(m=4, n=7, layout="nz2dn", k=1, dst_stride=6),
        gm(m=9, n=32, layout="nz2nz", dst_stride=150),
        l1(m=9, n=24, layout="nz2nz", split=1, dst_stride=80),
        ub(m=8, n=19, ub_split="split_m", dst_stride=24),
        ub(m=3, n=64, ub_split="split_n", sub_block=0, dst_stride=40),
        ub(m=3, n=33, sub_block=1, layout="nz2nd", dst_stride=40, loop3=Loop3(2, 5, 128)),
        gm(m=0),
        gm(layout="nz2nd", loop3=Loop3(0, 1, 1)),
    ],
)
def test_footprints_against_the_loops_of_the_spec(op: FixOp) -> None:
    desc = lower(op)
    words, written = _touched(op)
    assert flag_blocks(desc).tolist() == sorted({word // 512 for word in words})
    if desc.is_nop:
        assert not words
        return
    assert set(source(desc).row_starts().tolist()) == words
    found = {}
    for region in destinations(desc):
        starts = region.row_starts()[:, None] + np.arange(region.length)
        found[region.space] = set(starts.ravel().tolist())
        assert region.end == max(found[region.space]) + 1
    assert found == written


def test_parameters_are_those_of_the_channels() -> None:
    op = half(pre_quant=VECTOR, pre_relu=PreRelu("vector_relu", FbPtr("f32", 1024)), n=20)
    quant, alphas = parameters(lower(op))
    assert (quant.space, quant.base, quant.bytes, quant.end) == (Space.FB, 0, 160, 160)
    assert (alphas.base, alphas.bytes) == (1024, 80)
    assert parameters(lower(replace(op, m=0))) == ()
    assert parameters(lower(half())) == ()


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (gm(src_type=Ptr("f16", "l0c")), "FIX-L02"),
        (gm(pre_quant=PreQuant("qf", ONE)), "FIX-L03"),
        (gm(dst_type=Ptr("i64", "gm")), "destination element type"),
        (gm(atomic=Atomic("f64", "add")), "atomic type"),
        (gm(pre_relu=PreRelu("leaky")), "pre_relu"),
        (gm(pre_relu=PreRelu("scalar_relu", Scalar("i8", 1))), "one of f32"),
    ],
)
def test_ops_without_a_descriptor_are_errors(op: FixOp, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lower(op)


def test_from_ops_keeps_the_fills() -> None:
    block = from_ops([gm(), gm(), gm()])
    delayed = replace(block, flag_delay=np.array([-1, 5, 7]))
    part: OpBlock = delayed.take(1, 3)
    assert part.flag_delay is not None
    assert part.flag_delay.tolist() == [5, 7]


def test_a_f16_number_is_widened_as_numpy_does() -> None:
    """All of them, NaN with their payloads."""
    halves = np.arange(1 << 16, dtype=np.uint16)
    wide = halves.view(np.float16).astype(np.float32).view(np.uint32)
    assert [number_bits(Scalar("f16", bits)) for bits in halves.tolist()] == wide.tolist()


# --- Footprints against sets of byte addresses

FOOTPRINTS = st.integers(1, 3).flatmap(
    lambda levels: st.builds(
        Footprint,
        st.just(Space.UB0),
        st.integers(0, 200),
        st.integers(1, 20),
        st.tuples(*[st.integers(1, 4)] * levels),
        st.tuples(*[st.integers(0, 90)] * levels),
    )
)


def addresses(footprint: Footprint) -> list[int]:
    starts = [footprint.base]
    for count, stride in zip(footprint.counts, footprint.strides, strict=True):
        starts = [start + k * stride for k in range(count) for start in starts]
    return [start + byte for start in starts for byte in range(footprint.length)]


@pytest.mark.long
@given(FOOTPRINTS)
def test_extent_and_self_overlap(footprint: Footprint) -> None:
    touched = addresses(footprint)
    assert footprint.end == max(touched) + 1
    assert footprint.bytes == len(touched)
    assert row_overlap(footprint) == (len(set(touched)) != len(touched))
    assert sorted(footprint.row_starts().tolist()) == sorted(touched[:: footprint.length])


@pytest.mark.long
@given(FOOTPRINTS, FOOTPRINTS)
def test_overlap_of_two(one: Footprint, other: Footprint) -> None:
    assert footprints_overlap(one, other) == bool(set(addresses(one)) & set(addresses(other)))


def test_other_memory_never_overlaps() -> None:
    one = Footprint(Space.UB0, 0, 32, (1,), (0,))
    assert not footprints_overlap(one, Footprint(Space.UB1, 0, 32, (1,), (0,)))
