# SPDX-License-Identifier: Apache-2.0
"""Every rule of an op with its verdict and its place in the specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from tb.isa.burst.op import MteUbUb
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToGm, CopyUbufToUbuf, LegacySet
from tb.isa.dma.op import MteGmUb, MteUbGm
from tb.isa.dma.rules import PAD_TYPE
from tb.isa.fix.op import FixOp
from tb.isa.fix.rules import PARAMETER_RULE
from tb.isa.fix.table import SCALAR_RELU
from tb.isa.lower import V06Op
from tb.isa.op import replace
from tb.isa.profile import KNOBS
from tb.isa.rule import Rule, Violation
from tb.isa.rules import (
    RULES,
    d_predicates,
    lowering_predicates,
    lowering_violation,
    s_predicates,
    t_predicates,
)
from tb.language.lowered import Lowering
from tb.language.rules.check import HINT_RULES, s_broken, set_violations, t_broken

HOLDS, BROKEN, OPEN = "holds", "broken", "not decided"

SECTIONS: dict[str, str] = {
    "DMA": "spec/dma.md, section 5",
    "ND": "spec/nd2nz.md, section 6",
    "BT": "spec/bias_fb.md, section 5",
    "FB": "spec/bias_fb.md, section 5",
    "FIX": "spec/fixpipe.md, section 10",
    "LD": "spec/l0_loads.md, section 5",
    "RF": "spec/dma.md, section 9",
}
"""Family of rules to the part of the specification that has them."""

_LEGACY: dict[type, V06Op] = {
    CopyGmToUbuf: MteGmUb(0, 0, 0, 0, 0, 0),
    CopyUbufToGm: MteUbGm(0, 0, 0, 0, 0, 0),
    CopyUbufToUbuf: MteUbUb(0, 0, 0, 0, 0, 0),
}
"""Legacy copy to an op with its S rules; of these, its text can break DMA-L04 alone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule and what is found.

    Attributes:
        rule: Its name, such as ``DMA-L07``.
        kind: ``"S"``, ``"D"`` or ``"T"``.
        source: File and section of the specification.
        title: The rule in one line.
        state: ``HOLDS``, ``BROKEN`` or ``OPEN``.
        message: What is wrong, or why it is not decided; else empty.
        legal: The legal range of a broken rule, or empty.
        knobs: Knobs of the profile that change the rule.
    """

    rule: str
    kind: str
    source: str
    title: str
    state: str
    message: str = ""
    legal: str = ""
    knobs: tuple[str, ...] = ()


def verdicts(lowering: Lowering) -> tuple[Verdict, ...]:
    """Returns the rules of an op, S, D and T, each in ascending number."""
    op = lowering.op
    if isinstance(op, LegacySet | CtrlOp):
        if isinstance(op, CtrlOp):
            return ()
        widths = _judged([RULES["DMA-L05"]], set_violations(op), "D")
        return tuple(replace(one, knobs=()) for one in widths)
    s_found = refusals(op)
    s_rules: Iterable[Rule]
    if type(op) in _LEGACY:
        s_rules = [rule for rule in s_predicates(_LEGACY[type(op)]) if rule.name == "DMA-L04"]
    else:
        s_rules = s_predicates(cast("V06Op", op))
    listed = _judged(s_rules, s_found, "S")
    hints = all(one.rule.name in HINT_RULES for one in s_found)
    desc = lowering.descriptor if hints else None
    if isinstance(op, CopyUbufToUbuf):
        refused = lowering_violation(op) if hints else None
        judged = _judged(lowering_predicates(), (refused,) if refused else (), "D")
        why, broken = "the copy is judged once, by the lowest number", False
        for one in judged:
            listed.append(_open(one, why) if broken else one)
            broken |= one.state == BROKEN
    elif desc is None:
        return tuple(listed)
    else:
        both = () if isinstance(op, CopyGmToUbuf) else s_rules
        d_rules = [rule for rule in d_predicates(desc) if rule not in both]
        listed += _judged(d_rules, lowering.broken, "D")
    if desc is None:
        return tuple(listed)
    t_rules = dict.fromkeys(t_predicates(desc))
    scalar = isinstance(desc, FixOp) and (desc.mode.scale or desc.relu >= SCALAR_RELU)
    if scalar:
        t_rules[PARAMETER_RULE] = None
    legal = not lowering.broken
    judged = _judged(t_rules, t_broken(desc) if legal else (), "T")
    if not legal:
        judged = [_open(one, "a D rule is broken: the op moves nothing") for one in judged]
    elif isinstance(desc, FixOp) and (desc.vector_quant or desc.vector_relu):
        why = "the parameters are in fb"
        name = PARAMETER_RULE.name
        judged = [
            _open(one, why) if one.rule == name and one.state == HOLDS else one for one in judged
        ]
    return tuple(listed + judged)


def refusals(op: Any) -> tuple[Violation, ...]:
    """Returns the S rules that an op breaks.

    The type of a pad is a D rule of ``copy_gm_to_ubuf`` (A-68), which is judged as such.
    """
    found = s_broken(op, unknown=False)
    if isinstance(op, CopyGmToUbuf):
        return tuple(one for one in found if one.rule is not PAD_TYPE)
    return found


def _verdict(rule: Rule, kind: str, state: str, message: str = "", legal: str = "") -> Verdict:
    knobs = tuple(knob.name for knob in KNOBS.values() if rule.name in knob.rules)
    return Verdict(rule.name, kind, SECTIONS[rule.family], rule.title, state, message, legal, knobs)


def _judged(rules: Iterable[Rule], broken: Iterable[Violation], kind: str) -> list[Verdict]:
    """Returns rules with their verdict; one that is broken need not be among them."""
    wrong = {one.rule: one for one in broken}
    listed = sorted(dict.fromkeys((*rules, *wrong)), key=lambda x: x.number)
    return [
        _verdict(rule, kind, BROKEN, wrong[rule].what, wrong[rule].legal)
        if rule in wrong
        else _verdict(rule, kind, HOLDS)
        for rule in listed
    ]


def _open(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, state=OPEN, message=why, legal="")
