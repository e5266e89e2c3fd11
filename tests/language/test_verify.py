# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify``: output, exit code, record and speed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tb.programs.verify
from tb.common.errors import PtoError
from tb.language.trace import Argument
from tb.language.verify import verify_file
from tb.programs.files import find_programs
from tb.programs.verify import read_arguments, verify_command
from tests.command import pto_dv
from tests.wording import line_says, pattern, says

HEAD = """module {
  func.func @kernel(%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>, %n: i64) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c8 = arith.constant 8 : i64
    %c64 = arith.constant 64 : i64
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<i8, ub>
"""
TYPES = ": !pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64"
STORE_TYPES = ": !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64"
LOAD = f"pto.mte_gm_ub %in, %ub, %c0, %c64 nburst(%c1, %c64, %c64) {TYPES}"
STORE = f"pto.mte_ub_gm %ub, %out, %c64 nburst(%c1, %c64, %c64) l2_cache_ctl(%c0) {STORE_TYPES}"
BAD = f"pto.mte_gm_ub %in, %ub, %c8, %c64 nburst(%c8, %c64, %c8) {TYPES}"
FLAGS = (
    'pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]',
    'pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]',
)


def text(*ops: str) -> str:
    """Returns a program with its first op in line 8, column 5."""
    return HEAD + "".join(f"    {op}\n" for op in ops) + "    return\n  }\n}\n"


def write(folder: Path, name: str, *ops: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(*ops))
    return path


def rules_of(path: Path, arguments: dict[int, int] | None = None) -> list[tuple[int, int, str]]:
    """Returns line, column and rule of each finding."""
    found = verify_file(path, known=lambda one: (arguments or {}).get(one.number)).findings
    return [(x.place.line, x.place.column, x.rule) for x in found]


def test_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "good.pto", LOAD, *FLAGS, STORE)
    assert verify_command([str(path)]) == 0
    out = capsys.readouterr().out
    assert says(out, r"verified 1 file 2 ops no errors \d+\.\d+ s")


def test_findings_have_place_op_rule_and_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "bad.pto", BAD)
    assert verify_command([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert says(lines[0], f"{path}:8:5 error pto.mte_gm_ub DMA-L15 l2_cache_ctl 8")
    assert says(lines[1], r"legal 2 bits 0\.\.3")
    assert [line.split(": ")[3] for line in lines[3:7:3]] == ["DMA-L07", "DMA-L08"]
    assert says(lines[-1], "verified 1 file 1 op 3 errors 1 file")


def test_many_files_in_the_order_named_and_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a/2.pto", BAD)
    write(tmp_path, "a/b/1.pto", LOAD)
    write(tmp_path, "a/b/ignored.txt", BAD)
    last = write(tmp_path, "0.pto", "pto.mte_gm_ub")
    files = find_programs([str(tmp_path / "a"), str(last), str(last)])
    assert [x.name for x in files] == ["2.pto", "1.pto", "0.pto"]
    assert verify_command([str(tmp_path / "a"), str(last)]) == 1
    out = capsys.readouterr().out
    assert out.index("2.pto:8:5") < out.index("0.pto:")
    assert line_says(out, "verified 3 files errors 2 files")


@pytest.mark.long
def test_two_processes_find_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tb.programs.verify, "FILES_PER_PROCESS", 64)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for number in range(130):
        write(tmp_path, f"{number:03}.pto", BAD if number % 3 == 0 else LOAD)
    assert verify_command([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert line_says(out, "verified 130 files 130 ops 132 errors 44 files")
    places = [line.split(":")[0][-7:] for line in out.splitlines() if ": error: " in line]
    assert places == sorted(places)


def test_the_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, record = write(tmp_path, "bad.pto", BAD), tmp_path / "out/record.json"
    assert verify_command([str(path)], json_path=record) == 1
    data = json.loads(record.read_text())
    assert data["files"] == 1
    assert data["ops"] == 1
    assert data["errors"] == 3
    assert data["findings"][0] == {
        "file": str(path),
        "line": 8,
        "column": 5,
        "op": "pto.mte_gm_ub",
        "rule": "DMA-L15",
        "message": "l2_cache_ctl is 8",
        "legal": "2 bits hold 0..3",
    }
    assert str(record) in capsys.readouterr().out


def test_arguments_that_are_given_decide(tmp_path: Path) -> None:
    rows = f"pto.mte_gm_ub %in, %ub, %c0, %c64 nburst(%n, %c8, %c64) {TYPES}"
    path = write(tmp_path, "rows.pto", rows)
    assert rules_of(path) == []
    assert rules_of(path, arguments={2: 1}) == []
    assert rules_of(path, arguments={2: 2}) == [(8, 5, "DMA-L08")]
    assert rules_of(path, arguments={2: 2, 7: 1}) == [(8, 5, "DMA-L08")], "no argument 7 here"
    store = "pto.mte_ub_gm %ub, %out, %c64 nburst(%c1, %c64, %c64) l2_cache_ctl(%c0) " + STORE_TYPES
    assert rules_of(write(tmp_path, "end.pto", store), arguments={1: (1 << 40) - 8}) == [
        (8, 5, "DMA-L12")
    ]


def test_hazards_and_deadlocks(tmp_path: Path) -> None:
    path = write(tmp_path, "hazard.pto", LOAD, STORE)
    (finding,) = verify_file(path).findings
    assert (finding.place.line, finding.op, finding.rule) == (9, "pto.mte_ub_gm", "")
    assert says(finding.message, rf"hazard reads ub0 0x0\.\.0x3f 64 {path}:8:5")
    (finding,) = verify_file(write(tmp_path, "stuck.pto", FLAGS[1], STORE)).findings
    assert finding.message.startswith("deadlock: ")


FILLS = "pto.mte_l1_fb %l1, %fb, %c8 nburst(%c1, %c0, %c0) : " + ", ".join(
    ["!pto.ptr<f32, l1>", "!pto.ptr<f32, fb>", *["i64"] * 4]
)
FIX = (
    "%l1 = pto.castptr %c0 : i64 -> !pto.ptr<f32, l1>",
    "%fb = pto.castptr %c0 : i64 -> !pto.ptr<f32, fb>",
    FILLS,
    FILLS,
)


@pytest.mark.parametrize(
    ("hazard", "errors", "warnings"),
    [("", [10], [9, 14]), ("error", [9, 10, 14], []), ("warn", [], [9, 10, 14]), ("off", [], [])],
)
def test_the_verdict_on_hazards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], hazard: str, errors: list[int],
    warnings: list[int],
) -> None:  # fmt: skip
    """Two loads and a store of the same bytes, and two loads into FB: by default a warning."""
    path, record = write(tmp_path, "x.pto", LOAD, LOAD, STORE, *FIX), tmp_path / "x.json"
    assert verify_command([str(path)], json_path=record, hazard=hazard) == (1 if errors else 0)
    lines = capsys.readouterr().out.splitlines()
    for words, expected in ((": error: ", errors), (": warning: ", warnings)):
        found = {line.split(words)[0] for line in lines if words in line and "A-14" in line} | {
            line.split(words)[0] for line in lines if words in line and "hazard: " in line
        }
        assert found == {f"{path}:{number}:5" for number in expected}
    found = json.loads(record.read_text())
    assert {one["line"] for one in found["findings"]} == set(errors)
    assert {one["line"] for one in found["warnings"]} == set(warnings)


def test_the_last_line_names_moves_of_tiles_that_are_not_executed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, record = tmp_path / "x.pto", tmp_path / "x.json"
    path.write_text("func.func @k() {\npto.tstore\npto.vadd\nreturn\n}\n")
    assert verify_command([str(path)], json_path=record) == 0
    (last, _) = capsys.readouterr().out.splitlines()
    assert last.endswith(f" s; NOT EXECUTED: pto.tstore at {path}:2:1")
    (one,) = json.loads(record.read_text())["programs"]
    assert (one["skipped"], one["not_executed"]) == (2, [f"pto.tstore at {path}:2:1"])


@pytest.mark.parametrize(("broken", "code"), [("", 0), ("pto.mte_gm_ub %x\n", 1)])
def test_text_of_another_architecture_is_judged_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str, code: int
) -> None:
    """It does not decide the exit code, and stands also beside errors that end the reading."""
    module = (
        'module attributes {{"pto.target_arch" = "{}"}} {{\nfunc.func @k() {{\n{}return\n}}\n}}\n'
    )
    path, record = tmp_path / "x.pto", tmp_path / "x.json"
    path.write_text('// pto.target_arch = "a2"\n' + module.format("a3", broken))
    assert verify_command([str(path)], json_path=record) == code
    out = capsys.readouterr().out
    assert line_says(out, f"{path}:2:21: warning: module pto.target_arch a3 rules of a5")
    found = json.loads(record.read_text())
    assert (found["errors"], len(found["warnings"])) == (code, 1)
    path.write_text(module.format("A5", broken))
    assert verify_command([str(path)], json_path=record) == code
    assert not json.loads(record.read_text())["warnings"]


def test_warnings_are_counted_and_strict_makes_them_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        write(tmp_path, f"{number}.pto", LOAD, LOAD, FLAGS[0], FLAGS[0], FLAGS[1])
    assert verify_command([str(tmp_path / "1.pto")]) == 0
    assert "verified 1 file, 2 ops, profile seed: no errors, 2 warnings, " in last_of(capsys)
    assert verify_command([str(tmp_path)]) == 0
    assert "verified 2 files, 4 ops, profile seed: no errors, 4 warnings, " in last_of(capsys)
    assert verify_command([str(tmp_path)], strict=True) == 1
    assert "verified 2 files, 4 ops, profile seed: 4 errors in 2 files, " in last_of(capsys)


def last_of(capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the last line of a command."""
    return capsys.readouterr().out.splitlines()[-1]


def test_ctrl_at_the_start_decides_about_atomics(tmp_path: Path) -> None:
    """A store of 4 bytes under an atomic type of f32 begins at a multiple of 4."""
    path = write(tmp_path, "x.pto", STORE.replace("%c64 nburst", "%c1 nburst"))
    assert verify_command([str(path)]) == 0
    assert verify_command([str(path)], ctrl="0x40") == 1
    with pytest.raises(PtoError, match=r"'x' is no value of CTRL: an integer 0\.\.0xf{16}"):
        verify_command([str(path)], ctrl="x")


def test_an_unknown_verdict_on_hazards(tmp_path: Path) -> None:
    with pytest.raises(PtoError, match="--hazard is 'no'"):
        verify_command([str(write(tmp_path, "x.pto", LOAD))], hazard="no")


CALL = "func.call @kernel(%in, %out, %n) : (!pto.ptr<i8, gm>, !pto.ptr<i8, gm>, i64) -> ()"


@pytest.mark.parametrize(
    ("inner", "outer", "facts"),
    [
        # The op is in the text once: only the call distinguishes its executions.
        ([LOAD], [CALL, CALL], "same op called {file}:17:5 writes this called {file}:18:5"),
        ([LOAD, STORE], [CALL], "pto.mte_gm_ub {file}:8:5 writes both called {file}:18:5"),
        ([STORE], [LOAD, CALL], "pto.mte_gm_ub {file}:17:5 writes this called {file}:18:5"),
        ([LOAD], [CALL, STORE], "pto.mte_gm_ub {file}:8:5 called {file}:17:5 writes"),
    ],
)
def test_a_hazard_names_the_calls(
    tmp_path: Path, inner: list[str], outer: list[str], facts: str
) -> None:
    path = tmp_path / "calls.pto"
    entry = text(*outer).removeprefix("module {\n").replace("@kernel(%in:", "@entry(%in:")
    path.write_text(text(*inner).removesuffix("}\n") + entry)
    (finding,) = verify_file(path, strict=True).findings
    message = finding.message.replace(str(path), "calls.pto")
    assert says(message, facts.format(file="calls.pto"))
    assert message.count("called") == facts.count("called")


def test_each_argument_is_a_separate_buffer(tmp_path: Path) -> None:
    again = "pto.mte_gm_ub %out, %ub2, %c0, %c64 nburst(%c1, %c64, %c64) " + TYPES
    other = "%ub2 = pto.castptr %c64 : i64 -> !pto.ptr<i8, ub>"
    path = write(tmp_path, "two.pto", other, STORE, again)
    (finding,) = verify_file(path).findings
    assert "reads 0x0..0x3f (64 B) after %out, which pto.mte_ub_gm" in finding.message
    apart = write(tmp_path, "apart.pto", other, STORE, again.replace("%out", "%in"))
    assert verify_file(apart).findings == ()


def test_conditions_that_are_not_known(tmp_path: Path) -> None:
    """Both branches are checked op by op; their order is not."""
    ops = [
        "%yes = arith.cmpi eq, %n, %c1 : i64",
        "scf.if %yes {",
        LOAD,
        "} else {",
        STORE.replace("ctl(%c0)", "ctl(%c64)"),
        "}",
    ]
    verified = verify_file(write(tmp_path, "if.pto", *ops))
    assert [x.rule for x in verified.findings] == ["DMA-L15"]
    assert verified.ops == 2
    (note,) = verified.notes
    assert line_says(note, "9:5 note condition not known")
    loop = ["%i0 = arith.constant 0 : index", "%i1 = arith.constant 1 : index"]
    loop += ["%m = arith.index_cast %n : i64 to index", "scf.for %i = %i0 to %m step %i1 {"]
    verified = verify_file(write(tmp_path, "for.pto", *loop, LOAD, STORE, "}"))
    (finding,) = [x for x in verified.findings if not x.condition.endswith(" twice")]
    assert says(finding.message, r"hazard reads ub0 0x0\.\.0x3f")
    assert "runs\n  legal: set_flag and wait_flag from PIPE_MTE2" in str(finding)


def test_every_function_that_no_other_calls_is_checked(tmp_path: Path) -> None:
    two = text(BAD).replace("module {\n", "").removesuffix("}\n")
    path = tmp_path / "two.pto"
    path.write_text(text(LOAD).removesuffix("}\n") + two.replace("@kernel", "@other") + "}\n")
    assert {rule for _, _, rule in rules_of(path)} == {"DMA-L15", "DMA-L07", "DMA-L08"}
    assert verify_file(path).ops == 2


def test_foreign_ops(tmp_path: Path) -> None:
    vector = "%v = pto.vlds %ub[%c0] : !pto.ptr<i8, ub> -> !pto.vreg<256xi8>"
    path = write(tmp_path, "vector.pto", LOAD, vector)
    (finding,) = verify_file(path, foreign="refuse").findings
    assert finding.op == "pto.vlds"
    found = verify_file(path)
    assert (found.findings, found.skipped) == ((), 1)


def test_a_file_that_cannot_be_read_is_a_wrong_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are checked all the same."""
    good = write(tmp_path, "b.pto", LOAD)
    link = tmp_path / "a.pto"
    link.symlink_to(link)
    with pytest.raises(PtoError, match="does not exist"):
        verify_command([str(link)])
    assert verify_command([str(link), str(good)]) == 2
    out = capsys.readouterr().out
    assert out.startswith(f"{link}:1:1: error: {link} does not exist\n")
    assert line_says(out, "verified 2 files 1 op 1 error 1 file")
    assert verify_command([str(good)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("argument", "word"), [("2", "'2'"), ("x=1", "'x=1'"), ("-1=0", "-1"), ("1=", "'1='")]
)
def test_arguments_with_wrong_syntax(argument: str, word: str) -> None:
    with pytest.raises(PtoError) as caught:
        read_arguments([argument])
    assert word in str(caught.value)
    assert "N=VALUE" in str(caught.value)


def test_an_argument_that_no_function_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "x.pto", LOAD)
    assert verify_command([str(path)], ["2=1"]) == 0
    with pytest.raises(PtoError, match=pattern("no function argument 3")) as caught:
        verify_command([str(path)], ["3=1"])
    assert "arguments 0..2" in str(caught.value)
    assert line_says(capsys.readouterr().out, "verified 1 file 1 op no errors")


def test_data_are_an_error() -> None:
    with pytest.raises(PtoError, match=r"argument 1 is 'in.npy'") as caught:
        read_arguments(["1=in.npy"])
    assert "verify takes no data" in str(caught.value)


def test_arguments() -> None:
    kinds = {0: "i64", 1: "f16", 2: "f32", 3: "i8", 4: "i1", 5: "i32"}
    known = read_arguments(["0=0x10", "1=bits:0x3C00", "2=0.5", "3=-1", "4=true"])
    values = {number: known(Argument(number, "x", None, kind)) for number, kind in kinds.items()}
    assert values == {0: 16, 1: 0x3C00, 2: 0x3F00_0000, 3: -1, 4: 1, 5: None}
    with pytest.raises(PtoError, match="twice"):
        read_arguments(["0=1", "0=2"])


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("2=0.5", ["--arg 2=0.5: '0.5' is no i64", "an integer -9223372036854775808.."]),
        ("2=0x10000000000000000", ["is no i64"]),
        ("0=0x10000000000", ["is no address in gm", "argument 0 is !pto.ptr<i8, gm>"]),
    ],
)
def test_a_value_is_checked_against_the_type_of_its_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], argument: str, words: list[str]
) -> None:
    path = write(tmp_path, "x.pto", LOAD)
    assert verify_command([str(path)], [argument]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{path}:2:3: error: ")
    assert all(word in out for word in words), out


@pytest.mark.long
def test_the_command(tmp_path: Path) -> None:
    good, bad = write(tmp_path, "good.pto", LOAD), write(tmp_path, "bad.pto", BAD)
    done = pto_dv("verify", str(good), str(bad), "--foreign", "skip", "--arg", "2=4")
    assert done.returncode == 1
    assert done.stderr == ""
    assert "DMA-L15" in done.stdout
    assert line_says(done.stdout, "verified 2 files 2 ops 3 errors 1 file")
    done = pto_dv("verify", "nowhere.pto")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: nowhere.pto does not exist")


def test_commands_that_are_wrong(tmp_path: Path) -> None:
    good = str(write(tmp_path, "good.pto", LOAD))
    with pytest.raises(PtoError, match="run") as caught:
        verify_command([good], foreign="run")
    assert "refuse, skip" in str(caught.value)
    with pytest.raises(PtoError, match="no program is named"):
        verify_command([])
    (tmp_path / "empty").mkdir()
    with pytest.raises(PtoError, match=r"holds no \.pto file"):
        verify_command([str(tmp_path / "empty")])
