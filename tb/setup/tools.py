# SPDX-License-Identifier: Apache-2.0
"""Tools of the machine: Icarus, compilers, headers, kernel features, Python packages.

A probe returns a `Tool` and raises nothing, so that ``doctor`` can list them all. `require` and
`icarus_environment` raise `ToolError` for tools that a run needs. Probes search the PATH of this
process. This module needs the standard library alone: set-up uses it before anything is installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import mmap
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.common.processes import kill_tree

LATE = 124
"""Exit code of a command that was ended after its time, as of ``timeout``."""

MIN_PYTHON = "3.11"
MIN_ICARUS = "11.0"  # cocotb 2.1's own floor
SPARSE_BYTES = 1 << 40  # GM's address space, docs/spec/README.md

_MAP_NORESERVE = 0x4000  # Linux, every architecture we run on; `mmap` has the name from Python 3.13


@dataclass(frozen=True)
class Tool:
    """A tool of the machine, found or missing.

    Attributes:
        name: As messages call it.
        version: As printed for people, empty when unknown.
        path: Where it was found, empty when it was not.
        missing: The defect, one phrase; empty when the tool can be used.
        remedy: How to install it, one sentence.
        required: Whether the main job (``make SIM=verilator``) needs it.
    """

    name: str
    version: str = ""
    path: str = ""
    missing: str = ""
    remedy: str = ""
    required: bool = True

    @property
    def ok(self) -> bool:
        """Whether it can be used as it is."""
        return not self.missing


def exit_code(work: Callable[[], int]) -> int:
    """Runs a command and returns its exit code; an error of the user is printed."""
    try:
        return work()
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def version_in(text: str, before: str = "") -> str:
    """Returns the first dotted number in ``text`` that follows ``before``, or nothing."""
    match = re.search(rf"{before}(\d+(?:\.\d+)+)", text)
    return match[1] if match else ""


def numbers(version: str) -> tuple[int, ...]:
    """Returns a version as numbers, which compare as versions do."""
    return tuple(map(int, version.split(".")))


def too_old(version: str, minimum: str) -> str:
    """Returns the defect of a version, empty when it is new enough."""
    if numbers(version) >= numbers(minimum):
        return ""
    return f"{version} is too old, {minimum} or newer is needed"


def run(
    command: Sequence[str | Path],
    env: Mapping[str, str],
    cwd: Path | None = None,
    seconds: float | None = None,
) -> tuple[int, str]:
    """Runs a command without input; returns its exit code and its output, stripped.

    ``env`` is added to the environment. The exit code is 1 if the command cannot be started, LATE
    if it takes longer than ``seconds``; then it is ended with all that it started.
    """
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **env},
        )
    except OSError as error:
        return 1, str(error)
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            kill_tree(process.pid)
            return LATE, str(error)
        except BaseException:
            process.kill()
            raise
    return process.returncode, output.decode(errors="replace").strip()


def probe(command: Sequence[str | Path], **env: str) -> tuple[int, str]:
    """Runs a command that takes a minute at most; as :func:`run`."""
    return run(command, env, seconds=60.0)


# --- programs of the system


def python() -> Tool:
    """Probes the Python that is running."""
    version = ".".join(map(str, sys.version_info[:3]))
    remedy = f"Install python{MIN_PYTHON} or newer and run `make setup`."
    return Tool("Python", version, sys.executable, too_old(version, MIN_PYTHON), remedy)


def libpython() -> Tool:
    """Probes Python's shared library: cocotb starts Python inside the simulator from it."""
    version = sysconfig.get_python_version()
    tool = Tool(
        "libpython",
        remedy="Install it (Debian and Ubuntu: apt-get install "
        f"libpython{version}; pyenv: build Python with --enable-shared), then run `make setup`.",
    )
    if importlib.util.find_spec("find_libpython") is None:
        missing = "unknown: find_libpython is not installed"
        return replace(tool, missing=missing, remedy="Run `make setup`.")
    from find_libpython import find_libpython  # not the standard library: only inside .venv

    path = find_libpython()
    if path is None:
        return replace(tool, missing="no shared library of this Python")
    return replace(tool, version=version, path=path)


def _program(name: str, executables: tuple[str, ...], remedy: str) -> Tool:
    path = next(filter(None, map(shutil.which, executables)), None)
    if path is None:
        missing = f"no {' or '.join(executables)} on the PATH"
        return Tool(name, missing=missing, remedy=remedy)
    code, output = probe([path, "--version"])
    missing = f"{path} --version fails" if code else ""
    return Tool(name, "" if code else version_in(output), path, missing, remedy)


def make() -> Tool:
    """Probes make: Verilator's generated model is built by it."""
    return _program("make", ("make",), "Install make (Debian and Ubuntu: apt-get install make).")


def perl() -> Tool:
    """Probes perl: Verilator's front end is a perl script."""
    return _program("perl", ("perl",), "Install perl (Debian and Ubuntu: apt-get install perl).")


def c_compiler() -> Tool:
    """Probes the C compiler: the C memory is built with it for Icarus."""
    remedy = "Install gcc (Debian and Ubuntu: apt-get install gcc libc6-dev)."
    tool = _program("C compiler", ("cc", "gcc", "clang"), remedy)
    source = "#include <stdio.h>\nint main(void) { return 0; }\n"
    return _compiling(tool, source, ".c", "it cannot compile and link a C program")


def _any_cxx_compiler() -> Tool:
    remedy = "Install g++ 10 or newer (Debian and Ubuntu: apt-get install g++)."
    return _program("C++ compiler", ("c++", "g++", "clang++"), remedy)


def cxx_compiler() -> Tool:
    """Probes the C++ compiler: Verilator's model needs C++20 with coroutines."""
    tool = _any_cxx_compiler()
    source = (
        "#include <coroutine>\nint main() { return std::suspend_never{}.await_ready() ? 0 : 1; }\n"
    )
    missing = "it cannot compile and link C++20 with coroutines"
    return _compiling(tool, source, ".cpp", missing, *coroutine_flags(tool.path))


def coroutine_flags(compiler: str) -> list[str]:
    """Returns the flags with which a C++ compiler takes C++20 with coroutines."""
    # clang has coroutines with C++20 and refuses the option gcc needs before version 11
    clang = "clang" in probe([compiler, "--version"])[1]
    return ["-std=gnu++20", *([] if clang else ["-fcoroutines"])]


def _compiling(tool: Tool, source: str, suffix: str, missing: str, *flags: str) -> Tool:
    """Returns a compiler, with the defect ``missing`` if ``source`` does not compile and link."""
    if not tool.ok or _compiles(tool.path, source, suffix, flags):
        return tool
    return replace(tool, missing=missing)


@cache
def _compiles(compiler: str, source: str, suffix: str, flags: tuple[str, ...]) -> bool:
    with tempfile.TemporaryDirectory(prefix="pto-dv-") as folder:
        file = Path(folder, "probe" + suffix)
        file.write_text(source)
        # Libraries among the flags come after the source that needs them.
        return probe([compiler, file, "-o", Path(folder, "probe"), *flags])[0] == 0


def forget_probes() -> None:
    """Has the compilers try again what they could not compile: something was installed."""
    _compiles.cache_clear()


def fst_headers() -> Tool:
    """Probes the headers that Verilator's FST writer needs; without them waves are VCD."""
    remedy = (
        "Install them (Debian and Ubuntu: apt-get install liblz4-dev zlib1g-dev); "
        "waves are VCD until then."
    )
    source = (
        "#include <lz4.h>\n#include <zlib.h>\n"
        "int main() { return LZ4_versionNumber() + *zlibVersion() == 0; }\n"
    )
    missing = "lz4.h or zlib.h does not compile and link"
    found = _compiling(_any_cxx_compiler(), source, ".cpp", missing, "-llz4", "-lz")
    name, path = "lz4 and zlib headers (FST waves)", "lz4.h zlib.h" if found.ok else ""
    return Tool(name, path=path, missing=found.missing, remedy=remedy, required=False)


# --- Icarus Verilog


def icarus() -> Tool:
    """Probes Icarus Verilog: iverilog, vvp and iverilog-vpi."""
    tool = Tool(
        "Icarus Verilog",
        path=shutil.which("iverilog") or "",
        remedy=f"Install Icarus Verilog {MIN_ICARUS} or newer (Debian and Ubuntu: apt-get install "
        "iverilog; Fedora: dnf install iverilog), or use SIM=verilator.",
        required=False,
    )
    if not tool.path:
        return replace(tool, missing="no iverilog on the PATH")
    version = version_in(probe([tool.path, "-V"])[1], "Icarus Verilog version ")
    if not version:
        return replace(tool, missing=f"{tool.path} prints no version")
    absent = [part for part in ("vvp", "iverilog-vpi") if shutil.which(part) is None]
    parts = f"iverilog is there but {absent[0]} is not" if absent else ""
    return replace(tool, version=version, missing=too_old(version, MIN_ICARUS) or parts)


# --- kernel, disk, packages


def sparse_mapping(length: int = SPARSE_BYTES) -> Tool:
    """Probes whether the kernel maps ``length`` bytes without reserving memory for them."""
    remedy = (
        "Lift the limit on address space (`ulimit -v unlimited`) and set sysctl "
        "vm.overcommit_memory to 0 or 1."
    )
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    missing = ""
    try:
        mmap.mmap(-1, length, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE).close()
    except (OSError, OverflowError, ValueError) as error:
        missing = f"the kernel refuses it: {error}"
    path = "" if missing else "kernel"
    return Tool("sparse 2^40-byte mapping", os.uname().release, path, missing, remedy)


def build_folder() -> Tool:
    """Probes whether build products can be written below the project."""
    folder = ROOT / "sim_build"
    tool = Tool("build folder", remedy="Make it writable or free disk space.")
    if re.search(r"\s", str(folder)):
        missing = f"the path {str(folder)!r} has a space, which Verilator's makefiles cannot take"
        return replace(tool, missing=missing, remedy="Move the project to a path without spaces.")
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return replace(tool, path=str(folder))
    except OSError as error:
        return replace(tool, missing=f"{folder} cannot be written: {error.strerror}")


def package(name: str, minimum: str, *, required: bool = True, target: str = "setup") -> Tool:
    """Probes a Python package by its metadata, without importing it."""
    tool = Tool(name, remedy=f"Run `make {target}`.", required=required)
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return replace(tool, missing="not installed")
    missing = too_old(version_in(version) or "0", minimum)
    return replace(tool, version=version, path="Python package", missing=missing)


# --- what a run needs


def require(*tools: Tool) -> None:
    """Checks that all of ``tools`` can be used.

    Raises:
        ToolError: One or more cannot; the message names them all and how to get each.
    """
    bad = [tool for tool in tools if not tool.ok]
    if not bad:
        return
    raise ToolError(
        "; ".join(f"{tool.name}: {tool.missing}" for tool in bad),
        where="this machine (`make doctor` lists everything)",
        remedy=" ".join(dict.fromkeys(tool.remedy for tool in bad)),
    )


def icarus_environment() -> tuple[Path, dict[str, str]]:
    """Returns the ``iverilog`` to call and the environment variables a run with it needs.

    Raises:
        ToolError: Icarus Verilog or the C compiler is missing or too old, or the build folder
            cannot be written.
    """
    tool = icarus()
    require(tool, c_compiler(), build_folder())
    return Path(tool.path), {"PATH": path_for(Path(tool.path))}


def path_for(executable: Path) -> str:
    """Returns a PATH where ``executable`` is the first of its name and ``python`` is this one."""
    here = [str(Path(sys.executable).parent)]
    if shutil.which(executable.name) != str(executable):
        here.insert(0, str(executable.parent))
    rest = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part not in here]
    return os.pathsep.join([*dict.fromkeys(here), *rest])
