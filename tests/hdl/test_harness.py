# SPDX-License-Identifier: Apache-2.0
"""Harness, memory models and checkers in simulation, around an engine that copies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hdl.mini import Session, bench_build, run
from tests.hdl.simulators import TWINS

pytestmark = pytest.mark.sim

TESTS = (
    "copies",
    "throughput",
    "exact_latency",
    "stalls",
    "memory_faults",
    "stray_stamps",
    "rings_wrap",
    "gaps",
    "watchdog",
    "reset_forgets",
    "pins",
)


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(bench_build("copies", request.param), TESTS, folder)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


def test_another_process_follows_through_the_file(session: Session) -> None:
    progress = session.mailbox.progress()
    assert progress.submitted == progress.retired > 1000
    assert progress.cycles > 1000


@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("copies", "throughput", "memory_faults")
    result = run(bench_build("copies", "icarus", width), tests, tmp_path)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]


def test_a_file_that_is_no_mailbox_ends_the_simulation(tmp_path: Any) -> None:
    (tmp_path / "other").write_bytes(b"x" * 100)
    result = run(
        bench_build("copies", "icarus"),
        ["copies"],
        tmp_path,
        {"PTO_MAILBOX": str(tmp_path / "other")},
    )
    assert result.exit_code == 3
    assert "is not a mailbox of version" in result.log
