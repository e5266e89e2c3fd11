# SPDX-License-Identifier: Apache-2.0
"""What an engine holds at a time: measured at the start of a run, and at its end."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

NOUNS = {
    "ops": "ops",
    "reads": "read bursts",
    "read_beats": "beats of read bursts",
    "writes": "write bursts",
    "src": "words of port src",
    "par": "words of port par",
}
"""What is counted in flight, out of ``OPEN`` of :mod:`tb.harness.layout`, in words."""


class CapacityFigure(BaseModel):
    """What an engine held of a batch of one op.

    Attributes:
        slot, op: Slot and op.
        size: Size of the ops: ``tiny``, a word or two, or ``small``, some lines.
        start, end: Most in flight, by the names of :data:`NOUNS`. ``end`` is empty if the run ended
            before its last measurement.
    """

    model_config = ConfigDict(extra="forbid")

    slot: str
    op: str
    size: str
    start: dict[str, int]
    end: dict[str, int] = Field(default_factory=dict)

    @property
    def _pairs(self) -> dict[str, tuple[int, int]]:
        """Both numbers of all that is measured twice, the start first."""
        names = {**self.start, **self.end} if self.end else {}
        return {name: (self.start.get(name, 0), self.end.get(name, 0)) for name in names}

    @property
    def unlike(self) -> dict[str, tuple[int, int]]:
        """What the engine holds fewer or more of at the end, with both numbers, the start first."""
        return {name: pair for name, pair in self._pairs.items() if pair[1] != pair[0]}

    @property
    def leaks(self) -> list[str]:
        """A sentence for each difference: credits that were lost, or given back twice."""
        return [
            f"{self.slot} holds {end} {NOUNS[name]} at the end, {start} at the start "
            f"({self.op}, {self.size} ops)"
            for name, (start, end) in self.unlike.items()
        ]

    @property
    def changes(self) -> str:
        """All that differs, in one line; empty for nothing."""
        moved = [f"{NOUNS[name]} {start} -> {end}" for name, (start, end) in self.unlike.items()]
        return f"{self.size} {self.op}: {', '.join(moved)}" if moved else ""
