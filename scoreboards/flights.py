# SPDX-License-Identifier: Apache-2.0
"""The past of a slot, for reports: errors of memories that it met, and ops in flight at a clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from scoreboards.faults import BadAccess, OpErrors
from tb.harness.items import Batch
from tb.isa.ops import SLOTS

MOST_ERRORS = 4096
"""Errors of a slot that are kept; older ones are counted."""


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
