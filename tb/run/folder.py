# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: its place, and the names of the files in it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tb.common.files import regular
from tb.common.paths import BUILD_ROOT, resolved
from tb.record.record import RunRecord
from tb.record.settings import DEFAULT_PROFILE, RunSettings

RUNS_ENV = "PTO_RUNS"
"""Environment variable with the name of the folder of runs below ``sim_build``. A run
clears the folder of an earlier one of the same name, and waits for one that is active."""

LOCK = ".lock"
"""File that the process of an active run has locked."""

RECORD = "record.json"
SETTINGS = "settings.json"
RESULT = "result.json"
COVERAGE = "coverage.json"

MAILBOX = "mailbox"
"""The mailbox, shared with the simulation."""

CODE_COVERAGE = "coverage.dat"
"""Counts of code coverage as Verilator writes them; tb/coverage/export/code.py reads them."""

CODE_COUNTS = "coverage.dat.gz"
"""The same, folded; tb/coverage/export/code_files.py reads them."""

WAVES = ("waves.fst", "waves.vcd")
"""Names of the waves; which one depends on the simulator."""

_FST_HEADER = (0).to_bytes(1) + (329).to_bytes(8)
"""Type and length of the first block of a file that was closed."""


def readable_waves(path: Path) -> bool:
    """Returns whether waves can be opened: FST has its header only when it was closed."""
    with path.open("rb") as file:
        return path.suffix != ".fst" or file.read(len(_FST_HEADER)) == _FST_HEADER


COVERAGE_TABLE = "coverage.txt"
"""Functional coverage as a table with every hole."""

RESULTS_XML = "results.xml"
LOG = "simulator.log"
"""Cocotb's own verdict."""


def run_folder(settings: RunSettings) -> Path:
    """Returns the folder of a run's log, record, coverage and waves."""
    name = f"{settings.sim}-{settings.test}-{settings.seed}"
    if settings.programs:
        name += f"-{Path(settings.programs[0]).stem}"
        words = [str(resolved(Path(path))) for path in settings.programs]
        words += settings.program_options
        name += f"-{hashlib.sha256(repr(words).encode()).hexdigest()[:6]}"
    if settings.gm != "hdl":
        name += f"-{settings.gm}"
    if settings.profile not in ("", DEFAULT_PROFILE):
        name += f"-{settings.profile}"
    for path in settings.duts:
        place = resolved(Path(path))
        name += f"-{place.name if place.is_dir() else place.parent.name}"
    return BUILD_ROOT / os.environ.get(RUNS_ENV, "runs") / re.sub(r"[^\w.-]+", "_", name)


@contextmanager
def claimed(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Makes the folder of a run, for one process at a time: an equal run waits for the first.

    Args:
        folder: The folder.
        waiting: Called before it waits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # A lock of the process, not of the file: simulators that are forked do not keep it.
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            waiting()
            fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def empty(folder: Path) -> None:
    """Removes what an earlier run left in a folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            path.unlink()


def load_record(path: Path) -> RunRecord:
    """Reads the record of an earlier run."""
    return RunRecord.model_validate(json.loads(regular(path).read_text()))
