# SPDX-License-Identifier: Apache-2.0
"""Batches made for one purpose, which come among those of a random test.

Each kind has a stream of random numbers of its own, so that other stimulus of a seed is the same
with and without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scoreboards.faults import WRITES, Fault
from sequences.constraints import FIX_NAMES, UB_SIZE, OpConstraints, SizeClass
from sequences.draw.copies import CopyGenerator
from sequences.draw.joins import joined_block
from sequences.draw.traffic import QUEUEING_SIZES, queueing_block
from sequences.fixpipe.generator import FixGenerator
from tb.env.stress import Access, FaultDraw, accesses, draw_reset
from tb.harness.channels import events, reads, writes
from tb.harness.items import Aim, Reset
from tb.harness.knobs import KnobProfile, draw_profile, mixed_stalls, near_latencies, slow_sink
from tb.harness.layout import FAULTS
from tb.isa.block import OpBlock
from tb.isa.dma.table import UPDATED
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, OPS, SLOTS
from tb.isa.spaces import Space

DONE = "stall_done"
"""The sink after which all op numbers of every unit come into use."""

SHORT = 14
"""Most ops of a batch with errors that meet, or with an aimed reset."""

MEETINGS = 5
"""Times that a batch with two errors comes again, at most."""

ERRORS = 3
"""Resets after an error for each after another event of a form."""

LARGER = (SizeClass(512, 8192, 1.0),)
"""Sizes of most ops that meet errors before a reset."""

WORD = 32
"""Bytes of a word of a port, about; for the number of its events."""


@dataclass(frozen=True)
class Special:
    """A batch of a kind.

    Attributes:
        block: The ops.
        profile: Knobs while it runs.
        faults: Errors to inject.
        reset: Reset in the middle of it, or None.
        again: What comes next of its kind depends on this: of a reset the number of its interrupted
            ops that do not come again, of errors the times that the batch may come again; negative
            for nothing.
        pair: Of errors, the places of the two ops that meet them.
    """

    block: OpBlock
    profile: KnobProfile
    faults: Sequence[Fault] = ()
    reset: Reset | None = None
    again: int = -1
    pair: tuple[int, int] = (0, 0)


class Result(Protocol):
    """What a batch has left, as the dispatcher knows it.

    Attributes:
        cut_at: Place of its first op that had not retired at a reset.
        hits: Its erroneous responses, ``HIT[n]`` of the mailbox.
    """

    cut_at: int
    hits: NDArray[Any]


class BatchDraw(ABC):
    """Draws batches of one kind, each of one form.

    Legacy forms are left out, since they depend on registers that other stimulus writes.

    Args:
        seed: Seed of the run.
        ops: Ops and legacy forms of the run.
        limits: Constraints of the run, which the ops obey.
        fraction: Such batches for each other batch, above 0.
        faults: Draws their errors, with random numbers of its own; None for none.
    """

    stream: int
    """Separates the random numbers from others of a seed."""

    of_errors = False
    """Whether there is no such batch without errors."""

    def __init__(
        self,
        seed: int,
        ops: Sequence[str],
        limits: OpConstraints,
        fraction: float,
        faults: FaultDraw | None = None,
    ) -> None:
        self._faults = faults
        self._rng = np.random.default_rng((seed, self.stream))
        self._limits = limits
        self._forms = self.choice([name for name in ops if name not in LEGACY_FORMS])
        self._round: list[Any] = []
        self._most = max(1, round(2 / fraction))
        self._others = int(self._rng.integers(self._most // 2 + 1))

    def choice(self, names: list[str]) -> list[str]:
        """Returns the ops of the kind."""
        return names

    def due(self) -> bool:
        """Returns whether such a batch comes before the next other one; called once for each."""
        self._others -= 1
        if self._others >= 0 or not self._forms:
            return False
        self._others = int(self._rng.integers(self._most))
        return True

    @abstractmethod
    def draw(self) -> Special:
        """Returns a batch; there are ops of the kind."""

    def follow(self, special: Special, result: Result) -> Special | None:  # noqa: ARG002
        """Returns the batch that comes right after one of the kind, None for none of it."""
        return None

    def _turn(self, choice: Sequence[Any]) -> Any:
        """Returns one of ``choice``: each once, in random order, before any repeats."""
        if not self._round:
            self._round = [choice[k] for k in self._rng.permutation(len(choice))]
        return self._round.pop()

    def _errors(self, block: OpBlock, chance: float) -> list[Fault]:
        """Returns errors with a chance, none where the run has none."""
        if self._faults is None or self._rng.random() >= chance:
            return []
        return self._faults.draw(block, int(self._rng.integers(1, FAULTS + 1)))

    def _few(
        self, name: str, joined: float, sizes: tuple[SizeClass, ...] = QUEUEING_SIZES
    ) -> OpBlock:
        """Returns a block of few small ops of a form; a fraction of stores joins words."""
        if name in UPDATED and self._rng.random() < joined:
            block = joined_block(self._rng, self._limits)
            return block.take(0, min(len(block), SHORT))
        return queueing_block(self._rng, name, self._stateful, sizes=sizes, most=SHORT)

    @property
    def _stateful(self) -> OpConstraints:
        """The constraints, with more ops that keep a state over rows: packed blocks, unit flags."""
        limits = self._limits
        return replace(
            limits, small_c0=min(0.5, 3 * limits.small_c0), flag=min(0.7, 2.5 * limits.flag)
        )


class QueueDraw(BatchDraw):
    """Many ops under a profile with one slow sink and all others ideal: they fill the queues.

    Done is slow in every second batch, another sink in those between; in both, each form comes
    once before any repeats.
    """

    stream = 0x90E0E5

    def draw(self) -> Special:
        """Returns a batch; with errors in every second one, where the run has errors."""
        rng = self._rng
        if not self._round:
            with_done, with_other = (rng.permutation(self._forms).tolist() for _ in range(2))
            for one, other in zip(with_done, with_other, strict=True):
                self._round += [(other, str(rng.choice(sinks(other)))), (one, DONE)]
        name, sink = self._round.pop()
        sizes = () if sink == DONE else QUEUEING_SIZES
        block = queueing_block(rng, name, self._limits, sizes=sizes)
        return Special(block, slow_sink(sink), self._errors(block, 0.5))


def _moved(block: OpBlock) -> dict[int, Op]:
    """Returns the descriptors of the ops of a legal block that move bytes, by their places."""
    found = enumerate(map(block.issued, range(len(block))))
    return {index: desc for index, desc in found if not desc.is_nop}


def _kinds(name: str) -> int:
    """Returns the kinds of errors of an op that may meet, beside the first of them."""
    found = events(name)
    return max(1, sum(one in found for one in ("src", "r", "b", "dst", "par")) - 1)


def _stage(access: Access) -> int:
    """Returns when an access of an op comes: source, old value in GM, destination."""
    in_gm = access.region.space is Space.GM
    return 2 if access.side == WRITES else 1 if in_gm else 0


def _turns(event: str) -> int:
    """Returns how often a round aims at an event."""
    return ERRORS if event == "error" else 1


def sinks(name: str) -> list[str]:
    """Returns the knobs of the channels that an op waits for, but for its done."""
    waits = (*reads(name), *writes(name))
    return [f"stall_{one}_gnt" if one in ("src", "dst") else f"stall_{one}" for one in waits]


class JoinDraw(BatchDraw):
    """Stores that meet inside words, with a stall of its own on each channel."""

    stream = 0x501D

    def choice(self, names: list[str]) -> list[str]:
        """Returns the store of UB."""
        return [name for name in names if name in UPDATED]

    def draw(self) -> Special:
        """Returns a batch; with errors in every second one, where the run has errors."""
        block = joined_block(self._rng, self._limits)
        return Special(block, mixed_stalls(self._rng), self._errors(block, 0.5))


class LongDraw(BatchDraw):
    """One op of the largest rows and tiles: counters of words run to their upper bits."""

    stream = 0x1046

    def draw(self) -> Special:
        """Returns a batch; each form comes once before any repeats."""
        limits, rng = self._limits, self._rng
        name = self._turn(self._forms)
        narrowed = limits.max_bytes < OpConstraints.max_bytes
        most = limits.max_bytes if narrowed else UB_SIZE
        long = replace(
            limits,
            block_ops=1,
            sizes=(SizeClass(most // 4, most, 1.0),),
            max_bytes=most,
            max_gm_bytes=max(limits.max_gm_bytes, 2 * most - 8192),
            max_rows=min(limits.max_rows, 16),
            nop=0.0,
            far=0.0,
            legacy=0.0,
            big_nz=1.0,
            big_tile=1.0,
        )
        kind = FixGenerator if name in FIX_NAMES else CopyGenerator
        (block,) = kind(rng, (name,), long).draw(1)
        return Special(block, near_latencies(rng))


class MeetingDraw(BatchDraw):
    """Few small ops, of which one meets an error, and it or one of the next two another.

    A form comes the more often, the more kinds of accesses it has that may meet.

    The batch comes again and again, each time with the second op offered so many clocks later that
    the errors come at about the same clock: a clock before, with, and after each other.
    """

    stream = 0x3EE7
    of_errors = True

    def draw(self) -> Special:
        """Returns a batch."""
        rng = self._rng
        turns = [name for name in self._forms for _ in range(_kinds(name) ** 2)]
        block = self._few(self._turn(turns), 0.7)
        moved = _moved(block)
        if not moved:
            return Special(block, near_latencies(rng))
        places = list(moved)
        first = int(rng.integers(len(places)))
        second = min(first + int(rng.choice(3, p=(0.05, 0.7, 0.25))), len(places) - 1)
        pair = places[first], places[second]
        one, other = (accesses(moved[index]) for index in pair)
        faults = self._faults_of(one, other, int(block.slot[0]))
        start = max(0, pair[0] - 1)
        return Special(
            block.take(start, min(len(block), pair[1] + 3)),
            near_latencies(rng),
            [one for one in faults if one is not None],
            again=MEETINGS,
            pair=(pair[0] - start, pair[1] - start),
        )

    def follow(self, special: Special, result: Result) -> Special | None:
        """Returns the batch with the errors nearer to each other, if that needs a later op only."""
        clocks = [result.hits["cycle"][result.hits["fault"] == number] for number in (0, 1)]
        first, second = special.pair
        sent = second < len(special.block)  # N may end before it
        if not (sent and special.again and first < second and all(map(len, clocks))):
            return None
        shift = int(clocks[0][0]) - int(clocks[1][0]) + int(self._rng.integers(-1, 2))
        gap = special.block.gap.copy()
        if gap[second] + shift < 0:
            return None
        gap[second] += shift
        return replace(special, block=replace(special.block, gap=gap), again=special.again - 1)

    def _faults_of(
        self, one: Sequence[Access], other: Sequence[Access], slot: int
    ) -> list[Fault | None]:
        """Returns an error of each op.

        Most often an access of the first op that comes late in it and one of the other that comes
        early: offered later, the other op meets it.
        """
        pairs = list(product(one, other))
        late = [(first, second) for first, second in pairs if _stage(first) > _stage(second)]
        choice = late if late and self._rng.random() < 0.85 else pairs
        return [self._at(access, slot) for access in choice[int(self._rng.integers(len(choice)))]]

    def _at(self, region: Access, slot: int) -> Fault | None:
        """Returns an error of the first or the last bytes of a region of an op."""
        starts = region.region.row_starts()
        last = self._rng.random() < 0.6
        address = int(starts[-1]) + region.region.length - 1 if last else int(starts[0])
        assert self._faults is not None
        return self._faults.granule(region, slot, address)


class AimDraw(BatchDraw):
    """Few small ops with a reset some clocks after an event at their ports.

    Each event that a slot may have comes once before any repeats, an error more often, with one of
    the forms that may cause it. Ops that meet errors are larger: the bursts of an op that are given
    up take their time, too.
    """

    stream = 0xA13ED

    @cached_property
    def _aims(self) -> list[tuple[tuple[str, str], list[str]]]:
        """Each slot and event as often as a round has it, with the forms that may cause it."""
        aims: dict[tuple[str, str], list[str]] = {}
        for name in self._forms:
            for event in events(name):
                if event != "error" or self._faults is not None:
                    aims.setdefault((OPS[name].slot, event), []).append(name)
        return [(aim, aims[aim]) for aim in aims for _ in range(_turns(aim[1]))]

    def draw(self) -> Special:
        """Returns a batch; its ops come again in three of five."""
        rng = self._rng
        (slot, event), names = self._turn(self._aims)
        error = event == "error"
        name = str(rng.choice(names))
        block = self._few(name, 0.6, LARGER if error and rng.random() < 0.7 else QUEUEING_SIZES)
        if rng.random() < 0.3:  # no op before or after it is in flight
            block = block.take(0, min(len(block), int(rng.integers(1, 3))))
        faults = self._errors(block, 1.0 if error else 0.15)
        aim = Aim(SLOTS.index(slot), event, self._count(block, event))
        most = 100 if error or rng.random() < 0.2 else 12
        after = int(np.exp(rng.uniform(0, np.log(most + 1)))) - 1
        reset = replace(draw_reset(rng), after=after, aim=aim)
        again = -1 if rng.random() < 0.4 else int(rng.choice(4, p=(0.55, 0.15, 0.15, 0.15)))
        return Special(block, draw_profile(rng), faults, reset, again)

    def _count(self, block: OpBlock, event: str) -> int:
        """Returns which one of the events to wait for; there may be fewer."""
        rng, most = self._rng, len(block)
        if event in ("desc", "done"):
            return int(rng.integers(1, most + 1))
        if event in ("r", "w", "src", "dst", "flag"):
            regions = [one.region for desc in _moved(block).values() for one in accesses(desc)]
            most += sum(region.bytes for region in regions) // WORD
        return int(np.exp(rng.uniform(0, np.log(most + 1))))

    def follow(self, special: Special, result: Result) -> Special | None:
        """Returns the interrupted ops again, or some of them."""
        if special.again < 0:
            return None
        first = min(result.cut_at + special.again, len(special.block))
        block = special.block.take(first, len(special.block))
        return Special(block, special.profile, self._later(block))

    def _later(self, block: OpBlock) -> list[Fault]:
        """Returns errors for two of five blocks, every second time one at the very first bytes."""
        moved = _moved(block)
        if self._faults is None or not moved or self._rng.random() < 0.6:
            return []
        if self._rng.random() < 0.5:
            return self._errors(block, 1.0)
        first = accesses(next(iter(moved.values())))[0]
        fault = self._faults.granule(first, int(block.slot[0]), first.region.base)
        return [] if fault is None else [fault]


KINDS: Mapping[str, type[BatchDraw]] = {
    "queues": QueueDraw,
    "joins": JoinDraw,
    "long": LongDraw,
    "meeting": MeetingDraw,
    "aimed": AimDraw,
}
"""Kinds of batches by the option of a test with their fraction."""
