# SPDX-License-Identifier: Apache-2.0
"""Coverage of illegal ops: broken D rule and form, and the ops around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tb.coverage.model import NOT_SAMPLED, Exclusion, GroupCounts, Ints, crossed, excluding
from tb.coverage.ops import Derived
from tb.coverage.points import ALL, Group, Row, codes, only
from tb.coverage.scope import Scope
from tb.coverage.view import FORM_SPECS, FORMS, TOO_WIDE, View
from tb.isa.fields import rule_name
from tb.isa.ops import LEGACY_FORMS, OPS, OPS_BY_CODE
from tb.isa.rules import LOWERING_RULES

LOWERED: frozenset[str] = frozenset({"copy_ubuf_to_ubuf"})
"""Legacy forms that are judged before they become descriptors (docs/spec/dma.md, section 4)."""

LEGACY_ONLY: dict[str, tuple[int, ...]] = {"mte_gm_ub": (3,)}
"""Op to the D rules that only its legacy form can break; the front end refuses the op (A-68)."""

_HERE, _THERE = "engine", "lowering"


def rules_of(form: str) -> tuple[str, ...]:
    """Returns the names of the D rules that an op written in ``form`` can break, ascending."""
    spec = FORM_SPECS[form]
    numbers = LOWERING_RULES if form in LOWERED else spec.d_rules
    # An S rule of the op, so that no descriptor of this form breaks it.
    never = LEGACY_ONLY.get(form, ())
    return tuple(rule_name(spec.rules, number) for number in numbers if number not in never)


def _names() -> tuple[str, ...]:
    families = list(dict.fromkeys(spec.rules for spec in OPS.values()))
    found = {name for form in FORMS for name in rules_of(form)}
    return tuple(sorted(found, key=lambda name: (families.index(name.split("-")[0]), name)))


RULE_NAMES: tuple[str, ...] = _names()
"""D rules of all forms, family by family."""

_FAMILIES = tuple(dict.fromkeys(spec.rules for spec in OPS.values()))


def _tables() -> tuple[Ints, Ints]:
    family = np.zeros(256, dtype=np.int64)
    for code, spec in OPS_BY_CODE.items():
        family[code] = _FAMILIES.index(spec.rules)
    place = np.full((len(_FAMILIES), 256), NOT_SAMPLED)
    for number, name in enumerate(RULE_NAMES):
        prefix, rule = name.split("-L")
        place[_FAMILIES.index(prefix), int(rule)] = number
    return family, place


_FAMILY_OF, _PLACE = _tables()


DERIVED: Derived = {
    # Index into RULE_NAMES, NOT_SAMPLED when legal.
    "rule_bin": lambda v: only(v.rule > 0, _PLACE[_FAMILY_OF[v.opcode], v.rule]),
    "broken": lambda v: v.rule_bin >= 0,
    # Legality of the op and of the one before it on the slot, if there is one.
    "sequence": lambda v: only(v.slot_rule >= 0, 2 * (v.slot_rule > 0) + (v.rule > 0)),
}

_SEQUENCES = ("legal, legal", "legal, illegal", "illegal, legal", "illegal, illegal")

POINTS: list[Row] = [
    codes("form", FORMS, "form", "form of an illegal op", ops="broken"),
    codes("rule", RULE_NAMES, "rule_bin", "lowest rule broken", ops=ALL,
          needs={"FIX-L18": "modes = all"}),  # the list of a5 has no mode for 4-bit elements
    codes("decided", [_HERE, _THERE], "zero",
          "who finds out; after lowering nothing is issued", ops="broken"),
    codes("set_rule", ["too wide"], "zero", "set_* op that retires with DMA-L05",
          ops=lambda v: v.program & TOO_WIDE > 0),
    codes("sequence", _SEQUENCES, "sequence", "an op and the one before it on the slot",
          ops=ALL),
]  # fmt: skip


def _exclusions() -> tuple[Exclusion, ...]:
    found = []
    for form in FORMS:
        others = [name for name in RULE_NAMES if name not in rules_of(form)]
        found.append(excluding("the op has no such rule", form=form, rule=others))
    return tuple(found)


class RuleGroup(Group):
    """Samples ops, and copies that are not issued because lowering rejects them."""

    def sample(self, counts: GroupCounts, view: View, rows: Ints) -> None:
        """Counts the ops ``rows`` (``int64[M]``) and the rejected copies before them."""
        super().sample(counts, view, rows)
        at, rules = view.refused()
        mine = np.flatnonzero(np.isin(at, rows))
        if not len(mine):
            return
        none = np.full(len(mine), NOT_SAMPLED)
        family = _FAMILIES.index(FORM_SPECS["copy_ubuf_to_ubuf"].rules)
        counts.sample(
            {
                "form": np.full(len(mine), FORMS.index("copy_ubuf_to_ubuf")),
                "rule": _PLACE[family, rules[mine]],
                "decided": np.ones(len(mine), np.int64),
                "set_rule": none,
                "sequence": none,
            }
        )


def rules_group() -> RuleGroup:
    """Returns the group, with bins for every form, whether a run sends it or not."""
    crosses = (crossed("form x rule", _exclusions()),)
    doc = "Illegal ops, and legal ones beside them; only in runs that send illegal ops."
    return RuleGroup("rules", POINTS, crosses, DERIVED, doc)


def rules_scope(forms: Sequence[str], reported: Mapping[str, Sequence[str]] | None = None) -> Scope:
    """Returns the bins of the group that a run of ``forms`` can reach.

    Args:
        forms: Forms of the run.
        reported: Form to the names of the rules that its engine reports; all of them by default.
    """
    lowered = [form for form in forms if form in LOWERED]
    registers = [form for form in forms if form in LEGACY_FORMS and form not in LOWERED]
    rules = {form: rules_of(form) if reported is None else reported[form] for form in forms}
    return Scope(
        points={
            "form": [form for form in forms if rules[form]],
            "rule": sorted({name for names in rules.values() for name in names}),
            "decided": [_HERE] * (len(lowered) < len(forms)) + [_THERE] * bool(lowered),
            "set_rule": ["too wide"] if registers else [],
        },
        crosses={
            "form x rule": tuple({"form": [form], "rule": rules[form]} for form in forms),
        },
    )
