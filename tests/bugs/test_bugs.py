# SPDX-License-Identifier: Apache-2.0
"""The bench can fail: every bug of bugs.toml is caught, and engines without one pass."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from tests.bugs.campaign import TRANSACTIONS, Bug, Outcome, Setting, campaign, load_bugs

pytestmark = [pytest.mark.sim, pytest.mark.slow]

BUGS = load_bugs()
SETTINGS = tuple(dict.fromkeys(bug.setting for bug in BUGS))

Runs = dict[tuple[str, Setting], Future[Outcome]]


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """What the selected tests need, run several at a time."""
    jobs: list[tuple[Bug | None, Setting]] = []
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.module is request.module:
            params: dict[str, Any] = dict(item.callspec.params)
            bug: Bug | None = params.get("bug")
            jobs.append((bug, bug.setting if bug else params["setting"]))
    with campaign(jobs) as futures:
        yield futures


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_engines_as_they_are_pass(setting: Setting, runs: Runs) -> None:
    outcome = runs["", setting].result()
    record = outcome.record
    assert record.status == "pass", "\n".join([record.message, *record.failures])
    assert record.transactions == TRANSACTIONS or setting.test == "corner"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, runs: Runs, table: list[tuple[Bug, Outcome]]) -> None:
    outcome = runs[bug.name, bug.setting].result()
    table.append((bug, outcome))
    record = outcome.record
    assert record.status != "pass", f"{bug.models}: not noticed in {record.transactions}"
    assert outcome.caught, f"{record.status}: {record.message}\n" + "\n".join(record.failures)
    assert outcome.transactions <= TRANSACTIONS or bug.test == "corner"
