# SPDX-License-Identifier: Apache-2.0
"""Forks of a loaded simulation do what a simulation by itself does, and end as it does."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb.dut.manifest import REFERENCE_MANIFESTS, load_manifest
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run import warm as module
from tb.run.console import Console
from tb.run.launch import Launcher, start_process
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tb.run.warm import Forked, WarmSimulator, _Loaded

pytestmark = pytest.mark.sim


@pytest.fixture
def warm() -> Iterator[WarmSimulator]:
    warm = WarmSimulator()
    yield warm
    warm.close()


def run(folder: Path, launcher: Launcher, sim: str = "icarus", **settings: object) -> RunRecord:
    return run_once(
        RunSettings.model_validate({"sim": sim, "transactions": 20, **settings}),
        planned_test("legal"),
        manifests=tuple(load_manifest(path) for path in REFERENCE_MANIFESTS if "mte1" in str(path)),
        variant="warm",
        fast_build=True,
        console=Console(quiet=True),
        folder=folder,
        launcher=launcher,
    )


def facts(record: RunRecord) -> dict[str, object]:
    """Returns a record without what differs from run to run."""
    return record.model_dump(exclude={"times", "settings", "command", "simulator_version"})


@pytest.mark.parametrize("sim", ["icarus", "verilator"])
def test_a_fork_is_a_run_by_itself(sim: str, tmp_path: Path, warm: WarmSimulator) -> None:
    alone = {
        seed: facts(run(tmp_path, Launcher(start=start_process), sim, seed=seed)) for seed in (3, 4)
    }
    assert alone[3] != alone[4]
    for seed in (3, 4, 3):
        record = run(tmp_path, Launcher(start=warm.start), sim, seed=seed)
        assert record.passed
        assert facts(record) == alone[seed]
        assert "PASS=1" in (tmp_path / "simulator.log").read_text()


def test_the_same_program_is_loaded_once(
    tmp_path: Path, warm: WarmSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[_Loaded] = []

    def load(*words: Any) -> _Loaded:
        loaded.append(_Loaded(*words))
        return loaded[-1]

    monkeypatch.setattr(module, "_Loaded", load)
    for seed in (3, 4):
        assert run(tmp_path / "fork", Launcher(start=warm.start), seed=seed).passed
    assert len(loaded) == 1


def test_a_fork_that_is_killed_is_a_crash_and_the_next_one_passes(
    tmp_path: Path, warm: WarmSimulator
) -> None:
    def start_and_kill(*words: object) -> Forked:
        forked = warm.start(*words)  # type: ignore[arg-type]
        os.kill(forked.pid, signal.SIGKILL)
        return forked

    record = run(tmp_path / "killed", Launcher(start=start_and_kill))
    assert record.status == "crash"
    assert "SIGKILL" in record.message
    assert run(tmp_path / "next", Launcher(start=warm.start)).passed


def test_waiting_has_a_limit(tmp_path: Path, warm: WarmSimulator) -> None:
    def start_and_stop(*words: object) -> Forked:
        forked = warm.start(*words)  # type: ignore[arg-type]
        os.kill(forked.pid, signal.SIGSTOP)
        assert forked.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            forked.wait(0.1)
        os.kill(forked.pid, signal.SIGCONT)
        return forked

    assert run(tmp_path / "run", Launcher(start=start_and_stop)).passed


def test_a_simulator_that_ends_before_its_fork_is_an_error(
    tmp_path: Path, warm: WarmSimulator
) -> None:
    with (tmp_path / "log").open("wb") as log, pytest.raises(ConnectionResetError, match="log"):
        warm.start(["/bin/true"], tmp_path, {"COCOTB_TEST_MODULES": "tb"}, log)
