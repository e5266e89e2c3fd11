# SPDX-License-Identifier: Apache-2.0
"""Verdicts about outside results: agrees, differs by a knob, unknown, or unexplained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    Args:
        case: The case.
        view: Memories of a design after the case; None for those of the model.

    Attributes:
        wrong: Rows of which the design has not the bytes that the model has.
    """

    def __init__(self, case: Case, view: View | None = None) -> None:
        self._case = case
        self.wrong: list[Row] = []
        mine = self._holding(case.rows)
        found = mine
        if view is not None and case.ops:
            found = {id(row) for row in case.rows if row.expected and row.holds(view, case)}
        left = [row for row in case.rows if row.expected and id(row) not in found]
        self._agrees = found
        self._why: dict[int, str] = {}
        self.wrong = [row for row in case.rows if row.expected and (id(row) in mine) != (id(row) in found)]
        left = [row for row in left if row not in self.wrong]
        for text, profile in other_profiles() if left else ():
            with using(profile):
                held = self._holding(left)
            self._why.update({key: text for key in held})
            left = [row for row in left if id(row) not in held]
            if not left:
                break

    def _holding(self, rows: Iterable[Row]) -> set[int]:
        """Returns which of the rows hold by the model under the profile of the process."""
        memories = run(self._case)
        return {
            id(row) for row in rows if row.expected and row.holds(memories.view, self._case)
        }

    def of(self, row: Row) -> tuple[OutsideVerdict, str]:
        """Returns the verdict about a row of the case, and the knobs or the reason."""
        if row.unknown:
            return "unknown", row.unknown
        if row in self.wrong:
            return "unexplained", "design and model differ"
        if id(row) in self._agrees:
            return "agrees", ""
        if id(row) in self._why:
            return "differs", self._why[id(row)]
        return "unexplained", "no value of any knob gives it"


def tally(groups: dict[tuple[str, str], OutsideGroup], case: Case, judge: Judge) -> None:
    """Adds the verdicts about the rows of a case to the groups of their files and sources."""
    for row in case.rows:
        group = groups.setdefault(
            (row.file, row.source), OutsideGroup(file=row.file, source=row.source)
        )
        verdict, why = judge.of(row)
        if verdict == "agrees":
            group.agrees += 1
        else:
            group.rows.append(OutsideRow(name=row.name, verdict=verdict, why=why, text=row.text))


def check(cases: Iterable[Case]) -> list[OutsideGroup]:
    """Returns the verdicts of the model under the profile of the process, by file and source."""
    groups: dict[tuple[str, str], OutsideGroup] = {}
    for case in cases:
        tally(groups, case, Judge(case))
    return list(groups.values())
