# SPDX-License-Identifier: Apache-2.0
"""The past of a slot, for reports: errors of memories that it met, and ops in flight at a clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scoreboards.counts import form_name
from scoreboards.faults import BadAccess, OpErrors
from tb.harness.items import Batch
from tb.isa.ops import SLOTS

MOST_ERRORS = 4096
"""Errors of a slot that are kept; older ones are counted."""

MOST_NAMED = 4
"""Ops in flight that a report names."""

Flown = tuple[Batch, int]
"""An op: its batch and its place in the block."""


class Met(NamedTuple):
    """An erroneous response.

    Attributes:
        clock: Clock of its handshake.
        transaction: The op that it belongs to, the oldest of several; None if no op is known.
        number: It is the n-th of its slot, from 1.
    """

    clock: int
    transaction: int | None
    number: int


class ErrorHistory:
    """The erroneous responses of each slot since the start of a run, in constant memory."""

    def __init__(self) -> None:
        self._met: list[deque[Met]] = [deque(maxlen=MOST_ERRORS) for _ in SLOTS]

    def add(self, batch: Batch, errors: Mapping[int, OpErrors]) -> None:
        """Adds those of a batch; ``errors`` has those of its ops, by place in the block."""
        owners: dict[tuple[int, ...], int] = {}
        for index in sorted(errors):
            for error in (*errors[index].sure, *errors[index].maybe):
                owners.setdefault(_key(error), batch.first + index)
        for hit in sorted(batch.hits, key=lambda hit: int(hit["cycle"])):
            met = self._met[int(hit["slot"])]
            key = tuple(int(hit[name]) for name in ("slot", "cycle", "space", "side", "addr"))
            number = met[-1].number + 1 if met else 1
            met.append(Met(int(hit["cycle"]), owners.get(key), number))

    def sentence(self, slot: int, before: int | None, transaction: int) -> str:
        """Returns a sentence on the errors that ops of a slot met before an op retired, or nothing.

        Args:
            slot: The slot.
            before: Clock in which the op retired, None if it did not.
            transaction: The op; its own errors do not count, since a replay has them.
        """
        earlier = [met for met in self._met[slot] if before is None or met.clock <= before]
        others = [met for met in earlier if met.transaction != transaction]
        if not others:
            return ""
        last = others[-1]
        many = earlier[-1].number - (len(earlier) - len(others))
        by = "" if last.transaction is None else f" by op {last.transaction}"
        return f"after {many} error{'s' if many > 1 else ''}, the last at clock {last.clock}{by}"


def _key(error: BadAccess) -> tuple[int, ...]:
    return error.slot, error.cycle, int(error.space), error.side, error.address


def in_flight(batch: Batch, slot: int, clock: int, held: int = 0) -> list[int]:
    """Returns the ops of a slot that were accepted and not retired at a clock, the oldest first.

    Args:
        batch: A batch.
        slot: The slot.
        clock: The clock; that of the accept and that of the done belong to an op.
        held: Ops that the engine holds at the end of a batch that hangs. These, and those that a
            reset cut off, have no clock of their accept: they count from the last that is known.
    """
    order, records = batch.order.get(slot), batch.done.get(slot)
    if order is None:
        return []
    retired, since = 0, 0
    places: list[int] = []
    if records is not None and len(records):
        accepted = records["accept_cycle"]
        retired, since = len(records), int(accepted[-1])
        inside = (accepted <= clock) & (clock <= records["done_cycle"])
        places = np.flatnonzero(inside).tolist()
    if since <= clock:
        end = batch.reached.get(slot, 0) if batch.reset is not None else retired + held
        places += range(retired, min(end, len(order)))
    return [int(order[place]) for place in places]


def flown_text(ops: Sequence[Flown]) -> str:
    """Returns ops in flight as ``transaction 31 (mte_gm_ub), 32``; a form follows its first op."""
    texts, before = [], ""
    for batch, index in ops[:MOST_NAMED]:
        opcode, legacy = int(batch.block.opcode[index]), index in batch.block.legacy_forms
        form = form_name(opcode, legacy=legacy)
        texts.append(f"{batch.first + index}" + (f" ({form})" if form != before else ""))
        before = form
    more = len(ops) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"transaction {', '.join(texts)}{rest}" if texts else ""
