# SPDX-License-Identifier: Apache-2.0
"""An op as text becomes a program: literals and the names of reports become constants.

The program is then read by the reader of programs, so that every spelling of the language is
accepted. Types may be left out; they are then those of the op's table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tb.common.errors import PtoError
from tb.isa.dtypes import ELEMENT_BYTES, NIBBLE_DTYPES, PAD_DTYPES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.fix.table import CLIP_TYPES, DST_CODES, QUANT_MODES
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
class _Operand:
    """An operand of the text: its spelling, its place, and the clause it is in."""

    text: str
    start: int
    end: int
    clause: str
    number: int
    key: str


@dataclass
class _Program:
    """A program in the making.

    Attributes:
        values: Values that the user gives to names.
        element: Element types of source and destination where the text has none, or empty.
        constants: Lines that define constants.
        arguments: Name and type of each argument.
        numbers: Value of each argument.
        lines: The ops.
        notes: Assumptions.
        known: Name and type of each value so far.
    """

    values: Mapping[str, str]
    element: tuple[str, ...]
    constants: list[str] = field(default_factory=list)
    arguments: list[tuple[str, str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Given:
    """A program made from text.

    Attributes:
        text: The program.
        numbers: Values of its arguments.
        first: Line of the first op, from 1.
        notes: Assumptions.
    """

    text: str
    numbers: Mapping[int, int]
    first: int
    notes: tuple[str, ...]


def program_of_text(text: str, values: Mapping[str, str], element: str = "") -> Given:
    """Returns the program of one op, or of several that are separated by line ends or semicolons.

    Args:
        text: The ops.
        values: Name, with or without ``%``, to its value as text.
        element: Element type, or those of source and destination, where the text has no types.

    Raises:
        PtoError: the text has no op, or a value or a type is not known.
    """
    wanted = {f"%{name.lstrip('%')}": value for name, value in values.items()}
    made = _Program(wanted, _elements(element))
    statements = list(_statements(text))
    if not statements:
        raise PtoError(
            f"{_short(text)!r} is no op",
            where=WHERE,
            legal="an op such as `pto.mte_gm_ub ...`, or a program file that exists",
            remedy="write one op, or name a .pto file",
        )
    for statement in statements:
        _add(made, statement)
    unused = sorted(set(wanted) - made.used)
    if unused:
        raise PtoError(
            f"the text has no {unused[0]}",
            where=f"--value {unused[0].lstrip('%')}={wanted[unused[0]]}",
            legal=", ".join(sorted(made.known)) or "names in the text",
        )
    head = ", ".join(f"{name}: {kind}" for name, kind in made.arguments)
    before = [f"func.func @explain({head}) {{", *made.constants]
    lines = [*before, *made.lines, "  return", "}", ""]
    numbers = dict(enumerate(made.numbers))
    return Given("\n".join(lines), numbers, len(before) + 1, tuple(made.notes))


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


def _statements(text: str) -> Iterator[str]:
    """Yields each op; a trailing comment ``// ub_sub 1`` becomes an attribute."""
    starts = [match.start() for match in _START.finditer(_COMMENT.sub(_blank, text))]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:stop]
        sub = _SUB_BLOCK.search(part)
        part = _COMMENT.sub("", part).strip().rstrip(";").rstrip()
        if sub and sub.group(1) != "0":
            operands, types = _halves(part)
            part = f"{operands} {{ub_sub = {sub.group(1)} : i64}}" + (
                f" : {types}" if types else ""
            )
        yield part


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


def _operands(text: str, begin: int) -> list[_Operand]:
    """Returns the operands of an op in the order of its text."""
    found: list[_Operand] = []
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
            found.append(_Operand(token, match.start(), match.end(), clause, number, key))
    return found


def _add(made: _Program, statement: str) -> None:
    """Adds an op, with a definition for each of its operands."""
    before, after = _halves(statement)
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
    kinds = written or _default_types(name, before, operands, made.element)
    parts, last = [], match.end()
    for operand, kind in zip(operands, kinds, strict=True):
        parts += [before[last : operand.start], _defined(made, name, operand, kind)]
        last = operand.end
    body = f"pto.{name}{''.join(parts)}{before[last:]}"
    if before.startswith('"'):
        body = f'"pto.{name}"{body.removeprefix(f"pto.{name}")}'
    types = after or _type_list(name, before, operands, kinds)
    made.lines.append(" ".join(f"  {body}{f' : {types}' if types else ''}".split("\n")))


def _defined(made: _Program, name: str, operand: _Operand, kind: str) -> str:
    """Returns the name of an operand's value, which is defined once."""
    text = operand.text
    named = text.startswith("%")
    ssa = text if named else "%" + f"c{text}".replace("+", "").replace("-", "m")
    if not named and kind not in ("i64",):
        ssa += "_" + re.sub(r"\W+", "_", kind).strip("_")
    if made.known.setdefault(ssa, kind) != kind:
        raise PtoError(f"{ssa} has the types {made.known[ssa]} and {kind}", where=f"{WHERE} {name}")
    if any(ssa == other for other, _ in made.arguments) or f"  {ssa} = " in "".join(made.constants):
        return ssa
    literal = text
    if named:
        literal = _value_of(made, name, ssa, kind)
    _define(made, name, ssa, kind, literal)
    return ssa


def _value_of(made: _Program, name: str, ssa: str, kind: str) -> str:
    """Returns the value of a name as a literal: given, or what the name itself says."""
    if ssa in made.values:
        made.used.add(ssa)
        return made.values[ssa]
    if ssa in ("%true", "%false"):
        return ssa[1:]
    for pattern in (_ADDRESS, _PATTERN, _INTEGER):
        match = pattern.fullmatch(ssa)
        if match:
            return match.group(1).replace("m", "-")
    if "<" in kind:
        made.notes.append(f"the address of {ssa} is not given: 0 is taken")
        return "0"
    raise PtoError(
        f"{ssa} has no value",
        where=f"{WHERE} {name}",
        legal="a number in its place, a name that says it such as %c128_i64, or a value",
        remedy=f"add --value {ssa[1:]}=VALUE",
    )


def _define(made: _Program, name: str, ssa: str, kind: str, literal: str) -> None:
    """Defines a value: integers and floats as constants, the rest as an argument."""
    boolean = {"true": 1, "false": 0}
    if re.fullmatch(r"i\d+|index", kind):
        number = boolean.get(literal)
        if number is None:
            number = _integer(name, ssa, literal)
        text = f"{number} : {kind}"
        if kind == "i1":
            text = "true" if number & 1 else "false"
            if number not in (0, 1):
                raise PtoError(
                    f"{ssa.lstrip('%')} is {number}", where=f"{WHERE} {name}", legal="0, 1 (i1)"
                )
        made.constants.append(f"  {ssa} = arith.constant {text}")
    elif re.fullmatch(r"b?f\d+", kind):
        text = literal
        if re.fullmatch(r"-?\d+", literal):
            text = f"{literal}.0"
        elif not re.fullmatch(r"0[xX][0-9A-Fa-f]+|-?\d+\.\d*(?:[eE][+-]?\d+)?", literal):
            raise PtoError(
                f"{literal!r} is no number of type {kind}",
                where=f"{WHERE} {name}",
                legal="a number such as 1.5, or its bits such as 0x3C00",
            )
        made.constants.append(f"  {ssa} = arith.constant {text} : {kind}")
    else:
        made.arguments.append((ssa, kind))
        made.numbers.append(_integer(name, ssa, literal))


def _integer(name: str, ssa: str, literal: str) -> int:
    try:
        return int(literal, 0)
    except ValueError:
        raise PtoError(
            f"{literal!r} is no integer",
            where=f"{WHERE} {name}, {ssa}",
            legal="a number such as 128 or 0x80",
        ) from None


# --- types that the text leaves out --------------------------------------------------------------


def _spec(name: str) -> OpSpec | None:
    return OPS.get(LEGACY_FORMS.get(name, name))


def _pointer_types(name: str, spec: OpSpec, element: tuple[str, ...]) -> tuple[Ptr, Ptr]:
    """Returns the types of the pointers: as given, else those of an op without types."""
    from tb.isa.lower import OP_CLASSES

    defaults = OP_CLASSES[spec.name].__dataclass_fields__
    source, target = (defaults[f"{side}_type"].default for side in ("src", "dst"))
    if element:
        source, target = Ptr(element[0], source.space), Ptr(element[-1], target.space)
    return source, target


def _default_types(
    name: str, text: str, operands: list[_Operand], element: tuple[str, ...]
) -> list[str]:
    """Returns a type for each operand of an op that is written without any."""
    spec = _spec(name)
    if spec is None:
        return ["i32" if name == "set_mov_pad_val" else "i64" for _ in operands]
    source, target = _pointer_types(name, spec, element)
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


def _type_list(name: str, text: str, operands: list[_Operand], kinds: list[str]) -> str:
    """Returns the types of an op as the language writes them."""
    found: list[str] = []
    for place, (operand, kind) in enumerate(zip(operands, kinds, strict=True)):
        clause, word = re.sub(r"\d+$", "", operand.clause), ""
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
