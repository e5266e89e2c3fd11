# SPDX-License-Identifier: Apache-2.0
"""Coverage of the loads to L0A, L0B and their scales (docs/spec/l0_loads.md)."""

from __future__ import annotations

from functools import partial

import numpy as np

from tb.coverage.geometry import WORD, nop_place, place, zero_counts
from tb.coverage.model import Cross, crossed, excluding, lone
from tb.coverage.ops import Bools, Derived, Ops, sides
from tb.coverage.points import (
    DEAD,
    GAP,
    Group,
    Row,
    cases,
    codes,
    dtype_point,
    range_labels,
    ranges,
    residues,
)
from tb.coverage.view import FORM_SPECS, form_doc
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.l0.table import (
    C0_BYTES,
    ELEMENT_CODES,
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    SCALE_BYTES,
    START_BITS,
    STEP_BITS,
    STRIDE_BITS,
    LoadSpec,
)
from tb.isa.spaces import SIZES, Space, memory_range, segment_base

ELEMENTS = ("1 B", "2 B", "4 B", "4 bits")
"""Elements by the field ``elem``."""

TYPES: tuple[str, ...] = (
    *("i8", "ui8", "si8", "hif8", "f8E4M3FN", "f8E5M2", "f16", "bf16", "i16", "ui16"),
    *("f32", "i32", "ui32", "f4E2M1x2", "f4E1M2x2"),
)
"""Types of the factors of a product, and integers of the same sizes."""

assert set(TYPES) <= set(ELEMENT_BYTES), "every type has a size"

ROWS = (1, 2, 3, 4, 5, 8, 16, 32)
COLUMNS = (1, 2, 3, 4, 8, 16)
STARTS = (0, 1, 2, 5, 64)
COARSE = (1, 2, 5, 17)
READ = ("one run", "overlapping", "tight", "+1", "+2..15", "+16..")
WRITTEN = ("one run", "tight", "+1", "+2..15", "+16..")
UNUSED = ("1", "below 256", "256..", str((1 << STRIDE_BITS) - 1))
_BITS = np.array([bits for bits, _ in sorted(ELEMENT_CODES.items(), key=lambda item: item[1])])


# Sizes are in fractals, of scales in fragments.
DERIVED: Derived = {
    "live": lambda v: (v.m_step > 0) & (v.k_step > 0),
    "unit": lambda v: SCALE_BYTES if v.spec.scales else FRACTAL_BYTES,
    "bytes": lambda v: v.m_step * v.k_step * v.unit,
    # Runs that the source is read in, units of each, and those skipped in front.
    "src_runs": lambda v: v.m_step if v.spec.scales else v.k_step,
    "src_length": lambda v: v.k_step if v.spec.scales else v.m_step,
    "skipped_runs": lambda v: v.m_start if v.spec.scales else v.k_start,
    "skipped_units": lambda v: v.k_start if v.spec.scales else v.m_start,
    # The same of the destination.
    "dst_runs": lambda v: v.written.counts[0],
    "dst_length": lambda v: v.written.length // v.unit,
    # First byte, and first address after the last one.
    **sides("l0"),
    "first": lambda v: v.read.base,
    "end": lambda v: v.read.end,
    "target": lambda v: v.written.base - segment_base(v.spec.memory),
    "target_end": lambda v: v.target + v.written.hulls[-1],
}  # fmt: skip


def _stride(side: str, v: Ops) -> list[Bools]:
    step, length = v[f"{side}_stride"], v[f"{side}_length"]
    overlaps = [step < length] * (side == "src")
    return [v[f"{side}_runs"] == 1, *overlaps, step == length, step == length + 1,
            step < length + 16]  # fmt: skip


def _unused(side: str, v: Ops) -> list[Bools]:
    step = v[f"{side}_stride"]
    return [step == 1, step < 256, step < (1 << STRIDE_BITS) - 1]


def _lone_run(side: str, v: Ops) -> Bools:
    return v.live & (v[f"{side}_runs"] == 1)


def _stride_points(side: str, labels: tuple[str, ...]) -> list[Row]:
    name, what = f"{side}_stride", "source" if side == "src" else "destination"
    return [
        cases(name, labels, partial(_stride, side), f"{what} distance of runs"),
        cases(f"{name}_unused", UNUSED, partial(_unused, side), f"{what} distance of a lone run",
              ops=partial(_lone_run, side)),
    ]  # fmt: skip


FACTOR_POINTS = [
    codes("elem", ELEMENTS, "elem", "element"),
    dtype_point(TYPES),
    codes("transpose", ("no", "yes"), "transpose", "transposed"),
    codes("m_low", ("0", "1", "2", "3"), lambda v: v.m_step % 4, "m_step mod 4"),
    codes("k_low", ("even", "odd"), lambda v: v.k_step % 2, "k_step mod 2"),
]
"""Points of loads that are none of scales."""


def _far(v: Ops) -> list[Bools]:
    return [
        np.maximum(v.m_start, v.k_start) >= 1 << (START_BITS - 1),
        np.maximum(v.src_stride, v.dst_stride) >= 1 << (STRIDE_BITS - 1),
        np.maximum(v.m_step, v.k_step) >= 1 << (STEP_BITS - 2),
    ]


def _points(spec: LoadSpec) -> list[Row]:
    rows, columns = ("x", "y") if spec.scales else ("m", "k")
    l1, size = SIZES[Space.L1], len(memory_range(spec.memory)[1])
    unit = C0_BYTES if spec.scales else C0_BYTES * FRACTAL_ROWS
    return [
        ranges(f"{rows}_step", ROWS, "m_step", f"steps of {rows}"),
        ranges(f"{columns}_step", COLUMNS, "k_step", f"steps of {columns}"),
        ranges("rows", COARSE, "m_step", f"steps of {rows}, coarse, for crosses"),
        ranges("columns", COARSE, "k_step", f"steps of {columns}, coarse"),
        ranges(f"{rows}_start", STARTS, "m_start", f"first {rows}"),
        ranges(f"{columns}_start", STARTS, "k_start", f"first {columns}"),
        *_stride_points("src", READ),
        *_stride_points("dst", WRITTEN),
        *(() if spec.scales else FACTOR_POINTS),
        residues("l1_mod", WORD, C0_BYTES, "first", f"first source byte modulo {WORD}"),
        place("l1_place", l1, "first", "end", "range of L1"),
        place("place", size, "target", "target_end", f"range of {spec.memory}", whole="all of it"),
        ranges("bytes", [unit * count for count in (1, 4, 16, 64, 128)], "bytes", "bytes moved"),
        GAP,
        zero_counts("both 0", {"no rows": "m_step", "no columns": "k_step"}, "zero steps"),
        nop_place([("L1", "src_addr", l1), (spec.memory, "target", size)]),
        cases("nop_max", ("start above 2^15", "stride above 2^15", "step above 63", "smaller"),
              _far, "large operands of NOPs", ops=DEAD),
    ]  # fmt: skip


def _crosses(spec: LoadSpec) -> tuple[Cross, ...]:
    one_run, coarse = "a lone run has no distance", range_labels(COARSE)
    single = (excluding("one unit overlaps nothing", rows="1", src_stride="overlapping"),)
    whole = (excluding("more than the memory holds", rows="17..", columns="17.."),)
    if spec.scales:
        runs = lone(one_run, rows=coarse, src_stride=READ)
        return crossed("rows x columns", whole), crossed("rows x src_stride", runs)
    squares = (
        excluding("squares of 64", elem="4 bits", transpose="yes", m_low=("1", "2", "3")),
        excluding("squares of 32", elem="1 B", transpose="yes", m_low=("1", "3")),
    )
    halves = (excluding("squares of two columns", elem="4 B", transpose="yes", k_low="odd"),)
    pair = tuple(
        excluding("two columns at least", elem="4 B", transpose="yes", **{name: "one run"})
        for name in ("src_stride", "dst_stride")
    )
    tall = (
        excluding("squares of 64", elem="4 bits", transpose="yes", rows="1"),
        excluding("squares of 32", elem="1 B", transpose="yes", rows="1"),
    )
    return (
        crossed("elem x transpose x m_low", squares),
        crossed("elem x transpose x k_low", halves),
        crossed("elem x transpose x rows", tall),
        crossed("elem x transpose x src_stride", pair[:1]),
        crossed("elem x transpose x dst_stride", pair[1:]),
        crossed("elem x transpose x l1_mod"),
        crossed("rows x columns", whole),
        crossed("columns x src_stride", lone(one_run, columns=coarse, src_stride=READ)),
        crossed("rows x src_stride", single),
    )


def load_group(form: str) -> Group:
    """Returns the group of a load."""
    spec = FORM_SPECS[form]
    assert isinstance(spec, LoadSpec)
    return Group(form, _points(spec), _crosses(spec), DERIVED, form_doc(form), spec)
