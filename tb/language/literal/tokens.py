# SPDX-License-Identifier: Apache-2.0
"""Tokens of ops whose operands are numbers or names; types stay text."""

from __future__ import annotations

from typing import Any

from tb.language.grammar.tokens import Item, Tokens

_OPEN, _CLOSE = "([{<", ")]}>"


class LiteralTokens(Tokens):
    """Tokens of one op; ``true`` and ``false`` are numbers."""

    __slots__ = ()

    def advance(self) -> None:
        """Advances to the next token."""
        super().advance()
        if self.kind == "word" and self.value in ("true", "false"):
            self.kind = "number"

    def close(self, mark: str) -> int:
        """Goes behind the bracket that closes one, whose mark is here; returns the offset there."""
        depth = 0
        while True:
            if self.kind in ("end", None):
                self.fail(f"{mark!r} is never closed")
            depth += (self.value in _OPEN) - (self.value in _CLOSE) if self.kind == "mark" else 0
            end = self.next
            self.advance()
            if not depth:
                return end

    def type(self) -> str:
        """Reads a type; returns its text."""
        start, end = self.at, self.next
        if self.kind not in ("word", "bang") and self.value != "<":
            self.fail(f"expected a type, found {self.found()}")
        if self.value != "<":
            self.advance()
        if self.value == "<":
            end = self.close("<")
        return self.text[start:end]

    def attribute_dictionary(self) -> dict[str, Any]:
        """Reads ``{name = value : type, name, ...}`` if it is here."""
        found: dict[str, Any] = {}
        if not self.take("{"):
            return found
        while not self.take("}"):
            name = self.word("the name of an attribute")
            found[name] = True
            if self.take("="):
                item = self.item()
                found[name] = value_of(item.text) if item.kind == "number" else item.text
            if self.take(":"):
                self.type()
            if not self.take(",") and self.value != "}":
                self.fail(f"expected '}}' or ',', found {self.found()}")
        return found

    def generic(self) -> tuple[list[Item], list[str]]:
        """Reads ``(operands) <{..}> {..} : (types) -> ()``; returns operands and types."""
        operands: list[Item] = []
        kinds: list[str] = []
        self.expect("(", "and the operands")
        while not self.take(")"):
            operands.append(self.item())
            if not self.take(",") and self.value != ")":
                self.fail(f"expected ')' or ',', found {self.found()}")
        while self.value in ("<", "{"):
            self.close(self.value)
        self.expect(":", "and the types of the op: (operands) -> (results)")
        self.expect("(", "and the types of the operands")
        while not self.take(")"):
            kinds.append(self.type())
            self.take(",")
        return operands, kinds


def value_of(text: str) -> int | bool:
    """Returns an integer, or a truth value."""
    return text == "true" if text in ("true", "false") else int(text, 0)
