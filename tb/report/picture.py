# SPDX-License-Identifier: Apache-2.0
"""A mismatch picture ready for drawing: map of all rows, dump of the wrong bytes, summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from tb.record.failure import Picture, PictureRow

LINE = 16
"""Bytes of a line of the dump."""

MOST_LINES = 64
"""Most lines of the dump; the map shows all rows."""

BLOCK = 32
"""Bytes of a block of on-chip memory, and of the ruler's marks."""

FIRST_LOOK = 64
"""Wrong bytes that a distance is tried on before all are."""

LABEL, ROW, HEAD, WIDTH = 104, 12, 22, 768
"""Measures of the map in pixels: address column, height of a row, ruler, width of the bytes."""


@dataclass(frozen=True)
class Bar:
    """Neighbouring bytes of the map that are all right or all wrong, in pixels."""

    x: float
    width: float
    wrong: bool


@dataclass(frozen=True)
class MapRow:
    """One row of the map: its address as text, top edge in pixels, bars, wrong bytes."""

    address: str
    y: int
    bars: tuple[Bar, ...]
    wrong: int


@dataclass(frozen=True)
class Line:
    """A line of the dump.

    Attributes:
        address: Of the first byte, as text; empty for a gap between lines.
        expected, actual: Text with whether it is wrong, in order.
    """

    address: str
    expected: tuple[tuple[str, bool], ...] = ()
    actual: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class Drawing:
    """Everything a page needs of a picture.

    Attributes:
        space: The memory.
        rows: The map.
        ticks: (x, offset as text, with a label) of the ruler.
        width, height: Of the map in pixels.
        lines: The dump.
        more: Lines with wrong bytes that the dump leaves out.
        summary: Sentences on the wrong bytes.
        left_out: What the picture does not have, or empty.
    """

    space: str
    rows: tuple[MapRow, ...]
    ticks: tuple[tuple[float, str, bool], ...]
    width: int
    height: int
    lines: tuple[Line, ...]
    more: int
    summary: tuple[str, ...]
    left_out: str


@dataclass(frozen=True)
class _Row:
    address: int
    expected: bytes
    actual: bytes

    @property
    def wrong(self) -> list[int]:
        pairs = enumerate(zip(self.expected, self.actual, strict=True))
        return [at for at, (wanted, found) in pairs if wanted != found]


def address_text(space: str, address: int) -> str:
    """Returns an address as wide as its memory's: ten digits for GM, five for the others."""
    return f"{address:#0{12 if space == 'gm' else 7}x}"


def draw(picture: Picture) -> Drawing:
    """Returns the drawing of a picture with at least one row.

    Raises:
        ValueError: a row has digits that are not hexadecimal, or unequal lengths.
    """
    rows = [_row(item) for item in picture.rows]
    size = max((len(row.expected) for row in rows), default=0)
    scale = min(12.0, WIDTH / max(size, 1))
    lines, more = _dump(picture.space, rows)
    # Labels at least 40 pixels apart.
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128) if step * BLOCK * scale >= 40)
    ticks = tuple(
        (LABEL + at * scale, str(at), at % (BLOCK * step) == 0) for at in range(0, size + 1, BLOCK)
    )
    return Drawing(
        space=picture.space,
        rows=tuple(
            MapRow(
                address_text(picture.space, row.address),
                HEAD + ROW * number,
                _bars(row, scale),
                len(row.wrong),
            )
            for number, row in enumerate(rows)
        ),
        ticks=ticks,
        width=int(LABEL + size * scale) + 20,
        height=HEAD + ROW * len(rows) + 4,
        lines=lines,
        more=more,
        summary=tuple(summary(picture)),
        left_out=picture.left_out,
    )


def _row(item: PictureRow) -> _Row:
    row = _Row(item.address, bytes.fromhex(item.expected), bytes.fromhex(item.actual))
    if len(row.expected) != len(row.actual):
        raise ValueError(f"{len(row.expected)} bytes expected, {len(row.actual)} found")
    return row


def _bars(row: _Row, scale: float) -> tuple[Bar, ...]:
    bars, at = [], 0
    for wrong, group in groupby(
        wanted != found for wanted, found in zip(row.expected, row.actual, strict=True)
    ):
        length = sum(1 for _ in group)
        bars.append(Bar(round(LABEL + at * scale, 2), round(length * scale, 2), wrong))
        at += length
    return tuple(bars)


def _dump(space: str, rows: Sequence[_Row]) -> tuple[tuple[Line, ...], int]:
    """Returns lines with wrong bytes and one line around them, and how many are left out."""
    lines: list[Line] = []
    more = 0
    following = None
    for row in rows:
        wrong = set(row.wrong)
        shown = sorted(
            {
                near
                for at in wrong
                for near in range(_line(row, at) - 1, _line(row, at) + 2)
                if _inside(row, near)
            }
        )
        for number in shown:
            if len(lines) >= MOST_LINES:
                more += any(_line(row, at) == number for at in wrong)
                continue
            if lines and number != following:
                lines.append(Line(""))
            lines.append(_text(space, row, number, wrong))
            following = number + 1
    return tuple(lines), more


def _line(row: _Row, at: int) -> int:
    return (row.address + at) // LINE


def _inside(row: _Row, line: int) -> bool:
    return row.address < (line + 1) * LINE and line * LINE < row.address + len(row.expected)


def _text(space: str, row: _Row, line: int, wrong: set[int]) -> Line:
    """Returns a line; what of it lies outside the row is blank."""
    places = [address - row.address for address in range(line * LINE, (line + 1) * LINE)]

    def cells(data: bytes) -> tuple[tuple[str, bool], ...]:
        parts: list[tuple[str, bool]] = []
        for marked, group in groupby(places, key=lambda at: at in wrong):
            bytes_ = [f"{data[at]:02x}" if 0 <= at < len(data) else "  " for at in group]
            parts.append((" ".join(bytes_), marked))
        return tuple(parts)

    return Line(address_text(space, line * LINE), cells(row.expected), cells(row.actual))


def summary(picture: Picture) -> Iterator[str]:
    """Yields sentences about the wrong bytes: how many, in which rows, what they have in common."""
    rows = [_row(item) for item in picture.rows]
    marked = [(row, row.wrong) for row in rows]
    wrong = {
        row.address + at: (row.expected[at], row.actual[at]) for row, ats in marked for at in ats
    }
    if not wrong:
        yield "No byte of these rows differs."
        return
    hit = sum(bool(ats) for _, ats in marked)
    size = sum(len(row.expected) for row in rows)
    yield f"{len(wrong)} of {size} bytes are wrong, in {hit} of {len(rows)} rows."
    found = {actual for _, actual in wrong.values()}
    if len(wrong) > 1 and len(found) == 1:
        yield f"Every wrong byte is {found.pop():#04x}."
    difference = {expected ^ actual for expected, actual in wrong.values()}
    if len(wrong) > 1 and len(difference) == 1:
        yield f"Every wrong byte differs in the bits {difference.pop():#04x}."
    lanes = sorted({address % BLOCK for address in wrong})
    blocks = {address // BLOCK for address in wrong}
    if len(blocks) > 1 and lanes[-1] - lanes[0] < BLOCK // 2:
        where = f"bytes {lanes[0]} to {lanes[-1]}" if len(lanes) > 1 else f"byte {lanes[0]}"
        yield f"All are {where} of a {BLOCK}-byte block, in {len(blocks)} blocks."
    yield from _moved(rows, wrong)


def _moved(rows: Sequence[_Row], wrong: dict[int, tuple[int, int]]) -> Iterator[str]:
    """Returns how far data is out of place, where all wrong bytes that are found agree."""
    if len(wrong) < 8 or len({actual for _, actual in wrong.values()}) < 4:
        return
    wanted = {row.address + at: byte for row in rows for at, byte in enumerate(row.expected)}
    pitches = {after.address - before.address for before, after in pairwise(rows)}
    near = {*range(1, 65), *range(96, 513, 32), *pitches} - {0}
    items = list(wrong.items())
    for distance in sorted({*near, *(-step for step in near)}, key=lambda step: (abs(step), step)):
        # Of large pictures a look at some bytes rules most distances out.
        if not _agree(wanted, items[:FIRST_LOOK], distance) or not _agree(wanted, items, distance):
            continue
        met = sum(at + distance in wanted for at in wrong)
        if 2 * met >= len(wrong):
            side = "higher" if distance > 0 else "lower"
            plural = "" if abs(distance) == 1 else "s"
            yield (
                f"The wrong bytes are those expected {abs(distance)} byte{plural} {side} "
                f"({met} of {len(wrong)} could be compared)."
            )
            return


def _agree(
    wanted: dict[int, int], wrong: Sequence[tuple[int, tuple[int, int]]], distance: int
) -> bool:
    """Returns true when each wrong byte is the one expected so far on, where that is known."""
    return all(wanted.get(at + distance, actual) == actual for at, (_, actual) in wrong)
