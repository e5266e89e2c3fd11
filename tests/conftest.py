# SPDX-License-Identifier: Apache-2.0
"""The start of the runs with injected bugs, folders of two workers, and the slowest files.

In one process they begin before the first test, in parallel with the others, and the tests that
wait for them come last. With workers (`make test` has two) those tests come first: one worker waits
for the bug runs while the other runs tests, and joins it when they are done.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pytest
from hypothesis import settings

from tb.run import launch
from tb.run.launch import Process, start_process
from tb.run.warm import WarmSimulator

if TYPE_CHECKING:
    from tests.bugs.test_bugs import Runs

BUG_RUNS = "tests/bugs/test_bugs.py"

SLOWEST_FILES = 10

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER:
    # Two workers may have a run of the same name at the same time.
    os.environ["PTO_RUNS"] = f"runs-{WORKER}"

# On a busy machine an example may take longer than Hypothesis allows by default.
settings.register_profile("busy", settings(), deadline=None)
settings.load_profile("busy")


def waits_for_bug_runs(item: pytest.Item) -> bool:
    """Tells whether a test waits for a run with an injected bug."""
    return item.nodeid.startswith(f"{BUG_RUNS}::")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests that wait for the bug runs so that the others fill the time."""
    items.sort(key=waits_for_bug_runs, reverse=bool(WORKER))


@pytest.fixture(scope="session")
def bug_runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """Runs that the selected tests of test_bugs.py wait for, by bug and setting."""
    # Imported late, since the import is slow.
    from tests.bugs.campaign import campaign, only_one_run
    from tests.bugs.test_bugs import jobs_of

    items = [item for item in request.session.items if waits_for_bug_runs(item)]
    jobs = dict.fromkeys(job for item in items for job in jobs_of(item))
    with only_one_run(), campaign(jobs) as runs:
        yield runs


@pytest.fixture(scope="session", autouse=True)
def early_bug_runs(request: pytest.FixtureRequest) -> None:
    """Starts the bug runs immediately where one process runs every test."""
    if not WORKER and any(map(waits_for_bug_runs, request.session.items)):
        request.getfixturevalue("bug_runs")


@pytest.fixture(scope="session", autouse=True)
def warm_simulators() -> Iterator[None]:
    """Forks simulations of this process from loaded ones, which saves a second each.

    Commands that a test starts, and so what users run, load each simulation by itself.
    """
    warm = WarmSimulator(most=3)

    def start(words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO) -> Process:
        ours = env["COCOTB_TEST_MODULES"].startswith("tb.env.tests.")
        alone = any(str(folder) in word for word in words)  # with a file of the run: waves
        return (start_process if alone or not ours else warm.start)(words, folder, env, log)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "start_process", start)
        yield
    warm.close()


_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds up the seconds of each file, of set-up and tear-down too."""
    _seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the slowest files of a whole run."""
    if len(_seconds) > SLOWEST_FILES:
        terminalreporter.section(f"slowest {SLOWEST_FILES} files of {len(_seconds)}")
        for name, seconds in sorted(_seconds.items(), key=lambda one: -one[1])[:SLOWEST_FILES]:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
