# SPDX-License-Identifier: Apache-2.0
"""Register forms of the compiler, read back: fields of their words, and the op they stand for.

Fields, names of operands and words are those of :data:`tb.explain.words.WORDS` and
:data:`tb.explain.forms.RAW_FORMS`, which go the other way (spec/dialect.md, section 5;
spec/fixpipe.md, section 12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tb.explain.forms import HALVES, LOW_BITS, RAW_FORMS, Raw
from tb.explain.words import WORDS, WordValue, decoded, fields_in, word_named
from tb.isa.dma.legacy import GM_I8
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import LAYOUTS_BY_NAME, QUANT_CODES, RELU_MODES, UB_WHOLE, VECTOR_RELU
from tb.isa.lower import OP_CLASSES
from tb.isa.op import Op, replace
from tb.isa.ops import LEGACY_FORMS, TEXT_FORMS
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS
from tb.language.trace import Raw as Step
from tb.language.unknown import Unknown

CODES = tuple(QUANT_CODES)
"""Values of option ``quant_codes``: tables of the codes in Xt (A-50)."""

COPIES: dict[str, Raw] = {
    raw.name: raw for raw in RAW_FORMS if raw.name not in (*TEXT_FORMS, *LEGACY_FORMS)
}
"""Register forms that no run executes, by name."""

WRITES: dict[str, str] = {
    name: word for raw in COPIES.values() for name, word in raw.words if name and name != "set_ctrl"
}
"""Ops that write a word of such a form, and the word."""

READ_BACK = frozenset((*COPIES, *WRITES))
"""Ops that are read back: of the others that no run executes the words are not specified."""

_64 = (1 << 64) - 1


class NoFormError(Exception):
    """Words for which there is no v0.6 op, or not enough of them; the message is a sentence."""


@dataclass(frozen=True)
class ReadBack:
    """A register form with its words.

    Attributes:
        text: The op, names and values.
        words: Its words; of an op that writes one, this one.
        op: The v0.6 op that they stand for, or None.
        notes: What is assumed, or why there is no op.
    """

    text: str
    words: tuple[WordValue, ...]
    op: Op | None
    notes: tuple[str, ...]


def read_back(steps: Iterable[Step], codes: str) -> Iterator[ReadBack]:
    """Yields the register forms of a program in its order.

    Args:
        steps: The ops, each of ``READ_BACK``; those of a core have registers of their own.
        codes: Table of the quantization codes in Xt.
    """
    held: dict[int, dict[str, int]] = {}
    for step in steps:
        registers = held.setdefault(step.core, {})
        if step.name not in WRITES:
            yield _copy(step, registers, codes)
            continue
        name = WRITES[step.name]
        value = registers[name] = _word(step)
        if isinstance(value, Unknown):
            yield ReadBack(_text(step), (), None, _none(f"the value of {name} is not known"))
        else:
            yield ReadBack(_text(step), (decoded(word_named(name), value),), None, ())


def _none(why: object) -> tuple[str]:
    return (f"no v0.6 op is shown: {why}",)


def _word(step: Step) -> int:
    values = [*step.operands.values()]
    if any(isinstance(value, Unknown) for value in values):
        return values[0] if isinstance(values[0], Unknown) else values[1]
    if step.name in HALVES:
        return (values[1] << LOW_BITS | values[0] & (1 << LOW_BITS) - 1) & _64
    return values[0] & _64


def _text(step: Step) -> str:
    """Returns the op with names and values; words and addresses are hexadecimal."""
    shown = (
        f"{name} {value if isinstance(value, Unknown) or name not in _HEX else hex(value)}"
        for name, value in step.operands.items()
    )
    return f"pto.{step.name} {', '.join(shown)}"


_HEX = ("src", "dst", "gm_src", "l1_dst", "xm", "xt", "low", "high", "value")


def _copy(step: Step, registers: Mapping[str, int], codes: str) -> ReadBack:
    form = COPIES[step.name]
    held = {**registers, "CTRL": step.ctrl}
    for name in ("Xm", "Xt"):
        if name.lower() in step.operands:
            value = step.operands[name.lower()]
            held[name] = value if isinstance(value, Unknown) else value & _64
    words = tuple(
        decoded(word_named(name, form.op), held[name])
        for _, name in form.words
        if name in held and not isinstance(held[name], Unknown)
    )
    needs, notes = _Needs(form.op, held), list[str]()
    try:
        for name, value in step.operands.items():
            if isinstance(value, Unknown):
                raise NoFormError(f"operand {name} is not known")
        op = _op_of(step, needs, codes, notes)
    except NoFormError as error:
        return ReadBack(_text(step), words, None, _none(error))
    used = tuple(word for word in words if word.name in needs.used)
    notes.append(f"no run executes pto.{step.name}: this is the op that it stands for")
    return ReadBack(_text(step), used, op, tuple(notes))


class _Needs:
    """Words that are known, and which of them an op uses.

    Attributes:
        op: The v0.6 op.
        used: Names of the words that were asked for.
    """

    def __init__(self, op: str, words: Mapping[str, int]) -> None:
        self.op, self._words = op, words
        self.used: set[str] = set()

    def written(self, name: str) -> bool:
        """Returns whether an op before has written a word."""
        return name in self._words

    def __getitem__(self, name: str) -> dict[str, int]:
        """Returns the fields of the op of which a word has bits.

        Raises:
            NoFormError: it is not known.
        """
        self.used.add(name)
        if name not in self._words:
            writer = next(op for op, word in WRITES.items() if word == name)
            raise NoFormError(f"the op uses {name}, and no pto.{writer} is before it")
        if isinstance(self._words[name], Unknown):
            raise NoFormError(f"the op uses {name}, and its value is not known")
        return fields_in(word_named(name, self.op), self._words[name])


def _op_of(step: Step, words: _Needs, codes: str, notes: list[str]) -> Op:
    """Returns the op that a register form stands for; what is assumed is added to the notes."""
    form, kind = COPIES[step.name], OP_CLASSES[words.op]
    pairs = zip(form.operands, step.operands.values(), strict=False)
    values = {**{field: value for (_, field), value in pairs}, **form.fixed}
    if issubclass(kind, FixOp):
        values |= _write_back(kind, words, codes, notes)
    else:
        for _, name in form.words:
            values |= words[name]
    if "small_c0" in values:
        values["small_c0"] &= 1  # Of a flag.
    source, target = step.pointers
    op = kind.built(_known(kind, values), "f32", "f32")
    return replace(op, src_type=source, dst_type=target)


def _known(kind: type[Op], values: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if name in kind.spec.layout}


def _write_back(kind: type[FixOp], words: _Needs, codes: str, notes: list[str]) -> dict[str, int]:
    """Returns the fields that words have; saturation and atomic updates are those of CTRL."""
    values, _ = words["Xm"] | words["Xt"], words["CTRL"]
    if values["clip_en"]:
        raise NoFormError("Xt enables a clip, whose code and register are not specified")
    if values.get("ub_mode", UB_WHOLE) != UB_WHOLE:
        raise NoFormError(f"codes of the dual mode are not specified: it is {values['ub_mode']}")
    code, most = values["relu"], max(RELU_MODES.values())
    if code > most:
        raise NoFormError(f"relu code {code} is none: 0..{most}")
    values |= {"quant": _quant(values["quant"], codes, notes)}
    segment = FB_SEGMENTS["pre_relu"]
    if code == VECTOR_RELU:
        notes.append(f"segment {segment} of fb is taken for the alphas: FPC has no segment")
    values |= _layout(values, words, notes)
    op = kind.of(_known(kind, values), GM_I8, GM_I8)
    for word in WORDS:
        if words.op in word.ops and word.name in WRITES.values() and word.when(op):
            values |= words[word.name]
    if values.get("offset") or values.get("sign"):
        raise NoFormError("QUANT_PRE has an offset or a sign, which no v0.6 op with a scalar has")
    values["quant_addr"] = values["quant_addr"] if op.vector_quant else 0
    values["relu_addr"] = segment << FB_SEGMENT_SHIFT | values["relu_addr"] if op.vector_relu else 0
    return values


def _quant(code: int, codes: str, notes: list[str]) -> int:
    """Returns the field of the descriptor of a code in Xt."""
    mode = QUANT_CODES[codes].get(code)
    if mode is None:
        raise NoFormError(f"quant code {code} is none of the table {codes} (option --quant-codes)")
    if code:
        notes.append(f"quant code {code} of Xt is {mode.name} in the table {codes} (A-50)")
    return mode.code


def _layout(values: Mapping[str, int], words: _Needs, notes: list[str]) -> dict[str, int]:
    """Returns the layout of the bits of Xt, and whether LOOP3_PARA is read."""
    chosen = [name for name in ("nz2nd", "nz2dn") if values[name]]
    if len(chosen) > 1:
        raise NoFormError("Xt selects nz2nd and nz2dn")
    if chosen and not words.written("LOOP3_PARA"):
        notes.append("no pto.set_loop3_para is before it: no loop3 is taken")
    loop3 = bool(chosen) and words.written("LOOP3_PARA")
    return {"layout": LAYOUTS_BY_NAME[chosen[0] if chosen else "nz2nz"], "loop3_en": int(loop3)}
