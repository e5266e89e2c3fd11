# SPDX-License-Identifier: Apache-2.0
"""Differences between profiles for one op: knobs, verdicts and bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tb.explain.maps import parts_of
from tb.explain.parts import Link, Part, first_links
from tb.explain.rules import BROKEN, verdicts
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.op import replace
from tb.isa.profile import KNOBS, PROFILES, Profile, current, using
from tb.isa.spaces import Space
from tb.isa.text import AnyOp
from tb.language.lowered import Lowering
from tb.language.rules.check import HINT_RULES

MOST_COMPARED = 512
"""Links of a memory that are compared."""

MOST_CHANGES = 4
"""Ranges of bytes that are told of one knob."""


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes ``start .. stop - 1`` of a memory, as they are here and with the other value."""

    space: str
    start: int
    stop: int
    here: str
    there: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A knob, or a whole profile, that matters to an op.

    Attributes:
        what: Name of the knob, or ``profile``.
        here, there: Its value in this profile, and the other one.
        effect_here, effect_there: What each does.
        rules_here, rules_there: Rules that the op breaks with each.
        bytes_here, bytes_there: Bytes written with each.
        changes: The first ranges of bytes that differ.
        more: Whether there are more of them.
    """

    what: str
    here: str
    there: str
    effect_here: str
    effect_there: str
    rules_here: tuple[str, ...]
    rules_there: tuple[str, ...]
    bytes_here: int
    bytes_there: int
    changes: tuple[Change, ...]
    more: bool


Other = tuple[str, Profile, tuple[str, str], tuple[str, str]]
"""A profile to compare with: what differs, it, values here and there, and what each does."""


@dataclass(frozen=True)
class _Result:
    rules: tuple[str, ...]
    parts: tuple[Part, ...]


def _result(op: AnyOp, registers: DmaRegisters, ctrl: int, profile: Profile) -> _Result:
    """Returns the broken rules and the bytes of an op under a profile."""
    with using(profile):
        lowering = Lowering(op, registers, ctrl)
        broken = [one for one in verdicts(lowering) if one.state == BROKEN]
        fine = all(one.kind == "T" or one.rule in HINT_RULES for one in broken)
        desc = lowering.descriptor if fine else None
        return _Result(tuple(one.rule for one in broken), parts_of(desc) if desc else ())


def differences(op: AnyOp, registers: DmaRegisters, ctrl: int) -> tuple[Difference, ...]:
    """Returns what the other named profiles, and the other value of each knob alone, change."""
    profile = current()
    mine = _result(op, registers, ctrl, profile)
    found = []
    for what, other, values, effects in (*_profiles(profile), *_knobs(profile)):
        theirs = _result(op, registers, ctrl, other)
        if theirs != mine:
            found.append(_difference(what, values, effects, mine, theirs))
    return tuple(found)


def _profiles(profile: Profile) -> Iterator[Other]:
    """Yields the other named profiles."""
    for name, other in PROFILES.items():
        if knobs := profile.differences(other):
            here, there = (
                ", ".join(f"{knob} = {getattr(one, knob)}" for knob in knobs)
                for one in (profile, other)
            )
            yield "profile", other, (str(profile), name), (here, there)


def _knobs(profile: Profile) -> Iterator[Other]:
    """Yields the profiles with one knob changed."""
    for knob in KNOBS.values():
        value = getattr(profile, knob.name)
        there = next(one for one in knob.values if one != value)
        changed: dict[str, Any] = {knob.name: there}
        effects = knob.effect_of(value), knob.effect_of(there)
        yield knob.name, replace(profile, **changed), (str(value), str(there)), effects


def _difference(
    what: str, values: tuple[str, str], effects: tuple[str, str], mine: _Result, theirs: _Result
) -> Difference:
    changes, more = _changes(mine.parts, theirs.parts)
    return Difference(
        what, *values, *effects, mine.rules, theirs.rules,
        sum(part.bytes for part in mine.parts), sum(part.bytes for part in theirs.parts),
        changes, more,
    )  # fmt: skip


def _origin(link: Link, at: int) -> tuple[str, object]:
    """Returns in words how a byte is made, and where it comes from."""
    part = link.part
    if part.source is None:
        return f"{part.kind}, {part.how}", None
    start = link.sources[0][0]
    words = ", ".join(filter(None, (part.kind, part.how)))
    return words, start - link.dst if part.moved else (start, at)


def _changes(here: Sequence[Part], there: Sequence[Part]) -> tuple[tuple[Change, ...], bool]:
    """Returns the first ranges in which two maps differ, and whether there are more."""
    found: list[Change] = []
    more = False
    spaces = dict.fromkeys(part.space for part in (*here, *there))
    for space in spaces:
        (mine, all_mine), (theirs, all_theirs) = (
            first_links(parts, space, MOST_COMPARED) for parts in (here, there)
        )
        # Beyond the last link that is known on a side, nothing is compared.
        ends = [
            links[-1].dst + links[-1].size
            for links, complete in ((mine, all_mine), (theirs, all_theirs))
            if not complete and links
        ]
        limit = min(ends, default=None)
        more |= limit is not None
        for change in _swept(space, mine, theirs):
            if limit is not None and change.start >= limit:
                continue
            if len(found) == MOST_CHANGES:
                return tuple(found), True
            found.append(change)
    return tuple(found), more


def _swept(space: Space, mine: Sequence[Link], theirs: Sequence[Link]) -> list[Change]:
    edges = sorted({edge for x in (*mine, *theirs) for edge in (x.dst, x.dst + x.size)})
    found: list[Change] = []
    places = [0, 0]
    for start, stop in pairwise(edges):
        origins = []
        for side, links in enumerate((mine, theirs)):
            while places[side] < len(links):
                link = links[places[side]]
                if link.dst + link.size > start:
                    break
                places[side] += 1
            at = places[side]
            inside = at < len(links) and links[at].dst <= start
            origins.append(_origin(links[at], start) if inside else ("untouched", None))
        if origins[0] == origins[1]:
            continue
        last = found[-1] if found else None
        words = (origins[0][0], origins[1][0])
        if last and last.stop == start and (last.here, last.there) == words:
            found[-1] = replace(last, stop=stop)
        else:
            found.append(Change(space.name.lower(), start, stop, *words))
    return found
