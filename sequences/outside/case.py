# SPDX-License-Identifier: Apache-2.0
"""Outside results: a program, the memories before it, and the bytes that each row states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sequences.blocks import block_of, lower_program, split_program
from sequences.examples.example import BACKGROUNDS, Data, Fill, Image, contents
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.op import Op, replace
from tb.isa.rules import first_d_violation, s_violations
from tb.isa.spaces import Space
from tb.isa.text import AnyOp

Memory = NDArray[np.uint8]
View = Callable[[Space], Memory]
"""A space to its bytes after the program, ``uint8[capacity]``."""

_NAN: dict[str, tuple[int, int, int]] = {
    "f32": (4, 0x7FFFFFFF, 0x7F800001),
    "f16": (2, 0x7FFF, 0x7C01),
    "bf16": (2, 0x7FFF, 0x7F81),
    "f8E4M3FN": (1, 0x7F, 0x7F),
    "hif8": (1, 0xFF, 0x80),
}
"""Format to its bytes, the bits that decide whether a code is NaN, and the least such code; of
hif8, which has one NaN, that code."""


def is_nan(dtype: str, code: int) -> bool:
    """Returns whether a code of an element type is NaN; integers have none."""
    if dtype not in _NAN:
        return False
    _, mask, least = _NAN[dtype]
    return code == least if dtype == "hif8" else code & mask >= least


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes from ``start`` of a memory on."""

    space: Space
    start: int
    data: bytes

    @property
    def length(self) -> int:
        """Bytes."""
        return len(self.data)

    def holds(self, view: View, case: Case) -> bool:  # noqa: ARG002 (as the others)
        """Returns whether the memory has them."""
        return _part(view, self).tobytes() == self.data


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a float type; sign and payload of a NaN are not facts and not compared."""

    space: Space
    start: int
    dtype: str
    code: int

    @property
    def length(self) -> int:
        """Bytes."""
        return _NAN[self.dtype][0]

    def holds(self, view: View, case: Case) -> bool:  # noqa: ARG002 (as the others)
        """Returns whether the memory has the code, or any NaN where the code is one."""
        found = int.from_bytes(_part(view, self).tobytes(), "little")
        if is_nan(self.dtype, self.code):
            return is_nan(self.dtype, found)
        return found == self.code


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes that keep the value that they had before the program."""

    space: Space
    start: int
    length: int

    def holds(self, view: View, case: Case) -> bool:
        """Returns whether every byte is as before."""
        before = case.initial(self.space, self.start, self.length)
        return np.array_equal(_part(view, self), before)


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes that are written, their values are not stated: the program changes each of them."""

    space: Space
    start: int
    length: int

    def holds(self, view: View, case: Case) -> bool:
        """Returns whether every byte differs from before."""
        before = case.initial(self.space, self.start, self.length)
        return bool((_part(view, self) != before).all())


@dataclass(frozen=True, slots=True)
class Crc:
    """CRC-32 of a part of a memory."""

    image: Image

    @property
    def space(self) -> Space:
        """The memory."""
        return self.image.space

    @property
    def start(self) -> int:
        """First byte."""
        return self.image.start

    @property
    def length(self) -> int:
        """Bytes."""
        return self.image.length

    def holds(self, view: View, case: Case) -> bool:  # noqa: ARG002 (as the others)
        """Returns whether the part has it."""
        return self.image.matches(_part(view, self))


Expected = Bytes | Element | Kept | Written | Crc


def _part(view: View, one: Expected) -> Memory:
    """Returns the bytes of a memory that an expectation is about."""
    return view(one.space)[one.start : one.start + one.length]


@dataclass(frozen=True, slots=True)
class Row:
    """One fact of a file.

    Attributes:
        file: Name of the file without its ending.
        source: Tag of the project that it comes from.
        name: Identifier in the file.
        text: What it states, in one line.
        expected: The bytes after the program.
        unknown: Why it cannot be judged; empty for a row with ``expected``.
    """

    file: str
    source: str
    name: str
    text: str
    expected: tuple[Expected, ...] = ()
    unknown: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError unless the row has either bytes or a reason."""
        if bool(self.expected) == bool(self.unknown):
            raise ValueError(f"{self.name}: a row states bytes or has a reason why not")

    def holds(self, view: View, case: Case) -> bool:
        """Returns whether memories agree with the row."""
        return all(one.holds(view, case) for one in self.expected)

    def equal(self, one: View, other: View) -> bool:
        """Returns whether two sets of memories have the same bytes wherever the row states some."""
        return all(np.array_equal(_part(one, x), _part(other, x)) for x in self.expected)


@dataclass(frozen=True)
class Case:
    """Ops that run one after the other on fresh memories, and the rows that they decide.

    Attributes:
        name: Name for messages.
        rows: At least one.
        ops: The program; empty where no row states bytes.
        fills: Memory contents before it; later fills overwrite earlier ones.
        backgrounds: Value of every other byte, by space.
    """

    name: str
    rows: tuple[Row, ...]
    ops: tuple[AnyOp, ...] = ()
    fills: tuple[Fill | Data, ...] = ()
    backgrounds: Mapping[Space, int] = field(default_factory=lambda: BACKGROUNDS)

    def initial(self, space: Space, start: int, length: int) -> Memory:
        """Returns the bytes of a memory before the program, ``uint8[length]``."""
        return contents(self.fills, self.backgrounds, space, start, length)

    @property
    def refused(self) -> bool:
        """Whether a front end refuses an op under the profile of the process (S rules)."""
        return any(s_violations(op) for op in self.ops if isinstance(op, Op))

    def blocks(self) -> list[OpBlock]:
        """Returns one block per program, with the rule that it breaks under the profile."""
        found, registers = [], DmaRegisters()
        for program in split_program(self.ops):
            lowered, registers = lower_program(program, registers)
            violation = first_d_violation(lowered.descriptor)
            found.append(
                block_of([replace(lowered, rule=violation.rule.number if violation else 0)])
            )
        return found


ZEROS: Mapping[Space, int] = dict.fromkeys(Space, 0)
"""Memories that are cleared before the program."""
