# SPDX-License-Identifier: Apache-2.0
"""What an injected memory error must look like from the done channel (docs/contract.md).

An op that meets the error retires with one error status and the address of the bad access; the
bytes of its destination are then undefined, and no other byte may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from scoreboards.model.outcome import Outcome
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space
from tb.isa.status import Status

FAULT_BYTES = 32
"""Bytes of the granule that a fault covers."""

BURST_BYTES = 4096
"""A write response belongs to a burst, and a burst stays inside 4 KiB."""


class FaultKind(IntEnum):
    """How the memory answers: AXI SLVERR or DECERR, or the error line of a local port."""

    SLVERR = 0
    DECERR = 1
    LOCAL = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """An error at the 32-byte granule that holds ``address``."""

    space: Space
    address: int
    kind: FaultKind

    @property
    def granule(self) -> int:
        """First byte of the granule."""
        return self.address & ~(FAULT_BYTES - 1)


@dataclass(frozen=True, slots=True)
class Prediction:
    """How an op that meets a fault must retire."""

    status: Status
    address: int
    bus_bytes: int

    def explains(self, reported: int) -> bool:
        """Tells whether ``done_addr_o`` may be ``reported``.

        A read or local error is known by its bus word, a write error by its burst.
        """
        if self.status in (Status.WR_SLVERR, Status.WR_DECERR):
            return reported // BURST_BYTES == self.address // BURST_BYTES
        low = self.address & ~(self.bus_bytes - 1)
        return low <= reported < max(low + self.bus_bytes, self.address + FAULT_BYTES)


def predict(
    outcome: Outcome, fault: Fault, lanes: Mapping[Space, int], *, read_bytes: int | None = None
) -> Prediction | None:
    """Returns how an op must retire under ``fault``, or None when it does not meet it.

    Args:
        outcome: What the op does without the fault.
        fault: The fault.
        lanes: Bus width in bytes of each space: whole words are read, so a fault beside a row
            but inside its first or last word counts.
        read_bytes: Width of the ports the op reads local memories on where it is not that of
            ``lanes``.

    An atomic update reads GM before it writes it: a fault there is a read error.
    """
    local = read_bytes or lanes[fault.space]
    for regions, local_bytes, gm_statuses in (
        (outcome.reads, local, (Status.RD_SLVERR, Status.RD_DECERR)),
        (outcome.regions, lanes[fault.space], (Status.WR_SLVERR, Status.WR_DECERR)),
    ):
        in_gm = fault.space is Space.GM
        width = lanes[Space.GM] if in_gm else local_bytes
        for region in regions:
            if region.space is fault.space and _meets(region, fault.granule, width):
                status = gm_statuses[fault.kind] if in_gm else Status.LOCAL
                return Prediction(status, fault.granule, width)
    return None


def _meets(region: Footprint, granule: int, width: int) -> bool:
    starts = region.row_starts()
    low = starts // width * width
    high = -(-(starts + region.length) // width) * width
    return bool(np.any((low < granule + FAULT_BYTES) & (high > granule)))
