# SPDX-License-Identifier: Apache-2.0
"""Regular expressions for the start of common lines, faster than tokens."""

from __future__ import annotations

import re
from functools import lru_cache

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tb.language.dialect.types import WORD_TYPES

_BLANK = r"(?>(?:\s+|//[^\n]*)*)"
PLAIN = re.compile(
    rf"{_BLANK}(?:(%(?:\d+|[a-zA-Z$._-][\w$.-]*)){_BLANK}={_BLANK})?([A-Za-z_][\w$]*\.[\w$.]+)",
    re.ASCII,
)
"""An op with one result or none, and a name with a dot."""
INTEGER = re.compile(
    rf"{_BLANK}(?:(-?(?:0x[0-9a-fA-F]+|\d+))\s*:\s*(i\d+|index)|(true|false))(?![\w$.])", re.ASCII
)
LOCATION = re.compile(rf"{_BLANK}loc\s*\(", re.ASCII)


@lru_cache(maxsize=65536)
def integer(text: str, kind: str | None) -> tuple[IntegerAttr | None, Attribute]:
    """Returns an integer literal of a type, or None when xdsl has to say what is wrong."""
    width = WORD_TYPES.get(kind or "i1")
    if not isinstance(width, IntegerType | IndexType):
        return None, IndexType()
    try:
        if kind is None:
            return IntegerAttr(text == "true", width), width
        return IntegerAttr(int(text, 0), width), width
    except (VerifyException, ValueError):
        return None, width
