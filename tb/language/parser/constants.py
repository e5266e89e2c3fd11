# SPDX-License-Identifier: Apache-2.0
"""Constants: those that are read without xdsl's parser, and bits that it does not keep.

Plain integer constants are half of the ops of most programs.

``%name = arith.constant 128 : i64`` takes xdsl a dozen tokens and six objects. One that is not
plain, or not in the range of its type, is left to it: it has the messages.
"""

from __future__ import annotations

import re
from functools import cache
from math import isnan
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntAttr, IntegerAttr, IntegerType
from xdsl.ir import Operation

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


BITS = "pto_dv.bits"
"""Attribute of a constant with the bits of its NaN: the float that xdsl holds has others."""

_HEXADECIMAL = re.compile(r"(0x[0-9A-Fa-f]+)\s*:\s*b?f\d+\b")


def keep_bits(op: Operation, text: str, begin: int, end: int) -> None:
    """Notes the bits of a NaN that is written in hexadecimal.

    Args:
        op: An op.
        text: The file.
        begin: Offset at which the op begins.
        end: Offset at which it has ended.
    """
    value = op.properties.get("value")
    if isinstance(op, ConstantOp) and isinstance(value, FloatAttr) and isnan(value.value.data):
        found = _HEXADECIMAL.search(text, begin, end)
        if found is not None:
            op.attributes[BITS] = IntAttr(int(found[1], 16))


@cache
def _type(kind: str) -> IndexType | IntegerType:
    return IndexType() if kind == "index" else IntegerType(_BITS[kind])


@cache
def _attribute(value: int, kind: str) -> IntegerAttr[IndexType | IntegerType]:
    return IntegerAttr(value, _type(kind))
