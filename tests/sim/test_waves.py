# SPDX-License-Identifier: Apache-2.0
"""Waves of a window of clocks, and of a failing run that is repeated."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from tb.dut.manifest import reference_manifests
from tb.env.timeline import TIMELINE
from tb.harness.layout import MailboxError
from tb.harness.mailbox_reader import MailboxReader
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.signature import signature
from tb.regress.plan.rerun import rerun_settings
from tb.run.console import Console
from tb.run.folder import MAILBOX
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.sim.runs import wrong_dones

pytestmark = pytest.mark.sim

QUIET = Console(quiet=True)
MTE1 = tuple(item for item in reference_manifests() if item.slot == "mte1")
PICOSECONDS = 10_000
"""Of one clock."""

PATIENCE_SECONDS = 240.0

FST_HEADER = struct.Struct(">BQQQ")
"""Begin of an FST that was closed properly: type 0, length, first and last time."""


def run(folder: Path, **settings: object) -> RunRecord:
    """Runs the smallest engine on one build for waves of each simulator."""
    return run_once(
        RunSettings.model_validate({"test": "legal", "seed": 3, "waves": True, **settings}),
        planned_test("legal"),
        console=QUIET,
        folder=folder,
        manifests=MTE1,
        variant="mte1",
        fast_build=True,
    )


def times(folder: Path) -> tuple[int, int]:
    """Returns the first and the last clock of the waves in a run's folder."""
    with (folder / "waves.fst").open("rb") as file:
        kind, _, first, last = FST_HEADER.unpack(file.read(FST_HEADER.size))
    assert kind == 0
    return first // PICOSECONDS, last // PICOSECONDS


@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_only_a_window_of_clocks_is_recorded(sim: str, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", sim=sim, transactions=40)
    begin, end = whole.clocks // 2, whole.clocks // 2 + 200
    part = run(
        tmp_path / "part", sim=sim, transactions=40, timeline=True, waves_from=begin, waves_to=end
    )
    assert (whole.status, part.status) == ("pass", "pass")
    assert part.clocks == whole.clocks
    assert times(tmp_path / "whole")[1] == pytest.approx(whole.clocks, abs=1)
    first, last = times(tmp_path / "part")
    assert last == end
    assert first == (begin if sim == "verilator" else 0)
    sizes = [(tmp_path / name / "waves.fst").stat().st_size for name in ("whole", "part")]
    assert sizes[1] < sizes[0] / 3
    found = json.loads((tmp_path / "part" / TIMELINE).read_text())
    ops = [event for event in found if event["ph"] == "X"]
    assert len(ops) == 40
    assert {event["cat"] for event in ops} == {"transaction"}
    assert max(event["ts"] + event["dur"] for event in ops) <= part.clocks
    assert not (tmp_path / "whole" / TIMELINE).exists()


def test_waves_of_a_simulation_that_had_to_be_ended_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ending = Thread(target=end_at, args=(folder / MAILBOX, 400))
    ending.start()
    record = run(folder, transactions=1_000_000, waves_to=300)
    ending.join()
    assert record.status == "crash"
    assert times(folder) == (0, 300)


@pytest.mark.parametrize("sim", ["verilator", "icarus"])
def test_an_interrupted_run_keeps_what_it_has(sim: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ending = Thread(target=end_at, args=(folder / MAILBOX, 4000), kwargs={"interrupt": True})
    ending.start()
    record = run(folder, sim=sim, transactions=1_000_000, timeline=True)
    ending.join()
    assert (record.status, record.exit_code) == ("interrupted", 130)
    # The request may come between two batches: then nothing is unchecked.
    counts = record.ops.values()
    assert record.transactions == sum(count.sent - count.unchecked for count in counts) > 0
    assert record.bytes_checked > 0
    assert record.mismatches == record.protocol_errors == 0
    assert record.coverage.covered > 0
    assert 4000 < record.clocks < 1_000_000
    first, last = times(folder)
    assert first == 0
    assert last == pytest.approx(record.clocks, abs=2)
    ops = [event for event in json.loads((folder / TIMELINE).read_text()) if event["ph"] == "X"]
    assert len(ops) == record.transactions
    parts = record.times
    known = parts.build + parts.simulator + parts.python + parts.start_end
    assert known == pytest.approx(parts.total)
    assert sum(parts.python_split.values()) == pytest.approx(parts.python)


def end_at(mailbox: Path, clock: int, *, interrupt: bool = False) -> None:
    """Makes the simulator of a run end after a number of clocks, or interrupts the run."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError, MailboxError):
            reader = MailboxReader.open(mailbox)
            if reader.cycles > clock and (reader.progress().checked or not interrupt):
                if interrupt:
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    os.kill(reader.pid, signal.SIGTERM)
                return
        time.sleep(0.01)


def test_a_failing_run_fails_again_in_the_window_of_its_rerun(tmp_path: Path) -> None:
    manifest = wrong_dones(tmp_path, 3)
    settings = RunSettings(sim="icarus", test="legal", transactions=60, duts=(str(manifest),))
    planned = planned_test("legal")
    before = run_once(settings, planned, console=QUIET, folder=tmp_path / "before")
    assert before.status == "fail"
    again = rerun_settings(before)
    after = run_once(again, planned, console=QUIET, folder=tmp_path / "after")
    assert after.status == "fail"
    shown, first = (record.details[0].model_dump(exclude={"text"}) for record in (after, before))
    assert shown == first
    assert signature(after) == signature(before)
    assert after.transactions <= before.transactions
    clock = before.details[0].end_clock
    assert again.waves_from <= clock <= times(tmp_path / "after")[1]
    assert (tmp_path / "after" / TIMELINE).exists()
