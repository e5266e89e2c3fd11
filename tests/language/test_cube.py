# SPDX-License-Identifier: Apache-2.0
"""Loads of L0A and L0B and the ops of the matrix unit: every form of their text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from scoreboards.model.mad import CANONICAL_NAN
from scoreboards.model.mad import product as computed
from tb.isa.ctrl import ATOMIC_WORDS, NOSAT_BIT
from tb.isa.dtypes import Ptr
from tb.isa.grammar import KNOWN_ROWS, ROWS
from tb.isa.l0.op import LOAD_CLASSES, L0Load, Shape, shaped
from tb.isa.mad import Mad
from tb.isa.spaces import SIZES, Space
from tb.language.order.order import order
from tb.language.parser.known import meant, seems_to_move
from tb.language.place import ProgramError
from tb.language.printer import program_text
from tb.language.reader import read
from tb.language.rules.check import check
from tb.language.run.walk import trace
from tb.language.trace import Compute, Move, Trace
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


def a_tile(row: int = 0, col: int = 0, transpose: int = 0) -> L0Load:
    return shaped("mte_l1_l0a", 0, 0, Shape(16, 32, row, col), L1, L0A, transpose)


def b_tile(transpose: int) -> L0Load:
    return shaped("mte_l1_l0b", 0, 0, Shape(16, 32), L1, L0B, transpose)


def product(**more: Any) -> Mad:
    return Mad(0, 0, 0, 16, 16, 32, L0A, L0B, L0C, ctrl=1 << NOSAT_BIT, **more)


LEFT_CONTROL = LOAD_CLASSES["mte_l1_l0a"](0, 0, 0, 0, 1, 1, 1, 1, 0, L1, L0A)
RIGHT_CONTROL = LOAD_CLASSES["mte_l1_l0b"](0, 0, 0, 0, 1, 1, 1, 1, 1, L1, L0B)
SCALES = LOAD_CLASSES["mte_l1_l0a_mx"](0, 0, 0, 0, 1, 1, 1, 1, 0, L1, L0A)
TRANSPOSE = " {transpose = true}"
BIASED = f"{FACTORS}, !pto.ptr<f32, bt>, i64, i64, i64"

LOADED = {
    left(SHAPE): a_tile(),
    left(SHAPE, " {transpose = false}"): a_tile(),
    left(SHAPE, TRANSPOSE): a_tile(transpose=1),
    left("%c16, %c32"): a_tile(),
    left("start_col(%c0), k(%c32), m(%c16), start_row(%c0)"): a_tile(),
    left("%c16, %c32, %c1, %c0"): a_tile(row=1),
    "%z = arith.muli %c0, %c16 : i64\n" + left("%c16, %c32, %z, %z"): a_tile(),
    left(CONTROL): LEFT_CONTROL,
    f"pto.load_cbuf_to_ca %l1, %a, {CONTROL} : {LEFT}{I6}": LEFT_CONTROL,
    left(CONTROL, name="mte_l1_l0a_mx"): SCALES,
    f"pto.load_cbuf_to_ca_mx %l1, %a, {CONTROL} : {LEFT}{I6}": SCALES,
    right(SHAPE, TRANSPOSE): b_tile(1),
    right(SHAPE): b_tile(0),
    right(SHAPE, " {transpose = false}"): b_tile(0),
    right("%c16, %c32"): b_tile(1),
    right(CONTROL, TRANSPOSE): RIGHT_CONTROL,
}
MULTIPLIED = {
    mad(): product(),
    mad("disable_gemv"): product(disable_gemv=True),
    mad("n_dir"): product(n_dir=True),
    mad("unit_flag(check_only)"): product(unit_flag="check_only"),
    mad("unit_flag(check_and_set)"): product(unit_flag="check_and_set"),
    mad("sat"): product(sat="sat"),
    mad("nosat"): product(sat="nosat"),
    mad(name="mad_acc"): product(initial="acc"),
    f"pto.mad_bias %a, %b, %c, %bias, %c16, %c16, %c32 : {BIASED}": product(
        initial="bias", bias_type=Ptr("f32", "bt")
    ),
}


@pytest.mark.parametrize("form", ["pretty", "generic"])
@pytest.mark.parametrize("text", [*LOADED, *MULTIPLIED])
def test_loads_and_products(text: str, form: str) -> None:
    found = walk(text, form)
    again = trace(read(program_text(found.steps), "y.pto"))
    kind, op = (Move, LOADED[text]) if text in LOADED else (Compute, MULTIPLIED[text])
    for steps in (found.steps, again.steps):
        assert [(type(step), getattr(step, "op", None)) for step in steps] == [(kind, op)]
    assert not found.skipped


def test_a_product_of_any_size_takes_no_memory() -> None:
    """It breaks MD-L02: it has no unit flags to wait for."""
    op = (
        f"pto.mad %a, %b, %c, %many, %c16, %c32 unit_flag(check_and_set) : {FACTORS}, i64, i64, i64"
    )
    found = walk(f"%many = arith.constant {1 << 62} : i64\n{op}")
    assert [one.rule for one in check(found)] == ["MD-L02"]
    assert order(found).findings == ()


NAN_OF_F16 = 0x7E00
RESTORED = "%old = pto.get_ctrl : i64\npto.set_ctrl %old : i64\n"


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("ops", "ctrl", "kept"),
    [
        (mad(), None, True),
        (mad(), 0, False),
        (mad(), 1 << NOSAT_BIT, True),
        (mad("sat"), None, False),
        (mad("nosat"), 0, True),
        ("pto.set_ctrl %c0 : i64\n" + mad(), None, False),
        ("pto.set_atomic_none\n" + mad(), None, False),
        (RESTORED + mad(), None, False),
        (RESTORED + mad(), 1 << NOSAT_BIT, True),
        ("%old = pto.get_ctrl : i64\n" + mad(), None, True),
    ],
)
def test_a_product_of_nan_under_the_ctrl_that_the_kernel_finds(
    ops: str, ctrl: int | None, kept: bool, static: bool
) -> None:
    """A-75: no saturation before the first write of CTRL, unless its value is given."""
    found = trace(read(f"{HEAD}{ops}\nfunc.return\n}}\n", "x.pto"), static=static, ctrl=ctrl)
    step = found.steps[-1]
    assert isinstance(step, Compute)
    memories = {
        space: np.zeros(SIZES[space], np.uint8) for space in (Space.L0, Space.L0C, Space.BT)
    }
    memories[Space.L0][:2] = NAN_OF_F16 & 0xFF, NAN_OF_F16 >> 8
    rows = computed(step.op, memories)
    assert rows is not None
    assert rows.data[0].view("<u4")[0] == (CANONICAL_NAN if kept else 0)


def test_other_readers_of_ctrl_take_0_where_nothing_is_given() -> None:
    store = (
        "%gm = pto.castptr %c0 : i64 -> !pto.ptr<f32, gm>\n"
        "pto.mte_l0c_gm %c, %gm, %c16, %c16, %c16, %c16, %c0, %c0 "
        ": !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
    )
    for ctrl in (None, 0x40):
        source = read(f"{HEAD}{store}\nfunc.return\n}}\n", "x.pto")
        (step,) = trace(source, ctrl=ctrl).steps
        assert isinstance(step, Move)
        assert step.ctrl == (ctrl or 0)


WORDS = {
    "0x8000000010020010": product(),
    "0x0000000010020010": product(initial="acc"),
    "0xA000000010020010": product(disable_gemv=True),
    "0x4000000010020010": product(initial="bias", bias_type=Ptr("f32", "bt")),
    "0x8080000010020010": product(unit_flag="1"),  # MD-L01: there is no code 1.
    "0x8100000010020010": product(unit_flag="check_only"),
    "0x8180000010020010": product(unit_flag="check_and_set"),
}


@pytest.mark.parametrize("word", WORDS)
def test_the_word_of_an_expanded_product(word: str) -> None:
    """Fields of Xt: spec/l0_loads.md, section 6."""
    expected = WORDS[word]
    number = int(word, 16)
    signed = number - (1 << 64 if number >> 63 else 0)
    op = f"pto.mad_raw %a, %b, %c, %x : {FACTORS}, i64"
    if expected.initial == "bias":
        op = f"pto.mad_bias_raw %a, %b, %c, %bias, %x : {FACTORS}, !pto.ptr<f32, bt>, i64"
    found = walk(f"%x = arith.constant {signed} : i64\n{op}")
    (step,) = found.steps
    assert isinstance(step, Compute)
    assert step.op == expected
    broken = [("MD-L01", "0 without, 2 check_only, 3 check_and_set")]
    assert [(one.rule, one.legal) for one in check(found)] == broken * (expected.unit_flag == "1")


def test_programs_are_printed_in_the_form_of_the_compiler() -> None:
    printed = program_text(walk("\n".join((*LOADED, *MULTIPLIED))).steps)
    lines = [line.strip() for line in printed.splitlines() if "mte_l1" in line or "mad" in line]
    one = "pto.mte_l1_l0a %l1_f16_0x0, %l0a_f16_0x0, %c16_i64, %c32_i64, %c0_i64, %c0_i64"
    other = "pto.mte_l1_l0b %l1_f16_0x0, %l0b_f16_0x0, %c16_i64, %c32_i64, %c0_i64, %c0_i64"
    assert lines[0] == lines[1] == lines[3] == f"{one} : {LEFT}{I4}"
    assert lines[2] == f"{one}{TRANSPOSE} : {LEFT}{I4}"
    assert lines[11] == lines[14] == f"{other}{TRANSPOSE} : {RIGHT}{I4}"
    assert lines[12] == f"{other} : {RIGHT}{I4}"
    printed_clauses = [re.search(r"%c32_i64 ?(.*?) :", line)[1] for line in lines[16:23]]  # type: ignore[index]
    clauses = ["", "disable_gemv", "n_dir", "unit_flag(check_only)", "unit_flag(check_and_set)"]
    assert printed_clauses == [*clauses, "sat", "nosat"]


def test_a_start_that_is_not_known_is_refused_in_a_run_alone() -> None:
    text = left("%c16, %c32, %n, %c0")
    assert len(walk(text, static=True).steps) == 1
    with pytest.raises(ProgramError, match="argument"):
        walk(text)


def test_the_older_form_is_noted() -> None:
    source = read(f"{HEAD}{right('%c16, %c32')}\nfunc.return\n}}\n", "x.pto")
    (note,) = source.notes
    assert "two extents are an older form" in note
    assert "{transpose = true}" in note
    with pytest.raises(ProgramError, match="older form with two extents has no transpose"):
        read(f"{HEAD}{right('%c16, %c32', TRANSPOSE)}\nfunc.return\n}}\n", "x.pto")


def test_ctrl_goes_along_with_a_product() -> None:
    """TF32 of the factors and saturation are bits of CTRL where no clause says them."""
    f32 = mad().replace("f16", "f32").replace("%a, %b", "%x, %y")
    body = (
        "%x = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0a>\n"
        "%y = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0b>\n"
        "%bit = arith.constant 46 : i64\n"
        "%o = pto.get_ctrl : i64\n"
        "%t = pto.sbitset1 %o, %bit : i64, i64 -> i64\n"
        "pto.set_ctrl %t : i64\n"
    )

    def rounding(text: str) -> str:
        (op,) = [step.op for step in walk(text).steps if isinstance(step, Compute)]
        return op.rounding

    assert rounding(body + f32) == "round_even"
    assert rounding(body + mad()) == "", "of f32 alone"
    assert rounding(f"{body}{f32}".replace("pto.set_ctrl %t", "pto.set_ctrl %o")) == ""


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
    assert name in ROWS | KNOWN_ROWS
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
