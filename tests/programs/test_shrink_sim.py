# SPDX-License-Identifier: Apache-2.0
"""Failures of engines with bugs are made small: few ops, the same check, a pass without the bug."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from tb.cli import main as cli
from tb.common.errors import PtoError
from tb.harness.port_events import first_differences
from tb.programs.options import ProgramOptions
from tb.programs.reference import Run, with_events
from tb.programs.shrink_command import shrink_input
from tb.record.record import RunRecord
from tb.record.signature import checks_of
from tb.run.launch import Launcher
from tb.run.run import run_once
from tests.bugs.switched import SWITCH
from tests.programs.test_repro import (
    MEETINGS,
    OTHERS,
    WATCHDOG_CLOCKS,
    BugRun,
    failed,
    number_of,
    plan,
    replay,
    written,
)
from tests.sim.runs import run, wrong_dones

pytestmark = pytest.mark.sim

MOST_OPS = 3
SECONDS = 60.0

BUGS = {one.bug: one for one in (*MEETINGS, *OTHERS)}
NO_PROGRAM = {"fix_flags_check_only_not_waited", "local_read_error_lost", "pad_phase_at_data_end"}
"""Bugs whose programs are not repeatable alone, or need an error or ops before them."""
MACHINE = {"watchdog_clocks": WATCHDOG_CLOCKS}


def runs_of(bug: BugRun | None) -> Run:
    """Returns what runs tests on the engines with a bug."""
    return partial(
        run_once,
        manifests=plan().manifests,
        variant=plan().variant,
        fast_build=True,
        launcher=Launcher((f"+{SWITCH}={number_of(bug)}",)),
    )


def shrink(bug: BugRun | None, path: Path, record: RunRecord | None, out: Path) -> int:
    """Makes a failure small on the engines with a bug; returns the ops of the result."""
    shrink_input(path, record, ProgramOptions(), MACHINE, runs_of(bug), out, SECONDS)
    return sum(": !pto.ptr" in line and "castptr" not in line for line in out.open())


@pytest.mark.share("tb/programs")
@pytest.mark.parametrize("bug", sorted(BUGS.keys() - NO_PROGRAM))
def test_the_failure_of_a_run_takes_few_ops(bug: str, tmp_path: Path) -> None:
    record, folder = failed(BUGS[bug])
    out = tmp_path / "small.pto"
    assert 1 <= shrink(BUGS[bug], folder, record, out) <= MOST_OPS
    assert checks_of(record)[0] in checks_of(replay(BUGS[bug], out))
    passing = replay(None, out)
    assert passing.passed, passing.failures
    head = out.read_text().partition("module")[0]
    assert f"make program PROGRAM={out} SIM=verilator" in head


def test_a_batch_is_cut_to_its_failing_op(tmp_path: Path) -> None:
    bug = BUGS["rotate_direction"]
    batch = written(bug).with_name("batch.pto")
    assert shrink(bug, batch, None, tmp_path / "small.pto") == 1


@pytest.mark.parametrize(("fault", "shown"), [(1, "tag 131 status 0 at clock "), (4, "none")])
def test_the_command_shrinks_a_run(
    fault: int, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By Icarus, on an engine of a user with a wrong tag, or no report, from the fourth one on."""
    (tmp_path / "dut").mkdir()
    manifest = wrong_dones(tmp_path / "dut", fault)
    ops, folder = ("mte_gm_ub",), tmp_path / "run"
    run(
        "random", sim="icarus", duts=(str(manifest),), ops=ops, transactions=40, folder=folder,
        watchdog_clocks=WATCHDOG_CLOCKS,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["pto-dv", "shrink", str(folder)])
        with pytest.raises(SystemExit) as end:
            cli.main()
    assert not end.value.code
    output = capsys.readouterr().out
    assert re.search(r"^in +[\d.]+ s, \d+ simulations?$", output, re.MULTILINE)
    assert re.search(r"^to +4 ops, 4 steps", output, re.MULTILINE), output
    assert f"repeat   make program PROGRAM={folder}/shrunk.pto SIM=icarus DUT={manifest}" in output
    assert sorted(path.name for path in folder.glob("shrunk*")) == ["shrunk.pto", "shrunk.toml"]
    differs = f"mte2: 4th done: reference tag 3 status 0, DUT {shown}"
    assert output.splitlines()[-1].startswith(f"differs  {differs}")
    assert f"// differs: {differs}" in (folder / "shrunk.pto").read_text()


@pytest.mark.parametrize(
    ("bug", "text"),
    [
        ("rotate_direction", r"mte2: 1st local write, from UB\d 0x\w+: reference .*, DUT .* at "),
        ("nz_loops_swapped", r"mte2: \d+.. local write: reference L1 0x\w+, DUT L1 0x\w+ at clock"),
        (
            "l06_16_bytes",
            r"mte2: 1st read of GM: reference none, DUT GM 0x\w+ at clock \d+\n(.+\n)*"
            r"mte2: 1st done: reference tag (\d+) status 1 rule 6, DUT tag \2 status 0 at clock",
        ),
    ],
)
def test_the_first_event_that_differs_from_the_reference_is_found(
    bug: str, text: str, tmp_path: Path
) -> None:
    """Of wrong data, a wrong address and a wrong report; the bug is off in the reference."""
    program = written(BUGS[bug])
    good, reference = with_events(program, MACHINE, runs_of(None), tmp_path)
    bad, dut = with_events(program, MACHINE, runs_of(BUGS[bug]), tmp_path)
    assert (good.passed, bad.passed) == (True, False)
    assert re.match(text, "\n".join(first_differences(reference, dut)))
    assert first_differences(reference, reference) == []


def test_a_run_without_programs_is_repeated(tmp_path: Path) -> None:
    bug = BUGS["burst_ub_sub_ignored"]
    record, _ = failed(bug)
    assert shrink(bug, tmp_path / "record.json", record, tmp_path / "small.pto") == 1


def test_a_program_that_passes_is_refused(tmp_path: Path) -> None:
    program = written(BUGS["rotate_direction"])
    with pytest.raises(PtoError, match="passes: nothing to shrink"):
        shrink(None, program, None, tmp_path / "small.pto")
    assert not list(tmp_path.iterdir())


def test_a_failure_that_does_not_repeat_is_refused(tmp_path: Path) -> None:
    record, folder = failed(BUGS["rotate_direction"])
    with pytest.raises(PtoError, match=r"no program repeats .* wrong data") as refused:
        shrink(None, folder, record, tmp_path / "small.pto")
    assert "failing.pto passes" in str(refused.value)
    assert not list(tmp_path.iterdir())
