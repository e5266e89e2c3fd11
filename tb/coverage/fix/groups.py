# SPDX-License-Identifier: Apache-2.0
"""Groups of the FIXPIPE write-backs, one for each op: source and destination of elements.

The conversion of values is the same for the three ops: :mod:`tb.coverage.fix.path`.
"""

from __future__ import annotations

import numpy as np

from tb.coverage.fix.atomic import atomic_crosses, atomic_points
from tb.coverage.fix.place import local_points, memory_crosses, memory_points
from tb.coverage.fix.view import (
    ALL_MODES,
    DST_TYPES,
    KINDS,
    LAYOUTS,
    RESULT_NEEDS,
    RESULTS,
    SPLITS,
    FixPart,
)
from tb.coverage.model import NOT_SAMPLED, Cross, Exclusion, Ints, excluding, point
from tb.coverage.sampled import (
    Group,
    Sampled,
    codes,
    first_of,
    gap_point,
    only,
    range_labels,
    ranges,
)
from tb.coverage.view import FORM_SPECS, Bools, form_doc
from tb.isa.fields import OpSpec
from tb.isa.fix.table import (
    ALPHA_WORD,
    DST_CODES,
    FLAG_CHECK,
    FLAG_CLEAR,
    FLAG_NONE,
    GROUP,
    L2_BITS,
    MAX_M,
    MAX_M_NZ,
    MTE_L0C_GM,
    MTE_L0C_UB,
    N_BITS,
    QUANT_RECORD,
    SID_BITS,
    VECTOR_RELU,
)
from tb.isa.footprint import space_of
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, SIZES, Space

Points = list[Sampled[FixPart]]

TAILS = ("0", "1..7", "8", "9..15")
ROWS = ("1", "2..15", "16", "17..")
BITS = ("4", "8", "16", "32")
SRC_STRIDE = ("one group", "0", "interleaved", "tight", "whole fractals", "more")
LOOP3 = ("absent", "1", "2", "3..7", "8..")
FLAGS = ("none", "check", "clear")

_FLAG_OF = np.full(FLAG_CLEAR + 1, NOT_SAMPLED)
_FLAG_OF[[FLAG_NONE, FLAG_CHECK, FLAG_CLEAR]] = range(len(FLAGS))

_NZ = LAYOUTS[3:]
MAX_N = (1 << N_BITS) - 1
L0C_WORDS = SIZES[Space.L0C] // 64


def layouts_of(spec: OpSpec) -> tuple[str, ...]:
    """Returns the bins of ``layout`` of an op."""
    return (*LAYOUTS, *SPLITS) if spec is MTE_L0C_UB else LAYOUTS


def flag_code(view: FixPart) -> Ints:
    """Returns the unit-flag mode as an index into ``FLAGS``."""
    found: Ints = _FLAG_OF[view["unit_flag"]]
    return found


def _shape_points(spec: OpSpec) -> Points:
    def tail(view: FixPart) -> Ints:
        rest = view["n"] % GROUP
        place = np.array([0, 2, 1])
        return only(view.live, np.where(rest > 8, 3, place[first_of([rest == 0, rest == 8])]))

    names = layouts_of(spec)
    found: Points = [
        codes("layout", names, lambda v: v.layout, "layout, and split over both sub-blocks",
              needs={} if spec is MTE_L0C_GM else {_NZ[1]: ALL_MODES}),
        codes("kind", KINDS, lambda v: v.kind, "kind of pre_quant mode"),
        codes("dst", DST_TYPES, lambda v: v.spelling, "destination element type as written",
              needs={name: RESULT_NEEDS.get(RESULTS[code], "")
                     for name, code in DST_CODES.items()}),
        codes("bits", BITS, lambda v: _log2(v.bits) - 2, "bits of a destination element",
              needs={BITS[0]: ALL_MODES}),
        ranges("m", (1, 2, 15, 16, 17, 32, 33, 64, 256, 1024), lambda v: v["m"], "rows M"),
        ranges("n", (1, 2, 8, 15, 16, 17, 32, 33, 64, 256, 1024), lambda v: v["n"], "columns N"),
        codes(
            "n_tail", [str(at) for at in range(GROUP)], lambda v: v["n"] % GROUP,
            "columns in the last group, 0 when full",
        ),
        Sampled(point("tail", TAILS, "n_tail, coarse, for crosses"), tail),
        ranges("rows", (1, 2, 16, 17), lambda v: v["m"], "M, coarse, for crosses"),
        ranges("bytes", (1, 32, 256, 1024, 4096, 16384), lambda v: v.bytes, "bytes written"),
    ]  # fmt: skip
    if spec is MTE_L0C_UB:

        def sub(view: FixPart) -> Ints:
            return only(view.live & (view["ub_mode"] == 0), view["ub_sub"])

        found.append(Sampled(point("ub_sub", ["0", "1"], "sub-block of a whole tile"), sub))
    return found


def _log2(values: Ints) -> Ints:
    return np.searchsorted([1, 2, 4, 8, 16, 32], values)


def _source_points() -> Points:
    def stride(view: FixPart) -> Ints:
        step, span = view["src_stride"], view.group_span
        whole = -(-span // GROUP) * GROUP
        cases = [view.groups == 1, step == 0, step < span, step == span, step == whole]
        return only(view.live, first_of(cases))

    def unused(view: FixPart) -> Ints:
        step = view["src_stride"]
        return only(view.live & (view.groups == 1), first_of([step == 0, step % GROUP == 0]))

    def k(view: FixPart) -> Ints:
        index = np.searchsorted([1, 2, 3, 16], view["k"], side="right") - 1
        return only(view.live & view.columnwise & (view["m"] > 1), index)

    def repeats(view: FixPart) -> Ints:
        index = np.searchsorted([1, 2, 3, 8], view["loop3_count"], side="right")
        return only(view.live, np.where(view["loop3_en"] > 0, index, 0))

    def s3(view: FixPart) -> Ints:
        step, span = view["loop3_src"], view.tile_span
        return only(_repeated(view), first_of([step == 0, step < span, step == span]))

    def d3(view: FixPart) -> Ints:
        step = view["loop3_dst"] * view.bits // 8
        whole = np.where(view.rows > 1, view.rows * view.row_step, view.hull)
        tight = (step == view.hull) | (step == whole)
        return only(_repeated(view), first_of([step < view.hull, tight]))

    def place(view: FixPart) -> Ints:
        top, start = view.source_end == SIZES[Space.L0C], view["src_addr"] == 0
        return only(view.live, first_of([top & start, top, start]))

    return [
        Sampled(point("src_stride", SRC_STRIDE, "distance of groups against their rows"), stride),
        Sampled(
            point(
                "src_stride_unused", ["0", "whole fractals", "other"],
                "stride of a single group, which has no effect",
            ),
            unused,
        ),
        Sampled(point("k", range_labels((1, 2, 3, 16)), "nz2dn: words from row to row"), k),
        Sampled(point("loop3", LOOP3, "repeats"), repeats),
        Sampled(
            point("loop3_src", ["0", "interleaved", "tight", "apart"],
                  "distance of repeats in L0C against their words"),
            s3,
        ),
        Sampled(
            point("loop3_dst", ["interleaved", "tight", "apart"],
                  "distance of repeats in the destination against their bytes"),
            d3,
        ),
        Sampled(
            point("src_place", ["all", "ends at top", "starts at 0", "inside"], "L0C range"), place
        ),
        codes(
            "src_mod", [str(at) for at in range(8)], lambda v: v["src_addr"] // 64 % 8,
            "L0C word in its 512 B block",
        ),
    ]  # fmt: skip


def _repeated(view: FixPart) -> Bools:
    return view.live & (view.repeats > 1)


def _operand_points(spec: OpSpec) -> Points:
    tops = [SIZES[Space.L0C], SIZES[space_of(spec.destination)]]

    def kind(view: FixPart) -> Ints:
        no_m, no_n, no_r = view["m"] == 0, view["n"] == 0, view.repeats == 0
        several = no_m.astype(np.int64) + no_n + no_r > 1
        return first_of([several, no_m, no_n, no_r])

    def most(view: FixPart) -> Ints:
        nz = view.grouped
        cases = [nz & (view["m"] == MAX_M_NZ), ~nz & (view["m"] == MAX_M), view["n"] == MAX_N]
        return only(~view.live, first_of(cases))

    def where(view: FixPart) -> Ints:
        source = (view["src_addr"] >= tops[0]).astype(np.int64)
        return only(~view.live, source + 2 * (view["dst_addr"] >= tops[1]))

    def parameters(view: FixPart) -> Ints:
        top, n, segment = FB_SEGMENT_BYTES, view["n"], 1 << FB_SEGMENT_SHIFT
        relu = view["relu"] == VECTOR_RELU
        beyond = view.vector_quant & (view["quant_addr"] % segment + QUANT_RECORD * n > top)
        beyond |= relu & (view["relu_addr"] % segment + ALPHA_WORD * n > top)
        return only(~view.live, first_of([~(view.vector_quant | relu), ~beyond]))

    def dead_flag(view: FixPart) -> Ints:
        return only(~view.live, flag_code(view))

    def limit(view: FixPart) -> Ints:
        return only(view.live, first_of([view["n"] == MAX_N, view["m"] == L0C_WORDS]))

    points: Points = [
        codes("flag", FLAGS, flag_code, "unit_flag"),
        gap_point(),
        Sampled(
            point("nop", ["several", "m 0", "n 0", "count 0", "live"], "zero counts"), kind
        ),
        Sampled(
            point("nop_max", [f"m {MAX_M_NZ}", f"m {MAX_M}", f"n {MAX_N}", "smaller"],
                  "largest counts (FIX-L14) of NOPs; so many rows no live op can have"),
            most,
        ),
        Sampled(
            point("nop_place", ["inside", "L0C outside", "destination outside", "both outside"],
                  "NOP bases"),
            where,
        ),
        Sampled(point("nop_flag", FLAGS, "unit_flag of NOPs, without effect"), dead_flag),
        Sampled(
            point("nop_fb", ["none", "inside", "beyond"], "vector parameters of NOPs"), parameters
        ),
        Sampled(
            point("limit", [f"n {MAX_N}", f"m {L0C_WORDS}", "smaller"],
                  "most columns, and as many rows as L0C has words"),
            limit,
        ),
    ]  # fmt: skip
    if spec is MTE_L0C_GM:
        sids, hints = range(1 << SID_BITS), range(1 << L2_BITS)
        points += [
            codes("sid", [str(at) for at in sids], lambda v: v["sid"], "stream hint", live=False),
            codes("l2", [str(at) for at in hints], lambda v: v["l2"], "L2 hint", live=False),
        ]
    return points


def _crosses(spec: OpSpec) -> tuple[Cross, ...]:
    ub = spec is MTE_L0C_UB
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
    if spec is not MTE_L0C_GM:
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
        Cross("layout x tail x rows", ("layout", "tail", "rows"), tuple(shapes)),
        Cross("layout x bits", ("layout", "bits"), tuple(narrow)),
        Cross("layout x src_stride", ("layout", "src_stride"), tuple(strides)),
        Cross("layout x dst_stride", ("layout", "dst_stride"), tuple(rows)),
        Cross("bits x dst_stride", ("bits", "dst_stride")),
        Cross("layout x loop3", ("layout", "loop3"), tuple(loops)),
        Cross("loop3_src x loop3_dst", ("loop3_src", "loop3_dst")),
        Cross("layout x flag", ("layout", "flag")),
    ]
    if ub:
        found.append(
            Cross(
                "layout x ub_sub",
                ("layout", "ub_sub"),
                (excluding("both sub-blocks", layout=SPLITS, ub_sub=("0", "1")),),
            )
        )
    return tuple(found)


def fix_group(form: str, bus_bytes: int) -> Group[FixPart]:
    """Returns the group of one write-back; residues of GM addresses are modulo ``bus_bytes``."""
    spec = FORM_SPECS[form]
    atomic = spec is MTE_L0C_GM
    points = [
        *_shape_points(spec),
        *_source_points(),
        *(memory_points(bus_bytes) if atomic else local_points(spec)),
        *_operand_points(spec),
        *(atomic_points() if atomic else []),
    ]
    crosses = _crosses(spec)
    if atomic:
        crosses += (*memory_crosses(), *atomic_crosses())
    return Group(form, points, crosses, FixPart, form_doc(form))
