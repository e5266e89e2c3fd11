# SPDX-License-Identifier: Apache-2.0
"""Coverage definitions and counters: bins, coverpoints, crosses and groups of them.

Definitions are frozen; :class:`GroupCounts` holds counts as one ``int64`` array per coverpoint
or cross. Sampling takes bin indices of many transactions at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from tb.common.text import percent_text

Ints = NDArray[np.int64]
NOT_SAMPLED = -1
"""Bin index of a transaction that a coverpoint does not sample."""


class CoverageError(ValueError):
    """Definitions that contradict each other, or counts that do not fit them."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin.

    Attributes:
        name: Its name.
        unreachable: The reason if no op can hit it.
        needs: Values of knobs under which it exists, ``tail = fill, compact = legal``; empty for
            every profile. It is out of scope of a run under another value.
    """

    name: str
    unreachable: str = ""
    needs: str = ""


@dataclass(frozen=True)
class Coverpoint:
    """A list of bins, of which a transaction hits at most one."""

    name: str
    bins: tuple[Bin, ...]
    doc: str = ""

    def __post_init__(self) -> None:
        names = [item.name for item in self.bins]
        if len(set(names)) != len(names) or not names:
            raise CoverageError(f"coverpoint {self.name}: bins are {names}: distinct, at least one")

    @cached_property
    def reachable(self) -> NDArray[np.bool_]:
        """``bool[bins]``, true where a bin can be hit."""
        return np.array([not item.unreachable for item in self.bins])

    @cached_property
    def limited(self) -> tuple[str, ...]:
        """Values of knobs under which each bin exists; empty when every bin exists always."""
        found = tuple(item.needs for item in self.bins)
        return found if any(found) else ()

    @property
    def labels(self) -> list[str]:
        """Bin names in order."""
        return [item.name for item in self.bins]


def point(
    name: str,
    labels: Sequence[str],
    doc: str = "",
    *,
    needs: str | Mapping[str, str] = "",
    **unreachable: str,
) -> Coverpoint:
    """Builds a coverpoint from bin names; ``unreachable`` maps a bin name to its reason.

    Args:
        name: Name of the point.
        labels: Names of its bins.
        doc: One line.
        needs: Values of knobs of every bin, or those of some bins by name (:attr:`Bin.needs`).
        **unreachable: Bin name to the reason why it cannot be hit.

    Raises:
        CoverageError: a reason or a knob is given for a bin that does not exist.
    """
    knobs = dict.fromkeys(labels, needs) if isinstance(needs, str) else needs
    unknown = (set(unreachable) | set(knobs)) - set(labels)
    if unknown:
        raise CoverageError(f"coverpoint {name} has no bins {sorted(unknown)}")
    return Coverpoint(
        name,
        tuple(Bin(label, unreachable.get(label, ""), knobs.get(label, "")) for label in labels),
        doc,
    )


@dataclass(frozen=True)
class Exclusion:
    """Cells of a cross that cannot be hit: those with all bins named in ``where``."""

    reason: str
    where: Mapping[str, frozenset[str]]


def excluding(reason: str, **where: str | Sequence[str]) -> Exclusion:
    """Builds an exclusion: coverpoint name to one bin name or several."""
    return Exclusion(
        reason,
        {key: frozenset([bins] if isinstance(bins, str) else bins) for key, bins in where.items()},
    )


def lone(
    reason: str, others: str = "several have one", /, **points: Sequence[str]
) -> tuple[Exclusion, Exclusion]:
    """Builds the exclusions of a count and a distance, two points with their bins.

    The first bins go together alone: one item has no distance (``reason``), ``others`` have one.
    """
    (count, counts), (distance, distances) = points.items()
    return (
        excluding(reason, **{count: counts[0], distance: distances[1:]}),
        excluding(others, **{count: counts[1:], distance: distances[0]}),
    )


@dataclass(frozen=True)
class Cross:
    """All combinations of the bins of several coverpoints."""

    name: str
    of: tuple[str, ...]
    exclude: tuple[Exclusion, ...] = ()
    doc: str = ""


def crossed(name: str, exclude: Sequence[Exclusion] = ()) -> Cross:
    """Returns the cross of the points that its name lists: ``rows x columns``."""
    return Cross(name, tuple(name.split(" x ")), tuple(exclude))


@dataclass(frozen=True)
class CoverGroup:
    """Coverpoints and crosses that are sampled together.

    Raises:
        CoverageError: names repeat, or a cross or exclusion has an unknown name.
    """

    name: str
    points: tuple[Coverpoint, ...]
    crosses: tuple[Cross, ...] = ()
    doc: str = ""

    def __post_init__(self) -> None:
        names = [item.name for item in self.points] + [item.name for item in self.crosses]
        if len(set(names)) != len(names):
            raise CoverageError(f"group {self.name} repeats a name: {sorted(names)}")
        for cross in self.crosses:
            for name in cross.of:
                if name not in self.by_name:
                    raise CoverageError(f"{self.name}.{cross.name} crosses unknown {name}")
            for item in cross.exclude:
                for name, labels in item.where.items():
                    if name not in cross.of:
                        raise CoverageError(f"{self.name}.{cross.name} excludes by unknown {name}")
                    unknown = labels - set(self.by_name[name].labels)
                    if unknown:
                        raise CoverageError(
                            f"{self.name}.{cross.name}: {name} has no bins {sorted(unknown)}"
                        )

    @cached_property
    def by_name(self) -> dict[str, Coverpoint]:
        """Coverpoints by name."""
        return {item.name: item for item in self.points}

    def shape(self, cross: Cross) -> tuple[int, ...]:
        """Returns the number of bins along each axis of ``cross``."""
        return tuple(len(self.by_name[name].bins) for name in cross.of)

    @cached_property
    def reachable(self) -> dict[str, NDArray[np.bool_]]:
        """Name of each coverpoint or cross to ``bool[bins]``; cross cells in row-major order."""
        masks = {item.name: item.reachable for item in self.points}
        for cross in self.crosses:
            mask = self.cells(cross, {name: self.by_name[name].reachable for name in cross.of})
            for item in cross.exclude:
                chosen = {
                    name: np.array([x in labels for x in self.by_name[name].labels])
                    for name, labels in item.where.items()
                }
                mask &= ~self.cells(cross, chosen)
            masks[cross.name] = mask
        return masks

    def cells(self, cross: Cross, chosen: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Returns ``bool[cells]``: cells of ``cross`` with all bins chosen.

        ``chosen`` maps points to ``bool[bins]``; every bin of a point that is left out is chosen.
        """
        every = {name: np.ones(len(self.by_name[name].bins), dtype=bool) for name in cross.of}
        masks = [chosen.get(name, every[name]) for name in cross.of]
        return reduce(np.logical_and.outer, masks).ravel()

    def label(self, name: str, index: int) -> str:
        """Returns the name of one bin or cross cell."""
        if name in self.by_name:
            return self.by_name[name].bins[index].name
        cross = next(item for item in self.crosses if item.name == name)
        cell = np.unravel_index(index, self.shape(cross))
        return " x ".join(
            f"{axis}={self.by_name[axis].bins[int(at)].name}"
            for axis, at in zip(cross.of, cell, strict=True)
        )


@dataclass
class GroupCounts:
    """Hits of one group: ``int64[bins]`` per coverpoint, ``int64[cells]`` per cross.

    A hit on a bin or cell declared unreachable is kept and reported by :attr:`impossible`: either
    the declaration or the sampling is wrong.

    Attributes:
        group: The definition.
        hits: Name of a point or cross to its counts.
        scope: Name to ``bool[bins]``: bins in scope of the run; all bins if left out.
        excluded: Name to the index of each reachable bin that does not count, and the reason
            (:mod:`tb.coverage.exclusions`).
    """

    group: CoverGroup
    hits: dict[str, Ints] = field(default_factory=dict)
    scope: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    excluded: dict[str, dict[int, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, mask in self.group.reachable.items():
            counts = self.hits.setdefault(name, np.zeros(len(mask), dtype=np.int64))
            if counts.shape != mask.shape:
                raise CoverageError(
                    f"{self.group.name}.{name} has {len(mask)} bins, counts have {counts.shape}"
                )

    def wanted(self, name: str) -> NDArray[np.bool_]:
        """Returns ``bool[bins]``, the bins that count: reachable, in scope and not excluded."""
        mask, scope = self.group.reachable[name], self.scope.get(name)
        if scope is not None:
            mask = mask & scope
        if name in self.excluded:
            mask = mask.copy()
            mask[list(self.excluded[name])] = False
        return mask

    def sample(self, index: Mapping[str, Ints], rows: Ints | None = None) -> None:
        """Counts N transactions.

        Args:
            index: Coverpoint name to ``int64[N]`` bin indices, ``NOT_SAMPLED`` where the point
                does not concern a transaction.
            rows: Which of the transactions to count, ``int64[M]`` indices; default all.

        Raises:
            CoverageError: an index is outside the bins of its coverpoint.
        """
        chosen: dict[str, Ints] = {}
        for item in self.group.points:
            values = index[item.name] if rows is None else index[item.name][rows]
            # Row 0 of the histogram takes NOT_SAMPLED.
            counts = np.bincount(values + 1, minlength=len(item.bins) + 1)
            if len(counts) != len(item.bins) + 1:
                raise CoverageError(
                    f"{self.group.name}.{item.name}: bin {len(counts) - 2} of {len(item.bins)}"
                )
            self.hits[item.name] += counts[1:]
            chosen[item.name] = values
        for cross in self.group.crosses:
            cell = chosen[cross.of[0]]
            missing = cell < 0
            for name, size in zip(cross.of[1:], self.group.shape(cross)[1:], strict=True):
                cell = cell * size + chosen[name]
                missing |= chosen[name] < 0
            counts = np.bincount(
                np.where(missing, 0, cell + 1), minlength=len(self.hits[cross.name]) + 1
            )
            self.hits[cross.name] += counts[1:]

    @property
    def covered(self) -> int:
        """Bins and cells that count and were hit at least once."""
        return sum(int(((self.hits[name] > 0) & self.wanted(name)).sum()) for name in self.hits)

    @property
    def total(self) -> int:
        """Bins and cells that count: reachable, in scope and not excluded."""
        return sum(int(self.wanted(name).sum()) for name in self.hits)

    @property
    def percent(self) -> float:
        """Covered over all bins that count, 0 to 100; an empty group is complete."""
        return 100.0 * self.covered / self.total if self.total else 100.0

    def holes(self, name: str) -> list[str]:
        """Returns the bins or cells of ``name`` that count and were never hit."""
        missing = self.wanted(name) & (self.hits[name] == 0)
        return [self.group.label(name, int(index)) for index in np.flatnonzero(missing)]

    @property
    def impossible(self) -> list[str]:
        """Bins and cells that were hit though declared unreachable."""
        return [
            f"{self.group.name}.{name}: {self.group.label(name, int(index))}"
            for name, mask in self.group.reachable.items()
            for index in np.flatnonzero(~mask & (self.hits[name] > 0))
        ]

    @property
    def excluded_hits(self) -> list[str]:
        """Bins and cells that were hit though excluded, with the reason of the exclusion."""
        return [
            f"{self.group.name}.{name}: {self.group.label(name, index)} ({reason})"
            for name, bins in self.excluded.items()
            for index, reason in sorted(bins.items())
            if self.hits[name][index]
        ]


@dataclass(frozen=True)
class Summary:
    """Totals of a coverage.

    Attributes:
        covered, bins: Reachable bins and cross cells: those hit, and all.
        percent: Hit over all, 0 to 100.
        groups: Percent by group.
    """

    covered: int
    bins: int
    percent: float
    groups: dict[str, float]


class Coverage:
    """Counts of several groups of one run, or of runs merged."""

    def __init__(self, groups: Sequence[CoverGroup]) -> None:
        self.groups: dict[str, GroupCounts] = {item.name: GroupCounts(item) for item in groups}

    @property
    def covered(self) -> int:
        """Reachable bins hit in all groups."""
        return sum(item.covered for item in self.groups.values())

    @property
    def total(self) -> int:
        """Reachable bins in all groups."""
        return sum(item.total for item in self.groups.values())

    @property
    def percent(self) -> float:
        """Covered over reachable bins of all groups, 0 to 100."""
        return 100.0 * self.covered / self.total if self.total else 100.0

    def summary(self) -> Summary:
        """Returns the totals."""
        groups = {name: round(item.percent, 2) for name, item in self.groups.items()}
        percent = float(percent_text(self.percent, 2))
        return Summary(self.covered, self.total, percent, groups)

    @property
    def impossible(self) -> list[str]:
        """Bins and cells hit though declared unreachable, in all groups."""
        return [text for item in self.groups.values() for text in item.impossible]

    @property
    def excluded_hits(self) -> list[str]:
        """Bins and cells hit though excluded, in all groups."""
        return [text for item in self.groups.values() for text in item.excluded_hits]

    def merge(self, other: Coverage) -> None:
        """Adds the counts of ``other`` and unites the scopes; groups that only it has are added.

        Exclusions stay those of this one; apply them after merging.

        Raises:
            CoverageError: a group of both is defined differently.
        """
        for name, theirs in other.groups.items():
            mine = self.groups.get(name)
            if mine is None:
                self.groups[name] = GroupCounts(
                    theirs.group,
                    {key: counts.copy() for key, counts in theirs.hits.items()},
                    {key: mask.copy() for key, mask in theirs.scope.items()},
                )
                continue
            if mine.group != theirs.group:
                raise CoverageError(
                    f"group {name} is defined differently in the two runs: same version and "
                    "bus width wanted"
                )
            for key, counts in theirs.hits.items():
                mine.hits[key] += counts
            # A name that one scope leaves out is all in scope there, and so in the union.
            both = {
                key: mask | theirs.scope[key]
                for key, mask in mine.scope.items()
                if key in theirs.scope
            }
            mine.scope = {key: mask for key, mask in both.items() if not mask.all()}
