# SPDX-License-Identifier: Apache-2.0
"""Values of the operands of single ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tb.common.errors import PtoError
from tb.common.text import one_of
from tb.language.run.values import FLOAT, Kind, rounded_bits


class _Constant:
    name = "arith.constant"


@dataclass(frozen=True, slots=True)
class Value:
    """An operand: its number or bits, how numbers of its type are held, and its name."""

    number: int
    kind: Kind
    name_hint: str = ""

    @property
    def owner(self) -> Any:
        """What makes it: a constant."""
        return _Constant


def value(op: str, name: str, literal: str, kind: Kind) -> Value:
    """Returns the value of an operand.

    Args:
        op: Name of the op.
        name: The operand as written.
        literal: An integer, a truth value, a float, or the bits of one in hexadecimal.
        kind: Its type.

    Raises:
        PtoError: the literal is none of the type.
    """
    where = f"the op {op}, {name}"
    hint = name[1:] if name.startswith("%") else ""
    if literal in ("true", "false"):
        return Value(int(literal == "true"), kind, hint)
    hexadecimal = literal.lower().startswith("0x")
    try:
        if kind.sort == FLOAT and not hexadecimal:
            bits = rounded_bits(float(literal), kind.name)
            if bits is not None:
                return Value(bits, kind, hint)
        number = int(literal, 0)
    except ValueError:
        if kind.sort == FLOAT:
            what, legal = f"number of type {kind.name}", "1.5, or its bits such as 0x3C00"
        else:
            what, legal = "integer", "128 or 0x80"
        raise PtoError(
            f"{literal!r} is not {one_of(what)}",
            where=where,
            legal=f"a number such as {legal}",
            remedy="write the types, or add --element, if it is a float" if "." in literal else "",
        ) from None
    low = 0 if hexadecimal or kind.bits == 1 else -((1 << kind.bits) >> 1)
    if kind.bits and not low <= number <= kind.mask:
        legal = f"{low}..{kind.mask} ({kind.name})"
        raise PtoError(f"{literal} has more bits than its type", where=where, legal=legal)
    return Value(number, kind, hint)
