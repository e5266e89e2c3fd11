# SPDX-License-Identifier: Apache-2.0
"""Judges the done records of a batch (docs/contract.md)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scoreboards.faults import OpErrors, wrong_status
from scoreboards.mismatch import Objection
from scoreboards.model.outcome import Outcome
from scoreboards.unit_flags import judge_clear
from scoreboards.verdict import Done, Evidence, Verdict
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.rules import d_predicates
from tb.isa.status import Status

_FIX = SLOTS.index("fix")


def judge_rules(evidence: Evidence) -> list[Verdict]:
    """Finds ops that break a D rule and retired without one."""
    tags = evidence.batch.tags
    return [
        Verdict(wrong_status(done.status, [outcome.status]), index)
        for index, (outcome, done) in enumerate(
            zip(evidence.outcomes, evidence.retired, strict=True)
        )
        if done is not None and _executed(done, tags[index], outcome)
    ]


def _executed(done: Done, tag: int, outcome: Outcome) -> bool:
    """Returns whether an op that breaks a rule retired without one."""
    return outcome.status is Status.RULE and done.status != outcome.status and done.tag == tag


def judge_slot(
    evidence: Evidence,
    slot: int,
    before: int,
    now: int,
    *,
    compare_address: bool,
    owed: Mapping[int, Objection] = MappingProxyType({}),
) -> list[Verdict]:
    """Checks tags, statuses, rule numbers, and that no done came before the last write of its op.

    Nor may any clear of unit flags. :func:`judge_rules` has those that break a rule and were
    executed.

    Args:
        evidence: The batch.
        slot: The slot whose ops are judged.
        before: Bytes that the slot had written in all when the batch began.
        now: Bytes that it has written in all.
        compare_address: The engine reports the address of an error.
        owed: Place of each op whose done came before an answer (``judge_owed``).
    """
    outcomes, failed, sizes = evidence.outcomes, evidence.failed, evidence.sizes
    tags = evidence.batch.tags.tolist()
    judged = [
        (index, done)
        for index in evidence.batch.order[slot].tolist()
        if (done := evidence.retired[index]) is not None
        and not _executed(done, tags[index], outcomes[index])
    ]
    floor = before
    missing = floor + sum([sizes[index] for index, _ in judged]) - now
    found = []
    for index, done in judged:
        outcome, errors = outcomes[index], failed.get(index)
        refused = done.status == Status.RULE and outcome.status is not Status.RULE
        rule = reported_rule(evidence.batch.block.issued(index), done.rule) if refused else ""
        why = _objection(done, tags[index], outcome, errors, rule, compare_address=compare_address)
        floor += sizes[index]
        if errors is None:
            if why is None and done.written_bytes < floor:
                why = _early(done.written_bytes, floor, missing)
                if why.kind == "missing":  # The ops after it are not to blame.
                    missing -= floor - done.written_bytes
                    floor = done.written_bytes
            if why is None and slot == _FIX:
                why = judge_clear(outcome, done.clear_bytes, floor)
        if why is None:
            why = owed.get(index)
        if why is not None:
            found.append(Verdict(why, index))
    return found


def _objection(
    done: Done,
    tag: int,
    outcome: Outcome,
    errors: OpErrors | None,
    rule: str,
    *,
    compare_address: bool,
) -> Objection | None:
    """Returns what is wrong with tag, status, address or rule number of a done record.

    ``rule`` describes the rule by which a legal op was refused, if it was.
    """
    if done.tag != tag:
        return Objection("tag", f"done carries tag {done.tag}, expected {tag}")
    if errors is not None:
        why = errors.objection(done.status, done.addr, compare_address=compare_address, rule=rule)
        if why is not None:
            return why
    elif done.status != outcome.status:
        return wrong_status(done.status, [outcome.status], rule=rule)
    if done.rule != outcome.rule:
        text = f"reported rule {done.rule}, expected {outcome.rule}"
        return Objection("rule", text, f"rule L{done.rule:02}")
    return None


def reported_rule(desc: Op, number: int) -> str:
    """Returns a rule number that an engine reported, with name and title for ops as ``desc``."""
    for rule in d_predicates(desc):
        if rule.number == number:
            return f"rule {number} ({rule.name}: {rule.title})"
    return f"rule {number}, which no rule of this op has"


def _early(written: int, floor: int, missing: int) -> Objection:
    """Returns what is wrong with a done before which fewer bytes were written than ops have.

    Args:
        written: Bytes of the slot that were written before the done.
        floor: Bytes that its ops have, up to this one.
        missing: Bytes of all ops of the batch that were not written at its end either.
    """
    counts = f"{written} of {floor} bytes of this slot were written"
    if missing >= floor - written:
        return Objection("missing", f"never wrote {floor - written} bytes: {counts}")
    return Objection("early", f"done came {floor - written} bytes early: {counts}")
