# SPDX-License-Identifier: Apache-2.0
"""The syntax of an op, and the end of the text of an unknown one."""

from __future__ import annotations

import pytest

from tb.isa.dtypes import Ptr
from tb.isa.grammar import Clause, Row
from tb.language.dialect.types import PointerTextError, read_pointer
from tb.language.grammar.reading import read_op
from tb.language.parser.foreign import UnclosedError, skip
from tb.language.parser.parser import ProgramParser

ROW = Row("name", "a :word(first) b", (Clause("one"), Clause("two")), commas=False)


def test_operands_clauses_types_and_attributes() -> None:
    written = (
        "%a, first, %b#1, one(%c, key = %d, mode = <w>, 3) two, // a: comment\n"
        "three = %e {x = 1 : i8} : i64, loop f16, pad (i32, bf16), nd2nz, f32 {y}"
    )
    text = read_op(ProgramParser(written, "x.pto"), ROW, 0)
    assert [(item.kind, item.text) for item in text.head] == [
        ("value", "%a"),
        ("word", "first"),
        ("value", "%b#1"),
    ]
    assert [clause.name for clause in text.clauses] == ["one", "two", "three"]
    inside = [(item.kind, item.key, item.text) for item in text.clauses[0].items]
    assert inside == [
        ("value", "", "%c"),
        ("value", "key", "%d"),
        ("word", "mode", "w"),
        ("number", "", "3"),
    ]
    assert [str(kind) for kind, _ in text.types] == ["i64", "f16", "i32", "bf16", "f32"]
    assert [word for word, _ in text.words] == ["loop", "pad", "nd2nz"]
    assert list(text.attributes) == ["x", "y"]


def test_the_parser_continues_after_the_op() -> None:
    text = ProgramParser("%a : i64 next.op", "x.pto")
    read_op(text, Row("name", "a"), 0)
    assert text.value == "next.op"


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("<f16, ub>", Ptr("f16", "ub")),
        ("< si8 ,acc >", Ptr("si8", "l0c")),
        ("<f8E4M3FN, #pto.address_space<scaling>>", Ptr("f8E4M3FN", "fb")),
        ("<!pto.hif8, gm>", Ptr("hif8", "gm")),
    ],
)
def test_a_pointer_type_has_the_first_name_of_its_space(text: str, pointer: Ptr) -> None:
    assert read_pointer(f"x{text}y", 1) == (pointer, 1 + len(text))


@pytest.mark.parametrize("text", ["", "<>", "<f16 ub>", "<f16, >", "<f16, ub", "<f17, ub>"])
def test_text_that_is_no_pointer_type(text: str) -> None:
    with pytest.raises(PointerTextError) as caught:
        read_pointer(text, 0)
    assert caught.value.legal


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("%a, %b : i64", ""),
        ("%a : t pto.next %b", "pto.next %b"),
        ("%a\n  %b, %c : t", ""),
        ("%a\n  %b, %c = x", "%b, %c = x"),
        ("%a\n  %b:2 = x", "%b:2 = x"),
        ('%a {k = "x"} "a.b"(%c)', '"a.b"(%c)'),
        ("%a return", ""),
        ("%a\n return", "return"),
        ("{ a.b { } } -> t }", "}"),
        ("%a, b.c", ""),
        ("// a.b = (\n", ""),
        ("%a ^bb1:", "^bb1:"),
        ("%a, ^bb1(%b : i64), ^bb2\n ^bb1(%c: i64):", "^bb1(%c: i64):"),
        ("affine_map<(d0) -> (d0)>", ""),
    ],
)
def test_the_end_of_an_unknown_op(text: str, end: str) -> None:
    skipped = skip(f"pto.op {text}", 6)
    assert f"pto.op {text}"[skipped.end :].strip().removeprefix("// a.b = (") == end


@pytest.mark.parametrize(("text", "at"), [("(%a", 0), ("{ ( }", 2), ("%a ] ", 3), ("<[>", 1)])
def test_brackets_that_do_not_match(text: str, at: int) -> None:
    with pytest.raises(UnclosedError) as caught:
        skip(text, 0)
    assert caught.value.at == at


def test_names_inside_the_brackets_of_an_unknown_op() -> None:
    text = 'pto.in ( pto.a // pto.b\n { "pto.c"() }) pto.d'
    wanted = ("pto.a", "pto.b", "pto.c", "pto.d")
    assert skip(text, 6, wanted.__contains__).names == {"pto.a", "pto.c"}
