# SPDX-License-Identifier: Apache-2.0
"""Skips the text of an op with an unknown grammar.

Such an op ends where, outside all brackets, the next one begins: at a name with a dot, at results
with ``=``, at a quoted name with ``(``, at ``return``; or at the brace that closes its region.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tb.language.grammar.tokens import RESULTS, TOKEN

_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}
_LABEL = re.compile(r"\^[\w$.-]+\s*(?:\([^()]*\)\s*)?:", re.ASCII)
"""Begin of a block, which a branch names without the colon."""
_GENERIC = re.compile(r"\s*\(")
_PLAIN_OPS = ("return", "module")
"""Ops whose name has no dot."""


class UnclosedError(ValueError):
    """A bracket that is never closed, or closed and not open; ``at`` is its offset."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Skipped:
    """Text that was skipped.

    Attributes:
        end: Offset after it.
        types: Offset of its result types, or -1 when it names none.
        arrow: Whether they follow ``->``.
        names: Names inside its brackets that were looked for.
    """

    end: int
    types: int
    arrow: bool
    names: frozenset[str]


def skip(text: str, position: int, wanted: Callable[[str], bool] = str.isspace) -> Skipped:
    """Skips an op from the end of its name on.

    Args:
        text: The file.
        position: Offset after the name.
        wanted: Returns whether a name inside the brackets is looked for; by default none is.

    Raises:
        UnclosedError: brackets do not match.
    """
    nesting: list[tuple[str, int]] = []
    inside: set[str] = set()
    types, arrow = -1, False
    end = position
    before = ""
    while True:
        match = TOKEN.match(text, position)
        assert match is not None, "the last alternative matches any character"
        kind = match.lastgroup
        token = match[kind or 0]
        at = match.end() - len(token)
        if kind == "end":
            if nesting:
                raise UnclosedError(f"{nesting[-1][0]!r} is never closed", nesting[-1][1])
            break
        if nesting:
            if kind in ("word", "string") and wanted(token.strip('"')):
                inside.add(token.strip('"'))
        elif token == "}" or _begins_op(text, at, kind, token, before):
            break
        position = end = match.end()
        if kind == "mark" and token in "([{<":
            nesting.append((token, at))
        elif kind == "mark" and token in _CLOSERS:
            if not nesting:
                raise UnclosedError(f"{token!r} closes nothing", at)
            if nesting[-1][0] != _CLOSERS[token]:
                raise UnclosedError(f"{nesting[-1][0]!r} is never closed", nesting[-1][1])
            nesting.pop()
        elif not nesting and (kind == "arrow" or token == ":"):
            types, arrow = end, kind == "arrow"
        before = token
    return Skipped(end, types, arrow, frozenset(inside))


def closing(text: str, position: int) -> int:
    """Returns the offset after the bracket that closes the one at ``position``.

    Raises:
        UnclosedError: none does.
    """
    depth, at = 0, position
    while True:
        match = TOKEN.match(text, at)
        assert match is not None, "the last alternative matches any character"
        token, at = match[match.lastgroup or 0], match.end()
        if match.lastgroup == "end":
            raise UnclosedError(f"{text[position]!r} is never closed", position)
        if match.lastgroup == "mark":
            depth += (token in "([{<") - (token in ")]}>")
            if not depth:
                return at


def _begins_op(text: str, at: int, kind: str | None, token: str, before: str) -> bool:
    """Returns whether an op begins here, or a label."""
    if kind == "value":
        return RESULTS.match(text, at) is not None
    if kind == "word":
        if before in ("=", ",", ":"):
            return False
        if "." in token:
            return True
        line = text.rfind("\n", 0, at) + 1
        return token in _PLAIN_OPS and not text[line:at].strip()
    if kind == "string":
        return before not in ("=", ",", ":") and bool(_GENERIC.match(text, at + len(token)))
    return token == "^" and _LABEL.match(text, at) is not None
