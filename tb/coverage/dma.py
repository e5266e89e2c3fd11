# SPDX-License-Identifier: Apache-2.0
"""Functional coverage of the GM DMA ops: one group per form, one for the traffic, one for rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb.coverage import dma_points as p
from tb.coverage.dma_points import Sampled, only
from tb.coverage.dma_view import FORMS, TOO_WIDE, Bools, View
from tb.coverage.exchange import to_json
from tb.coverage.model import (
    Coverage,
    CoverageError,
    CoverGroup,
    Cross,
    Exclusion,
    Ints,
    Summary,
    excluding,
    point,
)
from tb.isa.block import OpBlock
from tb.isa.dma_table import MAX_LOOPS
from tb.isa.ops import LEGACY_FORMS, OPS

FLUSH = 4096
"""Ops buffered before they are classified together."""

_PAGES = "each row of a far op touches a page of its own: stimulus keeps to 64"
_DENSE = "65 rows this far apart do not fit a dense window"


def _crosses(*, store: bool, legacy: bool) -> tuple[Cross, ...]:
    several = ("2", "3..15", "16..64", "65..")
    one = (
        excluding("a single row has no stride", rows="1", gm_row_stride=GM_STRIDES[1:]),
        excluding("several rows have one", rows=several, gm_row_stride="one row"),
        excluding(_PAGES, rows="65..", gm_row_stride="2^32.."),
        excluding(_DENSE, rows="65..", gm_row_stride="+4096.."),
    )
    nesting = "loops_active" if legacy else "n_loops"
    crosses = [
        Cross("rows x nesting x stride", (nesting, "rows", "gm_row_stride"), one),
        Cross("gm x ub row stride", ("gm_row_stride", "ub_row_stride"), _both_strides()),
        Cross("len x gm_align", ("len", "gm_align")),
        Cross("page x nesting", ("page", nesting)),
        Cross("elem x ub_sub", ("elem", "ub_sub")),
    ]
    if not legacy:
        crosses.append(Cross("alignment", ("gm_mod", "len_mod"), doc="every address and length"))
        crosses.append(Cross("loops x rows", ("loops_active", "rows")))
    if not store:
        crosses.append(Cross("pad width x left x right", ("pad_elem", "pad_left", "pad_right")))
        crosses.append(Cross("pad x nesting", ("pad", nesting)))
    return tuple(crosses)


GM_STRIDES = ("one row", "equal len", "+1..31", "+32..4095", "+4096..", "2^32..")
UB_STRIDES = ("one row", "tight", "+32", "+64..256", "+288..")


def _both_strides() -> tuple[Exclusion, ...]:
    reason = "both sides have the same rows"
    return (
        excluding(reason, gm_row_stride="one row", ub_row_stride=UB_STRIDES[1:]),
        excluding(reason, gm_row_stride=GM_STRIDES[1:], ub_row_stride="one row"),
    )


def _form_points(form: str, bus_bytes: int) -> list[Sampled]:
    store = LEGACY_FORMS.get(form, form) == "mte_ub_gm"
    legacy = form in LEGACY_FORMS
    loops = 2 if legacy else MAX_LOOPS
    points = [
        *p.length_points(bus_bytes),
        *p.count_points(loops, legacy=legacy),
        *p.stride_points(loops, store=store),
        *p.place_points(),
        *p.operand_points(store=store, legacy=legacy),
    ]
    if not store:
        points += p.pad_points()
    if legacy:
        points += p.legacy_points(store=store)
    return points


def _traffic_points(forms: Sequence[str]) -> list[Sampled]:
    place = np.full(len(FORMS), -1)
    for number, form in enumerate(forms):
        place[FORMS.index(form)] = number

    def before(view: View) -> Ints:
        found = place[view.previous]
        return np.where(view.previous < 0, 0, np.where(found < 0, -1, 1 + found))

    def wait(view: View) -> Ints:
        return np.searchsorted([1, 8, 64], view.gap, side="right")

    return [
        Sampled(point("form", forms, "form of the op"), lambda v: place[v.form]),
        Sampled(point("before", ["first", *forms], "form of the op before in the block"), before),
        Sampled(point("wait", p.range_labels((0, 1, 8, 64)), "idle clocks before it"), wait),
        Sampled(
            point("depends", ["free", "waits"], "reads what the other slot wrote in the block"),
            lambda v: (v.after >= 0).astype(np.int64),
        ),
    ]


def _traffic_crosses(forms: Sequence[str]) -> tuple[Cross, ...]:
    stores = [LEGACY_FORMS.get(form, form) == "mte_ub_gm" for form in forms]
    exclude: tuple[Exclusion, ...] = ()
    if all(stores) or not any(stores):
        exclude = (excluding("only one slot is in use", depends="waits"),)
    return (
        Cross("form x before", ("form", "before")),
        Cross("form x depends x wait", ("form", "depends", "wait"), exclude),
    )


def _rule_points(forms: Sequence[str]) -> list[Sampled]:
    numbers = sorted({rule for spec in OPS.values() for rule in spec.d_rules})
    place = np.full(256, -1)
    place[numbers] = np.arange(len(numbers))
    at = np.full(len(FORMS), -1)
    for number, form in enumerate(forms):
        at[FORMS.index(form)] = number

    def after_error(view: View) -> Ints:
        return only(view.slot_rule >= 0, 2 * (view.slot_rule > 0) + (view.rule > 0))

    labels = [f"DMA-L{number:02d}" for number in numbers]
    return [
        Sampled(point("form", forms, "form of the op"), lambda v: only(v.rule > 0, at[v.form])),
        Sampled(
            point("rule", labels, "lowest rule broken"),
            lambda v: only(v.rule > 0, place[v.rule]),
        ),
        Sampled(
            point("set_rule", ["too wide"], "set_* op that retires with DMA-L05"),
            lambda v: only((v.program & TOO_WIDE) > 0, np.zeros(v.size, np.int64)),
        ),
        Sampled(
            point(
                "sequence",
                ["legal, legal", "legal, illegal", "illegal, legal", "illegal, illegal"],
                "an op and the one before it on the slot",
            ),
            after_error,
        ),
    ]  # fmt: skip


def _rule_crosses(forms: Sequence[str]) -> tuple[Cross, ...]:
    stores = [form for form in forms if LEGACY_FORMS.get(form, form) == "mte_ub_gm"]
    exclude = (excluding("stores do not pad", form=stores, rule=("DMA-L09", "DMA-L10")),)
    return (Cross("form x rule", ("form", "rule"), exclude if stores else ()),)


class DmaCoverage(Coverage):
    """Counts ops of checked blocks.

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
        self._points: dict[str, list[Sampled]] = {}
        groups = []
        for form in self.forms:
            store = LEGACY_FORMS.get(form, form) == "mte_ub_gm"
            crosses = _crosses(store=store, legacy=form in LEGACY_FORMS)
            groups.append(self._group(form, _form_points(form, gm_bytes), crosses))
        groups.append(
            self._group("traffic", _traffic_points(self.forms), _traffic_crosses(self.forms))
        )
        if illegal:
            groups.append(self._group("rules", _rule_points(self.forms), _rule_crosses(self.forms)))
        super().__init__(groups)
        self._blocks: list[OpBlock] = []
        self._masks: list[Bools | None] = []
        self._waiting = 0

    def _group(self, name: str, points: list[Sampled], crosses: tuple[Cross, ...]) -> CoverGroup:
        self._points[name] = points
        return CoverGroup(name, tuple(item.point for item in points), crosses)

    def sample(self, block: OpBlock, passed: Bools | None = None) -> None:
        """Takes the ops of ``block`` whose check passed (``bool[N]``; default all).

        Blocks are classified together once ``FLUSH`` ops wait, and by :meth:`flush`.

        Raises:
            CoverageError: the mask has another length than the block.
        """
        if passed is not None and len(passed) != len(block):
            raise CoverageError(f"mask of {len(passed)} for a block of {len(block)} ops")
        if not len(block):
            return
        self._blocks.append(block)
        self._masks.append(passed)
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
        view = View(self._blocks, self._masks, check="rules" in self._points)
        self._blocks, self._masks, self._waiting = [], [], 0
        for name, points in self._points.items():
            if name in FORMS:
                mine = view.counted & view.legal & (view.form == FORMS.index(name))
            else:
                mine = view.counted if name == "rules" else view.counted & view.legal
            rows = np.flatnonzero(mine)
            if len(rows):
                part = view.rows(rows)
                self.groups[name].sample({item.point.name: item.index(part) for item in points})
