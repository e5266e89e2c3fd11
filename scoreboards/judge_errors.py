# SPDX-License-Identifier: Apache-2.0
"""Judges the erroneous responses of a batch: which op each belongs to, and those of no op."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scoreboards.faults import (
    NEVER,
    Attribution,
    BadAccess,
    Flight,
    OpErrors,
    Widths,
    accesses,
)
from scoreboards.mismatch import Objection
from scoreboards.model.outcome import Outcome
from scoreboards.verdict import Evidence, Verdict
from tb.harness.layout import ACCESSES, READ
from tb.isa.ops import SLOTS
from tb.isa.spaces import Space

_ADDRESS = (1 << 56) - 1

FIX_SOURCE_BYTES = 64
"""Width of the ports on which the fix slot reads local memories (docs/contract.md)."""

_FIX = SLOTS.index("fix")


def judge_errors(
    evidence: Evidence, lanes: Mapping[Space, int], engines: Mapping[str, Any]
) -> tuple[dict[int, OpErrors], list[Verdict]]:
    """Attributes each error to an op.

    Args:
        evidence: The batch.
        lanes: Bytes of a bus word by memory.
        engines: Slot to the capabilities of its engine; slots without one are left out.

    Returns:
        Place of each op to the errors that it met or may have met, and the verdicts: errors that
        no op can have met, and bursts after an error. Of each kind the first of a slot counts.
    """
    batch = evidence.batch
    errors: dict[int, OpErrors] = {}
    found: list[Verdict] = []
    if not len(batch.hits):
        return errors, found
    if batch.hits_lost:
        why = (
            f"{batch.hits_lost} erroneous responses did not fit the log: fewer or smaller "
            "faults at once"
        )
        found.append(Verdict(Objection("stimulus", why, "log of errors")))
    for slot in batch.order:
        can = engines.get(SLOTS[slot])
        widths = _widths(slot, lanes, engines)
        attribution = Attribution(_flights(evidence, slot), widths)
        attribution.take(accesses(batch.hits, slot, widths))
        errors.update(attribution.errors)
        found += [_without_op(error) for error in attribution.strays[:1]]
        if can and not can.stops_after_error:
            continue
        late = attribution.late_bursts(batch.late[batch.late["slot"] == slot])
        found += [Verdict(Objection("late burst", why), index) for index, why in late[:1]]
    for entry in batch.hits[~np.isin(batch.hits["slot"], list(batch.order))][:1]:
        (error,) = accesses(np.array([entry]), int(entry["slot"]), Widths(lanes))
        found.append(_without_op(error))
    return errors, found


def judge_owed(
    evidence: Evidence, slot: int, lanes: Mapping[Space, int], engines: Mapping[str, Any]
) -> dict[int, Objection]:
    """Finds dones of a slot that came before the answer to an access of their op.

    An access that a younger op in flight may have made, too, is not judged, nor is the done of an
    op that is alone.

    Args:
        evidence: The batch.
        slot: The slot.
        lanes: Bytes of a bus word by memory.
        engines: As for :func:`judge_errors`.
    """
    records = evidence.batch.done.get(slot)
    if records is None or not records["owed"].any():
        return {}
    owed, clocks = records["owed"], records["done_cycle"].tolist()
    order = evidence.batch.order[slot].tolist()
    accepted = np.searchsorted(records["accept_cycle"], clocks, side="right").tolist()
    widths = _widths(slot, lanes, engines)
    attribution: Attribution | None = None
    found: dict[int, Objection] = {}
    for place, which in np.argwhere(owed).tolist():
        word, clock = int(owed[place, which]), clocks[place]
        side, space, address = ACCESSES[which], Space(word >> 56 & 0x7F), word & _ADDRESS
        # Those of a reset, without a record, may have been accepted, too.
        until = accepted[place] if accepted[place] < len(owed) else len(order)
        if until == place + 1:  # alone: a message of the port checker (DONE-EARLY)
            continue
        bus = widths.word(space, side)
        if any(
            _near(evidence.outcomes[index], side, space, address, bus)
            for index in order[place + 1 : until]
        ):
            continue
        if attribution is None:
            attribution = Attribution(_flights(evidence, slot), widths)
        owners = attribution.owners(space, side, clock, address, 1)
        if [one.index for one in owners] == [order[place]]:
            what = "read" if side == READ else "write"
            why = f"done came before the answer to its {what} of {space.keyword} {address:#x}"
            found.setdefault(order[place], Objection("early", why))
    return found


def _near(outcome: Outcome, side: int, space: Space, address: int, bus: int) -> bool:
    """Returns whether a word lies between the first and the last row of an op."""
    regions = outcome.reads if side == READ else outcome.regions
    return any(one.space is space and one.base // bus * bus <= address < one.end for one in regions)


def _widths(slot: int, lanes: Mapping[Space, int], engines: Mapping[str, Any]) -> Widths:
    can = engines.get(SLOTS[slot])
    return Widths(lanes, FIX_SOURCE_BYTES if slot == _FIX else 0, can.read_bytes if can else 0)


def _without_op(error: BadAccess) -> Verdict:
    slot, side = SLOTS[error.slot], "read" if error.side == READ else "write"
    why = f"no op in flight on {slot} makes this access: {error}"
    if side == "read":
        why += "; an engine that reads more than the words of its rows needs read_bytes"
    return Verdict(Objection("access", why, f"{side} of {error.space.keyword}"), slot=slot)


def _flights(evidence: Evidence, slot: int) -> list[Flight]:
    """Returns the ops of a slot that were in flight, in order."""
    batch, found = evidence.batch, []
    order = batch.order[slot].tolist()
    since = 0
    for index in order if batch.reset is None else order[: batch.reached[slot]]:
        done, outcome = evidence.retired[index], evidence.outcomes[index]
        if done is not None:
            since = done.accept_cycle
            found.append(Flight(index, outcome, since, done.done_cycle, done.status))
        elif batch.reset is not None:
            found.append(Flight(index, outcome, since, NEVER, None))
    return found
