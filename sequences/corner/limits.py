# SPDX-License-Identifier: Apache-2.0
"""Legal ops at the limits of every form, found by a search: no rule and no operand is named here.

The widths of the fields, the rules and the sizes of the memories give the limits; a new op has them
from its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sequences.corner.spots import across
from sequences.illegal.bases import bases
from sequences.illegal.neighbours import can_be_scored
from sequences.illegal.operands import Path, operand, operands, widths, with_operand
from tb.isa.lower import lower
from tb.isa.rules import first_d_violation, s_violations
from tb.isa.spaces import UB_BLOCK

BASES, CLIMBS = 12, 20
"""Legal ops of a form that the search starts from, and how often one of their operands climbs."""

WORDS = (1 << 16, 1 << 32)
"""Addresses of GM where a carry is easily lost: an op lies around each."""

NOP_BASES = 6
"""Those of them that become NOPs, too."""

MOST_BYTES, MOST_ROWS = 1 << 19, 1 << 14
"""Of an op: all of the largest local memory, also as rows of a block."""

Fits = Callable[[Any], bool]


def always(_: Any) -> bool:
    """Tells of every op that it can be sent."""
    return True


@dataclass(frozen=True)
class Search:
    """A search among the ops that a form can express.

    Attributes:
        fits: Tells whether an op is one of the form.
        nop: Whether NOPs are searched, else ops that move something.
    """

    fits: Fits
    nop: bool

    def legal(self, op: Any) -> bool:
        """Tells whether an op can be sent: it breaks no rule, and its result is defined."""
        try:
            desc = lower(op, 0)
        except (ValueError, KeyError):
            return False
        return (
            desc.is_nop is self.nop
            and not first_d_violation(desc)
            and not s_violations(op)
            and can_be_scored(desc, MOST_BYTES, MOST_ROWS)
            and self.fits(op)
        )

    def highest(self, op: Any, path: Path) -> Any:
        """Returns ``op`` with an operand raised as far as ever smaller steps keep it legal."""
        width = min(widths(op, path))
        top = (1 << width) - 1
        op = self.tried(op, path, top)
        for bit in range(width, -1, -1) if operand(op, path) < top else ():
            op = self.tried(op, path, operand(op, path) + (1 << bit))
        return op

    def lowest(self, op: Any, path: Path, least: int) -> Any:
        """Returns ``op`` with an operand lowered as far as it stays legal, to ``least`` at best."""
        op = self.tried(op, path, min(operand(op, path), least))
        for bit in range((operand(op, path) - least).bit_length() - 1, -1, -1):
            if operand(op, path) - (1 << bit) >= least:
                op = self.tried(op, path, operand(op, path) - (1 << bit))
        return op

    def small(self, op: Any, paths: list[Path], least: Mapping[Path, int]) -> Any:
        """Returns ``op`` with the lowest values of operands from ``least`` on, 0 by default."""
        for path in paths * 2:
            op = self.lowest(op, path, least.get(path, 0))
        return op

    def tried(self, op: Any, path: Path, value: int) -> Any:
        """Returns ``op`` with a value for an operand, or as it is when that is illegal."""
        if value >> min(widths(op, path)):
            return op
        changed = with_operand(op, path, value)
        return changed if self.legal(changed) else op


def limit_ops(form: str, fits: Fits = always) -> Iterator[Any]:
    """Yields legal ops and NOPs of a v0.6 form that have operands at their highest values.

    Args:
        form: Name of the op.
        fits: Tells whether an op can be sent, as in a legacy form with narrower fields.
    """
    rng = np.random.default_rng(1)
    live, nop = Search(fits, nop=False), Search(fits, nop=True)
    drawn = [base.op for base in bases(rng, form, BASES) if live.legal(base.op)]
    climbed = Counter[Path]()
    for number in range(CLIMBS):
        op = drawn[number % len(drawn)]
        paths = list(operands(op))
        order = [paths[k] for k in rng.permutation(len(paths))]
        zeros = [path for path in order if nop.legal(with_operand(op, path, 0))]
        if number < NOP_BASES:
            yield from _nops(nop, op, order, zeros)
            yield from filter(live.legal, (across(op, end) for end in WORDS))
        counts = {path for path in order if path in zeros or str(path[-1]).endswith("count")}
        first = min(order, key=climbed.__getitem__)
        climbed[first] += 1
        yield live.highest(op, first)
        others = [path for path in order if path != first]
        yield from _limits(live, op, first, others, counts, follow=number % 2 > 0)


def _limits(
    search: Search, op: Any, first: Path, others: list[Path], counts: set[Path], *, follow: bool
) -> Iterator[Any]:
    """Yields an op whose operand ``first`` is as high as possible; others are small, or follow."""
    op = search.small(op, others, {})
    apart = op
    for number, path in enumerate(path for path in (first, *others) if path not in counts):
        apart = search.tried(apart, path, max(operand(apart, path), UB_BLOCK << number))
    for path in counts:  # A count of 1 would hide the strides beside it.
        apart = search.tried(apart, path, max(operand(apart, path), 2))
    yield search.highest(search.small(apart, others, dict.fromkeys(counts, 2)), first)
    yield (op := search.highest(op, first))
    if follow:
        for path in others:
            op = search.highest(op, path)
        yield op


def _nops(search: Search, op: Any, paths: list[Path], counts: list[Path]) -> Iterator[Any]:
    """Yields an op with each of its counts 0, and with all of them: alone, and the rest high."""
    for zeros in (*[[path] for path in counts], counts):
        nop = op
        for path in zeros:
            nop = with_operand(nop, path, 0)
        if search.legal(nop):
            yield nop
            for path in paths:
                if path not in zeros:
                    nop = search.highest(nop, path)
            yield nop
