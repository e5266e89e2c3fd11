# SPDX-License-Identifier: Apache-2.0
"""Every bug of bugs.toml is caught, and engines without a bug pass."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from tests.bugs.campaign import TRANSACTIONS, Bug, Job, Outcome, Setting, load_bugs

pytestmark = [pytest.mark.sim, pytest.mark.slow]

BUGS = load_bugs()
SETTINGS = tuple(dict.fromkeys(bug.setting for bug in BUGS))

Runs = dict[Job, Future[Outcome]]


def jobs_of(item: pytest.Item) -> list[Job]:
    """Returns the runs that a test of this module waits for; they begin before all tests."""
    assert isinstance(item, pytest.Function)
    params: dict[str, Any] = dict(item.callspec.params)
    if "bug" in params:
        return [(params["bug"].name, params["bug"].setting)]
    return [("", params["setting"])]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_engines_with_every_bug_switched_off_pass(setting: Setting, bug_runs: Runs) -> None:
    """A bug is caught for what it does, not for the setting or the switches around it."""
    record = bug_runs["", setting].result().record
    assert record.status == "pass", "\n".join([record.message, *record.failures])
    assert record.transactions == TRANSACTIONS or setting.test in ("corner", "reset")


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, bug_runs: Runs, tell: Callable[[Bug, Outcome], None]) -> None:
    outcome = bug_runs[bug.name, bug.setting].result()
    tell(bug, outcome)
    record = outcome.record
    assert record.status != "pass", f"{bug.models}: not noticed in {record.transactions}"
    assert outcome.caught, f"{record.status}: {record.message}\n" + "\n".join(record.failures)
    assert outcome.transactions <= TRANSACTIONS or bug.test == "corner"
