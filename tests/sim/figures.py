# SPDX-License-Identifier: Apache-2.0
"""Every number of a record agrees with the others: no count beyond what can be counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tb.isa.ops import SLOTS
from tb.record.record import RunRecord

MOST = 1 << 32
"""More than a short run can count of anything."""

WIDE = ("address", "addr", "seed", "stall_seed", "arguments", "options", "knobs")
"""Keys whose numbers are not counts."""


def wrong_figures(record: RunRecord) -> list[str]:
    """Returns a sentence for each number of a record that cannot be right."""
    found = [f"{path} is {value}" for path, value in _numbers(record.model_dump(), "record")
             if not 0 <= value < MOST]  # fmt: skip
    sent = sum(count.sent - count.unchecked for count in record.ops.values())
    sizes = sum(count.bytes for count in record.ops.values())
    sums = {
        "ops that were checked are the transactions": (sent, record.transactions),
        "statuses are those of the transactions": (
            sum(record.statuses.values()),
            record.transactions,
        ),
        "bytes of the ops are the bytes checked": (sizes, record.bytes_checked),
        "failures have details": (len(record.failures), len(record.details)),
        "errors of the design are its messages": (
            sum(one.count for one in record.messages if one.fails),
            record.design_errors,
        ),
    }
    found += [f"{what}: {one} and {other}" for what, (one, other) in sums.items() if one != other]
    for name, count in record.ops.items():
        if not count.passed + count.unchecked <= count.sent:
            passed = f"{count.passed} passed and {count.unchecked} not checked"
            found.append(f"{name}: {passed} of {count.sent}")
    for name, clocks in record.injected.items():
        if name.startswith("stalls ") and clocks > record.clocks * len(SLOTS):
            found.append(f"{name} for {clocks} of {record.clocks} clocks")
    coverage, times = record.coverage, record.times
    parts = times.build + times.simulator + times.python + times.start_end
    for what, one, other in (
        ("parts of the time", parts, times.total),
        ("parts of the time of Python", sum(times.python_split.values()), times.python),
        ("coverage", 100 * coverage.covered / max(1, coverage.bins), coverage.percent),
    ):
        if one != pytest.approx(other, abs=0.01):
            found.append(f"{what}: {one} and {other}")
    if coverage.covered > coverage.bins:
        found.append(f"coverage is {coverage.covered} of {coverage.bins}")
    marks = [(mark.transactions, mark.seconds) for mark in times.course]
    if marks != sorted(marks) or any(mark[0] > record.transactions for mark in marks):
        found.append(f"the course is {marks}")
    if any(not 10 < mark.megabytes < 100_000 for mark in times.course):
        found.append("memory is not in MB of 10^6 bytes")
    return found


def _numbers(data: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yields the counts below a value, with their keys."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in WIDE:
                yield from _numbers(value, f"{path}.{key}")
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _numbers(value, f"{path}[{index}]")
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path, data
