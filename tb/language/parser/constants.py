# SPDX-License-Identifier: Apache-2.0
"""Bits of constants that xdsl does not keep."""

from __future__ import annotations

import re
from math import isnan

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntAttr
from xdsl.ir import Operation

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
