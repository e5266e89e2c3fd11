# SPDX-License-Identifier: Apache-2.0
"""The explanation of one op as data: :func:`explain`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tb.explain.forms import RAW, OpForm, forms_of
from tb.explain.layouts import layout_lines, view_of
from tb.explain.maps import parts_of
from tb.explain.others import effect, sentence, written_words
from tb.explain.parts import Part
from tb.explain.profiles import Difference, differences
from tb.explain.raw import COPIES
from tb.explain.rules import BROKEN, Verdict, verdicts
from tb.explain.steps import NOWHERE, Chosen
from tb.explain.words import WordValue, words_of
from tb.isa.ctrl import CtrlOp
from tb.isa.descriptor import field_values, packed
from tb.isa.dma.legacy import LegacySet
from tb.isa.fields import DESC_WORDS, OPCODE_BITS
from tb.isa.fix.op import FixOp
from tb.isa.footprint import parameters
from tb.isa.op import Op
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES, Pipe
from tb.isa.profile import current
from tb.isa.remarks import remarks
from tb.isa.spaces import Space, located
from tb.isa.text import to_text
from tb.language.lowered import Lowering
from tb.language.rules.check import HINT_RULES

LEGAL, NOP, REFUSED, REPORTED, UNDEFINED = "legal", "NOP", "refused", "error", "undefined"
UNKNOWN, NO_BYTES = "not known", "no bytes"
FINE = (LEGAL, NOP, NO_BYTES)
"""Status of an op that breaks no rule."""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field of the descriptor: name, highest and lowest bit, value, description."""

    name: str
    msb: int
    lsb: int
    value: int
    doc: str


@dataclass(frozen=True, slots=True)
class Packed:
    """A descriptor: its fields, the opcode first, and its words of 32 bits, the lowest first."""

    fields: tuple[FieldValue, ...] = ()
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameters in fb that an op reads: ``count`` of ``size`` bytes from ``address`` on."""

    what: str
    address: int
    size: int
    count: int


@dataclass(frozen=True)
class Explained:
    """The record of an op: text shows it, JSON has its fields under their names.

    Attributes:
        op: Mnemonic as written.
        text: The op as one line.
        place: Its place in a file, or empty.
        run: Which of its executions this is, and of how many; empty for the only one.
        notes: Assumptions, such as addresses that are not known.
        pipe: Its pipe.
        profile: The profile.
        status: ``LEGAL``, ``NOP``, ``REFUSED`` (S rule), ``REPORTED`` (D rule: the engine retires
            it with an error), ``UNDEFINED`` (T rule), ``UNKNOWN`` (an operand is not known),
            ``NO_BYTES`` (it moves none, or no engine executes it).
        verdict: The same as a sentence.
        rules: Rules with their verdicts.
        layout: How rows, groups and tiles lie in the memories, and the steps of values, as
            sentences.
        parts: The byte map; empty where nothing is moved.
        view: How a picture places the bytes; empty where nothing is moved.
        parameters: Parameters in fb that are read.
        forms: Other forms.
        words: Register words.
        descriptor: Its descriptor; empty where there is none.
        profiles: Knobs of the profile that matter.
    """

    op: str
    text: str
    place: str
    run: str
    notes: tuple[str, ...]
    pipe: str
    profile: str
    status: str
    verdict: str
    rules: tuple[Verdict, ...] = ()
    layout: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    view: str = ""
    parameters: tuple[Parameter, ...] = ()
    forms: tuple[OpForm, ...] = ()
    words: tuple[WordValue, ...] = ()
    descriptor: Packed = Packed()
    profiles: tuple[Difference, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it is not an op that moves bytes, or not known which it moves."""
        return self.pipe == Pipe.S.value or self.status in (NO_BYTES, UNKNOWN)

    @property
    def memories(self) -> dict[Space, str]:
        """Memories that are written, and their names."""
        found: dict[Space, str] = {}
        for part in self.parts:
            found.setdefault(part.space, located(part.space, part.dst)[0])
        return found


def explain(one: Chosen) -> Explained:
    """Returns the record of an op under the profile of this process."""
    raw, lowering = one.raw, one.lowering
    form = COPIES[one.name].op if one.name in COPIES else TEXT_FORMS.get(one.name, one.name)
    pipe = PIPES.get(form)
    text, words, notes = (raw.text, raw.words, raw.notes) if raw else (f"pto.{one.name}", (), ())
    place = "" if one.place == NOWHERE else str(one.place)
    record = Explained(
        one.name, text, place, one.run, (*one.notes, *notes), pipe.value if pipe else "",
        str(current()), UNKNOWN, one.unknown, words=words,
    )  # fmt: skip
    if one.unknown:
        return record
    if lowering is None:
        return replace(record, status=NO_BYTES, verdict=sentence(one.name, foreign=True))
    op, desc = lowering.op, lowering.descriptor
    record = replace(record, text=raw.text if raw else to_text(op), rules=verdicts(lowering))
    if isinstance(op, LegacySet | CtrlOp):
        return _of_register(record, op, lowering)
    status, verdict = judged(record.rules, desc)
    record = replace(record, status=status, verdict=verdict, profiles=differences(lowering))
    if raw:
        record = replace(record, forms=(OpForm("v0.6", (to_text(op),), RAW),))
    elif desc is not None:
        forms = forms_of(op, desc, lowering.registers)
        record = replace(record, forms=forms, words=words_of(desc))
    return record if desc is None else _of_descriptor(record, desc)


def _of_register(record: Explained, op: LegacySet | CtrlOp, lowering: Lowering) -> Explained:
    """Returns the record of an op that writes a register."""
    status, verdict = NO_BYTES, effect(op)
    if any(rule.state == BROKEN for rule in record.rules):
        first = record.rules[0].rule
        status = REPORTED
        verdict = f"{first}: the op retires with this rule and its register is unchanged"
    words = written_words(op, lowering.registers, lowering.ctrl)
    return replace(record, status=status, verdict=verdict, words=words)


def _of_descriptor(record: Explained, desc: Op) -> Explained:
    """Returns the record with the descriptor, and with the bytes where the op moves some."""
    record = replace(record, descriptor=_packed(desc))
    if record.status not in (LEGAL, UNDEFINED):
        return record
    notes = (*record.notes, *remarks(desc))
    used = _parameters(desc) if isinstance(desc, FixOp) else ()
    return replace(
        record, notes=notes, parts=parts_of(desc), layout=layout_lines(desc), view=view_of(desc),
        parameters=used,
    )  # fmt: skip


def judged(rules: tuple[Verdict, ...], desc: Op | None) -> tuple[str, str]:
    """Returns the status of an op with these verdicts, and a sentence."""
    broken = {kind: [one for one in rules if one.state == BROKEN and one.kind == kind]
              for kind in "SDT"}  # fmt: skip
    if any(one.rule not in HINT_RULES for one in broken["S"]):
        names = ", ".join(one.rule for one in broken["S"])
        return REFUSED, f"{names}: a front end refuses the op, which is not issued"
    if broken["D"]:
        first = broken["D"][0].rule
        more = "".join(f", {one.rule}" for one in broken["D"][1:])
        more = f" (broken too{more.replace(',', ':', 1)})" if more else ""
        return REPORTED, f"{first}: the op retires with this rule and no byte changes{more}"
    if desc is None:
        return REFUSED, "no descriptor holds the op, which is not issued"
    if desc.is_nop:
        return NOP, "legal, and a NOP: a count is 0, no byte is touched"
    if broken["T"]:
        names = ", ".join(one.rule for one in broken["T"])
        return UNDEFINED, f"{names}: the result is undefined; the map shows what each part writes"
    return LEGAL, "legal"


def _parameters(desc: FixOp) -> tuple[Parameter, ...]:
    used = {"pre_quant record": desc.vector_quant, "alpha": desc.vector_relu}
    names = [name for name, vector in used.items() if vector]
    return tuple(
        Parameter(f"{what} of channel n", region.base, region.length // desc.n, desc.n)
        for what, region in zip(names, parameters(desc), strict=True)
    )


def _packed(desc: Op) -> Packed:
    values = field_values(desc)
    opcode = FieldValue("opcode", OPCODE_BITS - 1, 0, desc.spec.opcode, desc.spec.name)
    fields = [
        FieldValue(name, placed.msb, placed.lsb, values[name], placed.field.doc)
        for name, placed in desc.spec.layout.items()
    ]
    number = packed(desc)
    words = tuple(number >> 32 * k & 0xFFFFFFFF for k in range(DESC_WORDS))
    return Packed((opcode, *fields), words)
