# SPDX-License-Identifier: Apache-2.0
"""Pictures of mismatches: the map, the dump, and what is said of the wrong bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tb.record.failure import Picture, PictureRow
from tb.report.picture import LABEL, MOST_LINES, draw, summary

BYTES = np.random.default_rng(4).integers(0, 256, 4096).astype(np.uint8)


def picture(expected: np.ndarray, actual: np.ndarray, size: int, base: int = 0x200) -> Picture:
    """Rows of ``size`` bytes one after the other."""
    rows = [
        PictureRow(
            address=base + at,
            expected=expected[at : at + size].tobytes().hex(),
            actual=actual[at : at + size].tobytes().hex(),
        )
        for at in range(0, len(expected), size)
    ]
    return Picture(space="ub0", rows=rows)


def changed(*places: int, by: int | None = None) -> np.ndarray:
    """512 bytes with other ones at ``places``."""
    found = BYTES[:512].copy()
    for number, at in enumerate(places):
        found[at] ^= by if by is not None else number % 255 + 1
    return found


def said(actual: np.ndarray, size: int = 128) -> str:
    return " ".join(summary(picture(BYTES[:512], actual, size)))


def test_the_map_has_a_bar_for_each_run_of_wrong_bytes() -> None:
    drawing = draw(picture(BYTES[:512], changed(*range(130, 140), 200), 128))
    assert [row.wrong for row in drawing.rows] == [0, 11, 0, 0]
    row = drawing.rows[1]
    assert row.address == "0x00280"
    assert [bar.wrong for bar in row.bars] == [False, True, False, True, False]
    # 128 bytes over 768 pixels are 6 for each.
    assert (row.bars[1].x, row.bars[1].width) == (LABEL + 2 * 6, 10 * 6)
    assert sum(bar.width for bar in row.bars) == 768
    one = Picture(space="gm", rows=[PictureRow(address=0x10, expected="00", actual="01")])
    assert draw(one).rows[0].address == "0x0000000010"


def test_the_dump_marks_wrong_bytes_and_shows_a_line_around() -> None:
    drawing = draw(picture(BYTES[:512], changed(130, 131, 200), 128))
    lines = [line.address for line in drawing.lines]
    assert lines == ["0x00280", "0x00290", "", "0x002b0", "0x002c0", "0x002d0"]
    first = drawing.lines[0]
    assert [text for text, wrong in first.actual if wrong] == [
        f"{BYTES[130] ^ 1:02x} {BYTES[131] ^ 2:02x}"
    ]
    assert " ".join(text for text, _ in first.expected) == BYTES[128:144].tobytes().hex(" ")


def test_rows_that_begin_within_a_line_leave_blanks() -> None:
    one = Picture(space="l1", rows=[PictureRow(address=0x105, expected="aabbcc", actual="aabb00")])
    (line,) = draw(one).lines
    text = " ".join(part for part, _ in line.expected)
    assert text.split() == ["aa", "bb", "cc"]
    assert len(text) == 3 * 16 - 1
    assert text.index("aa") == 3 * 5


def test_a_long_dump_is_cut_and_says_so() -> None:
    wrong = BYTES ^ np.uint8(1)
    drawing = draw(picture(BYTES, wrong, 512))
    assert len(drawing.lines) == MOST_LINES
    assert drawing.more == 4096 // 16 - MOST_LINES
    assert sum(row.wrong for row in drawing.rows) == 4096


@pytest.mark.parametrize("digits", [("00", "0000"), ("zz", "00")])
def test_damaged_digits_are_refused(digits: tuple[str, str]) -> None:
    row = PictureRow(address=0, expected=digits[0], actual=digits[1])
    with pytest.raises(ValueError, match=r"expected|hexadecimal"):
        draw(Picture(space="ub0", rows=[row]))


def test_the_summary_counts_and_sees_patterns() -> None:
    assert "3 of 512 bytes are wrong, in 2 of 4 rows." in said(changed(5, 300, 301))
    assert said(BYTES[:512]) == "No byte of these rows differs."
    actual = BYTES[:512].copy()
    actual[100:140] = 0
    assert "Every wrong byte is 0x00." in said(actual)
    assert "Every wrong byte is" not in said(changed(*range(100, 140)))
    assert "differs in the bits 0x80" in said(changed(7, 99, 300, by=0x80))
    assert "differs in the bits" not in said(changed(7, 99, 300))
    places = [32 * block + lane for block in (1, 5, 9) for lane in range(4, 8)]
    assert "All are bytes 4 to 7 of a 32-byte block, in 3 blocks." in said(changed(*places))
    for few in ((3, 32 + 30), (4, 5, 6, 7)):
        assert "32-byte block" not in said(changed(*few))


@pytest.mark.parametrize("distance", [1, -1, 32, -128])
def test_the_summary_sees_data_out_of_place(distance: int) -> None:
    actual = BYTES[:512].copy()
    actual[200:260] = BYTES[200 + distance : 260 + distance]
    side = "higher" if distance > 0 else "lower"
    plural = "" if abs(distance) == 1 else "s"
    assert f"those expected {abs(distance)} byte{plural} {side}" in said(actual)


def test_the_summary_claims_no_place_for_noise_few_bytes_and_equal_ones() -> None:
    assert "are those expected" not in said(changed(*range(200, 260)))
    actual = BYTES[:512].copy()
    actual[200:204] = BYTES[201:205]
    assert "are those expected" not in said(actual)
    expected = np.repeat(np.array([0, 255], dtype=np.uint8), 256)
    actual = expected.copy()
    actual[240:256] = 255
    assert "are those expected" not in " ".join(summary(picture(expected, actual, 128)))
