# SPDX-License-Identifier: Apache-2.0
"""Rules of spec/dma.md section 5 on strided ops: last legal value and first illegal one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, DmaRegisters, lower_copy
from tb.isa.dma.op import DmaDescriptor, Loop, MteGmL1, MteGmUb, MteL1Ub, MteUbGm, Pad, lower_dma
from tb.isa.dma.rules import l11
from tb.isa.dtypes import Ptr
from tb.isa.rules import RULES, first_d_violation, s_violations, t_violations

F16_GM, F16_UB = Ptr("f16", "gm"), Ptr("f16", "ub")
LOAD = MteGmUb(0, 0, 64, 2, 64, 64, src_type=F16_GM, dst_type=F16_UB)
STORE = MteUbGm(0, 0, 64, 2, 64, 64)
PADDED = dataclasses.replace(LOAD, len_burst=40, pad=Pad("f16", 0x3C00, 0, 0))
COPY_IN = CopyGmToUbuf(0, 0, 0, 2, 40, 0, 0, 1, 0, 64, 64, F16_GM, F16_UB)
COPY_OUT = CopyUbufToGm(0, 0, 0, 2, 64, 0, 64, 64)
UB = 262144
L1 = 524288
GM = 1 << 40


def rule_of(desc: DmaDescriptor) -> int:
    violation = first_d_violation(desc)
    return violation.rule.number if violation else 0


def load(**changes: Any) -> DmaDescriptor:
    return lower_dma(dataclasses.replace(LOAD, **changes))


def store(**changes: Any) -> DmaDescriptor:
    return lower_dma(dataclasses.replace(STORE, **changes))


def padded(**changes: Any) -> DmaDescriptor:
    return lower_dma(dataclasses.replace(PADDED, **changes))


def copy_in(**changes: Any) -> DmaDescriptor:
    return lower_copy(dataclasses.replace(COPY_IN, **changes), DmaRegisters())


def copy_out(**changes: Any) -> DmaDescriptor:
    return lower_copy(dataclasses.replace(COPY_OUT, **changes), DmaRegisters())


def gm_l1(**changes: Any) -> DmaDescriptor:
    return lower_dma(dataclasses.replace(MteGmL1(0, 0, 64, 2, 64, 64), **changes))


def l1_ub(**changes: Any) -> DmaDescriptor:
    return lower_dma(dataclasses.replace(MteL1Ub(0, 0, 64, 2, 64, 64), **changes))


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
    (copy_out(reserved=1), 5),
    (copy_in(data_select_bit=0, left_padding=2), 5),
    (copy_in(data_select_bit=0, right_padding=2), 5),
    (copy_in(data_select_bit=2), 5),
    (copy_in(left_padding=256), 5),
    (copy_in(sid=12345), 0),
    # DMA-L06
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
    # DMA-L08
    (load(src_stride=63), 8),
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
    # mte_l1_ub: on-chip on both sides.
    (l1_ub(), 0),
    (l1_ub(n_burst=1, src_stride=(1 << 21) - 1), 0),
    (l1_ub(n_burst=1, src_stride=1 << 21), 5),
    (l1_ub(n_burst=1, loops=(Loop(1, 1 << 21, 0),)), 5),
    (l1_ub(n_burst=1, loops=(Loop(1, 0, 1 << 21),)), 5),
    (l1_ub(l1_src=16), 6),
    (l1_ub(ub_dst=16), 6),
    (l1_ub(src_stride=80), 7),
    (l1_ub(dst_stride=80), 7),
    (l1_ub(loops=(Loop(2, 48, 128),)), 7),
    (l1_ub(loops=(Loop(2, 128, 144),)), 7),
    (l1_ub(loops=(Loop(1, 48, 48),)), 0),
    (l1_ub(src_stride=32), 8),
    (l1_ub(dst_stride=32), 8),
    (l1_ub(**one_row(40)), 11),
    (l1_ub(n_burst=0, len_burst=40), 11),
    (l1_ub(**one_row(64), l1_src=L1 - 64), 0),
    (l1_ub(**one_row(96), l1_src=L1 - 64), 12),
    (l1_ub(**one_row(64), ub_dst=UB - 64), 0),
    (l1_ub(**one_row(96), ub_dst=UB - 64), 12),
]


@pytest.mark.parametrize(("desc", "rule"), CASES)
def test_lowest_violated_rule(desc: DmaDescriptor, rule: int) -> None:
    assert rule_of(desc) == rule


def test_messages_give_value_and_range() -> None:
    violation = first_d_violation(load(l2_cache_ctl=4))
    assert str(violation) == "DMA-L05: l2_cache_ctl is 4: 2 bits hold 0..3"


@pytest.mark.parametrize(
    ("op", "rules"),
    [
        (LOAD, []),
        (PADDED, []),
        (dataclasses.replace(LOAD, pad=Pad("f16", 0)), []),
        (dataclasses.replace(LOAD, pad=Pad("f16", 0, 1)), [2]),
        (dataclasses.replace(LOAD, pad=Pad("f16", 0, None, 1)), [2]),
        (dataclasses.replace(LOAD, pad=Pad("f32", 0)), [3]),
        (dataclasses.replace(LOAD, pad=Pad("ui16", 0)), [3]),
        (dataclasses.replace(LOAD, src_type=Ptr("f16", "ub")), [4]),
        (dataclasses.replace(LOAD, dst_type=Ptr("f32", "ub")), [4]),
        (dataclasses.replace(LOAD, src_type=Ptr("f4", "gm")), [4]),
        (dataclasses.replace(LOAD, l2_cache_ctl=4), [15]),
        (dataclasses.replace(STORE, l2_cache_ctl=15), []),
        (dataclasses.replace(STORE, l2_cache_ctl=16), [15]),
        (dataclasses.replace(LOAD, pad=Pad("f32", 0, 1), l2_cache_ctl=9), [2, 3, 15]),
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
def test_undefined_ops_are_recognised(desc: DmaDescriptor, rules: list[int]) -> None:
    """DMA-L13."""
    assert [violation.rule.number for violation in t_violations(desc)] == rules


def test_every_rule_of_the_spec_is_here() -> None:
    families = {"DMA": 15, "ND": 9, "BT": 4, "FB": 4, "FIX": 25}
    names = [f"{family}-L{n:02d}" for family, last in families.items() for n in range(1, last + 1)]
    assert list(RULES) == names
    assert all(rule.name == name for name, rule in RULES.items())


def test_whole_blocks_are_required_only_of_ops_without_a_gm_side() -> None:
    assert l11(load(**one_row(64))) is None
    assert l11(load(**one_row(40))) == "len_burst 40 is not a multiple of 32"
    assert rule_of(load(**one_row(40))) == 0


def test_too_many_loops_are_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.\.3"):
        load(loops=(Loop(1, 0, 0),) * 4)
