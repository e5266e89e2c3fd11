# SPDX-License-Identifier: Apache-2.0
"""Functions with values of every kind, into which tests insert their ops."""

from __future__ import annotations

import io
import re

from xdsl.printer import Printer

from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES
from tb.language.printer import program_text
from tb.language.reader import Source, Written, read, written
from tb.language.run.walk import trace
from tb.language.trace import Compute, Move
from tests.language.corpus.short import complete, spelled

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


SPACES_OF_POINTERS = ("gm", "ub", "l1", "l0a", "l0b", "l0c", "bt", "fb")
AT = {space: 0x100 * (number + 1) for number, space in enumerate(SPACES_OF_POINTERS)}
"""Addresses of the pointers ``%gm``, ``%ub`` and so on of :func:`short`."""

VALUES = """\
%m1 = arith.constant -1 : i64
%i8 = arith.constant -3 : i8
%ui8 = builtin.unrealized_conversion_cast %i8 : i8 to ui8
%i32 = arith.constant 7 : i32
%f16 = arith.constant 1.0 : f16
%f32 = arith.constant -2.0 : f32
"""


def short(text: str) -> str:
    """Returns the program of ops in the short form of the corpus, with ``AT`` and ``VALUES``."""
    spaces = "|".join(SPACES_OF_POINTERS)
    pointers = re.sub(rf"%({spaces})\b", lambda x: f"%{x[1]}_at_{AT[x[1]]}", text)
    return complete("k", f"{VALUES}{pointers}\n")[0]


def name_of(text: str) -> str:
    """Returns the mnemonic of the only op of a text."""
    return str(re.findall(r"\bpto\.(\w+)", text)[-1 if text.startswith("%") else 0])


def is_built(text: str, expected: object, form: str) -> None:
    """Fails unless a text has the expected op alone, in a form that is read back unchanged."""
    program = in_form(short(text), form)
    name = name_of(text)
    assert form == "pretty" or (f'"pto.{name}"(' in program and f"pto.{name} " not in program)
    assert form == "pretty" or generic(read(program, "x.pto")) == program
    found = trace(read(program, "x.pto"))
    (step,) = found.steps
    assert isinstance(step, Compute if name.startswith("mad") else Move)
    assert (step.op, step.name) == (expected, name)
    assert step.pipe is PIPES[TEXT_FORMS.get(name, name)]
    again = trace(read(program_text(found.steps), "y.pto"))
    assert [getattr(one, "op", None) for one in again.steps] == [expected]
    assert not found.skipped


LOAD_L1 = spelled("pto.mte_gm_l1 %gm, %l1, %n nburst(%n, %m, %m) : F16_GM, F16_L1, I64x4")
"""An op that moves data."""
