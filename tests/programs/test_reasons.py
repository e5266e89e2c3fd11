# SPDX-License-Identifier: Apache-2.0
"""Reasons for which programs are refused: equal for equal mistakes, without names and numbers."""

from __future__ import annotations

import pytest

from tb.common.errors import PtoError
from tb.language.place import Finding, Place, refuse
from tb.programs.reasons import MOST_WORDS, SHOWN, grouped, reason, reason_of, table

AT = Place("x.pto", 3, 5)


@pytest.mark.parametrize(
    ("op", "rule", "message", "expected"),
    [
        ("pto.mte_gm_ub", "DMA-L05", "len_burst is 70000", "DMA-L05"),
        ("pto.mte_gm_ub", "A-14", "hazard: writes ub0 0x0..0x3f (64 B), which", "A-14: hazard"),
        ("pto.mte_ub_gm", "", "hazard: reads ub0 0x0..0x3f (64 B), which", "hazard"),
        ("", "", "%length is not defined", "... is not defined"),
        ("", "", "takes 4 operands, not 3", "takes N operands, not N"),
        ("", "", "expected ':' after 'i64', found '->'", "expected ... after ..., found ..."),
        ("arith.power", "", "unknown op 'arith.power'", "arith.power: unknown op 'arith.power'"),
        ("pto.vadd", "", "this op is foreign: it moves no data", "pto.vadd: this op is foreign"),
        ("pto.wait_flag", "", "deadlock: no set_flag sets event 2 of PIPE_V", "deadlock"),
        ("", "", "byte 0xe9 is no UTF-8: the file is no text", "byte N is no UTF-8"),
        ("", "", "it has 104857600 bytes: too long for a program", "it has N bytes"),
        ("", "", "calls at y.pto:7:5 are nested", "calls at ... are nested"),
    ],
)  # fmt: skip
def test_words(op: str, rule: str, message: str, expected: str) -> None:
    assert reason_of(Finding(AT, op, rule, message)) == expected
    assert reason(refuse(AT, message, op=op, rule=rule)) == expected
    if not op and not rule:
        assert reason(PtoError(message)) == expected


def test_long_sentences_are_cut() -> None:
    words = reason(PtoError("word " * 100))
    assert len(words) <= MOST_WORDS
    assert words.endswith("word...")


def test_the_most_frequent_reason_comes_first() -> None:
    found = grouped([("b", "1"), ("a", "2"), ("c", "3"), ("c", "4")])
    assert [(one.text, one.count, one.first) for one in found] == [
        ("c", 2, "3"), ("a", 1, "2"), ("b", 1, "1"),
    ]  # fmt: skip
    assert table(found)[0] == "     2  c, such as 3"


def test_a_long_table_ends_with_the_number_of_the_others() -> None:
    pairs = [(f"reason {number:02}", "x") for number in range(SHOWN + 3)]
    lines = table(grouped([*pairs, pairs[-1]]))
    assert len(lines) == SHOWN + 1
    assert lines[0] == f"     2  reason {SHOWN + 2}, such as x"
    assert lines[-1].split() == ["3", "for", "3", "other", "reasons"]
