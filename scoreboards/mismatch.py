# SPDX-License-Identifier: Apache-2.0
"""Results of failed checks: a sentence, or wrong bytes with their place and role in the op."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tb.isa.spaces import Space


@dataclass(frozen=True, slots=True)
class Objection:
    """A problem with an op or a batch.

    Attributes:
        kind, field: As in :class:`tb.record.record.Failure`.
        text: A sentence for the report.
    """

    kind: str
    text: str
    field: str = ""


class Kind(Enum):
    """Kind of wrong bytes."""

    DATA = "data"
    """A byte the op writes."""

    GUARD = "guard"
    """A byte near the op's destination that the op does not write."""

    STRAY = "stray"
    """A byte found by a full compare, attributed to no op."""

    PAGE = "page"
    """A GM page that was written although the model wrote none of it."""


class Part(Enum):
    """Position of a byte relative to a row."""

    LEFT_PAD = "left pad"
    DATA = "data"
    RIGHT_PAD = "right pad"
    ZERO_FILL = "zero fill"
    BEFORE = "before the row"
    BEHIND = "behind the row"


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a destination byte in its op.

    Attributes:
        loops: Loop indices, outermost first; empty for an op without loops.
        counts: The loop counts, in the same order.
        row: Row (burst) in its iteration.
        rows: Rows in an iteration.
        byte: Offset from the first byte of the row; negative before it, the row length or more
            after it.
        row_bytes: Bytes the op writes in a row, pads included.
        part: Which part of the row it is.
        source: For a data byte the memory and address it comes from, else None.
        label: The byte in terms of an op that is not a plain move of rows, such as group, C0
            column and lane; of a byte outside the row, the row's name. Empty for a move of rows.
        values: How each value in the byte was computed, a line each; empty where bytes are moved.
    """

    loops: tuple[int, ...]
    counts: tuple[int, ...]
    row: int
    rows: int
    byte: int
    row_bytes: int
    part: Part
    source: tuple[Space, int] | None = None
    label: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Wrong bytes of one kind in one memory.

    Attributes:
        kind: Kind of the mismatch.
        space: The memory.
        address: The lowest wrong address; of an unexpected page with correct bytes,
            its first address.
        count: Wrong bytes.
        extent: Bytes from the first to the last wrong one; of unexpected pages, their bytes.
        window: Address of the first byte of ``expected`` and ``actual``.
        expected: Bytes of the golden memory around ``address``.
        actual: The same bytes of the memory under test.
        lane: Byte lane of ``address`` on the bus, ``address mod bus_bytes``.
        bus_bytes: Bus width in bytes.
        position: Position of ``address`` in the op; None when no op is known.
    """

    kind: Kind
    space: Space
    address: int
    count: int
    extent: int
    window: int
    expected: bytes
    actual: bytes
    lane: int
    bus_bytes: int
    position: Position | None = None

    @property
    def end(self) -> int:
        """Address after the extent."""
        return self.address + self.extent
