# SPDX-License-Identifier: Apache-2.0
"""The byte map of an op: a function for each family of descriptors.

Rows and strides are those of :mod:`tb.isa.nest`: a function here divides them into the parts that
are made differently. The map of the write-back is :func:`tb.explain.fix.fix_parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tb.explain.fix import fix_parts, update
from tb.explain.parts import DATA, LEFT, PAD, TAIL, ZERO, Axis, Part
from tb.isa import footprint
from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import WIDEN_BF16, WIDEN_RAW
from tb.isa.dma.op import DmaOp
from tb.isa.fill.op import FillOp
from tb.isa.fix.table import ATOMIC_BYTES
from tb.isa.footprint import Footprint, space_of
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import C0_BYTES, FRACTAL_ROWS, SCALE_BYTES
from tb.isa.nest import NESTS, strided_data
from tb.isa.nz.op import NzOp
from tb.isa.nz.table import DN2NZ, SMALL_C0
from tb.isa.op import Op, replace
from tb.isa.profile import current
from tb.isa.spaces import block_end


def _rows(desc: Op, written: Footprint | None = None) -> Part:
    """Returns the rows of an op whose sides have the same ones, as bytes that are moved.

    ``written`` are those of the destination if it has others too.
    """
    read, written = footprint.source(desc), written or footprint.destination(desc)
    names = NESTS[desc.family].names[1]
    sides = zip(names, written.counts, read.strides, written.strides, strict=False)
    axes = tuple(Axis(*side) for side in sides)[::-1]
    size = written.length
    return Part(DATA, written.space, written.base, size, axes, read.space, read.base, size)


def _elements(rows: Part, count: int, read: int, written: int, how: str) -> Part:
    """Returns rows of ``count`` elements, each computed from the one of ``read`` bytes."""
    axes = (*rows.axes, Axis("element", count, read, written))
    return replace(rows, size=written, axes=axes, piece=read, moved=False, how=how)


# --- strided copies (docs/spec/dma.md, sections 2 and 3)
# ----------------------------------------------


def _dma(desc: DmaOp) -> Iterator[Part]:
    """Yields data, pads and tail of a strided copy that moves something."""
    space = space_of(desc.spec.destination, desc.ub_sub)
    rows = _rows(desc, Footprint(space, *strided_data(desc)))
    if desc.padded:
        yield from _padded(desc, rows)
    elif desc.atomic_type:
        size = ATOMIC_BYTES[desc.atomic_type]
        how = update(desc.atomic_type, desc.atomic_op, bool(desc.nosat))
        yield _elements(rows, desc.len // size, size, size, how)
    else:
        yield rows
        if desc.spec.source == "gm" and current().tail == "fill":
            yield from _tail(desc, rows)


def _padded(desc: DmaOp, rows: Part) -> Iterator[Part]:
    """Yields left pad, data and pad of rows, or data and pad of groups (section 3)."""
    left, data = desc.left_bytes, desc.len
    pattern = desc.pad_value.to_bytes(8, "little")[: desc.elem_bytes]
    pad = rows.filled(PAD, pattern, f"pad value {pattern[::-1].hex()} by address")
    if desc.compact:
        run = desc.n_burst * data
        yield rows
        yield pad.at(run, size=block_end(run) - run, axes=rows.axes[:-1])
        return
    end = desc.loc_stride
    if current().pad_end == "block":
        end = block_end(left + data + desc.right_bytes)
    yield pad.at(size=left, kind=LEFT)
    yield rows.at(left)
    yield pad.at(left + data, size=end - left - data)


def _tail(desc: DmaOp, rows: Part) -> Iterator[Part]:
    """Yields the fill after unpadded rows (section 2, T of a row); nothing where T = len."""
    length, end = desc.len, block_end(desc.len)
    if desc.compact:
        # The last row alone has a tail, up to the end of the block that the group ends in.
        *loops, row = rows.axes
        last = row.count - 1
        end = block_end(row.count * length) - last * length
        axes = (*loops, replace(row, count=1, first=last))
        rows = rows.at(last * row.dst, last * row.src, axes=axes)
    if desc.spec.destination == "l1":
        yield rows.filled(TAIL, b"\0", "zeros").at(length, size=end - length)
        return
    size = desc.elem_bytes
    at = min(end, -(-length // size) * size)
    copies, rest = divmod(end - at, size)
    tail = replace(rows, kind=TAIL, how="first element of the row again")
    yield tail.at(length, length % size, at - length)
    yield tail.at(at, size=size, axes=(*rows.axes, Axis("copy", copies, 0, size)))
    yield tail.at(end - rest, size=rest)


# --- burst copies (docs/spec/dma.md, section 2; docs/spec/bias_fb.md)
# --------------------------------------


def _burst(desc: BurstOp) -> Iterator[Part]:
    """Yields the bursts of a copy that moves something; widened elements one by one."""
    rows = _rows(desc)
    if desc.widen == WIDEN_RAW:
        yield rows
    else:
        how = f"{'bf16' if desc.widen == WIDEN_BF16 else 'f16'} widened to f32"
        yield _elements(rows, desc.len, *desc.units, how)


# --- NZ repack (docs/spec/nd2nz.md, sections 2 to 4)
# --------------------------------------------------


def _nz(desc: NzOp) -> Iterator[Part]:
    """Yields lanes with data and lanes of zeros of a repack that moves something."""
    read, written = footprint.source(desc), footprint.destination(desc)
    size, turned = desc.elem_bytes, desc.mode == DN2NZ
    (row, matrix), (n_to, column_to, matrix_to) = read.strides, written.strides
    n_step, d_step = (size, row) if turned else (row, size)
    group = Axis("matrix", desc.group_count, matrix, matrix_to)
    n = Axis("n", desc.n_value, n_step, SMALL_C0 * size if desc.small_c0 else n_to)
    block = Part(DATA, written.space, written.base, size, (group, n), read.space, read.base, size)
    if desc.small_c0:
        yield from _lanes(block, desc.d_value, SMALL_C0, d_step, turned=turned)
        yield _missing(block, written.length)
        return
    whole, rest = divmod(desc.d_value, desc.c0)
    column = Axis("C0 column", whole, desc.c0 * d_step, column_to)
    yield from _lanes(
        replace(block, axes=(group, column, n)), desc.c0, desc.c0, d_step, turned=turned
    )
    if rest:
        axes = (group, replace(column, count=1, first=whole), n)
        last = block.at(whole * column.dst, whole * column.src, axes=axes)
        yield from _lanes(last, rest, desc.c0, d_step, turned=turned)


def _lanes(block: Part, lanes: int, room: int, step: int, *, turned: bool) -> Iterator[Part]:
    """Yields the lanes of blocks, and zeros in those up to ``room``.

    ``block`` has one lane and ``step`` is from one to the next at the source: they adjoin, or are
    ``turned``.
    """
    size = block.size
    used = lanes * size
    if turned:
        yield block.at(axes=(*block.axes, Axis("lane", lanes, step, size)))
    else:
        yield block.at(size=used)
    zeros = block.filled(ZERO, b"\0", f"lanes {lanes} and up: d >= d_value")
    yield zeros.at(used, size=room * size - used)


def _missing(block: Part, length: int) -> Part:
    """Returns the rows that fill up the last block of a matrix of ``length`` bytes (section 4)."""
    group, n = block.axes
    packed = n.count * n.dst
    rows = Axis("n", (length - packed) // n.dst, 0, n.dst, n.count)
    zeros = block.filled(ZERO, b"\0", "missing rows of the last block")
    return zeros.at(packed, size=n.dst, axes=(group, rows))


# --- loads to L0A, L0B and their scales (docs/spec/l0_loads.md, sections 2 and 4)
# ---------------------

_NIBBLE = 4


def _l0(desc: L0Load) -> Iterator[Part]:
    """Yields the rows of 32 bytes, the fragments, or transposed the elements of a load."""
    columns = _rows(desc)
    (column,) = columns.axes
    if desc.spec.scales:
        y = Axis("y", desc.k_step, SCALE_BYTES, SCALE_BYTES)
        yield columns.at(size=SCALE_BYTES, axes=(replace(column, name="x"), y))
    elif desc.transpose:
        yield _transposed(desc, columns, column)
    else:
        row = Axis("row", FRACTAL_ROWS * desc.m_step, C0_BYTES, C0_BYTES)
        yield columns.at(size=C0_BYTES, axes=(column, row))


def _transposed(desc: L0Load, columns: Part, column: Axis) -> Part:
    """Returns elements (p, q) of the source that become (q, p); p is the row there."""
    bits = desc.elem_bits
    lanes = 8 * C0_BYTES // bits
    rows = FRACTAL_ROWS * desc.m_step
    outer = (
        Axis("source column", desc.k_step, column.src, lanes * C0_BYTES),
        Axis("row block", rows // lanes, lanes * C0_BYTES, column.dst),
    )
    if bits == _NIBBLE:
        # A byte is made of the same nibble of two rows, which lie under each other at the source.
        axes = (
            *outer,
            Axis("lane byte", C0_BYTES, 1, 2 * C0_BYTES),
            Axis("nibble", 2, 0, C0_BYTES),
            Axis("row pair", C0_BYTES, 2 * C0_BYTES, 1),
        )
        how = "low or high nibble (0 or 1) of two rows"
        return columns.at(size=1, axes=axes, pieces=(0, C0_BYTES), moved=False, how=how)
    size = bits // 8
    lane, row = Axis("lane", lanes, size, C0_BYTES), Axis("row", lanes, C0_BYTES, size)
    return columns.at(size=size, axes=(*outer, lane, row))


# --- fill of L1 (docs/spec/dma.md, section 9)
# ---------------------------------------------------------


def _fill(desc: FillOp) -> Iterator[Part]:
    """Yields the runs of a fill that writes something."""
    word = (desc.raw & (1 << desc.word_bits) - 1).to_bytes(desc.word_bits // 8, "little")
    yield _rows(desc).filled(DATA, word, f"pattern {word[::-1].hex()}")


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
    return tuple(part for part in MAPS[desc.family](desc) if part.bytes > 0)
