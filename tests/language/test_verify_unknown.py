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
from tb.language.verify import Verified, verify_file
from tests.language.corpus import cases
from tests.language.corpus.short import spelled
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


ARGUMENTS = "(%in: !pto.ptr<i8, gm>, %out: !pto.ptr<i8, gm>, %t: index, %yes: i1)"
HEAD = f"""func.func @k{ARGUMENTS} {{
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant -1 : i64
  %len = arith.constant 64 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ub = pto.castptr %z : i64 -> !pto.ptr<i8, ub>
"""


def load(length: str = "%len", hint: str = "%z") -> str:
    op = f"pto.mte_gm_ub %in, %ub, {hint}, {length} nburst(%one, %len, %len)"
    return spelled(f"{op} : I8_GM, I8_UB, I64x5")


STORE = spelled("pto.mte_ub_gm %ub, %out, %len nburst(%one, %len, %len) : I8_UB, I8_GM, I64x4")
LOADED = [f'pto.{op}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for op in ("set", "wait")]
STORED = [f'pto.{op}_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]' for op in ("set", "wait")]
BARRIER = "pto.pipe_barrier <PIPE_ALL>"
LOOP = ["scf.for %i = %c0 to %t step %c1 {"]
# Facts of conditions.
RUNS = "if loop x.pto:9:3 bounds not known runs$"
TWICE = "if loop x.pto:9:3 bounds not known runs twice$"
HOLDS = "if condition x.pto:9:3 not known holds$"
HOLDS_NOT = "if condition x.pto:9:3 not known not hold$"


def verified(folder: Path, *ops: str, strict: bool = False) -> Verified:
    """Returns the verdict on ops that begin in line 9."""
    path = folder / "x.pto"
    path.write_text(HEAD + "".join(f"  {op}\n" for op in ops) + "  return\n}\n")
    return verify_file(path, foreign="skip", strict=strict)


def found(folder: Path, *ops: str) -> list[tuple[int, str, str]]:
    """Returns line, first words and facts of the condition of each finding."""
    return [
        (one.place.line, one.rule or one.message.split(":")[0], facts_of(one.condition))
        for one in verified(folder, *ops, strict=True).findings
    ]


def facts_of(condition: str) -> str:
    """Returns the facts of a known condition, any other as it is."""
    matching = (facts for facts in (RUNS, TWICE, HOLDS, HOLDS_NOT) if says(condition, facts))
    return next(matching, condition)


AT = [
    "%k = arith.index_cast %i : index to i64",
    "%by = arith.muli %k, %len : i64",
    "%bytes = arith.index_cast %by : i64 to index",
    "%at = pto.addptr %ub, %bytes : !pto.ptr<i8, ub>, index",
]
SHARED = [(10, "hazard", TWICE), (10, "A-14", TWICE), (11, "FL-02", TWICE), (13, "A-14", TWICE)]


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ([*LOOP, load(), *LOADED, STORE, "}"], SHARED),
        ([*LOOP, load(), *LOADED, STORE, BARRIER, "}"], []),
        ([*LOOP, load(), "}", STORE], [(10, "A-14", TWICE), (12, "hazard", RUNS)]),
        ([*LOOP, LOADED[1], "}"], [(10, "deadlock", RUNS)]),
        ([*LOOP, *AT, load().replace("%ub", "%at"), "}"], []),
    ],
    ids=["hazards", "barrier", "after the loop", "deadlock", "addresses of the iteration"],
)
def test_hazards_between_iterations(
    tmp_path: Path, ops: list[str], expected: list[tuple[int, str, str]]
) -> None:
    """Bounds are not known: hazards and flags are those of two iterations."""
    assert found(tmp_path, *ops) == expected


def test_flags_set_before_the_loop(tmp_path: Path) -> None:
    primed = [STORED[0], *LOOP, STORED[1], load(), *LOADED, STORE, STORED[0], "}", STORED[1]]
    assert [one for one in found(tmp_path, *primed) if one[1] != "A-14"] == []


@pytest.mark.parametrize(
    ("before", "condition"),
    [(LOOP, RUNS), (["scf.if %yes {"], HOLDS), (["scf.if %yes {", "} else {"], HOLDS_NOT)],
)
def test_errors_in_code_that_may_not_run_have_its_condition(
    tmp_path: Path, before: list[str], condition: str
) -> None:
    """Rules, operands below 0, and errors that end the walk."""
    line = 9 + len(before)
    odd = load("%one", "%len")
    for body, rule in (
        ([odd], "DMA-L15"),
        ([load("%m")], "DMA-L05"),
        (["%q = arith.divsi %len, %z : i64", load("%q")], "64 is divided by 0"),
    ):
        assert found(tmp_path, *before, *body, "}") == [(line, rule, condition)]
    wrong = found(tmp_path, *before, odd, "}", odd, "pto.pipe_barrier <PIPE_MTE2>")
    assert {(line, "DMA-L15", condition), (line + 2, "DMA-L15", "")} <= {*wrong}


def test_conditions_that_are_not_known_are_noted(tmp_path: Path) -> None:
    """Both branches are checked op by op; their order is not."""
    result = verified(tmp_path, "scf.if %yes {", load(), "} else {", load(hint="%len"), "}")
    assert ([x.rule for x in result.findings], result.ops) == (["DMA-L15"], 2)
    (note,) = result.notes
    assert line_says(note, "9:3 note condition not known")
    (finding,) = verified(tmp_path, *LOOP, load(), "}", STORE).findings
    assert "runs\n  legal: set_flag and wait_flag from PIPE_MTE2" in str(finding)


def test_an_op_that_always_runs_is_reported_without_a_condition(tmp_path: Path) -> None:
    """Of two calls of a function, the unconditional one counts."""
    path = tmp_path / "x.pto"
    call = "  func.call @inner() : () -> ()\n"
    inner = HEAD.replace(f"@k{ARGUMENTS}", "@inner()")
    size = "  pto.set_loop_size_outtoub %m, %one : i64, i64\n"
    source = "  %in = pto.castptr %z : i64 -> !pto.ptr<i8, gm>\n  pto.pipe_barrier <PIPE_ALL>\n"
    inner = f"{inner}{size}{source}  {load(hint='%len')}\n  return\n}}\n"
    inside = f"  scf.if %yes {{\n{call}}}\n"
    for ops, conditions in ((inside, True), (inside + call, False), (call + inside, False)):
        path.write_text(f"{inner}{HEAD}{ops}  return\n}}\n")
        rules = [(one.rule, bool(one.condition)) for one in verify_file(path).findings]
        assert rules == [("DMA-L05", conditions), ("DMA-L15", conditions)]


def test_iterations_are_counted_without_the_second_walk(tmp_path: Path) -> None:
    three = ["%c3 = arith.constant 3 : index", "scf.for %j = %c0 to %c3 step %c1 {"]
    result = verified(tmp_path, *LOOP, *three, load(hint="%len"), "}", "}")
    (finding,) = [str(one) for one in result.findings if one.rule == "DMA-L15"]
    assert line_says(finding, "l2_cache_ctl 64 iteration 1 of 3 if loop")


@pytest.mark.long
def test_loops_that_take_too_long_twice_are_walked_once_with_a_note(tmp_path: Path) -> None:
    """Also loops nested so deep that their paths cannot be enumerated."""
    many = ["%many = arith.constant 15000 : index", "scf.for %j = %c0 to %many step %c1 {"]
    (note,) = verified(tmp_path, *LOOP, *many, BARRIER, "}", "}").notes
    assert line_says(note, "9:3 note bounds loop not known one iteration checked")
    deep = [LOOP[0].replace("%i", f"%i{number}") for number in range(40)]
    with processor_seconds(10):
        result = verified(tmp_path, *deep, load(), *["}"] * 40)
    assert len(result.notes) > 10
    assert [one.rule for one in result.warnings] == ["A-14"]
