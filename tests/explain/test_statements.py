# SPDX-License-Identifier: Apache-2.0
"""Ops as text: they are read as in programs, errors are told, and time is spared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sequences.constraints import OP_NAMES
from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.explain.programs import of_file
from tb.explain.steps import Chosen, of_text, statements
from tb.isa.text import to_text
from tb.language.linked import Linked, linked_steps
from tb.language.literal.ops import op_of
from tb.language.printer import program_text
from tests.explain.drawn import drawn
from tests.explain.test_command import ELEMENTS, EVERY_OP


def issued(one: Chosen) -> tuple[Any, ...]:
    assert one.lowering is not None
    return one.op, one.lowering.registers, one.lowering.ctrl


def both(text: str, element: str, folder: Path) -> Chosen:
    """Returns the last op as it is read alone; in a program it is the same one."""
    ops = [op_of(one) for one in statements(text, {}, element).ops]
    path = folder / "x.pto"
    path.write_text(program_text(linked_steps([Linked(tuple(ops))])))
    alone, there = of_text(text, {}, element)[-1], of_file(path, arguments={})[-1]
    assert issued(alone) == issued(there)
    return alone


@pytest.mark.parametrize("name", EVERY_OP)
def test_every_op_is_read_as_in_programs(name: str, tmp_path: Path) -> None:
    assert both(EVERY_OP[name], ELEMENTS.get(name, ""), tmp_path).name == name


@pytest.mark.parametrize("form", OP_NAMES)
def test_the_text_of_drawn_ops_is_read(form: str) -> None:
    for one in drawn(form, 20, 5):
        text = "\n".join(map(to_text, (*one.before, one.op)))
        assert of_text(text, {})[-1].op == one.op, text


OTHER_SPELLINGS = {
    "no space in a type": "pto.mte_ub_ub %a, %b, 1 nburst(1, 0, 0) "
    ": !pto.ptr<f16,ub>, !pto.ptr<f16,ub>, i64, i64, i64, i64",
    "the sub-block without dst_mode": "mte_l0c_ub 0, 0, 8, 32, 16, 32, split_m",
    "a cache hint by position": "mte_ub_gm 0, 0x1000, 0, 96 nburst(1, 0, 0)",
    "a numbered loop": "mte_ub_gm 0, 0, 8 nburst(1, 0, 0) loop1(3, 64, 4096)",
    "the generic form": '"pto.set_loop_size_ubtoout"(2, 3) : (i64, i64) -> ()\n'
    "copy_ubuf_to_gm 0, 0, 0, 2, 10, 0, 16, 64",
    "attributes": "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) {ub_sub = 1 : i32}",
    "the generic form of clauses": '"pto.mte_ub_gm"(0, 4096, 8, 1, 0, 0, 3, 64, 4096) '
    "<{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 1, 1>}> : "
    "(!pto.ptr<i8, ub>, !pto.ptr<i8, gm>, i64, i64, i64, i64, i64, i64, i64) -> ()",
    "a word of the generic form": '"pto.mte_l1_l0a"(0, 0, 32, 16, 0, 0) <{transpose = true}> : '
    "(!pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64, i64, i64) -> ()",
    "counted operands": "mte_ub_gm 0, 0, 8 nburst(1, 0, 0) "
    "{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}",
    "memrefs": "mte_ub_gm 0, 64, 2 nburst(3, 1, 0) "
    ": memref<4x?xi8, strided<[1]>, 6 : i32>, memref<16xi8>, i64, i64, i64, i64",
    "a negative payload": "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, "
    "pre_quant(-1.5, mode = qf322f32_pre_scalar)",
    "a comment": "mte_ub_ub 0, 64, // two\n 1 nburst(1, 0, 0)",
}


@pytest.mark.parametrize("case", OTHER_SPELLINGS)
def test_other_spellings_are_read_too(case: str, tmp_path: Path) -> None:
    both(OTHER_SPELLINGS[case], "", tmp_path)


POINTERS = "(!pto.ptr<f16, l1>, !pto.ptr<f16, l0a>"
REFUSED = {
    "mte_gm_ub 0, 0, 0, 32 pad(1) nburst(1, 0, 0)": "nburst is too late",
    "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) loop(1, 2, 3)": "there is no clause 'loop'",
    "mte_ub_ub 0, 64, -1 nburst(1, 0, 0)": "DMA-L05: len_burst is -1",
    "mte_ub_ub 0, -64, 1 nburst(1, 0, 0)": "DMA-L12: ub_dst is -64: addresses are unsigned",
    "mte_ub_ub 0, 64, 1.5 nburst(1, 0, 0)": "'1.5' is not an integer",
    "mte_ub_ub 0, 64, 0x10000000000000000 nburst(1, 0, 0)": "more bits than its type",
    "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) {ub_sub = 2}": "ub_sub is 2",
    "mte_ub_gm 0, 64, 1 nburst(1, 0, 0) {operandSegmentSizes = array<i32: 1, 1>}":
        "counts 2 operands otherwise than the clauses",
    "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) : !pto.ptr<f17, ub>": "element type 'f17'",
    "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) : !pto.ptr<i8, ub>, i8, i64, i64, i64, i64":
        "type mismatch: ub_dst has type i8",
    "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, sat, nosat": "exclude each other",
    "mte_l1_l0a 0, 0, m_step(2)": "the full form requires m_start",
    "mte_l1_l0a 0, 0, m(2), k_step(1)": "cannot be mixed",
    'mte_gm_ub 0, 0, 0, 10 nburst(1, 0, 0) pad("x")': "is not an SSA value",
    f'"pto.mte_l1_l0a"(0, 0, 2, 2, 2) : {POINTERS}, i64, i64, i64) -> ()': "lacks operandSegment",
    f'"pto.mte_l1_l0a"(0, 0, 2) : {POINTERS}, i64, i64) -> ()': "3 operands are written with 4",
    '"pto.set_ctrl"(5) : (i32) -> ()': "type mismatch: value has type i32",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_language_refuses_is_an_error(text: str) -> None:
    with pytest.raises(PtoError, match=re.escape(REFUSED[text])) as error:
        of_text(text, {})
    assert error.value.where.startswith("the op")


@pytest.mark.long
def test_an_op_as_text_needs_no_reader_of_programs() -> None:
    """xdsl alone takes longer to import than an explanation may."""
    code = (
        "import sys, io, contextlib\n"
        "from tb.explain.command import Options, explain_command\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    explain_command('mte_ub_ub 0, 4096, 2 nburst(3, 1, 0)', Options())\n"
        "heavy = {'xdsl', 'rich', 'pydantic', 'cocotb', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
