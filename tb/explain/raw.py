# SPDX-License-Identifier: Apache-2.0
"""Register forms of the compiler, read back: fields of their words, and the op they stand for.

Fields, names of operands and words are those of :data:`tb.explain.words.WORDS` and
:data:`tb.explain.forms.RAW_FORMS`, which go the other way (spec/dialect.md, section 5;
spec/fixpipe.md, section 12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tb.explain.forms import HALVES, LOW_BITS, RAW_FORMS, Raw
from tb.explain.words import CUT, WordValue, decoded, word_named
from tb.isa.burst.op import MteL1Bt
from tb.isa.fix.op import FixOp
from tb.isa.fix.table import (
    LAYOUTS_BY_NAME,
    QUANT_CODES,
    RELU_MODES,
    SCALAR_RELU,
    UB_WHOLE,
    VECTOR_RELU,
)
from tb.isa.lower import OP_CLASSES
from tb.isa.nz.op import MteGmL1Frac
from tb.isa.op import replace
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

Fields = Mapping[str, int]
"""Names of the fields of a word and their values."""


class NoFormError(Exception):
    """Words for which there is no v0.6 op, or not enough of them; the message is a sentence."""


@dataclass(frozen=True)
class ReadBack:
    """A register form with its words.

    Attributes:
        step: The op.
        text: The op, names and values.
        words: Its words; of an op that writes one, this one.
        op: The v0.6 op that they stand for, or None.
        why: Why there is none, or empty for an op that writes a word.
        notes: What is assumed.
    """

    step: Step
    text: str
    words: tuple[WordValue, ...]
    op: FixOp | MteGmL1Frac | MteL1Bt | None = None
    why: str = ""
    notes: tuple[str, ...] = ()


def read_back(steps: Iterable[Step], codes: str) -> Iterator[ReadBack]:
    """Yields the register forms of a program in its order.

    Args:
        steps: The ops, each of ``READ_BACK``; those of a core have registers of their own.
        codes: Table of the quantization codes in Xt.
    """
    held: dict[int, dict[str, int]] = {}
    for step in steps:
        registers = held.setdefault(step.core, {})
        if step.name in WRITES:
            name = WRITES[step.name]
            value = registers[name] = _word(step)
            words = () if isinstance(value, Unknown) else (decoded(word_named(name), value),)
            yield ReadBack(step, _text(step), words, why=_not_known(words, name))
        else:
            yield _copy(step, registers, codes)


def _not_known(words: tuple[WordValue, ...], name: str) -> str:
    return "" if words else f"the value of {name} is not known"


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
    fields = {word.name: {name: value for name, _, value in word.fields} for word in words}
    needs = _Needs(fields, {name for name in held if isinstance(held[name], Unknown)})
    try:
        for name, value in step.operands.items():
            if isinstance(value, Unknown):
                raise NoFormError(f"operand {name} is not known")
        op, notes = _MAKERS[form.op](step, needs, codes)
    except NoFormError as error:
        return ReadBack(step, _text(step), words, why=str(error))
    used = tuple(word for word in words if word.name in needs.used)
    notes.append(f"no run executes pto.{step.name}: this is the op that it stands for")
    return ReadBack(step, _text(step), used, op, notes=tuple(notes))


class _Needs:
    """Fields of the words that are known, and which of them an op uses."""

    def __init__(self, fields: Mapping[str, Fields], unknown: set[str]) -> None:
        self._fields, self._unknown = fields, unknown
        self.used: set[str] = set()

    def written(self, name: str) -> bool:
        """Returns whether an op before has written a word."""
        return name in self._fields or name in self._unknown

    def __getitem__(self, name: str) -> Fields:
        """Returns the fields of a word.

        Raises:
            NoFormError: it is not known.
        """
        self.used.add(name)
        if name in self._fields:
            return self._fields[name]
        why = "its value is not known"
        if name not in self._unknown:
            why = f"no pto.{next(op for op, word in WRITES.items() if word == name)} is before it"
        raise NoFormError(f"the op uses {name}, and {why}")


Made = tuple[Any, list[str]]


def _types(step: Step) -> dict[str, Any]:
    source, target = step.pointers
    return {"src_type": source, "dst_type": target}


def _repack(step: Step, words: _Needs, _: str) -> Made:
    values, group = step.operands, words["MTE2_NZ_PARA"]
    operands: list[Any] = [values["gm_src"], values["l1_dst"], step.name.rsplit("_", 1)[1]]
    operands += [values[name] for name in ("n_value", "d_value", "loop1_src_stride")]
    operands += [group[name] for name in ("group_count", "loop2", "loop3", "loop4")]
    operands += [values[name] for name in ("loop4_src_stride", "l2_cache_ctl")]
    operands.append(values["smallc0_en"] & 1)
    return MteGmL1Frac(*operands, **_types(step)), []


def _bias(step: Step, _: _Needs, _codes: str) -> Made:
    values = step.operands
    names = ("src", "dst", "len_burst", "n_burst", "src_gap", "dst_gap")
    return MteL1Bt(*(values[name] for name in names), *step.pointers), []


def _write_back(step: Step, words: _Needs, codes: str) -> Made:
    """Returns the write-back of the words; saturation and atomic updates are those of CTRL."""
    xm, xt, _ = words["Xm"], words["Xt"], words["CTRL"]
    notes: list[str] = []
    if xt["clip enable"]:
        raise NoFormError("Xt enables a clip, whose code and register are not specified")
    values = {
        **xm, **xt,
        "src_addr": step.operands["src"], "dst_addr": step.operands["dst"],
        "ub_sub": xt.get("sub-block", 0),
        **_quant(xt, words, codes, notes), **_relu(xt, words, notes), **_layout(xt, words, notes),
    }  # fmt: skip
    if xt.get("dual mode", UB_WHOLE) != UB_WHOLE:
        raise NoFormError(f"codes of the dual mode are not specified: it is {xt['dual mode']}")
    op = OP_CLASSES[COPIES[step.name].op].built(values, "f32", "f32")
    return replace(op, **_types(step)), notes


def _quant(xt: Fields, words: _Needs, codes: str, notes: list[str]) -> Fields:
    """Returns the fields of the descriptor that the quantization sets."""
    code = xt["quant code 5"] << 5 | xt["quant code 4:0"]
    mode = QUANT_CODES[codes].get(code)
    if mode is None:
        raise NoFormError(f"quant code {code} is none of the table {codes} (option --quant-codes)")
    if not code:
        return {}
    notes.append(f"quant code {code} of Xt is {mode.name} in the table {codes} (A-50)")
    if mode.vector:
        return {"quant": mode.code, "quant_addr": words["FPC"]["quant offset / 128"] * 128}
    if not mode.scale:
        return {"quant": mode.code}
    record = words["QUANT_PRE"]
    if record["offset"] or record["sign"]:
        raise NoFormError("QUANT_PRE has an offset or a sign, which no v0.6 op with a scalar has")
    return {"quant": mode.code, "quant_scale": _number(record, "scale")}


def _number(word: Fields, name: str) -> int:
    return word[name] << CUT | word["unused"]


def _relu(xt: Fields, words: _Needs, notes: list[str]) -> Fields:
    """Returns the fields of the descriptor with the parameters of the relu."""
    code, most = xt["relu"], max(RELU_MODES.values())
    if code > most:
        raise NoFormError(f"relu code {code} is none: 0..{most}")
    if code == SCALAR_RELU:
        return {"relu_alpha": _number(words["RELU_ALPHA"], "alpha")}
    if code != VECTOR_RELU:
        return {}
    segment = FB_SEGMENTS["pre_relu"]
    notes.append(f"segment {segment} of fb is taken for the alphas: FPC has no segment")
    offset = words["FPC"]["relu offset / 64"] * 64
    return {"relu_addr": segment << FB_SEGMENT_SHIFT | offset}


def _layout(xt: Fields, words: _Needs, notes: list[str]) -> Fields:
    """Returns the fields of the descriptor with layout, its operand and loop3."""
    if xt["nz2nd"] and xt["nz2dn"]:
        raise NoFormError("Xt selects nz2nd and nz2dn")
    if not (xt["nz2nd"] or xt["nz2dn"]):
        return {"layout": LAYOUTS_BY_NAME["nz2nz"]}
    made = {"layout": LAYOUTS_BY_NAME["nz2dn" if xt["nz2dn"] else "nz2nd"]}
    if xt["nz2dn"]:
        made["k"] = words["CHANNEL_PARA"]["K"]
    if not words.written("LOOP3_PARA"):
        notes.append("no pto.set_loop3_para is before it: no loop3 is taken")
        return made
    loop = words["LOOP3_PARA"]
    counts = {"loop3_count": loop["count"], "loop3_src": loop["src stride"]}
    return {**made, **counts, "loop3_en": 1, "loop3_dst": loop["dst stride"]}


_MAKERS: dict[str, Callable[[Step, _Needs, str], Made]] = {
    "mte_gm_l1_frac": _repack,
    "mte_l1_bt": _bias,
    "mte_l0c_gm": _write_back,
    "mte_l0c_l1": _write_back,
    "mte_l0c_ub": _write_back,
}
"""v0.6 op to the function that makes it of words."""
