# SPDX-License-Identifier: Apache-2.0
"""Input of the simulation of a program: everything resolved to numbers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tb.programs.setup import Behaviour, Table


class Load(Table):
    """Bytes to put into a memory before the program starts.

    Attributes:
        space: Name of a :class:`tb.isa.spaces.Space` in small letters: ``gm``, ``ub0``, ``ub1``,
            ``l1``, ``l0c``, ``bt``, ``fb``.
        address: Destination.
        file: File of raw bytes.
        offset, length: Range in the file.
    """

    space: str
    address: int
    file: str
    offset: int = 0
    length: int


class Dump(Table):
    """Bytes to write to a file when the program has ended; ``file`` is in the run's folder."""

    space: str
    address: int
    length: int
    file: str


class Check(Table):
    """Bytes with an expected CRC-32 (zlib).

    Attributes:
        expected: The bytes themselves, where they are known.
        where: Place of the check and its subject, for reports.
    """

    space: str
    address: int
    length: int
    crc32: int
    expected: Load | None = None
    where: str = ""


class ProgramJob(Behaviour):
    """One program to replay.

    Attributes:
        path: The ``.pto`` file.
        title: Name in reports.
        arguments: Position of an argument to its value: an address, an integer, or the bits of a
            float.
        loads, dumps, checks: Memory contents before and after.
        seed: Seed of the memories' random bytes; 0 for that of the run.
        faults: Memory errors to inject, as keyword arguments of :class:`scoreboards.faults.Fault`,
            memory and kind as their numbers.
        schedules: Numbers of the schedules to replay it under; empty for one replay without drawn
            values.
    """

    path: str
    title: str
    arguments: dict[int, int] = Field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    dumps: tuple[Dump, ...] = ()
    checks: tuple[Check, ...] = ()
    seed: int = 0
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
