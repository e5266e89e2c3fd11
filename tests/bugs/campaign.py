# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of bugs.toml in copies of the engines, and runs the bench on each."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tb.console import Console
from tb.dut import REFERENCE_MANIFESTS, ROOT, Manifest, load_manifest
from tb.plan import planned_test
from tb.record import RunRecord, RunSettings
from tb.runner import run_once
from tb.simulator import BUILD_ROOT, BuildPlan, build

BUGS = Path(__file__).with_name("bugs.toml")
ENGINES = "rtl_stubs"
TRANSACTIONS = 2000
SEED = 4711
"""Of every run here; a seed that nobody types, since a run clears the folder named after it."""

WATCHDOG_CLOCKS = 20_000
WALL_LIMIT = 120.0


@dataclass(frozen=True)
class Setting:
    """What a run builds and sends.

    Attributes:
        test: Test of ``tests/plan.toml``.
        slots: Slots whose engines are built; empty for all.
        ops: Ops drawn from; empty for all that the engines take.
    """

    test: str = "random"
    slots: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.test, "+".join(self.slots), ",".join(self.ops)]).strip()


class Bug(BaseModel):
    """A change of one engine source.

    Attributes:
        name: Name, unique.
        file: Source, relative to the top of the project.
        find: Text that occurs in the source exactly once.
        replace: What stands there instead.
        models: The mistake it stands for, one line.
        test: Test of ``tests/plan.toml`` that has to notice.
        slots: Slots whose engines are built; empty for all. A build of fewer is faster, and the
            run sends their ops only.
        ops: Ops that the run draws from; empty for all that the engines take. For a bug that
            the mix of all ops meets too rarely; a comment in the list says why.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    file: str
    find: str
    replace: str
    models: Annotated[str, Field(pattern=r"^.{1,100}$")]
    test: Literal["random", "illegal", "errors", "corner"] = "random"
    slots: tuple[Literal["mte1", "mte2", "mte3", "fix"], ...] = ()
    ops: tuple[str, ...] = ()

    @property
    def setting(self) -> Setting:
        """What is built and sent."""
        return Setting(self.test, self.slots, self.ops)


class StaleBugError(Exception):
    """A bug does not fit the sources any more."""


@dataclass(frozen=True)
class Outcome:
    """What the bench said of one set of engines."""

    record: RunRecord
    seconds: float

    @property
    def transactions(self) -> int:
        """Transactions up to the one that gave the bug away, or that were sent in vain.

        A failure that names no op counts all transactions up to the end of its block; of a hang,
        the oldest op that did not retire counts.
        """
        named = re.search(r"\btransaction (\d+) on ", "\n".join(self.record.failures))
        if named and not self.check.startswith("stray"):
            return int(named.group(1)) + 1
        return self.record.transactions

    @property
    def check(self) -> str:
        """Which check failed first, in a word or two; empty when none did."""
        first = self.record.failures[0] if self.record.failures else ""
        for text, name in _CHECKS.items():
            if first.startswith(text):
                return name
        if first.startswith("protocol: "):
            message = first.removeprefix("protocol: ").splitlines()[0]
            return f"protocol, {message.partition(' (')[0]}"
        return ""

    @property
    def caught(self) -> bool:
        """True when the run failed, and for what the engine did."""
        return self.record.status in ("fail", "hang") and bool(self.check)


_CHECKS = {
    "HANG": "hang",
    "in flight at the end": "hang, wall time",
    "MISMATCH: wrong data": "data",
    "MISMATCH: write outside": "guard",
    "MISMATCH: stray write": "stray write",
    "MISMATCH: write to a page": "stray page",
    "MISMATCH: retired with status": "status",
    "MISMATCH: reported rule": "rule",
    "MISMATCH: reported address": "error address",
    "MISMATCH: done carries tag": "tag",
    "MISMATCH: done came": "early done",
    "MISMATCH: unit flag": "unit flags",
    "MISMATCH: cleared unit flags": "unit flags, clear",
    "MISMATCH: retired without clearing": "unit flags, clear",
}


def load_bugs(path: Path = BUGS) -> tuple[Bug, ...]:
    """Returns the bugs, in the order of the file."""
    with path.open("rb") as file:
        return tuple(Bug.model_validate(entry) for entry in tomllib.load(file)["bug"])


def plant(bug: Bug, top: Path = ROOT) -> None:
    """Changes the source of ``bug`` below ``top``.

    Raises:
        StaleBugError: the text to replace does not occur exactly once.
    """
    path = top / bug.file
    text = path.read_text() if path.is_file() else ""
    count = text.count(bug.find)
    if count != 1:
        raise StaleBugError(
            f"bug {bug.name}: the text of `find` occurs {count} times in {bug.file}; "
            "the source has changed, adapt tests/bugs/bugs.toml"
        )
    path.write_text(text.replace(bug.find, bug.replace))


def copied_manifests(
    bug: Bug | None, worker: int, slots: tuple[str, ...] = ()
) -> tuple[Manifest, ...]:
    """Returns manifests of a copy of the engines of ``slots``, all if empty, with ``bug``."""
    top = BUILD_ROOT / "bugs" / f"engines-{worker}"
    shutil.rmtree(top, ignore_errors=True)
    shutil.copytree(ROOT / ENGINES, top / ENGINES)
    if bug is not None:
        plant(bug, top)
    manifests = (load_manifest(top / path.relative_to(ROOT)) for path in REFERENCE_MANIFESTS)
    return tuple(manifest for manifest in manifests if not slots or manifest.slot in slots)


def run_engines(
    bug: Bug | None,
    worker: int,
    setting: Setting,
    *,
    wall_limit: float = WALL_LIMIT,
    mismatch_limit: int = 1,
) -> Outcome:
    """Builds the engines with ``bug`` and runs a test on them until ``mismatch_limit`` failures."""
    start = time.monotonic()
    planned = planned_test(setting.test)
    name = bug.name if bug else str(setting).replace(" ", "-")
    settings = RunSettings(
        test=setting.test,
        seed=SEED,
        transactions=TRANSACTIONS,
        ops=setting.ops,
        mismatch_limit=mismatch_limit,
        watchdog_clocks=WATCHDOG_CLOCKS,
        wall_limit=wall_limit,
        options=planned.options,
    )
    record = run_once(
        settings,
        planned,
        BUILD_ROOT / "bugs" / "records" / f"{name}.json",
        manifests=copied_manifests(bug, worker, setting.slots),
        variant=_variant(worker, setting.slots),
        fast_build=True,
        console=Console(quiet=True),
    )
    return Outcome(record, time.monotonic() - start)


def _variant(worker: int, slots: tuple[str, ...]) -> str:
    return "-".join(["bugs", str(worker), *slots])


def prepare(workers: int, sets: Iterable[tuple[str, ...]] = ()) -> None:
    """Builds the engines as they are, all and each set of slots; each worker has its builds.

    The simulator's runtime is compiled once: the other builds begin as copies of the first.
    """
    first = _plan(0, ())
    build(first)
    for slots in dict.fromkeys(((), *sets)):
        plan = _plan(0, slots)
        if slots and not plan.folder.exists():
            shutil.copytree(first.folder, plan.folder)
        build(plan)
        for worker in range(1, workers):
            other = _plan(worker, slots)
            shutil.rmtree(other.folder, ignore_errors=True)
            shutil.copytree(plan.folder, other.folder)


def _plan(worker: int, slots: tuple[str, ...]) -> BuildPlan:
    manifests = copied_manifests(None, worker, slots)
    return BuildPlan("verilator", manifests, variant=_variant(worker, slots), fast_build=True)


_worker = 0


def _become(numbers: multiprocessing.queues.Queue[int]) -> None:
    global _worker
    _worker = numbers.get()


def _run(bug: Bug | None, setting: Setting) -> Outcome:
    return run_engines(bug, _worker, setting)


@contextmanager
def campaign(
    jobs: Iterable[tuple[Bug | None, Setting]], workers: int = 0
) -> Iterator[dict[tuple[str, Setting], Future[Outcome]]]:
    """Runs pairs of a bug (None: the engines as they are) and a setting, some at a time.

    Yields:
        What will come of each, by name of the bug (empty for None) and setting. Jobs that have
        not begun when the ``with`` body ends are dropped.
    """
    jobs = list(jobs)
    workers = workers or min(4, os.cpu_count() or 1)
    prepare(workers, (setting.slots for _, setting in jobs))
    context = multiprocessing.get_context("spawn")
    numbers = context.Queue()
    for worker in range(workers):
        numbers.put(worker)
    with ProcessPoolExecutor(workers, context, _become, (numbers,)) as pool:
        futures = {
            (bug.name if bug else "", setting): pool.submit(_run, bug, setting)
            for bug, setting in jobs
        }
        try:
            yield futures
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
