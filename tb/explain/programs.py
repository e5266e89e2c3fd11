# SPDX-License-Identifier: Apache-2.0
"""The ops of a program that are explained, with the registers at their issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tb.common.errors import PtoError
from tb.explain.others import sentence
from tb.explain.products import product_notes
from tb.explain.steps import UNIT, Chosen, in_order, other
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import LegacySet
from tb.isa.spaces import GM_ADDR_BITS
from tb.language.place import Place
from tb.language.trace import Compute, Move, Trace

if TYPE_CHECKING:
    from tb.language.reader import Source

ROOM = 1 << 32
"""Bytes between the assumed addresses of buffers in GM."""


def _moves(walked: Trace) -> list[Move]:
    return [
        step
        for step in walked.steps
        if isinstance(step, Move) and not isinstance(step.op, LegacySet | CtrlOp)
    ]


def _assumed(
    source: Source, function: str, given: Mapping[int, int]
) -> tuple[dict[int, int], list[str]]:
    """Returns values of the arguments, those of buffers that are not given far from each other."""
    from tb.language.run.walk import arguments_of

    numbers, notes = dict(given), []
    listed = arguments_of(source, function)
    for one in listed:
        if one.in_gm and one.number not in numbers:
            numbers[one.number] = (one.number * ROOM) % (1 << GM_ADDR_BITS)
            notes.append(f"%{one.name} is not given: address {numbers[one.number]:#x} is taken")
    return numbers, notes


def of_file(
    path: Path,
    *,
    arguments: Mapping[int, int],
    function: str = "",
    lines: Sequence[int] = (),
    numbers: Sequence[int] = (),
    run: int = 1,
    ubuf_to_ubuf: UNIT = "bytes",
) -> list[Chosen]:
    """Returns the ops of a program that move data, each in the text once.

    Args:
        path: The program.
        arguments: Number of an argument to its value.
        function: The function; empty for the one that is run, or all that no other one calls.
        lines: Lines of the ops; all without any.
        numbers: Numbers of the ops in the order of the text, from 1.
        run: Which execution of an op that is executed several times, from 1.
        ubuf_to_ubuf: Unit of the operands of ``copy_ubuf_to_ubuf``.

    Raises:
        PtoError: the program cannot be read or walked, or there is no such op.
    """
    from tb.language.reader import read_file
    from tb.language.run.walk import entries, trace

    source = read_file(path)
    names = (function,) if function else entries(source) or ("",)
    found: list[Chosen] = []
    others: list[Chosen] = []
    for name in names:
        known, notes = _assumed(source, name, arguments)
        walked = trace(
            source, function=name, arguments=known, static=True, foreign="skip",
            ubuf_to_ubuf=ubuf_to_ubuf,
        )  # fmt: skip
        missing = _missing(walked, known)
        found += _chosen(walked, notes, run, len(found), missing)
        if lines:
            others += _others(walked, run, missing)
    if lines:
        others += _written(source, {one.place for one in (*found, *others)})
    if not found and not others:
        raise PtoError(f"{path} has no op that moves data", where=str(path))
    if not lines and not numbers:
        return _known(found, run)
    at = {one.number for one in found}
    chosen = [one for one in found if one.number in numbers or _line(one) in lines]
    chosen += [one for one in others if _line(one) in lines]
    present = {_line(one) for one in found}
    for line in lines:
        if line not in map(_line, chosen):
            legal = ", ".join(map(str, sorted(present)))
            raise PtoError(
                f"no op that moves data begins in line {line}", where=f"--line {line}",
                legal=f"lines {legal}",
            )  # fmt: skip
    for number in numbers:
        if number not in at:
            raise PtoError(
                f"there is no op {number}", where=f"--op {number}", legal=f"1..{len(found)}"
            )
    return _known(chosen, run)


def _line(one: Chosen) -> int:
    return int(one.place.rsplit(":", 2)[-2])


def _which(run: int, times: int) -> str:
    return f"execution {min(run, times)} of {times}" if times > 1 else ""


def _others(walked: Trace, run: int, missing: str) -> list[Chosen]:
    """Returns the ``run``-th execution of the ops that move no data, each in the text once."""
    found: dict[Place, Chosen] = {}
    seen: Counter[Place] = Counter()
    times = Counter(step.place for step in walked.steps)
    moves = [step for step in walked.steps if isinstance(step, Move)]
    for move, one in zip(moves, in_order([(x.op, x.name) for x in moves], ()), strict=True):
        if isinstance(move.op, LegacySet | CtrlOp):
            unknown = missing if move.lowering.unknown else ""
            told = replace(one, place=str(move.place), unknown=unknown)
            seen[move.place] += 1
            if seen[move.place] == min(run, times[move.place]):
                count = times[move.place]
                found[move.place] = replace(told, run=_which(run, count), times=count)
    for step in walked.steps:
        if isinstance(step, Compute):
            seen[step.place] += 1
            count = times[step.place]
            if seen[step.place] == min(run, count):
                told = other(step.name.removeprefix("pto."), str(step.place))
                notes = product_notes(step.op)
                found[step.place] = replace(told, notes=notes, run=_which(run, count), times=count)
    for skipped in walked.skipped:
        name = skipped.name.removeprefix("pto.")
        found.setdefault(skipped.place, other(name, str(skipped.place)))
    for dead in walked.dead:
        never = "it is never executed: its branch is not taken, or its loop has no iteration"
        one = other(dead.name, str(dead.place))
        found.setdefault(dead.place, replace(one, unknown=never))
    return list(found.values())


def _written(source: Source, told: set[str]) -> list[Chosen]:
    """Returns the ops of the text with a sentence that are not told yet: flags, signals, fences."""
    found = []
    for op in source.module.walk():
        name, place = op.name.removeprefix("pto."), str(source.place(op))
        if name != op.name and place not in told and sentence(name):
            found.append(other(name, place))
    return found


def _missing(walked: Trace, given: Mapping[int, int]) -> str:
    """Returns which arguments would have to be known."""
    missing = [x for x in walked.arguments if not x.in_gm and x.number not in given]
    if not missing:
        return "an operand is not known: it is no constant and no argument"
    first = missing[0]
    return f"an operand is not known: give %{first.name} with --arg {first.number}=VALUE"


def _known(chosen: list[Chosen], run: int) -> list[Chosen]:
    """Returns the ops.

    Raises:
        PtoError: none of them is known, or executed so often.
    """
    most = max((one.times for one in chosen), default=1)
    if run > most:
        raise PtoError(f"--run is {run}", where="--run", legal=f"1..{most}, which are executed")
    if chosen and all(one.unknown and one.op for one in chosen):
        raise PtoError(
            chosen[0].unknown.partition(": ")[0],
            where=chosen[0].place,
            legal="operands that are constants, or arguments that are given",
            remedy=chosen[0].unknown.partition(": ")[2],
        )
    return chosen


def _chosen(
    walked: Trace, notes: Sequence[str], run: int, before: int, missing: str
) -> list[Chosen]:
    """Returns the ``run``-th execution of each op in the order of the text."""
    moves = _moves(walked)
    times = Counter(move.place for move in moves)
    seen: Counter[object] = Counter()
    found: dict[object, Move] = {}
    for move in moves:
        seen[move.place] += 1
        if seen[move.place] == min(run, times[move.place]):
            found[move.place] = move
    ordered = sorted(found.values(), key=lambda x: (x.place.line, x.place.column))
    result = []
    for number, move in enumerate(ordered, before + 1):
        count = times[move.place]
        which = _which(run, count)
        result.append(
            Chosen(
                move.op, move.registers, move.ctrl, move.name, str(move.place), which,
                tuple(notes), number, missing if move.lowering.unknown else "", count,
            )
        )  # fmt: skip
    return result
