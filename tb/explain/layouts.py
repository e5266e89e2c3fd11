# SPDX-License-Identifier: Apache-2.0
"""Layouts and tiles of an op as sentences: one row of a table for each family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tb.common.text import counted
from tb.explain.dma import update
from tb.explain.fill import fill_lines
from tb.explain.fix import steps
from tb.explain.formulas import INDEX, L0_SOURCE, L0_TARGET, L0C, NZ, SCALES, SMALL_C0
from tb.isa.burst.op import BurstDescriptor
from tb.isa.dma.op import DmaDescriptor
from tb.isa.dma.table import MTE_L1_UB
from tb.isa.fix.op import FixDescriptor
from tb.isa.fix.table import ATOMIC_BYTES, GROUP, L0C_WORD, NZ2DN, NZ2NZ, UB_SPLIT_M, UB_WHOLE
from tb.isa.l0.op import L0Descriptor
from tb.isa.l0.table import FRACTAL_ROWS, SCALE_BYTES
from tb.isa.lower import Descriptor
from tb.isa.nz.op import NzDescriptor
from tb.isa.nz.table import C0_BYTES, DN2NZ
from tb.isa.spaces import UB_BLOCK


def _dma(desc: DmaDescriptor) -> Iterator[str]:
    if desc.spec is MTE_L1_UB:
        yield f"{counted(desc.n_burst, 'burst')} of {desc.len} blocks of {UB_BLOCK} B, with gaps"
    else:
        yield f"{counted(desc.n_burst, 'row')} of {desc.len} B"
    counts = [loop.count for loop in reversed(desc.loops)]
    if any(count != 1 for count in counts):
        times = " x ".join(map(str, counts))
        yield f"loops: {times} iterations" + (", the innermost last" if len(counts) > 1 else "")
    if desc.compact:
        total = desc.n_burst * desc.len
        yield f"a compact group: the rows follow each other without a gap, {total} B together"
    if desc.atomic_type:
        size = ATOMIC_BYTES[desc.atomic_type]
        what = update(desc.atomic_type, desc.atomic_op, bool(desc.nosat))
        yield f"read-modify-write of GM, elements of {size} B: {what}"
    if desc.padded and desc.compact:
        yield "each group padded to the end of its last 32-byte block"
    elif desc.padded:
        yield (
            f"each row padded: {desc.left_bytes} B before the data, at least {desc.right_bytes} B "
            "after it"
        )


def _burst(desc: BurstDescriptor) -> Iterator[str]:
    read, written = desc.units
    unit = f"{read} B" if read == written else f"{read} B at the source, {written} B written"
    yield f"{counted(desc.n_burst, 'burst')} of {counted(desc.len, 'unit')} ({unit})"
    if desc.n_burst > 1:
        gap = counted(desc.src_gap, "unit")
        yield f"gaps of {gap} at the source and {desc.dst_gap} at the destination"


def _nz(desc: NzDescriptor) -> Iterator[str]:
    source = "src[d][n]" if desc.mode == DN2NZ else "src[n][d]"
    size = desc.elem_bytes
    yield (
        f"{desc.group_count} x {source}, N = {desc.n_value}, D = {desc.d_value}, elements of "
        f"{size} B, C0 = {desc.c0}"
    )
    if desc.small_c0:
        yield f"small-C0: a row is 4 lanes of {size} B, rows back to back"
        yield SMALL_C0.format(dst_loop4=desc.dst_loop4, size=size)
        return
    yield NZ.format(
        dst_loop4=desc.dst_loop4,
        dst_loop3=desc.dst_loop3,
        dst_loop2=desc.dst_loop2,
        c0=desc.c0,
        size=size,
    )
    tile = C0_BYTES * GROUP
    rest = desc.d_value % desc.c0
    lanes = f", of which the last has {counted(rest, 'lane')}" if rest else ""
    yield f"NZ tiles: {counted(desc.columns, 'C0 column')} of {desc.n_value} rows{lanes}"
    if desc.dst_loop2 == 1:
        fractals = -(-desc.n_value // GROUP)
        yield f"a column is {counted(fractals, 'fractal')} of {GROUP} rows ({tile} B each)"


def _fix(desc: FixDescriptor) -> Iterator[str]:
    repeat = f"r*{desc.loop3_src} + " if desc.loop3_en else ""
    place = L0C.format(r=repeat, src_stride=desc.src_stride, row_step=desc.row_step)
    yield f"source: L0C words of {L0C_WORD} B, N1 M N0: {place}"
    bits = desc.dst_bits
    names = {0: "omitted, as nz2nd", 1: "nz2nd", NZ2DN: "nz2dn", NZ2NZ: "nz2nz"}
    repeat = f"r*{desc.loop3_dst} + " if desc.loop3_en else ""
    index = INDEX[names[desc.layout or 1]].format(
        r=repeat, dst_stride=desc.dst_stride, width=desc.nz_columns
    )
    unit = f"{bits // 8} B" if bits >= 8 else "4 bits, the even index in the low half"
    yield f"destination: layout {names[desc.layout]}: element {index}, of {unit}"
    if desc.spec.destination == "ub" and desc.ub_mode != UB_WHOLE:
        m, n = desc.halves
        what = f"rows 0..{m - 1} and {m}..{desc.m - 1}"
        if desc.ub_mode != UB_SPLIT_M:
            what = f"columns 0..{n - 1} and {n}..{desc.n - 1}"
        yield f"split: {what} go to sub-blocks 0 and 1, each from its own index 0 on"
    yield f"value: {' -> '.join(steps(desc))}"


def _l0(desc: L0Descriptor) -> Iterator[str]:
    source, to = desc.src_stride, desc.dst_stride
    if desc.spec.scales:
        yield (
            f"{desc.m_step} x {desc.k_step} fragments of {SCALE_BYTES} B, 16 rows of two groups "
            f"of 32 k, to {desc.spec.memory}"
        )
        yield SCALES.format(
            m_start=desc.m_start, k_start=desc.k_start, src_stride=source, dst_stride=to
        )
        return
    c0, bits = 8 * C0_BYTES // desc.elem_bits, desc.elem_bits
    size = "4 bits, the even index in the low half" if bits < 8 else f"{bits // 8} B"
    yield (
        f"{counted(desc.k_step, 'C0 column')} of {counted(desc.m_step, 'fractal')}: P = "
        f"{FRACTAL_ROWS * desc.m_step} rows, Q = {c0 * desc.k_step} elements of {size}, "
        f"C0 = {c0}, to {desc.spec.memory}"
    )
    starts = {"m_start": desc.m_start, "k_start": desc.k_start, "src_stride": source}
    yield f"source: {L0_SOURCE.format(c0=c0, bits=bits, **starts)}"
    row, column = ("q", "p") if desc.transpose else ("p", "q")
    place = L0_TARGET.format(row=row, column=column, c0=c0, bits=bits, dst_stride=to)
    yield f"destination: {'transposed: ' if desc.transpose else ''}{place}"


LAYOUTS: dict[str, Callable[[Any], Iterator[str]]] = {
    "dma": _dma,
    "burst": _burst,
    "nz": _nz,
    "fix": _fix,
    "l0": _l0,
    "fill": fill_lines,
}
"""Family of a descriptor to the function that yields its sentences."""


def layout_lines(desc: Descriptor) -> tuple[str, ...]:
    """Returns how an op that moves something lays out its bytes."""
    return tuple(LAYOUTS[desc.spec.layout.family](desc))


def view_of(desc: Descriptor) -> str:
    """Returns how a picture of the op places its bytes: a row of :data:`tb.explain.tiles.VIEWS`."""
    if isinstance(desc, NzDescriptor):
        return ("small " if desc.small_c0 else "") + ("dn2nz" if desc.mode == DN2NZ else "nd2nz")
    if isinstance(desc, FixDescriptor):
        return {NZ2DN: "nz2dn", NZ2NZ: "nz2nz"}.get(desc.layout, "nz2nd")
    if isinstance(desc, L0Descriptor):
        return "scales" if desc.spec.scales else "transposed" if desc.transpose else "fractals"
    return "rows"
