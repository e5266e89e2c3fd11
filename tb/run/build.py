# SPDX-License-Identifier: Apache-2.0
"""Builds a harness around the engines of a set of manifests and runs one simulation of it.

Builds live below ``sim_build/`` in a folder named by what they were built for; a stamp with a
hash of every input tells whether one is still good. Works through cocotb's runners (launch.py).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cocotb_tools import config as cocotb_config

from tb.common.errors import PtoError
from tb.common.paths import BUILD_ROOT, HDL, relative
from tb.dut.manifest import Manifest
from tb.run.launch import BuildError, Simulation, VerilatorRunner, Watch, new_runner
from tb.run.recipes import simulator
from tb.setup import tools

TOP = "pto_harness"
CONFIGURATION = "pto_dut.vh"
MAIN_CLOCKS = "PTO_MAIN_CLOCKS"
"""Macro of harness and main loop: the loop makes the clocks (tb/hdl/pto_main.cpp)."""
CODE_COVERAGE = "coverage.dat"
"""Counts of code coverage, in the run's folder; :mod:`tb.coverage.export.code` reads them."""

TOGGLE_WIDTH = 64
"""Toggles of wider signals are not counted: these carry data, which every run compares byte by
byte, and they take half the time of such a build."""

STAMP = ".inputs"
RESULTS_XML = "results.xml"
"""Cocotb's own verdict, in the run's folder."""


@dataclass(frozen=True)
class BuildPlan:
    """What to build.

    Attributes:
        sim: Simulator, a name of :mod:`tb.run.recipes`.
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
        code_coverage: Count code coverage of the engines; for simulators that can, see
            :class:`tb.run.recipes.Simulator`.
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
    code_coverage: bool = False

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
        if self.code_coverage:
            name += "-cov"
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
    """A finished build; ``inputs`` is a digest of everything that it was made from."""

    plan: BuildPlan
    version: str
    seconds: float
    library: Path | None
    args: tuple[str, ...] = ()
    inputs: str = ""


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
            where=relative(folder),
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
        "// Generated by tb/run/build.py: the engines of this build.",
        f"`define PTO_GM_DATA_WIDTH {plan.gm_width}",
        f"`define PTO_LOCAL_DATA_WIDTH {plan.local_width}",
        f"`define PTO_TAG_WIDTH {plan.tag_width}",
    ]
    if plan.axi_pins:
        lines.append("`define PTO_AXI_PINS")
    elif plan.sim == "verilator":
        lines.append(f"`define {MAIN_CLOCKS}")
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
    if not plan.axi_pins:
        words += ["-CFLAGS", f"-D{MAIN_CLOCKS}"]
    if plan.fast_build:
        words += ["--output-split", "0"]  # one file: less to compile than files that share headers
    if plan.waves:
        words.append("--trace-fst" if tools.fst_headers().ok else "--trace")
    if plan.code_coverage:
        # Our own sources are left out, see pto_harness.vlt.
        words += ["--coverage-line", "--coverage-toggle", "--coverage-expr"]
        words += ["--coverage-max-width", str(TOGGLE_WIDTH)]
    return words


def build(plan: BuildPlan, *, force: bool = False, inputs: str = "") -> Build:
    """Builds the simulation of ``plan`` unless it stands already and nothing has changed.

    Args:
        plan: What to build.
        force: Build in any case.
        inputs: Digest that the build must have, of a regression that began with it; empty for any.

    Raises:
        PtoError: the sources are not those of ``inputs``.
        PtoError: a tool is missing, an engine lacks the data width, or the folder is unwritable.
        BuildError: the sources do not compile.
    """
    for manifest in plan.manifests:
        manifest.check_run(plan.gm_width, plan.local_width, plan.tag_width)
    recipe = simulator(plan.sim)
    if plan.code_coverage:
        recipe.check_code_coverage()
    tools.require(tools.sparse_mapping())
    start = time.monotonic()
    with _locked(plan.folder):
        env: Mapping[str, str] = {}
        version = ""
        args = recipe.build_words(plan.folder)
        if plan.sim == "verilator":
            _, env = tools.verilator_environment()
            version = tools.verilator().version
            args += _verilator_args(plan)
        elif plan.sim == "icarus":
            _, env = tools.icarus_environment()
            version = tools.icarus().version
        args += _manifest_args(plan)
        words = [*args, repr(_defines(plan)), _configuration(plan)]
        digest = _inputs_digest(plan, version, words)
        if inputs and digest != inputs:
            raise PtoError(
                "the sources have changed since this regression built its simulation",
                where=relative(plan.folder),
                remedy="let a regression end before you edit what it runs; begin a new one",
            )
        stamp = plan.folder / STAMP
        library = None if plan.sim == "verilator" else plan.folder / recipe.library
        if force or not stamp.exists() or stamp.read_text() != digest:
            stamp.unlink(missing_ok=True)
            _write_configuration(plan)
            with _environment(env):
                if plan.sim == "verilator":
                    _build_verilator(plan, args)
                else:
                    _build_with_library(plan, args)
            stamp.write_text(digest)
    return Build(plan, version, time.monotonic() - start, library, inputs=digest)


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
    runner = VerilatorRunner()
    # make goes by times, and a copied header may be older than what was compiled from another one.
    for name in ("pto_mem.o", "pto_main.o"):
        (plan.folder / name).unlink(missing_ok=True)
    # The counters double what there is to compile: a build that is soon there is worth more.
    level = "-O0" if plan.fast_build else "-O1" if plan.code_coverage else "-O3"
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


def _build_with_library(plan: BuildPlan, args: list[str]) -> None:
    """Builds for a simulator that loads the C memory when it runs."""
    recipe = simulator(plan.sim)
    runner = new_runner(plan.sim)
    compile_library(plan.folder / recipe.library, vpi=plan.sim == "icarus")
    runner.build(
        sources=_sources(plan),
        includes=_includes(plan),
        defines=_defines(plan),
        build_args=args,
        hdl_toplevel=TOP,
        build_dir=plan.folder,
        timescale=("1ns", "1ps") if recipe.timescale else None,
        waves=plan.waves and recipe.waves_in_build,
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


def _assertions(module: str) -> dict[str, str]:
    """Returns the variable that has cocotb rewrite assertions in the test's own file alone.

    By default it does so in every Python file imported: more than two seconds of each run.
    """
    name = "COCOTB_REWRITE_ASSERTION_FILES"
    return {} if name in os.environ else {name: f"{module.replace('.', '/')}.py"}


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
    waves_window: tuple[int, int] = (0, 0),
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
        waves_window: Clocks from and to which waves are recorded; a second one of 0 is the end.
            Verilator and Icarus keep to it.
    """
    plan = build_.plan
    runner = new_runner(plan.sim)
    watch = Watch(run_dir / "simulator.log", poll, stalled)
    runner.watch = watch
    test_args = simulator(plan.sim).run_words(plan.folder)
    extra = list(plusargs)
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
            extra_env={**_assertions(module), **env, "COCOTB_ANSI_OUTPUT": "0"},
            waves=plan.waves,
            build_dir=plan.folder,
            test_dir=run_dir,
            results_xml=str(run_dir / RESULTS_XML),
        )
    assert watch.result is not None
    return watch.result
