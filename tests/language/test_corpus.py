# SPDX-License-Identifier: Apache-2.0
"""Every case of the corpus is accepted, or refused with the expected rule at the expected place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tb.language.verify import verify_file
from tests.language.corpus import FOLDER, cases, complaint, findings, parts, read_cases
from tests.language.corpus.short import complete
from tests.wording import line_says

CASES = cases()
PARTS = parts(CASES)


@pytest.mark.parametrize("part", PARTS)
def test_every_case_has_the_expected_findings(part: str, tmp_path: Path) -> None:
    complaints = [complaint(case, findings(case, tmp_path)) for case in PARTS[part]]
    wrong = "\n".join(filter(None, complaints))
    assert not wrong, wrong


@pytest.mark.parametrize("part", parts([case for case in CASES if case.warns]))
def test_strict_makes_the_same_warnings_errors(part: str, tmp_path: Path) -> None:
    for case in parts([case for case in CASES if case.warns])[part]:
        strict = replace(case, options=(*case.options, "--strict"), warns=False)
        found = findings(strict, tmp_path)
        assert complaint(strict, found) == ""
        assert {one.severity for one in found} == {"error"}


def test_a_legal_program_that_is_broken_is_refused(tmp_path: Path) -> None:
    good = next(case for case in CASES if case.name == "legal/gm_ub_plain")
    text = good.text.replace("%c128_i64 = arith.constant 128", "%c128_i64 = arith.constant 120")
    found = findings(replace(good, text=text), tmp_path)
    assert [finding.rule for finding in found] == ["DMA-L07"]
    assert line_says(complaint(good, found), "expected no finding got other findings")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expected": ("BT-L02",)}, "expected BT-L02, got another finding first"),
        ({"expected": ("type",)}, "expected type, got another finding first"),
        ({"expected": ()}, "expected no finding"),
        ({"warns": True}, "got a finding of severity error"),
        ({"line": 9}, "bt.pto:9: illegal/bt_l01_narrow: expected BT-L01, got another line"),
        ({"column": 6}, "another column than 6"),
        ({"also": ("BT-L02",)}, "other findings"),
        ({"facts": "i64 to f32"}, "another message than i64 to f32"),
        ({"legal": "f16 f64"}, "another legal range than f16 f64"),
        ({"text": "func.func @k() {\n  return\n}\n"}, "got no finding"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_a_wrong_expectation_fails(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "illegal/bt_l01_narrow")
    assert message not in complaint(case, findings(case, tmp_path))
    wrong = replace(case, **change)
    assert message in complaint(wrong, findings(wrong, tmp_path))


def test_a_finding_of_a_rule_has_the_op_at_its_place(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "illegal/bt_l01_narrow")
    (finding,) = findings(case, tmp_path)
    assert "got another op" in complaint(case, [replace(finding, op="pto.mte_l1_fb")])


def test_cases_of_one_file_keep_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "illegal" / "x.pto"
    path.parent.mkdir()
    text = """// case {}: Words.
func.func @k() {{
  // expected: {} @below:3
  pto.nothing
}}
"""
    path.write_text(text.format("a", "unknown-op") + text.format("b", "type"))
    first, second = read_cases(path)
    assert (first.name, first.line, second.name, second.line) == ("illegal/a", 4, "illegal/b", 9)
    assert complaint(first, findings(first, tmp_path)) == ""
    message = complaint(second, findings(second, tmp_path))
    assert message.startswith(f"{path}:9: illegal/b: expected type, got another finding first:\n")
    assert "x.pto:9:3: error" in message


SHORT = """// case x:
// Words on %n.
%at = pto.castptr %c512_i64 : i64 -> !pto.ptr<i8, ub>
scf.for %i = %c0 to %c2 step %c1 {
  // expected: type @below:3
  pto.mte_gm_ub %in, %at, %c0_i64, %c64 nburst(%rows, %c64, %c64)
    pad(%one) : !pto.ptr<i8, gm>, !pto.ptr<i8, ub>, i64, i64, i64, i64, i64, pad f16
}
pto.mte_ub_gm %ub, %in, %rows nburst(%rows, %c64, %c64) {ub_sub = 1 : i32}
  : !pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64
"""

SUPPLIED = """module {
func.func @x(%in: !pto.ptr<i8, gm>, %rows: i64) {
%c512_i64 = arith.constant 512 : i64
%c0 = arith.constant 0 : index
%c2 = arith.constant 2 : index
%c1 = arith.constant 1 : index
%c0_i64 = arith.constant 0 : i64
%c64 = arith.constant 64 : i64
%one = arith.constant 1.0 : f16
%ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i8, ub>
"""


def test_a_case_omits_what_names_say() -> None:
    assert complete("x", SHORT) == (f"{SUPPLIED}{SHORT}return\n}}\n}}\n", 10)
    assert complete("x", SHORT + "// func.func") == (SHORT + "// func.func", 0)
    assert complete("x", "// Words.\nNo op.\n") == ("// Words.\nNo op.\n", 0)


@pytest.mark.parametrize(
    ("op", "definition"),
    [
        ("pto.set_ctrl %rows : i64", "@x(%rows: i64)"),
        ("pto.set_ctrl %rose : i64", "@x() {\npto.set_ctrl %rose"),
        ("pto.set_ctrl %c8_i32 : i64", "%c8_i32 = arith.constant 8 : i32"),
        ("pto.set_ctrl %c8 : i64", "%c8 = arith.constant 8 : i64"),
        ("pto.set_ctrl %c-8 : i64", "%c-8 = arith.constant -8 : i64"),
        ("scf.if %true {", "%true = arith.constant true"),
        ("pto.get_buf_dyn %i", "@x(%i: index)"),
        ("pto.set_mov_pad_val %zero : bf16", "%zero = arith.constant 0.0 : bf16"),
        ("pto.set_mov_pad_val %zero : i8", "%zero = arith.constant 0 : i8"),
        ("pto.f %c1, %a : I64x2, SI8_UB", "pto.f %c1, %a : i64, i64, !pto.ptr<si8, ub>"),
        ('"pto.f"(%a_at_64) : (!pto.ptr<i8, gm>)', "%a_at_64 = pto.castptr %c64_i64 : i64 -> "),
        ('"pto.f"(%a) : (!pto.ptr<!pto.hif8, l1>)', "%c0_i64 : i64 -> !pto.ptr<!pto.hif8, l1>"),
        ("pto.f %a : memref<?xf16, 3>", "@x(%a: memref<?xf16, 3>)"),
        ("%b:2 = arith.f %n : i8 to i64", "@x(%n: i8)"),
    ],
)
def test_values_of_a_short_case(op: str, definition: str) -> None:
    assert definition in complete("x", f"{op}\n")[0]


def test_functions_omit_constants_and_buffers_alone() -> None:
    text = """module {{
  func.func private @a(%n: i64)
  func.func @b(%n: i64) {{{}
    pto.f %c4, %n, %m, %u : i64, i64, i64, {}
  }}
  func.func @c() {{{}
    pto.f %c4 : i32
  }}
}}
"""
    cast = "%c0_i64 = arith.constant 0 : i64 %u = pto.castptr %c0_i64 : i64 -> !pto.ptr<i8, ub>"
    four = " %c4 = arith.constant 4 : "
    supplied = text.format(f"{four}i64 {cast}", "!pto.ptr<i8, ub>", f"{four}i32")
    assert complete("x", text.format("", "I8_UB", "")) == (supplied, 0)


def test_a_short_case_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "illegal" / "x.pto"
    path.parent.mkdir()
    path.write_text(SHORT + SHORT.replace("case x", "case y"))
    first, second = read_cases(path)
    assert (first.line, second.line) == (6, 16)
    assert "x.pto:6:3: error" in complaint(first, findings(first, tmp_path))
    assert f"{path}:16: illegal/y: " in complaint(second, findings(second, tmp_path))
    assert "x.pto:16:3: error" in complaint(second, findings(second, tmp_path))


@pytest.mark.parametrize(
    ("folder", "text", "message"),
    [
        ("illegal", "// Words.\n// expected: type\n", "name and one sentence"),
        ("illegal", "// case x\n// Words.\n// expected: type\n", "name and one sentence"),
        ("illegal", "// case x:\n// expected: type\n", "name and one sentence"),
        ("illegal", "// case x: \n// expected: type\n", "name and one sentence"),
        ("illegal", "// case x: Words.\n", "expects one finding"),
        ("illegal", "// case x: Words.\n// expected: type\n// expected: type\n", "one finding"),
        ("legal", "// case x: Words.\n// expected: type\n", "none in legal"),
        ("illegal", "// case x: Words.\n// warns: nonsense\n", "'// warns: nonsense' c"),
        ("illegal", "// case x: Words.\n// expected: nonsense\n", "'// expected: nonsense' c"),
        ("illegal", "// case x: Words.\n// expected: X-L01 @below:5\n", "cannot be expected"),
        ("illegal", "// case x:\n// Words.\n// expected: type @above\n", r"x\.pto:3: .*above"),
        ("illegal", "// case x: Words.\n// expects: type\n", "expects: type"),
        ("legal", "// case x: Words.\n// cas: y\n// Words.\n", "'// cas: y' is not case"),
    ],
)
def test_comments_of_a_case_are_checked(
    folder: str, text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / folder / "x.pto"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_cases(path)


@pytest.mark.parametrize("part", PARTS)
def test_lines_may_end_as_on_windows(part: str, tmp_path: Path) -> None:
    for case in PARTS[part][::8]:
        windows = replace(case, text=case.text.replace("\n", "\r\n"))
        assert findings(windows, tmp_path) == findings(case, tmp_path), case.name


# --- what the compiler refuses (DF-01 to DF-12 of docs/spec/dialect.md)
# --------------------------------


REFUSED = {f"FIX-L{number:02}" for number in (*range(1, 13), 20, 21)} - {"FIX-L07"}
"""Rules of which the compiler checks at least a part."""

ACCEPTED = {
    "fix_l02_signed",
    "fix_l04_hif8_as_f8",
    "fix_l04_no_clause",
    "fix_l04_no_convert",
    "fix_l04_unsigned_32_bits",
    "fix_l05_integers_without_scale",
    "fix_l11_type_differs",
    "fix_l11_unsigned",
}
"""Cases of these rules that the compiler accepts."""

SUB_BLOCK = "fix_l14_sub_block"
"""The only case of another rule that it refuses."""


def test_what_the_compiler_refuses_is_refused_without_a_note(tmp_path: Path) -> None:
    ours, accepted = {}, {}
    for case in read_cases(FOLDER / "illegal" / "fix.pto"):
        name = case.name.partition("/")[2]
        for finding in findings(case, tmp_path):
            if finding.rule:
                ours[name, finding.rule] = finding.ours or finding.undefined
                refused = finding.rule in REFUSED and name not in ACCEPTED
                accepted[name, finding.rule] = not refused and name != SUB_BLOCK
    assert ours == accepted
    assert {name for name, _ in ours} > ACCEPTED | {SUB_BLOCK}


def test_a_mode_that_only_the_model_has_is_noted(tmp_path: Path) -> None:
    op = (
        "pto.mte_l0c_gm %l0c, %out, %c16, %c16, %c16, %c16, %c0, %c0, "
        "pre_quant(%one, mode = req4_scalar) : I32_L0C, I4_GM, I64x6, f32\n"
    )
    path = tmp_path / "x.pto"
    path.write_text(complete("x", op)[0])
    verified = verify_file(path)
    assert not verified.findings
    assert "the compiler refuses pre_quant req4_scalar" in verified.notes[0]
