# SPDX-License-Identifier: Apache-2.0
"""The runs with injected bugs begin before the first test, beside all the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.bugs.test_bugs import Runs

BUG_RUNS = "tests/bugs/test_bugs.py"

# Beside other work an example may take longer than Hypothesis allows by default.
settings.register_profile("busy", settings(), deadline=None)
settings.load_profile("busy")


def waits_for_bug_runs(item: pytest.Item) -> bool:
    """Tells whether a test waits for a run with an injected bug."""
    return item.nodeid.startswith(f"{BUG_RUNS}::")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that wait for the bug runs last: the others fill the time."""
    items.sort(key=waits_for_bug_runs)


@pytest.fixture(scope="session", autouse=True)
def bug_runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """What the selected tests of test_bugs.py wait for, by bug and setting."""
    items = [item for item in request.session.items if waits_for_bug_runs(item)]
    if not items:
        yield {}
        return
    # Not before they are needed: they take their time to import.
    from tests.bugs.campaign import campaign, only_one_run
    from tests.bugs.test_bugs import jobs_of

    jobs = dict.fromkeys(job for item in items for job in jobs_of(item))
    with only_one_run(), campaign(jobs) as runs:
        yield runs
