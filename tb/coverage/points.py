# SPDX-License-Identifier: Apache-2.0
"""Coverpoints as rows: name, bins, a function over columns, and which ops count.

``ranges``, ``residues``, ``codes`` and ``cases`` return rows; they differ in what the function of
the row returns. The function takes the ops of a group (:class:`tb.coverage.ops.Ops`); where it
only reads a column or a derived value, the row has the name of that value instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from tb.coverage.model import (
    NOT_SAMPLED,
    CoverageError,
    CoverGroup,
    Coverpoint,
    Cross,
    GroupCounts,
    Ints,
    point,
)
from tb.coverage.ops import BASE, RESERVED, Bools, Derived, Ops
from tb.coverage.view import View
from tb.isa.dtypes import ALL_DTYPES, DTYPES

Function = Callable[[Ops], Any]
Source = str | Function
"""Name of a value of the ops, or a function that computes one."""

LIVE, DEAD, ALL = "live", "dead", ""
"""Ops that a point counts: those that move bytes, the others, or all."""

Needs = str | Mapping[str, str]
"""Values of knobs under which all bins of a point exist, or some bins by name."""


@dataclass(frozen=True)
class Row:
    """A coverpoint and how the bins of N ops are found.

    Attributes:
        point: Name, bins and description.
        values: What is classified.
        bins: Returns ``int64[N]`` bin indices of the values.
        ops: Name of the ``bool[N]`` value that selects the ops that count; ``ALL`` for all.
        apart: Name of the ``bool[N]`` value of ops that hit the first bin, whatever their value;
            the bins of the values then come after it.
    """

    point: Coverpoint
    values: Source
    bins: Callable[[Any], Ints]
    ops: Source = LIVE
    apart: str = ""

    def index(self, ops: Ops) -> Ints:
        """Returns ``int64[N]`` bin indices, ``NOT_SAMPLED`` for ops that do not count."""
        found = self.bins(_read(ops, self.values))
        if self.apart:
            found = np.where(ops[self.apart], 0, 1 + found)
        return only(_read(ops, self.ops), found) if self.ops else found


def _read(ops: Ops, source: Source) -> Any:
    return ops[source] if isinstance(source, str) else source(ops)


@dataclass(frozen=True)
class Group:
    """A group and how to sample it.

    Attributes:
        name: Name of the group.
        points: Its points.
        crosses: Its crosses.
        derived: Name to function of the values that its points read beside the columns.
        doc: One line.
        spec: Properties of the op of the group, for these functions; they read it as ``spec``.

    Raises:
        CoverageError: a derived value has the name of an attribute of :class:`Ops`.
    """

    name: str
    points: Sequence[Row]
    crosses: tuple[Cross, ...]
    derived: Derived = field(default_factory=dict)
    doc: str = ""
    spec: Any = None

    def __post_init__(self) -> None:
        taken = sorted(RESERVED & self.derived.keys())
        if taken:
            raise CoverageError(f"group {self.name}: derived values are called {', '.join(taken)}")

    @cached_property
    def values(self) -> Derived:
        """The derived values with those of every group."""
        return BASE | self.derived

    def define(self) -> CoverGroup:
        """Returns the definition without the sampling."""
        points = tuple(item.point for item in self.points)
        return CoverGroup(self.name, points, self.crosses, self.doc)

    def sample(self, counts: GroupCounts, view: View, rows: Ints) -> None:
        """Counts the ops ``rows`` (``int64[M]``) of ``view`` in ``counts``."""
        if len(rows):
            ops = Ops(view, rows, self.values, self.spec)
            counts.sample({item.point.name: item.index(ops) for item in self.points})


def only(mask: Bools, index: Ints) -> Ints:
    """Returns ``index``, ``NOT_SAMPLED`` outside ``mask``."""
    return np.where(mask, index, NOT_SAMPLED)


def range_labels(lows: Sequence[int]) -> list[str]:
    """Returns the names of the classes that start at ``lows``: ``4`` or ``4..7``, last ``8..``."""
    labels = [str(low) if high == low + 1 else f"{low}..{high - 1}" for low, high in pairwise(lows)]
    return [*labels, f"{lows[-1]}.."]


def place_of(names: Sequence[str], among: Sequence[str] = ALL_DTYPES) -> Ints:
    """Returns ``int64[len(among)]``: index in ``names`` of each entry, or ``NOT_SAMPLED``."""
    return np.array([names.index(x) if x in names else NOT_SAMPLED for x in among])


def entry(table: Ints | Bools, name: str) -> Function:
    """Returns the function that looks a value of the ops up in ``table``."""
    return partial(_entry, table, name)


def _entry(table: Ints | Bools, name: str, ops: Ops) -> Ints | Bools:
    return table[ops[name]]


def ranges(
    name: str,
    lows: Sequence[int],
    values: Source,
    doc: str,
    *,
    ops: Source = LIVE,
    apart: tuple[str, str] | None = None,
    needs: Needs = "",
    **unreachable: str,
) -> Row:
    """Returns a point of the classes that start at ``lows``.

    ``apart`` is a first bin and the name of the value that selects its ops (:attr:`Row.apart`).
    """
    first, mask = apart or ("", "")
    labels = [first] * bool(first) + range_labels(lows)
    bins = partial(_range_of, np.array(lows))
    return Row(point(name, labels, doc, needs=needs, **unreachable), values, bins, ops, mask)


def _range_of(lows: Ints, values: Ints) -> Ints:
    return np.searchsorted(lows, values, side="right") - 1


def residues(
    name: str, word: int, step: int, values: Source, doc: str, *, ops: Source = LIVE
) -> Row:
    """Returns a point of values modulo ``word``, in steps of ``step``."""
    labels = [str(at) for at in range(0, word, step)]
    return Row(point(name, labels, doc), values, partial(residue_of, word, step), ops)


def residue_of(word: int, step: int, values: Ints) -> Ints:
    """Returns values modulo ``word``, in steps of ``step``."""
    return values % word // step


def codes(
    name: str,
    labels: Sequence[str],
    values: Source,
    doc: str,
    *,
    ops: Source = LIVE,
    needs: Needs = "",
    **unreachable: str,
) -> Row:
    """Returns a point with the value as bin index, of truth values 0 and 1."""
    return Row(point(name, labels, doc, needs=needs, **unreachable), values, _index_of, ops)


def _index_of(values: Any) -> Ints:
    return np.asarray(values, dtype=np.int64)


def cases(
    name: str,
    labels: Sequence[str],
    values: Callable[[Ops], Sequence[Bools]],
    doc: str,
    *,
    ops: Source = LIVE,
    needs: Needs = "",
    **unreachable: str,
) -> Row:
    """Returns a point whose bin is that of the first case that holds, the last bin for none.

    ``values`` returns a ``bool[N]`` for each bin but the last.
    """
    return Row(point(name, labels, doc, needs=needs, **unreachable), values, first_of, ops)


def first_of(found: Sequence[Bools]) -> Ints:
    """Returns the number of the first case that holds, or their count when none does."""
    index = np.full(len(found[0]), len(found))
    for number in reversed(range(len(found))):
        np.putmask(index, found[number], number)
    return index


def ordered_cases(
    name: str,
    labels: Sequence[str],
    values: Callable[[Ops], Mapping[str, Bools]],
    doc: str,
    **options: Any,
) -> Row:
    """Returns a point like :func:`cases`, judged in another order than its bins are listed.

    ``values`` returns label to case, first judged first; the last bin is that of no case.
    """
    return Row(point(name, labels, doc), values, partial(_named_of, tuple(labels)), **options)


def _named_of(labels: Sequence[str], found: Mapping[str, Bools]) -> Ints:
    place = np.array([*[labels.index(name) for name in found], len(labels) - 1])
    index: Ints = place[first_of([*found.values()])]
    return index


def program_flag(name: str, bit: int, doc: str) -> Row:
    """Returns a point of ``no`` and ``yes`` for a bit of the legacy program."""
    return codes(name, ["no", "yes"], partial(has_bit, "program", bit), doc, ops=ALL)


def has_bit(name: str, bit: int, ops: Ops) -> Bools:
    """Returns whether a value has a bit, ``bool[N]``."""
    return ops[name] & bit > 0


def dtype_point(names: Sequence[str] = DTYPES) -> Row:
    """Returns the point of element types of the source, those in ``names``."""
    return codes("dtype", names, entry(place_of(names), "dtype"), "element type")


GAP = ranges("gap", (0, 1, 8, 64), "gap", "idle clocks before the descriptor")
