# SPDX-License-Identifier: Apache-2.0
"""Every op printed by xdsl, in the pretty and in the generic form, and read again."""

from __future__ import annotations

import io

import pytest
from xdsl.ir import Operation
from xdsl.printer import Printer

from tb.language.dialect.forms import FORMS
from tb.language.reader import Source, Written, read
from tests.language.programs import EVERY_OP, moves, program

OTHERS = [
    "%q = pto.castptr %n : i64 -> !pto.ptr<f16, ub>",
    "%q = pto.addptr %ub, %n : !pto.ptr<f16, ub>, i64 -> !pto.ptr<f16, ub>",
    'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"] {pto_dv.gap = 3 : i64}',
    'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"]',
    'pto.pipe_barrier "PIPE_ALL"',
    'pto.barrier "PIPE_V"',
    "%q = pto.get_subblock_num : i32",
    '"pto_dv.foreign"() <{mnemonic = "pto.vadd"}> : () -> ()',
]


def printed(op: Operation, *, generic: bool = False) -> str:
    text = io.StringIO()
    Printer(stream=text, print_generic_format=generic).print_op(op)
    return text.getvalue()


def said(source: Source) -> list[str]:
    def told(move: Written) -> str:
        parts = (move.operands, move.loops, move.pad, move.loop3, move.pre_quant, move.pre_relu)
        values = [getattr(value, "name_hint", value) for value in move.values()]
        kept = (move.name, list(move.operands), values, move.words, move.unit_flag)
        return repr((kept, move.attributes, [len(part) if part else 0 for part in parts]))

    return [told(move) for move in moves(source)]


def test_every_op_is_tried() -> None:
    assert {name.partition(",")[0].partition(" ")[0] for name in EVERY_OP} == set(FORMS)


@pytest.mark.parametrize("text", [*EVERY_OP.values(), *OTHERS])
def test_what_is_printed_is_what_was_read(text: str) -> None:
    source = program(f"  {text}")
    pretty = printed(source.module)
    assert text in pretty
    assert printed(read(pretty, "pretty").module) == pretty
    generic = printed(source.module, generic=True)
    again = read(generic, "generic")
    assert printed(again.module) == pretty
    assert said(again) == said(source)


def test_a_section_is_printed_with_its_attributes() -> None:
    source = program("  pto.section.vector attributes {pto.ub_sub = 1 : i32} {\n  }")
    pretty = printed(source.module)
    assert "pto.section.vector attributes {pto.ub_sub = 1 : i32} {" in pretty
    assert printed(read(printed(source.module, generic=True), "x").module) == pretty
