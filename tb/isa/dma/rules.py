# SPDX-License-Identifier: Apache-2.0
"""Rules of the strided DMA ops as numbered predicates (docs/spec/dma.md, section 5).

Every predicate returns None when its rule holds and a sentence when it does not. S rules check the
op as written, D rules its descriptor; the engine also checks D rules, on the packed bits, and the
two must agree. T rules (DMA-L13 and above) concern whole footprints: stimulus obeys them and no
checker reports them. A rule that a knob of the profile changes depends on
:func:`tb.isa.profile.current`.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.dma.op import DmaOp
from tb.isa.dma.table import (
    LOOP_COUNT_BITS,
    PAD_COUNT_BITS,
    PAD_LIMIT,
    STRIDED,
)
from tb.isa.dtypes import ELEMENT_BYTES, PAD_DTYPES
from tb.isa.fix.table import ATOMIC_BYTES, ATOMIC_OPS
from tb.isa.footprint import destination, footprints_overlap, row_overlap, source, without_fill
from tb.isa.profile import current
from tb.isa.rule import (
    Breach,
    Rule,
    below_length,
    not_multiple,
    reaches,
    too_wide,
    unaligned,
)
from tb.isa.spaces import UB_BLOCK

DPredicate = Callable[[DmaOp], "str | None"]
SPredicate = Callable[[DmaOp], "str | None"]


def l02(op: DmaOp) -> str | None:
    """A pad clause has a value alone, or a value with both counts."""
    if op.pad and (op.pad.left is None) != (op.pad.right is None):
        given = "left" if op.pad.right is None else "right"
        return Breach(f"pad gives only the {given} count", "give both or none")
    return None


def l03(op: DmaOp) -> str | None:
    """The pad value has a type that can be padded, as wide as the element."""
    if op.pad is None:
        return None
    dtype, element = op.pad.dtype, op.src_type.dtype
    fitting = [one for one in PAD_DTYPES if ELEMENT_BYTES[one] == ELEMENT_BYTES.get(element)]
    if dtype in fitting:
        return None
    legal = ", ".join(fitting) or "none, elements of 1, 2 or 4 bytes can be padded"
    if dtype in PAD_DTYPES:
        return Breach(f"pad type {dtype} is not as wide as element type {element}", legal)
    return Breach(f"pad type is {dtype}", legal)


def l04(op: DmaOp) -> str | None:
    """Pointer spaces match the op and element sizes are equal and known."""
    for role, pointer, space in (
        ("source", op.src_type, op.spec.source),
        ("destination", op.dst_type, op.spec.destination),
    ):
        if pointer.space != space:
            return Breach(f"{role} pointer is in {pointer.space}", f"{op.spec.name} wants {space}")
        if pointer.dtype not in ELEMENT_BYTES:
            return Breach(
                f"{role} element type is {pointer.dtype}", f"one of {', '.join(ELEMENT_BYTES)}"
            )
    if ELEMENT_BYTES[op.src_type.dtype] != ELEMENT_BYTES[op.dst_type.dtype]:
        return f"element sizes of {op.src_type.dtype} and {op.dst_type.dtype} differ"
    return None


def l15(op: DmaOp) -> str | None:
    """A constant L2 hint fits its field."""
    if not op.spec.has("l2_cache_ctl"):
        return None
    bits = op.spec.operand("l2_cache_ctl").bits or 0
    return too_wide("l2_cache_ctl", op.l2, bits)


def l03_legacy(desc: DmaOp) -> str | None:
    """Elements of 8 bytes cannot be padded; only a legacy copy can have it (A-68)."""
    if desc.padded and desc.elem_bytes not in (1, 2, 4):
        return Breach(f"padding with elements of {desc.elem_bytes} bytes", "1, 2 or 4 bytes")
    return None


def _sides(desc: DmaOp) -> tuple[str, str]:
    """Returns the names of ``ext`` and ``loc``: the spaces, with the roles if they are the same."""
    source, destination = desc.spec.source.upper(), desc.spec.destination.upper()
    if desc.spec.within:
        return f"{source} source", f"{destination} destination"
    return (destination, source) if destination == "GM" else (source, destination)


_BITS: dict[str, dict[str, int]] = {
    spec.name: {
        one.field.replace("{k}", ""): one.bits for one in spec.operands if one.bits is not None
    }
    for spec in STRIDED
}
"""Op to the legal width of each field that an operand has one for; that of a length or row count of
an op with a GM side is the width of the field, not the limit of the knob."""


def l05(desc: DmaOp) -> str | None:
    """Every field fits its width; unused pad counts are 0."""
    ext, loc = _sides(desc)
    bits = _BITS[desc.spec.name]
    step = "gap" if desc.spec.gaps else "stride"
    if not desc.spec.gaps:
        most = current().longest
        for name, value in (("len_burst", desc.len), ("n_burst", desc.n_burst)):
            if value > most:
                legal = f"0..{most} with knob len_bits = {current().len_bits}"
                return Breach(f"{name} is {value}", legal)
    widths = [
        ("len_burst", desc.len, bits["len"]),
        ("n_burst", desc.n_burst, bits["n_burst"]),
        (f"{ext} {step}", desc.ext_stride, bits["ext_stride"]),
        (f"{loc} {step}", desc.loc_stride, bits["loc_stride"]),
    ]
    if "l2" in bits:
        widths.append(("l2_cache_ctl", desc.l2, bits["l2"]))
    if ext == "GM" and loc == "UB":
        widths += [
            ("left padding", desc.pad_left, PAD_COUNT_BITS),
            ("right padding", desc.pad_right, PAD_COUNT_BITS),
            ("data_select_bit", desc.pad_en, 1),
        ]
    if desc.padded:
        widths.append(("pad value", desc.pad_value, 8 * desc.elem_bytes))
    for k, loop in enumerate(desc.field_loops):
        widths += [
            (f"loop {k} count", loop.count, LOOP_COUNT_BITS),
            (f"loop {k} {ext} stride", loop.ext_stride, bits["loop_ext_stride"]),
            (f"loop {k} {loc} stride", loop.loc_stride, bits["loop_loc_stride"]),
        ]
    for name, value, width in widths:
        message = too_wide(name, value, width)
        if message:
            return message
    if not desc.padded and (desc.pad_left or desc.pad_right):
        what = f"padding counts are {desc.pad_left} and {desc.pad_right} with padding off"
        return Breach(what, "must be 0")
    return None


def l06(desc: DmaOp) -> str | None:
    """On-chip base addresses are multiples of 32."""
    ext, loc = _sides(desc)
    message = not_multiple(f"{loc} address", desc.loc_addr, UB_BLOCK)
    if not message and ext != "GM":
        message = not_multiple(f"{ext} address", desc.ext_addr, UB_BLOCK)
    return message


def l07(desc: DmaOp) -> str | None:
    """On-chip strides are multiples of 32 where their count is above 1.

    So is the row stride that ends a padded row. That of a compact group is free; bursts with
    gaps have strides in their loops only.
    """
    ext, loc = _sides(desc)
    strides = []
    if not desc.spec.gaps and not desc.compact:
        used = desc.n_burst > 1 or (desc.padded and current().pad_end == "stride")
        strides = [(f"{loc} row stride", desc.loc_stride, used)]
    strides += [
        (f"{loc} stride of loop {k}", loop.loc_stride, loop.count > 1)
        for k, loop in enumerate(desc.field_loops)
    ]
    if ext != "GM":
        strides += [
            (f"{ext} stride of loop {k}", loop.ext_stride, loop.count > 1)
            for k, loop in enumerate(desc.field_loops)
        ]
    for name, stride, used in strides:
        if used and stride % UB_BLOCK:
            return unaligned(name, stride, UB_BLOCK)
    return None


def l08(desc: DmaOp) -> str | None:
    """With several rows both row strides are at least the row length (A-10).

    The GM stride of a load is free with knob ``row_repeat`` legal.
    """
    if desc.n_burst > 1:
        ext, loc = _sides(desc)
        repeats = desc.spec.source == "gm" and current().row_repeat == "legal"
        for name, stride in ((ext, desc.ext_stride), (loc, desc.loc_stride)):
            if stride < desc.len and not (repeats and name == ext):
                return below_length(f"{name} row stride", stride, desc.len)
    return None


def l09(desc: DmaOp) -> str | None:
    """Padded rows hold whole elements and at most 32 bytes of padding on a side."""
    if not desc.padded:
        return None
    if desc.len % desc.elem_bytes:
        what = f"len_burst {desc.len} is not a multiple of the element size {desc.elem_bytes}"
        return Breach(what, f"a multiple of the element size {desc.elem_bytes}", what)
    for name, count in (("left", desc.left_bytes), ("right", desc.right_bytes)):
        if count > PAD_LIMIT:
            return Breach(f"{name} padding is {count} B", f"0..{PAD_LIMIT}")
        if count % desc.elem_bytes:
            what = f"{name} padding {count} B is not a multiple of the element {desc.elem_bytes}"
            return Breach(what, f"a multiple of the element {desc.elem_bytes}", what)
    return None


def l10(desc: DmaOp) -> str | None:
    """A padded row fits its row stride; a single one needs none with knob ``pad_end`` block."""
    if not desc.padded or (desc.n_burst <= 1 and current().pad_end == "block"):
        return None
    need = desc.left_bytes + desc.len + desc.right_bytes
    if need > desc.loc_stride:
        what = f"a padded row needs {need} B, dst_stride is {desc.loc_stride}"
        return Breach(what, f"dst_stride at least {need}", what)
    return None


def l12(desc: DmaOp) -> str | None:
    """Every byte accessed lies inside its memory; a NOP accesses none (A-18)."""
    if desc.is_nop:
        return None
    for footprint in (source(desc), destination(desc)):
        size = footprint.outside
        if size is not None:
            return reaches(footprint.space.name, footprint.end, size)
    return None


def l16(desc: DmaOp) -> str | None:
    """Rows of an atomic store begin and end with whole elements of CTRL's type; NOPs too (A-73)."""
    size = ATOMIC_BYTES.get(desc.atomic_type, 1)
    used = [("len_burst", desc.len), ("GM address", desc.ext_addr)]
    if desc.n_burst > 1:
        used.append(("dst_stride", desc.ext_stride))
    used += [("loop dst_stride", one.ext_stride) for one in desc.field_loops if one.count > 1]
    for name, value in used:
        if value % size:
            return unaligned(f"{name} of an atomic store", value, size)
    return None


def l17(desc: DmaOp) -> str | None:
    """CTRL has an atomic type, and an atomic op where a type is active; NOPs too (AT-07)."""
    if desc.atomic_type and desc.atomic_type not in ATOMIC_BYTES:
        return Breach(f"CTRL[8:6] is {desc.atomic_type}", "0 to 6")
    if desc.atomic_type and desc.atomic_op not in ATOMIC_OPS.values():
        return Breach(f"CTRL[10:9] is {desc.atomic_op} while CTRL[8:6] is not 0", "0 to 2")
    return None


def l13(desc: DmaOp) -> str | None:
    """Destination footprints of rows and loop iterations do not overlap."""
    if not desc.is_nop and row_overlap(without_fill(desc)):
        return "rows of the destination overlap: the result is undefined"
    return None


def l14(desc: DmaOp) -> str | None:
    """Source and destination bytes are disjoint where both lie in one memory."""
    if not desc.is_nop and footprints_overlap(source(desc), destination(desc)):
        return "source and destination overlap: the result is undefined"
    return None


def l18(desc: DmaOp) -> str | None:
    """Bytes that a row fills are not those of another row."""
    if not desc.is_nop and row_overlap(destination(desc)) and not row_overlap(without_fill(desc)):
        return "bytes filled after a row belong to another row: the result is undefined"
    return None


def l19(desc: DmaOp) -> str | None:
    """A row that is filled with its first element holds one."""
    to_ub = (desc.spec.source, desc.spec.destination) == ("gm", "ub")
    if desc.is_nop or desc.padded or not to_ub or desc.len >= desc.elem_bytes:
        return None
    if current().tail == "keep":
        return None
    what = f"len_burst {desc.len} is shorter than the element, which fills the rest of the block"
    return Breach(what, f"at least {desc.elem_bytes}", what)


PAD_TYPE = Rule(3, "S", "pad type is one of i8 i16 i32 f16 bf16 f32, as wide as the element")
"""DMA-L03: a rule of the front end, except for a legacy copy, whose engine decides it."""

S_RULES: dict[Rule, SPredicate | None] = {
    Rule(1, "S", "exactly one nburst triple; each loop is a complete triple"): None,
    Rule(2, "S", "pad has a value alone, or a value with both counts"): l02,
    PAD_TYPE: l03,
    Rule(4, "S", "pointer spaces match the op; element sizes are equal"): l04,
    Rule(15, "S", "constant l2 fits its field"): l15,
}
"""Front-end rules. DMA-L01 is decided where text is read (:mod:`tb.language.reader`): an op object
always has exactly one complete nburst and only complete loops."""

D_RULES: dict[Rule, DPredicate] = {
    PAD_TYPE: l03_legacy,
    Rule(5, "D", "every field fits its width"): l05,
    Rule(6, "D", "UB base addresses are multiples of 32"): l06,
    Rule(7, "D", "UB strides in use are multiples of 32"): l07,
    Rule(8, "D", "row strides are at least the row length"): l08,
    Rule(9, "D", "padded rows hold whole elements, pads at most 32 bytes"): l09,
    Rule(10, "D", "a padded row fits its stride"): l10,
    Rule(12, "D", "every byte accessed lies inside its memory"): l12,
    Rule(16, "D", "rows of an atomic store hold whole elements of CTRL's type"): l16,
    Rule(17, "D", "CTRL has a legal atomic type, and op while a type is active"): l17,
}
"""Engine rules in ascending number; the table row of an op lists those that apply."""

LOWERING_RULE = Rule(11, "D", "len of copy_ubuf_to_ubuf is a multiple of 32")
"""DMA-L11, which only a copy that is judged before it becomes a descriptor can break."""

T_RULES: dict[Rule, DPredicate] = {
    Rule(13, "T", "destination footprints do not overlap"): l13,
    Rule(14, "T", "source and destination are disjoint"): l14,
    Rule(18, "T", "bytes filled after a row are in no other row"): l18,
    Rule(19, "T", "a row that is filled holds one whole element"): l19,
}
"""Rules with undefined behaviour when broken: such ops are never sent in a scored test."""
