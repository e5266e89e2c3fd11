# SPDX-License-Identifier: Apache-2.0
"""The syntax of an op, and ops with unknown grammar: where they end, and the types they have."""

from __future__ import annotations

from typing import Literal

import pytest

from tb.isa.grammar import Clause, Row
from tb.isa.pipes import Pipe
from tb.language.dialect.others import ForeignOp
from tb.language.dialect.types import OpaqueType, type_name
from tb.language.grammar.pointers import PointerTextError, read_pointer
from tb.language.grammar.reading import read_op
from tb.language.parser.foreign import UnclosedError, skip
from tb.language.parser.parser import ProgramParser
from tb.language.place import ProgramError
from tb.language.reader import Source
from tb.language.run.walk import trace
from tb.language.trace import Trace
from tests.language.programs import LOAD_L1, moves, program
from tests.wording import line_says, says


def foreign(source: Source) -> list[ForeignOp]:
    return [op for op in source.module.walk() if isinstance(op, ForeignOp)]


AFTER = f"  {LOAD_L1}"

FORMS = [
    "pto.vadd %ub, %n",
    'pto.vadd %ub[%n],\n    %n {dist = "x"}\n    : !pto.ptr<f16, ub>, !pto.vreg<64xf32>',
    "pto.vlds",
    "pto.sync @other, <A>, [1, 2, (3)]",
    'pto.print "text with } and pto.mte_gm_ub"',
    "pto.vscope { // a } in a comment\n    pto.vadd %n, %m : i64\n    %x = pto.vsub %n : i64\n  }",
    "pto.tload %l1, %l0a, %n, %m : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64",
    "pto.section.other { } { } : i64",
    '"pto.vadd"(%n, %m) {dist = "x"} : (i64, i64) -> ()',
    '"pto.vscope"() ({\n    pto.vadd %n : i64\n  }) : () -> ()',
]


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize(
    "after",
    [AFTER, f"  // words: of, a, comment\n{AFTER}", f"  %q = arith.constant 3 : i64\n{AFTER}"],
)
def test_an_unknown_op_ends_where_the_next_one_begins(text: str, after: str) -> None:
    source = program(f"  {text}\n{after}")
    assert [move.name for move in moves(source)] == ["mte_gm_l1"]
    (op, *_) = foreign(source)
    assert op.mnemonic.startswith(text.strip('"').split()[0].split('"')[0])
    assert str(source.place(op)) == "x.pto:2:3"
    assert not op.holds_moves


def test_an_unknown_op_may_end_at_a_generic_op_a_return_or_a_brace() -> None:
    source = program(
        "  pto.vadd %n, %m : i64\n"
        '  "pto.set_loop_size_outtoub"(%n, %m) : (i64, i64) -> ()\n'
        "  scf.if %yes {\n    pto.vsub %n\n  } else {\n    pto.vmul %m }\n  pto.vdiv %n"
    )
    assert [op.mnemonic for op in foreign(source)] == [
        *("pto.vadd", "pto.vsub", "pto.vmul", "pto.vdiv")
    ]
    assert len(moves(source)) == 1


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("%v = pto.vlds %ub[%n] : !pto.ptr<f16, ub> -> !pto.vreg<128xf16>", ["!pto.vreg<128xf16>"]),
        ("%v = pto.vadd %n, %m : i64", ["i64"]),
        ("%v = pto.vadd %n, %m : i64, i64", ["i64"]),
        ("%v, %w = pto.split %n : i64 -> (i32, index)", ["i32", "index"]),
        ("%v:2 = pto.split %n : i64 -> i32, i32", ["i32", "i32"]),
        ("%v = pto.count %n {x = 1} : i64 -> i64 {y}", ["i64"]),
        ('%v = "pto.count"(%n) : (i64) -> i32', ["i32"]),
    ],
)
def test_results_have_the_types_of_the_text(text: str, types: list[str]) -> None:
    (op,) = foreign(program(f"  {text}\n{AFTER}"))
    assert [type_name(value.type) for value in op.results] == types


@pytest.mark.parametrize(
    "text",
    [
        "%v = pto.count %n",
        "%v = pto.count %n : i64, i32",
        "%v = pto.count %n : i64 -> (i64, i64)",
        "%v = pto.count %n : what",
    ],
)
def test_a_result_of_unknown_type_gets_the_type_of_its_first_use(text: str) -> None:
    source = program(f"  {text}")
    (op,) = foreign(source)
    assert op.results[0].type == OpaqueType("pto.count")
    (op, *_) = foreign(program(f"  {text}\n  %x = arith.addi %v, %n : i64\n  pto.use %v"))
    assert type_name(op.results[0].type) == "i64"


@pytest.mark.parametrize(
    "text",
    [
        "pto.vscope {{\n    {move}\n  }}",
        '"pto.vscope"() ({{\n    {move}\n  }}) : () -> ()',
        "pto.vscope {{\n    scf.if %yes {{ {move}\n }}\n  }}",
    ],
)
def test_moves_inside_an_unknown_op_are_found(text: str) -> None:
    (op,) = foreign(program("  " + text.format(move=LOAD_L1)))
    assert op.holds_moves


# --- in a run or a check ---


def walk(body: str, mode: Literal["refuse", "skip"] = "skip") -> Trace:
    return trace(program(f"{body}\n"), static=True, foreign=mode)


def refused(body: str, mode: Literal["refuse", "skip"] = "refuse") -> str:
    """Returns the message that a body is refused with."""
    with pytest.raises(ProgramError) as caught:
        trace(program(f"{body}\n"), foreign=mode)
    return str(caught.value)


def test_foreign_ops_are_refused_or_skipped() -> None:
    """All are listed, also when skipped; one with data movement inside is never skipped."""
    body = "pto.vadd %ub, %ub\npto.pipe_barrier <PIPE_V>\npto.vsub %ub, %ub"
    text = refused(body)
    assert line_says(text, "x.pto:2:1 error pto.vadd op foreign")
    assert line_says(text, "x.pto:4:1 error pto.vsub op foreign")
    found = walk(body)
    assert [each.name for each in found.skipped] == ["pto.vadd", "pto.vsub"]
    assert [step.pipe for step in found.steps] == [Pipe.V]
    inside = refused(f"pto.vloop %ub {{\n{AFTER}\n}}", "skip")
    assert says(inside, "data movement flag inside op not executed")


@pytest.mark.parametrize("form", ["pto.{name} %n, %n", '"pto.{name}"(%n, %n) : (i64, i64) -> ()'])
@pytest.mark.parametrize("mode", ["refuse", "skip"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mte_gm_ubuf", "; did you mean pto.mte_gm_ub?"),
        ("mte_gn_l1_frac", "; did you mean pto.mte_gm_l1_frac?"),
        ("copy_gm_to_ub", "; did you mean pto.copy_gm_to_ubuf?"),
        ("set_loop_sizes_outtoub", "; did you mean pto.set_loop_size_outtoub?"),
        ("set_mov_pad_value", "; did you mean pto.set_mov_pad_val?"),
        ("set_flags", "; did you mean pto.set_flag?"),
        ("wait_flag_dym", "; did you mean pto.wait_flag_dyn?"),
        ("copy_everything", "\n"),
        *((name, "") for name in ("set_quant_prx", "set_atomic_f64", "mad_pre", "load_cbuf_to_cc")),
    ],
)
def test_data_movement_and_flags_are_never_skipped(
    form: str, mode: Literal["refuse", "skip"], name: str, hint: str
) -> None:
    """Their names show that a skipped op would change the result."""
    text = refused(form.format(name=name), mode)
    assert says(text, f"pto.{name} unknown op name moves data orders")
    assert f"never skipped{hint}" in f"{text}\n"
    inside = refused(f"pto.vloop %ub {{\n  pto.{name} %ub\n}}", "skip")
    assert says(inside, "data movement flag inside op")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("pipe_barier", "; did you mean pto.pipe_barrier?"),
        ("get_block_id", "; did you mean pto.get_block_idx?"),
        ("vadd", ""),
        ("vmad", ""),
    ],
)
def test_ops_that_move_nothing_are_foreign_with_a_hint(name: str, hint: str) -> None:
    text = refused(f"pto.{name} %ub")
    assert says(text, f"pto.{name} foreign moves no data not executed")
    assert text.endswith(f"not executed{hint}")
    assert [each.name for each in walk(f"pto.{name} %ub").skipped] == [f"pto.{name}"]


def test_a_tile_op_that_is_skipped_is_left_out_of_the_results() -> None:
    body = "pto.tload %ub\npto.vadd %ub\npto.textract %ub\npto.tload %ub"
    for inside in (
        "pto.vloop %ub {\npto.tmov %ub\n}",
        '"pto.vloop"() ({\npto.tmov %ub\n}) : () -> ()',
    ):
        assert walk(inside).left_out == ("pto.vloop at x.pto:2:1",)
        assert says(refused(inside), "pto.vloop foreign moves data not executed")
    assert says(refused(body), "pto.tload foreign moves data not executed")
    assert "no data" not in refused("pto.tinsert %ub")
    assert walk(body).left_out == (
        "pto.tload at x.pto:2:1 and 1 more",
        "pto.textract at x.pto:4:1",
    )


# --- the parts of an op, and the end of the text of an unknown one

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
