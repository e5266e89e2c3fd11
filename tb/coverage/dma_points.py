# SPDX-License-Identifier: Apache-2.0
"""Coverpoints of the GM DMA ops: each stands beside the rule that puts an op into its bins.

The classes come from spec/dma.md, sections 1 to 5, and from where engines go wrong: bus words,
4 KiB boundaries, the ends of the memories and of the operand ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tb.coverage.dma_view import (
    FOREIGN,
    SET_PAD,
    SET_SIZE,
    SET_STRIDE1,
    SET_STRIDE2,
    SID,
    Bools,
    View,
)
from tb.coverage.model import NOT_SAMPLED, Coverpoint, Ints, point
from tb.isa.dma_table import LOOP_COUNT_BITS, MAX_LOOPS, N_BURST_BITS, PAD_LIMIT
from tb.isa.dtypes import DTYPES, PAD_DTYPES
from tb.isa.spaces import SIZES, UB_BLOCK, Space

PAGE = 4096
FAR = 1 << 32
MAX_BANDS = 32
"""Most bins for a residue modulo the bus width: a 64-byte bus has two residues in each."""


@dataclass(frozen=True)
class Sampled:
    """A coverpoint and the function that returns ``int64[N]`` bin indices for N ops."""

    point: Coverpoint
    index: Callable[[View], Ints]


def only(mask: Bools, index: Ints) -> Ints:
    """Returns ``index``, ``NOT_SAMPLED`` outside ``mask``."""
    return np.where(mask, index, NOT_SAMPLED)


def range_labels(lows: Sequence[int]) -> list[str]:
    """Returns the names of the classes that start at ``lows``: ``4`` or ``4..7``, last ``8..``."""
    labels = [str(low) if high == low + 1 else f"{low}..{high - 1}" for low, high in pairwise(lows)]
    return [*labels, f"{lows[-1]}.."]


def _ranges(
    name: str, lows: Sequence[int], values: Callable[[View], Ints], doc: str, *, live: bool = True
) -> Sampled:
    edges = np.array(lows)

    def index(view: View) -> Ints:
        found = np.searchsorted(edges, values(view), side="right") - 1
        return only(view.live if live else view.legal, found)

    return Sampled(point(name, range_labels(lows), doc), index)


def _first_of(cases: Sequence[Bools]) -> Ints:
    """Returns the number of the first case that holds, or their count when none does."""
    found: Ints = np.argmax(np.stack([*cases, np.ones_like(cases[0])]), axis=0)
    return found


LEN_LOWS = (
    1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 65, 128, 256, 512, 1024, 2048, 4096, 4097, 8192, 16384,
    32768, 65535,
)  # fmt: skip
"""First length of each class."""


def length_points(bus_bytes: int) -> list[Sampled]:
    """Row length, and length and GM address modulo the bus width."""
    bands = min(bus_bytes, MAX_BANDS)
    wide = bus_bytes // bands
    labels = [str(k) if wide == 1 else f"{k * wide}..{k * wide + wide - 1}" for k in range(bands)]

    def align(view: View) -> Ints:
        rest = view["ext_addr"] % bus_bytes
        return only(view.live, _first_of([rest == 0, rest == 1, rest == bus_bytes - 1]))

    return [
        _ranges("len", LEN_LOWS, lambda v: v.length, "bytes in a row"),
        Sampled(
            point("len_mod", labels, "row length modulo the bus width"),
            lambda v: only(v.live, v.length % bus_bytes // wide),
        ),
        Sampled(
            point("gm_mod", labels, "GM address modulo the bus width"),
            lambda v: only(v.live, v["ext_addr"] % bus_bytes // wide),
        ),
        Sampled(point("gm_align", ["0", "1", "bus-1", "other"], "GM address in its word"), align),
        _ranges(
            "bytes", (1, 64, 256, 1024, 4096, 16384, 65536), lambda v: v.bytes, "data bytes moved"
        ),
    ]


def count_points(loops: int, *, legacy: bool) -> list[Sampled]:
    """Rows, loop groups, iterations; ``loops`` is the most groups of the form."""

    def active(view: View) -> Ints:
        bits = sum((view.counts[1 + k] > 1).astype(np.int64) << k for k in range(loops))
        return only(view.live, np.asarray(bits))

    names = ["none"] + [
        "+".join(str(k) for k in range(loops) if bits >> k & 1) for bits in range(1, 1 << loops)
    ]
    points = [
        _ranges(
            "n_burst", (1, 2, 3, 4, 8, 32, 65, 256, 512), lambda v: v.counts[0], "rows of a burst"
        ),
        _ranges("rows", (1, 2, 3, 16, 65), lambda v: v.counts[0], "rows, coarse, for crosses"),
        Sampled(point("loops_active", names, "loops that iterate more than once"), active),
    ]
    if not legacy:
        labels = [str(k) for k in range(loops + 1)]
        points.append(
            Sampled(point("n_loops", labels, "loop groups"), lambda v: only(v.live, v.n_loops))
        )
    for k in range(loops):
        lows = np.array([1, 2, 3, 4, 16])

        def count(view: View, k: int = k, lows: Ints = lows) -> Ints:
            found = np.searchsorted(lows, view.counts[1 + k], side="right")
            return only(view.live, np.where(view.n_loops > k, found, 0))

        labels = ["absent", *range_labels(lows.tolist())]
        reason = {"absent": "a legacy copy always has both loops"} if legacy else {}
        points.append(
            Sampled(point(f"loop{k}_count", labels, f"iterations of loop {k}", **reason), count)
        )
    return points


def _row_stride(side: str) -> Sampled:
    def index(view: View) -> Ints:
        stride = view.stride(side, 0)
        base = view.length if side == "ext" else view.need
        over = stride - base
        step = 32 if side == "ext" else 33
        limit = PAGE if side == "ext" else 257
        cases = [view.counts[0] <= 1, over == 0, over < step, over < limit]
        if side == "ext":
            cases.append(stride < FAR)
        return only(view.live, _first_of(cases))

    if side == "ext":
        labels = ["one row", "equal len", "+1..31", "+32..4095", "+4096..", "2^32.."]
        return Sampled(point("gm_row_stride", labels, "GM row stride against the length"), index)
    labels = ["one row", "tight", "+32", "+64..256", "+288.."]
    return Sampled(point("ub_row_stride", labels, "UB row stride against what a row needs"), index)


def _loop_stride(side: str, k: int, *, source: bool) -> Sampled:
    def index(view: View) -> Ints:
        stride = view.stride(side, 1 + k)
        inner = view.hulls[side][1 + k]
        if side == "loc":
            inner = -(-inner // UB_BLOCK) * UB_BLOCK
        cases = [
            (view.counts[1 + k] <= 1) | (view.n_loops <= k),
            stride == 0,
            stride < inner,
            stride == inner,
        ]
        if side == "ext":
            cases.append(stride < FAR)
        return only(view.live, _first_of(cases))

    name = f"{'gm' if side == 'ext' else 'ub'}_loop{k}_stride"
    labels = ["one iteration", "0", "inside", "next", "beyond"] + ["2^32.."] * (side == "ext")
    reason = {} if source else {"0": "iterations would write the same bytes (DMA-L13)"}
    doc = f"stride of loop {k} against what rows and inner loops span"
    return Sampled(point(name, labels, doc, **reason), index)


def _unused_stride(side: str) -> Sampled:
    def index(view: View) -> Ints:
        stride = view["ext_stride" if side == "ext" else "loc_stride"]
        single = view.live & (view.counts[0] == 1) & ~view.pad
        cases = [stride == 0, (stride < view.length) & (stride % UB_BLOCK > 0)]
        return only(single, _first_of([*cases, stride < view.length, stride % UB_BLOCK > 0]))

    labels = ["0", "below len, unaligned", "below len", "unaligned", "aligned"]
    name = f"{'gm' if side == 'ext' else 'ub'}_stride_unused"
    return Sampled(point(name, labels, "row stride of a single row, which has no effect"), index)


def stride_points(loops: int, *, store: bool) -> list[Sampled]:
    """Strides of both sides, used and unused."""
    points = [_row_stride("ext"), _row_stride("loc"), _unused_stride("ext"), _unused_stride("loc")]
    for k in range(loops):
        points.append(_loop_stride("ext", k, source=not store))
        points.append(_loop_stride("loc", k, source=store))
    return points


def place_points() -> list[Sampled]:
    """Where in the memories the op lies."""
    gm, ub = SIZES[Space.GM], SIZES[Space.UB0]

    def page(view: View) -> Ints:
        start = view["ext_addr"]
        end = start + view.length
        within = (end - 1) // PAGE - start // PAGE
        cases = [
            within >= 2,
            within == 1,
            start % PAGE == 0,
            end % PAGE == 0,
        ]
        return only(view.live, _first_of(cases))

    def region(view: View) -> Ints:
        start = view["ext_addr"]
        end = start + view.hulls["ext"][-1]
        return only(
            view.live,
            _first_of([end == gm, start == 0, (start < FAR) & (end > FAR), end <= FAR]),
        )

    def local(view: View) -> Ints:
        start = view["loc_addr"]
        end = start + view.hulls["loc"][-1]
        return only(view.live, _first_of([end == ub, end > ub - UB_BLOCK, start == 0]))

    pages = ["crosses 2+", "crosses 1", "starts at edge", "ends at edge", "inside"]
    regions = ["ends at 2^40", "starts at 0", "spans 2^32", "below 2^32", "above 2^32"]
    blocks = ["ends at top", "in last block", "starts at 0", "inside"]
    return [
        Sampled(point("page", pages, "first row against 4 KiB boundaries"), page),
        Sampled(point("gm_place", regions, "GM range of the op"), region),
        Sampled(point("ub_place", blocks, "UB range of the op"), local),
    ]


def operand_points(*, store: bool, legacy: bool) -> list[Sampled]:
    """Element type, sub-block, L2 hint, gap, dependency and NOPs."""
    top_n, top_loop = (1 << N_BURST_BITS) - 1, (1 << LOOP_COUNT_BITS) - 1
    loops = 2 if legacy else MAX_LOOPS

    def zeros(view: View) -> list[Bools]:
        return [view.length == 0, *[count == 0 for count in view.counts[: 1 + loops]]]

    def nop_kind(view: View) -> Ints:
        cases = zeros(view)
        several = sum(case.astype(np.int64) for case in cases) > 1
        return only(view.legal, _first_of([np.asarray(several), *cases]))

    def nop_max(view: View) -> Ints:
        tops = [count == top_loop for count in view.counts[1 : 1 + loops]]
        cases = [view.counts[0] == top_n, *tops]
        return only(view.legal & ~view.live, _first_of(cases))

    def nop_place(view: View) -> Ints:
        outside = view["ext_addr"] >= SIZES[Space.GM]
        return only(view.legal & ~view.live, outside + 2 * (view["loc_addr"] >= SIZES[Space.UB0]))

    kinds = ["several zeros", "len 0", "n_burst 0", *[f"loop{k} 0" for k in range(loops)], "live"]
    tops = ["n_burst 65535", *[f"loop{k} 2^21-1" for k in range(loops)], "smaller"]
    points = [
        Sampled(
            point("elem", ["1", "2", "4", "8"], "element bytes"),
            lambda v: only(v.live, v["elem_log2"]),
        ),
        Sampled(point("dtype", DTYPES, "element type"), lambda v: only(v.live, v.dtype)),
        Sampled(point("ub_sub", ["0", "1"], "UB sub-block"), lambda v: only(v.live, v["ub_sub"])),
        _ranges("gap", (0, 1, 8, 64), lambda v: v.gap, "idle clocks before the descriptor"),
        Sampled(
            point("after", ["free", "waits"], "reads what the other slot wrote in the block"),
            lambda v: only(v.live, (v.after >= 0).astype(np.int64)),
        ),
        Sampled(point("nop", kinds, "zero counts"), nop_kind),
        Sampled(point("nop_max", tops, "largest counts, which only NOPs can have"), nop_max),
        Sampled(
            point("nop_place", ["inside", "GM outside", "UB outside", "both outside"], "NOP bases"),
            nop_place,
        ),
    ]
    if not (store and legacy):
        labels = [str(value) for value in range(16 if store else 4)]
        points.append(Sampled(point("l2", labels, "L2 hint"), lambda v: only(v.legal, v["l2"])))
    return points


def pad_points() -> list[Sampled]:
    """Padding of loads."""
    of_type = np.full(len(DTYPES), NOT_SAMPLED)
    for number, name in enumerate(PAD_DTYPES):
        of_type[DTYPES.index(name)] = number

    def kind(view: View) -> Ints:
        return only(view.live, np.where(view.pad, 1 + of_type[view.pad_dtype], 0))

    def side(name: str) -> Sampled:
        def index(view: View) -> Ints:
            size = view.pad_bytes(name)
            return only(view.pad, _first_of([size == 0, size == view.elem, size < PAD_LIMIT]))

        labels = ["0", "one element", "more", "32 B"]
        return Sampled(point(f"pad_{name}", labels, f"padding on the {name}"), index)

    def tail(view: View) -> Ints:
        free = view["loc_stride"] - view.pad_bytes("left") - view.length
        return only(view.pad, _first_of([free == 0, free < 32, free == 32, free <= 64]))

    return [
        Sampled(point("pad", ["off", *PAD_DTYPES], "type of the pad value"), kind),
        Sampled(
            point("pad_elem", ["1", "2", "4"], "bytes of the pad pattern"),
            lambda v: only(v.pad, v["elem_log2"]),
        ),
        side("left"),
        side("right"),
        Sampled(
            point("pad_tail", ["0", "1..31", "32", "33..64", "65.."], "bytes behind the data"),
            tail,
        ),
    ]


def legacy_points(*, store: bool) -> list[Sampled]:
    """Register programs."""

    def flag(name: str, bit: int, doc: str) -> Sampled:
        return Sampled(
            point(name, ["no", "yes"], doc),
            lambda v: only(v.legal, ((v.program & bit) > 0).astype(np.int64)),
        )

    def loops(view: View) -> Ints:
        wrote = (view.program & (SET_SIZE | SET_STRIDE1 | SET_STRIDE2)) > 0
        idle = (view.counts[1] == 1) & (view.counts[2] == 1)
        return only(view.live, _first_of([idle & ~wrote, idle, ~wrote]))

    points = [
        flag("set_size", SET_SIZE, "set_loop_size before the copy"),
        flag("set_stride1", SET_STRIDE1, "set_loop1_stride before the copy"),
        flag("set_stride2", SET_STRIDE2, "set_loop2_stride before the copy"),
        flag("foreign", FOREIGN, "writes registers that only the other direction reads"),
        flag("sid", SID, "sid is not 0 (never checked, A-19)"),
        Sampled(
            point(
                "registers",
                ["idle, kept", "idle, written", "loops, kept", "loops, written"],
                "loop registers: used by the copy, and written before it or left as they were",
            ),
            loops,
        ),
    ]
    if not store:
        points.append(
            Sampled(
                point("pad_register", ["kept", "written"], "pad value of a padded copy"),
                lambda v: only(v.pad, ((v.program & SET_PAD) > 0).astype(np.int64)),
            )
        )
    return points
