# SPDX-License-Identifier: Apache-2.0
"""Every op read in its pretty form, printed by xdsl in the generic form, and read again."""

from __future__ import annotations

import pytest

from tb.language.dialect.forms import FORMS
from tb.language.reader import Source, Written, read
from tests.language.programs import EVERY_OP, generic, moves, program

OTHERS = {
    "%q = pto.castptr %n : i64 -> !pto.ptr<f16, ub>": '"pto.castptr"(%n) : '
    "(i64) -> !pto.ptr<f16, ub>",
    "%q = pto.addptr %ub, %i : !pto.ptr<f16, ub>, index -> !pto.ptr<f16, ub>": '"pto.addptr"'
    "(%ub, %i) : (!pto.ptr<f16, ub>, index) -> !pto.ptr<f16, ub>",
    'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"] {pto_dv.gap = 3 : i64}': '"pto.set_flag"() '
    '<{src_pipe = "PIPE_MTE2", dst_pipe = "PIPE_V", event_id = "EVENT_ID7"}> '
    "{pto_dv.gap = 3 : i64} : () -> ()",
    'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"]': '"pto.wait_flag"() '
    '<{src_pipe = "PIPE_MTE2", dst_pipe = "PIPE_V", event_id = "EVENT_ID7"}> : () -> ()',
    'pto.pipe_barrier "PIPE_ALL"': '"pto.pipe_barrier"() <{pipe = "PIPE_ALL"}> : () -> ()',
    'pto.barrier "PIPE_V"': '"pto.barrier"() <{pipe = "PIPE_V"}> : () -> ()',
    "%q = pto.get_subblock_num : i32": '"pto.get_subblock_num"() : () -> i32',
    "pto.section.vector attributes {pto.ub_sub = 1 : i32} {\n  }": '"pto.section.vector"() ({\n'
    "    }) {pto.ub_sub = 1 : i32} : () -> ()",
    '"pto_dv.foreign"() <{mnemonic = "pto.vadd"}> : () -> ()': '"pto_dv.foreign"() '
    '<{mnemonic = "pto.vadd"}> : () -> ()',
}
"""The pretty form of ops without data movement, and their generic form."""


def contents(source: Source) -> list[str]:
    """Returns the content of each movement op, values by their names."""

    def content(move: Written) -> str:
        parts = (move.operands, move.loops, move.pad, move.loop3, move.pre_quant, move.pre_relu)
        values = [getattr(value, "name_hint", value) for value in move.values()]
        kept = (move.name, list(move.operands), values, move.words, move.unit_flag)
        return repr((kept, move.attributes, [len(part) if part else 0 for part in parts]))

    return [content(move) for move in moves(source)]


def test_every_op_is_listed() -> None:
    assert {name.partition(",")[0].partition(" ")[0] for name in EVERY_OP} == set(FORMS)


@pytest.mark.parametrize("text", EVERY_OP.values())
def test_a_movement_op_is_equal_in_both_forms(text: str) -> None:
    source = program(f"  {text}")
    printed = generic(source)
    name = text.partition(" ")[0]
    assert f'"{name}"(' in printed
    assert f"{name} " not in printed, "the pretty form is gone"
    again = read(printed, "generic")
    assert contents(again) == contents(source) != []
    assert generic(again) == printed


@pytest.mark.parametrize(("text", "expected"), OTHERS.items())
def test_any_other_op_is_the_same_in_both_forms(text: str, expected: str) -> None:
    printed = generic(program(f"  {text}"))
    assert expected in printed
    assert generic(read(printed, "generic")) == printed
