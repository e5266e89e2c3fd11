# SPDX-License-Identifier: Apache-2.0
"""Rules of the burst copies and the NZ repack at the last legal value and the first illegal one."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given

from scoreboards.model.dma import ReferenceModel
from tb.isa.block import FrontEndError, from_ops
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.dtypes import Ptr
from tb.isa.l0.op import LOAD_CLASSES
from tb.isa.lower import OP_CLASSES, lower
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import Op, replace
from tb.isa.rules import first_d_violation, lowering_violation, s_violations, t_violations
from tests.isa.strategies import UBUF_COPIES
from tests.model import naive_ops
from tests.wording import pattern, says

UB = 262144
L1 = 524288
GM = 1 << 40


def changed(base: Op, **changes: Any) -> Op:
    return lower(replace(base, **changes))


ub_ub = partial(changed, MteUbUb(4096, 0, 2, 3, 1, 2))
ub_l1 = partial(changed, MteUbL1(4096, 0, 2, 3, 1, 2))
bias = partial(changed, MteL1Bt(0, 0, 1, 4, 0, 0, Ptr("f16", "l1"), Ptr("f32", "bt")))
rows = partial(changed, MteL1Fb(0, 0, 2, 4, 0, 0))
frac = partial(changed, MteGmL1Frac(0, 0, "nd2nz", 32, 16, 32, 2, 1, 16, 64, 1024))
small = partial(frac, d_value=4, smallc0_en=1, dst_loop2_stride=0)
ONE = {"n_burst": 1}

CASES = [
    (ub_ub(), ""),
    (ub_ub(len_burst=0, n_burst=65535, src_gap=65535, dst_gap=65535), ""),
    (ub_ub(len_burst=65536), "DMA-L05"),
    (ub_ub(n_burst=65536), "DMA-L05"),
    (ub_ub(src_gap=65536), "DMA-L05"),
    (ub_l1(len_burst=65536), "DMA-L05"),
    (ub_l1(n_burst=65536), "DMA-L05"),
    (ub_l1(src_gap=65536), "DMA-L05"),
    (ub_l1(dst_gap=65536), "DMA-L05"),
    (ub_ub(dst_gap=1 << 30), "DMA-L05"),
    (ub_ub(ub_src=4096 + 16), "DMA-L06"),
    (ub_ub(ub_dst=31), "DMA-L06"),
    (ub_ub(**ONE, ub_src=UB - 64), ""),
    (ub_ub(**ONE, ub_src=UB - 32), "DMA-L12"),
    (ub_ub(**ONE, ub_dst=UB - 64, dst_gap=65535), ""),
    (ub_ub(ub_dst=UB - 64), "DMA-L12"),
    (ub_ub(len_burst=0, ub_dst=1 << 40), ""),
    (ub_ub(ub_dst=16, src_gap=65536), "DMA-L05"),
    (ub_ub(n_burst=2, dst_gap=8188), ""),
    (ub_ub(n_burst=2, dst_gap=8189), "DMA-L12"),
    (ub_l1(**ONE, ub_src=UB - 64), ""),
    (ub_l1(**ONE, ub_src=UB - 32), "DMA-L12"),
    (ub_l1(**ONE, ub_src=UB - 48), "DMA-L06"),
    (ub_l1(l1_dst=L1 - 320), ""),
    (ub_l1(l1_dst=L1 - 288), "DMA-L12"),
    (ub_l1(l1_dst=16), "DMA-L06"),
    (bias(), ""),
    (bias(n_burst=4095, len_burst=0), ""),
    (bias(n_burst=4096, len_burst=0), "BT-L02"),
    (bias(n_burst=0, len_burst=65535, src_gap=65535, dst_gap=65535), ""),
    (bias(n_burst=0, len_burst=65536), "BT-L02"),
    (bias(n_burst=0, dst_gap=65536), "BT-L02"),
    (bias(src_gap=65536), "BT-L02"),
    (bias(bt_dst=64), ""),
    (bias(bt_dst=32), "BT-L03"),
    (bias(l1_src=32), ""),
    (bias(l1_src=16), "BT-L03"),
    (bias(**ONE, len_burst=1024), ""),
    (bias(**ONE, len_burst=1025), "BT-L04"),
    (bias(**ONE, len_burst=16, l1_src=L1 - 32), ""),
    (bias(**ONE, len_burst=17, l1_src=L1 - 32), "BT-L04"),
    (bias(**ONE, len_burst=9, l1_src=L1 - 32, src_type=Ptr("f32", "l1")), "BT-L04"),
    (bias(n_burst=2, dst_gap=1022), ""),
    (bias(n_burst=2, dst_gap=1023), "BT-L04"),
    (bias(**ONE, dst_gap=65535, src_gap=65535), ""),
    (rows(), ""),
    (rows(n_burst=4095, len_burst=0, src_gap=65535, dst_gap=65535), ""),
    (rows(n_burst=0, len_burst=65535), ""),
    (rows(n_burst=0, src_gap=65536), "FB-L02"),
    (rows(n_burst=0, dst_gap=65536), "FB-L02"),
    (rows(n_burst=4096), "FB-L02"),
    (rows(len_burst=65536), "FB-L02"),
    (rows(l1_src=8), "FB-L03"),
    (rows(fb_dst=32), "FB-L03"),
    (rows(**ONE, fb_dst=0x10F80), ""),
    (rows(**ONE, fb_dst=0x10FC0), "FB-L04"),
    (rows(**ONE, fb_dst=0x11000), "FB-L04"),
    (rows(fb_dst=0x20000), "FB-L04"),
    (rows(len_burst=0, fb_dst=0x20000), "FB-L04"),
    (rows(**ONE, len_burst=64), ""),
    (rows(**ONE, len_burst=65), "FB-L04"),
    (rows(**ONE, len_burst=2, l1_src=L1 - 128), ""),
    (rows(**ONE, len_burst=2, l1_src=L1 - 96), "FB-L04"),
    (frac(), ""),
    (frac(n_value=16384, d_value=0), ""),
    (frac(n_value=16385, d_value=0), "ND-L03"),
    (frac(n_value=0, d_value=65535), ""),
    (frac(n_value=0, d_value=65536), "ND-L03"),
    (frac(group_count=4095, n_value=0), ""),
    (frac(group_count=4096, n_value=0), "ND-L03"),
    (frac(n_value=1, group_count=1, src_inner_stride=(1 << 40) - 1), ""),
    (frac(group_count=1, src_outer_stride=(1 << 40) - 1), ""),
    (frac(n_value=1, dst_loop2_stride=65535), ""),
    (frac(dst_loop3_stride=65535), ""),
    (frac(group_count=1, dst_loop4_stride=65535), ""),
    (frac(src_inner_stride=1 << 40), "ND-L03"),
    (frac(src_outer_stride=1 << 40), "ND-L03"),
    (frac(dst_loop2_stride=65536), "ND-L03"),
    (frac(dst_loop3_stride=65536), "ND-L03"),
    (frac(dst_loop4_stride=65536), "ND-L03"),
    (frac(l2_cache_ctrl=15), ""),
    (frac(l2_cache_ctrl=16), "ND-L03"),
    (frac(smallc0_en=2), "ND-L03"),
    (frac(group_count=0), "ND-L04"),
    (frac(group_count=0, n_value=0), "ND-L04"),
    (small(), ""),
    (small(d_value=5), "ND-L05"),
    (frac(l1_dst=16), "ND-L06"),
    (frac(dst_loop2_stride=0), "ND-L07"),
    (frac(n_value=1, dst_loop2_stride=0), ""),
    (frac(d_value=16, dst_loop3_stride=0), ""),
    (frac(d_value=17, dst_loop3_stride=0), "ND-L07"),
    (frac(dst_loop4_stride=0), "ND-L07"),
    (frac(group_count=1, dst_loop4_stride=0), ""),
    (small(dst_loop3_stride=0), ""),
    (small(dst_loop4_stride=0), "ND-L07"),
    (frac(group_count=1, l1_dst=L1 - 1024), ""),
    (frac(group_count=1, l1_dst=L1 - 992), "ND-L08"),
    (frac(group_count=1, gm_src=GM - 1024), ""),
    (frac(group_count=1, gm_src=GM - 1023), "ND-L08"),
    (frac(group_count=1, n_value=6, mode="dn2nz", gm_src=GM - 492), ""),
    (frac(group_count=1, n_value=6, mode="dn2nz", gm_src=GM - 491), "ND-L08"),
    (frac(src_outer_stride=GM - 1024), ""),
    (frac(src_outer_stride=GM - 1023), "ND-L08"),
    (small(group_count=1, n_value=6, l1_dst=L1 - 64), ""),
    (small(group_count=1, n_value=9, l1_dst=L1 - 64), "ND-L08"),
    (frac(n_value=0, l1_dst=1 << 60), ""),
]


@pytest.mark.parametrize(("desc", "rule"), CASES)
def test_lowest_violated_rule(desc: Op, rule: str) -> None:
    violation, number = first_d_violation(desc), int(rule[-2:] or 0)
    assert (violation.rule.name if violation else "") == rule
    assert naive_ops.lowest_rule(desc) == number, "a second reading of the rules"  # type: ignore[arg-type]
    outcome = ReferenceModel({}).issue(desc)
    assert outcome.rule == number
    assert not rule or (outcome.read, outcome.written) == (None, None)


def test_messages_give_value_and_range() -> None:
    facts = r"BT-L02 n_burst 4096 12 bits 0\.\.4095"
    assert says(str(first_d_violation(bias(n_burst=4096))), facts)
    facts = "ND-L08 L1 0x80020 memory ends 0x80000"
    assert says(str(first_d_violation(frac(group_count=1, l1_dst=L1 - 992))), facts)


F16, F32 = Ptr("f16", "l1"), Ptr("f32", "bt")


@pytest.mark.parametrize(
    ("op", "rules"),
    [
        (MteUbUb(0, 0, 1, 1, 0, 0), []),
        (MteUbUb(0, 0, 1, 1, 0, 0, Ptr("i8", "l1")), ["DMA-L04"]),
        (MteUbL1(0, 0, 1, 1, 0, 0, dst_type=Ptr("i16", "l1")), ["DMA-L04"]),
        (MteL1Bt(0, 0, 1, 1, 0, 0, F16, F32), []),
        (MteL1Bt(0, 0, 1, 1, 0, 0, F16, Ptr("f16", "bt")), ["BT-L01"]),
        (MteL1Bt(0, 0, 1, 1, 0, 0, Ptr("i8", "l1"), F32), ["BT-L01"]),
        (MteL1Bt(0, 0, 1, 1, 0, 0, F16, Ptr("f32", "fb")), ["BT-L01"]),
        (MteL1Fb(0, 0, 1, 1, 0, 0), []),
        (MteL1Fb(0, 0, 1, 1, 0, 0, dst_type=Ptr("i64", "bt")), ["FB-L01"]),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1), []),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1, dst_type=Ptr("i8", "l1")), ["ND-L01"]),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1, dst_type=Ptr("f16", "ub")), ["ND-L01"]),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1, src_type=Ptr("i64", "gm")), ["ND-L01"]),
    ],
)
def test_front_end_rules(op: Op, rules: list[str]) -> None:
    assert [violation.rule.name for violation in s_violations(op)] == rules


@pytest.mark.parametrize("name", LOAD_CLASSES)
@pytest.mark.parametrize("dtype", ["i1", "i4", "si4", "ui4", "i64"])
def test_a_load_refuses_elements_of_unknown_width(name: str, dtype: str) -> None:
    """Half bytes have a width in pairs of FP4 alone (docs/spec/l0_loads.md, LD-L01; DI-12)."""
    good = LOAD_CLASSES[name](0, 0, 0, 0, 1, 1, 1, 1)
    pair = Ptr("f4E2M1x2", "l1"), Ptr("f4E1M2x2", good.spec.destination)
    assert not s_violations(replace(good, src_type=pair[0], dst_type=pair[1]))
    bad = replace(good, src_type=Ptr(dtype, "l1"), dst_type=Ptr(dtype, good.spec.destination))
    assert [found.rule.name for found in s_violations(bad)] == ["LD-L01"]
    assert good.spec.scales or bad.unencodable.startswith("LD-L01")


@pytest.mark.parametrize("cls", OP_CLASSES.values(), ids=OP_CLASSES)
def test_defaults_keep_the_front_end_rules(cls: type[Op]) -> None:
    needed = {name: 1 for name in cls.names if name not in cls.defaults}
    words = {"mode": "nd2nz"}
    op = cls(**{name: words.get(name, value) for name, value in needed.items()})
    assert not s_violations(op)
    assert from_ops([op]).program() == [(op,)]


def test_nothing_of_a_block_with_a_front_end_violation_is_built() -> None:
    good = MteUbUb(0, 64, 1, 1, 0, 0)
    bad = MteL1Bt(0, 0, 1, 1, 0, 0, F16, Ptr("f16", "bt"))
    with pytest.raises(
        FrontEndError, match=pattern("op 1 breaks BT-L01 f16 -> f16 not a bias load")
    ):
        from_ops([good, bad])
    with pytest.raises(FrontEndError, match=pattern(r"op 0 breaks DMA-L04 ub pto\.mte_ub_ub")):
        from_ops([replace(good, src_type=Ptr("i8", "l1"))])


@pytest.mark.parametrize(
    ("desc", "rules"),
    [
        (ub_ub(), []),
        (ub_ub(ub_src=32), ["DMA-L14"]),
        (ub_ub(ub_src=64, src_gap=2), []),
        (frac(), []),
        (frac(dst_loop3_stride=1, d_value=17), ["ND-L09"]),
        (frac(dst_loop3_stride=1, dst_loop2_stride=2, d_value=32), []),
        (frac(dst_loop4_stride=31), ["ND-L09"]),
        (small(n_value=9, dst_loop4_stride=2), ["ND-L09"]),
        (small(n_value=8, dst_loop4_stride=2), []),
    ],
)
def test_undefined_ops_are_recognised(desc: Op, rules: list[str]) -> None:
    assert [violation.rule.name for violation in t_violations(desc)] == rules


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (MteL1Bt(0, 0, 1, 1, 0, 0, F16, Ptr("f16", "bt")), "BT-L01"),
        (MteGmL1Frac(0, 0, "nd2nz", 1, 1, 1, 1, 1, 1, 1, src_type=Ptr("i64", "gm")), "ND-L01"),
    ],
)
def test_ops_without_a_descriptor_are_errors(op: Op, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lower(op)


COPY = CopyUbufToUbuf(4096, 0, 0, 3, 64, 96, 128)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({}, ""),
        ({"sid": 1 << 70}, ""),
        ({"len_burst": 65536}, "DMA-L05"),
        ({"n_burst": 65536}, "DMA-L05"),
        ({"src_stride": 1 << 21}, "DMA-L05"),
        ({"dst_stride": 1 << 21, "n_burst": 1}, "DMA-L05"),
        ({"src_stride": 100}, "DMA-L07"),
        ({"dst_stride": 130, "len_burst": 65}, "DMA-L07"),
        ({"dst_stride": 130, "n_burst": 1}, ""),
        ({"src_stride": 32}, "DMA-L08"),
        ({"dst_stride": 32, "n_burst": 1}, ""),
        ({"len_burst": 65, "src_stride": 64}, "DMA-L08"),
        ({"len_burst": 65}, "DMA-L11"),
        ({"len_burst": 65, "n_burst": 0}, "DMA-L11"),
        ({"len_burst": 0}, ""),
        ({"len_burst": 65536, "src": 16, "n_burst": 0}, "DMA-L05"),
        ({"src": 16}, "DMA-L06"),
        ({"dst": 48, "len_burst": 40, "src_stride": 40, "dst_stride": 40}, "DMA-L06"),
        ({"src": 262144 - 256, "dst": 0}, ""),
        ({"src": 262144 - 224, "dst": 0}, "DMA-L12"),
        ({"dst": 262144 - 288}, "DMA-L12"),
        ({"dst": 262144, "n_burst": 0}, ""),
    ],
)
def test_legacy_ub_copy_is_refused_at_lowering(changes: dict[str, Any], rule: str) -> None:
    """The copy is judged once, on its own operands (A-67)."""
    op = replace(COPY, **changes)
    violation = lowering_violation(op)
    assert (violation.rule.name if violation else "") == rule


def test_legacy_ub_copy_becomes_the_one_with_gaps() -> None:
    assert lower_ubuf_copy(COPY) == ub_ub()
    assert lower_ubuf_copy(COPY) == MteUbUb(4096, 0, 2, 3, 1, 2)
    alone = replace(COPY, n_burst=1, src_stride=7, dst_stride=0)
    assert lower_ubuf_copy(alone) == ub_ub(n_burst=1, src_gap=0, dst_gap=0)


@pytest.mark.long
@given(UBUF_COPIES)
def test_every_legacy_ub_copy_that_is_issued_has_a_descriptor_that_fits(op: CopyUbufToUbuf) -> None:
    if lowering_violation(op) is None:
        assert first_d_violation(lower_ubuf_copy(op)) is None
    elif lowering_violation(op).rule.number in (7, 8, 11):  # type: ignore[union-attr]
        with pytest.raises(ValueError, match="not issued"):
            lower_ubuf_copy(op)


def test_units_of_each_op() -> None:
    assert MteUbUb(0, 0, 1, 1, 0, 0).units == (32, 32)
    assert MteL1Fb(0, 0, 1, 1, 0, 0).units == (64, 64)
    assert MteL1Bt(0, 0, 1, 1, 0, 0, F16, F32).units == (2, 4)
    assert MteL1Bt(0, 0, 1, 1, 0, 0).units == (4, 4)
    assert MteGmL1Frac(0, 0, "nd2nz", 1, 17, 1, 1, 1, 1, 1).columns == 2
