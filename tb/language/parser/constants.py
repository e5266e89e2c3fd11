# SPDX-License-Identifier: Apache-2.0
"""Plain integer constants, half of the ops of most programs, read without xdsl's parser.

``%name = arith.constant 128 : i64`` takes xdsl a dozen tokens and six objects. One that is not
plain, or not in the range of its type, is left to it: it has the messages.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType

_PLAIN = re.compile(
    r"%([0-9]+|[A-Za-z_$.\-][A-Za-z0-9_$.\-]*)[ \t]*=[ \t]*(arith\.constant)[ \t]+"
    r"(-?[0-9]{1,18})[ \t]*:[ \t]*"
    r"(index|i64|i32|i16|i8)(?=[ \t]*(?:\n|//|\}))"
)
_BITS = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8}


class Plain(NamedTuple):
    """A plain constant: its op, the name of its result, and offsets of the op and of its end."""

    op: ConstantOp
    name: str
    at: int
    end: int


def plain_constant(text: str, at: int) -> Plain | None:
    """Returns the constant whose result is named at an offset, None for anything else."""
    found = _PLAIN.match(text, at)
    if found is None:
        return None
    value, kind = int(found[3]), found[4]
    if not -(1 << (_BITS[kind] - 1)) <= value < 1 << (_BITS[kind] - 1):
        return None
    attribute = _attribute(value, kind)
    op = ConstantOp.create(
        result_types=[attribute.type],
        properties={"value": attribute},
    )
    return Plain(op, found[1], found.start(2), found.end())


@cache
def _type(kind: str) -> IndexType | IntegerType:
    return IndexType() if kind == "index" else IntegerType(_BITS[kind])


@cache
def _attribute(value: int, kind: str) -> IntegerAttr[IndexType | IntegerType]:
    return IntegerAttr(value, _type(kind))
