# SPDX-License-Identifier: Apache-2.0
"""The tables of injected bugs at the end of a session: bug by bug, and test by test.

The hook belongs to tests/conftest.py: the process that prints for workers reads no other one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

import pytest

CAUGHT = "bug caught"
"""Property of a test's report with a :class:`Row`, also in reports of workers."""


class Row(NamedTuple):
    """A bug, the test that ran on it, transactions up to the failure, and the check that failed."""

    bug: str
    test: str
    transactions: int
    check: str
    caught: bool


def lines(rows: Iterable[Row]) -> list[str]:
    """Returns the table of bugs, and how many of them were caught."""
    rows = list(rows)
    width = max(len(row.bug) for row in rows)
    caught = sum(row.caught for row in rows)
    return [
        f"{'bug':<{width}}  test     after  caught by",
        *(f"{x.bug:<{width}}  {x.test:<7}  {x.transactions:>5}  {x.check}" for x in rows),
        f"{caught} of {len(rows)} bugs caught",
    ]


def by_test(rows: Iterable[Row]) -> list[str]:
    """Returns median and largest number of transactions of the caught bugs of each test."""
    counts: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.caught:
            counts[row.test].append(row.transactions)
    return [
        f"{test}: {len(found)} bugs caught after {median(found):g} transactions in the median, "
        f"{max(found)} at most"
        for test, found in sorted(counts.items())
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the tables, if bugs were run."""
    rows = [
        Row(*row)
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if report.when == "call"
        for name, row in report.user_properties
        if name == CAUGHT
    ]
    if not rows:
        return
    terminalreporter.section("injected bugs")
    for line in (*lines(rows), *by_test(rows)):
        terminalreporter.write_line(line)
