# SPDX-License-Identifier: Apache-2.0
"""Rules of the NZ repack as numbered predicates (docs/spec/nd2nz.md, section 6).

Predicates return None when a rule holds and a sentence when it does not.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.footprint import destination, row_overlap, source
from tb.isa.nz.op import NzOp
from tb.isa.nz.table import C0_BYTES, MAX_D, MAX_GROUPS, MAX_N, SMALL_C0
from tb.isa.rule import Breach, Rule, not_multiple, operands_fit, reaches
from tb.isa.spaces import SIZES

DPredicate = Callable[[NzOp], "str | None"]
SPredicate = Callable[[NzOp], "str | None"]


def l01(op: NzOp) -> str | None:
    """Source in gm, destination in l1, element sizes equal and 1, 2 or 4."""
    for role, pointer, space in (
        ("source", op.src_type, op.spec.source),
        ("destination", op.dst_type, op.spec.destination),
    ):
        if pointer.space != space:
            return Breach(f"{role} pointer is in {pointer.space}", f"{op.spec.name} wants {space}")
        if ELEMENT_BYTES.get(pointer.dtype, 8) > 4:
            legal = ", ".join(name for name, size in ELEMENT_BYTES.items() if size <= 4)
            return Breach(f"{role} element type is {pointer.dtype}", f"one of {legal}")
    if ELEMENT_BYTES[op.src_type.dtype] != ELEMENT_BYTES[op.dst_type.dtype]:
        return f"element sizes of {op.src_type.dtype} and {op.dst_type.dtype} differ"
    return None


def l03(desc: NzOp) -> str | None:
    """Fields fit their widths, and the counts their maxima."""
    values = {
        operand.field: getattr(desc, operand.field)
        for operand in desc.spec.operands
        if operand.bits is not None
    }
    message = operands_fit(desc.spec, values)
    if message:
        return message
    for name, value, most in (
        ("n_value", desc.n_value, MAX_N),
        ("d_value", desc.d_value, MAX_D),
        ("group_count", desc.group_count, MAX_GROUPS),
    ):
        if value > most:
            return Breach(f"{name} is {value}", f"at most {most}")
    return None


def l04(desc: NzOp) -> str | None:
    """There is at least one group."""
    return None if desc.group_count else Breach("group_count is 0", "at least 1")


def l05(desc: NzOp) -> str | None:
    """Small-C0 mode has at most four channels."""
    if desc.small_c0 and desc.d_value > SMALL_C0:
        return Breach(f"d_value is {desc.d_value} in small-C0 mode", f"at most {SMALL_C0}")
    return None


def l06(desc: NzOp) -> str | None:
    """The destination is a multiple of 32."""
    return not_multiple("L1 address", desc.loc_addr, C0_BYTES)


def l07(desc: NzOp) -> str | None:
    """Destination strides that are used are not zero."""
    used = []
    if not desc.small_c0:
        used += [
            ("dst_loop2_stride", desc.dst_loop2, desc.n_value > 1),
            ("dst_loop3_stride", desc.dst_loop3, desc.d_value > desc.c0),
        ]
    used.append(("dst_loop4_stride", desc.dst_loop4, desc.group_count > 1))
    for name, stride, needed in used:
        if needed and not stride:
            return Breach(f"{name} is 0 although it is used", "at least 1")
    return None


def l08(desc: NzOp) -> str | None:
    """All bytes read lie in gm, all bytes written, zero fill included, in l1."""
    if desc.is_nop:
        return None
    for footprint in (source(desc), destination(desc)):
        size = SIZES[footprint.space]
        if footprint.end > size:
            return reaches(footprint.space.name, footprint.end, size)
    return None


def l09(desc: NzOp) -> str | None:
    """No destination byte is generated twice."""
    if not desc.is_nop and row_overlap(destination(desc)):
        return "blocks of the destination overlap: the result is undefined"
    return None


S_RULES: dict[Rule, SPredicate | None] = {
    Rule(1, "S", "gm to l1, equal element sizes of 1, 2 or 4", "ND"): l01,
    Rule(2, "S", "four dst_group operands, one or two of src_layout", "ND"): None,
}
"""Front-end rules. ND-L02 is decided where text is read (:mod:`tb.language.reader`)."""

D_RULES: dict[Rule, DPredicate] = {
    Rule(3, "D", "fields fit their widths, counts their maxima", "ND"): l03,
    Rule(4, "D", "at least one group", "ND"): l04,
    Rule(5, "D", "at most 4 channels in small-C0 mode", "ND"): l05,
    Rule(6, "D", "the destination is a multiple of 32", "ND"): l06,
    Rule(7, "D", "destination strides in use are not zero", "ND"): l07,
    Rule(8, "D", "all bytes read in gm, all bytes written in l1", "ND"): l08,
}
"""Engine rules in ascending number."""

T_RULES: dict[Rule, DPredicate] = {
    Rule(9, "T", "no destination byte is generated twice", "ND"): l09,
}
"""Rules with undefined behaviour when broken."""
