# SPDX-License-Identifier: Apache-2.0
"""Illegal and near-limit ops of every form: one or two operands of a legal op changed.

No rule and no family is named here. The values come from the widths of the fields of a
descriptor and from a search for the limit of each operand; the rule table judges every op.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from sequences.constraints import MAX_FAR_ROWS
from sequences.fixpipe.ctrl import STORED_BITS, ctrl_of
from sequences.illegal.bases import SMALL, Base, bases
from sequences.illegal.operands import (
    Path,
    bits_of_type,
    field_bits,
    operand,
    operands,
    text_of,
    widths,
    with_operand,
)
from tb.isa.descriptor import field_values
from tb.isa.dma.legacy import CopyUbufToUbuf, lower_ubuf_copy
from tb.isa.footprint import destinations, source
from tb.isa.lower import lower, reads_ctrl
from tb.isa.op import Op
from tb.isa.ops import LEGACY_FORMS, OPS
from tb.isa.rules import (
    LOWERING_RULES,
    d_violations,
    first_d_violation,
    lowering_predicates,
    lowering_violation,
    s_predicates,
    s_violations,
    t_violations,
)
from tb.isa.spaces import SEGMENTS, UB_BLOCK, Space

_T = TypeVar("_T")

ENDS = sorted(
    {end for parts in SEGMENTS.values() for part in parts for end in (part.start, part.stop)}
)
"""First addresses of the memories and of their segments, and the first ones after them."""

BASES = 24
"""Legal ops that are changed, at most."""

ENOUGH = 8
"""Ops found for a rule that end the search."""

QUOTA, OPERAND_QUOTA = 12, 2
"""Ops of a form for one rule, and legal ones: so many, or so many for each operand."""

PAIR_QUOTA = 2
"""Ops of a form for two rules that are both broken."""

UNITS = (1, 2, 16, 32, 64, 512)
"""Values just beyond the limit of an operand: by a byte, an element, a row of fractals, a block, a
parameter, a fractal."""

BITS, SEARCHED, EDGES, NOPS, UPDATES = 3, 4, 3, 6, 3
"""In each round: inverted bits of each operand, operands whose limit is searched, rules whose edges
are, changed operands of a NOP, and values of CTRL."""

MOST_BYTES, MOST_ROWS = 1 << 16, 4096
"""Of legal ops, which the simulator has to carry out."""

HINT_RULES = ("DMA-L15", "FIX-L13")
"""S rules of constants that the engine also checks: the widths of hints."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A legal op with some operands changed.

    Attributes:
        op: The op.
        ctrl: Value of CTRL that it is issued with.
        kind: Way of the change: ``bit``, ``few``, ``far``, ``end``, ``same``, ``limit``, ``edge``,
            ``nop``, ``once``, ``pair`` or ``ctrl``.
        changes: Changed operands, with their values.
        distance: How far the last change is from the value of the legal op.
    """

    op: Any
    ctrl: int
    kind: str
    changes: tuple[tuple[Path, int], ...] = ()
    distance: int = 0

    def changed(self, kind: str, path: Path, value: int) -> Neighbour:
        """Returns the neighbour with one more operand changed."""
        changes = (*self.changes, (path, value))
        distance = abs(value - operand(self.op, path))
        return Neighbour(with_operand(self.op, path, value), self.ctrl, kind, changes, distance)

    @property
    def name(self) -> str:
        """The kind and the changes, for reports."""
        values = [f"{text_of(path)} = {value:#x}" for path, value in self.changes]
        return ", ".join([self.kind, *values])


def lowered(op: Any, ctrl: int) -> Op | None:
    """Returns the descriptor of an op, or None when it has none."""
    try:
        return lower_ubuf_copy(op) if isinstance(op, CopyUbufToUbuf) else lower(op, ctrl)
    except (ValueError, KeyError):
        return None


def has_meaning(one: Neighbour) -> bool:
    """Returns whether typed bits fit their type, and the descriptor signs for negative values."""
    if any(value >> bits_of_type(one.op, path) for path, value in one.changes if value > 0):
        return False
    if all(value >= 0 for _, value in one.changes):
        return True
    desc = None if isinstance(one.op, CopyUbufToUbuf) else lowered(one.op, one.ctrl)
    return desc is not None and min(field_values(desc).values()) >= 0


def broken(one: Neighbour) -> list[int]:
    """Returns every rule that an op breaks, ascending; of ``copy_ubuf_to_ubuf`` at lowering."""
    if isinstance(one.op, CopyUbufToUbuf):
        return [rule.number for rule, holds in lowering_predicates().items() if holds(one.op)]
    desc = lowered(one.op, one.ctrl)
    return [found.rule.number for found in d_violations(desc)] if desc else []


def judged(one: Neighbour) -> int:
    """Returns the lowest rule that an op breaks, 0 for a legal one, -1 for one without meaning."""
    if not has_meaning(one):
        return -1
    if isinstance(one.op, CopyUbufToUbuf):
        violation = lowering_violation(one.op)
    else:
        desc = lowered(one.op, one.ctrl)
        if desc is None:
            return -1
        violation = first_d_violation(desc)
    return violation.rule.number if violation else 0


def is_nop(one: Neighbour) -> bool:
    """Returns whether an op moves nothing."""
    desc = lowered(one.op, one.ctrl)
    return desc is not None and desc.is_nop


def can_be_scored(desc: Op, most_bytes: int = MOST_BYTES, most_rows: int = MOST_ROWS) -> bool:
    """Returns whether the result of a legal op is defined, and whether the op is small."""
    for side in () if desc.is_nop else (source(desc), *destinations(desc)):
        far = side.space is Space.GM and side.end - side.base > SMALL.max_gm_bytes
        if side.rows > (MAX_FAR_ROWS if far else most_rows) or side.bytes > most_bytes:
            return False
    return not t_violations(desc)


def can_be_sent(one: Neighbour, *, legal: bool) -> bool:
    """Returns whether the front end takes an op, and whether a legal one can be scored."""
    if isinstance(one.op, CopyUbufToUbuf):
        if not legal:
            return True
    elif any(found.rule.name not in HINT_RULES for found in s_violations(one.op)):
        return False
    desc = lowered(one.op, one.ctrl)
    return desc is not None and (not legal or can_be_scored(desc))


class Search:
    """Collects neighbours of legal ops by the rule that they break and the way to break it.

    Args:
        rng: Source of randomness.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._found: dict[int, dict[tuple[object, ...], list[Neighbour]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._pairs: dict[tuple[int, int], int] = defaultdict(int)
        self._untried: dict[tuple[str, Path], list[int]] = defaultdict(list)
        self._searched = Counter[Path]()

    def count(self, rule: int) -> int:
        """Returns how many ops were found that break a rule, and no lower one."""
        return sum(len(ops) for ops in self._found[rule].values())

    def noted(self) -> Iterator[tuple[int, Neighbour]]:
        """Yields rule and op of everything that was found."""
        for rule, ways in self._found.items():
            for found in ways.values():
                yield from ((rule, one) for one in found)

    def around(self, base: Base) -> None:
        """Notes neighbours of a legal op: one round."""
        start = Neighbour(base.op, base.ctrl, "")
        values = operands(base.op)
        singles: dict[int, list[Neighbour]] = defaultdict(list)
        for path in values:
            for one in self._spread(start, path, values):
                singles[self._note(one)].append(one)
        for path in self._rarest(values, SEARCHED):
            for one in self._limit(start, "limit", path, values[path]):
                singles[self._note(one)].append(one)
        self._edges(singles, values)
        self._count_of_0_or_1(start, values, singles)
        self._two_rules(singles)
        if reads_ctrl(base.op):
            self._under_ctrl(start, values)

    def _note(self, one: Neighbour) -> int:
        """Adds an op under the rule that it breaks, and returns the rule as :func:`judged`."""
        rule = judged(one)
        if rule >= 0:
            self._found[rule][one.kind, one.changes[-1][0]].append(one)
        return rule

    def _some(self, items: list[Path], count: int) -> list[Path]:
        return [items[k] for k in self._rng.permutation(len(items))[:count]]

    def _spread(
        self, start: Neighbour, path: Path, values: Mapping[Path, int]
    ) -> Iterator[Neighbour]:
        """Yields an op with single bits of an operand inverted, and with other values.

        Later rounds continue with the bits and values that were not tried.
        """
        value = values[path]
        width, legal = widths(start.op, path)
        for bit in self._next("bit", path, range(width + 1), BITS):
            yield start.changed("bit", path, value ^ (1 << bit))
        for few in self._next("few", path, range(2), 1):
            yield start.changed("few", path, few)
        ones = (1 << width) - 1
        far = (1 << legal, ones, ones + 1 + value, (1 << 61) + value, -UB_BLOCK)
        for other in self._next("far", path, far, 1):
            yield start.changed("far", path, other)
        for end in self._next("end", path, ENDS, 1):
            yield start.changed("end", path, end)
        order = sorted({*values.values()})
        place = order.index(value)
        near = order[max(place - 2, 0) : place] + order[place + 1 : place + 3]
        for k in self._rng.permutation(len(near))[:1].tolist():
            yield start.changed("same", path, near[k])

    def _next(self, kind: str, path: Path, items: Sequence[_T], count: int) -> list[_T]:
        """Returns some of ``items``, in later rounds those that were not returned before."""
        left = self._untried[kind, path]
        while len(left) < count:
            left[:0] = self._rng.permutation(len(items)).tolist()
        return [items[left.pop() % len(items)] for _ in range(count)]

    def _rarest(self, values: Iterable[Path], count: int) -> list[Path]:
        """Returns the operands whose limit was searched least: those of rare clauses come first."""
        chosen = sorted(self._some(list(values), len(list(values))), key=self._searched.__getitem__)
        self._searched.update(chosen[:count])
        return chosen[:count]

    def _edges(self, singles: dict[int, list[Neighbour]], values: dict[Path, int]) -> None:
        """Notes ops on both sides of the value at which a changed op no longer breaks its rule.

        So limits are found that a rule has in the modes that it forbids, as where a stride is 0.
        """
        for rule in self._rng.permutation(sorted(x for x in singles if x > 0))[:EDGES].tolist():
            one = singles[rule][int(self._rng.integers(0, len(singles[rule])))]
            others = [path for path in values if path != one.changes[0][0]]
            for path in self._next("edge", (rule,), others, 1):
                for edge in self._limit(one, "edge", path, values[path]):
                    self._note(edge)

    def _limit(self, start: Neighbour, kind: str, path: Path, value: int) -> Iterator[Neighbour]:
        """Yields an op with the highest or lowest legal value, and with the values just beyond.

        The search takes ever smaller steps as long as the op stays legal, or breaks the same rule.
        Values just beyond are the nearest ones that break each rule, or none.
        """
        _, width = widths(start.op, path)
        sign = 1 if self._rng.random() < 0.75 else -1
        same = judged(start) if start.changes else 0
        for bit in range(width, -1, -1):
            other = value + sign * (1 << bit)
            if other >= 0 and judged(start.changed(kind, path, other)) == same:
                value = other
        yield start.changed(kind, path, value)
        rules = set()
        for step in UNITS:
            if value + sign * step >= 0:
                one = start.changed(kind, path, value + sign * step)
                rule = judged(one)
                if rule not in rules:
                    yield one
                rules.add(rule)

    def _count_of_0_or_1(
        self, start: Neighbour, values: dict[Path, int], singles: dict[int, list[Neighbour]]
    ) -> None:
        """Notes neighbours of the op with a count of 0, a NOP, and of 1, which frees strides.

        Each rule that a change of the op broke is broken by that change of the NOP, too.
        """
        counts = [path for path in values if is_nop(start.changed("", path, 0))]
        for count in self._some(counts, 1):
            nop, once = (start.changed("", count, value) for value in (0, 1))
            self._note(start.changed("nop", count, 0))
            others = [path for path in values if path != count]
            for ops in (ops for rule, ops in singles.items() if rule > 0):
                path, value = ops[int(self._rng.integers(0, len(ops)))].changes[0]
                if path != count:
                    self._note(nop.changed("nop", path, value))
            for number, path in enumerate(self._some(others, NOPS)):
                width = field_bits(start.op, path)
                bit = 1 << int(self._rng.integers(0, width + 1))
                value = values[path] ^ bit if number % 3 else (1 << width) - 1
                self._note(nop.changed("nop", path, value))
            for variant, kind in ((once, "once"), (nop, "nop")):
                for path in self._next(kind, (), others, 1):
                    for one in self._limit(variant, kind, path, values[path]):
                        self._note(one)

    def _two_rules(self, singles: dict[int, list[Neighbour]]) -> None:
        """Notes ops that break two rules, from changes that break one each."""
        for low, high in combinations(sorted(rule for rule in singles if rule > 0), 2):
            if self._pairs[low, high] >= PAIR_QUOTA:
                continue
            one, other = (
                singles[rule][int(self._rng.integers(0, len(singles[rule])))]
                for rule in (low, high)
            )
            if one.changes[0][0] == other.changes[0][0]:
                continue
            both = one.changed("pair", *other.changes[0])
            found = broken(both)
            pairs = list(combinations(found, 2))
            if any(self._pairs[pair] < PAIR_QUOTA for pair in pairs):
                for pair in pairs:
                    self._pairs[pair] += 1
                self._found[found[0]]["pair", found[1]].append(both)

    def _under_ctrl(self, start: Neighbour, values: dict[Path, int]) -> None:
        """Notes the op, a NOP and another neighbour under values of CTRL of every meaning."""
        others = (1 << STORED_BITS) - 1 & ~ctrl_of("", 7, 3)
        for number in self._rng.permutation(32)[:UPDATES].tolist():
            ctrl = ctrl_of("", number >> 2, number & 3)
            ctrl |= others if self._rng.random() < 0.5 else 0
            alone = Neighbour(start.op, ctrl, "ctrl", ((("ctrl",), ctrl),))
            self._note(alone)
            for path in self._some(list(values), 2):
                bit = 1 << int(self._rng.integers(0, field_bits(start.op, path)))
                for value in (values[path] ^ bit, 0):
                    self._note(alone.changed("ctrl", path, value))

    def chosen(self) -> Iterator[tuple[int, Neighbour]]:
        """Yields rule and op, per rule in turns over all ways to break it, up to the quota."""
        for rule, ways in sorted(self._found.items()):
            kinds: dict[str, list[list[Neighbour]]] = defaultdict(list)
            for key in self._shuffled(key for key in ways if key[0] != "pair"):
                nearest, *others = self._extremes_first(ways[key])
                if key[0] == "bit" and rule:  # The highest bit that breaks a rule has a turn, too.
                    kinds["high bit"].append(others)
                    others = []
                kinds[key[0]].append([nearest, *others])
            turns = [_in_turns(lists) for lists in kinds.values()]
            pairs = [found for (kind, _), found in ways.items() if kind == "pair"]
            yield from ((rule, one) for one, *_ in pairs if can_be_sent(one, legal=False))
            count = 0
            quota = max(QUOTA, OPERAND_QUOTA * len({path for _, path in ways}))
            for one in _in_turns(turns):
                if count < quota and can_be_sent(one, legal=not rule):
                    count += 1
                    yield rule, one

    def _extremes_first(self, ways: Sequence[Neighbour]) -> list[Neighbour]:
        """Returns the smallest last change, the largest one, then the others in random order."""
        order = sorted(self._shuffled(ways), key=lambda one: one.distance)
        return [order[0], *order[1:][-1:], *self._shuffled(order[1:-1])]

    def _shuffled(self, items: Iterable[Any]) -> list[Any]:
        found = list(items)
        return [found[k] for k in self._rng.permutation(len(found))]


def _in_turns(lists: Iterable[Iterable[Neighbour]]) -> Iterator[Neighbour]:
    """Yields the first item of each list, then the second ones, and so on."""
    left = [iter(items) for items in lists]
    while left:
        going = []
        for items in left:
            for item in items:
                yield item
                going.append(items)
                break
        left = going


def neighbours(rng: np.random.Generator, form: str) -> list[tuple[int, Neighbour]]:
    """Returns rule and op of every kind for a form, in the order to send them.

    The rule is 0 for a legal op at a limit, for ``copy_ubuf_to_ubuf`` that of lowering. The search
    has a round per rule at least, and more until every rule was broken often enough.
    """
    search, drawn = Search(rng), bases(rng, form, BASES)
    rules = rules_of(form, drawn[0])
    for number, base in enumerate(drawn, 1):
        search.around(base)
        if number >= len(rules) and all(search.count(rule) >= ENOUGH for rule in rules):
            break
    return list(search.chosen())


def rules_of(form: str, base: Base) -> list[int]:
    """Returns the rules that an op of a form can break without breaking one of the front end."""
    if form == "copy_ubuf_to_ubuf":
        return list(LOWERING_RULES)
    front = {rule.number for rule in s_predicates(base.op)}
    return [rule for rule in OPS[LEGACY_FORMS.get(form, form)].d_rules if rule not in front]
