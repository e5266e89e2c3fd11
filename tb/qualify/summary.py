# SPDX-License-Identifier: Apache-2.0
"""What a campaign found, in figures: kill rates with their intervals, survivors, costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tb.qualify.judge import BROKEN, EQUIVALENT, KILLED, SURVIVED, Verdict
from tb.qualify.mutants import Mutant

Z = 1.96
"""Standard deviations of an interval that holds 95 % of the cases."""


@dataclass(frozen=True)
class Rate:
    """Killed of judged mutants; those proven or listed as equivalent, and broken ones, are none.

    Attributes:
        killed, judged: Counts.
        low, high: Interval of the rate in all mutants, 95 % (Wilson), 0 to 1.
    """

    killed: int
    judged: int
    low: float
    high: float

    def __str__(self) -> str:
        """Returns it in percent with the interval."""
        if not self.judged:
            return "none judged"
        share = 100 * self.killed / self.judged
        span = f"{100 * self.low:.1f} to {100 * self.high:.1f} %"
        return f"{self.killed} of {self.judged} killed, {share:.1f} % ({span})"


def rate(verdicts: Iterable[Verdict]) -> Rate:
    """Returns the rate of some verdicts."""
    results = [verdict.result for verdict in verdicts]
    killed = results.count(KILLED)
    judged = killed + results.count(SURVIVED)
    if not judged:
        return Rate(0, 0, 0.0, 1.0)
    share, square = killed / judged, Z * Z / judged
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / judged + square / judged / 4) / (1 + square)
    return Rate(killed, judged, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class Summary:
    """A campaign on one engine.

    Attributes:
        engine: Title of the engine.
        drawn: Mutants drawn.
        mutants: Those with a verdict.
        verdicts: Verdicts by name.
    """

    engine: str
    drawn: int
    mutants: Sequence[Mutant]
    verdicts: Mapping[str, Verdict]

    def of(self, result: str) -> list[tuple[Mutant, Verdict]]:
        """Returns the mutants with this result."""
        found = ((mutant, self.verdicts[mutant.name]) for mutant in self.mutants)
        return [(mutant, verdict) for mutant, verdict in found if verdict.result == result]

    def rates(self, key: Callable[[Mutant], str]) -> dict[str, Rate]:
        """Returns the rates of groups of mutants, the lowest first."""
        groups: dict[str, list[Verdict]] = {}
        for mutant in self.mutants:
            groups.setdefault(key(mutant), []).append(self.verdicts[mutant.name])
        found = {name: rate(members) for name, members in groups.items()}
        return dict(sorted(found.items(), key=lambda item: (item[1].high, item[0])))

    def lines(self) -> list[str]:
        """Returns the end of the terminal's output."""
        lines = [f"{self.engine}: {rate(self.verdicts.values())}"]
        counts = {result: len(self.of(result)) for result in (EQUIVALENT, BROKEN)}
        rest = self.drawn - len(self.mutants)
        lines[0] += "".join(f", {count} {result}" for result, count in counts.items() if count)
        lines[0] += f", {rest} of {self.drawn} not judged" if rest else ""
        for mutant, verdict in self.of(SURVIVED):
            lines.append(f"  survived    {mutant.name}: {verdict.how}")
        for mutant, verdict in self.of(BROKEN):
            lines.append(f"  not judged  {mutant.name}: {verdict.how}")
        for mutant, verdict in self.of(EQUIVALENT):
            lines.append(f"  equivalent  {mutant.name}: {verdict.how}")
        for folder, its in self.rates(lambda mutant: str(Path(mutant.file).parent)).items():
            lines.append(f"  {folder:<24}  {its}")
        killed = [verdict for _, verdict in self.of(KILLED)]
        by_test = dict.fromkeys(dict.fromkeys(verdict.test for verdict in killed), 0)
        for verdict in killed:
            by_test[verdict.test] += 1
        if killed:
            tests = ", ".join(f"{test} {count}" for test, count in by_test.items())
            sent = [verdict.transactions for verdict in killed if verdict.transactions]
            lines.append(f"  killed by   {tests}")
            spent = sum(verdict.seconds for verdict in self.verdicts.values())
            lines.append(
                f"  cost        median {median(sent or [0]):.0f} transactions to the failure, "
                f"{spent / len(self.verdicts):.1f} s of processor time a mutant"
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as data."""
        return {
            "engine": self.engine,
            "drawn": self.drawn,
            "rate": asdict(rate(self.verdicts.values())),
            "files": {name: asdict(r) for name, r in self.rates(lambda m: m.file).items()},
            "kinds": {name: asdict(r) for name, r in self.rates(lambda m: m.kind).items()},
            "mutants": [
                {**asdict(mutant), **asdict(self.verdicts[mutant.name])} for mutant in self.mutants
            ],
        }
