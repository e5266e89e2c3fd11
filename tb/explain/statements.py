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
from typing import Any

from tb.common.errors import PtoError
from tb.isa.dtypes import ELEMENT_BYTES, NIBBLE_DTYPES, PAD_DTYPES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.fix.table import CLIP_TYPES, DST_CODES, QUANT_MODES
from tb.isa.lower import OP_CLASSES
from tb.isa.ops import LEGACY_FORMS, OPS

WHERE = "the op"

_START = re.compile(r'(?<![\w%.])"?(?:pto\.)?(?=(?:mte|copy|set)_\w)')
_NAME = re.compile(r'"?(?:pto\.)?([A-Za-z]\w*)"?')
_SUB_BLOCK = re.compile(r"//\s*ub_sub\s+([01])\s*$", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")
_TOKEN = re.compile(
    r"""(?P<ssa>%[\w$.#-]+)
    |(?P<braces>\{[^{}]*\})
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<number>-?0[xX][0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
    |(?P<mark>[(),=:<>\[\]])""",
    re.VERBOSE,
)
_TYPE = re.compile(
    r"!?[A-Za-z_][\w.]*<(?:[^<>]|<[^<>]*>)*>|<[^<>]*>|![\w.]+|\b(?:[su]?i\d+|b?f\d\w*|index|hif8\w*)\b"
)
_INTEGER = re.compile(r"%c(m?-?\d+)(?:_\w+)?")
_ADDRESS = re.compile(r"%(?:gm|ub|l1|l0c|bt|fb)_(0x[0-9A-Fa-f]+)")
_PATTERN = re.compile(r"%(?:[su]?i\d+|b?f\d+)_(0x[0-9A-Fa-f]+)")


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a text.

    Attributes:
        text: Its spelling.
        start, end: Its place in the op.
        clause: Clause it is in, or empty.
        number: Its number in that clause.
        key: Key before it, such as ``clip``, or empty.
    """

    text: str
    start: int
    end: int
    clause: str
    number: int
    key: str


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


@dataclass(frozen=True, slots=True)
class Statements:
    """The ops of a text, and what is assumed of them."""

    ops: tuple[Statement, ...]
    notes: tuple[str, ...]


class _Names:
    """Values of names."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.given = {f"%{name.lstrip('%')}": value for name, value in values.items()}
        self.used: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.notes: dict[str, None] = {}

    def literal(self, op: str, operand: Operand, kind: str) -> str:
        """Returns the value of an operand as a literal.

        Raises:
            PtoError: a name has no value, or two types.
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
        raise PtoError(
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


def statements(text: str, values: Mapping[str, str], element: str = "") -> Statements:
    """Returns the ops of a text, which line ends or semicolons separate.

    Args:
        text: The ops.
        values: Name, with or without ``%``, to its value as text.
        element: Element type, or those of source and destination, where the text has no types.

    Raises:
        PtoError: the text has no op, or a value or a type is not known.
    """
    names, elements = _Names(values), _elements(element)
    found = [_statement(part, sub, names, elements) for part, sub in _split(text)]
    if not found:
        raise PtoError(
            f"{_short(text)!r} is no op",
            where=WHERE,
            legal="an op such as `pto.mte_gm_ub ...`, or a program file that exists",
            remedy="write one op, or name a .pto file",
        )
    names.check()
    return Statements(tuple(found), tuple(names.notes))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def _elements(text: str) -> tuple[str, ...]:
    """Returns the element types of an option."""
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


def _split(text: str) -> Iterator[tuple[str, int]]:
    """Yields each op, and the sub-block of its comment."""
    starts = [match.start() for match in _START.finditer(_COMMENT.sub(_blank, text))]
    for start, stop in pairwise((*starts, len(text))):
        part = text[start:stop]
        sub = _SUB_BLOCK.search(part)
        yield _COMMENT.sub("", part).strip().rstrip(";").rstrip(), int(sub.group(1)) if sub else 0


def _statement(part: str, sub: int, names: _Names, elements: tuple[str, ...]) -> Statement:
    before, after = _halves(part)
    match = _NAME.match(before)
    assert match is not None, "a statement begins with its name"
    name = match.group(1)
    operands = _operands(before, match.end())
    written = [one.group() for one in _TYPE.finditer(after.partition("->")[0])]
    if after and len(written) != len(operands):
        raise PtoError(
            f"{len(operands)} operands are written with {len(written)} types",
            where=f"{WHERE} {name}",
            legal="one type for each operand in the order of the text, or none at all",
        )
    kinds = written or _default_types(name, before, operands, elements)
    literals = tuple(
        names.literal(name, operand, kind) for operand, kind in zip(operands, kinds, strict=True)
    )
    types = after or _type_list(before, operands, kinds)
    return Statement(name, before, match.end(), tuple(operands), tuple(kinds), literals, types, sub)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _halves(text: str) -> tuple[str, str]:
    """Returns an op before and after the colon of its types."""
    depth = 0
    for at, mark in enumerate(text):
        if mark in "([{<":
            depth += 1
        elif mark in ")]}>" and text[at - 1] != "-":
            depth -= 1
        elif mark == ":" and depth == 0:
            return text[:at].rstrip(), text[at + 1 :].strip()
    return text, ""


def _operands(text: str, begin: int) -> list[Operand]:
    """Returns the operands of an op in the order of its text."""
    found: list[Operand] = []
    stack: list[str] = []
    word, key, numbers = "", "", {"": 0}
    at = begin
    while match := _TOKEN.search(text, at):
        at = match.end()
        kind, token = match.lastgroup, match.group()
        if kind == "mark":
            if token == "(":
                stack.append(word)
                numbers.setdefault(word, 0)
            elif token == ")" and stack:
                stack.pop()
            if token != "=":
                key = ""
            word = word if token == "=" else ""
        elif kind == "word" and token not in ("true", "false"):
            word = key = token
        elif kind in ("ssa", "number", "word"):
            clause = stack[-1] if stack else ""
            number = numbers.get(clause, 0)
            numbers[clause] = number + 1
            found.append(Operand(token, match.start(), match.end(), clause, number, key))
    return found


# --- types that the text leaves out --------------------------------------------------------------


def _spec(name: str) -> OpSpec | None:
    return OPS.get(LEGACY_FORMS.get(name, name))


def _pointer_types(spec: OpSpec, element: tuple[str, ...]) -> tuple[Ptr, Ptr]:
    """Returns the types of the pointers: as given, else those of an op without types."""
    defaults: dict[str, Any] = dict(OP_CLASSES[spec.name].__dataclass_fields__)
    source: Ptr = defaults["src_type"].default
    target: Ptr = defaults["dst_type"].default
    if element:
        source, target = Ptr(element[0], source.space), Ptr(element[-1], target.space)
    return source, target


def _default_types(
    name: str, text: str, operands: Sequence[Operand], element: tuple[str, ...]
) -> list[str]:
    """Returns a type for each operand of an op that is written without any."""
    spec = _spec(name)
    if spec is None:
        return ["i32" if name == "set_mov_pad_val" else "i64" for _ in operands]
    source, target = _pointer_types(spec, element)
    kinds = []
    for place, operand in enumerate(operands):
        kind = "i64"
        if place < 2:
            kind = str((source, target)[place])
        elif operand.clause == "pad" and operand.number == 0:
            kind = source.dtype
            if kind not in PAD_DTYPES:
                kind = f"i{8 * ELEMENT_BYTES.get(kind, 1)}"
        elif operand.key == "clip":
            kind = CLIP_TYPES.get(DST_CODES.get(target.dtype, -1), ("i16",))[-1]
        elif operand.clause in ("pre_quant", "pre_relu"):
            vector = "vector_relu" in text if operand.clause == "pre_relu" else _vector(text)
            kind = str(Ptr("f32", "fb")) if vector else "f32"
        elif (operand.clause, operand.number) == ("ctrl", 1) or (
            name == "copy_gm_to_ubuf" and place == 7
        ):
            kind = "i1"
        kinds.append(kind)
    return kinds


def _vector(text: str) -> bool:
    mode = re.search(r"pre_quant\s*\([^()]*mode\s*=\s*(\w+)", text)
    return mode is not None and mode.group(1) in QUANT_MODES and QUANT_MODES[mode.group(1)].vector


_WORDS = ("loop", "pad", "shape", "src_layout", "dst_group", "ctrl")
"""Clauses whose name stands before their types."""


def _type_list(text: str, operands: Sequence[Operand], kinds: list[str]) -> str:
    """Returns the types of an op as the language writes them."""
    found: list[str] = []
    for place, (operand, kind) in enumerate(zip(operands, kinds, strict=True)):
        clause, word = re.sub(r"^loop[12]$", "loop", operand.clause), ""
        previous = operands[place - 1] if place else None
        begins = (
            previous is None
            or previous.clause != operand.clause
            or (clause == "loop" and operand.number % 3 == 0)
        )
        if clause == "shape" and begins:
            mode = re.search(r"\b(nd2nz|dn2nz)\b", text)
            found += [mode.group(1)] if mode else []
        if clause in _WORDS and begins:
            word = f"{clause} "
        if clause == "src_layout":
            last = place + 1 == len(operands) or operands[place + 1].clause != operand.clause
            word = "src_layout(" if begins else ""
            kind += ")" if last else ""
        found.append(f"{word}{kind}")
    return ", ".join(found)
