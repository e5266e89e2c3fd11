# SPDX-License-Identifier: Apache-2.0
"""Differences between profiles for one op: knobs, verdicts and bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tb.explain.maps import parts_of
from tb.explain.parts import Link, Part, first_links
from tb.explain.rules import BROKEN, verdicts
from tb.isa.op import replace
from tb.isa.profile import KNOBS, PROFILES, Profile, current, using
from tb.isa.spaces import Space
from tb.language.lowered import Lowering
from tb.language.rules.check import HINT_RULES

MOST_COMPARED = 512
"""Links of a memory that are compared."""

MOST_CHANGES = 4
"""Ranges of bytes that are listed for one knob."""


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


_Result = tuple[tuple[str, ...], tuple[Part, ...]]
"""Rules that an op breaks, and its parts."""


def _result(issued: Lowering, profile: Profile) -> _Result:
    """Returns the broken rules and the bytes of an op under a profile."""
    with using(profile):
        lowering = Lowering(issued.op, issued.registers, issued.ctrl)
        broken = [one for one in verdicts(lowering) if one.state == BROKEN]
        fine = all(one.kind == "T" or one.rule in HINT_RULES for one in broken)
        desc = lowering.descriptor if fine else None
        return tuple(one.rule for one in broken), parts_of(desc) if desc else ()


def differences(issued: Lowering) -> tuple[Difference, ...]:
    """Returns what the other named profiles, and the other value of each knob alone, change."""
    profile = current()
    here = _result(issued, profile)
    found = []
    for what, other, values, effects in (*_profiles(profile), *_knobs(profile)):
        there = _result(issued, other)
        if here != there:
            rules, parts = (here[0], there[0]), (here[1], there[1])
            mine, theirs = (sum(part.bytes for part in side) for side in parts)
            changes, more = _changes(*parts)
            found.append(Difference(what, *values, *effects, *rules, mine, theirs, changes, more))
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
    for space in dict.fromkeys(part.space for part in (*here, *there)):
        sides = [first_links(parts, space, MOST_COMPARED) for parts in (here, there)]
        # Beyond the last link that is known on a side, nothing is compared.
        ends = [links[-1].dst + links[-1].size for links, all_ in sides if links and not all_]
        more |= bool(ends)
        changes = _swept(space, *(links for links, _ in sides))
        found += [one for one in changes if not ends or one.start < min(ends)]
    return tuple(found[:MOST_CHANGES]), more or len(found) > MOST_CHANGES


def _swept(space: Space, here: Sequence[Link], there: Sequence[Link]) -> list[Change]:
    edges = sorted({edge for x in (*here, *there) for edge in (x.dst, x.dst + x.size)})
    sides = deque(here), deque(there)
    found: list[Change] = []
    for start, stop in pairwise(edges):
        mine, theirs = (_origin_at(links, start) for links in sides)
        if mine == theirs:
            continue
        change = Change(space.name.lower(), start, stop, mine[0], theirs[0])
        last = found[-1] if found else None
        if last and replace(last, start=start, stop=stop) == change and last.stop == start:
            found[-1] = replace(last, stop=stop)
        else:
            found.append(change)
    return found


def _origin_at(links: deque[Link], at: int) -> tuple[str, object]:
    """Returns the origin of a byte, and removes the links before it."""
    while links and links[0].dst + links[0].size <= at:
        links.popleft()
    return _origin(links[0], at) if links and links[0].dst <= at else ("untouched", None)
