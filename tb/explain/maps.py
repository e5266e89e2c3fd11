# SPDX-License-Identifier: Apache-2.0
"""The byte map of an op: a function for each family of descriptors.

Rows and bursts are those of :mod:`tb.isa.footprint`. The map of the write-back is
:func:`tb.explain.fix.fix_parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tb.explain.fix import fix_parts, update
from tb.explain.parts import DATA, LEFT, PAD, TAIL, ZERO, Axis, Part, made, moved
from tb.isa import footprint
from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import WIDEN_BF16, WIDEN_RAW
from tb.isa.dma.op import DmaOp
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.table import ATOMIC_BYTES
from tb.isa.footprint import Footprint, space_of
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, SCALE_BYTES
from tb.isa.nest import NESTS, strided_data
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import DN2NZ, SMALL_C0
from tb.isa.op import Op, replace
from tb.isa.profile import current
from tb.isa.spaces import Space, block_end

Place = tuple[Space, int]
"""A memory and an address in it."""


# --- strided copies (spec/dma.md, sections 2 and 3) ----------------------------------------------


def _axes(names: Sequence[str], read: Footprint, written: Footprint) -> tuple[Axis, ...]:
    """Returns the axes of rows that are read and written alike; names run from the innermost."""
    sides = zip(names, written.counts, read.strides, written.strides, strict=False)
    return tuple(Axis(*one) for one in sides)[::-1]


def _start(side: Footprint) -> Place:
    return side.space, side.base


def _dma(desc: DmaOp) -> Iterator[Part]:
    """Yields data, pads and tail of a strided copy that moves something."""
    read = footprint.source(desc)
    space = space_of(desc.spec.destination, desc.ub_sub)
    written = Footprint(space, *strided_data(desc))
    axes = _axes(NESTS["dma"].names[0], read, written)
    source, target = _start(read), _start(written)
    if desc.padded:
        yield from _padded(desc, source, target, axes)
        return
    if desc.atomic_type:
        yield _updated(desc, source, target, axes)
        return
    yield moved(DATA, target, source, read.length, axes)
    if desc.spec.source == "gm" and current().tail == "fill":
        yield from _tail(desc, source, target, axes)


def _updated(desc: DmaOp, source: Place, target: Place, axes: Sequence[Axis]) -> Part:
    """Returns the elements of an atomic store."""
    size = ATOMIC_BYTES[desc.atomic_type]
    element = Axis("element", desc.len // size, size, size)
    return Part(
        DATA, *target, size, (*axes, element), *source, size, moved=False,
        how=update(desc.atomic_type, desc.atomic_op, bool(desc.nosat)),
    )  # fmt: skip


def _padded(desc: DmaOp, source: Place, target: Place, axes: Sequence[Axis]) -> Iterator[Part]:
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


def _tail(desc: DmaOp, source: Place, target: Place, axes: Sequence[Axis]) -> Iterator[Part]:
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


# --- burst copies (spec/dma.md, section 2; spec/bias_fb.md) --------------------------------------


def _burst(desc: BurstOp) -> Iterator[Part]:
    """Yields the bursts of a copy that moves something; widened elements one by one."""
    read, written = footprint.source(desc), footprint.destination(desc)
    source, target, axes = (
        _start(read),
        _start(written),
        _axes(NESTS["burst"].names[0], read, written),
    )
    if desc.widen == WIDEN_RAW:
        yield moved(DATA, target, source, written.length, axes)
        return
    unit, size = desc.units
    axes = (*axes, Axis("element", desc.len, unit, size))
    how = f"{'bf16' if desc.widen == WIDEN_BF16 else 'f16'} widened to f32"
    yield Part(DATA, *target, size, axes, *source, unit, moved=False, how=how)


# --- NZ repack (spec/nd2nz.md, sections 2 to 4) --------------------------------------------------


def _nz(desc: MteGmL1Frac) -> Iterator[Part]:
    """Yields lanes with data and lanes of zeros of a repack that moves something."""
    group = Axis(
        NESTS["nz"].names[0][1], desc.group_count, desc.outer_stride, desc.dst_loop4 * C0_BYTES
    )
    if desc.small_c0:
        yield from _small_c0(desc, group)
        return
    size, c0 = desc.elem_bytes, desc.c0
    whole, rest = divmod(desc.d_value, c0)
    row = _nz_row(desc, desc.dst_loop2 * C0_BYTES)
    step = _depth(desc) * c0
    column = Axis("C0 column", whole, step, desc.dst_loop3 * C0_BYTES)
    yield _lanes(desc, (group, column, row), c0, 0, 0)
    if rest:
        last = (group, replace(column, count=1, first=whole), row)
        src, dst = whole * step, whole * desc.dst_loop3 * C0_BYTES
        yield _lanes(desc, last, rest, src, dst)
        at = (Space.L1, desc.loc_addr + dst + rest * size)
        how = f"lanes {rest} and up: d >= d_value"
        yield made(ZERO, at, C0_BYTES - rest * size, last, b"\0", how)


def _depth(desc: MteGmL1Frac) -> int:
    """Returns source bytes from d to d + 1."""
    return desc.inner_stride if desc.mode == DN2NZ else desc.elem_bytes


def _nz_row(desc: MteGmL1Frac, step: int) -> Axis:
    src = desc.elem_bytes if desc.mode == DN2NZ else desc.inner_stride
    return Axis("n", desc.n_value, src, step)


def _lanes(desc: MteGmL1Frac, axes: tuple[Axis, ...], lanes: int, src: int, dst: int) -> Part:
    """Returns ``lanes`` lanes of each block; those of a source row lie side by side."""
    source, target = (Space.GM, desc.ext_addr + src), (Space.L1, desc.loc_addr + dst)
    if desc.mode != DN2NZ:
        return moved(DATA, target, source, lanes * desc.elem_bytes, axes)
    lane = Axis("lane", lanes, desc.inner_stride, desc.elem_bytes)
    return moved(DATA, target, source, desc.elem_bytes, (*axes, lane))


def _small_c0(desc: MteGmL1Frac, group: Axis) -> Iterator[Part]:
    """Yields rows of four channels, packed back to back (section 4)."""
    size = desc.elem_bytes
    pitch = SMALL_C0 * size
    axes = (group, _nz_row(desc, pitch))
    yield _lanes(desc, axes, desc.d_value, 0, 0)
    used = desc.d_value * size
    at = (Space.L1, desc.loc_addr + used)
    yield made(ZERO, at, pitch - used, axes, b"\0", f"lanes {desc.d_value} and up: d >= d_value")
    packed = desc.n_value * pitch
    behind = (Space.L1, desc.loc_addr + packed)
    missing = (footprint.destination(desc).length - packed) // pitch
    rows = (group, Axis("n", missing, 0, pitch, desc.n_value))
    yield made(ZERO, behind, pitch, rows, b"\0", "missing rows of the last block")


# --- loads to L0A, L0B and their scales (spec/l0_loads.md, sections 2 and 4) ---------------------

_NIBBLE = 4


def _l0(desc: L0Load) -> Iterator[Part]:
    """Yields the rows of 32 bytes, the fragments, or transposed the elements of a load."""
    read, written = footprint.source(desc), footprint.destination(desc)
    source, target = _start(read), _start(written)
    if desc.spec.scales:
        y = Axis("y", desc.k_step, SCALE_BYTES, SCALE_BYTES)
        axes = (*_axes(("x",), read, written), y)
        yield moved(DATA, target, source, SCALE_BYTES, axes)
    elif desc.transpose:
        yield _transposed(desc, source, target, FRACTAL_ROWS * desc.m_step)
    else:
        (column,) = _axes(NESTS["l0"].names[0], read, written)
        row = Axis("row", FRACTAL_ROWS * desc.m_step, C0_BYTES, C0_BYTES)
        yield moved(DATA, target, source, C0_BYTES, (column, row))


def _transposed(desc: L0Load, source: Place, target: Place, rows: int) -> Part:
    """Returns elements (p, q) of the source that become (q, p); p is the row there."""
    bits = desc.elem_bits
    lanes = 8 * C0_BYTES // bits
    column = Axis("source column", desc.k_step, desc.src_stride * FRACTAL_BYTES, lanes * C0_BYTES)
    block = Axis("row block", rows // lanes, lanes * C0_BYTES, desc.dst_stride * FRACTAL_BYTES)
    if bits == _NIBBLE:
        # A byte is made of the same nibble of two rows, which lie under each other at the source.
        axes = (
            column,
            block,
            Axis("lane byte", C0_BYTES, 1, 2 * C0_BYTES),
            Axis("nibble", 2, 0, C0_BYTES),
            Axis("row pair", C0_BYTES, 2 * C0_BYTES, 1),
        )
        how = "low or high nibble (0 or 1) of two rows"
        return Part(DATA, *target, 1, axes, *source, 1, pieces=(0, C0_BYTES), moved=False, how=how)
    size = bits // 8
    lane, row = Axis("lane", lanes, size, C0_BYTES), Axis("row", lanes, C0_BYTES, size)
    return moved(DATA, target, source, size, (column, block, lane, row))


# --- fill of L1 (spec/dma.md, section 9) ---------------------------------------------------------


def _fill(desc: RawFillL1) -> Iterator[Part]:
    """Yields the runs of a fill that writes something."""
    word = (desc.raw & (1 << desc.word_bits) - 1).to_bytes(desc.word_bits // 8, "little")
    written = footprint.destination(desc)
    axes = _axes(NESTS["fill"].names[1], footprint.source(desc), written)
    how = f"pattern {word[::-1].hex()}"
    yield made(DATA, _start(written), written.length, axes, word, how)


# --- table ---------------------------------------------------------------------------------------

MAPS: dict[str, Callable[[Any], Iterator[Part]]] = {
    "dma": _dma,
    "burst": _burst,
    "nz": _nz,
    "fix": fix_parts,
    "l0": _l0,
    "fill": _fill,
}
"""Family of a descriptor to the function that yields what it writes."""


def parts_of(desc: Op) -> tuple[Part, ...]:
    """Returns what a legal op writes under the profile of this process; nothing for a NOP."""
    if desc.is_nop:
        return ()
    return tuple(part for part in MAPS[desc.spec.layout.family](desc) if part.bytes > 0)
