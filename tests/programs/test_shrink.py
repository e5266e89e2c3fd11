# SPDX-License-Identifier: Apache-2.0
"""``pto-dv shrink``: input that cannot be made small, and how a case becomes simpler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.cli import main as cli
from tb.common.files import write_json
from tb.isa.dma.op import Loop
from tb.isa.lower import OP_CLASSES
from tb.isa.ops import OPS
from tb.programs.case import Case, case_of, files_of, is_op
from tb.programs.command import Replay
from tb.programs.options import ProgramOptions
from tb.programs.simpler import fewest, operands, parts_of, simpler, simpler_ops, without
from tb.record.failure import Failure
from tb.record.record import RunRecord
from tb.record.settings import RunSettings
from tb.record.signature import checks_of
from tests.programs.copies import ARGS, COPY
from tests.wording import says

Capture = pytest.CaptureFixture[str]


def refused(capsys: Capture, *words: str) -> str:
    """Returns the message of a refused command, which prints nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["pto-dv", "shrink", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
    assert end.value.code == 2
    text = capsys.readouterr()
    assert not text.out
    return text.err


def record_in(folder: Path, status: str, *details: Failure, message: str = "") -> Path:
    """Writes the record of a run, and returns its file."""
    settings = RunSettings(transactions=5)
    found = RunRecord(settings=settings, command=settings.command(), status=status)
    found.details, found.message = list(details), message
    write_json(folder / "record.json", found)
    return folder / "record.json"


def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "wrong.pto").write_text("module {")
    before = sorted(tmp_path.rglob("*"))
    for words, parts in (
        (["none.pto", "--out", "x.txt"], ["x.txt not a name program", "--out", "FILE.pto"]),
        (["none.pto"], ["none.pto does not exist"]),
        (["none.json"], ["cannot read record", "No such file", "legal"]),
        ([str(tmp_path / "empty")], ["cannot read record", "empty/record.json", "legal"]),
        ([str(tmp_path / "other.json")], ["not a record of a run", "other.json", "legal"]),
        ([str(tmp_path / "wrong.pto")], ["wrong.pto:1"]),
        ([str(tmp_path / "wrong.pto"), "--limit", "0"], ["limit 0", "--limit", "above 0"]),
    ):
        message = refused(capsys, *words)
        assert all(says(message, part) for part in parts), message
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_that_has_passed_is_refused(tmp_path: Path, capsys: Capture) -> None:
    file = record_in(tmp_path, "pass")
    for name in (tmp_path, file):
        message = refused(capsys, str(name))
        assert says(message, "run passed: nothing to shrink")
        assert says(message, "legal a run that failed")


def test_a_run_without_a_failing_transaction_is_refused(tmp_path: Path, capsys: Capture) -> None:
    record_in(tmp_path, "fail", Failure(kind="leak", slot="fix"))
    message = refused(capsys, str(tmp_path))
    assert says(message, "no program repeats failure none was written")
    assert says(message, "make SIM=verilator TEST=random SEED=1 N=5")
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


@pytest.mark.parametrize("status", ["error", "interrupted"])
def test_a_run_that_was_not_simulated_is_refused(
    status: str, tmp_path: Path, capsys: Capture
) -> None:
    file = record_in(tmp_path, status, message="the build failed: a.sv:3\n  where: log")
    message = refused(capsys, str(tmp_path))
    assert says(message, f"status is {status}: the build failed: a.sv:3\n")
    assert says(message, f"where: {file}")
    assert says(message, "legal built and simulated")
    assert says(message, "do: cause repeat make SIM=verilator TEST=random SEED=1 N=5")


# --- simpler -------------------------------------------------------------------------------------


@pytest.mark.parametrize("needed", [(), (0,), (99,), (3, 50), (0, 1, 2), (7, 8, 64, 99)])
def test_the_items_that_are_needed_are_found_in_few_steps(needed: tuple[int, ...]) -> None:
    calls = []

    def fails(items: tuple[int, ...]) -> bool:
        calls.append(items)
        return set(needed) <= set(items)

    assert fewest(range(100), fails) == needed
    assert len(calls) <= 1 + 15 * max(len(needed), 1)


def test_numbers_loops_and_clauses_become_simpler() -> None:
    assert list(simpler(100)) == [0, 1, 32, 50]
    assert list(simpler(0)) == list(simpler("word")) == list(simpler(True)) == []
    assert next(simpler((Loop(2, 3, 4), Loop(5, 6, 7)))) == (Loop(5, 6, 7),)
    assert Loop(2, 3, 0) in simpler(Loop(2, 3, 4))


@pytest.mark.parametrize("name", OPS)
def test_every_op_has_operands_that_are_no_addresses(name: str) -> None:
    op = OP_CLASSES[name].of({}, None, None)  # type: ignore[arg-type]
    found = operands(op)
    assert len(found) > 2
    assert not any(each.endswith(("src", "dst", "type")) for each in found)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """A load, a flag and a store."""
    (tmp_path / "copy.pto").write_text(COPY)
    options = ProgramOptions(args=ARGS[1::2], knobs=("axi_read_latency=9",))
    made = Replay.make([str(tmp_path / "copy.pto")], options, {})
    return case_of(made.files.programs[0], made.settings.profile)


def test_a_case_loses_ops_and_parts(case: Case) -> None:
    first, last = case.ops
    assert not without(case, [("steps", (first, last))]).ops
    parts = parts_of(case)
    assert ("load", 0) in parts
    assert ("steps", (first + 1, first + 2)) in parts, "an event goes as a whole"
    bare = without(case, parts)
    assert len(bare.steps) == 2
    assert all(map(is_op, bare.steps))
    assert not bare.job.loads
    assert not bare.job.knobs


def test_a_case_is_written_and_read_again(case: Case, tmp_path: Path) -> None:
    for path, data in files_of(case, tmp_path / "small.pto", "two\nlines").items():
        path.write_bytes(data)
    assert (tmp_path / "small.pto").read_text().startswith("// two\n// lines\nmodule {")
    made = Replay.make([str(tmp_path / "small.pto")], ProgramOptions(), {})
    again = case_of(made.files.programs[0], made.settings.profile)
    assert [getattr(step, "op", None) for step in again.steps] == [
        getattr(step, "op", None) for step in case.steps
    ]
    assert again.job.knobs == case.job.knobs
    assert again.job.loads == case.job.loads


def test_an_op_with_an_operand_that_it_cannot_have_is_left_out(case: Case) -> None:
    op = case.steps[case.ops[0]].op  # type: ignore[union-attr]
    assert [one.n_burst for one in simpler_ops(op, "n_burst")] == [0, 1, 16]
    assert not list(simpler_ops(op, "loops"))


def test_the_check_of_a_failure_has_no_op_and_no_place() -> None:
    settings = RunSettings()
    record = RunRecord(settings=settings, command="", status="fail")
    data = {"kind": "data", "slot": "mte2", "space": "ub0"}
    record.details = [
        Failure(**data, op="mte_gm_ub", field="row data"),
        Failure(**data, op="copy_gm_to_ubuf", field="left pad", address=5),
        Failure(kind="status", slot="mte2", op="mte_gm_ub", field="status OK not RULE"),
    ]
    first, second = checks_of(record)
    assert (first.kind, first.slot, first.op, first.field) == ("data", "mte2", "", "")
    assert second.field == "status OK not RULE"
