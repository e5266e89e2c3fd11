# SPDX-License-Identifier: Apache-2.0
"""Injects the bugs of bugs.toml into copies of the engines, and runs the bench on each."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tb.common.paths import BUILD_ROOT, ROOT
from tb.dut.manifest import REFERENCE_MANIFESTS, Manifest, load_manifest
from tb.isa.profile import SEED as SEED_PROFILE
from tb.isa.profile import parse_profile
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.build import build
from tb.run.console import Console
from tb.run.launch import Launcher
from tb.run.plan import BuildPlan
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.bugs.switched import SWITCH, plant_switched, switchable

BUGS = Path(__file__).with_name("bugs.toml")
REPORTED = Path(__file__).with_name("reported.toml")
"""Bugs that are there for what the bench reports of them; test_bench_fails.py runs them."""

ENGINES = "rtl_stubs"
TRANSACTIONS = 2000
BY_DEFAULT = ("illegal", "faults", "reset")
"""Tests in which a bug has to be noticed within their default number of transactions."""

SEED = 4711
"""Of every run here; an unusual number, since a run clears the folder named after its seed."""

WATCHDOG_CLOCKS = 20_000
WALL_LIMIT = 120.0
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@dataclass(frozen=True)
class Setting:
    """Build and stimulus of a run.

    Attributes:
        test: Test of ``tb/run/testlist.toml``.
        slots: Slots with an engine; empty for all.
        ops: Ops drawn from; empty for all that the engines take.
        profile: Canonical text of the profile.
    """

    test: str = "random"
    slots: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    profile: str = str(SEED_PROFILE)

    def __str__(self) -> str:
        """Returns the words of a row's setting, without those that are the default."""
        words = [self.test, "+".join(self.slots), ",".join(self.ops), self.profile]
        defaults = ("", "", "", str(SEED_PROFILE))
        while words[-1] == defaults[len(words) - 1]:
            words.pop()
        return " ".join(word.replace(" ", "") or "-" for word in words)


class Bug(BaseModel):
    """A change of one engine source.

    Attributes:
        name: Name, unique.
        file: Source, relative to the top of the project.
        find: Text that occurs in the source exactly once.
        replace: Its replacement.
        models: The mistake that it models, one line.
        test: Test of ``tb/run/testlist.toml`` that has to fail.
        slots: Slots with an engine; empty for all. A build of fewer is faster, and the
            run sends their ops only.
        ops: Ops that the run draws from; empty for all that the engines take. For a bug that
            the mix of all ops meets too rarely; a comment in the list has the reason.
        profile: Canonical text of the profile of build and run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    file: str
    find: str
    replace: str
    models: Annotated[str, Field(pattern=r"^.{1,100}$")]
    test: Literal[
        "random", "directed", "illegal", "errors", "faults", "corner", "reset", "speed"
    ] = "random"
    slots: tuple[Literal["mte1", "mte2", "mte3", "fix"], ...] = ()
    ops: tuple[str, ...] = ()
    profile: Annotated[str, AfterValidator(lambda text: str(parse_profile(text)))] = str(
        SEED_PROFILE
    )

    @property
    def setting(self) -> Setting:
        """The build and the stimulus."""
        return Setting(self.test, self.slots, self.ops, self.profile)


class StaleBugError(Exception):
    """A bug does not fit the sources any more."""


@dataclass(frozen=True)
class Outcome:
    """The result of the bench on one set of engines."""

    record: RunRecord
    seconds: float

    @property
    def transactions(self) -> int:
        """Transactions up to the failing one, or all of a run that passed.

        A failure without an op counts all transactions up to the end of its block; for a hang,
        the oldest op that did not retire counts.
        """
        named = re.search(r"\btransaction (\d+) on ", "\n".join(self.record.failures))
        if named and not self.check.startswith("stray"):
            return int(named.group(1)) + 1
        return self.record.transactions

    @property
    def check(self) -> str:
        """Short name of the check that failed first; empty when none did."""
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
        """True when the run failed because of the engine."""
        return self.record.status in ("fail", "hang") and bool(self.check)


_CHECKS = {
    "TOO SLOW": "speed",
    "LEAK": "leak",
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
    "MISMATCH: never wrote": "missing bytes",
    "MISMATCH: started a burst": "burst after an error",
    "MISMATCH: no op in flight": "error of no op",
    "MISMATCH: unit flag": "unit flags",
    "MISMATCH: cleared unit flags": "unit flags, clear",
    "MISMATCH: retired without clearing": "unit flags, clear",
}


def load_bugs(path: Path = BUGS) -> tuple[Bug, ...]:
    """Returns the bugs, in the order of the file.

    Raises:
        ValueError: a row lacks a part, or has one too many or a wrong one.
    """
    with path.open("rb") as file:
        groups = tomllib.load(file)
    return tuple(_bug(name, row) for rows in groups.values() for name, row in rows.items())


def _bug(name: str, row: list[str]) -> Bug:
    words = row[1].split() if len(row) == 5 else [""] * 5
    if len(words) > 4:
        raise ValueError(
            f"bug {name}: a row has the parts file, setting, models, find and replace; a setting "
            "has at most a test, slots, ops and a profile"
        )
    defaults = ("random", "", "", str(SEED_PROFILE))
    given = [
        default if word == "-" else word for word, default in zip(words, defaults, strict=False)
    ]
    test, slots, ops, profile = [*given, *defaults[len(words) :]]
    return Bug.model_validate(
        {
            "name": name,
            "file": f"{ENGINES}/{row[0]}",
            "models": row[2],
            "find": row[3],
            "replace": row[4],
            "test": test,
            "slots": tuple(slots.split("+")) if slots else (),
            "ops": tuple(ops.split(",")) if ops else (),
            "profile": profile,
        }
    )


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


def _copied(top: Path) -> Path:
    shutil.rmtree(top, ignore_errors=True)
    shutil.copytree(ROOT / ENGINES, top / ENGINES)
    return top


def _manifests(top: Path, slots: tuple[str, ...]) -> tuple[Manifest, ...]:
    """Returns the manifests of the engines of ``slots`` below ``top``, all if empty."""
    manifests = (load_manifest(top / path.relative_to(ROOT)) for path in REFERENCE_MANIFESTS)
    return tuple(manifest for manifest in manifests if not slots or manifest.slot in slots)


def _build_plan(top: Path, slots: tuple[str, ...], profile: str, name: str) -> BuildPlan:
    """Returns the build of engines below ``top``."""
    return BuildPlan(
        "verilator",
        _manifests(top, slots),
        profile=parse_profile(profile),
        variant="-".join([name, *slots]),
        fast_build=True,
    )


def _plan(bug: Bug | None, setting: Setting) -> BuildPlan:
    """Returns the build of the unchanged engines, or of those with ``bug`` alone."""
    top, name = ROOT, "bugs"
    if bug is not None:
        name = f"bugs-alone{WORKER}"
        top = _copied(BUILD_ROOT / "bugs" / f"engines-alone{WORKER}")
        plant(bug, top)
    return _build_plan(top, setting.slots, setting.profile, name)


@dataclass(frozen=True)
class Switched:
    """A build with many bugs, each switched by its number.

    Attributes:
        slots: Slots with an engine; empty for all.
        profile: Canonical text of the profile.
        bugs: Bugs in it; the first has number 1.
        token: Digest of the engines' sources and the bugs.
    """

    slots: tuple[str, ...]
    profile: str
    bugs: tuple[Bug, ...]
    token: str

    @property
    def name(self) -> str:
        """Name, unique among the switched builds."""
        words = ["switched", *self.slots]
        if self.profile != Setting.profile:
            words.append(parse_profile(self.profile).label)
        return "-".join(words)

    @property
    def top(self) -> Path:
        """Folder of its engines."""
        return BUILD_ROOT / "bugs" / f"engines-{self.name}"

    @property
    def plan(self) -> BuildPlan:
        """The plan of the build, once the engines are copied."""
        return _build_plan(self.top, self.slots, self.profile, "bugs-switched")

    def ready(self) -> None:
        """Builds, unless these bugs of these sources have been built."""
        (BUILD_ROOT / "bugs").mkdir(parents=True, exist_ok=True)
        with (BUILD_ROOT / "bugs" / f"bugs-{self.name}.lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if lock.read() == self.token:
                return
            changes = (
                (number, bug.file, bug.find, bug.replace) for number, bug in enumerate(self.bugs, 1)
            )
            plant_switched(_copied(self.top), changes)
            build(self.plan)
            lock.truncate(0)
            lock.write(self.token)

    def number(self, bug: Bug | None) -> int:
        """Returns the number that selects ``bug``; 0 is none."""
        return 0 if bug is None else 1 + self.bugs.index(bug)


def switched_builds(bugs: Iterable[Bug]) -> tuple[Switched, ...]:
    """Returns builds with all bugs that can be switched."""
    bugs = tuple(bugs)
    sources = (path for path in sorted((ROOT / ENGINES).rglob("*")) if path.is_file())
    token = sha256(repr([bugs, [(path, path.read_bytes()) for path in sources]]).encode())
    able = [bug for bug in bugs if switchable((ROOT / bug.file).read_text(), bug.find, bug.replace)]
    sets: dict[tuple[tuple[str, ...], str], list[Bug]] = {}
    for bug in able:
        sets.setdefault((bug.slots, bug.profile), []).append(bug)
    return tuple(
        Switched(slots, profile, tuple(members), token.hexdigest())
        for (slots, profile), members in sets.items()
    )


@cache
def shared_builds() -> dict[tuple[tuple[str, ...], str], Switched]:
    """Returns the builds of all bugs that can be switched, by their slots and profile."""
    bugs = (*load_bugs(), *load_bugs(REPORTED))
    return {(switched.slots, switched.profile): switched for switched in switched_builds(bugs)}


def transactions_of(setting: Setting) -> int:
    """Returns the transactions within which a bug has to be noticed."""
    return planned_test(setting.test).transactions if setting.test in BY_DEFAULT else TRANSACTIONS


def run_engines(
    bug: Bug | None,
    setting: Setting,
    *,
    wall_limit: float = WALL_LIMIT,
    mismatch_limit: int = 1,
) -> Outcome:
    """Runs a test on engines with ``bug`` until ``mismatch_limit`` failures.

    Args:
        bug: The bug; None for the engines as they are.
        setting: Test, slots, ops and profile.
        wall_limit: Seconds without progress after which the run is ended.
        mismatch_limit: Mismatches after which the run stops.
    """
    start = time.monotonic()
    planned = planned_test(setting.test)
    name = bug.name if bug else str(setting).replace(" ", "-")
    settings = RunSettings(
        test=setting.test,
        seed=SEED,
        transactions=transactions_of(setting),
        ops=setting.ops,
        profile=setting.profile,
        mismatch_limit=mismatch_limit,
        watchdog_clocks=WATCHDOG_CLOCKS,
        wall_limit=wall_limit,
        options=planned.options,
    )
    switched = shared_builds().get((setting.slots, setting.profile))
    if switched and bug and bug not in switched.bugs:
        switched = None
    launcher = Launcher()
    if switched:
        switched.ready()
        plusargs = (f"+{SWITCH}={switched.number(bug)}",)
        launcher = Launcher(plusargs)
    plan = switched.plan if switched else _plan(bug, setting)
    record = run_once(
        settings,
        planned,
        BUILD_ROOT / "bugs" / "records" / f"{name}.json",
        manifests=plan.manifests,
        variant=plan.variant,
        fast_build=plan.fast_build,
        console=Console(quiet=True),
        folder=BUILD_ROOT / "bugs" / f"run{WORKER}",
        launcher=launcher,
    )
    return Outcome(record, time.monotonic() - start)
