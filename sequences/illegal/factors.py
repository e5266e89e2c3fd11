# SPDX-License-Identifier: Apache-2.0
"""Illegal ops among small operands: one bit of one operand, or two powers of two that multiply.

Only the upper bits of one factor, or of one product, then break the rule: an engine that loses one
of them takes the op for legal.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from sequences.illegal.bases import bases
from sequences.illegal.climb import Climb, counts_of
from sequences.illegal.neighbours import UNITS, Neighbour, judged, lowered
from sequences.illegal.operands import (
    Path,
    field_bits,
    operand,
    operands,
    widths,
    with_operand,
)
from tb.isa.footprint import destinations, source

MODES = 24
"""Legal ops of a form that are made small: among them every pair of clauses, types and flags."""

PARTNER = 0.75
"""Fraction of limits that are searched for an operand that multiplies with the one with the bit."""

PROBES = (64, 128)
"""Values of two operands that show whether an address depends on their product."""


@dataclass(frozen=True)
class Start:
    """A legal op with small operands.

    Attributes:
        op, ctrl: The op, and the value of CTRL that it is issued with.
        least: Least values of its operands: 0, 1, or 2 for counts.
        lowest: Each operand of the op with least values of 0.
        pairs: Pairs of operands whose product is part of an address.
    """

    op: Any
    ctrl: int
    least: int
    lowest: Mapping[Path, int]
    pairs: tuple[tuple[Path, Path], ...]

    def plus(self, kind: str, *values: tuple[Path, int]) -> Neighbour:
        """Returns the op with operands that are their lowest values and others added to these."""
        one = Neighbour(self.op, self.ctrl, kind)
        for path, value in values:
            one = one.changed(kind, path, self.lowest[path] + value)
        return one


def starts(rng: np.random.Generator, form: str) -> Iterator[Start]:
    """Yields small ops of a form, of each geometry: with strides of 0, of 1, and counts of 2."""
    live, nop = Climb(lambda *_: True), Climb(lambda *_: True, nop=True)
    seen = set()
    for base in bases(rng, form, MODES, together=2):
        mode = geometry(base.op)
        if mode in seen or not live.legal(base.op):
            continue
        seen.add(mode)
        paths = list(operands(base.op))
        order = [paths[k] for k in rng.permutation(len(paths))]
        counts = counts_of(base.op, nop)
        small = live.small(base.op, order, {})
        pairs = tuple(pair for pair in combinations(paths, 2) if multiply(small, *pair))
        ones = live.small(base.op, order, dict.fromkeys(paths, 1))
        for least, op in enumerate((small, ones, live.twice(small, order, counts))):
            yield Start(op, base.ctrl, least, operands(small), pairs)


def geometry(op: Any) -> object:
    """Returns the rows that an op of these clauses and types has with other, fixed operands."""
    for number, path in enumerate(operands(op)):
        op = with_operand(op, path, PROBES[0] + 2 * number)
    desc = lowered(op, 0)
    return desc and (source(desc), destinations(desc))


def multiply(op: Any, first: Path, second: Path) -> bool:
    """Returns whether a first or last address of an op depends on the product of two operands."""
    mixed = Counter[int]()
    for one, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
        changed = with_operand(with_operand(op, first, PROBES[one]), second, PROBES[other])
        desc = lowered(changed, 0)
        if desc is None or desc.is_nop:
            return False
        for number, side in enumerate((source(desc), *destinations(desc))):
            for end, value in enumerate((side.base, side.end)):
                mixed[2 * number + end] += value if one == other else -value
    return any(mixed.values())


def factors(rng: np.random.Generator, form: str, most: int) -> list[tuple[int, Neighbour]]:
    """Returns rule and op of at most ``most`` ops that break a rule.

    Each bit of each operand, and each pair of operands that multiply with each power of two that
    their product can pass, comes once before any comes in another geometry.
    """
    kinds: dict[tuple[object, ...], list[Callable[[], Neighbour]]] = defaultdict(list)
    for start in starts(rng, form):
        for path, value in start.lowest.items():
            bits, legal = field_bits(start.op, path), min(widths(start.op, path))
            for bit in range(value.bit_length(), bits + 1):
                found = kinds[start.least, path, bit]
                if bit < legal or not found:  # Wider ones are the same everywhere.
                    found.append(partial(_alone, rng, start, path, 1 << bit))
            ones = (1 << legal) - 1 - value
            kinds[start.least, path, "ones"].append(partial(_alone, rng, start, path, ones))
        for pair in start.pairs if start.least == 1 else ():
            for power in range(sum(min(widths(start.op, path)) for path in pair)):
                for make in (_powers, _factors):
                    kinds[make, pair, power].append(partial(make, rng, start, *pair, power))
    turns = [
        (turn, rng.random(), ways[k])
        for ways in kinds.values()
        for turn, k in enumerate(rng.permutation(len(ways)))
    ]
    chosen: list[tuple[int, Neighbour]] = []
    for _, _, make in sorted(turns, key=lambda turn: turn[:2]):
        one = make()
        rule = judged(one)
        if rule > 0:
            chosen.append((rule, one))
        if len(chosen) == most:
            break
    return chosen


def _alone(rng: np.random.Generator, start: Start, path: Path, value: int) -> Neighbour:
    """Returns an op with a value added to one operand; a legal one just beyond a limit.

    The limit is that of another operand: without the value the op would be legal.
    """
    one = start.plus("alone", (path, value))
    if judged(one):
        return one
    others = [other for other in operands(one.op) if other != path]
    partners = [other for other in others if {(path, other), (other, path)} & {*start.pairs}]
    chosen = partners if partners and rng.random() < PARTNER else others
    other = chosen[int(rng.integers(len(chosen)))]
    top = operand(one.op, other)
    for bit in range(min(widths(one.op, other)), -1, -1):
        if not judged(one.changed("beyond", other, top + (1 << bit))):
            top += 1 << bit
    beyond = [one.changed("beyond", other, top + step) for step in UNITS]
    return max(beyond, key=judged)


def _powers(
    rng: np.random.Generator, start: Start, first: Path, second: Path, power: int
) -> Neighbour:
    """Returns an op with two factors that are powers of two, and whose product is one."""
    high, other = (min(widths(start.op, path)) - 1 for path in (first, second))
    low = int(rng.integers(min(max(0, power - other), high), min(power, high) + 1))
    return start.plus("powers", (first, 1 << low), (second, 1 << power - low))


def _factors(
    rng: np.random.Generator, start: Start, first: Path, second: Path, power: int
) -> Neighbour:
    """Returns an op with two factors of similar size whose product is just above a power of two."""
    low = min(power // 2, min(widths(start.op, first)) - 1)
    factor = (1 << low) + int(rng.integers(1 << low))
    return start.plus("factors", (first, factor), (second, -(-(1 << power) // factor)))
