# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify`` of many files: hostile ones are a sentence each, and the others are checked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tb.language.verify
import tb.programs.verify
from tb.language.place import Finding
from tb.language.trace import Trace
from tb.language.verify import Verified, verify_file
from tb.programs.verify import PART, _results, verify_command
from tests.wording import line_says, says

GOOD = """module {
  func.func @kernel(%in: !pto.ptr<i8, gm>) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<i8, ub>
    pto.mte_gm_ub %in, %ub, %c0, %c64 nburst(%c1, %c64, %c64)
      : !pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64
    return
  }
}
"""
TRUE = "%true = arith.constant true\n"
IF = "scf.if %true {\n"
DEEP = 5000

HOSTILE: dict[str, tuple[bytes, str]] = {
    "binary": (bytes(range(256)) * 16, "byte 0x80 is no UTF-8"),
    "nul": (GOOD.encode() + b"\0", "NUL character"),
    "bytes": (b"\x7f\x81" * 3000, "byte 0x81 is no UTF-8"),
    "latin": (GOOD.encode() + b"// \xe9", "byte 0xe9 is no UTF-8"),
    "wide": (GOOD.encode("utf-16"), "byte 0xff is no UTF-8"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \n" * 4000, "the file is empty"),
    "open": (b"module {", "found the end of the file"),
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
    raised = r"RecursionError test_verify_batches\.py:\d+"
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
