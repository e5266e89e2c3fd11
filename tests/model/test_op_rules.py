# SPDX-License-Identifier: Apache-2.0
"""The verdict of the model on fills, on copies inside UB, and on random ops of other forms.

Limits of the other ops are in tests/isa, where the model judges them, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from scoreboards.model.burst import LOWERING_RULES
from scoreboards.model.dma import ReferenceModel
from tb.isa.burst.op import MteL1Bt, MteL1Fb, MteUbL1, MteUbUb
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.op import Loop, MteGmL1, MteL1Ub
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import RawFillL1
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.profile import parse_profile, use
from tb.isa.rules import lowering_violation
from tests.model import naive_ops
from tests.model.conftest import PROFILE_TEXTS, Bench, near

RF = RawFillL1(0, 0, 0x1234, 1, 1, 0)
CC = CopyUbufToUbuf(0, 4096, 0, 1, 64, 64, 64)
GM, L1, UB = 2**40, 524288, 262144

# (just legal, just not, rule): one row per limit.
LIMITS: list[tuple[naive_ops.Op, naive_ops.Op, int]] = [
    (replace(RF, gap=32767), replace(RF, gap=32768), 2),
    (replace(RF, repeat=32767, blocks=0), replace(RF, repeat=32768, blocks=0), 2),
    (replace(RF, repeat=0, blocks=32767), replace(RF, repeat=0, blocks=32768), 2),
    (replace(RF, raw=2**32 - 1), replace(RF, raw=2**32), 2),
    (replace(RF, dst=32), replace(RF, dst=64, byte_offset=-32), 2),
    (replace(RF, dst=16, byte_offset=16), replace(RF, byte_offset=16), 3),
    (replace(RF, dst=L1 - 32), replace(RF, dst=L1, byte_offset=0), 4),
    (replace(RF, byte_offset=L1 - 32), replace(RF, byte_offset=L1), 4),
    (replace(RF, blocks=16384), replace(RF, blocks=16385), 4),
    (replace(RF, repeat=2, gap=16382), replace(RF, repeat=2, gap=16383), 4),
    (replace(RF, dst=L1, repeat=0), replace(RF, dst=L1 + 16, repeat=0), 3),
    (replace(CC, len_burst=65504), replace(CC, len_burst=65536), 5),
    (replace(CC, src_stride=2**21 - 1), replace(CC, src_stride=2**21), 5),
    (replace(CC, len_burst=0, n_burst=65535), replace(CC, len_burst=0, n_burst=65536), 5),
    (replace(CC, src_stride=65, dst_stride=1), replace(CC, n_burst=2, src_stride=65), 7),
    (replace(CC, n_burst=2), replace(CC, n_burst=2, dst_stride=80), 7),
    (replace(CC, n_burst=2), replace(CC, n_burst=2, dst_stride=32), 8),
    (replace(CC, len_burst=96), replace(CC, len_burst=65), 11),
    (replace(CC, sid=99), replace(CC, src=16), 6),
    (replace(CC, len_burst=96), replace(CC, len_burst=65, dst=16), 6),
    (replace(CC, dst=UB - 64), replace(CC, dst=UB - 32), 12),
    (replace(CC, n_burst=2, src_stride=UB - 64), replace(CC, n_burst=2, src_stride=UB - 32), 12),
]


@pytest.mark.parametrize(("legal", "illegal", "rule"), LIMITS)
def test_both_sides_of_a_limit(
    bench: Bench, legal: naive_ops.Op, illegal: naive_ops.Op, rule: int
) -> None:
    outcome = bench.model.issue(illegal)
    assert (outcome.rule, outcome.read, outcome.written) == (rule, None, None)
    assert bench.model.issue(legal).rule == 0
    assert naive_ops.lowest_rule(illegal) == rule
    assert naive_ops.lowest_rule(legal) == 0
    bench.model.apply(outcome)
    assert bench.unchanged()


def base(rng: np.random.Generator, size: int) -> int:
    return int(rng.choice([0, 64, size - 128, size - 64, 96, 8], p=[0.3, 0.3, 0.1, 0.1, 0.1, 0.1]))


def draw_strided(rng: np.random.Generator) -> naive_ops.Op:
    length = int(rng.choice([0, 32, 64, 64, 96, 65535, 65536, 40]))
    n = int(rng.choice([0, 1, 1, 2, 2, 65536]))
    loops = tuple(
        Loop(int(rng.choice([0, 1, 2, 2**21])), 32 * near(rng, 3), 32 * near(rng, 3, 65536))
        for _ in range(int(rng.choice([0, 0, 1, 2])))
    )
    src_stride, dst_stride = (near(rng, length, 128, 2**21 - 1, 2**40) for _ in "sd")
    if rng.integers(2):
        return MteGmL1(base(rng, GM), base(rng, L1), length, n, src_stride, dst_stride, loops)
    units = int(rng.choice([0, 1, 2, 2, 65535, 65536]))
    bursts = int(rng.choice([0, 1, 1, 2, 4095, 4096]))
    src_gap, dst_gap = (int(rng.choice([0, 0, 1, 65535, 65536])) for _ in "sd")
    return MteL1Ub(base(rng, L1), base(rng, UB), units, bursts, src_gap, dst_gap, loops)


def draw_gaps(rng: np.random.Generator) -> naive_ops.Op:
    length = int(rng.choice([0, 1, 2, 2, 2, 16, 2047, 65536]))
    n = int(rng.choice([0, 1, 1, 2, 3, 4095, 4096, 65535, 65536]))
    src_gap, dst_gap = (int(rng.choice([0, 0, 1, 1, 500, 65535, 65536])) for _ in "sd")
    kind = int(rng.integers(4))
    if kind == 0:
        return MteUbUb(base(rng, UB), base(rng, UB), length, n, src_gap, dst_gap)
    if kind == 1:
        return MteUbL1(base(rng, UB), base(rng, L1), length, n, src_gap, dst_gap)
    if kind == 2:
        return MteL1Fb(base(rng, L1), base(rng, 4096), length, n, src_gap, dst_gap)
    dtype = str(rng.choice(["f32", "i32", "bf16", "f16"]))
    types = Ptr(dtype, "l1"), Ptr("i32" if dtype == "i32" else "f32", "bt")
    return MteL1Bt(base(rng, L1), base(rng, 4096), length, n, src_gap, dst_gap, *types)


def draw_legacy(rng: np.random.Generator) -> naive_ops.Op:
    length = int(rng.choice([0, 32, 64, 64, 64, 96, 65535, 65536, 40]))
    n = int(rng.choice([0, 1, 1, 2, 2, 3, 65536]))
    choices = [length, 64, 96, 128, 2**21, 70, 131072]
    src_stride, dst_stride = (int(rng.choice(choices)) for _ in "sd")
    return CopyUbufToUbuf(base(rng, UB), base(rng, UB), 0, n, length, src_stride, dst_stride)


def draw_nz(rng: np.random.Generator) -> naive_ops.Op:
    def pick(*values: int) -> int:
        return int(rng.choice(values))

    dtype = str(rng.choice(["i8", "f16", "f32"]))
    small = pick(0, 0, 0, 1, 1, 1, 1, 2)
    return MteGmL1Frac(
        pick(0, 1, 99, GM - 200, GM),
        base(rng, L1),
        str(rng.choice(["nd2nz", "dn2nz"])),
        pick(0, 1, 2, 5, 5, 16384, 16385),
        pick(0, 1, 3, 4, 4, 5) if small else pick(0, 1, 16, 17, 33, 65535, 65536),
        pick(0, 8, 64, 64, 64, 2**40 - 1, 2**40),
        pick(0, 1, 1, 2, 2, 4095, 4096),
        pick(0, 1, 1, 2, 65535, 65536),
        pick(0, 5, 5, 65535, 65536),
        pick(0, 10, 10, 65535, 65536),
        pick(0, 64, 64, 2**40 - 1, 2**40) or None,
        pick(0, 0, 0, 0, 0, 0, 16),
        small,
        Ptr(dtype, "gm"),
        Ptr(dtype, "l1"),
    )


@pytest.mark.share("tb/isa")
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILE_TEXTS)
@pytest.mark.parametrize(
    ("draw", "rules"),
    [
        (draw_strided, {0, 5, 6, 7, 8, 12}),
        (draw_gaps, {0, 2, 3, 4, 5, 6, 12}),
        (draw_legacy, {0, 5, 6, 7, 8, 11, 12}),
        (draw_nz, {0, 3, 4, 5, 6, 7, 8}),
    ],
)
def test_random_verdicts_match_a_second_reading_of_the_rules(
    draw: Callable[[np.random.Generator], naive_ops.Op], rules: set[int], profile: str
) -> None:
    use(parse_profile(profile))
    rng = np.random.default_rng(5)
    model = ReferenceModel({})
    seen: dict[int, int] = {}
    for _ in range(8000):
        op = draw(rng)
        expected = naive_ops.lowest_rule(op)
        assert model.issue(op).rule == expected, op
        seen[expected] = seen.get(expected, 0) + 1
        if isinstance(op, CopyUbufToUbuf):
            refused = lowering_violation(op)
            at_lowering = expected if expected in LOWERING_RULES else 0
            assert (refused.rule.number if refused else 0) == at_lowering, op
    assert set(seen) == rules
    assert min(seen.values()) > 10
