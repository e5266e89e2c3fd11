# SPDX-License-Identifier: Apache-2.0
"""Loads of L0A and L0B and the ops of the matrix unit: every form of their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

from scoreboards.model.mad import CANONICAL_NAN
from scoreboards.model.mad import product as computed
from tb.isa.ctrl import NOSAT_BIT
from tb.isa.dtypes import Ptr
from tb.isa.grammar import KNOWN_ROWS, ROWS
from tb.isa.l0.op import LOAD_CLASSES, Shape, shaped
from tb.isa.mad import Mad
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES
from tb.isa.spaces import SIZES, Space
from tb.language.order.order import order
from tb.language.parser.known import meant, seems_to_move
from tb.language.place import ProgramError
from tb.language.printer import program_text
from tb.language.reader import read
from tb.language.rules.check import check
from tb.language.run.build import CLASSES, CUBE_OPS
from tb.language.run.walk import trace
from tb.language.trace import Compute, Trace
from tests.language.programs import AT, FORMS, is_built, name_of, short
from tests.language.test_build import CASES as OTHERS

L1, L0A, L0B, L0C32 = Ptr("i8", "l1"), Ptr("i8", "l0a"), Ptr("i8", "l0b"), Ptr("f32", "l0c")
CONTROL = "%c1, %c2, %c3, %c4, %c5, %c6"
BIAS = {"bias": 0x700, "bias_type": Ptr("f32", "bt")}
FOUR_BITS = "!pto.ptr<!pto.f4E1M2x2, {}>"


def _loads() -> Iterator[tuple[str, Any]]:
    for space, pointer in (("l0a", L0A), ("l0b", L0B)):
        name, to = f"mte_l1_{space}", f"load_cbuf_to_c{space[-1]}"
        values, types = (1, 2, 3, 4, 5, 6), f"I8_L1, I8_{space.upper()}, I64x6"
        pairs = [Ptr("f4E1M2x2", each) for each in ("l1", space)]
        four = ", ".join(FOUR_BITS.format(each) for each in ("l1", space))
        transposed = "{transpose = true}"
        load, scales = LOAD_CLASSES[name], LOAD_CLASSES[f"{name}_mx"]
        yield (
            f"pto.{name} %l1, %{space}, %c1, %c2 : I8_L1, I8_{space.upper()}, I64x2",
            shaped(name, 0x300, AT[space], Shape(1, 2), L1, pointer, int(space == "l0b")),
        )
        yield (
            f"pto.{name}_mx %l1, %{space}, {CONTROL} : {types}",
            scales(0x300, AT[space], *values, 0, L1, pointer),
        )
        yield (
            f"pto.{to} %l1, %{space}, {CONTROL} {transposed} : {types}",
            load(0x300, AT[space], *values, 1, L1, pointer),
        )
        # The address of scales is a sixteenth of that of their data.
        yield (
            f"pto.{to}_mx %l1, %{space}, {CONTROL} : {types}",
            scales(0x300, 16 * AT[space], *values, 0, L1, pointer),
        )
        yield (
            f"pto.{to}_s4 %l1, %{space}, {CONTROL}, %c1 : {four}, I64x7",
            load(0x300, AT[space], *values, 1, pairs[0], pairs[1]),
        )


def _products() -> Iterator[tuple[str, Any]]:
    for mx, dtype in (("", "i8"), ("_mx", "f8E5M2")):
        left, right = Ptr(dtype, "l0a"), Ptr(dtype, "l0b")
        for what, initial in (
            ("", ""),
            ("_acc", "acc"),
            ("_bias", "bias"),
            ("_raw", "acc"),
            ("_bias_raw", "bias"),
        ):
            raw, (bias, kind) = "raw" in what, (", %bt", "F32_BT, ") if "bias" in what else ("", "")
            m, n, k = (5, 0, 0) if raw else (1, 2, 3)
            # Nothing has written CTRL.
            biased: dict[str, Any] = BIAS if bias else {}
            yield (
                f"pto.mad{mx}{what} %l0a, %l0b, %l0c{bias}, {'%c5' if raw else '%c1, %c2, %c3'} : "
                f"!pto.ptr<{dtype}, l0a>, !pto.ptr<{dtype}, l0b>, F32_L0C, {kind}"
                f"{'i64' if raw else 'I64x3'}",
                Mad(
                    *(0x400, 0x500, 0x600, m, n, k, left, right, L0C32, initial),
                    **biased, mx=bool(mx), ctrl=1 << 48,
                ),
            )  # fmt: skip


H1, HA, HB, SHAPE = Ptr("f16", "l1"), Ptr("f16", "l0a"), Ptr("f16", "l0b"), "%c16, %c32, %c0, %c0"
TRANSPOSE, PLAIN = " {transpose = true}", " {transpose = false}"


def left(operands: str, more: str = "", name: str = "mte_l1_l0a") -> str:
    return f"pto.{name} %l1, %l0a, {operands}{more} : F16_L1, F16_L0A, I64x{operands.count('%')}"


def right(operands: str, more: str = "") -> str:
    return (
        f"pto.mte_l1_l0b %l1, %l0b, {operands}{more} : F16_L1, F16_L0B, I64x{operands.count('%')}"
    )


def mad(clauses: str = "", name: str = "mad", k: str = "%c32") -> str:
    return (
        f"pto.{name} %l0a, %l0b, %l0c, %c16, %c16, {k} {clauses} : F16_L0A, F16_L0B, F32_L0C, I64x3"
    )


def tile(side: str, row: int = 0, transpose: int = 0) -> Any:
    to = Ptr("f16", f"l0{side}")
    return shaped(f"mte_l1_l0{side}", 0x300, AT[to.space], Shape(16, 32, row, 0), H1, to, transpose)


def product(**more: Any) -> Mad:
    more = {"ctrl": 1 << NOSAT_BIT, **more}
    return Mad(0x400, 0x500, 0x600, 16, 16, 32, HA, HB, L0C32, **more)


FORMS_OF_LOADS: list[tuple[str, Any]] = [
    (left(SHAPE), tile("a")),
    (left(SHAPE, PLAIN), tile("a")),
    (left(SHAPE, TRANSPOSE), tile("a", transpose=1)),
    (left("%c16, %c32"), tile("a")),
    (left("start_col(%c0), k(%c32), m(%c16), start_row(%c0)"), tile("a")),
    (left("%c16, %c32, %c1, %c0"), tile("a", 1)),
    ("%z = arith.muli %c0, %c16 : i64\n" + left("%c16, %c32, %z, %z"), tile("a")),
    (left(CONTROL), LOAD_CLASSES["mte_l1_l0a"](0x300, 0x400, 1, 2, 3, 4, 5, 6, 0, H1, HA)),
    (right(SHAPE, TRANSPOSE), tile("b", transpose=1)),
    (right(SHAPE), tile("b")),
    (right(SHAPE, PLAIN), tile("b")),
    (right("%c16, %c32"), tile("b", transpose=1)),
    (
        right(CONTROL, TRANSPOSE),
        LOAD_CLASSES["mte_l1_l0b"](0x300, 0x500, 1, 2, 3, 4, 5, 6, 1, H1, HB),
    ),
]
CLAUSES: list[tuple[str, Any]] = [
    (mad("disable_gemv"), product(disable_gemv=True)),
    (mad("n_dir"), product(n_dir=True)),
    (mad("unit_flag(check_only)"), product(unit_flag="check_only")),
    (mad("unit_flag(check_and_set)"), product(unit_flag="check_and_set")),
    (mad("sat"), product(sat="sat")),
    (mad("nosat"), product(sat="nosat")),
]
CASES = [*_loads(), *_products(), *FORMS_OF_LOADS, *CLAUSES]
"""An op and the expected op."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("text", "expected"), CASES, ids=[text.split(" :")[0] for text, _ in CASES]
)
def test_loads_and_products(text: str, expected: Any, form: str) -> None:
    is_built(text, expected, form)


def test_every_op_is_built_here_or_in_test_build() -> None:
    """No op lacks a case, or a class."""
    assert {name_of(text) for text, _ in (*CASES, *OTHERS)} == set(ROWS)
    others = ("set_", *CUBE_OPS)
    forms = {*TEXT_FORMS} - CUBE_OPS
    assert set(CLASSES) - CUBE_OPS == forms | {x for x in PIPES if not x.startswith(others)}


def walk(text: str, *, static: bool = False, skip: bool = False, ctrl: int | None = None) -> Trace:
    mode: Literal["skip", "refuse"] = "skip" if skip else "refuse"
    return trace(read(short(text), "x.pto"), static=static, foreign=mode, ctrl=ctrl)


def test_a_product_of_any_size_takes_no_memory() -> None:
    """It breaks MD-L02: it has no unit flags to wait for."""
    found = walk(mad("unit_flag(check_and_set)", k=f"%c{1 << 62}"))
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
        ("pto.set_ctrl %c0_i64 : i64\n" + mad(), None, False),
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
    step = walk(ops, static=static, ctrl=ctrl).steps[-1]
    assert isinstance(step, Compute)
    memories = {
        space: np.zeros(SIZES[space], np.uint8) for space in (Space.L0, Space.L0C, Space.BT)
    }
    memories[Space.L0][0x400:0x402] = NAN_OF_F16 & 0xFF, NAN_OF_F16 >> 8
    rows = computed(step.op, memories)
    assert rows is not None
    assert rows.data[0].view("<u4")[0] == (CANONICAL_NAN if kept else 0)


@pytest.mark.parametrize("ctrl", [None, 0x40])
def test_other_readers_of_ctrl_take_0_where_nothing_is_given(ctrl: int | None) -> None:
    store = "pto.mte_l0c_gm %l0c, %gm, %c16, %c16, %c16, %c16, %c0, %c0 : F32_L0C, F32_GM, I64x6"
    (step,) = walk(store, ctrl=ctrl).steps
    assert getattr(step, "ctrl", None) == (ctrl or 0)


WORDS = {
    "0x8000000010020010": product(),
    "0x0000000010020010": product(initial="acc"),
    "0xA000000010020010": product(disable_gemv=True),
    "0x4000000010020010": product(initial="bias", **BIAS),
    "0x8080000010020010": product(unit_flag="1"),  # MD-L01: there is no code 1.
    "0x8100000010020010": product(unit_flag="check_only"),
    "0x8180000010020010": product(unit_flag="check_and_set"),
}


@pytest.mark.parametrize("word", WORDS)
def test_the_word_of_an_expanded_product(word: str) -> None:
    """Fields of Xt: docs/spec/l0_loads.md, section 6."""
    expected, number = WORDS[word], int(word, 16)
    name, bias, kind = (
        ("_bias", ", %bt", "F32_BT, ") if expected.initial == "bias" else ("", "", "")
    )
    op = f"pto.mad{name}_raw %l0a, %l0b, %l0c{bias}, %x : F16_L0A, F16_L0B, F32_L0C, {kind}i64"
    signed = number - (1 << 64 if number >> 63 else 0)
    found = walk(f"%x = arith.constant {signed} : i64\n{op}")
    (step,) = found.steps
    assert isinstance(step, Compute)
    assert step.op == expected
    assert step.op.raw
    broken = [("MD-L01", "0 without, 2 check_only, 3 check_and_set")]
    others = [(one.rule, one.legal) for one in check(found) if one.rule != "MD-L03"]
    assert others == broken * (expected.unit_flag == "1"), "but for the address of the result"


def test_programs_are_printed_in_the_form_of_the_compiler() -> None:
    def printed(table: list[tuple[str, Any]]) -> list[str]:
        text = program_text(walk("\n".join(text for text, _ in table)).steps)
        return [x.strip() for x in text.splitlines() if "pto.mte_l1" in x or "pto.mad" in x]

    loads = printed([row for row in FORMS_OF_LOADS if "%z" not in row[0]])
    a = "pto.mte_l1_l0a %l1_f16_0x300, %l0a_f16_0x400, %c16_i64, %c32_i64, %c0_i64, %c0_i64"
    b = a.replace("l0a_f16_0x400", "l0b_f16_0x500").replace("l0a", "l0b")
    types = " : !pto.ptr<f16, l1>, !pto.ptr<f16, l0{}>, i64, i64, i64, i64"
    assert loads[0] == loads[1] == loads[3] == loads[4] == a + types.format("a")
    assert loads[2] == a + TRANSPOSE + types.format("a")
    assert loads[7] == loads[10] == b + TRANSPOSE + types.format("b")
    assert loads[8] == loads[9] == b + types.format("b")
    clauses = [re.search(r"%c32_i64 (.*?) :", line)[1] for line in printed(CLAUSES)]  # type: ignore[index]
    words = ["disable_gemv", "n_dir", "unit_flag(check_only)", "unit_flag(check_and_set)"]
    assert clauses == [*words, "sat", "nosat"]


def test_a_start_that_is_not_known_is_refused_in_a_run_alone() -> None:
    text = left("%c16, %c32, %n, %c0")
    assert len(walk(text, static=True).steps) == 1
    with pytest.raises(ProgramError, match="argument"):
        walk(text)


def test_the_older_form_is_noted() -> None:
    (note,) = read(short(right("%c16, %c32")), "x.pto").notes
    assert "two extents are an older form" in note
    assert "{transpose = true}" in note
    with pytest.raises(ProgramError, match="older form with two extents has no transpose"):
        walk(right("%c16, %c32", TRANSPOSE))


def test_ctrl_goes_along_with_a_product() -> None:
    """Bits 46 and 47 of CTRL decide about TF32 of the raw forms alone (CT-07)."""
    raw = "pto.mad_raw %l0a, %l0b, %l0c, %x : F32_L0A, F32_L0B, F32_L0C, i64"
    f32 = f"%x = arith.constant 268566544 : i64\n{raw}"
    bit = (
        "%o = pto.get_ctrl : i64\n%t = pto.sbitset1 %o, %c46_i64 : i64, i64 -> i64\n"
        "pto.set_ctrl %t : i64\n"
    )

    def rounding(text: str) -> str:
        (op,) = [step.op for step in walk(text).steps if isinstance(step, Compute)]
        return op.rounding

    assert rounding(bit + f32) == "round_even"
    assert rounding(bit + f32.replace("F32_L0A, F32_L0B", "F16_L0A, F16_L0B")) == ""
    assert rounding(bit + mad().replace("F16", "F32")) == "", "a text op sets the bits for itself"
    assert rounding(bit.replace("set_ctrl %t", "set_ctrl %o") + f32) == ""


@pytest.mark.parametrize("name", sorted({*ROWS, *KNOWN_ROWS} - {"mad"}))
def test_nothing_that_later_movements_depend_on_is_foreign(name: str) -> None:
    assert seems_to_move(f"pto.{name}x") or not meant(f"pto.{name}x")


@pytest.mark.parametrize("name", ["set_fpc", "set_quant_pre", "set_relu_alpha", "set_mte2_nz_para"])
def test_registers_that_are_not_written_are_refused_whatever_is_skipped(name: str) -> None:
    with pytest.raises(ProgramError, match="known and not executed") as caught:
        walk(f"pto.{name} %c1 : i64", skip=True)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["mem_bar", "get_buf", "set_intra_block", "syncall", "dsb"])
def test_no_op_of_the_dialect_is_taken_for_a_slip(name: str) -> None:
    assert meant(f"pto.{name}") == ""
