# SPDX-License-Identifier: Apache-2.0
"""The table of caught bugs at the end of a run."""

from __future__ import annotations

import pytest

from tests.bugs.campaign import Bug, Outcome

CAUGHT = pytest.StashKey[list[tuple[Bug, Outcome]]]()


@pytest.fixture
def table(pytestconfig: pytest.Config) -> list[tuple[Bug, Outcome]]:
    """Bugs and what came of them; printed when all tests have run."""
    return pytestconfig.stash.setdefault(CAUGHT, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Prints how many transactions each bug lived, and what noticed it."""
    rows = config.stash.get(CAUGHT, [])
    if not rows:
        return
    terminalreporter.section("injected bugs")
    width = max(len(bug.name) for bug, _ in rows)
    terminalreporter.write_line(f"{'bug':<{width}}  test     after  caught by")
    for bug, outcome in rows:
        check = outcome.check if outcome.caught else f"NOT CAUGHT ({outcome.record.status})"
        terminalreporter.write_line(
            f"{bug.name:<{width}}  {bug.test:<7}  {outcome.transactions:>5}  {check}"
        )
    caught = sum(outcome.caught for _, outcome in rows)
    terminalreporter.write_line(f"{caught} of {len(rows)} bugs caught")
