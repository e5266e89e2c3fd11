# SPDX-License-Identifier: Apache-2.0
"""Request to run a program: its setup file, overridden by the options of the command.

Both are read as a :class:`tb.programs.setup.Setup`; an error names the line of the file, or the
option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tb.common.errors import PtoError
from tb.common.files import read_toml
from tb.common.schema import breach
from tb.programs.options import ProgramOptions, as_keys, option_of
from tb.programs.setup import TABLES, Setup

MANUAL = "docs/programs.md lists the keys of a setup file"

Loc = Sequence[str | int]
"""Location of a value: a key, then keys and indices inside its value."""

_PARTS = {"load": "data", "dump": "file", "check": "", "fault": ""}
"""Arrays of tables, and the key of each that names a file or data."""


@dataclass(frozen=True)
class Given:
    """A value, the place where it was given, and the base folder of its paths."""

    value: object
    where: str
    folder: Path = Path()

    @property
    def path(self) -> Path:
        """The file that the value names."""
        return self.folder / str(self.value)


@dataclass(frozen=True)
class Layer:
    """A setup of one origin.

    Attributes:
        setup: The values.
        where: Returns the place of a value, for messages.
        path: The setup file; None for options.
    """

    setup: Setup = field(default_factory=Setup)
    where: Callable[[Loc], str] = str
    path: Path | None = None

    @property
    def folder(self) -> Path:
        """Base folder of its paths."""
        return self.path.parent if self.path else Path()


@dataclass(frozen=True)
class Request:
    """Request to run one program.

    Attributes:
        path: The program.
        setup: All values.
        given: Key and number of an argument, or index of a table, to its value and place.
        file: The setup file, None for none.
        schedules: Numbers of the schedules to replay under; empty for one plain replay.
    """

    path: Path
    setup: Setup
    given: Mapping[tuple[str, int], Given] = field(default_factory=dict)
    file: Path | None = None
    schedules: tuple[int, ...] = ()


def request(path: Path, file: Layer, above: Layer, schedules: tuple[int, ...] = ()) -> Request:
    """Returns the request of a program: its setup file, overridden by options."""
    given: dict[tuple[str, int], Given] = {}
    for layer in (file, above):
        setup = layer.setup
        for key, values in (("args", setup.args), ("out", setup.out)):
            for number, value in values.items():
                given[key, number] = Given(value, layer.where((key, str(number))), layer.folder)
        for key, part in _PARTS.items():
            before = len(getattr(file.setup, key)) if layer is above else 0
            for at, table in enumerate(getattr(setup, key)):
                where = layer.where((key, at, part) if part else (key, at))
                given[key, before + at] = Given(getattr(table, part, ""), where, layer.folder)
    return Request(path, above.setup.over(file.setup), given, file.path, schedules)


def option_layer(options: ProgramOptions) -> Layer:
    """Returns the options as a setup.

    Raises:
        PtoError: one cannot be used.
    """
    keys = as_keys(options)

    def where(loc: Loc) -> str:
        """Returns the option; with its text where it may be repeated."""
        key, option = str(loc[0]), option_of(str(loc[0]))
        if len(loc) == 1 or key == "knobs":
            return option
        if key in ("load", "dump"):
            return f"{option} {getattr(options, key)[loc[1]]}"
        return f"{option} {loc[1]}={keys[key][loc[1]]}"

    return Layer(_validated(keys, where, ""), where)


def setup_beside(program: Path) -> Path | None:
    """Returns the setup file of a program, None when there is none."""
    path = program.with_suffix(".toml")
    return path if path.exists() else None


def read_setup(path: Path) -> Layer:
    """Reads a setup file.

    Raises:
        PtoError: it cannot be read, is not TOML or breaks the schema; with the line.
    """
    remedy = "name one with --setup FILE, or put it beside the program as NAME.toml"
    text, data = read_toml(path, "the setup file", remedy)

    def where(loc: Loc) -> str:
        return place_of(text, path, loc)

    return Layer(_validated(data, where, MANUAL), where, path)


def place_of(text: str, path: Path, loc: Loc) -> str:
    """Returns ``file:line`` of a key of a TOML file, as exactly as its text allows."""
    lines = text.splitlines()
    first, last = 0, len(lines)
    line = None
    names = [str(part) for part in loc if isinstance(part, str)]
    counts = [part for part in loc if isinstance(part, int)]
    if not names:
        return str(path)
    header = re.compile(rf"\s*\[\[?\s*['\"]?{re.escape(names[0])}['\"]?\s*\]\]?")
    headers = [number for number, one in enumerate(lines) if header.match(one)]
    if headers:
        number = counts[0] if counts and counts[0] < len(headers) else 0
        line = headers[number]
        first = line + 1
        later = [n for n in range(first, last) if lines[n].lstrip().startswith("[")]
        last = later[0] if later else last
        names = names[1:]
    for name in names:
        key = re.compile(rf"\s*['\"]?{re.escape(name)}['\"]?\s*[=.]")
        line = next((n for n in range(first, last) if key.match(lines[n])), line)
    return f"{path}:{line + 1}" if line is not None else str(path)


def _validated(data: Mapping[str, Any], where: Callable[[Loc], str], manual: str) -> Setup:
    """Returns a setup.

    Args:
        data: Its keys and values.
        where: Returns the place of a value.
        manual: Remedy of an error without one of its own; empty for options.

    Raises:
        PtoError: the first violation of the schema.
    """
    try:
        return Setup.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
    # pydantic's location of a table key is not a key of the file.
    loc = [part for part in first["loc"] if part != "[key]"]
    table = f"[[{loc[0]}]]" if len(loc) > 1 and loc[0] in TABLES else ""
    if first["type"] == "setup":
        raise _of_value(first["ctx"], loc, where, manual, table)
    if manual:
        names = [part for part in loc if isinstance(part, str)]
        name = f"key {names[-1]} of {table}" if table else f"key {'.'.join(names)}"
    else:
        name = where(loc) if len(loc) == 1 else str(loc[-1])
    model = TABLES[str(loc[0])] if table else Setup
    what, legal = breach(first, name, model)
    raise PtoError(what, where=where(loc), legal=legal, remedy=manual)


def _of_value(
    context: Mapping[str, Any], loc: Loc, where: Callable[[Loc], str], manual: str, table: str
) -> PtoError:
    """Returns the error that a check of a value has raised, with its place."""
    found: PtoError = context["of"]
    place = where([*loc, *filter(None, [context["key"]])])
    # The place of an option has its text.
    found.where = f"{place}, {table}" if table and manual else place
    found.remedy = found.remedy or manual
    if loc[-1] == "space" and not manual:
        found.legal += ", or argN for the buffer of an argument"
    return found
