# SPDX-License-Identifier: Apache-2.0
"""Questions about bytes: where bytes of a memory come from, and where they go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tb.common.errors import PtoError
from tb.explain.op import Explained, Parameter
from tb.explain.parts import Link, merged, read_in, written_in
from tb.isa.spaces import L0_SEGMENTS, Space, located, memory_range

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


Range = tuple[int, int]
"""First and last byte."""


@dataclass(frozen=True, slots=True)
class Question:
    """Addresses ``first .. last`` of spaces: ``ub`` means both sub-blocks, ``l0b`` a part of l0."""

    spaces: tuple[Space, ...]
    first: int
    last: int


@dataclass(frozen=True)
class Answer:
    """The answer about one memory.

    Attributes:
        space, first, last: The bytes of the question.
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
    untouched: tuple[Range, ...]
    read: tuple[Link, ...]
    unread: tuple[Range, ...]
    parameters: tuple[str, ...]
    complete: bool
    touched: bool


def question(text: str) -> Question:
    """Returns the question of a value of ``--bytes``.

    Raises:
        PtoError: it has another shape, or leaves the memory.
    """
    where = f"--bytes {text}"
    match = _QUESTION.fullmatch(text.strip())
    if match is None:
        raise PtoError(f"{text!r} names no bytes of a memory", where=where, legal=_SHAPE)
    name, begin, end = match.groups()
    names = ("ub0", "ub1") if name.lower() == "ub" else (name.lower(),)
    if not {*names} <= {*NAMES}:
        raise PtoError(f"memory {name!r} is unknown", where=where, legal=", ".join(("ub", *NAMES)))
    first, last = _number(begin), _number(end or begin)
    spaces, ranges = zip(*map(memory_range, names), strict=True)
    if not first <= last < len(ranges[0]):
        legal = f"FIRST up to LAST, both in 0..{len(ranges[0]) - 1:#x}"
        raise PtoError(f"bytes {first:#x}..{last:#x} of {name}", where=where, legal=legal)
    if last - first >= MOST_BYTES:
        raise PtoError(
            f"{last - first + 1} bytes at once", where=where, legal=f"at most {MOST_BYTES} bytes",
            remedy="name a part of them; --json has the whole map",
        )  # fmt: skip
    return Question(spaces, ranges[0][first], ranges[0][last])


def _number(text: str) -> int:
    return int(text, 16 if text.lower().startswith("0x") else 10)


def answers(op: Explained, wanted: Question) -> tuple[Answer, ...]:
    """Returns the answers of an op, one for each memory that it touches, or that it is none."""
    found = [_answer(op, space, wanted.first, wanted.last) for space in wanted.spaces]
    return tuple([one for one in found if one.touched] or found[:1])


def _answer(op: Explained, space: Space, first: int, last: int) -> Answer:
    stop = last + 1
    here = located(space, first)[0]
    writes = any(part.space is space and located(space, part.dst)[0] == here for part in op.parts)
    reads = any(part.source is space for part in op.parts)
    written, all_written = merged(written_in(op.parts, space, first, stop))
    read, all_read = merged(read_in(op.parts, space, first, stop))
    read.sort(key=lambda one: (one.sources[0], one.part.space, one.dst))
    complete = all_written and all_read
    covered = [(link.dst, link.size) for link in written]
    sources = [pair for link in read for pair in link.sources]
    parameters = op.parameters if space is Space.FB else ()
    return Answer(
        space, first, last,
        tuple(written), _holes(covered, first, stop) if writes and complete else (),
        tuple(read), _holes(sources, first, stop) if reads and complete else (),
        _rows(parameters, first, stop), complete, writes or reads or bool(parameters),
    )  # fmt: skip


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


def _holes(covered: Iterable[tuple[int, int]], first: int, stop: int) -> tuple[Range, ...]:
    """Returns the ranges that none of these, first byte and size, covers."""
    found, at = [], first
    for low, size in sorted((*covered, (stop, 0))):
        if low > at:
            found.append((at, min(low, stop) - 1))
        at = max(at, low + size)
    return tuple(found)
