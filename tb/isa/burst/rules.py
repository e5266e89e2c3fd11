# SPDX-License-Identifier: Apache-2.0
"""Rules of the gap-based burst copies: those of docs/spec/dma.md and docs/spec/bias_fb.md.

Predicates return None when a rule holds and a sentence when it does not.
"""

from __future__ import annotations

from collections.abc import Callable

from tb.isa.burst.op import BurstOp
from tb.isa.burst.table import BIAS_TYPES, BurstSpec
from tb.isa.dtypes import ELEMENT_BYTES
from tb.isa.footprint import destination, footprints_overlap, source
from tb.isa.rule import Breach, Rule, not_multiple, operands_fit, reaches
from tb.isa.spaces import FB_SEGMENT_SHIFT, FB_SEGMENTS, UB_BLOCK

DPredicate = Callable[[BurstOp], "str | None"]
SPredicate = Callable[[BurstOp], "str | None"]


def fields_fit(desc: BurstOp) -> str | None:
    """Every field fits its width."""
    values = {
        "len": desc.len,
        "n_burst": desc.n_burst,
        "src_gap": desc.src_gap,
        "dst_gap": desc.dst_gap,
    }
    return operands_fit(desc.spec, values)


def aligned(desc: BurstOp) -> str | None:
    """Base addresses are multiples of 32, in bt and fb of 64."""
    return not_multiple("source address", desc.src_addr, UB_BLOCK) or not_multiple(
        "destination address", desc.dst_addr, desc.spec.align
    )


def inside(desc: BurstOp) -> str | None:
    """Every byte accessed lies inside its memory; the last burst has no gap."""
    if desc.is_nop:
        return None
    for footprint in (source(desc), destination(desc)):
        size = footprint.outside
        if size is not None:
            return reaches(footprint.space.name, footprint.end, size)
    return None


def inside_segment(desc: BurstOp) -> str | None:
    """The destination lies in one segment of fb; a NOP names a segment that exists, too."""
    segment = desc.dst_addr >> FB_SEGMENT_SHIFT
    if segment not in FB_SEGMENTS.values():
        legal = " or ".join(f"{number} ({what})" for what, number in FB_SEGMENTS.items())
        return Breach(f"segment of fb is {segment}", legal)
    return inside(desc)


def disjoint(desc: BurstOp) -> str | None:
    """Source and destination share no byte."""
    if not desc.is_nop and footprints_overlap(source(desc), destination(desc)):
        return "source and destination overlap: the result is undefined"
    return None


def spaces_alone(op: BurstOp) -> str | None:
    """Pointers lie in the spaces of the op; their element types may be any (A-71)."""
    for role, pointer, space in (
        ("source", op.src_type, op.spec.source),
        ("destination", op.dst_type, op.spec.destination),
    ):
        if pointer.space != space:
            return Breach(f"{role} pointer is in {pointer.space}", f"{op.spec.name} wants {space}")
    return None


def pointer_spaces(op: BurstOp) -> str | None:
    """Pointers lie in the spaces of the op and elements have whole bytes."""
    message = spaces_alone(op)
    if message:
        return message
    for role, pointer in (("source", op.src_type), ("destination", op.dst_type)):
        if pointer.dtype not in ELEMENT_BYTES:
            return Breach(
                f"{role} element type is {pointer.dtype}", f"one of {', '.join(ELEMENT_BYTES)}"
            )
    return None


def equal_elements(op: BurstOp) -> str | None:
    """Pointer spaces match the op and element sizes are equal."""
    message = pointer_spaces(op)
    if message:
        return message
    if ELEMENT_BYTES[op.src_type.dtype] != ELEMENT_BYTES[op.dst_type.dtype]:
        return f"element sizes of {op.src_type.dtype} and {op.dst_type.dtype} differ"
    return None


def bias_types(op: BurstOp) -> str | None:
    """Spaces are l1 and bt, and the types one of the four pairs."""
    message = pointer_spaces(op)
    if message:
        return message
    pair = BIAS_TYPES.get(op.src_type.dtype)
    if pair is None or pair[0] != op.dst_type.dtype:
        legal = ", ".join(f"{t} -> {u}" for t, (u, _) in BIAS_TYPES.items())
        return Breach(
            f"{op.src_type.dtype} -> {op.dst_type.dtype} is not a bias load", f"one of {legal}"
        )
    return None


S_BT: dict[Rule, SPredicate | None] = {
    Rule(1, "S", "l1 to bt, and one of the four type pairs", "BT"): bias_types
}
S_FB: dict[Rule, SPredicate | None] = {
    Rule(1, "S", "source in l1, destination in fb", "FB"): spaces_alone
}

D_BT: dict[Rule, DPredicate] = {
    Rule(2, "D", "every field fits its width", "BT"): fields_fit,
    Rule(3, "D", "source a multiple of 32, destination of 64", "BT"): aligned,
    Rule(4, "D", "last source byte inside l1, last slot inside bt", "BT"): inside,
}
D_FB: dict[Rule, DPredicate] = {
    Rule(2, "D", "every field fits its width", "FB"): fields_fit,
    Rule(3, "D", "source a multiple of 32, destination of 64", "FB"): aligned,
    Rule(4, "D", "source inside l1, destination inside one segment of fb", "FB"): inside_segment,
}
D_DMA: dict[int, DPredicate] = {5: fields_fit, 6: aligned, 12: inside}
"""Titles of DMA-L rules for a burst copy, by number; the rules are in :mod:`tb.isa.dma.rules`."""


D_RULES = {"BT": D_BT, "FB": D_FB}
S_RULES = {"BT": S_BT, "FB": S_FB}
"""By family; the rules of all others are DMA rules."""


def d_predicates(spec: BurstSpec, dma_rules: dict[int, Rule]) -> dict[Rule, DPredicate]:
    """Returns the D rules of an op in ascending number."""
    own = D_RULES.get(spec.rules)
    return own or {dma_rules[number]: D_DMA[number] for number in spec.d_rules}


def s_predicates(spec: BurstSpec, dma_rules: dict[int, Rule]) -> dict[Rule, SPredicate | None]:
    """Returns the S rules of an op in ascending number."""
    return S_RULES.get(spec.rules) or {dma_rules[1]: None, dma_rules[4]: equal_elements}
