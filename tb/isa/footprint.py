# SPDX-License-Identifier: Apache-2.0
"""Bytes that an op touches, as strided regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tb.isa.burst.op import BurstOp
from tb.isa.dma.op import DmaOp
from tb.isa.dma.table import MTE_L1_UB, SOURCE_SIDE
from tb.isa.fill.op import RawFillL1
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import ALPHA_WORD, FLAG_BLOCK, L0C_WORD, NZ2DN, NZ2NZ, QUANT_RECORD, UB_WHOLE
from tb.isa.l0.op import L0Load
from tb.isa.l0.table import FRACTAL_BYTES, SCALE_BYTES
from tb.isa.lower import Descriptor
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.nz.table import C0_BYTES
from tb.isa.profile import current
from tb.isa.spaces import SEGMENTS, SIZES, UB_BLOCK, Space, block_end, segment_base, ub_space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# numpy is imported where it is needed: most programs are checked without it, and its import takes
# longer than to check a program.


class Footprint(NamedTuple):
    """Rows of ``length`` bytes at ``base`` plus the sums of ``counts`` x ``strides``.

    ``counts`` and ``strides`` run from the rows (innermost) to the outermost loop. A tuple, since
    every transaction makes several: a frozen dataclass takes three times as long to make.
    """

    space: Space
    base: int
    length: int
    counts: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows in all iterations."""
        total = 1
        for count in self.counts:
            total *= count
        return total

    @property
    def bytes(self) -> int:
        """Bytes touched when rows do not overlap."""
        return self.rows * self.length

    @property
    def end(self) -> int:
        """First byte address after the footprint."""
        end = self.base + self.length
        for count, stride in zip(self.counts, self.strides, strict=True):
            end += (count - 1) * stride
        return end

    @property
    def outside(self) -> int | None:
        """The end of the memory that the footprint leaves, or None where it stays inside.

        A footprint in fb or l0 stays inside the segment that its first byte lies in.
        """
        segments = SEGMENTS[self.space]
        limit = segments[-1].stop
        if len(segments) > 1:
            limit = next((one.stop for one in segments if self.base in one), 0)
        return limit if self.end > limit else None

    def row_starts(self) -> NDArray[np.int64]:
        """Returns the start address of each row, outermost loop slowest."""
        import numpy as np

        starts = np.array([self.base], dtype=np.int64)
        for count, stride in zip(self.counts, self.strides, strict=True):
            if count != 1:
                steps = np.arange(count, dtype=np.int64) * stride
                starts = (steps[:, None] + starts[None, :]).ravel()
        return starts


def space_of(keyword: str, ub_sub: int = 0) -> Space:
    """Returns the memory of an address space of the PTO text."""
    return ub_space(ub_sub) if keyword == "ub" else Space[keyword.upper()]


def dma_side(desc: DmaOp, side: str, space: Space, length: int) -> Footprint:
    """Returns the rows of side ``loc`` or ``ext``; ``length`` has the unit of the op's ``len``."""
    if side == "loc":
        base, row = desc.loc_addr, desc.loc_stride
        steps = [loop.loc_stride for loop in desc.field_loops]
    else:
        base, row = desc.ext_addr, desc.ext_stride
        steps = [loop.ext_stride for loop in desc.field_loops]
    if desc.spec is MTE_L1_UB:
        length, row = length * UB_BLOCK, (length + row) * UB_BLOCK
    counts = (desc.n_burst, *(loop.count for loop in desc.field_loops))
    return Footprint(space, base, length, counts, (row, *steps))


def _load_rows(desc: DmaOp, space: Space, *, fill: bool) -> Footprint:
    """Returns what a load from GM writes, with or without the bytes behind its rows.

    A compact group is one run of bytes in each loop iteration (spec/dma.md, section 2).
    """
    knobs = current()
    if desc.padded and not desc.compact:
        end = desc.loc_stride
        if knobs.pad_end == "block":
            data = desc.left_bytes + desc.len
            end = block_end(data + desc.right_bytes) if fill else data
        return dma_side(desc, "loc", space, end)
    fill = fill and (desc.padded or knobs.tail == "fill")
    if desc.compact:
        run = desc.n_burst * desc.len
        counts = tuple(loop.count for loop in desc.field_loops)
        steps = tuple(loop.loc_stride for loop in desc.field_loops)
        return Footprint(space, desc.loc_addr, block_end(run) if fill else run, counts, steps)
    return dma_side(desc, "loc", space, block_end(desc.len) if fill else desc.len)


def _burst_side(space: Space, base: int, unit: int, gap: int, desc: BurstOp) -> Footprint:
    stride = (desc.len + gap) * unit
    return Footprint(space, base, desc.len * unit, (desc.n_burst,), (stride,))


def _fix_rows(desc: FixOp, space: Space) -> Footprint:
    """Returns the destination of a write-back in one memory (spec/fixpipe.md, section 2)."""
    m, n = desc.halves
    bits, stride = desc.dst_bits, desc.dst_stride * desc.dst_bits // 8
    if desc.layout == NZ2NZ:
        columns = desc.nz_columns
        length = m * columns * bits // 8
        return Footprint(space, desc.dst_addr, length, (n // columns,), (stride,))
    rows, elements = (n, m) if desc.layout == NZ2DN else (m, n)
    repeat = desc.loop3_dst * bits // 8 if desc.loop3_en else 0
    length = elements * bits // 8
    return Footprint(space, desc.dst_addr, length, (rows, desc.repeats), (stride, repeat))


def parameters(desc: FixOp) -> tuple[Footprint, ...]:
    """Returns the bytes of fb that a write-back reads, pre_quant records first."""
    found = []
    if not desc.is_nop:
        for used, address, size in (
            (desc.vector_quant, desc.quant_addr, QUANT_RECORD),
            (desc.vector_relu, desc.relu_addr, ALPHA_WORD),
        ):
            if used:
                found.append(Footprint(Space.FB, address, size * desc.n, (), ()))
    return tuple(found)


def flag_blocks(desc: FixOp) -> NDArray[np.int64]:
    """Returns the 512-byte blocks of L0C a legal write-back reads from, ascending.

    These are the numbers of the unit flags it waits for or clears (spec/fixpipe.md, section 8);
    none for a NOP.
    """
    import numpy as np

    if desc.is_nop:
        return np.empty(0, dtype=np.int64)
    touched = np.zeros(SIZES[Space.L0C] // FLAG_BLOCK, dtype=np.bool_)
    touched[source(desc).row_starts() // FLAG_BLOCK] = True
    return np.flatnonzero(touched)


def _load_side(desc: L0Load, space: Space, base: int, stride: int) -> Footprint:
    """Returns the fragments of scales that a load reads or writes."""
    length = desc.k_step * SCALE_BYTES
    return Footprint(space, base, length, (desc.m_step,), (stride * SCALE_BYTES,))


def _load_source(desc: L0Load) -> Footprint:
    if desc.spec.scales:
        first = desc.m_start * desc.src_stride + desc.k_start
        base = desc.src_addr + first * SCALE_BYTES
        return _load_side(desc, Space.L1, base, desc.src_stride)
    first = desc.k_start * desc.src_stride + desc.m_start
    counts = (desc.m_step, desc.k_step)
    strides = (FRACTAL_BYTES, desc.src_stride * FRACTAL_BYTES)
    base = desc.src_addr + first * FRACTAL_BYTES
    return Footprint(Space.L1, base, FRACTAL_BYTES, counts, strides)


def _load_destination(desc: L0Load) -> Footprint:
    base = segment_base(desc.spec.memory)
    if desc.spec.scales:
        return _load_side(desc, Space.L0, base + desc.scale_addr, desc.dst_stride)
    strides = (FRACTAL_BYTES, desc.dst_stride * FRACTAL_BYTES)
    return Footprint(Space.L0, base + desc.dst_addr, FRACTAL_BYTES, desc.moved, strides)


def source(desc: Descriptor) -> Footprint:
    """Returns the bytes a legal op reads; of a write-back the words with accumulators in them.

    A fill reads none: its rows are none and have no bytes.
    """
    if isinstance(desc, FixOp):
        counts = (desc.m, desc.groups, desc.repeats)
        steps = (desc.row_step, desc.src_stride, desc.loop3_src if desc.loop3_en else 0)
        strides = tuple(L0C_WORD * step for step in steps)
        return Footprint(Space.L0C, desc.src_addr, L0C_WORD, counts, strides)
    if isinstance(desc, MteGmL1Frac):
        rows, length = desc.source_rows
        strides = (desc.inner_stride, desc.outer_stride)
        return Footprint(Space.GM, desc.ext_addr, length, (rows, desc.group_count), strides)
    if isinstance(desc, L0Load):
        return _load_source(desc)
    if isinstance(desc, RawFillL1):
        return Footprint(Space.L1, desc.first, 0, (0,), (0,))
    space = space_of(desc.spec.source, desc.ub_sub)
    if isinstance(desc, BurstOp):
        return _burst_side(space, desc.src_addr, desc.units[0], desc.src_gap, desc)
    assert isinstance(desc, DmaOp)
    return dma_side(desc, SOURCE_SIDE[desc.spec.name], space, desc.len)


def destination(desc: Descriptor) -> Footprint:
    """Returns the bytes a legal op writes.

    Pad and fill bytes behind the rows of a load are among them (knobs ``pad_end`` and ``tail``), of
    an NZ repack the zero fill (spec/nd2nz.md, sections 3 and 4). Of a write-back that is split over
    both sub-blocks it is the part in sub-block 0: see :func:`destinations`.
    """
    if isinstance(desc, FixOp):
        return destinations(desc)[0]
    if isinstance(desc, MteGmL1Frac):
        groups, step = desc.group_count, desc.dst_loop4 * C0_BYTES
        if desc.small_c0:
            return Footprint(Space.L1, desc.loc_addr, desc.small_bytes, (groups,), (step,))
        counts = (desc.n_value, desc.columns, groups)
        strides = (desc.dst_loop2 * C0_BYTES, desc.dst_loop3 * C0_BYTES, step)
        return Footprint(Space.L1, desc.loc_addr, C0_BYTES, counts, strides)
    if isinstance(desc, L0Load):
        return _load_destination(desc)
    if isinstance(desc, RawFillL1):
        step = (desc.len + desc.dst_gap) * UB_BLOCK
        return Footprint(Space.L1, desc.first, desc.len * UB_BLOCK, (desc.n_burst,), (step,))
    space = space_of(desc.spec.destination, desc.ub_sub)
    if isinstance(desc, BurstOp):
        return _burst_side(space, desc.dst_addr, desc.units[1], desc.dst_gap, desc)
    assert isinstance(desc, DmaOp)
    if SOURCE_SIDE[desc.spec.name] == "loc":
        return dma_side(desc, "ext", space, desc.len)
    if desc.spec is MTE_L1_UB:
        return dma_side(desc, "loc", space, desc.len)
    return _load_rows(desc, space, fill=True)


def without_fill(desc: Descriptor) -> Footprint:
    """Returns :func:`destination` of a strided op without the bytes that a knob fills behind rows.

    Padding up to the row stride belongs to the row (knob ``pad_end`` stride).
    """
    if isinstance(desc, DmaOp) and desc.spec.source == "gm":
        return _load_rows(desc, space_of(desc.spec.destination, desc.ub_sub), fill=False)
    return destination(desc)


def destinations(desc: Descriptor) -> tuple[Footprint, ...]:
    """Returns the bytes a legal op writes, one footprint per memory."""
    if not isinstance(desc, FixOp):
        return (destination(desc),)
    if desc.spec.destination != "ub":
        return (_fix_rows(desc, space_of(desc.spec.destination)),)
    if desc.ub_mode == UB_WHOLE:
        # An engine retires an op with an illegal id: either sub-block will do here.
        return (_fix_rows(desc, ub_space(desc.ub_sub & 1)),)
    return tuple(_fix_rows(desc, ub_space(number)) for number in (0, 1))


def row_overlap(footprint: Footprint) -> bool:
    """Tells whether two rows of one footprint share a byte."""
    nested = _nested(footprint)
    if nested is not None:
        return not nested
    import numpy as np

    starts = np.sort(footprint.row_starts())
    return bool((np.diff(starts) < footprint.length).any())


def _nested(footprint: Footprint) -> bool | None:
    """Tells whether every loop steps over all that the loops inside it touch.

    Then no two rows share a byte. None where this does not decide: a loop steps into the gaps of
    another one.
    """
    if footprint.rows < 2:
        return True
    extent, smallest = footprint.length, True
    for stride, count in sorted(zip(footprint.strides, footprint.counts, strict=True)):
        if count < 2:
            continue
        if stride < extent:
            return False if smallest and extent else None
        extent, smallest = extent + stride * (count - 1), False
    return True


def footprints_overlap(one: Footprint, other: Footprint) -> bool:
    """Tells whether two footprints share a byte."""
    if one.space is not other.space or one.end <= other.base or other.end <= one.base:
        return False
    if one.rows == 1 == other.rows:
        return bool(one.length and other.length)
    import numpy as np

    starts = np.concatenate((one.row_starts(), other.row_starts()))
    ends = starts + np.concatenate(
        (np.full(one.rows, one.length), np.full(other.rows, other.length))
    )
    owner = np.concatenate((np.zeros(one.rows, bool), np.ones(other.rows, bool)))
    order = np.argsort(starts, kind="stable")
    ends, owner, starts = ends[order], owner[order], starts[order]
    for mine in (False, True):
        reach = np.maximum.accumulate(np.where(owner == mine, ends, 0))
        if ((owner[1:] != mine) & (reach[:-1] > starts[1:])).any():
            return True
    return False
