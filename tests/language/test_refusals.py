# SPDX-License-Identifier: Apache-2.0
"""Findings in write-backs say which of them the compiler does not have (DF-01 to DF-12 of
spec/dialect.md)."""

from __future__ import annotations

from pathlib import Path

from tb.language.verify import verify_file
from tests.language.corpus import FOLDER, findings, read_cases
from tests.language.corpus.short import complete

REFUSED = {f"FIX-L{number:02}" for number in (*range(1, 13), 20, 21)} - {"FIX-L07"}
"""Rules of which the compiler checks at least a part."""

ACCEPTED = {
    "fix_l02_signed",
    "fix_l04_hif8_as_f8",
    "fix_l04_no_clause",
    "fix_l04_no_convert",
    "fix_l04_unsigned_32_bits",
    "fix_l05_integers_without_scale",
    "fix_l11_type_differs",
    "fix_l11_unsigned",
}
"""Cases of these rules that the compiler accepts."""

SUB_BLOCK = "fix_l14_sub_block"
"""The only case of another rule that it refuses."""


def test_what_the_compiler_refuses_is_refused_without_a_note(tmp_path: Path) -> None:
    ours, accepted = {}, {}
    for case in read_cases(FOLDER / "illegal" / "fix.pto"):
        name = case.name.partition("/")[2]
        for finding in findings(case, tmp_path):
            if finding.rule:
                ours[name, finding.rule] = finding.ours or finding.undefined
                refused = finding.rule in REFUSED and name not in ACCEPTED
                accepted[name, finding.rule] = not refused and name != SUB_BLOCK
    assert ours == accepted
    assert {name for name, _ in ours} > ACCEPTED | {SUB_BLOCK}


def test_a_mode_that_only_the_model_has_is_noted(tmp_path: Path) -> None:
    op = (
        "pto.mte_l0c_gm %l0c, %out, %c16, %c16, %c16, %c16, %c0, %c0, "
        "pre_quant(%one, mode = req4_scalar) "
        ": !pto.ptr<i32, l0c>, !pto.ptr<i4, gm>, i64, i64, i64, i64, i64, i64, f32\n"
    )
    path = tmp_path / "x.pto"
    path.write_text(complete("x", op)[0])
    verified = verify_file(path)
    assert not verified.findings
    assert "the compiler refuses pre_quant req4_scalar" in verified.notes[0]
