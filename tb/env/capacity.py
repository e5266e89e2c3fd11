# SPDX-License-Identifier: Apache-2.0
"""A probe of what the engines hold at a time, at the start of a run and at its end.

An engine that loses an op number, a queue entry or a burst credit after an error works on with
fewer, and every byte is right. The probe sends the same small ops of each form both times, while
everything that answers answers late and done waits, and compares the most in flight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import cocotb
import numpy as np
from cocotb.triggers import Timer

from sequences.constraints import OpConstraints
from sequences.draw.traffic import QUEUEING_SIZES, queueing_block
from sequences.op_filter import FilterChain
from tb.dut.constraints import Limits
from tb.env.context import RunContext
from tb.env.environment import CLOCK_NS, STATE_CLOCKS
from tb.harness.channels import events
from tb.harness.knobs import PROFILES, KnobProfile, late_answers
from tb.harness.mailbox_reader import SlotState
from tb.isa.block import OpBlock
from tb.isa.op import replace
from tb.isa.ops import LEGACY_FORMS, OPS, SLOTS
from tb.record.capacity import NOUNS, CapacityFigure
from tb.record.failure import Failure

FEWEST = 200
"""Transactions of a run from which on the probe is worth its clocks."""

SHORT = 1000
"""Transactions of a run below which the probe has one form of each slot, and short latencies."""

LATENCY, SHORT_LATENCY = 400, 100
"""Clocks until an answer."""

LOOKS = 4
"""Looks at what is in flight in that time."""

OPS_PER_BATCH = 32
"""Ops of a batch, at most: more than an engine holds."""

SIZES = ("tiny", "small")
"""Sizes of the ops of the first and of the second batch of a form: a word or two, some lines."""

_ANSWERS = {"r", "src", "b", "par", "flag"}
"""Events that an engine waits for, one after the other in the worst case."""

_STREAM = 46
"""Seed of the ops: they are the same in every run, and no other stimulus depends on them."""

_DRAWS = 16
"""Most draws of a batch until one has :data:`OPS_PER_BATCH` ops."""


Key = tuple[str, str]
"""Op and size of a batch."""


class ProbedTest(Protocol):
    """What a probe needs of its test, a :class:`tb.env.base_test.PtoTestBase`."""

    run: RunContext
    limits: Limits
    env: Any

    def narrowed(self) -> OpConstraints:
        """Returns the constraints of the ops."""
        ...

    def apply_profile(self, profile: KnobProfile) -> None:
        """Sets the knobs."""
        ...

    async def send(self, block: OpBlock) -> None:
        """Sends one block, to its end."""
        ...


class CapacityProbe:
    """Measures what the engines of a test hold, and reports what they have lost.

    Legacy forms are left out: their units are those of the v0.6 forms.
    """

    def __init__(self, test: ProbedTest) -> None:
        """Draws the ops; those that may not be sent are left out."""
        self._test, self._run = test, test.run
        self._short = self._run.settings.transactions < SHORT
        self._latency = SHORT_LATENCY if self._short else LATENCY
        batches = int(self._run.settings.options.get("capacity", 1))
        sizes = SIZES[:batches]
        self._sample = self._short or batches < len(SIZES)
        drawn = {(name, size): self._drawn(name, size) for name in self._names() for size in sizes}
        self._blocks = {key: block for key, block in drawn.items() if len(block)}

    def _names(self) -> list[str]:
        """Returns the forms to send: all, or one of each slot that the seed chooses."""
        settings = self._run.settings
        names = [name for name in settings.ops if name not in LEGACY_FORMS]
        if not self._sample:
            return names
        of_slots = ([name for name in names if OPS[name].slot == slot] for slot in SLOTS)
        return [some[settings.seed % len(some)] for some in of_slots if some]

    def _drawn(self, name: str, size: str) -> OpBlock:
        """Returns the ops of a batch that may be sent."""
        limits = replace(self._test.narrowed(), nop=0.0)
        chain = FilterChain(self._test.limits.filters)
        rng = np.random.default_rng((_STREAM, OPS[name].opcode))
        sizes = () if size == SIZES[0] else QUEUEING_SIZES
        block = queueing_block(rng, name, limits, sizes=sizes, most=OPS_PER_BATCH)
        for _ in range(1, _DRAWS):
            if len(block) == OPS_PER_BATCH:
                break
            other = queueing_block(rng, name, limits, sizes=sizes, most=OPS_PER_BATCH)
            block = max(block, other, key=len)
        return chain.select(block)

    async def begin(self) -> None:
        """Measures every batch, right after the first reset."""
        found = await self._measured(tuple(self._blocks))
        self._run.counts.capacity = [
            CapacityFigure(slot=OPS[name].slot, op=name, size=size, start=held)
            for (name, size), held in found.items()
        ]

    async def end(self) -> None:
        """Measures again, twice where an engine holds more or less, and reports what stays so."""
        figures = {(figure.op, figure.size): figure for figure in self._run.counts.capacity}
        for _ in range(2):
            again = [key for key, one in figures.items() if one.unlike or not one.end]
            for key, held in (await self._measured(again)).items():
                figure = figures[key]
                figure.end = nearest(figure.start, figure.end or held, held)
        for figure in figures.values():
            if figure.unlike and not self._run.aborted:
                self._fail(figure)

    async def _measured(self, keys: Sequence[Key]) -> dict[Key, dict[str, int]]:
        """Returns the most in flight by batch and by name of ``NOUNS``; nothing after an abort."""
        dispatcher, usual = self._test.env.dispatcher, self._run.profile
        dispatcher.probing = True
        found = {key: await self._held(key) for key in keys if not self._run.aborted}
        dispatcher.probing = False
        if usual:
            self._test.apply_profile(usual)
        return {} if self._run.aborted else found

    async def _held(self, key: Key) -> dict[str, int]:
        """Sends a batch; returns the most in flight until everything that can wait does."""
        self._test.apply_profile(late_answers(self._latency))
        watch = cocotb.start_soon(self._watched(key[0]))
        await self._test.send(self._blocks[key])
        return await watch

    async def _watched(self, name: str) -> dict[str, int]:
        """Looks at a slot until all it waits for was late, done too; then nothing is any more."""
        found: dict[str, int] = {}
        mailbox = self._run.mailbox
        for _ in range(LOOKS * (1 + len(_ANSWERS.intersection(events(name))))):
            await Timer((self._latency // LOOKS - STATE_CLOCKS) * CLOCK_NS, "ns")
            mailbox.set_knobs()  # requests the state of the slots
            await Timer(STATE_CLOCKS * CLOCK_NS, "ns")
            state = mailbox.state(SLOTS.index(OPS[name].slot))
            found = larger(found, in_flight(state)) if state else found
        self._test.apply_profile(PROFILES[0])
        return found

    def _fail(self, figure: CapacityFigure) -> None:
        """Reports all that an engine has lost of a batch as one failure."""
        report = "\n".join(f"LEAK: {line}" for line in figure.leaks)
        detail = Failure(
            kind="leak",
            slot=figure.slot,
            op=figure.op,
            field=", ".join(NOUNS[name] for name in figure.unlike),
            end_clock=int(self._run.mailbox.cycles),
            text=report,
        )
        self._run.fail(report, detail)


def in_flight(state: SlotState) -> dict[str, int]:
    """Returns the counts of a state that are not 0, by name of ``NOUNS``."""
    counts = {"ops": state.held, **state.open}
    return {name: counts[name] for name in NOUNS if counts[name]}


def nearest(
    start: Mapping[str, int], one: Mapping[str, int], other: Mapping[str, int]
) -> dict[str, int]:
    """Returns of each name the count of two measurements that is nearer to that of the start."""
    return {
        name: min((one.get(name, 0), other.get(name, 0)), key=lambda x: abs(x - start.get(name, 0)))
        for name in (*one, *other)
    }


def larger(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Returns the larger count of each name."""
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in (*one, *other)}
