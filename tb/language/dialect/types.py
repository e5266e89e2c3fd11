# SPDX-License-Identifier: Apache-2.0
"""Types of the pto dialect: pointers, and a placeholder for unknown types."""

from __future__ import annotations

import re
from functools import cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
)
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tb.isa.dtypes import ALL_DTYPES, Ptr

SPACES: dict[str, str] = {
    "gm": "gm",
    **dict.fromkeys(("ub", "vec"), "ub"),
    **dict.fromkeys(("l1", "mat", "cbuf"), "l1"),
    **dict.fromkeys(("l0a", "left"), "l0a"),
    **dict.fromkeys(("l0b", "right"), "l0b"),
    **dict.fromkeys(("l0c", "acc"), "l0c"),
    **dict.fromkeys(("bt", "bias"), "bt"),
    **dict.fromkeys(("fb", "scaling"), "fb"),
}
"""Space of every keyword, aliases of spec/README.md included."""

ELEMENTS: tuple[str, ...] = ("i1", *ALL_DTYPES)
"""Element types that a pointer may have; which of them an op moves is a matter of its rules."""

_POINTER = re.compile(
    r"<\s*(?P<element>!?[\w.]*)\s*"
    r"(?:,\s*(?:#pto\.address_space\s*<\s*(?P<long>\w*)\s*>|(?P<short>[\w.]*))\s*)?>"
)


class PointerTextError(ValueError):
    """Text of a pointer type that is none; ``legal`` lists what would be."""

    def __init__(self, message: str, legal: str) -> None:
        super().__init__(message)
        self.legal = legal


def read_pointer(text: str, position: int) -> tuple[Ptr, int]:
    """Reads ``<element, space>`` of a pointer type that begins at ``position``.

    Returns:
        The pointer, with the first name of its space, and the position after it.

    Raises:
        PointerTextError: the text is no pointer type.
    """
    match = _POINTER.match(text, position)
    if match is None:
        raise PointerTextError(
            "a pointer type is written !pto.ptr<element, space>", "!pto.ptr<f16, gm>"
        )
    element = match["element"].removeprefix("!pto.").removeprefix("!")
    if element not in ELEMENTS:
        raise PointerTextError(
            f"element type {match['element']!r} of a pointer is unknown", ", ".join(ELEMENTS)
        )
    keyword = match["long"] or match["short"]
    if keyword is None:
        raise PointerTextError("the pointer type names no address space", ", ".join(SPACES))
    if keyword not in SPACES:
        raise PointerTextError(
            f"address space {keyword!r} of a pointer is unknown", ", ".join(SPACES)
        )
    return Ptr(element, SPACES[keyword]), match.end()


@irdl_attr_definition
class PtrType(Data[Ptr], TypeAttribute):
    """``!pto.ptr<element, space>``."""

    name = "pto.ptr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Ptr:
        """Reads the part in angle brackets."""
        source = parser.lexer.input
        try:
            pointer, end = read_pointer(source.content, parser.pos)
        except PointerTextError as error:
            span = Span(parser.pos, parser.pos, source)
            raise ParseError(span, f"{error}; legal: {error.legal}") from None
        parser._resume_from(end)
        return pointer

    def print_parameter(self, printer: Printer) -> None:
        """Writes the part in angle brackets."""
        printer.print_string(f"<{self.data.dtype}, {self.data.space}>")


@irdl_attr_definition
class OpaqueType(Data[str], TypeAttribute):
    """``!pto_dv.opaque<"op">``: type of a result of an op with an unknown grammar."""

    name = "pto_dv.opaque"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Reads the name of the op."""
        with parser.in_angle_brackets():
            return parser.parse_str_literal()

    def print_parameter(self, printer: Printer) -> None:
        """Writes the name of the op."""
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data)


@cache
def pointer_type(pointer: Ptr) -> PtrType:
    """Returns the one type of a pointer."""
    return PtrType(pointer)


WORD_TYPES: dict[str, TypeAttribute] = {
    **{f"i{width}": IntegerType(width) for width in (1, 4, 8, 16, 32, 64)},
    "index": IndexType(),
    "f16": f16,
    "bf16": bf16,
    "f32": f32,
}
"""Types of one word that occur in almost every op."""

_SIGN = {Signedness.SIGNLESS: "i", Signedness.SIGNED: "si", Signedness.UNSIGNED: "ui"}
_FLOATS: dict[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f32",
    Float8E4M3FNType: "f8E4M3FN",
}


def type_name(kind: Attribute) -> str:
    """Returns a type as text, such as ``i64``, ``si8``, ``bf16`` or ``!pto.ptr<f16, gm>``."""
    if isinstance(kind, PtrType):
        return str(kind.data)
    if isinstance(kind, IntegerType):
        return f"{_SIGN[kind.signedness.data]}{kind.width.data}"
    return _FLOATS.get(type(kind)) or str(kind)


def is_integer(kind: Attribute) -> bool:
    """Returns whether values of the type are integers: of any width and sign, or ``index``."""
    return isinstance(kind, IntegerType | IndexType)


def is_number(kind: Attribute) -> bool:
    """Returns whether values of the type are integers or floats of a known format."""
    return is_integer(kind) or type(kind) in _FLOATS
