# SPDX-License-Identifier: Apache-2.0
"""Tool discovery against a PATH of fake executables: no simulator is called."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.errors import PtoError, ToolError
from tb.setup import doctor, tools, verilator
from tests.setup.conftest import FakePath
from tests.wording import line_says


def test_versions_compare_as_numbers() -> None:
    assert tools.version_in("c++ (Debian 12.2.0-14) 12.2.0") == "12.2.0"
    assert tools.version_in("no digits") == ""
    assert tools.numbers("5.100") > tools.numbers(verilator.MIN_VERILATOR) > tools.numbers("5.006")


def test_compiler_that_cannot_compile(path: FakePath) -> None:
    fake = path.add("c++", "c++ (Fake) 8.3.0")
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "c++ (Fake) 8.3.0" && exit 0\nexit 1\n'
    )
    tool = tools.cxx_compiler()
    assert (bool(tool.path), tool.ok, tool.version) == (True, False, "8.3.0")
    assert "coroutines" in tool.missing


@pytest.mark.parametrize(
    ("prints", "others", "facts", "version"),
    [
        (None, (), "no iverilog PATH", ""),
        ("unknown option -V", (), "prints no version", ""),
        ("Icarus Verilog version 10.3 (stable) ()\n1998-2015", (), "10.3 too old 11.0", "10.3"),
        ("Icarus Verilog version 12.0 (stable) ()", (), "vvp is not", "12.0"),
        ("Icarus Verilog version 13.0 (devel) (s20221226)", ("vvp", "iverilog-vpi"), "", "13.0"),
    ],
)
def test_icarus(
    path: FakePath, prints: str | None, others: tuple[str, ...], facts: str, version: str
) -> None:
    if prints is not None:
        path.add("iverilog", prints)
    for name in others:
        path.add(name)
    tool = tools.icarus()
    assert (tool.ok, tool.version, tool.required) == (not facts, version, False)
    assert not facts or line_says(tool.missing, facts)
    if prints is None:
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


@pytest.mark.long
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


# --- `doctor` over made-up findings

GOOD = tools.Tool("make", "4.3", "/usr/bin/make")
BAD = tools.Tool("perl", missing="no perl on the PATH", remedy="Install perl.")
OPTIONAL = tools.Tool("Icarus", "10.3", "/x", "10.3 is too old", "Get 11.", required=False)


@pytest.mark.parametrize(("found", "code"), [((GOOD,), 0), ((GOOD, OPTIONAL), 0), ((GOOD, BAD), 1)])
def test_exit_code_and_json(
    found: tuple[tools.Tool, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "survey", lambda: found)
    place = tmp_path / "new" / "doctor.json"
    assert doctor.doctor_command(place) == code
    record = json.loads(place.read_text())
    assert record["ok"] == (code == 0)
    facts = [(tool["name"], tool["found"], tool["ok"]) for tool in record["tools"]]
    assert facts == [(tool.name, bool(tool.path), tool.ok) for tool in found]
    with pytest.raises(PtoError, match=r"cannot write doctor\.json"):
        doctor.doctor_command(place / "doctor.json")


def test_table_has_missing_tools_and_their_remedies() -> None:
    table = doctor.report((GOOD, BAD, OPTIONAL))
    assert "MISSING   perl    -        no perl on the PATH" in table
    assert "perl: Install perl." in table
    assert "optional  Icarus  10.3     10.3 is too old" in table
    assert "cannot run yet, missing: perl" in table
