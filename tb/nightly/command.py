# SPDX-License-Identifier: Apache-2.0
"""The command ``nightly``; :mod:`tb.nightly.history` has those about earlier regression runs."""

from __future__ import annotations

import hashlib
import re
import secrets
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import FrameType

from tb.common.errors import PtoError
from tb.common.paths import ROOT, relative, resolved
from tb.common.text import counted
from tb.coverage.exclusions import load_exclusions
from tb.coverage.export.code_exclusions import load_code_exclusions
from tb.dut.manifest import Manifest, load_manifests
from tb.dut.widths import run_widths, without_default
from tb.nightly.history import prune
from tb.nightly.place import NIGHTLY, database_url
from tb.nightly.progress import RegressionProgress
from tb.nightly.publish import EXCLUSIONS, Publisher
from tb.regress.coordinator import HEARTBEAT_SECONDS, Coordinator, Limits
from tb.regress.plan.expand import expand, left_out
from tb.regress.plan.testplan import TESTPLAN, TestPlan, load_testplan
from tb.regress.queries import history, text
from tb.regress.queries.views import Figures, RegressionStatus, RegressionView
from tb.regress.results.store import Store
from tb.regress.workers.farm import open_workers
from tb.regress.workers.farm_file import Farm, load_farm
from tb.regress.workers.job import Job
from tb.regress.workers.pool import Workers
from tb.run.reads import digest_of, named_files

SOURCES = ("rtl_stubs", "tb", "sequences", "scoreboards")
"""Sources that decide results; after a change an unfinished regression run is not resumed."""

_NO_SOURCES = {"__pycache__", "report"}
"""Folders below them that decide nothing: how results are shown is free to change."""

RESERVE_SECONDS = 15.0
"""Seconds of a budget that are kept for merging and pages, whatever is run."""

GATE = 3
"""Exit code where all runs passed, and a gate of the regression does not hold."""

LEAST_SECONDS = 15.0
"""Least seconds of a budget for runs, in addition to the reserve."""


@dataclass(frozen=True)
class NightlyOptions:
    """Options of ``make nightly``; see its help."""

    regression: str = "nightly"
    seeds: int = 5
    jobs: int = 0
    budget: float = 0.0
    base_seed: int | None = None
    duts: tuple[str, ...] = ()
    profile: str = ""
    farm: Path | None = None
    db: str = ""
    fresh: bool = False
    keep: bool = False
    plan: Path = TESTPLAN
    folder: Path = NIGHTLY
    items: tuple[str, ...] = ()
    most_failed: int = 0
    retain: int = 0
    dry_run: bool = False

    def command(self, base_seed: int) -> str:
        """Returns the command line that repeats the regression run."""
        words = ["make", "nightly", f"REGRESSION={self.regression}", f"SEEDS={self.seeds}"]
        words.append(f"SEED={base_seed}")
        if self.duts:
            words.append(f"DUT={','.join(self.duts)}")
        if self.profile:
            words.append(f"PROFILE={self.profile}")
        if self.items:
            words.append(f"ITEMS={','.join(self.items)}")
        if resolved(self.plan) != TESTPLAN:
            words.append(f"PLAN={relative(self.plan)}")
        return shlex.join(words)


def seconds(budget: str) -> float:
    """Returns the seconds of ``1h30m``, ``30m``, ``90s`` or ``90``.

    Raises:
        PtoError: it is none of these, or nothing.
    """
    found = re.fullmatch(
        r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?|(?:)(?:)(?:)(\d+)", budget.strip(), re.ASCII
    )
    total = 0.0
    if found and any(found.groups()):
        hours, minutes, rest, alone = (int(part or 0) for part in found.groups())
        total = 3600.0 * hours + 60.0 * minutes + rest + alone
    if total < 1:
        raise PtoError(
            f"BUDGET is {budget!r}",
            where="BUDGET= or --budget",
            legal="hours, minutes and seconds such as 1h30m, 30m or 90s",
            remedy="give a time, such as BUDGET=30m for half an hour",
        )
    return total


# --- nightly --------------------------------------------------------------------------------------


def nightly_command(options: NightlyOptions) -> int:
    """Executes a regression and publishes it; returns 0 only when runs were done and all is well.

    An interrupted regression run is resumed if its plan and the sources are the same.

    Raises:
        PtoError: an option, the plan, the database or the workers cannot be used.
    """
    start = time.monotonic()
    if 0 < options.budget <= RESERVE_SECONDS + LEAST_SECONDS:
        raise PtoError(
            f"BUDGET is {options.budget:g} s",
            where="BUDGET= or --budget",
            legal=f"more than {RESERVE_SECONDS + LEAST_SECONDS:g} s",
            remedy=f"{RESERVE_SECONDS:g} s of it are kept for merging and pages",
        )
    farm = load_farm(options.farm) if options.farm else Farm()
    exclusions = load_exclusions(EXCLUSIONS), load_code_exclusions(EXCLUSIONS, ROOT)
    manifests = load_manifests(options.duts)
    # One name for each manifest: regression runs of the same engines are compared.
    options = replace(options, duts=tuple(dut_name(one) for one in manifests))
    plan = load_testplan(options.plan)
    plan.find(options.regression)
    if options.dry_run:
        return _list(plan, options)
    url = database_url(options.db, farm, options.folder)
    with Store.open(url) as store:
        manifest_hash = engine_digest(manifests) if manifests else ""
        before = source_digest()
        with _interruptible(), ExitStack() as stack:
            # Workers first: without them no regression run begins.
            with closing(open_workers(farm, options.jobs)) as workers:
                regression_run = _begin(store, plan, options, manifest_hash)
                stack.enter_context(_heartbeat(store, regression_run))
                status, figures, notes = _work(
                    store,
                    regression_run,
                    workers,
                    options,
                    manifest_hash=manifest_hash,
                    start=start,
                )
            changed = source_digest() != before
            if changed:
                notes.append("sources of the bench changed while it ran: results are of a mixture")
            print("merging coverage, writing pages", flush=True)
            folder = Path(history.regression_run(store, regression_run).folder)
            made = Publisher(store, regression_run, folder, *exclusions)
            made.conclude(status, figures, notes)
            view = made.publish(plan)
            if options.retain:
                prune(store, options.retain)
    passed = view.passed and not changed
    text.show(text.closing(view, relative(folder / "report/index.html"), passed=passed))
    if status == "interrupted":
        print("interrupted: the same command goes on with the runs that are missing")
        return 130
    return exit_code(view, changed=changed)


def exit_code(view: RegressionView, *, changed: bool = False) -> int:
    """Returns 0 if all is well, ``GATE`` if a gate alone does not hold, else 1."""
    if view.passed and not changed:
        return 0
    done = any(run.state != "planned" for run in view.runs)
    return GATE if done and not view.failing and not changed else 1


def dut_name(manifest: Manifest) -> str:
    """Returns the path of a manifest as regression runs and runs record it, for any folder."""
    place = resolved(Path(manifest.path))
    return relative(place) if Path.cwd() == ROOT else str(place)


def _begin(store: Store, plan: TestPlan, options: NightlyOptions, manifest_hash: str) -> str:
    """Returns the regression run to execute: an interrupted one, or a new one with its runs."""
    signature = hashlib.sha256(
        repr(
            [
                *(options.regression, options.seeds, options.base_seed, options.duts),
                *(options.profile, options.items),
                *(manifest_hash, options.plan.read_bytes(), source_digest()),
            ]
        ).encode()
    ).hexdigest()
    if not options.fresh:
        regression_run = store.unfinished(options.regression, signature)
        if regression_run and store.adopt(regression_run):
            left = len(store.jobs_left(regression_run))
            print(f"resumed  {regression_run}: {left} runs are left")
            return regression_run
    base_seed, jobs = _jobs(plan, options)
    regression_run = store.begin_regression(
        regression=options.regression,
        signature=signature,
        base_seed=base_seed,
        budget_seconds=options.budget,
        duts=options.duts,
        command=options.command(base_seed),
        folder_root=str(resolved(options.folder)),
        options={"plan": str(resolved(options.plan)), "items": options.items},
        claim=partial(_claim, resolved(options.folder)),
        commit=git_commit(),
    )
    store.plan_runs(regression_run, jobs, manifest_hash)
    builds = counted(len({job.config for job in jobs}), "build")
    print(f"started  {regression_run}: {len(jobs)} runs on {builds}, seed {base_seed}")
    _excluded(plan, options)
    return regression_run


def _jobs(plan: TestPlan, options: NightlyOptions) -> tuple[int, list[Job]]:
    """Returns the base seed and the runs, those of ``items`` alone.

    Raises:
        PtoError: the plan cannot be expanded, or an item names no run.
    """
    base_seed = secrets.randbits(31) if options.base_seed is None else options.base_seed
    jobs = expand(
        plan,
        options.regression,
        seeds=options.seeds,
        base_seed=base_seed,
        duts=options.duts,
        profile=options.profile,
    )
    for item in options.items:
        if not any(fnmatchcase(job.key, item) for job in jobs):
            raise PtoError(
                f"no run of regression {options.regression} is called {item!r}",
                where="ITEMS= or --items", legal=f"names such as {jobs[0].key}, with * and ?",
                remedy="list them with DRY_RUN=1 or --dry-run",
            )  # fmt: skip
    if options.items:
        jobs = [job for job in jobs if any(fnmatchcase(job.key, x) for x in options.items)]
    return base_seed, jobs


def _list(plan: TestPlan, options: NightlyOptions) -> int:
    """Prints the runs of a regression, each with its command; returns 0."""
    base_seed, jobs = _jobs(plan, options)
    width = max(len(job.key) for job in jobs)
    for job in jobs:
        print(f"{job.key:<{width}}  {job.settings.command()}")
    _excluded(plan, options)
    builds = counted(len({job.config for job in jobs}), "build")
    print(f"{counted(len(jobs), 'run')} on {builds}, seed {base_seed}; nothing was run")
    return 0


def _excluded(plan: TestPlan, options: NightlyOptions) -> None:
    """Prints widths other than the default, and the planned runs that the engines cannot do."""
    manifests = load_manifests(options.duts)
    for sentence in without_default(manifests, run_widths(manifests)):
        print(f"claimed  {sentence}")
    for sentence in left_out(plan, options.regression, duts=options.duts):
        print(f"left out {sentence}")


def _claim(root: Path, name: str) -> bool:
    """Makes the folder of a regression run; False if one of any database has it already."""
    try:
        (root / name).mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise PtoError(
            f"cannot make the folder of the regression run: {error.strerror}",
            where=str(root / name),
            remedy="make it writable, or free disk space",
        ) from None
    return True


def _work(
    store: Store,
    regression_run: str,
    workers: Workers,
    options: NightlyOptions,
    *,
    manifest_hash: str,
    start: float,
) -> tuple[RegressionStatus, Figures, list[str]]:
    """Lets workers do the runs; returns how that ended, and what is to be noted of it."""
    with RegressionProgress(options.budget) as progress:
        coordinator = Coordinator(
            store,
            regression_run,
            Path(history.regression_run(store, regression_run).folder),
            store.jobs_left(regression_run),
            workers,
            Limits(options.budget, start, RESERVE_SECONDS),
            progress=progress.show,
            sources=partial(_sources, options.duts),
            manifest_hash=manifest_hash,
            keep=options.keep,
            most_failed=options.most_failed,
        )
        status: RegressionStatus = "interrupted"
        try:
            status = coordinator.run()
        except KeyboardInterrupt:
            print("\ninterrupted: ending what runs", flush=True)
        figures = coordinator.figures()
    return status, figures, coordinator.tally.notes


@contextmanager
def _heartbeat(store: Store, regression_run: str) -> Iterator[None]:
    """Writes the heartbeat of the regression run every few seconds, from a thread of its own."""
    end = threading.Event()

    def beat() -> None:
        while not end.wait(HEARTBEAT_SECONDS):
            with suppress(PtoError):  # the next write reports it
                store.heartbeat(regression_run)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _sources(duts: Sequence[str]) -> str:
    return f"{source_digest()} {engine_digest(load_manifests(duts))}"


def source_digest() -> str:
    """Returns a digest of everything that decides what a run does, engines of users apart."""
    files: list[Path] = []
    for name in SOURCES:
        place = ROOT / name
        files += [place] if place.is_file() else [
            file
            for file in place.rglob("*")
            if file.is_file() and not _NO_SOURCES.intersection(file.relative_to(ROOT).parts)
        ]  # fmt: skip
    return digest_of(sorted(files))


def engine_digest(manifests: Sequence[Manifest]) -> str:
    """Returns a digest of manifests, the files that they name and what these include."""
    from tb.dut.sources import included_files  # its library is slow to import

    files = [Path(name) for one in manifests for name in (one.path, *one.filelists)]
    for one in manifests:
        words = (word for words in one.simulator_args.values() for word in words)
        files += named_files([one], words)
        files += included_files(one.sources, one.include_dirs, one.defines)
    return digest_of(sorted(set(files)))


def git_commit() -> str:
    """Returns the checked-out commit, ``+`` after it with changes; empty without git."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
        state = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=30,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return head.stdout.strip() + ("+" if state.stdout.strip() else "")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Makes SIGTERM and SIGINT act as Ctrl-C, even where a shell ignores them."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
