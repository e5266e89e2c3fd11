# SPDX-License-Identifier: Apache-2.0
"""Unit flags of L0C: sets by the producer, clears by write-backs, and when (docs/contract.md).

The producer of accumulators sets the flags of every op that waits for them, again after an earlier
op cleared them; the model clears those of ``check_and_clear``. Both sides must agree after
each batch (docs/spec/fixpipe.md, section 8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scoreboards.mismatch import Objection
from scoreboards.model.outcome import Outcome
from scoreboards.verdict import Evidence, Verdict
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


def judge_flags(evidence: Evidence, actual: Flags, golden: Flags) -> list[Verdict]:
    """Finds flags that were never set, or differ: those of one op and value together.

    Args:
        evidence: The batch.
        actual: ``uint8[512]`` flags under test, nothing pending.
        golden: ``uint8[512]`` flags of the model.
    """
    batch, found = evidence.batch, []
    if batch.flags_due and not evidence.failed and batch.reset is None:
        why = (
            f"unit flags were not set when all ops had retired: {batch.flags_due} of those "
            "that they wait for"
        )
        found.append(Verdict(Objection("flags", why, "not set")))
    if actual.tobytes() == golden.tobytes():
        return found
    wrong = np.flatnonzero(actual != golden)
    owner = np.full(actual.size, -1, dtype=np.int64)
    for index, outcome in enumerate(evidence.outcomes):
        if outcome.flags is not None:
            owner[outcome.flags.blocks] = index
    for index in np.unique(owner[wrong]).tolist():
        for expected in (0, 1):
            blocks = wrong[(owner[wrong] == index) & (golden[wrong] == expected)].tolist()
            if blocks:
                found.append(_wrong_flags(blocks, expected, None if index < 0 else index))
    return found


def _wrong_flags(blocks: list[int], expected: int, index: int | None) -> Verdict:
    """Returns a verdict on the op that used flags last, or on the batch."""
    shown = ", ".join(str(block) for block in blocks[:_LISTED])
    if len(blocks) > _LISTED:
        shown += f" and {len(blocks) - _LISTED} more"
    what, verb = ("flag", "is") if len(blocks) == 1 else ("flags", "are")
    state, wanted = ("cleared", "set") if expected else ("not cleared", "clear")
    text = (
        f"unit {what} of L0C block {shown} {verb} {state}: {1 - expected}, "
        f"expected {expected} ({wanted})"
    )
    if index is None:
        text += "\n  no op of this batch uses it"
    return Verdict(Objection("flags", text, state), index)


def judge_clear(outcome: Outcome, clear_bytes: int, floor: int) -> Objection | None:
    """Returns a problem with the time at which an op cleared flags, if there is one.

    Args:
        outcome: An op that retires as the model predicts.
        clear_bytes: Bytes that the slot had written in all at the first clear since the done
            before, ``NO_CLEAR`` without one.
        floor: Bytes the slot must have written in all when the op retires.
    """
    clears = outcome.flags is not None and outcome.flags.clears
    why, counts = "", ""
    if clear_bytes == NO_CLEAR:
        why = "retired without clearing its unit flags" if clears else ""
    elif not clears:
        why = "cleared unit flags, which it must leave alone"
    elif clear_bytes < floor:
        why = f"cleared unit flags {floor - clear_bytes} bytes early"
        counts = f": {clear_bytes} of {floor} bytes of this slot were written"
    return Objection("flags", why + counts, why) if why else None
