# SPDX-License-Identifier: Apache-2.0
"""Tokens of the text that a parser of xdsl reads; types and attributes are read by it."""

from __future__ import annotations

from typing import NoReturn

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tb.language.dialect.types import (
    UNKNOWN_TYPE_LEGAL,
    WORD_TYPES,
    PointerTextError,
    pointer_type,
    read_pointer,
    unknown_type,
)
from tb.language.grammar.tokens import Tokens


def standing(parser: Parser) -> int:
    """Returns the offset of a parser: at its next token, or before it."""
    offset = getattr(parser, "offset", None)
    return parser.pos if offset is None else int(offset)


class Scanner(Tokens):
    """Tokens of a parser's text from its offset on; :meth:`close` sets the offset of the parser."""

    __slots__ = ("parser",)

    def __init__(self, parser: Parser) -> None:
        """Begins at the parser's current token."""
        self.parser = parser
        super().__init__(parser.lexer.input.content, standing(parser))

    def close(self) -> None:
        """Sets the parser to the offset of this scanner."""
        self.parser._resume_from(self.at)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises the error of a text that is not as it should be."""
        position = self.at if at is None else at
        raise ParseError(Span(position, position, self.parser.lexer.input), message)

    def alias(self, name: str) -> str:
        """Returns the word that an alias of an attribute stands for, or nothing."""
        found = self.parser.attribute_aliases.get(name)
        return found.value.data.strip("<> ") if isinstance(found, UnregisteredAttr) else ""

    def attribute_dictionary(self) -> dict[str, Attribute]:
        """Reads ``{...}`` if it is here."""
        if self.value != "{":
            return {}
        self.parser._resume_from(self.at)
        attributes = self.parser.parse_optional_attr_dict()
        self.next = self.parser.pos
        self.advance()
        return attributes

    def type(self) -> Attribute:
        """Reads a type."""
        if self.kind == "word" and self.value in WORD_TYPES:
            kind: Attribute = WORD_TYPES[self.value]
            self.advance()
            return kind
        if self.value == "!pto.ptr" or (self.kind == "mark" and self.value == "<"):
            if self.value == "<":
                self.next = self.at
            try:
                aliases = self.parser.attribute_aliases
                pointer, self.next = read_pointer(self.text, self.next, aliases)
            except PointerTextError as error:
                self.fail(f"{error}; legal: {error.legal}")
            self.advance()
            return pointer_type(pointer)
        at = self.at
        self.parser._resume_from(at)
        found = self.parser.parse_optional_type()
        if found is None:
            self.fail(f"expected a type, found {self.found()}", at)
        if unknown := unknown_type(found):
            self.fail(f"type {unknown}; legal: {UNKNOWN_TYPE_LEGAL}", at)
        self.next = self.parser.pos
        self.advance()
        return found
