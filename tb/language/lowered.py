# SPDX-License-Identifier: Apache-2.0
"""Result of lowering an op: its descriptor, the D rules it breaks, the bytes it touches.

Each is found once, when it is first needed: rules, order, buffers and the replay all look at
the ops of a program.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacySet,
    lower_copy,
    lower_ubuf_copy,
)
from tb.isa.fix.op import FixOp
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.lower import lower
from tb.isa.op import Op, replace
from tb.isa.rule import Violation
from tb.isa.rules import d_violations, first_d_violation, lowering_violation
from tb.isa.spaces import located, memory_range
from tb.isa.text import AnyOp
from tb.language.rules.assume import (
    ALL,
    DESTINATION,
    PARAMETERS,
    SOURCE,
    assume,
    has_unknown,
    unknown_parts,
)
from tb.language.unknown import UndecidedError, Unknown

MOST_OVERLAP = 1 << 20
"""Bytes of all rows up to which rows that fall on one another stay as they are."""


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of one memory: ``length`` at ``base`` plus the sums of ``counts`` x ``strides``.

    No two of them are alike: dimensions are in ascending stride, runs that meet are one, counts
    are above 1. All rows have no more bytes than the extent, or than ``MOST_OVERLAP``. ``space`` is
    the name of a memory in small letters, ``l0a`` and ``l0b`` included.
    """

    space: str
    base: int
    length: int
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """First byte address after it."""
        spread = zip(self.counts, self.strides, strict=True)
        return self.base + sum((n - 1) * stride for n, stride in spread) + self.length


Touches = tuple[tuple[Region, bool], ...]
"""Regions that a step touches, and whether it writes them."""


def region(footprint: Footprint) -> Region:
    """Returns the bytes of a footprint, without their rows.

    Of very many overlapping rows, the region has all bytes of that pattern up to its end.
    """
    length = footprint.length
    dims: list[tuple[int, int]] = []
    pairs = zip(footprint.strides, footprint.counts, strict=True)
    for stride, count in sorted(pair for pair in pairs if pair[0] and pair[1] > 1):
        if not dims and stride <= length:
            length += stride * (count - 1)
        elif dims and stride % dims[-1][0] == 0 and stride <= dims[-1][0] * dims[-1][1]:
            step, inside = dims[-1]
            dims[-1] = (step, inside + stride // step * (count - 1))
        else:
            dims.append((stride, count))
    extent = length + sum(stride * (count - 1) for stride, count in dims)
    if prod(count for _, count in dims) * length > max(extent, MOST_OVERLAP):
        step = gcd(*(stride for stride, _ in dims))
        if step <= length:
            length, dims = extent, []
        else:
            dims = [(step, (extent - length) // step + 1)]
    space, base = located(footprint.space, footprint.base)
    return Region(
        space,
        base,
        length,
        tuple(count for _, count in dims),
        tuple(stride for stride, _ in dims),
    )


def descriptor(op: AnyOp, registers: DmaRegisters, ctrl: int = 0) -> Op | None:
    """Returns the descriptor of an op that is issued with these registers, or None.

    An op that writes registers has none, nor has a ``copy_ubuf_to_ubuf`` that breaks a rule at
    lowering, nor an op whose types no descriptor holds, which an S rule forbids.

    Raises:
        UndecidedError: an operand is not known.
    """
    if isinstance(op, LegacySet | CtrlOp):
        return None
    try:
        if isinstance(op, CopyUbufToUbuf):
            return None if lowering_violation(op) else lower_ubuf_copy(op)
        if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
            if isinstance(registers.pad_value, Unknown):
                registers = replace(registers, pad_value=0)  # The bytes are the same.
            return lower_copy(op, registers, ctrl)
        return lower(op, ctrl)
    except ValueError:
        return None


class Lowering:
    """An op, and the registers it reads, lowered as far as is needed.

    Attributes:
        op: The op.
        registers: Of a legacy copy those that it reads, of other ops those after reset.
        ctrl: CTRL, of a write-back that leaves out a clause; of other ops 0.
    """

    __slots__ = ("_broken", "_descriptor", "_touches", "_unknown", "ctrl", "op", "registers")

    def __init__(self, op: AnyOp, registers: DmaRegisters, ctrl: int = 0) -> None:
        """Takes the op; nothing is computed yet."""
        self.op, self.registers, self.ctrl = op, registers, ctrl
        self._unknown: bool | None = None
        self._descriptor: tuple[Op | None] | None = None
        self._broken: tuple[Violation, ...] | None = None
        self._touches: Touches | None = None

    @property
    def unknown(self) -> bool:
        """Whether an operand or a register is not known."""
        if self._unknown is None:
            parts = self.op, self.registers, self.ctrl
            self._unknown = any(map(has_unknown, parts))
        return self._unknown

    @property
    def descriptor(self) -> Op | None:
        """As :func:`descriptor`; raises UndecidedError where it is not known."""
        if self._descriptor is None:
            self._descriptor = (descriptor(self.op, self.registers, self.ctrl),)
        return self._descriptor[0]

    @property
    def broken(self) -> tuple[Violation, ...]:
        """D rules that the descriptor breaks; raises UndecidedError where that is not known."""
        if self._broken is None:
            desc = self.descriptor
            self._broken = () if desc is None else d_violations(desc)
        return self._broken

    @property
    def refused(self) -> bool:
        """Whether a D rule is broken; unknown values matter for rules below that alone."""
        try:
            return bool(self.broken)
        except UndecidedError:
            desc = self.descriptor
            return desc is not None and first_d_violation(desc) is not None

    @property
    def touches(self) -> Touches:
        """Bytes of the op, nothing where they are not known.

        An op that breaks a D rule touches none, and neither does a NOP.
        """
        if self._touches is None:
            try:
                desc = self.descriptor
                moves = desc is not None and not desc.is_nop and not self.refused
                self._touches = _all(desc, set()) if desc is not None and moves else ()
            except UndecidedError:
                self._touches = self._known()
        return self._touches

    def _known(self) -> Touches:
        """Returns what an op touches on the sides that do not depend on unknown operands."""
        unknown = unknown_parts(self.op) | unknown_parts(self.registers)
        if ALL in unknown:
            return ()
        desc = descriptor(assume(self.op, lambda _: 0), self.registers)
        if desc is None or desc.is_nop:
            return ()
        found = _all(desc, unknown)
        legal = all(each.end <= len(memory_range(each.space)[1]) for each, _ in found)
        return found if legal else ()


def _all(desc: Op, unknown: set[str]) -> Touches:
    """Returns what a descriptor touches, but for the sides that are ``unknown``."""
    reads = [] if SOURCE in unknown else [source(desc)]
    if isinstance(desc, FixOp) and PARAMETERS not in unknown:
        reads += parameters(desc)
    writes = () if DESTINATION in unknown else destinations(desc)
    return (
        *((region(footprint), False) for footprint in reads if footprint.length),
        *((region(footprint), True) for footprint in writes),
    )
