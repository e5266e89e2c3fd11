# SPDX-License-Identifier: Apache-2.0
"""Options of the command about programs, as texts and as the keys of a setup file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tb.common.errors import PtoError
from tb.programs.data import integer

REPEATED: Mapping[str, str] = {
    "args": "0=in.npy", "out": "0=out.bin", "load": "ub0@0x100=tile.npy",
    "dump": "ub0@0:4096=ub.bin", "knobs": "a=1,b=2",
}  # fmt: skip
"""Keys whose options may be repeated, and an example of each."""

PLAIN: tuple[str, ...] = ("function", "foreign", "illegal", "ubuf_to_ubuf", "hazard", "ctrl")
"""Keys whose options are one text."""


@dataclass(frozen=True)
class ProgramOptions:
    """Options of the command line, as they were written.

    They have the names of the keys of :class:`tb.programs.setup.Setup`.

    Attributes:
        args, out, load, dump, knobs: Texts of the options that may be repeated.
        function, foreign, illegal, ubuf_to_ubuf, hazard, ctrl: Empty for those of the setup file.
        setup: The setup file; empty for the one beside the program.
        strict: False for that of the setup file.
        seed: None for that of the setup file.
        schedules: Numbers of the schedules to replay under; empty for one plain replay.
    """

    args: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    function: str = ""
    foreign: str = ""
    illegal: str = ""
    ubuf_to_ubuf: str = ""
    hazard: str = ""
    ctrl: str = ""
    setup: str = ""
    strict: bool = False
    seed: int | None = None
    schedules: tuple[int, ...] = ()

    def words(self) -> tuple[str, ...]:
        """Returns the options as words that repeat them."""
        found: list[str] = []
        for name in REPEATED:
            for text in getattr(self, name):
                found += [option_of(name), text]
        for name in (*PLAIN, "setup"):
            if value := getattr(self, name):
                found += [option_of(name), value]
        if self.strict:
            found.append("--strict")
        if self.seed is not None:
            found += ["--seed", str(self.seed)]
        if len(self.schedules) == 1:
            found += ["--schedule", str(self.schedules[0])]
        elif self.schedules:
            found += ["--schedules", str(len(self.schedules))]
        return tuple(found)


def option_of(key: str) -> str:
    """Returns the name of the option of a key."""
    return "--arg" if key == "args" else f"--{key.replace('_', '-')}"


def numbered(texts: Sequence[str], option: str, example: str) -> Iterable[tuple[int, str]]:
    """Yields number and value of options of the form ``N=VALUE``.

    Raises:
        PtoError: one is not, or a number is given twice.
    """
    seen: dict[int, str] = {}
    for text in texts:
        number, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"\s*\d+\s*", number, re.ASCII) or not value.strip():
            raise PtoError(
                f"invalid {option} {text!r}",
                where=option,
                legal=f"N=VALUE, N the number of an argument, from 0, such as {example}",
            )
        if int(number) in seen:
            raise PtoError(
                f"argument {int(number)} is given twice: {seen[int(number)]} and {text}",
                where=option,
                remedy="give each argument once",
            )
        seen[int(number)] = text
        yield int(number), value.strip()


def as_keys(options: ProgramOptions) -> dict[str, Any]:
    """Returns the options as the keys of a setup file.

    Raises:
        PtoError: one is not of its form; values are not checked.
    """
    found: dict[str, Any] = {
        name: value for name in (*PLAIN, "strict") if (value := getattr(options, name))
    }
    if options.seed is not None:
        found["seed"] = options.seed
    for key in ("args", "out"):
        if texts := getattr(options, key):
            pairs = numbered(texts, option_of(key), REPEATED[key])
            found[key] = {str(number): value for number, value in pairs}
    for key, part in (("load", "data"), ("dump", "file")):
        if texts := getattr(options, key):
            found[key] = [_table(key, text, part) for text in texts]
    if options.knobs:
        found["knobs"] = _knobs(options.knobs)
    return found


_RANGE = re.compile(r"\s*(\w+)\s*(?:@\s*(\w+)\s*)?(?::\s*(\w+)\s*)?=\s*(.*\S)\s*", re.ASCII)


def _table(key: str, text: str, part: str) -> dict[str, Any]:
    """Returns the table that ``MEMORY@ADDRESS:LENGTH=VALUE`` stands for; ``part`` is its value."""
    found = _RANGE.fullmatch(text)
    if found:
        memory, address, length, value = found.groups()
        buffer = re.fullmatch(r"arg(\d+)", memory)
        table: dict[str, Any] = {"arg": int(buffer[1])} if buffer else {"space": memory}
        table |= {"address": integer(address or "0"), part: value}
        if length:
            table["length"] = integer(length)
        if None not in table.values():
            return table
    raise PtoError(
        f"invalid {option_of(key)} {text!r}",
        where=option_of(key),
        legal=f"such as {REPEATED[key]}; a memory, or argN for the buffer of an argument",
    )


def _knobs(texts: Sequence[str]) -> dict[str, int]:
    """Returns the knobs of ``a=1,b=2``."""
    found = {}
    for word in (word.strip() for text in texts for word in text.split(",")):
        if not word:
            continue
        name, equals, text = (part.strip() for part in word.partition("="))
        value = integer(text)
        if not equals or value is None:
            what = f"invalid --knobs {word!r}"
            raise PtoError(what, where="--knobs", legal=REPEATED["knobs"])
        found[name] = value
    return found
