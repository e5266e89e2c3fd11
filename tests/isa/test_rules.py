# SPDX-License-Identifier: Apache-2.0
"""Rules of docs/spec/dma.md section 5 on strided ops: last legal value and first illegal one."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from scoreboards.model.dma import ReferenceModel
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, DmaRegisters, lower_copy
from tb.isa.dma.op import (
    DmaOp,
    Loop,
    MteGmL1,
    MteGmUb,
    MteL1Ub,
    MteUbGm,
    Pad,
)
from tb.isa.dtypes import Ptr
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.profile import parse_profile, using
from tb.isa.rules import RULES, first_d_violation, s_violations, t_violations
from tests.model.naive import read_descriptor
from tests.model.naive_rules import lowest_rule

F16_GM, F16_UB = Ptr("f16", "gm"), Ptr("f16", "ub")
LOAD = MteGmUb(0, 0, 64, 2, 64, 64, src_type=F16_GM, dst_type=F16_UB)
STORE = MteUbGm(0, 0, 64, 2, 64, 64)
PADDED = replace(LOAD, len_burst=40, pad=Pad("f16", 0x3C00, 0, 0))
COPY_IN = CopyGmToUbuf(0, 0, 0, 2, 40, 0, 0, 1, 0, 64, 64, F16_GM, F16_UB)
COPY_OUT = CopyUbufToGm(0, 0, 0, 2, 64, 0, 64, 64)
UB = 262144
L1 = 524288
GM = 1 << 40


def rule_of(desc: DmaOp) -> int:
    violation = first_d_violation(desc)
    return violation.rule.number if violation else 0


def changed(base: DmaOp | CopyGmToUbuf | CopyUbufToGm, **changes: Any) -> DmaOp:
    op = replace(base, **changes)
    return lower_copy(op, DmaRegisters()) if isinstance(op, CopyGmToUbuf | CopyUbufToGm) else op


load, store, padded = partial(changed, LOAD), partial(changed, STORE), partial(changed, PADDED)
copy_in, copy_out = partial(changed, COPY_IN), partial(changed, COPY_OUT)
gm_l1 = partial(changed, MteGmL1(0, 0, 64, 2, 64, 64))
l1_ub = partial(changed, MteL1Ub(0, 0, 2, 2, 0, 0))


F32_ROWS = {"src_type": Ptr("f32", "gm"), "dst_type": Ptr("f32", "ub")}


def one_row(length: int) -> dict[str, int]:
    return {"n_burst": 1, "len_burst": length}


CASES = [
    # DMA-L05: every field at its last legal value and one above.
    (load(n_burst=0, len_burst=65535), 0),
    (load(n_burst=0, len_burst=65536), 5),
    (load(len_burst=0, n_burst=65535), 0),
    (load(len_burst=0, n_burst=65536), 5),
    (load(n_burst=1, src_stride=(1 << 40) - 1), 0),
    (load(n_burst=1, src_stride=1 << 40), 5),
    (load(n_burst=1, dst_stride=(1 << 21) - 1), 0),
    (load(n_burst=1, dst_stride=1 << 21), 5),
    (load(l2_cache_ctl=3), 0),
    (load(l2_cache_ctl=4), 5),
    (store(l2_cache_ctl=15), 0),
    (store(l2_cache_ctl=16), 5),
    (store(n_burst=1, dst_stride=1 << 40), 5),
    (store(n_burst=1, src_stride=1 << 21), 5),
    (load(len_burst=0, loops=(Loop((1 << 21) - 1, 0, 0),)), 0),
    (load(len_burst=0, loops=(Loop(1 << 21, 0, 0),)), 5),
    (load(loops=(Loop(1, (1 << 40) - 1, (1 << 21) - 1),)), 0),
    (load(loops=(Loop(1, 0, 0), Loop(1, 1 << 40, 0))), 5),
    (load(loops=(Loop(1, 0, 0), Loop(1, 0, 0), Loop(1, 0, 1 << 21))), 5),
    (padded(pad=Pad("f16", 0xFFFF, 0, 0)), 0),
    (padded(pad=Pad("f16", 0x10000, 0, 0)), 5),
    (padded(pad=Pad("f16", 0, 255, 0)), 9),
    (padded(pad=Pad("f16", 0, 256, 0)), 5),
    (padded(pad=Pad("f16", 0, 0, 256)), 5),
    (copy_out(l2_cache_ctl=15), 0),
    (copy_out(l2_cache_ctl=16), 5),
    (copy_out(l2_cache_ctl=16, ub_src=16), 5),
    (copy_in(data_select_bit=0, left_padding=2), 5),
    (copy_in(data_select_bit=0, right_padding=2), 5),
    (copy_in(data_select_bit=2), 5),
    (copy_in(left_padding=256), 5),
    (copy_in(sid=12345), 0),
    # DMA-L03 of a legacy copy, before every other number and for a NOP too.
    (copy_in(src_type=Ptr("i64", "gm")), 3),
    (copy_in(src_type=Ptr("f64", "gm"), n_burst=0, ub_dst=16), 3),
    (copy_in(src_type=Ptr("i64", "gm"), data_select_bit=0, ub_dst=16), 6),
    (copy_in(src_type=Ptr("i64", "gm"), data_select_bit=2), 5),
    (store(**one_row(65535)), 0),
    (store(**one_row(65536)), 5),
    (store(len_burst=0, n_burst=65536), 5),
    (store(loops=(Loop(1, 1 << 21, 0),)), 5),
    (store(loops=(Loop(1, 0, 1 << 40),)), 5),
    (store(loops=(Loop(1 << 21, 0, 64),)), 5),
    (load(**one_row(32), **F32_ROWS, pad=Pad("f32", (1 << 32) - 1)), 0),
    (load(**one_row(32), **F32_ROWS, pad=Pad("f32", 1 << 32)), 5),
    (copy_in(right_padding=256), 5),
    (copy_in(l2_cache_ctl=4), 5),
    # DMA-L06
    (copy_in(ub_dst=1), 6),
    (copy_out(ub_src=48), 6),
    (load(ub_dst=32), 0),
    (load(ub_dst=16), 6),
    (store(ub_src=33), 6),
    (load(gm_src=1), 0),
    # DMA-L07
    (load(dst_stride=96), 0),
    (load(dst_stride=80), 7),
    (load(n_burst=1, dst_stride=80), 0),
    (store(src_stride=80), 7),
    (store(dst_stride=65), 0),
    (load(n_burst=1, loops=(Loop(1, 0, 33),)), 0),
    (load(n_burst=1, loops=(Loop(2, 0, 80),)), 7),
    (load(n_burst=1, loops=(Loop(1, 0, 0), Loop(1, 0, 0), Loop(2, 0, 80))), 7),
    (padded(n_burst=1, dst_stride=72), 7),
    (store(n_burst=1, loops=(Loop(2, 65, 64),)), 7),
    # DMA-L08
    (load(src_stride=63), 8),
    (load(dst_stride=32), 8),
    (store(src_stride=32), 8),
    (copy_out(dst_stride=63), 8),
    (load(len_burst=96, src_stride=96), 8),
    (load(n_burst=1, src_stride=0, dst_stride=0), 0),
    (store(dst_stride=63), 8),
    (store(len_burst=96, dst_stride=96), 8),
    # DMA-L09
    (padded(len_burst=42), 0),
    (padded(len_burst=41), 9),
    (padded(len_burst=32, pad=Pad("f16", 0, 16, 0)), 0),
    (padded(len_burst=20, pad=Pad("f16", 0, 17, 0)), 9),
    (padded(len_burst=32, pad=Pad("f16", 0, 0, 16)), 0),
    (padded(len_burst=20, pad=Pad("f16", 0, 0, 17)), 9),
    (copy_in(left_padding=2), 0),
    (copy_in(left_padding=3), 9),
    (copy_in(right_padding=3), 9),
    (copy_in(len_burst=20, right_padding=33), 9),
    # DMA-L10
    (padded(len_burst=40, pad=Pad("f16", 0, 8, 4)), 0),
    (padded(len_burst=40, pad=Pad("f16", 0, 8, 5)), 10),
    (padded(n_burst=1, len_burst=66), 10),
    (copy_in(left_padding=16, right_padding=10), 10),
    # DMA-L12
    (load(**one_row(64), ub_dst=UB - 64), 0),
    (load(**one_row(65), ub_dst=UB - 64), 12),
    (load(**one_row(64), gm_src=GM - 64), 0),
    (load(**one_row(64), gm_src=GM - 63), 12),
    (store(**one_row(64), ub_src=262112), 12),
    (store(**one_row(64), gm_dst=GM - 63), 12),
    (store(**one_row(64), gm_dst=1 << 70), 12),
    (store(**one_row(64), loops=(Loop(2, UB - 64, 64),)), 0),
    (store(**one_row(64), loops=(Loop(2, UB - 32, 64),)), 12),
    (load(**one_row(0), ub_dst=1 << 60, gm_src=1 << 60), 0),
    (padded(n_burst=1, ub_dst=UB - 64), 0),
    (padded(n_burst=1, ub_dst=UB - 32), 12),
    (load(n_burst=2, gm_src=GM - 64 - (1 << 39), src_stride=1 << 39), 0),
    (load(n_burst=2, gm_src=GM - 63 - (1 << 39), src_stride=1 << 39), 12),
    (load(**one_row(64), loops=(Loop((1 << 21) - 1, (1 << 40) - 1, 64),)), 12),
    (load(**one_row(64), loops=(Loop(4096, 0, 64),)), 0),
    (load(**one_row(64), loops=(Loop(4097, 0, 64),)), 12),
    # mte_gm_l1: the widths of mte_gm_ub, the size of L1.
    (gm_l1(n_burst=1, src_stride=(1 << 40) - 1, dst_stride=(1 << 21) - 1), 0),
    (gm_l1(n_burst=1, src_stride=1 << 40), 5),
    (gm_l1(n_burst=1, dst_stride=1 << 21), 5),
    (gm_l1(loops=(Loop(1 << 21, 0, 0),)), 5),
    (gm_l1(l1_dst=16), 6),
    (gm_l1(gm_src=1), 0),
    (gm_l1(dst_stride=80), 7),
    (gm_l1(src_stride=65), 0),
    (gm_l1(src_stride=63), 8),
    (gm_l1(**one_row(41)), 0),
    (gm_l1(**one_row(64), l1_dst=L1 - 64), 0),
    (gm_l1(**one_row(65), l1_dst=L1 - 64), 12),
    (gm_l1(**one_row(64), gm_src=GM - 63), 12),
    # mte_l1_ub: blocks and gaps, strides in loops only.
    (l1_ub(), 0),
    (l1_ub(len_burst=3), 0),
    (l1_ub(n_burst=4095, len_burst=0), 0),
    (l1_ub(n_burst=4096, len_burst=0), 5),
    (l1_ub(n_burst=0, len_burst=65535), 0),
    (l1_ub(n_burst=0, len_burst=65536), 5),
    (l1_ub(n_burst=1, src_gap=65535, dst_gap=65535), 0),
    (l1_ub(n_burst=1, src_gap=65536), 5),
    (l1_ub(n_burst=1, dst_gap=65536), 5),
    (l1_ub(n_burst=1, loops=(Loop(1, 1 << 21, 0),)), 5),
    (l1_ub(n_burst=1, loops=(Loop(1, 0, 1 << 21),)), 5),
    (l1_ub(l1_src=16), 6),
    (l1_ub(ub_dst=16), 6),
    (l1_ub(loops=(Loop(2, 48, 128),)), 7),
    (l1_ub(loops=(Loop(2, 128, 144),)), 7),
    (l1_ub(loops=(Loop(2, 80, 64),)), 7),
    (l1_ub(loops=(Loop(1, 80, 64),)), 0),
    (l1_ub(**one_row(2), l1_src=L1 - 64), 0),
    (l1_ub(**one_row(3), l1_src=L1 - 64), 12),
    (l1_ub(**one_row(2), ub_dst=UB - 64), 0),
    (l1_ub(**one_row(3), ub_dst=UB - 64), 12),
    (l1_ub(src_gap=1, l1_src=L1 - 160), 0),
    (l1_ub(src_gap=2, l1_src=L1 - 160), 12),
    (l1_ub(len_burst=8192), 12),
]


@pytest.mark.parametrize(("desc", "rule"), CASES)
def test_lowest_violated_rule(desc: DmaOp, rule: int) -> None:
    assert rule_of(desc) == rule
    assert lowest_rule(read_descriptor(desc)) == rule, "a second reading of the rules"
    if not desc.pad_legacy:
        outcome = ReferenceModel({}).issue(desc)
        assert outcome.rule == rule
        assert not rule or (outcome.read, outcome.written) == (None, None)


def test_messages_give_value_and_range() -> None:
    violation = first_d_violation(load(l2_cache_ctl=4))
    assert str(violation) == "DMA-L05: l2_cache_ctl is 4: 2 bits hold 0..3"


@pytest.mark.parametrize(
    ("op", "rules"),
    [
        (LOAD, []),
        (PADDED, []),
        (replace(LOAD, pad=Pad("f16", 0)), []),
        (replace(LOAD, pad=Pad("f16", 0, 1)), [2]),
        (replace(LOAD, pad=Pad("f16", 0, None, 1)), [2]),
        (replace(LOAD, pad=Pad("f32", 0)), [3]),
        (replace(LOAD, pad=Pad("ui16", 0)), [3]),
        (replace(LOAD, src_type=Ptr("f16", "ub")), [4]),
        (replace(LOAD, dst_type=Ptr("f32", "ub")), [4]),
        (replace(LOAD, src_type=Ptr("f4", "gm")), [4]),
        (replace(LOAD, l2_cache_ctl=4), [15]),
        (replace(STORE, l2_cache_ctl=15), []),
        (replace(STORE, l2_cache_ctl=16), [15]),
        (replace(LOAD, pad=Pad("f32", 0, 1), l2_cache_ctl=9), [2, 3, 15]),
    ],
)
def test_front_end_rules(op: MteGmUb | MteUbGm, rules: list[int]) -> None:
    """DMA-L02, DMA-L03, DMA-L04 and DMA-L15."""
    assert [violation.rule.number for violation in s_violations(op)] == rules


@pytest.mark.parametrize(
    ("desc", "rules"),
    [
        (load(), []),
        (load(loops=(Loop(2, 0, 128),)), []),
        (load(loops=(Loop(2, 0, 32),)), [13]),
        (load(dst_stride=128, loops=(Loop(2, 0, 64),)), []),
        (load(loops=(Loop(2, 0, 0),)), [13]),
        (store(loops=(Loop(2, 0, 127),)), [13]),
        (store(loops=(Loop(2, 0, 128),)), []),
        (padded(dst_stride=64, loops=(Loop(2, 0, 96),)), [13]),
        (load(len_burst=0, loops=(Loop(2, 0, 0),)), []),
    ],
)
def test_undefined_ops_are_recognised(desc: DmaOp, rules: list[int]) -> None:
    """DMA-L13."""
    assert [violation.rule.number for violation in t_violations(desc)] == rules


def test_every_rule_of_the_spec_is_here() -> None:
    families = {"DMA": 19, "ND": 9, "BT": 4, "FB": 4, "FIX": 27, "LD": 8, "RF": 4}
    names = [f"{family}-L{n:02d}" for family, last in families.items() for n in range(1, last + 1)]
    assert list(RULES) == names
    assert all(rule.name == name for name, rule in RULES.items())


FIVE = {"len_burst": 5, "src_stride": 8, "dst_stride": 5}
KNOB_CASES: list[tuple[str, DmaOp, int, int]] = [
    # profile text, descriptor, rule under seed, rule under the profile
    ("len_bits = 21", load(**one_row(65536)), 5, 0),
    ("len_bits = 21", load(**one_row(2097152)), 5, 5),
    ("len_bits = 21", load(len_burst=0, n_burst=65536), 5, 0),
    ("len_bits = 21", load(len_burst=0, n_burst=2097152), 5, 5),
    ("len_bits = 21", store(**one_row(65536)), 5, 0),
    ("len_bits = 21", gm_l1(**one_row(65536)), 5, 0),
    ("len_bits = 21", copy_in(data_select_bit=0, n_burst=1, len_burst=65536), 5, 0),
    ("len_bits = 21", copy_out(n_burst=1, len_burst=65536), 5, 0),
    ("row_repeat = legal", load(src_stride=0), 8, 0),
    ("row_repeat = legal", load(src_stride=0, dst_stride=32), 8, 8),
    ("row_repeat = legal", gm_l1(src_stride=16), 8, 0),
    ("row_repeat = legal", store(dst_stride=0), 8, 8),
    ("compact = legal", load(**FIVE), 7, 0),
    ("compact = legal", load(**(FIVE | {"dst_stride": 6})), 7, 7),
    ("compact = legal", gm_l1(**FIVE), 7, 0),
    ("compact = legal", padded(len_burst=40, dst_stride=40), 7, 0),
    ("compact = legal", store(len_burst=5, src_stride=5, dst_stride=5), 7, 0),
    ("pad_end = block", padded(n_burst=1, dst_stride=33), 7, 0),
    ("pad_end = block", padded(n_burst=1, dst_stride=96, ub_dst=UB - 64), 12, 0),
    ("tail = fill", load(**one_row(40), ub_dst=UB - 64), 0, 0),
]


@pytest.mark.parametrize(("profile", "desc", "seed", "other"), KNOB_CASES)
def test_knobs_change_rules(profile: str, desc: DmaOp, seed: int, other: int) -> None:
    assert rule_of(desc) == seed
    with using(parse_profile(profile)):
        assert rule_of(desc) == other


@pytest.mark.parametrize(
    ("profile", "desc", "rules"),
    [
        # 40 bytes fill their second block, which the next iteration begins in.
        ("seed", load(**one_row(40), loops=(Loop(2, 0, 64),)), []),
        ("tail = fill", load(n_burst=2, len_burst=20, loops=(Loop(2, 0, 64),)), [13]),
        ("a5", load(n_burst=3, len_burst=20, dst_stride=20, loops=(Loop(2, 0, 64),)), []),
        ("a5", load(n_burst=4, len_burst=20, dst_stride=20, loops=(Loop(2, 0, 64),)), [13]),
        ("tail = fill", load(**one_row(3), **F32_ROWS), [19]),
        ("tail = keep", load(**one_row(3), **F32_ROWS), []),
        ("pad_end = block", padded(dst_stride=128, loops=(Loop(2, 0, 64),)), []),
        ("pad_end = stride", padded(dst_stride=128, loops=(Loop(2, 0, 64),)), [13]),
        (
            "pad_end = block",
            padded(n_burst=1, dst_stride=96, pad=Pad("f16", 0, 0, 14), loops=(Loop(2, 0, 64),)),
            [18],
        ),
    ],
)
def test_undefined_ops_under_a_profile(profile: str, desc: DmaOp, rules: list[int]) -> None:
    """DMA-L13, DMA-L18 and DMA-L19."""
    with using(parse_profile(profile)):
        assert [violation.rule.number for violation in t_violations(desc)] == rules


def test_too_many_loops_are_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.\.3"):
        lower(load(loops=(Loop(1, 0, 0),) * 4))
