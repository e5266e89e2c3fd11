# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the ops: a group for each form, and groups common to all forms.

Common groups are the value conversion of write-backs, the traffic, and the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tb.coverage.burst import burst_group
from tb.coverage.dma.groups import strided_group
from tb.coverage.export.exchange import to_json
from tb.coverage.fill import fill_group
from tb.coverage.fix.groups import fix_group
from tb.coverage.fix.path import path_group, path_scope
from tb.coverage.l0 import load_group
from tb.coverage.limits import FormLimits, form_scope, reported
from tb.coverage.model import Coverage, CoverageError, GroupCounts, Ints, Summary
from tb.coverage.nz import nz_group
from tb.coverage.points import Group
from tb.coverage.rules import rules_group, rules_scope
from tb.coverage.scope import Scope
from tb.coverage.stress import (
    GROUPS,
    sample_faults,
    sample_knobs,
    sample_queues,
    sample_resets,
    stress_scope,
)
from tb.coverage.traffic import traffic_group, traffic_scope
from tb.coverage.view import FORM_SPECS, FORMS, Bools, View
from tb.isa.block import OpBlock
from tb.isa.fix.table import WRITE_BACKS

_WRITE_BACKS = frozenset(spec.name for spec in WRITE_BACKS)

FLUSH = 4096
"""Ops buffered before they are classified together."""


def form_group(form: str, bus_bytes: int) -> Group:
    """Returns the group of one form, by the family of its descriptor."""
    family = FORM_SPECS[form].layout.family
    if family == "burst":
        return burst_group(form)
    if family == "fix":
        return fix_group(form, bus_bytes)
    if family == "l0":
        return load_group(form)
    if family == "fill":
        return fill_group(form)
    return nz_group(form, bus_bytes) if family == "nz" else strided_group(form, bus_bytes)


class FunctionalCoverage(Coverage):
    """Counts ops of checked blocks.

    Group definitions do not depend on ``forms``: in groups of several forms the bins of other forms
    are out of scope, and groups without a form of the run are left out.

    Args:
        gm_bytes: GM bus width that residues are taken modulo of.
        forms: Forms to cover, out of ``FORMS``; ops of other forms are not counted.
        illegal: Also cover the D rules, for runs that send illegal ops.
        limits: Form to the limits of its engine; forms without an entry have none.
        stress: Further groups to cover, of :mod:`tb.coverage.stress`.

    Raises:
        CoverageError: a form is unknown, or none is given.
    """

    def __init__(
        self,
        gm_bytes: int = 32,
        forms: Sequence[str] = FORMS,
        *,
        illegal: bool = False,
        limits: Mapping[str, FormLimits] | None = None,
        stress: Collection[str] = (),
    ) -> None:
        unknown = [name for name in forms if name not in FORMS]
        if unknown or not forms:
            raise CoverageError(
                f"no coverage for {', '.join(unknown) or 'no form'}: {', '.join(FORMS)}"
            )
        self.forms = tuple(name for name in FORMS if name in forms)
        self._form_groups = {form: form_group(form, gm_bytes) for form in self.forms}
        self._write_backs = [FORMS.index(form) for form in self.forms if form in _WRITE_BACKS]
        self._path = path_group() if self._write_backs else None
        self._traffic = traffic_group()
        self._rules = rules_group() if illegal else None
        can = {form: (limits or {}).get(form, FormLimits()) for form in self.forms}
        scoped: list[tuple[Group | None, Scope]] = [
            *[(self._form_groups[form], form_scope(form, can[form])) for form in self.forms],
            (self._path, path_scope(self.forms)),
            (self._traffic, traffic_scope(self.forms)),
            (self._rules, rules_scope(self.forms, reported(can))),
        ]
        stresses = {name: make() for name, make in GROUPS.items() if name in stress}
        defined = [group.define() for group, _ in scoped if group]
        super().__init__([*defined, *stresses.values()])
        for name in stresses:
            counts = self.groups[name]
            scope = stress_scope(name, self.forms, illegal=illegal)
            counts.scope.update(scope.masks(counts.group))
        for group, scope in scoped:
            if group:
                counts = self.groups[group.name]
                counts.scope.update(scope.masks(counts.group))
        self._own: list[Group] = []
        self._mine = np.isin(np.arange(-1, len(FORMS)), [FORMS.index(x) for x in self.forms])
        self._blocks: list[OpBlock] = []
        self._masks: list[Bools | None] = []
        self._events: list[Ints | None] = []
        self._waiting = 0

    def add(self, group: Group) -> None:
        """Adds a user's group; it counts the legal ops of the run's forms.

        Raises:
            CoverageError: there is a group of that name.
        """
        if group.name in self.groups:
            raise CoverageError(f"there is a coverage group {group.name} already")
        self.flush()
        self.groups[group.name] = GroupCounts(group.define())
        self._own.append(group)

    def sample(
        self, block: OpBlock, passed: Bools | None = None, events: Ints | None = None
    ) -> None:
        """Samples the ops of ``block`` that passed their check.

        Blocks are classified together once ``FLUSH`` ops wait, and by :meth:`flush`.

        Args:
            block: N ops.
            passed: ``bool[N]``; default all.
            events: ``int64[N]``, bits of :mod:`tb.isa.events` that the data showed; default none.

        Raises:
            CoverageError: the mask or the events have another length than the block.
        """
        for name, values in (("mask", passed), ("events", events)):
            if values is not None and len(values) != len(block):
                raise CoverageError(f"{name} of {len(values)} for a block of {len(block)} ops")
        if not len(block):
            return
        self._blocks.append(block)
        self._masks.append(passed)
        self._events.append(events)
        self._waiting += len(block)
        if self._waiting >= FLUSH:
            self.flush()

    def sample_stress(self, checked: Any, knobs: Mapping[str, int] | None) -> None:
        """Counts knobs, full queues, errors and resets of a batch.

        Args:
            checked: The batch, ``CheckedBatch``.
            knobs: Settings in force, None when there are none.
        """
        groups = self.groups
        if "knobs" in groups and knobs is not None and checked.passed.any():
            sample_knobs(groups["knobs"], knobs)
        if "queues" in groups:
            sample_queues(groups["queues"], checked)
        if "faults" in groups:
            sample_faults(groups["faults"], checked)
        if "resets" in groups:
            sample_resets(groups["resets"], checked)

    def summary(self) -> Summary:
        """Returns the totals of all ops sampled so far."""
        self.flush()
        return super().summary()

    def to_json(self) -> dict[str, Any]:
        """Returns all counts so far in the schema of :mod:`tb.coverage.export.exchange`."""
        self.flush()
        return to_json(self)

    def flush(self) -> None:
        """Counts the buffered ops; to be called before the groups are read."""
        if not self._blocks:
            return
        view = View(self._blocks, self._masks, self._events, check=self._rules is not None)
        self._blocks, self._masks, self._events, self._waiting = [], [], [], 0
        mine = view.counted & self._mine[view.form + 1]
        legal = mine & view.legal
        present = np.bincount(view.form[legal], minlength=len(FORMS))
        for form, group in self._form_groups.items():
            number = FORMS.index(form)
            if present[number]:
                rows = np.flatnonzero(legal & (view.form == number))
                group.sample(self.groups[form], view, rows)
        if self._path:
            rows = np.flatnonzero(legal & np.isin(view.form, self._write_backs))
            self._path.sample(self.groups[self._path.name], view, rows)
        for group in (self._traffic, *self._own):
            group.sample(self.groups[group.name], view, np.flatnonzero(legal))
        if self._rules:
            self._rules.sample(self.groups[self._rules.name], view, np.flatnonzero(mine))
