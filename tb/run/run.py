# SPDX-License-Identifier: Apache-2.0
"""One run from settings to record: build, simulate, judge, print."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

from cocotb_tools.check_results import get_results

from tb.common.errors import PtoError
from tb.common.files import write_json
from tb.common.paths import BUILD_ROOT, RESULT_ENV, ROOT, SETTINGS_ENV
from tb.coverage.export.code_files import fold
from tb.coverage.export.exchange import from_json
from tb.coverage.table import table
from tb.dut.limits import probe, user_limits, without_legacy
from tb.dut.manifest import Manifest, exclusions, load_manifests, reference_manifests
from tb.dut.selection import sendable
from tb.dut.user_code import USER_TEST_ENV
from tb.env.context import SimResult, SimSettings
from tb.harness.hang_report import in_flight_failures
from tb.harness.mailbox import MAILBOX_ENV, MailboxReader
from tb.harness.protocol import protocol_failure
from tb.record.failure import Failure
from tb.record.record import RunRecord, Times
from tb.record.settings import RunSettings
from tb.run.build import CODE_COVERAGE, RESULTS_XML, Build, BuildPlan, Simulation, build, simulate
from tb.run.console import Console
from tb.run.plan import PlannedTest

RUNS_ENV = "PTO_RUNS"
"""Environment variable with the name of the folder of runs below ``sim_build``. Runs of one name
clear each other's folder: whoever starts some at a time gives each its own."""

MAILBOX = "mailbox"
"""File of the mailbox, in the run's folder."""

CODE_COUNTS = "coverage.dat.gz"
"""Code coverage of a run, in the run's folder; tb/coverage/export/code_files.py reads it."""

COVERAGE_TABLE = "coverage.txt"
"""Functional coverage of a run as a table with every hole, in the run's folder."""


class RunFiles(Protocol):
    """Files that a run needs in its folder, and what becomes of those that it leaves there."""

    def stage(self, folder: Path) -> None:
        """Writes what the simulation reads; the folder is new and empty."""

    def collect(self, record: RunRecord, folder: Path) -> None:
        """Takes what the simulation left; the record has its verdict, and may be added to."""


def run_folder(settings: RunSettings) -> Path:
    """Returns the folder of a run's log, record, coverage and waves."""
    name = f"{settings.sim}-{settings.test}-{settings.seed}"
    if settings.programs:
        name += f"-{Path(settings.programs[0]).stem}"
        words = [str(Path(path).resolve()) for path in settings.programs]
        words += settings.program_options
        name += f"-{hashlib.sha256(repr(words).encode()).hexdigest()[:6]}"
    if settings.gm != "hdl":
        name += f"-{settings.gm}"
    for path in settings.duts:
        place = Path(path).resolve()
        name += f"-{place.name if place.is_dir() else place.parent.name}"
    return BUILD_ROOT / os.environ.get(RUNS_ENV, "runs") / re.sub(r"[^\w.-]+", "_", name)


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
    plusargs: Sequence[str] = (),
    inputs: str = "",
    files: RunFiles | None = None,
) -> RunRecord:
    """Runs one test and returns its record, which is also written as JSON.

    Args:
        settings: What to do.
        planned: The test's entry in the plan.
        json_path: Where the record goes; None for the run's folder.
        manifests: Engines; None for those that the settings name, or the reference engines.
        variant: Suffix of the build folder, for engines that differ in their sources.
        fast_build: Prefer a short build to a fast simulation.
        console: Where progress goes; None for standard output.
        folder: Where the run lives; None for a place named by the settings and the variant.
        plusargs: More arguments of the simulator.
        inputs: Digest of the build that the run must find; ports are not looked at again then.
        files: What the run needs in its folder; None for nothing.

    Raises:
        PtoError: the run could not start. A record saying so is written first when a place for
            it can be found.
    """
    console = console or Console()
    record = RunRecord(settings=settings, command=settings.command())
    folder = folder or (run_folder(settings) / variant if variant else run_folder(settings))
    target = json_path or folder / "record.json"
    start = time.monotonic()
    with _sigint_raises():
        try:
            # A record of an earlier run must not be taken for this one's.
            target.unlink(missing_ok=True)
            plan = build_plan(settings, planned, manifests, variant, fast_build=fast_build)
            _execute(record, planned, plan, folder, plusargs, inputs, console, files)
            if files is not None:
                files.collect(record, folder)
        except KeyboardInterrupt:
            record.status = "interrupted"
            record.message = "interrupted from the keyboard"
            _note_progress(record, folder)
        except PtoError as error:
            record.status = "error"
            record.message = str(error)
            record.times.total = time.monotonic() - start
            write_json(target, record)
            raise
        except OSError as error:
            raise PtoError(
                f"cannot use the run's folder: {error.strerror}",
                where=str(error.filename or folder),
                remedy="make it writable, or free disk space",
            ) from None
    record.times.total = time.monotonic() - start
    write_json(target, record)
    console.summary(record, target, folder)
    return record


def build_plan(
    settings: RunSettings,
    planned: PlannedTest,
    manifests: tuple[Manifest, ...] | None = None,
    variant: str = "",
    *,
    fast_build: bool = False,
) -> BuildPlan:
    """Returns what a run needs to have built; arguments as of :func:`run_once`.

    Raises:
        PtoError: a manifest cannot be used.
    """
    if manifests is None:
        manifests = load_manifests(settings.duts) or reference_manifests()
        if settings.duts:
            variant = _variant(manifests)
    return BuildPlan(
        settings.sim,
        manifests,
        settings.gm_width,
        settings.local_width,
        settings.tag_width,
        settings.outstanding,
        waves=settings.waves,
        variant=variant,
        fast_build=fast_build,
        axi_pins=planned.axi_pins or settings.gm == "cocotbext",
        code_coverage=settings.code_coverage,
    )


def _variant(manifests: tuple[Manifest, ...]) -> str:
    """Returns a suffix for the build folder of these engines: names, and a hash of the places."""
    names = "-".join(re.sub(r"\W+", "_", manifest.title) for manifest in manifests)
    places = "\n".join(str(Path(manifest.path).resolve()) for manifest in manifests)
    return f"{names}-{hashlib.sha256(places.encode()).hexdigest()[:6]}"


def check_ports(plan: BuildPlan, console: Console) -> None:
    """Holds the ports of a user's engines against the contract and prints the warnings.

    Raises:
        PtoError: an engine lacks a width, or does not keep the contract.
    """
    from tb.dut.ports import Widths, require_ports  # its library is not for every run to load

    for manifest in plan.manifests:
        manifest.check_run(plan.gm_width, plan.local_width, plan.tag_width)
    widths = Widths(plan.gm_width, plan.local_width, plan.tag_width)
    for finding in require_ports(plan.manifests, widths):
        console.say(str(finding))


def _execute(
    record: RunRecord,
    planned: PlannedTest,
    plan: BuildPlan,
    folder: Path,
    plusargs: Sequence[str],
    inputs: str,
    console: Console,
    files: RunFiles | None = None,
) -> None:
    """Builds and simulates, filling ``record`` as far as it gets."""
    settings = record.settings
    record.simulator = plan.sim
    capabilities = {item.slot: item.capabilities for item in plan.manifests}
    ops = sendable(settings.ops, plan.ops, without_legacy(capabilities))
    limits = user_limits(settings, capabilities)
    if not planned.fixed_length:
        probe(limits, settings.seed, ops, settings.gm_width // 8)
    if settings.duts:
        record.left_out = exclusions(plan.manifests, settings.outstanding)
        if not inputs:
            check_ports(plan, console)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if files is not None:
        files.stage(folder)
    with console.building(plan):
        done = build(plan, inputs=inputs)
    record.simulator_version = done.version
    record.times.build = done.seconds
    result_path = folder / "result.json"
    config = SimSettings(
        run=settings.model_copy(
            update={"ops": ops, "constraints": limits.user.path if limits.user else ""}
        ),
        command=record.command,
        slots=plan.slots,
        dut_ops=plan.ops,
        d_rules=plan.d_rules,
        capabilities=capabilities,
        library=str(done.library or ""),
        coverage_file=str(folder / "coverage.json"),
    )
    settings_path = folder / "settings.json"
    write_json(settings_path, config)
    simulation = _simulate(
        done, planned, settings, folder, settings_path, result_path, plusargs, console
    )
    _judge(record, simulation, result_path, folder)
    coverage_path = Path(config.coverage_file)
    if coverage_path.exists():
        coverage = from_json(json.loads(coverage_path.read_text()))
        (folder / COVERAGE_TABLE).write_text(table(coverage, holes=1000) + "\n")
        if not settings.programs:  # A few chosen ops have holes everywhere.
            console.coverage(coverage, folder / COVERAGE_TABLE)
    if plan.code_coverage:
        _fold_code_coverage(folder, console)


def _fold_code_coverage(folder: Path, console: Console) -> None:
    """Makes the counts of code coverage small and prints them; a run passes without them, too."""
    if not (folder / CODE_COVERAGE).exists():
        console.say("\ncode coverage: none, the simulator was ended before it wrote its counts")
        return
    try:
        counts = fold(folder / CODE_COVERAGE, folder / CODE_COUNTS, ROOT)
    except PtoError as error:
        console.say(f"\ncode coverage: none, {error}")
        return
    console.code_coverage(counts, folder / CODE_COUNTS)


def _simulate(
    done: Build,
    planned: PlannedTest,
    settings: RunSettings,
    folder: Path,
    settings_path: Path,
    result_path: Path,
    plusargs: Sequence[str],
    console: Console,
) -> Simulation:
    reader = MailboxReader.create(folder / MAILBOX)
    expected = 0 if planned.fixed_length else settings.transactions
    with console.progress(expected) as progress:
        watch = _ProgressWatch(reader, settings.wall_limit, settings.time_limit, progress)
        return simulate(
            done,
            module=planned.module,
            class_name=planned.class_name,
            seed=settings.seed,
            run_dir=folder,
            env={
                SETTINGS_ENV: str(settings_path),
                RESULT_ENV: str(result_path),
                MAILBOX_ENV: str(folder / MAILBOX),
                USER_TEST_ENV: planned.file,
            },
            python_path=(planned.folder,) if planned.folder else (),
            poll=watch.poll,
            stalled=watch.stalled,
            plusargs=plusargs,
            waves_window=(settings.waves_from, settings.waves_to),
        )


class _ProgressWatch:
    """Follows a run through its mailbox: progress for people, stall for the wall limit."""

    def __init__(
        self,
        reader: MailboxReader,
        limit: float,
        time_limit: float,
        progress: Callable[[int, int, int], None],
    ) -> None:
        self._reader = reader
        self._limit = limit
        self._end = time.monotonic() + time_limit if time_limit else float("inf")
        self._progress = progress
        self._seen: tuple[int, ...] = ()
        self._moved = time.monotonic()

    def poll(self) -> None:
        """Looks at the counters and reports them."""
        now = self._reader.progress()
        marks = (now.retired, now.checked, now.heartbeat, now.submitted)
        if marks != self._seen:
            self._seen = marks
            self._moved = time.monotonic()
        self._progress(now.checked, now.mismatches, now.cycles)

    def stalled(self) -> bool:
        """True when nothing has moved for the wall limit, or when the run's time is up."""
        now = time.monotonic()
        return now - self._moved > self._limit or now > self._end


def _judge(record: RunRecord, simulation: Simulation, result_path: Path, folder: Path) -> None:
    """Fills the record from the simulation's result, or from its lack of one."""
    log = simulation.log
    if not result_path.exists() or simulation.stalled:
        _judge_without_result(record, simulation, folder)
        return
    result = SimResult.model_validate_json(result_path.read_text())
    record.status = result.status
    record.message = result.message
    record.transactions = result.transactions
    record.ops = result.ops
    record.statuses = result.statuses
    record.bytes_checked = result.bytes_checked
    record.full_compares = result.full_compares
    record.mismatches = result.mismatches
    record.protocol_errors = result.protocol_errors
    record.failures = result.failures
    record.details = result.details
    record.clocks = result.clocks
    record.left_out += result.left_out
    record.injected = result.injected
    record.exercised = result.exercised
    record.coverage = result.coverage
    record.times = Times(
        build=record.times.build,
        simulator=result.simulator_seconds,
        python=sum(result.python_split.values()),
        python_split=result.python_split,
    )
    if record.status == "pass" and _raised(folder):
        record.status = "error"
        record.message = f"the test raised an exception after its result; see {log}"
    if record.status == "pass" and simulation.exit_code:
        record.status = "crash"
        record.message = (
            f"the simulator ended with exit code {simulation.exit_code} after a good result; "
            f"see {log}"
        )


def _raised(folder: Path) -> bool:
    """Tells whether a phase of the test raised behind the one that wrote the result."""
    results = folder / RESULTS_XML
    return results.exists() and get_results(results)[1] > 0


def _judge_without_result(record: RunRecord, simulation: Simulation, folder: Path) -> None:
    """Fills the record of a simulation that was ended or crashed, from its mailbox."""
    tail = "\n".join(simulation.log.read_text(errors="replace").splitlines()[-12:])
    if simulation.stalled:
        record.status = "hang"
        limits = record.settings
        how = "ended by wall time"
        record.message = (
            f"no end after the {limits.time_limit:g} s that the run may take: simulator ended"
            if limits.time_limit and simulation.seconds > limits.time_limit - 1
            else f"no progress for {limits.wall_limit:g} s of wall time: simulator ended"
        )
    else:
        record.status = "crash"
        code = simulation.exit_code
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        record.message = f"the simulator ended without a result ({how}); last lines:\n{tail}"
    _note_progress(record, folder)
    for failure in in_flight_failures(folder / MAILBOX, record.status, how):
        _note_failure(record, failure)


def _note_failure(record: RunRecord, failure: Failure) -> None:
    record.failures.append(failure.text)
    record.details.append(failure)


def _note_progress(record: RunRecord, folder: Path) -> None:
    """Takes over how far a run came that could not say so itself."""
    if not (folder / MAILBOX).exists():
        return
    reader = MailboxReader.open(folder / MAILBOX)
    now = reader.progress()
    record.transactions = now.checked
    record.mismatches = now.mismatches
    record.protocol_errors = now.errors
    record.clocks = now.cycles
    for text in reader.error_messages():
        _note_failure(record, protocol_failure(text, f"protocol: {text}"))


@contextmanager
def _sigint_raises() -> Iterator[None]:
    """Makes Ctrl-C a KeyboardInterrupt even where a shell started us with it ignored."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # Not the main thread: the handler is somebody else's.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def load_record(path: Path) -> RunRecord:
    """Reads a record that an earlier run wrote."""
    return RunRecord.model_validate(json.loads(path.read_text()))
