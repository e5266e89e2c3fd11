# SPDX-License-Identifier: Apache-2.0
"""Expected outcome of one op: its status and the bytes it moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tb.isa.status import Status

Memory = NDArray[np.uint8]
"""One memory, ``uint8[capacity]``, byte address = index."""


@dataclass(frozen=True, slots=True)
class PadPattern:
    """The pad element of a row: address ``a`` gets byte ``a mod size`` of ``value`` (A-07)."""

    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A destination byte in terms of its op.

    Attributes:
        label: Group, C0 column and lane of an NZ repack, slot of a bias load, and the like.
        source: Address, in the space the op reads, of the byte or element it is made from; None
            for a byte that is made from none.
        values: How the value was computed, a line per element with a part in the byte; empty where
            bytes are only moved.
    """

    label: str
    source: int | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlagUse:
    """Use of unit flags by an op (docs/spec/fixpipe.md, section 8).

    Attributes:
        blocks: ``int64[k]`` numbers of the 512-byte L0C blocks it reads, ascending.
        clears: It clears their flags when it retires, else it only waits for them.
    """

    blocks: NDArray[np.int64]
    clears: bool


class Transfer(Protocol):
    """The data movement of an op that is not a plain move of rows, and the meaning of its bytes."""

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Moves every byte of the op.

        Returns:
            Events seen in the data (:mod:`tb.isa.events`), or 0.
        """

    def explain(self, index: tuple[int, ...], byte: int | None, region: int = 0) -> Explanation:
        """Describes a byte of the destination.

        Args:
            index: Loop indices of a row of a written region, outermost first, the row last.
            byte: Offset in that row; None for the row as a whole.
            region: Number of the region in ``Outcome.regions``.
        """


class Outcome(NamedTuple):
    """Effect of an op on the memories, and its status; a tuple, since every op makes one.

    Attributes:
        status: ``OK`` or ``RULE``.
        rule: n of the lowest violated rule of the op's family, 0 when legal.
        read: Source bytes; None for a NOP, a ``set_*`` op and an illegal op.
        written: Destination bytes, whole row strides when rows are padded (A-05), zero fill of an
            NZ repack among them; None as above. Without a ``transfer`` counts and strides are
            those of ``read``: rows first, outermost loop last.
        left: Pad bytes before the data of each written row; the data has ``read.length`` bytes.
        pad: Pad element, or None when rows are not padded.
        transfer: Moves the bytes of an op that is not a plain move of rows, else None.
        events: Events of the data (:mod:`tb.isa.events`); known once the op was applied.
        also_read: Regions read in addition to ``read``: parameters in FB, GM data of an atomic
            update. With a GM region the read comes before any write to it.
        also_written: Regions written after ``written``: the half of a split tile in the other
            UB sub-block. Of the same geometry as ``written``.
        flags: Unit flags the op waits for and clears, or None when it does not check them.
        place: Names a byte of a plain move by loop indices of its row, the row last, and its offset
            in the row; None for moves of loops and rows.
    """

    status: Status
    rule: int = 0
    read: Footprint | None = None
    written: Footprint | None = None
    left: int = 0
    pad: PadPattern | None = None
    transfer: Transfer | None = None
    events: int = 0
    also_read: tuple[Footprint, ...] = ()
    also_written: tuple[Footprint, ...] = ()
    flags: FlagUse | None = None
    place: Callable[[tuple[int, ...], int], str] | None = None

    @property
    def reads(self) -> tuple[Footprint, ...]:
        """Every region read; ``read`` is the first."""
        return () if self.read is None else (self.read, *self.also_read)

    @property
    def regions(self) -> tuple[Footprint, ...]:
        """Every region written; ``written`` is the first."""
        return () if self.written is None else (self.written, *self.also_written)

    @property
    def bytes_read(self) -> int:
        """Bytes read, counted once per row that reads them."""
        return sum([region.bytes for region in self.reads])

    @property
    def bytes_written(self) -> int:
        """Bytes written, pads and zero fill included."""
        if self.written is None:
            return 0
        return self.written.bytes + sum([region.bytes for region in self.also_written])


NOTHING = Outcome(Status.OK)
"""Outcome of a NOP (A-03) and of a ``set_*`` op that took effect."""
