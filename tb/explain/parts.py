# SPDX-License-Identifier: Apache-2.0
"""Bytes that an op writes, each with its source, as nested regular parts.

A part is a unit of contiguous destination bytes that axes repeat: rows, loops, C0 columns.
Each family makes its parts from a descriptor; everything else here works on parts alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Any

from tb.isa.spaces import Space

DATA, LEFT, PAD, TAIL, ZERO = "data", "left pad", "pad", "tail", "zero fill"
"""Kinds of bytes that an op writes."""

MOST_LINKS = 65_536
"""Most links of an answer."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A repetition: bytes from one iteration to the next at the source and at the destination.

    ``first`` is the number of the first iteration, where a part does not begin with 0.
    """

    name: str
    count: int
    src: int
    dst: int
    first: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Regular bytes of a destination.

    Attributes:
        kind: ``DATA``, ``LEFT``, ``PAD``, ``TAIL`` or ``ZERO``.
        space: Memory that is written.
        dst: Address of the first unit.
        size: Bytes of a unit.
        axes: Repetitions of the unit, the outermost first.
        source: Memory that is read, or None for bytes that are made from none.
        src: Address of the source of the first unit.
        piece: Bytes of one piece of the source of a unit; a unit that is moved has one of ``size``.
        pieces: Offsets of the pieces of a unit.
        pattern: Bytes that are written where there is no source: byte ``a mod len(pattern)`` at
            address ``a``.
        moved: Whether bytes are moved as they are, so that byte k of a unit is byte k of its
            source; else the unit is computed from all its pieces.
        how: How the bytes are made, where they are not moved.
    """

    kind: str
    space: Space
    dst: int
    size: int
    axes: tuple[Axis, ...] = ()
    source: Space | None = None
    src: int = 0
    piece: int = 0
    pieces: tuple[int, ...] = (0,)
    pattern: bytes = b""
    moved: bool = True
    how: str = ""

    def at(self, dst: int = 0, src: int = 0, size: int | None = None, **changes: Any) -> Part:
        """Returns a part that begins ``dst`` and ``src`` bytes further on.

        ``size`` is that of its units, of which as many bytes are read, and ``changes`` has the
        values of other attributes.
        """
        if size is not None:
            changes |= {"size": size, "piece": size if self.source is not None else 0}
        return replace(self, dst=self.dst + dst, src=self.src + src, **changes)

    def filled(self, kind: str, pattern: bytes, how: str) -> Part:
        """Returns a part of the same bytes that is made without a source."""
        return replace(
            self, kind=kind, source=None, src=0, piece=0, pattern=pattern, moved=True, how=how
        )

    @property
    def bytes(self) -> int:
        """Bytes written."""
        return self.size * prod(axis.count for axis in self.axes)

    @property
    def end(self) -> int:
        """First address after the destination."""
        return self.dst + sum((axis.count - 1) * axis.dst for axis in self.axes) + self.size


@dataclass(frozen=True, slots=True)
class Link:
    """Destination bytes ``dst .. dst + size - 1`` and their source.

    Attributes:
        part: The part.
        index: Iteration of each axis of its first byte, from ``Axis.first`` on.
        last: The same of its last byte.
        dst, size: Bytes of the destination.
        sources: First byte and size of each range that is read, ascending; none without a source.
    """

    part: Part
    index: tuple[int, ...]
    last: tuple[int, ...]
    dst: int
    size: int
    sources: tuple[tuple[int, int], ...] = ()

    @property
    def kind(self) -> str:
        """Kind of the part."""
        return self.part.kind

    @property
    def label(self) -> str:
        """Iterations of the bytes: ``loop 1, row 3..5``."""
        words = []
        for axis, first, last in zip(self.part.axes, self.index, self.last, strict=True):
            if axis.count > 1 or axis.first:
                number = f"{first}" if first == last else f"{first}..{last}"
                words.append(f"{axis.name} {number}")
        return ", ".join(words)

    @property
    def repeated(self) -> bool:
        """Whether bytes that are moved are there several times."""
        return self.part.moved and bool(self.sources) and self.sources[0][1] < self.size

    def joined(self, other: Link, *, repeats: bool = False) -> Link | None:
        """Returns this link and the one after it as one, if their bytes follow each other.

        Only one axis may go on, so that the label still identifies the bytes. With
        ``repeats`` the same source again goes on, too.
        """
        if self.part is not other.part or other.dst != self.dst + self.size:
            return None
        sources: tuple[tuple[int, int], ...] = ()
        whole = not other.size % max(1, sum(size for _, size in other.sources))
        if repeats and self.part.moved and self.sources == other.sources and whole:
            sources = self.sources
        elif self.sources or other.sources:
            if self.repeated or len(self.sources) != 1 or len(other.sources) != 1:
                return None
            (start, size), (next_start, next_size) = self.sources[0], other.sources[0]
            if next_start != start + size:
                return None
            sources = ((start, size + next_size),)
        if not self._goes_on(other):
            return None
        return Link(self.part, self.index, other.last, self.dst, self.size + other.size, sources)

    def _goes_on(self, other: Link) -> bool:
        pairs = list(zip(self.index, self.last, other.index, other.last, strict=True))
        changed = [k for k, (a, _, _, d) in enumerate(pairs) if a != d]
        if len(changed) > 1:
            return False
        return all(b <= c <= b + 1 for _, b, c, _ in pairs)


Iteration = tuple[tuple[int, ...], int]
"""Numbers of an iteration of every axis, from 0, and its address on one side."""


def _iterations(
    steps: Sequence[tuple[int, int]], base: int, size: int, low: int, high: int
) -> Iterator[Iteration]:
    """Yields the iterations whose ``size`` bytes, the first at ``base``, meet ``low .. high - 1``.

    ``steps`` has count and stride of each axis on one side.
    """
    reach = size + sum((count - 1) * stride for count, stride in steps)
    if base >= high or base + reach <= low:
        return
    if not steps:
        yield (), base
        return
    (count, stride), *inner = steps
    rest = reach - (count - 1) * stride
    first, stop = 0, count
    if stride:
        first = max(0, (low - base - rest) // stride + 1)
        stop = min(count, -((base - high) // stride))
    for number in range(first, stop):
        for tail, at in _iterations(inner, base + number * stride, size, low, high):
            yield (number, *tail), at


def _link(part: Part, numbers: tuple[int, ...], start: int, stop: int) -> Link:
    """Returns the link of bytes ``start .. stop - 1`` of one unit.

    Of a unit that is computed, source is all that it is computed from.
    """
    pairs = [*zip(numbers, part.axes, strict=True)]
    dst = part.dst + sum(k * axis.dst for k, axis in pairs)
    src = part.src + sum(k * axis.src for k, axis in pairs)
    index = tuple(k + axis.first for k, axis in pairs)
    sources = tuple((src + offset, part.piece) for offset in sorted(part.pieces))
    if part.source is None:
        sources = ()
    elif part.moved:
        sources = ((src + start, stop - start),)
    return Link(part, index, index, dst + start, stop - start, sources)


def written_in(parts: Iterable[Part], space: Space, low: int, high: int) -> Iterator[Link]:
    """Yields what of ``low .. high - 1`` of a memory is written, part by part."""
    for part in parts:
        if part.space is space:
            steps = [(axis.count, axis.dst) for axis in part.axes]
            for numbers, at in _iterations(steps, part.dst, part.size, low, high):
                yield _link(part, numbers, max(low - at, 0), min(high - at, part.size))


def read_in(parts: Iterable[Part], space: Space, low: int, high: int) -> Iterator[Link]:
    """Yields what is made from bytes ``low .. high - 1`` of a memory, part by part."""
    for part in parts:
        if part.source is not space:
            continue
        steps = [(axis.count, axis.src) for axis in part.axes]
        seen: set[tuple[int, ...]] = set()
        for offset in sorted(part.pieces):
            for numbers, at in _iterations(steps, part.src + offset, part.piece, low, high):
                if part.moved:
                    yield _link(part, numbers, max(low - at, 0), min(high - at, part.size))
                elif numbers not in seen:
                    seen.add(numbers)
                    yield _link(part, numbers, 0, part.size)


def merged(links: Iterator[Link], *, repeats: bool = False) -> tuple[list[Link], bool]:
    """Returns the first ``MOST_LINKS`` by destination address, and whether these are all.

    Neighbours are one link, with ``repeats`` also those with the same source.
    """
    found: list[Link] = []
    for link in sorted(islice(links, MOST_LINKS), key=lambda one: (one.part.space, one.dst)):
        both = found[-1].joined(link, repeats=repeats) if found else None
        if both is None:
            found.append(link)
        else:
            found[-1] = both
    return found, next(links, None) is None


def first_links(
    parts: Sequence[Part], space: Space, most: int, *, repeats: bool = False
) -> tuple[list[Link], bool]:
    """Returns the first links of a memory by address, and whether these are all.

    With ``repeats`` neighbours with the same source are one.
    """
    mine = [part for part in parts if part.space is space]
    if not mine:
        return [], True
    start, end = min(part.dst for part in mine), max(part.end for part in mine)
    found: list[Link] = []
    stop, width = start, 1024
    # The link at the end of a window may go on after it.
    while stop < end and len(found) <= most + 1:
        stop = min(start + width, end)
        links, complete = merged(written_in(mine, space, start, stop), repeats=repeats)
        if not complete:
            return found[:most], False
        found, width = links, 4 * width
    return found[:most], stop == end and len(found) <= most
