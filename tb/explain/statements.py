# SPDX-License-Identifier: Apache-2.0
"""The ops of a text that ``pto-dv explain`` is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tb.common.errors import PtoError
from tb.explain.others import sentence
from tb.explain.raw import COPIES, READ_BACK
from tb.language.grammar.written import Written
from tb.language.literal.statements import (
    NAME,
    WHERE,
    Names,
    NoValueError,
    element_types,
    split,
    statement,
)


@dataclass(frozen=True, slots=True)
class Statements:
    """The ops of a text.

    Attributes:
        ops: Those that move data or write registers of ops that do.
        notes: What is assumed of them.
        others: Names of all others, each once.
    """

    ops: tuple[Written, ...]
    notes: tuple[str, ...]
    others: tuple[str, ...] = ()


def statements(text: str, values: Mapping[str, str], element: str = "") -> Statements:
    """Returns the ops of a text, which line ends or semicolons separate.

    Args:
        text: The ops.
        values: Name, with or without ``%``, to its value as text.
        element: Element type, or those of source and destination, where the text has no types.

    Raises:
        PtoError: the text has no op, or a value or a type is not known.
    """
    names, elements = Names(values), element_types(element)
    found: list[Written] = []
    others: dict[str, None] = {}
    for part, sub in split(text):
        match = NAME.match(part)
        assert match is not None, "an op begins with its name"
        name = match.group(1)
        if name in READ_BACK:
            v06 = COPIES[name].op if name in COPIES else ""
            try:
                found.append(statement(part, sub, names, elements, v06))
            except NoValueError as error:
                others[name] = None
                names.notes[f"the words of pto.{name} are not read: {error.what}"] = None
        elif sentence(name, foreign="pto." in match.group()):
            others[name] = None
        else:
            found.append(statement(part, sub, names, elements))
    if not found and not others:
        raise PtoError(
            f"{_short(text)!r} is no op",
            where=WHERE,
            legal="an op such as `pto.mte_gm_ub ...`, or a program file that exists",
            remedy="write one op, or name a .pto file",
        )
    names.check()
    return Statements(tuple(found), tuple(names.notes), tuple(others))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
