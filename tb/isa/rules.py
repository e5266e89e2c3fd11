# SPDX-License-Identifier: Apache-2.0
"""All numbered rules and their checks: the entry point to the rules of all families.

S rules check the op as written, D rules its descriptor; the engine also checks D rules, on the
packed bits, and the two must agree. T rules concern whole footprints: stimulus obeys them and no
checker reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from tb.isa.burst import rules as burst_rules
from tb.isa.burst.table import UB_COUNT_BITS, BurstSpec
from tb.isa.dma import rules as dma_rules
from tb.isa.dma.legacy import CopyUbufToUbuf
from tb.isa.dma.table import BLOCK_LEN_BITS, LOCAL_STRIDE_BITS
from tb.isa.fill import rules as fill_rules
from tb.isa.fix import rules as fix_rules
from tb.isa.l0 import rules as load_rules
from tb.isa.nz import rules as nz_rules
from tb.isa.op import Op
from tb.isa.ops import OPS
from tb.isa.rule import (
    Breach,
    Rule,
    Violation,
    below_length,
    not_multiple,
    reaches,
    too_wide,
    unaligned,
)
from tb.isa.spaces import SIZES, UB_BLOCK, ub_space

_DMA: dict[int, Rule] = {
    rule.number: rule
    for rule in (
        *dma_rules.S_RULES,
        *dma_rules.D_RULES,
        *dma_rules.T_RULES,
        dma_rules.LOWERING_RULE,
    )
}

_FIX = sorted(
    (*fix_rules.S_RULES, *fix_rules.D_RULES, *fix_rules.T_RULES, fix_rules.PARAMETER_RULE),
    key=lambda rule: rule.number,
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        *(_DMA[number] for number in sorted(_DMA)),
        *nz_rules.S_RULES,
        *nz_rules.D_RULES,
        *nz_rules.T_RULES,
        *burst_rules.S_BT,
        *burst_rules.D_BT,
        *burst_rules.S_FB,
        *burst_rules.D_FB,
        *_FIX,
        *load_rules.S_RULES,
        *load_rules.D_RULES,
        *load_rules.T_RULES,
        load_rules.SHAPE_RULE,
        *fill_rules.S_RULES,
        *fill_rules.D_RULES,
    )
}
"""Every rule by name, family by family, ascending."""

_Predicate = Callable[[Any], "str | None"]
_Predicates = Mapping[Rule, _Predicate]


_FAMILIES: dict[str, ModuleType] = {
    "dma": dma_rules, "nz": nz_rules, "fix": fix_rules, "l0": load_rules, "fill": fill_rules
}  # fmt: skip
"""Descriptor family to its rules; those of a burst copy are by its row."""


@cache
def _d_of(name: str) -> _Predicates:
    spec = OPS[name]
    if isinstance(spec, BurstSpec):
        return burst_rules.d_predicates(spec, _DMA)
    rules = _FAMILIES[spec.layout.family].D_RULES
    return {rule: holds for rule, holds in rules.items() if rule.number in spec.d_rules}


def d_predicates(desc: Op) -> _Predicates:
    """Returns the D rules of the descriptor's op in ascending number."""
    return _d_of(desc.spec.name)


def first_d_violation(desc: Op) -> Violation | None:
    """Returns the violated D rule with the lowest number, or None."""
    for rule, predicate in d_predicates(desc).items():
        message = predicate(desc)
        if message:
            return Violation(rule, message)
    return None


def d_violations(desc: Op) -> tuple[Violation, ...]:
    """Returns every D rule the descriptor breaks, in ascending number."""
    found = []
    for rule, predicate in d_predicates(desc).items():
        message = predicate(desc)
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def s_predicates(op: Op) -> Mapping[Rule, Any]:
    """Returns the S rules of the op; None for a rule that only text can break."""
    if isinstance(op.spec, BurstSpec):
        return burst_rules.s_predicates(op.spec, _DMA)
    rules: Mapping[Rule, Any] = _FAMILIES[op.spec.layout.family].S_RULES
    return rules


def s_violations(op: Op) -> tuple[Violation, ...]:
    """Returns every S rule the op breaks, in ascending number."""
    found = []
    for rule, predicate in s_predicates(op).items():
        message = predicate(op) if predicate else None
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def t_predicates(desc: Op) -> _Predicates:
    """Returns the T rules that a descriptor can break; of a fill none, whose runs are apart."""
    if desc.family == "burst":
        return {_DMA[14]: burst_rules.disjoint}
    return getattr(_FAMILIES[desc.family], "T_RULES", {})


def t_violations(desc: Op) -> tuple[Violation, ...]:
    """Returns every T rule the descriptor breaks: such an op must not be scored."""
    found = []
    for rule, predicate in t_predicates(desc).items():
        message = predicate(desc)
        if message:
            found.append(Violation(rule, message))
    return tuple(found)


def lowering_violation(op: CopyUbufToUbuf) -> Violation | None:
    """Returns the lowest rule for which ``copy_ubuf_to_ubuf`` is not issued, or None.

    The op is judged once, on its own operands, whose bytes and strides no descriptor holds
    (docs/spec/dma.md, section 4; A-67). Only T rules are left for the engine.
    """
    for rule, holds in lowering_predicates().items():
        message = holds(op)
        if message:
            return Violation(rule, message)
    return None


@cache
def lowering_predicates() -> Mapping[Rule, Callable[[CopyUbufToUbuf], str | None]]:
    """Returns the rules of ``copy_ubuf_to_ubuf`` in ascending number."""
    return {_DMA[number]: holds for number, holds in _UBUF_COPY.items()}


_STRIDES = ("src_stride", "dst_stride")


def _ubuf_widths(op: CopyUbufToUbuf) -> str | None:
    for name, bits in (
        ("n_burst", UB_COUNT_BITS), ("len_burst", BLOCK_LEN_BITS),
        *((name, LOCAL_STRIDE_BITS) for name in _STRIDES),
    ):  # fmt: skip
        message = too_wide(name, getattr(op, name), bits)
        if message:
            return message
    return None


def _ubuf_addresses(op: CopyUbufToUbuf) -> str | None:
    return not_multiple("source address", op.src, UB_BLOCK) or not_multiple(
        "destination address", op.dst, UB_BLOCK
    )


def _ubuf_strides(op: CopyUbufToUbuf) -> str | None:
    for name in _STRIDES if op.n_burst > 1 else ():
        if getattr(op, name) % UB_BLOCK:
            return unaligned(name, getattr(op, name), UB_BLOCK)
    return None


def _ubuf_lengths(op: CopyUbufToUbuf) -> str | None:
    for name in _STRIDES if op.n_burst > 1 else ():
        if getattr(op, name) < op.len_burst:
            return below_length(name, getattr(op, name), op.len_burst)
    return None


def _ubuf_blocks(op: CopyUbufToUbuf) -> str | None:
    if op.len_burst % UB_BLOCK:
        what = f"len_burst {op.len_burst} is not a multiple of {UB_BLOCK}"
        return Breach(what, f"a multiple of {UB_BLOCK}", what)
    return None


def _ubuf_extents(op: CopyUbufToUbuf) -> str | None:
    if op.n_burst and op.len_burst:
        for base, stride in ((op.src, op.src_stride), (op.dst, op.dst_stride)):
            end = base + (op.n_burst - 1) * stride + op.len_burst
            if end > SIZES[ub_space(op.ub_sub)]:
                return reaches(ub_space(op.ub_sub).name, end, SIZES[ub_space(op.ub_sub)])
    return None


_UBUF_COPY: dict[int, Callable[[CopyUbufToUbuf], str | None]] = {
    5: _ubuf_widths,
    6: _ubuf_addresses,
    7: _ubuf_strides,
    8: _ubuf_lengths,
    11: _ubuf_blocks,
    12: _ubuf_extents,
}
"""Rules of ``copy_ubuf_to_ubuf`` by number, ascending."""

LOWERING_RULES: tuple[int, ...] = tuple(_UBUF_COPY)
"""Their numbers."""
