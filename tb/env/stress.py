# SPDX-License-Identifier: Apache-2.0
"""Draws the stress of a batch: errors of memories, and resets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoreboards.faults import FAULT_BYTES, READS, WRITES, Fault, FaultKind
from tb.harness.items import Reset
from tb.harness.layout import FAULTS
from tb.isa.block import OpBlock
from tb.isa.fix.op import FixOp
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.rules import first_d_violation
from tb.isa.spaces import SIZES, Space

LONGEST_WINDOW = 2048
"""Bytes of a drawn window, except where only the n-th word of it fails."""

KINDS = {"read": "GM reads", "write": "GM writes", "local": "local ports"}
"""Kinds of errors in a manifest, in words."""

LONGEST_WAIT = 5000
"""Clocks from the issue of a block to the latest reset."""

_WORD = 64


@dataclass(frozen=True)
class Access:
    """A region that an op accesses, and the bit of its side."""

    region: Footprint
    side: int


def accesses(desc: Op) -> list[Access]:
    """Returns the regions that a legal op accesses; the op moves bytes."""
    read = [source(desc)]
    if isinstance(desc, FixOp):
        read += parameters(desc)
    written = list(destinations(desc))
    found = [Access(region, READS) for region in read if region.bytes]  # of a fill none
    found += [Access(region, WRITES) for region in written]
    if desc.spec.updates and desc.values["atomic_type"]:
        found += [Access(region, READS) for region in written]
    return found


def _name(access: Access) -> str:
    """Returns the kind of its errors, of :data:`KINDS`."""
    if access.region.space is not Space.GM:
        return "local"
    return "read" if access.side == READS else "write"


class FaultDraw:
    """Draws faults in the footprints of a block's ops.

    Args:
        rng: Source of everything random.
        survives: Takes a slot's number and ``read``, ``write`` or ``local``, and returns whether
        its
            engine survives such errors; others are injected in other slots only.

    Attributes:
        left_out: Faults that were drawn and could not be injected, by the reason.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        survives: Callable[[int, str], bool],
        left_out: Counter[str] | None = None,
    ) -> None:
        self._rng = rng
        self.left_out: Counter[str] = Counter() if left_out is None else left_out
        self._slots = {
            kind: sum(1 << slot for slot in range(len(SLOTS)) if survives(slot, kind))
            for kind in KINDS
        }

    def draw(self, block: OpBlock, count: int) -> list[Fault]:
        """Returns up to ``count`` faults, sometimes several of them on one op.

        None for ops that move nothing, and of kinds that no engine in question survives.
        """
        rng, found = self._rng, []
        rules = block.expected_rule
        target: list[Access] = []
        slot = 0
        for _ in range(min(count, FAULTS)):
            if not target or rng.random() < 0.6:
                index = int(rng.integers(len(block)))
                slot = int(block.slot[index])
                desc = block.issued(index)
                legal = rules is None or not rules[index]
                if legal and not desc.is_nop and not first_d_violation(desc):
                    target = accesses(desc)
            if target:
                fault = self._fault(target[int(rng.integers(len(target)))], slot)
                if fault is not None:
                    found.append(fault)
        return found

    def granule(self, access: Access, slot: int, address: int) -> Fault | None:
        """Returns an error of 32 bytes in a region, of one side and for one slot."""
        slots = self._surviving(access) & 1 << slot
        if not slots:
            self._leave_out(access, slot)
            return None
        return Fault(access.region.space, address, self._kind(access), 1, access.side, 0, slots)

    def _kind(self, access: Access) -> FaultKind:
        in_gm = access.region.space is Space.GM
        return FaultKind(int(self._rng.integers(2))) if in_gm else FaultKind.LOCAL

    def _surviving(self, access: Access) -> int:
        """Returns the slots whose engines survive an error of an access, a bit for each."""
        return self._slots[_name(access)]

    def _leave_out(self, access: Access, slot: int) -> None:
        """Counts a fault that no engine in question survives."""
        self.left_out[f"{SLOTS[slot]} survives no errors of {KINDS[_name(access)]}"] += 1

    def _fault(self, access: Access, slot: int) -> Fault | None:
        rng, region = self._rng, access.region
        in_gm = region.space is Space.GM
        sides = access.side if rng.random() < 0.7 else READS | WRITES
        kind = self._kind(access)
        slots = self._surviving(access)
        if in_gm and sides == READS | WRITES:
            both = slots & self._slots["read"] & self._slots["write"]
            sides, slots = (sides, both) if both >> slot & 1 else (access.side, slots)
        if rng.random() < 0.7:
            slots &= 1 << slot
        if not slots:
            self._leave_out(access, slot)
            return None
        address, length, nth = self._window(region)
        return Fault(region.space, address, kind, length, sides, nth, slots)

    def _window(self, region: Footprint) -> tuple[int, int, int]:
        """Returns address, length and n of a window in a region."""
        rng = self._rng
        style = rng.random()
        if style < 0.35:
            # Any one of the words, the first and the last more often than others.
            words = max(1, region.bytes // _WORD)
            longest = min(words, 4096)
            nth = int(np.exp(rng.uniform(0, np.log(longest + 1))))
            return region.base, region.end - region.base, max(1, nth)
        address = self._byte_of(region)
        if style < 0.7:
            return address, 1, 0
        length = int(np.exp(rng.uniform(np.log(FAULT_BYTES), np.log(LONGEST_WINDOW))))
        return address, min(length, SIZES[region.space] - address), 0

    def _byte_of(self, region: Footprint) -> int:
        rng = self._rng
        starts = region.row_starts()
        chance = rng.random()
        if chance < 0.2:
            return int(starts[0])
        if chance < 0.4:
            return int(starts[-1]) + region.length - 1
        start = int(starts[int(rng.integers(len(starts)))])
        return start + int(rng.integers(region.length))


def draw_reset(rng: np.random.Generator) -> Reset:
    """Draws a reset: early ones more often than late ones, sometimes several in a row."""
    again = int(rng.choice(3, p=(0.7, 0.2, 0.1)))
    return Reset(
        after=int(np.exp(rng.uniform(np.log(3), np.log(LONGEST_WAIT)))),
        phase=0 if rng.random() < 0.3 else int(rng.integers(1, 10)),
        hold=int(rng.integers(1, 9)),
        again=tuple(rng.integers(1, 30, again).tolist()),
        quiet=int(rng.choice((1, 4, 100))),
    )
