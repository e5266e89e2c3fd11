# SPDX-License-Identifier: Apache-2.0
"""Who may know whom: the dependency rules of docs/architecture.md, read off the imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tb.dut import ROOT

OURS = ("tb", "sequences", "scoreboards", "tests")

SIMULATOR = {"cocotb", "cocotb_bus", "cocotb_tools", "cocotbext", "pyuvm"}

# Package or module -> prefixes of our own modules that it may import.
ALLOWED: dict[str, tuple[str, ...]] = {
    "tb.isa": ("tb.isa",),
    "scoreboards.model": ("tb.isa", "scoreboards.model"),
    "tb.language": ("tb.isa", "tb.errors", "tb.language"),
    "tb.programs.job": (),
    "sequences": ("tb.isa", "tb.errors", "tb.language", "sequences"),
    "tb.coverage": ("tb.isa", "tb.errors", "tb.coverage", "tb.files", "tb.knobs"),
    "tb.files": ("tb.errors",),
    "tb.knobs": ("tb.isa", "tb.mailbox_layout"),
    "tb.mailbox_layout": ("tb.isa",),
    "tb.mailbox": ("tb.isa", "tb.errors", "tb.mailbox_layout"),
    "tb.memory": ("tb.isa", "tb.errors", "tb.mailbox"),
    "tb.agents": (
        *("tb.isa", "tb.errors", "tb.agents"),
        *("tb.mailbox", "tb.mailbox_layout", "tb.memory"),
    ),
    "tb.dut": ("tb.isa", "tb.errors", "tb.filelist"),
    "tb.filelist": ("tb.errors",),
    "tb.orphans": (),
    "tb.regress": (
        *("tb.isa", "tb.errors", "tb.coverage", "tb.dut", "tb.files", "tb.plan", "tb.record"),
        *("tb.selection", "tb.simulators", "tb.orphans", "sequences", "tb.regress"),
    ),
    "tb.regress.views": ("tb.coverage", "tb.record"),
    "tb.report": (
        *("tb.errors", "tb.coverage", "tb.dut", "tb.record"),
        *("tb.regress.views", "tb.report"),
    ),
}

# Modules that must be importable and testable without a simulator.
WITHOUT_SIMULATOR = (
    "tb.isa",
    "tb.language",
    "tb.programs.job",
    "tb.coverage",
    "tb.mailbox",
    "tb.mailbox_layout",
    "tb.memory",
    "tb.dut",
    "tb.filelist",
    "tb.contract",
    "tb.ports",
    "tb.scaffold",
    "tb.record",
    "tb.plan",
    "tb.selection",
    "tb.limits",
    "tb.user_code",
    "sequences.op_filter",
    "scoreboards.model",
    "scoreboards.golden",
    "scoreboards.compare",
    "scoreboards.faults",
    "scoreboards.picture",
    "scoreboards.report",
    "scoreboards.unit_flags",
    "sequences.draw",
    "sequences.fixpipe",
    "sequences.illegal",
    "sequences.corner",
    "sequences.examples",
    "tb.programs.placement",
    "tb.programs.arrays",
    "tb.programs.buffers",
    "tb.programs.data",
    "tb.programs.outputs",
    "tb.programs.prepare",
    "tb.programs.options",
    "tb.programs.served",
    "tb.programs.setup",
    "tb.programs.setup_file",
    "tb.prove",
    "sequences.replay",
    "tb.orphans",
    "tb.publish",
    "tb.regress",
    "tb.report",
    "tb.simulators",
    "tb.programs.verify",
)

# Regressions and pages must not know these by any way round: coordinators and page makers import
# fast, and workers alone have simulators.
UNKNOWN_TO_REGRESSIONS = (
    *sorted(SIMULATOR),
    *("tb.context", "tb.env", "tb.runner", "tb.runners", "tb.simulator", "tb.work"),
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


def imports(file: Path) -> set[str]:
    """Returns the modules that a file imports at any level, absolute names."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide who knows whom"
            found.add(node.module or "")
    return found


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def broken(file: Path, allowed: tuple[str, ...]) -> list[str]:
    """Returns the imports of ours that the rules do not allow."""
    return sorted(
        name
        for name in imports(file)
        if name.split(".")[0] in OURS and not any(within(name, prefix) for prefix in allowed)
    )


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_go_down_only(package: str) -> None:
    found = {name: broken(file, ALLOWED[package]) for name, file in modules(package)}
    assert not {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("package", WITHOUT_SIMULATOR)
def test_no_simulator_needed(package: str) -> None:
    for name, file in modules(package):
        used = {found for found in imports(file) if found.split(".")[0] in SIMULATOR}
        assert not used, f"{name} needs a simulator for {used}"


def importing(names: Iterable[str], hidden: Iterable[str]) -> str:
    """Imports modules where others cannot be imported; returns the last line of the error."""
    code = (
        f"import sys, importlib\nsys.modules.update(dict.fromkeys({sorted(hidden)}))\n"
        f"for name in {sorted(names)}: importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def test_regressions_and_pages_know_no_simulator_by_any_way_round() -> None:
    found = [*modules("tb.regress"), *modules("tb.report"), *modules("tb.publish")]
    # Alembic alone runs these.
    names = [name for name, _ in found if not name.startswith("tb.regress.migrations")]
    assert importing(names, UNKNOWN_TO_REGRESSIONS) == ""
    assert "tb.runner" in importing(["tb.work"], ["tb.runner"]), "what is hidden is seen"


def test_nothing_but_tests_and_the_plan_knows_tests() -> None:
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
    table = text.partition("| package | may import, of ours |\n|---|---|\n")[2].partition("\n\n")[0]
    documented = {}
    for line in table.splitlines():
        _, package, allowed, _ = (cell.strip() for cell in line.split("|"))
        name = package.strip("`")
        own = {name} if allowed.endswith("itself") else set()
        documented[name] = set(re.findall(r"`([\w.]+)`", allowed)) | own
    # A module needs no leave to be itself.
    assert documented == {name: set(allowed) for name, allowed in ALLOWED.items()}


def test_a_broken_rule_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("from tb.env import PtoEnv\nimport tb.isa.dma\nimport numpy\n")
    assert broken(file, ALLOWED["tb.isa"]) == ["tb.env"]
