# SPDX-License-Identifier: Apache-2.0
"""Groups of the write-backs: random blocks against slow per-op classification, hand-made ops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.isa.fix.op import (
    FixDescriptor,
)
from tb.isa.footprint import destinations, source
from tb.isa.lower import Descriptor
from tests.coverage.counting import collect, compare, range_label, slow_counts, traffic

FORMS = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")
M = ("1", "2..14", "15", "16", "17..31", "32", "33..63", "64..255", "256..1023", "1024..")
N = ("1", "2..7", "8..14", "15", "16", "17..31", "32", "33..63", "64..255", "256..1023", "1024..")
BYTES = ("1..31", "32..255", "256..1023", "1024..4095", "4096..16383", "16384..")
TOPS = {"gm": 1 << 40, "l1": 524288, "ub": 262144}


def layout_of(desc: FixDescriptor) -> str:
    if desc.ub_mode:
        return ("split_m", "split_n")[desc.ub_mode - 1]
    name = ("omitted", "nz2nd", "nz2dn", "nz2nz")[desc.layout]
    return name + " split" * bool(desc.layout == 3 and desc.split)


def group_class(desc: FixDescriptor) -> str:
    """Returns the position of the second group of columns relative to the rows of the first."""
    if desc.n <= 16:
        return "one group"
    first = source(replace(desc, n=16, loop3_en=0))
    span = (first.end - first.base) // 64
    if desc.src_stride < span:
        return "interleaved" if desc.src_stride else "0"
    if desc.src_stride == span:
        return "tight"
    return "whole fractals" if desc.src_stride < span + 16 else "more"


def row_class(desc: FixDescriptor) -> str:
    """Returns the class of the gap between the first two rows of the destination."""
    first = destinations(replace(desc, loop3_en=0))[0]
    if first.rows == 1:
        return "one row"
    starts = first.row_starts()
    gap = int(starts[1] - starts[0]) - first.length
    limits = ((1, "contiguous"), (32, "gap below 32 B"), (4096, "gap 32..4095 B"))
    return next((name for limit, name in limits if gap < limit), "gap 4096.. B")


def repeat_classes(desc: FixDescriptor) -> dict[str, str]:
    first = replace(desc, loop3_en=0)
    read, write = source(first), destinations(first)[0]
    step, reach = desc.loop3_src * 64, read.end - read.base
    s3 = "0" if step == 0 else "interleaved" if step < reach else "apart"
    jump, hull = desc.loop3_dst * desc.dst_bits // 8, write.end - write.base
    whole = write.rows * write.strides[0] if write.rows > 1 else hull
    d3 = "interleaved" if jump < hull else "tight" if jump in (hull, whole) else "apart"
    return {"loop3_src": "tight" if step == reach else s3, "loop3_dst": d3}


def slow(desc: Descriptor) -> dict[str, str]:
    """Classifies one op by its footprints."""
    assert isinstance(desc, FixDescriptor)
    where = desc.spec.destination
    flag = {0: "none", 2: "check", 3: "clear"}[desc.unit_flag]
    found: dict[str, str] = {}
    if where == "gm":
        found |= {"sid": str(desc.sid), "l2": str(desc.l2)}
    if desc.is_nop:
        zeros = [
            name
            for name, count in (("m 0", desc.m), ("n 0", desc.n), ("count 0", desc.repeats))
            if not count
        ]
        outside = (desc.src_addr >= 262144, desc.dst_addr >= TOPS[where])
        found["nop"] = zeros[0] if len(zeros) == 1 else "several"
        found["nop_flag"] = flag
        found["nop_place"] = {
            (False, False): "inside",
            (True, False): "L0C outside",
            (False, True): "destination outside",
            (True, True): "both outside",
        }[outside]
        return found
    read, writes = source(desc), destinations(desc)
    write = writes[0]
    layout, tail = layout_of(desc), desc.n % 16
    found |= {
        "nop": "live",
        "layout": layout,
        "flag": flag,
        "bits": str(desc.dst_bits),
        "m": range_label(desc.m, M),
        "n": range_label(desc.n, N),
        "n_tail": str(tail),
        "tail": str(tail) if tail in (0, 8) else "1..7" if tail < 8 else "9..15",
        "bytes": range_label(sum(part.bytes for part in writes), BYTES),
        "src_stride": group_class(desc),
        "src_mod": str(read.base % 512 // 64),
        "src_place": (
            "all" if read.base == 0 and read.end == 262144
            else "ends at top" if read.end == 262144
            else "starts at 0" if read.base == 0 else "inside"
        ),
        "dst_stride": row_class(desc),
        "loop3": range_label(desc.loop3_count, ("1", "2", "3..7", "8.."))
        if desc.loop3_en else "absent",
    }  # fmt: skip
    if desc.layout == 2 and desc.m > 1:
        found["k"] = range_label(desc.k, ("1", "2", "3..15", "16.."))
    if desc.repeats > 1:
        found |= repeat_classes(desc)
    if where == "ub" and not desc.ub_mode:
        found["ub_sub"] = str(desc.ub_sub)
    if where == "gm":
        first, last = write.base, write.base + write.length
        pages = (last - 1) // 4096 - first // 4096
        edge = "starts at edge" if first % 4096 == 0 else "ends at edge"
        inside = "inside" if first % 4096 and last % 4096 else edge
        found["page"] = inside if not pages else "crosses 1" if pages == 1 else "crosses 2+"
        found["gm_mod"] = str(write.base % 32)
        if desc.atomic_type:
            types = ("f32", "f16", "s16", "s32", "s8", "bf16")
            kind, op = types[desc.atomic_type - 1], ("add", "max", "min")[desc.atomic_op]
            found |= {"atomic": f"{kind} {op}", "atomic_layout": layout}
    else:
        found[f"{where}_mod"] = str(write.base % 128)
        top, bottom = write.end == TOPS[where], write.base == 0
        found[f"{where}_place"] = "ends at top" if top else "starts at 0" if bottom else "inside"
    return found


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_against_one_op_at_a_time(form: str) -> None:
    blocks = traffic(1, 2000, (form,))
    coverage = collect(blocks, forms=(form,))
    compare(coverage, slow_counts(blocks, slow), form)


@pytest.mark.parametrize("form", FORMS)
def test_impossible_cells(form: str) -> None:
    counts = FunctionalCoverage(forms=(form,)).groups[form]
    group = counts.group

    def reachable(name: str) -> set[str]:
        mask = group.reachable[name]
        return {group.label(name, int(at)) for at in np.flatnonzero(mask)}

    shapes = reachable("layout x tail x rows")
    assert "layout=nz2nz x tail=8 x rows=1" not in shapes
    assert "layout=nz2nz split x tail=8 x rows=1" in shapes
    assert "layout=nz2nz x bits=16" not in reachable("layout x bits")
    assert "layout=omitted x loop3=2" not in reachable("layout x loop3")
    assert "layout=nz2dn x loop3=2" in reachable("layout x loop3")
    below = "layout=nz2nz x dst_stride=gap below 32 B"
    assert (below in reachable("layout x dst_stride")) == (form == "mte_l0c_gm")
    if form == "mte_l0c_ub":
        assert "layout=split_m x tail=1..7 x rows=1" not in shapes
        assert "layout=split_n x tail=8 x rows=17.." not in shapes
        assert "layout=split_m x bits=16" not in reachable("layout x bits")
