# SPDX-License-Identifier: Apache-2.0
"""Messages of the parser, and those of xdsl in the terms of ``.pto`` text."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import ParseError

from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.tokens import MOST_CHARACTERS, TextError, shown
from tb.language.run.values import INDEX_BITS

_LITERAL = re.compile(r"arith\.constant\s+(-?[\w.]+(?:(?<=[eE])[+-]\d+)?)\s*:\s*(\w+)", re.ASCII)
_EXPONENT = re.compile(r"(-?\d+)([eE][+-]?\d+)")

_FLOATS: dict[str, tuple[int, float, str]] = {
    "f16": (16, 65520.0, "65504.0"),
    "bf16": (16, (2 - 2.0**-8) * 2.0**127, "3.3895e38"),
    "f32": (32, (2 - 2.0**-24) * 2.0**127, "3.4028e38"),
}
"""Bits of a float, the number from which on it is rounded to infinity, its largest as text."""
_INFINITY = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000"}

_SENTENCES = (
    (re.compile(r"float too large to pack.*"), "a float is larger than its type can hold"),
    (re.compile(r"int too big to convert"), "a literal has more bits than its type"),
    (re.compile(r"Exceeds the limit \((\d+) digits\).*"), r"a number has more than \1 digits"),
)


def sentence(message: str) -> str:
    """Returns a message of xdsl as one line, in our words where it has none."""
    line = " ".join(message.split())
    found = ((pattern.fullmatch(line), words) for pattern, words in _SENTENCES)
    return next((match.expand(words) for match, words in found if match), line)


def fault_of(error: Exception, at: int = 0) -> Fault:
    """Returns the message of a parser; the legal range follows ``; legal:``.

    Args:
        error: What xdsl has raised.
        at: Offset of the op, for an error without a place.
    """
    if isinstance(error, TextError):
        return Fault(str(error), at=error.at, legal=error.legal)
    if not isinstance(error, ParseError):
        return Fault(sentence(str(error)) or "is wrong", at=at)
    message, _, legal = error.msg.strip().partition("; legal: ")
    if "{first_char}" in message:
        sign = error.span.input.content[error.span.start : error.span.start + 1]
        message = f"expected a name right after the sign {sign!r}"
        legal = "a comment begins with //" if sign == "#" else ""
    return Fault(sentence(message), at=error.span.start, legal=legal)


def check_literal(text: str, at: int) -> None:
    """Checks the literal of an ``arith.constant`` at an offset.

    Raises:
        OpError: it is none of its type.
    """
    found = _LITERAL.match(text, at)
    if found is None:
        return
    literal, kind = found.groups()
    place = found.start(1)
    exponent = _EXPONENT.fullmatch(literal)
    if exponent and "x" not in literal:
        legal = f"{exponent[1]}.0{exponent[2]}"
        raise OpError(Fault(f"{literal} lacks the dot of a float", at=place, legal=legal))
    hexadecimal = literal.removeprefix("-").startswith("0x")
    short = shown(literal)
    integer = re.fullmatch(r"i(\d{1,3})|index", kind, re.ASCII)
    if integer and not hexadecimal and "." in literal:
        message = f"{short} is not an integer, and its type is {kind}"
        raise OpError(Fault(message, at=place, legal="an integer, or a float type such as f32"))
    if integer and re.fullmatch(r"-?(?:0x[0-9A-Fa-f]+|\d+)", literal, re.ASCII):
        width = int(integer[1] or INDEX_BITS)
        low, high = -((1 << width) >> 1), (1 << width) - 1
        long = len(literal) > MOST_CHARACTERS
        if long or not low <= int(literal, 16 if hexadecimal else 10) <= high:
            raise OpError(
                Fault(f"{short} is out of range for type {kind}", at=place, legal=f"{low}..{high}")
            )
    if kind not in _FLOATS:
        return
    bits, most, largest = _FLOATS[kind]
    try:
        if hexadecimal and int(literal, 16) >> bits:
            legal = f"0x and up to {bits // 4} digits"
            raise OpError(Fault(f"{short} has more bits than {kind}", at=place, legal=legal))
        if hexadecimal or abs(float(literal)) < most:
            return
    except ValueError:
        return
    legal = f"numbers up to {largest}; infinity is {_INFINITY[kind]}"
    raise OpError(Fault(f"{short} is larger than {kind} can hold", at=place, legal=legal))


def sentence_of_call(op: Operation, message: str) -> str:
    """Returns what is wrong with a call; of numbers, what the function has and what is given."""
    found = re.fullmatch(r"incorrect number of (operands|results) for callee", message)
    callee = op.properties.get("callee")
    if found is None or not isinstance(callee, SymbolRefAttr):
        return message
    function = SymbolTable.lookup_symbol(op, callee)
    assert isinstance(function, FuncOp), "else another message"
    name, kind = function.sym_name.data, function.function_type
    if found[1] == "operands":
        return f"@{name} takes {len(kind.inputs)} operands, not {len(op.operands)}"
    return f"@{name} has {len(kind.outputs)} results, not {len(op.results)}"
