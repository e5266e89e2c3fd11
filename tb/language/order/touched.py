# SPDX-License-Identifier: Apache-2.0
"""Which bytes a step of a program touches, and the registers that its legacy copies read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tb.isa.cube import CubeOp, MteL1L0a, MteL1L0b
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.fix import FixDescriptor
from tb.isa.footprint import Footprint, destinations, parameters, source
from tb.isa.legacy import (
    OUTTOUB,
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacySet,
    SetLoopSize,
    SetMovPadVal,
    lower_copy,
    lower_ubuf_copy,
    write_registers,
)
from tb.isa.lower import Descriptor, lower
from tb.isa.nz_table import C0_BYTES
from tb.isa.rules import first_d_violation, lowering_violation
from tb.isa.spaces import SIZES, Space
from tb.isa.text import AnyOp
from tb.isa.unknown import UndecidedError, Unknown
from tb.language.rules.assume import (
    ALL,
    DESTINATION,
    PARAMETERS,
    SOURCE,
    assume,
    unknown_parts,
)
from tb.language.trace import Compute, Move, Step

FRACTAL_ROWS = 16
"""Rows of a fractal: what the matrix unit rounds M, and K of its right factor, up to."""

ACCUMULATORS = 64
"""Bytes of one row of a group of accumulators in L0C."""


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of one memory: ``length`` at ``base`` plus the sums of ``counts`` x ``strides``.

    No two of them are alike: dimensions are in ascending stride, runs that meet are one, counts
    are above 1. ``space`` is the name of a memory in small letters, ``l0a`` and ``l0b`` included.
    """

    space: str
    base: int
    length: int
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """First byte address behind it."""
        spread = zip(self.counts, self.strides, strict=True)
        return self.base + sum((n - 1) * stride for n, stride in spread) + self.length


Touches = tuple[tuple[Region, bool], ...]
"""Regions that a step touches, and whether it writes them."""


def region(footprint: Footprint) -> Region:
    """Returns the bytes of a footprint; which row touches them is forgotten."""
    length = footprint.length
    dims: list[tuple[int, int]] = []
    pairs = zip(footprint.strides, footprint.counts, strict=True)
    for stride, count in sorted(pair for pair in pairs if pair[0] and pair[1] > 1):
        if not dims and stride <= length:
            length += stride * (count - 1)
        elif dims and stride == dims[-1][0] * dims[-1][1]:
            dims[-1] = (dims[-1][0], dims[-1][1] * count)
        else:
            dims.append((stride, count))
    return Region(
        footprint.space.name.lower(),
        footprint.base,
        length,
        tuple(count for _, count in dims),
        tuple(stride for stride, _ in dims),
    )


def _set(op: LegacySet, registers: DmaRegisters) -> DmaRegisters:
    """Returns the registers after ``op``, of which some operands may be unknown."""
    try:
        return write_registers(op, registers)
    except ValueError:  # A type that cannot pad, which a rule tells.
        return registers
    except UndecidedError:
        pass
    if isinstance(op, SetMovPadVal):
        return replace(registers, pad_value=op.value)
    loops = registers.loops(op.direction)
    if isinstance(op, SetLoopSize):
        loops = replace(loops, counts=(op.loop1_count, op.loop2_count))
    else:
        first, second = loops.strides
        pair = (op.src_stride, op.dst_stride)
        loops = replace(loops, strides=(pair, second) if op.level == 1 else (first, pair))
    if op.direction == OUTTOUB:
        return replace(registers, outtoub=loops)
    return replace(registers, ubtoout=loops)


def registers_read(steps: tuple[Step, ...]) -> dict[int, DmaRegisters]:
    """Returns index of a legacy copy -> the registers it reads: those of program order."""
    registers = DmaRegisters()
    found = {}
    for index, step in enumerate(steps):
        if isinstance(step, Move):
            if isinstance(step.op, LegacySet):
                registers = _set(step.op, registers)
            elif isinstance(step.op, CopyGmToUbuf | CopyUbufToGm):
                found[index] = registers
    return found


def descriptor(op: AnyOp, registers: DmaRegisters) -> Descriptor | None:
    """Returns the descriptor that an op becomes, or None for one that becomes none.

    None stands for a ``set_*`` op, for a ``copy_ubuf_to_ubuf`` that breaks a rule at lowering,
    and for an op whose types no descriptor holds, which an S rule forbids.

    Raises:
        UndecidedError: an operand is not known.
    """
    if isinstance(op, LegacySet):
        return None
    try:
        if isinstance(op, CopyUbufToUbuf):
            return None if lowering_violation(op) else lower_ubuf_copy(op)
        if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
            if isinstance(registers.pad_value, Unknown):
                registers = replace(registers, pad_value=0)  # The bytes are the same.
            return lower_copy(op, registers)
        return lower(op)
    except ValueError:
        return None


def cube_touches(op: CubeOp) -> Touches:
    """Returns what the matrix unit touches: whole fractals."""

    def up(value: int, unit: int) -> int:
        return -(-value // unit) * unit

    if isinstance(op, MteL1L0a | MteL1L0b):
        rows, columns = (op.m, op.k) if isinstance(op, MteL1L0a) else (op.k, op.n)
        size = ELEMENT_BYTES[op.src_type.dtype]
        length = up(rows, FRACTAL_ROWS) * up(columns * size, C0_BYTES)
        whole = [(op.src_type.space, op.src, length), (op.dst_type.space, op.dst, length)]
    else:
        size = ELEMENT_BYTES[op.lhs_type.dtype]
        row = up(op.k * size, C0_BYTES)
        rows = up(op.k, FRACTAL_ROWS)
        groups = up(op.n, FRACTAL_ROWS) // FRACTAL_ROWS
        whole = [
            (op.lhs_type.space, op.lhs, up(op.m, FRACTAL_ROWS) * row),
            (op.rhs_type.space, op.rhs, rows * up(op.n * size, C0_BYTES)),
            (op.dst_type.space, op.dst, up(op.m, FRACTAL_ROWS) * groups * ACCUMULATORS),
        ]
    last = len(whole) - 1
    return tuple(
        (Region(space, base, length), number == last)
        for number, (space, base, length) in enumerate(whole)
        if length
    )


def touches(step: Move | Compute, registers: DmaRegisters) -> Touches:
    """Returns the bytes that a step touches; nothing where that is not known.

    An op that breaks a D rule touches none, and neither does a NOP.
    """
    try:
        if isinstance(step, Compute):
            return cube_touches(step.op)
        desc = descriptor(step.op, registers)
        if desc is not None and not desc.is_nop and not first_d_violation(desc):
            return _all(desc, set())
    except KeyError:  # Types that the matrix unit does not take.
        pass
    except UndecidedError:
        if isinstance(step, Move):
            return _known(step, registers)
    return ()


def _all(desc: Descriptor, unknown: set[str]) -> Touches:
    """Returns what a descriptor touches, but for the sides that are ``unknown``."""
    reads = [] if SOURCE in unknown else [source(desc)]
    if isinstance(desc, FixDescriptor) and PARAMETERS not in unknown:
        reads += parameters(desc)
    writes = () if DESTINATION in unknown else destinations(desc)
    return (
        *((region(footprint), False) for footprint in reads),
        *((region(footprint), True) for footprint in writes),
    )


def _known(step: Move, registers: DmaRegisters) -> Touches:
    """Returns what an op touches on the sides that do not depend on unknown operands."""
    unknown = unknown_parts(step.op) | unknown_parts(registers)
    if ALL in unknown:
        return ()
    desc = descriptor(assume(step.op, lambda _: 0), registers)
    if desc is None or desc.is_nop:
        return ()
    found = _all(desc, unknown)
    legal = all(each.end <= SIZES[Space[each.space.upper()]] for each, _ in found)
    return found if legal else ()
