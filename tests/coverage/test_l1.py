# SPDX-License-Identifier: Apache-2.0
"""Strided copies with an L1 side: random blocks against slow per-op classification."""

from __future__ import annotations

import pytest

from tb.isa.dma.op import DmaDescriptor, Loop, MteGmL1, MteL1Ub
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import Descriptor
from tb.isa.spaces import SIZES
from tests.coverage.counting import collect, compare, one, range_label, slow_counts, traffic

GAPS = ("0", "1", "2..3", "4..15", "16..")


def local_class(stride: int, need: int) -> str:
    over = stride - need
    return "tight" if not over else "+32" if over == 32 else "+64..256" if over < 257 else "+288.."


def gm_class(stride: int, length: int) -> str:
    if stride >= 1 << 32:
        return "2^32.."
    table = ((1, "equal len"), (32, "+1..31"), (4096, "+32..4095"), (1 << 40, "+4096.."))
    return next(name for limit, name in table if stride - length < limit)


def place(side: Footprint, *, partial: bool) -> str:
    size = SIZES[side.space]
    if side.end == size:
        return "ends at top"
    if partial and side.end > size - 32:
        return "in last block"
    return "inside" if side.base else "starts at 0"


def slow(desc: Descriptor) -> dict[str, str]:
    """Classifies one op by its footprints."""
    assert isinstance(desc, DmaDescriptor)
    names = ["len 0", "n_burst 0", *[f"loop{k} 0" for k in range(len(desc.loops))]]
    values = [desc.len, desc.n_burst, *[loop.count for loop in desc.loops]]
    zeros = [name for name, value in zip(names, values, strict=True) if not value]
    if zeros:
        return {"nop": zeros[0] if len(zeros) == 1 else "several zeros"}
    read, write = source(desc), destination(desc)
    ext, loc = desc.spec.source, desc.spec.destination
    active = "+".join(str(k) for k, loop in enumerate(desc.loops) if loop.count > 1)
    found = {
        "elem": str(desc.elem_bytes),
        "nop": "live",
        "n_loops": str(len(desc.loops)),
        "loops_active": active or "none",
    }
    bursts = ext == "l1"
    ext_rows, loc_rows = (f"{side}_gap" if bursts else f"{side}_row_stride" for side in (ext, loc))
    found |= dict.fromkeys((ext_rows, loc_rows), "one burst" if bursts else "one row")
    if loc == "ub":
        found["ub_sub"] = str(desc.ub_sub)
        found["len_mod"] = str(read.length % 128)
        for name, side in ((ext, read), (loc, write)):
            found[f"{name}_place"] = place(side, partial=False)
            found[f"{name}_mod"] = str(side.base % 128)
    else:
        rest = read.base % 32
        found["gm_align"] = {0: "0", 1: "1", 31: "bus-1"}.get(rest, "other")
        found["gm_mod"] = str(rest)
        found["l1_place"] = place(write, partial=True)
    if desc.n_burst > 1:
        steps = [int(side.row_starts()[1]) - side.base for side in (read, write)]
        if bursts:
            for name, step in zip((ext_rows, loc_rows), steps, strict=True):
                found[name] = range_label((step - read.length) // 32, GAPS)
        else:
            found[loc_rows] = local_class(steps[1], -(-desc.len // 32) * 32)
            found[ext_rows] = gm_class(steps[0], desc.len)
    return found


@pytest.mark.parametrize("form", ["mte_gm_l1", "mte_l1_ub"])
def test_against_one_op_at_a_time(form: str) -> None:
    blocks = traffic(4, 1500, (form,))
    coverage = collect(blocks, forms=(form,))
    compare(coverage, slow_counts(blocks, slow), form)
    assert coverage.impossible == []


def test_bins_of_a_load_to_l1() -> None:
    found = one(MteGmL1(31, 524288 - 128, 63, 2, 63, 64))
    want = {
        "len": "33..63", "len_mod": "31", "gm_align": "bus-1", "gm_row_stride": "equal len",
        "l1_row_stride": "tight", "l1_place": "in last block", "n_burst": "2", "n_loops": "0",
    }  # fmt: skip
    assert {name: found[name] for name in want} == want
    # Its last row ends 96 bytes earlier.
    assert one(MteGmL1(31, 524288 - 224, 63, 2, 63, 64))["l1_place"] == "inside"
    assert not {"l2", "ub_sub", "pad"} & found.keys()


@pytest.mark.long
def test_bins_of_a_copy_from_l1() -> None:
    found = one(MteL1Ub(524288 - 96, 32, 3, 1, 7, 0, (Loop(1, 5, 5),)))
    want = {
        "len": "3", "len_mod": "96", "l1_mod": "32", "ub_mod": "32", "l1_gap": "one burst",
        "l1_place": "ends at top", "ub_place": "inside", "ub_gap_unused": "0",
        "l1_gap_unused": "1..1023", "loop0_count": "1",
        "l1_loop0_stride": "one iteration", "bytes": "64..255", "ub_sub": "0",
    }  # fmt: skip
    assert {name: found[name] for name in want} == want
    # DW-2: three bursts of 64 B, 32 B and 64 B apart, twice.
    found = one(MteL1Ub(0, 0, 2, 3, 1, 2, (Loop(2, 1024, 512),)))
    want = {
        "l1_gap": "1", "ub_gap": "2..3", "len_mod": "64", "n_burst": "3", "bytes": "256..1023",
        "l1_loop0_stride": "beyond", "ub_loop0_stride": "beyond",
    }  # fmt: skip
    assert {name: found[name] for name in want} == want
    # The bursts in UB reach to byte 320.
    assert one(MteL1Ub(0, 0, 2, 3, 1, 2, (Loop(2, 256, 320),)))["ub_loop0_stride"] == "next"
    assert one(MteL1Ub(0, 0, 0, 4095, 65535, 65535))["nop_max"] == "n_burst 4095"
    assert one(MteL1Ub(0, 1 << 18, 0, 1, 0, 0))["nop_place"] == "UB outside"
    assert one(MteL1Ub(1 << 19, 0, 0, 1, 0, 0))["nop_place"] == "L1 outside"
