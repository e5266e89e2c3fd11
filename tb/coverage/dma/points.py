# SPDX-License-Identifier: Apache-2.0
"""Coverpoints of the strided copies.

The classes come from docs/spec/dma.md, sections 1 to 5, and from common errors of engines: bus
words, 4 KiB boundaries, the ends of the memories and of the operand ranges.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tb.coverage.dma.values import Shape, block_end, stride
from tb.coverage.geometry import (
    ENDS,
    FAR,
    GAPS,
    PAGE,
    WORD,
    bus_residues,
    gap_point,
    gm_points,
    in_word,
    largest,
    nop_place,
    unused_gap,
    zero_counts,
)
from tb.coverage.model import Ints
from tb.coverage.ops import Bools, Ops
from tb.coverage.points import (
    ALL,
    GAP,
    Row,
    cases,
    codes,
    dtype_point,
    place_of,
    program_flag,
    ranges,
    residues,
)
from tb.coverage.view import FOREIGN, SET_PAD, SET_SIZE, SET_STRIDE1, SET_STRIDE2, SID
from tb.isa.dma.table import BLOCK_GAP_BITS, LOOP_COUNT_BITS, PAD_LIMIT
from tb.isa.dtypes import PAD_DTYPES
from tb.isa.profile import KNOBS
from tb.isa.spaces import UB_BLOCK

LEN_LOWS = (
    1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 65, 128, 256, 512, 1024, 2048, 4096, 4097, 8192, 16384,
    32768, 65535, 65536, 131072,
)  # fmt: skip
"""First length of each class; those above 65535 exist with wider lengths (knob ``len_bits``)."""

LONG = dict.fromkeys(("65536..131071", "131072.."), "len_bits = 21")
FILL, COMPACT, REPEAT, BLOCK_END = (
    "tail = fill", "compact = legal", "row_repeat = legal", "pad_end = block"
)  # fmt: skip
"""Values of knobs that bins need."""

BLOCK_LEN_LOWS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 129, 256, 512, 1024, 2048)
"""First length of each class where lengths count 32-byte blocks."""

ROW_LOWS = (1, 2, 3, 16, 65)
SIZE_LOWS = (1, 32, 256, 4096)
BYTE_LOWS = (64, 256, 1024, 4096, 16384, 65536)
ELEMENTS = ("1", "2", "4", "8")
_PAD_TYPE = place_of(PAD_DTYPES)

GM_STRIDES = ("one row", "equal len", "+1..31", "+32..4095", "+4096..", "2^32..")
LOCAL_STRIDES = ("one row", "tight", "+32", "+64..256", "+288..")
_REPEATED, _NO_GAP = ("0", "below len"), ("compact",)
_KNOBS = dict.fromkeys(_REPEATED, REPEAT) | dict.fromkeys(_NO_GAP, COMPACT)


def length_points(shape: Shape, bus_bytes: int) -> list[Row]:
    """Row length; length and addresses modulo the bus width."""
    if shape.ext != "gm":
        ext, loc = shape.name("ext"), shape.name("loc")
        return [
            ranges("len", BLOCK_LEN_LOWS, "len", "32-byte blocks in a burst"),
            residues("len_mod", WORD, UB_BLOCK, "length", f"row length modulo {WORD}"),
            residues(f"{ext}_mod", WORD, UB_BLOCK, "ext_addr", f"{ext} address modulo {WORD}"),
            residues(f"{loc}_mod", WORD, UB_BLOCK, "loc_addr", f"{loc} address modulo {WORD}"),
            ranges("bytes", (UB_BLOCK, *BYTE_LOWS), "bytes", "data bytes moved"),
        ]
    points = [
        ranges("len", LEN_LOWS, "length", "bytes in a row", needs=LONG),
        bus_residues("len_mod", bus_bytes, "length", "row length"),
        bus_residues("gm_mod", bus_bytes, "ext_addr", "GM address"),
        in_word("gm_align", bus_bytes, "ext_addr", "GM address in its word"),
        ranges("bytes", (1, *BYTE_LOWS), "bytes", "data bytes moved"),
    ]
    if shape.legacy:
        points.append(ranges("size", SIZE_LOWS, "length", "row length, coarse, for crosses"))
    return points


def loop_sets(loops: int) -> list[str]:
    """Returns the bins of the loops that iterate: ``none``, ``0``, ``1``, ``0+1``, ..."""
    return ["none"] + [
        "+".join(str(k) for k in range(loops) if bits >> k & 1) for bits in range(1, 1 << loops)
    ]


def _active(loops: int, v: Ops) -> Ints:
    return sum((v[f"loop{k}_n"] > 1).astype(np.int64) << k for k in range(loops))


def count_points(shape: Shape) -> list[Row]:
    """Rows, loop groups, iterations."""
    loops, lows = shape.loops, (1, 2, 3, 4, 8, 32, 65, 256, 512)
    points = [
        ranges("n_burst", lows, "n_burst", "rows of a burst"),
        ranges("rows", ROW_LOWS, "n_burst", "rows, coarse, for crosses"),
        codes("loops_active", loop_sets(loops), partial(_active, loops),
              "loops that iterate more than once"),
    ]  # fmt: skip
    if not shape.legacy:
        labels = [str(k) for k in range(loops + 1)]
        points.append(codes("n_loops", labels, "n_loops", "loop groups"))
    never = {"absent": "a legacy copy always has both loops"} if shape.legacy else {}
    return points + [
        ranges(f"loop{k}_count", (1, 2, 3, 4, 16), f"loop{k}_n", f"iterations of loop {k}",
               apart=("absent", f"loop{k}_absent"), **never)
        for k in range(loops)
    ]  # fmt: skip


def row_strides(shape: Shape, side: str) -> tuple[str, ...]:
    """Returns the classes of distances between rows on a side."""
    if shape.gaps:
        return GAPS
    if shape.space(side) == "gm":
        return (GM_STRIDES[0], *_REPEATED * shape.loads, *GM_STRIDES[1:])
    return (LOCAL_STRIDES[0], *_NO_GAP, *LOCAL_STRIDES[1:])


def _gm_rows(v: Ops) -> list[Bools]:
    over = v.ext_stride - v.length
    again = [v.ext_stride == 0, over < 0] * v.spec.loads
    return [v.n_burst <= 1, *again, over == 0, over < 32, over < PAGE, v.ext_stride < FAR]


def _local_rows(v: Ops) -> list[Bools]:
    over = v.loc_stride - v.need
    return [v.n_burst <= 1, v.compact, over == 0, over < 33, over < 257]


def _loop_stride(side: str, k: int, v: Ops) -> list[Bools]:
    step, inner, gm = stride(v, side, 1 + k), v[f"{side}_hulls"][1 + k], v.spec.space(side) == "gm"
    if not gm:
        inner = block_end(inner)
    once = v[f"loop{k}_n"] <= 1
    return [once, step == 0, step < inner, step == inner, *[step < FAR] * gm]


def _unused_stride(side: str, v: Ops) -> list[Bools]:
    step = v[f"{side}_stride"]
    below, odd = step < v.length, step % UB_BLOCK > 0
    return [step == 0, below & odd, below, odd]


def _loop_points(shape: Shape, k: int) -> list[Row]:
    points = []
    for side in ("ext", "loc"):
        space = shape.space(side)
        labels = ["one iteration", "0", "inside", "next", "beyond", *["2^32.."] * (space == "gm")]
        written = shape.store == (side == "ext")
        never = {"0": "iterations would write the same bytes (DMA-L13)"} if written else {}
        doc = f"stride of loop {k} against what rows and inner loops span"
        values = partial(_loop_stride, side, k)
        points.append(cases(f"{shape.name(side)}_loop{k}_stride", labels, values, doc, **never))
    return points


def stride_points(shape: Shape) -> list[Row]:
    """Strides of both sides, used and unused."""
    sides = [(side, shape.space(side), shape.between(side)) for side in ("ext", "loc")]
    top = (1 << BLOCK_GAP_BITS) - 1
    if shape.gaps:
        points = [
            gap_point(name, f"{side}_stride", f"{space.upper()} blocks between bursts")
            for side, space, name in sides
        ]
        points += [unused_gap(f"{name}_unused", f"{side}_stride", top) for side, _, name in sides]
    else:
        points = []
        for side, space, name in sides:
            labels = row_strides(shape, side)
            values, against = (
                (_gm_rows, "the length") if space == "gm" else (_local_rows, "what a row needs")
            )
            needs = {label: knob for label, knob in _KNOBS.items() if label in labels}
            doc = f"{space.upper()} row stride against {against}"
            points.append(cases(name, labels, values, doc, needs=needs))
        unused = ("0", "below len, unaligned", "below len", "unaligned", "aligned")
        doc = "row stride of a single row, which has no effect"
        points += [
            cases(
                f"{shape.name(side)}_stride_unused",
                unused,
                partial(_unused_stride, side),
                doc,
                ops="lone",
            )
            for side, _, _ in sides
        ]
    return points + [row for k in range(shape.loops) for row in _loop_points(shape, k)]


def _local_place(side: str, size: int, v: Ops) -> list[Bools]:
    end = v[f"{side}_end"]
    # Rows of whole blocks end in the last block only at the end of the memory.
    partly = [] if v.spec.gaps else [end > size - UB_BLOCK]
    return [end == size, *partly, v[f"{side}_addr"] == 0]


def place_points(shape: Shape) -> list[Row]:
    """Position of the op in the memories."""
    points = gm_points("first row") if shape.ext == "gm" else []
    needs = {"in last block": "tail = keep"} if shape.loads else ""
    labels = (ENDS[0], *["in last block"] * (not shape.gaps), *ENDS[1:])
    for side in ("ext", "loc"):
        space = shape.space(side)
        if space != "gm":
            values = partial(_local_place, side, shape.size(side))
            doc = f"{space.upper()} range of the op, with fill"
            name = f"{shape.name(side)}_place"
            points.append(cases(name, labels, values, doc, needs=needs))
    return points


def _nop_points(shape: Shape) -> list[Row]:
    rows, loops = shape.top_rows, range(shape.loops)
    zeros = {f"loop{k} 0": f"loop{k}_n" for k in loops}
    tops = {name: ("n_burst", top) for name, top in rows.items()}
    tops |= {f"loop{k} 2^21-1": (f"loop{k}_n", (1 << LOOP_COUNT_BITS) - 1) for k in loops}
    widths = zip(rows, KNOBS["len_bits"].values, strict=False)
    needs = {} if shape.gaps else {name: f"len_bits = {width}" for name, width in widths}
    doc = "largest counts, which only NOPs can have"
    sides = [(shape.label(x), f"{x}_addr", shape.size(x)) for x in ("ext", "loc")]
    return [
        zero_counts("several zeros", {"len 0": "length", "n_burst 0": "n_burst", **zeros}),
        largest("nop_max", tops, doc, needs=needs),
        nop_place(sides),
    ]


def operand_points(shape: Shape) -> list[Row]:
    """Element type, sub-block, L2 hint, gap and NOPs."""
    points = [
        codes("elem", ELEMENTS, "elem_log2", "element bytes"),
        dtype_point(),
        GAP,
        *_nop_points(shape),
    ]
    if "ub" in (shape.ext, shape.loc):
        points.append(codes("ub_sub", ["0", "1"], "ub_sub", "UB sub-block"))
    if {shape.ext, shape.loc} == {"gm", "ub"}:
        labels = [str(value) for value in range(16 if shape.store else 4)]
        points.append(codes("l2", labels, "l2", "L2 hint", ops=ALL))
    return points


def _padding(side: str, v: Ops) -> list[Bools]:
    size = v[f"{side}_bytes"]
    return [size == 0, size == v.elem, size < PAD_LIMIT]


def _pad_tail(v: Ops) -> list[Bools]:
    free = v.loc_stride - v.left_bytes - v.length
    return [free == 0, free < 32, free == 32, free <= 64]


PAD_POINTS = [
    codes("pad", ["off", *PAD_DTYPES], lambda v: np.where(v.pad, 1 + _PAD_TYPE[v.pad_dtype], 0),
          "type of the pad value"),
    codes("pad_elem", ELEMENTS[:3], "elem_log2", "bytes of the pad pattern", ops="pad"),
    *[cases(f"pad_{side}", ["0", "one element", "more", "32 B"], partial(_padding, side),
            f"padding on the {side}", ops="pad")
      for side in ("left", "right")],
    cases("pad_tail", ["0", "1..31", "32", "33..64", "65.."], _pad_tail,
          "bytes from the data to the row stride", ops="pad_stride"),
    codes("pad_end", ["at the stride", "before it"], lambda v: v.need < v.loc_stride,
          "last block of a padded row against the row stride", ops="pad_stride", needs=BLOCK_END),
    codes("pad_moved", ["no", "yes"], lambda v: block_end(v.length + v.left_bytes) < v.need,
          "the count on the right moves the end of a row to a later block",
          ops="own_end", needs=BLOCK_END),
    cases("pad_single", ["unaligned", "below the row", "as for several"],
          lambda v: [v.loc_stride % UB_BLOCK > 0, v.loc_stride < v.padded_length],
          "row stride of a single padded row, which has no effect",
          ops="own_single", needs=BLOCK_END),
]  # fmt: skip
"""Padding of loads."""


def _compact_end(v: Ops) -> list[Bools]:
    odd = v.run % UB_BLOCK > 0
    return [*[v.pad & odd] * v.spec.padded, v.compact_end > v.run, odd]


def fill_points(shape: Shape) -> list[Row]:
    """Blocks that the knobs fill after rows, and compact groups."""
    groups = {
        **({"pad": COMPACT} if shape.padded else {}),
        "fill": f"{COMPACT}, {FILL}", "kept": f"{COMPACT}, tail = keep", "whole blocks": COMPACT
    }  # fmt: skip
    points = [
        codes("fill", ELEMENTS, "elem_log2", "element bytes of rows that are filled",
              ops="filled", needs=FILL),
        codes("fill_mod", [str(at) for at in range(1, UB_BLOCK)],
              lambda v: v.length % UB_BLOCK - 1,
              f"length of rows that are filled, modulo {UB_BLOCK}", ops="filled", needs=FILL),
        cases("compact", [*groups], _compact_end,
              "end of a compact group of rows that are not whole blocks",
              ops="compact", needs=groups),
        codes("compact_elem", ELEMENTS, "elem_log2", "element bytes of a compact group",
              ops="compact", needs=COMPACT),
        ranges("compact_rows", (2, 3, 16, 65), "n_burst", "rows of a compact group",
               ops="compact", needs=COMPACT),
        codes("compact_len", [f"below {UB_BLOCK}", f"above {UB_BLOCK}"],
              lambda v: v.length > UB_BLOCK, "length of rows of a compact group",
              ops="compact", needs=COMPACT),
    ]  # fmt: skip
    if shape.loc == "ub":
        points.append(
            codes("fill_phase", ["whole elements", "part of one"], lambda v: v.length % v.elem > 0,
                  "data of rows that are filled, which repeat their first element",
                  ops="filled", needs=FILL)
        )  # fmt: skip
    return points


def _registers(v: Ops) -> list[Bools]:
    kept = v.program & (SET_SIZE | SET_STRIDE1 | SET_STRIDE2) == 0
    idle = (v.loop0_n == 1) & (v.loop1_n == 1)
    return [idle & kept, idle, kept]


def legacy_points(*, store: bool) -> list[Row]:
    """Register programs."""
    points = [
        program_flag("set_size", SET_SIZE, "set_loop_size before the copy"),
        program_flag("set_stride1", SET_STRIDE1, "set_loop1_stride before the copy"),
        program_flag("set_stride2", SET_STRIDE2, "set_loop2_stride before the copy"),
        program_flag("foreign", FOREIGN, "writes registers that only the other direction reads"),
        program_flag("sid", SID, "sid is not 0 (never checked, A-19)"),
        cases("registers", ["idle, kept", "idle, written", "loops, kept", "loops, written"],
              _registers,
              "loop registers: used by the copy, and written before it or left as they were"),
    ]  # fmt: skip
    if not store:
        points += [
            codes("pad_register", ["kept", "written"], lambda v: v.program & SET_PAD > 0,
                  "pad value of a padded copy", ops="pad"),
            codes("pad_select", ["bit", "counts"], "pad_counted", "what selects padding",
                  ops="pad", needs={"counts": "pad_unselected = register"}),
        ]  # fmt: skip
    return points
