# SPDX-License-Identifier: Apache-2.0
"""Verdicts about outside results: agrees, differs by a knob, unknown, or unexplained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from scoreboards.golden import GoldenMemory
from scoreboards.model.dma import ReferenceModel
from sequences.outside.case import Case, Row, View
from tb.isa.profile import KNOBS, Profile, current, using
from tb.record.outside import OutsideGroup, OutsideRow, OutsideVerdict


def run(case: Case) -> GoldenMemory:
    """Returns the memories after a case, by the model under the profile of the process.

    An op that breaks a D rule leaves no trace; where a front end refuses one, none is issued.
    """
    golden = GoldenMemory(case.initial)
    model = ReferenceModel(
        golden, before_read=golden.ensure_footprint, before_write=golden.expect_write
    )
    if not case.refused:
        for op in case.ops:
            model.execute(op)
    return golden


def other_profiles() -> Iterator[tuple[str, Profile]]:
    """Yields profiles with knobs at their other value, fewest knobs first, and names the values."""
    mine = current()
    for count in range(1, len(KNOBS) + 1):
        for names in combinations(KNOBS, count):
            changed = {
                name: next(v for v in KNOBS[name].values if v != getattr(mine, name))
                for name in names
            }
            text = ", ".join(f"{name} = {value}" for name, value in changed.items())
            yield text, replace(mine, **changed)  # type: ignore[arg-type]


class Judge:
    """Verdicts about the rows of a case under the profile of the process.

    A row of which a design and the model differ is never explained by a knob.

    Args:
        case: The case.
        view: Memories of a design after the case; None for those of the model.
    """

    def __init__(self, case: Case, view: View | None = None) -> None:
        self._case = case
        rows = [row for row in case.rows if row.expected]
        memories = run(case) if rows else None
        self._agrees = self._holding(rows, memories)
        self._apart: set[int] = set()
        if view is not None and memories is not None:
            self._apart = {id(row) for row in rows if not row.equal(view, memories.view)}
        self._why: dict[int, str] = {}
        left = [row for row in rows if id(row) not in self._agrees | self._apart]
        for text, profile in other_profiles() if left else ():
            with using(profile):
                held = self._holding(left, run(case))
            self._why.update(dict.fromkeys(held, text))
            left = [row for row in left if id(row) not in held]
            if not left:
                break

    def _holding(self, rows: Sequence[Row], memories: GoldenMemory | None) -> set[int]:
        """Returns which of the rows hold in memories."""
        return {id(row) for row in rows if memories and row.holds(memories.view, self._case)}

    def of(self, row: Row) -> tuple[OutsideVerdict, str]:
        """Returns the verdict about a row of the case, and the knobs or the reason."""
        if row.unknown:
            return "unknown", row.unknown
        if id(row) in self._apart:
            return "unexplained", "the design has not the bytes of the model"
        if id(row) in self._agrees:
            return "agrees", ""
        if id(row) in self._why:
            return "differs", self._why[id(row)]
        return "unexplained", "no value of any knob gives it"


class Tally:
    """Verdicts by file and source.

    Attributes:
        groups: In the order in which they were first met.
    """

    def __init__(self) -> None:
        self.groups: list[OutsideGroup] = []
        self._by_name: dict[tuple[str, str], OutsideGroup] = {}

    def add(self, case: Case, view: View | None = None) -> list[OutsideRow]:
        """Judges the rows of a case and returns the unexplained ones.

        Args:
            case: The case.
            view: As of :class:`Judge`.
        """
        judge, failed = Judge(case, view), []
        for row in case.rows:
            name = row.file, row.source
            if name not in self._by_name:
                self._by_name[name] = OutsideGroup(file=row.file, source=row.source)
                self.groups.append(self._by_name[name])
            verdict, why = judge.of(row)
            if verdict == "agrees":
                self._by_name[name].agrees += 1
                continue
            found = OutsideRow(name=row.name, verdict=verdict, why=why, text=row.text)
            self._by_name[name].rows.append(found)
            if verdict == "unexplained":
                failed.append(found)
        return failed


def check(cases: Iterable[Case]) -> list[OutsideGroup]:
    """Returns the verdicts of the model under the profile of the process, by file and source."""
    tally = Tally()
    for case in cases:
        tally.add(case)
    return tally.groups
