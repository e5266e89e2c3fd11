# SPDX-License-Identifier: Apache-2.0
"""A function with values of every kind; tests insert their ops into it."""

from __future__ import annotations

import io

from xdsl.printer import Printer

from tb.isa.ctrl import ATOMIC_WORDS
from tb.language.reader import Source, Written, read, written
from tests.language.corpus.short import spelled

POINTERS = {
    "gm": "f16, gm",
    "gm8": "i8, gm",
    "out": "f32, gm",
    "ub": "f16, ub",
    "ub2": "f16, ub",
    "l1": "f16, l1",
    "l1f": "f32, l1",
    "l0a": "f16, l0a",
    "l0b": "f16, l0b",
    "l0c": "f32, l0c",
    "sl0a": "f8E5M2, l0a",
    "sl0b": "f8E5M2, l0b",
    "pl1": "!pto.f4E1M2x2, l1",
    "pl0a": "!pto.f4E1M2x2, l0a",
    "pl0b": "!pto.f4E1M2x2, l0b",
    "bt": "f32, bt",
    "fb": "f32, fb",
}
"""Pointer arguments by name, with what they point to."""

SCALARS = {"n": "i64", "m": "i64", "i": "index", "h": "i32", "s": "f32", "p": "f16", "yes": "i1"}
"""Other arguments."""

_ARGUMENTS = ", ".join(
    [f"%{name}: !pto.ptr<{kind}>" for name, kind in POINTERS.items()]
    + [f"%{name}: {kind}" for name, kind in SCALARS.items()]
)
BEFORE = f"func.func @kernel({_ARGUMENTS}) {{\n"
"""The line before the ops of a test, which begin in line 2."""


def program(body: str) -> Source:
    """Reads the function with ``body`` in it."""
    return read(f"{BEFORE}{body}\n  func.return\n}}\n", "x.pto")


def generic(source: Source) -> str:
    """Returns a program as xdsl prints it, in MLIR's generic form."""
    text = io.StringIO()
    Printer(stream=text, print_generic_format=True).print_op(source.module)
    return text.getvalue() + "\n"


def in_form(text: str, form: str) -> str:
    """Returns a program in the ``"pretty"`` form, which ``text`` is, or in the ``"generic"``."""
    return generic(read(text, "x.pto")) if form == "generic" else text


FORMS = ("pretty", "generic")


def moves(source: Source) -> list[Written]:
    """Returns each movement op as read, in the order of the text."""
    return [move for op in source.module.walk() if (move := written(op)) is not None]


def only(body: str) -> Written:
    """Returns the only movement op of ``body`` as read."""
    (move,) = moves(program(body))
    return move


def names(values: object) -> list[str]:
    """Returns the SSA names of values."""
    return [value.name_hint for value in values]  # type: ignore[attr-defined]


def _product(what: str) -> str:
    """Returns an op of the matrix unit."""
    factor, dtype = ("s", "f8E5M2") if "_mx" in what else ("", "f16")
    bias, of_bias = (", %bt", "F32_BT, ") if "_bias" in what else ("", "")
    numbers, kinds = ("%n", "i64") if "_raw" in what else ("%n, %m, %n", "I64x3")
    return (
        f"pto.mad{what} %{factor}l0a, %{factor}l0b, %l0c{bias}, {numbers} : "
        f"!pto.ptr<{dtype}, l0a>, !pto.ptr<{dtype}, l0b>, F32_L0C, {of_bias}{kinds}"
    )


_EVERY_OP: dict[str, str] = {
    "mte_gm_ub": "pto.mte_gm_ub %gm, %ub, %m, %n nburst(%n, %m, %m) loop(%n, %m, %m) "
    "loop(%m, %n, %n) pad(%p, %n, %m) "
    ": F16_GM, F16_UB, I64x5, loop I64x3, loop I64x3, pad f16, I64x2",
    "mte_gm_ub, pad alone": "pto.mte_gm_ub %gm, %ub, %m, %n nburst(%n, %m, %m) pad(%p) "
    ": F16_GM, F16_UB, I64x5, pad f16",
    "mte_ub_gm": "pto.mte_ub_gm %ub, %gm, %n nburst(%n, %m, %m) l2_cache_ctl(%m) "
    "{ub_sub = 1 : i32} : F16_UB, F16_GM, I64x5",
    "mte_ub_gm without l2": "pto.mte_ub_gm %ub, %gm, %n nburst(%n, %m, %m) loop(%n, %m, %m) "
    ": F16_UB, F16_GM, I64x4, loop I64x3",
    "mte_gm_l1": "pto.mte_gm_l1 %gm, %l1, %n nburst(%n, %m, %m) : F16_GM, F16_L1, I64x4",
    "mte_l1_ub": "pto.mte_l1_ub %l1, %ub, %n nburst(%n, %m, %m) : F16_L1, F16_UB, I64x4",
    "mte_ub_ub": "pto.mte_ub_ub %ub, %ub2, %n nburst(%n, %m, %m) : F16_UB, F16_UB, I64x4",
    "mte_ub_l1": "pto.mte_ub_l1 %ub, %l1, %n nburst(%n, %m, %m) : F16_UB, F16_L1, I64x4",
    "mte_l1_bt": "pto.mte_l1_bt %l1, %bt, %n nburst(%n, %m, %m) : F16_L1, F32_BT, I64x4",
    "mte_l1_fb": "pto.mte_l1_fb %l1f, %fb, %n nburst(%n, %m, %m) : F32_L1, F32_FB, I64x4",
    "mte_gm_l1_frac": "pto.mte_gm_l1_frac %gm, %l1, dn2nz, shape(%n, %m), src_layout(%m, %n), "
    "dst_group(%n, %m, %n, %m), ctrl(%m, %yes) "
    ": F16_GM, F16_L1, dn2nz, shape I64x2, src_layout(I64x2), dst_group I64x4, ctrl i64, i1",
    "mte_gm_l1_frac of one matrix": "pto.mte_gm_l1_frac %gm, %l1, nd2nz, shape(%n, %m), "
    "src_layout(%m), dst_group(%n, %m, %n, %m), ctrl(%m, %yes) "
    ": F16_GM, F16_L1, nd2nz, shape I64x2, src_layout(i64), dst_group I64x4, ctrl i64, i1",
    "raw_fill_l1": "pto.raw_fill_l1 %l1, %n, %h, %n, %m, %n {fill_word_bits = 16 : i64} "
    ": F16_L1, i64, i32, I64x3",
    "create_cbuf_matrix": "pto.create_cbuf_matrix %l1, %h, %n, %m, %n {fill_word_bits = 16 : i64} "
    ": F16_L1, i32, I64x3",
    "mte_l0c_gm": "pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m, unit_flag(check_only), "
    "pre_quant(%s, mode = qf322f32_pre_scalar), pre_relu(%fb, mode = vector_relu, clip = %h), "
    "nz2dn(%m), loop3(%n, %m, %n), sat(preserve_nan), atomic(type = f32, op = add) "
    ": F32_L0C, F32_GM, I64x6, f32, F32_FB, i32, I64x4",
    "mte_l0c_gm, no clause": "pto.mte_l0c_gm %l0c, %out, %n, %m, %n, %m, %n, %m "
    ": F32_L0C, F32_GM, I64x6",
    "mte_l0c_l1": "pto.mte_l0c_l1 %l0c, %l1f, %n, %m, %n, %m, unit_flag(1), nz2nz(%m), nosat "
    ": F32_L0C, F32_L1, I64x5",
    "mte_l0c_ub": "pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m, dst_mode(%m), nz2nd, sat "
    ": F32_L0C, F16_UB, I64x5",
    "mte_l0c_ub, split": "pto.mte_l0c_ub %l0c, %ub, %n, %m, %n, %m, dst_mode(split_n), nz2nd "
    ": F32_L0C, F16_UB, I64x4",
    **{
        f"set_{name}": f"pto.set_{name} %n, %m : i64, i64"
        for way in ("outtoub", "ubtoout")
        for name in (f"loop_size_{way}", f"loop1_stride_{way}", f"loop2_stride_{way}")
    },
    "set_mov_pad_val": "pto.set_mov_pad_val %p : f16",
    "set_ctrl": "pto.set_ctrl %n : i64",
    **{f"set_atomic_{what}": f"pto.set_atomic_{what}" for what in ATOMIC_WORDS},
    "copy_gm_to_ubuf": "pto.copy_gm_to_ubuf %gm, %ub, %n, %m, %n, %m, %n, %yes, %m, %n, %m "
    ": F16_GM, F16_UB, I64x5, i1, I64x3",
    "copy_ubuf_to_gm": "pto.copy_ubuf_to_gm %ub, %gm, %n, %m, %n, %m, %n, %m "
    ": F16_UB, F16_GM, I64x6",
    "copy_ubuf_to_ubuf": "pto.copy_ubuf_to_ubuf %ub, %ub2, %n, %m, %n, %m, %n "
    ": F16_UB, F16_UB, I64x5",
    "copy_gm_to_cbuf": "pto.copy_gm_to_cbuf %gm, %l1, %n, %m, %n, %m : F16_GM, F16_L1, I64x4",
    "copy_cbuf_to_ubuf": "pto.copy_cbuf_to_ubuf %l1, %ub, %n, %m, %n, %m, %n "
    ": F16_L1, F16_UB, I64x5",
    "copy_ubuf_to_cbuf": "pto.copy_ubuf_to_cbuf %ub, %l1, %n, %m, %n, %m, %n "
    ": F16_UB, F16_L1, I64x5",
    "copy_cbuf_to_fbuf": "pto.copy_cbuf_to_fbuf %l1f, %fb, %n, %m, %n, %m : F32_L1, F32_FB, I64x4",
    "mte_l1_l0a": "pto.mte_l1_l0a %l1, %l0a, %n, %m, %n, %m : F16_L1, F16_L0A, I64x4",
    "mte_l1_l0b": "pto.mte_l1_l0b %l1, %l0b, %n, %m, %n, %m {transpose = true} "
    ": F16_L1, F16_L0B, I64x4",
    **{
        f"mte_l1_l0{side}_mx": f"pto.mte_l1_l0{side}_mx %l1, %l0{side}, %n, %m, %n, %m, %n, %m : "
        f"!pto.ptr<f16, l1>, !pto.ptr<f16, l0{side}>, I64x6"
        for side in "ab"
    },
    **{
        f"load_cbuf_to_c{side}{kind}": f"pto.load_cbuf_to_c{side}{kind} "
        f"%{pairs}l1, %{pairs}l0{side}, %n, %m, %n, %m, %n, %m{', %m' * (kind == '_s4')} : "
        f"!pto.ptr<{dtype}, l1>, !pto.ptr<{dtype}, l0{side}>, I64x6{', i64' * (kind == '_s4')}"
        for side in "ab"
        for kind, pairs, dtype in (
            ("", "", "f16"),
            ("_s4", "p", "!pto.f4E1M2x2"),
            ("_mx", "", "f16"),
        )
    },
    **{
        f"mad{mx}{what}": _product(mx + what)
        for mx in ("", "_mx")
        for what in ("", "_acc", "_bias", "_raw", "_bias_raw")
    },
}
EVERY_OP = {name: spelled(op) for name, op in _EVERY_OP.items()}
"""Every op in its pretty form, as it is printed."""
