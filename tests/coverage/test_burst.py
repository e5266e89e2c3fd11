# SPDX-License-Identifier: Apache-2.0
"""Burst copies: random blocks against slow per-op classification, and hand-made ops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.isa.block import OpBlock, from_descriptors, from_ops
from tb.isa.burst.op import BurstDescriptor, MteL1Bt, MteUbUb
from tb.isa.burst.table import MTE_L1_BT, MTE_UB_UB
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.dtypes import DTYPES, Ptr
from tb.isa.events import BiasEvent
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import Descriptor
from tb.isa.spaces import SEGMENTS, Space
from tests.coverage.counting import collect, compare, hits, range_label, slow_counts, traffic

FORMS = ("mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb", "copy_ubuf_to_ubuf")

GAPS = ("0", "1", "2..3", "4..15", "16..")


def place(side: Footprint, *, whole: bool) -> str:
    segment = next(one for one in SEGMENTS[side.space] if side.base in one)
    top, bottom = side.end == segment.stop, side.base == segment.start
    if whole and top and bottom:
        return "whole"
    return "ends at top" if top else "starts at 0" if bottom else "inside"


def order(read: Footprint, write: Footprint) -> str:
    if read.end <= write.base:
        return "right behind" if read.end == write.base else "behind"
    if write.end <= read.base:
        return "right before" if write.end == read.base else "before"
    return "between"


def slow(desc: Descriptor) -> dict[str, str]:
    """Classifies one op by its footprints, row by row."""
    assert isinstance(desc, BurstDescriptor)
    empty = [desc.len == 0, desc.n_burst == 0]
    zeros = {(True, True): "both 0", (True, False): "len 0", (False, True): "count 0"}
    if desc.is_nop:
        return {"nop": zeros[empty[0], empty[1]]}
    read, write = source(desc), destination(desc)
    param = desc.spec.destination in ("bt", "fb")
    word, step = (256, 64) if param else (128, 32)
    found = {
        "nop": "live",
        "src_mod": str(read.base % 128 // 32 * 32),
        "dst_mod": str(write.base % word // step * step),
        "src_place": place(read, whole=False),
        "dst_place": place(write, whole=param),
        "bursts": range_label(desc.n_burst, ("1", "2", "3..15", "16..")),
        "units": range_label(desc.len, ("1", "2", "3..15", "16..")),
        "src_gap": "one burst",
        "dst_gap": "one burst",
    }
    if desc.n_burst > 1:
        for side, footprint, unit in (("src", read, desc.units[0]), ("dst", write, desc.units[1])):
            gaps = {b - a - footprint.length for a, b in pairwise(footprint.row_starts().tolist())}
            assert len(gaps) == 1
            found[f"{side}_gap"] = range_label(gaps.pop() // unit, GAPS)
    if "ub" in (desc.spec.source, desc.spec.destination):
        found["ub_sub"] = str(desc.ub_sub)
    if write.space is Space.FB:
        found["segment"] = "1 (pre_relu)" if write.base >= 1 << 16 else "0 (pre_quant)"
    if desc.spec is MTE_UB_UB:
        found["order"] = order(read, write)
    if desc.spec is not MTE_L1_BT:
        found["len_mod"] = str(read.length % 128)
    elif desc.n_burst > 1:
        found["src_offset"] = str(int(read.row_starts()[1]) % 32)
        found["dst_offset"] = str(int(write.row_starts()[1]) % 64 // 4)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_against_one_op_at_a_time(form: str) -> None:
    blocks = traffic(3, 1500, (form,))
    coverage = collect(blocks, forms=(form,))
    compare(coverage, slow_counts(blocks, slow), form)
    assert coverage.impossible == []


def test_data_classes_by_type() -> None:
    ops = [
        MteL1Bt(0, 0, 4, 1, 0, 0, Ptr(source, "l1"), Ptr(target, "bt"))
        for source, target in (("f32", "f32"), ("i32", "i32"), ("bf16", "f32"), ("f16", "f32"))
    ]
    block = from_ops(ops)
    coverage = FunctionalCoverage()
    zero_and_inf = BiasEvent.ZERO | BiasEvent.INF
    coverage.sample(block, None, np.array([zero_and_inf, 255, 0, BiasEvent.INF], np.int64))
    coverage.flush()
    group = coverage.groups["mte_l1_bt"]
    assert hits(group, "data_zero") == {"f32": 1}
    assert hits(group, "data_inf") == {"f32": 1, "f16": 1}
    for event in BiasEvent:
        assert event.name is not None
        if event not in zero_and_inf:
            assert hits(group, f"data_{event.name.lower()}") == {}
    assert hits(group, "type") == {
        "f32 to f32": 1, "i32 to i32": 1, "bf16 to f32": 1, "f16 to f32": 1
    }  # fmt: skip


def legacy_block(copy: CopyUbufToUbuf) -> OpBlock:
    return from_descriptors([lower_ubuf_copy(copy)], legacy={0: (copy,)})


@pytest.mark.long
@pytest.mark.parametrize(
    ("strides", "want"),
    [
        ((0, 0), ("not legal if used", "not legal if used")),
        ((64, 96), ("legal", "legal")),
        ((65, 96), ("not legal if used", "legal")),
        ((64, 32), ("legal", "not legal if used")),
    ],
)
def test_strides_that_a_legacy_copy_does_not_use(
    strides: tuple[int, int], want: tuple[str, str]
) -> None:
    coverage = collect([legacy_block(CopyUbufToUbuf(0, 1024, 7, 1, 64, *strides))])
    group = coverage.groups["copy_ubuf_to_ubuf"]
    assert hits(group, "src_stride_unused") == {want[0]: 1}
    assert hits(group, "dst_stride_unused") == {want[1]: 1}
    assert hits(group, "sid") == {"yes": 1}
    used = collect([legacy_block(CopyUbufToUbuf(0, 1024, 0, 2, 64, 64, 96))])
    assert hits(used.groups["copy_ubuf_to_ubuf"], "src_stride_unused") == {}
    assert hits(used.groups["copy_ubuf_to_ubuf"], "dst_gap") == {"1": 1}
    assert used.groups["mte_ub_ub"].hits["nop"].sum() == 0


def test_every_element_type_has_a_bin() -> None:
    ops = [MteUbUb(0, 1024, 1, 1, 0, 0, Ptr(name, "ub"), Ptr(name, "ub")) for name in DTYPES]
    coverage = collect([from_ops(ops)])
    assert hits(coverage.groups["mte_ub_ub"], "dtype") == dict.fromkeys(DTYPES, 1)
