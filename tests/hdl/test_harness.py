# SPDX-License-Identifier: Apache-2.0
"""Harness, memory models and checkers in simulation, around an engine that can be broken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hdl.mini import SIMULATORS, Fault, Session, mini_build, run

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
    Fault.AR_FALLS: "ar: ARVALID fell",
    Fault.AR_MOVES: "ar: payload changed",
    Fault.AR_FIXED: "ar: burst is not INCR",
    Fault.AR_NARROW: "ar: beats are not full width",
    Fault.AR_CROSSES: "ar: burst crosses 4 KiB",
    Fault.AR_ID: "ar: more than one ID",
    Fault.AR_MANY: "ar: too many bursts outstanding",
    Fault.AW_FALLS: "aw: AWVALID fell",
    Fault.AW_MOVES: "aw: payload changed",
    Fault.AW_FIXED: "aw: burst is not INCR",
    Fault.AW_NARROW: "aw: beats are not full width",
    Fault.AW_CROSSES: "aw: burst crosses 4 KiB",
    Fault.AW_ID: "aw: more than one ID",
    Fault.AW_MANY: "aw: too many bursts outstanding",
    Fault.W_FALLS: "w: WVALID fell",
    Fault.W_MOVES: "w: payload changed",
    Fault.W_LAST_EARLY: "w: WLAST in the wrong beat",
    Fault.W_LAST_NEVER: "w: no WLAST on the last beat",
    Fault.W_EXTRA: "done: before the last write",
    Fault.DONE_BEFORE_B: "done: before the last write",
    Fault.DONE_BEFORE_DST: "done: before the last write",
    Fault.DONE_TAG: "done: wrong tag or order",
    Fault.DONE_TWICE: "done: without a descriptor",
    Fault.DONE_FALLS: "done: valid fell",
    Fault.DONE_MOVES: "done: payload changed",
    Fault.TRAFFIC_IDLE: "bus activity without a descriptor",
    Fault.BUSY_LOW: "busy: low",
    Fault.BUSY_STUCK: "busy: high",
    Fault.SRC_FALLS: "src: req fell",
    Fault.SRC_MOVES: "src: payload changed",
    Fault.SRC_ODD: "src: address is not word aligned",
    Fault.SRC_SPACE: "src: no such on-chip memory",
    Fault.DST_FALLS: "dst: req fell",
    Fault.DST_MOVES: "dst: payload changed",
    Fault.DST_ODD: "dst: address is not word aligned",
    Fault.DST_SPACE: "dst: no such on-chip memory",
    Fault.DST_OUTSIDE: "dst: write outside of the memory",
    Fault.SRC_OUTSIDE: "src: read outside of the memory",
    Fault.AR_RESET: "ar: ARVALID in reset",
    Fault.AW_RESET: "aw: AWVALID in reset",
    Fault.W_RESET: "w: WVALID in reset",
    Fault.DONE_RESET: "done: valid in reset",
    Fault.SRC_RESET: "src: req in reset",
    Fault.DST_RESET: "dst: req in reset",
    Fault.DONE_RULE: "done: status and rule do not fit",
    Fault.DONE_BEFORE_R: "done: reads outstanding",
    Fault.W_BELOW: "w: strobe below an unaligned AWADDR",
    Fault.X_ARVALID: "X on ARVALID",
    Fault.X_WDATA: "w: X or Z in written bytes",
    Fault.X_DST: "dst: X or Z in written bytes",
    Fault.X_ARADDR: "ar: X or Z in ARADDR",
    Fault.X_RESET: "ARVALID is X in reset",
    Fault.X_DST_BE: "dst: X or Z in byte enables",
    Fault.X_WSTRB: "w: X or Z in WSTRB",
    Fault.X_DONE: "done: X in the payload",
    Fault.X_AW: "aw: X or Z in AWADDR",
    Fault.X_REQ: "X on ready, valid, busy or req",
    Fault.X_AWVALID: "X on AWVALID",
}
"""The message that each fault must bring; HANG is the watchdog's."""


@pytest.fixture(scope="module", params=SIMULATORS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(mini_build(request.param), TESTS, folder)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    failure = session.failures[test]
    assert failure is None, failure
    assert session.exit_code == 0


def test_every_check_has_been_seen_to_fire(session: Session) -> None:
    seen = json.loads((session.folder / "result.json").read_text())
    assert seen["NONE"] == []
    missing = {
        name: messages
        for name, messages in seen.items()
        if Fault[name] in EXPECTED and not any(EXPECTED[Fault[name]] in line for line in messages)
    }
    assert not missing
    assert set(EXPECTED) == set(Fault) - {Fault.NONE, Fault.HANG}


def test_the_log_has_the_messages_too(session: Session) -> None:
    assert "pto: mte2: ar: ARVALID fell before ARREADY" in session.log


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
