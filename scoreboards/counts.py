# SPDX-License-Identifier: Apache-2.0
"""Adds what a batch did to the counts of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from scoreboards.faults import FaultKind, status_text
from scoreboards.verdict import Done, Evidence
from tb.harness.items import Batch
from tb.harness.layout import READ, WRITE
from tb.isa.block import OpBlock
from tb.isa.fields import rule_name
from tb.isa.ops import LEGACY_FORMS, OPS_BY_CODE
from tb.record.record import OpCount, RunCounters

_FORM_OF = {op: form for form, op in LEGACY_FORMS.items()}


def form_name(opcode: int, *, legacy: bool) -> str:
    """Returns the op of a transaction, or the legacy form that it was written in."""
    name = OPS_BY_CODE[opcode].name
    return _FORM_OF[name] if legacy else name


def count_batch(counts: RunCounters, evidence: Evidence, passed: NDArray[np.bool_]) -> None:
    """Adds the retired ops of a batch.

    Args:
        counts: Counts of the run.
        evidence: The batch. The bytes of ops that met an error are undefined and not counted.
        passed: ``bool[N]``, the check of each op.
    """
    batch, block = evidence.batch, evidence.batch.block
    legacy = set(block.legacy_forms)
    sent: Counter[tuple[int, bool]] = Counter()
    right: Counter[tuple[int, bool]] = Counter()
    sizes: Counter[tuple[int, bool]] = Counter()
    codes, checks = block.opcode.tolist(), passed.tolist()
    for index, done in enumerate(evidence.retired):
        if done is not None:
            form = codes[index], index in legacy
            sent[form] += 1
            right[form] += checks[index]
            sizes[form] += evidence.sizes[index]
    for form, number in sent.items():
        name = form_name(form[0], legacy=form[1])
        count = counts.ops.setdefault(name, OpCount())
        count.sent += number
        count.passed += right[form]
        count.bytes += sizes[form]
    count_unchecked(counts, batch, retired_too=False)
    counts.bytes_checked += sum(sizes.values())
    counts.transactions += sum(len(records) for records in batch.done.values())
    counts.exercised.update(refused(block, evidence.retired, passed))
    statuses = (code for done in batch.done.values() for code in done["status"].tolist())
    for code, number in sorted(Counter(statuses).items()):
        counts.statuses[status_text(code).partition(" ")[2]] += number


def count_unchecked(counts: RunCounters, batch: Batch, *, retired_too: bool) -> None:
    """Adds the ops of a batch that were offered to the engines and are not checked.

    Args:
        counts: Counts of the run.
        batch: A batch that a reset, a hang or a request ended.
        retired_too: No op of it is checked, else those that retired are.
    """
    if batch.probe:
        return
    legacy = batch.block.legacy_forms
    for slot, offered in batch.offered.items():
        first = 0 if retired_too else len(batch.done.get(slot, ()))
        for index in batch.order[slot][first:offered].tolist():
            name = form_name(int(batch.block.opcode[index]), legacy=index in legacy)
            count = counts.ops.setdefault(name, OpCount())
            count.sent += 1
            count.unchecked += 1


def refused(
    block: OpBlock, retired: Sequence[Done | None], passed: NDArray[np.bool_]
) -> Iterable[str]:
    """Returns the rule of each op that was correctly rejected."""
    for index, done in enumerate(retired):
        if done is not None and done.rule and passed[index]:
            yield rule_name(OPS_BY_CODE[int(block.opcode[index])].rules, done.rule)


def count_faults(counts: RunCounters, batch: Batch) -> None:
    """Adds the errors that the engines saw during a batch."""
    injected, hits = counts.injected, batch.hits
    mine = hits["fault"] < len(batch.faults)
    injected["faults"] += len(np.unique(hits["fault"][mine]))
    for kind in FaultKind:
        for side, what in ((READ, "reads"), (WRITE, "writes")):
            count = int(((hits["kind"] == kind) & (hits["side"] == side)).sum())
            if count:
                name = "local errors" if kind is FaultKind.LOCAL else kind.name
                injected[f"{name} of {what}"] += count
