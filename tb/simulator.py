# SPDX-License-Identifier: Apache-2.0
"""Builds a harness around the engines of a set of manifests and runs one simulation of it.

Builds live below ``sim_build/`` in a folder named by what they were built for; a stamp with a
hash of every input tells whether one is still good. Works through cocotb's runner, with two
changes: Verilator is not told to keep every signal public (which costs more than half the
speed), and the simulator is started as a process of its own that can be watched and ended.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from cocotb_tools import config as cocotb_config
from cocotb_tools import runner as cocotb_runner

from tb import tools
from tb.dut import ROOT, Manifest
from tb.errors import PtoError

HDL = ROOT / "tb/hdl"
TOP = "pto_harness"
BUILD_ROOT = ROOT / "sim_build"
CONFIGURATION = "pto_dut.vh"
STAMP = ".inputs"
RECIPE = ".recipe"
POLL_SECONDS = 0.05
KILL_GRACE_SECONDS = 5.0


class BuildError(PtoError):
    """The HDL or the C memory did not compile."""

    exit_code = 2


@dataclass(frozen=True)
class BuildPlan:
    """What to build.

    Attributes:
        sim: ``"verilator"`` or ``"icarus"``.
        manifests: Engines, at most one per slot.
        gm_width, local_width: Data widths in bits.
        tag_width: Width of a tag in bits.
        outstanding: Most AXI bursts in flight in each direction; an engine that has fewer is held
            to its own number.
        waves: Build for waveforms.
        variant: Suffix of the build folder, for builds that differ in their sources.
        fast_build: Compile for a short build instead of a fast simulation.
        axi_pins: Leave the GM side of every engine to a memory in Python, and the clock with it
            (tb/hdl/pto_axi_pins.vh).
    """

    sim: str
    manifests: tuple[Manifest, ...]
    gm_width: int = 256
    local_width: int = 256
    tag_width: int = 8
    outstanding: int = 16
    waves: bool = False
    variant: str = ""
    fast_build: bool = False
    axi_pins: bool = False

    @property
    def folder(self) -> Path:
        """Where the build lives."""
        name = f"{self.sim}-gm{self.gm_width}-local{self.local_width}"
        if self.tag_width != type(self).tag_width:
            name += f"-tag{self.tag_width}"
        if self.outstanding != type(self).outstanding:
            name += f"-outstanding{self.outstanding}"
        if self.waves:
            name += "-waves"
        if self.axi_pins:
            name += "-axi-pins"
        if self.variant:
            name += f"-{self.variant}"
        return BUILD_ROOT / name

    @property
    def slots(self) -> tuple[str, ...]:
        """Slots that have an engine."""
        return tuple(manifest.slot for manifest in self.manifests)

    @property
    def ops(self) -> tuple[str, ...]:
        """Ops that the engines take."""
        return tuple(op for manifest in self.manifests for op in manifest.ops)

    @property
    def d_rules(self) -> tuple[str, ...]:
        """Names of the D rules that every engine which could meet them reports."""
        return tuple(sorted({rule for manifest in self.manifests for rule in manifest.d_rules}))


@dataclass(frozen=True)
class Build:
    """A finished build."""

    plan: BuildPlan
    version: str
    seconds: float
    library: Path | None
    args: tuple[str, ...] = ()


@dataclass
class Simulation:
    """How a simulation process ended.

    Attributes:
        exit_code: Of the process; negative for a signal.
        seconds: Wall seconds from start to end.
        log: What it printed.
        stalled: It was ended because nothing moved for the wall limit.
    """

    exit_code: int
    seconds: float
    log: Path
    stalled: bool = False


@dataclass
class _Watch:
    """Hooks that the runner calls around the simulator process."""

    log: Path
    poll: Callable[[], None] = lambda: None
    stalled: Callable[[], bool] = lambda: False
    result: Simulation | None = None


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that we started, and those it started: first asked, then forced."""
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


class _Watched(cocotb_runner.Runner):
    """Runs the simulator in its own process group, polled while it runs."""

    watch: _Watch | None = None

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
        with watch.log.open("wb") as log:
            process = subprocess.Popen(
                [str(word) for word in cmds[0]],
                cwd=cwd,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
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
                    _end_process(process)
        watch.result = Simulation(
            process.returncode, time.monotonic() - start, watch.log, stalled=stalled
        )

    def _execute_build(self, cmds: Sequence[list[str]], cwd: Any) -> None:
        log_path = Path(cwd) / "build.log"
        with log_path.open("wb") as log:
            for command in cmds:
                words = [str(word) for word in command]
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
                    tail = log_path.read_text(errors="replace").splitlines()[-15:]
                    raise BuildError(
                        f"the build failed, exit code {done.returncode} of {words[0]}:\n"
                        + "\n".join(f"    {line}" for line in tail),
                        where=_relative(log_path),
                        remedy="read the log; `make doctor` checks the tools",
                    )

    def _build_step(self, program: str, folder: Path) -> AbstractContextManager[None]:  # noqa: ARG002
        """Hook around each program of a build."""
        return nullcontext()


class _Verilator(_Watched, cocotb_runner.Verilator):
    make_args: tuple[str, ...] = ()

    def _build_command(self) -> list[list[str]]:
        commands = super()._build_command()
        drop = {"--public-flat-rw", "--trace"}
        verilate = [str(word) for word in commands[0] if word not in drop]
        # Our main loop includes cocotb's and takes its place.
        main = next(word for word in verilate if word.endswith("/verilator.cpp"))
        verilate[verilate.index(main)] = str(HDL / "pto_main.cpp")
        verilate += ["-CFLAGS", f"-I{Path(main).parent}"]
        # The PyPI wheel was configured without the flag that includes a precompiled header.
        make = [*commands[1], "CFG_CXXFLAGS_PCH_I=-include", *self.make_args]
        return [verilate, make]

    def _build_step(self, program: str, folder: Path) -> AbstractContextManager[None]:
        return nullcontext() if program == "make" else _keeping_times(folder, self.make_args)


@contextmanager
def _keeping_times(folder: Path, make_args: Sequence[str]) -> Iterator[None]:
    """Gives sources that the body generates with the same text again the time they had.

    Verilator writes all of them anew; make then compiles only what differs. Not where flags or
    the list of sources have changed since the build before, which make would not notice.
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


class _Icarus(_Watched, cocotb_runner.Icarus):
    pass


def _relative(path: Path) -> str:
    try:
        return str(path.relative_to(ROOT))
    except ValueError:
        return str(path)


def _harness_sources() -> list[Path]:
    return sorted(HDL.glob("*.v")) + sorted(HDL.glob("*.sv"))


def _inputs_digest(plan: BuildPlan, version: str, words: Sequence[str]) -> str:
    digest = hashlib.sha256()
    digest.update(repr((version, cocotb_config.libs_dir, *words)).encode())
    files = [
        Path(name) for manifest in plan.manifests for name in (*manifest.sources, *manifest.waivers)
    ]
    folders = {Path(name) for manifest in plan.manifests for name in manifest.include_dirs}
    for folder in (*sorted(folders), HDL):
        files += sorted(file for file in folder.iterdir() if file.is_file())
    for file in dict.fromkeys(files):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keeps two builds out of one folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise PtoError(
            f"the build folder cannot be written: {error.strerror}",
            where=_relative(folder),
            remedy="make it writable, or free disk space",
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _environment(values: Mapping[str, str], drop: Sequence[str] = ()) -> Iterator[None]:
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


def _configuration(plan: BuildPlan) -> str:
    """Returns the text of pto_dut.vh, which tells the harness what to build."""
    lines = [
        "// Generated by tb/simulator.py: what stands in the slots of this build.",
        f"`define PTO_GM_DATA_WIDTH {plan.gm_width}",
        f"`define PTO_LOCAL_DATA_WIDTH {plan.local_width}",
        f"`define PTO_TAG_WIDTH {plan.tag_width}",
    ]
    if plan.axi_pins:
        lines.append("`define PTO_AXI_PINS")
    for manifest in plan.manifests:
        slot = manifest.slot.upper()
        outstanding = min(plan.outstanding, manifest.capabilities.outstanding)
        more = "".join(f", .{name}({value})" for name, value in manifest.parameters.items())
        lines += [
            f"`define PTO_{slot}_MODULE {manifest.module}",
            f"`define PTO_{slot}_OUTSTANDING {outstanding}",
            f"`define PTO_{slot}_PARAMETERS {more}",
        ]
    return "\n".join(lines) + "\n"


def _write_configuration(plan: BuildPlan) -> None:
    """Writes pto_dut.vh into the build folder; one with the same text keeps its time."""
    path, text = plan.folder / CONFIGURATION, _configuration(plan)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _defines(plan: BuildPlan) -> dict[str, object]:
    """Returns the macros that manifests ask for.

    Raises:
        PtoError: two manifests give one macro different values.
    """
    defines: dict[str, object] = {}
    for manifest in plan.manifests:
        for name, value in manifest.defines.items():
            if defines.setdefault(name, value) != value:
                raise PtoError(
                    f"macro {name} is {defines[name]!r} for one engine and {value!r} for another",
                    where=manifest.path,
                    remedy="macros hold for all sources of a build: rename one of them",
                )
    return defines


def _manifest_args(plan: BuildPlan) -> list[str]:
    """Returns the arguments that manifests want for this simulator."""
    return [
        word for manifest in plan.manifests for word in manifest.simulator_args.get(plan.sim, ())
    ]


def _verilator_args(plan: BuildPlan) -> list[str]:
    words = [
        "--timing",
        *tools.verilator_timing_flags(),
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "fast",
        "-Wno-fatal",
        "-CFLAGS",
        f"-I{HDL}",
        "-LDFLAGS",
        "-rdynamic",
    ]
    if plan.fast_build:
        words += ["--output-split", "0"]  # one file: less to compile than files that share headers
    if plan.waves:
        words.append("--trace-fst" if tools.fst_headers().ok else "--trace")
    return words


def build(plan: BuildPlan, *, force: bool = False) -> Build:
    """Builds the simulation of ``plan`` unless it stands already and nothing has changed.

    Raises:
        PtoError: a tool is missing, an engine lacks the data width, or the folder is unwritable.
        BuildError: the sources do not compile.
    """
    for manifest in plan.manifests:
        manifest.check_run(plan.gm_width, plan.local_width, plan.tag_width)
    tools.require(tools.sparse_mapping())
    start = time.monotonic()
    with _locked(plan.folder):
        if plan.sim == "verilator":
            _, env = tools.verilator_environment()
            version = tools.verilator().version
            args = _verilator_args(plan)
        else:
            _, env = tools.icarus_environment()
            version = tools.icarus().version
            args = []
        args += _manifest_args(plan)
        words = [*args, repr(_defines(plan)), _configuration(plan)]
        digest = _inputs_digest(plan, version, words)
        stamp = plan.folder / STAMP
        library = None if plan.sim == "verilator" else plan.folder / "pto_mem.vpi"
        if force or not stamp.exists() or stamp.read_text() != digest:
            stamp.unlink(missing_ok=True)
            _write_configuration(plan)
            with _environment(env):
                if plan.sim == "verilator":
                    _build_verilator(plan, args)
                else:
                    _build_icarus(plan, args)
            stamp.write_text(digest)
    return Build(plan, version, time.monotonic() - start, library)


def _sources(plan: BuildPlan) -> list[Path]:
    engines = dict.fromkeys(Path(name) for manifest in plan.manifests for name in manifest.sources)
    return [*engines, *_harness_sources()]


def _includes(plan: BuildPlan) -> list[Path]:
    folders = {Path(name): None for manifest in plan.manifests for name in manifest.include_dirs}
    return [plan.folder, HDL, *folders]


def _verilator_config(plan: BuildPlan) -> list[Path]:
    files = [HDL / "pto_harness.vlt"]
    files += [Path(name) for manifest in plan.manifests for name in manifest.waivers]
    return [*files, HDL / "pto_axi_pins.vlt"] if plan.axi_pins else files


def _build_verilator(plan: BuildPlan, args: list[str]) -> None:
    runner = _Verilator()
    level = "-O0" if plan.fast_build else "-O3"
    runner.make_args = (f"OPT_FAST={level}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
    runner.build(
        sources=[*_verilator_config(plan), *_sources(plan)],
        includes=_includes(plan),
        defines=_defines(plan),
        build_args=[*args, str(HDL / "pto_mem.c")],
        hdl_toplevel=TOP,
        build_dir=plan.folder,
        timescale=("1ns", "1ps"),
        waves=plan.waves,
        always=True,
    )


def _build_icarus(plan: BuildPlan, args: list[str]) -> None:
    module = plan.folder / "pto_mem.vpi"
    compile_library(module, vpi=True)
    runner = _Icarus()
    runner.build(
        sources=_sources(plan),
        includes=_includes(plan),
        defines=_defines(plan),
        build_args=["-g2012", *args],
        hdl_toplevel=TOP,
        build_dir=plan.folder,
        timescale=("1ns", "1ps"),
        waves=plan.waves,
        always=True,
    )


def compile_library(target: Path, *, vpi: bool) -> None:
    """Compiles the C memory as a shared object, with the VPI door for Icarus or with none.

    Raises:
        BuildError: the compiler refuses it.
    """
    compiler = tools.c_compiler()
    tools.require(compiler)
    words = [compiler.path, "-O2", "-shared", "-fPIC", "-o", str(target), str(HDL / "pto_mem.c")]
    if vpi:
        root = Path(tools.icarus().path).resolve().parent.parent
        words += ["-DPTO_VPI", f"-I{root / 'include/iverilog'}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(
            f"the C memory does not compile:\n{done.stderr.strip()}", where="tb/hdl/pto_mem.c"
        )


@contextmanager
def _searching(folders: Sequence[str]) -> Iterator[None]:
    """Puts folders before sys.path, which the runner hands on as PYTHONPATH."""
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before


def simulate(
    build_: Build,
    *,
    module: str,
    class_name: str,
    seed: int,
    run_dir: Path,
    env: Mapping[str, str],
    poll: Callable[[], None] = lambda: None,
    stalled: Callable[[], bool] = lambda: False,
    plusargs: Sequence[str] = (),
    python_path: Sequence[str] = (),
) -> Simulation:
    """Runs one pyuvm test on a build and returns how the process ended.

    Args:
        build_: What :func:`build` returned.
        module: Python module of the test.
        class_name: pyuvm test class in it.
        seed: Seed of Python's ``random`` in the simulation.
        run_dir: Where log, results and waves go.
        env: More environment variables.
        poll: Called about twenty times a second while the simulator runs.
        stalled: Asked then; True ends the simulator.
        plusargs: More arguments of the simulator.
        python_path: Folders that its Python looks for modules in first.
    """
    plan = build_.plan
    runner: _Watched = _Verilator() if plan.sim == "verilator" else _Icarus()
    watch = _Watch(run_dir / "simulator.log", poll, stalled)
    runner.watch = watch
    test_args: list[str] = []
    extra = list(plusargs)
    if plan.sim == "icarus":
        test_args = ["-M", str(plan.folder), "-m", "pto_mem"]
    if plan.waves:
        name = "waves.fst" if plan.sim == "icarus" or tools.fst_headers().ok else "waves.vcd"
        if plan.sim == "verilator":
            test_args += ["--trace-file", str(run_dir / name)]
        else:
            extra.append(f"+dumpfile_path={run_dir / name}")
    cleared = _environment({}, drop=("WAVES", "GUI", "PYTEST_CURRENT_TEST"))
    with cleared, _searching(python_path):
        runner.test(
            test_module=module,
            hdl_toplevel=TOP,
            hdl_toplevel_lang="verilog",
            testcase=class_name,
            seed=seed,
            test_args=test_args,
            plusargs=extra,
            extra_env={**env, "COCOTB_ANSI_OUTPUT": "0"},
            waves=plan.waves,
            build_dir=plan.folder,
            test_dir=run_dir,
            results_xml=str(run_dir / "results.xml"),
        )
    assert watch.result is not None
    return watch.result
