# SPDX-License-Identifier: Apache-2.0
"""Converts ops with dependencies by number to steps with flags and barriers between pipes.

A link between two pipes is an event, set after the op that is waited for. A pair of pipes has
eight of them; each is used once, and when they are used up a barrier over all pipes stands in for
the links across it, and all events are free again. A link on one pipe is a barrier of that pipe.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tb.isa.pipes import EVENTS, PIPES, Pipe
from tb.isa.program import moving, moving_at
from tb.isa.text import AnyOp, op_name
from tb.language.place import Place
from tb.language.printer import Note
from tb.language.trace import Barrier, Move, SetFlag, Step, WaitFlag

NOWHERE = Place("", 0, 0)
"""Place of a step that no text has yet."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A transaction.

    Attributes:
        ops: One op, or ``set_*`` ops and the op that reads what they write, and then the write
            that restores CTRL; none when it is left out.
        gap: Clocks of idle before it is offered.
        flag_delay: Clocks until the unit flags are set that it waits for; -1 for at once.
        after: Indices of earlier transactions that must have completed.
        note: The text of a comment before it.
    """

    ops: tuple[AnyOp, ...]
    gap: int = 0
    flag_delay: int = -1
    after: tuple[int, ...] = ()
    note: str = ""


def linked_steps(linked: Sequence[Linked]) -> list[Step | Note]:
    """Returns the steps of transactions in their order, linked by events and barriers."""
    pipes = [PIPES[op_name(moving(item.ops))] if item.ops else None for item in linked]
    sets, waits = _links(linked, pipes)
    steps: list[Step | Note] = []
    for index, item in enumerate(linked):
        if item.note:
            steps.append(Note(item.note))
        steps += waits[index]
        steps += _moves(item)
        steps += sets[index]
    return steps


def _moves(item: Linked) -> list[Move]:
    """Returns the ops of a transaction; gap and delay belong to the one that moves data."""
    moves = [_move(op) for op in item.ops]
    if moves:
        at = moving_at(item.ops)
        moves[at] = _move(item.ops[at], item.gap, item.flag_delay)
    return moves


def _move(op: AnyOp, gap: int = 0, flag_delay: int = -1) -> Move:
    name = op_name(op)
    return Move(NOWHERE, name, PIPES[name], op, gap, flag_delay)


def _links(
    linked: Sequence[Linked], pipes: Sequence[Pipe | None]
) -> tuple[dict[int, list[Step]], dict[int, list[Step]]]:
    """Returns the successors and the predecessors of each transaction."""
    sets: dict[int, list[Step]] = defaultdict(list)
    waits: dict[int, list[Step]] = defaultdict(list)
    # Last transaction of the first pipe that the second one has waited for, and events used.
    reached: dict[tuple[Pipe, Pipe], int] = defaultdict(lambda: -1)
    used: dict[tuple[Pipe, Pipe], int] = defaultdict(int)
    start = 0
    for index, item in enumerate(linked):
        pipe = pipes[index]
        wanted: dict[Pipe, int] = {}
        for other in item.after if pipe else ():
            first = pipes[other]
            if first and pipe and other >= start and other > reached[first, pipe]:
                wanted[first] = max(other, wanted.get(first, -1))
        if pipe is None:
            continue
        if any(used[first, pipe] == EVENTS for first in wanted if first is not pipe):
            waits[index].append(Barrier(NOWHERE, None))
            start = index
            used.clear()
            continue
        for first, other in wanted.items():
            if first is pipe:
                waits[index].append(Barrier(NOWHERE, pipe))
                reached[pipe, pipe] = index - 1
                continue
            event = used[first, pipe]
            used[first, pipe] += 1
            reached[first, pipe] = other
            sets[other].append(SetFlag(NOWHERE, first, pipe, event))
            waits[index].append(WaitFlag(NOWHERE, pipe, first, event))
    return sets, waits
