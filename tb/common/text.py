# SPDX-License-Identifier: Apache-2.0
"""Figures and lists as text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from tb.common.errors import PtoError


def percent_text(percent: float, digits: int = 1) -> str:
    """Returns a percentage as text, which is 100 only when nothing is missing."""
    text = f"{percent:.{digits}f}"
    if percent < 100.0 and float(text) == 100.0:
        return f"{100 - 10**-digits:.{digits}f}"
    return text


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun, which has an ``s`` unless the number is 1."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def one_of(kind: str) -> str:
    """Returns a noun or the name of a type with its article, such as ``an i64`` and ``a float``."""
    first = kind.lower().removeprefix("!pto.")
    spoken = (
        first[:1] in "aeio" or (first[:1] in "fs" and first[1:2].isdigit()) or first[:2] == "si"
    )
    return f"{'an' if spoken else 'a'} {kind}"


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Returns rows of cells as lines; the first ``left`` columns are flush left, others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = list(map(str.ljust, row[:left], widths))
        cells += map(str.rjust, row[left:], widths[left:])
        lines.append("  ".join(cells).rstrip())
    return lines


def meant(name: str, legal: Iterable[str], alike: float = 0.6) -> str:
    """Returns the end of a message about an unknown name: the legal one that is like it, if any."""
    close = difflib.get_close_matches(name, list(legal), 1, alike)
    return f"; did you mean {close[0]}?" if close else ""


def comma_list(text: str, name: str, where: str, legal: str) -> list[str]:
    """Returns the words of a text that separates them by commas.

    Args:
        text: The text; a blank one has no words.
        name: Its variable or option, as the message begins.
        where: Its place, for the message.
        legal: What may be listed.

    Raises:
        PtoError: the text is commas alone.
    """
    words = [word for word in (part.strip() for part in text.split(",")) if word]
    if text.strip() and not words:
        raise PtoError(f"{name} is {text!r}", where=where, legal=legal, remedy="name at least one")
    return words
