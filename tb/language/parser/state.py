# SPDX-License-Identifier: Apache-2.0
"""State of a parser that lexes its next token on demand.

Most ops of a program are read off the text by expressions of our own; a token lexed ahead for each
of them would cost more than the op.
"""

from __future__ import annotations

import re

from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Lexer, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind


class ProgramLexer(MLIRLexer):
    """xdsl's lexer; a string that is never closed takes it no longer than another one."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LazyState(ParserState[MLIRTokenKind, str]):
    """The lexer and, once somebody has asked for it, the token before which it stands."""

    def __init__(self, lexer: Lexer[MLIRTokenKind, str]) -> None:
        """Stands at the beginning of the text."""
        self.lexer = lexer
        self.lexer.pos = 0
        self.dialect_stack = ["builtin"]
        self._token: Token[MLIRTokenKind, str] | None = None

    @property
    def current_token(self) -> Token[MLIRTokenKind, str]:
        """The next token."""
        if self._token is None:
            self._token = self.lexer.lex()
        return self._token

    @current_token.setter
    def current_token(self, token: Token[MLIRTokenKind, str]) -> None:
        self._token = token

    def go_to(self, offset: int) -> None:
        """Stands before the token at or behind an offset."""
        self.lexer.pos = offset
        self._token = None

    @property
    def offset(self) -> int:
        """Offset of the next token, or of the blanks before it."""
        return self.lexer.pos if self._token is None else self._token.span.start
