# SPDX-License-Identifier: Apache-2.0
"""What the reference model says of one op: how it retires and which bytes it moves."""

from __future__ import annotations

from dataclasses import dataclass

from tb.isa.footprint import Footprint
from tb.isa.status import Status


@dataclass(frozen=True, slots=True)
class PadPattern:
    """The pad element of a row: byte ``a mod size`` of ``value`` stands at address ``a`` (A-07)."""

    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an op does to the memories, and how it retires.

    Attributes:
        status: ``OK`` or ``RULE``.
        rule: n of the lowest violated rule DMA-Ln, 0 when legal.
        read: Source bytes; None for a NOP, a ``set_*`` op and an illegal op.
        written: Destination bytes, whole row strides when rows are padded (A-05); None as above.
            Counts and strides are those of ``read``: rows first, outermost loop last.
        left: Pad bytes before the data of each written row; the data has ``read.length`` bytes.
        pad: Pad element, or None when rows are not padded.
    """

    status: Status
    rule: int = 0
    read: Footprint | None = None
    written: Footprint | None = None
    left: int = 0
    pad: PadPattern | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read, counted once per row that reads them."""
        return 0 if self.read is None else self.read.bytes

    @property
    def bytes_written(self) -> int:
        """Bytes written, pads included."""
        return 0 if self.written is None else self.written.bytes


NOTHING = Outcome(Status.OK)
"""Outcome of a NOP (A-03) and of a ``set_*`` op that took effect."""
