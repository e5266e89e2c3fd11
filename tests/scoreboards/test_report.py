# SPDX-License-Identifier: Apache-2.0
"""The text of a mismatch."""

from __future__ import annotations

from scoreboards.mismatch import Kind, Mismatch, Part, Position
from scoreboards.report import COLUMNS, hex_lines, render
from tb.isa.dma.op import Loop, MteGmUb, Pad
from tb.isa.op import replace
from tb.isa.spaces import Space
from tb.isa.text import to_text
from tests.scoreboards.conftest import Pair
from tests.wording import line_says

OP = MteGmUb(777, 2048, 90, 4, 200, 160, (Loop(3, 1000, 1024),), Pad("i8", 0x5A, 7, 0))
REPRO = "make SIM=verilator TEST=random SEED=1234 N=17 " + "WAVES=1 " * 20


def mismatch(pair: Pair, *addresses: int) -> Mismatch:
    pair.run(OP)
    pair.corrupt(Space.UB0, *addresses)
    return pair.op()[0]


def test_report_has_place_bytes_and_repeat_command(pair: Pair) -> None:
    start = 2048 + 1024 + 160 * 2
    found = mismatch(pair, start + 20, start + 21, start + 23)
    text = render(found, op=to_text(OP), writer="slot mte2 in cycle 8123", repro=REPRO)
    assert line_says(text, "MISMATCH wrong data UB0 0x00d54 3 wrong bytes 4")
    assert "pto.mte_gm_ub" in text
    assert line_says(text, r"loop 0 iteration 1 3 row 2 4 byte 20 160 \(data\)")
    source = 777 + 1000 + 400 + 13
    assert f"GM {source:#012x}" in text
    assert line_says(text, "byte 20 32-byte bus word")
    assert line_says(text, "written by slot mte2 cycle 8123")
    assert f"\n  {REPRO}" in text
    wide = [line for line in text.splitlines() if len(line) > COLUMNS]
    assert wide == [f"  {REPRO}"]
    assert text.isascii()


def test_all_fields_but_the_mismatch_are_optional(pair: Pair) -> None:
    pair.corrupt(Space.L1, 5)
    text = render(pair.full()[0])
    assert text.startswith("MISMATCH: stray write, L1 0x00005, 1 wrong byte in 1\n")
    for label in ("op ", "where", "source", "written by", "repeat"):
        assert label not in text


def test_differing_bytes_are_marked_on_both_sides() -> None:
    expected = bytes(range(20))
    actual = bytearray(expected)
    for index in (0, 6, 7, 8, 19):
        actual[index] ^= 0xF0
    found = Mismatch(
        Kind.STRAY, Space.UB0, 0x100, 5, 20, 0x100, expected, bytes(actual), 0, 32, None
    )
    assert hex_lines(found) == [
        "            expected                    actual",
        "  0x00100  [00]01 02 03 04 05[06|07]   [f0]01 02 03 04 05[f6|f7]",
        "  0x00108  [08]09 0a 0b 0c 0d 0e 0f    [f8]09 0a 0b 0c 0d 0e 0f",
        "  0x00110   10 11 12[13]                10 11 12[e3]",
    ]


def test_guard_bytes_are_described_from_their_row(pair: Pair) -> None:
    found = mismatch(pair, 2048 - 3)
    assert line_says(render(found), "row 0 4 3 B before first byte")
    position = found.position
    assert position is not None
    after = replace(position, byte=160, part=Part.BEHIND)
    assert line_says(render(replace(found, position=after)), "1 B last byte")
    assert "write outside the destination" in render(found)


def test_pads_are_named(pair: Pair) -> None:
    assert "byte 1 of 160 (left pad)" in render(mismatch(pair, 2049))


def test_outermost_loop_comes_first() -> None:
    position = Position((1, 0, 2), (2, 1, 3), 4, 5, 6, 7, Part.DATA, (Space.UB1, 9))
    found = Mismatch(Kind.DATA, Space.GM, 9, 1, 1, 0, b"ab", b"ac", 9, 16, position)
    text = render(found)
    outer, middle, inner = (text.index(f"loop {k} iteration") for k in (2, 1, 0))
    assert outer < middle < inner
    assert "UB1 0x00009" in text
    assert "GM 0x0000000009" in text


def test_long_ops_wrap_and_sequences_keep_their_lines(pair: Pair) -> None:
    found = mismatch(pair, 2049)
    text = render(found, op="pto.set_loop_size_outtoub 1, 2\n" + "x" * 300)
    assert "\n  op         pto.set_loop_size_outtoub 1, 2\n" in text
    assert all(len(line) <= COLUMNS for line in text.splitlines())


def test_unexpected_page_is_reported(pair: Pair) -> None:
    pair.corrupt(Space.GM, 1 << 30)
    text = render(pair.full()[0])
    assert line_says(text, "write page no op writes")
    assert "1 wrong byte in 4096" in text
