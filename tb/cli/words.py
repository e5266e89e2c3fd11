# SPDX-License-Identifier: Apache-2.0
"""Reads the words of a command without typer, as far as they are right.

Help, unknown options and values of the wrong type are left to typer, which has the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter as Signed
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from tb.cli.declare import Parameter

_READ: Mapping[type, Callable[[str], Any]] = {str: str, int: int, float: float, Path: Path}


@dataclass(frozen=True)
class Taken:
    """A parameter of a command.

    Attributes:
        name: Of the function's parameter.
        declared: How the command line shows it.
        kind: Type of a value.
        many: It takes several.
        default: Its value where none is given; ``Signed.empty`` for one that is required.
    """

    name: str
    declared: Parameter
    kind: type
    many: bool
    default: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Names of an option."""
        return self.declared.names or (f"--{self.name.replace('_', '-')}",)


def parameters(command: Callable[..., None]) -> list[Taken] | None:
    """Returns the parameters of a command, None where one needs more than is read here."""
    hints = get_type_hints(command, include_extras=True)
    found = []
    for name, signed in signature(command).parameters.items():
        declared: tuple[Any, ...] = getattr(hints[name], "__metadata__", ())
        if len(declared) != 1 or not isinstance(declared[0], Parameter):
            return None
        kind: Any = get_args(hints[name])[0]
        if isinstance(kind, UnionType):
            kind = next(one for one in get_args(kind) if one is not NoneType)
        many = get_origin(kind) is list
        if many:
            (kind,) = get_args(kind)
        flag = kind is bool and declared[0].is_option and bool(declared[0].names)
        if not (flag or kind in _READ):
            return None
        found.append(Taken(name, declared[0], kind, many, signed.default))
    return found


def read_words(command: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """Returns the values of the parameters of a command, None where typer has to look at them."""
    taken = parameters(command)
    if taken is None:
        return None
    options = {name: one for one in taken if one.declared.is_option for name in one.names}
    places = [one for one in taken if not one.declared.is_option]
    values: dict[str, Any] = {}
    left = list(reversed(words))
    while left:
        word = left.pop()
        name, equals, text = word.partition("=")
        if word.startswith("-") and word != "-":
            one = options.get(name)
            if one is None or (one.kind is bool and equals):
                return None
            if one.kind is bool:
                values[one.name] = True
                continue
            if not (equals or left):
                return None
            text = text if equals else left.pop()
        elif places:
            one, text = places[0], word
            if not one.many:
                places.pop(0)
        else:
            return None
        try:
            value = _READ[one.kind](text)
        except ValueError:
            return None
        if one.many:
            values.setdefault(one.name, []).append(value)
        else:
            values[one.name] = value
    for one in taken:
        if values.setdefault(one.name, one.default) is Signed.empty:
            return None
    return values
