# SPDX-License-Identifier: Apache-2.0
"""The written program of a failed run fails on the same engine, and passes on a good one.

Bugs of every family are injected with switches into one build (tests/bugs/switched.py).
A short random run fails on each; its programs below ``repro/`` are replayed by the code of
``pto-dv program``, on the engine with the bug and on the engines as they are.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tb.common.paths import BUILD_ROOT, ROOT
from tb.dut.manifest import REFERENCE_MANIFESTS, load_manifest
from tb.dut.selection import SELECTABLE
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.run.build import build
from tb.run.console import Console
from tb.run.folder import run_folder
from tb.run.launch import Launcher
from tb.run.plan import BuildPlan
from tb.run.run import run_once
from tb.run.testlist import planned_test
from tests.bugs.campaign import ENGINES, WORKER, load_bugs
from tests.bugs.switched import SWITCH, plant_switched
from tests.sim.runs import run

pytestmark = pytest.mark.sim


@dataclass(frozen=True)
class BugRun:
    """A run that fails on a bug.

    Attributes:
        bug: Name in tests/bugs/bugs.toml.
        ops: Ops of the run.
        test: Test of the plan.
        kind: Kind of the first failure, as in :class:`tb.record.record.Failure`.
        program: Program that fails again: the transaction alone, or its block.
        seed: Of the run.
    """

    bug: str
    ops: tuple[str, ...]
    kind: str
    test: str = "random"
    program: str = "failing"
    seed: int = 4712


WRITE_BACKS = ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")
L0_LOADS = ("mte_l1_l0a", "mte_l1_l0b", "mte_l1_l0a_mx", "mte_l1_l0b_mx")
MEETINGS = (
    BugRun("rotate_direction", ("mte_gm_ub", "mte_ub_gm"), "data"),
    BugRun("pad_phase_at_data_end", ("copy_gm_to_ubuf",), "data"),
    BugRun("burst_ub_sub_ignored", ("mte_ub_ub", "mte_ub_l1"), "data"),
    BugRun("bias_gap_in_source_bytes", ("mte_l1_bt",), "data"),
    BugRun("nz_loops_swapped", ("mte_gm_l1_frac",), "protocol"),
    BugRun("fix_s3_d3_swapped", WRITE_BACKS, "data"),
    BugRun("fix_flags_check_only_not_waited", WRITE_BACKS, "data", seed=4703),
    BugRun("fix_bank_of_word_before", WRITE_BACKS, "data", program="batch"),
    BugRun("store_lane_ignored", ("mte_ub_gm",), "hang"),
    BugRun("l06_16_bytes", ("mte_gm_ub",), "status", test="illegal"),
    BugRun("local_read_error_lost", ("mte_ub_gm",), "late burst", test="errors"),
)
OTHERS = (
    BugRun("rows_one_too_many", ("mte_gm_ub",), "data"),
    BugRun("gm_strides_swapped_levels", ("mte_gm_ub",), "data"),
    BugRun("residue_not_kept", ("mte_gm_ub",), "data"),
    BugRun("first_strobe_full", ("mte_ub_gm",), "data"),
    BugRun("nz_loop4_ignored_small", ("mte_gm_l1_frac",), "data"),
    BugRun("tail_of_stores", ("mte_ub_gm",), "data"),
    BugRun("l0_square_of_bytes", L0_LOADS, "data"),
    BugRun("l0_pitch_from_line", L0_LOADS, "data"),
    BugRun("fb_gap_in_32_bytes", ("mte_l1_fb",), "data"),
    BugRun("fix_relu_of_word_before", WRITE_BACKS, "data"),
    BugRun("fix_shift_sticky_lost", WRITE_BACKS, "data"),
    BugRun("fix_relu_nan_to_zero", WRITE_BACKS, "data"),
)
"""Bugs whose failures are made small (test_shrink_sim.py)."""
TRANSACTIONS = 150
WATCHDOG_CLOCKS = 5_000
TOP = BUILD_ROOT / f"repro-engines{WORKER}"


@cache
def plan() -> BuildPlan:
    """Builds the engines with every bug switched by its number, and returns the build."""
    bugs = {bug.name: bug for bug in load_bugs()}
    shutil.rmtree(TOP, ignore_errors=True)
    shutil.copytree(ROOT / ENGINES, TOP / ENGINES)
    changes = [
        (number, bugs[bug_run.bug].file, bugs[bug_run.bug].find, bugs[bug_run.bug].replace)
        for number, bug_run in enumerate((*MEETINGS, *OTHERS), 1)
    ]
    plant_switched(TOP, changes)
    manifests = tuple(load_manifest(TOP / path.relative_to(ROOT)) for path in REFERENCE_MANIFESTS)
    found = BuildPlan("verilator", manifests, variant=f"repro{WORKER}", fast_build=True)
    build(found)
    return found


def number_of(bug_run: BugRun | None) -> int:
    return 0 if bug_run is None else 1 + (*MEETINGS, *OTHERS).index(bug_run)


@cache
def failed(bug_run: BugRun) -> tuple[RunRecord, Path]:
    """Runs a test until it fails; returns the record and the folder of the run."""
    planned = planned_test(bug_run.test)
    settings = RunSettings(
        test=bug_run.test,
        seed=bug_run.seed,
        transactions=TRANSACTIONS,
        ops=bug_run.ops,
        mismatch_limit=1,
        watchdog_clocks=WATCHDOG_CLOCKS,
        options=planned.options,
    )
    folder = TOP / "runs" / bug_run.bug
    record = run_once(
        settings,
        planned,
        manifests=plan().manifests,
        variant=plan().variant,
        fast_build=True,
        console=Console(quiet=True),
        folder=folder,
        launcher=Launcher((f"+{SWITCH}={number_of(bug_run)}",)),
    )
    return record, folder


def written(bug_run: BugRun) -> Path:
    """Returns the program that a failed run has written."""
    record, folder = failed(bug_run)
    report = record.failures[0]
    replayed = re.search(r"\n  replay: make program PROGRAM=(\S+) SIM=verilator$", report)
    assert replayed, report
    path = ROOT / replayed[1]
    assert path.is_relative_to(folder / "repro")
    assert path.name == "failing.pto"
    return path.with_name(f"{bug_run.program}.pto")


def replay(bug_run: BugRun | None, *programs: Path) -> RunRecord:
    """Replays programs on the engines with a bug or without one."""
    machine = {"watchdog_clocks": WATCHDOG_CLOCKS}
    found = Replay.make([str(path) for path in programs], ProgramOptions(), machine)
    return run_once(
        found.settings,
        found.planned,
        manifests=plan().manifests,
        variant=plan().variant,
        fast_build=True,
        console=Console(quiet=True),
        folder=run_folder(found.settings),
        launcher=Launcher((f"+{SWITCH}={number_of(bug_run)}",)),
        files=found.files,
    )


@pytest.mark.parametrize("bug_run", MEETINGS, ids=lambda bug_run: bug_run.bug)
def test_the_written_program_fails_again(bug_run: BugRun) -> None:
    record, folder = failed(bug_run)
    assert record.status in ("fail", "hang"), record.message
    first = record.details[0]
    assert first.kind == bug_run.kind, first.text
    again = replay(bug_run, written(bug_run))
    assert again.status == record.status, again.message
    assert again.details[0].op == first.op
    assert (folder / "repro").is_dir()


def test_all_programs_pass_on_the_reference_engines() -> None:
    folders = [written(bug_run).parent for bug_run in MEETINGS]
    programs = [folder / f"{name}.pto" for folder in folders for name in ("failing", "batch")]
    record = replay(None, *programs)
    assert record.passed, "\n".join([record.message, *record.failures])


@pytest.mark.share("scoreboards")
@pytest.mark.parametrize("op", SELECTABLE)
def test_a_transaction_of_every_op_is_written_and_replayed(op: str, tmp_path: Path) -> None:
    record = run("random", ops=(op,), transactions=10, repro="1", folder=tmp_path / "run")
    assert record.passed, record.failures
    programs = sorted((tmp_path / "run/repro").glob("*/*.pto"))
    assert [program.name for program in programs] == ["batch.pto", "transaction.pto"]
    made = Replay.make([str(program) for program in programs], ProgramOptions(), {})
    files, quiet = made.files, Console(quiet=True)
    again = run_once(made.settings, made.planned, files=files, console=quiet)
    assert again.passed, "\n".join([again.message, *again.failures])
    assert set(again.ops) == {op}
    assert again.bytes_checked > 0
