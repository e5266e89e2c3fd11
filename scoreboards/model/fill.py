# SPDX-License-Identifier: Apache-2.0
"""The fill of L1 (docs/spec/dma.md, section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoreboards.model.outcome import NOTHING, Explanation, Memory, Outcome
from scoreboards.model.registers import Registers
from tb.isa.fill.op import FillOp
from tb.isa.footprint import Footprint
from tb.isa.rules import first_d_violation
from tb.isa.spaces import Space
from tb.isa.status import Status

_BLOCK = 32


@dataclass(frozen=True, slots=True)
class Filled:
    """Runs of blocks that a pattern fills.

    Attributes:
        written: The runs.
        word: Bytes of the pattern, lowest first.
    """

    written: Footprint
    word: bytes

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Writes every run; there are no events."""
        start, length = self.written.base, self.written.length
        (count,), (step,) = self.written.counts, self.written.strides
        block = np.frombuffer(self.word * (_BLOCK // len(self.word)), np.uint8)
        # The distance of a run that is alone may be any number.
        step = step if count > 1 else length
        shape, strides = (count, length // _BLOCK, _BLOCK), (step, _BLOCK, 1)
        target = memories[Space.L1].data
        runs = np.ndarray(shape, np.uint8, target, start, strides)
        runs[...] = block
        return 0

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names the run, and the byte of the pattern."""
        (run,) = index
        if byte is None:
            return Explanation(f"run {run} of {self.written.counts[0]}")
        at = byte % len(self.word)
        value = int.from_bytes(self.word, "little")
        label = f"byte {at} of the pattern {value:#0{2 * len(self.word) + 2}x} in run {run}"
        return Explanation(f"{label}, block {byte // _BLOCK}")


def raw_fill(op: FillOp, legal: bool, _state: Registers) -> Outcome:
    """Returns the outcome of a ``raw_fill_l1``.

    Raises:
        ValueError: the pattern has neither 16 nor 32 bits (RF-L01).
    """
    if op.fill_word_bits not in (16, 32):
        raise ValueError(f"RF-L01: fill_word_bits is {op.fill_word_bits}: 16 or 32")
    if not legal:
        violation = first_d_violation(op)
        if violation is not None:
            return Outcome(Status.RULE, violation.rule.number)
    if not op.repeat or not op.blocks:
        return NOTHING
    first, size = op.dst + op.byte_offset, op.fill_word_bits // 8
    step = (op.blocks + op.gap) * _BLOCK
    runs = Footprint(Space.L1, first, op.blocks * _BLOCK, (op.repeat,), (step,))
    word = (op.raw & (1 << op.fill_word_bits) - 1).to_bytes(size, "little")
    nothing = Footprint(Space.L1, first, 0, (0,), (0,))
    return Outcome(Status.OK, 0, nothing, runs, transfer=Filled(runs, word))
