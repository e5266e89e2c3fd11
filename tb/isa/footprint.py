# SPDX-License-Identifier: Apache-2.0
"""Which bytes an op touches, as strided regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.isa.dma import DmaDescriptor
from tb.isa.dma_table import MTE_GM_UB
from tb.isa.spaces import Space, ub_space


@dataclass(frozen=True, slots=True)
class Footprint:
    """Rows of ``length`` bytes at ``base`` plus the sums of ``counts`` x ``strides``.

    ``counts`` and ``strides`` run from the rows (innermost) to the outermost loop.
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
        """First byte address behind the footprint."""
        spread = zip(self.counts, self.strides, strict=True)
        return self.base + sum((n - 1) * stride for n, stride in spread) + self.length

    def row_starts(self) -> NDArray[np.int64]:
        """Returns the start address of each row, outermost loop slowest."""
        starts = np.array([self.base], dtype=np.int64)
        for count, stride in zip(self.counts, self.strides, strict=True):
            steps = np.arange(count, dtype=np.int64) * stride
            starts = (steps[:, None] + starts[None, :]).ravel()
        return starts


def _local(desc: DmaDescriptor, length: int) -> Footprint:
    return Footprint(
        ub_space(desc.ub_sub),
        desc.loc_addr,
        length,
        (desc.n_burst, *(loop.count for loop in desc.loops)),
        (desc.loc_stride, *(loop.loc_stride for loop in desc.loops)),
    )


def _gm(desc: DmaDescriptor) -> Footprint:
    return Footprint(
        Space.GM,
        desc.ext_addr,
        desc.len,
        (desc.n_burst, *(loop.count for loop in desc.loops)),
        (desc.ext_stride, *(loop.ext_stride for loop in desc.loops)),
    )


def source(desc: DmaDescriptor) -> Footprint:
    """Returns the bytes a legal op reads."""
    return _gm(desc) if desc.spec is MTE_GM_UB else _local(desc, desc.len)


def destination(desc: DmaDescriptor) -> Footprint:
    """Returns the bytes a legal op writes: with padding, whole row strides (A-05)."""
    if desc.spec is not MTE_GM_UB:
        return _gm(desc)
    return _local(desc, desc.loc_stride if desc.pad_en else desc.len)


def row_overlap(footprint: Footprint) -> bool:
    """Tells whether two rows of one footprint share a byte."""
    if footprint.rows < 2:
        return False
    starts = np.sort(footprint.row_starts())
    return bool((np.diff(starts) < footprint.length).any())


def footprints_overlap(one: Footprint, other: Footprint) -> bool:
    """Tells whether two footprints share a byte."""
    if one.space is not other.space or one.end <= other.base or other.end <= one.base:
        return False
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
