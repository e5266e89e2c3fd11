# SPDX-License-Identifier: Apache-2.0
"""Copies of examples with injected bugs, and runs of them: all bugs of a copy are in one build."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb.common.paths import BUILD_ROOT, ROOT
from tb.record.record import RunRecord
from tb.run.launch import Launcher
from tests.bugs.campaign import WORKER
from tests.sim import runs

EXAMPLES = ROOT / "examples"


def manifests(folder: Path) -> tuple[str, ...]:
    """Returns the manifests of an example, or of a copy."""
    return tuple(sorted(map(str, folder.glob("dut*.toml"))))


def run(test: str, duts: tuple[str, ...], **settings: Any) -> RunRecord:
    """Runs one test of the plan on the engines of some manifests."""
    return runs.run(test, duts=duts, fast_build=True, **settings)


@dataclass(frozen=True)
class Bug:
    """A change of one file, the test that finds it, and text of the first failure.

    ``BUG`` in its text is true in the runs with this bug. Files are relative to the project.
    """

    name: str
    file: str
    old: str
    new: str
    test: str
    says: str


def copy_of(example: str, name: str) -> Path:
    """Copies an example and the adapters, and returns the folder of the copied example."""
    top = BUILD_ROOT / f"examples{WORKER}" / name
    shutil.rmtree(top, ignore_errors=True)
    for folder in (f"examples/{example}", "rtl_stubs"):
        shutil.copytree(ROOT / folder, top / folder)
    return top / "examples" / example


def replace(path: Path, old: str, new: str) -> None:
    """Replaces a text that the file has once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new))


def plant(example: str, bugs: Sequence[Bug]) -> Path:
    """Returns the folder of a copy with every bug, each switched by a plusarg of its name."""
    folder = copy_of(example, f"{example}_bugs")
    for bug in bugs:
        switch = f'$test$plusargs("{bug.name}")'
        replace(folder.parents[1] / bug.file, bug.old, bug.new.replace("BUG", switch))
    return folder


def run_bug(duts: tuple[str, ...], test: str, *plusargs: str) -> RunRecord:
    """Runs one test on a copy with bugs, of which the plusargs name those that are on."""
    return run(
        test,
        duts,
        sim="verilator",
        transactions=300,
        seed=24,
        watchdog_clocks=20000,
        launcher=Launcher(plusargs),
    )


def assert_caught(bug: Bug, duts: tuple[str, ...]) -> None:
    """Asserts that the test of a bug finds it, and says so."""
    record = run_bug(duts, bug.test, f"+{bug.name}")
    assert record.status in ("fail", "hang"), record.last_line()
    text = "\n".join([record.message, *record.failures])
    assert bug.says in text, text
