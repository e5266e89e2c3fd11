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
from tests.hdl.mini import SIMULATORS, Session, run, stress_build

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
    "hangs",  # the last: it leaves the simulation standing
)

HOLDS = r"the engine holds 1 accepted descriptor, the oldest since \d+ clocks"
SENTENCES: dict[str, tuple[str, ...]] = {
    "silent": (rf"mte2: no channel is active: {HOLDS}, and asks for nothing",),
    "outstanding": (
        r"mte2: AR is offered \(valid since \d+ clocks\) and the memory does not take it "
        r"\(OUTSTANDING reached: 1 of 1\)",
        r"mte2: the memory owes 8 beats of 1 read burst",
        f"mte2: {HOLDS}",
    ),
    "ar": (
        r"mte2: AR is offered \(valid since \d+ clocks\) and the memory does not take it",
        f"mte2: {HOLDS}",
    ),
    "aw": (
        r"mte3: AW is offered \(valid since \d+ clocks\) and the memory does not take it "
        r"\(OUTSTANDING reached: 2 of 2\)",
        r"mte3: the engine owes 16 beats of write data of 2 bursts and does not offer them: WVALID "
        r"is low",
        f"mte3: {HOLDS}",
    ),
    "rready": (
        r"mte2: read data are offered since \d+ clocks, RREADY is low: the engine does not take "
        r"them",
        f"mte2: {HOLDS}",
    ),
    "bready": (
        r"mte3: a write response is offered since \d+ clocks, BREADY is low: the engine does not "
        r"take it",
        f"mte3: {HOLDS}",
    ),
    "no_aw": (
        r"mte3: the memory has 8 beats of write data whose address the engine does not offer: "
        r"AWVALID is low",
        f"mte3: {HOLDS}",
    ),
    "w_waits": (
        r"mte3: write data are offered \(valid since \d+ clocks\) and the memory does not take "
        r"them before the address of their burst",
        f"mte3: {HOLDS}",
    ),
    "b_owed": (r"mte3: the memory owes 3 write responses", f"mte3: {HOLDS}"),
    "src": (
        r"mte2: src asks for a read \(req since \d+ clocks\) and the memory does not grant it",
        f"mte2: {HOLDS}",
    ),
    "src_owed": (r"mte2: the memory owes 4 words of port src", f"mte2: {HOLDS}"),
    "dst": (
        r"mte3: dst asks for a write \(req since \d+ clocks\) and the memory does not grant it",
        f"mte3: {HOLDS}",
    ),
    "par": (
        r"fix: par asks for a read of parameters \(req since \d+ clocks\) and the memory does not "
        r"grant it",
        f"fix: {HOLDS}",
    ),
    "flag": (
        r"fix: flag asks for a read of unit flags \(req since \d+ clocks\) and the memory does not "
        r"grant it",
        f"fix: {HOLDS}",
    ),
    "polls": (
        r"fix: waits for unit flags: flag word 3, mask 0x000000ff, was read \d+ times in a row; "
        r"not set: 98, 100 to 101",
        f"fix: {HOLDS}",
    ),
    "done": (
        r"mte2: a done is offered \(valid since \d+ clocks\) and the harness does not take it",
        f"mte2: {HOLDS}",
    ),
    "refuses": (
        r"mte2: the engine holds no descriptor and does not take the one that is offered \(valid "
        r"since \d+ clocks\)",
    ),
}
"""What is said of each hang of stress_bench.py."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Session]:
    """Runs all tests on a simulator, once."""

    @cache
    def on(sim: str) -> Session:
        return run(stress_build(sim), TESTS, tmp_path_factory.mktemp(sim), module=MODULE)

    return on


@pytest.fixture(params=SIMULATORS)
def session(request: Any, sessions: Callable[[str], Session]) -> Session:
    return sessions(request.param)


@pytest.mark.parametrize("test", TESTS)
def test_in_simulation(session: Session, test: str) -> None:
    failure = session.failures[test]
    assert failure is None, failure
    assert session.exit_code == 0


def result(session: Session, name: str) -> Any:
    return json.loads(Path(f"{session.folder / 'result.json'}{name}").read_text())


@pytest.mark.parametrize("name", [".nth", ".jitter", ".stalls"])
def test_simulators_agree_on_the_clocks(sessions: Callable[[str], Session], name: str) -> None:
    """Who is called first on an edge differs, what happens does not."""
    first, second = (result(sessions(sim), name) for sim in SIMULATORS)
    assert first == second


def test_every_wait_has_its_sentence(session: Session) -> None:
    said, (retired, wanted) = result(session, ".hangs")
    for name, sentences in SENTENCES.items():
        assert len(said[name]) == len(sentences), (name, said[name])
        for line, sentence in zip(said[name], sentences, strict=True):
            assert re.fullmatch(sentence, line), (name, line)
    for line in (*said["silent"], *said["rready"], *said["bready"]):
        # The watchdog counts 100 clocks from the accept.
        assert all(90 <= int(number) <= 110 for number in re.findall(r"since (\d+)", line)), line
    first, second = said["other"]
    assert re.fullmatch(f"mte2: no channel is active: {HOLDS}, and asks for nothing", first)
    assert second == (
        f"mte3: the harness does not offer the next descriptor: it waits for slot mte2 to retire "
        f"{wanted}, which has retired {retired}"
    )
    assert re.match(r"channels at clock \d+, \d+ clocks before the end:", said["later"][0])
    assert said["later"][1:] == said["other"]


def test_another_process_is_told_after_the_end(session: Session) -> None:
    """The state is at most 4096 clocks old; the wait has gone on for longer."""
    first, data, holds = channel_report(session.mailbox)
    behind = re.fullmatch(r"channels at clock \d+, (\d+) clocks before the end:", first)
    assert behind is not None
    assert int(behind[1]) <= 4096
    since = re.fullmatch(
        r"mte2: read data are offered since (\d+) clocks, RREADY is low: the engine does not "
        r"take them",
        data,
    )
    assert since is not None
    assert int(since[1]) > 4096
    assert re.fullmatch(f"mte2: {HOLDS}", holds)
