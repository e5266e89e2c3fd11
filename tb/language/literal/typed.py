# SPDX-License-Identifier: Apache-2.0
"""Types of an op's operands where its text has none: those of the op's table."""

from __future__ import annotations

from tb.isa.dtypes import ELEMENT_BYTES, PAD_DTYPES, Ptr
from tb.isa.fields import OpSpec
from tb.isa.fix.table import CLIP_TYPES, DST_CODES, QUANT_MODES
from tb.isa.grammar import BUFFER, FLAG, POINTER
from tb.isa.l0.table import SCALE_DTYPE, LoadSpec
from tb.isa.lower import OP_CLASSES
from tb.isa.ops import LEGACY_FORMS, OPS, TEXT_FORMS
from tb.language.grammar.matching import Reading


def _pointer_types(spec: OpSpec, element: tuple[str, ...]) -> tuple[Ptr, Ptr]:
    """Returns the types of source and destination: as given, else those of an op without types."""
    defaults = OP_CLASSES[spec.name].defaults
    target: Ptr = defaults["dst_type"]
    source: Ptr = defaults.get("src_type", target)
    if spec.family == "fill":
        element = element or ("ui16",)
    if not element:
        scales = isinstance(spec, LoadSpec) and spec.scales
        element = (SCALE_DTYPE,) if scales else (source.dtype, target.dtype)
    return Ptr(element[0], spec.source), Ptr(element[-1], spec.destination)


def default_types(reading: Reading, element: tuple[str, ...], v06: str = "") -> dict[str, str]:
    """Returns a type for each operand of an op that is written without any.

    Args:
        reading: The op.
        element: Element types of its pointers.
        v06: The op that a register form stands for, where its name is in no table of ops.
    """
    row, words = reading.row, reading.words
    name = v06 or row.name
    spec = OPS.get({**LEGACY_FORMS, **TEXT_FORMS}.get(name, name))
    if spec is None:
        return dict.fromkeys(row.kind_of, "i32" if row.name == "set_mov_pad_val" else "i64")
    source, target = _pointer_types(spec, element)
    mode = QUANT_MODES.get(str(words.get("pre_quant_mode")))
    vectors = {
        "pre_quant_payload": mode is not None and mode.vector,
        "pre_relu_payload": words.get("pre_relu_mode") == "vector_relu",
    }
    found = {}
    for name, sort in row.kind_of.items():
        kind = "i64"
        if sort in (POINTER, BUFFER):
            kind = str(target if name.endswith("dst") else source)
        elif name == "pad_value":
            kind = source.dtype
            if kind not in PAD_DTYPES:
                kind = f"i{8 * ELEMENT_BYTES.get(kind, 1)}"
        elif name == "clip":
            kind = CLIP_TYPES.get(DST_CODES.get(target.dtype, -1), ("i16",))[-1]
        elif name in vectors:
            kind = str(Ptr("f32", "fb")) if vectors[name] else "f32"
        elif name == "raw":
            kind = "i32"
        elif sort == FLAG:
            kind = "i1"
        found[name] = kind
    return found
