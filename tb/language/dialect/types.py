# SPDX-License-Identifier: Apache-2.0
"""Types of the pto dialect: pointers, and a placeholder for unknown types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from math import prod

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    UnregisteredAttr,
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

from tb.isa.dtypes import Ptr, element_bits
from tb.language.grammar.pointers import (
    ELEMENT,
    MEMREF_SPACES,
    SPACES,
    VECTOR,
    PointerTextError,
    read_pointer,
)
from tb.language.run.values import Kind, kind_of


def element_stride(dtype: str) -> int:
    """Returns the bytes from one element of a pointer to the next; 0 where they are none.

    That of a vector is all of it; for ops it has no width (docs/spec/dialect.md, DI-12).
    """
    vector = VECTOR.fullmatch(dtype)
    if not vector:
        return element_bits(dtype) // 8
    if "[" in dtype:
        return 0
    counts = re.findall(r"\d+", dtype[: vector.start("element")])
    return prod(map(int, counts)) * element_bits(vector["element"]) // 8


def unknown_type(kind: Attribute) -> str:
    """Returns which part of a type no op here knows, in words; empty where there is none."""
    inside = kind.element_type if isinstance(kind, MemRefType) else kind
    if not isinstance(inside, UnregisteredAttr) or not inside.is_type.data:
        return ""
    name = type_name(inside)
    return (
        ""
        if ELEMENT.fullmatch(name.removeprefix("!pto."))
        else name + " is unknown" + misspelled(name)
    )


def misspelled(kind: str) -> str:
    """Returns a hint at a type of a similar name, or nothing."""
    name = re.match(r"!pto\.(\w+)", kind)
    if name is None or name[1] == "ptr" or not get_close_matches(name[1], ("ptr",), 1):
        return ""
    return "; did you mean !pto.ptr?"


UNKNOWN_TYPE_LEGAL = "a number, !pto.ptr<element, space> or a memref"


def alias_in(aliases: Mapping[str, Attribute]) -> Callable[[str], str]:
    """Returns the text that a name of a file stands for: an element type or a memory space."""

    def alias(name: str) -> str:
        found = aliases.get(name)
        if isinstance(found, UnregisteredAttr) and not found.is_type.data:
            return found.value.data.strip("<> ")
        return "" if found is None else type_name(found)

    return alias


@irdl_attr_definition
class PtrType(Data[Ptr], TypeAttribute):
    """``!pto.ptr<element, space>``."""

    name = "pto.ptr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Ptr:
        """Reads the part in angle brackets."""
        source = parser.lexer.input
        try:
            pointer, end = read_pointer(
                source.content, parser.pos, alias_in(parser.attribute_aliases)
            )
        except PointerTextError as error:
            span = Span(parser.pos, parser.pos, source)
            raise ParseError(span, f"{error}; legal: {error.legal}") from None
        parser._resume_from(end)
        return pointer

    def print_parameter(self, printer: Printer) -> None:
        """Writes the part in angle brackets."""
        printer.print_string(str(self.data).removeprefix("!pto.ptr"))


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


def pointer_of(kind: Attribute) -> Ptr | None:
    """Returns where values of a type point to: of a pointer, or of a memref to its begin."""
    if isinstance(kind, PtrType):
        return kind.data
    if not isinstance(kind, MemRefType):
        return None
    space, element = kind.memory_space, kind.element_type
    if isinstance(space, NoneAttr):
        keyword = "gm"
    elif isinstance(space, IntegerAttr):
        number = space.value.data
        keyword = MEMREF_SPACES[number] if 0 <= number < len(MEMREF_SPACES) else ""
    elif isinstance(space, UnregisteredAttr) and space.attr_name.data == "pto.address_space":
        keyword = SPACES.get(space.value.data.strip("<> "), "")
    else:
        keyword = ""
    return Ptr(type_name(element).removeprefix("!pto."), keyword) if keyword else None


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
    if isinstance(kind, UnregisteredAttr) and kind.is_type.data:
        inside = kind.value.data
        return f"!{kind.attr_name.data}" + (f"<{inside}>" if inside else "")
    return _FLOATS.get(type(kind)) or str(kind)


def is_integer(kind: Attribute) -> bool:
    """Returns whether values of the type are integers: of any width and sign, or ``index``."""
    return isinstance(kind, IntegerType | IndexType)


@cache
def kind_of_type(kind: Attribute) -> Kind:
    """Returns how values of a type are held."""
    return kind_of(type_name(kind), pointer_of(kind))
