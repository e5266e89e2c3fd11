# SPDX-License-Identifier: Apache-2.0
"""Groups of the write-backs: random blocks against slow per-op classification, hand-made ops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import (
    Atomic,
    FbPtr,
    FixDescriptor,
    Loop3,
    MteL0cGm,
    MteL0cL1,
    MteL0cUb,
    PreQuant,
    Scalar,
)
from tb.isa.footprint import destinations, source
from tb.isa.lower import Descriptor, lower
from tb.isa.rules import first_d_violation, s_violations
from tests.coverage.counting import collect, compare, one, range_label, slow_counts, traffic

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


GM = MteL0cGm(0, 0, 18, 40, 32, 48)
L1 = MteL0cL1(64, 32, 18, 40, 32, 48)
UB = MteL0cUb(128, 96, 18, 64, 32, 64)
F16, S4 = Ptr("f16", "gm"), Ptr("i4", "gm")
FX_E2 = replace(GM, layout="nz2dn", k=1, dst_stride=24)
FX_E5 = MteL0cGm(0, 4, 8, 16, 16, 8, layout="nz2dn", k=2)
FX_E6 = MteL0cGm(0, 4095 * 4, 4, 16, 16, 20, layout="nz2nd", loop3=Loop3(2, 16, 80))
NZ0 = MteL0cL1(0, 0, 18, 32, 32, 320, layout="nz2nz", split=0)
NZ1 = MteL0cUb(0, 0, 18, 40, 32, 160, 1, layout="nz2nz", split=1)


@pytest.mark.parametrize(
    ("op", "want"),
    [
        (GM, {"layout": "omitted", "tail": "8", "n_tail": "8", "rows": "17..", "m": "17..31",
              "src_stride": "whole fractals", "dst_stride": "gap 32..4095 B", "flag": "none",
              "loop3": "absent", "src_place": "starts at 0", "gm_align": "0", "kind": "none",
              "gm_place": "starts at 0", "page": "starts at edge", "dst": "f32", "bits": "32"}),
        (FX_E2, {"layout": "nz2dn", "k": "1", "dst_stride": "gap below 32 B", "row_mod": "other"}),
        (FX_E5, {"k": "2", "src_stride": "one group", "src_stride_unused": "whole fractals",
                 "dst_stride": "contiguous", "row_mod": "0", "gm_align": "other"}),
        (FX_E6, {"loop3": "2", "loop3_src": "apart", "loop3_dst": "tight", "gm_mod": "28",
                 "page": "crosses 1", "dst_stride": "gap below 32 B"}),
        (L1, {"layout": "omitted", "l1_mod": "32", "l1_place": "inside", "src_mod": "1",
              "dst_stride": "gap 32..4095 B", "row_mod": "0"}),
        (NZ0, {"layout": "nz2nz", "tail": "0", "dst_stride": "gap 32..4095 B",
               "l1_place": "starts at 0", "bytes": "1024..4095"}),
        (NZ1, {"layout": "nz2nz split", "tail": "8", "ub_sub": "1"}),
        (replace(UB, ub_split="split_m"), {"layout": "split_m", "dst_stride": "contiguous",
                                           "bytes": "4096..16383", "ub_mod": "96"}),
        (replace(UB, ub_split="split_n"), {"layout": "split_n", "dst_stride": "gap 32..4095 B",
                                           "row_mod": "0"}),
    ],
)  # fmt: skip
def test_bins_of_ops(op: MteL0cGm | MteL0cL1 | MteL0cUb, want: dict[str, str]) -> None:
    found = one(op)
    assert {name: found.get(name) for name in want} == want
    assert ("ub_sub" in found) == (isinstance(op, MteL0cUb) and not op.ub_split)


@pytest.mark.long
def test_halves_of_a_split_tile() -> None:
    # Nine rows of 256 bytes each; 18 rows of 128 bytes, half a stride apart.
    tight = replace(UB, ub_split="split_n", dst_stride=32)
    assert one(tight)["dst_stride"] == "contiguous"
    assert one(replace(UB, ub_split="split_m", m=2))["dst_stride"] == "one row"
    assert one(replace(UB, ub_split="split_m", dst=262144 - 9 * 256))["ub_place"] == "ends at top"


@pytest.mark.parametrize(
    ("stride", "want"),
    [(0, "0"), (16, "interleaved"), (32, "tight"), (48, "more")],
)
def test_source_strides_of_whole_groups(stride: int, want: str) -> None:
    assert one(replace(GM, m=32, src_stride=stride))["src_stride"] == want


def test_source_strides_follow_k() -> None:
    # Rows 0, 3, ... 21: the group ends after word 21.
    op = MteL0cGm(0, 0, 8, 17, 16, 8, layout="nz2dn", k=3)
    assert one(op)["src_stride"] == "interleaved"
    assert one(replace(op, src_stride=32))["src_stride"] == "whole fractals"
    assert one(replace(op, src_stride=48))["src_stride"] == "more"


@pytest.mark.long
@pytest.mark.parametrize(
    ("loop3", "want"),
    [
        (Loop3(3, 0, 76), ("0", "tight")),
        (Loop3(3, 3, 16), ("interleaved", "interleaved")),
        (Loop3(3, 4, 80), ("tight", "tight")),
        (Loop3(3, 5, 77), ("apart", "apart")),
    ],
)
def test_repeats(loop3: Loop3, want: tuple[str, str]) -> None:
    found = one(replace(FX_E6, loop3=loop3))
    assert (found["loop3_src"], found["loop3_dst"]) == want
    assert not {"loop3_src", "loop3_dst"} & one(replace(FX_E6, loop3=Loop3(1, 9, 9))).keys()


@pytest.mark.long
def test_ends_of_the_memories() -> None:
    whole = MteL0cL1(0, 0, 4096, 16, 16, 16, layout="nz2nd")
    found = one(whole)
    assert (found["src_place"], found["limit"]) == ("all", "m 4096")
    assert one(replace(whole, m=1, src=262144 - 64))["src_place"] == "ends at top"
    assert one(replace(whole, m=2, dst=524288 - 128))["l1_place"] == "ends at top"
    wide = replace(GM, m=1, n=4095, src_stride=16, dst=(1 << 40) - 4 * 4095)
    found = one(wide)
    assert (found["limit"], found["gm_place"], found["page"]) == (
        "n 4095", "ends at 2^40", "crosses 2+",
    )  # fmt: skip
    assert one(replace(wide, dst=(1 << 32) - 4))["gm_place"] == "spans 2^32"


@pytest.mark.long
def test_nops() -> None:
    nop = replace(GM, m=0, n=4095, src=1 << 20, dst=1 << 41, unit_flag=3)
    found = one(nop)
    assert found["nop"] == "m 0"
    assert found["nop_max"] == "n 4095"
    assert found["nop_flag"] == "clear"
    assert found["nop_place"] == "both outside"
    assert found["nop_fb"] == "none"
    assert not {"layout", "flag"} & found.keys()
    rows = replace(L1, n=0, m=65535, layout="nz2nz", dst_stride=8)
    assert one(rows)["nop_max"] == "m 65535"
    assert one(replace(rows, layout="nz2dn", k=1, m=8192))["nop_max"] == "m 8192"
    count = replace(FX_E6, loop3=Loop3(0, 1, 1))
    assert one(count)["nop"] == "count 0"
    assert one(replace(count, m=0))["nop"] == "several"
    vector = replace(
        GM, m=0, dst_type=F16, pre_quant=PreQuant("qf322f16_pre_vec", FbPtr("f32", 3968))
    )
    assert one(vector)["nop_fb"] == "beyond"
    assert one(replace(vector, n=16))["nop_fb"] == "inside"


@pytest.mark.long
def test_atomics() -> None:
    quant = PreQuant("f32_f16", Scalar("f32", 0))
    op = replace(
        GM, pre_quant=quant, dst_type=F16, sat="nosat", atomic=Atomic("f16", "max"), layout="nz2nd"
    )
    found = one(op)
    want = {
        "atomic": "f16 max", "atomic_type": "f16", "atomic_dst": "f16", "atomic_sat": "f16 nosat",
        "atomic_layout": "nz2nd", "update": "atomic", "bits": "16", "dst": "f16",
    }  # fmt: skip
    assert {name: found[name] for name in want} == want
    assert not {"atomic", "update", "atomic_sat"} & one(GM).keys()
    assert "atomic_sat" not in one(
        replace(
            GM, src_type=Ptr("i32", "l0c"), dst_type=Ptr("i32", "gm"), atomic=Atomic("s32", "add")
        )
    )


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


def test_ops_by_hand_are_legal() -> None:
    for op in (GM, L1, UB, FX_E2, FX_E5, FX_E6, NZ0, NZ1):
        assert first_d_violation(lower(op)) is None, op
        assert not s_violations(op), op
