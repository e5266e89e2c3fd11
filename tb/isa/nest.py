# SPDX-License-Identifier: Apache-2.0
"""The rows of both sides of every op as nested loops: for one op, and for the ops of a block.

``v`` is an :class:`tb.isa.op.Op`, whose values are ints, or an object with ``spec`` and with
columns, ``int64[N]``, under the same names; the rows have ints or columns accordingly. Sources:
docs/spec/dma.md, sections 2, 3 and 9; docs/spec/bias_fb.md; docs/spec/nd2nz.md;
docs/spec/l0_loads.md; docs/spec/fixpipe.md, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tb.isa.burst.table import WIDEN_RAW
from tb.isa.dma.table import MAX_LOOPS
from tb.isa.fix.table import DST_BITS, GROUP, L0C_WORD, NZ2DN, NZ2NZ, UB_SPLIT_M, UB_SPLIT_N
from tb.isa.l0.table import C0_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, SCALE_BYTES, SCALE_RATIO
from tb.isa.nz.table import DN2NZ, SMALL_C0
from tb.isa.profile import current
from tb.isa.spaces import UB_BLOCK, block_end, segment_base

Number = Any
"""An int, or ``int64[N]``."""


class Rows(NamedTuple):
    """``length`` bytes at ``base`` plus the sums of ``counts`` x ``strides``, innermost first."""

    base: Number
    length: Number
    counts: tuple[Number, ...]
    strides: tuple[Number, ...]

    @property
    def hulls(self) -> list[Number]:
        """Bytes from the first to the last: of a row, with the first axis, ... with all."""
        found = [self.length]
        for count, stride in zip(self.counts, self.strides, strict=True):
            found.append(found[-1] + (count - 1) * stride)
        return found

    @property
    def end(self) -> Number:
        """First byte address after the rows."""
        return self.base + self.hulls[-1]


@dataclass(frozen=True)
class Nest:
    """The nest of a family.

    Attributes:
        read, written: The rows of a side of an op that moves something; those of a write-back that
            is split over both UB sub-blocks are those in one of them.
        names: Names of the axes of both sides, the innermost first.
    """

    read: Callable[[Any], Rows]
    written: Callable[[Any], Rows]
    names: tuple[tuple[str, ...], tuple[str, ...]]


def where(test: Number, yes: Number, no: Number) -> Number:
    """Returns ``yes`` where the test holds, else ``no``."""
    if isinstance(test, int):
        return yes if test else no
    import numpy as np  # Most programs are checked without it, and its import takes longer.

    return np.where(test, yes, no)


def elem_bytes(v: Any) -> Number:
    """Returns the bytes of an element, of a family with the field ``elem_log2``."""
    return 1 << v.elem_log2


# --- strided copies -------------------------------------------------------------------------------


def _strided(v: Any, side: str, length: Number) -> Rows:
    """Returns the rows of ``ext`` or ``loc``; ``length`` has the unit of the op's ``len``."""
    row = getattr(v, f"{side}_stride")
    if v.spec.gaps:
        length, row = length * v.spec.unit, (length + row) * v.spec.unit
    counts, strides = [v.n_burst], [row]
    one = isinstance(v.n_loops, int)
    for k in range(v.n_loops if one else MAX_LOOPS):
        count, stride = getattr(v, f"loop{k}_count"), getattr(v, f"loop{k}_{side}_stride")
        counts.append(count if one else where(v.n_loops > k, count, 1))
        strides.append(stride if one else where(v.n_loops > k, stride, 0))
    return Rows(getattr(v, f"{side}_addr"), length, tuple(counts), tuple(strides))


def _strided_read(v: Any) -> Rows:
    return _strided(v, "loc" if v.spec.destination == "gm" else "ext", v.len)


def strided_data(v: Any) -> Rows:
    """Returns the rows of the data of a strided copy at the destination, without pads and fills."""
    return _strided(v, "ext" if v.spec.destination == "gm" else "loc", v.len)


def padded(v: Any) -> Number:
    """Returns whether rows are padded (docs/spec/dma.md, section 3; knob ``pad_unselected``)."""
    counts = (v.pad_legacy > 0) & (v.pad_en == 0) & (v.pad_left + v.pad_right > 0)
    return (v.pad_en == 1) | (counts & (current().pad_unselected == "register"))


def compact(v: Any) -> Number:
    """Returns whether rows have no gap between them (docs/spec/dma.md, 2; knob ``compact``)."""
    legal = not v.spec.gaps and current().compact == "legal"
    return (v.n_burst > 1) & (v.loc_stride == v.len) & legal


def pad_bytes(v: Any, count: Number) -> Number:
    """Returns the bytes of a pad count (A-06)."""
    in_bytes = (v.pad_legacy > 0) & (current().legacy_pad_unit == "bytes")
    return count * where(in_bytes, 1, elem_bytes(v))


def strided_written(v: Any, fill: bool = True) -> Rows:
    """Returns the rows of the destination, with or without the bytes that a knob fills after them.

    A compact group is one run of bytes in each loop iteration; padding up to the row stride belongs
    to the row (knobs ``compact``, ``pad_end`` and ``tail``).
    """
    data = strided_data(v)
    if v.spec.source != "gm":
        return data
    knobs = current()
    run, end = v.n_burst * v.len, v.loc_stride
    if knobs.pad_end == "block":
        end = pad_bytes(v, v.pad_left) + v.len
        end = block_end(end + pad_bytes(v, v.pad_right)) if fill else end
    pads, tight = padded(v), compact(v)
    unit = where(tight, run, v.len)
    if fill:
        unit = where(pads | (knobs.tail == "fill"), block_end(unit), unit)
    length = where(pads & (tight == 0), end, unit)
    counts = (where(tight, 1, v.n_burst), *data.counts[1:])
    return data._replace(length=length, counts=counts)


# --- burst copies, fills and repacks --------------------------------------------------------------


def units(v: Any) -> tuple[Number, int]:
    """Returns the bytes of one unit of a burst copy at the source and at the destination."""
    unit = v.spec.unit
    return where(v.widen == WIDEN_RAW, unit, unit // 2) if v.spec.widens else unit, unit


def _bursts(v: Any, side: str) -> Rows:
    unit = units(v)[side == "dst"]
    stride = (v.len + getattr(v, f"{side}_gap")) * unit
    return Rows(getattr(v, f"{side}_addr"), v.len * unit, (v.n_burst,), (stride,))


def _fill(v: Any) -> Rows:
    return Rows(
        v.dst_addr + where(v.below > 0, -v.offset, v.offset),
        v.len * UB_BLOCK,
        (v.n_burst,),
        ((v.len + v.dst_gap) * UB_BLOCK,),
    )


def _nothing(v: Any) -> Rows:
    return Rows(_fill(v).base, 0, (0,), (0,))


def _matrices(v: Any) -> Rows:
    elem, turned = elem_bytes(v), v.mode == DN2NZ
    rows, elements = where(turned, v.d_value, v.n_value), where(turned, v.n_value, v.d_value)
    counts, strides = (rows, v.group_count), (v.inner_stride, v.outer_stride)
    return Rows(v.ext_addr, elements * elem, counts, strides)


def _fractals(v: Any) -> Rows:
    """Returns the C0 blocks of a repack, in small-C0 mode whole groups."""
    elem = elem_bytes(v)
    small, packed = v.small_c0 > 0, v.n_value * SMALL_C0 * elem
    counts = (
        where(small, 1, v.n_value),
        where(small, 1, -(-v.d_value // (C0_BYTES // elem))),
        v.group_count,
    )
    strides = tuple(C0_BYTES * step for step in (v.dst_loop2, v.dst_loop3, v.dst_loop4))
    length = where(small, -(-packed // C0_BYTES) * C0_BYTES, C0_BYTES)
    return Rows(v.loc_addr, length, counts, strides)


# --- loads to L0A, L0B and their scales: runs of fragments, or the fractals of C0 columns ---------


def _loaded(v: Any) -> Rows:
    if v.spec.scales:
        first = v.m_start * v.src_stride + v.k_start
        unit, runs, length = SCALE_BYTES, v.m_step, v.k_step
    else:
        first = v.k_start * v.src_stride + v.m_start
        unit, runs, length = FRACTAL_BYTES, v.k_step, v.m_step
    return Rows(v.src_addr + first * unit, length * unit, (runs,), (v.src_stride * unit,))


def _load_written(v: Any) -> Rows:
    base = segment_base(v.spec.memory)
    if v.spec.scales:
        length, step = v.k_step * SCALE_BYTES, v.dst_stride * SCALE_BYTES
        return Rows(base + v.dst_addr // SCALE_RATIO, length, (v.m_step,), (step,))
    # Q = C0 * k_step rows and P = 16 * m_step columns where it is transposed.
    c0 = where(v.elem == 3, 64, where(v.elem == 0, 32, where(v.elem == 1, 16, 8)))
    turned = v.transpose > 0
    rows = where(turned, c0 * v.k_step // FRACTAL_ROWS, v.m_step)
    columns = where(turned, FRACTAL_ROWS * v.m_step // c0, v.k_step)
    length, step = rows * FRACTAL_BYTES, v.dst_stride * FRACTAL_BYTES
    return Rows(base + v.dst_addr, length, (columns,), (step,))


# --- write-backs ---------------------------------------------------------------------------------


def _repeats(v: Any) -> Number:
    return where(v.loop3_en > 0, v.loop3_count, 1)


def _accumulators(v: Any) -> Rows:
    """Returns the words with accumulators in them."""
    step = where(v.layout == NZ2DN, v.k, 1)
    repeat = where(v.loop3_en > 0, v.loop3_src, 0)
    counts = (v.m, -(-v.n // GROUP), _repeats(v))
    strides = tuple(L0C_WORD * each for each in (step, v.src_stride, repeat))
    return Rows(v.src_addr, L0C_WORD, counts, strides)


def _tiles(v: Any) -> Rows:
    """Returns rows, of nz2dn columns, of nz2nz groups of columns."""
    bits = v.dst_bits
    m = where(v.ub_mode == UB_SPLIT_M, v.m // 2, v.m)
    n = where(v.ub_mode == UB_SPLIT_N, v.n // 2, v.n)
    grouped, turned = v.layout == NZ2NZ, v.layout == NZ2DN
    width = where(v.split > 0, GROUP // 2, GROUP)
    rows = where(grouped, n // width, where(turned, n, m))
    elements = where(grouped, m * width, where(turned, m, n))
    looped = (v.loop3_en > 0) & (v.layout != NZ2NZ)
    repeat = where(looped, v.loop3_dst * bits // 8, 0)
    counts = (rows, where(grouped, 1, _repeats(v)))
    return Rows(v.dst_addr, elements * bits // 8, counts, (v.dst_stride * bits // 8, repeat))


assert len(DST_BITS) == 10, "every code of a destination has its bits"

_LOOPS = tuple(f"loop{k}" for k in range(MAX_LOOPS))

NESTS: dict[str, Nest] = {
    "dma": Nest(_strided_read, strided_written, (("row", *_LOOPS),) * 2),
    "burst": Nest(
        lambda v: _bursts(v, "src"), lambda v: _bursts(v, "dst"), (("burst",),) * 2
    ),
    "nz": Nest(_matrices, _fractals, (("row", "matrix"), ("n", "C0 column", "matrix"))),
    "fix": Nest(_accumulators, _tiles, (("row", "group", "repeat"), ("row", "repeat"))),
    "l0": Nest(_loaded, _load_written, (("C0 column",),) * 2),
    "fill": Nest(_nothing, _fill, ((), ("run",))),
}  # fmt: skip
"""Nests by descriptor family."""
