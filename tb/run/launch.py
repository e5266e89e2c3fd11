# SPDX-License-Identifier: Apache-2.0
"""cocotb's runners, extended so that a simulation can be monitored and ended.

Verilator does not keep every signal public, which would cost more than half the speed. Its
generated sources keep their times if their text is the same.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO

from cocotb_tools import config as cocotb_config
from cocotb_tools import runner as cocotb_runner

from tb.common.errors import PtoError, ToolError
from tb.common.paths import HDL, ROOT, relative
from tb.common.processes import end_with_parent
from tb.record.message import DesignMessage
from tb.run.products import builds_folder

RECIPE = ".recipe"
POLL_SECONDS = 0.05
KILL_GRACE_SECONDS = 5.0


class BuildError(PtoError):
    """The HDL or the C memory did not compile."""

    exit_code = 2


ENTRY_POINTS = (
    "cocotb_tools._coverage:start_cocotb_library_coverage",
    "cocotb.logging:_configure",
    "cocotb._init:init_package_from_simulation",
    "cocotb.regression:_run_regression",
)
"""Cocotb's own of a simulation, in order (``pygpi.entry``)."""


def library_path() -> dict[str, str]:
    """Returns the variable by which a program of Verilator finds cocotb's libraries."""
    name = "LD_LIBRARY_PATH"
    folders = (str(cocotb_config.libs_dir), os.environ.get(name, ""))
    return {name: os.pathsep.join(filter(None, folders))}


@contextmanager
def environment(values: Mapping[str, str], drop: Sequence[str] = ()) -> Iterator[None]:
    """Sets and drops environment variables for the ``with`` body; the runner reads os.environ."""
    before = {name: os.environ.get(name) for name in (*values, *drop)}
    os.environ.update(values)
    for name in drop:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass
class Simulation:
    """How a simulation process ended.

    Attributes:
        exit_code: Of the process; negative for a signal.
        seconds: Wall seconds from start to end.
        log: File with its output.
        stalled: It was ended because nothing moved for the wall limit.
        messages: Messages of the design in its output.
    """

    exit_code: int
    seconds: float
    log: Path
    stalled: bool = False
    messages: list[DesignMessage] = field(default_factory=list)


class Process(Protocol):
    """A simulator process, with the methods of :class:`subprocess.Popen` that are used here.

    ``pid`` is also its process group.
    """

    pid: int
    returncode: Any

    def wait(self, timeout: float | None = None) -> int:
        """Returns the exit code; raises :class:`subprocess.TimeoutExpired`."""

    def poll(self) -> int | None:
        """Returns the exit code of a process that has ended."""


def start_process(
    words: Sequence[str], folder: Path, env: Mapping[str, str], log: BinaryIO
) -> Process:
    """Starts a simulator process in a process group of its own; it ends with this process."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=partial(end_with_parent, os.getpid()),
    )


@dataclass(frozen=True)
class Launcher:
    """How a simulator process is started.

    Attributes:
        plusargs: Arguments of the simulator beyond those of the run.
        start: Starts the process; None for :func:`start_process`.
    """

    plusargs: tuple[str, ...] = ()
    start: Callable[[Sequence[str], Path, Mapping[str, str], BinaryIO], Process] | None = None


NEW_PROCESS = Launcher()


@dataclass
class Watch:
    """Hooks that the runner calls around the simulator process."""

    log: Path
    launcher: Launcher = NEW_PROCESS
    poll: Callable[[], None] = lambda: None
    stalled: Callable[[], bool] = lambda: False
    request_stop: Callable[[], None] | None = None
    result: Simulation | None = None


def _end_process(process: Process, request_stop: Callable[[], None] | None) -> None:
    """Ends a process group: by request, so that it writes its results, by SIGTERM, by SIGKILL."""
    if request_stop is not None:
        request_stop()
        with suppress(subprocess.TimeoutExpired):
            process.wait(KILL_GRACE_SECONDS)
            return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(KILL_GRACE_SECONDS)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


class Watched(cocotb_runner.Runner):
    """Runs the simulator in its own process group, polled while it runs."""

    watch: Watch | None = None
    movable = False
    """Give a build relative paths, so that it is the same in every checkout."""

    def _execute_cmds(
        self,
        cmds: Sequence[list[str]],
        cwd: Any,
        stdout: TextIO | None = None,  # noqa: ARG002 - cocotb's signature
    ) -> None:
        if self.watch is None:
            self._execute_build(cmds, cwd)
            return
        watch = self.watch
        start = time.monotonic()
        *before, command = cmds
        for words in before:
            subprocess.run([str(word) for word in words], cwd=cwd, env=self.env, check=True)
        with watch.log.open("wb") as log:
            words = [str(word) for word in command]
            process = (watch.launcher.start or start_process)(words, Path(cwd), self.env, log)
            stalled = False
            try:
                while True:
                    try:
                        process.wait(POLL_SECONDS)
                        break
                    except subprocess.TimeoutExpired:
                        watch.poll()
                    if watch.stalled():
                        stalled = True
                        break
            finally:
                if process.poll() is None:
                    _end_process(process, watch.request_stop)
        watch.result = Simulation(
            process.returncode, time.monotonic() - start, watch.log, stalled=stalled
        )

    def _execute_build(self, cmds: Sequence[list[str]], cwd: Any) -> None:
        log_path = Path(cwd) / "build.log"
        top = f"{os.path.relpath(ROOT, cwd) if self.movable else ROOT}/"
        with log_path.open("wb") as log:
            for command in cmds:
                words = [str(word).replace(f"{ROOT}/", top) for word in command]
                log.write((" ".join(words) + "\n").encode())
                log.flush()
                with self._build_step(words[0], Path(cwd)):
                    done = subprocess.run(
                        words,
                        cwd=cwd,
                        env=self.env,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        check=False,
                    )
                if done.returncode:
                    text = log_path.read_text(errors="replace").replace(top, "")
                    tail = text.splitlines()[-15:]
                    remedy = "read the log; `make doctor` checks the tools"
                    died = not 0 <= done.returncode <= 128  # of a signal, its own or the shell's
                    if died and Path(words[0]).name == "iverilog":
                        remedy = "Icarus died on a source: use SIM=verilator, or read the log"
                    raise BuildError(
                        f"the build failed, exit code {done.returncode} of {words[0]}:\n"
                        + "\n".join(f"    {line}" for line in tail),
                        where=relative(log_path),
                        remedy=remedy,
                    )

    def _build_step(self, program: str, folder: Path) -> AbstractContextManager[None]:  # noqa: ARG002
        """Hook around each program of a build."""
        return nullcontext()


class VerilatorRunner(Watched, cocotb_runner.Verilator):
    """Verilator with our main loop and arguments for its make."""

    make_args: tuple[str, ...] = ()

    def _build_command(self) -> list[list[str]]:
        commands = super()._build_command()
        drop = {"--public-flat-rw", "--trace"}
        verilate = [str(word) for word in commands[0] if word not in drop]
        # Our main loop includes cocotb's and takes its place.
        main = next(word for word in verilate if word.endswith("/verilator.cpp"))
        verilate[verilate.index(main)] = str(HDL / "pto_main.cpp")
        verilate += ["-CFLAGS", f"-I{Path(main).parent}"]
        # A program that is kept must not depend on this environment: see library_path.
        libraries = f"-Wl,-rpath,{cocotb_config.libs_dir} "
        verilate = [word.removeprefix(libraries) for word in verilate]
        # The PyPI wheel was configured without the flag that includes a precompiled header.
        make = [*commands[1], "CFG_CXXFLAGS_PCH_I=-include", *_object_cache(), *self.make_args]
        return [verilate, make]

    def _build_step(self, program: str, folder: Path) -> AbstractContextManager[None]:
        return nullcontext() if program == "make" else _keeping_times(folder, self.make_args)


def _object_cache() -> list[str]:
    """Returns the word that lets builds share the objects of Verilator's runtime."""
    if "OBJCACHE" in os.environ:
        return []
    script, folder = ROOT / "tb/run/object_cache.py", builds_folder() / "objects"
    return [f"OBJCACHE={shlex.join([sys.executable, '-S', str(script), str(folder)])}"]


@contextmanager
def _keeping_times(folder: Path, make_args: Sequence[str]) -> Iterator[None]:
    """Restores the times of sources that the body generates again with the same text.

    Verilator rewrites all of them; make then compiles only those that differ. Times are not
    restored if flags or the list of sources have changed since the previous build: make does not
    detect that.
    """

    def sources() -> Iterator[Path]:
        # The runtime's objects depend on Vtop.mk.
        return chain.from_iterable(folder.glob(f"Vtop*.{kind}") for kind in ("cpp", "h", "mk"))

    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sources()}
    yield
    makefiles = [path.read_text() for path in sorted(folder.glob("Vtop*.mk"))]
    recipe, stamp = "\n".join([*make_args, *makefiles]), folder / RECIPE
    if stamp.exists() and stamp.read_text() == recipe:
        for path in sources():
            text, time_ns = before.get(path, (b"", 0))
            if path.read_bytes() == text:
                os.utime(path, ns=(time_ns, time_ns))
    stamp.write_text(recipe)


def new_runner(sim: str) -> Watched:
    """Returns a runner for a simulator that cocotb supports.

    Raises:
        ToolError: its program is not on the PATH.
    """
    if sim == "verilator":
        return VerilatorRunner()
    kind = cocotb_runner.SUPPORTED_RUNNERS[sim]
    try:
        runner: Watched = type(f"Watched{kind.__name__}", (Watched, kind), {})()
    except SystemExit as error:
        raise ToolError(
            f"SIM={sim}: {str(error).removeprefix('ERROR: ')}",
            where="PATH",
            remedy="put the simulator's programs on the PATH and set up its license",
        ) from None
    # A run in another process than its build: cocotb's runner for Xcelium looks at the sources.
    for name in ("_sources", "_vhdl_sources", "_verilog_sources"):
        if not hasattr(runner, name):
            setattr(runner, name, [])
    return runner
