# SPDX-License-Identifier: Apache-2.0
"""The transactions of a block as a program: dependencies, registers, links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scoreboards.model.registers import Registers
from tb.isa.block import OpBlock
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import (
    OUTTOUB,
    UBTOOUT,
    CopyGmToUbuf,
    CopyUbufToGm,
    DmaRegisters,
    LegacySet,
    LoopRegisters,
    write_registers,
    writes_between,
)
from tb.isa.fix.op import FixOp
from tb.isa.footprint import Footprint, destinations, footprints_overlap, parameters, source
from tb.isa.op import Op
from tb.isa.ops import SLOTS
from tb.isa.program import moving
from tb.isa.rules import first_d_violation
from tb.language.linked import Linked
from tb.language.printer import unprintable


@dataclass(frozen=True, slots=True)
class Item:
    """A transaction of a block.

    Attributes:
        ops: The op as written: alone, or with the ops that write registers around it.
        illegal: It breaks a D rule.
        reads, writes: Its footprints; empty if it is illegal or moves nothing.
    """

    ops: tuple[Any, ...]
    illegal: bool
    reads: tuple[Footprint, ...] = ()
    writes: tuple[Footprint, ...] = ()

    @property
    def touches(self) -> tuple[Footprint, ...]:
        """Every region."""
        return (*self.reads, *self.writes)


def items_of(block: OpBlock) -> list[Item]:
    """Returns the transactions of a block."""
    return [_item(ops, block.issued(index)) for index, ops in enumerate(block.program())]


def _item(ops: tuple[Any, ...], desc: Op) -> Item:
    illegal = first_d_violation(desc) is not None
    if illegal or desc.is_nop:
        return Item(ops, illegal)
    reads = (source(desc), *(parameters(desc) if isinstance(desc, FixOp) else ()))
    return Item(ops, illegal, reads, destinations(desc))


def producers(items: Sequence[Item], index: int) -> tuple[int, ...]:
    """Returns the earlier transactions that write what one reads or writes itself."""
    mine = items[index].touches
    return tuple(
        other
        for other in range(index)
        if any(footprints_overlap(x, y) for x in mine for y in items[other].writes)
    )


def needed(items: Sequence[Item], index: int) -> dict[int, tuple[int, ...]]:
    """Returns a transaction and all that it depends on, ascending, each with its producers."""
    found: dict[int, tuple[int, ...]] = {}
    left = [index]
    while left:
        one = left.pop()
        if one not in found:
            found[one] = producers(items, one)
            left += found[one]
    return dict(sorted(found.items()))


def linked(
    block: OpBlock,
    items: Sequence[Item],
    chosen: dict[int, tuple[int, ...]],
    registers: Registers,
    first: int,
) -> tuple[list[Linked], list[str]]:
    """Returns transactions of a block to print.

    Args:
        block: The block.
        items: Its transactions.
        chosen: Those to print, ascending, each with the ones to wait for apart from its links.
        registers: Of the legacy copies, before the block.
        first: Number of the first transaction of the block.

    Returns:
        The transactions, and sentences on those that have no text form.
    """
    found: list[Linked] = []
    left_out: list[str] = []
    place = {index: at for at, index in enumerate(chosen)}
    state, printed = _registers(registers), DmaRegisters()
    slots = block.slot.tolist()
    for index, item in enumerate(items):
        for op in item.ops[:-1] if len(item.ops) > 1 else ():
            if isinstance(op, LegacySet):
                state = write_registers(op, state)
        if index not in place:
            continue
        note = f"transaction {first + index} on {SLOTS[slots[index]]}"
        op = moving(item.ops)
        if why := unprintable(op):
            left_out.append(f"Left out is {note}, which no text can hold: {why}.")
            found.append(Linked((), note=f"{note} is left out: {why}"))
            continue
        # Ops that write CTRL stay around theirs; loop registers are written where they change.
        ops: tuple[Any, ...] = tuple(
            one for one in item.ops if one is op or isinstance(one, CtrlOp)
        )
        if isinstance(op, CopyGmToUbuf | CopyUbufToGm):
            direction = OUTTOUB if isinstance(op, CopyGmToUbuf) else UBTOOUT
            sets = writes_between(printed, state, (direction,))
            for one in sets:
                printed = write_registers(one, printed)
            ops = (*sets, *ops)
        after = sorted({place[x] for x in (*block.links(index), *chosen[index]) if x in place})
        delay = -1 if block.flag_delay is None else int(block.flag_delay[index])
        found.append(Linked(ops, int(block.gap[index]), delay, tuple(after), note))
    return found, left_out


def _registers(now: Registers) -> DmaRegisters:
    """Returns registers of the model as those of the ISA."""

    def direction(name: str) -> LoopRegisters:
        of = now.direction(name)
        return LoopRegisters(
            (of.loop1_count, of.loop2_count),
            ((of.loop1_src, of.loop1_dst), (of.loop2_src, of.loop2_dst)),
        )

    return DmaRegisters(direction(OUTTOUB), direction(UBTOOUT), now.pad_value)
