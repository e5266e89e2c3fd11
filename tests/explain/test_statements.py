# SPDX-License-Identifier: Apache-2.0
"""Ops as text: the quick way and the reader of programs agree, and time is spared."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tb.common.errors import PtoError
from tb.common.paths import ROOT
from tb.explain import steps
from tb.explain.statements import statements
from tb.explain.steps import Chosen, of_text
from tb.isa.l0.op import L0Load
from tb.isa.text import to_text
from tb.language.literal.quick import NotQuickError, quick_op
from tests.explain.drawn import KINDS
from tests.explain.test_command import ELEMENTS, EVERY_OP


def both(text: str, element: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Chosen], bool]:
    """Returns the ops as the reader of programs reads them, and whether the quick way has them."""
    quick = steps._quickly(statements(text, {}, element), "bytes") is not None
    told = of_text(text, {}, element)
    with monkeypatch.context() as patch:
        patch.setattr(steps, "_quickly", lambda *_: None)
        slow = of_text(text, {}, element)
    assert told == slow
    return slow, quick


@pytest.mark.parametrize("name", EVERY_OP)
def test_every_op_is_read_quickly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = both(EVERY_OP[name], ELEMENTS.get(name, ""), monkeypatch)
    assert quick
    assert slow[-1].name == name


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_of_drawn_ops_is_read_quickly(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    count = 0
    for _ in range(40):
        drawn = KINDS[kind](rng)
        if len(getattr(drawn.op, "loops", ())) > 3:
            continue
        if isinstance(drawn.op, L0Load) and not (drawn.op.m_step and drawn.op.k_step):
            continue  # written as numbers, steps are at least 1
        text = "\n".join(map(to_text, (*drawn.before, drawn.op)))
        slow, quick = both(text, "", monkeypatch)
        assert quick, text
        assert slow[-1].op == drawn.op
        count += 1
    assert count > 15


OTHER_SPELLINGS = {
    "no space in a type": "pto.mte_ub_ub %a, %b, 1 nburst(1, 0, 0) "
    ": !pto.ptr<f16,ub>, !pto.ptr<f16,ub>, i64, i64, i64, i64",
    "the sub-block without dst_mode": "mte_l0c_ub 0, 0, 8, 32, 16, 32, split_m",
    "a cache hint by position": "mte_ub_gm 0, 0x1000, 0, 96 nburst(1, 0, 0)",
    "a numbered loop": "mte_ub_gm 0, 0, 8 nburst(1, 0, 0) loop1(3, 64, 4096)",
    "the generic form": '"pto.set_loop_size_ubtoout"(2, 3) : (i64, i64) -> ()\n'
    "copy_ubuf_to_gm 0, 0, 0, 2, 10, 0, 16, 64",
    "attributes": "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) {ub_sub = 1 : i32}",
    "a negative payload": "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, "
    "pre_quant(-1.5, mode = qf322f32_pre_scalar)",
    "a comment": "mte_ub_ub 0, 64, // two\n 1 nburst(1, 0, 0)",
}


@pytest.mark.parametrize("case", OTHER_SPELLINGS)
def test_other_spellings_are_read_too(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, _ = both(OTHER_SPELLINGS[case], "", monkeypatch)
    assert len(slow) == 1


@pytest.mark.parametrize(
    "text",
    [
        "mte_gm_ub 0, 0, 0, 32 pad(1) nburst(1, 0, 0)",
        "mte_ub_ub 0, 64, 1 nburst(1, 0, 0) loop(1, 2, 3)",
        "mte_ub_ub 0, 64, -1 nburst(1, 0, 0)",
        "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, nz2nd, unit_flag(check_only)",
        "mte_ub_ub 0, 64, 0x10000000000000000 nburst(1, 0, 0)",
        "mte_l0c_gm 0, 0, 4, 16, 16, 16, 0, 0, sat, nosat",
    ],
)
def test_what_the_language_refuses_is_not_read_quickly(text: str) -> None:
    with pytest.raises((NotQuickError, PtoError)):
        quick_op(statements(text, {}).ops[0])


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
