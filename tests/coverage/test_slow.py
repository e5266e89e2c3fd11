# SPDX-License-Identifier: Apache-2.0
"""Random blocks of every family: bins of arrays against one op at a time, by its footprints."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import MTE_L1_BT, MTE_UB_UB
from tb.isa.dma.op import DmaOp
from tb.isa.fix.op import FixOp
from tb.isa.footprint import Footprint, destination, destinations, source, space_of
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
from tb.isa.spaces import Space
from tests.coverage.counting import GM_UB, collect, compare, range_label, slow_counts, traffic
from tests.sequences.reference import source_rows

FAR = 1 << 32
GAPS = ("0", "1", "2..3", "4..15", "16..")
M = ("1", "2..14", "15", "16", "17..31", "32", "33..63", "64..255", "256..1023", "1024..")
N = ("1", "2..7", "8..14", "15", "16", "17..31", "32", "33..63", "64..255", "256..1023", "1024..")
NZ_ROWS = ("1", "2..14", "15", "16", "17..30", "31", "32", "33..63", "64..255", "256..")
BURSTS = ("1", "2", "3", "4..7", "8..31", "32..64", "65..255", "256..511", "512..")
WRITTEN = ("1..31", "32..255", "256..1023", "1024..4095", "4096..16383", "16384..")
REPACKED = (
    "32..63", "64..255", "256..1023", "1024..4095", "4096..16383", "16384..65535", "65536..",
)  # fmt: skip
TOPS = {
    Space.GM: 1 << 40, Space.UB0: 262144, Space.UB1: 262144, Space.L1: 524288,
    Space.L0C: 262144, Space.BT: 4096, Space.FB: 4096,
}  # fmt: skip


def place(side: Footprint, *, whole: str = "", partial: str = "") -> str:
    """Returns the place of a region in its memory or segment.

    ``whole`` is the bin of regions from the start to the top, ``partial`` that of regions that
    end below the top of the last block.
    """
    start = side.base >> 16 << 16 if side.space is Space.FB else 0
    top, bottom = side.end == start + TOPS[side.space], side.base == start
    if whole and top and bottom:
        return whole
    if top:
        return "ends at top"
    if partial and side.end > TOPS[side.space] - 32:
        return partial
    return "starts at 0" if bottom else "inside"


def page(base: int, length: int) -> str:
    """Returns the position of a row of bytes relative to 4 KB pages."""
    crossed = (base + length - 1) // 4096 - base // 4096
    if crossed:
        return "crosses 1" if crossed == 1 else "crosses 2+"
    if base % 4096 == 0:
        return "starts at edge"
    return "ends at edge" if (base + length) % 4096 == 0 else "inside"


def step_class(step: int, row: int) -> str:
    """Returns the class of a distance of rows in GM."""
    if step >= FAR:
        return "2^32.."
    table = ((0, "below a row"), (1, "equal len"), (32, "+1..31"), (4096, "+32..4095"))
    return next((name for limit, name in table if step - row < limit), "+4096..")


def distance(footprint: Footprint) -> int:
    """Returns the one distance of equally spaced rows."""
    (step,) = {int(b - a) for a, b in pairwise(footprint.row_starts())}
    return step


def zeros_of(**counts: int) -> list[str]:
    """Returns the names of the counts of 0 as bins have them."""
    return [f"{name} 0" for name, count in counts.items() if not count]


# --- Strided copies


def local_class(stride: int, need: int) -> str:
    over = stride - need
    return "tight" if not over else "+32" if over == 32 else "+64..256" if over < 257 else "+288.."


def strided(desc: DmaOp, bus: int) -> dict[str, str]:
    counts = [loop.count for loop in desc.loops]
    loops = {f"loop{k}": count for k, count in enumerate(counts)}
    zeros = zeros_of(len=desc.len, n_burst=desc.n_burst, **loops)
    if zeros:
        return {"nop": zeros[0] if len(zeros) == 1 else "several zeros"}
    ext, loc = desc.spec.source, desc.spec.destination
    active = "+".join(str(k) for k, count in enumerate(counts) if count > 1)
    found = {
        "elem": str(desc.elem_bytes),
        "nop": "live",
        "loops_active": active or "none",
        "n_burst": range_label(desc.n_burst, BURSTS),
    }
    if {ext, loc} == {"gm", "ub"}:
        return found | between_gm_and_ub(desc, bus)
    found["n_loops"] = str(len(counts))
    read, write = source(desc), destination(desc)
    bursts = ext == "l1"
    ext_rows, loc_rows = (f"{side}_gap" if bursts else f"{side}_row_stride" for side in (ext, loc))
    found |= dict.fromkeys((ext_rows, loc_rows), "one burst" if bursts else "one row")
    if bursts:
        found |= {"ub_sub": str(desc.ub_sub), "len_mod": str(read.length % 128)}
        for name, side in ((ext, read), (loc, write)):
            found[f"{name}_place"] = place(side)
            found[f"{name}_mod"] = str(side.base % 128)
    else:
        rest = read.base % bus
        found["gm_align"] = {0: "0", 1: "1", bus - 1: "bus-1"}.get(rest, "other")
        found["gm_mod"] = str(rest)
        found["l1_place"] = place(write, partial="in last block")
    if desc.n_burst > 1:
        steps = [int(side.row_starts()[1]) - side.base for side in (read, write)]
        if bursts:
            for name, step in zip((ext_rows, loc_rows), steps, strict=True):
                found[name] = range_label((step - read.length) // 32, GAPS)
        else:
            found[loc_rows] = local_class(steps[1], -(-desc.len // 32) * 32)
            found[ext_rows] = step_class(steps[0], desc.len)
    return found


def between_gm_and_ub(desc: DmaOp, bus: int) -> dict[str, str]:
    """Classifies by plain arithmetic, for the points that need no table."""
    found = {
        "len_mod": str(desc.len % bus),
        "gm_mod": str(desc.ext_addr % bus),
        "ub_sub": str(desc.ub_sub),
        "page": page(desc.ext_addr, desc.len),
        "gm_row_stride": (
            "one row" if desc.n_burst == 1 else step_class(desc.ext_stride, desc.len)
        ),
    }
    if desc.pad_en:
        left = desc.left_bytes
        found["pad_elem"] = str(desc.elem_bytes)
        found["pad_left"] = {0: "0", desc.elem_bytes: "one element", 32: "32 B"}.get(left, "more")
    return found


# --- Burst copies


def order(read: Footprint, write: Footprint) -> str:
    if read.end <= write.base:
        return "right behind" if read.end == write.base else "behind"
    if write.end <= read.base:
        return "right before" if write.end == read.base else "before"
    return "between"


def bursts(desc: BurstOp, _: int) -> dict[str, str]:
    if desc.is_nop:
        zeros = zeros_of(len=desc.len, count=desc.n_burst)
        return {"nop": zeros[0] if len(zeros) == 1 else "both 0"}
    read, write = source(desc), destination(desc)
    param = desc.spec.destination in ("bt", "fb")
    word, step = (256, 64) if param else (128, 32)
    found = {
        "nop": "live",
        "src_mod": str(read.base % 128 // 32 * 32),
        "dst_mod": str(write.base % word // step * step),
        "src_place": place(read),
        "dst_place": place(write, whole="whole" if param else ""),
        "bursts": range_label(desc.n_burst, ("1", "2", "3..15", "16..")),
        "units": range_label(desc.len, ("1", "2", "3..15", "16..")),
        "src_gap": "one burst",
        "dst_gap": "one burst",
    }
    if desc.n_burst > 1:
        for side, footprint, unit in (("src", read, desc.units[0]), ("dst", write, desc.units[1])):
            gap = distance(footprint) - footprint.length
            found[f"{side}_gap"] = range_label(gap // unit, GAPS)
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


# --- NZ repack


def inner_class(desc: MteGmL1Frac) -> str:
    rows, row = source_rows(desc)
    if rows == 1:
        return "one row"
    step = distance(source(replace(desc, group_count=1)))
    return {0: "0", row: "tight"}.get(step, step_class(step, row))


def outer_class(desc: MteGmL1Frac) -> str:
    if desc.group_count == 1:
        return "one matrix"
    step = desc.outer_stride
    if step == 0 or step >= FAR:
        return "0" if step == 0 else "2^32.."
    rows, _ = source_rows(desc)
    first = source(replace(desc, group_count=1))
    if step < first.end - first.base:
        return "overlapping"
    return "tight" if step <= max(first.end - first.base, rows * desc.inner_stride) else "apart"


def column_class(desc: MteGmL1Frac) -> str:
    """Returns the position of the second C0 column relative to the rows of the first."""
    if desc.columns == 1:
        return "one column"
    first = destination(replace(desc, group_count=1, d_value=desc.c0))
    last = max(first.row_starts().tolist())
    second = desc.loc_addr + 32 * desc.dst_loop3
    if second <= last:
        return "interleaved"
    step = distance(first) if first.rows > 1 else 32
    if second <= last + step:
        return "tight"
    fractals = -(-desc.n_value // 16) * 16
    whole = step == 32 and second == desc.loc_addr + 32 * fractals
    return "whole fractals" if whole else "padded"


def matrix_class(desc: MteGmL1Frac) -> str:
    """Returns the position of the second matrix relative to the first."""
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


def width_class(desc: MteGmL1Frac) -> str:
    c0, d = desc.c0, desc.d_value
    if d == 1:
        return "1"
    if d in (c0, 2 * c0):
        return "C0" if d == c0 else "2C0"
    table = ((c0, "2..C0-1"), (2 * c0, "C0+1..2C0-1"), (8 * c0, "2C0+1..8C0-1"))
    return next((name for limit, name in table if d < limit), "8C0..")


def gm_place(side: Footprint) -> str:
    if side.end == 1 << 40:
        return "ends at 2^40"
    if side.base == 0:
        return "starts at 0"
    if side.base < FAR < side.end:
        return "spans 2^32"
    return "below 2^32" if side.end <= FAR else "above 2^32"


def repack(desc: MteGmL1Frac, bus: int) -> dict[str, str]:
    mode = "dn2nz" if desc.mode else "nd2nz"
    found = {"l2": str(desc.l2)}
    if desc.is_nop:
        zeros = zeros_of(n=desc.n_value, d=desc.d_value)
        return found | {"nop": zeros[0] if len(zeros) == 1 else "both 0"}
    read, write = source(desc), destination(desc)
    found |= {
        "packing": mode + " small" * bool(desc.small_c0),
        "nop": "live",
        "elem": str(desc.elem_bytes),
        "n": range_label(desc.n_value, NZ_ROWS),
        "gm_mod": str(read.base % bus),
        "row_mod": str(read.length % bus),
        "inner": inner_class(desc),
        "outer": outer_class(desc),
        "loop4": matrix_class(desc),
        "l1_mod": str(write.base % 128),
        "several": range_label(desc.group_count, ("1", "2..15", "16..")),
        "bytes": range_label(write.bytes, REPACKED),
        "gm_place": gm_place(read),
        "l1_place": place(write),
    }
    if desc.small_c0:
        tail = desc.n_value % (8 // desc.elem_bytes)
        return found | {"small_d": str(desc.d_value), "small_tail": str(tail)}
    several = desc.n_value > 1
    return found | {
        "tail": str(desc.d_value % desc.c0),
        "columns": range_label(desc.columns, ("1", "2", "3..7", "8..63", "64..")),
        "d": width_class(desc),
        "loop3": column_class(desc),
        "loop2": range_label(desc.dst_loop2, ("1", "2..15", "16..")) if several else "one row",
    }


# --- Write-backs


def layout_of(desc: FixOp) -> str:
    if desc.ub_mode:
        return ("split_m", "split_n")[desc.ub_mode - 1]
    name = ("omitted", "nz2nd", "nz2dn", "nz2nz")[desc.layout]
    return name + " split" * bool(desc.layout == 3 and desc.split)


def group_class(desc: FixOp) -> str:
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


def row_class(desc: FixOp) -> str:
    """Returns the class of the gap between the first two rows of the destination."""
    first = destinations(replace(desc, loop3_en=0))[0]
    if first.rows == 1:
        return "one row"
    starts = first.row_starts()
    gap = int(starts[1] - starts[0]) - first.length
    limits = ((1, "contiguous"), (32, "gap below 32 B"), (4096, "gap 32..4095 B"))
    return next((name for limit, name in limits if gap < limit), "gap 4096.. B")


def repeat_classes(desc: FixOp) -> dict[str, str]:
    first = replace(desc, loop3_en=0)
    read, write = source(first), destinations(first)[0]
    step, reach = desc.loop3_src * 64, read.end - read.base
    s3 = "0" if step == 0 else "interleaved" if step < reach else "apart"
    jump, hull = desc.loop3_dst * desc.dst_bits // 8, write.end - write.base
    whole = write.rows * write.strides[0] if write.rows > 1 else hull
    d3 = "interleaved" if jump < hull else "tight" if jump in (hull, whole) else "apart"
    return {"loop3_src": "tight" if step == reach else s3, "loop3_dst": d3}


def in_gm(desc: FixOp, write: Footprint) -> dict[str, str]:
    found = {"page": page(write.base, write.length), "gm_mod": str(write.base % 32)}
    if desc.atomic_type:
        kind = ("f32", "f16", "s16", "s32", "s8", "bf16")[desc.atomic_type - 1]
        op = ("add", "max", "min")[desc.atomic_op]
        found |= {"atomic": f"{kind} {op}", "atomic_layout": layout_of(desc)}
    return found


def write_back(desc: FixOp, _: int) -> dict[str, str]:
    where = desc.spec.destination
    flag = {0: "none", 2: "check", 3: "clear"}[desc.unit_flag]
    found = {"sid": str(desc.sid), "l2": str(desc.l2)} if where == "gm" else {}
    if desc.is_nop:
        zeros = zeros_of(m=desc.m, n=desc.n, count=desc.repeats)
        names = ("inside", "L0C outside", "destination outside", "both outside")
        outside = (desc.src_addr >= 262144) + 2 * (desc.dst_addr >= TOPS[space_of(where)])
        nop = zeros[0] if len(zeros) == 1 else "several"
        return found | {"nop": nop, "nop_flag": flag, "nop_place": names[outside]}
    read, writes = source(desc), destinations(desc)
    write = writes[0]
    tail = desc.n % 16
    found |= {
        "nop": "live",
        "layout": layout_of(desc),
        "flag": flag,
        "bits": str(desc.dst_bits),
        "m": range_label(desc.m, M),
        "n": range_label(desc.n, N),
        "n_tail": str(tail),
        "tail": str(tail) if tail in (0, 8) else "1..7" if tail < 8 else "9..15",
        "bytes": range_label(sum(part.bytes for part in writes), WRITTEN),
        "src_stride": group_class(desc),
        "src_mod": str(read.base % 512 // 64),
        "src_place": place(read, whole="all"),
        "dst_stride": row_class(desc),
        "loop3": "absent",
    }
    if desc.loop3_en:
        found["loop3"] = range_label(desc.loop3_count, ("1", "2", "3..7", "8.."))
    if desc.layout == 2 and desc.m > 1:
        found["k"] = range_label(desc.k, ("1", "2", "3..15", "16.."))
    if desc.repeats > 1:
        found |= repeat_classes(desc)
    if where == "gm":
        return found | in_gm(desc, write)
    if where == "ub" and not desc.ub_mode:
        found["ub_sub"] = str(desc.ub_sub)
    return found | {f"{where}_mod": str(write.base % 128), f"{where}_place": place(write)}


CLASSIFIERS: dict[str, Callable[[Any, int], dict[str, str]]] = {
    "dma": strided, "burst": bursts, "nz": repack, "fix": write_back
}  # fmt: skip
"""Family of a descriptor to the bins of one op, by point, on a GM bus of some bytes."""

SHORT = (
    "mte_gm_l1", "mte_l1_ub", "mte_ub_ub", "mte_ub_l1", "mte_l1_bt", "mte_l1_fb",
    "copy_ubuf_to_ubuf",
)  # fmt: skip
LONG = [
    (GM_UB, 21, 1500, 16), (GM_UB, 21, 1500, 32), (("mte_gm_l1_frac",), 1, 2500, 32),
    (("mte_gm_l1_frac",), 2, 2500, 32), (("mte_l0c_gm",), 1, 2000, 32),
    (("mte_l0c_l1",), 1, 2000, 32), (("mte_l0c_ub",), 1, 2000, 32),
]  # fmt: skip


@pytest.mark.parametrize(
    ("forms", "seed", "count", "bus"),
    [
        *[((form,), 3, 1500, 32) for form in SHORT],
        *[pytest.param(*row, marks=pytest.mark.long) for row in LONG],
    ],
)
def test_against_one_op_at_a_time(forms: tuple[str, ...], seed: int, count: int, bus: int) -> None:
    blocks = traffic(seed, count, forms, bus)
    coverage = collect(blocks, bus, forms)
    slow = slow_counts(blocks, lambda desc: CLASSIFIERS[desc.family](desc, bus))
    for form in forms:
        compare(coverage, slow, form)
    assert coverage.impossible == []
