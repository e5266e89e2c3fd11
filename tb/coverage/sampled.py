# SPDX-License-Identifier: Apache-2.0
"""Coverpoints with the functions that select their bins, and groups of coverpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from tb.coverage.model import NOT_SAMPLED, CoverGroup, Coverpoint, Cross, GroupCounts, Ints, point
from tb.coverage.view import Bools, Part, View
from tb.isa.dtypes import DTYPES

V = TypeVar("V", bound=Part)
"""Input of a point: ops of one descriptor family, or of all."""


@dataclass(frozen=True)
class Sampled(Generic[V]):
    """A coverpoint and the function that returns ``int64[N]`` bin indices for N ops."""

    point: Coverpoint
    index: Callable[[V], Ints]


@dataclass(frozen=True)
class Group(Generic[V]):
    """A group and how to sample it.

    Attributes:
        name: Name of the group.
        points: Its points.
        crosses: Its crosses.
        part: Makes the input of the points from the ops of ``index`` (``int64[M]``).
        doc: One line.
    """

    name: str
    points: Sequence[Sampled[V]]
    crosses: tuple[Cross, ...]
    part: Callable[[View, Ints], V]
    doc: str = ""

    def define(self) -> CoverGroup:
        """Returns the definition without the sampling."""
        points = tuple(item.point for item in self.points)
        return CoverGroup(self.name, points, self.crosses, self.doc)

    def sample(self, counts: GroupCounts, view: View, rows: Ints) -> None:
        """Counts the ops ``rows`` (``int64[M]``) of ``view`` in ``counts``."""
        if len(rows):
            part = self.part(view, rows)
            counts.sample({item.point.name: item.index(part) for item in self.points})


def only(mask: Bools, index: Ints) -> Ints:
    """Returns ``index``, ``NOT_SAMPLED`` outside ``mask``."""
    return np.where(mask, index, NOT_SAMPLED)


def range_labels(lows: Sequence[int]) -> list[str]:
    """Returns the names of the classes that start at ``lows``: ``4`` or ``4..7``, last ``8..``."""
    labels = [str(low) if high == low + 1 else f"{low}..{high - 1}" for low, high in pairwise(lows)]
    return [*labels, f"{lows[-1]}.."]


def ranges(
    name: str,
    lows: Sequence[int],
    values: Callable[[V], Ints],
    doc: str,
    *,
    needs: Mapping[str, str] | None = None,
) -> Sampled[V]:
    """Returns a point of the classes that start at ``lows``, of ops that move bytes.

    ``needs`` maps the names of classes to the values of knobs under which they exist.
    """
    edges = np.array(lows)

    def index(view: V) -> Ints:
        return only(view.live, np.searchsorted(edges, values(view), side="right") - 1)

    return Sampled(point(name, range_labels(lows), doc, needs=needs or {}), index)


def first_of(cases: Sequence[Bools]) -> Ints:
    """Returns the number of the first case that holds, or their count when none does."""
    found: Ints = np.argmax(np.stack([*cases, np.ones_like(cases[0])]), axis=0)
    return found


def codes(
    name: str,
    labels: Sequence[str],
    values: Callable[[V], Ints],
    doc: str,
    *,
    live: bool = True,
    needs: Mapping[str, str] | None = None,
) -> Sampled[V]:
    """Returns a point with the value as bin index; ``needs`` as for :func:`ranges`."""

    def index(view: V) -> Ints:
        return only(view.live, values(view)) if live else values(view)

    return Sampled(point(name, labels, doc, needs=needs or {}), index)


def program_flag(name: str, bit: int, doc: str) -> Sampled[V]:
    """Returns a point of ``no`` and ``yes`` for a bit of the legacy program."""
    return codes(
        name, ["no", "yes"], lambda v: ((v.program & bit) > 0).astype(np.int64), doc, live=False
    )


def gap_point() -> Sampled[V]:
    """Returns the point of idle clocks before the descriptor."""
    return ranges("gap", (0, 1, 8, 64), lambda v: v.gap, "idle clocks before the descriptor")


def dtype_point(names: Sequence[str] = DTYPES) -> Sampled[V]:
    """Returns the point of element types of the source, those in ``names``."""
    of_type = np.full(len(DTYPES), NOT_SAMPLED)
    for number, name in enumerate(names):
        of_type[DTYPES.index(name)] = number
    return codes("dtype", names, lambda v: of_type[v.dtype], "element type")
