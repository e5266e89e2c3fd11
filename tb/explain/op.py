# SPDX-License-Identifier: Apache-2.0
"""Everything that is said of one op, as data: :func:`explain`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tb.explain.forms import RAW, OpForm, forms_of
from tb.explain.layouts import layout_lines, view_of
from tb.explain.maps import parts_of
from tb.explain.others import effect, sentence, written_words
from tb.explain.parts import Part
from tb.explain.profiles import Difference, differences
from tb.explain.raw import COPIES
from tb.explain.rules import BROKEN, Verdict, verdicts
from tb.explain.steps import Chosen
from tb.explain.words import WordValue, words_of
from tb.isa.ctrl import CtrlOp
from tb.isa.descriptor import field_values, packed
from tb.isa.dma.legacy import DmaRegisters, LegacySet
from tb.isa.fields import DESC_WORDS, OPCODE_BITS
from tb.isa.fix.op import FixOp
from tb.isa.fix.remarks import remarks
from tb.isa.footprint import parameters
from tb.isa.lower import Descriptor
from tb.isa.ops import TEXT_FORMS
from tb.isa.pipes import PIPES, Pipe
from tb.isa.profile import current
from tb.isa.spaces import Space
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
class Parameter:
    """Parameters in fb that an op reads: ``count`` of ``size`` bytes from ``address`` on."""

    what: str
    address: int
    size: int
    count: int


@dataclass(frozen=True)
class Explained:
    """What is said of an op.

    Attributes:
        name: Mnemonic as written.
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
        parts: The byte map; empty where nothing is moved.
        layout: How rows, groups and tiles lie in the memories, and the steps of values, as
            sentences.
        view: How a picture places the bytes; empty where nothing is moved.
        parameters: Parameters in fb that are read.
        words: Register words.
        forms: Other forms.
        fields: Fields of the descriptor, the opcode first; empty where there is none.
        packed: The descriptor in words of 32 bits, least significant first.
        differences: Knobs of the profile that matter.
    """

    name: str
    text: str
    place: str
    run: str
    notes: tuple[str, ...]
    pipe: str
    profile: str
    status: str
    verdict: str
    rules: tuple[Verdict, ...] = ()
    parts: tuple[Part, ...] = ()
    layout: tuple[str, ...] = ()
    view: str = ""
    parameters: tuple[Parameter, ...] = ()
    words: tuple[WordValue, ...] = ()
    forms: tuple[OpForm, ...] = ()
    fields: tuple[FieldValue, ...] = ()
    packed: tuple[int, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether it is no op that moves bytes, or not known which it moves."""
        writes = self.pipe == Pipe.S.value
        return writes or self.status in (NO_BYTES, UNKNOWN)

    @property
    def memories(self) -> tuple[Space, ...]:
        """Memories that are written."""
        return tuple(dict.fromkeys(part.space for part in self.parts))


def explain(one: Chosen) -> Explained:
    """Returns what is to be said of an op under the profile of this process."""
    op, raw, name, notes = one.op, one.raw, one.name, one.notes
    if raw is not None:
        notes = (*notes, *raw.notes, *([f"no v0.6 op is shown: {raw.why}"] if raw.why else ()))
    pipe = PIPES.get(TEXT_FORMS.get(name, COPIES[name].op if name in COPIES else name))
    held = one.registers or DmaRegisters()
    explained = partial(
        Explained, name, place=one.place, run=one.run, pipe=pipe.value if pipe else "",
        profile=str(current()),
    )  # fmt: skip
    if op is None or one.unknown:
        text, words = (raw.text, raw.words) if raw else (f"pto.{name}", ())
        status, verdict = UNKNOWN, one.unknown
        if not one.unknown:
            status, verdict = NO_BYTES, sentence(name, foreign=True)
        return explained(text, notes=notes, status=status, verdict=verdict, words=words)
    lowering = Lowering(op, held, one.ctrl)
    rules = verdicts(lowering)
    if isinstance(op, LegacySet | CtrlOp):
        status, verdict = NO_BYTES, effect(op)
        if any(rule.state == BROKEN for rule in rules):
            status = REPORTED
            verdict = (
                f"{rules[0].rule}: the op retires with this rule and its register is unchanged"
            )
        return explained(
            to_text(op), notes=notes, status=status, verdict=verdict, rules=rules,
            words=written_words(op, held, one.ctrl),
        )  # fmt: skip
    desc = lowering.descriptor
    status, verdict = judged(rules, desc)
    found: dict[str, Any] = {}
    if desc is not None:
        found = {
            "words": words_of(desc),
            "forms": forms_of(op, desc, held),
            "fields": _fields(desc),
            "packed": _words(packed(desc)),
        }
    if raw:
        found |= {"words": raw.words, "forms": (OpForm("v0.6", (to_text(op),), RAW),)}
    if desc is not None and status in (LEGAL, UNDEFINED):
        found |= {"parts": parts_of(desc), "layout": layout_lines(desc), "view": view_of(desc)}
        if isinstance(desc, FixOp):
            notes = (*notes, *remarks(desc))
            found["parameters"] = _parameters(desc)
    return explained(
        raw.text if raw else to_text(op), notes=notes, status=status, verdict=verdict, rules=rules,
        differences=differences(op, held, one.ctrl), **found,
    )  # fmt: skip


def judged(rules: tuple[Verdict, ...], desc: Descriptor | None) -> tuple[str, str]:
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


def _fields(desc: Descriptor) -> tuple[FieldValue, ...]:
    values = field_values(desc)
    opcode = FieldValue("opcode", OPCODE_BITS - 1, 0, desc.spec.opcode, desc.spec.name)
    rows = (
        FieldValue(name, placed.msb, placed.lsb, values[name], placed.field.doc)
        for name, placed in desc.spec.layout.items()
    )
    return (opcode, *rows)


def _words(number: int) -> tuple[int, ...]:
    return tuple(number >> 32 * k & 0xFFFFFFFF for k in range(DESC_WORDS))
