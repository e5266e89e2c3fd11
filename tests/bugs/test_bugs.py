# SPDX-License-Identifier: Apache-2.0
"""Every bug of bugs.toml is caught, and engines without a bug pass."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

import pytest

from tests.bugs.campaign import Bug, Outcome, Setting, load_bugs, run_engines, transactions_of

pytestmark = pytest.mark.sim

BUGS = sorted(load_bugs(), key=attrgetter("slots", "profile"))
"""Those of one build follow each other: it stays loaded."""

SETTINGS = tuple(dict.fromkeys(bug.setting for bug in BUGS))


@pytest.mark.share
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_engines_with_every_bug_switched_off_pass(setting: Setting) -> None:
    """A bug is caught for what it does, not for the setting or the switches around it."""
    record = run_engines(None, setting).record
    assert record.status == "pass", "\n".join([record.message, *record.failures])
    any_length = setting.test in ("corner", "directed", "reset", "speed")
    assert any_length or record.transactions == transactions_of(setting)


@pytest.mark.parametrize(
    "bug", [pytest.param(bug, id=bug.name, marks=pytest.mark.share(bug.file)) for bug in BUGS]
)
def test_bug_is_caught(bug: Bug, tell: Callable[[Bug, Outcome], None]) -> None:
    outcome = run_engines(bug, bug.setting)
    tell(bug, outcome)
    record = outcome.record
    assert record.status != "pass", f"{bug.models}: not noticed in {record.transactions}"
    assert outcome.caught, f"{record.status}: {record.message}\n" + "\n".join(record.failures)
    assert outcome.transactions <= transactions_of(bug.setting) or bug.test == "corner"
