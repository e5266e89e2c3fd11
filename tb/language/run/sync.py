# SPDX-License-Identifier: Apache-2.0
"""Code of flags, barriers, buffers and signals: their number is read when the op is issued.

Signals between the cores of a block are those of docs/spec/order_and_atomics.md, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tb.isa.pipes import Pipe
from tb.language.dialect.sync import (
    BarrierOp,
    BufferOp,
    DynamicFlagOp,
    FlagOp,
    SignalOp,
    SyncAllOp,
)
from tb.language.place import Finding, Place, refuse
from tb.language.run.interpreter import Code, Interpreter, Maker, Routine
from tb.language.run.others import known
from tb.language.run.stream import CUBE, OFFSET, VECTORS
from tb.language.run.values import Frame, Missing, plain
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


def _constant(run: Interpreter, *steps: Step) -> Code:
    extend = run.steps.extend
    return lambda _: extend(steps)


def _flag(run: Interpreter, op: FlagOp, _: Routine) -> Code:
    return _constant(run, _flag_step(op, run.place(op), op.event))


def _flag_step(op: FlagOp | DynamicFlagOp, place: Place, event: int) -> Step:
    if op.name in ("pto.set_flag", "pto.record_event", "pto.set_flag_dyn"):
        return SetFlag(place, op.src, op.dst, event)
    return WaitFlag(place, op.dst, op.src, event)


def _barrier(run: Interpreter, op: BarrierOp, _: Routine) -> Code:
    return _constant(run, Barrier(run.place(op), op.pipe))


def _dynamic_flag(run: Interpreter, op: DynamicFlagOp, _: Routine) -> Code:
    place = run.place(op)
    return _numbered(run, op, "event", lambda number: (_flag_step(op, place, number),))


def _buffer(run: Interpreter, op: BufferOp, _: Routine) -> Code | None:
    if op.mode > 1:
        known(run, op, f"mode {op.mode}", "mode 0 or 1")
        return None
    kind = GetBuf if op.name.startswith("pto.get_buf") else RlsBuf
    place, pipe, mode = run.place(op), op.pipe, op.mode

    def steps(number: int) -> Sequence[Step]:
        return (kind(place, pipe, number, mode),)

    if op.number is None:
        return _constant(run, *steps(op.buffer))
    return _numbered(run, op, "buffer", steps)


def _numbered(
    run: Interpreter,
    op: DynamicFlagOp | BufferOp | SignalOp,
    what: str,
    make: Callable[[int], Sequence[Step]],
) -> Code:
    """Returns the code of an op whose number, the only operand, is computed.

    Args:
        run: The interpreter.
        op: The op.
        what: The number in words.
        make: Returns the steps of a number.
    """
    place, key = run.place(op), id(op.operands[0])
    made: dict[int, Sequence[Step]] = {}

    def code(frame: Frame) -> None:
        value = plain(frame[key])
        if isinstance(value, Missing):
            if not run.static:
                raise refuse(place, f"the {what} is not known: {value.why}", op=op.name)
            run.unnumbered.setdefault(place)
            return
        steps = made.get(value)
        if steps is None:
            if not _legal(run, op, what, value):
                return
            steps = made[value] = make(value)
        run.steps.extend(steps)

    return code


def _legal(
    run: Interpreter, op: DynamicFlagOp | BufferOp | SignalOp, what: str, value: int
) -> bool:
    """Returns whether the number of an op is in its range; reports one that is not."""
    count, rule = (op.ids, "") if isinstance(op, SignalOp) else (op.legal, op.rule)
    if 0 <= value < count:
        return True
    place = run.place(op)
    run.report(Finding(place, op.name, rule, f"{what} is {value}", f"0..{count - 1}"))
    if not isinstance(op, SignalOp):
        run.unnumbered.setdefault(place)
    return False


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


def _signal(run: Interpreter, op: SignalOp, _: Routine) -> Code | None:
    """Returns the code of a signal between cores; a core that is checked alone has none."""
    if run.static and not run.signals:
        return None
    place, stream = run.place(op), run.stream

    def steps(number: int) -> Sequence[Step]:
        return signals(op, place, stream.number, number, stream.running)

    if op.operands:
        return _numbered(run, op, "id", steps)
    return _constant(run, *steps(op.number))


def _sync_all(run: Interpreter, op: SyncAllOp, _: Routine) -> Code | None:
    """Returns the code of a barrier of cores: each waits until all have come (section 4).

    The cores of other blocks, which do not run, are taken to have come.
    """
    if run.static and not run.signals:
        return None
    place, name, core = run.place(op), "syncall", run.stream.number
    own = {"aic_only": (CUBE,), "aiv_only": VECTORS}.get(op.core_type, (CUBE, *VECTORS))
    others = [x for x in run.stream.running if x in own and x != core] if core in own else []
    return _constant(
        run,
        Barrier(place, None),
        *(SetSignal(place, Pipe.S, name, one, name, core, 0) for one in others),
        *(WaitSignal(place, Pipe.S, name, core, name, one, 0) for one in others),
    )


MAKERS: dict[Any, Maker] = {
    FlagOp: _flag,
    BarrierOp: _barrier,
    DynamicFlagOp: _dynamic_flag,
    BufferOp: _buffer,
    SignalOp: _signal,
    SyncAllOp: _sync_all,
}
