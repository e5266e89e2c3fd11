# SPDX-License-Identifier: Apache-2.0
"""The ops of a program, or of a text, that are explained, with the registers at their issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tb.common.errors import PtoError
from tb.explain.given import program_of
from tb.explain.quick import NotQuickError, quick_op
from tb.explain.statements import WHERE, Statements, statements
from tb.isa.ctrl import CtrlOp, write_ctrl
from tb.isa.dma.legacy import DmaRegisters, LegacyCopy, LegacySet, write_registers
from tb.isa.lower import reads_ctrl
from tb.isa.spaces import GM_ADDR_BITS
from tb.isa.text import AnyOp
from tb.language.place import Finding, ProgramError
from tb.language.trace import Move, Trace

if TYPE_CHECKING:
    from tb.language.reader import Source

UNIT = Literal["bytes", "blocks"]

ROOM = 1 << 32
"""Bytes between the assumed addresses of buffers in GM."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An execution of an op.

    Attributes:
        op, registers, ctrl: The op, and the registers at its issue.
        name: Mnemonic as written.
        place: Its place, or empty.
        run: Which execution of how many, or empty for the only one.
        notes: Assumptions.
        number: Number of the op in the text, from 1.
        unknown: Why it cannot be explained, where an operand is not known; else empty.
    """

    op: AnyOp
    registers: DmaRegisters | None
    ctrl: int
    name: str
    place: str
    run: str
    notes: tuple[str, ...]
    number: int
    unknown: str = ""


def of_text(
    text: str, values: Mapping[str, str], element: str = "", ubuf_to_ubuf: UNIT = "bytes"
) -> list[Chosen]:
    """Returns the ops of a text that move data.

    Raises:
        PtoError: the text is no op, or breaks a rule of the language.
    """
    written = statements(text, values, element)
    found = None
    if ubuf_to_ubuf == "bytes":
        found = _quickly(written)
    if found is None:
        found = _read(written, ubuf_to_ubuf)
    if not found:
        raise PtoError(
            "the text writes registers and moves no data",
            where=WHERE,
            legal="at least one op that moves data, after the ops that write registers for it",
            remedy="add the copy or write-back that reads the registers",
        )
    return found


def _quickly(written: Statements) -> list[Chosen] | None:
    """Returns the ops of a text in the form of reports, or None for any other."""
    registers, ctrl = DmaRegisters(), 0
    found: list[Chosen] = []
    for statement in written.ops:
        try:
            op = quick_op(statement)
        except NotQuickError:
            return None
        if isinstance(op, LegacySet):
            registers = write_registers(op, registers)
        elif isinstance(op, CtrlOp):
            ctrl = write_ctrl(op, ctrl)
        else:
            held = registers if isinstance(op, LegacyCopy) else None
            value = ctrl if reads_ctrl(op) else 0
            number = len(found) + 1
            found.append(Chosen(op, held, value, statement.name, "", "", written.notes, number))
    return found


def _read(written: Statements, ubuf_to_ubuf: UNIT) -> list[Chosen]:
    """Returns the ops of a text that the reader of programs reads.

    Raises:
        PtoError: the text breaks a rule of the language.
    """
    from tb.language.reader import read
    from tb.language.run.walk import trace

    given = program_of(written.ops)
    try:
        source = read(given.text, WHERE)
        walked = trace(source, arguments=given.numbers, static=True, ubuf_to_ubuf=ubuf_to_ubuf)
    except ProgramError as error:
        raise _of_text(error.findings[0], given.first) from None
    if walked.findings:
        raise _of_text(walked.findings[0], given.first)
    return [
        Chosen(x.op, x.registers, x.ctrl, x.name, "", "", written.notes, number)
        for number, x in enumerate(_moves(walked), 1)
    ]


def _of_text(finding: Finding, first: int) -> PtoError:
    """Returns an error of the made program in terms of the op."""
    number = finding.place.line - first + 1
    where = WHERE if number < 1 else f"{WHERE} {finding.op or f'number {number}'}"
    rule = f"{finding.rule}: " if finding.rule else ""
    return PtoError(f"{rule}{finding.sentence}", where=where, legal=finding.legal)


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
    for name in names:
        known, notes = _assumed(source, name, arguments)
        walked = trace(
            source, function=name, arguments=known, static=True, foreign="skip",
            ubuf_to_ubuf=ubuf_to_ubuf,
        )  # fmt: skip
        found += _chosen(walked, notes, run, len(found), _missing(walked, known))
    if not found:
        raise PtoError(f"{path} has no op that moves data", where=str(path))
    if not lines and not numbers:
        return _known(found)
    at = {one.number for one in found}
    chosen = [
        one for one in found if one.number in numbers or int(one.place.rsplit(":", 2)[-2]) in lines
    ]
    present = {int(one.place.rsplit(":", 2)[-2]) for one in found}
    for line in lines:
        if line not in present:
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
    return _known(chosen)


def _missing(walked: Trace, given: Mapping[int, int]) -> str:
    """Returns which arguments would have to be known."""
    missing = [x for x in walked.arguments if not x.in_gm and x.number not in given]
    if not missing:
        return "an operand is not known: it is no constant and no argument"
    first = missing[0]
    return f"an operand is not known: give %{first.name} with --arg {first.number}=VALUE"


def _known(chosen: list[Chosen]) -> list[Chosen]:
    """Returns the ops.

    Raises:
        PtoError: none of them is known.
    """
    if all(one.unknown for one in chosen):
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
        which = f"execution {min(run, count)} of {count}" if count > 1 else ""
        result.append(
            Chosen(
                move.op, move.registers, move.ctrl, move.name, str(move.place), which,
                tuple(notes), number, missing if move.lowering.unknown else "",
            )
        )  # fmt: skip
    return result
