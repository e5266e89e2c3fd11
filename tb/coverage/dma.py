# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the DMA ops: one group per form, one for the traffic, one for rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb.coverage.burst import burst_group
from tb.coverage.dma_groups import strided_group
from tb.coverage.exchange import to_json
from tb.coverage.model import Coverage, CoverageError, Ints, Summary
from tb.coverage.nz import nz_group
from tb.coverage.points import Group
from tb.coverage.rules import rules_group, rules_scope
from tb.coverage.traffic import traffic_group, traffic_scope
from tb.coverage.view import FORM_SPECS, FORMS, Bools, View
from tb.isa.block import OpBlock

FLUSH = 4096
"""Ops buffered before they are classified together."""


def form_group(form: str, bus_bytes: int) -> Group[Any]:
    """Returns the group of one form, by the family of its descriptor."""
    family = FORM_SPECS[form].layout.family
    if family == "burst":
        return burst_group(form)
    return nz_group(form, bus_bytes) if family == "nz" else strided_group(form, bus_bytes)


class DmaCoverage(Coverage):
    """Counts ops of checked blocks.

    Groups are defined alike whatever ``forms`` are: in ``traffic`` and ``rules`` the bins of other
    forms are out of scope, and the groups of other forms are left out.

    Args:
        gm_bytes: GM bus width that residues are taken modulo of.
        forms: Forms to cover, out of ``FORMS``; ops of other forms are not counted.
        illegal: Also cover the D rules, for runs that send illegal ops.

    Raises:
        CoverageError: a form is unknown, or none is given.
    """

    def __init__(
        self, gm_bytes: int = 32, forms: Sequence[str] = FORMS, *, illegal: bool = False
    ) -> None:
        unknown = [name for name in forms if name not in FORMS]
        if unknown or not forms:
            raise CoverageError(
                f"no coverage for {', '.join(unknown) or 'no form'}: {', '.join(FORMS)}"
            )
        self.forms = tuple(name for name in FORMS if name in forms)
        self._form_groups = {form: form_group(form, gm_bytes) for form in self.forms}
        self._traffic = traffic_group()
        self._rules = rules_group() if illegal else None
        groups: list[Group[Any]] = [*self._form_groups.values(), self._traffic]
        if self._rules:
            groups.append(self._rules)
        super().__init__([item.define() for item in groups])
        traffic = self.groups[self._traffic.name]
        traffic.scope.update(traffic_scope(self.forms).masks(traffic.group))
        if self._rules:
            rules = self.groups[self._rules.name]
            rules.scope.update(rules_scope(self.forms).masks(rules.group))
        self._mine = np.isin(np.arange(-1, len(FORMS)), [FORMS.index(x) for x in self.forms])
        self._blocks: list[OpBlock] = []
        self._masks: list[Bools | None] = []
        self._events: list[Ints | None] = []
        self._waiting = 0

    def sample(
        self, block: OpBlock, passed: Bools | None = None, events: Ints | None = None
    ) -> None:
        """Takes the ops of ``block`` whose check passed.

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

    def summary(self) -> Summary:
        """Returns the totals of all ops sampled so far."""
        self.flush()
        return super().summary()

    def to_json(self) -> dict[str, Any]:
        """Returns all counts so far in the schema of :mod:`tb.coverage.exchange`."""
        self.flush()
        return to_json(self)

    def flush(self) -> None:
        """Counts what waits; to be called before the groups are read."""
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
        self._traffic.sample(self.groups[self._traffic.name], view, np.flatnonzero(legal))
        if self._rules:
            self._rules.sample(self.groups[self._rules.name], view, np.flatnonzero(mine))
