# SPDX-License-Identifier: Apache-2.0
"""Input of the simulation of a program: everything resolved to numbers."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from tb.common.errors import PtoError
from tb.language.order.order import Order
from tb.language.trace import Trace
from tb.programs.setup import Behaviour, Table

PROGRAMS = "programs.pickle"
"""File in the folder of a run, written and removed with it."""


class Load(Table):
    """Bytes to put into a memory before the program starts.

    Attributes:
        space: Name of a :class:`tb.isa.spaces.Space` in small letters: ``gm``, ``ub0``, ``ub1``,
            ``l1``, ``l0c``, ``bt``, ``fb``.
        address: Destination.
        data: The bytes.
    """

    space: str
    address: int
    data: bytes


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
    expected: bytes | None = None
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


@dataclass(frozen=True)
class Staged:
    """A program that a command hands to its simulation, which reads no text itself."""

    job: ProgramJob
    trace: Trace
    order: Order


def write_programs(folder: Path, programs: Iterable[Staged]) -> None:
    """Writes programs into the folder of a run."""
    (folder / PROGRAMS).write_bytes(pickle.dumps(tuple(programs), pickle.HIGHEST_PROTOCOL))


def read_programs(folder: Path) -> tuple[Staged, ...]:
    """Returns the programs in the folder of a run.

    Raises:
        PtoError: there are none.
    """
    path = folder / PROGRAMS
    if not path.exists():
        raise PtoError(
            "no program to replay", where="TEST=program", remedy="make program PROGRAM=x.pto"
        )
    found: tuple[Staged, ...] = pickle.loads(path.read_bytes())
    return found
