# SPDX-License-Identifier: Apache-2.0
"""Tokens of ``.pto`` text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NoReturn

TOKEN = re.compile(
    r"(?>(?:[ \t\r\n]+|//[^\n]*)*)(?:"
    r"(?P<value>%(?:[0-9]+|[a-zA-Z$._-][\w$.-]*)(?:\#[0-9]+)?)"
    r"|(?P<word>[A-Za-z_][\w$.]*)"
    r"|(?P<number>-?(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?)?))"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<bang>![\w.$]+)"
    r"|(?P<hash>\#[\w.$]+)"
    r"|(?P<arrow>->)"
    r"|(?P<mark>[():,=<>\[\]{}])"
    r"|(?P<end>\Z)"
    r"|(?P<other>.))",
    re.ASCII | re.DOTALL,
)
"""One token with the blanks and comments before it."""

RESULTS = re.compile(r"%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?!=)", re.ASCII)
"""Results of an op, with the sign after them."""

NAME = re.compile(r"%[\w$.-]+")
"""Name of a value, with the letters of any language, which are not part of one."""

MOST_CHARACTERS = 100
"""Of a number: Python's time to convert one grows with the square of its length."""

_SHOWN = 40
"""Characters of a token that messages show."""

SYMBOL = re.compile(r"@(?:([\w$.-]+)|\"([^\"\n]*)\")", re.ASCII)
"""Name of a function or module."""


def shown(token: str) -> str:
    """Returns a token for a message, the begin and the length of a long one."""
    return token if len(token) <= _SHOWN else f"{token[:_SHOWN]}... ({len(token)} characters)"


class TextError(Exception):
    """Text that is not as it should be.

    Attributes:
        at: Its offset.
        legal: What would be, or empty.
    """

    def __init__(self, message: str, at: int, legal: str = "") -> None:
        super().__init__(message)
        self.at, self.legal = at, legal


@dataclass(slots=True)
class Item:
    """An operand or a word.

    Attributes:
        kind: ``"value"``, ``"word"``, ``"number"`` or ``"string"``.
        text: As written; of a word in ``#pto.x<word>`` or ``<word>`` the word, of a string what
            is in it.
        at: Offset in the file.
        key: ``key`` of ``key = item``.
    """

    kind: str
    text: str
    at: int
    key: str = ""


class Tokens(ABC):
    """Tokens of a text from an offset on. Types and attributes are of the classes derived."""

    __slots__ = ("at", "before", "kind", "next", "text", "value")

    def __init__(self, text: str, at: int) -> None:
        """Begins with the token at or after an offset."""
        self.text = text
        self.next = at
        self.advance()

    def advance(self) -> None:
        """Advances to the next token."""
        self.before = self.next
        match = TOKEN.match(self.text, self.next)
        assert match is not None, "the last alternative matches any character"
        self.kind = match.lastgroup
        self.value = match[self.kind or 0]
        self.next = match.end()
        self.at = self.next - len(self.value)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises the error of a text that is not as it should be."""
        if self.kind == "other" and at is None:
            begin = self.text.rfind("%", self.at - MOST_CHARACTERS, self.at + 1)
            name = NAME.match(self.text, begin) if begin >= 0 else None
            if name and name.end() > self.at and not name[0].isascii():
                legal = "% and letters a..z A..Z, digits, $ . _ -"
                raise TextError(f"{name[0]!r} is not a name of a value", begin, legal)
        raise TextError(message, self.at if at is None else at)

    def found(self) -> str:
        """Describes the current token."""
        if self.value == '"':
            return "a string without a closing sign"
        return "the end of the file" if self.kind == "end" else repr(shown(self.value))

    def is_next_op(self) -> bool:
        """Returns whether another op begins here, or the region or file ends."""
        if self.kind == "word":
            return "." in self.value or self.value == "return"
        if self.kind == "value":
            return RESULTS.match(self.text, self.at) is not None
        return self.kind == "end" or self.value == "}"

    def take(self, mark: str) -> bool:
        """Skips ``mark`` if it is here."""
        if self.value != mark or self.kind not in ("mark", "arrow"):
            return False
        self.advance()
        return True

    def expect(self, mark: str, after: str) -> None:
        """Skips ``mark``, which must be here."""
        if not self.take(mark):
            self.fail(f"expected {mark!r} {after}, found {self.found()}")

    def word(self, what: str) -> str:
        """Reads a word, plain, as a string, or in ``<word>`` or ``#pto.x<word>``."""
        if self.kind in ("word", "string"):
            word = self.value.strip('"')
            self.advance()
            return word
        if self.kind == "hash":
            alias = self.alias(self.value)
            self.advance()
            if alias:
                return alias
        if not self.take("<"):
            self.fail(f"expected {what}, found {self.found()}")
        word = self.word(what)
        self.expect(">", f"after {word}")
        return word

    def item(self) -> Item:
        """Reads an operand or a word."""
        at, kind = self.at, self.kind
        if self.kind == "number" and len(self.value) > MOST_CHARACTERS:
            legal = f"at most {MOST_CHARACTERS} characters"
            raise TextError(f"a number of {len(self.value)} characters", self.at, legal)
        if kind in ("value", "number"):
            item = Item(kind, self.value, at)
            self.advance()
            return item
        return Item("string" if kind == "string" else "word", self.word("an operand"), at)

    def alias(self, name: str) -> str:
        """Returns the word that an alias of an attribute stands for, or nothing."""
        del name
        return ""

    @abstractmethod
    def type(self) -> Any:
        """Reads a type."""

    @abstractmethod
    def attribute_dictionary(self) -> dict[str, Any]:
        """Reads ``{...}`` if it is here."""
