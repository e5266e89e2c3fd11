# SPDX-License-Identifier: Apache-2.0
"""The text of an op in parts: what is before the colon of the types, and the operands in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<ssa>%[\w$.#-]+)
    |(?P<braces>\{[^{}]*\})
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<number>-?0[xX][0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
    |(?P<mark>[(),=:<>\[\]])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a text.

    Attributes:
        text: Its spelling.
        start, end: Its place in the op.
        clause: Clause it is in, or empty.
        number: Its number in that clause.
        key: Key before it, such as ``clip``, or empty.
    """

    text: str
    start: int
    end: int
    clause: str
    number: int
    key: str


def halves(text: str) -> tuple[str, str]:
    """Returns an op before and after the colon of its types."""
    depth = 0
    for at, mark in enumerate(text):
        if mark in "([{<":
            depth += 1
        elif mark in ")]}>" and text[at - 1] != "-":
            depth -= 1
        elif mark == ":" and depth == 0:
            return text[:at].rstrip(), text[at + 1 :].strip()
    return text, ""


def operands(text: str, begin: int) -> list[Operand]:
    """Returns the operands of an op in the order of its text."""
    found: list[Operand] = []
    stack: list[str] = []
    word, key, numbers = "", "", {"": 0}
    at = begin
    while match := _TOKEN.search(text, at):
        at = match.end()
        kind, token = match.lastgroup, match.group()
        if kind == "mark":
            if token == "(":
                stack.append(word)
                numbers.setdefault(word, 0)
            elif token == ")" and stack:
                stack.pop()
            if token != "=":
                key = ""
            word = word if token == "=" else ""
        elif kind == "word" and token not in ("true", "false"):
            word = key = token
        elif kind in ("ssa", "number", "word"):
            clause = stack[-1] if stack else ""
            number = numbers.get(clause, 0)
            numbers[clause] = number + 1
            found.append(Operand(token, match.start(), match.end(), clause, number, key))
    return found
