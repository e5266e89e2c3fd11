# SPDX-License-Identifier: Apache-2.0
"""Strided copies with an L1 side: random blocks against slow per-op classification."""

from __future__ import annotations

import pytest

from tb.isa.dma.op import DmaDescriptor
from tb.isa.footprint import Footprint, destination, source
from tb.isa.lower import Descriptor
from tb.isa.spaces import SIZES
from tests.coverage.counting import collect, compare, range_label, slow_counts, traffic

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
