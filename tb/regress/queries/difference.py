# SPDX-License-Identifier: Apache-2.0
"""Changes between two regression runs: runs, failure buckets, coverage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tb.coverage.model import Coverage, GroupCounts
from tb.regress.queries.views import FAILED, Difference, RegressionRun, RunRow

Key = tuple[str, str]
"""Test and configuration: common to two regression runs with different seeds."""


@dataclass(frozen=True)
class Side:
    """One of two regression runs.

    Attributes:
        regression_run: The regression run.
        runs: Its planned runs.
        buckets: Identifier of each of its failure buckets to its title.
        coverage: Its merged functional coverage, exclusions applied.
    """

    regression_run: RegressionRun
    runs: Sequence[RunRow]
    buckets: Mapping[str, str]
    coverage: Coverage


def compare(before: Side, after: Side) -> Difference:
    """Returns the changes from one regression run to another.

    A test of a configuration fails when one of its runs does. It fails newly when it did not fail
    before, run or not; it passes newly when it failed before and all its runs passed now.
    """
    failed_before, failed_after = _failures(before.runs), _failures(after.runs)
    good = {_key(run) for run in after.runs if run.state == "pass"} - set(failed_after)
    gains, losses = _bins(before.coverage, after.coverage)
    return Difference(
        before.regression_run.name,
        after.regression_run.name,
        newly_failing=tuple(
            (*key, message) for key, message in failed_after.items() if key not in failed_before
        ),
        newly_passing=tuple(
            (*key, message) for key, message in failed_before.items() if key in good
        ),
        buckets_new=_titles(after.buckets, before.buckets),
        buckets_gone=_titles(before.buckets, after.buckets),
        won=tuple(gains),
        lost=tuple(losses),
        coverage=(_percent(before.coverage), _percent(after.coverage)),
        rate=(
            before.regression_run.figures.transactions_per_second,
            after.regression_run.figures.transactions_per_second,
        ),
    )


def _percent(coverage: Coverage) -> float | None:
    return coverage.percent if coverage.total else None


def configuration(run: RunRow) -> str:
    """Returns the name of the build that a run needed."""
    return run.config or f"{run.sim}-gm{run.gm_width}-local{run.local_width}"


def _key(run: RunRow) -> Key:
    return run.test, configuration(run)


def _failures(runs: Sequence[RunRow]) -> dict[Key, str]:
    """Returns the tests that failed with the message of their first failing run."""
    found: dict[Key, str] = {}
    for run in runs:
        if run.state in FAILED:
            found.setdefault(_key(run), run.message)
    return found


def _titles(mine: Mapping[str, str], others: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(title for name, title in mine.items() if name not in others)


def _bins(before: Coverage, after: Coverage) -> tuple[list[str], list[str]]:
    """Returns the bins covered after alone and before alone, of those that both require."""
    won: list[str] = []
    lost: list[str] = []
    for name, new in after.groups.items():
        old = _same_group(name, new, before)
        if old is None:
            continue
        alike = _alike(old, new)
        for item in new.hits:
            if item not in old.hits:
                continue
            changed = _changed(item, old, new) if alike else _renamed(item, old, new)
            for label, was, now in changed:
                if now and not was:
                    won.append(f"{name}.{item}: {label}")
                elif was and not now:
                    lost.append(f"{name}.{item}: {label}")
    return won, lost


def _same_group(name: str, counts: GroupCounts, others: Coverage) -> GroupCounts | None:
    """Returns the group of the same definition, or else of the same name.

    Groups that bus widths define differently are named by their frequency in a regression run, so
    one name may mean different definitions.
    """
    alike = others.groups.get(name)
    if alike is not None and _alike(alike, counts):
        return alike
    found = (other for other in others.groups.values() if _alike(other, counts))
    return next(found, alike)


def _alike(one: GroupCounts, other: GroupCounts) -> bool:
    mine, theirs = one.group, other.group
    return mine is theirs or (mine.points, mine.crosses) == (theirs.points, theirs.crosses)


def _changed(item: str, old: GroupCounts, new: GroupCounts) -> Iterator[tuple[str, bool, bool]]:
    """Yields label, covered before, covered after of the bins that both require and that differ."""
    before, after = old.hits[item] > 0, new.hits[item] > 0
    both = old.wanted(item) & new.wanted(item)
    for index in np.flatnonzero((before ^ after) & both).tolist():
        yield new.group.label(item, index), bool(before[index]), bool(after[index])


def _renamed(item: str, old: GroupCounts, new: GroupCounts) -> Iterator[tuple[str, bool, bool]]:
    """Yields the same where definitions differ: bins are found by their labels."""
    was = _by_label(item, old)
    for label, now in _by_label(item, new).items():
        if label in was and was[label] != now:
            yield label, was[label], now


def _by_label(item: str, counts: GroupCounts) -> dict[str, bool]:
    """Returns the label of each bin that counts to whether it was covered."""
    return {
        counts.group.label(item, index): bool(counts.hits[item][index] > 0)
        for index in np.flatnonzero(counts.wanted(item)).tolist()
    }
