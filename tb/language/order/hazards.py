# SPDX-License-Identifier: Apache-2.0
"""Hazards: steps that touch a common byte, one writing it, without an order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tb.isa.pipes import Pipe
from tb.language.lowered import Region, Touches
from tb.language.order.accesses import Shared
from tb.language.order.clusters import Use, clusters
from tb.language.order.queues import condition_of
from tb.language.order.touched import touches
from tb.language.order.verdict import Hazard, verdict
from tb.language.place import Finding, Place
from tb.language.trace import CORES, Compute, Doubt, Move, Step, lane_of, lane_text

RULE = "A-14"
"""Rule that dependent steps of one pipe without a barrier break."""


Describe = Callable[[str, Shared], str]
"""Words for bytes that two steps touch, of a memory that is named in small letters."""


def described(space: str, shared: Shared) -> str:
    """Returns bytes in words."""
    return f"{space} {shared}"


def between_cores(first: Step, second: Step) -> str:
    """Returns what orders two steps of different cores.

    The vector cores of a block have no counters of each other: ``sync`` of mode 1 is between them,
    whose wait needs the sets of both (docs/spec/order_and_atomics.md, section 4).
    """
    one, other = (step.pipe.value if step.pipe else "" for step in (first, second))
    if first.core and second.core:
        return (
            f"pto.sync.set <{one}> on both vector cores, on the {CORES[first.core]} after the "
            f"first op, and pto.sync.wait <{other}> on both, on the {CORES[second.core]} before "
            "the second op, with ffts_mode = 1; or other bytes for each core"
        )
    return (
        f"pto.set_intra_block <{one}> on the {CORES[first.core]} after the first and "
        f"pto.wait_intra_block <{other}> on the {CORES[second.core]} before the second"
    )


class Hazards:
    """Finds hazards while steps are taken in an order that may be."""

    def __init__(
        self,
        steps: tuple[Step, ...],
        sequence: Sequence[int],
        describe: Describe,
        doubts: Mapping[int, Doubt],
        called: Callable[[int], str],
        wanted: Hazard = "",
    ) -> None:
        """Finds out what each step of ``sequence`` touches.

        ``called`` returns the calls through which a step is reached (see :meth:`Trace.called`);
        ``wanted`` is the verdict on hazards.
        """
        self._wanted = wanted
        self._called = called
        self._doubts = doubts
        self._describe = describe
        self._steps = steps
        self._touches: dict[int, Touches] = {}
        used: dict[Region, Use] = defaultdict(Use)
        for index in sequence:
            step = steps[index]
            assert isinstance(step, Move | Compute)
            if step.pipe is Pipe.S:
                continue
            self._touches[index] = touches(step)
            for region, write in self._touches[index]:
                use = used[region]
                use.count += 1
                use.written |= write
        self._left_out: list[Region] = []
        self._clusters = clusters(used, self._left_out)
        self._at: dict[tuple[int, int], int] = {}
        # Places of both steps; and their cores, where these differ.
        self._found: dict[tuple[Place, Place, tuple[int, ...]], Finding | None] = {}
        self._held: dict[int, set[int]] = defaultdict(set)

    @property
    def findings(self) -> list[Finding]:
        """Hazards so far, errors and warnings, each pair of places once for a pair of cores."""
        return [one for one in self._found.values() if one is not None]

    @property
    def held(self) -> dict[int, tuple[int, ...]]:
        """Step to the steps that it forms a hazard with, or would on a pipe that orders nothing."""
        return {index: tuple(sorted(before)) for index, before in self._held.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Parts that were not checked."""
        words = "note: the rows are too many: what overlaps them is not checked for hazards"
        return tuple(
            f"{self._steps[index].place}: {words}"
            for region in self._left_out
            for index in [next(i for i, mine in self._touches.items() if region in dict(mine))]
        )

    def take(self, index: int, queue: int, position: int, known: Sequence[int]) -> None:
        """Looks at a step and notes what it touches.

        Args:
            index: The step.
            queue: Number of its queue.
            position: Its place there, which rises.
            known: Entries of each queue that have completed before it starts.
        """
        mine = [
            (region, write, cluster)
            for region, write in self._touches.get(index, ())
            if (cluster := self._clusters.get(region)) is not None
        ]
        if not mine:
            return
        self._at[queue, position] = index
        for region, write, cluster in mine:
            for other, wrote in tuple(cluster.queues):
                if write or wrote:
                    latest = cluster.latest(region, other, wrote, known[other])
                    if latest:
                        earlier = self._at[other, latest]
                        self._held[index].add(earlier)
                        first, second = self._steps[earlier], self._steps[index]
                        cores = () if first.core == second.core else (first.core, second.core)
                        pair = first.place, second.place, cores
                        if pair not in self._found:
                            shared = cluster.shared(region, other, wrote, latest)
                            self._found[pair] = self._finding(
                                earlier, index, wrote, write, region.space, shared
                            )
        for region, write, cluster in mine:
            cluster.mark(region, queue, write, position)

    def _finding(
        self, earlier: int, later: int, wrote: bool, writes: bool, space: str, shared: Shared
    ) -> Finding | None:
        first, second = self._steps[earlier], self._steps[later]
        assert isinstance(first, Move | Compute)
        assert isinstance(second, Move | Compute)
        judged = verdict(first, second, self._wanted)
        if judged == "off":
            return None
        through, to_here = self._called(earlier), self._called(later)
        other = f"pto.{first.name} at {first.place}"
        if first.place == second.place:
            other = "the same op"
            if first.core != second.core:
                other += f" of the {CORES[first.core]}"
            elif through == to_here:
                other += " of an earlier iteration"
        if through and through != to_here:
            other += f"{through},"
        does, did = ("writes" if each else "reads" for each in (writes, wrote))
        message = (
            f"hazard: {does} {self._describe(space, shared)}, which {other} {did}, "
            "and nothing orders them"
        )
        if to_here:
            who = "both are" if through == to_here else "this one is"
            message += f"; {who}{to_here.removeprefix(',')}"
        condition = condition_of(self._doubts, later, earlier)
        rule = RULE if lane_of(first) == lane_of(second) else ""
        if rule:
            legal = f"pto.barrier <{first.pipe.value}> between them"
        elif first.core == second.core:
            pipes = f"from {first.pipe.value} to {second.pipe.value}"
            legal = f"set_flag and wait_flag {pipes} between them"
        else:
            message += f" ({lane_text(first, True)}, and {lane_text(second, True)})"
            legal = between_cores(first, second)
        found = Finding(second.place, f"pto.{second.name}", rule, message, legal, condition)
        return replace(found, severity="warning") if judged == "warn" else found
