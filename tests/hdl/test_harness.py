# SPDX-License-Identifier: Apache-2.0
"""Harness, memory models and checkers in simulation, around an engine with faults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hdl.mini import Fault, Session, mini_build, run
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
    "checkers_fire",
)

EXPECTED = {
    Fault.AR_FALLS: "AR-HELD",
    Fault.AR_MOVES: "AR-STABLE",
    Fault.AR_FIXED: "AR-BURST",
    Fault.AR_NARROW: "AR-SIZE",
    Fault.AR_CROSSES: "AR-4K",
    Fault.AR_ID: "AR-ID",
    Fault.AR_MANY: "AR-LIMIT",
    Fault.AW_FALLS: "AW-HELD",
    Fault.AW_MOVES: "AW-STABLE",
    Fault.AW_FIXED: "AW-BURST",
    Fault.AW_NARROW: "AW-SIZE",
    Fault.AW_CROSSES: "AW-4K",
    Fault.AW_ID: "AW-ID",
    Fault.AW_MANY: "AW-LIMIT",
    Fault.W_FALLS: "W-HELD",
    Fault.W_MOVES: "W-STABLE",
    Fault.W_LAST_EARLY: "W-LAST-EARLY",
    Fault.W_LAST_NEVER: "W-LAST-LATE",
    Fault.W_EXTRA: "DONE-EARLY-WRITE",
    Fault.DONE_BEFORE_B: "DONE-EARLY-WRITE",
    Fault.DONE_BEFORE_DST: "DONE-EARLY-WRITE",
    Fault.DONE_TAG: "DONE-UNKNOWN-TAG",
    Fault.DONE_TWICE: "DONE-TWICE",
    Fault.DONE_FALLS: "DONE-HELD",
    Fault.DONE_MOVES: "DONE-STABLE",
    Fault.TRAFFIC_IDLE: "IDLE-TRAFFIC",
    Fault.BUSY_LOW: "BUSY-LOW",
    Fault.BUSY_STUCK: "BUSY-HIGH",
    Fault.SRC_FALLS: "SRC-HELD",
    Fault.SRC_MOVES: "SRC-STABLE",
    Fault.SRC_ODD: "SRC-ALIGN",
    Fault.SRC_SPACE: "SRC-SPACE",
    Fault.DST_FALLS: "DST-HELD",
    Fault.DST_MOVES: "DST-STABLE",
    Fault.DST_ODD: "DST-ALIGN",
    Fault.DST_SPACE: "DST-SPACE",
    Fault.DST_OUTSIDE: "DST-OUTSIDE",
    Fault.SRC_OUTSIDE: "SRC-OUTSIDE",
    Fault.AR_RESET: "AR-RESET",
    Fault.AW_RESET: "AW-RESET",
    Fault.W_RESET: "W-RESET",
    Fault.DONE_RESET: "DONE-RESET",
    Fault.SRC_RESET: "SRC-RESET",
    Fault.DST_RESET: "DST-RESET",
    Fault.DONE_RULE: "DONE-RULE",
    Fault.DONE_BEFORE_R: "DONE-EARLY-READ",
    Fault.W_BELOW: "AW-ALIGN",
    Fault.X_ARVALID: "X-AR",
    Fault.X_WDATA: "X-W",
    Fault.X_DST: "X-DST",
    Fault.X_ARADDR: "X-AR",
    Fault.X_RESET: "X-AR",
    Fault.X_DST_BE: "X-DST",
    Fault.X_WSTRB: "X-W",
    Fault.X_DONE: "X-DONE",
    Fault.X_AW: "X-AW",
    Fault.X_REQ: "X-SRC",
    Fault.X_AWVALID: "X-AW",
}
"""The rule that each fault must break; HANG is the watchdog's."""


@pytest.fixture(scope="module", params=TWINS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(mini_build(request.param), TESTS, folder)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


def test_every_check_fires(session: Session) -> None:
    seen = json.loads((session.folder / "result.json").read_text())
    assert seen["NONE"] == []
    missing = {
        name: messages
        for name, messages in seen.items()
        if Fault[name] in EXPECTED
        and not any(f": {EXPECTED[Fault[name]]}: " in line for line in messages)
    }
    assert not missing
    assert set(EXPECTED) == set(Fault) - {Fault.NONE, Fault.HANG}


def test_the_log_has_the_messages_too(session: Session) -> None:
    assert "pto: mte2: AR-HELD: ARVALID fell before ARREADY" in session.log


def test_another_process_follows_through_the_file(session: Session) -> None:
    progress = session.mailbox.progress()
    assert progress.submitted == progress.retired > 1000
    assert progress.cycles > 1000
    assert progress.errors > 100


@pytest.mark.parametrize("width", [128, 512])
def test_other_widths(width: int, tmp_path: Any) -> None:
    tests = ("copies", "throughput", "memory_faults")
    result = run(mini_build("icarus", width), tests, tmp_path)
    assert result.failures == dict.fromkeys(tests), result.log[-4000:]


def test_a_file_that_is_no_mailbox_ends_the_simulation(tmp_path: Any) -> None:
    (tmp_path / "other").write_bytes(b"x" * 100)
    result = run(
        mini_build("icarus"), ["copies"], tmp_path, {"PTO_MAILBOX": str(tmp_path / "other")}
    )
    assert result.exit_code == 3
    assert "is no mailbox of version" in result.log
