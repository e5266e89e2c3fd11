# SPDX-License-Identifier: Apache-2.0
"""Knobs: latencies, stalls and limits of the harness with their ranges and profiles.

Random tests use the named :data:`PROFILES` in random order; tests of stress draw every knob with
:func:`draw_profile`. The classes of :data:`RANGES` are the bins of the coverage group ``knobs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tb.harness.layout import AFTER_VALID, KNOBS
from tb.isa.block import OpBlock
from tb.isa.op import replace


@dataclass(frozen=True, slots=True)
class KnobRange:
    """Distribution of a knob: a class by its weight, in it a uniform value.

    Attributes:
        lows: Least value of each class, ascending; the first is the least of all.
        high: Greatest value.
        weights: Chances of the classes; heavy ones are rarer, since they cost clocks.
        rest: Value in which the knob does nothing.
        labels: Names of the classes; their limits unless given.
        meaning: Meaning of the value, one line; empty for a knob of the mailbox, which has its own.
    """

    lows: tuple[int, ...]
    high: int
    weights: tuple[float, ...]
    rest: int
    labels: tuple[str, ...] = ()
    meaning: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes."""
        if self.labels:
            return self.labels
        ends = [*[low - 1 for low in self.lows[1:]], self.high]
        return tuple(
            str(low) if low == end else f"{low}..{end}"
            for low, end in zip(self.lows, ends, strict=True)
        )

    def index(self, value: int) -> int:
        """Returns the class of a value."""
        return max(0, int(np.searchsorted(self.lows, value, side="right")) - 1)

    def draw(self, rng: np.random.Generator) -> int:
        """Draws a value."""
        number = int(rng.choice(len(self.lows), p=self.weights))
        end = self.lows[number + 1] - 1 if number + 1 < len(self.lows) else self.high
        return int(rng.integers(self.lows[number], end + 1))


_LATENCY = KnobRange((1, 2, 17, 101), 200, (0.3, 0.4, 0.2, 0.1), 1)
_JITTER = KnobRange((0, 1, 9), 64, (0.5, 0.3, 0.2), 0)
_STALL = KnobRange(
    (0, 1, 65, 193),
    230,
    (0.5, 0.3, 0.14, 0.06),
    0,
    ("never", "up to 1 in 4", "up to 3 in 4", "up to 9 in 10"),
)

_AFTER_VALID = 0xAF7E6
"""Separates the random numbers of :class:`AfterValid` from others of a seed."""

RANGES: dict[str, KnobRange] = {
    "axi_read_latency": _LATENCY,
    "axi_read_jitter": _JITTER,
    "axi_write_latency": _LATENCY,
    "axi_write_jitter": _JITTER,
    "local_read_latency": _LATENCY,
    "local_read_jitter": _JITTER,
    "stall_ar": _STALL,
    "stall_r": _STALL,
    "stall_aw": _STALL,
    "stall_w": _STALL,
    "stall_b": _STALL,
    "stall_src_gnt": _STALL,
    "stall_dst_gnt": _STALL,
    "stall_done": _STALL,
    "max_outstanding": KnobRange((1, 2, 5, 17), 64, (0.1, 0.2, 0.3, 0.4), 64),
    "w_after_aw": KnobRange((0, 1), 1, (0.7, 0.3), 0),
    "ready_after_valid": KnobRange(
        (0, 1), (1 << len(AFTER_VALID)) - 1, (0.7, 0.3), 0, ("no channel", "some channels")
    ),
    "idle_clocks": KnobRange((0, 1, 64), 256, (0.1, 0.3, 0.6), 64, ("for ever", "1..63", "64..")),
    "burst_ops": KnobRange(
        (1, 2, 9), 64, (0.3, 0.4, 0.3), 1, meaning="descriptors offered in a row on each slot"
    ),
    "burst_gap": KnobRange(
        (0, 1, 33), 300, (0.6, 0.3, 0.1), 0, meaning="idle clocks before each such row"
    ),
}
"""Every knob by name. Stalls are clocks of 256, latencies, jitters and gaps clocks. The last two
are not knobs of the memories: they space the descriptors."""

PACE = tuple(name for name in RANGES if name not in KNOBS)
"""Knobs of the descriptors."""


@dataclass(frozen=True, slots=True)
class KnobProfile:
    """Named values of the knobs.

    Attributes:
        name: Its name.
        knobs: Values of knobs of the mailbox.
        pace: Values of the knobs that space the descriptors.
    """

    name: str
    knobs: Mapping[str, int]
    pace: Mapping[str, int] = field(default_factory=lambda: {x: RANGES[x].rest for x in PACE})

    @property
    def values(self) -> dict[str, int]:
        """Every knob."""
        return {**self.knobs, **self.pace}


def _profile(name: str, **knobs: int) -> KnobProfile:
    rest = {name: one.rest for name, one in RANGES.items() if name in KNOBS}
    return KnobProfile(name, {**rest, **knobs})


PROFILES: tuple[KnobProfile, ...] = (
    _profile("ideal"),
    _profile("latency40", axi_read_latency=40, axi_write_latency=20, local_read_latency=3),
    _profile("latency100", axi_read_latency=100, axi_write_latency=60, local_read_latency=6),
    _profile("read_stalls", axi_read_latency=8, stall_ar=64, stall_r=96),
    _profile("write_stalls", axi_write_latency=8, stall_aw=64, stall_w=96, stall_b=64),
    _profile("local_stalls", local_read_latency=4, stall_src_gnt=96, stall_dst_gnt=96),
    _profile("slow_done", stall_done=240, stall_b=32),
    _profile("slow_addresses", stall_ar=224, stall_aw=224),
    _profile("one_burst", axi_read_latency=6, axi_write_latency=5, max_outstanding=1),
    _profile("address_first", axi_write_latency=12, stall_aw=128, w_after_aw=1),
    _profile(
        "everything",
        axi_read_latency=17,
        axi_write_latency=11,
        stall_ar=40,
        stall_r=40,
        stall_aw=40,
        stall_w=40,
        stall_b=40,
        local_read_latency=2,
        stall_src_gnt=40,
        stall_dst_gnt=40,
        stall_done=40,
        idle_clocks=0,
    ),
)
"""Profiles of the random tests; every channel is stalled by at least one.

In ``everything`` idle slots keep their clock for ever, elsewhere for 64 clocks.
"""


def slow_sink(name: str) -> KnobProfile:
    """Returns a profile with the highest stall in the knob ``name``, and all else ideal."""
    return _profile(name.replace("stall", "slow"), **{name: RANGES[name].high})


def late_answers(clocks: int) -> KnobProfile:
    """Returns a profile in which answers come after many clocks, and done is not taken.

    Nothing else stalls: what an engine can have in flight is in flight before the first answer.
    """
    latencies = dict.fromkeys((name for name in RANGES if name.endswith("_latency")), clocks)
    return _profile("late_answers", **latencies, stall_done=255)


def near_latencies(rng: np.random.Generator) -> KnobProfile:
    """Returns a profile in which all ports answer after few clocks, each after its own number.

    In every third profile one channel stalls now and then.
    """
    knobs = {name: int(rng.integers(1, 25)) for name in RANGES if name.endswith("_latency")}
    if rng.random() < 1 / 3:
        knobs[str(rng.choice([name for name in RANGES if name.startswith("stall_")]))] = 96
    return _profile("near_latencies", **knobs)


def mixed_stalls(rng: np.random.Generator) -> KnobProfile:
    """Returns a profile in which each channel stalls by itself: never, at times, or mostly."""
    knobs = {
        name: int(rng.choice((0, 96, 208)))
        for name in RANGES
        if name.startswith("stall_") and name != "stall_done"
    }
    knobs |= {name: int(rng.integers(1, 17)) for name in RANGES if name.endswith("_latency")}
    return _profile("mixed_stalls", **knobs, w_after_aw=int(rng.random() < 0.2))


class AfterValid:
    """Draws the channel whose ready waits for valid, for the named profiles.

    Each channel comes once, in random order, in the first profiles: an engine whose valid waits
    for ready fails in a short run. Later a round has as many profiles without, since they cost
    fewer clocks. The draws are a stream of their own: they leave the other stimulus of a seed as
    it is.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng((seed, _AFTER_VALID))
        self._round: list[int] = []
        self._rests = 0

    def applied(self, profile: KnobProfile) -> KnobProfile:
        """Returns a profile with the next channel, or none, in ``ready_after_valid``."""
        if not self._round:
            values = [1 << bit for bit in range(len(AFTER_VALID))] + [0] * self._rests
            self._round = self._rng.permutation(values).tolist()
            self._rests = len(AFTER_VALID)
        return replace(profile, knobs={**profile.knobs, "ready_after_valid": self._round.pop()})


def without_axi(profile: KnobProfile) -> KnobProfile:
    """Returns a profile for a GM that gives its ready as it likes: in Python, on AR, AW and W."""
    value = profile.knobs.get("ready_after_valid", 0)
    axi = sum(1 << AFTER_VALID.index(name) for name in ("ar", "aw", "w"))
    return replace(profile, knobs={**profile.knobs, "ready_after_valid": value & ~axi})


def draw_profile(rng: np.random.Generator) -> KnobProfile:
    """Returns a profile with every knob drawn from its range."""
    (apart,) = rng.spawn(1)  # leaves the draws of the other knobs as they are
    drawn = {
        name: one.draw(apart if name == "ready_after_valid" else rng)
        for name, one in RANGES.items()
    }
    return KnobProfile(
        "drawn",
        {name: value for name, value in drawn.items() if name in KNOBS},
        {name: value for name, value in drawn.items() if name not in KNOBS},
    )


def paced(block: OpBlock, pace: Mapping[str, int]) -> OpBlock:
    """Returns a block whose descriptors come in rows with gaps between them, slot by slot."""
    ops, gap = pace["burst_ops"], pace["burst_gap"]
    if not gap:
        return block
    gaps, slots = block.gap.copy(), block.slot
    for slot in np.unique(slots):
        mine = np.flatnonzero(slots == slot)
        gaps[mine[::ops]] += gap
    return replace(block, gap=gaps)


def slowdown(knobs: Mapping[str, int]) -> float:
    """Returns how many clocks a beat may take where the channel it waits for stalls most."""
    worst = max(knobs.get(name, 0) for name in RANGES if name.startswith("stall_"))
    return 256.0 / (256 - worst) + bool(knobs.get("ready_after_valid"))
