# SPDX-License-Identifier: Apache-2.0
"""Bytes of the strided copies (spec/dma.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tb.explain.parts import DATA, LEFT, PAD, TAIL, Axis, Part, made, moved
from tb.isa.dma.op import DmaDescriptor
from tb.isa.dma.table import MTE_L1_UB, SOURCE_SIDE
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.footprint import space_of
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK, Space, block_end

_TYPE_NAMES = {code: name for name, code in ATOMIC_TYPES.items()}
_OP_NAMES = {code: name for name, code in ATOMIC_OPS.items()}

Place = tuple[Space, int]


def dma_parts(desc: DmaDescriptor) -> Iterator[Part]:
    """Yields data, pads and tail of a strided copy that moves something."""
    ext_first = SOURCE_SIDE[desc.spec.name] == "ext"
    sides = ((desc.ext_addr, desc.ext_stride), (desc.loc_addr, desc.loc_stride))
    (src, src_row), (dst, dst_row) = sides if ext_first else sides[::-1]
    length = desc.len
    if desc.spec is MTE_L1_UB:
        length *= UB_BLOCK
        src_row, dst_row = length + src_row * UB_BLOCK, length + dst_row * UB_BLOCK
    loops = []
    for number, loop in reversed(list(enumerate(desc.loops))):
        steps = (loop.ext_stride, loop.loc_stride)
        loops.append(Axis(f"loop{number}", loop.count, *(steps if ext_first else steps[::-1])))
    axes = (*loops, Axis("row", desc.n_burst, src_row, dst_row))
    source = (space_of(desc.spec.source, desc.ub_sub), src)
    target = (space_of(desc.spec.destination, desc.ub_sub), dst)
    if desc.padded:
        yield from _padded(desc, source, target, axes)
        return
    if desc.atomic_type:
        yield _updated(desc, source, target, axes)
        return
    yield moved(DATA, target, source, length, axes)
    if desc.spec.source == "gm" and current().tail == "fill":
        yield from _tail(desc, source, target, axes)


def update(atomic_type: int, atomic_op: int, nosat: bool) -> str:
    """Returns what an atomic store does with the old value (spec/order_and_atomics.md, 6)."""
    kind = _TYPE_NAMES.get(atomic_type, str(atomic_type))
    ends = "" if kind != "f16" else ", inf and NaN kept" if nosat else ", saturated"
    return f"atomic {_OP_NAMES.get(atomic_op, atomic_op)} as {kind} to the old value{ends}"


def _updated(desc: DmaDescriptor, source: Place, target: Place, axes: Sequence[Axis]) -> Part:
    """Returns the elements of an atomic store."""
    size = ATOMIC_BYTES[desc.atomic_type]
    element = Axis("element", desc.len // size, size, size)
    return Part(
        DATA, *target, size, (*axes, element), *source, size, moved=False,
        how=update(desc.atomic_type, desc.atomic_op, bool(desc.nosat)),
    )  # fmt: skip


def _padded(
    desc: DmaDescriptor, source: Place, target: Place, axes: Sequence[Axis]
) -> Iterator[Part]:
    """Yields left pad, data and pad of rows, or data and pad of groups (section 3)."""
    space, dst = target
    left, data = desc.left_bytes, desc.len
    pattern = desc.pad_value.to_bytes(8, "little")[: desc.elem_bytes]
    how = f"pad value {pattern[::-1].hex()} by address"
    if desc.compact:
        run = desc.n_burst * data
        yield moved(DATA, target, source, data, axes)
        yield made(PAD, (space, dst + run), block_end(run) - run, axes[:-1], pattern, how)
        return
    end = desc.loc_stride
    if current().pad_end == "block":
        end = block_end(left + data + desc.right_bytes)
    yield made(LEFT, target, left, axes, pattern, how)
    yield moved(DATA, (space, dst + left), source, data, axes)
    yield made(PAD, (space, dst + left + data), end - left - data, axes, pattern, how)


def _tail(
    desc: DmaDescriptor, source: Place, target: Place, axes: Sequence[Axis]
) -> Iterator[Part]:
    """Yields the fill behind unpadded rows (section 2, T of a row); nothing where T = len."""
    length, end = desc.len, block_end(desc.len)
    *loops, row = axes
    (from_space, src), (space, dst) = source, target
    if desc.compact:
        # The last row alone has a tail, up to the end of the block that the group ends in.
        last = row.count - 1
        src, dst = src + last * row.src, dst + last * row.dst
        end = block_end(row.count * length) - last * length
        axes = (*loops, replace(row, count=1, first=last))
    if desc.spec.destination == "l1":
        yield made(TAIL, (space, dst + length), end - length, axes, b"\0", "zeros")
        return
    size, how = desc.elem_bytes, "first element of the row again"
    at = min(end, -(-length // size) * size)
    start = (from_space, src + length % size)
    yield moved(TAIL, (space, dst + length), start, at - length, axes, how)
    again = (*axes, Axis("copy", (end - at) // size, 0, size))
    yield moved(TAIL, (space, dst + at), (from_space, src), size, again, how)
    rest = (end - at) % size
    yield moved(TAIL, (space, dst + end - rest), (from_space, src), rest, axes, how)
