# SPDX-License-Identifier: Apache-2.0
"""The rooms of docs/architecture.md and their legal imports, read from the sources."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tests.tiers.reach import imported

OURS = ("tb", "sequences", "scoreboards", "tests")

SIMULATOR = {"cocotb", "cocotb_bus", "cocotb_tools", "cocotbext", "pyuvm"}

# Room -> other rooms that it may import; every room is listed after those that it imports.
ROOMS: dict[str, tuple[str, ...]] = {
    "tb.common": (),
    "tb.isa": (),
    "tb.setup": ("tb.common",),
    "tb.language": ("tb.common", "tb.isa"),
    "tb.record": ("tb.common", "tb.isa"),
    "tb.harness": ("tb.isa", "tb.record"),
    "tb.coverage": ("tb.common", "tb.harness", "tb.isa"),
    "sequences": ("tb.common", "tb.isa", "tb.language"),
    "tb.explain": ("sequences", "tb.common", "tb.isa", "tb.language"),
    "tb.dut": ("sequences", "tb.common", "tb.coverage", "tb.isa", "tb.record"),
    "scoreboards.model": ("tb.isa",),
    "scoreboards": (
        *("scoreboards.model", "sequences", "tb.common", "tb.harness", "tb.isa", "tb.language"),
        *("tb.record",),
    ),
    "tb.outside": (
        *("scoreboards", "scoreboards.model", "sequences", "tb.common", "tb.isa", "tb.record"),
    ),
    "tb.run": (
        *("sequences", "tb.common", "tb.coverage", "tb.dut", "tb.harness", "tb.isa", "tb.record"),
        "tb.setup",
    ),
    "tb.env": (
        *("scoreboards", "sequences", "tb.common", "tb.coverage", "tb.dut", "tb.harness"),
        *("tb.isa", "tb.outside", "tb.record", "tb.run.exchange"),
    ),
    "tb.programs": (
        *("scoreboards", "scoreboards.model", "sequences", "tb.common", "tb.dut", "tb.env"),
        *("tb.harness", "tb.isa", "tb.language", "tb.record", "tb.run"),
    ),
    "tb.regress": (
        *("sequences", "tb.common", "tb.coverage", "tb.dut", "tb.isa", "tb.record"),
        *("tb.run.testlist", "tb.run.recipes"),
    ),
    "tb.report": ("tb.common", "tb.coverage", "tb.record", "tb.regress.queries.views"),
    "tb.nightly": (
        *("tb.common", "tb.coverage", "tb.dut", "tb.programs", "tb.record", "tb.regress"),
        *("tb.report", "tb.run"),
    ),
    "tb.benchmark": (
        *("sequences", "tb.common", "tb.dut", "tb.env", "tb.harness", "tb.isa", "tb.record"),
        "tb.run",
    ),
    "tb.prove": ("tb.common", "tb.dut", "tb.harness", "tb.isa", "tb.run", "tb.setup"),
    "tb.qualify": (
        *("tb.common", "tb.dut", "tb.isa", "tb.prove", "tb.record", "tb.report", "tb.run"),
    ),
    "tb.cli": (
        *("tb.benchmark", "tb.common", "tb.coverage", "tb.dut", "tb.explain", "tb.nightly"),
        *("tb.outside", "tb.programs", "tb.prove", "tb.qualify", "tb.record"),
        *("tb.regress", "tb.report", "tb.run", "tb.setup"),
    ),
    "tb.__main__": ("tb.cli",),
}

# Rooms and modules that must be importable and testable without a simulator.
WITHOUT_SIMULATOR = (
    *("tb.common", "tb.isa", "tb.language", "tb.record", "tb.coverage", "tb.dut", "tb.regress"),
    *("tb.explain", "tb.report", "tb.setup", "tb.prove", "tb.cli", "tb.nightly", "tb.outside"),
    "scoreboards.model",
    *("tb.harness.layout", "tb.harness.mailbox", "tb.harness.mailbox_reader"),
    *("tb.harness.memory", "tb.harness.knobs", "tb.harness.protocol"),
    *("tb.harness.hang_report", "tb.run.testlist", "tb.run.recipes"),
)

# Modules of these that run inside the simulator.
IN_SIMULATOR = (
    *("tb.env", "tb.harness.items", "tb.programs.replay_test", "tb.benchmark"),
    *("scoreboards.scoreboard", "scoreboards.failure", "sequences.uvm"),
    # They build and start it.
    *("tb.run.build", "tb.run.launch", "tb.run.judge"),
)

# Regressions and pages must not import these, also not indirectly: coordinators and page makers
# import fast, and only workers have simulators.
UNKNOWN_TO_REGRESSIONS = (
    *sorted(SIMULATOR),
    *("tb.env", "tb.run.run", "tb.run.launch", "tb.run.build", "tb.nightly.worker"),
)


def modules(prefix: str) -> list[tuple[str, Path]]:
    """Returns name and file of ``prefix`` and everything below it."""
    path = ROOT / prefix.replace(".", "/")
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return [
        (
            str(file.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__"),
            file,
        )
        for file in files
    ]


@cache
def imports(file: Path) -> frozenset[str]:
    """Returns the modules that a file imports at any level, absolute names."""
    text = file.read_text()
    assert not re.search(r"^\s*from \.", text, re.M), (
        f"{file}: relative imports hide the dependency"
    )

    def module(name: str) -> str:
        below = ROOT / name.replace(".", "/")
        is_module = below.is_dir() or below.with_suffix(".py").exists()
        return name if is_module else name.rpartition(".")[0] or name

    return frozenset(map(module, imported(text)))


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def room_of(name: str) -> str:
    """Returns the room of a module: the longest that holds it, empty for none."""
    return max((room for room in ROOMS if within(name, room)), key=len, default="")


def broken(name: str, file: Path) -> list[str]:
    """Returns the imports of the project that the room of module ``name`` does not allow."""
    room = room_of(name)
    return sorted(
        found
        for found in imports(file)
        if found.split(".")[0] in OURS
        and room_of(found) != room
        and not any(
            within(found, allowed) and (allowed not in ROOMS or room_of(found) == allowed)
            for allowed in ROOMS[room]
        )
    )


@cache
def graph() -> dict[str, frozenset[str]]:
    """Returns module to the modules of the project that it imports, without the tests."""
    found = {name: file for top in OURS[:3] for name, file in modules(top)}
    return {name: imports(file) & found.keys() for name, file in found.items()}


@pytest.mark.long
def test_every_module_has_a_room() -> None:
    loose = [name for name in graph() if not room_of(name) and name not in OURS]
    assert not loose
    hall = {file.name for file in (ROOT / "tb").iterdir() if file.suffix == ".py"}
    assert hall == {"__init__.py", "__main__.py"}


def test_rooms_are_listed_after_those_that_they_import() -> None:
    names = list(ROOMS)
    for number, (room, allowed) in enumerate(ROOMS.items()):
        assert {room_of(name) for name in allowed} <= set(names[:number]), room


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_down_only(room: str) -> None:
    found = {name: broken(name, file) for name, file in modules(room)}
    assert not {name: wrong for name, wrong in found.items() if wrong}


def test_no_room_is_allowed_what_it_does_not_import() -> None:
    used = {room: set[str]() for room in ROOMS}
    for name, found in graph().items():
        if name not in OURS:
            used[room_of(name)] |= found
    for room, allowed in ROOMS.items():
        idle = [one for one in allowed if not any(within(name, one) for name in used[room])]
        assert not idle, room


def circle(edges: Mapping[str, Collection[str]]) -> list[str]:
    """Returns modules that import each other in a circle, or nothing."""
    done: set[str] = set()
    way: list[str] = []

    def visit(name: str) -> list[str]:
        if name in way:
            return way[way.index(name) :]
        if name in done:
            return []
        way.append(name)
        for other in sorted(edges[name]):
            if found := visit(other):
                return found
        way.pop()
        done.add(name)
        return []

    return next((found for name in sorted(edges) if (found := visit(name))), [])


def test_no_modules_import_each_other_in_a_circle() -> None:
    edges = graph()
    edges["tb.isa.operands"] = frozenset()  # for type checkers; nothing imports it when it runs
    assert not circle(edges)
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"], "a circle is found"


@pytest.mark.parametrize("package", WITHOUT_SIMULATOR)
def test_no_simulator_needed(package: str) -> None:
    for name, file in modules(package):
        used = {found for found in imports(file) if found.split(".")[0] in SIMULATOR}
        assert not used, f"{name} needs a simulator for {used}"


def test_modules_that_need_a_simulator_are_listed() -> None:
    for name, file in ((name, file) for top in OURS[:3] for name, file in modules(top)):
        if {found for found in imports(file) if found.split(".")[0] in SIMULATOR}:
            assert any(within(name, one) for one in IN_SIMULATOR), name


def importing(names: Iterable[str], hidden: Iterable[str]) -> str:
    """Imports modules while others are hidden; returns the last line of the error."""
    code = (
        f"import sys, importlib\nsys.modules.update(dict.fromkeys({sorted(hidden)}))\n"
        f"for name in {sorted(names)}: importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


@pytest.mark.long
def test_regressions_and_pages_import_no_simulator() -> None:
    found = [*modules("tb.regress"), *modules("tb.report"), *modules("tb.nightly.publish")]
    names = [name for name, _ in found]
    assert importing(names, UNKNOWN_TO_REGRESSIONS) == ""
    seen = importing(["tb.nightly.worker"], ["tb.run.run"])
    assert "tb.run.run" in seen, "a hidden module is found"


def test_only_tests_import_tests() -> None:
    for package in ("tb", "sequences", "scoreboards"):
        for name, file in modules(package):
            used = {found for found in imports(file) if within(found, "tests")}
            assert not used, f"{name} imports {used}"


def test_model_and_rtl_share_only_the_tables() -> None:
    """The model must not read the RTL, nor the lowering and footprints that feed the stimulus."""
    for name, file in modules("scoreboards.model"):
        text = file.read_text()
        assert "rtl_stubs" not in text, name
        assert "lower_copy" not in text, name


def test_the_page_has_these_rules() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    table = text.partition("| room | purpose | may import, of ours |\n|---|---|---|\n")[2]
    documented = {}
    for line in table.partition("\n\n")[0].splitlines():
        _, room, _, allowed, _ = (cell.strip() for cell in line.split("|"))
        documented[room.strip("`").replace("/", ".")] = re.findall(r"`([\w./]+)`", allowed)
    short = {
        room: sorted(name.removeprefix("tb.") for name in allowed)
        for room, allowed in ROOMS.items()
        if room != "tb.__main__"
    }
    assert {room: sorted(names) for room, names in documented.items()} == short


def test_a_broken_rule_is_found(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("from tb.env import environment\nimport tb.isa.dma.op\nimport numpy\n")
    assert broken("tb.isa.bad", file) == ["tb.env.environment"]
    other = tmp_path / "other.py"
    other.write_text("from scoreboards.scoreboard import Scoreboard\nimport tb.isa.dma.op\n")
    assert broken("scoreboards.model.bad", other) == ["scoreboards.scoreboard"]
