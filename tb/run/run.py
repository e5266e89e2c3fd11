# SPDX-License-Identifier: Apache-2.0
"""One run from settings to record: plan, build, simulate, judge, record, show.

Each stage takes the result of the stage before and calls no other stage.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

from tb.common.environment import foreign_note
from tb.common.errors import PtoError
from tb.common.files import remove_file, write_json
from tb.dut.manifest import Manifest
from tb.isa.profile import using
from tb.record.record import TERMINATED, RunRecord
from tb.record.settings import RunSettings
from tb.run.build import build
from tb.run.console import Console
from tb.run.coverage import write_coverage
from tb.run.folder import MAILBOX, RECORD, claimed, empty, run_folder
from tb.run.judge import judge, note_progress
from tb.run.launch import NEW_PROCESS, Launcher
from tb.run.plan import RunPlan, plan_run
from tb.run.simulate import simulate_run
from tb.run.testlist import PlannedTest


class RunFiles(Protocol):
    """Files that a run needs in its folder, and handling of those that it leaves there."""

    def stage(self, folder: Path) -> None:
        """Writes input files of the simulation; the folder is new and empty."""

    def collect(self, record: RunRecord, folder: Path) -> None:
        """Takes output files of the simulation; the record has its verdict, and may be added to."""


def run_once(
    settings: RunSettings,
    planned: PlannedTest,
    json_path: Path | None = None,
    *,
    manifests: tuple[Manifest, ...] | None = None,
    variant: str = "",
    fast_build: bool = False,
    console: Console | None = None,
    folder: Path | None = None,
    launcher: Launcher = NEW_PROCESS,
    inputs: str = "",
    files: RunFiles | None = None,
) -> RunRecord:
    """Runs one test and returns its record, which is also written as JSON.

    Args:
        settings: The settings of the run.
        planned: The test's entry in the test list.
        json_path: File of the record; None for one in the run's folder.
        manifests: Engines; None for those that the settings name, or the reference engines.
        variant: Suffix of the build folder, for engines that differ in their sources.
        fast_build: Prefer a short build to a fast simulation.
        console: Output of progress; None for standard output.
        folder: The folder of the run; None for one named by the settings and the variant.
        launcher: How the simulator is started.
        inputs: Digest that the build must have; if given, ports are not checked again.
        files: Files that the run needs in its folder; None for no files.

    Raises:
        PtoError: the run could not start. A record of it is written first when a place for
            it can be found.
    """
    console = console or Console()
    folder = folder or run_folder(settings) / variant
    target = json_path or folder / RECORD
    record = RunRecord(settings=settings, command=settings.command(), simulator=settings.sim)
    coverage: list[str] = []
    refused: PtoError | None = None
    start = time.monotonic()
    with interrupts_raise(), ExitStack() as hold:
        try:
            hold.enter_context(
                claimed(folder, lambda: console.say(f"waiting for an equal run in {folder}"))
            )
            # Record and progress of an earlier run must not be read as those of this run.
            if note := foreign_note():
                console.say(note)
            remove_file(target)
            remove_file(folder / MAILBOX)
            plan = plan_run(
                settings,
                planned,
                folder,
                manifests=manifests,
                variant=variant,
                fast_build=fast_build,
                check=not inputs,
            )
            record.settings, record.command = plan.settings, plan.settings.command()
            record.claims = plan.claims
            with using(plan.build.profile):
                coverage = _run(plan, record, console, launcher, inputs, files)
        except KeyboardInterrupt as error:
            record.status = "interrupted"
            terminated = error.args == (signal.SIGTERM,)
            record.message = TERMINATED if terminated else "interrupted from the keyboard"
            note_progress(record, folder)
        except PtoError as error:
            refused = error
            record.status = "error"
            record.message = str(error)
        except OSError as error:
            raise PtoError(
                f"cannot use the run's folder: {error.strerror}",
                where=str(error.filename or folder),
                remedy="make it writable, or free disk space",
            ) from None
        record.times.close(time.monotonic() - start)
        write_json(target, record)
    if refused is not None:
        raise refused
    console.show(record, coverage, target, folder)
    return record


def _run(
    plan: RunPlan,
    record: RunRecord,
    console: Console,
    launcher: Launcher,
    inputs: str,
    files: RunFiles | None,
) -> list[str]:
    """Carries out a plan, stage by stage; returns the lines about its coverage.

    The record is filled as far as the run gets.
    """
    record.left_out = plan.left_out
    empty(plan.folder)
    if files is not None:
        files.stage(plan.folder)
    start = time.monotonic()
    try:
        with console.building(plan):
            built = build(plan.build, inputs=inputs)
    finally:
        record.times.build = time.monotonic() - start
    record.simulator_version = built.version
    with console.progress(plan.expected) as progress:
        simulation = simulate_run(plan, built, progress, launcher)
    judge(plan, simulation, record)
    coverage = write_coverage(plan)
    if files is not None:
        files.collect(record, plan.folder)
    return coverage


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Makes SIGINT and SIGTERM a KeyboardInterrupt with the signal, also where they were ignored.

    It ends the simulator on its way out.
    """

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number))

    if threading.current_thread() is not threading.main_thread():  # It alone may set a handler.
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [(number, signal.signal(number, interrupt)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
