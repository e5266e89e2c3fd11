# SPDX-License-Identifier: Apache-2.0
"""Coverage of the fill of L1 (docs/spec/dma.md, section 9)."""

from __future__ import annotations

import numpy as np

from tb.coverage.geometry import GAPS, WORD, gap_point, largest, place, zero_counts
from tb.coverage.model import Cross, crossed, lone
from tb.coverage.ops import Bools, Derived, Ops, sides
from tb.coverage.points import (
    DEAD,
    GAP,
    Group,
    cases,
    codes,
    dtype_point,
    range_labels,
    ranges,
    residues,
)
from tb.coverage.view import form_doc
from tb.isa.fill.op import COUNT_BITS, RAW_BITS, WORD_BITS
from tb.isa.spaces import SIZES, UB_BLOCK, Space

MOST = (1 << COUNT_BITS) - 1
REPEATS = (1, 2, 3, 16)
_GAPS = ("one repeat", *GAPS[1:])

DERIVED: Derived = {
    "live": lambda v: (v.len > 0) & (v.n_burst > 0),
    "single": lambda v: v.live & (v.n_burst == 1),
    **sides("fill"),
    "bytes": lambda v: np.where(v.live, v.n_burst * v.written.length, 0),
    # Address of the first block, and first address after the last one.
    "first": lambda v: v.dst_addr + v.offset,
    "end": lambda v: v.written.end,
}


def _parts(v: Ops) -> list[Bools]:
    whole = v.offset % UB_BLOCK == 0
    return [v.offset == 0, (v.dst_addr == 0) & whole, whole]


POINTS = [
    ranges("blocks", (1, 2, 3, 4, 8, 16, 64, 256, 1024), "len", "blocks of a repeat"),
    ranges("repeat", (1, 2, 3, 4, 8, 32, 65, 256), "n_burst", "repeats"),
    ranges("repeats", REPEATS, "n_burst", "repeats, coarse, for crosses"),
    ranges("units", REPEATS, "len", "blocks, coarse, for crosses"),
    ranges("bytes", (32, 64, 256, 1024, 4096, 16384, 65536), "bytes", "bytes written"),
    gap_point("gap_blocks", "dst_gap", "blocks between two repeats", labels=_GAPS),
    cases("gap_unused", ["0", str(MOST), "others"], lambda v: [v.dst_gap == 0, v.dst_gap == MOST],
          "gap of a lone repeat, which has no effect", ops="single"),
    codes("word", [f"{bits} bits" for bits in WORD_BITS], "word32",
          "bits of the pattern that count"),
    cases("raw", ["0", "all ones", "low half alone", "both halves"],
          lambda v: [v.raw == 0, v.raw == (1 << RAW_BITS) - 1, v.raw >> 16 == 0],
          "bits of the pattern"),
    residues("mod", WORD, UB_BLOCK, "first", f"first address modulo {WORD}"),
    cases("parts", ["base alone", "offset alone", "whole blocks", "odd parts"], _parts,
          "how base and offset make the address"),
    place("place", SIZES[Space.L1], "first", "end", "L1 range of the op"),
    GAP,
    zero_counts("both 0", {"blocks 0": "len", "repeat 0": "n_burst"}),
    largest("nop_max", {f"repeat {MOST}": ("n_burst", MOST), f"blocks {MOST}": ("len", MOST)},
            "largest counts, which only NOPs can have"),
    codes("nop_place", ["inside", "outside"], lambda v: v.first >= SIZES[Space.L1],
          "NOP addresses", ops=DEAD),
    dtype_point(),
]  # fmt: skip

CROSSES = (
    Cross("repeats x gap", ("repeats", "gap_blocks"),
          lone("one repeat has no gap", repeats=range_labels(REPEATS), gap_blocks=_GAPS)),
    crossed("repeats x units"),
    crossed("word x raw"),
    crossed("word x mod"),
    crossed("parts x word"),
)  # fmt: skip


def fill_group(form: str) -> Group:
    """Returns the group of the fill."""
    return Group(form, POINTS, CROSSES, DERIVED, form_doc(form))
