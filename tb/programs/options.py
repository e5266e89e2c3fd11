# SPDX-License-Identifier: Apache-2.0
"""Options of one program: its setup file, overridden by the command line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast, get_args

from pydantic_core import PydanticCustomError

from tb.common.errors import PtoError
from tb.harness.layout import KNOBS
from tb.isa.spaces import memory_range
from tb.language.order.verdict import Hazard, hazard_option
from tb.programs.data import integer
from tb.programs.setup import (
    CheckTable,
    DumpTable,
    FaultTable,
    Foreign,
    Illegal,
    LoadTable,
    UbufToUbuf,
    ctrl_word,
    space_name,
)
from tb.programs.setup_file import SetupFile, check_knob, check_range


@dataclass(frozen=True)
class Given:
    """A value, the place where it was given, and the base folder of its paths."""

    value: object
    where: str
    folder: Path = Path()


@dataclass(frozen=True)
class Target:
    """A file to write, and the place that names it."""

    path: Path
    where: str


@dataclass(frozen=True)
class ProgramOptions:
    """Options of the command line, as they were written.

    Attributes:
        args, outs, loads, dumps, knobs: Texts of the options that may be repeated.
        function, setup: Empty when not given.
        foreign, illegal, ubuf_to_ubuf, hazard, ctrl: Empty for those of the setup file.
        strict: False for that of the setup file.
        seed: None for that of the setup file.
        schedules: Numbers of the schedules to replay under; empty for one plain replay.
    """

    args: tuple[str, ...] = ()
    outs: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    dumps: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    function: str = ""
    foreign: str = ""
    illegal: str = ""
    ubuf_to_ubuf: str = ""
    setup: str = ""
    hazard: str = ""
    ctrl: str = ""
    strict: bool = False
    seed: int | None = None
    schedules: tuple[int, ...] = ()

    def words(self) -> tuple[str, ...]:
        """Returns the options as words that repeat them."""
        found: list[str] = []
        for name, texts in (
            ("--arg", self.args),
            ("--out", self.outs),
            ("--load", self.loads),
            ("--dump", self.dumps),
            ("--knobs", self.knobs),
        ):
            for text in texts:
                found += [name, text]
        for name in ("function", "foreign", "illegal", "ubuf_to_ubuf", "hazard", "ctrl", "setup"):
            if value := getattr(self, name):
                found += [f"--{name.replace('_', '-')}", value]
        if self.strict:
            found.append("--strict")
        if self.seed is not None:
            found += ["--seed", str(self.seed)]
        if len(self.schedules) == 1:
            found += ["--schedule", str(self.schedules[0])]
        elif self.schedules:
            found += ["--schedules", str(len(self.schedules))]
        return tuple(found)


MOST_SCHEDULES = 10_000
"""Schedules of a program at most."""


def chosen_schedules(count: str, number: str) -> tuple[int, ...]:
    """Returns the numbers of the schedules that ``--schedules`` or ``--schedule`` names.

    Raises:
        PtoError: one is no number in its range, or both are given.
    """
    if count and number:
        raise PtoError(
            "--schedules and --schedule",
            where="--schedule",
            remedy="--schedules N replays under N schedules, --schedule K under one of them alone",
        )
    for option, text, low, high in (
        ("--schedules", count, 2, MOST_SCHEDULES),
        ("--schedule", number, 0, MOST_SCHEDULES - 1),
    ):
        value = integer(text) if text else None
        if text and (value is None or not low <= value <= high):
            raise PtoError(f"{option} is {text!r}", where=option, legal=f"an integer {low}..{high}")
    if number:
        return (integer(number) or 0,)
    return tuple(range(integer(count) or 0)) if count else ()


@dataclass(frozen=True)
class Request:
    """Request to run one program.

    Attributes:
        path: The program.
        args: Number of an argument to its value.
        outs: Number of an argument to the file that gets its buffer.
        loads, dumps, checks, faults: Tables of the setup file and options, each with its place;
            dumps with their file.
        backgrounds, knobs, function, illegal, foreign, seed, stall_seed, unit_flags,
            ubuf_to_ubuf, hazard, strict, ctrl: As of :class:`tb.programs.setup.Setup`.
        schedules: As of :class:`ProgramOptions`.
        setup: The setup file, None for none.
    """

    path: Path
    args: Mapping[int, Given] = field(default_factory=dict)
    outs: Mapping[int, Target] = field(default_factory=dict)
    loads: tuple[tuple[LoadTable, Given], ...] = ()
    dumps: tuple[tuple[DumpTable, Target], ...] = ()
    checks: tuple[tuple[CheckTable, Given], ...] = ()
    faults: tuple[tuple[FaultTable, str], ...] = ()
    backgrounds: Mapping[str, int] = field(default_factory=dict)
    knobs: Mapping[str, int] = field(default_factory=dict)
    function: str = ""
    illegal: Illegal = "refuse"
    foreign: Foreign = "refuse"
    seed: int | None = None
    stall_seed: int = 0
    setup: Path | None = None
    unit_flags: str = ""
    ubuf_to_ubuf: UbufToUbuf = "bytes"
    hazard: Hazard = ""
    strict: bool = False
    ctrl: int | None = None
    schedules: tuple[int, ...] = ()


def request(path: Path, file: SetupFile, options: ProgramOptions) -> Request:
    """Returns the request of a program.

    Raises:
        PtoError: an option cannot be read.
    """
    setup = file.setup
    found = Request(
        path,
        {
            number: Given(value, file.where("args", str(number)), file.folder)
            for number, value in setup.args.items()
        },
        {
            number: Target(file.folder / name, file.where("out", str(number)))
            for number, name in setup.out.items()
        },
        tuple(
            (one, Given(one.data, file.where("load", index, "data"), file.folder))
            for index, one in enumerate(setup.load)
        ),
        tuple(
            (one, Target(file.folder / one.file, file.where("dump", index, "file")))
            for index, one in enumerate(setup.dump)
        ),
        tuple(
            (one, Given(one.data, file.where("check", index), file.folder))
            for index, one in enumerate(setup.check)
        ),
        tuple((one, file.where("fault", index)) for index, one in enumerate(setup.fault)),
        setup.backgrounds,
        setup.knobs,
        setup.function,
        setup.illegal,
        setup.foreign,
        setup.seed,
        setup.stall_seed,
        file.path,
        setup.unit_flags,
        setup.ubuf_to_ubuf,
        setup.hazard or "",
        setup.strict,
        setup.ctrl,
    )
    return _with_options(found, options)


def numbered(texts: Sequence[str], option: str, example: str) -> Iterable[tuple[int, str]]:
    """Yields number and value of options of the form ``N=VALUE``.

    Raises:
        PtoError: one is not, or a number is given twice.
    """
    seen: dict[int, str] = {}
    for text in texts:
        number, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"\s*\d+\s*", number) or not value.strip():
            raise PtoError(
                f"{option} {text!r} is not understood",
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


def _with_options(found: Request, options: ProgramOptions) -> Request:
    args = {
        number: Given(text, f"--arg {number}={text}")
        for number, text in numbered(options.args, "--arg", "0=in.npy")
    }
    outs = {
        number: Target(Path(text), f"--out {number}={text}")
        for number, text in numbered(options.outs, "--out", "0=out.bin")
    }
    illegal = _choice("--illegal", options.illegal, get_args(Illegal))
    foreign = _choice("--foreign", options.foreign, get_args(Foreign))
    unit = _choice("--ubuf-to-ubuf", options.ubuf_to_ubuf, get_args(UbufToUbuf))
    return replace(
        found,
        args={**found.args, **args},
        outs={**found.outs, **outs},
        loads=(*found.loads, *map(_load, options.loads)),
        dumps=(*found.dumps, *map(_dump, options.dumps)),
        knobs={**found.knobs, **_knobs(options.knobs)},
        function=options.function or found.function,
        illegal=cast(Illegal, illegal or found.illegal),
        foreign=cast(Foreign, foreign or found.foreign),
        ubuf_to_ubuf=cast(UbufToUbuf, unit or found.ubuf_to_ubuf),
        hazard=hazard_option(options.hazard) or found.hazard,
        strict=options.strict or found.strict,
        ctrl=ctrl_option(options.ctrl) if options.ctrl else found.ctrl,
        seed=found.seed if options.seed is None else options.seed,
        schedules=options.schedules,
    )


def ctrl_option(text: str) -> int:
    """Returns the value of ``--ctrl``.

    Raises:
        PtoError: it is no value of CTRL.
    """
    try:
        return ctrl_word(text)
    except PydanticCustomError as error:
        raise PtoError(error.message(), where="--ctrl") from None


def _choice(option: str, text: str, legal: tuple[str, ...]) -> str:
    if text and text not in legal:
        raise PtoError(f"{option} is {text!r}", where=option, legal=", ".join(legal))
    return text


def _split(text: str, option: str, example: str) -> tuple[str, int | None, int, int | None, str]:
    """Returns memory, argument, address, length and file of ``MEMORY@ADDRESS:LENGTH=FILE``."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:@\s*(\w+)\s*)?(?::\s*(\w+)\s*)?=(.*)", text)
    address = integer(found[2]) if found and found[2] else 0
    length = integer(found[3]) if found and found[3] else None
    broken = address is None or (found and found[3] and not length)
    if not found or broken or not found[4].strip():
        raise PtoError(
            f"{option} {text!r} is not understood",
            where=option,
            legal=f"such as {example}; a memory, or argN for the buffer of an argument",
        )
    assert address is not None
    if argument := re.fullmatch(r"arg(\d+)", found[1]):
        return "", int(argument[1]), address, length, found[4].strip()
    try:
        space = space_name(found[1])
    except PydanticCustomError as error:
        raise PtoError(error.message(), where=f"{option} {text}", legal="or argN") from None
    try:
        check_range(space, address, length or 1)
    except PtoError as error:
        error.where = f"{option} {text}"
        raise
    return space, None, address, length, found[4].strip()


def _load(text: str) -> tuple[LoadTable, Given]:
    space, arg, address, length, data = _split(text, "--load", "ub0@0x100=tile.npy")
    if length is not None:
        raise PtoError(
            f"--load {text!r} has a length",
            where="--load",
            legal="MEMORY@ADDRESS=DATA: the data are as long as they are",
        )
    table = LoadTable.model_construct(
        space=space, arg=arg, address=address, data=data, offset=0, length=None
    )
    return table, Given(data, f"--load {text}")


def _dump(text: str) -> tuple[DumpTable, Target]:
    space, arg, address, length, name = _split(text, "--dump", "ub0@0:4096=ub.bin")
    if length is None:
        if arg is not None:
            raise PtoError(
                f"--dump {text!r} has no length",
                where="--dump",
                remedy=f"--out {arg}={name} writes the whole buffer",
            )
        length = len(memory_range(space)[1]) - address
        if space == "gm":
            raise PtoError(
                f"--dump {text!r} has no length", where="--dump", legal="gm@ADDRESS:LENGTH=FILE"
            )
    table = DumpTable.model_construct(
        space=space, arg=arg, address=address, length=length, file=name
    )
    return table, Target(Path(name), f"--dump {text}")


def _knobs(texts: Sequence[str]) -> dict[str, int]:
    """Returns the knobs of ``a=1,b=2``."""
    found = {}
    for word in (word.strip() for text in texts for word in text.split(",")):
        if not word:
            continue
        name, equals, text = (part.strip() for part in word.partition("="))
        value = integer(text)
        if name not in KNOBS:
            close = difflib.get_close_matches(name, KNOBS, 1)
            raise PtoError(
                f"knob {name!r} is unknown" + (f"; did you mean {close[0]}?" if close else ""),
                where="--knobs",
                legal=", ".join(KNOBS),
            )
        if not equals or value is None:
            raise PtoError(f"--knobs {word!r} is not understood", where="--knobs", legal="a=1,b=2")
        try:
            check_knob(name, value)
        except PtoError as error:
            error.where = "--knobs"
            raise
        found[name] = value
    return found
