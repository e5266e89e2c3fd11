# SPDX-License-Identifier: Apache-2.0
"""Pointer types as text, without xdsl."""

from __future__ import annotations

import re
from collections.abc import Callable

from tb.isa.dtypes import ALL_DTYPES, OTHER_BYTE_FLOATS, Ptr

SPACES: dict[str, str] = {
    "gm": "gm",
    **dict.fromkeys(("ub", "vec"), "ub"),
    **dict.fromkeys(("l1", "mat", "cbuf"), "l1"),
    **dict.fromkeys(("l0a", "left"), "l0a"),
    **dict.fromkeys(("l0b", "right"), "l0b"),
    **dict.fromkeys(("l0c", "acc"), "l0c"),
    **dict.fromkeys(("bt", "bias"), "bt"),
    **dict.fromkeys(("fb", "scaling"), "fb"),
}
"""Space of every keyword, aliases of docs/spec/README.md included."""

_WORDS: tuple[str, ...] = (
    *(name for name in ALL_DTYPES if not re.fullmatch(r"[su]?i\d+", name)),
    *OTHER_BYTE_FLOATS,
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "tf32", "index"),
)
ELEMENT = re.compile(rf"(?:s|u)?i[1-9]\d{{0,6}}|{'|'.join(_WORDS)}", re.ASCII)
VECTOR = re.compile(r"vector<(?:\[?\d+\]?x)+(?:!pto\.)?(?P<element>\w+)>", re.ASCII)
"""Element types that a pointer may have; which of them an op moves is a matter of its rules."""

ELEMENTS: tuple[str, ...] = (
    *(f"{sign}i{width}" for sign in ("", "s", "u") for width in (1, 4, 8, 16, 32, 64)),
    *_WORDS,
)
"""Those with a name of their own; integers may have any width, vectors any size."""

_BLANK = r"(?:\s|//[^\n]*)*"
_POINTER = re.compile(
    rf"<{_BLANK}(?P<element>vector\s*<[^<>]*>|!?[\w.]*){_BLANK}"
    rf"(?:,{_BLANK}(?:#pto\.address_space\s*<\s*(?P<long>\w*)\s*>|(?P<short>\#?[\w.]*)){_BLANK})?>"
)


class PointerTextError(ValueError):
    """Text of a pointer type that is none; ``legal`` lists what would be."""

    def __init__(self, message: str, legal: str) -> None:
        super().__init__(message)
        self.legal = legal


def read_pointer(
    text: str, position: int, alias: Callable[[str], str] = lambda _: ""
) -> tuple[Ptr, int]:
    """Reads ``<element, space>`` of a pointer type that begins at ``position``; no space is gm.

    Args:
        text: The text.
        position: Offset of the bracket.
        alias: What a name of the file itself stands for, such as ``!element``, or nothing.

    Returns:
        The pointer, with the first name of its space, and the position after it.

    Raises:
        PointerTextError: the text is not a pointer type.
    """
    match = _POINTER.match(text, position)
    if match is None:
        raise PointerTextError(
            "a pointer type is written !pto.ptr<element, space>", "!pto.ptr<f16, gm>"
        )
    element = "".join(match["element"].split())
    element = (alias(element) or element).removeprefix("!pto.").removeprefix("!")
    vector = VECTOR.fullmatch(element)
    if not ELEMENT.fullmatch(vector["element"] if vector else element):
        raise PointerTextError(
            f"element type {match['element']!r} of a pointer is unknown", ", ".join(ELEMENTS)
        )
    named = match["long"] is not None or match["short"] is not None
    keyword = match["long"] or match["short"] or ("" if named else "gm")
    keyword = alias(keyword) or keyword
    if keyword not in SPACES:
        raise PointerTextError(
            f"address space {keyword!r} of a pointer is unknown", ", ".join(SPACES)
        )
    return Ptr(element, SPACES[keyword]), match.end()


MEMREF_SPACES: tuple[str, ...] = ("gm", "gm", "l1", "l0a", "l0b", "l0c", "ub", "bt", "fb")
"""Space of a memref by the number of its memory space; without one it is in gm."""
