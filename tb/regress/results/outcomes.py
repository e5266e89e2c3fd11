# SPDX-License-Identifier: Apache-2.0
"""Outcomes of runs as they are stored: clean JSON, the record in it, its bucket and message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from tb.record.record import RunRecord
from tb.record.signature import Signature, message_signature, signature
from tb.regress.workers.job import Job, Outcome

VERDICTS = ("pass", "fail", "hang", "crash")
"""States that are a verdict on the engines. A run that was lost, interrupted or left no record
is none, and contradicts none."""

Json = Mapping[str, Any]


def clean(text: str) -> str:
    """Returns text that every database takes: no NUL, no half characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def cleaned(data: Json) -> dict[str, Any]:
    """Returns data for JSON whose texts are all clean."""
    text = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()
    return cast("dict[str, Any]", json.loads(text.replace("\\u0000", "\\ufffd")))


def joined(*messages: str) -> str:
    """Puts messages into one; of equal ones the first."""
    return "; ".join(dict.fromkeys(filter(None, messages)))


def planned(regression_id: int, position: int, job: Job, manifest_hash: str) -> dict[str, Any]:
    """Returns the row of a run that is not done."""
    return {
        "regression_id": regression_id, "key": job.key, "config": job.config, "position": position,
        "test": job.settings.test, "manifest_hash": manifest_hash,
        "job": job.model_dump(mode="json"), "state": "planned", "seconds": 0.0, "outcome": None,
        "lost": [], "reruns": [], **dict.fromkeys(("identity", "bucket", "folder"), ""),
        **_figures(None),
    }  # fmt: skip


def done(outcome: Outcome) -> dict[str, Any]:
    """Returns the columns that an outcome fills."""
    data = cleaned(outcome.model_dump(mode="json", exclude={"coverage"}))
    return {"outcome": data, "seconds": outcome.seconds, **_figures(outcome.record)}


def _figures(record: RunRecord | None) -> dict[str, Any]:
    names = ("transactions", "bytes_checked", "clocks")
    figures: dict[str, Any] = {name: getattr(record, name, 0) for name in names}
    return figures | {"build_seconds": record.times.build if record else 0.0}


def record_of(outcome: Json | None) -> RunRecord | None:
    """Returns the record of a run, if it has one, without fields that only earlier versions had."""
    data = outcome and outcome["record"]
    if not data:
        return None
    return RunRecord.model_validate({x: y for x, y in data.items() if x in RunRecord.model_fields})


def bucket_of(state: str, outcome: Json | None) -> Signature:
    """Returns the signature of a run that did not pass."""
    record = record_of(outcome)
    if record is None or record.passed:
        kind = "lost" if state == "lost" else "error"
        return message_signature(kind, outcome["error"] if outcome else "")
    return signature(record)


def message_of(state: str, outcome: Json | None, lost: list[Json]) -> str:
    """Returns why a run ended as it did: the message of its record, or of the worker."""
    if outcome is None:
        return ""
    if state == "lost":
        return f"workers were lost with it {len(lost)} times, last: {outcome['error']}"
    record = outcome["record"] or {}
    return joined(record.get("message", ""), outcome["error"])
