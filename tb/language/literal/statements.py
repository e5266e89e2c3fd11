# SPDX-License-Identifier: Apache-2.0
"""Ops as text in parts: operands with their name, their type and their value.

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
from tb.isa.grammar import KNOWN_ROWS, ROWS
from tb.language.grammar.matching import Reading
from tb.language.grammar.matching import match as match_text
from tb.language.grammar.reading import read_op
from tb.language.grammar.tokens import Item, TextError
from tb.language.literal.tokens import LiteralTokens
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
_INTEGER = re.compile(r"%c(m?-?\d+)(?:_\w+)?")
_ADDRESS = re.compile(r"%(?:gm|ub|l1|l0[abc]|bt|fb)_(0x[0-9A-Fa-f]+)")
_PATTERN = re.compile(r"%(?:[su]?i\d+|b?f\d+)_(0x[0-9A-Fa-f]+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """An op of a text.

    Attributes:
        name: Its mnemonic without ``pto.``.
        text: The op.
        begin: Offset after its name.
        reading: Its operands and words by name; None for the generic form.
        operands: Its operands in the order of the types, with their offsets in ``text``.
        kinds: Their types.
        literals: Their values.
        types: The types, where the text has none.
        sub_block: Vector sub-block of a comment ``// ub_sub 1``.
    """

    name: str
    text: str
    begin: int
    reading: Reading | None
    operands: tuple[Item, ...]
    kinds: tuple[str, ...]
    literals: tuple[str, ...]
    types: str
    sub_block: int

    def with_operands(self, names: Sequence[str]) -> str:
        """Returns the op with other names for its operands, and with its types."""
        parts, last = [], self.begin
        pairs = zip(self.operands, names, strict=True)
        for operand, name in sorted(pairs, key=lambda pair: pair[0].at):
            parts += [self.text[last : operand.at], name]
            last = operand.at + len(operand.text)
        name = f"pto.{self.name}" if self.reading else f'"pto.{self.name}"'
        types = f" : {self.types}" if self.types else ""
        return f"{name}{''.join(parts)}{self.text[last:]}{types}"


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

    def literal(self, op: str, ssa: str, kind: str) -> str:
        """Returns the value of an operand as a literal.

        Raises:
            NoValueError: a name has no value.
            PtoError: a name has two types.
        """
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
        PtoError: the text is no op, or a value or a type is not known.
    """
    match = NAME.match(part)
    assert match is not None, "a statement begins with its name"
    name, begin = match.group(1), match.end()
    row = ROWS.get(name) or KNOWN_ROWS.get(name)
    if row is None:
        raise PtoError(f"pto.{name} is unknown", where=WHERE, legal=", ".join(ROWS))
    try:
        tokens = LiteralTokens(part, begin)
        if part.startswith('"'):
            items, kinds = tokens.generic()
            return _of(name, part, begin, None, items, kinds, "", sub, names)
        reading = match_text(read_op(tokens, row, 0, typed=False), row, literals=True)
    except TextError as error:
        raise PtoError(str(error), where=f"{WHERE} {name}", legal=error.legal) from None
    for fault in reading.faults:
        rule = f"{fault.rule}: " if fault.rule else ""
        raise PtoError(f"{rule}{fault.message}", where=f"{WHERE} pto.{name}", legal=fault.legal)
    kinds, types = [kind for kind, _ in reading.text.types], ""
    if not kinds:
        named = {id(x): operand for operand, items in reading.groups.items() for x in items}
        usual = default_types(reading, elements, v06)
        kinds = [usual[named[id(item)]] for item in reading.order]
        types = type_list(reading, dict(zip(map(id, reading.order), kinds, strict=True)))
    return _of(name, part, begin, reading, reading.order, kinds, types, sub, names)


def _of(
    name: str, text: str, begin: int, reading: Reading | None, items: Sequence[Item],
    kinds: Sequence[str], types: str, sub: int, names: Names,
) -> Statement:  # fmt: skip
    if len(kinds) != len(items):
        raise PtoError(
            f"{len(items)} operands are written with {len(kinds)} types",
            where=f"{WHERE} {name}",
            legal="one type for each operand in the order of the text, or none at all",
        )
    pairs = zip(items, kinds, strict=True)
    literals = tuple(names.literal(name, item.text, kind) for item, kind in pairs)
    return Statement(name, text, begin, reading, tuple(items), tuple(kinds), literals, types, sub)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
