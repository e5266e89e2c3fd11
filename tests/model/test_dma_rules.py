# SPDX-License-Identifier: Apache-2.0
"""The verdict of the model at both sides of every limit of DMA-L05 to DMA-L12."""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.model.dma import DmaOp, ReferenceModel
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm
from tb.isa.dma.op import Loop, MteGmUb, MteUbGm, Pad
from tb.isa.dtypes import Ptr
from tb.isa.op import replace
from tb.isa.profile import parse_profile, use
from tests.model import naive
from tests.model.conftest import PROFILE_TEXTS, Bench, near
from tests.model.naive_rules import lowest_rule

F16 = Ptr("f16", "gm"), Ptr("f16", "ub")
F32 = Ptr("f32", "gm"), Ptr("f32", "ub")
I64 = Ptr("i64", "gm"), Ptr("i64", "ub")

GM_UB = MteGmUb(0, 0, 64, 1, 64, 64)
UB_GM = MteUbGm(0, 0, 64, 1, 64, 64)
PADDED = replace(GM_UB, pad=Pad("i8", 0, 0, 0))
PADDED_F32 = MteGmUb(0, 0, 32, 1, 64, 64, (), Pad("f32", 0), 0, *F32)
IN = CopyGmToUbuf(0, 0, 0, 1, 64, 0, 0, 0, 0, 64, 64)
OUT = CopyUbufToGm(0, 0, 0, 1, 64, 0, 64, 64)
NOP = replace(GM_UB, len_burst=0)

# (just legal, just not, rule): one row per limit.
LIMITS: list[tuple[DmaOp, DmaOp, int]] = [
    # DMA-L05
    (replace(GM_UB, len_burst=65535), replace(GM_UB, len_burst=65536), 5),
    (replace(NOP, n_burst=65535), replace(NOP, n_burst=65536), 5),
    (replace(GM_UB, src_stride=2**40 - 1), replace(GM_UB, src_stride=2**40), 5),
    (replace(GM_UB, dst_stride=2**21 - 1), replace(GM_UB, dst_stride=2**21), 5),
    (replace(GM_UB, l2_cache_ctl=3), replace(GM_UB, l2_cache_ctl=4), 5),
    (replace(NOP, loops=(Loop(2**21 - 1, 0, 0),)), replace(NOP, loops=(Loop(2**21, 0, 0),)), 5),
    (replace(GM_UB, loops=(Loop(1, 2**40 - 1, 0),)), replace(GM_UB, loops=(Loop(1, 2**40, 0),)), 5),
    (
        replace(GM_UB, loops=(Loop(1, 0, 0), Loop(1, 0, 0), Loop(1, 0, 2**21 - 1))),
        replace(GM_UB, loops=(Loop(1, 0, 0), Loop(1, 0, 0), Loop(1, 0, 2**21))),
        5,
    ),
    (replace(PADDED, pad=Pad("i8", 255)), replace(PADDED, pad=Pad("i8", 256)), 5),
    (replace(PADDED_F32, pad=Pad("f32", 2**32 - 1)), replace(PADDED_F32, pad=Pad("f32", 2**32)), 5),
    (replace(UB_GM, len_burst=65535), replace(UB_GM, len_burst=65536), 5),
    (replace(UB_GM, len_burst=0, n_burst=65535), replace(UB_GM, len_burst=0, n_burst=65536), 5),
    (replace(UB_GM, src_stride=2**21 - 1), replace(UB_GM, src_stride=2**21), 5),
    (replace(UB_GM, dst_stride=2**40 - 1), replace(UB_GM, dst_stride=2**40), 5),
    (replace(UB_GM, l2_cache_ctl=15), replace(UB_GM, l2_cache_ctl=16), 5),
    (replace(UB_GM, loops=(Loop(1, 2**21 - 1, 0),)), replace(UB_GM, loops=(Loop(1, 2**21, 0),)), 5),
    (replace(UB_GM, loops=(Loop(1, 0, 2**40 - 1),)), replace(UB_GM, loops=(Loop(1, 0, 2**40),)), 5),
    (replace(UB_GM, loops=(Loop(8, 0, 64),)), replace(UB_GM, loops=(Loop(2**21, 0, 64),)), 5),
    (replace(OUT, l2_cache_ctl=15), replace(OUT, l2_cache_ctl=16), 5),
    (IN, replace(IN, left_padding=1), 5),
    (IN, replace(IN, right_padding=1), 5),
    (replace(IN, data_select_bit=1), replace(IN, data_select_bit=2), 5),
    (
        replace(IN, data_select_bit=1, left_padding=32, dst_stride=96),
        replace(IN, data_select_bit=1, left_padding=256, dst_stride=96),
        5,
    ),
    (
        replace(IN, data_select_bit=1, right_padding=32, dst_stride=96),
        replace(IN, data_select_bit=1, right_padding=256, dst_stride=96),
        5,
    ),
    (replace(IN, l2_cache_ctl=3), replace(IN, l2_cache_ctl=4), 5),
    # DMA-L06
    (replace(GM_UB, ub_dst=32), replace(GM_UB, ub_dst=31), 6),
    (replace(UB_GM, ub_src=32), replace(UB_GM, ub_src=33), 6),
    (replace(IN, ub_dst=32), replace(IN, ub_dst=1), 6),
    (replace(OUT, ub_src=32), replace(OUT, ub_src=48), 6),
    # DMA-L07: only where the count is above 1, and with padding
    (replace(GM_UB, dst_stride=65), replace(GM_UB, n_burst=2, dst_stride=65), 7),
    (replace(UB_GM, src_stride=65), replace(UB_GM, n_burst=2, src_stride=65), 7),
    (replace(PADDED, dst_stride=96), replace(PADDED, dst_stride=95), 7),
    (replace(GM_UB, loops=(Loop(1, 0, 65),)), replace(GM_UB, loops=(Loop(2, 0, 65),)), 7),
    (replace(UB_GM, loops=(Loop(2, 64, 65),)), replace(UB_GM, loops=(Loop(2, 65, 65),)), 7),
    (
        replace(GM_UB, n_burst=2, src_stride=65, loops=(Loop(2, 1, 128),)),
        replace(GM_UB, n_burst=2, src_stride=65, loops=(Loop(2, 1, 136),)),
        7,
    ),
    # DMA-L08: both sides, only with several rows
    (replace(GM_UB, n_burst=2), replace(GM_UB, n_burst=2, src_stride=63), 8),
    (replace(GM_UB, n_burst=2), replace(GM_UB, n_burst=2, dst_stride=32), 8),
    (replace(UB_GM, n_burst=2), replace(UB_GM, n_burst=2, dst_stride=63), 8),
    (replace(UB_GM, n_burst=2), replace(UB_GM, n_burst=2, src_stride=32), 8),
    (replace(GM_UB, src_stride=0, dst_stride=0), replace(GM_UB, n_burst=2, src_stride=0), 8),
    (replace(OUT, n_burst=2), replace(OUT, n_burst=2, dst_stride=63), 8),
    # DMA-L09
    (PADDED_F32, replace(PADDED_F32, len_burst=30), 9),
    (
        replace(PADDED, pad=Pad("i8", 0, 32, 0), dst_stride=128),
        replace(PADDED, pad=Pad("i8", 0, 33, 0), dst_stride=128),
        9,
    ),
    (
        replace(PADDED, pad=Pad("i8", 0, 0, 32), dst_stride=128),
        replace(PADDED, pad=Pad("i8", 0, 0, 33), dst_stride=128),
        9,
    ),
    (
        replace(PADDED_F32, pad=Pad("f32", 0, 8, 8), dst_stride=96),
        replace(PADDED_F32, pad=Pad("f32", 0, 9, 8), dst_stride=128),
        9,
    ),
    (
        replace(PADDED, pad=Pad("i8", 0, 32, 0), dst_stride=128),
        replace(PADDED, pad=Pad("i8", 0, 255, 0), dst_stride=128),
        9,
    ),
    (
        CopyGmToUbuf(0, 0, 0, 1, 16, 2, 4, 1, 0, 16, 32, *F16),
        CopyGmToUbuf(0, 0, 0, 1, 16, 3, 4, 1, 0, 16, 32, *F16),
        9,
    ),
    (
        CopyGmToUbuf(0, 0, 0, 1, 16, 4, 4, 1, 0, 16, 32, *F32),
        CopyGmToUbuf(0, 0, 0, 1, 16, 4, 2, 1, 0, 16, 32, *F32),
        9,
    ),
    # DMA-L10: also for one row
    (PADDED, replace(PADDED, len_burst=65), 10),
    (
        replace(PADDED, len_burst=34, pad=Pad("i8", 0, 10, 20)),
        replace(PADDED, len_burst=34, pad=Pad("i8", 0, 10, 21)),
        10,
    ),
    (
        CopyGmToUbuf(0, 0, 0, 1, 20, 6, 6, 1, 0, 20, 32, *F16),
        CopyGmToUbuf(0, 0, 0, 1, 20, 6, 8, 1, 0, 20, 32, *F16),
        10,
    ),
    # DMA-L12
    (replace(GM_UB, gm_src=2**40 - 64), replace(GM_UB, gm_src=2**40 - 63), 12),
    (replace(UB_GM, gm_dst=2**40 - 64), replace(UB_GM, gm_dst=2**40 - 63), 12),
    (replace(GM_UB, ub_dst=262144 - 64), replace(GM_UB, ub_dst=262144 - 32), 12),
    (replace(UB_GM, ub_src=262144 - 64), replace(UB_GM, ub_src=262144 - 32), 12),
    (
        replace(PADDED, len_burst=1, dst_stride=64, ub_dst=262144 - 64),
        replace(PADDED, len_burst=1, dst_stride=64, ub_dst=262144 - 32),
        12,
    ),
    (replace(GM_UB, n_burst=4096, dst_stride=64), replace(GM_UB, n_burst=4097, dst_stride=64), 12),
    (
        replace(GM_UB, loops=(Loop(2, 2**40 - 64, 64),)),
        replace(GM_UB, loops=(Loop(2, 2**40 - 63, 64),)),
        12,
    ),
    (
        replace(UB_GM, loops=(Loop(2, 262144 - 64, 64),)),
        replace(UB_GM, loops=(Loop(2, 262144 - 32, 64),)),
        12,
    ),
    (replace(UB_GM, gm_dst=0), replace(UB_GM, gm_dst=2**70), 12),
]


@pytest.mark.parametrize(("legal", "illegal", "rule"), LIMITS)
def test_both_sides_of_a_limit(bench: Bench, legal: DmaOp, illegal: DmaOp, rule: int) -> None:
    assert bench.model.execute(illegal).rule == rule
    assert bench.unchanged()
    assert bench.model.execute(legal).rule == 0


def test_lowest_rule_wins(bench: Bench) -> None:
    everything = MteGmUb(2**40, 1, 65537, 2, 0, 33, (), Pad("i16", 2**16, 255, 255), 4, *F16)
    fitting = replace(everything, len_burst=33, l2_cache_ctl=0, pad=Pad("i16", 0, 17, 17))
    assert bench.model.execute(everything).rule == 5
    assert bench.model.execute(fitting).rule == 6
    aligned = replace(fitting, ub_dst=0)
    assert bench.model.execute(aligned).rule == 7
    strided = replace(aligned, dst_stride=32)
    assert bench.model.execute(strided).rule == 8
    spaced = replace(strided, src_stride=64, dst_stride=64)
    assert bench.model.execute(spaced).rule == 9
    whole = replace(spaced, len_burst=34, pad=Pad("i16", 0, 16, 16))
    assert bench.model.execute(whole).rule == 10
    assert bench.model.execute(replace(whole, pad=None)).rule == 12
    assert bench.unchanged()


def _draw(rng: np.random.Generator) -> naive.Copy:
    size = int(rng.choice([1, 2, 4, 8]))
    dtype = {1: "i8", 2: "f16", 4: "i32", 8: "i64"}[size]
    gm, ub = Ptr(dtype, "gm"), Ptr(dtype, "ub")
    gm_base = near(rng, 0, 100, 2**40 - 128, 2**40)
    ub_base = near(rng, 0, 64, 262144 - 128, 262144)
    length = near(rng, 32, 64, 128, 65535) if rng.random() < 0.5 else 64
    n = int(rng.choice([0, 1, 1, 1, 2, 2, 3, 65535, 65536]))
    gm_stride = near(rng, length, 128, 2**40 - 1)
    ub_stride = -(-length // 32) * 32 if rng.random() < 0.5 else near(rng, length, 128, 2**21 - 1)
    loops = tuple(
        Loop(
            int(rng.choice([0, 1, 1, 2, 2**21 - 1, 2**21])),
            near(rng, 256, 2**21 - 1, 2**40 - 1),
            near(rng, 256, 2**21 - 1, 2**40 - 1),
        )
        for _ in range(int(rng.choice([0, 0, 0, 1, 2, 3])))
    )
    left, right = (int(x) for x in rng.choice([0, 0, 1, 2, 4, 8, 16, 32, 33, 255, 256], 2))
    kind = int(rng.integers(5))
    if kind == 0:
        l2 = int(rng.choice([0, 0, 15, 16]))
        return MteUbGm(ub_base, gm_base, length, n, ub_stride, gm_stride, loops, l2, ub, gm)
    l2 = int(rng.choice([0, 0, 3, 4]))
    if kind == 1:
        return MteGmUb(gm_base, ub_base, length, n, gm_stride, ub_stride, loops, None, l2, gm, ub)
    if kind == 2 and size < 8:
        value = int(rng.choice([0, 256**size - 1, 256**size], p=[0.5, 0.4, 0.1]))
        pad = Pad(dtype, value, left, right)
        return MteGmUb(gm_base, ub_base, length, n, gm_stride, ub_stride, loops, pad, l2, gm, ub)
    if kind == 3:
        l2 = int(rng.choice([0, 0, 15, 16]))
        return CopyUbufToGm(ub_base, gm_base, 0, n, length, l2, gm_stride, ub_stride, ub, gm)
    select = int(rng.choice([0, 1, 2], p=[0.45, 0.5, 0.05]))
    if select == 0 and rng.random() < 0.7:
        left = right = 0
    return CopyGmToUbuf(
        gm_base, ub_base, 0, n, length, left, right, select, l2, gm_stride, ub_stride, gm, ub
    )


@pytest.mark.share("tb/isa")
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILE_TEXTS)
def test_random_verdicts_match_a_second_reading_of_the_rules(profile: str) -> None:
    use(parse_profile(profile))
    rng = np.random.default_rng(11)
    model = ReferenceModel({})
    seen: dict[int, int] = {}
    for _ in range(20000):
        op = _draw(rng)
        expected = lowest_rule(naive.plain(op, naive.Regs()))
        assert model.issue(op).rule == expected, op
        seen[expected] = seen.get(expected, 0) + 1
    assert set(seen) == {0, 3, 5, 6, 7, 8, 9, 10, 12}
    assert min(seen.values()) > 50
