# SPDX-License-Identifier: Apache-2.0
"""Tokens of ops whose operands are numbers or names."""

from __future__ import annotations

import re
from typing import Any

from tb.isa.dtypes import Ptr
from tb.language.grammar.pointers import MEMREF_SPACES, SPACES, PointerTextError, read_pointer
from tb.language.grammar.tokens import Item, TextError, Tokens
from tb.language.run.values import Kind, kind_of

_OPEN, _CLOSE = "([{<", ")]}>"
_MEMREF = re.compile(
    r"memref<(?:[\d?]+x)*(?:!pto\.)?(?P<element>\w+)(?:,\s*strided<[^<>]*>)?"
    r"(?:,\s*(?:(?P<number>\d)(?:\s*:\s*\w+)?|#pto\.address_space<\s*(?P<word>\w+)\s*>))?\s*>"
)


class LiteralTokens(Tokens):
    """Tokens of one op; ``true`` and ``false`` are numbers."""

    __slots__ = ()

    def advance(self) -> None:
        """Advances to the next token."""
        super().advance()
        if self.kind == "word" and self.value in ("true", "false"):
            self.kind = "number"

    def close(self, mark: str) -> int:
        """Goes after the bracket that closes one, whose mark is here; returns the offset there."""
        depth = 0
        while True:
            if self.kind in ("end", None):
                self.fail(f"{mark!r} is never closed")
            depth += (self.value in _OPEN) - (self.value in _CLOSE) if self.kind == "mark" else 0
            end = self.next
            self.advance()
            if not depth:
                return end

    def type(self) -> Kind:
        """Reads a type."""
        start, end = self.at, self.next
        if self.value in ("!pto.ptr", "<"):
            try:
                pointer, self.next = read_pointer(self.text, start if self.value == "<" else end)
            except PointerTextError as error:
                raise TextError(str(error), start, error.legal) from None
            self.advance()
            return kind_of(str(pointer), pointer)
        if self.kind not in ("word", "bang"):
            self.fail(f"expected a type, found {self.found()}")
        self.advance()
        if self.value == "<":
            end = self.close("<")
        name = self.text[start:end]
        return kind_of(name, _memory(name))

    def attribute_dictionary(self) -> dict[str, Any]:
        """Reads ``{name = value : type, name, ...}`` if it is here."""
        found: dict[str, Any] = {}
        if not self.take("{"):
            return found
        while not self.take("}"):
            name = self.word("the name of an attribute")
            found[name] = self._attribute() if self.take("=") else True
            if self.take(":"):
                self.type()
            if not self.take(",") and self.value != "}":
                self.fail(f"expected '}}' or ',', found {self.found()}")
        return found

    def _attribute(self) -> Any:
        """Reads the value of an attribute; one of several numbers is a list."""
        item = self.item()
        if item.text != "array" or not self.take("<"):
            return value_of(item.text) if item.kind == "number" else item.text
        numbers = []
        self.type()
        self.take(":")
        while not self.take(">"):
            if self.kind != "number":
                self.fail(f"expected a number, found {self.found()}")
            numbers.append(value_of(self.item().text))
            self.take(",")
        return numbers

    def generic(self) -> tuple[list[Item], list[Kind], dict[str, Any]]:
        """Reads ``(operands) <{..}> {..} : (types) -> ()``.

        Returns:
            Operands, their types, and the attributes.
        """
        operands: list[Item] = []
        kinds: list[Kind] = []
        given: dict[str, Any] = {}
        self.expect("(", "and the operands")
        while not self.take(")"):
            operands.append(self.item())
            if not self.take(",") and self.value != ")":
                self.fail(f"expected ')' or ',', found {self.found()}")
        while self.value in ("<", "{"):
            properties = self.take("<")
            given |= self.attribute_dictionary()
            if properties:
                self.expect(">", "after the properties")
        self.expect(":", "and the types of the op: (operands) -> (results)")
        self.expect("(", "and the types of the operands")
        while not self.take(")"):
            kinds.append(self.type())
            self.take(",")
        return operands, kinds, given


def _memory(text: str) -> Ptr | None:
    """Returns where a memref begins, or None for any other type."""
    found = _MEMREF.fullmatch(text)
    if found is None:
        return None
    space = SPACES.get(found["word"] or "")
    if not found["word"]:
        space = MEMREF_SPACES[int(found["number"] or 0)] if found["number"] != "9" else None
    return Ptr(found["element"], space) if space else None


def value_of(text: str) -> int | bool | str:
    """Returns an integer or a truth value; another number stays text."""
    if text in ("true", "false"):
        return text == "true"
    return text if "." in text else int(text, 0)
