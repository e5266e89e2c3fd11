# SPDX-License-Identifier: Apache-2.0
"""The lexer of programs against xdsl's, and constants that are read by their text."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

import tb.language.parser.parser
from tb.common.errors import PtoError
from tb.language.parser.constants import plain_constant
from tb.language.parser.lexer import ProgramLexer
from tb.language.place import Finding
from tb.language.reader import read
from tests.language.corpus import cases

CHARACTERS = '%!#^{}-#>.:"/\n é0a_$@,<=+*?|\t\r\f\v1('


class TheirLexer(MLIRLexer):
    _unescaped_characters_regex = ProgramLexer._unescaped_characters_regex


def tokens(kind: type[MLIRLexer], text: str) -> list[object]:
    """Returns kinds and places of the tokens of a text, and the error that ends them."""
    lexer = kind(Input(text, "x.pto"))
    found: list[object] = []
    while True:
        try:
            token = lexer.lex()
        except ParseError as error:
            return [*found, error.msg, error.span.start]
        found.append((token.kind, token.span.start, token.span.end, token.text))
        if token.kind == MLIRTokenKind.EOF:
            return found


@pytest.mark.long
def test_tokens_are_those_of_xdsl() -> None:
    """Of the corpus, and of mutants of it."""
    rng = random.Random(3)
    for case in cases():
        assert tokens(ProgramLexer, case.text) == tokens(TheirLexer, case.text)
        changed = list(case.text)
        for _ in range(6):
            changed[rng.randrange(len(changed))] = rng.choice(CHARACTERS)
        text = "".join(changed)
        assert tokens(ProgramLexer, text) == tokens(TheirLexer, text), text


@pytest.mark.parametrize(
    "text",
    [
        "%a = arith.constant 128 : i64",
        "%0 = arith.constant -1 : index // comment",
        "%c-7 = arith.constant 7:i8 loc(unknown)",
        "%c = arith.constant 127 : i8",
        "%c = arith.constant 128 : i8",
        "%c = arith.constant -129 : i8",
        "%c = arith.constant 255 : i8",
        "%c = arith.constant 4294967295 : i32",
        "%c = arith.constant 4294967296 : i32",
        "%c = arith.constant 9223372036854775807 : i64",
        "%c = arith.constant 9223372036854775808 : i64",
        "%c = arith.constant 1 : i1",
        "%c = arith.constant true",
        "%c = arith.constant 1.0 : f32",
        "%c = arith.constant 0x10 : i64",
        "%c = arith.constant 1 : i64, %d",
        "%c = arith.constant 1 : i640",
        "%c = arith.constant 1 : ui8",
        "%c = arith.constant {a = 1} 1 : i64",
        "%c:1 = arith.constant 1 : i64",
        "%a, %b = arith.constant 1 : i64",
        "%1c = arith.constant 1 : i64",
        "%c = constant 1 : i64",
        "arith.constant 1 : i64",
        "%c = arith.constant 1 : i64\n%c = arith.constant 1 : i64",
        "%c = arith.constant 1 : i64\nloc(unknown)",
    ],
)
def test_constants_are_those_of_xdsl(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ops, places and errors with and without the reading by text."""

    def outcome() -> object:
        findings: list[Finding] = []
        try:
            source = read(f"func.func @f() {{\n{text}\n  return\n}}", "x.pto", findings)
        except PtoError as error:
            return str(error)
        made = [
            (str(op), source.place(op), op.result.name_hint)
            for op in source.module.walk()
            if isinstance(op, ConstantOp)
        ]
        return made, findings

    fast = outcome()
    monkeypatch.setattr(tb.language.parser.parser, "plain_constant", lambda *_: None)
    assert outcome() == fast


def test_most_constants_of_programs_are_plain() -> None:
    """Work that is saved: tokens and objects of xdsl."""
    plain = other = 0
    for case in cases():
        for line in case.text.splitlines(keepends=True):
            if " = arith.constant " in line and "case" not in line:
                found = plain_constant(line, len(line) - len(line.lstrip()))
                plain, other = plain + (found is not None), other + (found is None)
    assert plain > 3 * other
