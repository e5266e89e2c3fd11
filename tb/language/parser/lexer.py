# SPDX-License-Identifier: Apache-2.0
"""The lexer of programs: xdsl's, with one pattern for the tokens that programs mostly have."""

from __future__ import annotations

import re

from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
)

_SUFFIX = r"(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)"
_COMMON = re.compile(
    r"(?:\s+|//[^\n]*)*+"  # blanks and comments
    rf"(?:([A-Za-z_][A-Za-z0-9_$.]*)|(%{_SUFFIX})|(!{_SUFFIX})|(->|[:,()}}\[\]<>=]|\{{(?!-#)))",
    re.ASCII,
)
_KINDS = (
    None,
    MLIRTokenKind.BARE_IDENT,
    MLIRTokenKind.PERCENT_IDENT,
    MLIRTokenKind.EXCLAMATION_IDENT,
    None,
)


class ProgramLexer(MLIRLexer):
    """xdsl's lexer; a string that is never closed takes it no longer than another one.

    xdsl looks at a token with a dozen calls. Tokens that ``_COMMON`` has are the same as its own.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> MLIRToken:
        """Returns the next token."""
        found = _COMMON.match(self.input.content, self.pos)
        if found is None:
            return super().lex()
        group = found.lastindex or 0
        start, self.pos = found.span(group)
        kind = _KINDS[group] or KIND_BY_PUNCTUATION_SPELLING[found[group]]
        return MLIRToken(kind, Span(start, self.pos, self.input))
