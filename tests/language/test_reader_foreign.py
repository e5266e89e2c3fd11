# SPDX-License-Identifier: Apache-2.0
"""Ops with unknown grammar: skipped and named, with the types that the text has."""

from __future__ import annotations

import pytest

from tb.language.dialect.others import ForeignOp
from tb.language.dialect.types import OpaqueType, type_name
from tb.language.reader import Source
from tests.language.programs import EVERY_OP, moves, program


def foreign(source: Source) -> list[ForeignOp]:
    return [op for op in source.module.walk() if isinstance(op, ForeignOp)]


AFTER = f"  {EVERY_OP['mte_gm_l1']}"

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
    (op,) = foreign(program("  " + text.format(move=EVERY_OP["mte_gm_l1"])))
    assert op.holds_moves


@pytest.mark.parametrize(
    "text",
    [
        EVERY_OP["mad"],
        EVERY_OP["mad"].replace(" :", " unit_flag(check_only) :"),
        EVERY_OP["mte_l1_l0a"].replace("l0a ", "l0a_mx "),
    ],
)
def test_no_form_of_the_matrix_unit_is_foreign(text: str) -> None:
    source = program(f"  {text}")
    assert not foreign(source)
    assert len(moves(source)) == 1
