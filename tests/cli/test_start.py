# SPDX-License-Identifier: Apache-2.0
"""What the commands import: no packages that they do not need, so that they start fast."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb.common.paths import ROOT

pytestmark = pytest.mark.long

HEAVY = (
    *("numpy", "cocotb", "cocotb_tools", "pyuvm", "sqlalchemy", "xdsl", "jinja2", "pyslang"),
    *("multiprocessing", "asyncio", "distributed", "scoreboards", "sequences", "tb.run", "tb.env"),
    *("tb.coverage", "tb.record"),
)
"""Packages that take long to import, and those of ours that need them."""

PROGRAM = "examples/programs/load_tile.pto"
SCRIPT = f"""
import sys
from tb.cli.main import main
sys.argv = ["pto-dv", *sys.argv[1:]]
try:
    main()
finally:
    print("imported", *[name for name in {HEAVY!r} if name in sys.modules])
"""


def imported(*words: str) -> set[str]:
    """Returns the heavy packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "imported", done
    return {*last[1:]}


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["--help"], set()),
        (["verify", PROGRAM], {"xdsl"}),
        (["verify", "examples/programs", "--foreign", "skip", "--hazard=warn"], {"xdsl"}),
        (["verify", "examples/programs/rules"], {"xdsl"}),
        (["verify", "no.pto"], {"xdsl"}),
        (["doctor"], set()),
    ],
    ids=lambda each: " ".join(sorted(each) if isinstance(each, set) else each[:3]),
)
def test_a_command_imports_what_it_needs(words: list[str], needed: set[str]) -> None:
    assert imported(*words) <= needed


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("tb.programs.command", {"typer", "rich", "sequences", "tb.coverage", "scoreboards"}),
        # The simulation of a program takes its trace from the command.
        ("tb.programs.replay_test", {"typer", "rich", "xdsl", "sqlalchemy"}),
    ],
)
def test_a_replay_imports_what_it_needs(module: str, unneeded: set[str]) -> None:
    script = f"import sys, {module}; print(*[x for x in {sorted(unneeded)} if x in sys.modules])"
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_values_need_arrays() -> None:
    """The guard sees an import that is there."""
    assert "numpy" in imported("verify", PROGRAM, "--arg", "2=4")


@pytest.mark.parametrize("forbidden", ["", "1"])
def test_bytecode_is_written(tmp_path: Path, forbidden: str) -> None:
    """As by make, also where the environment of a container forbids it."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": forbidden, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    words = [sys.executable, "-m", "tb", "verify", PROGRAM]
    subprocess.run(words, cwd=ROOT, env=env, check=True, capture_output=True)
    names = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert {"reader", "order", "options"} <= names
