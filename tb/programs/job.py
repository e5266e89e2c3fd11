# SPDX-License-Identifier: Apache-2.0
"""Input of the simulation of a program: everything resolved to numbers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Load(BaseModel):
    """Bytes to put into a memory before the program starts.

    Attributes:
        space: Name of a :class:`tb.isa.spaces.Space` in small letters: ``gm``, ``ub0``, ``ub1``,
            ``l1``, ``l0c``, ``bt``, ``fb``.
        address: Destination.
        file: File of raw bytes.
        offset, length: Range in the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    space: str
    address: int
    file: str
    offset: int = 0
    length: int


class Dump(BaseModel):
    """Bytes to write to a file when the program has ended; ``file`` is in the run's folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    space: str
    address: int
    length: int
    file: str


class Check(BaseModel):
    """Bytes with an expected CRC-32 (zlib).

    Attributes:
        expected: The bytes themselves, where they are known.
        where: Place of the check and its subject, for reports.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    space: str
    address: int
    length: int
    crc32: int
    expected: Load | None = None
    where: str = ""


class ProgramJob(BaseModel):
    """One program to replay.

    Attributes:
        path: The ``.pto`` file.
        title: Name in reports.
        function: Function to run; empty for the only one.
        arguments: Position of an argument to its value: an address, an integer, or the bits of a
            float.
        illegal: Treatment of ops that break a D rule: the program is rejected, or they are sent and
            the engine must reject them.
        foreign: Treatment of ops that neither engines nor host execute.
        ubuf_to_ubuf, ctrl: As of :func:`tb.language.run.walk.trace`.
        backgrounds: Memory to the byte it is filled with; others have random bytes.
        loads, dumps, checks: Memory contents before and after.
        knobs: Settings of the memories, names of :data:`tb.harness.layout.KNOBS`.
        seed: Seed of the memories' random bytes; 0 for that of the run.
        stall_seed: Seed of random stalls; 0 for that of the run.
        unit_flags: As of :class:`tb.programs.setup.Setup`. Without them, those of a program whose
            products have a clause ``unit_flag`` begin at 0, and those of any other are random.
        faults: Memory errors to inject, as keyword arguments of :class:`scoreboards.faults.Fault`,
            memory and kind as their numbers.
        schedules: Numbers of the schedules to replay it under; empty for one replay without drawn
            values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    title: str
    function: str = ""
    arguments: dict[int, int] = Field(default_factory=dict)
    illegal: Literal["refuse", "send"] = "refuse"
    foreign: Literal["refuse", "skip"] = "refuse"
    ubuf_to_ubuf: Literal["bytes", "blocks"] = "bytes"
    ctrl: int | None = None
    backgrounds: dict[str, int] = Field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    dumps: tuple[Dump, ...] = ()
    checks: tuple[Check, ...] = ()
    knobs: dict[str, int] = Field(default_factory=dict)
    seed: int = 0
    stall_seed: int = 0
    unit_flags: str = ""
    faults: tuple[dict[str, Any], ...] = ()
    schedules: tuple[int, ...] = ()


def set_flags(text: str) -> frozenset[int]:
    """Returns the blocks of L0C whose unit flags are set when a program begins.

    Args:
        text: ``unit_flags`` of a job or a setup; of an empty one none is, where it matters: the
            flags of a program whose products use them begin at 0.
    """
    bits = int.from_bytes(bytes.fromhex(text), "little")
    return frozenset(block for block in range(bits.bit_length()) if bits >> block & 1)
