# SPDX-License-Identifier: Apache-2.0
"""The ops of a text that are explained, with the registers at their issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tb.common.errors import PtoError
from tb.explain.given import program_of
from tb.explain.others import passed_over
from tb.explain.raw import CODES, COPIES, ReadBack, read_back
from tb.explain.statements import WHERE, Statements, statements
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import DmaRegisters, LegacyCopy, LegacySet
from tb.isa.lower import reads_ctrl
from tb.isa.text import AnyOp
from tb.language.literal.quick import NotQuickError, quick_op
from tb.language.place import Finding, ProgramError
from tb.language.run.registers import RegisterState
from tb.language.trace import Move, Raw

UNIT = Literal["bytes", "blocks"]

Named = tuple[AnyOp, str]
"""An op, and its mnemonic as written."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An execution of an op.

    Attributes:
        op: The op, or None for one that has no byte map and writes no register.
        registers, ctrl: The registers at its issue; after an op that writes one.
        name: Mnemonic as written.
        place: Its place, or empty.
        run: Which execution of how many, or empty for the only one.
        notes: Assumptions.
        number: Number of the op in the text, from 1.
        unknown: Why it cannot be explained, where an operand is not known; else empty.
        times: How often it is executed; 0 for one that is not.
        raw: The register form it is written in.
    """

    op: AnyOp | None
    registers: DmaRegisters | None
    ctrl: int
    name: str
    place: str
    run: str
    notes: tuple[str, ...]
    number: int
    unknown: str = ""
    times: int = 1
    raw: ReadBack | None = None


def of_text(
    text: str,
    values: Mapping[str, str],
    element: str = "",
    ubuf_to_ubuf: UNIT = "bytes",
    quant_codes: CODES = "ptoas",
) -> list[Chosen]:
    """Returns the ops of a text that move data; without any, all the others.

    Raises:
        PtoError: the text is no op, or breaks a rule of the language.
    """
    written = statements(text, values, element)
    ops = _quickly(written, ubuf_to_ubuf)
    if ops is None:
        found = _read(written, ubuf_to_ubuf, quant_codes)
    else:
        found = in_order(ops, written.notes)
    moves = [one for one in found if moves_data(one)]
    if not moves:
        return [*found, *(replace(other(x), notes=written.notes) for x in written.others)]
    left = [name for name in written.others if not passed_over(name)]
    if not any(one.raw for one in moves):
        left += [one.name for one in found if one.raw]
    note = (f"not executed: {', '.join(f'pto.{name}' for name in left)}",) if left else ()
    return [
        replace(one, number=number, notes=(*one.notes, *note))
        for number, one in enumerate(moves, 1)
    ]


def moves_data(one: Chosen) -> bool:
    """Returns whether an op moves data, also one that is known by its words alone."""
    if one.raw is not None:
        return one.name in COPIES
    return one.op is not None and not isinstance(one.op, LegacySet | CtrlOp)


def of_raw(steps: Sequence[Raw], codes: CODES, notes: tuple[str, ...] = ()) -> list[Chosen]:
    """Returns the register forms of a program in its order, read back."""
    return [
        Chosen(
            one.op, None, one.step.ctrl, one.step.name, str(one.step.place), "", notes, 0, raw=one
        )
        for one in read_back(steps, codes)
    ]


def other(name: str, place: str = "") -> Chosen:
    """Returns an op that has no byte map and writes no register."""
    return Chosen(None, None, 0, name, place, "", (), 0)


def _quickly(written: Statements, ubuf_to_ubuf: UNIT) -> list[Named] | None:
    """Returns the ops of a text that says all values, or None for any other."""
    blocks = ubuf_to_ubuf == "blocks"
    try:
        return [(quick_op(x, ubuf_blocks=blocks), x.name) for x in written.ops]
    except NotQuickError:
        return None


def in_order(ops: Sequence[Named], notes: tuple[str, ...]) -> list[Chosen]:
    """Returns ops with the registers that the ops before them leave."""
    state = RegisterState()
    found: list[Chosen] = []
    for op, name in ops:
        if isinstance(op, LegacySet):
            state.write(op)
        elif isinstance(op, CtrlOp):
            state.write_ctrl(op)
        writes = isinstance(op, LegacySet | CtrlOp)
        held = state.now if writes or isinstance(op, LegacyCopy) else None
        value = state.ctrl if writes or reads_ctrl(op) else 0
        found.append(Chosen(op, held, value, name, "", "", notes, len(found) + 1))
    return found


def _read(written: Statements, ubuf_to_ubuf: UNIT, quant_codes: CODES) -> list[Chosen]:
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
    steps = [step for step in walked.steps if isinstance(step, Move)]
    moves = in_order([(step.op, step.name) for step in steps], written.notes)
    raws = of_raw(walked.raw, quant_codes, written.notes)
    places = [step.place.line for step in steps] + [raw.place.line for raw in walked.raw]
    pairs = zip(places, (*moves, *raws), strict=True)
    return [replace(one, place="") for _, one in sorted(pairs, key=lambda pair: pair[0])]


def _of_text(finding: Finding, first: int) -> PtoError:
    """Returns an error of the made program in terms of the op."""
    number = finding.place.line - first + 1
    where = WHERE if number < 1 else f"{WHERE} {finding.op or f'number {number}'}"
    rule = f"{finding.rule}: " if finding.rule else ""
    return PtoError(f"{rule}{finding.sentence}", where=where, legal=finding.legal)
