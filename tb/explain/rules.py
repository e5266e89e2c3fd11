# SPDX-License-Identifier: Apache-2.0
"""Every rule of an op with its verdict and its place in the specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import CopyGmToUbuf, CopyUbufToUbuf, LegacySet
from tb.isa.dma.rules import PAD_TYPE
from tb.isa.fix.op import FixOp
from tb.isa.fix.rules import PARAMETER_RULE
from tb.isa.fix.table import SCALAR_RELU
from tb.isa.op import Op, replace
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
    "DMA": "docs/spec/dma.md, section 5",
    "ND": "docs/spec/nd2nz.md, section 6",
    "BT": "docs/spec/bias_fb.md, section 5",
    "FB": "docs/spec/bias_fb.md, section 5",
    "FIX": "docs/spec/fixpipe.md, section 10",
    "LD": "docs/spec/l0_loads.md, section 5",
    "RF": "docs/spec/dma.md, section 9",
}
"""Family of rules to the part of the specification that has them."""


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
    if isinstance(op, CtrlOp):
        return ()
    if isinstance(op, LegacySet):
        widths = _judged([RULES["DMA-L05"]], set_violations(op), "D")
        return tuple(replace(one, knobs=()) for one in widths)
    # Of the S rules, the text of a legacy copy can break one alone.
    s_rules: Iterable[Rule] = (RULES["DMA-L04"],)
    if isinstance(op, Op):
        s_rules = s_predicates(op)
    refused = refusals(op)
    listed = _judged(s_rules, refused, "S")
    issued = all(one.rule.name in HINT_RULES for one in refused)
    desc = lowering.descriptor if issued else None
    if isinstance(op, CopyUbufToUbuf):
        listed += _lowered(lowering_violation(op) if issued else None)
    elif desc is not None:
        both = () if isinstance(op, CopyGmToUbuf) else s_rules
        d_rules = [rule for rule in d_predicates(desc) if rule not in both]
        listed += _judged(d_rules, lowering.broken, "D")
    if desc is not None:
        listed += _undefined(desc, legal=not lowering.broken)
    return tuple(listed)


def _lowered(broken: Violation | None) -> Iterator[Verdict]:
    """Yields the rules of ``copy_ubuf_to_ubuf``, which is judged by the first that is broken."""
    decided = True
    for one in _judged(lowering_predicates(), (broken,) if broken else (), "D"):
        why = "the copy is judged once, by the lowest number"
        yield one if decided else _open(one, why)
        decided &= one.state != BROKEN


def _undefined(desc: Op, *, legal: bool) -> list[Verdict]:
    """Returns the T rules; of an op that breaks a D rule, or with parameters in fb, not decided."""
    rules = dict.fromkeys(t_predicates(desc))
    if isinstance(desc, FixOp) and (desc.mode.scale or desc.relu >= SCALAR_RELU):
        rules[PARAMETER_RULE] = None
    if not legal:
        why = "a D rule is broken: the op moves nothing"
        return [_open(one, why) for one in _judged(rules, (), "T")]
    judged = _judged(rules, t_broken(desc), "T")
    if isinstance(desc, FixOp) and (desc.vector_quant or desc.vector_relu):
        for place, one in enumerate(judged):
            if one.rule == PARAMETER_RULE.name and one.state == HOLDS:
                judged[place] = _open(one, "the parameters are in fb")
    return judged


def refusals(op: Any) -> tuple[Violation, ...]:
    """Returns the S rules that an op breaks.

    The type of a pad is a D rule of ``copy_gm_to_ubuf`` (A-68), which is judged as such.
    """
    found = s_broken(op, unknown=False)
    if isinstance(op, CopyGmToUbuf):
        return tuple(one for one in found if one.rule is not PAD_TYPE)
    return found


def _judged(rules: Iterable[Rule], broken: Iterable[Violation], kind: str) -> list[Verdict]:
    """Returns rules with their verdict; one that is broken need not be among them."""
    wrong = {one.rule: (BROKEN, one.what, one.legal) for one in broken}
    found = []
    for rule in sorted(dict.fromkeys((*rules, *wrong)), key=lambda x: x.number):
        knobs = tuple(knob.name for knob in KNOBS.values() if rule.name in knob.rules)
        state, message, legal = wrong.get(rule, (HOLDS, "", ""))
        source = SECTIONS[rule.family]
        found.append(Verdict(rule.name, kind, source, rule.title, state, message, legal, knobs))
    return found


def _open(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, state=OPEN, message=why, legal="")
