# SPDX-License-Identifier: Apache-2.0
"""Judges the done records and the unit flags of a batch (docs/contract.md)."""

from __future__ import annotations

from dataclasses import dataclass

from scoreboards.faults import OpErrors, status_text
from scoreboards.model.outcome import Outcome
from scoreboards.unit_flags import Flags, clear_fault, wrong_flags
from scoreboards.verdict import Done, Evidence, Objection, Verdict
from tb.isa.ops import SLOTS
from tb.isa.status import Status

_FIX = SLOTS.index("fix")


def judge_rules(evidence: Evidence) -> list[Verdict]:
    """Finds ops that break a D rule and retired without one."""
    tags = evidence.batch.tags
    return [
        Verdict(_wrong_status(done.status, outcome.status), index)
        for index, (outcome, done) in enumerate(
            zip(evidence.outcomes, evidence.retired, strict=True)
        )
        if done is not None and _executed(done, tags[index], outcome)
    ]


def _executed(done: Done, tag: int, outcome: Outcome) -> bool:
    """Tells whether an op that breaks a rule retired without one."""
    return outcome.status is Status.RULE and done.status != outcome.status and done.tag == tag


@dataclass(frozen=True, slots=True)
class SlotBytes:
    """Bytes that a slot has written in all.

    Attributes:
        before: When the batch began.
        after: When it had ended.
    """

    before: int
    after: int


def judge_slot(
    evidence: Evidence,
    slot: int,
    written: SlotBytes,
    *,
    compare_address: bool,
) -> list[Verdict]:
    """Checks tags, statuses, rule numbers, and that no done came before the last write of its op.

    Nor may any clear of unit flags. :func:`judge_rules` has those that break a rule and were
    executed.

    Args:
        evidence: The batch.
        slot: The slot whose ops are judged.
        written: Bytes of the slot.
        compare_address: The engine reports the address of an error.
    """
    outcomes, failed = evidence.outcomes, evidence.failed
    tags = evidence.batch.tags.tolist()
    judged = [
        (index, done, 0 if index in failed else outcomes[index].bytes_written)
        for index in evidence.batch.order[slot].tolist()
        if (done := evidence.retired[index]) is not None
        and not _executed(done, tags[index], outcomes[index])
    ]
    floor = written.before
    missing = floor + sum([size for _, _, size in judged]) - written.after
    found = []
    for index, done, size in judged:
        outcome, errors = outcomes[index], failed.get(index)
        why = _objection(done, tags[index], outcome, errors, compare_address=compare_address)
        floor += size
        if errors is None:
            if why is None and done.written_bytes < floor:
                why = _early(done.written_bytes, floor, missing)
                if why.kind == "missing":  # The ops after it are not to blame.
                    missing -= floor - done.written_bytes
                    floor = done.written_bytes
            if why is None and slot == _FIX:
                text = clear_fault(outcome, done.clear_bytes, floor)
                why = Objection("flags", text, text.partition(":")[0]) if text else None
        if why is not None:
            found.append(Verdict(why, index))
    return found


def _objection(
    done: Done, tag: int, outcome: Outcome, errors: OpErrors | None, *, compare_address: bool
) -> Objection | None:
    """Returns what is wrong with tag, status, address or rule number of a done record."""
    if done.tag != tag:
        return Objection("tag", f"done carries tag {done.tag}, expected {tag}")
    if errors is not None:
        text = errors.objection(done.status, done.addr, compare_address=compare_address)
        if text:
            return _wrong_error(errors, done.status, text)
    elif done.status != outcome.status:
        return _wrong_status(done.status, outcome.status)
    if done.rule != outcome.rule:
        why = f"reported rule {done.rule}, expected {outcome.rule}"
        return Objection("rule", why, f"rule L{done.rule:02}")
    return None


def _wrong_status(got: int, expected: Status) -> Objection:
    why = f"retired with status {status_text(got)}, expected {status_text(int(expected))}"
    return Objection("status", why, _statuses(got, expected.name))


def _wrong_error(errors: OpErrors, got: int, text: str) -> Objection:
    """Returns the problem with the status or the address of an op that met an error."""
    wanted = dict.fromkeys(error.status.name for error in errors.first())
    if status_text(got).partition(" ")[2] in wanted:
        return Objection("address", text, " or ".join(wanted))
    return Objection("status", text, _statuses(got, " or ".join(wanted)))


def _statuses(got: int, wanted: str) -> str:
    return f"{status_text(got).partition(' ')[2]} not {wanted}"


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


def judge_flags(evidence: Evidence, actual: Flags, golden: Flags) -> list[Verdict]:
    """Compares the unit flags under test with the golden ones, each ``uint8[512]``."""
    batch, found = evidence.batch, []
    if batch.flags_due and not evidence.failed and batch.reset is None:
        why = (
            f"unit flags were not set when all ops had retired: {batch.flags_due} of those "
            "that they wait for"
        )
        found.append(Verdict(Objection("flags", why, "not set")))
    for wrong in wrong_flags(actual, golden, evidence.outcomes):
        text = str(wrong) if wrong.index is not None else f"{wrong}\n  no op of this batch uses it"
        field = "cleared" if wrong.expected else "not cleared"
        found.append(Verdict(Objection("flags", text, field), wrong.index))
    return found
