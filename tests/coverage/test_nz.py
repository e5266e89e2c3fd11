# SPDX-License-Identifier: Apache-2.0
"""NZ repack: random blocks against slow per-op classification, and hand-made ops."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tb.coverage.functional import FunctionalCoverage
from tb.isa.footprint import destination, source
from tb.isa.lower import Descriptor
from tb.isa.nz.op import NzDescriptor
from tests.coverage.counting import collect, compare, range_label, slow_counts, traffic

FORM = "mte_gm_l1_frac"
FAR = 1 << 32
BYTES = ("32..63", "64..255", "256..1023", "1024..4095", "4096..16383", "16384..65535", "65536..")


def distance(values: list[int]) -> int:
    """Returns the one distance of equally spaced values."""
    steps = {b - a for a, b in pairwise(values)}
    assert len(steps) == 1
    return steps.pop()


def inner_class(desc: NzDescriptor) -> str:
    rows, row = desc.source_rows
    if rows == 1:
        return "one row"
    starts = source(replace(desc, group_count=1)).row_starts().tolist()
    step = distance(starts)
    if step <= row:
        return "0" if step == 0 else "tight" if step == row else "below a row"
    limits = ((32, "+1..31"), (4096, "+32..4095"))
    for limit, name in limits:
        if step - row < limit:
            return name
    return "2^32.." if step >= FAR else "+4096.."


def outer_class(desc: NzDescriptor) -> str:
    if desc.group_count == 1:
        return "one matrix"
    step = desc.outer_stride
    if step == 0 or step >= FAR:
        return "0" if step == 0 else "2^32.."
    rows, _ = desc.source_rows
    first = source(replace(desc, group_count=1))
    if step < first.end - first.base:
        return "overlapping"
    return "tight" if step <= max(first.end - first.base, rows * desc.inner_stride) else "apart"


def column_class(desc: NzDescriptor) -> str:
    """Returns the position of the second C0 column relative to the rows of the first."""
    if desc.columns == 1:
        return "one column"
    rows = destination(replace(desc, group_count=1, d_value=desc.c0)).row_starts().tolist()
    second = desc.loc_addr + 32 * desc.dst_loop3
    if second <= max(rows):
        return "interleaved"
    step = distance(rows) if len(rows) > 1 else 32
    if second <= max(rows) + step:
        return "tight"
    fractals = -(-desc.n_value // 16) * 16
    whole = step == 32 and second == desc.loc_addr + 32 * fractals
    return "whole fractals" if whole else "padded"


def group_class(desc: NzDescriptor) -> str:
    if desc.group_count == 1:
        return "one group"
    first = destination(replace(desc, group_count=1))
    second = desc.loc_addr + 32 * desc.dst_loop4
    if second < first.end:
        return "interleaved"
    reach = first.end - desc.loc_addr
    if not desc.small_c0:
        counts = ((desc.n_value, desc.dst_loop2), (desc.columns, desc.dst_loop3))
        reach = max(reach, 32, *[32 * count * step for count, step in counts if count > 1])
    return "tight" if second <= desc.loc_addr + reach else "padded"


def width_class(desc: NzDescriptor) -> str:
    c0, d = desc.c0, desc.d_value
    if d == 1:
        return "1"
    if d in (c0, 2 * c0):
        return "C0" if d == c0 else "2C0"
    table = ((c0, "2..C0-1"), (2 * c0, "C0+1..2C0-1"), (8 * c0, "2C0+1..8C0-1"))
    return next((name for limit, name in table if d < limit), "8C0..")


def slow(desc: Descriptor) -> dict[str, str]:
    """Classifies one op by its footprints."""
    assert isinstance(desc, NzDescriptor)
    mode = "dn2nz" if desc.mode else "nd2nz"
    found = {"packing": mode + " small" * bool(desc.small_c0), "l2": str(desc.l2)}
    if desc.is_nop:
        both = desc.n_value == desc.d_value == 0
        del found["packing"]
        return found | {"nop": "both 0" if both else "d 0" if desc.n_value else "n 0"}
    read, write = source(desc), destination(desc)
    found |= {
        "nop": "live",
        "elem": str(desc.elem_bytes),
        "gm_mod": str(read.base % 32),
        "row_mod": str(read.length % 32),
        "inner": inner_class(desc),
        "outer": outer_class(desc),
        "loop4": group_class(desc),
        "l1_mod": str(write.base % 128),
        "several": range_label(desc.group_count, ("1", "2..15", "16..")),
        "bytes": range_label(
            write.bytes,
            BYTES,
        ),
        "gm_place": (
            "ends at 2^40" if read.end == 1 << 40
            else "starts at 0" if read.base == 0
            else "spans 2^32" if read.base < FAR < read.end
            else "below 2^32" if read.end <= FAR else "above 2^32"
        ),
        "l1_place": (
            "ends at top" if write.end == 524288 else "starts at 0" if write.base == 0 else "inside"
        ),
    }  # fmt: skip
    if desc.small_c0:
        found["small_d"] = str(desc.d_value)
        found["small_tail"] = str(desc.n_value % (8 // desc.elem_bytes))
        return found
    found["tail"] = str(desc.d_value % desc.c0)
    found["columns"] = range_label(desc.columns, ("1", "2", "3..7", "8..63", "64.."))
    found["d"] = width_class(desc)
    found["loop3"] = column_class(desc)
    if desc.n_value == 1:
        found["loop2"] = "one row"
    else:
        found["loop2"] = range_label(desc.dst_loop2, ("1", "2..15", "16.."))
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_against_one_op_at_a_time(seed: int) -> None:
    blocks = traffic(seed, 2500, (FORM,))
    coverage = collect(blocks, forms=(FORM,))
    compare(coverage, slow_counts(blocks, slow), FORM)
    assert coverage.impossible == []


def test_bus_width_bands() -> None:
    wide = FunctionalCoverage(64, (FORM,)).groups[FORM].group.by_name["gm_mod"].labels
    assert wide[0] == "0..1"
    assert len(wide) == 32
