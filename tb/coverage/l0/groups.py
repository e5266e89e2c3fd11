# SPDX-License-Identifier: Apache-2.0
"""Coverage of the loads to L0A, L0B and their scales (spec/l0_loads.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb.coverage.l0.view import LoadPart
from tb.coverage.model import Cross, Ints, excluding, point
from tb.coverage.sampled import (
    Group,
    Sampled,
    codes,
    dtype_point,
    first_of,
    gap_point,
    only,
    ranges,
)
from tb.coverage.view import FORM_SPECS, Bools, form_doc
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.l0.table import C0_BYTES, FRACTAL_ROWS, START_BITS, STEP_BITS, STRIDE_BITS, LoadSpec
from tb.isa.spaces import SIZES, Space, memory_range

Points = list[Sampled[LoadPart]]

WORD = 128
"""Bytes that L1 addresses are taken modulo of: no local bus is wider."""

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


def _stride(name: str, runs: Callable[[LoadPart], tuple[Ints, Ints]], *, read: bool) -> Points:
    def used(view: LoadPart) -> Ints:
        count, length = runs(view)
        stride = view[name]
        cases = [count == 1, *[stride < length] * read, stride == length, stride == length + 1]
        return only(view.live, first_of([*cases, stride < length + 16]))

    def unused(view: LoadPart) -> Ints:
        stride, top = view[name], (1 << STRIDE_BITS) - 1
        lone = view.live & (runs(view)[0] == 1)
        found = first_of([stride == 1, stride < 256, stride < top])
        return only(lone, found)

    what = "source" if read else "destination"
    return [
        Sampled(point(name, READ if read else WRITTEN, f"{what} distance of runs"), used),
        Sampled(point(f"{name}_unused", UNUSED, f"{what} distance of a lone run"), unused),
    ]


def _step_points(spec: LoadSpec) -> Points:
    rows, columns = ("x", "y") if spec.scales else ("m", "k")
    points: Points = [
        ranges(f"{rows}_step", ROWS, lambda v: v["m_step"], f"steps of {rows}"),
        ranges(f"{columns}_step", COLUMNS, lambda v: v["k_step"], f"steps of {columns}"),
        ranges("rows", COARSE, lambda v: v["m_step"], f"steps of {rows}, coarse, for crosses"),
        ranges("columns", COARSE, lambda v: v["k_step"], f"steps of {columns}, coarse"),
        ranges(f"{rows}_start", STARTS, lambda v: v["m_start"], f"first {rows}"),
        ranges(f"{columns}_start", STARTS, lambda v: v["k_start"], f"first {columns}"),
        *_stride("src_stride", lambda v: v.runs, read=True),
        *_stride("dst_stride", lambda v: v.target_runs, read=False),
    ]
    if not spec.scales:
        points += [
            codes("elem", ELEMENTS, lambda v: v["elem"], "element"),
            dtype_point(TYPES),
            codes("transpose", ("no", "yes"), lambda v: v["transpose"], "transposed"),
            codes("m_low", [str(at) for at in range(4)], lambda v: v["m_step"] % 4, "m_step mod 4"),
            codes("k_low", ("even", "odd"), lambda v: v["k_step"] % 2, "k_step mod 2"),
        ]
    return points


def _place_points(spec: LoadSpec) -> Points:
    l1, size = SIZES[Space.L1], len(memory_range(spec.memory)[1])
    unit = C0_BYTES if spec.scales else C0_BYTES * FRACTAL_ROWS

    def read(view: LoadPart) -> Ints:
        return only(view.live, first_of([view.end == l1, view.first == 0]))

    def written(view: LoadPart) -> Ints:
        whole = (view.target == 0) & (view.target_end == size)
        return only(view.live, first_of([whole, view.target_end == size, view.target == 0]))

    ends = ("ends at top", "starts at 0", "inside")
    lows = (unit, 4 * unit, 16 * unit, 64 * unit, 128 * unit)
    return [
        codes(
            "l1_mod",
            [str(at) for at in range(0, WORD, C0_BYTES)],
            lambda v: v.first % WORD // C0_BYTES,
            f"first source byte modulo {WORD}",
        ),
        Sampled(point("l1_place", ends, "range of L1"), read),
        Sampled(point("place", ("all of it", *ends), f"range of {spec.memory}"), written),
        ranges("bytes", lows, lambda v: v.bytes, "bytes moved"),
    ]


def _operand_points(spec: LoadSpec) -> Points:
    l1, size = SIZES[Space.L1], len(memory_range(spec.memory)[1])

    def kind(view: LoadPart) -> Ints:
        no_m, no_k = view["m_step"] == 0, view["k_step"] == 0
        return first_of([no_m & no_k, no_m, no_k])

    def where(view: LoadPart) -> Ints:
        outside = (view["src_addr"] >= l1).astype(np.int64)
        return only(~view.live, outside + 2 * (view.target >= size))

    def far(view: LoadPart) -> Ints:
        cases: list[Bools] = [
            np.maximum(view["m_start"], view["k_start"]) >= 1 << (START_BITS - 1),
            np.maximum(view["src_stride"], view["dst_stride"]) >= 1 << (STRIDE_BITS - 1),
            np.maximum(view["m_step"], view["k_step"]) >= 1 << (STEP_BITS - 2),
        ]
        return only(~view.live, first_of(cases))

    kinds = ("both 0", "no rows", "no columns", "live")
    places = ("inside", "L1 outside", f"{spec.memory} outside", "both outside")
    limits = ("start above 2^15", "stride above 2^15", "step above 63", "smaller")
    return [
        gap_point(),
        Sampled(point("nop", kinds, "zero steps"), kind),
        Sampled(point("nop_place", places, "NOP bases"), where),
        Sampled(point("nop_max", limits, "large operands of NOPs"), far),
    ]


def _crosses(spec: LoadSpec) -> tuple[Cross, ...]:
    strides = (
        excluding("a lone run has no distance", columns="1", src_stride=READ[1:]),
        excluding("several have one", columns=("2..4", "5..16", "17.."), src_stride="one run"),
    )
    single = (excluding("one unit overlaps nothing", rows="1", src_stride="overlapping"),)
    whole = (excluding("more than the memory holds", rows="17..", columns="17.."),)
    if spec.scales:
        lone = (
            excluding("a lone run has no distance", rows="1", src_stride=READ[1:]),
            excluding("several have one", rows=("2..4", "5..16", "17.."), src_stride="one run"),
        )
        return (
            Cross("rows x columns", ("rows", "columns"), whole),
            Cross("rows x src_stride", ("rows", "src_stride"), lone),
        )
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
        Cross("elem x transpose x m_low", ("elem", "transpose", "m_low"), squares),
        Cross("elem x transpose x k_low", ("elem", "transpose", "k_low"), halves),
        Cross("elem x transpose x rows", ("elem", "transpose", "rows"), tall),
        Cross("elem x transpose x src_stride", ("elem", "transpose", "src_stride"), pair[:1]),
        Cross("elem x transpose x dst_stride", ("elem", "transpose", "dst_stride"), pair[1:]),
        Cross("elem x transpose x l1_mod", ("elem", "transpose", "l1_mod")),
        Cross("rows x columns", ("rows", "columns"), whole),
        Cross("columns x src_stride", ("columns", "src_stride"), strides),
        Cross("rows x src_stride", ("rows", "src_stride"), single),
    )


def load_group(form: str) -> Group[LoadPart]:
    """Returns the group of a load."""
    spec = FORM_SPECS[form]
    assert isinstance(spec, LoadSpec)
    points = [*_step_points(spec), *_place_points(spec), *_operand_points(spec)]
    return Group(form, points, _crosses(spec), LoadPart, form_doc(form))
