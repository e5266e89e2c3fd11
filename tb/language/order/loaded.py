# SPDX-License-Identifier: Apache-2.0
"""Operands of products that no op of the program has written (MD-L05 of docs/spec/l0_loads.md)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tb.isa.mad import ACC, Mad, Part, parts
from tb.isa.pipes import Pipe
from tb.language.lowered import Region
from tb.language.order.order import Order
from tb.language.order.touched import touches
from tb.language.place import Finding, Place
from tb.language.trace import Compute, Move, Trace

RULE = "MD-L05"

MOST_ROWS = 1 << 16
"""Rows of a destination that are noted one by one; of more, all bytes up to its end count."""

OPERANDS = ("l0a", "l0b", "l0a_mx", "l0b_mx", "l0c", "bt")
"""Memories that a product reads."""


@dataclass
class Written:
    """Bytes of a memory that have been written: ranges in ascending order, none of which meet."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Notes a range."""
        first = bisect_right(self.ends, start - 1)
        last = bisect_right(self.starts, end)
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        self.starts[first:last], self.ends[first:last] = [], []
        insort(self.starts, start)
        insort(self.ends, end)

    def missing(self, start: int, end: int) -> tuple[int, int] | None:
        """Returns the first range inside another one that nothing has written."""
        at = bisect_right(self.starts, start)
        if at and self.ends[at - 1] > start:
            start = self.ends[at - 1]
        if start >= end:
            return None
        return start, min(end, self.starts[at]) if at < len(self.starts) else end


def unloaded(
    trace: Trace, order: Order, given: Mapping[str, Iterable[tuple[int, int]]]
) -> list[Finding]:
    """Returns the products that read bytes which nothing has written, each place once.

    Args:
        trace: The program with its arguments bound.
        order: Its order.
        given: Memory to the ranges ``first, end`` that have contents when the program begins.
    """
    written = {name: Written() for name in OPERANDS}
    for name, ranges in given.items():
        for start, end in ranges:
            written[name].add(start, end)
    found: dict[Place, Finding] = {}
    for index in order.sequence:
        step = trace.steps[index]
        if not isinstance(step, Move | Compute) or step.pipe is Pipe.S:
            continue
        if isinstance(step, Compute) and step.place not in found:
            part = _missing(step.op, written)
            if part is not None:
                found[step.place] = _finding(step, *part, trace.called(index))
        for region, write in touches(step):
            if write and region.space in written:
                _note(written[region.space], region)
    return list(found.values())


def _missing(op: Mad, written: Mapping[str, Written]) -> tuple[Part, tuple[int, int]] | None:
    """Returns the first operand that is not written, and its first such range."""
    try:
        read = [part for part in parts(op) if part.role != "dst" or op.initial == ACC]
    except ValueError:  # Types that the matrix unit does not take.
        return None
    for part in read:
        gap = written[part.memory].missing(part.start, part.start + part.length)
        if gap is not None:
            return part, gap
    return None


def _finding(step: Compute, part: Part, gap: tuple[int, int], called: str) -> Finding:
    first, end = gap
    role = "old accumulators" if part.role == "dst" else part.role
    message = (
        f"reads {part.memory} {first:#x}..{end - 1:#x} ({end - first} B), {role}, which no op of "
        f"the program has written{called}"
    )
    legal = f"a load before it, or contents of {part.memory} in the setup file"
    return Finding(
        step.place, f"pto.{step.name}", RULE, message, legal, ours=True, severity="warning",
        undefined=True,
    )  # fmt: skip


def _note(written: Written, region: Region) -> None:
    starts = [region.base]
    rows = 1
    for count in region.counts:
        rows *= count
    if rows > MOST_ROWS:
        written.add(region.base, region.end)
        return
    for count, stride in zip(region.counts, region.strides, strict=True):
        starts = [start + step * stride for step in range(count) for start in starts]
    for start in starts:
        written.add(start, start + region.length)
