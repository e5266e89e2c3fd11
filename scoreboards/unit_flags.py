# SPDX-License-Identifier: Apache-2.0
"""Unit flags of L0C: sets by the producer, clears by write-backs, and when (docs/contract.md).

The producer of accumulators sets the flags of every op that waits for them, again after an earlier
op cleared them; the model clears those of ``check_and_clear``. Both sides must agree after
each batch (spec/fixpipe.md, section 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.outcome import Outcome
from scoreboards.verdict import Evidence
from tb.harness.layout import NO_CLEAR

Flags = NDArray[np.uint8]

_LISTED = 8


def produce(flags: Flags, outcome: Outcome) -> None:
    """Sets the flags an op waits for, as the producer of its accumulators does.

    Args:
        flags: ``uint8[512]`` golden flags, written in place.
        outcome: The op; one that does not check flags gets none.
    """
    if outcome.flags is not None:
        flags[outcome.flags.blocks] = 1


def adopt_undefined(actual: Flags, golden: Flags, evidence: Evidence) -> None:
    """Takes over the flags that ops with an error, or cut off by a reset, should have cleared.

    Such an op may clear them or not. Where a later op of the batch waits for them too, the producer
    handles one clear more or less, so their final values are undefined as well.

    Args:
        actual: ``uint8[512]`` flags under test, nothing pending.
        golden: ``uint8[512]`` flags of the model, written in place.
        evidence: The batch.
    """
    for index, outcome in enumerate(evidence.outcomes):
        use = outcome.flags
        if use is None:
            continue
        # Whether a flag was set, seen and cleared before a reset is not known.
        if evidence.retired[index] is None or (index in evidence.failed and use.clears):
            golden[use.blocks] = actual[use.blocks]


@dataclass(frozen=True, slots=True)
class WrongFlags:
    """Flags that are wrong after a batch.

    Attributes:
        blocks: ``int64[k]`` block numbers, ascending.
        expected: Their golden value, 0 or 1.
        index: The op of the batch that used them last, or None.
    """

    blocks: NDArray[np.int64]
    expected: int
    index: int | None

    def __str__(self) -> str:
        shown = ", ".join(str(block) for block in self.blocks[:_LISTED].tolist())
        more = self.blocks.size - _LISTED
        if more > 0:
            shown += f" and {more} more"
        what = "flag" if self.blocks.size == 1 else "flags"
        state = "cleared" if self.expected else "not cleared"
        verb = "is" if self.blocks.size == 1 else "are"
        wanted = "set" if self.expected else "clear"
        return (
            f"unit {what} of L0C block {shown} {verb} {state}: {1 - self.expected}, "
            f"expected {self.expected} ({wanted})"
        )


def wrong_flags(
    actual: Flags, golden: Flags, outcomes: Sequence[Outcome]
) -> tuple[WrongFlags, ...]:
    """Returns which flags differ, those of one op and value together.

    Args:
        actual: ``uint8[512]`` flags under test, nothing pending.
        golden: ``uint8[512]`` flags of the model.
        outcomes: The ops of the batch in program order.
    """
    if actual.tobytes() == golden.tobytes():
        return ()
    wrong = np.flatnonzero(actual != golden)
    owner = np.full(actual.size, -1, dtype=np.int64)
    for index, outcome in enumerate(outcomes):
        if outcome.flags is not None:
            owner[outcome.flags.blocks] = index
    found = []
    for index in np.unique(owner[wrong]).tolist():
        for expected in (0, 1):
            blocks = wrong[(owner[wrong] == index) & (golden[wrong] == expected)]
            if blocks.size:
                found.append(WrongFlags(blocks, expected, None if index < 0 else index))
    return tuple(found)


def clear_fault(outcome: Outcome, clear_bytes: int, floor: int) -> str:
    """Returns a problem with the time at which an op cleared flags, or an empty text.

    Args:
        outcome: An op that retires as the model predicts.
        clear_bytes: Bytes that the slot had written in all at the first clear since the done
            before, ``NO_CLEAR`` without one.
        floor: Bytes the slot must have written in all when the op retires.
    """
    clears = outcome.flags is not None and outcome.flags.clears
    if clear_bytes == NO_CLEAR:
        return "retired without clearing its unit flags" if clears else ""
    if not clears:
        return "cleared unit flags, which it must leave alone"
    if clear_bytes < floor:
        return (
            f"cleared unit flags {floor - clear_bytes} bytes early: {clear_bytes} of {floor} "
            "bytes of this slot were written"
        )
    return ""
