# SPDX-License-Identifier: Apache-2.0
"""Loads of L0A and L0B and the ops of the matrix unit: which run, and which are known."""

from __future__ import annotations

import re

import pytest

from tb.isa.ctrl import ATOMIC_WORDS
from tb.isa.cube import Mad, MteL1L0a, MteL1L0b
from tb.isa.dtypes import Ptr
from tb.language.dialect.forms import FORMS, KNOWN_FORMS
from tb.language.parser.known import meant, seems_to_move
from tb.language.place import ProgramError
from tb.language.printer import program_text
from tb.language.reader import read
from tb.language.run.walk import trace
from tb.language.trace import Compute, Trace
from tests.language.programs import in_form

HEAD = """func.func @k(%n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %l1 = pto.castptr %c0 : i64 -> !pto.ptr<f16, l1>
  %a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>
  %b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>
  %c = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
  %bias = pto.castptr %c0 : i64 -> !pto.ptr<f32, bt>
"""
L1, L0A, L0B, L0C = Ptr("f16", "l1"), Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c")
LEFT = "!pto.ptr<f16, l1>, !pto.ptr<f16, l0a>"
RIGHT = "!pto.ptr<f16, l1>, !pto.ptr<f16, l0b>"
FACTORS = "!pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>"
SHAPE = "%c16, %c32, %c0, %c0"
I4, I6 = ", i64" * 4, ", i64" * 6
CONTROL = "%c0, %c0, %c1, %c1, %c1, %c1"


def left(operands: str, more: str = "", name: str = "mte_l1_l0a") -> str:
    return f"pto.{name} %l1, %a, {operands}{more} : {LEFT}" + ", i64" * operands.count("%")


def right(operands: str, more: str = "") -> str:
    return f"pto.mte_l1_l0b %l1, %b, {operands}{more} : {RIGHT}" + ", i64" * operands.count("%")


def mad(clauses: str = "", name: str = "mad") -> str:
    return f"pto.{name} %a, %b, %c, %c16, %c16, %c32 {clauses} : {FACTORS}, i64, i64, i64"


def walk(body: str, form: str = "pretty", *, static: bool = False, skip: bool = False) -> Trace:
    text = in_form(f"{HEAD}{body}\nfunc.return\n}}\n", form)
    return trace(read(text, "x.pto"), static=static, foreign="skip" if skip else "refuse")


A_TILE = MteL1L0a(0, 0, 16, 32, L1, L0A)
B_TILE = MteL1L0b(0, 0, 16, 32, L1, L0B)
PRODUCT = Mad(0, 0, 0, 16, 16, 32, L0A, L0B, L0C)
TRANSPOSE = " {transpose = true}"

EXECUTED = {
    left(SHAPE): A_TILE,
    left(SHAPE, " {transpose = false}"): A_TILE,
    left("%c16, %c32"): A_TILE,
    left("start_col(%c0), k(%c32), m(%c16), start_row(%c0)"): A_TILE,
    "%z = arith.muli %c0, %c16 : i64\n" + left("%c16, %c32, %z, %z"): A_TILE,
    right(SHAPE, TRANSPOSE): B_TILE,
    right("%c16, %c32"): B_TILE,
    mad(): PRODUCT,
    mad("disable_gemv"): Mad(0, 0, 0, 16, 16, 32, L0A, L0B, L0C, disable_gemv=True),
    mad("n_dir"): Mad(0, 0, 0, 16, 16, 32, L0A, L0B, L0C, n_dir=True),
}


@pytest.mark.parametrize("form", ["pretty", "generic"])
@pytest.mark.parametrize("text", EXECUTED)
def test_these_forms_run(text: str, form: str) -> None:
    found = walk(text, form)
    (step,) = found.steps
    assert isinstance(step, Compute)
    assert step.op == EXECUTED[text]
    assert not found.skipped
    again = trace(read(program_text(found.steps), "y.pto"))
    assert [x.op for x in again.steps if isinstance(x, Compute)] == [step.op]


def test_programs_are_printed_in_the_form_of_the_compiler() -> None:
    printed = program_text(walk("\n".join(EXECUTED)).steps)
    lines = [line.strip() for line in printed.splitlines() if "mte_l1" in line or "mad" in line]
    one = "pto.mte_l1_l0a %l1_f16_0x0, %l0a_f16_0x0, %c16_i64, %c32_i64, %c0_i64, %c0_i64"
    other = "pto.mte_l1_l0b %l1_f16_0x0, %l0b_f16_0x0, %c16_i64, %c32_i64, %c0_i64, %c0_i64"
    assert set(lines[:5]) == {f"{one} : {LEFT}{I4}"}
    assert set(lines[5:7]) == {f"{other} {{transpose = true}} : {RIGHT}{I4}"}
    assert [re.search(r"%c32_i64 ?(.*?) :", line)[1] for line in lines[7:]] == [  # type: ignore[index]
        *("", "disable_gemv", "n_dir")
    ]


KNOWN = (
    left(SHAPE, TRANSPOSE),
    left(CONTROL),
    left("%c16, %c32, %c1, %c0"),
    left("%c16, %c32, %n, %c0"),
    left(SHAPE, name="mte_l1_l0a_mx"),
    right(SHAPE),
    right(SHAPE, " {transpose = false}"),
    right(CONTROL, TRANSPOSE),
    mad("unit_flag(check_only)"),
    mad("nosat"),
    mad(name="mad_acc"),
    f"pto.mad_raw %a, %b, %c, %c1 : {FACTORS}, i64",
    f"pto.load_cbuf_to_ca %l1, %a, {CONTROL} : {LEFT}{I6}",
)


@pytest.mark.parametrize("text", KNOWN)
def test_other_forms_are_known_and_not_executed(text: str) -> None:
    found = walk(text, static=True)
    assert not found.steps
    assert [each.cube for each in found.skipped] == [True]
    with pytest.raises(ProgramError) as caught:
        walk(text)
    (finding,) = caught.value.findings
    assert finding.message.startswith("this op is known and not executed")
    assert finding.op in text
    assert finding.legal
    assert "did you mean" not in str(finding)
    skipped = walk(text, skip=True)
    assert [each.cube for each in skipped.skipped] == [True], "the last line of a run says so"


def test_the_older_form_is_noted() -> None:
    source = read(f"{HEAD}{right('%c16, %c32')}\nfunc.return\n}}\n", "x.pto")
    (note,) = source.notes
    assert "two extents are an older form" in note
    assert "{transpose = true}" in note
    with pytest.raises(ProgramError, match="older form with two extents has no transpose"):
        read(f"{HEAD}{right('%c16, %c32', TRANSPOSE)}\nfunc.return\n}}\n", "x.pto")


def test_factors_of_f32_that_ctrl_cuts_are_refused() -> None:
    f32 = mad().replace("f16", "f32").replace("%a, %b", "%x, %y")
    body = (
        "%x = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0a>\n"
        "%y = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0b>\n"
        "%bit = arith.constant 46 : i64\n"
        "%o = pto.get_ctrl : i64\n"
        "%t = pto.sbitset1 %o, %bit : i64, i64 -> i64\n"
        "pto.set_ctrl %t : i64\n"
    )
    assert walk(body + mad()).steps
    assert walk(body + f32, static=True).steps
    with pytest.raises(ProgramError, match="bit 46 of CTRL is set"):
        walk(body + f32)
    assert walk(f"{body}{f32}".replace("pto.set_ctrl %t", "pto.set_ctrl %o")).steps


NEVER_SKIPPED = (
    *(f"set_atomic_{word}" for word in ATOMIC_WORDS),
    *("set_ctrl", "set_mov_pad_val", "set_fpc", "set_quant_pre", "set_relu_alpha"),
    *("set_fix_clip_relu", "set_loop3_para", "set_channel_para", "set_mte2_nz_para"),
    *(f"set_{what}_outtoub" for what in ("loop_size", "loop1_stride", "loop2_stride")),
    *(f"set_{what}_outtol1" for what in ("loop_size", "loop1_stride", "loop2_stride")),
    *("copy_gm_to_ubuf", "copy_gm_to_cbuf_multi_nd2nz", "copy_matrix_cc_to_gm", "raw_fill_l1"),
    *("load_cbuf_to_ca", "mte_l1_l0a_mx", "mad", "mad_acc", "mad_mx_bias", "mad_mx_raw"),
)


@pytest.mark.parametrize("name", NEVER_SKIPPED)
def test_nothing_that_later_movements_depend_on_is_foreign(name: str) -> None:
    assert name in FORMS | KNOWN_FORMS
    assert not meant(f"pto.{name}x") or seems_to_move(f"pto.{name}x") or name == "mad"


@pytest.mark.parametrize("name", ["set_fpc", "set_quant_pre", "set_relu_alpha", "set_mte2_nz_para"])
def test_registers_that_are_not_written_are_refused_whatever_is_skipped(name: str) -> None:
    with pytest.raises(ProgramError, match="known and not executed") as caught:
        walk(f"pto.{name} %c1 : i64", skip=True)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["set_quant_prx", "set_atomic_f64", "mad_pre", "load_cbuf_to_cc"])
def test_unknown_ops_with_such_names_are_refused_whatever_is_skipped(name: str) -> None:
    with pytest.raises(ProgramError, match="never skipped"):
        walk(f"pto.{name} %c1 : i64", skip=True)


@pytest.mark.parametrize("name", ["mem_bar", "get_buf", "set_intra_block", "syncall", "dsb"])
def test_no_op_of_the_dialect_is_taken_for_a_slip(name: str) -> None:
    assert meant(f"pto.{name}") == ""
