# SPDX-License-Identifier: Apache-2.0
"""Groups of the FIXPIPE write-backs, one for each op: source and destination of elements.

The conversion of values is the same for the three ops: :mod:`tb.coverage.fix.path`.
"""

from __future__ import annotations

import numpy as np

from tb.coverage.fix import atomic
from tb.coverage.fix.values import (
    ALL_MODES,
    DERIVED,
    DST_TYPES,
    FLAGS,
    KINDS,
    LAYOUTS,
    RESULT_NEEDS,
    RESULTS,
    SPLITS,
)
from tb.coverage.geometry import (
    ALIGN,
    PAGE,
    WORD,
    bus_residues,
    gm_points,
    in_word,
    nop_place,
    place,
    zero_counts,
)
from tb.coverage.model import Cross, Exclusion, crossed, excluding
from tb.coverage.ops import Bools, Ops
from tb.coverage.points import (
    ALL,
    DEAD,
    GAP,
    Group,
    Row,
    cases,
    codes,
    ordered_cases,
    ranges,
    residues,
)
from tb.coverage.view import FORM_SPECS, form_doc
from tb.isa.fields import OpSpec
from tb.isa.fix.table import (
    ALPHA_WORD,
    DST_CODES,
    GROUP,
    L2_BITS,
    MAX_M,
    MAX_M_NZ,
    N_BITS,
    QUANT_RECORD,
    SID_BITS,
)
from tb.isa.footprint import space_of
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, SIZES, UB_BLOCK, Space

TAILS = ("0", "1..7", "8", "9..15")
BITS = ("4", "8", "16", "32")
SRC_STRIDE = ("one group", "0", "interleaved", "tight", "whole fractals", "more")
DST_STRIDE = ("one row", "contiguous", "gap below 32 B", "gap 32..4095 B", "gap 4096.. B")
LOOP3 = ("absent", "1", "2", "3..7", "8..")

_NZ = LAYOUTS[3:]
MAX_N = (1 << N_BITS) - 1
L0C_WORDS = SIZES[Space.L0C] // 64


def layouts_of(spec: OpSpec) -> tuple[str, ...]:
    """Returns the bins of ``layout`` of an op."""
    return (*LAYOUTS, *SPLITS) if spec.destination == "ub" else LAYOUTS


def _tail(v: Ops) -> dict[str, Bools]:
    rest = v.n % GROUP
    return {"0": rest == 0, "8": rest == 8, "1..7": rest < 8}


def _shape_points(spec: OpSpec) -> list[Row]:
    nz_needs = {} if spec.destination == "gm" else {_NZ[1]: ALL_MODES}
    dst_needs = {name: RESULT_NEEDS.get(RESULTS[code], "") for name, code in DST_CODES.items()}
    found = [
        codes("layout", layouts_of(spec), "layout_bin",
              "layout, and split over both sub-blocks", needs=nz_needs),
        codes("kind", KINDS, "kind", "kind of pre_quant mode"),
        codes("dst", DST_TYPES, "spelling", "destination element type as written",
              needs=dst_needs),
        codes("bits", BITS, lambda v: np.searchsorted([4, 8, 16, 32], v.dst_bits),
              "bits of a destination element", needs={BITS[0]: ALL_MODES}),
        ranges("m", (1, 2, 15, 16, 17, 32, 33, 64, 256, 1024), "m", "rows M"),
        ranges("n", (1, 2, 8, 15, 16, 17, 32, 33, 64, 256, 1024), "n", "columns N"),
        residues("n_tail", GROUP, 1, "n", "columns in the last group, 0 when full"),
        ordered_cases("tail", TAILS, _tail, "n_tail, coarse, for crosses"),
        ranges("rows", (1, 2, 16, 17), "m", "M, coarse, for crosses"),
        ranges("bytes", (1, 32, 256, 1024, 4096, 16384), "bytes", "bytes written"),
    ]  # fmt: skip
    if spec.destination == "ub":
        found.append(codes("ub_sub", ["0", "1"], "ub_sub", "sub-block of a whole tile",
                           ops=lambda v: v.live & (v.ub_mode == 0)))  # fmt: skip
    return found


def _src_stride(v: Ops) -> list[Bools]:
    step, span = v.src_stride, v.group_span
    whole = -(-span // GROUP) * GROUP
    return [v.groups == 1, step == 0, step < span, step == span, step == whole]


def _loop3_src(v: Ops) -> list[Bools]:
    step, span = v.loop3_src, v.tile_span
    return [step == 0, step < span, step == span]


def _loop3_dst(v: Ops) -> list[Bools]:
    whole = np.where(v.rows > 1, v.rows * v.row_step, v.hull)
    return [v.repeat_step < v.hull, (v.repeat_step == v.hull) | (v.repeat_step == whole)]


def _lone_group(v: Ops) -> Bools:
    return v.live & (v.groups == 1)


def _repeated(v: Ops) -> Bools:
    return v.live & (v.repeats > 1)


SOURCE_POINTS = [
    cases("src_stride", SRC_STRIDE, _src_stride, "distance of groups against their rows"),
    cases("src_stride_unused", ["0", "whole fractals", "other"],
          lambda v: [v.src_stride == 0, v.src_stride % GROUP == 0],
          "stride of a single group, which has no effect", ops=_lone_group),
    ranges("k", (1, 2, 3, 16), "k", "nz2dn: words from row to row",
           ops=lambda v: v.live & v.columnwise & (v.m > 1)),
    ranges("loop3", (1, 2, 3, 8), "loop3_count", "repeats", apart=(LOOP3[0], "absent")),
    cases("loop3_src", ["0", "interleaved", "tight", "apart"], _loop3_src,
          "distance of repeats in L0C against their words", ops=_repeated),
    cases("loop3_dst", ["interleaved", "tight", "apart"], _loop3_dst,
          "distance of repeats in the destination against their bytes", ops=_repeated),
    place("src_place", SIZES[Space.L0C], "src_addr", "source_end", "L0C range", whole="all"),
    codes("src_mod", [str(at) for at in range(8)], lambda v: v.src_addr // 64 % 8,
          "L0C word in its 512 B block"),
]  # fmt: skip


def _dst_stride(v: Ops) -> list[Bools]:
    gap = v.row_step - v.row_bytes
    return [v.rows == 1, gap == 0, gap < UB_BLOCK, gap < PAGE]


STRIDE_POINTS = [
    cases("dst_stride", DST_STRIDE, _dst_stride, "bytes between rows, columns or groups"),
    codes("dst_stride_unused", ["below the row", "other"], lambda v: v.row_step >= v.row_bytes,
          "stride of a single row, which has no effect", ops=lambda v: v.live & (v.rows == 1)),
]  # fmt: skip


def _memory_points(bus_bytes: int) -> list[Row]:
    """Returns the points of a destination in GM; residues are modulo ``bus_bytes``."""
    doc, last = "bytes of a row modulo the bus width", str(bus_bytes - 1)
    return [
        *STRIDE_POINTS,
        bus_residues("gm_mod", bus_bytes, "dst_addr", "GM address"),
        in_word("gm_align", bus_bytes, "dst_addr", "GM address in its word"),
        in_word("row_mod", bus_bytes, "row_bytes", doc, last=last),
        *gm_points("first destination row"),
    ]


def _local_points(spec: OpSpec) -> list[Row]:
    """Returns the points of a destination in L1 or UB."""
    name, last = spec.destination, str(UB_BLOCK - 1)
    what, size = name.upper(), SIZES[space_of(name)]
    return [
        *STRIDE_POINTS,
        residues(f"{name}_mod", WORD, UB_BLOCK, "dst_addr", f"{what} address modulo {WORD}"),
        in_word("row_mod", UB_BLOCK, "row_bytes", f"bytes of a row modulo {UB_BLOCK}", last=last),
        place(f"{name}_place", size, "dst_addr", "end", f"{what} range"),
    ]


def _most(v: Ops) -> list[Bools]:
    return [v.grouped & (v.m == MAX_M_NZ), ~v.grouped & (v.m == MAX_M), v.n == MAX_N]


def _parameters(v: Ops) -> list[Bools]:
    segment = 1 << FB_SEGMENT_SHIFT
    quant_end = v.quant_addr % segment + QUANT_RECORD * v.n
    relu_end = v.relu_addr % segment + ALPHA_WORD * v.n
    beyond = v.vector_quant & (quant_end > FB_SEGMENT_BYTES)
    beyond |= v.vector_relu & (relu_end > FB_SEGMENT_BYTES)
    return [~(v.vector_quant | v.vector_relu), ~beyond]


def _operand_points(spec: OpSpec) -> list[Row]:
    sides = [("L0C", "src_addr", SIZES[Space.L0C]),
             ("destination", "dst_addr", SIZES[space_of(spec.destination)])]  # fmt: skip
    points = [
        codes("flag", FLAGS, "flag_mode", "unit_flag"),
        GAP,
        zero_counts("several", {"m 0": "m", "n 0": "n", "count 0": "repeats"}),
        cases("nop_max", [f"m {MAX_M_NZ}", f"m {MAX_M}", f"n {MAX_N}", "smaller"], _most,
              "largest counts (FIX-L14) of NOPs; so many rows no live op can have", ops=DEAD),
        nop_place(sides),
        codes("nop_flag", FLAGS, "flag_mode", "unit_flag of NOPs, without effect", ops=DEAD),
        cases("nop_fb", ["none", "inside", "beyond"], _parameters, "vector parameters of NOPs",
              ops=DEAD),
        cases("limit", [f"n {MAX_N}", f"m {L0C_WORDS}", "smaller"],
              lambda v: [v.n == MAX_N, v.m == L0C_WORDS],
              "most columns, and as many rows as L0C has words"),
    ]  # fmt: skip
    if spec.destination == "gm":
        sids, hints = range(1 << SID_BITS), range(1 << L2_BITS)
        points += [
            codes("sid", [str(at) for at in sids], "sid", "stream hint", ops=ALL),
            codes("l2", [str(at) for at in hints], "l2", "L2 hint", ops=ALL),
        ]
    return points


def _crosses(spec: OpSpec) -> tuple[Cross, ...]:
    ub = spec.destination == "ub"
    split_m, split_n = SPLITS
    shapes = [
        excluding("nz2nz writes whole groups (FIX-L19)", layout=_NZ[0], tail=TAILS[1:]),
        excluding("groups of 8 columns (FIX-L19)", layout=_NZ[1], tail=("1..7", "9..15")),
    ]
    narrow: list[Exclusion] = [excluding("nz2nz writes f32 (FIX-L09)", layout=_NZ, bits=BITS[:-1])]
    loops = [
        excluding(
            "loop3 goes with nz2nd or nz2dn (FIX-L10)",
            layout=("omitted", *_NZ, *(SPLITS if ub else ())),
            loop3=LOOP3[1:],
        )
    ]
    strides, rows = [], []
    if spec.destination != "gm":
        rows.append(
            excluding("groups are whole 32 B blocks", layout=_NZ, dst_stride="gap below 32 B")
        )
    if ub:
        shapes += [
            excluding("m is even (FIX-L21)", layout=split_m, rows="1"),
            excluding("n is a multiple of 32 (FIX-L21)", layout=split_n, tail=TAILS[1:]),
        ]
        narrow.append(excluding("no conversion (FIX-L12)", layout=SPLITS, bits=BITS[:-1]))
        strides.append(
            excluding("n is a multiple of 32 (FIX-L21)", layout=split_n, src_stride="one group")
        )
        rows.append(
            excluding("halves are whole 32 B blocks", layout=split_n, dst_stride="gap below 32 B")
        )
    found = [
        crossed("layout x tail x rows", tuple(shapes)),
        crossed("layout x bits", tuple(narrow)),
        crossed("layout x src_stride", tuple(strides)),
        crossed("layout x dst_stride", tuple(rows)),
        crossed("bits x dst_stride"),
        crossed("layout x loop3", tuple(loops)),
        crossed("loop3_src x loop3_dst"),
        crossed("layout x flag"),
    ]
    if ub:
        found.append(
            crossed(
                "layout x ub_sub",
                (excluding("both sub-blocks", layout=SPLITS, ub_sub=("0", "1")),),
            )
        )
    return tuple(found)


def fix_group(form: str, bus_bytes: int) -> Group:
    """Returns the group of one write-back; residues of GM addresses are modulo ``bus_bytes``."""
    spec = FORM_SPECS[form]
    in_gm = spec.destination == "gm"
    points = [
        *_shape_points(spec),
        *SOURCE_POINTS,
        *(_memory_points(bus_bytes) if in_gm else _local_points(spec)),
        *_operand_points(spec),
        *(atomic.atomic_points() if in_gm else []),
    ]
    crosses = _crosses(spec)
    if in_gm:
        odd = (excluding("aligned to the element", bits=("16", "32"), gm_align=ALIGN[1:3]),)
        aligned = crossed("bits x gm_align", odd)
        crosses += (aligned, *atomic.atomic_crosses())
    return Group(form, points, crosses, DERIVED | atomic.DERIVED, form_doc(form))
