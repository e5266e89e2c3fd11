# SPDX-License-Identifier: Apache-2.0
"""An op in parts, before its row gives them a meaning.

``pto.name operands clauses {attributes} : types {attributes}``: operands are SSA values and a few
words, a clause is a word with or without parentheses, types are in the order of the values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tb.isa.grammar import KNOWN_ROWS, ROWS, Row
from tb.language.grammar.tokens import Item, Tokens

_CLAUSES = tuple(clause for row in (*ROWS.values(), *KNOWN_ROWS.values()) for clause in row.clauses)

TYPE_WORDS: frozenset[str] = frozenset(
    (
        *(clause.name for clause in _CLAUSES if clause.parts),
        *(word for row in ROWS.values() for part in row.head for word in part.legal),
        *("clip", "split", "nz2nd"),
    )
)
"""Words between the types: the following types belong to the clause of that name."""

_ALONE = frozenset(
    (
        *(word for row in ROWS.values() for part in row.head for word in part.legal),
        *(clause.name for clause in _CLAUSES if clause.word == "layout"),
    )
)
"""Words of these that may have no type of their own."""

_BARE = TYPE_WORDS | {clause.name for clause in _CLAUSES if clause.word in ("sat", "layout")}
"""Names of clauses; another word without parentheses before an operand lacks its ``%``."""

_TYPE = re.compile(
    r"(?:s|u)?i\d+|b?f\d\w*|tf32|index|none|vector|memref|tensor|tuple|complex", re.ASCII
)
"""Words that are types; another one among the types is taken for that of a clause."""


@dataclass(slots=True)
class Given:
    """A clause as written.

    Attributes:
        name, at: Its word and its offset.
        items: The contents of its parentheses, if it has any.
        comma: Whether a comma is before it.
        mark: ``(`` or ``=`` after its name, or nothing.
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
    clauses: list[Given] = field(default_factory=list)
    types: list[tuple[Any, int]] = field(default_factory=list)
    words: list[tuple[str, int]] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)


def _clause(scanner: Tokens) -> Given:
    clause = Given(scanner.value, scanner.at)
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


def _types(scanner: Tokens, text: OpText) -> None:
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


def read_op(scanner: Tokens, row: Row, at: int, *, typed: bool = True) -> OpText:
    """Reads an op after its name; the scanner is then after it.

    Args:
        scanner: Its current token is the one after the name.
        row: How the op is written.
        at: Offset of the name.
        typed: Whether the types have to be there.

    Raises:
        TextError: the text has another shape; of a scanner derived, what it raises.
    """
    text = OpText(row.name, at)
    if not row.groups and (scanner.is_next_op() or scanner.kind != "value"):
        if scanner.kind == "mark" and scanner.value == "{":
            text.attributes.update(scanner.attribute_dictionary())
        return text
    loose = row.name.startswith(("mte_", "mad"))
    comma = True
    while scanner.value not in (":", "{") or scanner.kind != "mark":
        if scanner.is_next_op():
            if scanner.kind == "end" and not typed:
                break
            message = f"expected ':' and the types of the operands, found {scanner.found()}"
            scanner.fail(message, scanner.before)
        if scanner.kind == "word" and scanner.value not in row.head_words:
            if row.commas and not comma:
                scanner.fail(f"expected ',' before {scanner.value}")
            text.clauses.append(_clause(scanner))
            text.clauses[-1].comma = comma
        elif not comma and not (loose and scanner.kind == "value" and not text.clauses):
            scanner.expect(":", "and the types of the operands, or ','")
        elif text.clauses and text.clauses[-1].name not in _BARE and not text.clauses[-1].items:
            lost = text.clauses[-1]
            scanner.fail(f"{lost.name!r} is not an operand: did you mean %{lost.name}?", lost.at)
        elif text.clauses and not row.choices:
            scanner.fail(f"expected a clause or ':', found {scanner.found()}")
        else:
            text.head.append(scanner.item())
        comma = scanner.take(",")
        if comma and "nburst" in row.names and text.clauses and text.clauses[-1].items:
            scanner.fail(f"expected no ',' after {text.clauses[-1].name}(...)", scanner.before)
    if comma and text.head:
        scanner.fail(f"expected an operand or a clause after ',', found {scanner.found()}")
    text.attributes.update(scanner.attribute_dictionary())
    if typed or scanner.kind != "end":
        scanner.expect(":", "and the types of the operands")
        _types(scanner, text)
        text.attributes.update(scanner.attribute_dictionary())
    return text
