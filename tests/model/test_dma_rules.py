# SPDX-License-Identifier: Apache-2.0
"""The verdict of the model on strided copies that break several rules, and on random ones.

Limits of single rules are in tests/isa/test_rules.py, where the model judges them, too.
"""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.model.dma import ReferenceModel
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
