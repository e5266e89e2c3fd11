# SPDX-License-Identifier: Apache-2.0
"""Draws batches that fill the queues of one unit: many ops of one form, and one slow sink."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sequences.constraints import OpConstraints
from sequences.draw.traffic import queueing_block
from tb.harness.knobs import KnobProfile, slow_sink
from tb.isa.block import OpBlock
from tb.isa.ops import LEGACY_FORMS, OPS

_QUEUES = 0x90E0E5
"""Separates the random numbers of :class:`QueueDraw` from others of a seed."""


DONE = "stall_done"
"""The sink behind which all op numbers of every unit come into use."""


def sinks(name: str) -> tuple[str, ...]:
    """Returns the knobs of the channels that an op waits for, but for its done."""
    spec = OPS[name]
    on_chip = ("stall_src_gnt",) if spec.source else ()
    reads = ("stall_ar", "stall_r") if spec.source == "gm" else on_chip
    in_gm = spec.destination == "gm"
    return (*reads, *(("stall_aw", "stall_w", "stall_b") if in_gm else ("stall_dst_gnt",)))


class QueueDraw:
    """Draws batches of one form under a profile with one slow sink and all others ideal.

    Done is slow in every second batch, another sink in those between; in both, each form comes
    once before any repeats. The draws are a stream of their own: they leave the other stimulus of
    a seed as it is. Legacy forms are left out, since they depend on registers that other stimulus
    writes.

    Args:
        seed: Seed of the run.
        ops: Ops and legacy forms of the run.
        limits: Constraints of the run, which the ops obey.
        fraction: Such batches for each other batch, above 0.
    """

    def __init__(
        self, seed: int, ops: Sequence[str], limits: OpConstraints, fraction: float
    ) -> None:
        self._rng = np.random.default_rng((seed, _QUEUES))
        self._limits = limits
        self._forms = [name for name in ops if name not in LEGACY_FORMS]
        self._round: list[tuple[str, str]] = []
        self._most = max(1, round(2 / fraction))
        self._others = int(self._rng.integers(self._most // 2 + 1))

    def due(self) -> bool:
        """Tells whether such a batch comes before the next other one; called once for each."""
        self._others -= 1
        if self._others >= 0 or not self._forms:
            return False
        self._others = int(self._rng.integers(self._most))
        return True

    def draw(self) -> tuple[OpBlock, KnobProfile]:
        """Returns a batch and its profile."""
        rng = self._rng
        if not self._round:
            with_done, with_other = (rng.permutation(self._forms).tolist() for _ in range(2))
            for one, other in zip(with_done, with_other, strict=True):
                self._round += [(other, str(rng.choice(sinks(other)))), (one, DONE)]
        name, sink = self._round.pop()
        block = queueing_block(rng, name, self._limits, tiny=sink == DONE)
        return block, slow_sink(sink)
