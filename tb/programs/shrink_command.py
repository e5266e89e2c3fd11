# SPDX-License-Identifier: Apache-2.0
"""Input of ``pto-dv shrink``: a program, or a failing run and the programs that it has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from scoreboards.repro import FOLDER
from scoreboards.repro_text import MACHINE
from tb.common.errors import PtoError
from tb.common.paths import BUILD_ROOT, relative
from tb.programs.files import SUFFIX
from tb.programs.options import ProgramOptions
from tb.programs.reference import Run
from tb.programs.shrink import NAME, Failing, failing, shrink
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.shrunk import Shrunk
from tb.record.signature import checks_of, title
from tb.run.console import Console
from tb.run.folder import RECORD, load_record
from tb.run.launch import NEW_PROCESS, Launcher
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tb.run.warm import WarmSimulator

FORKING = ("verilator", "icarus")
"""Simulators whose loaded process can be forked."""

LIMIT = 60.0
"""Seconds of a search unless another limit is given."""

NOTHING = "nothing to shrink"


def shrink_command(
    name: str,
    options: ProgramOptions,
    machine: Mapping[str, Any],
    out: Path | None = None,
    seconds: float = LIMIT,
) -> Shrunk:
    """Makes a failure small and prints how to repeat it.

    Args:
        name: A program, the folder of a run, or its record.
        options: Options of the program.
        machine: Settings of the runs of a program; a run has its own.
        out: The result; None for one next to the input.
        seconds: Limit of the search.

    Raises:
        PtoError: the input does not fail, or not repeatably; nothing has been written.
    """
    if not seconds > 0:
        raise PtoError(f"the limit is {seconds} s", where="--limit", legal="seconds above 0")
    if out is not None and out.suffix != SUFFIX:
        raise PtoError(f"{out} is not a name of a program", where="--out", legal=f"FILE{SUFFIX}")
    warm = WarmSimulator()
    try:
        path = Path(name)
        record = read_run(path) if path.is_dir() or path.suffix == ".json" else None
        sim = record.settings.sim if record else machine["sim"]
        launcher = Launcher(start=warm.start) if sim in FORKING else NEW_PROCESS
        run = partial(run_once, launcher=launcher)
        return shrink_input(path, record, options, machine, run, out, seconds)
    finally:
        warm.close()


def shrink_input(
    path: Path,
    record: RunRecord | None,
    options: ProgramOptions,
    machine: Mapping[str, Any],
    run: Run,
    out: Path | None,
    seconds: float,
) -> Shrunk:
    """Makes a program, or the failure of a run, small; see :func:`shrink_command`."""
    BUILD_ROOT.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="shrink-", dir=BUILD_ROOT) as made:
        folder = Path(made)
        if record is None:
            one = _program(path, options, machine, run, folder)
        else:
            machine = machine_of(record.settings)
            one = _of_run(path, record, machine, run, folder)
        home = path if path.is_dir() else path.parent
        return shrink(one, machine, run, folder, out or home / NAME, seconds)


def machine_of(settings: RunSettings) -> dict[str, Any]:
    """Returns the settings of a run that a replay of its ops needs."""
    names = (*MACHINE, "watchdog_clocks", "wall_limit")
    return {name: getattr(settings, name) for name in names}


def read_run(path: Path) -> RunRecord:
    """Returns the record of a run that has failed.

    Raises:
        PtoError: there is none, or the run has passed.
    """
    file = path / RECORD if path.is_dir() else path
    legal = f"a .pto program, the folder of a run with its {RECORD}, or a record"
    try:
        record = load_record(file)
    except OSError as error:
        raise PtoError(
            f"cannot read the record of a run: {error.strerror}", where=str(file), legal=legal
        ) from None
    except (ValidationError, ValueError):
        raise PtoError("this is not a record of a run", where=str(file), legal=legal) from None
    if record.passed:
        raise PtoError(
            f"the run has passed: {NOTHING}",
            where=str(file),
            legal="a run that has failed",
            remedy="look for a failure with many seeds: `make nightly`",
        )
    if record.status in ("error", "interrupted") and not record.details:
        what = (record.message.strip() or "without a message").splitlines()[0]
        raise PtoError(
            f"the run has no failure of an engine, its status is {record.status}: {what}",
            where=str(file),
            legal="a run that was built and simulated, and has failed",
            remedy=f"remove the cause, then repeat the run: {record.command}",
        )
    return record


def _program(
    path: Path, options: ProgramOptions, machine: Mapping[str, Any], run: Run, folder: Path
) -> Failing:
    """Returns a program that fails; raises PtoError if it passes."""
    one = failing(path, options, machine, run, folder / "run")
    if isinstance(one, str):
        raise PtoError(
            f"the program passes: {NOTHING}",
            where=str(path),
            legal="a program that fails",
            remedy="give the options of the run in which it fails: --dut, --profile, --sim",
        )
    return one


def _of_run(
    path: Path, record: RunRecord, machine: Mapping[str, Any], run: Run, folder: Path
) -> Failing:
    """Returns a program that repeats the first failure of a run; raises PtoError without one."""
    check, outcomes = checks_of(record)[0], []
    for program in _programs(path, record, run, folder):
        one = failing(program, ProgramOptions(), machine, run, folder / "run", check)
        if isinstance(one, Failing):
            return one
        outcomes.append(f"{relative(program)} {one}")
    raise PtoError(
        "no program repeats the failure of the run "
        f"({title(check)}): {'; '.join(outcomes) or 'none was written'}",
        where=str(path),
        legal="a failure that its op or its batch repeats by itself, on the sources of the run",
        remedy=f"look at the run itself: {record.command} WAVES=1",
    )


def _programs(path: Path, record: RunRecord, run: Run, folder: Path) -> Iterator[Path]:
    """Yields the programs of the failing ops of a run, those of its first failure first.

    A run without them is repeated.
    """
    top = path if path.is_dir() else path.parent
    number = record.details[0].transaction if record.details else None
    if not any((top / FOLDER).glob("*/*.pto")):
        top = folder / "repeated"
        if number is not None and not record.settings.programs:
            settings = record.settings.model_copy(update={"repro": str(number)})
            run(settings, planned_test(settings.test), console=Console(quiet=True), folder=top)
    folders = sorted((top / FOLDER).glob("*/"), key=lambda one: not _is_of(one, number))
    for one in folders:
        for name in ("failing.pto", "transaction.pto", "batch.pto"):
            if (one / name).exists():
                yield one / name


def _is_of(folder: Path, number: int | None) -> bool:
    return folder.name.startswith(f"{number}-")
