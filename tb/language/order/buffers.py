# SPDX-License-Identifier: Apache-2.0
"""Brackets of buffers: waits of each ``get_buf`` (docs/spec/order_and_atomics.md, section 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tb.isa.pipes import Pipe
from tb.language.place import Place
from tb.language.trace import Barrier, GetBuf, Lane, RlsBuf, Step, lane_of

BRACKETS = "BF-03"
"""Rule of brackets: not nested, and each with its release on the same pipe."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the step of an index, with its rule; ``earlier`` is another step or -1."""

    index: int
    rule: str
    message: str
    earlier: int = -1
    legal: str = ""


@dataclass
class Buffers:
    """Result of the brackets of a program.

    Attributes:
        waits: Index of a ``get_buf`` to those of the ``rls_buf`` that it waits for, the last of
            each pipe; of a ``rls_buf`` of mode 1 to the last steps of the other pipes that have
            used the buffer.
        awaited: All of these steps.
        faults: Each place once.
        held: Steps that get a buffer that is never released.
    """

    waits: dict[int, tuple[int, ...]] = field(default_factory=dict)
    awaited: set[int] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    held: list[int] = field(default_factory=list)


class _Reader:
    """State of the buffers, while steps are taken in program order."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps = steps
        self.held: dict[tuple[int, int], dict[Pipe, int]] = defaultdict(dict)
        self.released: dict[tuple[int, int], dict[Pipe, int]] = defaultdict(dict)
        self.users: dict[tuple[int, int], dict[Pipe, None]] = defaultdict(dict)

    def get(self, index: int, step: GetBuf) -> Iterator[Fault]:
        """Takes a ``get_buf``."""
        held = self.held[step.core, step.buffer]
        if held and (step.pipe in held or not step.mode):
            pipe = step.pipe if step.pipe in held else next(reversed(held))
            since = f"{pipe.value} holds since the get_buf at {self.steps[held[pipe]].place}"
            if pipe is step.pipe:
                message = f"buffer: gets buffer {step.buffer} again, which {since}"
                yield Fault(index, BRACKETS, message, held[pipe], "a rls_buf of it before")
            else:
                message = f"deadlock: waits for ever for buffer {step.buffer}, which {since}"
                yield Fault(index, "", message, held[pipe], "a rls_buf of it before")
        held[step.pipe] = index
        self.users[step.core, step.buffer][step.pipe] = None

    def release(self, index: int, step: RlsBuf) -> Iterator[Fault]:
        """Takes a ``rls_buf``."""
        held = self.held[step.core, step.buffer]
        if held.pop(step.pipe, None) is None:
            message = (
                f"buffer: releases buffer {step.buffer}, which {step.pipe.value} does not hold"
            )
            for pipe, earlier in held.items():
                place = self.steps[earlier].place
                message += f": {pipe.value} does since the get_buf at {place}"
            yield Fault(index, BRACKETS, message, legal=f"a get_buf of {step.pipe.value} before")
        self.released[step.core, step.buffer][step.pipe] = index


def read_buffers(steps: tuple[Step, ...]) -> Buffers:
    """Returns the findings about the brackets of a program."""
    found = Buffers()
    if not any(isinstance(step, GetBuf | RlsBuf) for step in steps):
        return found
    state = _Reader(steps)
    last: dict[Lane, int] = {}
    seen: set[Place] = set()
    for index, step in enumerate(steps):
        faults: Iterator[Fault] = iter(())
        if isinstance(step, GetBuf):
            faults = state.get(index, step)
            if not step.mode:
                found.waits[index] = tuple(state.released[step.core, step.buffer].values())
        elif isinstance(step, RlsBuf):
            faults = state.release(index, step)
            if step.mode:
                pipes = [
                    pipe for pipe in state.users[step.core, step.buffer] if pipe is not step.pipe
                ]
                found.waits[index] = tuple(last[step.core, pipe] for pipe in pipes)
        for fault in faults:
            if step.place not in seen:
                seen.add(step.place)
                found.faults.append(fault)
        if isinstance(step, Barrier) and step.pipe is None:
            last.update({(step.core, pipe): index for pipe in Pipe})
        elif step.pipe is not None:
            last[lane_of(step)] = index
    for indices in found.waits.values():
        found.awaited.update(indices)
    found.held = sorted(index for held in state.held.values() for index in held.values())
    return found
