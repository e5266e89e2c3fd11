# SPDX-License-Identifier: Apache-2.0
"""How a user's engines differ from the reference engines in a program, and runs of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tb.common.errors import PtoError
from tb.harness.port_events import EVENTS_ENV, PortEvent, first_differences, read_events
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.record.record import RunRecord
from tb.record.signature import checks_of, title
from tb.run.console import Console
from tb.run.launch import environment

Run = Callable[..., RunRecord]
"""Runs a test: :func:`tb.run.run.run_once`, perhaps with some of its arguments."""


class BuildConsole(Console):
    """Shows the build of a run, and nothing else."""

    def building(self, plan: Any) -> Any:
        """Shows a build."""
        return Console().building(plan)


def replayed(made: Replay, run: Run, folder: Path, console: Console | None = None) -> RunRecord:
    """Returns the record of a replay.

    Raises:
        KeyboardInterrupt: it was interrupted.
    """
    console = console or Console(quiet=True)
    record = run(made.settings, made.planned, files=made.files, console=console, folder=folder)
    if record.status == "interrupted":
        raise KeyboardInterrupt
    return record


def differences(program: Path, machine: Mapping[str, Any], run: Run, folder: Path) -> list[str]:
    """Returns the first events at ports of a user's engines that differ, as lines.

    Args:
        program: The program.
        machine: Settings of the run; nothing is returned without engines of a user.
        run: Runs a test.
        folder: Place of its runs.
    """
    if not machine.get("duts"):
        return []
    try:
        record, reference = with_events(program, {**machine, "duts": ()}, run, folder)
    except PtoError as error:
        return [f"unknown: the reference engines cannot run it: {error.what}"]
    if not record.passed:
        return [f"unknown: the reference engines fail, too: {title(checks_of(record)[0])}"]
    _, dut = with_events(program, machine, run, folder)
    return first_differences(reference, dut) or [
        "at no event: the engines access, write and report what the reference engines do"
    ]


def with_events(
    program: Path, machine: Mapping[str, Any], run: Run, folder: Path
) -> tuple[RunRecord, list[PortEvent]]:
    """Returns the record of a program and the events at the ports of its engines."""
    made, events = Replay.make([str(program)], ProgramOptions(), machine), folder / "events"
    with environment({EVENTS_ENV: str(events.resolve())}):
        console = None if machine.get("duts") else BuildConsole(quiet=True)
        record = replayed(made, run, folder / "run", console)
    return record, read_events(events)
