# SPDX-License-Identifier: Apache-2.0
"""Ops as text become a program, which the reader of programs reads in every spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tb.common.errors import PtoError
from tb.language.literal.statements import WHERE, Statement


@dataclass
class _Program:
    """A program in the making.

    Attributes:
        constants: Definition of each constant by its name.
        arguments: Type and value of each argument by its name.
        lines: The ops.
    """

    constants: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, tuple[str, int]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Given:
    """A program made from text.

    Attributes:
        text: The program.
        numbers: Values of its arguments.
        first: Line of the first op, from 1.
    """

    text: str
    numbers: Mapping[int, int]
    first: int


def program_of(ops: Sequence[Statement]) -> Given:
    """Returns the program of ops.

    Raises:
        PtoError: a value is none of its type.
    """
    made = _Program()
    for op in ops:
        names = [
            _defined(made, op.name, operand.text, kind, literal)
            for operand, kind, literal in zip(op.operands, op.kinds, op.literals, strict=True)
        ]
        sub = f" {{ub_sub = {op.sub_block} : i64}}" if op.sub_block else ""
        made.lines.append("  " + " ".join(f"{op.with_operands(names)}{sub}".split("\n")))
    head = ", ".join(f"{name}: {kind}" for name, (kind, _) in made.arguments.items())
    before = [f"func.func @explain({head}) {{", *made.constants.values()]
    lines = [*before, *made.lines, "  return", "}", ""]
    numbers = {place: number for place, (_, number) in enumerate(made.arguments.values())}
    return Given("\n".join(lines), numbers, len(before) + 1)


def _defined(made: _Program, name: str, text: str, kind: str, literal: str) -> str:
    """Returns the name of an operand's value, which is defined once."""
    ssa = text
    if not text.startswith("%"):
        ssa = "%c" + text.replace("+", "").replace("-", "m")
        if kind != "i64":
            ssa += "_" + re.sub(r"\W+", "_", kind).strip("_")
    if ssa not in made.arguments and ssa not in made.constants:
        _define(made, name, ssa, kind, literal)
    return ssa


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
        made.constants[ssa] = f"  {ssa} = arith.constant {text}"
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
        made.constants[ssa] = f"  {ssa} = arith.constant {text} : {kind}"
    else:
        made.arguments[ssa] = (kind, _integer(name, ssa, literal))


def _integer(name: str, ssa: str, literal: str) -> int:
    try:
        return int(literal, 0)
    except ValueError:
        raise PtoError(
            f"{literal!r} is no integer",
            where=f"{WHERE} {name}, {ssa}",
            legal="a number such as 128 or 0x80",
            remedy="write the types, or add --element, if it is a float" if "." in literal else "",
        ) from None
