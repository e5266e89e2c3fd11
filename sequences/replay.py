# SPDX-License-Identifier: Apache-2.0
"""Conversion of a program to blocks of ops for replay.

Flags and barriers of a program become links between ops: an op is offered to its engine when those
it depends on have retired. Ops that the host computes run while the engines are idle, so
they cut a program into rounds, each with as many ops as are ready.

A block is sent slot by slot in the order of its ops, and every link goes backwards in it. So the
first op that has not retired is always free to run: no program with a legal order deadlocks, also
where two pipes share a slot, such as V and MTE3.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sequences.blocks import Lowered, block_of, lower_program
from tb.isa.block import OpBlock
from tb.isa.ctrl import CtrlOp, SetCtrl
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    DmaRegisters,
    LegacySet,
    fits,
    write_registers,
    writes_between,
)
from tb.isa.dma.op import DmaOp
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import FLAG_CLEAR, FLAG_NONE
from tb.isa.footprint import flag_blocks
from tb.isa.lower import lower
from tb.isa.op import replace
from tb.isa.ops import OPS_BY_CODE, feeds
from tb.isa.program import moving_at
from tb.isa.rules import first_d_violation, lowering_violation
from tb.isa.text import AnyOp
from tb.language.place import Finding, Place, ProgramError, refuse
from tb.language.trace import Compute, Lane, Move, Trace, lane_of

if TYPE_CHECKING:
    from tb.language.order.order import Order

MOST_OPS = 512
"""Ops of a slot in one round; the rings of the harness have room for twice as many."""

_COPIES = CopyGmToUbuf | CopyUbufToGm | CopyUbufToUbuf


@dataclass(frozen=True)
class Round:
    """Host ops, and the ops of the engines after them.

    Attributes:
        compute: Host ops, in order; the engines are idle.
        block: Ops that may be in flight at once, perhaps none.
        steps: Of each op of the block, the index of its step in the trace.
        host_steps: The same of each host op.
    """

    compute: tuple[Compute, ...]
    block: OpBlock
    steps: tuple[int, ...]
    host_steps: tuple[int, ...] = ()


def schedule(
    trace: Trace, order: Order, *, illegal: Literal["refuse", "send"] = "refuse"
) -> list[Round]:
    """Returns the rounds of a program.

    Args:
        trace: The program; every operand is known, and no op breaks an S rule.
        order: An order that obeys the program's dependencies.
        illegal: Treatment of ops that break a D rule: see :class:`tb.programs.job.ProgramJob`.

    Raises:
        ProgramError: an op breaks a D rule and may not be sent.
    """
    lowered = _lowered(trace, order.sequence)
    _check_rules(trace, lowered, illegal)
    return list(_Rounds(trace, order, lowered).rounds())


def not_issued(trace: Trace) -> tuple[Finding, ...]:
    """Returns the ops that end before they are issued: no engine can report their violations.

    A ``set_*`` op with an operand that does not fit changes no register (A-19), and of
    ``copy_ubuf_to_ubuf`` some rules are decided at lowering. Each place is listed once.
    """
    found: dict[Place, Finding] = {}
    for step in trace.steps:
        if not isinstance(step, Move):
            continue
        rule, message = "", ""
        if isinstance(step.op, LegacySet):
            if not fits(step.op):
                rule, message = "DMA-L05", "an operand does not fit, so no register changes"
        elif isinstance(step.op, CopyUbufToUbuf):
            violation = lowering_violation(step.op)
            if violation is not None:
                rule, message = violation.rule.name, f"not issued: {violation.message}"
        if rule:
            found.setdefault(step.place, Finding(step.place, f"pto.{step.name}", rule, message))
    return tuple(found.values())


# --- ops -------------------------------------------------------------------------------------


def _lowered(trace: Trace, sequence: Sequence[int]) -> dict[int, Lowered]:
    """Returns the ops sent for each step that an engine executes.

    A legacy copy reads the registers at its place in program order, so its ``set_*`` ops are found
    in program order. If sent in another order, it sets the registers that differ.
    """
    own = _programs(trace)
    found: dict[int, Lowered] = {}
    now = DmaRegisters()
    for index in sequence:
        step = trace.steps[index]
        if not isinstance(step, Move) or isinstance(step.op, LegacySet) or index not in own:
            continue
        program = own[index]
        if step.registers is not None:
            after, at = _after(program, now), moving_at(program)
            writes = writes_between(after, step.registers)
            program = (*program[:at], *writes, *program[at:])
        found[index], now = lower_program(program, now)
    return found


def _programs(trace: Trace) -> dict[int, tuple[AnyOp, ...]]:
    """Returns the ops sent for each step.

    A ``copy_ubuf_to_ubuf`` that breaks a rule at lowering is not issued: it is sent along with the
    next legacy copy, where the model must reject it. Without a next one it would not be checked.
    A write-back with clauses that CTRL replaces comes with the CTRL of its place in program order.
    """
    own: dict[int, tuple[AnyOp, ...]] = {}
    pending: list[AnyOp] = []
    core = 0
    for index, step in enumerate(trace.steps):
        if not isinstance(step, Move):
            continue
        if step.core != core:
            core, pending = step.core, []
        op, ctrl = step.op, step.ctrl
        refused = isinstance(op, CopyUbufToUbuf) and lowering_violation(op) is not None
        if isinstance(op, LegacySet) or refused:
            pending.append(op)
        elif isinstance(op, _COPIES):
            own[index] = _under(ctrl, (*pending, op))
            pending = []
        elif isinstance(op, CtrlOp):
            continue
        elif ctrl and isinstance(op, FixOp | DmaOp) and lower(op, ctrl) != lower(op):
            own[index] = _under(ctrl, (op,))
        else:
            own[index] = (op,)
    return own


def _under(ctrl: int, program: tuple[AnyOp, ...]) -> tuple[AnyOp, ...]:
    """Returns a program with CTRL written before it and 0 after it."""
    return (SetCtrl(ctrl), *program, SetCtrl(0)) if ctrl else program


def _after(program: Sequence[AnyOp], registers: DmaRegisters) -> DmaRegisters:
    for op in program:
        if isinstance(op, LegacySet):
            registers = write_registers(op, registers)
    return registers


def _check_rules(trace: Trace, lowered: dict[int, Lowered], illegal: str) -> None:
    """Notes the rule that each op breaks, or rejects such ops."""
    refused: list[Finding] = []
    for index in sorted(lowered):
        violation = first_d_violation(lowered[index].descriptor)
        if violation is None:
            continue
        step, rule = trace.steps[index], violation.rule
        if illegal == "refuse" and isinstance(step, Move):
            name = f"pto.{step.name}"
            refused.append(Finding(step.place, name, rule.name, violation.message))
        lowered[index] = replace(lowered[index], rule=rule.number)
    if refused:
        raise ProgramError(tuple(refused))


# --- rounds ----------------------------------------------------------------------------------


class _Rounds:
    """Takes the steps of a program in turns: host ops that are ready, then ops of the engines.

    Each pipe is a queue: a step is taken when it is the first of its pipe and all its dependencies
    have been taken; of several, the first in the order. So a block also keeps the order. The ops of
    a pipe are of one slot.
    """

    def __init__(self, trace: Trace, order: Order, lowered: dict[int, Lowered]) -> None:
        self._trace, self._waits_of, self._lowered = trace, order.waits, lowered
        self._position = {index: at for at, index in enumerate(order.sequence)}
        self._queues: dict[Lane, deque[int]] = {}
        for index in order.sequence:
            step = trace.steps[index]
            assert isinstance(step, Move | Compute)
            self._queues.setdefault(lane_of(step), deque()).append(index)
        self._done: set[int] = set()
        # Of the current round: the place of each op in the block; the dependencies of a step that
        # no engine executes; and dependencies that ops of a pipe inherit from such a step, since an
        # order leaves out those of earlier steps of the pipe.
        self._place: dict[int, int] = {}
        self._through: dict[int, tuple[int, ...]] = {}
        self._held: dict[Lane, tuple[int, ...]] = {}
        self._waits: dict[int, tuple[int, ...]] = {}
        # Blocks of L0C whose flags an op of the round clears: their bytes belong to the producer,
        # and the harness gives them back after the round.
        self._cleared: set[int] = set()

    def rounds(self) -> Iterator[Round]:
        """Yields the rounds."""
        while any(self._queues.values()):
            self._place, self._through, self._held, self._waits = {}, {}, {}, {}
            self._cleared = set()
            before = len(self._done)
            host = list(self._host())
            moves = list(self._moves())
            if len(self._done) == before:
                left = min(queue[0] for queue in self._queues.values() if queue)
                raise refuse(self._trace.steps[left].place, "it waits for itself")
            if host or moves:
                computes = [self._trace.steps[index] for index in host]
                yield Round(
                    tuple(step for step in computes if isinstance(step, Compute)),
                    self._block(moves),
                    tuple(moves),
                    tuple(host),
                )

    def _host(self) -> Iterator[int]:
        """Takes host ops while there are some; ops of earlier rounds have ended."""
        while (index := self._next(Compute)) is not None:
            self._take(index)
            yield index

    def _moves(self) -> Iterator[int]:
        """Takes ops of engines while there are some, and steps on pipe S between them."""
        sent: Counter[str] = Counter()
        while (index := self._next(Move, sent)) is not None:
            item = self._lowered.get(index)
            pipe = self._take(index)
            waits = (*self._held.get(pipe, ()), *self._waited(index))
            if item is None:
                self._held[pipe] = self._through[index] = tuple(dict.fromkeys(waits))
                continue
            self._held[pipe] = ()  # the queue of its slot holds the later ones
            sent[item.descriptor.spec.slot] += 1
            if _flags(item) == FLAG_CLEAR:
                self._cleared.update(_tile(item))
            self._place[index] = len(self._place)
            self._waits[index] = waits
            yield index

    def _next(self, kind: type, sent: Counter[str] | None = None) -> int | None:
        """Returns the step to take next, None when none is ready."""
        best = None
        for queue in self._queues.values():
            if not queue or (best is not None and self._position[queue[0]] > self._position[best]):
                continue
            index = queue[0]
            if not isinstance(self._trace.steps[index], kind):
                continue
            item = self._lowered.get(index)
            if sent is not None and item and sent[item.descriptor.spec.slot] >= MOST_OPS:
                continue
            if item and _flags(item) == FLAG_NONE and not self._cleared.isdisjoint(_tile(item)):
                continue
            if all(one in self._done for one in self._waits_of(index)):
                best = index
        return best

    def _take(self, index: int) -> Lane:
        step = self._trace.steps[index]
        assert isinstance(step, Move | Compute)
        self._queues[lane_of(step)].popleft()
        self._done.add(index)
        return lane_of(step)

    def _waited(self, index: int) -> tuple[int, ...]:
        """Returns the ops of the round that a step has to wait for, as steps."""
        found: list[int] = []
        for one in self._waits_of(index):
            found += [one] if one in self._place else self._through.get(one, ())
        return tuple(found)

    def _block(self, moves: Sequence[int]) -> OpBlock:
        """Returns the block of steps that engines execute."""
        items = [self._lowered[index] for index in moves]
        block = block_of(items)
        steps = [self._trace.steps[index] for index in moves]
        moved = [step for step in steps if isinstance(step, Move)]
        also: dict[int, tuple[int, ...]] = {}
        for at, index in enumerate(moves):
            first, others = self._links(block, at, index)
            block.after[at] = first
            if others:
                also[at] = others
        delays = np.array([step.flag_delay for step in moved], dtype=np.int64)
        # Addresses of a NOP may exceed their fields, too: it accesses no byte (docs/spec/dma.md).
        wide = {at for at, item in enumerate(items) if item.rule or item.descriptor.is_nop}
        return replace(
            block,
            gap=np.array([step.gap for step in moved], dtype=np.int64),
            # Columns hold the values of other ops unchanged.
            descriptors={at: desc for at, desc in block.descriptors.items() if at in wide},
            flag_delay=delays if (delays >= 0).any() else None,
            also_after=also,
            places={at: step.place for at, step in enumerate(moved)},
        )

    def _links(self, block: OpBlock, at: int, index: int) -> tuple[int, tuple[int, ...]]:
        """Returns the dependencies of an op: ``after`` and the other links.

        Ops of a slot retire in order, so the last one of each slot suffices.
        """
        last: dict[int, int] = {}
        for step in self._waits[index]:
            place = self._place[step]
            slot = int(block.slot[place])
            last[slot] = max(place, last.get(slot, -1))
        links = sorted(last.values(), reverse=True)
        # ``after`` names the producer of the source, for coverage.
        rows = {one: OPS_BY_CODE[int(block.opcode[one])] for one in (at, *links)}
        first = next((one for one in links if feeds(rows[one], rows[at])), -1)
        return first, tuple(one for one in links if one != first)


def _flags(item: Lowered) -> int | None:
    """Returns how a legal write-back uses unit flags, None for other ops."""
    desc = item.descriptor
    return desc.unit_flag if isinstance(desc, FixOp) and not item.rule else None


def _tile(item: Lowered) -> list[int]:
    """Returns the blocks of L0C that a write-back reads."""
    desc = item.descriptor
    assert isinstance(desc, FixOp)
    blocks: list[int] = flag_blocks(desc).tolist()
    return blocks
