# SPDX-License-Identifier: Apache-2.0
"""Bins that random stimulus reaches; legal ops never hit bins declared unreachable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from sequences.constraints import OpConstraints
from sequences.corner.blocks import corner_blocks
from sequences.draw.copies import CopyGenerator
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.table import table
from tb.coverage.view import FORMS
from tb.isa.block import OpBlock
from tb.isa.fix.table import WRITE_BACKS
from tb.isa.profile import PROFILES, using
from tests.coverage.counting import GM_UB, Executed, collect, traffic

pytestmark = pytest.mark.long

SHARED = pytest.mark.share("sequences", "tb/coverage", "tb/isa")


def reach(
    blocks: Iterable[OpBlock], forms: Sequence[str], total: float, group: float, bus: int = 32
) -> None:
    """Checks the percent of all bins and of each group that blocks hit."""
    coverage = collect(blocks, bus, forms, events=Executed())
    missing = table(coverage, complete=False)
    assert coverage.percent >= total, missing
    assert min(counts.percent for counts in coverage.groups.values()) >= group, missing
    assert coverage.impossible == []


@SHARED
@pytest.mark.parametrize("bus", [16, 32, 64])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_20000_copies_between_gm_and_ub(bus: int, seed: int) -> None:
    blocks = CopyGenerator(seed, GM_UB, OpConstraints(bus_bytes=bus)).blocks(20000)
    reach(blocks, GM_UB, 97, 93, bus)


@SHARED
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("form", FORMS)
def test_5000_ops_of_one_form(form: str, profile: str) -> None:
    with using(PROFILES[profile]):
        reach(traffic(1, 5000, (form,)), (form,), 95, 95)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("forms", "seed", "count", "total", "group"),
    [
        (tuple(spec.name for spec in WRITE_BACKS), 2, 10000, 95, 95),
        (FORMS, 1, 20000, 97, 90),
    ],
)
def test_mixed_ops(
    forms: tuple[str, ...], seed: int, count: int, total: float, group: float, profile: str
) -> None:
    with using(PROFILES[profile]):
        reach(traffic(seed, count, forms), forms, total, group)


@pytest.mark.parametrize("bus", [16, 64])
def test_other_bus_widths(bus: int) -> None:
    forms = ("mte_gm_l1", "mte_gm_l1_frac", "mte_l0c_gm")
    reach(traffic(2, 15000, forms, bus), forms, 95, 0, bus)


def test_many_runs_reach_every_bin_but_a_few() -> None:
    coverage, events = FunctionalCoverage(forms=GM_UB), Executed()
    runs = [list(CopyGenerator(100 + seed, GM_UB).blocks(20000)) for seed in range(6)]
    for block in (block for run in (*runs, corner_blocks(32)) for block in run):
        coverage.sample(block, None, events(block))
    coverage.flush()
    assert coverage.percent >= 99.8, table(coverage, complete=False)
    assert coverage.impossible == []


def test_without_a_feature_there_are_holes() -> None:
    limits = OpConstraints(pad=0.0, far=0.0, dependent=0.0, gap=0.0)
    coverage = collect(CopyGenerator(1, GM_UB, limits).blocks(20000), forms=GM_UB)
    counts = coverage.groups["mte_gm_ub"]
    assert counts.holes("pad") == ["i8", "i16", "i32", "f16", "bf16", "f32"]
    assert counts.holes("gm_row_stride") == ["2^32.."]
    assert coverage.groups["traffic"].holes("depends") == ["waits"]
    assert counts.holes("gap") == ["1..7", "8..63", "64.."]
    assert coverage.percent < 95
