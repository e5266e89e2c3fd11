# SPDX-License-Identifier: Apache-2.0
"""Questions about bytes: where bytes of a memory come from, and where they go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from tb.common.errors import PtoError
from tb.explain.op import Explained, Parameter
from tb.explain.parts import MOST_LINKS, Link, merged, read_in, written_in
from tb.isa.spaces import L0_SEGMENTS, SEGMENTS, Space, located

NAMES: tuple[str, ...] = tuple(
    name
    for space in Space
    for name in (L0_SEGMENTS if space is Space.L0 else (space.name.lower(),))
)
"""Names of all memories, such as ``ub1`` and ``l0b_mx``."""

MOST_BYTES = 65_536
"""Most bytes of a question."""

_QUESTION = re.compile(
    r"(\w+)\s*[:\s]\s*(0x[0-9A-Fa-f]+|\d+)(?:\s*\.\.\s*(0x[0-9A-Fa-f]+|\d+))?", re.ASCII
)
_SHAPE = "SPACE:FIRST..LAST such as ub:0x40..0x7f, or SPACE:BYTE"


@dataclass(frozen=True, slots=True)
class Question:
    """Addresses ``first .. last`` of spaces: ``ub`` means both sub-blocks, ``l0b`` a part of l0."""

    text: str
    spaces: tuple[Space, ...]
    first: int
    last: int


@dataclass(frozen=True)
class Answer:
    """The answer about one memory.

    Attributes:
        space, first, last: The bytes that are asked about.
        written: Links that write some of them, by address.
        untouched: Ranges of them that the op does not write, where it writes the memory.
        read: Links made from some of them, by the address of the source.
        unread: Ranges that it does not read, where it reads the memory.
        parameters: Channels whose parameters are there, as sentences.
        complete: Whether nothing is left out.
        touched: Whether the op writes or reads the memory at all.
    """

    space: Space
    first: int
    last: int
    written: tuple[Link, ...]
    untouched: tuple[tuple[int, int], ...]
    read: tuple[Link, ...]
    unread: tuple[tuple[int, int], ...]
    parameters: tuple[str, ...]
    complete: bool
    touched: bool


def ranges_of(name: str) -> tuple[tuple[Space, int, int], ...]:
    """Returns what a name means: spaces, with the first address and the one after the last.

    ``ub`` means both sub-blocks. An unknown name means nothing.
    """
    if name in L0_SEGMENTS:
        addresses = SEGMENTS[Space.L0][L0_SEGMENTS[name]]
        return ((Space.L0, addresses.start, addresses.stop),)
    return tuple(
        (space, 0, SEGMENTS[space][-1].stop)
        for space in Space
        if space is not Space.L0 and name in (space.keyword, space.name.lower())
    )


def question(text: str) -> Question:
    """Returns what a value of ``--bytes`` asks.

    Raises:
        PtoError: it has another shape, or leaves the memory.
    """
    where = f"--bytes {text}"
    match = _QUESTION.fullmatch(text.strip())
    if match is None:
        raise PtoError(f"{text!r} names no bytes of a memory", where=where, legal=_SHAPE)
    name, begin, end = match.groups()
    ranges = ranges_of(name.lower())
    if not ranges:
        raise PtoError(f"memory {name!r} is unknown", where=where, legal=", ".join(("ub", *NAMES)))
    first = _number(begin)
    last = first if end is None else _number(end)
    _, base, stop = ranges[0]
    limit = stop - base
    if not first <= last < limit:
        raise PtoError(
            f"bytes {first:#x}..{last:#x} of {name}",
            where=where,
            legal=f"FIRST up to LAST, both in 0..{limit - 1:#x}",
        )
    if last - first >= MOST_BYTES:
        raise PtoError(
            f"{last - first + 1} bytes at once",
            where=where,
            legal=f"at most {MOST_BYTES} bytes",
            remedy="ask for a part of them; --json has the whole map",
        )
    return Question(text, tuple(space for space, _, _ in ranges), base + first, base + last)


def _number(text: str) -> int:
    return int(text, 16 if text.lower().startswith("0x") else 10)


def answers(op: Explained, asked: Question) -> tuple[Answer, ...]:
    """Returns the answers of an op, one for each memory that it touches, or one that says so."""
    found = [_answer(op, space, asked.first, asked.last) for space in asked.spaces]
    return tuple([one for one in found if one.touched] or found[:1])


def _answer(op: Explained, space: Space, first: int, last: int) -> Answer:
    stop = last + 1
    written = list(islice(written_in(op.parts, space, first, stop), MOST_LINKS + 1))
    read = list(islice(read_in(op.parts, space, first, stop), MOST_LINKS + 1))
    complete = max(len(written), len(read)) <= MOST_LINKS
    written, read = merged(written[:MOST_LINKS]), merged(read[:MOST_LINKS])
    read.sort(key=lambda one: (one.sources[0], one.part.space, one.dst))
    here = located(space, first)[0]
    writes = any(part.space is space and located(space, part.dst)[0] == here for part in op.parts)
    reads = any(part.source is space for part in op.parts)
    covered = [(link.dst, link.dst + link.size) for link in written]
    sources = [(at, at + size) for link in read for at, size in link.sources]
    holes = complete
    rows = _rows(op.parameters, first, stop) if space is Space.FB else ()
    return Answer(
        space,
        first,
        last,
        tuple(written),
        _holes(covered, first, stop) if writes and holes else (),
        tuple(read),
        _holes(sources, first, stop) if reads and holes else (),
        rows,
        complete,
        writes or reads or (space is Space.FB and bool(op.parameters)),
    )


def _rows(parameters: Sequence[Parameter], first: int, stop: int) -> tuple[str, ...]:
    found = []
    for one in parameters:
        low = max(first, one.address)
        high = min(stop, one.address + one.size * one.count)
        if low < high:
            channels = (low - one.address) // one.size, (high - 1 - one.address) // one.size
            names = "..".join(map(str, dict.fromkeys(channels)))
            found.append(f"{low:#07x}..{high - 1:#07x}: {one.what}, n = {names}")
    return tuple(found)


def _holes(
    covered: Iterable[tuple[int, int]], first: int, stop: int
) -> tuple[tuple[int, int], ...]:
    """Returns the ranges, first and last byte, that nothing covers."""
    found, at = [], first
    for low, high in sorted(covered):
        if low > at:
            found.append((at, min(low, stop) - 1))
        at = max(at, high)
    if at < stop:
        found.append((at, stop - 1))
    return tuple(found)
