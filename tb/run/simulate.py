# SPDX-License-Identifier: Apache-2.0
"""Third stage of a run: one simulation of a build, watched until its process ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tb.common.environment import foreign
from tb.common.paths import RESULT_ENV, SETTINGS_ENV, relative
from tb.dut.user_code import USER_TEST_ENV
from tb.harness.mailbox_reader import MAILBOX_ENV, MailboxReader
from tb.record.settings import RunSettings
from tb.run.build import Build
from tb.run.exchange import SimSettings
from tb.run.folder import CODE_COVERAGE, COVERAGE, LOG, MAILBOX, RESULT, RESULTS_XML, SETTINGS
from tb.run.launch import (
    NEW_PROCESS,
    Launcher,
    Simulation,
    Watch,
    environment,
    library_path,
    new_runner,
)
from tb.run.messages import CLOCK_TICKS, MessageReader
from tb.run.plan import RunPlan
from tb.run.recipes import TOP
from tb.setup import tools


def simulate_run(
    plan: RunPlan,
    built: Build,
    progress: Callable[[int, int, int], None],
    launcher: Launcher = NEW_PROCESS,
) -> Simulation:
    """Simulates a planned run and returns how the process ended.

    Args:
        plan: The run; its folder exists and is empty but for the inputs of the test.
        built: Its build.
        progress: Called with transactions checked, mismatches and clocks.
        launcher: How the simulator is started.
    """
    folder, settings, test = plan.folder, plan.settings, plan.test
    inputs = SimSettings(
        run=settings.model_copy(update={"ops": plan.ops, "constraints": plan.constraints}),
        command=settings.command(),
        slots=plan.build.slots,
        dut_ops=plan.build.ops,
        d_rules=plan.build.d_rules,
        capabilities=plan.capabilities,
        library=str(built.library or ""),
        coverage_file=str(folder / COVERAGE),
    )
    (folder / SETTINGS).write_text(inputs.model_dump_json(indent=2) + "\n")
    reader = MailboxReader.create(folder / MAILBOX)
    messages = MessageReader(
        plan.build.sim,
        folder / LOG,
        [relative(Path(name)) for one in plan.build.manifests for name in one.sources],
        [text for one in plan.build.manifests for text in one.expected_messages],
    )
    watch = _ProgressWatch(reader, settings, progress, messages)
    simulation = simulate(
        built,
        module=test.module,
        class_name=test.class_name,
        seed=settings.seed,
        run_dir=folder,
        env={
            SETTINGS_ENV: str(folder / SETTINGS),
            RESULT_ENV: str(folder / RESULT),
            MAILBOX_ENV: str(folder / MAILBOX),
            USER_TEST_ENV: test.file,
        },
        python_path=(test.folder,) if test.folder else (),
        watch=Watch(folder / LOG, launcher, watch.poll, watch.stalled, reader.request_stop),
        waves_window=(settings.waves_from, settings.waves_to),
    )
    messages.ticks = reader.clock_ticks or CLOCK_TICKS
    messages.read(ended=True)
    simulation.messages = messages.messages
    return simulation


class _ProgressWatch:
    """Follows a run: progress for the console, stalls for the wall limit, errors of the design."""

    def __init__(
        self,
        reader: MailboxReader,
        settings: RunSettings,
        progress: Callable[[int, int, int], None],
        messages: MessageReader,
    ) -> None:
        self._reader = reader
        self._limit = settings.wall_limit
        self._most_errors = settings.mismatch_limit
        self._messages = messages
        limit = settings.time_limit
        self._end = time.monotonic() + limit if limit else float("inf")
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
        self._messages.ticks = self._reader.clock_ticks or CLOCK_TICKS
        self._messages.read()
        if self._messages.stopped or self._messages.failed >= self._most_errors:
            self._reader.request_stop()

    def stalled(self) -> bool:
        """True when nothing has moved for the wall limit, or when the run's time is up."""
        now = time.monotonic()
        return now - self._moved > self._limit or now > self._end


@contextmanager
def _searching(folders: Sequence[str]) -> Iterator[None]:
    """Puts folders before sys.path, which the runner passes on as PYTHONPATH."""
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before


def _assertions(module: str) -> dict[str, str]:
    """Returns the variable that has cocotb rewrite assertions in the test's own file alone.

    By default it does so in every Python file imported: more than two seconds of each run. Tests of
    this project fail by the counts of the run and have none to rewrite.
    """
    name = "COCOTB_REWRITE_ASSERTION_FILES"
    return {name: "" if module.startswith("tb.") else f"{module.replace('.', '/')}.py"}


def simulate(
    built: Build,
    *,
    module: str,
    class_name: str,
    seed: int,
    run_dir: Path,
    env: Mapping[str, str],
    watch: Watch | None = None,
    python_path: Sequence[str] = (),
    waves_window: tuple[int, int] = (0, 0),
) -> Simulation:
    """Runs one pyuvm test on a build and returns how the process ended.

    Args:
        built: Result of :func:`build`.
        module: Python module of the test.
        class_name: pyuvm test class in it.
        seed: Seed of Python's ``random`` in the simulation.
        run_dir: Where log, results and waves go.
        env: More environment variables.
        watch: How the simulator is started and followed; None for a new process that is not.
        python_path: Folders that its Python searches for modules first.
        waves_window: Clocks from and to which waves are recorded; a second one of 0 is the end.
            Verilator and Icarus keep to it.
    """
    plan = built.plan
    runner = new_runner(plan.sim)
    watch = watch or Watch(run_dir / LOG)
    runner.watch = watch
    test_args = list(built.run_args)
    extra = list(watch.launcher.plusargs)
    if plan.waves:
        name = "waves.fst" if plan.sim == "icarus" or tools.fst_headers().ok else "waves.vcd"
        if plan.sim == "verilator":
            test_args += ["--trace-file", str(run_dir / name)]
        elif plan.sim == "icarus":
            extra.append(f"+dumpfile_path={run_dir / name}")
        first, last = waves_window
        extra += [f"+pto_waves_from={first}"] if first else []
        extra += [f"+pto_waves_to={last}"] if last else []
    if plan.code_coverage:
        test_args.append("--coverage-per-instance")
        extra.append(f"+verilator+coverage+file+{run_dir / CODE_COVERAGE}")
    cleared = environment({}, drop=("WAVES", "GUI", "PYTEST_CURRENT_TEST", *foreign()))
    with cleared, _searching(python_path):
        runner.test(
            test_module=module,
            hdl_toplevel=TOP,
            hdl_toplevel_lang="verilog",
            testcase=class_name,
            seed=seed,
            test_args=test_args,
            plusargs=extra,
            extra_env={
                **_assertions(module),
                **library_path(),
                **env,
                "COCOTB_ANSI_OUTPUT": "0",
            },
            waves=plan.waves,
            build_dir=built.folder,
            test_dir=run_dir,
            results_xml=str(run_dir / RESULTS_XML),
        )
    assert watch.result is not None
    return watch.result
