# SPDX-License-Identifier: Apache-2.0
"""Coverage of the fill of L1 (spec/dma.md, section 9)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tb.coverage.model import Cross, Ints, excluding, point
from tb.coverage.sampled import (
    Group,
    Sampled,
    codes,
    dtype_point,
    first_of,
    gap_point,
    only,
    range_labels,
    ranges,
)
from tb.coverage.view import Bools, Part, form_doc
from tb.isa.fill.op import COUNT_BITS, RAW_BITS, WORD_BITS
from tb.isa.spaces import SIZES, UB_BLOCK, Space

MOST = (1 << COUNT_BITS) - 1
WORD = 128
"""Bytes that L1 addresses are taken modulo of: no local bus is wider."""

GAP_LOWS = (0, 1, 2, 4, 16)
GAPS = ("one repeat", *range_labels(GAP_LOWS))
REPEATS = (1, 2, 3, 16)


class FillPart(Part):
    """Legal fills."""

    @cached_property
    def live(self) -> Bools:
        """Writes at least one block."""
        found: Bools = (self["len"] > 0) & (self["n_burst"] > 0)
        return found

    @cached_property
    def first(self) -> Ints:
        """Address of the first block."""
        return self["dst_addr"] + self["offset"]

    @cached_property
    def bytes(self) -> Ints:
        """Bytes written."""
        return np.where(self.live, self["n_burst"] * self["len"] * UB_BLOCK, 0)

    @cached_property
    def end(self) -> Ints:
        """First address behind the last block."""
        step = self["len"] + self["dst_gap"]
        return self.first + ((self["n_burst"] - 1) * step + self["len"]) * UB_BLOCK


def _gap(view: FillPart) -> Ints:
    found = np.searchsorted(GAP_LOWS, view["dst_gap"], side="right")
    return only(view.live, np.where(view["n_burst"] == 1, 0, found))


def _unused(view: FillPart) -> Ints:
    gap = view["dst_gap"]
    return only(view.live & (view["n_burst"] == 1), first_of([gap == 0, gap == MOST]))


def _place(view: FillPart) -> Ints:
    return only(view.live, first_of([view.end == SIZES[Space.L1], view.first == 0]))


def _offset(view: FillPart) -> Ints:
    offset, base = view["offset"], view["dst_addr"]
    odd = offset % UB_BLOCK > 0
    return only(view.live, first_of([offset == 0, (base == 0) & ~odd, ~odd]))


def _raw(view: FillPart) -> Ints:
    raw, low = view["raw"], view["raw"] & 0xFFFF
    return only(view.live, first_of([raw == 0, raw == (1 << RAW_BITS) - 1, raw == low]))


def _kind(view: FillPart) -> Ints:
    empty, none = view["len"] == 0, view["n_burst"] == 0
    return first_of([empty & none, empty, none])


def _most(view: FillPart) -> Ints:
    return only(~view.live, first_of([view["n_burst"] == MOST, view["len"] == MOST]))


def fill_group(form: str) -> Group[FillPart]:
    """Returns the group of the fill."""
    widths = [f"{bits} bits" for bits in WORD_BITS]
    points: list[Sampled[FillPart]] = [
        ranges("blocks", (1, 2, 3, 4, 8, 16, 64, 256, 1024), lambda v: v["len"],
               "blocks of a repeat"),
        ranges("repeat", (1, 2, 3, 4, 8, 32, 65, 256), lambda v: v["n_burst"], "repeats"),
        ranges("repeats", REPEATS, lambda v: v["n_burst"], "repeats, coarse, for crosses"),
        ranges("units", REPEATS, lambda v: v["len"], "blocks, coarse, for crosses"),
        ranges("bytes", (32, 64, 256, 1024, 4096, 16384, 65536), lambda v: v.bytes,
               "bytes written"),
        Sampled(point("gap_blocks", GAPS, "blocks between two repeats"), _gap),
        Sampled(point("gap_unused", ["0", str(MOST), "others"],
                      "gap of a lone repeat, which has no effect"), _unused),
        codes("word", widths, lambda v: v["word32"], "bits of the pattern that count"),
        Sampled(point("raw", ["0", "all ones", "low half alone", "both halves"],
                      "bits of the pattern"), _raw),
        codes("mod", [str(at) for at in range(0, WORD, UB_BLOCK)],
              lambda v: v.first % WORD // UB_BLOCK, f"first address modulo {WORD}"),
        Sampled(point("parts", ["base alone", "offset alone", "whole blocks", "odd parts"],
                      "how base and offset make the address"), _offset),
        Sampled(point("place", ["ends at top", "starts at 0", "inside"],
                      "L1 range of the op"), _place),
        gap_point(),
        Sampled(point("nop", ["both 0", "blocks 0", "repeat 0", "live"], "zero counts"), _kind),
        Sampled(point("nop_max", [f"repeat {MOST}", f"blocks {MOST}", "smaller"],
                      "largest counts, which only NOPs can have"), _most),
        Sampled(point("nop_place", ["inside", "outside"], "NOP addresses"),
                lambda v: only(~v.live, (v.first >= SIZES[Space.L1]).astype(np.int64))),
        dtype_point(),
    ]  # fmt: skip
    one = (
        excluding("one repeat has no gap", repeats="1", gap_blocks=GAPS[1:]),
        excluding("several have one", repeats=range_labels(REPEATS)[1:], gap_blocks=GAPS[0]),
    )
    crosses = (
        Cross("repeats x gap", ("repeats", "gap_blocks"), one),
        Cross("repeats x units", ("repeats", "units")),
        Cross("word x raw", ("word", "raw")),
        Cross("word x mod", ("word", "mod")),
        Cross("parts x word", ("parts", "word")),
    )
    return Group(form, points, crosses, FillPart, form_doc(form))
