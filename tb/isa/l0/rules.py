# SPDX-License-Identifier: Apache-2.0
"""Rules of the loads from L1 to L0 as numbered predicates (docs/spec/l0_loads.md, section 5).

Predicates return None when a rule holds and a sentence when it does not.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.footprint import destination, source
from tb.isa.l0.op import L0Load, bits_of, code_of_element, square_of
from tb.isa.l0.table import (
    FRACTAL_BYTES,
    FRACTAL_ROWS,
    SCALE_BYTES,
    SCALE_RATIO,
)
from tb.isa.rule import Breach, Rule, not_multiple, operands_fit, reaches
from tb.isa.spaces import memory_range

DPredicate = Callable[[L0Load], "str | None"]
SPredicate = Callable[[L0Load], "str | None"]


def l01(op: L0Load) -> str | None:
    """Source in l1, destination in l0a or l0b, elements of equal bytes, or pairs of FP4."""
    for role, pointer, space in (
        ("source", op.src_type, op.spec.source),
        ("destination", op.dst_type, op.spec.destination),
    ):
        if pointer.space != space:
            return Breach(f"{role} pointer is in {pointer.space}", f"{op.spec.name} wants {space}")
        if code_of_element(pointer.dtype) is None:
            return Breach(f"{role} element type is {pointer.dtype}", "1, 2 or 4 bytes, or FP4")
    # A pair of 4-bit values is an element of one byte to the compiler.
    sizes = [max(8, bits_of(one.dtype)) for one in (op.src_type, op.dst_type)]
    if sizes[0] != sizes[1]:
        return f"element sizes of {op.src_type.dtype} and {op.dst_type.dtype} differ"
    return None


def l02(op: L0Load) -> str | None:
    """``transpose`` of the register form for pairs is 0 or 1; its other half is one of the text."""
    if op.transpose not in (0, 1):
        return Breach(f"transpose is {op.transpose}", "0, 1")
    return None


def l03(desc: L0Load) -> str | None:
    """Fields fit their widths, and strides are at least 1."""
    values = {
        operand.field: getattr(desc, operand.field)
        for operand in desc.spec.operands
        if operand.bits is not None
    }
    message = operands_fit(desc.spec, values)
    if message:
        return message
    for name, value in (("src_stride", desc.src_stride), ("dst_stride", desc.dst_stride)):
        if not value:
            return Breach(f"{name} is 0", "at least 1")
    return None


def l04(desc: L0Load) -> str | None:
    """The source is a multiple of 32, the destination of 512: its scales are of 32."""
    return not_multiple("L1 address", desc.src_addr, SCALE_BYTES) or not_multiple(
        f"{desc.spec.destination} address", desc.dst_addr, SCALE_RATIO * SCALE_BYTES
    )


def l05(desc: L0Load) -> str | None:
    """A transposed load moves whole squares."""
    if not desc.transpose:
        return None
    if desc.elem_bits == 32:
        if desc.k_step % 2:
            return Breach(f"k_step is {desc.k_step} with elements of 4 bytes", "a multiple of 2")
        return None
    unit = square_of(desc.elem_bits) // FRACTAL_ROWS
    if desc.m_step % unit:
        what = "1 byte" if desc.elem_bits == 8 else "4 bits"
        return Breach(f"m_step is {desc.m_step} with elements of {what}", f"a multiple of {unit}")
    return None


def l06(desc: L0Load) -> str | None:
    """All fractals read lie in l1, all written in l0a, l0b or their scales."""
    if desc.is_nop:
        return None
    # The destination is judged in its own memory: after it others begin.
    for footprint, name in ((source(desc), "l1"), (destination(desc), desc.spec.memory)):
        addresses = memory_range(name)[1]
        end = footprint.end - addresses.start
        if end > len(addresses):
            return reaches(name, end, len(addresses))
    return None


def l07(desc: L0Load) -> str | None:
    """No destination byte is written twice."""
    if desc.is_nop:
        return None
    if desc.spec.scales:
        return _below(desc.dst_stride, desc.k_step, desc.m_step)
    rows, columns = desc.moved
    return _below(desc.dst_stride, rows, columns)


def _below(stride: int, written: int, columns: int) -> str | None:
    if columns > 1 and stride < written:
        return Breach(f"dst_stride is {stride} and {written} are written", f"at least {written}")
    return None


def l08(op: L0Load) -> str | None:
    """The shape form with transpose fills whole squares of the destination (LD-A1)."""
    if op.shape is None or not op.transpose:
        return None
    square = square_of(bits_of(op.src_type.dtype))
    left = op.spec.destination == "l0a"
    name, rows = ("m", op.shape.rows) if left else ("n", op.shape.columns)
    if square > FRACTAL_ROWS and rows % square:
        return Breach(f"{name} is {rows} of a transposed load", f"a multiple of {square}")
    return None


S_RULES: dict[Rule, SPredicate] = {
    Rule(1, "S", "l1 to l0a or l0b, equal elements of 1, 2 or 4 bytes or pairs of FP4", "LD"): l01,
    Rule(2, "S", "legacy: FP4 only with _s4, there equal types; transpose 0 or 1", "LD"): l02,
}
"""Front-end rules; that of FP4 in LD-L02 is decided where text is read."""

D_RULES: dict[Rule, DPredicate] = {
    Rule(3, "D", "fields fit their widths, strides are at least 1", "LD"): l03,
    Rule(4, "D", "the source a multiple of 32, the destination of 512", "LD"): l04,
    Rule(5, "D", "a transposed load moves whole squares", "LD"): l05,
    Rule(6, "D", "all fractals read in l1, all written in their memory", "LD"): l06,
}
"""Engine rules in ascending number."""

T_RULES: dict[Rule, DPredicate] = {
    Rule(7, "T", "no destination byte is written twice", "LD"): l07,
}
"""Rules with undefined behaviour when broken."""

SHAPE_RULE = Rule(8, "T", "a transposed shape fills whole squares", "LD")
"""Rule of the shape form: see :func:`l08`."""

assert FRACTAL_BYTES == SCALE_RATIO * SCALE_BYTES, "one alignment serves data and scales"
