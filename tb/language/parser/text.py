# SPDX-License-Identifier: Apache-2.0
"""Tokens of a program, and the values that it has defined; xdsl reads types and attributes."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer

from tb.language.dialect.types import (
    UNKNOWN_TYPE_LEGAL,
    WORD_TYPES,
    alias_in,
    pointer_type,
    unknown_type,
)
from tb.language.grammar.pointers import PointerTextError, read_pointer
from tb.language.grammar.tokens import SYMBOL, TextError, Tokens
from tb.language.parser.foreign import UnclosedError, closing

_T = TypeVar("_T")


class _Lexer(MLIRLexer):
    """xdsl's lexer; a string that is never closed takes it no longer than another one."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class Use(NamedTuple):
    """A value as written: its name without ``%``, its number among results, and its offset."""

    name: str
    number: int
    at: int


class Argument(NamedTuple):
    """An argument of a block: its name without ``%``, its type, and its offset."""

    name: str
    type: Attribute
    at: int


class ProgramText(Tokens):
    """Tokens of a program.

    Attributes:
        attribute_aliases: What ``!name`` and ``#name`` of the file stand for.
        ssa_values: Values by name, without ``%``, that an op may use here.
        notes: Remarks on ops without an error: name of the op, sentence, offset.
        op_at: Offset of the name of the op that is read.
    """

    def __init__(self, text: str, file: str, dialects: Context) -> None:
        """Begins at the start of the text."""
        self.attribute_aliases: dict[str, Attribute] = {}
        self.ssa_values: dict[str, Sequence[SSAValue]] = {}
        self.notes: list[tuple[str, str, int]] = []
        self.op_at = 0
        self._input = Input(text, file)
        self._theirs = Parser(dialects, "", file)
        self._theirs.attribute_aliases = self.attribute_aliases
        super().__init__(text, 0)

    def go_to(self, offset: int) -> None:
        """Continues with the token at or after an offset."""
        self.next = offset
        self.advance()

    def expected(self, what: str) -> NoReturn:
        """Raises the error of a token that is not what is expected."""
        self.fail(f"expected {what}, found {self.found()}")

    def keyword(self, word: str) -> bool:
        """Skips a word if it is here."""
        if self.kind != "word" or self.value != word:
            return False
        self.advance()
        return True

    def symbol(self) -> str:
        """Reads ``@name``."""
        found = SYMBOL.match(self.text, self.at)
        if found is None:
            self.expected("the name of a symbol, such as @kernel")
        self.go_to(found.end())
        return found[1] or found[2]

    def alias(self, name: str) -> str:
        """Returns the word that an alias of an attribute stands for, or nothing."""
        found = self.attribute_aliases.get(name)
        return found.value.data.strip("<> ") if isinstance(found, UnregisteredAttr) else ""

    # --- types and attributes --------------------------------------------------------------------

    def _read(self, read: Callable[[Parser], _T]) -> _T:
        """Returns what xdsl's parser reads from the current token on."""
        lexer = _Lexer(self._input)
        lexer.pos = self.at
        self._theirs._parser_state = ParserState(lexer)
        found = read(self._theirs)
        self.go_to(self._theirs.pos)
        return found

    def attribute(self) -> Attribute:
        """Reads an attribute."""
        return self._read(Parser.parse_attribute)

    def attribute_dictionary(self) -> dict[str, Attribute]:
        """Reads ``{...}`` if it is here."""
        return self._read(Parser.parse_optional_attr_dict) if self.value == "{" else {}

    def properties(self) -> dict[str, Attribute]:
        """Reads ``<{...}>`` if it is here."""
        return self._read(Parser.parse_optional_properties_dict) if self.value == "<" else {}

    def type(self) -> Attribute:
        """Reads a type that an operand may have: a number, a pointer or a memref."""
        at, found = self.at, self.any_type()
        if unknown := unknown_type(found):
            raise TextError(f"type {unknown}", at, UNKNOWN_TYPE_LEGAL)
        return found

    def any_type(self) -> Attribute:
        """Reads a type, also one that no op here knows."""
        if self.kind == "word" and self.value in WORD_TYPES:
            kind: Attribute = WORD_TYPES[self.value]
            self.advance()
            return kind
        if self.value == "!pto.ptr" or (self.kind == "mark" and self.value == "<"):
            begin = self.at if self.value == "<" else self.next
            try:
                pointer, end = read_pointer(self.text, begin, alias_in(self.attribute_aliases))
            except PointerTextError as error:
                raise TextError(str(error), self.at, error.legal) from None
            self.go_to(end)
            return pointer_type(pointer)
        found = None if self.kind == "other" else self._read(Parser.parse_optional_type)
        if found is None:
            self.expected("a type")
        return found

    def types(self) -> list[Attribute]:
        """Reads ``(T, ...)``, or one type."""
        if not self.take("("):
            return [self.any_type()]
        kinds: list[Attribute] = []
        while not self.take(")"):
            if kinds:
                self.expect(",", "or ')' after a type")
            kinds.append(self.any_type())
        return kinds

    def types_of(self, uses: Sequence[Use]) -> list[SSAValue]:
        """Reads ``: T, ...``, a type for each of the values; nothing where there are none."""
        if not uses:
            return []
        self.expect(":", "and the types of the operands")
        at, kinds = self.at, [self.any_type()]
        while self.take(","):
            kinds.append(self.any_type())
        return self.resolved(uses, kinds, at)

    # --- values ----------------------------------------------------------------------------------

    def use(self) -> Use:
        """Reads a value."""
        if self.kind != "value":
            self.expected("an SSA value")
        name, _, number = self.value[1:].partition("#")
        found = Use(name, int(number or 0), self.at)
        self.advance()
        return found

    def uses(self, end: str = "") -> list[Use]:
        """Reads values separated by commas, and the bracket that ends them; none is legal."""
        found: list[Use] = []
        while not self.take(end) if end else self.kind == "value" or found:
            if found and not self.take(","):
                if end:
                    self.expect(end, "or ',' after a value")
                break
            found.append(self.use())
        return found

    @abstractmethod
    def resolve(self, use: Use, kind: Attribute) -> SSAValue:
        """Returns the value of a use that is written with a type."""

    def resolved(self, uses: Sequence[Use], kinds: Sequence[Attribute], at: int) -> list[SSAValue]:
        """Returns the values of uses that are written with the types at an offset."""
        if len(uses) != len(kinds):
            message = f"{len(uses)} operands are written with {len(kinds)} types"
            raise TextError(message, at)
        return [self.resolve(use, kind) for use, kind in zip(uses, kinds, strict=True)]

    def skip_location(self) -> bool:
        """Skips ``loc(...)`` if it is here: places are those of the file that is read."""
        if self.value != "loc" or not self.text.startswith("(", self.next):
            return False
        try:
            self.go_to(closing(self.text, self.next))
        except UnclosedError as error:
            self.fail(str(error), error.at)
        return True

    def operand(self, kind: Attribute) -> SSAValue:
        """Reads a value of a type."""
        return self.resolve(self.use(), kind)

    @abstractmethod
    def region(self, arguments: Sequence[Argument] = ()) -> Region:
        """Reads ``{ ops }``; its first block has the arguments."""
