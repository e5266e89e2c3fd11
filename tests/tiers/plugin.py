# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest that selects the tests of a tier, and measures their processor time."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest

from tb.common.paths import ROOT, relative
from tests.tiers import cost
from tests.tiers.reach import NoChangesError, changed_files, reached
from tests.tiers.selection import SHARE_ENV, Share, balanced, is_long, quick, shared

SMOKE = "tests/sim/test_smoke.py"
"""Short runs, for any change of what a run consists of."""

BEGIN = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of ``make check``."""
    group = parser.getgroup("tiers of tests")
    group.addoption("--check", action="store_true", help="short tests that the change reaches")
    group.addoption("--since", default="", help="commit that the change begins at")


def is_worker(config: pytest.Config) -> bool:
    """Returns whether this process is a worker of another one."""
    return hasattr(config, "workerinput")


class Tiers:
    """What the options select, and what the tests cost. Workers get the files of a change."""

    def __init__(self, config: pytest.Config) -> None:
        self.share = Share.parse(os.environ.get(SHARE_ENV, ""))
        self.check = bool(config.getoption("check"))
        self.costs: list[tuple[str, cost.Cost]] = []
        self.sessions: list[cost.Cost] = []
        self.last = cost.spent()
        self.changed: tuple[str, ...] = ()
        self.reached: tuple[str, ...] = ()
        if is_worker(config):
            self.changed, self.reached = vars(config)["workerinput"]["tiers"]
        elif self.check or self.share.count > 1:
            try:
                self.changed = changed_files(ROOT, config.getoption("since"))
            except NoChangesError as error:
                if self.check:
                    raise pytest.UsageError(
                        f"{error}. make check tests what differs from a commit: run it in a Git "
                        "checkout, name the commit with SINCE=, or run make test"
                    ) from None
            self.reached = reached(ROOT, self.changed) if self.check else ()

    def pytest_configure_node(self, node: Any) -> None:
        """Sends the files of the change to a worker."""
        node.workerinput["tiers"] = (self.changed, self.reached)

    def pytest_report_header(self) -> list[str]:
        """Returns what is selected."""
        lines = [f"share: {self.share} of the rows marked share ({SHARE_ENV})"]
        if self.check:
            lines = [
                f"check: short tests of {len(self.reached)} files, reached by "
                f"{len(self.changed)} changed ones: {', '.join(self.changed[:4])}"
                + (", ..." if len(self.changed) > 4 else "")
            ]
        return lines

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leaves out files that the change does not reach."""
        if not self.check or not collection_path.name.startswith("test_"):
            return None
        return relative(collection_path) not in (*self.reached, SMOKE) or None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Selects and orders the tests."""
        chosen = quick(items, self.changed) if self.check else items
        chosen = shared(chosen, self.share, self.changed)
        left = set(items) - set(chosen)
        config.hook.pytest_deselected(items=list(left))
        items[:] = balanced(chosen) if is_worker(config) else chosen

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Adds its cost to a report, and fails a test that is too long without a mark."""
        report = yield
        now = cost.spent()
        used, self.last = now - self.last, now
        report.cost = astuple(used)  # type: ignore[attr-defined]
        if report.passed and call.when == "call" and not is_long(item):
            seconds = used.own + used.ended
            allowed = cost.LIMIT_SECONDS
            if seconds > allowed:
                allowed = cost.limit()  # The machine may be slow, or busy just now.
            if seconds > allowed:
                report.outcome = "failed"
                report.longrepr = (
                    f"{seconds:.2f} s of processor time, {allowed:.2f} s are allowed: "
                    "shorten the test, or mark it with pytest.mark.long"
                )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects the costs."""
        if hasattr(report, "cost"):
            self.costs.append((report.nodeid, cost.Cost(*report.cost)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Sends the cost of a worker to the process that prints it."""
        spent = cost.spent()
        if is_worker(session.config):
            session.config.workeroutput["spent"] = astuple(spent)  # type: ignore[attr-defined]
        else:  # The workers count for themselves.
            self.sessions.append(replace(spent, children=0.0) if self.sessions else spent)

    def pytest_testnodedown(self, node: Any) -> None:
        """Takes the cost of a worker."""
        if "spent" in getattr(node, "workeroutput", ()):
            self.sessions.append(cost.Cost(*node.workeroutput["spent"]))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the costs, those of several folders as a table."""
        lines = cost.table(self.costs, time.monotonic() - BEGIN, self.sessions)
        if len(lines) > 3:
            terminalreporter.section("processor time")
        for line in lines if len(lines) > 3 else lines[-1:]:
            terminalreporter.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the tiers, once their options are known."""
    config.pluginmanager.register(Tiers(config), "tiers")
