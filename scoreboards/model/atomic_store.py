# SPDX-License-Identifier: Apache-2.0
"""Atomic stores from UB to GM (docs/spec/order_and_atomics.md, section 6).

CTRL at the issue of the store gives type, operation and the treatment of inf and NaN of
f16. The arithmetic is that of the write-back, :mod:`scoreboards.model.fixpipe_atomic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoreboards.model.fixpipe_atomic import combine
from scoreboards.model.move import rows_collide
from scoreboards.model.outcome import Explanation, Memory
from scoreboards.model.registers import Registers
from tb.isa.footprint import Footprint
from tb.isa.spaces import Space

_TYPES = {
    1: ("f32", 4),
    2: ("f16", 2),
    3: ("s16", 2),
    4: ("s32", 4),
    5: ("s8", 1),
    6: ("bf16", 2),
}
"""CTRL[8:6] to the type and the bytes of its elements."""

_OPS = ("add", "max", "min")
"""Operations by CTRL[10:9]."""


@dataclass(slots=True)
class _Seen:
    """Elements in memory before the op, ``[outer loop, ..., row, element]``."""

    old: NDArray[Any] | None = None
    memory: NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True)
class AtomicStore:
    """A legal atomic store that updates something.

    Attributes:
        kind, size: Type by its name in CTRL, and bytes of an element.
        op: add, max or min.
        ieee: CTRL[48]: inf and NaN of f16 stay (AT-02).
        read, written: Rows in UB and in GM, of the same counts.
    """

    kind: str
    size: int
    op: str
    ieee: bool
    read: Footprint
    written: Footprint
    seen: _Seen = field(default_factory=_Seen, compare=False, repr=False)

    def move(self, memories: Mapping[Space, Memory]) -> int:
        """Updates every element, rows in the order of the loops; returns the events."""
        source, target = memories[self.read.space], memories[self.written.space]
        self.seen.memory, self.seen.old = source, None
        counts = self.written.counts[::-1]
        used = [(n, step) for n, step in zip(counts, self._steps(self.written), strict=True)]
        shape = tuple(n for n, _ in used if n > 1)
        if rows_collide(self.written.length, shape, tuple(step for n, step in used if n > 1)):
            # AT-05: undefined on the part, here in program order.
            events = 0
            for index in product(*map(range, counts)):
                events |= self._update(source, target, index, ())
            return events
        return self._update(source, target, (), counts)

    def _update(
        self, source: Memory, target: Memory, index: tuple[int, ...], counts: tuple[int, ...]
    ) -> int:
        """Updates one row, or with ``counts`` all of them; returns the events."""
        new = self._view(source, self.read, index, counts)
        where = self._view(target, self.written, index, counts)
        old = where.copy()
        if counts:
            self.seen.old = old
        where[...], events = combine(self.kind, self.op, old, new.copy(), ieee=self.ieee)
        return events

    def _steps(self, region: Footprint) -> tuple[int, ...]:
        return tuple(reversed(region.strides))

    def _view(
        self, memory: Memory, region: Footprint, index: tuple[int, ...], counts: tuple[int, ...]
    ) -> NDArray[Any]:
        """Returns elements of a region, those of one row or ``[outer loop, ..., row, element]``."""
        steps = self._steps(region)
        base = region.base + sum(i * step for i, step in zip(index, steps, strict=False))
        strides = [step if n > 1 else 0 for n, step in zip(counts, steps, strict=False)]
        shape = (*counts, region.length // self.size)
        return np.ndarray(shape, f"<u{self.size}", memory.data, base, (*strides, self.size))

    def explain(self, index: tuple[int, ...], byte: int | None, _region: int = 0) -> Explanation:
        """Names the element of a row that a byte of GM belongs to, and its computation."""
        if byte is None:
            return Explanation(f"row of elements of {self.kind}")
        element = byte // self.size
        row = self.read.base + sum(
            i * step for i, step in zip(index, self._steps(self.read), strict=True)
        )
        source = row + element * self.size
        values: tuple[str, ...] = ()
        seen = self.seen
        if seen.old is not None and seen.memory is not None:
            before = np.ascontiguousarray(seen.old[index][element : element + 1])
            new = np.frombuffer(
                seen.memory[source : source + self.size].tobytes(), f"<u{self.size}"
            )
            after, _ = combine(self.kind, self.op, before, new, ieee=self.ieee)
            digits = 2 * self.size + 2
            values = (
                f"{self.kind} {self.op} of {int(new[0]):#0{digits}x} to "
                f"{int(before[0]):#0{digits}x}: {int(after[0]):#0{digits}x}",
            )
        part = f", byte {byte % self.size} of {self.size}" if self.size > 1 else ""
        return Explanation(
            f"element {element} of {self.kind}{part}", source + byte % self.size, values
        )


def atomic_fields(state: Registers) -> dict[str, int]:
    """Returns the fields of CTRL that decide about a store, for the rule table."""
    return {
        "atomic_type": state.atomic_type,
        "atomic_op": state.atomic_op,
        "nosat": state.ctrl >> 48 & 1,
    }


def atomic_store(source: Footprint, target: Footprint, state: Registers) -> AtomicStore:
    """Returns the atomic store that CTRL makes of a copy; its type and op are legal."""
    kind, size = _TYPES[state.atomic_type]
    ieee = bool(state.ctrl >> 48 & 1)
    return AtomicStore(kind, size, _OPS[state.atomic_op], ieee, source, target)
