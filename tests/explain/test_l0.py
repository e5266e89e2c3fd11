# SPDX-License-Identifier: Apache-2.0
"""Byte maps of the loads to L0, by hand from docs/spec/l0_loads.md, and names of memories."""

from __future__ import annotations

from typing import Any

import pytest

from tb.common.errors import PtoError
from tb.explain.command import Options, explain_command
from tests.explain.records import output, record

TURN = "{transpose = true}"
ELEMENTS: dict[str, tuple[str, str, str, int, int, int]] = {
    "f16 B[17][3]": (f"mte_l1_l0b 0, 0, 32, 16, 0, 0 {TURN}", "f16", "l0b", 2, 0x226, 0x262),
    "i8 B[40][20]": (f"mte_l1_l0b 0, 0, 64, 32, 0, 0 {TURN}", "i8", "l0b", 1, 0x514, 0x688),
    "f32 B[9][10]": (f"mte_l1_l0b 0, 0, 16, 16, 0, 0 {TURN}", "f32", "l0b", 4, 0x328, 0x344),
    "f16 A[33][20]": ("mte_l1_l0a 0, 0, 40, 50, 0, 0", "f16", "l0a", 2, 0xA28, 0xA28),
    # A^T has 1 x 2 squares: A[20][5] is (5, 20) of the source, of the second square.
    "f16 A[20][5]": (f"mte_l1_l0a 0, 0, 32, 16, 0, 0 {TURN}", "f16", "l0a", 2, 0x2A8, 0x28A),
    "S[32][32]": ("mte_l1_l0a 0, 0, 2, 2, 2, 3, 5, 3", "f16", "l0a", 2, 0x1800, 0x000),
    "S[48][64]": ("mte_l1_l0a 0, 0, 2, 2, 2, 3, 5, 3", "f16", "l0a", 2, 0x2E00, 0xE00),
    "scale (5, 1)": ("mte_l1_l0a_mx 0, 0, 16, 64, 0, 0", "", "l0a_mx", 1, 11, 11),
    "scale (21, 3)": ("mte_l1_l0a_mx 0, 1024, 32, 128, 0, 0", "", "l0a_mx", 1, 0x6B, 0xAB),
}
"""Element to its load, its memory, its bytes, and its addresses in L1 and in that memory: section 7
and by its formulas."""


@pytest.mark.parametrize("case", ELEMENTS)
def test_elements_of_the_worked_examples(case: str) -> None:
    text, element, memory, size, src, dst = ELEMENTS[case]
    asked = (f"{memory}:{dst}..{dst + size - 1}", f"l1:{src}..{src + size - 1}")
    found = record(text, element=element, bytes=asked)
    assert (found["status"], found["pipe"]) == ("legal", "PIPE_MTE1")
    assert list(found["memories"]) == [memory]
    there, back = found["answers"]
    (one,) = there["written"]
    assert (there["space"], there["first"]) == (memory, dst)
    assert (one["start"], one["size"], one["from"]) == (dst, size, [[src, size]])
    (one,) = back["read"]
    assert (one["to"], one["start"], one["from"]) == (memory, dst, [[src, size]])


def test_a_transposed_byte_of_fp4_is_of_two_rows() -> None:
    """Column q of rows p, p + 1 of a 64 x 64 square, nibble q mod 2 of byte q div 2 of each."""
    text = f"mte_l1_l0b 0, 0, 64, 64, 0, 0 {TURN}"
    bytes_ = {(5, 2): 0xA1, (20, 40): 0x294}  # (q div 16)*512 + (q mod 16)*32 + p div 2
    asked = tuple(f"l0b:{dst}" for dst in bytes_.values())
    answers = record(text, element="f4E2M1x2", bytes=asked)["answers"]
    for (q, p), answer in zip(bytes_, answers, strict=True):
        (one,) = answer["written"]
        rows = [(row // 16) * 512 + (row % 16) * 32 + q // 2 for row in (p, p + 1)]
        assert one["from"] == [[at, 1] for at in rows]
        assert f"nibble {q % 2}" in one["label"]
        assert one["how"] == "low or high nibble (0 or 1) of two rows"


def test_bytes_of_l0_are_asked_for_by_memory() -> None:
    text = "mte_l1_l0a 0, 0, 2, 2, 2, 3, 5, 3"
    asked: tuple[str, ...] = ("l0a:0x0..0x1f", "l0a:0x400..0x5ff", "l0b:0x0..0x1f")
    shown = output(text, element="f16", show="bytes", bytes=asked).splitlines()
    assert "  L0A" in shown
    start = shown.index("bytes 0x00000..0x0001f of L0A")
    assert [line.split("  (")[0] for line in shown[start : start + 6]] == [
        "bytes 0x00000..0x0001f of L0A",
        "  written: 0x00000..0x0001f  data       L1 0x01800..0x0181f",
        "bytes 0x00400..0x005ff of L0A",
        "  written: 0x00400..0x005ff  untouched",
        "bytes 0x00000..0x0001f of L0B",
        "  the op touches no byte of this memory",
    ]
    # Addresses are those of the memory, not those of the port of all four.
    text = "mte_l1_l0b_mx 0, 0, 1, 1, 2, 2, 4, 3"
    asked = ("l0b_mx:0x60", "l1:0x120")
    shown = output(text, show="bytes", bytes=asked).splitlines()
    lines = [" ".join(line.split()) for line in shown]
    assert "written: 0x00060 data L1 0x00120 (x 1, y 0)" in lines
    assert "read: 0x00120 -> L0B_MX 0x00060 data (x 1, y 0)" in lines


@pytest.mark.parametrize(
    ("asked", "legal"),
    [
        ("l0a:0x10000", "0..0xffff"),
        ("l0b_mx:0x1000", "0..0xfff"),
        ("l0:0", "l0a, l0b, l0a_mx, l0b_mx"),
    ],
)
def test_bytes_outside_a_memory_of_l0_are_refused(asked: str, legal: str) -> None:
    with pytest.raises(PtoError) as error:
        explain_command("mte_l1_l0a 0, 0, 16, 16, 0, 0", Options(bytes=(asked,)))
    assert legal in error.value.legal


def test_a_picture_has_the_addresses_of_the_memory(tmp_path: Any) -> None:
    path = tmp_path / "x.svg"
    output(f"mte_l1_l0b 0, 0, 32, 16, 0, 0 {TURN}", element="f16", picture=str(path))
    drawn = path.read_text()
    assert "L0B: destination" in drawn
    assert "L0B 0x262..0x263" in drawn
    assert "0x20262" not in drawn
