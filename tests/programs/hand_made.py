# SPDX-License-Identifier: Apache-2.0
"""Programs made by hand for tests of the replay: steps and an order, without any text."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.isa.pipes import PIPES
from tb.language.place import Place
from tb.language.trace import Compute, Move, Step, Trace
from tests.language.steps import sampled

FILE = "hand.pto"


@dataclass
class Made:
    """A program under construction; step ``i`` is in line ``i + 1``."""

    steps: list[Step] = field(default_factory=list)
    after: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def move(self, name: str, op: object, *after: int, gap: int = 0, flag_delay: int = -1) -> int:
        """Adds an op that waits for others; returns its number."""
        place = Place(FILE, len(self.steps) + 1, 3)
        self.steps.append(Move(place, name, PIPES[name], op, gap, flag_delay))  # type: ignore[arg-type]
        return self._linked(after)

    def compute(self, name: str, op: object, *after: int) -> int:
        """Adds a host op."""
        place = Place(FILE, len(self.steps) + 1, 3)
        self.steps.append(Compute(place, name, PIPES[name], op))  # type: ignore[arg-type]
        return self._linked(after)

    def _linked(self, after: tuple[int, ...]) -> int:
        number = len(self.steps) - 1
        if after:
            self.after[number] = after
        return number

    @property
    def trace(self) -> Trace:
        """The steps."""
        return Trace(FILE, "kernel", sampled(self.steps), ())


@dataclass
class MadeOrder:
    """The parts of the result of :func:`tb.language.order.order` that the replay needs."""

    sequence: tuple[int, ...]
    after: dict[int, tuple[int, ...]]

    def waits(self, index: int) -> tuple[int, ...]:
        """Returns all links of a step."""
        return self.after.get(index, ())
