# SPDX-License-Identifier: Apache-2.0
"""Clauses of the write-back ops, with the text-level rules of spec/fixpipe.md."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute

from tb.language.dialect.forms import SPLITS
from tb.language.dialect.ops import string
from tb.language.dialect.reading import Reading, unknown_clause
from tb.language.parser.syntax import Clause

_FIX_ORDER = ("unit_flag", "pre_quant", "pre_relu", "layout", "loop3", "sat", "atomic")
_FIX_KIND = {
    **{name: name for name in _FIX_ORDER if name != "layout"},
    **dict.fromkeys(("nz2nd", "nz2dn", "nz2nz"), "layout"),
    "nosat": "sat",
}
_FIX_LEGAL = "unit_flag, pre_quant, pre_relu, nz2nd|nz2dn|nz2nz, loop3, sat|nosat, atomic"


def read_clauses(reading: Reading) -> None:
    """Takes the clauses of a write-back, whose order is that of FIX-L01."""
    reached = -1
    for clause in reading.text.clauses:
        kind = _FIX_KIND.get(clause.name)
        if clause.name == "dst_mode" and reading.form.name == "mte_l0c_ub":
            _dst_mode(reading, clause)
            continue
        if clause.name == "clip":
            reading.fault("clip is outside pre_relu", "FIX-L06", legal="pre_relu(mode, clip)")
            continue
        if kind is None:
            unknown_clause(reading, clause, _FIX_LEGAL)
            continue
        if kind == "atomic" and reading.form.name != "mte_l0c_gm":
            reading.fault("takes no atomic", "FIX-L11", legal="mte_l0c_gm alone")
            continue
        place = _FIX_ORDER.index(kind)
        if place == reached and kind == "sat" and _saturation(clause) != reading.words.get("sat"):
            reading.fault(
                "two saturation clauses exclude each other",
                "FIX-L10",
                legal="one of sat, sat(preserve_nan), nosat",
            )
            continue
        if place <= reached:
            how = "twice" if place == reached else "too late"
            reading.fault(f"{clause.name} is {how}", "FIX-L01", legal=_FIX_LEGAL)
            continue
        reached = place
        _FIX_READERS[kind](reading, clause)
    if reading.form.name == "mte_l0c_ub" and not reading.faults and not _has_mode(reading):
        reading.fault("dst_mode is missing", at=reading.text.at, legal=_DST_MODE)


_DST_MODE = "dst_mode(%sub_block), dst_mode(split_m) or dst_mode(split_n)"


def _has_mode(reading: Reading) -> bool:
    return "sub_block" in reading.groups or "ub_split" in reading.words


def _dst_mode(reading: Reading, clause: Clause) -> None:
    """Takes the sub-block of the destination; its type is after those of the operands."""
    item = clause.items[0] if len(clause.items) == 1 and not clause.items[0].key else None
    if _has_mode(reading):
        reading.fault("dst_mode is twice", at=clause.at, legal=_DST_MODE)
    elif item is not None and item.kind == "value":
        reading.put("sub_block", item, len(reading.form.head))
    elif item is not None and item.kind == "word" and item.text in SPLITS:
        reading.words["ub_split"] = string(item.text)
    else:
        reading.fault("dst_mode says none of its modes", at=clause.at, legal=_DST_MODE)


def _keys(reading: Reading, clause: Clause, rule: str, keys: tuple[str, ...], shape: str) -> bool:
    """Returns whether a clause has each key at most once and no other one, and notes if not."""
    for item in clause.items:
        if item.key and (item.key not in keys or len(clause.keyed(item.key)) > 1):
            reading.fault(f"{clause.name} has {item.key!r} wrongly", rule, legal=shape)
            return False
    return True


def _unit_flag(reading: Reading, clause: Clause) -> None:
    item = clause.items[0] if len(clause.items) == 1 else None
    if item and item.kind == "word" and item.text in ("check_only", "check_and_clear"):
        reading.words["unit_flag"] = string(item.text)
    elif item and item.kind == "number" and item.text.isdigit() and int(item.text) < 1 << 31:
        reading.words["unit_flag"] = IntegerAttr(int(item.text), i32)
    else:
        reading.fault(
            "unit_flag says none of its modes", at=clause.at, legal="check_only, check_and_clear"
        )


def _payload(reading: Reading, clause: Clause, rule: str, shape: str) -> bool:
    """Takes mode and payload of ``pre_quant`` and ``pre_relu``."""
    modes, values = clause.keyed("mode"), clause.values
    keys = ("mode", "clip") if clause.name == "pre_relu" else ("mode",)
    if not _keys(reading, clause, rule, keys, shape):
        return False
    if not modes or modes[0].kind == "value":
        reading.fault(f"{clause.name} has no mode", rule, legal=shape)
        return False
    if len(values) > 1:
        reading.fault(f"{clause.name} has {len(values)} payloads", rule, legal=shape)
        return False
    for value in values:
        reading.put(f"{clause.name}_payload", value)
    reading.words[f"{clause.name}_mode"] = string(modes[0].text)
    return True


def _pre_quant(reading: Reading, clause: Clause) -> None:
    if not _payload(reading, clause, "FIX-L03", "pre_quant(%payload, mode = <mode>)"):
        return
    mode = clause.keyed("mode")[0].text
    if mode.startswith("req4"):
        reading.note(f"the compiler refuses pre_quant {mode}: a mode of the model", clause.at)


def _pre_relu(reading: Reading, clause: Clause) -> None:
    shape = "pre_relu([%payload, ]mode = <mode>[, clip = %clip])"
    if _payload(reading, clause, "FIX-L05", shape):
        for item in clause.keyed("clip"):
            reading.put("clip", item)


def _layout(reading: Reading, clause: Clause) -> None:
    most = {"nz2nd": 0, "nz2dn": 1, "nz2nz": 1}[clause.name]
    least = 1 if clause.name == "nz2dn" else 0
    if not least <= len(clause.items) <= most or any(item.key for item in clause.items):
        reading.fault(
            f"{clause.name} has {len(clause.items)} operands",
            "FIX-L08",
            legal="nz2nd, nz2dn(%loop0_src_stride), nz2nz, nz2nz(%split)",
        )
    else:
        for item in clause.items:
            reading.put("k" if least else "split", item)
    reading.words["layout"] = string(clause.name)


def _loop3(reading: Reading, clause: Clause) -> None:
    names = ("loop3_count", "loop3_src_stride", "loop3_dst_stride")
    reading.exactly(clause, names, "FIX-L01", "loop3(%count, %src_stride3, %dst_stride3)")


def _saturation(clause: Clause) -> Attribute:
    """Returns the value of a saturation clause."""
    return string("preserve_nan" if clause.items else clause.name)


def _sat(reading: Reading, clause: Clause) -> None:
    inside = [item.text for item in clause.items]
    if inside and (clause.name == "nosat" or inside != ["preserve_nan"]):
        reading.fault(
            f"{clause.name} has {', '.join(inside)} in it",
            "FIX-L10",
            legal="sat, sat(preserve_nan), nosat",
        )
    reading.words["sat"] = _saturation(clause)


def _atomic(reading: Reading, clause: Clause) -> None:
    shape = "atomic(type = <type>, op = add|max|min)"
    if not _keys(reading, clause, "FIX-L11", ("type", "op"), shape):
        return
    for key in ("type", "op"):
        found = clause.keyed(key)
        if not found or clause.values:
            reading.fault(f"atomic lacks {key}", "FIX-L11", legal=shape)
            return
        reading.words[f"atomic_{key}"] = string(found[0].text)
    if clause.items[0].key != "type":
        reading.fault("atomic has op before type", "FIX-L11", legal=shape)


_FIX_READERS: dict[str, Callable[[Reading, Clause], None]] = {
    "unit_flag": _unit_flag,
    "pre_quant": _pre_quant,
    "pre_relu": _pre_relu,
    "layout": _layout,
    "loop3": _loop3,
    "sat": _sat,
    "atomic": _atomic,
}
