# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify``: output, exit code and record; hostile files among others, and processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tb.language.verify
import tb.programs.verify
from tb.common.errors import PtoError
from tb.language.place import Finding
from tb.language.trace import Argument, Trace
from tb.language.verify import Verified, verify_file
from tb.programs.files import find_programs
from tb.programs.verify import PART, _results, read_arguments, verify_command
from tests.command import pto_dv
from tests.language.corpus.short import spelled
from tests.wording import line_says, says

HEAD = """module {
  func.func @kernel(%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>, %n: i64) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c8 = arith.constant 8 : i64
    %c64 = arith.constant 64 : i64
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<i8, ub>
"""
LOAD = spelled("pto.mte_gm_ub %in, %ub, %c0, %c64 nburst(%c1, %c64, %c64) : I8_GM, I8_UB, I64x5")
STORE = spelled(
    "pto.mte_ub_gm %ub, %out, %c64 nburst(%c1, %c64, %c64) l2_cache_ctl(%c0) : I8_UB, I8_GM, I64x5"
)
BAD = spelled("pto.mte_gm_ub %in, %ub, %c8, %c64 nburst(%c8, %c64, %c8) : I8_GM, I8_UB, I64x5")
FLAGS = tuple(f'pto.{op}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for op in ("set", "wait"))


def text(*ops: str) -> str:
    """Returns a program with its first op in line 8, column 5."""
    return HEAD + "".join(f"    {op}\n" for op in ops) + "    return\n  }\n}\n"


GOOD = text(LOAD)


def write(folder: Path, name: str, *ops: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(*ops))
    return path


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs the command; returns its exit code, its lines and its record."""

    def run(*paths: Path, arguments: list[str] | None = None, **options: Any) -> Any:
        record = tmp_path / "out/record.json"
        code = verify_command([*map(str, paths)], arguments or [], json_path=record, **options)
        lines = capsys.readouterr().out.splitlines()
        assert str(record) in lines.pop()
        return code, lines, json.loads(record.read_text())

    return run


def test_a_good_and_a_bad_file(tmp_path: Path, verify: Callable[..., Any]) -> None:
    """Findings have place, op, rule and range, in the output and in the record."""
    code, lines, _ = verify(write(tmp_path, "good.pto", LOAD, *FLAGS, STORE))
    assert code == 0
    assert says(lines[-1], r"verified 1 file 2 ops no errors \d+\.\d+ s")
    path = write(tmp_path, "bad.pto", BAD)
    code, lines, data = verify(path)
    assert code == 1
    assert says(lines[0], f"{path}:8:5 error pto.mte_gm_ub DMA-L15 l2_cache_ctl 8")
    assert says(lines[1], r"legal 2 bits 0\.\.3")
    assert [line.split(": ")[3] for line in lines[3:7:3]] == ["DMA-L07", "DMA-L08"]
    assert says(lines[-1], "verified 1 file 1 op 3 errors 1 file")
    assert (data["files"], data["ops"], data["errors"]) == (1, 1, 3)
    assert data["findings"][0] == {
        "file": str(path),
        "line": 8,
        "column": 5,
        "op": "pto.mte_gm_ub",
        "rule": "DMA-L15",
        "message": "l2_cache_ctl is 8",
        "legal": "2 bits hold 0..3",
    }


def test_many_files_in_the_order_named_and_folders(
    tmp_path: Path, verify: Callable[..., Any]
) -> None:
    write(tmp_path, "a/2.pto", BAD)
    write(tmp_path, "a/b/1.pto", LOAD)
    write(tmp_path, "a/b/ignored.txt", BAD)
    last = write(tmp_path, "0.pto", "pto.mte_gm_ub")
    files = find_programs([str(tmp_path / "a"), str(last), str(last)])
    assert [x.name for x in files] == ["2.pto", "1.pto", "0.pto"]
    code, lines, _ = verify(tmp_path / "a", last)
    out = "\n".join(lines)
    assert code == 1
    assert out.index("2.pto:8:5") < out.index("0.pto:")
    assert line_says(out, "verified 3 files errors 2 files")


@pytest.mark.long
def test_two_processes_find_the_same(
    tmp_path: Path, verify: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tb.programs.verify, "FILES_PER_PROCESS", 64)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for number in range(130):
        write(tmp_path, f"{number:03}.pto", BAD if number % 3 == 0 else LOAD)
    code, lines, _ = verify(tmp_path)
    assert code == 1
    assert says(lines[-1], "verified 130 files 130 ops 132 errors 44 files")
    places = [line.split(":")[0][-7:] for line in lines if ": error: " in line]
    assert places == sorted(places)


FILLS = spelled("pto.mte_l1_fb %l1, %fb, %c8 nburst(%c1, %c0, %c0) : F32_L1, F32_FB, I64x4")
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
    tmp_path: Path, verify: Callable[..., Any], hazard: str, errors: list[int], warnings: list[int]
) -> None:
    """Two loads and a store of the same bytes, and two loads into FB: by default a warning."""
    path = write(tmp_path, "x.pto", LOAD, LOAD, STORE, *FIX)
    code, lines, data = verify(path, hazard=hazard)
    assert code == bool(errors)
    for words, expected in ((": error: ", errors), (": warning: ", warnings)):
        hazards = [line for line in lines if words in line and ("A-14" in line or "hazard" in line)]
        assert {line.split(words)[0] for line in hazards} == {f"{path}:{n}:5" for n in expected}
    assert {one["line"] for one in data["findings"]} == set(errors)
    assert {one["line"] for one in data["warnings"]} == set(warnings)


def test_the_last_line_names_moves_of_tiles_that_are_not_executed(
    tmp_path: Path, verify: Callable[..., Any]
) -> None:
    path = tmp_path / "x.pto"
    path.write_text("func.func @k() {\npto.tstore\npto.vadd\nreturn\n}\n")
    code, (last,), data = verify(path)
    assert code == 0
    assert last.endswith(f" s; NOT EXECUTED: pto.tstore at {path}:2:1")
    (one,) = data["programs"]
    assert (one["skipped"], one["not_executed"]) == (2, [f"pto.tstore at {path}:2:1"])


@pytest.mark.parametrize(("broken", "errors"), [("", 0), ("pto.mte_gm_ub %x\n", 1)])
def test_text_of_another_architecture_is_judged_with_a_warning(
    tmp_path: Path, verify: Callable[..., Any], broken: str, errors: int
) -> None:
    """It does not decide the exit code, and stands also beside errors that end the reading."""
    module = (
        'module attributes {{"pto.target_arch" = "{}"}} {{\nfunc.func @k() {{\n{}return\n}}\n}}'
    )
    path = tmp_path / "x.pto"
    path.write_text('// pto.target_arch = "a2"\n' + module.format("a3", broken))
    code, lines, data = verify(path)
    facts = f"{path}:2:21: warning: module pto.target_arch a3 rules of a5"
    assert line_says("\n".join(lines), facts)
    assert (code, data["errors"], len(data["warnings"])) == (errors, errors, 1)
    path.write_text(module.format("A5", broken))
    code, _, data = verify(path)
    assert (code, data["warnings"]) == (errors, [])


def test_warnings_are_counted_and_strict_makes_them_errors(
    tmp_path: Path, verify: Callable[..., Any]
) -> None:
    one, _ = (write(tmp_path, f"{n}.pto", LOAD, LOAD, FLAGS[0], FLAGS[0], FLAGS[1]) for n in (1, 2))
    for path, strict, expected, summary in (
        (one, False, 0, "verified 1 file, 2 ops, profile seed: no errors, 2 warnings, "),
        (tmp_path, False, 0, "verified 2 files, 4 ops, profile seed: no errors, 4 warnings, "),
        (tmp_path, True, 1, "verified 2 files, 4 ops, profile seed: 4 errors in 2 files, "),
    ):
        code, lines, _ = verify(path, strict=strict)
        assert code == expected
        assert summary in lines[-1]


def test_ctrl_at_the_start_decides_about_atomics(tmp_path: Path) -> None:
    """A store of 4 bytes under an atomic type of f32 begins at a multiple of 4."""
    path = write(tmp_path, "x.pto", STORE.replace("%c64 nburst", "%c1 nburst"))
    assert [verify_command([str(path)], ctrl=ctrl) for ctrl in ("", "0x40")] == [0, 1]


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


def test_every_function_that_no_other_calls_is_checked(tmp_path: Path) -> None:
    two = text(BAD).replace("module {\n", "").removesuffix("}\n")
    path = tmp_path / "two.pto"
    path.write_text(text(LOAD).removesuffix("}\n") + two.replace("@kernel", "@other") + "}\n")
    verified = verify_file(path)
    assert {x.rule for x in verified.findings} == {"DMA-L15", "DMA-L07", "DMA-L08"}
    assert verified.ops == 2


# --- wrong commands and arguments ----------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_a_wrong_command(
    tmp_path: Path, verify: Callable[..., Any]
) -> None:
    """The others are checked all the same."""
    good, link = write(tmp_path, "b.pto", LOAD), tmp_path / "a.pto"
    link.symlink_to(link)
    code, lines, _ = verify(link, good)
    assert code == 2
    assert lines[0] == f"{link}:1:1: error: {link} is a link in a circle"
    assert says(lines[-1], "verified 2 files 1 op 1 error 1 file")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (["3=1"], {}, ["no function", "argument 3", "arguments 0..2"]),
        ([], {"hazard": "no"}, ["--hazard is 'no'"]),
        ([], {"foreign": "run"}, ["run", "refuse, skip"]),
        ([], {"ctrl": "x"}, ["'x' is not a value of CTRL", "an integer 0..0xffffffffffffffff"]),
        (["1=in.npy"], {}, ["argument 1 is 'in.npy'", "verify takes no data"]),
        (["0=1", "0=2"], {}, ["twice"]),
        *(
            ([argument], {}, [word, "N=VALUE"])
            for argument, word in (("2", "'2'"), ("x=1", "'x=1'"), ("-1=0", "-1"), ("1=", "'1='"))
        ),
    ],
)
def test_commands_that_are_wrong(
    tmp_path: Path, arguments: list[str], options: dict[str, Any], words: list[str]
) -> None:
    good = write(tmp_path, "good.pto", LOAD)
    with pytest.raises(PtoError) as caught:
        verify_command([str(good)], arguments, **options)
    assert all(word in str(caught.value) for word in words), caught.value


def test_arguments() -> None:
    kinds = {0: "i64", 1: "f16", 2: "f32", 3: "i8", 4: "i1", 5: "i32"}
    known = read_arguments(["0=0x10", "1=bits:0x3C00", "2=0.5", "3=-1", "4=true"])
    values = {number: known(Argument(number, "x", None, kind)) for number, kind in kinds.items()}
    assert values == {0: 16, 1: 0x3C00, 2: 0x3F00_0000, 3: -1, 4: 1, 5: None}


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("2=1", []),
        ("2=0.5", ["--arg 2=0.5: '0.5' is not an i64", "an integer -9223372036854775808.."]),
        ("2=0x10000000000000000", ["is not an i64"]),
        ("0=0x10000000000", ["is not an address in gm", "argument 0 is !pto.ptr<i8, gm>"]),
    ],
)
def test_a_value_is_checked_against_the_type_of_its_argument(
    tmp_path: Path, verify: Callable[..., Any], argument: str, words: list[str]
) -> None:
    path = write(tmp_path, "x.pto", LOAD)
    code, lines, _ = verify(path, arguments=[argument])
    assert code == bool(words)
    assert lines[0].startswith(f"{path}:2:3: error: " if words else "verified 1 file, 1 op")
    assert all(word in "\n".join(lines) for word in words), lines


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


# --- hostile files, internal errors, processes ---------------------------------------------------

TRUE = "%true = arith.constant true\n"
IF = "scf.if %true {\n"
DEEP = 5000

HOSTILE: dict[str, tuple[bytes, str]] = {
    "binary": (bytes(range(256)) * 16, "byte 0x80 is not UTF-8"),
    "nul": (GOOD.encode() + b"\0", "NUL character"),
    "empty": (b"", "the file is empty"),
    "no function": (b"module {}\n", "nothing to run"),
    "no body": (b"module {\n  func.func private @f()\n}\n", "nothing to run"),
    "words": (b"not mlir at all", "expected an op"),
    "branches": (
        GOOD.replace("return", TRUE + IF * DEEP + "}\n" * DEEP + "return").encode(),
        "nested too deeply",
    ),
    "modules": (b"module {\n" * DEEP + b"}\n" * DEEP, "nested too deeply"),
    "generic": (b'"builtin.module"() ({' * DEEP + b"}) : () -> ()" * DEEP, "nested too deeply"),
    "lists": (b"func.func @k() attributes {a = " + b"[" * DEEP, "nested too deeply"),
    "parentheses": (b"func.func @k(%a: " + b"(" * DEEP, "nested too deeply"),
    "digits": (b"func.func @k() { %a = arith.constant " + b"9" * DEEP + b" : i64 }", "digits"),
}
LONG = 100 << 20


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of hostile files with good ones between them."""
    for number, (name, (data, _)) in enumerate(HOSTILE.items()):
        (tmp_path / f"{name}.pto").write_bytes(data)
        (tmp_path / f"{name}_good.pto").write_text(f"// {number}\n{GOOD}")
    with (tmp_path / "long.pto").open("wb") as file:
        file.truncate(LONG)
    return tmp_path


def test_hostile_files_are_a_sentence_each(
    hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = hostile / "record.json"
    assert verify_command([str(hostile)], json_path=record) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    expected = {name: words for name, (_, words) in HOSTILE.items()} | {"long": f"{LONG} bytes"}
    for name, words in expected.items():
        (line,) = [line for line in lines if line.startswith(f"{hostile}/{name}.pto:")]
        assert ": error: " in line
        assert words in line, line
    count = len(HOSTILE)
    assert f"{count} passed, {count + 1} refused:" in lines
    assert line_says(out, f"verified {2 * count + 1} files {count} ops {count + 1} errors")
    found = json.loads(record.read_text())
    assert (found["passed"], found["refused"], found["failed"]) == (count, count + 1, 0)
    assert sum(one["programs"] for one in found["reasons"]) == count + 1
    verdicts = {Path(one["file"]).stem: one["verdict"] for one in found["programs"]}
    assert verdicts == dict.fromkeys(expected, "refused") | {
        f"{name}_good": "passed" for name in HOSTILE
    }


def test_an_internal_error_is_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = tb.language.verify.check

    def fails(walked: Trace) -> list[Finding]:
        if "b.pto" in walked.file:
            raise RecursionError("too deep\nby far")
        return [*real(walked)]

    monkeypatch.setattr(tb.language.verify, "check", fails)
    for name in "abc":
        (tmp_path / f"{name}.pto").write_text(GOOD)
    (tmp_path / "d.pto").write_text(GOOD.replace("castptr %c0", "castptr %c1"))
    record = tmp_path / "record.json"
    assert verify_command([str(tmp_path)], json_path=record) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "2 passed, 1 refused, 1 failed:" in lines
    (line,) = [line for line in lines if "b.pto:1:1: error: " in line]
    raised = r"RecursionError test_verify\.py:\d+"
    assert says(line, f"internal error pto-dv not checked {raised} too deep by far$"), "one line"
    assert any(one.split()[:4] == ["1", "internal", "error", "of"] for one in lines)
    found = json.loads(record.read_text())
    assert (found["passed"], found["refused"], found["failed"]) == (2, 1, 1)


def _ends_its_process(path: Path) -> Verified:
    if "bad" in path.name:
        os._exit(9)
    return verify_file(path)


@pytest.mark.long
@pytest.mark.parametrize("bad", [(), (3,), (0, 1, 2 * PART + 5)])
def test_a_process_that_is_ended_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: tuple[int, ...]
) -> None:
    """As the kernel ends processes that take all memory."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(tb.programs.verify, "FILES_PER_PROCESS", PART)
    files = []
    for number in range(3 * PART):
        files.append(tmp_path / f"{number:03}{'bad' if number in bad else ''}.pto")
        files[-1].write_text(GOOD)
    check: Callable[[Path], Verified] = _ends_its_process
    results = list(_results(files, check))
    assert [one.file for one in results] == list(map(str, files))
    assert {number for number, one in enumerate(results) if one.failed} == {*bad}
    assert all(one.ops == 1 for one in results if not one.failed)
    for number in bad:
        (finding,) = results[number].findings
        assert finding.message.startswith("internal error of pto-dv")
