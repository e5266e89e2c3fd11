# SPDX-License-Identifier: Apache-2.0
"""Ops as text in parts: operands with their clause, their type and their value.

An operand is a number, a name that says its value as those of reports do, or a name with a value
that the user gives. Types may be left out; they are then those of the op's table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tb.common.errors import PtoError
from tb.isa.dtypes import ELEMENT_BYTES, NIBBLE_DTYPES
from tb.language.literal.operands import Operand, halves
from tb.language.literal.operands import operands as operands_of
from tb.language.literal.typed import default_types, type_list

WHERE = "the op"

_START = re.compile(
    r'(?<![\w%.])"?(?:pto\.)?(?=(?:mte|copy|set|load_cbuf|raw_fill|create_cbuf)_\w)'
    r'|(?:^|(?<=;))[ \t]*(?:%[^=;\n]*=[ \t]*)?"?'
    r"(?:pto\.(?=[A-Za-z])|(?=(?:mad\w*|wait_flag|barrier)\b))",
    re.MULTILINE,
)
NAME = re.compile(r'(?:%[^=]*=\s*)?"?(?:pto\.)?([A-Za-z][\w.]*)"?')
_SUB_BLOCK = re.compile(r"//\s*ub_sub\s+([01])\s*$", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")
_TYPE = re.compile(
    r"!?[A-Za-z_][\w.]*<(?:[^<>]|<[^<>]*>)*>|<[^<>]*>|![\w.]+|\b(?:[su]?i\d+|b?f\d\w*|index|hif8\w*)\b"
)
_INTEGER = re.compile(r"%c(m?-?\d+)(?:_\w+)?")
_ADDRESS = re.compile(r"%(?:gm|ub|l1|l0[abc]|bt|fb)_(0x[0-9A-Fa-f]+)")
_PATTERN = re.compile(r"%(?:[su]?i\d+|b?f\d+)_(0x[0-9A-Fa-f]+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """An op of a text.

    Attributes:
        name: Its mnemonic without ``pto.``.
        text: What is before the colon of the types.
        begin: Where the operands begin in ``text``.
        operands: Its operands.
        kinds: Their types.
        literals: Their values.
        types: What is after the colon, as written or as it would be.
        sub_block: Vector sub-block of a comment ``// ub_sub 1``.
    """

    name: str
    text: str
    begin: int
    operands: tuple[Operand, ...]
    kinds: tuple[str, ...]
    literals: tuple[str, ...]
    types: str
    sub_block: int

    @property
    def generic(self) -> bool:
        """Whether the name is in quotes: the generic form."""
        return self.text.startswith('"')

    def with_operands(self, names: Sequence[str]) -> str:
        """Returns the op without types, with other names for its operands."""
        parts, last = [], self.begin
        for operand, name in zip(self.operands, names, strict=True):
            parts += [self.text[last : operand.start], name]
            last = operand.end
        name = f'"pto.{self.name}"' if self.generic else f"pto.{self.name}"
        return f"{name}{''.join(parts)}{self.text[last:]}"


class NoValueError(PtoError):
    """A name has no value."""


class Names:
    """Values of names.

    Attributes:
        given: Name with ``%`` to its value, as the user gives them.
        used: Those of them that a text has.
        kinds: Type of every name of the text.
        notes: What is assumed of them.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.given = {f"%{name.lstrip('%')}": value for name, value in values.items()}
        self.used: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.notes: dict[str, None] = {}

    def literal(self, op: str, operand: Operand, kind: str) -> str:
        """Returns the value of an operand as a literal.

        Raises:
            NoValueError: a name has no value.
            PtoError: a name has two types.
        """
        ssa = operand.text
        if not ssa.startswith("%"):
            return ssa
        if self.kinds.setdefault(ssa, kind) != kind:
            message = f"{ssa} has the types {self.kinds[ssa]} and {kind}"
            raise PtoError(message, where=f"{WHERE} {op}")
        if ssa in self.given:
            self.used.add(ssa)
            return self.given[ssa]
        if ssa in ("%true", "%false"):
            return ssa[1:]
        for pattern in (_ADDRESS, _PATTERN, _INTEGER):
            match = pattern.fullmatch(ssa)
            if match:
                return match.group(1).replace("m", "-")
        if "<" in kind:
            self.notes[f"the address of {ssa} is not given: 0 is taken"] = None
            return "0"
        raise NoValueError(
            f"{ssa} has no value",
            where=f"{WHERE} {op}",
            legal="a number in its place, a name that says it such as %c128_i64, or a value",
            remedy=f"add --value {ssa[1:]}=VALUE",
        )

    def check(self) -> None:
        """Checks that every given value is that of a name.

        Raises:
            PtoError: the text has no such name.
        """
        unused = sorted(set(self.given) - self.used)
        if unused:
            raise PtoError(
                f"the text has no {unused[0]}",
                where=f"--value {unused[0].lstrip('%')}={self.given[unused[0]]}",
                legal=", ".join(sorted(self.kinds)) or "names in the text",
            )


def element_types(text: str) -> tuple[str, ...]:
    """Returns the element types of an option, at most two.

    Raises:
        PtoError: a type is unknown, or there are more.
    """
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    legal = (*ELEMENT_BYTES, *NIBBLE_DTYPES)
    for one in found:
        if one not in legal:
            raise PtoError(
                f"element type {one!r} is unknown", where="--element", legal=", ".join(legal)
            )
    if len(found) > 2:
        raise PtoError(
            f"{len(found)} element types", where="--element", legal="one, or SOURCE,DESTINATION"
        )
    return found


def split(text: str) -> Iterator[tuple[str, int]]:
    """Yields each op of a text, and the sub-block of its comment."""
    starts = [match.start() for match in _START.finditer(_COMMENT.sub(_blank, text))]
    for start, stop in pairwise((*starts, len(text))):
        part = text[start:stop]
        sub = _SUB_BLOCK.search(part)
        yield _COMMENT.sub("", part).strip().rstrip(";").rstrip(), int(sub.group(1)) if sub else 0


def statement(
    part: str, sub: int, names: Names, elements: tuple[str, ...], v06: str = ""
) -> Statement:
    """Returns an op of a text.

    Args:
        part: The op.
        sub: The sub-block of its comment (:func:`split`).
        names: Values of names.
        elements: Element types of an op without types.
        v06: The op that a register form stands for, where its name is in no table of ops.

    Raises:
        PtoError: a value or a type is not known.
    """
    before, after = halves(part)
    match = NAME.match(before)
    assert match is not None, "a statement begins with its name"
    name = match.group(1)
    operands = operands_of(before, match.end())
    written = [one.group() for one in _TYPE.finditer(after.partition("->")[0])]
    if after and len(written) != len(operands):
        raise PtoError(
            f"{len(operands)} operands are written with {len(written)} types",
            where=f"{WHERE} {name}",
            legal="one type for each operand in the order of the text, or none at all",
        )
    kinds = written or default_types(name, before, operands, elements, v06)
    literals = tuple(
        names.literal(name, operand, kind) for operand, kind in zip(operands, kinds, strict=True)
    )
    types = after or type_list(before, operands, kinds)
    return Statement(name, before, match.end(), tuple(operands), tuple(kinds), literals, types, sub)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
