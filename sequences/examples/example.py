# SPDX-License-Identifier: Apache-2.0
"""Worked examples: ops, initial bytes, and the expected image."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tb.isa.ctrl import SetCtrl
from tb.isa.profile import current
from tb.isa.spaces import Space
from tb.isa.text import AnyOp

BACKGROUNDS: Mapping[Space, int] = {
    Space.GM: 0x55,
    Space.UB0: 0xAA,
    Space.UB1: 0xAA,
    Space.L1: 0xAA,
    Space.L0C: 0xAA,
    Space.BT: 0xAA,
    Space.FB: 0xAA,
    Space.L0: 0xAA,
}
"""Value of unwritten bytes (docs/spec/examples.md, docs/spec/bias_fb.md section 4)."""


def pattern(seed: int, length: int) -> NDArray[np.uint8]:
    """Returns P(``seed``), ``uint8[length]``: byte i is (7i + 13(i >> 8) + 29 seed + 3) mod 256."""
    i = np.arange(length, dtype=np.int64)
    return ((7 * i + 13 * (i >> 8) + 29 * seed + 3) & 0xFF).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Fill:
    """``length`` bytes of P(``seed``) at ``start`` of a memory; i counts from ``start``."""

    space: Space
    seed: int
    length: int
    start: int = 0

    def content(self) -> NDArray[np.uint8]:
        """Returns the bytes, ``uint8[length]``."""
        return pattern(self.seed, self.length)


@dataclass(frozen=True, slots=True)
class Data:
    """Given bytes at ``start`` of a memory."""

    space: Space
    data: bytes
    start: int = 0

    @property
    def length(self) -> int:
        """Bytes."""
        return len(self.data)

    def content(self) -> NDArray[np.uint8]:
        """Returns the bytes, ``uint8[length]``."""
        return np.frombuffer(self.data, dtype=np.uint8)


def contents(
    fills: Iterable[Fill | Data],
    backgrounds: Mapping[Space, int],
    space: Space,
    start: int,
    length: int,
) -> NDArray[np.uint8]:
    """Returns a part of a memory, ``uint8[length]``: the background, overwritten by the fills."""
    content = np.full(length, backgrounds.get(space, 0), dtype=np.uint8)
    for fill in fills:
        low, high = max(start, fill.start), min(start + length, fill.start + fill.length)
        if fill.space is space and low < high:
            data = fill.content()
            content[low - start : high - start] = data[low - fill.start : high - fill.start]
    return content


Knobs = Mapping[str, int | str]
"""Names of knobs and the values that an example holds for; it holds for any value of others."""


def _in_use(knobs: Knobs) -> bool:
    """Returns whether the profile of the process has these values."""
    return all(getattr(current(), name) == value for name, value in knobs.items())


@dataclass(frozen=True, slots=True)
class Image:
    """Expected memory contents from ``start`` on: ``length`` bytes with CRC-32 ``crc`` (zlib)."""

    space: Space
    length: int
    crc: int
    start: int = 0

    def of(self, memory: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the part of a whole memory that it covers, ``uint8[length]``."""
        return memory[self.start : self.start + self.length]

    def matches(self, data: NDArray[np.uint8]) -> bool:
        """Returns whether ``data``, ``uint8[length]``, is the expected content."""
        return len(data) == self.length and zlib.crc32(data.tobytes()) == self.crc


@dataclass(frozen=True)
class Example:
    """One worked example.

    Attributes:
        name: Identifier in docs/spec/examples.md.
        forms: Form name (``"legacy"``, ``"v06"``) to the program of that form, in order.
        fills: Memory contents before the ops; later fills overwrite earlier ones.
        space: Memory of the expected image, the first of ``images``.
        length: Bytes of the image.
        crc: CRC-32 (zlib) of the image.
        backgrounds: Value of every other byte, by space.
        others: Images of other memories.
        knobs: Values of knobs that it holds for.
        start: First byte of the image.
    """

    name: str
    forms: Mapping[str, tuple[AnyOp, ...]]
    fills: tuple[Fill | Data, ...]
    space: Space
    length: int
    crc: int
    backgrounds: Mapping[Space, int] = field(default_factory=lambda: BACKGROUNDS)
    others: tuple[Image, ...] = ()
    knobs: Knobs = field(default_factory=dict)
    start: int = 0

    @property
    def applies(self) -> bool:
        """Whether it holds under the profile of the process."""
        return _in_use(self.knobs)

    @property
    def images(self) -> tuple[Image, ...]:
        """Every memory with contents in the example."""
        return (Image(self.space, self.length, self.crc, self.start), *self.others)

    def initial(self, space: Space, start: int, length: int) -> NDArray[np.uint8]:
        """Returns the bytes of a memory before the ops, ``uint8[length]``."""
        return contents(self.fills, self.backgrounds, space, start, length)

    def matches(self, image: NDArray[np.uint8]) -> bool:
        """Returns whether ``image``, ``uint8[length]``, is the expected one."""
        return self.images[0].matches(image)


@dataclass(frozen=True, slots=True)
class RuleExample:
    """An op that must retire with the error of ``rule`` and change nothing.

    ``rule`` is n of <family>-Ln; the family is that of the op. The op is issued with CTRL ``ctrl``.
    """

    name: str
    op: AnyOp
    rule: int
    ctrl: int = 0
    knobs: Knobs = field(default_factory=dict)

    @property
    def applies(self) -> bool:
        """Whether it holds under the profile of the process."""
        return _in_use(self.knobs)

    @property
    def program(self) -> tuple[AnyOp, ...]:
        """The op with the writes of CTRL around it."""
        return (SetCtrl(self.ctrl), self.op, SetCtrl(0)) if self.ctrl else (self.op,)
