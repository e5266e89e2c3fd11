# SPDX-License-Identifier: Apache-2.0
"""``pto-dv verify`` where values are not known: no wrong findings, and all files are checked.

A legal program of the corpus stays legal when one of its constants becomes an argument, which may
have that very value.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.isa.profile import using
from tb.language.place import Finding
from tb.language.verify import verify_file
from tests.language.corpus import cases
from tests.processor import processor_seconds
from tests.wording import line_says, says

CONSTANT = re.compile(r"^ *(%\w+) = arith\.constant ([^:\n]*?)(?: : ([\w!.]+))?$", re.MULTILINE)
FUNCTION = re.compile(r"func\.func (?:private |public )?@\w+\(")
LEGAL = [case for case in cases() if not case.expected]


def unknown(text: str) -> list[tuple[str, str]]:
    """Returns each constant of a program, and the program with an argument in its place."""
    if len(FUNCTION.findall(text)) != 1:
        return []
    found = []
    for constant in CONSTANT.finditer(text):
        rest = text[: constant.start()] + text[constant.end() :]
        function = FUNCTION.search(rest)
        assert function is not None
        at = function.end()
        comma = "" if rest[at:].startswith(")") else ", "
        argument = f"{constant[1]}: {constant[3] or 'i1'}{comma}"
        found.append((constant[1], rest[:at] + argument + rest[at:]))
    return found


@pytest.mark.long
def test_constants_that_become_arguments(tmp_path: Path) -> None:
    """No exception, and errors only in code that may not run."""
    path, looked_at = tmp_path / "x.pto", 0
    for case in LEGAL:
        # Half of the constants, to save time; all of them in programs of the matrix unit.
        for name, text in unknown(case.text)[:: 1 if "l0a" in case.text else 2]:
            path.write_text(text)
            looked_at += 1
            with using(case.profile):
                found = verify_file(path, foreign="skip", ubuf_to_ubuf=case.unit).findings
            for finding in found:
                if finding.rule == "FIX-L20":  # An S rule asks for a constant.
                    continue
                assert "not known" in finding.condition, f"{case.name} without {name}: {finding}"
    assert looked_at > 400


HEAD = """func.func @k(%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>, %t: index, %yes: i1) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant -1 : i64
  %len = arith.constant 64 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ub = pto.castptr %z : i64 -> !pto.ptr<i8, ub>
"""
TYPES = {
    "mte_gm_ub": "!pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64",
    "mte_ub_gm": "!pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64",
}


def load(length: str = "%len") -> str:
    return f"pto.mte_gm_ub %in, %ub, %z, {length} nburst(%one, %len, %len) : {TYPES['mte_gm_ub']}"


STORE = f"pto.mte_ub_gm %ub, %out, %len nburst(%one, %len, %len) : {TYPES['mte_ub_gm']}"
LOADED = [f'pto.{op}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for op in ("set", "wait")]
STORED = [f'pto.{op}_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]' for op in ("set", "wait")]
LOOP = ["scf.for %i = %c0 to %t step %c1 {"]
# Facts of conditions.
RUNS = "if loop x.pto:9:3 bounds not known runs$"
TWICE = "if loop x.pto:9:3 bounds not known runs twice$"
HOLDS = "if condition x.pto:9:3 not known holds$"
HOLDS_NOT = "if condition x.pto:9:3 not known not hold$"


def found(folder: Path, *ops: str) -> list[tuple[int, str, str]]:
    """Returns line, first words and facts of the condition of each finding.

    Ops begin in line 9.
    """
    path = folder / "x.pto"
    path.write_text(HEAD + "".join(f"  {op}\n" for op in ops) + "  return\n}\n")
    return [
        (one.place.line, one.rule or one.message.split(":")[0], facts_of(one.condition))
        for one in verify_file(path, foreign="skip", strict=True).findings
    ]


def facts_of(condition: str) -> str:
    """Returns the facts of a known condition, any other as it is."""
    matching = (facts for facts in (RUNS, TWICE, HOLDS, HOLDS_NOT) if says(condition, facts))
    return next(matching, condition)


def test_hazards_between_iterations(tmp_path: Path) -> None:
    """Bounds are not known: hazards and flags are those of two iterations."""
    body = [*LOOP, load(), *LOADED, STORE, "}"]
    assert found(tmp_path, *body) == [
        (10, "hazard", TWICE),
        (10, "A-14", TWICE),
        (11, "FL-02", TWICE),
        (13, "A-14", TWICE),
    ]
    barrier = "pto.pipe_barrier <PIPE_ALL>"
    assert found(tmp_path, *LOOP, load(), *LOADED, STORE, barrier, "}") == []
    primed = [STORED[0], *LOOP, STORED[1], load(), *LOADED, STORE, STORED[0], "}", STORED[1]]
    assert [one for one in found(tmp_path, *primed) if one[1] != "A-14"] == []
    assert found(tmp_path, *LOOP, load(), "}", STORE) == [(10, "A-14", TWICE), (12, "hazard", RUNS)]
    assert found(tmp_path, *LOOP, LOADED[1], "}") == [(10, "deadlock", RUNS)]


def test_addresses_that_depend_on_the_iteration_are_no_hazard(tmp_path: Path) -> None:
    at = [
        "%k = arith.index_cast %i : index to i64",
        "%by = arith.muli %k, %len : i64",
        "%bytes = arith.index_cast %by : i64 to index",
        "%at = pto.addptr %ub, %bytes : !pto.ptr<i8, ub>, index",
    ]
    assert found(tmp_path, *LOOP, *at, load().replace("%ub", "%at"), "}") == []


@pytest.mark.parametrize(
    ("before", "after", "condition"),
    [
        (LOOP, "}", RUNS),
        (["scf.if %yes {"], "}", HOLDS),
        (["scf.if %yes {", "} else {"], "}", HOLDS_NOT),
    ],
)
def test_errors_in_code_that_may_not_run_have_its_condition(
    tmp_path: Path, before: list[str], after: str, condition: str
) -> None:
    """Rules, operands below 0, and errors that end the walk."""
    line = 9 + len(before)
    odd = load().replace("%len nburst", "%one nburst").replace("%z,", "%len,")
    assert found(tmp_path, *before, odd, after) == [(line, "DMA-L15", condition)]
    assert found(tmp_path, *before, load("%m"), after) == [(line, "DMA-L05", condition)]
    assert found(tmp_path, *before, "%q = arith.divsi %len, %z : i64", load("%q"), after) == [
        (line, "64 is divided by 0", condition)
    ]
    wrong = [*before, odd, after, odd, "pto.pipe_barrier <PIPE_MTE2>"]
    assert (line, "DMA-L15", condition) in found(tmp_path, *wrong)
    assert (line + 2, "DMA-L15", "") in found(tmp_path, *wrong)


def test_an_op_that_always_runs_is_reported_without_a_condition(tmp_path: Path) -> None:
    """Of two calls of a function, the unconditional one counts."""
    path = tmp_path / "x.pto"
    call = "  func.call @inner() : () -> ()\n"
    arguments = HEAD[HEAD.index("(") : HEAD.index(")") + 1]
    inner = HEAD.replace("@k", "@inner").replace(arguments, "()")
    size = "  pto.set_loop_size_outtoub %m, %one : i64, i64\n"
    source = "  %in = pto.castptr %z : i64 -> !pto.ptr<i8, gm>\n  pto.pipe_barrier <PIPE_ALL>\n"
    inner = f"{inner}{size}{source}  {load().replace('%z,', '%len,')}\n  return\n}}\n"
    inside = f"  scf.if %yes {{\n{call}}}\n"
    for ops, conditions in ((inside, True), (inside + call, False), (call + inside, False)):
        path.write_text(f"{inner}{HEAD}{ops}  return\n}}\n")
        rules = [(one.rule, bool(one.condition)) for one in verify_file(path).findings]
        assert rules == [("DMA-L05", conditions), ("DMA-L15", conditions)]


def test_iterations_are_counted_without_the_second_walk(tmp_path: Path) -> None:
    inner = "scf.for %j = %c0 to %c3 step %c1 {"
    odd = load().replace("%z,", "%len,")
    ops = [*LOOP, "%c3 = arith.constant 3 : index", inner, odd, "}", "}"]
    matching = [str(one) for one in _findings(tmp_path, *ops) if one.rule == "DMA-L15"]
    assert len(matching) == 1
    assert line_says(matching[0], "l2_cache_ctl 64 iteration 1 of 3 if loop")


def _findings(folder: Path, *ops: str) -> tuple[Finding, ...]:
    found(folder, *ops)
    return verify_file(folder / "x.pto").findings


@pytest.mark.long
def test_loops_that_take_too_long_twice_are_walked_once_with_a_note(tmp_path: Path) -> None:
    """Also loops nested so deep that their paths cannot be enumerated."""
    many = ["%many = arith.constant 15000 : index", "scf.for %j = %c0 to %many step %c1 {"]
    found(tmp_path, *LOOP, *many, "pto.pipe_barrier <PIPE_ALL>", "}", "}")
    (note,) = verify_file(tmp_path / "x.pto").notes
    assert line_says(note, "9:3 note bounds loop not known one iteration checked")
    deep = [LOOP[0].replace("%i", f"%i{number}") for number in range(40)]
    with processor_seconds(10):
        found(tmp_path, *deep, load(), *["}"] * 40)
        verified = verify_file(tmp_path / "x.pto")
    assert len(verified.notes) > 10
    assert [one.rule for one in verified.warnings] == ["A-14"]
