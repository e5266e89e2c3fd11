# SPDX-License-Identifier: Apache-2.0
"""Sentences of ``pto-dv explain`` that knobs of the profile change."""

from __future__ import annotations

import pytest

from tests.explain.records import record

WRITE_BACK = "mte_l0c_gm 0, 0, 1, 16, 16, 16, 0, 0, pre_quant(1.0, mode = {}), nz2nd{}"
STAGES = {
    ("f32,i8", "qf322b8_pre_scalar", ""): (
        "clamp to -128..127 -> s8",
        "0..255 -> low 8 bits as s8",
    ),
    ("i32,si8", "req8_scalar", ""): ("clamp to -128..127 -> s8", "0..255 -> low 8 bits as s8"),
    ("f32,ui8", "qf322b8_pre_scalar", ""): ("0..255 -> u8", "0..255 -> u8"),
    ("f32,bf16", "f32_bf16", ", nosat"): ("to bf16, nosat", "to bf16, sat"),
    ("f32,bf16", "f32_bf16", ", sat(preserve_nan)"): ("to bf16, preserve_nan", "to bf16, sat"),
    ("i32,f16", "deqf16_scalar", ", nosat"): ("to f16, nosat", "to f16, sat"),
    ("i32,f16", "deqf16_scalar", ", nosat, atomic(type = f16, op = add)"): (
        "to f16, nosat -> f16 element -> atomic add as f16 to the old value, inf and NaN kept",
        "to f16, sat -> f16 element -> atomic add as f16 to the old value, inf and NaN kept",
    ),
    ("f32,f16", "f32_f16", ", nosat"): ("to f16, nosat", "to f16, nosat"),
    ("f32,f16", "f32_f16", ", sat(preserve_nan)"): ("to f16, preserve_nan", "to f16, sat"),
    ("f32,bf16", "qf322bf16_pre_scalar", ", nosat"): ("to bf16, nosat", "to bf16, nosat"),
    ("f32,f8E4M3FN", "qf322fp8_pre_scalar", ", sat(preserve_nan)"): (
        "preserve_nan",
        "preserve_nan",
    ),
}
"""Steps of values under seed and under a5 (docs/spec/fixpipe.md, sections 5 and 7)."""


@pytest.mark.parametrize("case", STAGES, ids=str)
def test_steps_of_values_by_profile(case: tuple[str, str, str]) -> None:
    element, mode, clauses = case
    differ = STAGES[case][0] != STAGES[case][1]
    for profile, steps in zip(("seed", "a5"), STAGES[case], strict=True):
        found = record(WRITE_BACK.format(mode, clauses), element=element, profile=profile)
        assert steps in found["layout"][-1]
        knob = "b8_scalar_sign" if "i8" in element else "sat_scope"
        assert (knob in {one["what"] for one in found["profiles"]}) == differ
        low = [note for note in found["notes"] if "low 8 bits of 0..255" in note]
        assert len(low) == (differ and knob == "b8_scalar_sign" and profile == "a5")


@pytest.mark.parametrize(("address", "count"), [(0x40, 1), (0x10040, 0)])
def test_alphas_among_the_records_have_a_note(address: int, count: int) -> None:
    text = f"mte_l0c_gm 0, 0, 1, 16, 16, 16, 0, 0, pre_relu({address}, mode = vector_relu)"
    assert sum("segment 0 of fb" in note for note in record(text)["notes"]) == count


COPIES = {
    ("i8", "mte_gm_ub 0, 0, 0, 5 nburst(3, 8, 5) pad(0x5A)"): (
        "a compact group: the rows follow each other without a gap, 15 B together",
        "each group padded to the end of its last 32-byte block",
    ),
    ("i8", "mte_ub_gm 0, 0, 5 nburst(3, 5, 8)"): ("a compact group",),
    ("f16", "mte_gm_ub 0, 0, 0, 40 nburst(1, 7, 40) pad(1.0, 8, 8)"): (
        "padded: 16 B before the data, at least 16 B after it",
    ),
    ("f16", "copy_gm_to_ubuf 0, 0, 0, 1, 40, 0, 12, false, 0, 0, 0"): (
        "padded: 0 B before the data, at least 24 B after it",
    ),
    ("f16", "copy_gm_to_ubuf 0, 0, 0, 1, 20, 4, 2, true, 0, 0, 32"): (
        "padded: 8 B before the data, at least 4 B after it",
    ),
}


@pytest.mark.parametrize("case", COPIES, ids=str)
def test_copies_under_a5(case: tuple[str, str]) -> None:
    """docs/spec/dma.md, section 3; the v0.6 form of a legacy copy has the same counts."""
    element, text = case
    found = record(text, element=element, profile="a5")
    assert found["status"] == "legal"
    for sentence in COPIES[case]:
        assert any(sentence in line for line in found["layout"]), found["layout"]
    for form in found["forms"]:
        if form["text"]:
            line = "; ".join(form["lines"])
            assert record(line, profile="a5")["memories"] == found["memories"]
