# SPDX-License-Identifier: Apache-2.0
"""Reads setup files and reports errors with their line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tb.common.errors import PtoError
from tb.common.files import read_toml
from tb.harness.layout import FAULTS, KNOBS
from tb.isa.spaces import memory_range
from tb.programs.setup import TABLES, Setup

MANUAL = "docs/programs.md lists the keys of a setup file"


def setup_beside(program: Path) -> Path | None:
    """Returns the setup file of a program, None when there is none."""
    path = program.with_suffix(".toml")
    return path if path.exists() else None


@dataclass(frozen=True)
class SetupFile:
    """A setup file as read; without a path it is the default of a program without one."""

    setup: Setup = field(default_factory=Setup)
    path: Path | None = None
    text: str = ""

    @property
    def folder(self) -> Path:
        """Base folder of its paths."""
        return self.path.parent if self.path else Path()

    def where(self, *loc: str | int) -> str:
        """Returns file and line of a key, for messages."""
        return place_of(self.text, self.path, loc) if self.path else ""


def load_setup(path: Path) -> Setup:
    """Returns the contents of a setup file; errors as of :func:`read_setup`."""
    return read_setup(path).setup


def read_setup(path: Path) -> SetupFile:
    """Reads a setup file.

    Raises:
        PtoError: it cannot be read, is no TOML or breaks the schema; with the line.
    """
    remedy = "name one with --setup FILE, or put it beside the program as NAME.toml"
    text, data = read_toml(path, "the setup file", remedy)
    try:
        setup = Setup.model_validate(data)
    except ValidationError as error:
        raise _of_schema(error, path, text) from None
    _check_ranges(setup, path, text)
    return SetupFile(setup, path, text)


def _check_ranges(setup: Setup, path: Path, text: str) -> None:
    """Raises PtoError for a range that leaves its memory, and for conflicts between fields."""
    for table in TABLES:
        for number, entry in enumerate(getattr(setup, table)):
            if (not entry.space) == (entry.arg is None):
                raise PtoError(
                    "space and arg" if entry.space else "neither space nor arg",
                    where=f"{place_of(text, path, (table, number))}, [[{table}]]",
                    legal="space, the name of a memory, or arg, the number of an argument",
                    remedy=MANUAL,
                )
            try:
                if entry.space:
                    check_range(entry.space, entry.address, entry.length or 1)
            except PtoError as error:
                error.where = f"{place_of(text, path, (table, number, 'address'))}, [[{table}]]"
                raise
    for number, check in enumerate(setup.check):
        if not check.complete:
            raise PtoError(
                "a check needs length and crc32, or data",
                where=f"{place_of(text, path, ('check', number))}, [[check]]",
                remedy=MANUAL,
            )
    if len(setup.fault) > FAULTS:
        raise PtoError(
            f"{len(setup.fault)} faults",
            where=place_of(text, path, ("fault", FAULTS)),
            legal=f"at most {FAULTS} at a time",
        )
    for name, value in setup.knobs.items():
        try:
            check_knob(name, value)
        except PtoError as error:
            error.where = place_of(text, path, ("knobs", name))
            raise
    for number, fault in enumerate(setup.fault):
        gm = fault.arg is not None or fault.space == "gm"
        if gm == (fault.kind == "local"):
            raise PtoError(
                f"a fault of {fault.space or 'gm'} is {fault.kind}",
                where=f"{place_of(text, path, ('fault', number, 'kind'))}, [[fault]]",
                legal="slverr, decerr of gm; local of the other memories",
            )


def check_range(space: str, address: int, length: int) -> None:
    """Raises PtoError when a range leaves its memory; the caller adds the place."""
    size = len(memory_range(space)[1])
    if address < 0 or address + length > size:
        raise PtoError(
            f"{length} bytes at {address:#x} leave {space}",
            legal=f"{space} has {size} bytes: addresses 0..{size - 1:#x}",
            remedy="move or shorten the range",
        )


def check_knob(name: str, value: int) -> None:
    """Raises PtoError when a knob's value is out of its range; the caller adds the place."""
    knob = KNOBS[name]
    if not knob.low <= value <= knob.high:
        raise PtoError(f"knob {name} is {value}", legal=f"{knob.low}..{knob.high}, {knob.meaning}")


def place_of(text: str, path: Path, loc: Sequence[str | int]) -> str:
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


def _of_schema(error: ValidationError, path: Path, text: str) -> PtoError:
    """Returns the first violation of the schema as one sentence."""
    first = error.errors()[0]
    # pydantic's location of a table key is no key of the file.
    loc = [part for part in first["loc"] if part != "[key]"]
    key = ".".join(str(part) for part in loc if isinstance(part, str))
    where = place_of(text, path, loc)
    model: type[BaseModel] = Setup
    inside = ""
    if len(loc) > 1 and loc[0] in TABLES:
        model, inside = TABLES[str(loc[0])], f" of [[{loc[0]}]]"
        key = str(loc[-1]) if isinstance(loc[-1], str) else key
    if first["type"] == "missing":
        what = f"key {key}{inside} is missing"
        return PtoError(what, where=where, legal=", ".join(model.model_fields), remedy=MANUAL)
    if first["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(loc[-1]), model.model_fields, 1)
        what = f"key {key}{inside} is unknown" + (f"; did you mean {close[0]}?" if close else "")
        return PtoError(what, where=where, legal=", ".join(model.model_fields), remedy=MANUAL)
    given = first["input"]
    shown = f" is {given!r}" if isinstance(given, str | int | float | bool) else ""
    return PtoError(f"key {key}{inside}{shown}: {first['msg']}", where=where, remedy=MANUAL)
