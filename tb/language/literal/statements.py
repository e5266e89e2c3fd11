# SPDX-License-Identifier: Apache-2.0
"""Ops as text in parts: operands with their name, their type and their value.

An operand is a number, a name with its value in it, as in reports, or a name with a value
that the user gives. Types may be left out; they are then those of the op's table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from tb.common.errors import PtoError
from tb.isa.dtypes import ELEMENT_BYTES, NIBBLE_DTYPES
from tb.isa.grammar import KNOWN_ROWS, PAYLOAD, ROWS, Row
from tb.language.grammar.fault import Fault, OpError
from tb.language.grammar.matching import match as match_text
from tb.language.grammar.operands import (
    SEGMENTS,
    check_choice,
    check_sizes,
    check_type,
    groups_of,
)
from tb.language.grammar.reading import read_op
from tb.language.grammar.tokens import Item, TextError
from tb.language.grammar.written import Written, incomplete, normal
from tb.language.literal.tokens import LiteralTokens
from tb.language.literal.typed import default_types
from tb.language.literal.values import Value, value
from tb.language.run.inputs import BuildError
from tb.language.run.values import NUMBER, Kind

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
_INTEGER = re.compile(r"%c(m?-?\d+)(?:_\w+)?")
_ADDRESS = re.compile(r"%(?:gm|ub|l1|l0[abc]|bt|fb)_(0x[0-9A-Fa-f]+)")
_PATTERN = re.compile(r"%(?:[su]?i\d+|b?f\d+)_(0x[0-9A-Fa-f]+)")


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

    def values(self, op: str, items: Sequence[Item], kinds: Sequence[Kind]) -> list[Value]:
        """Returns the values of the operands of an op.

        Raises:
            NoValueError: a name has no value.
            PtoError: a name has two types, or a value is none of its type.
        """
        if len(kinds) != len(items):
            raise PtoError(
                f"{len(items)} operands are written with {len(kinds)} types",
                where=f"{WHERE} {op}",
                legal="one type for each operand in the order of the text, or none at all",
            )
        texts = [item.text for item in items]
        literals = [self._literal(op, *one) for one in zip(texts, kinds, strict=True)]
        return [value(op, *one) for one in zip(texts, literals, kinds, strict=True)]

    def _literal(self, op: str, ssa: str, kind: Kind) -> str:
        if not ssa.startswith("%"):
            return ssa
        known = self.kinds.setdefault(ssa, kind.name)
        if known != kind.name:
            message = f"{ssa} has the types {known} and {kind.name}"
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
        if kind.pointer is not None:
            self.notes[f"the address of {ssa} is not given: 0 is taken"] = None
            return "0"
        raise NoValueError(
            f"{ssa} has no value",
            where=f"{WHERE} {op}",
            legal="a number in its place, a name with the value such as %c128_i64, or a value",
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
) -> Written:
    """Returns an op of a text in its normal form; its operands are of class ``Value``.

    Args:
        part: The op.
        sub: The sub-block of its comment (:func:`split`).
        names: Values of names.
        elements: Element types of an op without types.
        v06: The op that a register form stands for, where its name is in no table of ops.

    Raises:
        PtoError: the text is not an op, or a value or a type is not known.
    """
    match = NAME.match(part)
    assert match is not None, "a statement begins with its name"
    name = match.group(1)
    row = ROWS.get(name) or KNOWN_ROWS.get(name)
    if row is None:
        raise PtoError(f"pto.{name} is unknown", where=WHERE, legal=", ".join(ROWS))
    tokens = LiteralTokens(part, match.end())
    try:
        if part.startswith('"'):
            found = _generic(tokens, row, names)
        else:
            found = _pretty(tokens, row, names, elements, v06)
    except TextError as error:
        raise PtoError(str(error), where=f"{WHERE} {name}", legal=error.legal) from None
    except OpError as error:
        raise error_of(name, error.faults[0]) from None
    if sub:
        found.attributes["ub_sub"] = sub
    return found


def error_of(name: str, fault: Fault | BuildError) -> PtoError:
    """Returns the error of an op with a fault."""
    rule = f"{fault.rule}: " if fault.rule else ""
    return PtoError(f"{rule}{fault.message}", where=f"{WHERE} pto.{name}", legal=fault.legal)


def _generic(tokens: LiteralTokens, row: Row, names: Names) -> Written:
    items, kinds, given = tokens.generic()
    sizes = given.pop(SEGMENTS, None)
    groups = groups_of(row, names.values(row.name, items, kinds), sizes)
    words = {name: given.pop(name) for name in row.words if name in given}
    _check(row, groups, counted=sizes is not None)
    fault = incomplete(row, groups, words)
    if fault is not None:
        raise OpError(fault)
    return replace(normal(row, groups, words), attributes=given)


def _pretty(
    tokens: LiteralTokens, row: Row, names: Names, elements: tuple[str, ...], v06: str
) -> Written:
    reading = match_text(read_op(tokens, row, 0, typed=False), row, literals=True)
    if reading.faults:
        raise OpError(*reading.faults)
    order, given = reading.order, reading.text.attributes
    kinds = [kind for kind, _ in reading.text.types]
    if not kinds:
        named = {id(x): operand for operand, items in reading.groups.items() for x in items}
        usual = default_types(reading, elements, v06)
        kinds = [LiteralTokens(usual[named[id(item)]], 0).type() for item in order]
    made = dict(zip(map(id, order), names.values(row.name, order, kinds), strict=True))
    groups = {name: [made[id(x)] for x in items] for name, items in reading.groups.items()}
    counts = tuple(len(groups.get(group.name, ())) for group in row.groups)
    check_sizes(row, given.pop(SEGMENTS, None), counts)
    _check(row, groups, counted=not reading.old)
    words = {name: given.pop(name) for name in row.attributes if name in given}
    return replace(normal(row, groups, reading.words | words), attributes=given)


def _check(row: Row, groups: Mapping[str, Sequence[Value]], *, counted: bool) -> None:
    """Refuses values of types that an op cannot have, and operands of no complete form.

    Payloads may be numbers of any type, which rules judge (DMA-L03).
    """
    for group in row.groups:
        for one in groups.get(group.name, ()):
            if group.kind != PAYLOAD or one.kind.sort != NUMBER:
                check_type(group, one.kind, one, lambda one: one.number)
    if row.choices:
        check_choice(row, [name for name, held in groups.items() if held], counted=counted)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
