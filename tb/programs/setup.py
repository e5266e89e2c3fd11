# SPDX-License-Identifier: Apache-2.0
"""Setup of a program: arguments, memories before and after, checks, outputs, memory errors.

A setup file, ``x.toml`` next to ``x.pto``, and the options of the command have the same keys;
:mod:`tb.programs.request` reads both. A value of data is written as on the command line
(:mod:`tb.programs.data`): a file, ``zeros:BYTES``, ``ones:BYTES``, ``empty:BYTES``,
``random:BYTES``, ``pattern:SEED:BYTES``, ``hex:DIGITS``. Paths in a file are relative to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from tb.common.errors import PtoError
from tb.common.text import meant
from tb.harness.layout import FAULTS, KNOBS
from tb.isa.ctrl import CTRL_BITS
from tb.isa.ops import SLOTS
from tb.isa.spaces import L0_SEGMENTS, Space, memory_range
from tb.language.grammar.pointers import SPACES as KEYWORDS
from tb.language.order.verdict import Hazard, hazard_option

SPACES: tuple[str, ...] = tuple(
    name
    for space in Space
    for name in (L0_SEGMENTS if space is Space.L0 else (space.name.lower(),))
)
"""Names of the memories."""

BACKGROUNDS: tuple[str, ...] = tuple(space.name.lower() for space in Space)
"""Names of what has one background: ``l0`` is that of L0A, L0B and their scales."""


def refused(error: PtoError, key: str = "") -> PydanticCustomError:
    """Returns an error of a value for pydantic.

    Args:
        error: The error; :mod:`tb.programs.request` adds the place.
        key: Key of the part of the value that is wrong; empty for all of it.
    """
    return PydanticCustomError("setup", "{what}", {"what": error.what, "of": error, "key": key})


def _checked(check: Callable[[Any], object]) -> Callable[[Any], object]:
    """Returns a validator of pydantic that calls ``check``, which may raise PtoError."""

    def validate(value: object) -> object:
        try:
            return check(value)
        except PtoError as error:
            raise refused(error) from None

    return validate


def space_name(text: str, names: tuple[str, ...] = SPACES) -> str:
    """Returns the name of a memory, given that or an alias, in any case.

    Plain ``ub`` is that of sub-block 0.

    Raises:
        PtoError: there is no such memory.
    """
    name = KEYWORDS.get(text.lower(), text.lower())
    name = "ub0" if name == "ub" else name
    if name not in names:
        raise PtoError(f"memory {name!r} is unknown", legal=", ".join(names))
    return name


def check_range(space: str, address: int, length: int) -> None:
    """Raises PtoError when a range leaves its memory; the caller adds the place."""
    size = len(memory_range(space)[1])
    if address < 0 or address + length > size:
        raise PtoError(
            f"{length} bytes at {address:#x} leave {space}",
            legal=f"{space} has {size} bytes: addresses 0..{size - 1:#x}",
            remedy="move or shorten the range",
        )


def _knobs(values: dict[str, int]) -> dict[str, int]:
    for name, value in values.items():
        if name not in KNOBS:
            what = f"knob {name!r} is unknown{meant(name, KNOBS)}"
            raise refused(PtoError(what, legal=", ".join(KNOBS)), name)
        knob = KNOBS[name]
        if not knob.low <= value <= knob.high:
            legal = f"{knob.low}..{knob.high}, {knob.meaning}"
            raise refused(PtoError(f"knob {name} is {value}", legal=legal), name)
    return values


def _number(value: object) -> object:
    """Converts a key of a table, which is text in TOML."""
    if isinstance(value, str) and not re.fullmatch(r"0|[1-9]\d{0,8}", value, re.ASCII):
        raise PtoError(f"{value!r} is not a number of an argument: 0 is the first")
    return int(value) if isinstance(value, str) else value


def ctrl_word(value: object, where: str = "") -> int:
    """Returns a value of CTRL, given as a number or as text.

    Raises:
        PtoError: it is none.
    """
    with suppress(ValueError):
        word = int(ascii(value)[1:-1].strip(), 0) if isinstance(value, str) else value
        if type(word) is int and 0 <= word < 1 << CTRL_BITS:
            return word
    most = hex((1 << CTRL_BITS) - 1)
    raise PtoError(
        f"{value!r} is not a value of CTRL",
        where=where,
        legal=f"an integer 0..{most}",
        remedy="give an integer, such as 0x1000000000000",
    )


def _hazard(value: object) -> Hazard:
    return hazard_option(str(value) or "''", "hazard")


def _scalar(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise PydanticCustomError("scalar", "an argument is a text or a number")
    return value


SpaceName = Annotated[str, AfterValidator(_checked(space_name))]
BackgroundName = Annotated[
    str, AfterValidator(_checked(lambda text: space_name(text, BACKGROUNDS)))
]
Byte = Annotated[int, Field(strict=True, ge=0, le=255)]
Whole = Annotated[int, Field(strict=True, ge=0)]
Length = Annotated[int, Field(strict=True, ge=1)]
ArgumentNumber = Annotated[int, BeforeValidator(_checked(_number))]
Value = Annotated[Any, BeforeValidator(_scalar)]
Text = Annotated[str, Field(min_length=1)]
Illegal = Literal["refuse", "send"]
Foreign = Literal["refuse", "skip"]
UbufToUbuf = Literal["bytes", "blocks"]


class Table(BaseModel):
    """Values that cannot change, without further keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RangeTable(Table):
    """A range of a memory, or of the buffer of an argument.

    Attributes:
        space: The memory, or
        arg: the number of an argument that is a GM pointer.
        address: First byte; an offset where an argument is named.
        length: Bytes; None for those of the data or file.
    """

    space: SpaceName = ""
    arg: Whole | None = None
    address: Whole = 0
    length: Length | None = None

    @model_validator(mode="after")
    def _in_its_memory(self) -> Self:
        if (not self.space) == (self.arg is None):
            what = "space and arg" if self.space else "neither space nor arg"
            legal = "space, the name of a memory, or arg, the number of an argument"
            raise refused(PtoError(what, legal=legal))
        try:
            if self.space:
                check_range(self.space, self.address, self.length or 1)
        except PtoError as error:
            raise refused(error, "address") from None
        return self


class LoadTable(RangeTable):
    """``[[load]]``: bytes that a memory holds before the program starts.

    Attributes:
        data: The bytes.
        offset, length: Which bytes of a file; all from the offset on when no length is given.
    """

    data: Text
    offset: Whole = 0


class DumpTable(RangeTable):
    """``[[dump]]``: bytes of a memory that are written to a file when the program has passed.

    Without a length they are the rest of an on-chip memory.
    """

    file: Text

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.length is None and self.space in ("", "gm"):
            remedy = "" if self.space else f"--out {self.arg}={self.file} writes the whole buffer"
            legal = "gm@ADDRESS:LENGTH=FILE, or key length of [[dump]]"
            raise refused(PtoError("a dump of gm has no length", legal=legal, remedy=remedy))
        return self

    @property
    def size(self) -> int:
        """Bytes to write."""
        return self.length or len(memory_range(self.space)[1]) - self.address


class CheckTable(RangeTable):
    """``[[check]]``: bytes that a memory must hold after the program.

    Attributes:
        length: How many bytes.
        crc32: Their CRC-32 as zlib has it, or
        data: the bytes themselves; the length may be left out then.
    """

    crc32: Annotated[int, Field(strict=True, ge=0, lt=1 << 32)] | None = None
    data: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if bool(self.data) == (self.crc32 is not None) or not (self.data or self.length):
            raise refused(PtoError("a check needs length and crc32, or data"))
        return self


class FaultTable(RangeTable):
    """``[[fault]]``: accesses that fail (:class:`scoreboards.faults.Fault`).

    Attributes:
        length: Bytes of the window.
        kind: Kind of error response.
        sides: Reads, writes or both.
        nth: Only the n-th word that touches the window fails; 0 is every one.
        slots: Slots that it applies to.
    """

    length: Length = 1
    kind: Literal["slverr", "decerr", "local"]
    sides: Literal["read", "write", "both"] = "both"
    nth: Annotated[int, Field(strict=True, ge=0, lt=1 << 32)] = 0
    slots: tuple[Literal["mte1", "mte2", "mte3", "fix"], ...] = Field(
        ("mte1", "mte2", "mte3", "fix"), min_length=1
    )

    @model_validator(mode="after")
    def _of_its_memory(self) -> Self:
        gm = self.arg is not None or self.space == "gm"
        if gm == (self.kind == "local"):
            what = f"a fault of {self.space or 'gm'} is {self.kind}"
            legal = "slverr, decerr of gm; local of the other memories"
            raise refused(PtoError(what, legal=legal), "kind")
        return self

    def keywords(self, space: str, address: int) -> dict[str, Any]:
        """Returns the keyword arguments of a Fault; memory and kind as their numbers."""
        return {
            "space": int(Space[space.upper()]),
            "address": address,
            "kind": ("slverr", "decerr", "local").index(self.kind),
            "length": self.length,
            "sides": {"read": 1, "write": 2, "both": 3}[self.sides],
            "nth": self.nth,
            "slots": sum(1 << SLOTS.index(slot) for slot in set(self.slots)),
        }


def _faults(found: tuple[FaultTable, ...]) -> tuple[FaultTable, ...]:
    if len(found) > FAULTS:
        raise refused(PtoError(f"{len(found)} faults", legal=f"at most {FAULTS} at a time"))
    return found


class Behaviour(Table):
    """The part of a setup that the simulation reads as it is.

    Attributes:
        illegal: Treatment of ops that break a D rule: the program is rejected, or they are sent and
            the engine must reject them.
        backgrounds: Memory to the byte it is filled with; others have random bytes.
        knobs: Settings of the memories, names of :data:`tb.harness.layout.KNOBS`.
        stall_seed: Seed of random stalls; 0 for the seed.
        unit_flags: Unit flags before the program, bit b of byte n that of the L0C block 8n + b, in
            hexadecimal digits. Without them, those of a program whose products have a clause
            ``unit_flag`` begin at 0, and those of any other are random.
    """

    illegal: Illegal = "refuse"
    backgrounds: dict[BackgroundName, Byte] = Field(default_factory=dict)
    knobs: Annotated[dict[str, Annotated[int, Field(strict=True)]], AfterValidator(_knobs)] = Field(
        default_factory=dict
    )
    stall_seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 32)] = 0
    unit_flags: Annotated[str, Field(pattern=r"^([0-9a-fA-F]{128})?$")] = ""

    def behaviour(self) -> dict[str, Any]:
        """Returns these fields alone."""
        return {name: getattr(self, name) for name in Behaviour.model_fields}


class Setup(Behaviour):
    """A setup file, or the options of a command.

    Attributes:
        function: Function to run; empty for the only one.
        foreign: Treatment of ops that neither engines nor host execute.
        ubuf_to_ubuf, ctrl: As of :func:`tb.language.run.walk.trace`.
        args: Number of an argument to its value: data for a GM pointer, else a number.
        out: Number of an argument to the file that its buffer is written to.
        load, dump, check, fault: Memory contents before and after, and memory errors.
        seed: Seed of buffers' places, of ``random:`` data and of memories.
        hazard: Verdict on hazards; empty for the default.
        strict: Whether every warning is an error.
    """

    function: str = ""
    foreign: Foreign = "refuse"
    ubuf_to_ubuf: UbufToUbuf = "bytes"
    ctrl: Annotated[int, BeforeValidator(_checked(ctrl_word))] | None = None
    args: dict[ArgumentNumber, Value] = Field(default_factory=dict)
    out: dict[ArgumentNumber, Text] = Field(default_factory=dict)
    load: tuple[LoadTable, ...] = ()
    dump: tuple[DumpTable, ...] = ()
    check: tuple[CheckTable, ...] = ()
    fault: Annotated[tuple[FaultTable, ...], AfterValidator(_faults)] = ()
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] | None = None
    hazard: Annotated[Hazard, BeforeValidator(_checked(_hazard))] = ""
    strict: Annotated[bool, Field(strict=True)] = False

    def over(self, below: Setup) -> Setup:
        """Returns a setup in which the values given here override others; lists are joined."""
        found = {}
        for name in self.model_fields_set:
            value, other = getattr(self, name), getattr(below, name)
            if isinstance(value, dict):
                value = {**other, **value}
            found[name] = (*other, *value) if isinstance(value, tuple) else value
        return below.model_copy(update=found)


TABLES: Mapping[str, type[Table]] = {
    "load": LoadTable,
    "dump": DumpTable,
    "check": CheckTable,
    "fault": FaultTable,
}
"""Arrays of tables of a setup file."""
