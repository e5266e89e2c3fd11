# SPDX-License-Identifier: Apache-2.0
"""Ops that are not executed: their results are unknown, and a run may refuse them."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tb.language.dialect.others import (
    BlockQueryOp,
    BrokenOp,
    ForeignOp,
    SubblockIdxOp,
    SubblockNumOp,
)
from tb.language.dialect.scalars import ScalarOp
from tb.language.dialect.sync import QuietOp
from tb.language.foreign import foreign_words
from tb.language.parser.known import meant, seems_to_move
from tb.language.place import Finding
from tb.language.run import arith
from tb.language.run.interpreter import Interpreter, Maker, Routine, name_of
from tb.language.trace import Skipped

KNOWN: tuple[str, ...] = (
    "builtin.module",
    "func.func",
    "func.call",
    "func.return",
    "scf.for",
    "scf.if",
    "scf.yield",
    *arith.KNOWN,
)
"""Ops outside the pto dialect that a program may hold."""


def _query(run: Interpreter, op: BlockQueryOp, routine: Routine) -> None:
    number = op.value
    if isinstance(op, SubblockIdxOp):
        number = run.stream.sub_block
    elif isinstance(op, SubblockNumOp):
        number = run.stream.sub_blocks
    routine.known[id(op.results[0])] = number


def _quiet(_run: Interpreter, _op: QuietOp, _routine: Routine) -> None:
    """Needs no code."""


def _broken(run: Interpreter, op: BrokenOp, routine: Routine) -> None:
    """Continues after an op with an error that the reader has reported."""
    place = run.place(op)
    run.undecided.setdefault(place)
    routine.lose(op.results, f"it is the result of the op at {place}, which has an error")


def _foreign(run: Interpreter, op: Operation, routine: Routine) -> None:
    name = op.mnemonic if isinstance(op, ForeignOp) else name_of(op)
    moves = isinstance(op, ForeignOp) and op.moves_tiles
    place = run.place(op)
    if isinstance(op, ForeignOp) and op.holds_moves:
        message = "data movement, or a flag, is inside an op that is not executed"
    elif seems_to_move(name):
        message = "unknown op: by its name it moves data or orders it, so it is never skipped"
        message += meant(name)
    else:
        message = f"this op is {foreign_words(name, moves=moves)}{meant(name)}"
        message = "" if run.skip_foreign else message
    if message:
        run.problems.append(Finding(place, name, "", message))
    run.skipped.setdefault(place, Skipped(place, name, moves=moves))
    routine.lose(op.results, f"it is the result of foreign op {name} at {place}")


def _scalar(run: Interpreter, op: ScalarOp, routine: Routine) -> None:
    """Continues after a scalar access; a run leaves it out if it may leave out foreign ops."""
    place = run.place(op)
    if not run.static and not run.skip_foreign:
        run.problem(op, f"this op is {foreign_words(op.name)}")
    run.skipped.setdefault(place, Skipped(place, op.name))
    routine.lose(op.results, f"it is the result of {op.name} at {place}, not executed")


def known(run: Interpreter, op: Operation, why: str, legal: str) -> None:
    """Continues after an op that is read and not executed; no run may leave it out."""
    place = run.place(op)
    if not run.static:
        run.problem(op, f"this op is known and not executed: {why}", legal=legal)
    run.skipped.setdefault(place, Skipped(place, op.name, known=True))


def _other(run: Interpreter, op: Operation, routine: Routine) -> None:
    name = name_of(op)
    if name.startswith("pto."):
        _foreign(run, op, routine)
    elif name.startswith("arith."):
        arith.uncomputed(run, op, routine)
    else:
        run.problem(op, "this op is unknown here", legal=", ".join(KNOWN))


MAKERS: dict[Any, Maker] = {
    BlockQueryOp: _query,
    QuietOp: _quiet,
    BrokenOp: _broken,
    ForeignOp: _foreign,
    ScalarOp: _scalar,
    Operation: _other,
}
