# SPDX-License-Identifier: Apache-2.0
"""Explains a failing op by another profile than that of the run.

After a mismatch the block is evaluated again, from the golden memories as they were before it: with
one knob of the op's slot at the other value, then with several of them, last with knobs of every
slot: an op may read what another one wrote. A profile explains an op if its status, its rule
and every byte of its destination and guard are those of the design. Nothing of this is on the path
of a batch without a mismatch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from scoreboards.before import Before
from scoreboards.compare import Memories, compare_op
from scoreboards.mismatch import Mismatch
from scoreboards.model.outcome import Outcome
from scoreboards.report import labelled
from tb.harness.items import Batch
from tb.isa.block import OpBlock
from tb.isa.fields import rule_name
from tb.isa.ops import OPS_BY_CODE, SLOTS
from tb.isa.profile import KNOBS, PROFILES, Profile, current
from tb.isa.spaces import located
from tb.isa.status import Status

MOST = 20
"""Failing ops of a run that are explained."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A profile that explains a failing op.

    Attributes:
        profile: The profile.
        knobs: Knobs that differ from those of the run, as few as explain the op.
        slot: Slot of the op.
        status: The status that it expects, with the rule; empty if the run expects the same.
        extra: First and last byte of a row that only one of the two profiles writes; None where
            both write the same bytes.
        rows: Rows that follow each other without a gap and are counted as one in ``extra``.
    """

    profile: Profile
    knobs: tuple[str, ...]
    slot: str
    status: str
    extra: tuple[int, int] | None = None
    rows: int = 1


class Alternatives:
    """Looks for profiles that explain failing ops.

    Args:
        before: State of golden memories and registers before the block.
        actual: Memories under test.
    """

    def __init__(self, before: Before, actual: Memories) -> None:
        self._before = before
        self._actual = actual
        self._found: dict[int, list[Alternative]] = {}

    def lines(self, batch: Batch, index: int, found: Mismatch | None = None) -> list[str]:
        """Returns lines for the report of an op; none if no profile explains it.

        Args:
            batch: The batch of the op, the one that was checked last.
            index: Place of the op in its block.
            found: The wrong bytes that the report is about; None if it is about the status.
        """
        return [line for one in self._of(batch, index) for line in _lines(one, found)]

    def knobs(self, batch: Batch, index: int) -> str:
        """Returns the knobs that explain an op in the words of a failure's field, or nothing."""
        found = self._of(batch, index)
        return f", knob {' and '.join(found[0].knobs)}" if found else ""

    def summary(self) -> str:
        """Returns a sentence about the profile that explains the most failed ops, if any."""
        each = [one for found in self._found.values() for one in found]
        if not each:
            return ""
        counts = Counter(str(one.profile) for one in each)
        profile, number = counts.most_common(1)[0]
        total = len(self._found)
        first = next(one for one in each if str(one.profile) == profile)
        knobs = ", ".join(f"{name} = {getattr(first.profile, name)}" for name in first.knobs)
        for name, named in PROFILES.items():
            parts = sum(any(_part_of(x, named) for x in found) for found in self._found.values())
            if parts > number:
                profile, number, knobs = name, parts, f"knobs of {name}"
        of = f"all {total}" if number == total else f"{number} of {total}"
        early = "" if total < MOST else ", the first of the run,"
        return f"{of} failed ops{early} agree under {knobs}: PROFILE={_quoted(profile)}"

    def _of(self, batch: Batch, index: int) -> list[Alternative]:
        """Returns the profiles that explain an op; each op is evaluated once."""
        number = batch.first + index
        if number not in self._found:
            if len(self._found) >= MOST:
                return []
            self._found[number] = self._explain(batch, index)
        return self._found[number]

    def _explain(self, batch: Batch, index: int) -> list[Alternative]:
        """Returns the single knobs that explain an op, or else the named profiles that do."""
        record = batch.record(index)
        # A reset or an error leaves bytes that no profile defines.
        known = record is not None and batch.reset is None and not len(batch.hits)
        if not known or batch.number != self._before.number:
            return []
        run, slot = current(), SLOTS[int(batch.block.slot[index])]
        try:
            with self._before.rerun(batch.block, run) as (_, outcomes):
                expected = outcomes[index]
        except ValueError:  # the stimulus broke a rule of text, which is reported apart
            return []

        def alternative(profile: Profile) -> Alternative | None:
            outcome = self._agreed(batch, index, profile, expected)
            if outcome is None:
                return None
            status = _status(batch.block, index, expected, outcome)
            extra = _extra(expected, outcome)
            return Alternative(profile, run.differences(profile), slot, status, *extra)

        if alternative(run) is not None:
            # Another check failed: bytes are counted over ops, which may be explained.
            profiles = dict.fromkeys(x.profile for found in self._found.values() for x in found)
            return [one for profile in profiles if (one := alternative(profile))]
        return [one for profile in _single(run, slot) if (one := alternative(profile))] or _fewest(
            run, slot, alternative
        )

    def _agreed(
        self, batch: Batch, index: int, profile: Profile, expected: Outcome
    ) -> Outcome | None:
        """Returns the outcome of an op under a profile, if the design did that byte for byte.

        The bytes of ``expected`` count, too: the profile may leave them alone.
        """
        record = batch.record(index)
        try:
            with self._before.rerun(batch.block, profile) as (golden, outcomes):
                outcome = outcomes[index]
                if (outcome.status, outcome.rule) != (record["status"], record["rule"]):
                    return None
                written = [region for one in outcomes for region in one.regions]
                for one in (outcome, expected):
                    if compare_op(self._actual, golden, one, in_flight=written):
                        return None
                return outcome
        except ValueError:  # an op of the block leaves its memory under this profile
            return None


def _single(run: Profile, slot: str) -> Iterator[Profile]:
    """Yields the profiles that differ from that of the run in one knob of a slot."""
    for knob in KNOBS.values():
        for value in knob.values if slot in knob.slots else ():
            if value != getattr(run, knob.name):
                yield replace(run, **{knob.name: value})  # type: ignore[arg-type]


def _fewest(
    run: Profile, slot: str, alternative: Callable[[Profile], Alternative | None]
) -> list[Alternative]:
    """Returns the alternative with the fewest knobs of a named profile, if any.

    Knobs of no slot stay: they are rules of text, under which the block was drawn.
    """
    for slots in ((slot,), SLOTS):
        for other in PROFILES.values():
            names = [
                name
                for name in run.differences(other)
                if set(slots).intersection(KNOBS[name].slots)
            ]
            found = alternative(_with(run, other, names)) if names else None
            if found is None:
                continue
            for name in tuple(names):
                fewer = [one for one in names if one != name]
                less = alternative(_with(run, other, fewer)) if fewer else None
                if less is not None:
                    names, found = fewer, less
            return [found]
    return []


def _status(block: OpBlock, index: int, expected: Outcome, outcome: Outcome) -> str:
    """Returns the status of an outcome, with the rule; empty if it is the expected one."""
    if (outcome.status, outcome.rule) == (expected.status, expected.rule):
        return ""
    if outcome.status is not Status.RULE:
        return f"status {outcome.status.name}"
    spec = OPS_BY_CODE[int(block.opcode[index])]
    return f"status RULE {rule_name(spec.rules, outcome.rule)}"


def _extra(one: Outcome, other: Outcome) -> tuple[tuple[int, int] | None, int]:
    """Returns the bytes after a row that one of two outcomes writes, and the rows of a group.

    Rows without a gap that are filled together are a single row of one outcome.
    """
    if one.written is None or other.written is None:
        return None, 1
    short, long = sorted((one.written, other.written), key=lambda region: len(region.counts))[::-1]
    rows = short.counts[0] if len(short.counts) > len(long.counts) else 1
    first, last = sorted((short.length * rows, long.length))
    return ((first, last - 1), rows) if first < last else (None, 1)


def _part_of(one: Alternative, profile: Profile) -> bool:
    """Returns whether the knobs that explain an op have the values of a profile."""
    return all(getattr(one.profile, name) == getattr(profile, name) for name in one.knobs)


def _with(run: Profile, other: Profile, names: Sequence[str]) -> Profile:
    """Returns the profile of the run with some knobs of another one."""
    return replace(run, **{name: getattr(other, name) for name in names})


def _lines(one: Alternative, found: Mismatch | None) -> list[str]:
    """Returns the lines of a report about a profile that explains its op."""
    run, named = current(), _named(one)
    what = one.status or _bytes(one, found)
    own = any(one.slot in KNOBS[name].slots for name in one.knobs)
    who = "the engine" if own else "an op whose bytes it reads"
    names = ", ".join(f"{name} = {getattr(one.profile, name)}" for name in one.knobs)
    remedy = f"PROFILE={_quoted(named)}"
    if str(one.profile) != named:
        alone = "this knob" if len(one.knobs) == 1 else "these knobs"
        remedy += f", or PROFILE={_quoted(str(one.profile))} for {alone} alone"
    return [
        *labelled(
            "profile",
            f"{what}: {who} follows profile {named} (knob {_effects(one, one.profile)}), this "
            f"run is {run} ({_effects(one, run)})",
        ),
        *labelled("", f"with {names} the status and every byte of this op agree"),
        *labelled(
            "remedy", f"{remedy}; the same as `profile` in the manifest if the engine is meant so"
        ),
    ]


def _effects(one: Alternative, profile: Profile) -> str:
    """Returns the knobs of an alternative as a profile has them, each with its effect."""
    values = [(name, getattr(profile, name)) for name in one.knobs]
    return "; ".join(f"{name} = {value}: {KNOBS[name].effect_of(value)}" for name, value in values)


def _bytes(one: Alternative, found: Mismatch | None) -> str:
    """Returns the bytes that differ, by their place in a row if the rows end elsewhere."""
    if one.extra is not None:
        of = "row" if one.rows == 1 else f"group of {one.rows} rows"
        return f"byte {one.extra[0]}..{one.extra[1]} of each {of}"
    if found is None:
        return "bytes of the op"
    name, first = located(found.space, found.address)
    last = first + found.extent - 1
    return f"{found.count} bytes of {name.upper()} {first:#x}..{last:#x}"


def _named(one: Alternative) -> str:
    """Returns the named profile with these values of the knobs, or the profile's own text."""
    for name, profile in PROFILES.items():
        if _part_of(one, profile):
            return name
    return str(one.profile)


def _quoted(text: str) -> str:
    return f"'{text}'" if " " in text else text
