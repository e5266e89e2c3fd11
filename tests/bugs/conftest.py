# SPDX-License-Identifier: Apache-2.0
"""The table of caught bugs at the end of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bugs.campaign import Bug, Outcome

CAUGHT = "bug caught"
"""Property of a test's report with a row of the table, also in reports of workers."""


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[Bug, Outcome], None]:
    """Notes a bug and its result; printed when all tests have run."""

    def note(bug: Bug, outcome: Outcome) -> None:
        check = outcome.check if outcome.caught else f"NOT CAUGHT ({outcome.record.status})"
        record_property(CAUGHT, [bug.name, bug.test, outcome.transactions, check, outcome.caught])

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints for each bug the transactions up to its failure and the check that failed."""
    rows = [
        row
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if report.when == "call"
        for name, row in report.user_properties
        if name == CAUGHT
    ]
    if not rows:
        return
    terminalreporter.section("injected bugs")
    width = max(len(name) for name, *_ in rows)
    terminalreporter.write_line(f"{'bug':<{width}}  test     after  caught by")
    for name, test, transactions, check, _ in rows:
        terminalreporter.write_line(f"{name:<{width}}  {test:<7}  {transactions:>5}  {check}")
    caught = sum(was_caught for *_, was_caught in rows)
    terminalreporter.write_line(f"{caught} of {len(rows)} bugs caught")
