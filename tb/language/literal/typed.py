# SPDX-License-Identifier: Apache-2.0
"""Types of an op's operands where its text has none: those of the op's table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tb.isa.dtypes import ELEMENT_BYTES, PAD_DTYPES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.fill.op import RAW_FILL_L1
from tb.isa.fix.table import CLIP_TYPES, DST_CODES, QUANT_MODES
from tb.isa.grammar import FLAG, KNOWN_ROWS
from tb.isa.l0.table import SCALE_DTYPE, LoadSpec
from tb.isa.lower import OP_CLASSES
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.language.literal.operands import Operand


def _spec(name: str) -> OpSpec | None:
    return OPS.get({**LEGACY_FORMS, **TEXT_FORMS}.get(name, name))


def _pointer_types(spec: OpSpec, element: tuple[str, ...]) -> tuple[Ptr, Ptr]:
    """Returns the types of the pointers: as given, else those of an op without types."""
    defaults: dict[str, Any] = dict(OP_CLASSES[spec.name].__dataclass_fields__)
    source: Ptr = defaults["src_type"].default
    target: Ptr = defaults["dst_type"].default
    if not element:
        scales = isinstance(spec, LoadSpec) and spec.scales
        element = (SCALE_DTYPE,) if scales else (source.dtype, target.dtype)
    return Ptr(element[0], spec.source), Ptr(element[-1], spec.destination)


def default_types(
    name: str, text: str, operands: Sequence[Operand], element: tuple[str, ...], v06: str = ""
) -> list[str]:
    """Returns a type for each operand of an op that is written without any.

    Args:
        name: Its name.
        text: The op up to the colon of the types.
        operands: Its operands.
        element: Element types of its pointers.
        v06: The op that a register form stands for, where its name is in no table of ops.
    """
    spec = _spec(v06 or name)
    flags = [group.kind == FLAG for group in KNOWN_ROWS[name].groups] if v06 else []
    if spec is None:
        return ["i32" if name == "set_mov_pad_val" else "i64" for _ in operands]
    if spec is RAW_FILL_L1:
        pointer = str(Ptr(element[-1] if element else "ui16", "l1"))
        return [pointer, *["i64"] * (len(operands) - 5), "i32", "i64", "i64", "i64"]
    source, target = _pointer_types(spec, element)
    kinds = []
    for place, operand in enumerate(operands):
        kind = "i64"
        if place < 2:
            kind = str((source, target)[place])
        elif operand.clause == "pad" and operand.number == 0:
            kind = source.dtype
            if kind not in PAD_DTYPES:
                kind = f"i{8 * ELEMENT_BYTES.get(kind, 1)}"
        elif operand.key == "clip":
            kind = CLIP_TYPES.get(DST_CODES.get(target.dtype, -1), ("i16",))[-1]
        elif operand.clause in ("pre_quant", "pre_relu"):
            vector = "vector_relu" in text if operand.clause == "pre_relu" else _vector(text)
            kind = str(Ptr("f32", "fb")) if vector else "f32"
        elif (
            (operand.clause, operand.number) == ("ctrl", 1)
            or (name == "copy_gm_to_ubuf" and place == 7)
            or (place < len(flags) and flags[place])
        ):
            kind = "i1"
        kinds.append(kind)
    return kinds


def _vector(text: str) -> bool:
    mode = re.search(r"pre_quant\s*\([^()]*mode\s*=\s*(\w+)", text)
    return mode is not None and mode.group(1) in QUANT_MODES and QUANT_MODES[mode.group(1)].vector


_WORDS = ("loop", "pad", "shape", "src_layout", "dst_group", "ctrl")
"""Clauses whose name stands before their types."""


def type_list(text: str, operands: Sequence[Operand], kinds: list[str]) -> str:
    """Returns the types of an op as the language writes them."""
    found: list[str] = []
    for place, (operand, kind) in enumerate(zip(operands, kinds, strict=True)):
        clause, word = re.sub(r"^loop[12]$", "loop", operand.clause), ""
        previous = operands[place - 1] if place else None
        begins = (
            previous is None
            or previous.clause != operand.clause
            or (clause == "loop" and operand.number % 3 == 0)
        )
        if clause == "shape" and begins:
            mode = re.search(r"\b(nd2nz|dn2nz)\b", text)
            found += [mode.group(1)] if mode else []
        if clause in _WORDS and begins:
            word = f"{clause} "
        if clause == "src_layout":
            last = place + 1 == len(operands) or operands[place + 1].clause != operand.clause
            word = "src_layout(" if begins else ""
            kind += ")" if last else ""
        found.append(f"{word}{kind}")
    return ", ".join(found)
