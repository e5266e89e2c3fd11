# SPDX-License-Identifier: Apache-2.0
"""Coverage of the NZ repack ``mte_gm_l1_frac`` (docs/spec/nd2nz.md)."""

from __future__ import annotations

import numpy as np

from tb.coverage.geometry import (
    FAR,
    PAGE,
    WORD,
    bus_residues,
    gm_points,
    in_word,
    largest,
    nop_place,
    place,
    zero_counts,
)
from tb.coverage.model import Cross, crossed, excluding, lone
from tb.coverage.ops import Bools, Derived, Ops, sides
from tb.coverage.points import (
    ALL,
    GAP,
    LIVE,
    Group,
    Row,
    cases,
    codes,
    dtype_point,
    ordered_cases,
    range_labels,
    ranges,
    residues,
)
from tb.coverage.view import form_doc
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.nz.table import C0_BYTES, L2_BITS, MAX_D, MAX_GROUPS, MAX_N, MODES, SMALL_C0
from tb.isa.spaces import SIZES, Space

FRACTAL_ROWS = 16
ROWS = (1, 2, 16, 17)
SEVERAL = (1, 2, 16)
BYTE_LOWS = (32, 64, 256, 1024, 4096, 16384, 65536)
ELEMENTS = ("1", "2", "4")
WIDTHS = ("1", "2..C0-1", "C0", "C0+1..2C0-1", "2C0", "2C0+1..8C0-1", "8C0..")
INNER = ("one row", "0", "below a row", "tight", "+1..31", "+32..4095", "+4096..", "2^32..")
OUTER = ("one matrix", "0", "overlapping", "tight", "apart", "2^32..")
LOOP2 = ("one row", "1", "2..15", "16..")
LOOP3 = ("one column", "tight", "whole fractals", "padded", "interleaved")
LOOP4 = ("one group", "tight", "padded", "interleaved")
_TAILS = [str(at) for at in range(C0_BYTES)]

DERIVED: Derived = {
    "live": lambda v: (v.n_value > 0) & (v.d_value > 0),
    "small": lambda v: v.small_c0 > 0,
    "live_small": lambda v: v.live & v.small,
    "live_normal": lambda v: v.live & ~v.small,
    "elem": lambda v: np.left_shift(1, v.elem_log2),
    # Elements of a C0 block, C0 columns of a group in normal mode, and blocks in small-C0 mode.
    "c0": lambda v: C0_BYTES // v.elem,
    "columns": lambda v: -(-v.d_value // v.c0),
    "small_blocks": lambda v: -(-v.n_value * SMALL_C0 * v.elem // C0_BYTES),
    # Source: rows of a matrix, and bytes of a row, of a matrix and of all matrices.
    **sides("nz"),
    "rows": lambda v: v.read.counts[0],
    "row_bytes": lambda v: v.read.length,
    "matrix": lambda v: v.read.hulls[1],
    "gm_addr": lambda v: v.ext_addr,
    "gm_row": lambda v: v.row_bytes,
    "gm_end": lambda v: v.read.end,
    # Destination: 32-byte blocks from the first to the last of a C0 column and of a group.
    "column_hull": lambda v: v.written.hulls[1] // C0_BYTES,
    "group_hull": lambda v: v.written.hulls[2] // C0_BYTES,
    "end": lambda v: v.written.end,
    "blocks": lambda v: np.where(v.small, v.small_blocks, v.n_value * v.columns),
    "bytes": lambda v: np.where(v.live, v.blocks * v.group_count * C0_BYTES, 0),
}  # fmt: skip


def _width(v: Ops) -> list[Bools]:
    d, c0 = v.d_value, v.c0
    return [d == 1, d < c0, d == c0, d < 2 * c0, d == 2 * c0, d < 8 * c0]


def _inner(v: Ops) -> list[Bools]:
    step, row = v.inner_stride, v.row_bytes
    near = [step == 0, step < row, step == row, step < row + 32, step < row + PAGE]
    return [v.rows == 1, *near, step < FAR]


def _outer(v: Ops) -> dict[str, Bools]:
    step = v.outer_stride
    return {
        "one matrix": v.group_count == 1,
        "0": step == 0,
        "2^32..": step >= FAR,
        "overlapping": step < v.matrix,
        "tight": step <= np.maximum(v.matrix, v.rows * v.inner_stride),
        "apart": step < FAR,
    }


def _loop3(v: Ops) -> dict[str, Bools]:
    n, step = v.n_value, v.dst_loop3
    whole = -(-n // FRACTAL_ROWS) * FRACTAL_ROWS
    packed = (n == 1) | (v.dst_loop2 == 1)
    return {
        "one column": v.columns == 1,
        "interleaved": step < v.column_hull,
        # A single row has no distance to a next one: its column is one block.
        "tight": np.where(n == 1, step == 1, step <= n * v.dst_loop2),
        "whole fractals": packed & (step == whole),
        "padded": v.live,
    }


def _loop4(v: Ops) -> dict[str, Bools]:
    step, n = v.dst_loop4, v.n_value
    rows = np.where(n == 1, 1, n * v.dst_loop2)
    column = np.where(v.columns == 1, 1, v.columns * v.dst_loop3)
    # In small-C0 mode the other two loops do not count.
    tight = np.where(v.small, v.small_blocks, np.maximum(rows, column))
    return {
        "one group": v.group_count == 1,
        "interleaved": step < v.group_hull,
        "tight": step <= tight,
        "padded": v.live,
    }


def _points(bus_bytes: int) -> list[Row]:
    tops = {f"n {MAX_N}": ("n_value", MAX_N), f"d {MAX_D}": ("d_value", MAX_D),
            f"groups {MAX_GROUPS}": ("group_count", MAX_GROUPS)}  # fmt: skip
    gm, l1 = SIZES[Space.GM], SIZES[Space.L1]
    unused = "stride that has no effect"
    return [
        codes("packing", [*MODES, *[f"{mode} small" for mode in MODES]],
              lambda v: v.mode + 2 * v.small_c0, "source layout and packing"),
        codes("elem", ELEMENTS, "elem_log2", "element bytes"),
        dtype_point([name for name, size in ELEMENT_BYTES.items() if size <= 4]),
        ranges("n", (1, 2, 15, 16, 17, 31, 32, 33, 64, 256), "n_value", "rows N"),
        ranges("rows", ROWS, "n_value", "N, coarse, for crosses"),
        cases("d", WIDTHS, _width, "columns D against C0, normal packing", ops="live_normal"),
        codes("tail", _TAILS, lambda v: v.d_value % v.c0,
              "elements in the last C0 column, 0 when full", ops="live_normal"),
        ranges("columns", (1, 2, 3, 8, 64), "columns", "C0 columns", ops="live_normal"),
        ranges("groups", (1, 2, 3, 4, 16, 256), "group_count", "matrices"),
        ranges("several", SEVERAL, "group_count", "matrices, coarse, for crosses"),
        ranges("bytes", BYTE_LOWS, "bytes", "bytes written"),
        codes("small_d", [str(at) for at in range(1, SMALL_C0 + 1)], lambda v: v.d_value - 1,
              "channels, small-C0", ops="live_small"),
        codes("small_tail", [str(at) for at in range(C0_BYTES // SMALL_C0)],
              lambda v: v.n_value % (C0_BYTES // (SMALL_C0 * v.elem)),
              "rows in the last block, small-C0", ops="live_small"),
        bus_residues("gm_mod", bus_bytes, "ext_addr", "GM address"),
        bus_residues("row_mod", bus_bytes, "row_bytes", "bytes of a source row"),
        in_word("gm_align", bus_bytes, "ext_addr", "GM address in its word"),
        cases("inner", INNER, _inner, "distance of source rows against their bytes"),
        ordered_cases("outer", OUTER, _outer, "distance of matrices against their bytes"),
        cases("inner_unused", ["0", "other"], lambda v: [v.inner_stride == 0], unused,
              ops=lambda v: v.live & (v.rows == 1)),
        cases("outer_unused", ["0", "other"], lambda v: [v.outer_stride == 0], unused,
              ops=lambda v: v.live & (v.group_count == 1)),
        cases("loop2", LOOP2, lambda v: [v.n_value == 1, v.dst_loop2 == 1, v.dst_loop2 < 16],
              "blocks between rows", ops="live_normal"),
        ordered_cases("loop3", LOOP3, _loop3, "distance of C0 columns against their rows",
                      ops="live_normal"),
        ordered_cases("loop4", LOOP4, _loop4, "distance of groups against their blocks"),
        cases("loop2_unused", ["0", "1", "other"], lambda v: [v.dst_loop2 == 0, v.dst_loop2 == 1],
              unused, ops=lambda v: v.live & (v.small | (v.n_value == 1))),
        cases("loop3_unused", ["0", "1", "other"], lambda v: [v.dst_loop3 == 0, v.dst_loop3 == 1],
              unused, ops=lambda v: v.live & (v.small | (v.columns == 1))),
        cases("loop4_unused", ["0", "1", "other"], lambda v: [v.dst_loop4 == 0, v.dst_loop4 == 1],
              unused, ops=lambda v: v.live & (v.group_count == 1)),
        residues("l1_mod", WORD, C0_BYTES, "loc_addr", f"L1 address modulo {WORD}"),
        *gm_points("first source row"),
        place("l1_place", l1, "loc_addr", "end", "L1 range"),
        codes("l2", [str(at) for at in range(1 << L2_BITS)], "l2", "L2 hint", ops=ALL),
        GAP,
        zero_counts("both 0", {"n 0": "n_value", "d 0": "d_value"}),
        largest("nop_max", tops, "largest counts (ND-L03) of NOPs"),
        largest("limit", tops, "largest counts (ND-L03) of ops that move bytes", ops=LIVE),
        nop_place([("GM", "ext_addr", gm), ("L1", "loc_addr", l1)]),
    ]  # fmt: skip


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
        excluding("rows apart are not fractals", loop2=LOOP2[2:], loop3="whole fractals"),
    )  # fmt: skip
    one_row, matrix = "a single row has no distance", "a single matrix has no distance"
    alone = lone(one_row, "several rows have one", rows=range_labels(ROWS), loop2=LOOP2)
    outer = lone(matrix, several=range_labels(SEVERAL), outer=OUTER)
    groups = lone(matrix, several=range_labels(SEVERAL), loop4=LOOP4)
    packed = (excluding("packed rows leave no room", packing=small, loop4="interleaved"),)
    narrow = (excluding("a source row has 16 bytes at most", packing=small[0], page="crosses 2+"),)
    return (
        crossed("packing x elem x tail", (*other, *tails)),
        crossed("packing x elem x d", other),
        crossed("packing x rows"),
        crossed("packing x inner"),
        crossed("packing x gm_align x elem"),
        crossed("packing x page", narrow),
        crossed("packing x outer"),
        Cross("groups x outer", ("several", "outer"), outer),
        crossed("packing x loop4", packed),
        Cross("groups x loop4", ("several", "loop4"), groups),
        crossed("rows x loop2", alone),
        crossed("loop2 x loop3", rows),
        crossed("loop3 x loop4"),
        Cross("small elem x channels", ("packing", "elem", "small_d"),
              (excluding("of the other packing", packing=normal),)),
        Cross("small elem x tail", ("packing", "elem", "small_tail"),
              (excluding("of the other packing", packing=normal), *per_block)),
    )  # fmt: skip


def nz_group(form: str, bus_bytes: int) -> Group:
    """Returns the group of the NZ repack; residues of GM addresses are modulo ``bus_bytes``."""
    return Group(form, _points(bus_bytes), _crosses(), DERIVED, form_doc(form))
