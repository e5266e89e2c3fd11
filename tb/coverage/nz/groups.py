# SPDX-License-Identifier: Apache-2.0
"""Coverage of the NZ repack ``mte_gm_l1_frac`` (spec/nd2nz.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb.coverage.model import Cross, Ints, excluding, point
from tb.coverage.nz.view import NzPart
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
from tb.coverage.view import Bools, form_doc
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.nz.table import C0_BYTES, L2_BITS, MAX_D, MAX_GROUPS, MAX_N, MODES, SMALL_C0
from tb.isa.spaces import SIZES, Space

Points = list[Sampled[NzPart]]

PAGE = 4096
FAR = 1 << 32
MAX_BANDS = 32
WORD = 128
FRACTAL_ROWS = 16
BYTE_LOWS = (32, 64, 256, 1024, 4096, 16384, 65536)

ELEMENTS = ("1", "2", "4")
_TAILS = [str(at) for at in range(C0_BYTES)]


def _normal(view: NzPart) -> Bools:
    return view.live & ~view.small


def _small(view: NzPart) -> Bools:
    return view.live & view.small


def _shape_points() -> Points:
    def packing(view: NzPart) -> Ints:
        return view["mode"] + 2 * view["small_c0"]

    def width(view: NzPart) -> Ints:
        d, c0 = view["d_value"], view.c0
        cases = [d == 1, d < c0, d == c0, d < 2 * c0, d == 2 * c0, d < 8 * c0]
        return only(_normal(view), first_of(cases))

    widths = ["1", "2..C0-1", "C0", "C0+1..2C0-1", "2C0", "2C0+1..8C0-1", "8C0.."]
    names = [*MODES, *[f"{mode} small" for mode in MODES]]
    return [
        codes("packing", names, packing, "source layout and packing"),
        codes("elem", ELEMENTS, lambda v: v["elem_log2"], "element bytes"),
        dtype_point([name for name, size in ELEMENT_BYTES.items() if size <= 4]),
        ranges("n", (1, 2, 15, 16, 17, 31, 32, 33, 64, 256), lambda v: v["n_value"], "rows N"),
        ranges("rows", (1, 2, 16, 17), lambda v: v["n_value"], "N, coarse, for crosses"),
        Sampled(point("d", widths, "columns D against C0, normal packing"), width),
        Sampled(
            point("tail", _TAILS, "elements in the last C0 column, 0 when full"),
            lambda v: only(_normal(v), v["d_value"] % v.c0),
        ),
        Sampled(
            point("columns", range_labels((1, 2, 3, 8, 64)), "C0 columns"),
            lambda v: only(
                _normal(v), np.searchsorted([1, 2, 3, 8, 64], v.columns, side="right") - 1
            ),
        ),
        ranges("groups", (1, 2, 3, 4, 16, 256), lambda v: v["group_count"], "matrices"),
        ranges("several", (1, 2, 16), lambda v: v["group_count"], "matrices, coarse, for crosses"),
        ranges(
            "bytes", (32, 64, 256, 1024, 4096, 16384, 65536), lambda v: v.bytes, "bytes written"
        ),
    ]


def _small_points() -> Points:
    def tail(view: NzPart) -> Ints:
        return only(_small(view), view["n_value"] % (C0_BYTES // (SMALL_C0 * view.elem)))

    per_block = [str(at) for at in range(C0_BYTES // SMALL_C0)]
    return [
        Sampled(
            point("small_d", [str(at) for at in range(1, SMALL_C0 + 1)], "channels, small-C0"),
            lambda v: only(_small(v), v["d_value"] - 1),
        ),
        Sampled(point("small_tail", per_block, "rows in the last block, small-C0"), tail),
    ]


INNER = ("one row", "0", "below a row", "tight", "+1..31", "+32..4095", "+4096..", "2^32..")
OUTER = ("one matrix", "0", "overlapping", "tight", "apart", "2^32..")


def _source_points(bus_bytes: int) -> Points:
    bands = min(bus_bytes, MAX_BANDS)
    wide = bus_bytes // bands
    labels = [str(k) if wide == 1 else f"{k * wide}..{k * wide + wide - 1}" for k in range(bands)]

    def residue(name: str, values: Callable[[NzPart], Ints], doc: str) -> Sampled[NzPart]:
        return codes(name, labels, lambda v: values(v) % bus_bytes // wide, doc)

    def align(view: NzPart) -> Ints:
        rest = view["ext_addr"] % bus_bytes
        return only(view.live, first_of([rest == 0, rest == 1, rest == bus_bytes - 1]))

    def inner(view: NzPart) -> Ints:
        stride, row = view["inner_stride"], view.row_bytes
        cases = [view.rows == 1, stride == 0, stride < row, stride == row, stride < row + 32]
        return only(view.live, first_of([*cases, stride < row + PAGE, stride < FAR]))

    def outer(view: NzPart) -> Ints:
        stride, matrix = view["outer_stride"], view.matrix
        tight = np.maximum(matrix, view.rows * view["inner_stride"])
        cases = [view["group_count"] == 1, stride == 0, stride >= FAR, stride < matrix]
        found = first_of([*cases, stride <= tight])
        place = np.array([0, 1, 5, 2, 3, 4])
        return only(view.live, place[found])

    def unused(name: str, single: Callable[[NzPart], Bools], column: str) -> Sampled[NzPart]:
        def index(view: NzPart) -> Ints:
            return only(view.live & single(view), first_of([view[column] == 0]))

        return Sampled(point(name, ["0", "other"], "stride that has no effect"), index)

    return [
        residue("gm_mod", lambda v: v["ext_addr"], "GM address modulo the bus width"),
        residue("row_mod", lambda v: v.row_bytes, "bytes of a source row modulo the bus width"),
        Sampled(point("gm_align", ["0", "1", "bus-1", "other"], "GM address in its word"), align),
        Sampled(point("inner", INNER, "distance of source rows against their bytes"), inner),
        Sampled(point("outer", OUTER, "distance of matrices against their bytes"), outer),
        unused("inner_unused", lambda v: v.rows == 1, "inner_stride"),
        unused("outer_unused", lambda v: v["group_count"] == 1, "outer_stride"),
    ]


LOOP2 = ("one row", "1", "2..15", "16..")
LOOP3 = ("one column", "tight", "whole fractals", "padded", "interleaved")
LOOP4 = ("one group", "tight", "padded", "interleaved")


def _destination_points() -> Points:
    def loop2(view: NzPart) -> Ints:
        step = view["dst_loop2"]
        return only(_normal(view), first_of([view["n_value"] == 1, step == 1, step < 16]))

    def loop3(view: NzPart) -> Ints:
        n, step = view["n_value"], view["dst_loop3"]
        whole = -(-n // FRACTAL_ROWS) * FRACTAL_ROWS
        packed = (n == 1) | (view["dst_loop2"] == 1)
        inside, tight = step < view.column_hull, step <= n * view["dst_loop2"]
        # A single row has no distance to a next one: its column is one block.
        tight = np.where(n == 1, step == 1, tight)
        cases = [view.columns == 1, inside, tight, packed & (step == whole)]
        place = np.array([0, 4, 1, 2, 3])
        return only(_normal(view), place[first_of(cases)])

    def loop4(view: NzPart) -> Ints:
        step, n = view["dst_loop4"], view["n_value"]
        rows = np.where(n == 1, 1, n * view["dst_loop2"])
        column = np.where(view.columns == 1, 1, view.columns * view["dst_loop3"])
        # In small-C0 mode the other two loops do not count.
        tight = np.where(view.small, view.small_blocks, np.maximum(rows, column))
        inside = step < view.group_hull
        place = np.array([0, 3, 1, 2])
        cases = [view["group_count"] == 1, inside, step <= tight]
        return only(view.live, place[first_of(cases)])

    def unused(name: str, column: str, single: Callable[[NzPart], Bools]) -> Sampled[NzPart]:
        def index(view: NzPart) -> Ints:
            step = view[column]
            return only(view.live & single(view), first_of([step == 0, step == 1]))

        return Sampled(point(name, ["0", "1", "other"], "stride that has no effect"), index)

    return [
        Sampled(point("loop2", LOOP2, "blocks between rows"), loop2),
        Sampled(point("loop3", LOOP3, "distance of C0 columns against their rows"), loop3),
        Sampled(point("loop4", LOOP4, "distance of groups against their blocks"), loop4),
        unused("loop2_unused", "dst_loop2", lambda v: v.small | (v["n_value"] == 1)),
        unused("loop3_unused", "dst_loop3", lambda v: v.small | (v.columns == 1)),
        unused("loop4_unused", "dst_loop4", lambda v: v["group_count"] == 1),
        codes(
            "l1_mod",
            [str(at) for at in range(0, WORD, C0_BYTES)],
            lambda v: v["loc_addr"] % WORD // C0_BYTES,
            f"L1 address modulo {WORD}",
        ),
    ]


def _place_points() -> Points:
    gm, l1 = SIZES[Space.GM], SIZES[Space.L1]

    def page(view: NzPart) -> Ints:
        start = view["ext_addr"]
        end = start + view.row_bytes
        within = (end - 1) // PAGE - start // PAGE
        cases = [within >= 2, within == 1, start % PAGE == 0, end % PAGE == 0]
        return only(view.live, first_of(cases))

    def region(view: NzPart) -> Ints:
        start = view["ext_addr"]
        end = start + view.source_hull
        cases = [end == gm, start == 0, (start < FAR) & (end > FAR), end <= FAR]
        return only(view.live, first_of(cases))

    def local(view: NzPart) -> Ints:
        return only(view.live, first_of([view.end == l1, view["loc_addr"] == 0]))

    pages = ["crosses 2+", "crosses 1", "starts at edge", "ends at edge", "inside"]
    regions = ["ends at 2^40", "starts at 0", "spans 2^32", "below 2^32", "above 2^32"]
    return [
        Sampled(point("page", pages, "first source row against 4 KiB boundaries"), page),
        Sampled(point("gm_place", regions, "GM range of the op"), region),
        Sampled(point("l1_place", ["ends at top", "starts at 0", "inside"], "L1 range"), local),
    ]


def _operand_points() -> Points:
    gm, l1 = SIZES[Space.GM], SIZES[Space.L1]

    def kind(view: NzPart) -> Ints:
        no_n, no_d = view["n_value"] == 0, view["d_value"] == 0
        return first_of([no_n & no_d, no_n, no_d])

    def tops(view: NzPart) -> list[Bools]:
        return [
            view["n_value"] == MAX_N,
            view["d_value"] == MAX_D,
            view["group_count"] == MAX_GROUPS,
        ]

    def where(view: NzPart) -> Ints:
        outside = (view["ext_addr"] >= gm).astype(np.int64)
        return only(~view.live, outside + 2 * (view["loc_addr"] >= l1))

    limits = [f"n {MAX_N}", f"d {MAX_D}", f"groups {MAX_GROUPS}", "smaller"]
    places = ["inside", "GM outside", "L1 outside", "both outside"]
    hints = range(1 << L2_BITS)
    return [
        codes("l2", [str(at) for at in hints], lambda v: v["l2"], "L2 hint", live=False),
        gap_point(),
        Sampled(point("nop", ["both 0", "n 0", "d 0", "live"], "zero counts"), kind),
        Sampled(
            point("nop_max", limits, "largest counts (ND-L03) of NOPs"),
            lambda v: only(~v.live, first_of(tops(v))),
        ),
        Sampled(
            point("limit", limits, "largest counts (ND-L03) of ops that move bytes"),
            lambda v: only(v.live, first_of(tops(v))),
        ),
        Sampled(point("nop_place", places, "NOP bases"), where),
    ]


def _crosses() -> tuple[Cross, ...]:
    normal = list(MODES)
    small = [f"{mode} small" for mode in MODES]
    tails = tuple(
        excluding(f"C0 is {C0_BYTES // size}", elem=str(size), tail=_TAILS[C0_BYTES // size :])
        for size in (2, 4)
    )
    other = (excluding("of the other packing", packing=small),)
    per_block = tuple(
        excluding(
            f"{8 // size} rows fill a block",
            elem=str(size),
            small_tail=[str(at) for at in range(8 // size, 8)],
        )
        for size in (2, 4)
    )
    rows = (
        excluding("rows without gaps have no room for columns", loop2=LOOP2[:2],
                  loop3="interleaved"),
        excluding("rows apart are no fractals", loop2=LOOP2[2:], loop3="whole fractals"),
    )  # fmt: skip
    alone = (
        excluding("a single row has no distance", rows="1", loop2=LOOP2[1:]),
        excluding("several rows have one", rows=("2..15", "16", "17.."), loop2="one row"),
    )
    several = (
        excluding("a single matrix has no distance", several="1", outer=OUTER[1:]),
        excluding("several have one", several=("2..15", "16.."), outer="one matrix"),
    )
    groups = (
        excluding("a single matrix has no distance", several="1", loop4=LOOP4[1:]),
        excluding("several have one", several=("2..15", "16.."), loop4="one group"),
    )
    packed = (excluding("packed rows leave no room", packing=small, loop4="interleaved"),)
    narrow = (excluding("a source row has 16 bytes at most", packing=small[0], page="crosses 2+"),)
    return (
        Cross("packing x elem x tail", ("packing", "elem", "tail"), (*other, *tails)),
        Cross("packing x elem x d", ("packing", "elem", "d"), other),
        Cross("packing x rows", ("packing", "rows")),
        Cross("packing x inner", ("packing", "inner")),
        Cross("packing x gm_align x elem", ("packing", "gm_align", "elem")),
        Cross("packing x page", ("packing", "page"), narrow),
        Cross("packing x outer", ("packing", "outer")),
        Cross("groups x outer", ("several", "outer"), several),
        Cross("packing x loop4", ("packing", "loop4"), packed),
        Cross("groups x loop4", ("several", "loop4"), groups),
        Cross("rows x loop2", ("rows", "loop2"), alone),
        Cross("loop2 x loop3", ("loop2", "loop3"), rows),
        Cross("loop3 x loop4", ("loop3", "loop4")),
        Cross("small elem x channels", ("packing", "elem", "small_d"),
              (excluding("of the other packing", packing=normal),)),
        Cross("small elem x tail", ("packing", "elem", "small_tail"),
              (excluding("of the other packing", packing=normal), *per_block)),
    )  # fmt: skip


def nz_group(form: str, bus_bytes: int) -> Group[NzPart]:
    """Returns the group of the NZ repack; residues of GM addresses are modulo ``bus_bytes``."""
    points = [
        *_shape_points(),
        *_small_points(),
        *_source_points(bus_bytes),
        *_destination_points(),
        *_place_points(),
        *_operand_points(),
    ]
    return Group(form, points, _crosses(), NzPart, form_doc(form))
