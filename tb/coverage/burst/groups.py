# SPDX-License-Identifier: Apache-2.0
"""Coverage of the gap-based burst copies (spec/dma.md, section 2; spec/bias_fb.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tb.coverage.burst.view import BurstPart
from tb.coverage.model import NOT_SAMPLED, Cross, Exclusion, Ints, excluding, point
from tb.coverage.points import (
    Group,
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
from tb.coverage.view import FORM_SPECS, ODD_DST, ODD_SRC, SID, form_doc
from tb.isa.burst.table import BIAS_TYPES, BLOCK_UNIT, BURSTS, GAP_BITS, LEN_BITS, BurstSpec
from tb.isa.dtypes import DTYPES
from tb.isa.events import BiasEvent
from tb.isa.footprint import space_of
from tb.isa.ops import LEGACY_FORMS
from tb.isa.spaces import FB_SEGMENT_BYTES, FB_SEGMENT_SHIFT, FB_SEGMENTS, SIZES, Space

Points = list[Sampled[BurstPart]]

WORD = 128
"""Bytes that L1 and UB addresses are taken modulo of: no local bus is wider."""

PARAM_WORD = 256
"""Bytes that bt and fb addresses, multiples of 64, are taken modulo of."""

TYPES: tuple[str, ...] = tuple(BIAS_TYPES)
FLOATS: tuple[str, ...] = tuple(name for name in TYPES if name != "i32")

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

GAP_LOWS = (0, 1, 2, 4, 16)
GAPS = ("one burst", *range_labels(GAP_LOWS))


def _numbers(names: tuple[str, ...]) -> Ints:
    table = np.full(len(DTYPES), NOT_SAMPLED)
    for number, name in enumerate(names):
        table[DTYPES.index(name)] = number
    return table


def _bias_points() -> Points:
    """Bias loads alone: type pair, place of the second burst, and data events."""
    types, floats = _numbers(TYPES), _numbers(FLOATS)

    def second(side: str, group: int, step: int) -> Sampled[BurstPart]:
        def index(view: BurstPart) -> Ints:
            # Base addresses are aligned, so only later bursts start inside a block.
            rest = view.pitch(side) % group // step
            return only(view.live & (view["n_burst"] > 1), rest)

        what = "source byte in its 32 B block" if side == "src" else "slot in its group of 16"
        labels = [str(at * step if side == "src" else at) for at in range(group // step)]
        return Sampled(point(f"{side}_offset", labels, f"second burst: {what}"), index)

    def met(event: BiasEvent) -> Sampled[BurstPart]:
        def index(view: BurstPart) -> Ints:
            return only(view.live & ((view.events & event.value) > 0), floats[view.dtype])

        assert event.name is not None
        name = event.name.lower().replace("_", " ")
        return Sampled(
            point(f"data_{event.name.lower()}", FLOATS, f"source type with {name} data"), index
        )

    labels = [f"{name} to {BIAS_TYPES[name][0]}" for name in TYPES]
    return [
        codes("type", labels, lambda v: types[v.dtype], "source and destination type"),
        second("src", SRC_BLOCK, 2),
        second("dst", SLOT_GROUP, 4),
        *[met(event) for event in BiasEvent],
    ]


def _bias_crosses() -> tuple[Cross, ...]:
    """Type crossed with counts, gaps and offsets."""
    wide = [f"{name} to {BIAS_TYPES[name][0]}" for name in ("f32", "i32")]
    odd = [str(at) for at in range(2, SRC_BLOCK, 4)]
    return (
        Cross("type x bursts", ("type", "bursts")),
        Cross("type x units", ("type", "units")),
        Cross("type x src_gap", ("type", "src_gap")),
        Cross("type x dst_gap", ("type", "dst_gap")),
        Cross(
            "type x src_offset",
            ("type", "src_offset"),
            (excluding("elements of 4 bytes", type=wide, src_offset=odd),),
        ),
        Cross("type x dst_offset", ("type", "dst_offset")),
    )


def _kind(spec: BurstSpec) -> str:
    return spec.destination if spec.destination in _LENGTHS else "ub"


def _gap(side: str) -> Sampled[BurstPart]:
    def index(view: BurstPart) -> Ints:
        found = np.searchsorted(GAP_LOWS, view[f"{side}_gap"], side="right")
        return only(view.live, np.where(view["n_burst"] == 1, 0, found))

    role = "source" if side == "src" else "destination"
    return Sampled(point(f"{side}_gap", GAPS, f"{role} units between bursts"), index)


def _unused_gap(side: str) -> Sampled[BurstPart]:
    top = (1 << GAP_BITS) - 1

    def index(view: BurstPart) -> Ints:
        gap = view[f"{side}_gap"]
        cases = [gap == 0, gap == top, gap < 1024]
        return only(view.live & (view["n_burst"] == 1), first_of(cases))

    labels = ["0", "65535", "1..1023", "1024.."]
    return Sampled(
        point(f"{side}_gap_unused", labels, "gap of a lone burst, which has no effect"), index
    )


def _size(space: str) -> int:
    """Returns the bytes of a memory, of fb those of a segment."""
    return FB_SEGMENT_BYTES if space == "fb" else SIZES[space_of(space)]


def _offset(view: BurstPart, side: str, spec: BurstSpec) -> Ints:
    """Returns addresses in the memory, of fb in the segment."""
    fb = side == "dst" and spec.destination == Space.FB.keyword
    return view[f"{side}_addr"] % (1 << FB_SEGMENT_SHIFT) if fb else view[f"{side}_addr"]


def _segment() -> Sampled[BurstPart]:
    labels = [f"{number} ({what})" for what, number in FB_SEGMENTS.items()]
    return codes(
        "segment", labels, lambda v: v["dst_addr"] >> FB_SEGMENT_SHIFT, "segment of fb written"
    )


def _place(side: str, spec: BurstSpec) -> Sampled[BurstPart]:
    space = spec.source if side == "src" else spec.destination
    size = _size(space)

    def index(view: BurstPart) -> Ints:
        start = _offset(view, side, spec)
        top = start + view.hull(side) == size
        cases = [top, start == 0]
        if whole:
            cases.insert(0, top & (start == 0))
        return only(view.live, first_of(cases))

    whole = space in ("bt", "fb")
    labels = ["whole"] * whole + ["ends at top", "starts at 0", "inside"]
    what = "range in the segment" if space == "fb" else f"{space.upper()} range of the op"
    return Sampled(point(f"{side}_place", labels, what), index)


def _residues(name: str, word: int, step: int, values: Callable[[BurstPart], Ints], doc: str
) -> Sampled[BurstPart]:  # fmt: skip
    labels = [str(at) for at in range(0, word, step)]
    return codes(name, labels, lambda v: values(v) % word // step, f"{doc} modulo {word}")


def _alignment(spec: BurstSpec) -> Points:
    word, step = (PARAM_WORD, 64) if _kind(spec) != "ub" else (WORD, 32)
    points = [
        _residues("src_mod", WORD, 32, lambda v: v["src_addr"], "source address"),
        _residues("dst_mod", word, step, lambda v: v["dst_addr"], "destination address"),
    ]
    if not spec.widens:
        unit = spec.unit
        points.append(
            _residues("len_mod", WORD, unit, lambda v: v["len"] * unit, "bytes of a burst")
        )
    return points


def _nops(spec: BurstSpec, *, legacy: bool) -> Points:
    counts = spec.operand("n_burst")
    assert counts.maximum is not None
    top_n, top_len = counts.maximum, (1 << LEN_BITS) - 1
    if legacy:
        # Its length has as many bits but counts bytes.
        top_len //= BLOCK_UNIT
    sizes = [_size(space) for space in (spec.source, spec.destination)]

    def kind(view: BurstPart) -> Ints:
        empty, none = view["len"] == 0, view["n_burst"] == 0
        return first_of([empty & none, empty, none])

    def most(view: BurstPart) -> Ints:
        return only(~view.live, first_of([view["n_burst"] == top_n, view["len"] == top_len]))

    def where(view: BurstPart) -> Ints:
        source = (view["src_addr"] >= sizes[0]).astype(np.int64)
        return only(~view.live, source + 2 * (_offset(view, "dst", spec) >= sizes[1]))

    tops = [f"count {top_n}", f"len {top_len}", "smaller"]
    places = ["inside", "source outside", "destination outside", "both outside"]
    return [
        Sampled(point("nop", ["both 0", "len 0", "count 0", "live"], "zero counts"), kind),
        Sampled(point("nop_max", tops, "largest counts, which only NOPs can have"), most),
        Sampled(point("nop_place", places, "NOP bases"), where),
    ]


def _order_point() -> Sampled[BurstPart]:
    def index(view: BurstPart) -> Ints:
        source, destination = view["src_addr"], view["dst_addr"]
        low, high = source + view.hull("src"), destination + view.hull("dst")
        cases = [low == destination, high == source, low < destination, high < source]
        return only(view.live, first_of(cases))

    labels = ["right behind", "right before", "behind", "before", "between"]
    return Sampled(point("order", labels, "destination against the source, in one memory"), index)


def _legacy_points() -> Points:
    def unused(name: str, bit: int) -> Sampled[BurstPart]:
        def index(view: BurstPart) -> Ints:
            single = view.live & (view["n_burst"] == 1)
            return only(single, ((view.program & bit) > 0).astype(np.int64))

        labels = ["legal", "not legal if used"]
        return Sampled(point(name, labels, "stride of a single burst, which has no effect"), index)

    return [
        program_flag("sid", SID, "sid is not 0 (never checked, A-19)"),
        unused("src_stride_unused", ODD_SRC),
        unused("dst_stride_unused", ODD_DST),
    ]


def _points(form: str) -> Points:
    spec = BURSTS[FORM_SPECS[form].name]
    kind, legacy = _kind(spec), form in LEGACY_FORMS
    points: Points = [
        ranges("len", _LENGTHS[kind], lambda v: v["len"], "units in a burst"),
        ranges("n_burst", _COUNTS[kind], lambda v: v["n_burst"], "bursts"),
        ranges("bursts", (1, 2, 3, 16), lambda v: v["n_burst"], "bursts, coarse, for crosses"),
        ranges("units", (1, 2, 3, 16), lambda v: v["len"], "length, coarse, for crosses"),
        ranges("bytes", _BYTES[kind], lambda v: v.bytes, "bytes written"),
        _gap("src"),
        _gap("dst"),
        *_alignment(spec),
        _place("src", spec),
        _place("dst", spec),
        gap_point(),
        *_nops(spec, legacy=legacy),
    ]
    if not legacy:
        points += [_unused_gap("src"), _unused_gap("dst")]
    if spec.has_ub_side:
        points.append(codes("ub_sub", ["0", "1"], lambda v: v["ub_sub"], "UB sub-block"))
    if spec.destination == Space.FB.keyword:
        points.append(_segment())
    if spec.within:
        points.append(_order_point())
    if legacy:
        points += _legacy_points()
    return points + (_bias_points() if spec.widens else [dtype_point()])


def _gap_exclusions(side: str, spec: BurstSpec) -> tuple[Exclusion, ...]:
    gap = f"{side}_gap"
    found = [
        excluding("one burst has no gap", bursts="1", **{gap: GAPS[1:]}),
        excluding("several have one", bursts=("2", "3..15", "16.."), **{gap: "one burst"}),
    ]
    if spec.destination == "fb" and side == "dst":
        reason = "16 bursts so far apart do not fit the 64 units of a segment of fb"
        found.append(excluding(reason, bursts="16..", dst_gap=("4..15", "16..")))
    return tuple(found)


def _crosses(spec: BurstSpec) -> tuple[Cross, ...]:
    both = tuple(
        excluding("both sides have the same bursts", **{one: "one burst", other: GAPS[1:]})
        for one, other in (("src_gap", "dst_gap"), ("dst_gap", "src_gap"))
    )
    large: tuple[Exclusion, ...] = ()
    if spec.destination == "fb":
        large = (excluding("a segment of fb has 64 units", bursts="16..", units="16.."),)
    crosses = [
        Cross("bursts x src_gap", ("bursts", "src_gap"), _gap_exclusions("src", spec)),
        Cross("bursts x dst_gap", ("bursts", "dst_gap"), _gap_exclusions("dst", spec)),
        Cross("src_gap x dst_gap", ("src_gap", "dst_gap"), both),
        Cross("bursts x units", ("bursts", "units"), large),
    ]
    if spec.widens:
        return (*crosses, Cross("alignment", ("src_mod", "dst_mod")), *_bias_crosses())
    if spec.destination == Space.FB.keyword:
        crosses.append(Cross("segment x dst_place", ("segment", "dst_place")))
    return (*crosses, Cross("alignment", ("src_mod", "dst_mod", "len_mod")))


def burst_group(form: str) -> Group[BurstPart]:
    """Returns the group of a burst form."""
    spec = BURSTS[FORM_SPECS[form].name]
    return Group(form, _points(form), _crosses(spec), BurstPart, form_doc(form))
