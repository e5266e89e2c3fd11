# SPDX-License-Identifier: Apache-2.0
"""Injected memory errors and the done records that they require (docs/contract.md).

A :class:`Fault` selects accesses that fail. The hit log of the harness has those that did fail:
each erroneous response as the engine saw it. :class:`Attribution` finds the op that made the
access, and :class:`OpErrors` decides whether that op may retire as it did: with the status and
address of its first error. The bytes of its destination are then undefined, and no other byte may
change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.mismatch import Objection
from scoreboards.model.outcome import Outcome
from tb.harness.layout import GRACE, READ, WRITE
from tb.isa.footprint import Footprint
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space, located
from tb.isa.status import Status

FAULT_BYTES = 32
"""Alignment and granularity of a fault's window, in bytes."""

BURST_BYTES = 4096
"""A write response belongs to a burst, and a burst stays inside 4 KiB."""

SLACK = 4
"""Clocks within which an engine may take errors of two channels in either order."""

READS, WRITES = 1 << READ, 1 << WRITE
"""Sides of a fault."""

ALL_SLOTS = (1 << len(SLOTS)) - 1
NEVER = (1 << 64) - 1
"""Cycle of retirement of an op that did not retire."""

ERRORS = (
    Status.RD_SLVERR,
    Status.RD_DECERR,
    Status.WR_SLVERR,
    Status.WR_DECERR,
    Status.LOCAL,
)
"""Statuses of an op that met an error."""


class FaultKind(IntEnum):
    """Kind of error response: AXI SLVERR or DECERR, or the error line of a local port."""

    SLVERR = 0
    DECERR = 1
    LOCAL = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """Accesses that fail: words of the bus that touch a window of a memory.

    Attributes:
        space: The memory.
        address: First byte of the window; the window is grown to whole granules of 32 bytes.
        kind: Kind of error response.
        length: Bytes of the window.
        sides: ``READS``, ``WRITES`` or both.
        nth: Only the n-th word that touches the window fails; 0 is every one.
        slots: A bit for each slot that it applies to.
    """

    space: Space
    address: int
    kind: FaultKind
    length: int = 1
    sides: int = READS | WRITES
    nth: int = 0
    slots: int = ALL_SLOTS

    @property
    def start(self) -> int:
        """First byte of the first granule."""
        return self.address & ~(FAULT_BYTES - 1)

    @property
    def size(self) -> int:
        """Bytes of the granules."""
        return -(-(self.address + self.length - self.start) // FAULT_BYTES) * FAULT_BYTES


def fault_of(words: Mapping[str, Any]) -> Fault:
    """Returns the fault of keyword arguments; memory and kind are numbers."""
    found: dict[str, Any] = {"space": Space(words["space"]), "kind": FaultKind(words["kind"])}
    return Fault(**{**words, **found})


@dataclass(frozen=True, slots=True)
class BadAccess:
    """An erroneous response, as the engine saw it.

    Attributes:
        cycle: Clock of its handshake.
        slot: Slot that made the access.
        space, address: The word of the bus.
        side: ``READ`` or ``WRITE``.
        kind: The error.
        bus_bytes: Bytes of a word there.
        fault: Index of the fault, or ``NO_FAULT``.
    """

    cycle: int
    slot: int
    space: Space
    address: int
    side: int
    kind: FaultKind
    bus_bytes: int
    fault: int = 0

    @property
    def status(self) -> Status:
        """Status of an op that meets this error first."""
        if self.kind is FaultKind.LOCAL:
            return Status.LOCAL
        read = Status.RD_SLVERR if self.kind is FaultKind.SLVERR else Status.RD_DECERR
        return read if self.side == READ else Status(read + 2)

    def explains(self, reported: int) -> bool:
        """Returns whether ``done_addr_o`` may be ``reported``.

        A read or local error is known by its bus word, a write error by its burst.
        """
        if self.space is Space.GM and self.side == WRITE:
            return reported // BURST_BYTES == self.address // BURST_BYTES
        return self.address <= reported < self.address + self.bus_bytes

    def __str__(self) -> str:
        what = "read" if self.side == READ else "write"
        name, address = located(self.space, self.address)
        return (
            f"its {what} of {name.upper()} {address:#x} was answered with "
            f"{self.kind.name if self.space is Space.GM else 'an error'} in cycle {self.cycle}"
        )


@dataclass(slots=True)
class OpErrors:
    """The errors of one op.

    Attributes:
        sure: Errors of accesses that no other op can have made, in order of time.
        maybe: Errors that may be another op's.
    """

    sure: list[BadAccess] = field(default_factory=list)
    maybe: list[BadAccess] = field(default_factory=list)

    def first(self) -> list[BadAccess]:
        """Returns the errors that may be the first: none of the sure ones came before it."""
        return [error for error in (*self.sure, *self.maybe) if not self._late(error)]

    def _late(self, error: BadAccess) -> bool:
        for other in self.sure:
            same = (other.side, other.space) == (error.side, error.space)
            if other.cycle < error.cycle - (0 if same else SLACK):
                return True
        return False

    def failed(self, status: int) -> bool:
        """Returns whether the op met an error, given the status it retired with."""
        return bool(self.sure) or (status in ERRORS and bool(self.maybe))

    def objection(
        self, status: int, address: int, *, compare_address: bool = True, rule: str = ""
    ) -> Objection | None:
        """Returns what is wrong with the done record of an op that met an error, if anything.

        ``rule`` describes the rule that the engine reported, if any.
        """
        first = self.first()
        wanted = list(dict.fromkeys(error.status for error in first))
        same = [error for error in first if error.status == status]
        if not same:
            return wrong_status(status, wanted, f": {first[0]}", rule)
        if compare_address and not any(error.explains(address) for error in same):
            why = f"reported address {address:#x} for its first error: {same[0]}"
            return Objection("address", why, " or ".join(one.name for one in wanted))
        return None


def wrong_status(got: int, wanted: Sequence[Status], why: str = "", rule: str = "") -> Objection:
    """Returns the problem with a status other than those ``wanted``, with the reason for these.

    ``rule`` describes the rule that came with it, if any.
    """
    numbered = " or ".join(status_text(int(one)) for one in wanted)
    reported = ", ".join(filter(None, (status_text(got), rule)))
    text = f"retired with status {reported}, expected {numbered}{why}"
    names = " or ".join(one.name for one in wanted)
    return Objection("status", text, f"{status_text(got).partition(' ')[2]} not {names}")


def status_text(code: int) -> str:
    """Returns a status as number and name."""
    known = code in Status._value2member_map_
    return f"{code} {Status(code).name if known else f'UNKNOWN_{code}'}"


@dataclass(frozen=True, slots=True)
class Flight:
    """An op on its slot.

    Attributes:
        index: Its place in the block.
        outcome: What it does when nothing fails.
        accept, done: Clocks of its handshakes; ``NEVER`` if a reset cut them off.
        status: Status of its done record, None if a reset cut it off.
    """

    index: int
    outcome: Outcome
    accept: int
    done: int
    status: int | None


@dataclass(frozen=True)
class Widths:
    """Bytes of the words in which a slot accesses memories.

    Attributes:
        lanes: Bytes of a word by memory.
        read: Bytes of an on-chip word that is read, where it is another than in ``lanes``.
        fetch: Aligned bytes that the engine reads whole, where it is more than a word.
    """

    lanes: Mapping[Space, int]
    read: int = 0
    fetch: int = 0

    def of(self, space: Space, side: int) -> int:
        """Returns the bytes of a word."""
        wide = self.read and side == READ and space is not Space.GM
        return self.read if wide else self.lanes[space]

    def word(self, space: Space, side: int) -> int:
        """Returns the aligned bytes of which an access may touch each for a byte of a row."""
        return max(self.fetch if side == READ else 0, self.of(space, side))


def accesses(hits: NDArray[Any], slot: int, widths: Widths) -> list[BadAccess]:
    """Returns the erroneous responses of one slot out of the hit log (``HIT[n]``), by time.

    The beats of a write burst share a response and so a cycle: which of their errors it carries is
    the memory's choice.
    """
    mine = hits[hits["slot"] == slot]
    found = []
    for entry in mine[np.argsort(mine["cycle"], kind="stable")]:
        space, side = Space(int(entry["space"])), int(entry["side"])
        found.append(
            BadAccess(
                int(entry["cycle"]),
                slot,
                space,
                int(entry["addr"]),
                side,
                FaultKind(int(entry["kind"])),
                widths.of(space, side),
                int(entry["fault"]),
            )
        )
    return found


class Coverage:
    """The words of a memory that hold the rows of some regions."""

    def __init__(self, regions: Sequence[Footprint], width: int) -> None:
        lows, highs = [], []
        for region in regions:
            starts = region.row_starts()
            lows.append(starts // width * width)
            highs.append(-(-(starts + region.length) // width) * width)
        low = np.concatenate(lows) if lows else np.zeros(0, dtype=np.int64)
        high = np.concatenate(highs) if highs else low
        order = np.argsort(low, kind="stable")
        self._low = low[order]
        self._reach = np.maximum.accumulate(high[order]) if len(low) else high

    def holds(self, start: int, stop: int) -> bool:
        """Returns whether a row has a word in ``start .. stop - 1``."""
        before = int(np.searchsorted(self._low, stop, side="left"))
        return before > 0 and int(self._reach[before - 1]) > start


class Attribution:
    """Attribution of failed accesses on one slot during a batch.

    Args:
        flights: The ops of the slot that may have been in flight, in order.
        widths: Widths of its words.

    Attributes:
        errors: Place of an op in the block to its errors; ops without one are left out.
        strays: Errors of accesses that no op in flight makes.
    """

    def __init__(self, flights: Sequence[Flight], widths: Widths) -> None:
        self.errors: dict[int, OpErrors] = {}
        self.strays: list[BadAccess] = []
        self._flights = flights
        self._widths = widths
        self._covers: dict[tuple[int, Space, int], Coverage] = {}

    def take(self, errors: Sequence[BadAccess]) -> None:
        """Gives each error, in order of time, to the op that made the access, or may have."""
        shared: list[tuple[BadAccess, list[Flight]]] = []
        for error in errors:
            owners = self.owners(
                error.space, error.side, error.cycle, error.address, error.bus_bytes
            )
            if not owners:
                self.strays.append(error)
            elif len(owners) == 1:
                self._errors_of(owners[0]).sure.append(error)
            else:
                shared.append((error, owners))
        for error, owners in shared:
            # One of them made it. If none reports it, the status of the oldest is checked.
            if any(one.status is None or one.status in ERRORS for one in owners):
                for one in owners:
                    self._errors_of(one).maybe.append(error)
            else:
                self._errors_of(owners[0]).sure.append(error)
        for found in self.errors.values():
            found.sure.sort(key=lambda error: error.cycle)

    def owners(
        self, space: Space, side: int, cycle: int, address: int, length: int
    ) -> list[Flight]:
        """Returns the ops in flight in a cycle that access a word of a range, the oldest first."""
        return [
            flight
            for flight in self._flights
            if flight.accept <= cycle <= flight.done
            and self._cover(flight, space, side).holds(address, address + length)
        ]

    def _errors_of(self, flight: Flight) -> OpErrors:
        return self.errors.setdefault(flight.index, OpErrors())

    def _cover(self, flight: Flight, space: Space, side: int) -> Coverage:
        key = (flight.index, space, side)
        found = self._covers.get(key)
        if found is None:
            outcome = flight.outcome
            regions = outcome.reads if side == READ else outcome.regions
            mine = [region for region in regions if region.space is space]
            found = self._covers[key] = Coverage(mine, self._widths.word(space, side))
        return found

    def late_bursts(self, late: NDArray[Any]) -> list[tuple[int, str]]:
        """Returns ops that started a burst after their error, each with a sentence.

        Args:
            late: Bursts of this slot (``LATE_BURST[n]``). One inside what another op in flight
                accesses, which had no error before, may be that op's.
        """
        found = []
        bus = self._widths.lanes[Space.GM]
        for entry in late:
            side, cycle = int(entry["side"]), int(entry["cycle"])
            address, length = int(entry["addr"]), int(entry["beats"]) * bus
            owners = self.owners(Space.GM, side, cycle, address, length)
            errors = [self._first_error(one.index) for one in owners]
            if owners and all(error + GRACE < cycle for error in errors):
                channel = "AR" if side == READ else "AW"
                found.append(
                    (
                        owners[0].index,
                        f"started a burst after its error: {channel} of GM {address:#x} came "
                        f"{cycle - errors[0]} clocks later",
                    )
                )
        return found

    def _first_error(self, index: int) -> int:
        found = self.errors.get(index)
        return found.sure[0].cycle if found is not None and found.sure else NEVER
