# SPDX-License-Identifier: Apache-2.0
"""Images of the memories under test, their differences, and the races that explain these.

No image comes from the model: the bytes of two replays are compared with each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.harness.knobs import RANGES
from tb.harness.memory import PAGE, SimMemory
from tb.isa.spaces import L0_SEGMENTS, Space, memory_range
from tb.language.order.order import Order
from tb.language.order.overlap import Shared
from tb.language.order.races import Race, affected, common, place_of, remedy, written_by
from tb.language.place import Place
from tb.language.trace import CORES, Compute, Move, Trace, lane_text
from tb.programs.schedules import Schedule

SHOWN_RACES = 3
SHOWN_RANGES = 4
"""Races and ranges of bytes that a report names."""

MOST_PAIRS = 100
"""Pairs of places whose races are tried as an explanation."""

MEMORIES: tuple[str, ...] = (
    *(one.name.lower() for one in Space if one not in (Space.GM, Space.L0)),
    *L0_SEGMENTS,
)
"""On-chip memories by the names that races have."""

FLAGS = "unit flags"
"""Stands for the unit flags of L0C among the names of memories."""

Ranges = NDArray[np.int64]
"""Ranges ``first, end``, ascending: ``int64[n, 2]``."""


@dataclass(frozen=True)
class Image:
    """Contents of all memories after a replay.

    Attributes:
        local: Name of an on-chip memory to its bytes; ``FLAGS`` to the unit flags.
        pages: Number of a GM page that the engines wrote to its bytes.
    """

    local: Mapping[str, NDArray[np.uint8]]
    pages: Mapping[int, NDArray[np.uint8]]

    def crc32(self) -> int:
        """Returns a CRC-32 of everything."""
        crc = 0
        for part in self.local.values():
            crc = zlib.crc32(part.tobytes(), crc)
        for page, part in sorted(self.pages.items()):
            crc = zlib.crc32(page.to_bytes(8, "little") + part.tobytes(), crc)
        return crc


def image_of(memory: SimMemory) -> Image:
    """Returns the image of the memories under test; nothing may be in flight."""
    local = {}
    for name in MEMORIES:
        space, addresses = memory_range(name)
        local[name] = memory.view(space)[addresses.start : addresses.stop].copy()
    local[FLAGS] = memory.unit_flags.copy()
    gm = memory.view(Space.GM)
    pages = map(int, memory.dirty_gm_pages())
    return Image(local, {page: gm[page * PAGE : (page + 1) * PAGE].copy() for page in pages})


def _runs(addresses: NDArray[np.int64]) -> Ranges:
    cuts = np.flatnonzero(np.diff(addresses) > 1) + 1
    parts = np.split(addresses, cuts)
    return np.array([(part[0], part[-1] + 1) for part in parts], dtype=np.int64)


def differences(one: Image, other: Image, memory: SimMemory) -> dict[str, Ranges]:
    """Returns the bytes that differ, by memory; nothing for equal images.

    A page of GM that only one of them has is compared with the contents before the program.
    """
    found: dict[str, Ranges] = {}
    for name, mine in one.local.items():
        if not np.array_equal(mine, other.local[name]):
            found[name] = _runs(np.flatnonzero(mine != other.local[name]))
    wrong = []
    for page in sorted({*one.pages, *other.pages}):
        if page in one.pages and page in other.pages:
            at = np.flatnonzero(one.pages[page] != other.pages[page])
        else:
            before = memory.background(Space.GM, page * PAGE, PAGE)
            at = np.flatnonzero(one.pages.get(page, before) != other.pages.get(page, before))
        if at.size:
            wrong.append(page * PAGE + at)
    if wrong:
        found["gm"] = _runs(np.concatenate(wrong))
    return found


def _size(ranges: Ranges) -> int:
    return int((ranges[:, 1] - ranges[:, 0]).sum())


def text_of(space: str, ranges: Ranges) -> str:
    """Returns bytes in words."""
    shown = ", ".join(f"{a:#x}..{b - 1:#x}" for a, b in ranges[:SHOWN_RANGES].tolist())
    more = len(ranges) - SHOWN_RANGES
    what = "flags" if space == FLAGS else "B"
    return f"{space} {shown}{f' and {more} more' if more > 0 else ''} ({_size(ranges)} {what})"


def _meets(wrong: Mapping[str, Ranges], written: Mapping[str, Ranges]) -> bool:
    return any(
        len(common(ranges, written[space])) for space, ranges in wrong.items() if space in written
    )


@dataclass(frozen=True)
class Explanation:
    """Races that explain a difference.

    Attributes:
        races: Those of which the difference shows a byte, or a byte that depends on one.
        rest: The bytes that no race explains.
    """

    races: tuple[Race, ...]
    rest: Mapping[str, Ranges]

    def key(self, trace: Trace) -> object:
        """Returns the key of an explanation: the places of the ops that race."""
        pairs = [(place_of(trace, one.earlier), place_of(trace, one.later)) for one in self.races]
        return tuple(pairs), bool(self.rest)


def explain(
    trace: Trace, order: Order, found: Sequence[Race], wrong: Mapping[str, Ranges]
) -> Explanation:
    """Returns the races that explain a difference of two images, those of one pair of places once.

    Unit flags that differ are explained by any race: no byte names the op that moved them.
    """
    if not found:
        return Explanation((), wrong)
    reach = _sorted(written_by(trace, affected(trace, order, found)))
    rest = {
        space: left
        for space, ranges in wrong.items()
        if space != FLAGS and len(left := _without(ranges, reach.get(space)))
    }
    pairs: dict[tuple[Place, Place], list[Race]] = {}
    for race in found:
        places = place_of(trace, race.earlier), place_of(trace, race.later)
        pairs.setdefault(places, []).append(race)
    chosen = []
    for some in list(pairs.values())[:MOST_PAIRS]:
        mine = _sorted(written_by(trace, affected(trace, order, some)))
        if _meets(wrong, mine) or FLAGS in wrong:
            chosen.append(some[0])
        if len(chosen) >= SHOWN_RACES:
            break
    return Explanation(tuple(chosen), rest)


def _sorted(written: Mapping[str, Ranges]) -> dict[str, Ranges]:
    """Returns ranges in ascending order, merged where they meet."""
    found = {}
    for space, ranges in written.items():
        ordered = ranges[np.argsort(ranges[:, 0], kind="stable")]
        ends = np.maximum.accumulate(ordered[:, 1])
        first = np.concatenate(([True], ordered[1:, 0] > ends[:-1]))
        last = np.concatenate((first[1:], [True]))
        found[space] = np.stack((ordered[first, 0], ends[last]), axis=1)
    return found


def _without(ranges: Ranges, taken: Ranges | None) -> Ranges:
    """Returns the parts of ranges outside of others."""
    if taken is None or not len(taken):
        return ranges
    cuts = np.stack(
        (np.concatenate(([0], taken[:, 1])), np.concatenate((taken[:, 0], [1 << 62]))), axis=1
    )
    return common(ranges, cuts[cuts[:, 0] < cuts[:, 1]])


def _op(trace: Trace, index: int) -> str:
    step = trace.steps[index]
    assert isinstance(step, Move | Compute)
    return f"{step.place}: pto.{step.name} on {lane_text(step, trace.cores)}{trace.called(index)}"


def race_lines(trace: Trace, race: Race, texts: Mapping[int, str]) -> list[str]:
    """Returns a race in words: both ops, their bytes, and what would order them.

    Args:
        trace: The program.
        race: The race.
        texts: Number of a line to its text in the program.
    """
    shared: Shared = race.shared
    lines = [f"  race: two ops that nothing orders touch {race.space} {shared}"]
    for index, writes in ((race.earlier, race.wrote), (race.later, race.writes)):
        lines.append(f"    {'writes' if writes else 'reads '}  {_op(trace, index)}")
        text = texts.get(place_of(trace, index).line, "")
        if text:
            lines.append(f"            {text}")
    return [*lines, f"  order: {remedy(trace, race)}"]


def writers(trace: Trace, wrong: Mapping[str, Ranges]) -> Iterable[str]:
    """Yields the ops that write bytes of a difference, each place once."""
    seen = set()
    for index, step in enumerate(trace.steps):
        if not isinstance(step, Move | Compute) or step.place in seen:
            continue
        if _meets(wrong, _sorted(written_by(trace, [index]))):
            seen.add(step.place)
            yield _op(trace, index)


def difference_report(
    title: str,
    schedules: tuple[Schedule, Schedule],
    wrong: Mapping[str, Ranges],
    explained: Explanation,
    *,
    trace: Trace,
    lines: Sequence[str],
    commands: Sequence[str],
) -> str:
    """Returns the report of two schedules that leave different images.

    Args:
        title: The program.
        schedules: The schedules.
        wrong: The bytes that differ.
        explained: The races that explain them.
        trace: The program.
        lines: Lines of its text.
        commands: The command that repeats each schedule.
    """
    texts = {number: text.strip() for number, text in enumerate(lines, 1)}
    count = sum(_size(ranges) for space, ranges in wrong.items() if space != FLAGS)
    bytes_ = "1 byte differs" if count == 1 else f"{count} bytes differ"
    numbers = " and ".join(str(one.number) for one in schedules)
    head = f"MISMATCH: {title}: schedules {numbers} leave different images"
    found = [head, f"  {bytes_}: {'; '.join(text_of(*each) for each in wrong.items())}"]
    for race in explained.races:
        found += race_lines(trace, race, texts)
    rest = explained.rest
    if rest:
        found.append(
            "  no race: flags and barriers order all ops that touch "
            f"{'; '.join(text_of(*each) for each in rest.items())}"
        )
        found += [f"    written by  {text}" for text in list(writers(trace, rest))[:SHOWN_RACES]]
        found.append("  so an engine or the harness gives results that depend on time")
    for schedule, command in zip(schedules, commands, strict=True):
        found.append(f"  schedule {schedule.number}: {schedule_text(schedule, trace.cores)}")
        found.append(f"    repeat: {command}")
    return "\n".join(found)


def _rest(name: str) -> int | None:
    return RANGES[name].rest if name in RANGES else None


def schedule_text(schedule: Schedule, cores: bool = False) -> str:
    """Returns the values of a schedule that do something; of a program with several ``cores``."""
    values = schedule.profile.values
    words = [f"{name}={value}" for name, value in values.items() if value != _rest(name)]
    if schedule.serial:
        words.insert(0, "one op at a time")
    if schedule.pipes:
        pipes = ", ".join(pipe.value.removeprefix("PIPE_") for pipe in schedule.pipes)
        words.insert(0, f"pipes in the order {pipes}")
        if cores:
            names = ", ".join(CORES[core] for core in schedule.cores)
            words.insert(1, f"of one pipe cores in the order {names}")
    if schedule.lead:
        words.append(f"each pipe {schedule.lead} clocks after the one before it")
    words.append(f"stall_seed={schedule.stall_seed}")
    return ", ".join(words)
