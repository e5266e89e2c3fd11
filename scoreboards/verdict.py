# SPDX-License-Identifier: Apache-2.0
"""Results of checking a batch: the evidence that it is judged by, and the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoreboards.faults import OpErrors
from scoreboards.mismatch import Mismatch, Objection
from scoreboards.model.outcome import Outcome
from tb.harness.items import Batch
from tb.isa.program import Entry
from tb.record.failure import Picture


@dataclass(frozen=True, slots=True)
class Verdict:
    """A failed check of a batch.

    Attributes:
        finding: The problem: an objection, wrong bytes, or a message of the checkers in the
            harness.
        index: Place of the op in the block; None where no single op is to blame.
        slot: Slot of a verdict without an op; empty if it is not known either.
        picture: The memory around wrong bytes.
    """

    finding: Objection | Mismatch | str
    index: int | None = None
    slot: str = ""
    picture: Picture | None = None


class Done(NamedTuple):
    """A done record, with the fields of :data:`tb.harness.layout.DONE`."""

    tag: int
    status: int
    rule: int
    pad: int
    addr: int
    accept_cycle: int
    done_cycle: int
    written_bytes: int
    clear_bytes: int
    owed: list[int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A batch that has retired or was cut off, and what the model expects of it.

    Attributes:
        batch: The batch.
        program: Each op as written.
        outcomes: Outcome of each op in the model.
        retired: Done record of each op; None of one that a reset cut off.
        failed: Place of each op that met an error to its errors.
        sizes: Bytes that each op writes, 0 where an error leaves them undefined.
    """

    batch: Batch
    program: Sequence[Entry]
    outcomes: Sequence[Outcome]
    retired: Sequence[Done | None]
    failed: Mapping[int, OpErrors] = field(default_factory=dict)
    sizes: Sequence[int] = ()

    def passed(self, verdicts: Sequence[Verdict]) -> NDArray[np.bool_]:
        """Returns the check of each op, ``bool[N]``: it retired and no verdict is about it."""
        passed = np.array([done is not None for done in self.retired], dtype=np.bool_)
        passed[[verdict.index for verdict in verdicts if verdict.index is not None]] = False
        return passed


def retired(batch: Batch) -> list[Done | None]:
    """Returns the done record of each op, None for those that a reset cut off."""
    found: list[Any] = [None] * len(batch.block)
    for slot, indices in batch.order.items():
        if slot in batch.done:
            records = batch.done[slot].tolist()
            for index, record in zip(indices.tolist(), records, strict=False):
                found[index] = Done._make(record)
    return found
