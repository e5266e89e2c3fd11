# SPDX-License-Identifier: Apache-2.0
"""Execution of flags, buffers and signals: their number is read when the op is issued.

Signals between the cores of a block are those of spec/order_and_atomics.md, section 4.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.pipes import Pipe
from tb.language.dialect.sync import (
    BufferOp,
    DynamicFlagOp,
    OrderOp,
    SignalOp,
    SyncAllOp,
)
from tb.language.place import Finding, Place, refuse
from tb.language.run.arith import Code, Frame
from tb.language.run.execution import Execution, constant_step
from tb.language.run.values import Missing, plain
from tb.language.trace import (
    Barrier,
    GetBuf,
    RlsBuf,
    SetFlag,
    SetSignal,
    Step,
    WaitFlag,
    WaitSignal,
)


def _maker(op: OrderOp, place: Place) -> tuple[Callable[[int], Step], str, str, int]:
    """Returns how to make the step of a number, what numbers are, their rule and their count."""
    if isinstance(op, DynamicFlagOp):
        src, dst = op.src, op.dst
        if op.name == "pto.set_flag_dyn":
            return lambda x: SetFlag(place, src, dst, x), "event", op.rule, op.legal
        return lambda x: WaitFlag(place, dst, src, x), "event", op.rule, op.legal
    assert isinstance(op, BufferOp), "there are flags and buffers"
    kind = GetBuf if op.name.startswith("pto.get_buf") else RlsBuf
    pipe, mode = op.pipe, op.mode
    return lambda x: kind(place, pipe, x, mode), "buffer", op.rule, op.legal


def order_code(run: Execution, op: OrderOp, place: Place, slot: int | None) -> Code:
    """Returns the code of an op; ``slot`` holds its number, None for one that is written."""
    make, what, rule, count = _maker(op, place)
    if slot is None:
        assert isinstance(op, BufferOp), "the number of a dynamic flag is an operand"
        return constant_step(run, make(op.buffer))
    made: dict[int, Step] = {}
    steps, number, name = run.steps, slot, op.name

    def code(frame: Frame) -> None:
        value = plain(frame[number])
        if isinstance(value, Missing):
            if not run.static:
                raise refuse(place, f"the {what} is not known: {value.why}", op=name)
            run.unnumbered.setdefault(place)
            return
        if not 0 <= value < count:
            run.report(Finding(place, name, rule, f"{what} is {value}", f"0..{count - 1}"))
            run.unnumbered.setdefault(place)
            return
        step = made.get(value)
        if step is None:
            step = made[value] = make(value)
        steps.append(step)

    return code


CUBE, VECTORS = 0, (1, 2)
"""Cores by number."""

OFFSET = 16
"""Ids of the cube core from here on are those of sub-block 1 (IB-06)."""


def _sets(op: SignalOp) -> bool:
    return "set" in op.name


def _peers(op: SignalOp, core: int, number: int, cores: tuple[int, ...]) -> list[tuple[int, int]]:
    """Returns the other side of a signal: its cores, each with the number of the counter.

    Args:
        op: The op.
        core: The core that executes it.
        number: Its id.
        cores: Cores of the program.
    """
    if op.name.endswith("_intra_block"):
        if core == CUBE:
            # The counters of the cube core are numbered through, those of a vector core are not.
            at = number % OFFSET if _sets(op) else number
            return [(VECTORS[number // OFFSET], at)]
        at = number % OFFSET
        if _sets(op):
            at += OFFSET * VECTORS.index(core)
        return [(CUBE, at)]
    wanted = (core == CUBE) != (op.mode == MIXED)
    others = [one for one in cores or (core,) if (one == CUBE) == wanted]
    # A file without the other cores waits for them all the same.
    return [(one, number) for one in others or [CUBE if wanted else VECTORS[0]]]


MIXED = 2
"""Mode of ``sync`` between the cube core and both vector cores."""


def signals(
    op: SignalOp, place: Place, core: int, number: int, cores: tuple[int, ...]
) -> list[Step]:
    """Returns the steps of a signal that is set, or waited for."""
    pipe, name = Pipe(op.pipe), op.name.removeprefix("pto.")
    kind = f"sync mode {op.mode}" if name.startswith("sync") else name.partition("_")[2]
    found: list[Step] = []
    for other, at in _peers(op, core, number, cores):
        if _sets(op):
            found.append(SetSignal(place, pipe, name, other, kind, core, at))
        else:
            found.append(WaitSignal(place, pipe, name, core, kind, other, at))
    return found


def meeting_code(
    run: Execution, op: SyncAllOp, place: Place, core: int, cores: tuple[int, ...]
) -> Code:
    """Returns the code of a barrier of cores: each waits until all have come (section 4).

    The cores of other blocks, which do not run, are taken to have come.
    """
    name, kind = "syncall", op.core_type
    own = {"aic_only": (CUBE,), "aiv_only": VECTORS}.get(kind, (CUBE, *VECTORS))
    others = [one for one in cores if one in own and one != core] if core in own else []
    steps: list[Step] = [Barrier(place, None)]
    steps += [SetSignal(place, Pipe.S, name, one, name, core, 0) for one in others]
    steps += [WaitSignal(place, Pipe.S, name, core, name, one, 0) for one in others]

    def code(_: Frame) -> None:
        run.steps.extend(steps)

    return code


def signal_code(
    run: Execution, op: SignalOp, place: Place, slot: int | None, core: int,
    cores: tuple[int, ...],
) -> Code:  # fmt: skip
    """Returns the code of a signal; ``slot`` holds its id, None for one that is written."""
    steps = run.steps

    def code(frame: Frame) -> None:
        value = op.number if slot is None else plain(frame[slot])
        if isinstance(value, Missing):
            if not run.static:
                raise refuse(place, f"the id is not known: {value.why}", op=op.name)
            run.unnumbered.setdefault(place)
            return
        if not 0 <= value < op.ids:
            run.report(Finding(place, op.name, "", f"id is {value}", f"0..{op.ids - 1}"))
            return
        steps.extend(signals(op, place, core, value, cores))

    return code
