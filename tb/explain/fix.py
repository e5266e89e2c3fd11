# SPDX-License-Identifier: Apache-2.0
"""Bytes of the write-back and the steps of its values (docs/spec/fixpipe.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator

from tb.explain.parts import DATA, Axis, Part
from tb.isa.fix.op import FixOp
from tb.isa.fix.remarks import unsigned
from tb.isa.fix.table import (
    ATOMIC_OPS,
    ATOMIC_TYPES,
    DST_BF16,
    DST_F16,
    DST_I16,
    DST_I32,
    DST_S4,
    DST_S8,
    DST_U8,
    FLOAT_DSTS,
    GROUP,
    NZ2DN,
    NZ2NZ,
    RELU_MODES,
    SAT_MODES,
    SCALAR_RELU,
    SCALE_MASK,
    UB_SPLIT_M,
    UB_SPLIT_N,
    VECTOR_RELU,
)
from tb.isa.footprint import destination, destinations, source
from tb.isa.op import replace
from tb.isa.profile import current
from tb.isa.spaces import Space

ACCUMULATOR = 4
"""Bytes of an accumulator."""

NIBBLE = 4
"""Bits of an element that shares its byte with another one."""

_STAGES = {
    DST_S4: ("S5", "-8..7"),
    DST_S8: ("S9", "-128..127"),
    DST_U8: ("S9", "0..255"),
    DST_I16: ("S17", "-32768..32767"),
    DST_I32: ("integer", "-2^31..2^31-1"),
}
_NAMES = ("f32", "i32", "f16", "bf16", "i16", "e4m3fn", "hif8", "s8", "u8", "s4")
_SAT_NAMES = {code: name for name, code in SAT_MODES.items() if name}
_TYPE_NAMES = {code: name for name, code in ATOMIC_TYPES.items()}
_OP_NAMES = {code: name for name, code in ATOMIC_OPS.items()}
_ALWAYS_SAT = ("f32_bf16", "deqf16_vec", "deqf16_scalar")
"""Modes on which neither nosat nor preserve_nan acts with sat_scope = a5."""


def _saturation(desc: FixOp) -> int:
    """Returns the saturation of the conversion (section 7; knob ``sat_scope``)."""
    if current().sat_scope == "all" or desc.dst_code not in (DST_F16, DST_BF16):
        return desc.sat
    outside = desc.mode.name in _ALWAYS_SAT or desc.sat == SAT_MODES["preserve_nan"]
    return SAT_MODES["sat"] if outside else desc.sat


def update(atomic_type: int, atomic_op: int, nosat: bool) -> str:
    """Returns what an atomic store does with the old value (docs/spec/order_and_atomics.md, 6)."""
    kind = _TYPE_NAMES.get(atomic_type, str(atomic_type))
    ends = "" if kind != "f16" else ", inf and NaN kept" if nosat else ", saturated"
    return f"atomic {_OP_NAMES.get(atomic_op, atomic_op)} as {kind} to the old value{ends}"


def steps(desc: FixOp) -> tuple[str, ...]:
    """Returns the stages that a value takes, from the accumulator to the element."""
    mode = desc.mode
    found = [f"accumulator {'i32' if desc.acc else 'f32'}"]
    if mode.stage in ("H", "HI"):
        found.append("to f16 and back")
    elif mode.stage == "f32":
        found.append("to f32")
    scale = "M1 of channel n" if mode.vector else f"M1 {desc.quant_scale & SCALE_MASK:#010x}"
    slope = "alpha of channel n" if desc.relu == VECTOR_RELU else "alpha"
    sloped = desc.relu in (SCALAR_RELU, VECTOR_RELU)
    replaces = sloped and mode.scale and current().alpha == "replace"
    if replaces:
        found.append(f"* ({slope} if the accumulator is below 0, else {scale})")
    elif mode.scale:
        found.append(f"* {scale}")
    if sloped and not replaces:
        found.append(f"* {slope} if below 0")
    elif desc.relu == RELU_MODES["normal_relu"]:
        found.append("normal_relu")
    found += _converted(desc)
    found.append(f"{'low 8 bits as ' if unsigned(desc) else ''}{_NAMES[desc.dst_code]} element")
    if desc.atomic_type:
        found.append(update(desc.atomic_type, desc.atomic_op, desc.sat == SAT_MODES["nosat"]))
    return tuple(found)


def _converted(desc: FixOp) -> Iterator[str]:
    """Yields the stages from the scaled value to the type of the element."""
    clip = [f"clip {desc.clip:#x}"] if desc.clip_en else []
    integer, name = desc.dst_code not in FLOAT_DSTS, _NAMES[desc.dst_code]
    if not (integer and desc.mode.scale):
        yield from clip
        if not integer and name != "f32":
            yield f"to {name}, {_SAT_NAMES[_saturation(desc)]}"
        return
    stage, limits = _STAGES[DST_U8 if unsigned(desc) else desc.dst_code]
    yield f"round and clamp to {stage}"
    if desc.mode.vector:
        yield "+ offset of channel n"
    yield from clip
    yield f"clamp to {limits}"


def is_moved(desc: FixOp) -> bool:
    """Returns whether the 32 bits of an accumulator are the element (section 3, pass-through)."""
    return desc.quant == 0 and desc.relu == 0 and not desc.clip_en and not desc.atomic_type


def fix_parts(desc: FixOp) -> Iterator[Part]:
    """Yields the elements of a write-back that moves something, in each memory it writes."""
    m, n = desc.halves
    whole, rest = divmod(n, GROUP)
    m_step, group_step, _ = source(desc).strides
    for half, written in enumerate(destinations(desc)):
        row = Axis("m", m, m_step, 0, half * m if desc.ub_mode == UB_SPLIT_M else 0)
        first = half * n // GROUP if desc.ub_mode == UB_SPLIT_N else 0
        for done, count, lanes in ((0, whole, GROUP), (whole, 1, rest)):
            if count and lanes:
                group = Axis("group", count, group_step, 0, first + done)
                yield _groups(desc, written.space, row, group, lanes, done)


def _groups(desc: FixOp, space: Space, row: Axis, group: Axis, lanes: int, done: int) -> Part:
    """Returns the elements of the first ``lanes`` channels of groups, after ``done`` groups."""
    *outer, inner = axes = _axes(desc, row, group, lanes)
    step = next(axis.dst for axis in axes if axis.name == group.name)
    dst = desc.dst_addr + done * step
    src = desc.src_addr + group.first * group.src + row.first * row.src
    size = max(1, desc.dst_bits // 8)
    part = Part(DATA, space, dst, size, axes, Space.L0C, src, size)
    if is_moved(desc):
        # Neighbours on both sides are one unit.
        adjoin = inner.src == inner.dst == size
        return part.at(size=inner.count * size, axes=tuple(outer)) if adjoin else part
    part = replace(part, piece=ACCUMULATOR, moved=False, how=" -> ".join(steps(desc)))
    if desc.dst_bits != NIBBLE:
        return part
    pair = replace(inner, name=f"{inner.name} pair", count=inner.count // 2, src=2 * inner.src)
    return replace(part, axes=(*outer, pair), pieces=(0, inner.src))


def _axes(desc: FixOp, row: Axis, group: Axis, lanes: int) -> tuple[Axis, ...]:
    """Returns the axes of a layout with their steps at the destination, repeats first."""
    read, written = source(desc), destination(desc)
    stride, again = written.strides
    repeat = Axis("repeat", read.counts[-1], read.strides[-1], again)
    size = max(1, desc.dst_bits // 8)
    lane = Axis("lane", lanes, ACCUMULATOR, size)
    if desc.layout == NZ2DN:
        group = replace(group, dst=GROUP * stride)
        return (repeat, group, replace(lane, dst=stride), replace(row, dst=size))
    if desc.layout != NZ2NZ:
        group = replace(group, dst=GROUP * desc.dst_bits // 8)
        return (repeat, replace(row, dst=stride), group, lane)
    width = desc.nz_columns
    wide, lane = lanes // min(width, lanes), replace(lane, count=min(width, lanes))
    halves = (Axis("half", wide, width * ACCUMULATOR, stride),) if width < GROUP else ()
    group = replace(group, dst=GROUP // width * stride)
    return (repeat, group, *halves, replace(row, dst=width * desc.dst_bits // 8), lane)
