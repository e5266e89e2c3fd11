# SPDX-License-Identifier: Apache-2.0
"""PTO text of an op, for logs, failure reports and printed programs.

The syntax is the op's row (:mod:`tb.isa.grammar`). :mod:`tb.isa.names` names operands; a printed
program defines the constants and pointers (:mod:`tb.language.printer`). In a log an op of vector
core 1 carries the trailing comment ``// ub_sub 1`` (docs/spec/ambiguities.md, A-17).
"""

from __future__ import annotations

from typing import Any

from tb.isa.ctrl import CTRL_BITS, CtrlOp, SetAtomic, SetCtrl
from tb.isa.dma.legacy import LegacyOp, SetLoopSize, SetLoopStride, SetMovPadVal
from tb.isa.dma.op import DmaOp
from tb.isa.dtypes import Ptr
from tb.isa.fill.op import FillOp
from tb.isa.fix.op import FbPtr, FixOp, MteL0cGm, MteL0cUb, Scalar
from tb.isa.fix.table import FLAG_NAMES
from tb.isa.grammar import BUFFER, FLAG, L2, LOOP3, LOOPS, POINTER, ROWS, TRANSPOSE, Clause, Row
from tb.isa.l0.op import L0Load
from tb.isa.mad import Mad
from tb.isa.names import LOG, Names
from tb.isa.nz.op import NzOp
from tb.isa.op import Op, operand_names

AnyOp = Op | LegacyOp | CtrlOp
"""Ops that move data, and those that write registers for them."""

Parts = tuple[str, str]
"""Text of an op before and after the colon."""

Values = dict[str, Any]
"""Operands and words of an op by the names of its row: numbers; pointers as (type, address); typed
bits as (type, bits); words as text, or true for a clause that is its name alone. An operand that a
clause repeats has a list."""

_COPIES = {
    "CopyGmToUbuf": "copy_gm_to_ubuf",
    "CopyUbufToGm": "copy_ubuf_to_gm",
    "CopyUbufToUbuf": "copy_ubuf_to_ubuf",
}


def op_name(op: AnyOp | Mad) -> str:
    """Returns the name of an op in PTO text, without ``pto.``."""
    if isinstance(op, Op):
        return op.spec.name
    if isinstance(op, Mad):
        return op.name
    if isinstance(op, SetLoopSize):
        return f"set_loop_size_{op.direction}"
    if isinstance(op, SetLoopStride):
        return f"set_loop{op.level}_stride_{op.direction}"
    if isinstance(op, SetMovPadVal):
        return "set_mov_pad_val"
    if isinstance(op, SetCtrl):
        return "set_ctrl"
    if isinstance(op, SetAtomic):
        return f"set_atomic_{op.what}"
    return _COPIES[type(op).__name__]


# --- the values of an op -------------------------------------------------------------------------


def _payload(payload: Scalar | FbPtr) -> tuple[Ptr | str, int]:
    if isinstance(payload, FbPtr):
        return Ptr(payload.dtype, "fb"), payload.address
    return payload.dtype, payload.bits


def _of_write_back(op: FixOp) -> Values:
    found: Values = {"sat": op.sat_name, "layout": op.layout_name}
    found |= dict.fromkeys(("clip", "atomic_type", "atomic_op", *LOOP3))
    found["unit_flag"] = FLAG_NAMES.get(op.unit_flag, str(op.unit_flag)) if op.unit_flag else ""
    for name, clause in (("pre_quant", op.pre_quant), ("pre_relu", op.pre_relu)):
        if clause:
            found[f"{name}_mode"] = clause.mode
            if clause.payload is not None:
                found[f"{name}_payload"] = _payload(clause.payload)
    if op.pre_relu and op.pre_relu.clip is not None:
        found["clip"] = _payload(op.pre_relu.clip)
    if op.loop3:
        loop = op.loop3
        found |= zip(LOOP3, (loop.count, loop.src_stride, loop.dst_stride), strict=True)
    if isinstance(op, MteL0cGm) and op.atomic:
        found |= {"atomic_type": op.atomic.type, "atomic_op": op.atomic.op}
    if isinstance(op, MteL0cUb):
        found["sub_block"] = None if op.ub_split else op.sub_block
    return found


def _special(op: AnyOp | Mad, row: Row) -> Values:
    """Returns the values that are not attributes of the op with the names of its row."""
    if isinstance(op, FixOp):
        return _of_write_back(op)
    if isinstance(op, SetMovPadVal):
        return {"value": (op.dtype, op.value)}
    if isinstance(op, SetCtrl):  # An i64 with bit 63 set is a negative constant.
        return {"value": op.value - (op.value >> CTRL_BITS - 1 << CTRL_BITS)}
    if isinstance(op, FillOp):
        return {"raw": ("i32", op.raw)}
    if isinstance(op, Mad):
        return {"tf32_mode": op.rounding}
    if isinstance(op, L0Load):
        shape, control = row.choices
        if op.shape is None:
            codes = (op.m_start, op.k_start, op.m_step, op.k_step, op.src_stride, op.dst_stride)
            return dict(zip(control, codes, strict=True))
        extents = (op.shape.rows, op.shape.columns, op.shape.start_row, op.shape.start_col)
        return dict.fromkeys(control) | dict(zip(shape, extents, strict=True))
    if isinstance(op, NzOp):
        return {"mode": op.mode_name}
    found: Values = {}
    if isinstance(op, DmaOp):
        loops = [(loop.count, loop.src_stride, loop.dst_stride) for loop in op.loops]
        found |= zip(LOOPS, zip(*loops, strict=True), strict=False)
        if op.spec.destination == "gm" and not op.l2:
            found[L2] = None
        pad = op.pad
        found["pad_value"] = pad and (pad.dtype, pad.value)
        found["left_padding_count"] = pad and pad.left
        found["right_padding_count"] = pad and pad.right
    return found


def values_of(op: AnyOp | Mad, row: Row) -> Values:
    """Returns the operands and words of an op by the names of its row."""
    found = _special(op, row)
    for name in (*row.kind_of, *row.words):
        if name not in found:
            given = not isinstance(op, Op) or op.is_given(name)
            found[name] = getattr(op, name, None) if given else None
        value = found[name]
        if (
            isinstance(value, int)
            and name in row.kind_of
            and row.kind_of[name] in (POINTER, BUFFER)
        ):
            role = name if isinstance(op, Mad) else name[-3:]
            found[name] = (getattr(op, f"{role}_type"), value)
    return {name: value for name, value in found.items() if not _absent(value)}


def _absent(value: Any) -> bool:
    return value is None or value is False or value == ""


# --- the text of values --------------------------------------------------------------------------


def _operand(row: Row, name: str, value: Any, names: Names) -> Parts:
    """Returns the name of an operand and its type."""
    if isinstance(value, tuple):
        kind, number = value
        if isinstance(kind, Ptr):
            return names.pointer(kind, number), str(kind)
        return names.bits(kind, number), kind
    if row.kind_of[name] == FLAG:
        return names.flag(value), names.flag_type(value)
    return names.integer(value), names.integer_type(value)


def _inside(row: Row, clause: Clause, values: Values, names: Names) -> list[Parts]:
    """Returns text and type of the parts that an op has in a clause; a word has no type."""
    found = []
    for part in clause.parts:
        name = part.other if part.other in values else part.name
        if name not in values or (part.word and values[name] == clause.name):
            continue
        text, kind = str(values[name]), ""
        if name == part.other or not part.word:
            text, kind = _operand(row, name, values[name], names)
        found.append((f"{part.key} = {text}" if part.key else text, kind))
    return found


def _clauses(row: Row, clause: Clause, values: Values, names: Names) -> list[Parts]:
    """Returns text and types of a clause, as often as an op has it."""
    if clause.times == "*":
        lists = [values.get(part.name, ()) for part in clause.parts]
        turns = [dict(zip(LOOPS, turn, strict=True)) for turn in zip(*lists, strict=True)]
        return [_one(clause, _inside(row, clause, turn, names)) for turn in turns]
    word = values.get(clause.word)
    inside = _inside(row, clause, values, names)
    if clause.word and word not in (True, clause.name):
        inside = inside if any(word in part.legal for part in clause.parts) else []
    elif clause.word:
        return [_one(clause, inside)]
    return [_one(clause, inside)] if inside else []


def _one(clause: Clause, inside: list[Parts]) -> Parts:
    text = ", ".join(text for text, _ in inside)
    kinds = ", ".join(kind for _, kind in inside if kind)
    if clause.tag == "paren":
        kinds = f"{clause.name}({kinds})"
    elif clause.tag:
        kinds = f"{clause.name} {kinds}"
    return f"{clause.name}({text})" if inside else clause.name, kinds


def op_parts(op: AnyOp | Mad, names: Names = LOG) -> Parts:
    """Returns the text of an op before and after the colon; ``ub_sub`` is in neither.

    ``set_atomic_*`` has no operand, and nothing after the colon.
    """
    row = ROWS[op_name(op)]
    values = values_of(op, row)
    head: list[Parts] = []
    for part in row.head:
        if part.word:  # It stands among the types, too.
            head.append((values[part.name], values[part.name]))
        else:
            head.append(_operand(row, part.name, values[part.name], names))
    for choice in row.choices:
        head += [_operand(row, name, values[name], names) for name in choice if name in values]
    clauses = [x for clause in row.clauses for x in _clauses(row, clause, values, names)]
    text = ", ".join(text for text, _ in head)
    text = (", " if row.commas else " ").join([text, *(text for text, _ in clauses)])
    words = {name: values[name] for name in row.attributes if values.get(name)}
    inside = [f"{x} = true" if x == TRANSPOSE else f"{x} = {y} : i64" for x, y in words.items()]
    attributes = f" {{{', '.join(inside)}}}" if inside else ""
    kinds = ", ".join(kind for _, kind in (*head, *clauses) if kind)
    return f"pto.{row.name} {text}".rstrip() + attributes, kinds


def sub_block_of(op: AnyOp) -> int:
    """Returns the UB sub-block of the core that owns an op; 0 for one that can have none."""
    return op.ub_sub if "ub_sub" in operand_names(type(op)) else 0  # type: ignore[union-attr]


def to_text(op: AnyOp) -> str:
    """Returns the canonical PTO text of a v0.6 or legacy op, on one line."""
    operands, types = op_parts(op)
    number = sub_block_of(op)
    kinds = f" : {types}" if types else ""
    return f"{operands}{kinds}" + (f" // ub_sub {number}" if number else "")
