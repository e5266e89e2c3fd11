# SPDX-License-Identifier: Apache-2.0
"""Ways to divide one movement into ops that leave the same bytes.

A shape is a list of copies, executed in order on one pipe. Whether its ops are legal, and whether
they write each byte once, is decided in :mod:`sequences.twins.forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from sequences.twins.copy import Copy, Dim
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import C0_BYTES, MODES, ND2NZ

MOST_OPS = 8
"""Ops of a form at most."""

Shape = list[Copy]
Shaping = Callable[[Copy, Random], Shape]
"""Returns a shape; nothing where a copy does not have it."""


def _whole(copy: Copy, _rng: Random) -> Shape:
    return [copy]


def _swapped(copy: Copy, rng: Random) -> Shape:
    """The same loops in another order of nesting."""
    if len(copy.loops) < 2:
        return []
    loops = list(copy.loops)
    while tuple(loops) == copy.loops:
        if len(set(loops)) == 1:
            return []
        rng.shuffle(loops)
    return [replace(copy, loops=tuple(loops))]


def _rows_as_loop(copy: Copy, rng: Random) -> Shape:
    """One row in each iteration of a further loop, at any level."""
    if copy.rows.count < 2 or len(copy.loops) >= MAX_LOOPS:
        return []
    at = rng.randrange(len(copy.loops) + 1)
    loops = (*copy.loops[:at], copy.rows, *copy.loops[at:])
    return [replace(copy, rows=replace(copy.rows, count=1), loops=loops)]


def _loop_as_rows(copy: Copy, rng: Random) -> Shape:
    """A loop around single rows becomes the rows."""
    if copy.rows.count > 1 or not copy.loops:
        return []
    at = rng.randrange(len(copy.loops))
    return [replace(copy, rows=copy.loops[at], loops=(*copy.loops[:at], *copy.loops[at + 1 :]))]


def _unrolled(copy: Copy, rng: Random) -> Shape:
    """An op for each iteration of a loop, or for each row."""
    dims = [n for n, dim in enumerate((copy.rows, *copy.loops)) if 1 < dim.count <= MOST_OPS]
    if not dims:
        return []
    at = rng.choice(dims)
    dim, inner = _without(copy, at)
    return [inner.moved(dim, number) for number in range(dim.count)]


def _split_rows(copy: Copy, rng: Random) -> Shape:
    """Two ops with a part each of the rows, or of the iterations of a loop."""
    dims = [n for n, dim in enumerate((copy.rows, *copy.loops)) if dim.count > 1]
    if not dims:
        return []
    at = rng.choice(dims)
    dim, _ = _without(copy, at)
    first = rng.randrange(1, dim.count)
    parts = (copy, first), (copy.moved(dim, first), dim.count - first)
    return [_with_count(part, at, count) for part, count in parts]


def _split_bytes(copy: Copy, rng: Random) -> Shape:
    """Two ops with a part each of every row."""
    if copy.length < 2 or copy.pad is not None:
        return []
    # On-chip addresses are multiples of 32 bytes, of parameters 64.
    steps = [step for step in (1, 2, 4, 8, 16, 32, 64) if step < copy.length]
    step = rng.choice(steps)
    first = rng.randrange(1, (copy.length - 1) // step + 1) * step
    later = replace(
        copy,
        src=copy.src + first * copy.units[0],
        dst=copy.dst + first * copy.units[1],
        length=copy.length - first,
    )
    return [replace(copy, length=first), later]


def _without(copy: Copy, at: int) -> tuple[Dim, Copy]:
    """Returns a dimension and the copy with one step of it; 0 are the rows."""
    return (copy.rows, *copy.loops)[at], _with_count(copy, at, 1)


def _with_count(copy: Copy, at: int, count: int) -> Copy:
    if not at:
        return replace(copy, rows=replace(copy.rows, count=count))
    loop = replace(copy.loops[at - 1], count=count)
    kept = (loop,) if count > 1 else ()
    return replace(copy, loops=(*copy.loops[: at - 1], *kept, *copy.loops[at:]))


SHAPES: dict[str, Shaping] = {
    "one op": _whole,
    "loops swapped": _swapped,
    "rows as a loop": _rows_as_loop,
    "loop as rows": _loop_as_rows,
    "unrolled": _unrolled,
    "split by rows": _split_rows,
    "split by bytes": _split_bytes,
}
"""Shapes of strided and burst copies by name."""


# --- repacks to NZ -------------------------------------------------------------------------------

NzShaping = Callable[[MteGmL1Frac, Random], Sequence[MteGmL1Frac]]


def _from_group(op: MteGmL1Frac, first: int, count: int) -> MteGmL1Frac:
    return replace(
        op,
        gm_src=op.gm_src + first * (op.src_outer_stride or 0),
        l1_dst=op.l1_dst + first * op.dst_loop4_stride * C0_BYTES,
        group_count=count,
    )


def _nz_whole(op: MteGmL1Frac, _rng: Random) -> Sequence[MteGmL1Frac]:
    return [op]


def _nz_unrolled(op: MteGmL1Frac, _rng: Random) -> Sequence[MteGmL1Frac]:
    """An op for each matrix."""
    if not 1 < op.group_count <= MOST_OPS:
        return []
    return [_from_group(op, number, 1) for number in range(op.group_count)]


def _nz_split_groups(op: MteGmL1Frac, rng: Random) -> Sequence[MteGmL1Frac]:
    """Two ops with a part each of the matrices."""
    if op.group_count < 2:
        return []
    first = rng.randrange(1, op.group_count)
    return [_from_group(op, 0, first), _from_group(op, first, op.group_count - first)]


def _nz_split_n(op: MteGmL1Frac, rng: Random) -> Sequence[MteGmL1Frac]:
    """Two ops with a part each of the rows of every matrix."""
    if op.smallc0_en or op.n_value < 2:
        return []
    first = rng.randrange(1, op.n_value)
    step = op.src_inner_stride if op.mode == MODES[ND2NZ] else ELEMENT_BYTES[op.src_type.dtype]
    later = replace(
        op,
        gm_src=op.gm_src + first * step,
        l1_dst=op.l1_dst + first * op.dst_loop2_stride * C0_BYTES,
        n_value=op.n_value - first,
    )
    return [replace(op, n_value=first), later]


def _nz_split_d(op: MteGmL1Frac, rng: Random) -> Sequence[MteGmL1Frac]:
    """Two ops with a part each of the C0 columns of every matrix."""
    size = ELEMENT_BYTES[op.src_type.dtype]
    columns = -(-op.d_value * size // C0_BYTES)
    if op.smallc0_en or columns < 2:
        return []
    first = rng.randrange(1, columns)
    elements = first * (C0_BYTES // size)
    step = size if op.mode == MODES[ND2NZ] else op.src_inner_stride
    later = replace(
        op,
        gm_src=op.gm_src + elements * step,
        l1_dst=op.l1_dst + first * op.dst_loop3_stride * C0_BYTES,
        d_value=op.d_value - elements,
    )
    return [replace(op, d_value=elements), later]


NZ_SHAPES: dict[str, NzShaping] = {
    "one op": _nz_whole,
    "unrolled": _nz_unrolled,
    "split by groups": _nz_split_groups,
    "split by rows": _nz_split_n,
    "split by columns": _nz_split_d,
}
"""Shapes of repacks by name."""
