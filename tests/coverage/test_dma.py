# SPDX-License-Identifier: Apache-2.0
"""Copies between GM and UB: random blocks against slow classification, and reached bins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sequences.constraints import OpConstraints
from sequences.corner.blocks import corner_blocks
from sequences.draw.copies import CopyGenerator
from tb.coverage.export.exchange import from_json
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.model import CoverageError
from tb.isa.block import OpBlock
from tb.isa.descriptor import unpack
from tb.isa.dma.op import DmaDescriptor
from tests.coverage.counting import GM_UB, Executed, SlowCounts, collect, compare, form_of

pytestmark = pytest.mark.long


def slow_bins(block: OpBlock, number: int, bus: int) -> dict[str, str]:
    """Classifies one op by plain arithmetic, for the points that need no table."""
    desc = unpack(block.pack()[number])
    assert isinstance(desc, DmaDescriptor)
    counts = [desc.n_burst, *[loop.count for loop in desc.loops]]
    if desc.is_nop:
        return {}
    length, base = desc.len, desc.ext_addr
    found = {
        "len_mod": str(length % bus),
        "gm_mod": str(base % bus),
        "elem": str(desc.elem_bytes),
        "ub_sub": str(desc.ub_sub),
    }
    crossed = (base + length - 1) // 4096 - base // 4096
    if crossed:
        found["page"] = "crosses 1" if crossed == 1 else "crosses 2+"
    elif base % 4096 == 0:
        found["page"] = "starts at edge"
    else:
        found["page"] = "ends at edge" if (base + length) % 4096 == 0 else "inside"
    over = desc.ext_stride - length
    if desc.n_burst == 1:
        found["gm_row_stride"] = "one row"
    elif desc.ext_stride >= 1 << 32:
        found["gm_row_stride"] = "2^32.."
    else:
        table = ((1, "equal len"), (32, "+1..31"), (4096, "+32..4095"), (1 << 40, "+4096.."))
        found["gm_row_stride"] = next(name for limit, name in table if over < limit)
    active = "+".join(str(k) for k, count in enumerate(counts[1:]) if count > 1)
    found["loops_active"] = active or "none"
    if desc.pad_en:
        found["pad_elem"] = str(desc.elem_bytes)
        left = desc.left_bytes
        found["pad_left"] = (
            "0" if not left else "one element" if left == desc.elem_bytes
            else "32 B" if left == 32 else "more"
        )  # fmt: skip
    return found


@pytest.mark.parametrize("bus", [16, 32])
def test_against_one_op_at_a_time(bus: int) -> None:
    blocks = list(CopyGenerator(21, GM_UB, OpConstraints(bus_bytes=bus)).blocks(1500))
    coverage = collect(blocks, bus)
    slow: SlowCounts = {form: Counter() for form in GM_UB}
    for block in blocks:
        for number in range(len(block)):
            slow[form_of(block, number)].update(slow_bins(block, number, bus).items())
    for form in GM_UB:
        compare(coverage, slow, form)


def test_mask_and_buffering() -> None:
    blocks = list(CopyGenerator(22, GM_UB).blocks(500))
    coverage = FunctionalCoverage()
    for block in blocks:
        mask = np.zeros(len(block), dtype=bool)
        mask[::2] = True
        coverage.sample(block, mask)
    assert coverage.groups["traffic"].hits["form"].sum() == 0
    coverage.flush()
    assert coverage.groups["traffic"].hits["form"].sum() == sum(-(-len(b) // 2) for b in blocks)
    before = coverage.summary()
    coverage.sample(blocks[0], np.zeros(len(blocks[0]), dtype=bool))
    assert coverage.summary() == before
    with pytest.raises(CoverageError, match="mask of 1"):
        coverage.sample(blocks[0], np.ones(1, dtype=bool))


def test_json_of_a_run() -> None:
    coverage = FunctionalCoverage(16)
    for block in CopyGenerator(24, GM_UB).blocks(300):
        coverage.sample(block)
    data = coverage.to_json()
    assert data["covered"] == from_json(data).covered > 0


@pytest.mark.share("sequences", "tb/coverage", "tb/isa")
@pytest.mark.parametrize("bus", [16, 32, 64])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_default_random_run_reaches_97_percent(bus: int, seed: int) -> None:
    limits = OpConstraints(bus_bytes=bus)
    coverage = collect(
        CopyGenerator(seed, GM_UB, limits).blocks(20000), bus, GM_UB, events=Executed()
    )
    few = collect(CopyGenerator(seed, GM_UB, limits).blocks(2000), bus, GM_UB)
    print(f"bus {bus} seed {seed}: N=2000 {few.percent:.2f} %, N=20000 {coverage.percent:.2f} %")
    assert coverage.percent >= 97
    assert min(counts.percent for counts in coverage.groups.values()) >= 93
    assert coverage.impossible == []


def test_many_runs_reach_every_bin_but_a_few() -> None:
    limits = OpConstraints()
    coverage, events = FunctionalCoverage(forms=GM_UB), Executed()
    for seed in range(6):
        for block in CopyGenerator(100 + seed, GM_UB, limits).blocks(20000):
            coverage.sample(block, None, events(block))
    for block in corner_blocks(32):
        coverage.sample(block, None, events(block))
    coverage.flush()
    holes = [
        f"{name}.{item}: {hole}"
        for name, counts in coverage.groups.items()
        for item in counts.hits
        for hole in counts.holes(item)
    ]
    assert coverage.percent >= 99.8, holes
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


def test_subset_of_forms() -> None:
    coverage = FunctionalCoverage(forms=("mte_ub_gm", "copy_gm_to_ubuf"))
    assert list(coverage.groups) == ["mte_ub_gm", "copy_gm_to_ubuf", "traffic"]
    for block in CopyGenerator(1, GM_UB).blocks(500):
        coverage.sample(block)
    assert coverage.summary().groups["traffic"] > 50
    for forms in ((), ("mte_l1_l0c",)):
        with pytest.raises(CoverageError, match="no coverage for"):
            FunctionalCoverage(forms=forms)
