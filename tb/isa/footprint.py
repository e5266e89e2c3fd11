# SPDX-License-Identifier: Apache-2.0
"""Bytes that an op touches, as strided regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tb.isa.fix.op import FixOp
from tb.isa.fix.table import ALPHA_WORD, FLAG_BLOCK, QUANT_RECORD, UB_WHOLE
from tb.isa.nest import NESTS, Rows, strided_written
from tb.isa.op import Op
from tb.isa.spaces import SEGMENTS, SIZES, Space, ub_space

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

    These are the numbers of the unit flags it waits for or clears (docs/spec/fixpipe.md, section
    8); none for a NOP.
    """
    import numpy as np

    if desc.is_nop:
        return np.empty(0, dtype=np.int64)
    touched = np.zeros(SIZES[Space.L0C] // FLAG_BLOCK, dtype=np.bool_)
    touched[source(desc).row_starts() // FLAG_BLOCK] = True
    return np.flatnonzero(touched)


def _footprint(desc: Op, keyword: str, rows: Rows) -> Footprint:
    sub = desc.values["ub_sub"] if keyword == "ub" else 0
    return Footprint(space_of(keyword, sub), *rows)


def source(desc: Op) -> Footprint:
    """Returns the bytes a legal op reads; of a write-back the words with accumulators in them.

    A fill reads none: its rows are none and have no bytes.
    """
    return _footprint(desc, desc.spec.source or "l1", NESTS[desc.family].read(desc))


def destination(desc: Op) -> Footprint:
    """Returns the bytes a legal op writes.

    Pad and fill bytes after the rows of a load are among them (knobs ``pad_end`` and ``tail``), of
    an NZ repack the zero fill (docs/spec/nd2nz.md, sections 3 and 4). Of a write-back that is split
    over both sub-blocks it is the part in sub-block 0: see :func:`destinations`.
    """
    if isinstance(desc, FixOp) and desc.spec.destination == "ub":
        # An engine retires an op with an illegal id: either sub-block will do here.
        sub = desc.ub_sub & 1 if desc.ub_mode == UB_WHOLE else 0
        return Footprint(ub_space(sub), *NESTS["fix"].written(desc))
    keyword = "l0" if desc.family == "l0" else desc.spec.destination
    return _footprint(desc, keyword, NESTS[desc.family].written(desc))


def without_fill(desc: Op) -> Footprint:
    """Returns :func:`destination` of a strided op without what a knob fills after its rows."""
    return _footprint(desc, desc.spec.destination, strided_written(desc, fill=False))


def destinations(desc: Op) -> tuple[Footprint, ...]:
    """Returns the bytes a legal op writes, one footprint per memory."""
    first = destination(desc)
    if not isinstance(desc, FixOp) or desc.ub_mode == UB_WHOLE or desc.spec.destination != "ub":
        return (first,)
    return first, first._replace(space=ub_space(1))


def row_overlap(footprint: Footprint) -> bool:
    """Returns whether two rows of one footprint share a byte."""
    nested = _nested(footprint)
    if nested is not None:
        return not nested
    import numpy as np

    starts = np.sort(footprint.row_starts())
    return bool((np.diff(starts) < footprint.length).any())


def _nested(footprint: Footprint) -> bool | None:
    """Returns whether every loop steps over all that the loops inside it touch.

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
    """Returns whether two footprints share a byte."""
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
