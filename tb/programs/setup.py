# SPDX-License-Identifier: Apache-2.0
"""Schema of a setup file, ``x.toml`` next to ``x.pto``.

Arguments of the kernel, memories before and after, checks, outputs, memory errors.
:mod:`tb.programs.setup_file` reads it. A value of data is written as on the command line
(:mod:`tb.programs.data`): a file, ``zeros:BYTES``, ``ones:BYTES``, ``empty:BYTES``,
``random:BYTES``, ``pattern:SEED:BYTES``, ``hex:DIGITS``. Paths are relative to the setup file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tb.harness.layout import KNOBS
from tb.isa.ctrl import CTRL_BITS
from tb.isa.ops import SLOTS
from tb.isa.spaces import L0_SEGMENTS, Space

SPACE_ALIASES: dict[str, str] = {
    "ub": "ub0",
    "vec": "ub0",
    "mat": "l1",
    "cbuf": "l1",
    "acc": "l0c",
    "bias": "bt",
    "scaling": "fb",
    "left": "l0a",
    "right": "l0b",
}
"""Other names of memories (spec/README.md, "Memories"); plain ``ub`` is that of sub-block 0."""

SPACES: tuple[str, ...] = tuple(
    name
    for space in Space
    for name in (L0_SEGMENTS if space is Space.L0 else (space.name.lower(),))
)
"""Names of the memories."""

BACKGROUNDS: tuple[str, ...] = tuple(space.name.lower() for space in Space)
"""Names of what has one background: ``l0`` is that of L0A, L0B and their scales."""


def space_name(text: str, names: tuple[str, ...] = SPACES) -> str:
    """Returns the name of a memory, given that or an alias, in any case.

    Raises:
        PydanticCustomError: there is no such memory.
    """
    name = SPACE_ALIASES.get(text.lower(), text.lower())
    if name not in names:
        raise PydanticCustomError(
            "space",
            "memory {name} is unknown: one of {legal}",
            {"name": repr(text), "legal": ", ".join(names)},
        )
    return name


def _background_name(text: str) -> str:
    return space_name(text, BACKGROUNDS)


def _knob_name(name: str) -> str:
    if name not in KNOBS:
        close = difflib.get_close_matches(name, KNOBS, 1)
        raise PydanticCustomError(
            "knob",
            "knob {name} is unknown{close}: one of {legal}",
            {
                "name": repr(name),
                "close": f", did you mean {close[0]}?" if close else "",
                "legal": ", ".join(KNOBS),
            },
        )
    return name


def _number(value: object) -> object:
    """Converts a key of a table, which is text in TOML."""
    if isinstance(value, str) and not re.fullmatch(r"0|[1-9]\d*", value):
        raise PydanticCustomError(
            "argument_number",
            "{value} is no number of an argument: 0 is the first",
            {"value": repr(value)},
        )
    return int(value) if isinstance(value, str) else value


def ctrl_word(value: object) -> int:
    """Returns a value of CTRL, given as a number or as text.

    Raises:
        PydanticCustomError: it is none.
    """
    with suppress(ValueError):
        word = int(value.strip(), 0) if isinstance(value, str) else value
        if type(word) is int and 0 <= word < 1 << CTRL_BITS:
            return word
    raise PydanticCustomError(
        "ctrl",
        "{value} is no value of CTRL: an integer 0..{most}, or text such as {example}",
        {"value": repr(value), "most": hex((1 << CTRL_BITS) - 1), "example": "'0x1000000000000'"},
    )


def _scalar(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise PydanticCustomError("scalar", "an argument is a text or a number")
    return value


SpaceName = Annotated[str, AfterValidator(space_name)]
BackgroundName = Annotated[str, AfterValidator(_background_name)]
Byte = Annotated[int, Field(strict=True, ge=0, le=255)]
Whole = Annotated[int, Field(strict=True, ge=0)]
Length = Annotated[int, Field(strict=True, ge=1)]
ArgumentNumber = Annotated[int, BeforeValidator(_number)]
Value = Annotated[Any, BeforeValidator(_scalar)]
Knobs = dict[Annotated[str, AfterValidator(_knob_name)], Annotated[int, Field(strict=True)]]
Illegal = Literal["refuse", "send"]
Foreign = Literal["refuse", "skip"]
UbufToUbuf = Literal["bytes", "blocks"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RangeTable(_Table):
    """A range of a memory, or of the buffer of an argument.

    Attributes:
        space: The memory, or
        arg: the number of an argument that is a GM pointer.
        address: First byte; an offset where an argument is named.
    """

    space: SpaceName = ""
    arg: Whole | None = None
    address: Whole = 0


class LoadTable(RangeTable):
    """``[[load]]``: bytes that a memory holds before the program starts.

    Attributes:
        data: The bytes.
        offset, length: Which bytes of a file; all from the offset on when no length is given.
    """

    data: str = Field(min_length=1)
    offset: Whole = 0
    length: Length | None = None


class DumpTable(RangeTable):
    """``[[dump]]``: bytes of a memory that are written to a file when the program has passed."""

    length: Length
    file: str = Field(min_length=1)


class CheckTable(RangeTable):
    """``[[check]]``: bytes that a memory must hold after the program.

    Attributes:
        length: How many bytes.
        crc32: Their CRC-32 as zlib has it, or
        data: the bytes themselves; the length may be left out then.
    """

    length: Length | None = None
    crc32: Annotated[int, Field(strict=True, ge=0, lt=1 << 32)] | None = None
    data: str = ""

    @property
    def complete(self) -> bool:
        """Tells whether exactly one of both forms is used, and is complete."""
        return bool(self.data) if self.crc32 is None else not self.data and self.length is not None


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


class Setup(_Table):
    """A setup file.

    Attributes:
        function: Function to run, where the program has several.
        args: Number of an argument to its value: data for a GM pointer, else a number.
        out: Number of an argument to the file that its buffer is written to.
        load, dump, check, fault: Memory contents before and after, and memory errors.
        backgrounds: Memory to the byte it is filled with.
        knobs: Settings of the memories.
        seed: Seed of buffers' places, of ``random:`` data and of memories.
        stall_seed: Seed of random stalls; 0 for the seed.
        unit_flags: Unit flags before the program, bit b of byte n that of the L0C block 8n + b, in
            hexadecimal digits; empty for random ones.
        illegal, foreign, ubuf_to_ubuf: See :class:`tb.programs.job.ProgramJob`.
        hazard: Verdict on hazards: ``error``, ``warn`` or ``off``; None for the default.
        strict: Whether every warning is an error.
        ctrl: CTRL of each core when the program starts; None as of
            :class:`tb.language.run.registers.RegisterState`.
    """

    function: str = ""
    args: dict[ArgumentNumber, Value] = Field(default_factory=dict)
    out: dict[ArgumentNumber, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    load: tuple[LoadTable, ...] = ()
    dump: tuple[DumpTable, ...] = ()
    check: tuple[CheckTable, ...] = ()
    fault: tuple[FaultTable, ...] = ()
    backgrounds: dict[BackgroundName, Byte] = Field(default_factory=dict)
    knobs: Knobs = Field(default_factory=dict)
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] | None = None
    stall_seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 32)] = 0
    unit_flags: Annotated[str, Field(pattern=r"^([0-9a-fA-F]{128})?$")] = ""
    illegal: Illegal = "refuse"
    foreign: Foreign = "refuse"
    ubuf_to_ubuf: UbufToUbuf = "bytes"
    hazard: Literal["error", "warn", "off"] | None = None
    strict: Annotated[bool, Field(strict=True)] = False
    ctrl: Annotated[int, BeforeValidator(ctrl_word)] | None = None


TABLES: Mapping[str, type[_Table]] = {
    "load": LoadTable,
    "dump": DumpTable,
    "check": CheckTable,
    "fault": FaultTable,
}
"""Arrays of tables of a setup file."""
