# SPDX-License-Identifier: Apache-2.0
"""Verdicts about outside results: counts of a source, and every row that does not agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

OutsideVerdict = Literal["agrees", "differs", "unknown", "unexplained"]
"""``differs``: other values of knobs give the stated bytes. ``unknown``: the row cannot be judged.
``unexplained``: neither; this is a failure."""

VERDICTS: tuple[OutsideVerdict, ...] = ("agrees", "differs", "unknown", "unexplained")


class OutsideRow(BaseModel):
    """A row that does not agree.

    Attributes:
        name: Its identifier.
        verdict: Anything but ``agrees``.
        why: Knobs with the values that give the stated bytes, or the reason.
        text: What the row states.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    verdict: OutsideVerdict
    why: str
    text: str


class OutsideGroup(BaseModel):
    """Rows of one file and one source.

    Attributes:
        file, source: The file, and the project that the rows come from.
        agrees: How many rows agree.
        rows: Those that do not.
    """

    model_config = ConfigDict(extra="forbid")

    file: str
    source: str
    agrees: int = 0
    rows: list[OutsideRow] = Field(default_factory=list)

    def count(self, verdict: OutsideVerdict) -> int:
        """Returns how many rows have a verdict."""
        found = sum(row.verdict == verdict for row in self.rows)
        return self.agrees if verdict == "agrees" else found

    @property
    def total(self) -> int:
        """Number of rows."""
        return self.agrees + len(self.rows)

    @property
    def line(self) -> str:
        """File and source with the counts."""
        return f"{self.file} {self.source}, {counts_text([self])}"


def counts_text(groups: Sequence[OutsideGroup]) -> str:
    """Returns the counts of groups as ``12 rows: 9 agrees, 1 differs, ...``."""
    total = sum(group.total for group in groups)
    parts = [f"{sum(group.count(verdict) for group in groups)} {verdict}" for verdict in VERDICTS]
    return f"{total} rows: {', '.join(parts)}"


def merged(runs: Iterable[Sequence[OutsideGroup]]) -> list[OutsideGroup]:
    """Returns the verdicts of several runs as one list.

    A row agrees if it agrees in every run; an unexplained one stays so.
    """
    totals: dict[tuple[str, str], int] = {}
    rows: dict[tuple[str, str], dict[str, OutsideRow]] = {}
    for groups in runs:
        for group in groups:
            key = group.file, group.source
            totals[key] = max(totals.get(key, 0), group.total)
            mine = rows.setdefault(key, {})
            for row in group.rows:
                if row.name not in mine or row.verdict == "unexplained":
                    mine[row.name] = row
    return [
        OutsideGroup(
            file=file,
            source=source,
            agrees=total - len(rows[file, source]),
            rows=list(rows[file, source].values()),
        )
        for (file, source), total in totals.items()
    ]
