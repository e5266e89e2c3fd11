# SPDX-License-Identifier: Apache-2.0
"""The ops of a text that are explained, with the registers at their issue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from tb.common.errors import PtoError
from tb.explain.others import passed_over, sentence
from tb.explain.raw import COPIES, READ_BACK, RawReader, ReadBack
from tb.isa.ctrl import CtrlOp
from tb.isa.dma.legacy import DmaRegisters, LegacyCopy, LegacySet
from tb.isa.lower import reads_ctrl
from tb.isa.op import replace
from tb.isa.text import AnyOp
from tb.language.grammar.written import Written
from tb.language.literal.ops import op_of
from tb.language.literal.statements import (
    NAME,
    WHERE,
    Names,
    NoValueError,
    element_types,
    split,
    statement,
)
from tb.language.lowered import Lowering
from tb.language.place import Place
from tb.language.run.registers import RegisterState
from tb.language.trace import Raw

NOWHERE = Place("", 0, 0)
"""Place of an op in no file."""

Unit = Literal["bytes", "blocks"]
UNITS: tuple[str, ...] = get_args(Unit)
"""Values of option ``ubuf_to_ubuf``."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An execution of an op.

    Attributes:
        lowering: The op with the registers at its issue, after an op that writes one; None for one
            that has no byte map and writes no register.
        name: Mnemonic as written.
        place: Its place, or ``NOWHERE``.
        run: Which execution of how many, or empty for the only one.
        notes: Assumptions.
        unknown: Why it cannot be explained, where an operand is not known; else empty.
        times: How often it is executed; 0 for one that is not.
        raw: The register form it is written in.
    """

    lowering: Lowering | None
    name: str
    place: Place = NOWHERE
    run: str = ""
    notes: tuple[str, ...] = ()
    unknown: str = ""
    times: int = 1
    raw: ReadBack | None = None

    @property
    def op(self) -> AnyOp | None:
        """The op, or None."""
        return self.lowering.op if self.lowering else None


@dataclass(frozen=True, slots=True)
class Statements:
    """The ops of a text.

    Attributes:
        ops: Those that move data or write registers of ops that do.
        notes: What is assumed of them.
        others: Names of all others, each once.
    """

    ops: tuple[Written, ...]
    notes: tuple[str, ...]
    others: tuple[str, ...] = ()


def statements(text: str, values: Mapping[str, str], element: str = "") -> Statements:
    """Returns the ops of a text, which line ends or semicolons separate.

    Args:
        text: The ops.
        values: Name, with or without ``%``, to its value as text.
        element: Element type, or those of source and destination, where the text has no types.

    Raises:
        PtoError: the text has no op, or a value or a type is not known.
    """
    names, elements = Names(values), element_types(element)
    found: list[Written] = []
    others: dict[str, None] = {}
    for part, sub in split(text):
        match = NAME.match(part)
        assert match is not None, "an op begins with its name"
        name = match.group(1)
        if name in READ_BACK:
            v06 = COPIES[name].op if name in COPIES else ""
            try:
                found.append(statement(part, sub, names, elements, v06))
            except NoValueError as error:
                others[name] = None
                names.notes[f"the words of pto.{name} are not read: {error.what}"] = None
        elif sentence(name, foreign="pto." in match.group()):
            others[name] = None
        else:
            found.append(statement(part, sub, names, elements))
    if not found and not others:
        raise PtoError(
            f"{_short(text)!r} is not an op",
            where=WHERE,
            legal="an op such as `pto.mte_gm_ub ...`, or a program file that exists",
            remedy="write one op, or name a .pto file",
        )
    names.check()
    return Statements(tuple(found), tuple(names.notes), tuple(others))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def of_text(
    text: str,
    values: Mapping[str, str],
    element: str = "",
    ubuf_to_ubuf: Unit = "bytes",
    quant_codes: str = "ptoas",
) -> list[Chosen]:
    """Returns the ops of a text that move data; without any, all the others.

    Raises:
        PtoError: the text is not an op, or breaks a rule of the language.
    """
    written = statements(text, values, element)
    found = [*_in_order(written, quant_codes, ubuf_blocks=ubuf_to_ubuf == "blocks")]
    moves = [one for one in found if moves_data(one)]
    if not moves:
        return [*found, *(replace(other(x), notes=written.notes) for x in written.others)]
    left = [name for name in written.others if not passed_over(name)]
    if not any(one.raw for one in moves):
        left += [one.name for one in found if one.raw]
    note = (f"not executed: {', '.join(f'pto.{name}' for name in left)}",) if left else ()
    return [replace(one, notes=(*one.notes, *note)) for one in moves]


def moves_data(one: Chosen) -> bool:
    """Returns whether an op moves data, also one that is known by its words alone."""
    if one.raw is not None:
        return one.name in COPIES
    return one.op is not None and not isinstance(one.op, LegacySet | CtrlOp)


def of_raw(step: Raw, reader: RawReader, notes: tuple[str, ...] = ()) -> Chosen:
    """Returns the next register form of a program."""
    raw = reader.read(step)
    lowering = Lowering(raw.op, DmaRegisters(), step.ctrl) if raw.op else None
    return Chosen(lowering, step.name, notes=notes, raw=raw)


def other(name: str, place: Place = NOWHERE) -> Chosen:
    """Returns an op that has no byte map and writes no register."""
    return Chosen(None, name, place)


def _raw(written: Written, ctrl: int) -> Raw:
    """Returns the register form of a statement."""
    held = {name: one.kind.wrap(one.number) for name, one in written.operands.items()}
    pointers = (one.kind.pointer for one in written.operands.values())
    return Raw(NOWHERE, written.name, held, tuple(filter(None, pointers)), ctrl)


def issued(op: AnyOp, state: RegisterState) -> Lowering:
    """Returns an op with the registers at its issue, after it if it writes one."""
    if isinstance(op, LegacySet):
        state.write(op)
    elif isinstance(op, CtrlOp):
        state.write_ctrl(op)
    writes = isinstance(op, LegacySet | CtrlOp)
    held = state.now if writes or isinstance(op, LegacyCopy) else DmaRegisters()
    return Lowering(op, held, state.ctrl if writes or reads_ctrl(op) else 0)


def _in_order(written: Statements, codes: str, *, ubuf_blocks: bool) -> Iterator[Chosen]:
    """Yields the ops of a text with the registers that the ops before them leave."""
    state, reader, notes = RegisterState(), RawReader(codes), written.notes
    for one in written.ops:
        if one.name in READ_BACK:
            yield of_raw(_raw(one, state.ctrl), reader, notes)
        else:
            op = op_of(one, ubuf_blocks=ubuf_blocks)
            yield Chosen(issued(op, state), one.name, notes=notes)
