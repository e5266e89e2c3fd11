# SPDX-License-Identifier: Apache-2.0
"""The bench can fail: every bug of bugs.toml is caught, and engines without one pass."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from tests.bugs.campaign import TRANSACTIONS, Bug, Outcome, campaign, load_bugs

pytestmark = [pytest.mark.sim, pytest.mark.slow]

BUGS = load_bugs()
TESTS = tuple(dict.fromkeys(bug.test for bug in BUGS))

Runs = dict[tuple[str, str], Future[Outcome]]


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """What the selected tests need, run several at a time."""
    jobs: list[tuple[Bug | None, str]] = []
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.module is request.module:
            params: dict[str, Any] = dict(item.callspec.params)
            bug: Bug | None = params.get("bug")
            jobs.append((bug, bug.test if bug else params["test"]))
    with campaign(jobs) as futures:
        yield futures


@pytest.mark.parametrize("test", TESTS)
def test_engines_as_they_are_pass(test: str, runs: Runs) -> None:
    outcome = runs["", test].result()
    record = outcome.record
    assert record.status == "pass", "\n".join([record.message, *record.failures])
    assert record.transactions == TRANSACTIONS or test == "corner"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, runs: Runs, table: list[tuple[Bug, Outcome]]) -> None:
    outcome = runs[bug.name, bug.test].result()
    table.append((bug, outcome))
    record = outcome.record
    assert record.status != "pass", f"{bug.models}: not noticed in {record.transactions}"
    assert outcome.caught, f"{record.status}: {record.message}\n" + "\n".join(record.failures)
    assert outcome.transactions <= TRANSACTIONS or bug.test == "corner"
