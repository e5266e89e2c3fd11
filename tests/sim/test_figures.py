# SPDX-License-Identifier: Apache-2.0
"""The check of the figures of a record finds the nearest wrong ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tb.record.record import CoverageSummary, Mark, OpCount, RunRecord, Times
from tb.record.settings import RunSettings
from tests.sim.figures import MOST, wrong_figures


def record() -> RunRecord:
    """Returns a record with agreeing figures."""
    return RunRecord(
        settings=RunSettings(),
        transactions=3,
        ops={"mte_gm_ub": OpCount(sent=3, passed=3, bytes=64)},
        statuses={"OK": 3},
        bytes_checked=64,
        clocks=100,
        injected={"stalls ar": 400, "resets": 1},
        coverage=CoverageSummary(percent=50.0, covered=2, bins=4),
        times=Times(
            total=4.0, build=1.0, simulator=1.0, python=1.0, start_end=1.0,
            python_split={"model": 0.5, "other": 0.5},
            course=[Mark(transactions=3, seconds=1.0, megabytes=90.0)],
        ),
    )  # fmt: skip


WRONG: dict[str, Callable[[RunRecord], None]] = {
    "a stall more than clocks and slots": lambda x: x.injected.update({"stalls ar": 1}),
    "a count of 2^32": lambda x: x.injected.update({"resets": MOST - 1}),
    "a transaction more": lambda x: setattr(x, "transactions", 4),
    "a byte more": lambda x: setattr(x, "bytes_checked", 65),
    "one not checked more": lambda x: setattr(x.ops["mte_gm_ub"], "unchecked", 1),
    "more passed than sent": lambda x: setattr(x.ops["mte_gm_ub"], "passed", 4),
    "a part of the time without a name": lambda x: setattr(x.times, "start_end", 0.9),
    "a part of Python's time without a name": lambda x: x.times.python_split.update(model=0.4),
    "a bin more": lambda x: setattr(x.coverage, "covered", 3),
    "memory in MiB of a small process": lambda x: setattr(x.times.course[0], "megabytes", 9.0),
    "a mark past the end": lambda x: setattr(x.times.course[0], "transactions", 4),
    "a negative count": lambda x: setattr(x, "full_compares", -1),
    "an error without a message": lambda x: setattr(x, "design_errors", 1),
    "a failure without fields": lambda x: x.failures.append("text"),
}


def test_agreeing_figures() -> None:
    assert wrong_figures(record()) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_figure(name: str) -> None:
    one = record()
    WRONG[name](one)
    assert wrong_figures(one)
