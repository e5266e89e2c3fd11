# SPDX-License-Identifier: Apache-2.0
"""Coverage of the gap-based burst copies (docs/spec/dma.md, section 2; docs/spec/bias_fb.md)."""

from __future__ import annotations

from functools import partial

import numpy as np

from tb.coverage.geometry import (
    GAPS,
    WORD,
    gap_point,
    largest,
    nop_place,
    place,
    unused_gap,
    zero_counts,
)
from tb.coverage.model import Cross, Exclusion, crossed, excluding, lone
from tb.coverage.ops import Bools, Derived, Ops, sides
from tb.coverage.points import (
    GAP,
    Group,
    Row,
    cases,
    codes,
    dtype_point,
    entry,
    place_of,
    program_flag,
    range_labels,
    ranges,
    residues,
)
from tb.coverage.view import FORM_SPECS, ODD_DST, ODD_SRC, SID, form_doc
from tb.isa.burst.table import (
    BIAS_TYPES,
    BLOCK_UNIT,
    BURSTS,
    GAP_BITS,
    LEN_BITS,
    BurstSpec,
)
from tb.isa.events import BiasEvent
from tb.isa.footprint import space_of
from tb.isa.ops import LEGACY_FORMS
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS, SIZES

PARAM_WORD = 256
"""Bytes that bt and fb addresses, multiples of 64, are taken modulo of."""

COARSE = (1, 2, 3, 16)

TYPES: tuple[str, ...] = tuple(BIAS_TYPES)
FLOATS: tuple[str, ...] = tuple(name for name in TYPES if name != "i32")
PAIRS = [f"{name} to {BIAS_TYPES[name][0]}" for name in TYPES]
_TYPE, _FLOAT = place_of(TYPES), place_of(FLOATS)

SRC_BLOCK = 32
SLOT_GROUP = 64
"""Bytes of a source block and of an aligned group of 16 bias slots."""

_LENGTHS = {
    "ub": (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 1024),
    "bt": (1, 2, 3, 4, 8, 15, 16, 17, 32, 64, 128, 256, 512, 1024),
    "fb": (1, 2, 3, 4, 8, 16, 32, 64),
}
_COUNTS = {
    "ub": (1, 2, 3, 4, 8, 32, 65, 256),
    "bt": (1, 2, 3, 4, 8, 32, 65, 256),
    "fb": (1, 2, 3, 4, 8, 32),
}
"""First length in units and first count of each class, by the kind of op."""

_BYTES = {
    "ub": (32, 64, 256, 1024, 4096, 16384, 65536),
    "bt": (4, 64, 256, 1024),
    "fb": (64, 128, 512, 2048),
}


DERIVED: Derived = {
    "live": lambda v: (v.len > 0) & (v.n_burst > 0),
    "single": lambda v: v.live & (v.n_burst == 1),
    "several": lambda v: v.live & (v.n_burst > 1),
    # Bytes of a unit on both sides, from one burst to the next, and in all.
    **sides("burst"),
    "src_pitch": lambda v: v.read.strides[0],
    "dst_pitch": lambda v: v.written.strides[0],
    "bytes": lambda v: np.where(v.live, v.n_burst * v.written.length, 0),
    # Addresses in the memory, of fb in the segment: first byte, and first after a live op.
    "src": lambda v: v.src_addr,
    "dst": lambda v: v.dst_addr % (1 << FB_SEGMENT_SHIFT) if v.spec.destination == "fb"
    else v.dst_addr,
    "src_end": lambda v: v.read.end,
    "dst_end": lambda v: v.dst + v.written.hulls[-1],
}  # fmt: skip


def _order(v: Ops) -> list[Bools]:
    return [v.src_end == v.dst, v.dst_end == v.src, v.src_end < v.dst, v.dst_end < v.src]


def _met(event: int, v: Ops) -> Bools:
    return v.live & (v.events & event > 0)


def _bias_points() -> list[Row]:
    """Bias loads alone: type pair, place of the second burst, and data events."""
    # Base addresses are aligned, so only later bursts start inside a block.
    slots = range(SLOT_GROUP // 4)
    return [
        codes("type", PAIRS, entry(_TYPE, "dtype"), "source and destination type"),
        residues("src_offset", SRC_BLOCK, 2, "src_pitch",
                 "second burst: source byte in its 32 B block", ops="several"),
        codes("dst_offset", [str(slot) for slot in slots], lambda v: v.dst_pitch % SLOT_GROUP // 4,
              "second burst: slot in its group of 16", ops="several"),
        *[codes(f"data_{name.lower()}", FLOATS, entry(_FLOAT, "dtype"),
                f"source type with {name.lower().replace('_', ' ')} data",
                ops=partial(_met, event.value))
          for name, event in BiasEvent.__members__.items()],
    ]  # fmt: skip


def _size(space: str) -> int:
    """Returns the bytes of a memory, of fb those of a segment."""
    return FB_SEGMENT_BYTES if space == "fb" else SIZES[space_of(space)]


def _nops(spec: BurstSpec, *, legacy: bool) -> list[Row]:
    top_n, top_len = spec.operand("n_burst").maximum or 0, (1 << LEN_BITS) - 1
    if legacy:
        # Its length has as many bits but counts bytes.
        top_len //= BLOCK_UNIT
    tops = {f"count {top_n}": ("n_burst", top_n), f"len {top_len}": ("len", top_len)}
    return [
        zero_counts("both 0", {"len 0": "len", "count 0": "n_burst"}),
        largest("nop_max", tops, "largest counts, which only NOPs can have"),
        nop_place([("source", "src_addr", _size(spec.source)),
                   ("destination", "dst", _size(spec.destination))]),
    ]  # fmt: skip


def _legacy_points() -> list[Row]:
    labels, doc = ("legal", "not legal if used"), "stride of a single burst, which has no effect"
    return [
        program_flag("sid", SID, "sid is not 0 (never checked, A-19)"),
        codes("src_stride_unused", labels, lambda v: v.program & ODD_SRC > 0, doc, ops="single"),
        codes("dst_stride_unused", labels, lambda v: v.program & ODD_DST > 0, doc, ops="single"),
    ]


def _points(form: str, spec: BurstSpec) -> list[Row]:
    parameters, legacy = spec.destination in ("bt", "fb"), form in LEGACY_FORMS
    kind = spec.destination if parameters else "ub"
    word, step = (PARAM_WORD, 64) if parameters else (WORD, 32)
    points = [
        ranges("len", _LENGTHS[kind], "len", "units in a burst"),
        ranges("n_burst", _COUNTS[kind], "n_burst", "bursts"),
        ranges("bursts", COARSE, "n_burst", "bursts, coarse, for crosses"),
        ranges("units", COARSE, "len", "length, coarse, for crosses"),
        ranges("bytes", _BYTES[kind], "bytes", "bytes written"),
        gap_point("src_gap", "src_gap", "source units between bursts"),
        gap_point("dst_gap", "dst_gap", "destination units between bursts"),
        residues("src_mod", WORD, 32, "src_addr", f"source address modulo {WORD}"),
        residues("dst_mod", word, step, "dst_addr", f"destination address modulo {word}"),
    ]
    if not spec.widens:
        points.append(residues("len_mod", WORD, spec.unit, lambda v: v.read.length,
                               f"bytes of a burst modulo {WORD}"))  # fmt: skip
    for side, space in (("src", spec.source), ("dst", spec.destination)):
        doc = "range in the segment" if space == "fb" else f"{space.upper()} range of the op"
        whole = "whole" * (space in ("bt", "fb"))
        points.append(place(f"{side}_place", _size(space), side, f"{side}_end", doc, whole=whole))
    points += [GAP, *_nops(spec, legacy=legacy)]
    if not legacy:
        top = (1 << GAP_BITS) - 1
        points += [unused_gap(f"{side}_gap_unused", f"{side}_gap", top) for side in ("src", "dst")]
    if spec.has_ub_side:
        points.append(codes("ub_sub", ("0", "1"), "ub_sub", "UB sub-block"))
    if spec.destination == "fb":
        labels = [f"{number} ({what})" for what, number in FB_SEGMENTS.items()]
        points.append(codes("segment", labels, lambda v: v.dst_addr >> FB_SEGMENT_SHIFT,
                            "segment of fb written"))  # fmt: skip
    if spec.within:
        labels = ["right behind", "right before", "behind", "before", "between"]
        doc = "destination against the source, in one memory"
        points.append(cases("order", labels, _order, doc))
    if legacy:
        points += _legacy_points()
    return points + (_bias_points() if spec.widens else [dtype_point()])


def _gap_exclusions(side: str, spec: BurstSpec) -> tuple[Exclusion, ...]:
    found = lone("one burst has no gap", bursts=range_labels(COARSE), **{f"{side}_gap": GAPS})
    if spec.destination == "fb" and side == "dst":
        reason = "16 bursts so far apart do not fit the 64 units of a segment of fb"
        return (*found, excluding(reason, bursts="16..", dst_gap=("4..15", "16..")))
    return found


def _crosses(spec: BurstSpec) -> tuple[Cross, ...]:
    both = tuple(
        excluding("both sides have the same bursts", **{one: "one burst", other: GAPS[1:]})
        for one, other in (("src_gap", "dst_gap"), ("dst_gap", "src_gap"))
    )
    large: tuple[Exclusion, ...] = ()
    if spec.destination == "fb":
        large = (excluding("a segment of fb has 64 units", bursts="16..", units="16.."),)
    crosses = [
        crossed("bursts x src_gap", _gap_exclusions("src", spec)),
        crossed("bursts x dst_gap", _gap_exclusions("dst", spec)),
        crossed("src_gap x dst_gap", both),
        crossed("bursts x units", large),
    ]
    if spec.widens:
        wide = [pair for pair in PAIRS if pair.startswith(("f32", "i32"))]
        odd = [str(at) for at in range(2, SRC_BLOCK, 4)]
        halves = (excluding("elements of 4 bytes", type=wide, src_offset=odd),)
        crosses.append(Cross("alignment", ("src_mod", "dst_mod")))
        for name in ("bursts", "units", "src_gap", "dst_gap", "src_offset", "dst_offset"):
            never = halves if name == "src_offset" else ()
            crosses.append(crossed(f"type x {name}", never))
        return tuple(crosses)
    if spec.destination == "fb":
        crosses.append(crossed("segment x dst_place"))
    return (*crosses, Cross("alignment", ("src_mod", "dst_mod", "len_mod")))


def burst_group(form: str) -> Group:
    """Returns the group of a burst form."""
    spec = BURSTS[FORM_SPECS[form].name]
    return Group(form, _points(form, spec), _crosses(spec), DERIVED, form_doc(form), spec)
