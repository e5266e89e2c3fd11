# SPDX-License-Identifier: Apache-2.0
"""Destinations of the FIXPIPE write-backs: strides, residues, pages and memory ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb.coverage.fix.view import FixPart
from tb.coverage.model import Cross, Ints, excluding, point
from tb.coverage.sampled import Sampled, codes, first_of, only
from tb.isa.fields import OpSpec
from tb.isa.footprint import space_of
from tb.isa.spaces import SIZES, UB_BLOCK, Space

Points = list[Sampled[FixPart]]

DST_STRIDE = ("one row", "contiguous", "gap below 32 B", "gap 32..4095 B", "gap 4096.. B")
ALIGN = ("0", "1", "bus-1", "other")

PAGE = 4096
FAR = 1 << 32
MAX_BANDS = 32
WORD = 128
"""Bytes that L1 and UB addresses are taken modulo of: no local bus is wider."""


def _stride_points() -> Points:
    def stride(view: FixPart) -> Ints:
        gap = view.row_step - view.row_bytes
        return only(view.live, first_of([view.rows == 1, gap == 0, gap < UB_BLOCK, gap < PAGE]))

    def unused(view: FixPart) -> Ints:
        single = view.live & (view.rows == 1)
        return only(single, (view.row_step >= view.row_bytes).astype(np.int64))

    return [
        Sampled(point("dst_stride", DST_STRIDE, "bytes between rows, columns or groups"), stride),
        Sampled(
            point(
                "dst_stride_unused",
                ["below the row", "other"],
                "stride of a single row, which has no effect",
            ),
            unused,
        ),
    ]


def _ends(name: str, values: Callable[[FixPart], Ints], word: int, doc: str) -> Sampled[FixPart]:
    def index(view: FixPart) -> Ints:
        rest = values(view) % word
        return only(view.live, first_of([rest == 0, rest == 1, rest == word - 1]))

    last = "bus-1" if name == "gm_align" else str(word - 1)
    return Sampled(point(name, ["0", "1", last, "other"], doc), index)


def memory_points(bus_bytes: int) -> Points:
    """Returns the points of a destination in GM; residues are modulo ``bus_bytes``."""
    bands = min(bus_bytes, MAX_BANDS)
    wide = bus_bytes // bands
    labels = [str(k) if wide == 1 else f"{k * wide}..{k * wide + wide - 1}" for k in range(bands)]
    gm = SIZES[Space.GM]

    def page(view: FixPart) -> Ints:
        start = view["dst_addr"]
        end = start + view.row_bytes
        within = (end - 1) // PAGE - start // PAGE
        cases = [within >= 2, within == 1, start % PAGE == 0, end % PAGE == 0]
        return only(view.live, first_of(cases))

    def region(view: FixPart) -> Ints:
        start, end = view["dst_addr"], view.end
        cases = [end == gm, start == 0, (start < FAR) & (end > FAR), end <= FAR]
        return only(view.live, first_of(cases))

    pages = ["crosses 2+", "crosses 1", "starts at edge", "ends at edge", "inside"]
    regions = ["ends at 2^40", "starts at 0", "spans 2^32", "below 2^32", "above 2^32"]
    return [
        *_stride_points(),
        codes(
            "gm_mod", labels, lambda v: v["dst_addr"] % bus_bytes // wide,
            "GM address modulo the bus width",
        ),
        _ends("gm_align", lambda v: v["dst_addr"], bus_bytes, "GM address in its word"),
        _ends("row_mod", lambda v: v.row_bytes, bus_bytes, "bytes of a row modulo the bus width"),
        Sampled(point("page", pages, "first destination row against 4 KiB boundaries"), page),
        Sampled(point("gm_place", regions, "GM range of the op"), region),
    ]  # fmt: skip


def memory_crosses() -> tuple[Cross, ...]:
    """Returns the crosses of a destination in GM."""
    odd = (excluding("aligned to the element", bits=("16", "32"), gm_align=ALIGN[1:3]),)
    return (Cross("bits x gm_align", ("bits", "gm_align"), odd),)


def local_points(spec: OpSpec) -> Points:
    """Returns the points of a destination in L1 or UB."""
    name, size = spec.destination, SIZES[space_of(spec.destination)]

    def place(view: FixPart) -> Ints:
        return only(view.live, first_of([view.end == size, view["dst_addr"] == 0]))

    return [
        *_stride_points(),
        codes(
            f"{name}_mod", [str(at) for at in range(0, WORD, UB_BLOCK)],
            lambda v: v["dst_addr"] % WORD // UB_BLOCK, f"{name.upper()} address modulo {WORD}",
        ),
        _ends("row_mod", lambda v: v.row_bytes, UB_BLOCK, f"bytes of a row modulo {UB_BLOCK}"),
        Sampled(
            point(f"{name}_place", ["ends at top", "starts at 0", "inside"],
                  f"{name.upper()} range"),
            place,
        ),
    ]  # fmt: skip
