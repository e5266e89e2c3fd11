# SPDX-License-Identifier: Apache-2.0
"""Stores of UB that meet inside words of GM: row after row, and op after op."""

from __future__ import annotations

import numpy as np

from sequences.blocks import Lowered, block_of, lower_program
from sequences.constraints import OpConstraints
from sequences.fixpipe.ctrl import ctrl_of
from tb.isa.block import OpBlock
from tb.isa.ctrl import SetCtrl
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.dma.op import MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_DST, ATOMIC_OPS, ATOMIC_TYPES
from tb.isa.program import Entry
from tb.isa.spaces import UB_BLOCK

JOINED_OPS = 24
"""Most ops of such a block."""

_WORD = 64


def _shape(rng: np.random.Generator, size: int) -> tuple[int, int, int]:
    """Returns elements of a row, rows, and elements between two; ``size`` is that of an element."""
    crowded = rng.random() < 0.3  # many rows inside one word
    elements = 1 if crowded else int(np.exp(rng.uniform(0, np.log(3 * _WORD / size + 1))))
    rows = 1 if rng.random() < 0.5 else int(rng.integers(2, 7))
    if crowded:
        rows = int(rng.integers(8, 33))
    return elements, rows, 0 if rng.random() < 0.7 else int(rng.integers(1, _WORD // size + 1))


def _lowered(rng: np.random.Generator, op: MteUbGm, kind: str) -> Lowered:
    """Returns a store, most often under a CTRL that makes it an update of the type, if any."""
    program: Entry = (op,)
    if kind and rng.random() < 0.9:
        what = ATOMIC_OPS[str(rng.choice(list(ATOMIC_OPS)))]
        ctrl = ctrl_of("nosat" if rng.integers(2) else "", ATOMIC_TYPES[kind], what)
        program = (SetCtrl(ctrl), op, SetCtrl(0))
    return lower_program(program, DmaRegisters())[0]


def joined_block(rng: np.random.Generator, limits: OpConstraints) -> OpBlock:
    """Returns a block of stores, most of them atomic, each of which begins where one has ended.

    Every op has its own elements, so the order of the ops does not matter; sometimes it is another
    than that of the addresses. Most rows and ops follow without a gap, at any element of a word.

    Args:
        rng: Source of everything random.
        limits: Constraints; ``update``, ``windows``, ``ub_range``, ``max_rows`` and ``block_ops``
            are obeyed.
    """
    atomic = limits.update > 0 and rng.random() < 0.85
    kind = str(rng.choice(list(ATOMIC_TYPES))) if atomic else ""
    size = ATOMIC_BYTES[ATOMIC_TYPES[kind]] if atomic else 1
    pointer = ATOMIC_DST[kind][0] if atomic else "i8"
    window = limits.windows[int(rng.integers(len(limits.windows)))]
    reached = window.start + int(rng.integers(window.size // 2))
    reached += -reached % size
    source = limits.ub_range.start
    found: list[Lowered] = []
    for _ in range(int(rng.integers(8, JOINED_OPS + 1))):
        elements, rows, gap = _shape(rng, size)
        rows = min(rows, limits.max_rows)
        length, step = elements * size, (elements + gap) * size
        pitch = -(-length // UB_BLOCK) * UB_BLOCK
        if source + rows * pitch > limits.ub_range.end or len(found) == limits.block_ops:
            break
        op = MteUbGm(
            source, reached, length, rows, pitch, step,
            src_type=Ptr(pointer, "ub"), dst_type=Ptr(pointer, "gm"),
        )  # fmt: skip
        found.append(_lowered(rng, op, kind))
        source += rows * pitch
        reached += (rows - 1) * step + length
        if rng.random() < 0.3:
            reached += size * int(rng.integers(1, _WORD // size // 2 + 1))
    if rng.random() < 0.3:
        found = [found[k] for k in rng.permutation(len(found))]
    return block_of(found)
