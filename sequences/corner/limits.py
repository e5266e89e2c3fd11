# SPDX-License-Identifier: Apache-2.0
"""Legal ops at the limits of every form, found by a search: no rule and no operand is named here.

The widths of the fields, the rules and the sizes of the memories give the limits; a new op has them
from its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from sequences.corner.spots import across
from sequences.illegal.bases import bases
from sequences.illegal.climb import Climb, Fits, always, counts_of
from sequences.illegal.neighbours import can_be_scored
from sequences.illegal.operands import Path, operands, with_operand

BASES, CLIMBS = 12, 20
"""Legal ops of a form that the search starts from, and how often one of their operands climbs."""

WORDS = (1 << 16, 1 << 32)
"""Addresses of GM where a carry is easily lost: an op lies around each."""

NOP_BASES = 6
"""Those of them that become NOPs, too."""

MOST_BYTES, MOST_ROWS = 1 << 19, 1 << 14
"""Of an op: all of the largest local memory, also as rows of a block."""


def limit_ops(form: str, fits: Fits = always) -> Iterator[Any]:
    """Yields legal ops and NOPs of a v0.6 form that have operands at their highest values.

    Args:
        form: Name of the op.
        fits: Returns whether an op can be sent, as in a legacy form with narrower fields.
    """
    rng = np.random.default_rng(1)

    def sent(op: Any, desc: Any) -> bool:
        return can_be_scored(desc, MOST_BYTES, MOST_ROWS) and fits(op)

    live, nop = Climb(sent), Climb(sent, nop=True)
    drawn = [base.op for base in bases(rng, form, BASES) if live.legal(base.op)]
    climbed = Counter[Path]()
    for number in range(CLIMBS):
        op = drawn[number % len(drawn)]
        paths = list(operands(op))
        order = [paths[k] for k in rng.permutation(len(paths))]
        counts = counts_of(op, nop)
        if number < NOP_BASES:
            yield from _nops(nop, op, order, counts)
            yield from filter(live.legal, (across(op, end) for end in WORDS))
        first = min(order, key=climbed.__getitem__)
        climbed[first] += 1
        yield live.highest(op, first)
        others = [path for path in order if path != first]
        yield from _limits(live, op, first, others, counts, follow=number % 2 > 0)


def _limits(
    climb: Climb, op: Any, first: Path, others: list[Path], counts: set[Path], *, follow: bool
) -> Iterator[Any]:
    """Yields an op whose operand ``first`` is as high as possible; others are small, or follow."""
    op = climb.small(op, others, {})
    yield climb.highest(climb.twice(op, others, counts), first)
    op = climb.highest(op, first)
    yield op
    if follow:
        for path in others:
            op = climb.highest(op, path)
        yield op


def _nops(climb: Climb, op: Any, paths: list[Path], counts: set[Path]) -> Iterator[Any]:
    """Yields an op with each of its counts 0, and with all of them: alone, and the rest high."""
    for zeros in (*[[path] for path in paths if path in counts], counts):
        nop = op
        for path in zeros:
            nop = with_operand(nop, path, 0)
        if climb.legal(nop):
            yield nop
            for path in paths:
                if path not in zeros:
                    nop = climb.highest(nop, path)
            yield nop
