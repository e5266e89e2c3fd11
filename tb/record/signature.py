# SPDX-License-Identifier: Apache-2.0
"""Signatures of failures: the key of buckets, and of the kinds in a summary.

A signature keeps what one fault has in common over many seeds and drops what differs: addresses,
counts, the legacy form in which an op was written.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass

from tb.isa.ops import LEGACY_FORMS
from tb.record.failure import Failure
from tb.record.record import RunRecord

FIELD_LENGTH = 120
"""Most characters of a message that a signature keeps."""

_TITLES = {
    "data": "wrong data",
    "guard": "write outside the destination",
    "stray": "stray write",
    "page": "write to a page no op writes",
    "tag": "wrong tag",
    "status": "wrong status",
    "rule": "wrong rule number",
    "address": "wrong error address",
    "early": "done too early",
    "missing": "bytes never written",
    "flags": "unit flags",
    "access": "access that no op makes",
    "late burst": "burst after an error",
    "stimulus": "stimulus and model disagree",
    "protocol": "protocol",
    "design": "reported by the design",
    "hang": "hang",
    "speed": "slower than its limit",
    "leak": "holds more or less at the end",
    "check": "check of the test",
    "crash": "simulator crashed",
    "error": "the bench failed",
    "interrupted": "interrupted",
    "lost": "worker lost",
}

_BY_MESSAGE = ("error", "interrupted")
"""Statuses of a record with a message that is better than earlier failures."""

_NO_OP = ("crash",)
"""Kinds for which the op in flight is chance."""


_NO_FIELD = ("guard",)
"""Kinds whose field, before or after a row, depends on what stands next to the row."""

_BYTES = ("data", "guard", "stray", "page")
"""Kinds about bytes, whose field is a place."""

_HALVES = ("ub0", "ub1")
"""Memories that differ in a bit of the descriptor, and in nothing that an engine does."""


@dataclass(frozen=True)
class Signature:
    """What failures of one bucket have in common; see :class:`tb.record.record.Failure`."""

    kind: str
    slot: str = ""
    op: str = ""
    field: str = ""
    rule: str = ""
    space: str = ""
    address_class: str = ""

    def to_json(self) -> dict[str, str]:
        """Returns the fields, as the database keeps them."""
        return asdict(self)


def signature(record: RunRecord) -> Signature:
    """Returns the signature of a run that did not pass: that of its first failure.

    Without a failure, or where the bench itself failed, it is made from status and message.
    """
    if record.status not in _BY_MESSAGE:
        if record.details:
            return signature_of(record.details[0])
        if record.failures:
            return Signature(record.status, field=phrase(record.failures[0]))
    return message_signature(record.status, record.message)


def signature_of(failure: Failure) -> Signature:
    """Returns the signature of one failure."""
    if failure.kind in _NO_OP:
        return Signature(failure.kind, field=phrase(failure.field))
    return Signature(
        failure.kind,
        failure.slot,
        LEGACY_FORMS.get(failure.op, failure.op),
        _knobs(failure.field) if failure.kind in _NO_FIELD else phrase(failure.field),
        failure.rule,
        re.sub(r"\d$", "", failure.space) if failure.space in _HALVES else failure.space,
        failure.address_class,
    )


def check_of(found: Signature) -> Signature:
    """Returns the check that failed: kind, slot, and the rule or, unless bytes, what differs."""
    field = "" if found.kind in _BYTES else found.field
    return Signature(found.kind, found.slot, field=field, rule=found.rule)


def checks_of(record: RunRecord) -> tuple[Signature, ...]:
    """Returns the failed checks of a run in their order, each once."""
    if record.passed:
        return ()
    failures = record.details if record.status not in _BY_MESSAGE else []
    found = [signature_of(one) for one in failures] or [signature(record)]
    return tuple(dict.fromkeys(map(check_of, found)))


def _knobs(field: str) -> str:
    """Returns the knobs that a field ends with, or nothing."""
    _, comma, knobs = field.partition(", knob ")
    return f"knob {knobs}" if comma else ""


def message_signature(kind: str, message: str) -> Signature:
    """Returns the signature of a run without a failure: a crash, a lost or broken record."""
    return Signature(kind, field=phrase(message))


def bucket_id(found: Signature) -> str:
    """Returns a short name that equal signatures share, such as ``B3fa2c190d``."""
    text = "\x1f".join(found.to_json().values())
    return f"B{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def title(found: Signature) -> str:
    """Returns a signature as a phrase."""
    who = " ".join(word for word in (found.slot, found.op) if word)
    what = _TITLES.get(found.kind, found.kind)
    if found.field:
        what += f", {found.field}"
    if found.rule and found.rule not in found.field:
        what += f", {found.rule}"
    if found.space:
        what += f", in {found.space.upper()}"
    if found.address_class:
        what += f", {found.address_class}"
    return f"{who}: {what}" if who else what


def phrase(text: str) -> str:
    """Returns the first line of a message without what differs between runs.

    Paths, times and numbers go; what stands after a semicolon is advice.
    """
    line = text.strip().partition("\n")[0].partition(";")[0]
    line = re.sub(r"(?:[\w.~-]*/)+([\w.-]+)", r"\1", line)
    line = re.sub(r"\b0x[0-9a-fA-F]+\b|(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", "N", line)
    return re.sub(r"\s+", " ", line)[:FIELD_LENGTH].strip()
