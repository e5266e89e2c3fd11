# SPDX-License-Identifier: Apache-2.0
"""Faults, latencies, jitters, stall counts, late bursts and hangs, in simulation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tb.harness.hang_report import channel_report
from tests.hdl.mini import Session, bench_build, run
from tests.hdl.simulators import SIMULATORS
from tests.wording import says

pytestmark = pytest.mark.sim

MODULE = "tests.hdl.stress_bench"
TESTS = (
    "windows",
    "bytes_stay",
    "sides_and_slots",
    "the_nth",
    "hit_clocks",
    "long_latency",
    "jitter",
    "stall_counts",
    "late_bursts",
    "hangs",  # the last: it leaves the simulation in a hang
)

HOLDS = r"engine holds 1 accepted descriptor \d+ clocks"
FACTS: dict[str, tuple[str, ...]] = {
    "silent": (f"mte2 no channel active {HOLDS} nothing",),
    "outstanding": (
        r"mte2 AR valid \d+ clocks memory not take OUTSTANDING 1 of 1",
        "mte2 memory owes 8 beats 1 read",
        f"mte2 {HOLDS}",
    ),
    "ar": (r"mte2 AR valid \d+ clocks memory not take", f"mte2 {HOLDS}"),
    "aw": (
        r"mte3 AW valid \d+ clocks memory not take OUTSTANDING 2 of 2",
        "mte3 engine owes 16 beats write 2 bursts not WVALID low",
        f"mte3 {HOLDS}",
    ),
    "rready": (r"mte2 read data \d+ clocks RREADY low engine not take", f"mte2 {HOLDS}"),
    "bready": (r"mte3 write response \d+ clocks BREADY low engine not take", f"mte3 {HOLDS}"),
    "no_aw": ("mte3 memory 8 beats write address engine not AWVALID low", f"mte3 {HOLDS}"),
    "w_waits": (r"mte3 write data valid \d+ clocks memory not take address", f"mte3 {HOLDS}"),
    "b_owed": ("mte3 memory owes 3 write responses", f"mte3 {HOLDS}"),
    "src": (r"mte2 src read req \d+ clocks memory not grant", f"mte2 {HOLDS}"),
    "src_owed": ("mte2 memory owes 4 words src", f"mte2 {HOLDS}"),
    "dst": (r"mte3 dst write req \d+ clocks memory not grant", f"mte3 {HOLDS}"),
    "par": (r"fix par read parameters req \d+ clocks memory not grant", f"fix {HOLDS}"),
    "flag": (r"fix flag read unit flags req \d+ clocks memory not grant", f"fix {HOLDS}"),
    "polls": (
        r"fix waits unit flags word 3 mask 0x000000ff read \d+ not set 98 100 to 101",
        f"fix {HOLDS}",
    ),
    "done": (r"mte2 done valid \d+ clocks harness not take", f"mte2 {HOLDS}"),
    "after_w": (
        "mte3 memory 8 beats write address engine not AWVALID low",
        "mte3 AW VALID waits READY low until VALID",
        f"mte3 {HOLDS}",
    ),
    "after_done": (
        "mte2 done VALID waits READY low until VALID",
        f"mte2 no channel active {HOLDS} nothing",
    ),
    "refuses": (r"mte2 engine holds no descriptor not take valid \d+ clocks",),
}
"""Facts of the report of each hang of stress_bench.py, by line."""

LAST = {
    "outstanding": "ar desc",
    "ar": "r ar desc",
    "aw": "aw desc",
    "rready": "r ar desc",
    "bready": "w aw desc",
    "no_aw": "w desc",
    "b_owed": "w aw desc",
    "src_owed": "src desc",
    "dst": "dst desc",
    "flag": "flag desc",
    "polls": "flag desc",
    "after_w": "w desc",
    "refuses": "done desc",
    "other": "",
}
"""Events of their last lines, the newest first; ``desc`` alone in those that are not named."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Session]:
    """Runs all tests on a simulator, once."""

    @cache
    def on(sim: str) -> Session:
        return run(bench_build("stress", sim), TESTS, tmp_path_factory.mktemp(sim), module=MODULE)

    return on


@pytest.fixture(params=SIMULATORS)
def session(request: Any, sessions: Callable[[str], Session]) -> Session:
    return sessions(request.param)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    session.assert_passed(test)


def result(session: Session, name: str) -> Any:
    return json.loads(Path(f"{session.folder / 'result.json'}{name}").read_text())


@pytest.mark.parametrize("name", [".nth", ".jitter", ".stalls"])
def test_simulators_agree_on_the_clocks(sessions: Callable[[str], Session], name: str) -> None:
    """The order of calls on an edge differs, the result does not."""
    first, second = (result(sessions(sim), name) for sim in SIMULATORS)
    assert first == second


def events(line: str) -> str:
    """Returns the names of the last events in the last line of a slot."""
    return " ".join(re.findall(r"(\w+)(?: at clock)? \d+", line.partition(";")[0]))


def test_every_wait_has_its_line(session: Session) -> None:
    reports, (retired, tag) = result(session, ".hangs")
    for name, facts in FACTS.items():
        *lines, last = reports[name]
        assert len(lines) == len(facts), (name, reports[name])
        for line, fact in zip(lines, facts, strict=True):
            assert says(line, fact), (name, line)
        assert events(last) == LAST.get(name, "desc"), (name, last)
    assert "OUTSTANDING" not in reports["ar"][0]
    for line in (line for name in ("silent", "rready", "bready") for line in reports[name][:-1]):
        # The watchdog counts 100 clocks from the accept.
        clocks = re.findall(r"(\d+) clocks", line)
        assert clocks, line
        assert all(90 <= int(number) <= 110 for number in clocks), line
    first, _, second, last = reports["other"]
    assert events(last) == LAST["other"]
    assert says(first, f"mte2 no channel active {HOLDS}")
    assert says(second, f"mte3 harness not descriptor waits mte2 {tag} retired {retired}")
    assert says(reports["later"][0], r"clock \d+ \d+ clocks before the end")
    assert reports["later"][1:] == reports["other"]


def test_another_process_reads_the_state_after_the_end(session: Session) -> None:
    """The state is at most 4096 clocks old; the wait was longer."""
    first, data, holds, last = channel_report(session.mailbox.snapshot())
    assert says(first, r"clock \d+ \d+ clocks before the end")
    (age,) = re.findall(r"(\d+) clocks", first)
    assert int(age) <= 4096
    assert says(data, r"mte2 read data \d+ clocks RREADY low engine not take")
    (since,) = re.findall(r"(\d+) clocks", data)
    assert int(since) > 4096
    assert says(holds, f"mte2 {HOLDS}")
    assert events(last) == "r ar desc"
    assert says(last, r"mte2 last error \d+ last reset \d+")
    offered, *earlier, error, reset = map(int, re.findall(r"\d+", last)[1:])
    assert offered >= max(earlier) > min(earlier) > reset > error
    assert session.mailbox.cycles - offered > 4096
