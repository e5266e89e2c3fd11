# SPDX-License-Identifier: Apache-2.0
"""A mismatch as plain text of at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from scoreboards.mismatch import Kind, Mismatch, Part, Position
from tb.isa.spaces import hex_address, located, place_text

COLUMNS = 100
_BYTES_PER_LINE = 8
_LABEL = 11

_TITLES = {
    Kind.DATA: "wrong data",
    Kind.GUARD: "write outside the destination",
    Kind.STRAY: "stray write",
    Kind.PAGE: "write to a page no op writes",
}


def render(
    mismatch: Mismatch,
    *,
    op: str = "",
    writer: str = "",
    repro: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Renders a mismatch for a log.

    Args:
        mismatch: What was found.
        op: PTO text of the op; legacy sequences as several lines.
        writer: Last writer of the first wrong byte, if it is known.
        repro: Command that repeats the failure; printed as it is, never wrapped.
        notes: Lines about the mismatch as a whole, printed as they are.

    Returns:
        Lines without a trailing newline.
    """
    space, address = mismatch.space, mismatch.address
    plural = "" if mismatch.count == 1 else "s"
    lines = [
        f"MISMATCH: {_TITLES[mismatch.kind]}, {place_text(space, address)}, "
        f"{mismatch.count} wrong byte{plural} in {mismatch.extent}"
    ]
    for text in op.splitlines():
        lines += labelled("op", text)
    position = mismatch.position
    if position is not None:
        lines += labelled("where", _where(position))
        if position.source is not None:
            origin, source = position.source
            lines += labelled("source", place_text(origin, source))
        for text in position.values:
            lines += labelled("expected", text)
    lines += labelled("lane", f"byte {mismatch.lane} of a {mismatch.bus_bytes}-byte bus word")
    if writer:
        lines += labelled("written by", writer)
    lines += [*notes, "", *hex_lines(mismatch)]
    if repro:
        lines += ["", "repeat with:", f"  {repro}"]
    return "\n".join(lines)


def hex_lines(mismatch: Mismatch) -> list[str]:
    """Returns expected and actual bytes side by side, ``[xx]`` where they differ."""
    width = 3 * _BYTES_PER_LINE + 1
    _, first = located(mismatch.space, mismatch.window)
    indent = len(hex_address(mismatch.space, first)) + 4
    lines = [f"{'':{indent}}{' expected':<{width}}   {' actual'}"]
    for start in range(0, len(mismatch.expected), _BYTES_PER_LINE):
        expected = mismatch.expected[start : start + _BYTES_PER_LINE]
        actual = mismatch.actual[start : start + _BYTES_PER_LINE]
        differs = [a != b for a, b in zip(expected, actual, strict=True)]
        address = hex_address(mismatch.space, first + start)
        left, right = _cells(expected, differs), _cells(actual, differs)
        lines.append(f"  {address}  {left:<{width}}   {right}".rstrip())
    return lines


def _cells(data: bytes, differs: list[bool]) -> str:
    """Bytes of two digits each; brackets between them mark neighbours that differ."""
    text = ""
    before = False
    for byte, marked in zip(data, differs, strict=True):
        between = "[" if marked else "]" if before else " "
        if before and marked:
            between = "|"
        text += f"{between}{byte:02x}"
        before = marked
    return text + ("]" if before else " ")


def _where(position: Position) -> str:
    """Loops are numbered as in the rule messages and docs/spec/dma.md: 0 is the innermost."""
    parts = []
    if position.label:
        parts.append(position.label)
    else:
        depth = len(position.loops)
        for number, (index, count) in enumerate(zip(position.loops, position.counts, strict=True)):
            parts.append(f"loop {depth - 1 - number} iteration {index} of {count}")
        parts.append(f"row {position.row} of {position.rows}")
    if position.part is Part.BEFORE:
        parts.append(f"{-position.byte} B before its first byte")
    elif position.part is Part.BEHIND:
        parts.append(f"{position.byte - position.row_bytes + 1} B after its last byte")
    elif not position.label:
        parts.append(f"byte {position.byte} of {position.row_bytes} ({position.part.value})")
    return ", ".join(parts)


def labelled(label: str, text: str) -> list[str]:
    """Returns a text as wrapped lines, the label before the first one."""
    wrapped = textwrap.wrap(
        text, COLUMNS - _LABEL - 2, break_long_words=True, break_on_hyphens=False
    )
    return [f"  {label if i == 0 else '':<{_LABEL}}{line}" for i, line in enumerate(wrapped)]
