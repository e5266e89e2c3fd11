# SPDX-License-Identifier: Apache-2.0
"""Coverpoints of the strided copies, each next to the rule that selects its bins.

The classes come from spec/dma.md, sections 1 to 5, and from common errors of engines: bus words,
4 KiB boundaries, the ends of the memories and of the operand ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tb.coverage.dma.view import DmaPart
from tb.coverage.geometry import GAP_LOWS, GAPS
from tb.coverage.model import NOT_SAMPLED, Ints, point
from tb.coverage.sampled import (
    Sampled,
    codes,
    dtype_point,
    first_of,
    gap_point,
    only,
    program_flag,
    range_labels,
    ranges,
)
from tb.coverage.view import (
    FOREIGN,
    FORM_SPECS,
    SET_PAD,
    SET_SIZE,
    SET_STRIDE1,
    SET_STRIDE2,
    SID,
)
from tb.isa.dma.table import (
    BLOCK_COUNT_BITS,
    BLOCK_GAP_BITS,
    LOOP_COUNT_BITS,
    MAX_LOOPS,
    PAD_LIMIT,
)
from tb.isa.dtypes import DTYPES, PAD_DTYPES
from tb.isa.footprint import space_of
from tb.isa.ops import LEGACY_FORMS
from tb.isa.profile import KNOBS
from tb.isa.spaces import SIZES, UB_BLOCK

PAGE = 4096
FAR = 1 << 32
MAX_BANDS = 32
"""Most bins for a residue modulo the bus width: a 64-byte bus has two residues in each."""

WORD = 128
"""Bytes that on-chip addresses are taken modulo of: no local bus is wider."""


@dataclass(frozen=True)
class Shape:
    """Properties of the strided copy of a form.

    Attributes:
        form: Name of the form.
        ext, loc: Address spaces of the two sides of its descriptor.
        store: Data go from ``loc`` to ``ext``.
        legacy: The form reads loop registers.
    """

    form: str
    ext: str
    loc: str
    store: bool
    legacy: bool

    @property
    def padded(self) -> bool:
        """Rows may be padded."""
        return self.ext == "gm" and self.loc == "ub" and not self.store

    @property
    def loads(self) -> bool:
        """Data come from GM, so that the knobs of rows apply."""
        return self.ext == "gm" and not self.store

    @property
    def gaps(self) -> bool:
        """Rows are bursts of 32-byte blocks with gaps between them."""
        return self.ext == "l1"

    @property
    def top_rows(self) -> dict[str, int]:
        """Names of the bins of the largest legal row counts, and the counts."""
        bits = [BLOCK_COUNT_BITS] if self.gaps else [int(x) for x in KNOBS["len_bits"].values]
        return {f"n_burst {(1 << width) - 1}": (1 << width) - 1 for width in bits}

    @property
    def loops(self) -> int:
        """Most loop groups."""
        return 2 if self.legacy else MAX_LOOPS

    def space(self, side: str) -> str:
        """Returns the address space of ``"ext"`` or ``"loc"``."""
        return self.ext if side == "ext" else self.loc

    def size(self, side: str) -> int:
        """Returns the bytes of the memory of a side."""
        return SIZES[space_of(self.space(side))]


def shape_of(form: str) -> Shape:
    """Returns the shape of a strided form."""
    spec = FORM_SPECS[form]
    store = spec.destination == "gm"
    ext, loc = spec.source, spec.destination
    return Shape(form, loc if store else ext, ext if store else loc, store, form in LEGACY_FORMS)


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

SIZE_LOWS = (1, 32, 256, 4096)
BYTE_LOWS = (64, 256, 1024, 4096, 16384, 65536)

Points = list[Sampled[DmaPart]]


def residues(name: str, values: Callable[[DmaPart], Ints], doc: str) -> Sampled[DmaPart]:
    """Returns a point of residues modulo ``WORD`` in whole 32-byte blocks."""
    labels = [str(at) for at in range(0, WORD, UB_BLOCK)]
    return codes(name, labels, lambda v: values(v) % WORD // UB_BLOCK, doc)


def length_points(shape: Shape, bus_bytes: int) -> Points:
    """Row length; length and addresses modulo the bus width."""
    if shape.ext != "gm":
        ext, loc = shape.ext, shape.loc
        return [
            ranges("len", BLOCK_LEN_LOWS, lambda v: v["len"], "32-byte blocks in a burst"),
            residues("len_mod", lambda v: v.length, f"row length modulo {WORD}"),
            residues(f"{ext}_mod", lambda v: v["ext_addr"], f"{ext} address modulo {WORD}"),
            residues(f"{loc}_mod", lambda v: v["loc_addr"], f"{loc} address modulo {WORD}"),
            ranges("bytes", (UB_BLOCK, *BYTE_LOWS), lambda v: v.bytes, "data bytes moved"),
        ]
    bands = min(bus_bytes, MAX_BANDS)
    wide = bus_bytes // bands
    labels = [str(k) if wide == 1 else f"{k * wide}..{k * wide + wide - 1}" for k in range(bands)]
    points: Points = [
        ranges("len", LEN_LOWS, lambda v: v.length, "bytes in a row", needs=LONG),
        codes(
            "len_mod", labels, lambda v: v.length % bus_bytes // wide,
            "row length modulo the bus width",
        ),
        codes(
            "gm_mod", labels, lambda v: v["ext_addr"] % bus_bytes // wide,
            "GM address modulo the bus width",
        ),
        align_point("gm_align", lambda v: v["ext_addr"], bus_bytes, "GM address in its word"),
        ranges("bytes", (1, *BYTE_LOWS), lambda v: v.bytes, "data bytes moved"),
    ]  # fmt: skip
    if shape.legacy:
        coarse = "row length, coarse, for crosses"
        points.append(ranges("size", SIZE_LOWS, lambda v: v.length, coarse))
    return points


def align_point(
    name: str, values: Callable[[DmaPart], Ints], bus_bytes: int, doc: str
) -> Sampled[DmaPart]:
    """Returns a coarse point of the position of a byte in a bus word, for crosses."""

    def index(view: DmaPart) -> Ints:
        rest = values(view) % bus_bytes
        return only(view.live, first_of([rest == 0, rest == 1, rest == bus_bytes - 1]))

    return Sampled(point(name, ["0", "1", "bus-1", "other"], doc), index)


def count_points(shape: Shape) -> Points:
    """Rows, loop groups, iterations."""
    loops = shape.loops

    def active(view: DmaPart) -> Ints:
        bits = sum((view.counts[1 + k] > 1).astype(np.int64) << k for k in range(loops))
        return only(view.live, np.asarray(bits))

    names = ["none"] + [
        "+".join(str(k) for k in range(loops) if bits >> k & 1) for bits in range(1, 1 << loops)
    ]
    points = [
        ranges(
            "n_burst", (1, 2, 3, 4, 8, 32, 65, 256, 512), lambda v: v.counts[0], "rows of a burst"
        ),
        ranges("rows", (1, 2, 3, 16, 65), lambda v: v.counts[0], "rows, coarse, for crosses"),
        Sampled(point("loops_active", names, "loops that iterate more than once"), active),
    ]
    if not shape.legacy:
        labels = [str(k) for k in range(loops + 1)]
        points.append(codes("n_loops", labels, lambda v: v.n_loops, "loop groups"))
    for k in range(loops):
        lows = np.array([1, 2, 3, 4, 16])

        def count(view: DmaPart, k: int = k, lows: Ints = lows) -> Ints:
            found = np.searchsorted(lows, view.counts[1 + k], side="right")
            return only(view.live, np.where(view.n_loops > k, found, 0))

        labels = ["absent", *range_labels(lows.tolist())]
        reason = {"absent": "a legacy copy always has both loops"} if shape.legacy else {}
        points.append(
            Sampled(point(f"loop{k}_count", labels, f"iterations of loop {k}", **reason), count)
        )
    return points


GM_STRIDES = ("one row", "equal len", "+1..31", "+32..4095", "+4096..", "2^32..")
LOCAL_STRIDES = ("one row", "tight", "+32", "+64..256", "+288..")


def row_strides(shape: Shape, side: str) -> tuple[str, ...]:
    """Returns the classes of distances between rows on a side."""
    if shape.gaps:
        return GAPS
    if shape.space(side) == "gm":
        return (GM_STRIDES[0], *_REPEATED * shape.loads, *GM_STRIDES[1:])
    return (LOCAL_STRIDES[0], *_NO_GAP, *LOCAL_STRIDES[1:])


_REPEATED, _NO_GAP = ("0", "below len"), ("compact",)
_KNOBS = dict.fromkeys(_REPEATED, REPEAT) | dict.fromkeys(_NO_GAP, COMPACT)


def between(shape: Shape, side: str) -> str:
    """Returns the name of the point of distances between rows on a side."""
    return f"{shape.space(side)}_gap" if shape.gaps else f"{shape.space(side)}_row_stride"


def _row_stride(shape: Shape, side: str) -> Sampled[DmaPart]:
    space, name, labels = shape.space(side), between(shape, side), row_strides(shape, side)

    def gap(view: DmaPart) -> Ints:
        found = np.searchsorted(GAP_LOWS, view[f"{side}_stride"], side="right")
        return only(view.live, np.where(view.counts[0] == 1, 0, found))

    def index(view: DmaPart) -> Ints:
        stride = view.stride(side, 0)
        over = stride - (view.length if space == "gm" else view.need)
        cases = [view.counts[0] <= 1]
        if space == "gm":
            cases += [stride == 0, over < 0] * shape.loads
            cases += [over == 0, over < 32, over < PAGE, stride < FAR]
        else:
            cases += [view.compact, over == 0, over < 33, over < 257]
        return only(view.live, first_of(cases))

    if shape.gaps:
        doc = f"{space.upper()} blocks between bursts"
        return Sampled(point(name, labels, doc), gap)
    against = "the length" if space == "gm" else "what a row needs"
    doc = f"{space.upper()} row stride against {against}"
    needs = {label: knob for label, knob in _KNOBS.items() if label in labels}
    return Sampled(point(name, labels, doc, needs=needs), index)


def _loop_stride(shape: Shape, side: str, k: int) -> Sampled[DmaPart]:
    space = shape.space(side)

    def index(view: DmaPart) -> Ints:
        stride = view.stride(side, 1 + k)
        inner = view.hulls[side][1 + k]
        if space != "gm":
            inner = -(-inner // UB_BLOCK) * UB_BLOCK
        cases = [
            (view.counts[1 + k] <= 1) | (view.n_loops <= k),
            stride == 0,
            stride < inner,
            stride == inner,
        ]
        if space == "gm":
            cases.append(stride < FAR)
        return only(view.live, first_of(cases))

    labels = ["one iteration", "0", "inside", "next", "beyond"] + ["2^32.."] * (space == "gm")
    written = shape.store == (side == "ext")
    reason = {"0": "iterations would write the same bytes (DMA-L13)"} if written else {}
    doc = f"stride of loop {k} against what rows and inner loops span"
    return Sampled(point(f"{space}_loop{k}_stride", labels, doc, **reason), index)


def _unused_gap(shape: Shape, side: str) -> Sampled[DmaPart]:
    top = (1 << BLOCK_GAP_BITS) - 1

    def index(view: DmaPart) -> Ints:
        gap = view[f"{side}_stride"]
        cases = [gap == 0, gap == top, gap < 1024]
        return only(view.live & (view.counts[0] == 1), first_of(cases))

    labels = ["0", str(top), "1..1023", "1024.."]
    doc = "gap of a lone burst, which has no effect"
    return Sampled(point(f"{between(shape, side)}_unused", labels, doc), index)


def _unused_stride(shape: Shape, side: str) -> Sampled[DmaPart]:
    def index(view: DmaPart) -> Ints:
        stride = view[f"{side}_stride"]
        single = view.live & (view.counts[0] == 1)
        if shape.padded:
            single &= ~view.pad
        cases = [stride == 0, (stride < view.length) & (stride % UB_BLOCK > 0)]
        return only(single, first_of([*cases, stride < view.length, stride % UB_BLOCK > 0]))

    labels = ["0", "below len, unaligned", "below len", "unaligned", "aligned"]
    name = f"{shape.space(side)}_stride_unused"
    return Sampled(point(name, labels, "row stride of a single row, which has no effect"), index)


def stride_points(shape: Shape) -> Points:
    """Strides of both sides, used and unused."""
    points = [_row_stride(shape, side) for side in ("ext", "loc")]
    unused = _unused_gap if shape.gaps else _unused_stride
    points += [unused(shape, side) for side in ("ext", "loc")]
    for k in range(shape.loops):
        points += [_loop_stride(shape, side, k) for side in ("ext", "loc")]
    return points


def gm_points() -> Points:
    """Position of the op in GM."""
    gm = SIZES[space_of("gm")]

    def page(view: DmaPart) -> Ints:
        start = view["ext_addr"]
        end = start + view.length
        within = (end - 1) // PAGE - start // PAGE
        cases = [within >= 2, within == 1, start % PAGE == 0, end % PAGE == 0]
        return only(view.live, first_of(cases))

    def region(view: DmaPart) -> Ints:
        start = view["ext_addr"]
        end = start + view.hulls["ext"][-1]
        cases = [end == gm, start == 0, (start < FAR) & (end > FAR), end <= FAR]
        return only(view.live, first_of(cases))

    pages = ["crosses 2+", "crosses 1", "starts at edge", "ends at edge", "inside"]
    regions = ["ends at 2^40", "starts at 0", "spans 2^32", "below 2^32", "above 2^32"]
    return [
        Sampled(point("page", pages, "first row against 4 KiB boundaries"), page),
        Sampled(point("gm_place", regions, "GM range of the op"), region),
    ]


def _local_place(shape: Shape, side: str) -> Sampled[DmaPart]:
    size = shape.size(side)
    # Rows of whole blocks end in the last block only at the end of the memory.
    whole = shape.gaps
    labels = ["ends at top", "starts at 0", "inside"]
    if not whole:
        labels.insert(1, "in last block")

    def index(view: DmaPart) -> Ints:
        start = view[f"{side}_addr"]
        end = start + view.hulls[side][-1]
        cases = [end == size, start == 0]
        if not whole:
            cases.insert(1, end > size - UB_BLOCK)
        return only(view.live, first_of(cases))

    space = shape.space(side)
    doc = f"{space.upper()} range of the op, with fill"
    needs = {"in last block": "tail = keep"} if shape.loads else ""
    return Sampled(point(f"{space}_place", labels, doc, needs=needs), index)


def place_points(shape: Shape) -> Points:
    """Position of the op in the memories."""
    if shape.ext == "gm":
        return [*gm_points(), _local_place(shape, "loc")]
    return [_local_place(shape, "ext"), _local_place(shape, "loc")]


def _nop_points(shape: Shape) -> Points:
    loops = shape.loops
    top_rows, top_loop = shape.top_rows, (1 << LOOP_COUNT_BITS) - 1

    def kind(view: DmaPart) -> Ints:
        cases = [view.length == 0, *[count == 0 for count in view.counts[: 1 + loops]]]
        several = sum(case.astype(np.int64) for case in cases) > 1
        return first_of([np.asarray(several), *cases])

    def most(view: DmaPart) -> Ints:
        tops = [count == top_loop for count in view.counts[1 : 1 + loops]]
        rows = [view.counts[0] == top for top in top_rows.values()]
        return only(~view.live, first_of([*rows, *tops]))

    def where(view: DmaPart) -> Ints:
        ext = view["ext_addr"] >= shape.size("ext")
        return only(~view.live, ext + 2 * (view["loc_addr"] >= shape.size("loc")))

    kinds = ["several zeros", "len 0", "n_burst 0", *[f"loop{k} 0" for k in range(loops)], "live"]
    tops = [*top_rows, *[f"loop{k} 2^21-1" for k in range(loops)], "smaller"]
    widths = dict(zip(top_rows, KNOBS["len_bits"].values, strict=False))
    needs = {} if shape.gaps else {x: f"len_bits = {width}" for x, width in widths.items()}
    ext, loc = shape.ext.upper(), shape.loc.upper()
    places = ["inside", f"{ext} outside", f"{loc} outside", "both outside"]
    return [
        Sampled(point("nop", kinds, "zero counts"), kind),
        Sampled(
            point("nop_max", tops, "largest counts, which only NOPs can have", needs=needs), most
        ),
        Sampled(point("nop_place", places, "NOP bases"), where),
    ]


def operand_points(shape: Shape) -> Points:
    """Element type, sub-block, L2 hint, gap and NOPs."""
    points = [
        codes("elem", ["1", "2", "4", "8"], lambda v: v["elem_log2"], "element bytes"),
        dtype_point(),
        gap_point(),
        *_nop_points(shape),
    ]
    if "ub" in (shape.ext, shape.loc):
        points.append(codes("ub_sub", ["0", "1"], lambda v: v["ub_sub"], "UB sub-block"))
    if {shape.ext, shape.loc} == {"gm", "ub"}:
        labels = [str(value) for value in range(16 if shape.store else 4)]
        points.append(codes("l2", labels, lambda v: v["l2"], "L2 hint", live=False))
    return points


def pad_points() -> Points:
    """Padding of loads."""
    of_type = np.full(len(DTYPES), NOT_SAMPLED)
    for number, name in enumerate(PAD_DTYPES):
        of_type[DTYPES.index(name)] = number

    def kind(view: DmaPart) -> Ints:
        return only(view.live, np.where(view.pad, 1 + of_type[view.pad_dtype], 0))

    def side(name: str) -> Sampled[DmaPart]:
        def index(view: DmaPart) -> Ints:
            size = view.pad_bytes(name)
            return only(view.pad, first_of([size == 0, size == view.elem, size < PAD_LIMIT]))

        labels = ["0", "one element", "more", "32 B"]
        return Sampled(point(f"pad_{name}", labels, f"padding on the {name}"), index)

    def tail(view: DmaPart) -> Ints:
        free = view["loc_stride"] - view.pad_bytes("left") - view.length
        return only(view.pad_stride, first_of([free == 0, free < 32, free == 32, free <= 64]))

    def end(view: DmaPart) -> Ints:
        return only(view.pad_stride, (view.need < view["loc_stride"]).astype(np.int64))

    def single(view: DmaPart) -> Ints:
        stride = view["loc_stride"]
        cases = [stride % UB_BLOCK > 0, stride < view.padded_length]
        return only(view.own_end & (view.counts[0] == 1), first_of(cases))

    def moved(view: DmaPart) -> Ints:
        without = view.length + view.pad_bytes("left")
        return only(view.own_end, (-(-without // UB_BLOCK) * UB_BLOCK < view.need).astype(np.int64))

    return [
        Sampled(point("pad", ["off", *PAD_DTYPES], "type of the pad value"), kind),
        Sampled(
            point("pad_elem", ["1", "2", "4"], "bytes of the pad pattern"),
            lambda v: only(v.pad, v["elem_log2"]),
        ),
        side("left"),
        side("right"),
        Sampled(
            point(
                "pad_tail", ["0", "1..31", "32", "33..64", "65.."],
                "bytes from the data to the row stride",
            ),
            tail,
        ),
        Sampled(
            point("pad_end", ["at the stride", "before it"],
                  "last block of a padded row against the row stride", needs=BLOCK_END),
            end,
        ),
        Sampled(
            point("pad_moved", ["no", "yes"],
                  "the count on the right moves the end of a row to a later block",
                  needs=BLOCK_END),
            moved,
        ),
        Sampled(
            point("pad_single", ["unaligned", "below the row", "as for several"],
                  "row stride of a single padded row, which has no effect", needs=BLOCK_END),
            single,
        ),
    ]  # fmt: skip


ELEMENTS = ("1", "2", "4", "8")


def fill_points(shape: Shape) -> Points:
    """Blocks that the knobs fill behind rows, and compact groups."""

    def group(view: DmaPart) -> Ints:
        run = view.counts[0] * view.length
        whole, filled = run % UB_BLOCK == 0, view.compact_end > run
        return only(view.compact, first_of([*[view.pad & ~whole] * shape.padded, filled, ~whole]))

    def rows(view: DmaPart) -> Ints:
        return only(view.compact, np.searchsorted([3, 16, 65], view.counts[0], side="right"))

    groups = {
        **({"pad": COMPACT} if shape.padded else {}),
        "fill": f"{COMPACT}, {FILL}", "kept": f"{COMPACT}, tail = keep", "whole blocks": COMPACT
    }  # fmt: skip
    points: Points = [
        Sampled(
            point("fill", ELEMENTS, "element bytes of rows that are filled", needs=FILL),
            lambda v: only(v.filled, v["elem_log2"]),
        ),
        Sampled(
            point("fill_mod", [str(at) for at in range(1, UB_BLOCK)],
                  f"length of rows that are filled, modulo {UB_BLOCK}", needs=FILL),
            lambda v: only(v.filled, v.length % UB_BLOCK - 1),
        ),
        Sampled(
            point("compact", [*groups], "end of a compact group of rows that are no whole blocks",
                  needs=groups),
            group,
        ),
        Sampled(
            point("compact_elem", ELEMENTS, "element bytes of a compact group", needs=COMPACT),
            lambda v: only(v.compact, v["elem_log2"]),
        ),
        Sampled(
            point("compact_rows", ["2", "3..15", "16..64", "65.."], "rows of a compact group",
                  needs=COMPACT),
            rows,
        ),
        Sampled(
            point("compact_len", [f"below {UB_BLOCK}", f"above {UB_BLOCK}"],
                  "length of rows of a compact group", needs=COMPACT),
            lambda v: only(v.compact, (v.length > UB_BLOCK).astype(np.int64)),
        ),
    ]  # fmt: skip
    if shape.loc == "ub":
        points.append(
            Sampled(
                point("fill_phase", ["whole elements", "part of one"],
                      "data of rows that are filled, which repeat their first element",
                      needs=FILL),
                lambda v: only(v.filled, (v.length % v.elem > 0).astype(np.int64)),
            )
        )  # fmt: skip
    return points


def legacy_points(*, store: bool) -> Points:
    """Register programs."""

    def loops(view: DmaPart) -> Ints:
        wrote = (view.program & (SET_SIZE | SET_STRIDE1 | SET_STRIDE2)) > 0
        idle = (view.counts[1] == 1) & (view.counts[2] == 1)
        return only(view.live, first_of([idle & ~wrote, idle, ~wrote]))

    points = [
        program_flag("set_size", SET_SIZE, "set_loop_size before the copy"),
        program_flag("set_stride1", SET_STRIDE1, "set_loop1_stride before the copy"),
        program_flag("set_stride2", SET_STRIDE2, "set_loop2_stride before the copy"),
        program_flag("foreign", FOREIGN, "writes registers that only the other direction reads"),
        program_flag("sid", SID, "sid is not 0 (never checked, A-19)"),
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
        points.append(
            Sampled(
                point("pad_select", ["bit", "counts"], "what selects padding",
                      needs={"counts": "pad_unselected = register"}),
                lambda v: only(v.pad, v.pad_counted.astype(np.int64)),
            )
        )  # fmt: skip
    return points
