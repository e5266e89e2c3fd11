# SPDX-License-Identifier: Apache-2.0
"""Register forms of the compiler, read back: fields of their words, and the op they stand for.

Fields, names of operands and words are those of :data:`tb.explain.words.WORDS` and
:data:`tb.explain.forms.RAW_FORMS`, which go the other way (docs/spec/dialect.md, section 5;
docs/spec/fixpipe.md, section 12).
"""

from __future__ import annotations

from collections.abc import Mapping
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
from tb.language.unknown import UNKNOWN, Unknown

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


class RawReader:
    """Reads register forms back in program order; each core has registers of its own.

    Args:
        codes: Table of the quantization codes in Xt.
    """

    def __init__(self, codes: str) -> None:
        self._codes = codes
        self._held: dict[int, dict[str, int]] = {}

    def read(self, step: Step) -> ReadBack:
        """Returns an op of ``READ_BACK`` with its words, after the ops that were read before."""
        registers = self._held.setdefault(step.core, {})
        if step.name not in WRITES:
            return _Copy(step, registers, self._codes).read()
        name = WRITES[step.name]
        value = registers[name] = _word(step)
        if isinstance(value, Unknown):
            return ReadBack(_text(step), (), None, _none(f"the value of {name} is not known"))
        return ReadBack(_text(step), (decoded(word_named(name), value),), None, ())


def _none(why: object) -> tuple[str]:
    return (f"no v0.6 op is shown: {why}",)


def _word(step: Step) -> int:
    """Returns the word that an op writes; one of two parts is not known if one of them is not."""
    values = [*step.operands.values()]
    for value in values:
        if isinstance(value, Unknown):
            return value
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


class _Copy:
    """A register form, and the words that are known at its place."""

    def __init__(self, step: Step, written: Mapping[str, int], codes: str) -> None:
        self._step, self._form, self._codes = step, COPIES[step.name], codes
        self._kind = OP_CLASSES[self._form.op]
        words = {x.capitalize(): y for x, y in step.operands.items() if x in ("xm", "xt")}
        self._words = {**written, "CTRL": step.ctrl, **words}
        self._used: set[str] = set()
        self._notes: list[str] = []

    def read(self) -> ReadBack:
        """Returns the form with the words that its op uses; without an op, with all of them."""
        text = _text(self._step)
        words = [
            decoded(word_named(name, self._form.op), self._words[name] & _64)
            for _, name in self._form.words
            if not isinstance(self._words.get(name, UNKNOWN), Unknown)
        ]
        try:
            op = self._op()
        except NoFormError as error:
            return ReadBack(text, tuple(words), None, _none(error))
        used = tuple(word for word in words if word.name in self._used)
        last = f"no run executes pto.{self._step.name}: this is the op that it stands for"
        return ReadBack(text, used, op, (*self._notes, last))

    def _fields(self, name: str) -> dict[str, int]:
        """Returns the fields of the op of which a word has bits.

        Raises:
            NoFormError: it is not known.
        """
        self._used.add(name)
        if name not in self._words:
            writer = next(op for op, word in WRITES.items() if word == name)
            raise NoFormError(f"the op uses {name}, and no pto.{writer} is before it")
        if isinstance(self._words[name], Unknown):
            raise NoFormError(f"the op uses {name}, and its value is not known")
        return fields_in(word_named(name, self._form.op), self._words[name] & _64)

    def _op(self) -> Op:
        """Returns the op that the form stands for."""
        for name, value in self._step.operands.items():
            if isinstance(value, Unknown):
                raise NoFormError(f"operand {name} is not known")
        pairs = zip(self._form.operands, self._step.operands.values(), strict=False)
        values = {**{field: value for (_, field), value in pairs}, **self._form.fixed}
        if issubclass(self._kind, FixOp):
            values |= self._write_back(self._kind)
        else:
            for _, name in self._form.words:
                values |= self._fields(name)
        if "small_c0" in values:
            values["small_c0"] &= 1  # Of a flag.
        source, target = self._step.pointers
        op = self._kind.built(self._known(values), "f32", "f32")
        return replace(op, src_type=source, dst_type=target)

    def _known(self, values: Mapping[str, int]) -> dict[str, int]:
        layout = self._kind.spec.layout
        return {name: value for name, value in values.items() if name in layout}

    def _write_back(self, kind: type[FixOp]) -> dict[str, int]:
        """Returns the fields that words have; saturation and atomic updates are those of CTRL."""
        values, _ = self._fields("Xm") | self._fields("Xt"), self._fields("CTRL")
        if values["clip_en"]:
            raise NoFormError("Xt enables a clip, whose code and register are not specified")
        mode, code, most = values.get("ub_mode", UB_WHOLE), values["relu"], max(RELU_MODES.values())
        if mode != UB_WHOLE:
            raise NoFormError(f"codes of the dual mode are not specified: it is {mode}")
        if code > most:
            raise NoFormError(f"relu code {code} is none: 0..{most}")
        values["quant"] = self._quant(values["quant"])
        segment = FB_SEGMENTS["pre_relu"]
        if code == VECTOR_RELU:
            note = f"segment {segment} of fb is taken for the alphas: FPC has no segment"
            self._notes.append(note)
        values |= self._layout(values)
        op = kind.of(self._known(values), GM_I8, GM_I8)
        for word in WORDS:
            if self._form.op in word.ops and word.name in WRITES.values() and word.when(op):
                values |= self._fields(word.name)
        if values.get("offset") or values.get("sign"):
            why = "QUANT_PRE has an offset or a sign, which no v0.6 op with a scalar has"
            raise NoFormError(why)
        alphas = segment << FB_SEGMENT_SHIFT
        values["quant_addr"] = values["quant_addr"] if op.vector_quant else 0
        values["relu_addr"] = alphas | values["relu_addr"] if op.vector_relu else 0
        return values

    def _quant(self, code: int) -> int:
        """Returns the field of the descriptor of a code in Xt."""
        table = self._codes
        mode = QUANT_CODES[table].get(code)
        if mode is None:
            why = f"quant code {code} is none of the table {table} (option --quant-codes)"
            raise NoFormError(why)
        if code:
            note = f"quant code {code} of Xt is {mode.name} in the table {table} (A-50)"
            self._notes.append(note)
        return mode.code

    def _layout(self, values: Mapping[str, int]) -> dict[str, int]:
        """Returns the layout of the bits of Xt, and whether LOOP3_PARA is read."""
        chosen = [name for name in ("nz2nd", "nz2dn") if values[name]]
        if len(chosen) > 1:
            raise NoFormError("Xt selects nz2nd and nz2dn")
        loop3 = "LOOP3_PARA" in self._words
        if chosen and not loop3:
            self._notes.append("no pto.set_loop3_para is before it: no loop3 is taken")
        layout = LAYOUTS_BY_NAME[chosen[0] if chosen else "nz2nz"]
        return {"layout": layout, "loop3_en": int(bool(chosen) and loop3)}
