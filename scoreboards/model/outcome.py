# SPDX-License-Identifier: Apache-2.0
"""What the reference model says of one op: how it retires and which bytes it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tb.isa.status import Status

Memory = NDArray[np.uint8]
"""One memory, ``uint8[capacity]``, byte address = index."""


@dataclass(frozen=True, slots=True)
class PadPattern:
    """The pad element of a row: byte ``a mod size`` of ``value`` stands at address ``a`` (A-07)."""

    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a destination byte is in the words of its op.

    Attributes:
        label: Group, C0 column and lane of an NZ repack, slot of a bias load, and the like.
        source: Address, in the space the op reads, of the byte or element it is made from; None
            for a byte that is made from none.
    """

    label: str
    source: int | None = None


class Transfer(Protocol):
    """How an op that is no plain move of rows moves its bytes, and what they mean."""

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Moves every byte of the op.

        Returns:
            Events seen in the data (:mod:`tb.isa.events`), or 0.
        """

    def explain(self, index: tuple[int, ...], byte: int | None) -> Explanation:
        """Says what a byte of the destination is.

        Args:
            index: Loop indices of a row of ``Outcome.written``, outermost first, the row last.
            byte: Offset in that row; None for the row as a whole.
        """


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an op does to the memories, and how it retires.

    Attributes:
        status: ``OK`` or ``RULE``.
        rule: n of the lowest violated rule of the op's family, 0 when legal.
        read: Source bytes; None for a NOP, a ``set_*`` op and an illegal op.
        written: Destination bytes, whole row strides when rows are padded (A-05), zero fill of an
            NZ repack among them; None as above. Without a ``transfer`` counts and strides are
            those of ``read``: rows first, outermost loop last.
        left: Pad bytes before the data of each written row; the data has ``read.length`` bytes.
        pad: Pad element, or None when rows are not padded.
        transfer: Moves the bytes of an op that is no plain move of rows, else None.
        events: What the data held (:mod:`tb.isa.events`); known once the op was applied.
    """

    status: Status
    rule: int = 0
    read: Footprint | None = None
    written: Footprint | None = None
    left: int = 0
    pad: PadPattern | None = None
    transfer: Transfer | None = None
    events: int = 0

    @property
    def bytes_read(self) -> int:
        """Bytes read, counted once per row that reads them."""
        return 0 if self.read is None else self.read.bytes

    @property
    def bytes_written(self) -> int:
        """Bytes written, pads and zero fill included."""
        return 0 if self.written is None else self.written.bytes


NOTHING = Outcome(Status.OK)
"""Outcome of a NOP (A-03) and of a ``set_*`` op that took effect."""
