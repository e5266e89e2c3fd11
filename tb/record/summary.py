# SPDX-License-Identifier: Apache-2.0
"""Failures of a run for its summary: causes before effects, and one report for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tb.record.failure import Failure
from tb.record.record import RunCounters
from tb.record.signature import signature_of, title

LISTED = 8
"""Most transactions or clocks that are listed of failures of one kind."""

_ENDS = ("hang", "crash")
"""Kinds that end a run: what was found before may be the cause."""


@dataclass(frozen=True)
class FailureKind:
    """The failures of a run with one signature.

    Attributes:
        title: The signature as a phrase.
        failures: Those with a report, in the order of their causes; empty where all came past the
            mismatch limit.
        past_limit: Number of those without one.
    """

    title: str
    failures: tuple[Failure, ...]
    past_limit: int = 0

    @property
    def more(self) -> str:
        """All but the first, as a line with a count; empty for a single failure."""
        count = len(self.failures) - 1 + self.past_limit
        if not count:
            return ""
        places = _places(self.failures[1:], count)
        return f"... and {count} more like it" + (f": {places}" if places else "")

    @property
    def line(self) -> str:
        """The kind as a line, for those whose report is not shown."""
        count = len(self.failures) + self.past_limit
        places = _places(self.failures, count) or "past the mismatch limit"
        return f"{self.title}: {count}, {places}"


def kinds_of(counts: RunCounters) -> list[FailureKind]:
    """Returns the failures of a run by kind, in the order of the first of each."""
    groups: dict[str, list[Failure]] = {}
    for failure in causes_first(counts.details):
        groups.setdefault(title(signature_of(failure)), []).append(failure)
    groups |= {name: [] for name in counts.past_limit if name not in groups}
    return [
        FailureKind(name, tuple(found), counts.past_limit[name]) for name, found in groups.items()
    ]


def causes_first(failures: Sequence[Failure]) -> list[Failure]:
    """Returns failures in the order of their causes.

    Those of ops by transaction; others, such as violations of the protocol, before the first op
    that had not retired at their clock; hangs and crashes last.
    """
    begun = [failure for failure in failures if failure.kind not in _ENDS]
    clocked = [(one.begin_clock or one.end_clock, one) for one in begun if one.transaction is None]
    retired = 0
    ops = [one for one in begun if one.transaction is not None]
    for failure in sorted(ops, key=lambda one: one.transaction or 0):
        retired = max(retired, failure.end_clock)
        clocked.append((retired, failure))
    clocked.sort(key=lambda entry: entry[0])
    ends = [failure for failure in failures if failure.kind in _ENDS]
    return [failure for _, failure in clocked] + ends


def _places(failures: Sequence[Failure], count: int) -> str:
    """Returns the transactions of failures, or their clocks where no op is known.

    Args:
        failures: Failures of one kind.
        count: Failures of that kind in all: the list ends with dots if it has fewer.
    """
    ops = [one.transaction for one in failures if one.transaction is not None]
    clocks = [one.begin_clock or one.end_clock for one in failures]
    word, places = ("transaction", ops) if ops else ("clock", clocks)
    places = list(dict.fromkeys(places))
    if not places:
        return ""
    dots = " ..." if len(places) > LISTED or count > len(failures) else ""
    plural = "" if len(places) == 1 and not dots else "s"
    return f"{word}{plural} {', '.join(map(str, places[:LISTED]))}{dots}"
