# SPDX-License-Identifier: Apache-2.0
"""Syntax common to all ops of the pto dialect, read without its meaning.

``pto.name operands clauses {attributes} : types {attributes}``: operands are SSA values and a few
words, a clause is a word with or without parentheses, types are in the order of the values.
The grammar of each op is in :mod:`tb.language.dialect.moves`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NoReturn

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tb.isa.nz.table import MODES
from tb.language.dialect.types import (
    UNKNOWN_TYPE_LEGAL,
    WORD_TYPES,
    PointerTextError,
    pointer_type,
    read_pointer,
    unknown_type,
)

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

TYPE_WORDS: frozenset[str] = frozenset(
    ("nburst", "loop", "pad", "shape", "src_layout", "dst_group", "ctrl", "nd2nz", "dn2nz")
) | frozenset(("pre_quant", "pre_relu", "clip", "nz2nd", "nz2dn", "nz2nz", "loop3", "split"))
"""Words between the types: the following types belong to the clause of that name."""


RESULTS = re.compile(r"%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?!=)", re.ASCII)
"""Results of an op, with the sign after them."""

_ALONE: frozenset[str] = frozenset((*MODES, "nz2nd", "nz2dn", "nz2nz"))
"""Words of these that may have no type of their own."""

_BARE = TYPE_WORDS | {"sat", "nosat", "unit_flag", "pre_relu", "atomic"}
"""Names of clauses; another word without parentheses before an operand lacks its ``%``."""

_TYPE = re.compile(
    r"(?:s|u)?i\d+|b?f\d\w*|tf32|index|none|vector|memref|tensor|tuple|complex", re.ASCII
)
"""Words that are types; another one among the types is taken for that of a clause."""


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


@dataclass(slots=True)
class Clause:
    """A word after the operands, with the contents of its parentheses, if it has any.

    ``comma`` tells whether a comma is before it, ``mark`` is ``(`` or ``=`` after its name, or
    nothing.
    """

    name: str
    at: int
    items: list[Item] = field(default_factory=list)
    comma: bool = False
    mark: str = ""

    @property
    def values(self) -> list[Item]:
        """Its items without a key."""
        return [item for item in self.items if not item.key]

    def keyed(self, key: str) -> list[Item]:
        """Its items after ``key =``."""
        return [item for item in self.items if item.key == key]


@dataclass(slots=True)
class OpText:
    """An op as written.

    Attributes:
        name: Without ``pto.``.
        at: Offset of the name in the file.
        head: Operands before the clauses.
        clauses: In the order of the text.
        types: Those after the colon with their offsets.
        words: Words between them, with their offsets.
        attributes: Attribute dictionaries, before and after the types.
    """

    name: str
    at: int
    head: list[Item] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)
    types: list[tuple[Attribute, int]] = field(default_factory=list)
    words: list[tuple[str, int]] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)


def standing(parser: Parser) -> int:
    """Returns the offset of a parser: at its next token, or before it."""
    offset = getattr(parser, "offset", None)
    return parser.pos if offset is None else int(offset)


class Scanner:
    """Tokens of a parser's text from its offset on; :meth:`close` sets the offset of the parser."""

    __slots__ = ("at", "before", "kind", "next", "parser", "text", "value")

    def __init__(self, parser: Parser) -> None:
        """Begins at the parser's current token."""
        self.parser = parser
        self.text = parser.lexer.input.content
        self.next = standing(parser)
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

    def close(self) -> None:
        """Sets the parser to the offset of this scanner."""
        self.parser._resume_from(self.at)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises the error of a text that is not as it should be."""
        position = self.at if at is None else at
        raise ParseError(Span(position, position, self.parser.lexer.input), message)

    def found(self) -> str:
        """Describes the current token."""
        return "the end of the file" if self.kind == "end" else repr(self.value)

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

    def word(self, what: str) -> str:
        """Reads a word, plain, as a string, or in ``<word>`` or ``#pto.x<word>``."""
        if self.kind in ("word", "string"):
            word = self.value.strip('"')
            self.advance()
            return word
        if self.kind == "hash":
            alias = self.parser.attribute_aliases.get(self.value)
            self.advance()
            if isinstance(alias, UnregisteredAttr):
                return alias.value.data.strip("<> ")
        if not self.take("<"):
            self.fail(f"expected {what}, found {self.found()}")
        word = self.word(what)
        self.expect(">", f"after {word}")
        return word

    def item(self) -> Item:
        """Reads an operand or a word."""
        at, kind = self.at, self.kind
        if kind in ("value", "number"):
            item = Item(kind, self.value, at)
            self.advance()
            return item
        return Item("string" if kind == "string" else "word", self.word("an operand"), at)


def _clause(scanner: Scanner) -> Clause:
    clause = Clause(scanner.value, scanner.at)
    scanner.advance()
    if scanner.take("="):
        clause.mark = "="
        clause.items.append(scanner.item())
        return clause
    if not scanner.take("("):
        return clause
    clause.mark = "("
    while not scanner.take(")"):
        if clause.items:
            scanner.expect(",", f"or ')' in {clause.name}(...)")
        item = scanner.item()
        if item.kind == "word" and scanner.take("="):
            key = item.text
            item = scanner.item()
            item.key = key
        clause.items.append(item)
    return clause


def _types(scanner: Scanner, text: OpText) -> None:
    """Reads the types; words between them and parentheses around some of them are noted."""
    depth = 0
    while True:
        typed = False
        while scanner.kind == "word" and not _TYPE.fullmatch(scanner.value):
            text.words.append((scanner.value, scanner.at))
            scanner.advance()
            if scanner.take("("):
                depth += 1
                typed = scanner.value == ")"
            elif text.words[-1][0] == "src_layout":
                scanner.fail(f"expected '(' after src_layout in the types, found {scanner.found()}")
            elif text.words[-1][0] not in TYPE_WORDS - _ALONE:
                scanner.take(",")
        if not typed:
            at = scanner.at
            text.types.append((scanner.type(), at))
        while depth and scanner.take(")"):
            depth -= 1
        if not scanner.take(","):
            break
    if scanner.kind == "word" and scanner.value in TYPE_WORDS:
        scanner.fail(f"expected ',' in the types, found {scanner.found()}")
    if depth:
        scanner.fail(f"expected ')' in the types, found {scanner.found()}")


def read_op(
    parser: Parser,
    name: str,
    at: int,
    head_words: Collection[str] = (),
    *,
    commas: bool = False,
    loose: bool = False,
    bare: bool = False,
    apart: bool = False,
    mixed: bool = False,
) -> OpText:
    """Reads an op after its name; the parser is then after it.

    Args:
        parser: Its current token is the one after the name.
        name: Without ``pto.``.
        at: Offset of the name.
        head_words: Words among the operands; any other one begins a clause.
        commas: Whether clauses follow commas.
        loose: Whether operands before the clauses may do without commas.
        bare: The op has no operands, and so no types.
        apart: No comma follows a clause.
        mixed: Operands may follow clauses, as a part of the head; the caller refuses them.

    Raises:
        ParseError: the text has another shape.
    """
    scanner = Scanner(parser)
    text = OpText(name, at)
    if bare and (scanner.is_next_op() or scanner.kind != "value"):
        if scanner.kind == "mark" and scanner.value == "{":
            text.attributes.update(scanner.attribute_dictionary())
        scanner.close()
        return text
    comma = True
    while scanner.value not in (":", "{") or scanner.kind != "mark":
        if scanner.is_next_op():
            message = f"expected ':' and the types of the operands, found {scanner.found()}"
            scanner.fail(message, scanner.before)
        if scanner.kind == "word" and scanner.value not in head_words:
            if commas and not comma:
                scanner.fail(f"expected ',' before {scanner.value}")
            text.clauses.append(_clause(scanner))
            text.clauses[-1].comma = comma
        elif not comma and not (loose and scanner.kind == "value" and not text.clauses):
            scanner.expect(":", "and the types of the operands, or ','")
        elif text.clauses and text.clauses[-1].name not in _BARE and not text.clauses[-1].items:
            lost = text.clauses[-1]
            scanner.fail(f"{lost.name!r} is no operand: did you mean %{lost.name}?", lost.at)
        elif text.clauses and not mixed:
            scanner.fail(f"expected a clause or ':', found {scanner.found()}")
        else:
            text.head.append(scanner.item())
        comma = scanner.take(",")
        if comma and apart and text.clauses and text.clauses[-1].items:
            scanner.fail(f"expected no ',' after {text.clauses[-1].name}(...)", scanner.before)
    if comma and text.head:
        scanner.fail(f"expected an operand or a clause after ',', found {scanner.found()}")
    text.attributes.update(scanner.attribute_dictionary())
    scanner.expect(":", "and the types of the operands")
    _types(scanner, text)
    text.attributes.update(scanner.attribute_dictionary())
    scanner.close()
    return text
