# SPDX-License-Identifier: Apache-2.0
"""Scope of a group: the bins of the forms that a run sends, under its profile.

Definitions are the same in every run, so that their counts can be added up; a bin that belongs to
no form of the run, or that exists only under another value of a knob (:attr:`Bin.needs`), is out
of its scope and does not count in its percentage. The scope of merged runs is the union.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tb.coverage.model import CoverageError, CoverGroup
from tb.isa.profile import KNOBS, Profile, current

Labels = Mapping[str, Sequence[str]]
"""Coverpoint to the names of some of its bins."""


def exists(needs: str, profile: Profile) -> bool:
    """Returns whether ``profile`` has the values of knobs in ``needs`` (:attr:`Bin.needs`).

    Raises:
        CoverageError: a knob is unknown, or has no such value.
    """
    met = True
    for part in needs.split(", ") if needs else ():
        name, _, value = part.partition(" = ")
        if name not in KNOBS or value not in map(str, KNOBS[name].values):
            raise CoverageError(f"a bin needs {part!r}, which is not a value of a knob")
        met &= str(getattr(profile, name)) == value
    return met


@dataclass(frozen=True)
class Scope:
    """Bins in scope, by name.

    Attributes:
        points: Coverpoint to its bins in scope; all bins of points that are left out.
        crosses: Cross to alternatives; a cell is in scope when its bins are among those of one
            alternative, and of ``points``. All cells of the bins in scope when it is left out.
    """

    points: Labels = field(default_factory=dict)
    crosses: Mapping[str, Sequence[Labels]] = field(default_factory=dict)

    def masks(self, group: CoverGroup) -> dict[str, NDArray[np.bool_]]:
        """Returns ``bool[bins]`` for each point and cross of ``group`` that is not all in scope.

        Bins that need another profile than the current one are out of scope.
        """
        found: dict[str, NDArray[np.bool_]] = {}
        for item in group.points:
            mask = np.ones(len(item.bins), dtype=bool)
            if item.name in self.points:
                mask = np.isin(item.labels, list(self.points[item.name]))
            if item.limited:
                mask &= [exists(needs, current()) for needs in item.limited]
            if not mask.all():
                found[item.name] = mask
        for cross in group.crosses:
            mask = group.cells(cross, {name: found[name] for name in cross.of if name in found})
            if cross.name in self.crosses:
                any_of = np.zeros_like(mask)
                for labels in self.crosses[cross.name]:
                    any_of |= group.cells(cross, _chosen(group, labels))
                mask &= any_of
            found[cross.name] = mask
        # Unreachable bins never count, so only the others need a scope.
        return {
            name: mask for name, mask in found.items() if not (mask | ~group.reachable[name]).all()
        }


def _chosen(group: CoverGroup, labels: Labels) -> dict[str, NDArray[np.bool_]]:
    return {name: np.isin(group.by_name[name].labels, list(bins)) for name, bins in labels.items()}
